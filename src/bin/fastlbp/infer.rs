//! `fastlbp infer`: from a graph file to marginals, or to the most probable joint state.

use crate::activity::Activity;
use crate::answers::{Section, ShowArguments, View, write_sections};
use crate::batch::Entry;
use crate::conflicts::Conflicts;
use crate::driver_settings::ask_for_one_device;
use crate::early_start::EarlyStart;
use crate::exact::{self, ExactArguments, Question};
use crate::failure::{Failure, Outcome};
use crate::inputs::{InputArguments, Inputs, read_inputs};
use crate::messages::{inform, warn};
use crate::observe::{ObserveArguments, Observer};
use crate::report::{self, infer::Ended};
use crate::run_options::RunArguments;
use crate::run_warnings;
use crate::runs::{Finished, Job, Run, Stream};
use crate::signals;
use crate::standard_streams::{output_path, standard_output};
use crate::stats::{EntryStats, RunStats, Runs, Seconds, Stats, peak_rss_bytes};
use crate::trace;
use fastlbp::format::{NamedGraph, save_text};
use fastlbp::schedule::{Storage, analyse};
use fastlbp::{
    BeliefPropagation, FactorGraph, Inference, RunReport, RunRequest, Schedule, StopReason,
    StopRule,
};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Run belief propagation and print the marginals of all variables
///
/// Prints a head line and then a line `label P(x=1)` per variable, ascending by label, with the
/// shortest number that reads back to the same value; for a variable with more than two states the
/// probabilities of all its states.
///
/// With a .bif graph, a line is `name state=probability ...`, with all states in their order, and
/// variables are in the order of the file. In these lines as in files, a name with blanks is in
/// double quotes. Where a file has a label for a name, it is the variable's position in the graph's
/// file, from 0, and where it has a number for a state, its position; but where variables (or the
/// states of one) are named by numbers, numbers are names.
///
/// With --batch, a line `# entry NAME` comes before each run's head line, and `# failed: REASON`
/// instead of its results if it has none; the others are printed all the same, and the exit code is 3
/// if one was contradictory.
///
/// Without --iterations, --tolerance, --max-iterations or --bingo, iterations are made until no
/// probability changes by more than 1e-9, at most 1000 of them.
///
/// SIGINT (Ctrl-C), SIGTERM and SIGHUP end the run at its next iteration, with the exit code 130, 143 or 129.
/// With --output, the results of the iterations so far are written, and in a batch those of the entries so
/// far; without it nothing is printed. A second signal ends the program at once, and leaves the file as
/// it was.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    inputs: InputArguments,

    #[command(flatten)]
    run: RunArguments,

    #[command(flatten)]
    exact: ExactArguments,

    /// Run max-product, and print the most probable joint state that it finds, with --exact one that there is none better
    /// than: the head line `# label
    /// state; log-score S`, S the natural logarithm of the product of all factors there, and a line
    /// `label state` per variable (`name state` with a .bif graph), which can be read as evidence.
    /// Exact on trees
    #[arg(long)]
    map: bool,

    /// Print the natural logarithm of the partition function (Bethe approximation; exact on trees) as
    /// `# log-partition Z`, a line before the head line: minus its value without evidence, it is the
    /// log-probability of the evidence. Not with max-product
    #[arg(long, conflicts_with = "map")]
    log_partition: bool,

    #[command(flatten)]
    show: ShowArguments,

    /// Write what is printed to a file instead, compressed if it ends in .gz; it appears when it is
    /// complete, with the owner, permissions and hard links of the one that it replaces
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    output: Option<PathBuf>,

    /// Write times, sizes and how the run ended to a file, as one JSON object, compressed if the name ends
    /// in .gz; for --batch with a list `entries`
    #[arg(long, value_name = "FILE", value_parser = output_path())]
    stats: Option<PathBuf>,

    #[command(flatten)]
    observe: ObserveArguments,
}

