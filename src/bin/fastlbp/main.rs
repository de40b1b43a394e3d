//! The command line program: `fastlbp --help` says what it does.

mod activity;
mod advice;
mod answers;
mod batch;
mod bench;
mod bingo;
mod completions;
mod conflicts;
mod convert;
mod copy_speed;
mod devices;
mod driver_settings;
mod early_start;
mod evidence;
mod exact;
mod failure;
mod generate;
mod graph_file;
mod help;
mod in_order;
mod infer;
mod info;
mod inputs;
mod locate;
mod locate_inputs;
mod locate_output;
mod memory;
mod messages;
mod observe;
mod options;
mod output_format;
mod rank;
mod rank_dialog;
mod rank_inputs;
mod rank_output;
mod report;
mod run_options;
mod run_warnings;
mod runs;
mod shape;
#[cfg_attr(not(unix), path = "no_signals.rs")]
mod signals;
mod standard_streams;
mod stats;
mod subject;
mod trace;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use completions::{CompletionsArguments, ManArguments};
use failure::{Failure, OTHER, Outcome};
use messages::{Verbosity, complain, inform};
use standard_streams::print;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// The name under which BINGO's driver starts its inference program.
const BINGO_WRAPPER: &str = "bingo_wrapper";

/// What `--version` says after the name.
const BUILT_IN: &str = concat!(env!("CARGO_PKG_VERSION"), "\n", env!("FASTLBP_BUILT_IN"));

const FIRST_EXAMPLES: &str = "\
Examples:
  fastlbp infer graph.causal_fg --evidence graph.obs --names graph.dict --top 10
  fastlbp rank graph.causal_fg --alarms base.alarms --names graph.dict

--help says more, and `fastlbp COMMAND --help` all of a command.";

