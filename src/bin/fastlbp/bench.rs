//! `fastlbp bench`: times of reading, preparing and iterating, compared with the bandwidth of memory.

use crate::activity::Activity;
use crate::conflicts::Conflicts;
use crate::copy_speed::copy_speed;
use crate::driver_settings::ask_for_one_device;
use crate::failure::{Failure, Outcome};
use crate::graph_file::FormatName;
use crate::messages::warn;
use crate::options::{BackendName, ScheduleName, parse_bingo_rule, parse_damping, parse_tolerance};
use crate::run_options::InferenceName;
use crate::shape::{ShapeName, ShapeOptions};
use crate::signals;
use crate::standard_streams::{input_path, print};
use crate::subject::{EvidenceSource, Source, Subject, timed};
use fastlbp::engine::device::device_count;
use fastlbp::schedule::{Storage, analyse};
use fastlbp::{
    Backend, BeliefPropagation, Contradiction, EngineOptions, FactorGraph, RunReport, RunRequest,
    Schedule, StopReason, StopRule,
};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// The approximate duration of a measurement of iterations.
const MEASURED_SECONDS: f64 = 0.1;
/// The run to convergence begins no iteration after this time.
const RUN_LIMIT: Duration = Duration::from_secs(10);
/// The rule of that run: the default of `fastlbp infer`.
const DEFAULT_RULE: StopRule = StopRule::Tolerance { tolerance: 1e-9, max_iterations: 1000 };

/// Measure how long reading, preparing and iterations take
///
/// Prints a line per graph, schedule and backend:
///
/// read, analyse, prepare: milliseconds for the file or for generating the graph, for the schedule's order and
/// its levels (not needed for a run), and for all that is done once per graph and schedule.
///
/// iteration: microseconds per iteration, and ns/edge nanoseconds per edge of it. Each of the --repeats
/// measurements is the difference of two fresh runs, of 1 and of 1 + --iterations iterations, over --iterations;
/// these are the medians. Runs with --bingo may converge earlier, and are counted as they are.
///
/// run: milliseconds of one run as `fastlbp infer` makes it (tolerance 1e-9, at most 1000 iterations), with
/// its number of iterations; > where it was ended after 10 seconds. With --bingo, as BINGO's command BP makes it.
///
/// GB/s: bytes that an iteration must move at least, per second. These are, per edge, 8 bytes read and 8 written
/// for each value of its message (one for a binary variable, else one per state) and 4 read for its
/// index, and 8 read for each entry of a table. Floor: the share of this in what a copy of as many bytes
/// reaches on as many threads, so that 100% would be as fast as memory allows; not known for devices.
///
/// Contradictions are decided by vote. A failure is said on the standard error, the others are measured
/// all the same, and the exit code is that of the first one. SIGINT (Ctrl-C), SIGTERM and SIGHUP end it at
/// the next iteration, with the measurements that are complete and the exit code 130, 143 or 129.
#[derive(clap::Args)]
pub struct Arguments {
    /// Factor graphs: .causal_fg, .fg, .uai or .bif, also with .gz; - is the standard input, and needs --format
    #[arg(value_name = "GRAPH", required_unless_present = "shape", value_parser = input_path())]
    graphs: Vec<PathBuf>,

    /// Format of the graphs, where the names of their files do not say it
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatName>,