impl Arguments {
    fn request(&self, inference: Inference) -> RunRequest {
        RunRequest { observe: self.observe.is_wanted(), ..self.run.request(inference) }
    }
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    let inference = inference(arguments)?;
    let conflicts = conflicts(arguments)?;
    let engine_options = arguments.run.engine_options();
    let threads = engine_options.thread_limit();
    if arguments.inputs.batch.is_none() {
        ask_for_one_device(&engine_options);
    }
    let early_start = (!arguments.exact.exact).then(|| EarlyStart::of(&engine_options));
    let (inputs, read) = timed(|| {
        let _activity = Activity::start("reading");
        let inputs = read_inputs(&arguments.inputs, conflicts, threads)?;
        let schedule = arguments.run.read_schedule(&inputs.graph)?;
        Ok::<_, Failure>((inputs, schedule))
    });
    let (inputs, schedule) = inputs?;
    inputs.warnings.iter().for_each(warn);
    if arguments.exact.exact {
        let Arguments { map, log_partition, .. } = *arguments;
        let output = arguments.output.as_deref();
        let question = Question { inference, map, log_partition, output, show: &arguments.show };
        return exact::infer(&arguments.exact, &question, inputs);
    }
    let Inputs { graph, names, dictionary, evidence, entries, queries, .. } = inputs;
    let named = NamedGraph::new(&graph, names.as_ref())?;
    let view = View {
        show: &arguments.show,
        graph: named,
        names: dictionary.as_ref(),
        queries: queries.as_deref(),
    };
    let (levels, analyse) = timed(|| match arguments.stats {
        Some(_) => count_levels(&graph, &schedule),
        None => Ok(0),
    });
    let levels = levels?;
    let (session, prepare) = timed(|| {
        let _activity = Activity::start("preparing");
        let options = arguments.run.engine_options();
        let mut session = BeliefPropagation::new(graph.clone(), schedule.clone(), options)?;
        session.set_evidence(&evidence)?;
        if entries.is_none() {
            session.prepare(&arguments.request(inference))?;
        }
        Ok::<_, Failure>(session)
    });
    let mut session = session?;
    drop(early_start);
    let mut observer = Observer::new(&arguments.observe);
    let job = Job {
        run: &arguments.run,
        request: arguments.request(inference),
        map: arguments.map,
        log_partition: arguments.log_partition,
        view,
        threads,
    };
    let Ran { runs, run, written, write } = match (entries, &arguments.output) {
        (Some(entries), Some(path)) => {
            write_while_running(&job, &mut session, entries, &mut observer, path)?
        }
        (Some(entries), None) => {
            Ran::kept(|| job.run_entries(&mut session, entries, &mut observer, None))
        }
        (None, _) => Ran::kept(|| Ok(vec![job.run_evidence(&mut session, &mut observer)?])),
    };
    let signal = signals::received();
    session.take_notes().iter().for_each(inform);
    let runs = runs?;
    warn_about(arguments, named, &runs);
    let (written, rest) = timed(|| match (signal, &arguments.output) {
        // Nobody waits for it there any more.
        (Some(_), None) => Ok(()),
        _ if written.is_err() => written,
        (_, path) => write_kept(view, path.as_deref(), &runs, threads),
    });
    // Whoever closed the standard output early may still want the statistics.
    if !matches!(written, Ok(()) | Err(Failure::OutputClosed)) {
        return written;
    }
    let seconds = Seconds { read, analyse, prepare, run, write: write + rest };
    trace::write(&arguments.observe, observer.runs())?;
    if let Some(path) = arguments.observe.report() {
        let graph = arguments.inputs.graph.name();
        let ended: Vec<Ended<'_>> = runs.iter().map(Run::ended).collect();
        report::infer::page(&graph, &session, observer.runs(), &ended, &seconds)?.write(path)?;
    }
    if let Some(path) = &arguments.stats {
        let stats = Stats {
            graph: arguments.inputs.graph.name(),
            schedule: schedule.name(),
            backend: session.backend().name(),
            threads: session.threads(),
            variables: graph.variable_count(),
            factors: graph.factor_count(),
            edges: graph.edge_count(),
            levels,
            runs: run_stats(&graph, &runs),
            peak_rss_bytes: peak_rss_bytes(),
            seconds,
        };
        stats.write(path)?;
    }
    if let Some(signal) = signal {
        return Err(Failure::Interrupted { signal, text: what_was_run(arguments, &runs) });
    }
    let mut failures = runs.iter().filter_map(|run| run.outcome.as_ref().err()).peekable();
    if failures.peek().is_some() {
        return Err(Failure::of_entries(failures, runs.len()));
    }
    written
}

/// Runs that have been made, and the seconds that they and writing their results took.
struct Ran {
    runs: Outcome<Vec<Run>>,
    run: f64,
    written: Outcome,
    write: f64,
}

impl Ran {
    /// Runs of which nothing is written yet.
    fn kept(run: impl FnOnce() -> Outcome<Vec<Run>>) -> Self {
        let (runs, run) = timed(run);
        Self { runs, run, written: Ok(()), write: 0.0 }
    }
}

/// Runs the entries of a batch, and writes the results of those that have run to a file meanwhile. Fails where it does not
/// come to running them.
fn write_while_running(
    job: &Job<'_>, session: &mut BeliefPropagation, entries: Vec<Entry>, observer: &mut Observer,
    path: &Path,
) -> Outcome<Ran> {
    let mut runs = None;
    let mut activity = None;
    let (written, seconds) = timed(|| {
        save_text(path, |sink| {
            let mut stream = Stream::new(sink);
            let ran = timed(|| job.run_entries(session, entries, observer, Some(&mut stream)));
            activity = Some(Activity::start("writing"));
            let failed = ran.0.is_err();
            runs = Some(ran);
            match failed {
                true => Err(io::Error::other("there are no results")),
                false => stream.end(),
            }
        })
    });
    let written = written.map_err(Failure::output);
    match runs {
        None => Err(written.err().unwrap_or(Failure::NotRun)),
        Some((runs, run)) => Ok(Ran { runs, run, written, write: seconds - run }),
    }
}

