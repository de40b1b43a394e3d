//! `fastlbp infer`: from a graph file to marginals.

use crate::activity::Activity;
use crate::failure::{Failure, Outcome, warn};
use crate::inputs::{InputArguments, Inputs, read_inputs, run_failure};
use crate::options::{ScheduleName, parse_bingo_rule, parse_seconds, parse_tolerance};
use clap::ValueEnum;
use fastlbp::format::{
    NamedGraph, read_ranks, write_marginals, write_marginals_of, write_marginals_of_to,
    write_marginals_to,
};
use fastlbp::schedule::{Preorder, Storage, analyse};
use fastlbp::{
    Backend, BeliefPropagation, Contradiction, Control, EngineOptions, FactorGraph, RunReport,
    RunRequest, Schedule, StopReason, StopRule,
};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const DEFAULT_TOLERANCE: f64 = 1e-9;
const DEFAULT_MAX_ITERATIONS: u64 = 1000;

/// Most threads that can be asked for: far more than any machine has, few enough to start.
const MAX_THREADS: u64 = 1024;

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
/// Without --iterations, --tolerance, --max-iterations or --bingo, passes are made until no
/// probability changes by more than 1e-9, at most 1000 of them.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    inputs: InputArguments,

    /// Order in which messages are updated
    #[arg(long, value_enum, ignore_case = true, default_value_t = ScheduleName::Parallel)]
    schedule: ScheduleName,

    /// Order of the user's own: a line `factor-position variable-label rank` per edge; messages are
    /// updated by ascending rank, those of equal rank at once
    #[arg(long, value_name = "FILE", conflicts_with_all = ["schedule", "blocks", "seed"])]
    ranks: Option<PathBuf>,

    /// Number of blocks of BLOCKS; the other schedules do not use it
    #[arg(long, allow_negative_numbers = true, value_name = "K", default_value_t = Schedule::DEFAULT_BLOCKS, value_parser = clap::value_parser!(u32).range(1..))]
    blocks: u32,

    /// Seed of SEQRND and BLOCKS; the other schedules do not use it
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Make exactly this many passes
    #[arg(long, allow_negative_numbers = true, value_name = "N", conflicts_with_all = ["tolerance", "max_iterations", "bingo"])]
    iterations: Option<u64>,

    /// Stop when no probability changes by more than this in a pass [default: 1e-9]
    #[arg(long, allow_negative_numbers = true, value_name = "T", value_parser = parse_tolerance, conflicts_with = "bingo")]
    tolerance: Option<f64>,

    /// Most passes to wait for the tolerance [default: 1000]
    #[arg(long, allow_negative_numbers = true, value_name = "N", conflicts_with = "bingo")]
    max_iterations: Option<u64>,

    /// BINGO's rule: stop at tolerance TOL, or, between MIN and MAX passes, when few variables still
    /// change; without convergence the results are means of the last HIST beliefs
    #[arg(long, allow_hyphen_values = true, value_name = "TOL,MIN,MAX,HIST", value_parser = parse_bingo_rule)]
    bingo: Option<StopRule>,

    /// Begin no further pass after this many seconds
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = parse_seconds)]
    max_time: Option<Duration>,

    /// What happens where certain messages that disagree meet
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = ContradictionPolicy::Error)]
    contradiction: ContradictionPolicy,

    /// Number of threads [default: one per physical core]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS))]
    threads: Option<u64>,

    /// What runs the passes
    #[arg(long, value_enum, default_value_t = BackendName::Auto)]
    backend: BackendName,

    /// Number of the CUDA device that the backend cuda uses, as `fastlbp devices` lists them
    /// [default: that of the environment variable FASTLBP_DEVICE, else 0]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    device: Option<u32>,

    /// Write the marginals to a file, compressed if it ends in .gz; it appears when it is complete
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write times, sizes and how the run ended to a file, as one JSON object
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ContradictionPolicy {
    /// End with exit code 3 and name the variable
    Error,
    /// The state backed by more certain messages wins, a tie is uniform
    Vote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BackendName {
    /// The fastest one that is present
    Auto,
    /// The processor
    Cpu,
    /// A CUDA device
    Cuda,
}

/// What `--stats` writes.
#[derive(Serialize)]
struct Stats {
    graph: String,
    schedule: &'static str,
    backend: &'static str,
    threads: usize,
    variables: usize,
    factors: usize,
    edges: usize,
    /// Levels with old messages overwritten in place; those of the first pass for SEQRND, 0 for
    /// SEQMAX, which has no preorder.
    levels: usize,
    passes: u64,
    stop_reason: &'static str,
    converged: bool,
    /// `null` where nothing was measured.
    max_diff: Option<f64>,
    frac: f64,
    contradictions: u64,
    /// Label of the first contradictory variable.
    first_contradiction: Option<u64>,
    /// `null` where the operating system does not tell.
    peak_rss_bytes: Option<u64>,
    seconds: Seconds,
}

/// Wall-clock times.
#[derive(Serialize)]
struct Seconds {
    /// Graph, evidence and ranks.
    read: f64,
    /// The preorder of the schedule and its dependency levels, for these statistics.
    analyse: f64,
    /// All that is done once per graph and schedule.
    prepare: f64,
    run: f64,
    write: f64,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    let (inputs, read) = timed(|| {
        let _activity = Activity::start("reading");
        let inputs = read_inputs(&arguments.inputs)?;
        let schedule = read_schedule(arguments, &inputs.graph)?;
        Ok::<_, Failure>((inputs, schedule))
    });
    let (Inputs { graph, names, evidence, queries, warnings }, schedule) = inputs?;
    let named = NamedGraph::new(&graph, names.as_ref())?;
    warnings.iter().for_each(warn);
    let (levels, analyse) = timed(|| match arguments.stats {
        Some(_) => count_levels(&graph, &schedule),
        None => Ok(0),
    });
    let levels = levels?;
    let (session, prepare) = timed(|| {
        let _activity = Activity::start("preparing");
        let mut session =
            BeliefPropagation::new(graph.clone(), schedule.clone(), engine_options(arguments))?;
        session.set_evidence(evidence)?;
        Ok::<_, Failure>(session)
    });
    let mut session = session?;
    let (report, run) = timed(|| {
        let activity = Activity::passes(stop_rule(arguments).most_passes());
        session.run_monitored(&request(arguments), &mut |progress| {
            activity.advance(progress);
            Control::Continue
        })
    });
    let report = report.map_err(|error| run_failure(error, named))?;
    warn_about(arguments, named, &report);
    let (written, write) =
        timed(|| write_results(arguments, named, queries.as_deref(), session.marginals()?));
    // Whoever closed the standard output early may still want the statistics.
    if !matches!(written, Ok(()) | Err(Failure::OutputClosed)) {
        return written;
    }
    if let Some(path) = &arguments.stats {
        let stats = Stats {
            graph: arguments.inputs.graph.display().to_string(),
            schedule: schedule.name(),
            backend: session.backend().name(),
            threads: session.threads(),
            variables: graph.variable_count(),
            factors: graph.factor_count(),
            edges: graph.edge_count(),
            levels,
            passes: report.passes,
            stop_reason: reason_name(report.reason),
            converged: report.converged,
            max_diff: report.max_diff.is_finite().then_some(report.max_diff),
            frac: report.frac,
            contradictions: report.contradictions,
            first_contradiction: report.first_contradiction.map(|v| graph.label(v)),
            peak_rss_bytes: peak_rss_bytes(),
            seconds: Seconds { read, analyse, prepare, run, write },
        };
        write_stats(&stats, path)?;
    }
    written
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

fn read_schedule(arguments: &Arguments, graph: &FactorGraph) -> Outcome<Schedule> {
    Ok(match &arguments.ranks {
        Some(path) => {
            let ranks = read_ranks(path, graph)?;
            Schedule::Custom(Arc::new(Preorder::from_ranks(graph, &ranks)?))
        }
        None => arguments.schedule.schedule(arguments.seed, arguments.blocks),
    })
}

fn count_levels(graph: &FactorGraph, schedule: &Schedule) -> Outcome<usize> {
    let _activity = Activity::start("analysing");
    if let Schedule::MaximumResidual { .. } = schedule {
        return Ok(0);
    }
    Ok(analyse(graph, &schedule.preorder(graph, 0)?, Storage::InPlace)?.count())
}

fn engine_options(arguments: &Arguments) -> EngineOptions {
    EngineOptions {
        backend: match arguments.backend {
            BackendName::Auto => Backend::Auto,
            BackendName::Cpu => Backend::Cpu,
            BackendName::Cuda => Backend::Cuda,
        },
        // The value was checked to be small.
        threads: arguments.threads.map(|threads| threads as usize),
        device: arguments.device,
        ..EngineOptions::default()
    }
}

fn stop_rule(arguments: &Arguments) -> StopRule {
    if let Some(rule) = arguments.bingo {
        return rule;
    }
    if let Some(passes) = arguments.iterations {
        return StopRule::Passes(passes);
    }
    StopRule::Tolerance {
        tolerance: arguments.tolerance.unwrap_or(DEFAULT_TOLERANCE),
        max_passes: arguments.max_iterations.unwrap_or(DEFAULT_MAX_ITERATIONS),
    }
}

fn request(arguments: &Arguments) -> RunRequest {
    RunRequest {
        max_time: arguments.max_time,
        contradiction: match arguments.contradiction {
            ContradictionPolicy::Error => Contradiction::Error,
            ContradictionPolicy::Vote => Contradiction::Vote,
        },
        ..RunRequest::new(stop_rule(arguments))
    }
}

fn warn_about(arguments: &Arguments, graph: NamedGraph<'_>, report: &RunReport) {
    if let Some(variable) = report.first_contradiction {
        warn(format!(
            "certain messages that disagree met at variable {} ({} such places in a pass): the \
             state backed by more of them won",
            graph.describe(variable),
            report.contradictions
        ));
    }
    let waited = matches!(stop_rule(arguments), StopRule::Tolerance { .. });
    if waited && !report.converged && report.reason == StopReason::Passes {
        let change = match report.max_diff {
            change if change.is_finite() => format!(": the largest change is still {change:.1e}"),
            _ => String::new(),
        };
        warn(format!("no convergence in {} passes{change}", report.passes));
    }
    if report.reason == StopReason::Time {
        warn(format!("the time was up after {} passes", report.passes));
    }
}

fn reason_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Converged => "converged",
        StopReason::Passes => "passes",
        StopReason::Share => "share",
        StopReason::Time => "time",
        StopReason::Cancelled => "cancelled",
    }
}

fn write_results(
    arguments: &Arguments,
    graph: NamedGraph<'_>,
    queries: Option<&[usize]>,
    marginals: &[f64],
) -> Outcome {
    if let Some(path) = &arguments.output {
        let _activity = Activity::start("writing");
        let written = match queries {
            Some(queries) => write_marginals_of(graph, marginals, queries, path),
            None => write_marginals(graph, marginals, path),
        };
        return written.map_err(Failure::output);
    }
    let mut output = io::stdout().lock();
    let written = match queries {
        Some(queries) => write_marginals_of_to(graph, marginals, queries, &mut output),
        None => write_marginals_to(graph, marginals, &mut output),
    };
    let written = written.and_then(|()| output.flush());
    written.map_err(|error| Failure::standard_output(&error))
}

fn write_stats(stats: &Stats, path: &Path) -> Outcome {
    let mut text = serde_json::to_string_pretty(stats)
        .map_err(|error| Failure::other(format!("statistics: {error}")))?;
    text.push('\n');
    std::fs::write(path, text)
        .map_err(|error| Failure::other(format!("{}: {error}", path.display())))
}

/// Most memory that this process ever had resident, as Linux tells it. (`getrusage` would also count
/// what the parent held when it started this program.)
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1024)
}