    /// Graphs that are generated and never written, after the others: shapes of `fastlbp generate` with commas in
    /// between or one by one, with their observations, and with its options
    #[arg(
        long = "generate",
        id = "shape",
        value_enum,
        value_name = "A,B",
        value_delimiter = ',',
        requires = "variables"
    )]
    shapes: Vec<ShapeName>,

    /// Number of variables of generated graphs
    #[arg(long, allow_negative_numbers = true, value_name = "N", requires = "shape")]
    variables: Option<usize>,

    #[command(flatten)]
    shape_options: ShapeOptions,

    /// Observed variables, for one graph [default: the file next to each graph with its name and the
    /// suffix .obs, if there is one]
    #[arg(long, value_name = "FILE", conflicts_with = "shape", value_parser = input_path())]
    evidence: Option<PathBuf>,

    /// Weights of states, for one graph, as for `fastlbp infer`
    #[arg(long, value_name = "FILE", conflicts_with = "shape", value_parser = input_path())]
    soft_evidence: Option<PathBuf>,

    /// No evidence, also where there is a file next to the graph, or where a generated graph has observations
    #[arg(long, conflicts_with_all = ["evidence", "soft_evidence"])]
    no_evidence: bool,

    /// Schedules, with commas in between or one by one; SEQRND and BLOCKS with the seed 1
    #[arg(long, value_enum, ignore_case = true, value_name = "A,B", value_delimiter = ',', default_values_t = [ScheduleName::Parallel, ScheduleName::SequentialFixed])]
    schedule: Vec<ScheduleName>,

    /// Backends, with commas in between or one by one [default: cpu, and cuda where there is a device]
    #[arg(long, value_enum, value_name = "A,B", value_delimiter = ',')]
    backend: Vec<BackendName>,

    /// Number of the CUDA device
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    device: Option<u32>,

    /// Number of CPU threads [default: one per physical core]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,

    /// Iterations of a measurement [default: as many as take about 100 ms]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    iterations: Option<u64>,

    /// Iterations and runs by BINGO's rule, which measures beliefs and messages in each iteration [default:
    /// iterations without measuring, a run by tolerance]
    #[arg(long, allow_hyphen_values = true, value_name = "TOL,MIN,MAX,HIST", value_parser = parse_bingo_rule)]
    bingo: Option<StopRule>,

    /// Sums give marginals, maxima max-marginals, as for `fastlbp infer`
    #[arg(long, value_enum, value_name = "KIND", default_value_t = InferenceName::Sum)]
    inference: InferenceName,

    /// Damping of all runs, as for `fastlbp infer`
    #[arg(long, allow_negative_numbers = true, value_name = "D", value_parser = parse_damping, default_value_t = 0.0)]
    damping: f64,

    /// Active set of all runs, as for `fastlbp infer`
    #[arg(long, allow_negative_numbers = true, value_name = "T", value_parser = parse_tolerance, conflicts_with = "damping")]
    active: Option<f64>,

    /// Number of measurements, of which the median is taken
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,

    /// Print one JSON object, with times in seconds
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Files with evidence are for one graph.
    fn check_evidence(&self) -> Outcome {
        let files = [
            ("--evidence", &self.evidence, "; those next to the graphs are found without it"),
            ("--soft-evidence", &self.soft_evidence, ""),
        ];
        for (option, file, advice) in files {
            if let (Some(path), [_, _, ..]) = (file, &self.graphs[..]) {
                return Err(Failure::input(format!(
                    "{option} {} with {} graphs: it is that of one graph{advice}",
                    path.display(),
                    self.graphs.len()
                )));
            }
        }
        Ok(())
    }
}

/// The output of `--json`.
#[derive(Default, Serialize)]
struct Report {
    measurements: Vec<Measurement>,
    failures: Vec<Failed>,
}

#[derive(Serialize)]
struct Failed {
    graph: String,
    /// `null` where there is no graph.
    schedule: Option<&'static str>,
    backend: Option<&'static str>,
    reason: String,
}

