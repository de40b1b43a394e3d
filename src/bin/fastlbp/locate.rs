//! `fastlbp locate`: SmartFL's question, which of some candidates are most likely at fault.

use crate::conflicts::Conflicts;
use crate::driver_settings::ask_for_one_device;
use crate::early_start::EarlyStart;
use crate::failure::{Failure, Outcome};
use crate::locate_inputs::{Files, InputArguments, Reader, Subject};
use crate::locate_output::{Located, Printer};
use crate::messages::{inform, warn};
use crate::observe::{ObserveArguments, Observer};
use crate::report::{self, page::Page};
use crate::run_options::RunArguments;
use crate::run_warnings;
use crate::signals;
use crate::trace;
use fastlbp::format::describe_variable;
use fastlbp::ranking::{FirstRank, FirstRanks, Suspects};
use fastlbp::{BeliefPropagation, RunRequest, StopRule};
use std::time::Instant;

/// SmartFL's tolerance, and the most iterations of its evaluation.
const SMARTFL_RULE: StopRule = StopRule::Tolerance { tolerance: 1e-8, max_iterations: 500 };

/// List the candidates that are most likely at fault, in one graph or many
///
/// Prints per graph a line for each of the first candidates: its average and its worst rank among all, the probability
/// that it is at fault, its label and its name. Candidates of equal probability share their ranks. Where candidates are
/// marked as faulty, the ranks of the first faulty one follow, and at the end, over all graphs that have one, the numbers
/// of graphs with a faulty candidate among the first 1, 3, 5 and 10 (Top-k), and the mean rank of the first faulty one.
///
/// Without other options, runs are those of SmartFL: PARALL, until no probability changes by more than 1e-8 in an
/// iteration, at most 500 iterations; deterministic messages that disagree are voted on.
///
/// A graph that cannot be read or run is warned of, and the others are printed all the same.
#[derive(clap::Args)]
#[command(mut_arg("contradiction", |arg| arg.default_value("vote")))]
#[command(mut_arg("tolerance", |arg| arg.help(
    "Stop when no probability changes by more than this in an iteration [default: 1e-8]"
)))]
#[command(mut_arg("max_iterations", |arg| arg.help(
    "Most iterations to wait for the tolerance [default: 500; with --tolerance 1000]"
)))]
pub struct Arguments {
    #[command(flatten)]
    inputs: InputArguments,

    /// Number of candidates to print for each graph
    #[arg(short = 'k', long, allow_negative_numbers = true, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,

    /// The state in which a candidate is at fault: 0 for graphs whose variables are true where the program is right, as
    /// SmartFL's
    #[arg(long, value_name = "STATE", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1))]
    fault_state: u32,

    /// Print a JSON object per line: one for each graph, and a summary
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    observe: ObserveArguments,

    #[command(flatten)]
    run: RunArguments,
}

/// Where results go.
struct Output {
    printer: Printer,
    observer: Observer,
    page: Option<Page>,
}