/// Writes the results that are there to a file, or to the standard output without one.
fn write_kept(view: View<'_>, path: Option<&Path>, runs: &[Run], threads: usize) -> Outcome {
    if runs.iter().all(|run| run.is_written) {
        return Ok(());
    }
    let sections: Vec<Section<'_>> = runs.iter().map(Run::section).collect();
    write_sections(path, view, &sections, threads)
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// The outputs, which must differ from each other and from all inputs.
fn conflicts(arguments: &Arguments) -> Outcome<Conflicts> {
    let mut files = Conflicts::default();
    files.output("--output", arguments.output.as_deref())?;
    files.output("--stats", arguments.stats.as_deref())?;
    arguments.observe.check(&mut files)?;
    if arguments.output.is_none() {
        // Found out before the run rather than after it.
        drop(standard_output()?);
        files.standard_output()?;
    }
    files.input("--ranks", arguments.run.ranks())?;
    Ok(files)
}

/// Sums or maxima; fails where options do not go together.
fn inference(arguments: &Arguments) -> Outcome<Inference> {
    arguments.run.check()?;
    match (arguments.run.inference(), arguments.map) {
        (Some(Inference::SumProduct), true) => Err(Failure::input(
            "--map with --inference sum: the most probable joint state needs --inference max, which \
             --map implies",
        )),
        (Some(Inference::MaxProduct), _) if arguments.log_partition => Err(Failure::input(
            "--log-partition with --inference max: the partition function is a sum, and --inference \
             sum is needed",
        )),
        (_, true) => Ok(Inference::MaxProduct),
        (given, false) => Ok(given.unwrap_or_default()),
    }
}

fn count_levels(graph: &FactorGraph, schedule: &Schedule) -> Outcome<usize> {
    let _activity = Activity::start("analysing");
    if let Schedule::MaximumResidual { .. } = schedule {
        return Ok(0);
    }
    Ok(analyse(graph, &schedule.preorder(graph, 0)?, Storage::InPlace)?.count())
}

fn warn_about(arguments: &Arguments, graph: NamedGraph<'_>, runs: &[Run]) {
    for Run { entry, outcome, .. } in runs {
        let warn = |text: String| match entry {
            Some(name) => warn(format!("entry {name}: {text}")),
            None => warn(text),
        };
        match outcome {
            Ok(finished) => warn_about_run(arguments, graph, &finished.report, warn),
            // Said of all of them together.
            Err(Failure::NotRun) => {}
            Err(failure) => warn(failure.text().to_string()),
        }
    }
}

fn warn_about_run(
    arguments: &Arguments, graph: NamedGraph<'_>, report: &RunReport, warn: impl Fn(String),
) {
    if let Some(text) = run_warnings::of_contradictions(report, |v| graph.describe(v)) {
        warn(text);
    }
    let rule = arguments.run.stop_rule();
    let waited = matches!(rule, StopRule::Tolerance { .. } | StopRule::AllBeliefs { .. });
    if waited && !report.converged && report.reason == StopReason::Iterations {
        let change = match report.max_diff {
            change if change.is_finite() => format!(": the largest change is still {change:.1e}"),
            _ => String::new(),
        };
        warn(format!("no convergence in {} iterations{change}", report.iterations));
    }
    if let Some(text) = run_warnings::of_time(report) {
        warn(text);
    }
}

/// How far the runs came that a signal has ended, and where their results are.
fn what_was_run(arguments: &Arguments, runs: &[Run]) -> String {
    let mut text = match runs {
        [Run { entry: None, outcome: Ok(Finished { report, .. }), .. }] => {
            format!("has ended the run after {} iterations", report.iterations)
        }
        _ => {
            let cut = |report: &RunReport| report.reason == StopReason::Cancelled;
            let reports = || runs.iter().filter_map(|run| run.outcome.as_ref().ok());
            let cut = reports().filter(|finished| cut(&finished.report)).count();
            let not_run =
                runs.iter().filter(|run| matches!(run.outcome, Err(Failure::NotRun))).count();
            format!(
                "has ended the batch: of {} entries {cut} were cut short and {not_run} not run",
                runs.len()
            )
        }
    };
    match &arguments.output {
        Some(path) => text += &format!("; the results so far are in {}", path.display()),
        None => text += "; no results are printed (--output would have them written)",
    }
    text
}

fn run_stats(graph: &FactorGraph, runs: &[Run]) -> Runs {
    let stats = |run: &Run| {
        let Finished { report, log_partition, log_score, .. } = run.outcome.as_ref().ok()?;
        Some(RunStats::new(graph, report, *log_partition, *log_score))
    };
    if let [run @ Run { entry: None, .. }] = runs
        && let Some(stats) = stats(run)
    {
        return Runs::One(stats);
    }
    let entry = |run: &Run| EntryStats {
        name: run.entry.clone().unwrap_or_default(),
        failure: run.outcome.as_ref().err().map(|failure| failure.text().to_string()),
        run: stats(run),
    };
    Runs::Batch { entries: runs.iter().map(entry).collect() }
}