/// Times are in seconds.
#[derive(Serialize)]
struct Measurement {
    graph: String,
    schedule: &'static str,
    /// The backend of the runs; for `auto`, the one that was chosen.
    backend: &'static str,
    threads: usize,
    variables: usize,
    factors: usize,
    edges: usize,
    /// Number of variables with evidence.
    observed: usize,
    /// Number of levels for storage in place; `null` for SEQMAX.
    levels: Option<usize>,
    read: f64,
    /// `null` for SEQMAX.
    analyse: Option<f64>,
    prepare: f64,
    /// Iterations of a measurement.
    iterations: u64,
    repeats: u32,
    /// Median.
    iteration: f64,
    /// `null` for a graph without edges.
    iteration_per_edge: Option<f64>,
    /// A lower bound of the bytes that an iteration moves; see [`iteration_bytes`].
    iteration_bytes: u64,
    bytes_per_second: f64,
    /// Bandwidth of a copy; `null` where it is not known.
    copy_bytes_per_second: Option<f64>,
    floor_share: Option<f64>,
    run: f64,
    run_iterations: u64,
    /// Whether [`RUN_LIMIT`] ended the run.
    run_cut: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    arguments.check_evidence()?;
    arguments.shape_options.check(&arguments.shapes)?;
    let mut conflicts = Conflicts::default();
    for graph in &arguments.graphs {
        conflicts.input("GRAPH", Some(graph))?;
    }
    conflicts.input("--evidence", arguments.evidence.as_deref())?;
    conflicts.input("--soft-evidence", arguments.soft_evidence.as_deref())?;
    ask_for_one_device(&EngineOptions { device: arguments.device, ..EngineOptions::default() });
    let backends = match &arguments.backend[..] {
        [] if device_count().is_ok() => vec![BackendName::Cpu, BackendName::Cuda],
        [] => vec![BackendName::Cpu],
        given => given.to_vec(),
    };
    if !arguments.json {
        print(&head_line())?;
    }
    let mut report = Report::default();
    let mut failures = Vec::new();
    measure_all(arguments, &backends, &mut report, &mut failures)?;
    if arguments.json {
        let json = serde_json::to_string_pretty(&report)
            .map_err(|error| Failure::other(format!("the measurements: {error}")))?;
        print(&format!("{json}\n"))?;
    }
    if let Some(signal) = signals::received() {
        let text = format!("has ended it after {} measurements", report.measurements.len());
        return Err(Failure::Interrupted { signal, text });
    }
    match failures.into_iter().next() {
        None => Ok(()),
        Some(first) => Err(first.retold(format!(
            "{} of {} measurements failed, see the warnings",
            report.failures.len(),
            report.failures.len() + report.measurements.len()
        ))),
    }
}

/// Measures everything, up to a signal that ends it.
fn measure_all(
    arguments: &Arguments, backends: &[BackendName], report: &mut Report,
    failures: &mut Vec<Failure>,
) -> Outcome {
    let evidence = match &arguments.evidence {
        Some(file) => EvidenceSource::File(file),
        None if arguments.no_evidence => EvidenceSource::None,
        None => EvidenceSource::OfGraph,
    };
    let files = arguments.graphs.iter().map(|path| Source::File(path, arguments.format));
    // Shapes come with their number of variables only.
    let variables = arguments.variables.unwrap_or_default();
    let plan = |&shape| Source::Plan(arguments.shape_options.plan(shape, variables));
    for source in files.chain(arguments.shapes.iter().map(plan)) {
        let subject = match source.subject(&evidence, arguments.soft_evidence.as_deref()) {
            Ok(subject) => subject,
            Err(failure) => {
                warn(failure.text());
                let (graph, reason) = (source.name(), failure.text().to_string());
                report.failures.push(Failed { graph, schedule: None, backend: None, reason });
                failures.push(failure);
                continue;
            }
        };
        for &schedule in &arguments.schedule {
            for &backend in backends {
                let schedule = schedule.schedule(1, Schedule::DEFAULT_BLOCKS);
                let name = schedule.name();
                match measure(arguments, &subject, schedule, backend.backend()) {
                    Ok(measurement) => {
                        if !arguments.json {
                            print(&measurement.line())?;
                        }
                        report.measurements.push(measurement);
                    }
                    Err(Failure::NotRun) => return Ok(()),
                    Err(failure) => {
                        let backend = backend.backend().name();
                        let reason = failure.text().to_string();
                        warn(format!("{}, {name}, {backend}: {reason}", subject.name));
                        report.failures.push(Failed {
                            graph: subject.name.clone(),
                            schedule: Some(name),
                            backend: Some(backend),
                            reason,
                        });
                        failures.push(failure);
                    }
                }
            }
        }
    }
    Ok(())
}

