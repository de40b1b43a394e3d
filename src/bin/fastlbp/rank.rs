//! `fastlbp rank`: BINGO's loop, from a graph and its alarms to the order in which they are worth inspecting.

use crate::activity::Activity;
use crate::conflicts::Conflicts;
use crate::driver_settings::ask_for_one_device;
use crate::early_start::EarlyStart;
use crate::failure::{Failure, Outcome};
use crate::messages::{inform, warn};
use crate::observe::{ObserveArguments, Observer};
use crate::rank_dialog::{Dialog, Truth};
use crate::rank_inputs::{InputArguments, Inputs};
use crate::rank_output::{Printer, Timing};
use crate::report;
use crate::run_options::RunArguments;
use crate::trace;
use clap::ValueEnum;
use fastlbp::ranking::{Inspection, Journal, Precision, Rules};
use fastlbp::{BeliefPropagation, RunRequest, Start, StopRule};
use std::path::PathBuf;
use std::time::Instant;

/// The rule that BINGO's driver asks for.
const BINGO_RULE: StopRule =
    StopRule::Bingo { tolerance: 1e-6, min_iterations: 500, max_iterations: 1000, history: 100 };

/// Rank alarms, ask about the most probable one, and rank the others again
///
/// Says which alarm to inspect next, and the few after it, with their probabilities, and reads
/// the answer from the standard input, a line each:
///   y [ALARM]     it is a true alarm (another ALARM than the first by its name or label)
///   n [ALARM]     it is a false one
///   ? [VARIABLE]  why: the derivations of the alarm, or of any variable, with their probabilities
///   u             undo: take the last answer back
///   s [FILE]      save the answers so far, in lines that --answers takes
///   q             quit, as the end of the input does
///
/// With --answers nothing is asked: each line that is printed has the number of the answer, the
/// answer, the probability that the alarm had, and its name and label. At the end, where it is
/// known which alarms are true, come the inversions (over all false alarms, the number of true
/// ones inspected later, summed), and how many answers it took to find all true alarms
/// (Rank-100%-T) and 90 % of them (Rank-90%-T). They go by --answers, or, where
/// these are not for all alarms, by the truth in the list of alarms: it is said then how many
/// answers differ from it.
///
/// Without other options the order of alarms is that of BINGO's driver.py: SEQFIX, BINGO's rule
/// with 1e-6,500,1000,100, fresh messages for each answer, six digits of probabilities, and names
/// where they are equal.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
#[command(mut_arg("schedule", |arg| arg.default_value("SEQFIX")))]
#[command(mut_arg("contradiction", |arg| arg.default_value("vote")))]
#[command(mut_arg("tolerance", |arg| arg.help("Stop when no probability changes by more than this in an iteration")))]
#[command(mut_arg("bingo", |arg| arg.help(
    "BINGO's rule: stop at tolerance TOL, or, between MIN and MAX iterations, when few variables still change; \
     without convergence the results are means of the last HIST beliefs [default: 1e-6,500,1000,100]"
)))]
pub struct Arguments {
    #[command(flatten)]
    inputs: InputArguments,

    /// Keep the answers in this file: each is on the disk before it takes effect. With the same command after a crash, or
    /// a quit, the next question is the same
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    /// With --answers: go on when all true alarms are found
    #[arg(long, requires = "answers")]
    all: bool,

    /// Print a JSON object per line: questions, answers, derivations, and a summary
    #[arg(long)]
    json: bool,

    /// Start each run from the messages of the one before, not from uniform ones
    #[arg(long)]
    warm: bool,

    /// When the probabilities of two alarms are equal, so that their names decide
    #[arg(long, value_enum, value_name = "DIGITS", default_value_t = TieName::Six)]
    ties: TieName,

    #[command(flatten)]
    observe: ObserveArguments,

    #[command(flatten)]
    run: RunArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TieName {
    /// When their first six digits are, as BINGO compares them
    Six,
    /// When all of their digits are
    All,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    arguments.run.check()?;
    let mut conflicts = Conflicts::default();
    conflicts.output("--journal", arguments.journal.as_deref())?;
    conflicts.standard_output()?;
    arguments.observe.check(&mut conflicts)?;
    arguments.inputs.add_to(&mut conflicts)?;
    conflicts.input("--ranks", arguments.run.ranks())?;
    let options = arguments.run.engine_options();
    ask_for_one_device(&options);
    let early_start = EarlyStart::of(&options);
    let started = Instant::now();
    let (inputs, schedule) = {
        let _activity = Activity::start("reading");
        let inputs = arguments.inputs.read()?;
        let schedule = arguments.run.read_schedule(&inputs.graph)?;
        (inputs, schedule)
    };
    let read = started.elapsed().as_secs_f64();
    let Inputs { graph, names, evidence, alarms, truth, answers } = inputs;
    let rules = rules(arguments);
    let mut session = BeliefPropagation::new(graph.clone(), schedule, options)?;
    drop(early_start);
    session.set_evidence(&evidence)?;
    let _early_start = EarlyStart::beside_first(&session, &rules.request, &options);
    let truth = match answers.as_deref().and_then(complete) {
        Some(is_true) => Some(Truth { is_true, is_listed: false }),
        None => complete(&truth).map(|is_true| Truth { is_true, is_listed: true }),
    };
    let inspection = Inspection::new(session, alarms, rules)?;
    let opened = match &arguments.journal {
        Some(path) => Some(Journal::open(path, &inspection.subject()).map_err(journal_failure)?),
        None => None,
    };
    if let (Some(opened), Some(path)) = (&opened, &arguments.journal) {
        if opened.was_torn {
            warn(format!("{}: the last line was torn, and is cut off", path.display()));
        }
        if !opened.events.is_empty() {
            inform(format!("{}: goes on after {} entries", path.display(), opened.events.len()));
        }
    }
    let mut dialog = Dialog {
        inspection,
        graph,
        names,
        answers,
        truth,
        goes_on: arguments.all,
        journal: arguments.journal.clone(),
        conflicts,
        printer: Printer::new(arguments.json)?,
        max_iterations: rules.request.rule.most_iterations(),
        timing: Timing::default(),
        observer: Observer::new(&arguments.observe),
    };
    let held = dialog.hold(opened);
    if matches!(held, Ok(_) | Err(Failure::Interrupted { .. })) {
        trace::write(&arguments.observe, dialog.observer.runs())?;
    }
    held?;
    let summary = dialog.summary();
    if let Some(path) = arguments.observe.report() {
        let graph = arguments.inputs.graph().display().to_string();
        let Dialog { inspection, names, observer, .. } = &dialog;
        report::rank::page(&graph, inspection, names, observer.runs(), &summary, read)?
            .write(path)?;
    }
    dialog.printer.summary(&summary)
}

fn rules(arguments: &Arguments) -> Rules {
    let run = &arguments.run;
    let request = run.request(run.inference().unwrap_or_default());
    Rules {
        request: RunRequest {
            rule: run.stop_rule_or(BINGO_RULE),
            start: if arguments.warm { Start::Warm } else { Start::Fresh },
            observe: arguments.observe.is_wanted(),
            ..request
        },
        precision: match arguments.ties {
            TieName::Six => Precision::SixDigits,
            TieName::All => Precision::Exact,
        },
    }
}

/// What is known of all alarms.
fn complete(truth: &[Option<bool>]) -> Option<Vec<bool>> {
    truth.iter().copied().collect()
}

/// A journal is written, so what the operating system says of it is no matter of bad input.
fn journal_failure(error: fastlbp::Error) -> Failure {
    Failure::output(error)
}