impl Output {
    /// Writes the files of `--trace` and `--report`.
    fn write(&self, arguments: &Arguments) -> Outcome {
        trace::write(&arguments.observe, self.observer.runs())?;
        match (&self.page, arguments.observe.report()) {
            (Some(page), Some(path)) => page.write(path),
            _ => Ok(()),
        }
    }
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    arguments.run.check()?;
    if let (Some(path), true) = (arguments.run.ranks(), arguments.inputs.graphs.len() > 1) {
        return Err(Failure::input(format!(
            "--ranks {} with {} graphs: the ranks are those of one graph, and one is needed",
            path.display(),
            arguments.inputs.graphs.len()
        )));
    }
    let files = arguments.inputs.files()?;
    let mut conflicts = Conflicts::default();
    conflicts.standard_output()?;
    arguments.observe.check(&mut conflicts)?;
    for Files { graph, candidates, evidence, names, .. } in &files {
        conflicts.input("GRAPH", Some(graph))?;
        conflicts.input("--candidates", Some(candidates))?;
        conflicts.input("--evidence", evidence.as_deref())?;
        conflicts.input("--names", names.as_deref())?;
    }
    conflicts.input("--ranks", arguments.run.ranks())?;
    let mut output = Output {
        printer: Printer::new(arguments.json, arguments.top as usize)?,
        observer: Observer::new(&arguments.observe),
        page: arguments.observe.report().map(|_| report::locate::begin(files.len())),
    };
    let options = arguments.run.engine_options();
    ask_for_one_device(&options);
    let _early_start = EarlyStart::of(&options);
    let mut ranks = FirstRanks::default();
    let mut failures = Vec::new();
    for (files, subject) in Reader::new(&files) {
        match subject.and_then(|subject| locate(arguments, files, subject, &mut output)) {
            Ok(Some(first)) => ranks.add(first)?,
            Ok(None) => {}
            Err(failure @ Failure::Message { .. }) if arguments.inputs.graphs.len() > 1 => {
                let graph = files.graph.display().to_string();
                warn(format!("graph {graph}: {}", failure.text()));
                output.printer.failed(&graph, failure.text())?;
                if let Some(page) = &mut output.page {
                    report::locate::failed(page, &graph, failure.text());
                }
                failures.push(failure);
            }
            Err(failure @ Failure::Interrupted { .. }) => {
                output.write(arguments)?;
                return Err(failure);
            }
            Err(failure) => return Err(failure),
        }
    }
    output.write(arguments)?;
    output.printer.summary(&ranks)?;
    if failures.is_empty() {
        return Ok(());
    }
    let text = format!(
        "{} of {} graphs failed, see the warnings",
        failures.len(),
        arguments.inputs.graphs.len()
    );
    Err(Failure::of_entries(failures.iter(), arguments.inputs.graphs.len()).retold(text))
}

/// Runs one graph and prints its suspects; gives the ranks of the first faulty one, where it is known.
fn locate(
    arguments: &Arguments, files: &Files, subject: Subject, output: &mut Output,
) -> Outcome<Option<FirstRank>> {
    let started = Instant::now();
    let Subject { graph, names, evidence, candidates, warning, seconds: read } = subject;
    warning.iter().for_each(warn);
    let schedule = arguments.run.read_schedule(&graph)?;
    let mut session =
        BeliefPropagation::new(graph.clone(), schedule, arguments.run.engine_options())?;
    session.set_evidence(&evidence)?;
    let request = arguments.run.request(arguments.run.inference().unwrap_or_default());
    let request = RunRequest {
        rule: arguments.run.stop_rule_or(SMARTFL_RULE),
        observe: arguments.observe.is_wanted(),
        ..request
    };
    session.prepare(&request)?;
    let prepared = started.elapsed().as_secs_f64();
    let name = files.graph.display().to_string();
    let runs_before = output.observer.runs().len();
    let report = {
        let _iterations = signals::iterations();
        let mut watch = output.observer.watch(&name, request.rule.most_iterations());
        session.run_monitored(&request, &mut |progress| watch.note(progress))
    };
    let ended = started.elapsed().as_secs_f64();
    session.take_notes().iter().for_each(inform);
    if let Some(signal) = signals::received() {
        let text = format!("has ended the run of {}", files.graph.display());
        return Err(Failure::Interrupted { signal, text });
    }
    let report = report?;
    let describe = |variable| describe_variable(&graph, &names, variable);
    let disagreed = run_warnings::of_contradictions(&report, describe);
    for text in disagreed.into_iter().chain(run_warnings::of_time(&report)) {
        warn(format!("{}: {text}", files.graph.display()));
    }
    let variables: Vec<usize> = candidates.iter().map(|candidate| candidate.variable).collect();
    let suspects = Suspects::new(&session, &variables, arguments.fault_state as usize)?;
    let first = suspects.first(|candidate| candidates[candidate].mark == Some(true));
    let located = Located {
        name,
        graph: &graph,
        names: &names,
        candidates: &candidates,
        suspects: &suspects,
        first,
        report,
        seconds: read + started.elapsed().as_secs_f64(),
    };
    output.printer.graph(&located)?;
    if let Some(page) = &mut output.page {
        let parts = [("reading", read), ("preparing", prepared), ("running", ended - prepared)];
        let observed = &output.observer.runs()[runs_before..];
        let top = arguments.top as usize;
        report::locate::section(page, &located, &session, top, observed, &parts)?;
    }
    Ok(first)
}