fn measure(
    arguments: &Arguments, subject: &Subject, schedule: Schedule, backend: Backend,
) -> Outcome<Measurement> {
    let _iterations = signals::iterations();
    let _activity = Activity::start("measuring");
    let graph = &subject.graph;
    let (levels, analyse) = match schedule {
        Schedule::MaximumResidual { .. } => (None, None),
        _ => {
            let levels = || analyse(graph, &schedule.preorder(graph, 0)?, Storage::InPlace);
            let (levels, seconds) = timed(levels);
            (Some(levels?.count()), Some(seconds))
        }
    };
    let options = EngineOptions {
        backend,
        // The value was checked to be small.
        threads: arguments.threads.map(|threads| threads as usize),
        device: arguments.device,
        ..EngineOptions::default()
    };
    let name = schedule.name();
    let rule = arguments.bingo.unwrap_or(DEFAULT_RULE);
    let first = RunRequest { max_time: Some(RUN_LIMIT), ..arguments.request(rule) };
    let (session, prepare) = timed(|| {
        let mut session = BeliefPropagation::new(graph.clone(), schedule, options)?;
        session.prepare(&first)?;
        Ok::<_, Failure>(session)
    });
    let mut session = session?;
    session.set_evidence(&subject.evidence)?;
    let (report, run) = timed(|| run_iterations(&mut session, &first));
    let report = report?;
    let (iterations, iteration) = time_of_iteration(arguments, &mut session)?;
    let iteration_bytes = iteration_bytes(graph);
    let bytes_per_second = iteration_bytes as f64 / iteration;
    let threads = session.threads();
    let copy = match session.backend() {
        Backend::Cpu | Backend::Auto => copy_speed(iteration_bytes, threads),
        Backend::Cuda => None,
    };
    Ok(Measurement {
        graph: subject.name.clone(),
        schedule: name,
        backend: session.backend().name(),
        threads,
        variables: graph.variable_count(),
        factors: graph.factor_count(),
        edges: graph.edge_count(),
        observed: subject.evidence.iter().count(),
        levels,
        read: subject.read,
        analyse,
        prepare,
        iterations,
        repeats: arguments.repeats,
        iteration,
        iteration_per_edge: (graph.edge_count() > 0).then(|| iteration / graph.edge_count() as f64),
        iteration_bytes,
        bytes_per_second,
        copy_bytes_per_second: copy,
        floor_share: copy.map(|copy| bytes_per_second / copy),
        run,
        run_iterations: report.iterations,
        run_cut: report.reason == StopReason::Time,
    })
}

impl Arguments {
    fn request(&self, rule: StopRule) -> RunRequest {
        RunRequest {
            inference: self.inference.inference(),
            damping: self.damping,
            active_threshold: self.active,
            contradiction: Contradiction::Vote,
            // Nobody hears of changes, as where `fastlbp infer` shows none.
            rough_progress: true,
            ..RunRequest::new(rule)
        }
    }
}

/// Runs a session. Fails with [`Failure::NotRun`] if a signal has ended the run.
fn run_iterations(session: &mut BeliefPropagation, request: &RunRequest) -> Outcome<RunReport> {
    let report = session.run_monitored(request, &mut |_| signals::control())?;
    if signals::received().is_some() { Err(Failure::NotRun) } else { Ok(report) }
}

/// Iterations of a measurement, and the median of their times.
fn time_of_iteration(
    arguments: &Arguments, session: &mut BeliefPropagation,
) -> Outcome<(u64, f64)> {
    let rule = |iterations: u64| match arguments.bingo {
        Some(StopRule::Bingo { tolerance, history, .. }) => {
            let (min_iterations, max_iterations) = (iterations, iterations);
            StopRule::Bingo { tolerance, min_iterations, max_iterations, history }
        }
        _ => StopRule::Iterations(iterations),
    };
    // A run by a rule with a tolerance may end before, and the iterations that it made are those that took the time.
    let mut run = |iterations: u64| {
        let (report, seconds) =
            timed(|| run_iterations(session, &arguments.request(rule(iterations))));
        report.map(|report| (report.iterations, seconds))
    };
    let mut iterations = arguments.iterations.unwrap_or(1);
    if arguments.iterations.is_none() {
        // The time of a few iterations does not predict that of many, so their number is doubled.
        loop {
            let (made, seconds) = run(iterations)?;
            if made < iterations || seconds >= MEASURED_SECONDS / 4.0 {
                break;
            }
            iterations *= 2;
        }
        let (made, seconds) = run(iterations)?;
        let iteration = seconds / made.max(1) as f64;
        iterations = ((MEASURED_SECONDS / iteration) as u64).clamp(1, 4 * iterations);
    }
    let mut most = 0;
    let mut times = Vec::new();
    for _ in 0..arguments.repeats {
        let (short, long) = (run(1)?, run(iterations.saturating_add(1))?);
        // What ends within one iteration is measured by its one run. And if a disturbance made the short run the longer one,
        // its time is not subtracted, which overestimates little.
        let is_longer = long.0 > short.0 && long.1 > short.1;
        let (made, seconds) = if is_longer { (long.0 - short.0, long.1 - short.1) } else { long };
        times.push(seconds / made.max(1) as f64);
        most = long.0.max(most);
    }
    times.sort_by(f64::total_cmp);
    Ok((iterations.min(most), times[times.len() / 2]))
}