const EXAMPLES: &str = "\
Examples:
  fastlbp infer graph.causal_fg --evidence graph.obs --queries base.alarms --top 10
  zcat graph.fg.gz | fastlbp infer - --format fg --json | jq .variables
  fastlbp infer graph.causal_fg.gz --evidence graph.obs --output marginals.txt
  fastlbp infer graph.causal_fg --schedule SEQFIX --bingo 1e-6,500,1000,100 --stats stats.json
  fastlbp infer graph.uai --evidence graph.uai.evid --schedule TREE --iterations 1
  fastlbp infer network.bif --evidence seen.obs --queries names.txt --schedule TREE
  fastlbp infer graph.uai --map --log-domain --schedule SEQMAX --output states.obs
  fastlbp infer graph.causal_fg --batch directory_of_obs_files --iterations 100
  fastlbp info graph.fg --schedule TOPO --json
  fastlbp convert graph.causal_fg graph.fg.gz
  fastlbp convert graph.causal_fg - --to dot --names graph.dict | dot -Tsvg >graph.svg
  fastlbp generate smartfl --variables 100000 --seed 1 --observations out.obs out.causal_fg.gz
  fastlbp generate layers --variables 100000 --levels 5000 --high-degree 1,1000000 out.causal_fg.gz
  fastlbp bench graph.causal_fg --schedule PARALL,SEQFIX --threads 1
  fastlbp bench --generate ising,potts --variables 1000000 --schedule PARALL
  fastlbp rank graph.causal_fg --alarms base.alarms --names named.dict --journal answers.journal
  fastlbp rank graph.causal_fg --alarms base.alarms --answers truth.alarms
  fastlbp locate bugs/*.causal_fg.gz --evidence bugs --candidates bugs --top 10
  printf 'BP 1e-06 500 1000 100\\nQ 3\\n' | fastlbp bingo graph.causal_fg

Graphs are .causal_fg (CausalBP), .fg (libDAI), .uai or .bif files, also with .gz.

Files are written as a whole or not at all, and keep their owner, permissions and hard links. No
file may be written that is also read, or named for two outputs. In place of a file that is read, -
is the standard input, and in place of one that is written, the standard output.

Environment:
  FASTLBP_DEVICE        numbers of CUDA devices, as --device, where that is not given
  NO_COLOR              no colours, also on a terminal
  CLICOLOR_FORCE        colours, also where no terminal is
  CUDA_VISIBLE_DEVICES  which devices CUDA shows, and in which order; what runs on one device shows
                        the driver no others behind it, which it would start as well
  CUDA_DEVICE_MAX_CONNECTIONS  channels to a device, 1 where it is not set

Signals: during a run SIGINT (Ctrl-C), SIGTERM and SIGHUP end it at its next iteration; with
--output, the results of the iterations so far are written, without it nothing is printed. A second
signal, and any at another time, ends the program at once; files that are not complete then stay as
they were.

Exit codes: 0 done, 2 bad usage or input, 3 contradiction, 130 SIGINT, 143 SIGTERM, 129 SIGHUP,
1 anything else.";

/// Belief propagation for probabilistic program analysis: any update schedule, exact parallelism,
/// reproducible bits
#[derive(Parser)]
#[command(name = "fastlbp", version, long_version = BUILT_IN, max_term_width = 100)]
#[command(after_help = FIRST_EXAMPLES, after_long_help = EXAMPLES)]
struct CommandLine {
    #[command(flatten)]
    verbosity: Verbosity,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Infer(Box<infer::Arguments>),
    Info(info::Arguments),
    Convert(convert::Arguments),
    Bingo(bingo::Arguments),
    Rank(Box<rank::Arguments>),
    Locate(Box<locate::Arguments>),
    Generate(generate::Arguments),
    Devices(devices::Arguments),
    Bench(Box<bench::Arguments>),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

/// The program as BINGO's driver starts it.
#[derive(Parser)]
#[command(name = BINGO_WRAPPER, version, max_term_width = 100)]
struct BingoCommandLine {
    #[command(flatten)]
    arguments: bingo::Arguments,
}

fn main() -> ExitCode {
    driver_settings::ask_for_one_channel();
    memory::report_missing();
    messages::start();
    signals::start();
    match run(std::env::args_os().collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(failure),
    }
}

/// Shows a failure and gives the exit code.
fn report(failure: Failure) -> ExitCode {
    match failure {
        Failure::Message { code, text } => {
            complain(text);
            ExitCode::from(code)
        }
        Failure::Interrupted { signal, text } => {
            inform(format!("{} {text}", signal.name()));
            ExitCode::from(signal.exit_code())
        }
        Failure::NotRun => ExitCode::from(OTHER),
        Failure::Information(text) => match print(&text) {
            Ok(()) | Err(Failure::OutputClosed) => ExitCode::SUCCESS,
            Err(failure) => report(failure),
        },
        Failure::OutputClosed => ExitCode::SUCCESS,
    }
}

fn run(arguments: Vec<OsString>) -> Outcome {
    let program = arguments.first().and_then(|name| Path::new(name).file_stem());
    if program.is_some_and(|name| name == BINGO_WRAPPER) {
        let line = BingoCommandLine::try_parse_from(arguments).map_err(Failure::usage)?;
        return bingo::run(&line.arguments);
    }
    let command = || help::with_short_help(CommandLine::command());
    let matches = command().try_get_matches_from(arguments).map_err(Failure::usage)?;
    let line = CommandLine::from_arg_matches(&matches).map_err(Failure::usage)?;
    line.verbosity.apply();
    match line.command {
        Command::Infer(arguments) => infer::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Bingo(arguments) => bingo::run(&arguments),
        Command::Rank(arguments) => rank::run(&arguments),
        Command::Locate(arguments) => locate::run(&arguments),
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Devices(arguments) => devices::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Completions(arguments) => completions::complete(&arguments, command()),
        Command::Man(arguments) => completions::write_manual(&arguments, command()),
    }
}
