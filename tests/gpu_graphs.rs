//! The graphs of applications: the backend of `common/backend.rs` gives the bits of the CPU engine on one
//! thread. For each graph and schedule, a line reports the times of both, which are not checked.
//!
//! Tests with these graphs are skipped, with a line that says so, where `../shared` is absent.

mod common;

#[path = "common/backend.rs"]
mod backend;

use backend::{Pair, same_bits, same_results, same_words, tested};
use fastlbp::format::{read_graph, read_partial_evidence};
use fastlbp::{
    BeliefPropagation, Contradiction, EngineOptions, Evidence, FactorGraph, FactorGraphBuilder,
    Inference, RunRequest, Schedule, Start, StopRule, generate,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const BINGO: [&str; 5] =
    ["jspider-thresc", "weblech-thresc", "ftp-thresc", "luindex-thresc", "sunflow-thresc"];
/// In the order of their numbers of edges.
const SMARTFL: [&str; 7] =
    ["Chart-24", "Math-41", "Math-3", "Math-2", "Chart-1", "Math-27", "Chart-15"];

fn load(directory: &Path, name: &str) -> (Arc<FactorGraph>, Evidence) {
    let graph = read_graph(&directory.join(format!("{name}.causal_fg.gz"))).unwrap();
    let observed = directory.join(format!("{name}.obs"));
    let mut evidence = Evidence::new();
    for (variable, state) in read_partial_evidence(&observed, &graph).unwrap().observed {
        evidence.observe(&graph, variable, state).unwrap();
    }
    assert!(!evidence.is_empty(), "{name}");
    (Arc::new(graph), evidence)
}

/// A line about the runs on a graph.
struct Line(String);

impl Line {
    /// Sessions for the runs, and the time that both took.
    fn open(
        graph: &Arc<FactorGraph>, schedule: &Schedule, name: &str, options: EngineOptions,
    ) -> (Self, Pair) {
        let start = Instant::now();
        let pair = Pair::new(graph, schedule, options).unwrap();
        let name = format!("{name} {}", schedule.name());
        (Self(format!("{name}: both sessions {:.1} ms", milliseconds(start))), pair)
    }

    /// Runs both, compares all that the runs leave, and notes the times: of the tested backend, and in
    /// brackets of the reference.
    fn run(&mut self, pair: &mut Pair, request: &RunRequest, what: &str) {
        let [(expected, reference), (got, tested)] = pair.both(|session| {
            let start = Instant::now();
            let report = session.run(request);
            (report, milliseconds(start))
        });
        let checked = same_results(&expected, &got, "report").and_then(|()| pair.compare());
        checked.unwrap_or_else(|error| panic!("{}, {what}: {error}", self.0));
        let outcome = match expected {
            Ok(report) => format!("{} iterations", report.iterations),
            Err(_) => "a contradiction".into(),
        };
        self.0.push_str(&format!("; {what}: {outcome} {tested:.2} ({reference:.2})"));
    }
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// A number of iterations without evidence, with it (some of it contradicts its graph), and on from there with
/// half of it.
fn check_iterations(
    graph: &Arc<FactorGraph>, evidence: &Evidence, schedule: &Schedule, iterations: u64,
    name: &str, options: EngineOptions,
) {
    let (mut line, mut pair) = Line::open(graph, schedule, name, options);
    let request = RunRequest::new(StopRule::Iterations(iterations));
    line.run(&mut pair, &request, "bare");
    pair.both(|session| session.set_evidence(evidence).unwrap());
    line.run(&mut pair, &request, "evidence");
    let vote = RunRequest { contradiction: Contradiction::Vote, ..request };
    line.run(&mut pair, &vote, "voting");
    for (variable, _) in evidence.iter().step_by(2) {
        pair.both(|session| session.clear_evidence(variable).unwrap());
    }
    let warm = RunRequest { start: Start::Warm, rule: StopRule::Iterations(2), ..vote };
    line.run(&mut pair, &warm, "on with half");
    println!("time: {}", line.0);
}

fn check_graphs(part: &str, names: &[&str], schedule: Schedule, iterations: u64) {
    let Some(options) = tested() else { return };
    let Some(directory) = common::shared(&format!("graphs/{part}")) else { return };
    for name in names {
        let (graph, evidence) = load(&directory, name);
        check_iterations(&graph, &evidence, &schedule, iterations, name, options);
    }
}

#[test]
fn synchronous_updates_on_bingo_graphs() {
    check_graphs("bingo", &BINGO, Schedule::Parallel, 20);
}

#[test]
fn synchronous_updates_on_smartfl_graphs() {
    check_graphs("smartfl", &SMARTFL, Schedule::Parallel, 20);
}

#[test]
fn sequential_updates_on_bingo_graphs() {
    check_graphs("bingo", &BINGO, Schedule::SequentialFixed, 20);
}

#[test]
fn sequential_updates_on_smartfl_graphs() {
    check_graphs("smartfl", &SMARTFL[..5], Schedule::SequentialFixed, 5);
}

/// The other schedules, on a graph of each kind.
#[test]
fn other_schedules() {
    let Some(options) = tested() else { return };
    for (part, name) in [("bingo", "ftp-thresc"), ("smartfl", "Math-3")] {
        let Some(directory) = common::shared(&format!("graphs/{part}")) else { return };
        let (graph, evidence) = load(&directory, name);
        for schedule in [
            Schedule::SequentialRandom { seed: 1 },
            Schedule::Topological,
            Schedule::ForwardBackward,
            Schedule::Tree,
            Schedule::Blocks { blocks: 8, seed: 1 },
        ] {
            check_iterations(&graph, &evidence, &schedule, 3, name, options);
        }
    }
}

/// Generated graphs, with their observations: one that no device has room for in the shared memory of its multiprocessors, and
/// a variable with more factors than a warp multiplies at once.
#[test]
fn graphs_beyond_shared_memory() {
    let Some(options) = tested() else { return };
    let smartfl = generate::smartfl(900_000, 2).unwrap();
    let mut builder = FactorGraphBuilder::new();
    for child in 1..=150_000 {
        builder.add_and(child, &[0], 0.999, 0.001).unwrap();
    }
    let star = generate::Generated {
        graph: builder.build().unwrap(),
        observations: (0..300).map(|i| (1 + 499 * i, i % 2)).collect(),
    };
    for (name, generate::Generated { graph, observations }) in
        [("smartfl", smartfl), ("star", star)]
    {
        let graph = Arc::new(graph);
        let (mut line, mut pair) = Line::open(&graph, &Schedule::Parallel, name, options);
        for (v, state) in observations {
            pair.both(|session| session.observe(v, state).unwrap());
        }
        let bingo =
            StopRule::Bingo { tolerance: 1e-6, min_iterations: 2, max_iterations: 4, history: 2 };
        let runs = [
            (StopRule::Iterations(20), 0.0, Inference::SumProduct),
            (StopRule::Iterations(5), 0.5, Inference::SumProduct),
            (bingo, 0.0, Inference::SumProduct),
            (bingo, 0.5, Inference::SumProduct),
            (StopRule::Iterations(5), 0.0, Inference::MaxProduct),
        ];
        for (rule, damping, inference) in runs {
            let contradiction = Contradiction::Vote;
            let request = RunRequest { damping, inference, contradiction, ..RunRequest::new(rule) };
            line.run(&mut pair, &request, &format!("{inference:?}, damping {damping}"));
        }
    }
}

/// BINGO's rule as BINGO calls it, and damped.
#[test]
fn bingos_rule() {
    let Some(options) = tested() else { return };
    let Some(directory) = common::shared("graphs/bingo") else { return };
    let rule = StopRule::Bingo {
        tolerance: 1e-6,
        min_iterations: 500,
        max_iterations: 1000,
        history: 100,
    };
    for name in &BINGO[..4] {
        let (graph, evidence) = load(&directory, name);
        let (mut line, mut pair) = Line::open(&graph, &Schedule::SequentialFixed, name, options);
        pair.both(|session| session.set_evidence(&evidence).unwrap());
        line.run(&mut pair, &RunRequest::new(rule), "BINGO's rule");
        let rule = StopRule::Bingo {
            tolerance: 1e-6,
            min_iterations: 10,
            max_iterations: 40,
            history: 20,
        };
        let damped = RunRequest { damping: 0.5, ..RunRequest::new(rule) };
        line.run(&mut pair, &damped, "BINGO's rule, damped");
        println!("time: {}", line.0);
    }
}

/// The tested backend alone, fresh and warm, in one go and iteration by iteration, gives the same bits.
#[test]
fn runs_in_parts_are_the_same() {
    let Some(options) = tested() else { return };
    let Some(directory) = common::shared("graphs/bingo") else { return };
    let (graph, evidence) = load(&directory, BINGO[2]);
    for schedule in [Schedule::Parallel, Schedule::SequentialFixed] {
        let open = || {
            let mut session =
                BeliefPropagation::new(graph.clone(), schedule.clone(), options).unwrap();
            session.set_evidence(&evidence).unwrap();
            session
        };
        let (mut whole, mut parts) = (open(), open());
        whole.run(&RunRequest::new(StopRule::Iterations(23))).unwrap();
        for (start, iterations) in
            [Start::Fresh, Start::Warm, Start::Warm, Start::Warm].into_iter().zip([1, 2, 3, 17])
        {
            let request = RunRequest { start, ..RunRequest::new(StopRule::Iterations(iterations)) };
            parts.run(&request).unwrap();
        }
        same_words(
            &whole.save_state().unwrap(),
            &parts.save_state().unwrap(),
            "word of the saved state",
        )
        .unwrap();
        let marginals = [&whole, &parts].map(|session| session.marginals().unwrap());
        same_bits(marginals[0], marginals[1], "marginal").unwrap();
    }
}