/// Bytes that an iteration over a graph must move at least, whatever the schedule: each message, of 8 bytes for a
/// binary variable and 8 per state for another, is read once and written once; so is, read only, the
/// 4-byte index of each edge's variable and each 8-byte entry of a table. O(edges).
fn iteration_bytes(graph: &FactorGraph) -> u64 {
    let messages: u64 = graph
        .edge_variables()
        .iter()
        .map(|&variable| match graph.cardinality(variable as usize) {
            2 => 16,
            states => 16 * states as u64,
        })
        .sum();
    let entries: u64 = (0..graph.factor_count())
        .map(|factor| graph.factor(factor).as_table().map_or(0, |values| values.len() as u64))
        .sum();
    messages + 4 * graph.edge_count() as u64 + 8 * entries
}

/// The columns but the last, which is the graph: name, width, and what a cell says.
type Column = (&'static str, usize, fn(&Measurement) -> String);

const COLUMNS: [Column; 15] = [
    ("schedule", 8, |row| row.schedule.to_string()),
    ("backend", 8, |row| row.backend.to_string()),
    ("threads", 8, |row| row.threads.to_string()),
    ("variables", 10, |row| row.variables.to_string()),
    ("factors", 10, |row| row.factors.to_string()),
    ("edges", 10, |row| row.edges.to_string()),
    ("read ms", 9, |row| milliseconds(row.read)),
    ("analyse", 9, |row| or_dash(row.analyse.map(milliseconds))),
    ("prepare", 9, |row| milliseconds(row.prepare)),
    ("iteration us", 10, |row| format!("{:.2}", row.iteration * 1e6)),
    ("ns/edge", 8, |row| or_dash(row.iteration_per_edge.map(|s| format!("{:.2}", s * 1e9)))),
    ("run ms", 10, |row| {
        format!("{}{}", if row.run_cut { ">" } else { "" }, milliseconds(row.run))
    }),
    ("iterations", 7, |row| row.run_iterations.to_string()),
    ("GB/s", 7, |row| format!("{:.2}", row.bytes_per_second * 1e-9)),
    ("floor", 6, |row| or_dash(row.floor_share.map(|share| format!("{:.1}%", share * 100.0)))),
];

fn milliseconds(seconds: f64) -> String {
    format!("{:.1}", seconds * 1e3)
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".into())
}

fn line(cell: impl Fn(&Column) -> String, graph: &str) -> String {
    let mut text = String::new();
    for (index, column) in COLUMNS.iter().enumerate() {
        let (cell, width) = (cell(column), column.1);
        // Names to the left, numbers to the right.
        text += &if index < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
        text.push(' ');
    }
    text + graph + "\n"
}

fn head_line() -> String {
    line(|(name, ..)| name.to_string(), "graph")
}

impl Measurement {
    fn line(&self) -> String {
        line(|(.., cell)| cell(self), &self.graph)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use fastlbp::FactorGraphBuilder;

    #[test]
    fn bytes_of_an_iteration() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variable(1, 2).unwrap();
        builder.add_variable(2, 3).unwrap();
        builder.add_table(&[1, 2], &[1.0; 6]).unwrap();
        builder.add_prior(1, 0.5).unwrap();
        let graph = builder.build().unwrap();
        // Two messages of one value, one of three; three indices; six entries.
        assert_eq!(iteration_bytes(&graph), 16 * (1 + 1 + 3) + 4 * 3 + 8 * 6);
    }

    #[test]
    fn schedules_and_backends_have_their_columns() {
        let names =
            ScheduleName::value_variants().iter().filter_map(|name| name.to_possible_value());
        assert!(names.into_iter().all(|name| name.get_name().len() <= COLUMNS[0].1));
    }
}
