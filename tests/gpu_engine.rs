//! The engine of a backend gives the bits of the CPU engine on one thread, whatever the graph, the
//! schedule and the request; see `common/backend.rs` for which backend that is.
//!
//! A failure names a size and a seed: `FASTLBP_TEST_CASE=SIZE:SEED` runs that case alone, and
//! `FASTLBP_TEST_CASES` is the number of cases of each test.

mod common;

#[path = "common/backend.rs"]
mod backend;
#[path = "common/cases.rs"]
mod cases;
#[allow(dead_code, reason = "exact values are not needed here")]
#[path = "common/extremes.rs"]
mod extremes;
#[path = "common/fake_cuda.rs"]
mod fake_cuda;
#[allow(dead_code, reason = "what factors are by their definition is not needed here")]
#[path = "common/random.rs"]
mod random;

use backend::{Checked, Pair, same, same_bits, same_results, setting, tested, without_spared};
use cases::{
    binary_graph, binary_graph_of_all_kinds, change_evidence, graph_of_other_kinds,
    graph_with_large_factors, mixed_graph, numbers, random_changes, random_request, random_rule,
    random_schedule, schedules, tree_of_terms,
};
use fastlbp::generate;
use fastlbp::model::FactorKind;
use fastlbp::schedule::Preorder;
use fastlbp::{
    Contradiction, Control, EngineOptions, Error, Evidence, FactorGraph, FactorGraphBuilder,
    Inference, RunRequest, Schedule, Start, StopReason, StopRule,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use random::Choices;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The largest graphs; smaller numbers are for shrinking.
const SIZE: usize = 40;

type Graphs = fn(&mut Choices, usize) -> Arc<FactorGraph>;
const GRAPHS: [(&str, Graphs); 3] =
    [("binary", binary_graph), ("binary of all kinds", few_other_kinds), ("mixed", mixed_graph)];

/// Where all messages are sent at once, kernels for binary variables take graphs with few of these.
fn few_other_kinds(choices: &mut Choices, size: usize) -> Arc<FactorGraph> {
    binary_graph_of_all_kinds(choices, size, 5)
}

/// By levels, they take any number of them.
fn many_other_kinds(choices: &mut Choices, size: usize) -> Arc<FactorGraph> {
    binary_graph_of_all_kinds(choices, size, 2)
}

/// Runs a test on random graphs; see [`on_cases`].
fn on_graphs(
    rarity: usize, graph: impl Fn(&mut Choices, usize) -> Arc<FactorGraph>,
    test: impl Fn(&mut Choices, &Arc<FactorGraph>, EngineOptions) -> Checked,
) {
    on_cases(rarity, |choices, size, options| {
        let graph = graph(choices, size);
        test(choices, &graph, options)
    });
}

/// Runs a test on random cases; `rarity` is that of probabilities of 0 and 1. Gives the number of cases.
fn on_cases(rarity: usize, test: impl Fn(&mut Choices, usize, EngineOptions) -> Checked) -> usize {
    let Some(options) = tested() else { return 0 };
    let case = |size: usize, seed: u64| {
        let numbers = numbers(seed, 1 << 16);
        let mut choices = Choices::new(&numbers, rarity);
        let options = EngineOptions { compile_tables: choices.flag(), ..options };
        test(&mut choices, size, options)
    };
    if let Ok(text) = std::env::var("FASTLBP_TEST_CASE") {
        let parts = text.split_once(':').map(|(size, seed)| (size.parse(), seed.parse()));
        let Some((Ok(size), Ok(seed))) = parts else {
            panic!("FASTLBP_TEST_CASE is '{text}': SIZE:SEED is needed");
        };
        case(size, seed).unwrap();
        return 1;
    }
    let cases = setting("FASTLBP_TEST_CASES", 150);
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::with_cases(cases as u32)
    };
    let result = TestRunner::new(config).run(&(0..=SIZE, any::<u64>()), |(size, seed)| {
        case(size, seed).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => cases,
        Err(TestError::Fail(why, (size, seed))) => {
            panic!("FASTLBP_TEST_CASE={size}:{seed}: {why}")
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

/// Adds to an error what it happened in.
fn within<T>(checked: Checked<T>, what: impl FnOnce() -> String) -> Checked<T> {
    checked.map_err(|error| format!("{}: {error}", what()))
}

/// A small graph with factors of all kinds that the generator makes, with a high-degree variable or without, and
/// choices to go on with.
fn small_graph(graphs: Graphs, kinds: usize, high_degree: bool) -> (Arc<FactorGraph>, Vec<u64>) {
    let with = |seed: u64| {
        let numbers = numbers(seed, 1 << 13);
        let mut choices = Choices::new(&numbers, 12);
        let graph = graphs(&mut choices, 12);
        (graph, cases::numbers(choices.number(), 1 << 12))
    };
    let fits = |graph: &FactorGraph| {
        let degree = (0..graph.variable_count()).map(|v| graph.degree(v)).max().unwrap();
        let found = (0..graph.factor_count()).map(|factor| graph.kind(factor).name());
        found.collect::<HashSet<_>>().len() == kinds
            && if high_degree { (33..100).contains(&degree) } else { degree < 20 }
            && graph.edge_count() < 300
    };
    (0..100_000).map(with).find(|(graph, _)| fits(graph)).unwrap()
}

/// Graphs small enough for slow tools, of every kind, by every schedule, with every kind of request.
#[test]
fn tiny_graphs_by_every_schedule() {
    let Some(options) = tested() else { return };
    for ((name, graphs), kinds) in GRAPHS.into_iter().zip([4, 7, 7]) {
        for high_degree in [false, true] {
            let (graph, numbers) = small_graph(graphs, kinds, high_degree);
            let mut choices = Choices::new(&numbers, 6);
            for schedule in schedules(&mut choices, &graph) {
                let what = format!("{name} graph, high_degree {high_degree}, {}", schedule.name());
                within(check_requests(&mut choices, &graph, &schedule, options), || what).unwrap();
            }
        }
    }
}

/// Sums and maxima, damped or not, both policies at contradictions, two rules, fresh and warm starts.
fn check_requests(
    choices: &mut Choices, graph: &Arc<FactorGraph>, schedule: &Schedule, options: EngineOptions,
) -> Checked {
    let bingo =
        StopRule::Bingo { tolerance: 1e-6, min_iterations: 2, max_iterations: 2, history: 2 };
    let mut pair = Pair::new(graph, schedule, options)?;
    for (inference, damping, contradiction) in [
        (Inference::SumProduct, 0.0, Contradiction::Error),
        (Inference::SumProduct, 0.0, Contradiction::Vote),
        (Inference::MaxProduct, 0.5, Contradiction::Vote),
    ] {
        for (rule, start) in [(StopRule::Iterations(8), Start::Fresh), (bingo, Start::Warm)] {
            let fresh = RunRequest::new(rule);
            let request = RunRequest { inference, damping, contradiction, start, ..fresh };
            within(pair.run(&request), || format!("{request:?}"))?.ok();
        }
        let changes = random_changes(choices, graph);
        pair.both(|session| change_evidence(session, &changes));
    }
    Ok(())
}

/// A few iterations of one graph by each schedule, with evidence.
fn check_every_schedule(
    choices: &mut Choices, graph: &Arc<FactorGraph>, options: EngineOptions,
) -> Checked {
    let iterations = 1 + choices.below(6) as u64;
    let request = random_request(choices, StopRule::Iterations(iterations));
    let changes = random_changes(choices, graph);
    for schedule in schedules(choices, graph) {
        let mut pair = Pair::new(graph, &schedule, options)?;
        pair.both(|session| change_evidence(session, &changes));
        within(pair.run(&request), || format!("{}, {request:?}", schedule.name()))?.ok();
    }
    Ok(())
}

#[test]
fn binary_graphs_by_every_schedule() {
    on_graphs(12, binary_graph, check_every_schedule);
}

#[test]
fn binary_graphs_of_all_kinds_by_every_schedule() {
    on_graphs(12, few_other_kinds, check_every_schedule);
    on_graphs(1000, many_other_kinds, check_every_schedule);
}

#[test]
fn mixed_graphs_by_every_schedule() {
    on_graphs(12, mixed_graph, check_every_schedule);
}

/// Graphs of programs that are too large for one block: narrow levels, on one cluster, and levels that are
/// wide enough for the whole device.
#[test]
fn larger_graphs_by_levels() {
    let Some(options) = tested() else { return };
    let graph = Arc::new(generate::smartfl(900, 3).unwrap().graph);
    let edges = graph.edge_count() as u64;
    // Many at once at first, and one after the other in the end; the other way round; both by turns.
    let ranks: [fn(u64, u64) -> u64; 3] = [
        |edge, edges| edge.saturating_sub(edges - edges / 8),
        |edge, edges| edge.min(edges / 8),
        |edge, edges| edge / (edges / 4) * edges + (edge % (edges / 4)).saturating_sub(edges / 5),
    ];
    let custom = ranks.map(|rank| {
        let ranks: Vec<u64> = (0..edges).map(|edge| rank(edge, edges)).collect();
        Schedule::Custom(Arc::new(Preorder::from_ranks(&graph, &ranks).unwrap()))
    });
    for schedule in custom.into_iter().chain([Schedule::SequentialFixed]) {
        let mut pair = Pair::new(&graph, &schedule, options).unwrap();
        let bingo =
            StopRule::Bingo { tolerance: 1e-6, min_iterations: 1, max_iterations: 2, history: 2 };
        for (rule, start) in [(StopRule::Iterations(2), Start::Fresh), (bingo, Start::Warm)] {
            let contradiction = Contradiction::Vote;
            let request = RunRequest { start, contradiction, ..RunRequest::new(rule) };
            let what = || format!("{}, {request:?}", schedule.name());
            within(pair.run(&request), what).unwrap().unwrap();
            pair.both(|session| session.observe(7, 1).unwrap());
        }
    }
}

/// Synchronous updates of graphs that are partitioned over the blocks: with and without convergence scans, with
/// changing observations, with and without contradictions.
#[test]
fn larger_graphs_synchronously() {
    let Some(options) = tested() else { return };
    let smartfl = generate::smartfl(900, 3).unwrap().graph;
    let bingo = generate::bingo(1000, 5).unwrap().graph;
    for graph in [Arc::new(smartfl), Arc::new(bingo)] {
        assert!(graph.edge_count() > 1500, "{} edges are too few", graph.edge_count());
        let mut pair = Pair::new(&graph, &Schedule::Parallel, options).unwrap();
        let bingo =
            StopRule::Bingo { tolerance: 1e-6, min_iterations: 1, max_iterations: 3, history: 2 };
        let tolerance = StopRule::Tolerance { tolerance: 1e-3, max_iterations: 6 };
        let runs = [
            (StopRule::Iterations(5), Start::Fresh),
            (bingo, Start::Warm),
            (tolerance, Start::Fresh),
            (StopRule::Iterations(4), Start::Warm),
            (StopRule::Iterations(1), Start::Warm),
        ];
        for (round, (rule, start)) in runs.into_iter().enumerate() {
            for contradiction in [Contradiction::Error, Contradiction::Vote] {
                let request = RunRequest { start, contradiction, ..RunRequest::new(rule) };
                let report = within(pair.run(&request), || format!("{request:?}")).unwrap();
                assert!(report.is_ok() || contradiction == Contradiction::Error);
            }
            for i in 0..30 {
                let variable = (round + 37 * i) % graph.variable_count();
                pair.both(|session| session.observe(variable, (i + round) % 2).unwrap());
            }
        }
    }
}

/// Runs by a tolerance of which nobody hears each change: a sample of the beliefs says that they go on, and they end after the
/// iteration, and with the bits, of those in which all are measured.
#[test]
fn rough_runs_by_a_tolerance() {
    let Some(options) = tested() else { return };
    // What is certain goes along chains, by a factor an iteration: all changes end at once, among the iterations that run at once,
    // or behind these.
    let sudden = |length: u64| {
        let mut builder = FactorGraphBuilder::new();
        for chain in 0..20 {
            let first = 1 + 50 * chain;
            builder.add_prior(first, 1.0).unwrap();
            for v in first..first + length {
                builder.add_and(v + 1, &[v], 1.0, 0.0).unwrap();
            }
            builder.add_or(0, &[first + length, first + 1], 0.6, 0.3).unwrap();
        }
        Arc::new(builder.build().unwrap())
    };
    let mut graphs: Vec<_> = [5, 10, 12, 13].map(sudden).into();
    graphs.push(Arc::new(generate::smartfl(300, 3).unwrap().graph));
    graphs.push(Arc::new(generate::bingo(300, 5).unwrap().graph));
    let mut converged = 0;
    for graph in graphs {
        let mut pair = Pair::new(&graph, &Schedule::Parallel, options).unwrap();
        for (round, (tolerance, start)) in
            [(1e-9, Start::Fresh), (1e-3, Start::Fresh), (1e-6, Start::Warm), (0.0, Start::Fresh)]
                .into_iter()
                .enumerate()
        {
            let rule = StopRule::Tolerance { tolerance, max_iterations: 60 };
            for (contradiction, inference, damping) in [
                (Contradiction::Error, Inference::SumProduct, 0.0),
                (Contradiction::Vote, Inference::SumProduct, 0.0),
                (Contradiction::Vote, Inference::MaxProduct, 0.0),
                (Contradiction::Vote, Inference::SumProduct, 0.25),
            ] {
                let request = RunRequest {
                    start,
                    contradiction,
                    inference,
                    damping,
                    rough_progress: true,
                    ..RunRequest::new(rule)
                };
                let report = within(pair.run(&request), || format!("{request:?}")).unwrap();
                let ended = report.is_ok_and(|report| report.reason == StopReason::Converged);
                converged += usize::from(ended);
            }
            for i in 0..10 {
                let variable = (round + 71 * i) % graph.variable_count();
                pair.both(|session| session.observe(variable, (i + round) % 2).unwrap());
            }
            pair.both(|session| session.set_likelihood(3 * round, &[0.3, 0.7]).unwrap());
        }
    }
    assert!(converged > 20, "{converged} runs have converged");
}

/// Factors whose beliefs have few entries and many, and some whose values no double holds; among binary variables, and with one of
/// three states.
fn factors_with_many_entries(is_mixed: bool) -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    let probability = |v: u64| 0.2 + (v * 37 % 101) as f64 * 6e-3;
    for v in 0..60 {
        builder.add_prior(v, probability(v)).unwrap();
    }
    for (head, arity) in [(0, 9), (10, 13), (20, 6), (30, 7), (45, 3), (50, 2)] {
        let body: Vec<u64> = (head + 1..head + arity).collect();
        builder.add_and(head, &body, 0.9, 0.2).unwrap();
        builder.add_or(head + 9, &body[..arity as usize / 2], 0.8, 0.3).unwrap();
    }
    for (head, count) in [(3, 5), (13, 7)] {
        let body: Vec<u64> = (25..25 + count).collect();
        builder.add_noisy_and(head, &body, &vec![1e-80; body.len()], 0.7).unwrap();
    }
    let table: Vec<f64> = (0..256).map(|i| probability(i * i)).collect();
    builder.add_table(&[0, 5, 11, 17, 23, 31, 37, 41], &table).unwrap();
    builder.add_table(&[3, 19, 42], &table[..8]).unwrap();
    if is_mixed {
        builder.add_variable(60, 3).unwrap();
        builder.add_table(&[60, 7, 51], &table[..12]).unwrap();
    }
    Arc::new(builder.build().unwrap())
}

/// Runs by libDAI's rule, most of whose iterations are made by the kernels for binary variables where these serve the graph, and
/// the last ones, in which beliefs of factors decide, by the others.
#[test]
fn beliefs_of_factors() {
    let Some(options) = tested() else { return };
    let smartfl = Arc::new(generate::smartfl(300, 3).unwrap().graph);
    let bingo = Arc::new(generate::bingo(300, 5).unwrap().graph);
    let graphs = [false, true].map(factors_with_many_entries).into_iter().chain([smartfl, bingo]);
    let mut converged = 0;
    for (number, graph) in graphs.enumerate() {
        let random = Schedule::SequentialRandom { seed: 3 };
        let schedules = [Schedule::Parallel, Schedule::SequentialFixed, random];
        for schedule in schedules.into_iter().take(if number < 2 { 3 } else { 2 }) {
            let mut pair = Pair::new(&graph, &schedule, options).unwrap();
            for (round, (tolerance, max_iterations, start, damping)) in [
                (1e-9, 60, Start::Fresh, 0.0),
                (1e-3, 30, Start::Fresh, 0.5),
                (1e-6, 8, Start::Warm, 0.0),
                (0.0, 20, Start::Fresh, 0.0),
                (1e-9, 18, Start::Fresh, 0.0),
                (1e-9, 2, Start::Fresh, 0.0),
                (1e-9, 1, Start::Fresh, 0.0),
                (1e-9, 0, Start::Fresh, 0.0),
            ]
            .into_iter()
            .enumerate()
            {
                let rule = StopRule::AllBeliefs { tolerance, max_iterations };
                let rough_progress = round % 2 == 0;
                let request =
                    RunRequest { start, damping, rough_progress, ..RunRequest::new(rule) };
                let what = || format!("graph {number}, {}, {request:?}", schedule.name());
                for contradiction in [Contradiction::Error, Contradiction::Vote] {
                    let request = RunRequest { contradiction, ..request };
                    let report = within(pair.run(&request), what).unwrap();
                    converged += usize::from(report.is_ok_and(|report| report.converged));
                }
                let variable = (7 * round + 2) % graph.variable_count();
                pair.both(|session| session.observe(variable, round % 2).unwrap());
                pair.both(|session| session.set_likelihood(3 * round, &[0.3, 0.7]).unwrap());
            }
        }
    }
    assert!(converged > 40, "{converged} runs have converged");
}

/// Beliefs of factors are the same where values, or products with messages, are no doubles.
#[test]
fn beliefs_of_factors_beyond_f64_range() {
    let Some(options) = tested() else { return };
    let far = || {
        let mut builder = FactorGraphBuilder::new();
        // In all other states than one, products of messages are zero.
        for (first, p) in [(10, 1e-200), (20, 1e-30)] {
            builder.add_prior(first, p).unwrap();
            builder.add_prior(first + 1, p * 1e-20).unwrap();
            builder.add_table(&[first, first + 1], &[0.0, 0.0, 0.0, 0.7]).unwrap();
        }
        builder
    };
    let noisy = |link: f64| {
        let mut builder = FactorGraphBuilder::new();
        for v in 0..6 {
            builder.add_prior(v, 0.45 + 0.01 * v as f64).unwrap();
        }
        builder.add_noisy_and(0, &[1, 2, 3, 4, 5], &[link; 5], 0.6).unwrap();
        builder
    };
    let table = |low: i32| {
        let mut builder = FactorGraphBuilder::new();
        let scale = 2_f64.powi(low / 2) * 2_f64.powi(low - low / 2);
        let values: Vec<f64> = (0..16).map(|i| scale * (1.0 + f64::from(i))).collect();
        builder.add_table(&[0, 1, 2, 3], &values).unwrap();
        builder.add_prior(2, 0.8).unwrap();
        builder
    };
    // With the head observed, nearly all of the belief is that of the last of so many joint states.
    let large = |arity: u64| {
        let mut builder = FactorGraphBuilder::new();
        let body: Vec<u64> = (1..arity).collect();
        builder.add_and(0, &body, 1.0, 1e-9).unwrap();
        builder.add_prior(1, 0.6).unwrap();
        builder
    };
    let noisy = [1e-80, 1e-50, 0.1].map(noisy);
    let tables = [-1060, 1019, 0].map(table);
    let builders = [far()].into_iter().chain(noisy).chain(tables).chain([5, 9, 13].map(large));
    for (number, builder) in builders.enumerate() {
        let graph = Arc::new(builder.build().unwrap());
        for schedule in [Schedule::Parallel, Schedule::SequentialFixed] {
            let mut pair = Pair::new(&graph, &schedule, options).unwrap();
            for (round, max_iterations) in [1, 2, 3, 30, 1, 2, 30].into_iter().enumerate() {
                if round == 4 {
                    pair.both(|session| session.observe(0, 1).unwrap());
                }
                let rule = StopRule::AllBeliefs { tolerance: 1e-12, max_iterations };
                let what = || format!("graph {number}, {}, {rule:?}", schedule.name());
                within(pair.run(&RunRequest::new(rule)), what).unwrap().unwrap();
            }
        }
    }
}

/// A small graph of tables in which many joint states are impossible, so that beliefs of some factors are 0/0 in some iterations.
fn deterministic_tables(choices: &mut Choices, size: usize) -> Arc<FactorGraph> {
    let count = 3 + choices.below(2 + size / 8);
    let mut builder = FactorGraphBuilder::new();
    for v in 0..count as u64 {
        builder.add_variable(v, 2).unwrap();
        if choices.below(5) < 3 {
            builder.add_prior(v, [0.0, 1.0, 0.5, 0.3, 1.0][choices.below(5)]).unwrap();
        }
    }
    for _ in 0..2 + choices.below(7) {
        let first = choices.below(count);
        let mut scope: Vec<u64> = [0, 1, 2].map(|i| ((first + i) % count) as u64).into();
        scope.truncate(2 + choices.below(2));
        let mut values: Vec<f64> = (0..1 << scope.len())
            .map(|_| [0.0, 0.0, 1.0, 1.0, 0.5, 0.2][choices.below(6)])
            .collect();
        values[0] = if values.iter().sum::<f64>() == 0.0 { 1.0 } else { values[0] };
        builder.add_table(&scope, &values).unwrap();
    }
    Arc::new(builder.build().unwrap())
}

/// In place of a factor's belief that is 0/0 stands what it was before, with which the next one is compared.
#[test]
fn beliefs_of_factors_that_are_zero_by_zero() {
    on_graphs(1000, deterministic_tables, |choices, graph, options| {
        for schedule in [Schedule::Parallel, Schedule::SequentialFixed] {
            let mut pair = Pair::new(graph, &schedule, options)?;
            for _ in 0..3 {
                let tolerance = [1e-6, 0.01, 0.05, 0.2, 0.4, 0.55][choices.below(6)];
                let max_iterations = [2, 3, 7, 12, 20][choices.below(5)];
                let rule = StopRule::AllBeliefs { tolerance, max_iterations };
                let contradiction = Contradiction::Vote;
                let request = RunRequest { contradiction, ..RunRequest::new(rule) };
                let what = || format!("{}, {request:?}", schedule.name());
                let report = within(pair.run(&request), what)?;
                let observed = RunRequest { observe: true, ..request };
                same(&report, &within(pair.run(&observed), what)?, "report where it is observed")?;
            }
        }
        Ok(())
    });
}

/// Conjunctions of more than 32 variables, which warps take in pieces, among small ones.
#[test]
fn conjunctions_of_many_variables() {
    let shapes: [(usize, &[usize]); 5] = [
        (60, &[33, 34]),
        (400, &[33, 64, 65, 66, 129, 300]),
        (1500, &[1025, 97, 40, 41, 42, 43, 44, 45]),
        // More than one round in each piece.
        (6000, &[4098, 5000]),
        // Half of the edges.
        (150, &[140, 141, 142]),
    ];
    for (number, (variables, arities)) in shapes.into_iter().enumerate() {
        let rarity = if number % 2 == 0 { 8 } else { 1000 };
        check_large_factors(&[Schedule::Parallel], variables, arities, 0, rarity);
    }
}

/// The same by levels, as trees: of one leaf, of several, and of several heights.
#[test]
fn conjunctions_of_many_variables_by_levels() {
    let blocks = Schedule::Blocks { blocks: 3, seed: 5 };
    check_large_factors(&[Schedule::SequentialFixed, blocks], 60, &[33, 50], 0, 8);
    check_large_factors(&[Schedule::SequentialFixed], 100, &[70], 260, 1000);
    check_large_factors(&[Schedule::ForwardBackward], 1200, &[1100], 0, 1000);
}

/// Factors of all kinds among conjunctions, in graphs of several blocks.
#[test]
fn factors_of_other_kinds() {
    for (size, rarity) in [(200, 8), (1000, 1000)] {
        let numbers = numbers(size, 1 << 17);
        let mut choices = Choices::new(&numbers, rarity);
        let graph = graph_of_other_kinds(&mut choices, size as usize, 4, 0);
        check_own_warps(&[Schedule::Parallel], &graph, "factors of other kinds");
    }
}

/// The same by levels, with a variable of more factors than a warp takes at once.
#[test]
fn factors_of_other_kinds_by_levels() {
    let blocks = Schedule::Blocks { blocks: 3, seed: 5 };
    for (schedules, size, rarity, one_of) in [
        (&[Schedule::SequentialFixed, blocks][..], 60, 8, 3),
        (&[Schedule::ForwardBackward], 200, 1000, 1),
    ] {
        let numbers = numbers(size, 1 << 17);
        let mut choices = Choices::new(&numbers, rarity);
        let graph = graph_of_other_kinds(&mut choices, size as usize, one_of, 270);
        check_own_warps(schedules, &graph, "factors of other kinds");
    }
}

/// Small tables of messages each of which a double holds, but not their products, and of such that none holds.
#[test]
fn small_tables_of_messages_far_from_one() {
    let Some(options) = tested() else { return };
    let numbers = numbers(5, 1 << 12);
    let mut choices = Choices::new(&numbers, 1000);
    let mut builder = FactorGraphBuilder::new();
    for first in 0..60 {
        for scope in
            [vec![first, first + 2, first + 9], vec![first + 1, first, first + 5, first + 7]]
        {
            // Two of the variables are in state 1: nothing near one hides the smallest products.
            let mut values = choices.weights(1 << scope.len());
            let not_two = |(entry, _): &(usize, &mut f64)| entry.count_ones() != 2;
            values.iter_mut().enumerate().filter(not_two).for_each(|(_, value)| *value = 0.0);
            builder.add_table(&scope, &values).unwrap();
        }
        // From 1e-130 to 1e-390, and some the other way round.
        for _ in 0..1 + first % 3 {
            let p = if first % 4 == 0 { 1.0 - 1e-16 } else { 1e-130 };
            builder.add_prior(first, p).unwrap();
        }
    }
    let graph = Arc::new(builder.build().unwrap());
    for schedule in [Schedule::Parallel, Schedule::SequentialFixed] {
        let mut pair = Pair::new(&graph, &schedule, options).unwrap();
        sums_and_maxima(&mut pair, [6, 3], schedule.name());
    }
}

/// Checks a graph with large conjunctions by schedules; `rarity` is that of deterministic messages: where they are rare, messages are
/// far from one.
fn check_large_factors(
    schedules: &[Schedule], variables: usize, arities: &[usize], degree: usize, rarity: usize,
) {
    let numbers = numbers(variables as u64, 1 << 17);
    let mut choices = Choices::new(&numbers, rarity);
    let graph = graph_with_large_factors(&mut choices, variables, arities, degree);
    check_own_warps(schedules, &graph, &format!("{arities:?}"));
}

/// Runs of many kinds of a graph of which some factors have warps of their own.
fn check_own_warps(schedules: &[Schedule], graph: &Arc<FactorGraph>, name: &str) {
    let Some(options) = tested() else { return };
    let variables = graph.variable_count();
    let rules = [
        StopRule::Tolerance { tolerance: 1e-9, max_iterations: 30 },
        StopRule::Iterations(8),
        StopRule::Bingo { tolerance: 1e-6, min_iterations: 3, max_iterations: 6, history: 3 },
    ];
    for schedule in schedules {
        let mut pair = Pair::new(graph, schedule, options).unwrap();
        // By levels, emulation takes longer.
        let many = if matches!(schedule, Schedule::Parallel) { 2000 } else { 1000 };
        let rules = &rules[..if variables > many { 1 } else { rules.len() }];
        for (round, &rule) in rules.iter().enumerate() {
            for (inference, damping) in [
                (Inference::SumProduct, 0.0),
                (Inference::MaxProduct, 0.0),
                (Inference::SumProduct, 0.5),
            ] {
                let start = if round % 2 == 0 { Start::Fresh } else { Start::Warm };
                let request = RunRequest {
                    start,
                    inference,
                    damping,
                    rough_progress: matches!(rule, StopRule::Tolerance { .. }),
                    ..RunRequest::new(rule)
                };
                let what = || format!("{} of {name}, {request:?}", schedule.name());
                if inference == Inference::SumProduct && damping == 0.0 {
                    under_both_policies(&mut pair, &request, &what());
                } else {
                    let contradiction = Contradiction::Vote;
                    let request = RunRequest { contradiction, ..request };
                    within(pair.run(&request), what).unwrap().ok();
                }
            }
            for i in 0..variables / 10 {
                let variable = (round + 37 * i) % variables;
                pair.both(|session| match i % 3 {
                    0 => session.clear_evidence(variable).unwrap(),
                    1 => session.observe(variable, (i + round) / 3 % 2).unwrap(),
                    _ => session.set_likelihood(variable, &[0.2, 0.3]).unwrap(),
                });
            }
            // Of variables without another factor, it is all that they send.
            let alone = (0..variables).filter(|&variable| graph.degree(variable) == 1);
            for variable in alone.skip(round).step_by(2) {
                pair.both(|session| session.set_likelihood(variable, &[0.6, 0.3]).unwrap());
            }
        }
    }
}

/// Damped runs and maxima where messages go from block to block, and runs of other kinds before and after them.
#[test]
fn damped_runs_and_maxima_of_larger_graphs() {
    let Some(options) = tested() else { return };
    let tolerance = StopRule::Tolerance { tolerance: 1e-9, max_iterations: 5 };
    let (sums, maxima) = (Inference::SumProduct, Inference::MaxProduct);
    let bingos =
        StopRule::Bingo { tolerance: 1e-6, min_iterations: 2, max_iterations: 4, history: 2 };
    let runs = [
        (bingos, Start::Fresh, 0.5, sums),
        (StopRule::Iterations(1), Start::Warm, 0.5, sums),
        (bingos, Start::Warm, 0.25, sums),
        (bingos, Start::Warm, 0.0, sums),
        (bingos, Start::Warm, 0.5, maxima),
        (StopRule::Iterations(14), Start::Fresh, 0.5, sums),
        (StopRule::Iterations(2), Start::Warm, 0.0, sums),
        (tolerance, Start::Warm, 0.3, sums),
        (StopRule::Iterations(12), Start::Warm, 0.75, maxima),
        (StopRule::Iterations(9), Start::Fresh, 0.0, maxima),
        (tolerance, Start::Warm, 0.0, maxima),
        (tolerance, Start::Warm, 0.5, maxima),
    ];
    let smartfl = |size| Arc::new(generate::smartfl(size, 3).unwrap().graph);
    let bingo = |size| Arc::new(generate::bingo(size, 5).unwrap().graph);
    for (graph, schedule) in [
        (smartfl(900), Schedule::Parallel),
        (bingo(1000), Schedule::Parallel),
        // Of several blocks, but emulated devices take long for levels.
        (smartfl(400), Schedule::SequentialFixed),
        (bingo(400), Schedule::SequentialFixed),
    ] {
        let mut pair = Pair::new(&graph, &schedule, options).unwrap();
        for (round, (rule, start, damping, inference)) in runs.into_iter().enumerate() {
            let contradiction = Contradiction::Vote;
            let request =
                RunRequest { start, damping, inference, contradiction, ..RunRequest::new(rule) };
            within(pair.run(&request), || format!("{}, {request:?}", schedule.name()))
                .unwrap()
                .unwrap();
            for i in 0..10 {
                let variable = (round + 71 * i) % graph.variable_count();
                pair.both(|session| session.observe(variable, (i + round) % 2).unwrap());
            }
        }
    }
}

/// Beliefs of variables of many factors that a rule takes over, each rounded as the product of all messages is.
#[test]
fn measured_beliefs_of_high_degree_variables() {
    let Some(options) = tested() else { return };
    let plan = generate::Plan {
        shape: generate::Shape::Smartfl,
        variables: 3000,
        seed: 1,
        high_arity: None,
        high_degree: Some(generate::Extremes { count: 12, size: 900 }),
    };
    let graph = Arc::new(plan.generate().unwrap().graph);
    let rule =
        StopRule::Bingo { tolerance: 1e-9, min_iterations: 3, max_iterations: 5, history: 3 };
    let mut pair = Pair::new(&graph, &Schedule::Parallel, options).unwrap();
    within(pair.run(&RunRequest::new(rule)), || "PARALL".into()).unwrap().unwrap();
}

/// How far the inputs of factors of all sizes have moved, and those of many long ones side by side: where old values are zeros, that
/// is what BINGO's rule finds to be largest.
#[test]
fn measured_inputs_of_factors_of_many_variables() {
    let Some(options) = tested() else { return };
    let shapes: [&[u64]; 8] =
        [&[7], &[8], &[32], &[33; 3], &[40; 40], &[257; 20], &[300, 2048], &[2049, 4500]];
    for (arities, is_mixed) in shapes.iter().flat_map(|&shape| [(shape, false), (shape, true)]) {
        let mut builder = FactorGraphBuilder::new();
        let mut count = 0;
        for &arity in arities {
            let body: Vec<u64> = (count + 1..count + arity).collect();
            builder.add_and(count, &body, 0.6, 0.4).unwrap();
            count += arity;
        }
        for v in 0..count {
            builder.add_prior(v, 0.9 + (v * 37 % 101) as f64 * 2e-4).unwrap();
        }
        if is_mixed {
            builder.add_variables(&[count], &[3]).unwrap();
            builder.add_table(&[count], &[0.3, 0.3, 0.4]).unwrap();
        }
        let graph = Arc::new(builder.build().unwrap());
        for schedule in [Schedule::Parallel, Schedule::SequentialFixed] {
            let mut pair = Pair::new(&graph, &schedule, options).unwrap();
            for (tolerance, damping) in [(1.0, 0.0), (1e-9, 0.0), (1e-9, 0.5)] {
                let [min_iterations, max_iterations, history] = [1, 3, 2];
                let rule = StopRule::Bingo { tolerance, min_iterations, max_iterations, history };
                let request = RunRequest { damping, ..RunRequest::new(rule) };
                let what = || format!("{arities:?}, {}, {request:?}", schedule.name());
                let report = within(pair.run(&request), what).unwrap().unwrap();
                assert!(tolerance < 1.0 || (report.max_diff > 0.45 && report.iterations == 1));
            }
        }
    }
}

/// Runs that vote on contradictions, and that end at one.
fn under_both_policies(pair: &mut Pair, request: &RunRequest, what: &str) {
    for contradiction in [Contradiction::Vote, Contradiction::Error] {
        let request = RunRequest { contradiction, ..*request };
        within(pair.run(&request), || format!("{what}, {request:?}")).unwrap().ok();
    }
}

/// Sums and maxima, with so many iterations without and with damping, where the state with more votes wins.
fn sums_and_maxima(pair: &mut Pair, [plain, damped]: [u64; 2], what: &str) {
    for inference in [Inference::SumProduct, Inference::MaxProduct] {
        for (iterations, damping) in [(plain, 0.0), (damped, 0.5)] {
            let contradiction = Contradiction::Vote;
            let rule = StopRule::Iterations(iterations);
            let request = RunRequest { inference, damping, contradiction, ..RunRequest::new(rule) };
            within(pair.run(&request), || format!("{what}, {request:?}")).unwrap().unwrap();
        }
    }
}

/// Soft evidence of all kinds of variables where messages go from block to block: slight, far from one, and of which one
/// state is impossible.
#[test]
fn soft_evidence_in_larger_graphs() {
    let Some(options) = tested() else { return };
    let mut builder = FactorGraphBuilder::new();
    for child in 0..2200 {
        // A variable of 2,000 factors, one of 100, some of 4, and others of one and two.
        let parent = if child < 2000 {
            0
        } else if child < 2100 {
            1
        } else {
            2 + child % 25
        };
        builder.add_and(100 + child, &[parent], 0.9, 0.01).unwrap();
    }
    builder.add_prior(99, 0.25).unwrap();
    let stars = builder.build().unwrap();
    let smartfl = generate::smartfl(900, 3).unwrap().graph;
    let bingo = generate::bingo(1000, 5).unwrap().graph;
    let tolerance = StopRule::Tolerance { tolerance: 1e-9, max_iterations: 5 };
    let bingos =
        StopRule::Bingo { tolerance: 1e-6, min_iterations: 3, max_iterations: 6, history: 3 };
    let (sums, maxima) = (Inference::SumProduct, Inference::MaxProduct);
    let runs = [
        (StopRule::Iterations(14), Start::Fresh, 0.0, sums),
        (bingos, Start::Fresh, 0.0, sums),
        (tolerance, Start::Warm, 0.5, sums),
        (StopRule::Iterations(12), Start::Warm, 0.0, maxima),
        (StopRule::Iterations(9), Start::Fresh, 0.3, maxima),
        (tolerance, Start::Fresh, 0.0, sums),
    ];
    for (number, graph) in [stars, smartfl, bingo].into_iter().map(Arc::new).enumerate() {
        let mut pair = Pair::new(&graph, &Schedule::Parallel, options).unwrap();
        for (round, (rule, start, damping, inference)) in runs.into_iter().enumerate() {
            for v in 0..graph.variable_count() {
                let likelihood = match (5 * v + 3 * round) % 17 {
                    0..=4 => [0.4, 0.7],
                    5 => [1e-200, 1.0],
                    6 => [1.0, 3e-280],
                    7 if round % 3 == 1 => [0.0, 0.3],
                    8 if round % 3 == 2 => [2.0, 0.0],
                    9 => {
                        pair.both(|session| session.observe(v, round % 2).unwrap());
                        continue;
                    }
                    _ => {
                        pair.both(|session| session.clear_evidence(v).unwrap());
                        continue;
                    }
                };
                pair.both(|session| session.set_likelihood(v, &likelihood).unwrap());
            }
            let request = RunRequest { start, damping, inference, ..RunRequest::new(rule) };
            under_both_policies(&mut pair, &request, &format!("graph {number}"));
        }
    }
}

/// A graph of tables of one and of two variables of 2 to 40 states, one of them in many tables: with zeros, in other
/// tables, and, if `far`, of entries that take messages out of the range of f64.
fn pair_tables(choices: &mut Choices, size: usize, far: bool) -> Arc<FactorGraph> {
    const STATES: [usize; 11] = [2, 3, 4, 5, 8, 9, 13, 16, 17, 33, 40];
    let variables = 3 + size / 3;
    let most = 1 + choices.below(STATES.len());
    let states: Vec<usize> = (0..variables).map(|_| STATES[choices.below(most)]).collect();
    let mut builder = FactorGraphBuilder::new();
    for (label, &states) in states.iter().enumerate() {
        builder.add_variable(label as u64, states).unwrap();
    }
    let mut table = |choices: &mut Choices, scope: &[usize]| {
        let labels: Vec<u64> = scope.iter().map(|&v| v as u64).collect();
        let mut values = choices.weights(scope.iter().map(|&v| states[v]).product());
        if far {
            values
                .iter_mut()
                .for_each(|value| *value *= 2_f64.powi(choices.below(500) as i32 - 450));
        }
        builder.add_table(&labels, &values).unwrap();
    };
    for variable in 0..variables {
        if choices.flag() {
            table(choices, &[variable]);
        }
        let popular = if choices.below(3) == 0 { 0 } else { variables };
        for other in [choices.below(variables), popular] {
            if other < variables && other != variable {
                table(choices, &[variable, other]);
            }
        }
    }
    Arc::new(builder.build().unwrap())
}

/// Tables of two variables of up to 40 states, by lanes of a warp where all messages are sent at once.
#[test]
fn tables_of_two_variables() {
    for (rarity, far) in [(1000, false), (10, false), (8, true)] {
        on_cases(rarity, |choices, size, options| {
            let graph = pair_tables(choices, size, far);
            let mut pair = Pair::new(&graph, &Schedule::Parallel, options)?;
            for round in 0..3 {
                let changes = random_changes(choices, &graph);
                pair.both(|session| change_evidence(session, &changes));
                let rule = match choices.flag() {
                    true => StopRule::Iterations(choices.below(12) as u64),
                    false => StopRule::Tolerance { tolerance: 1e-9, max_iterations: 8 },
                };
                let start = if round == 0 || choices.flag() { Start::Fresh } else { Start::Warm };
                let request = RunRequest { start, ..random_request(choices, rule) };
                within(pair.run(&request), || format!("round {round}, {request:?}"))?.ok();
            }
            Ok(())
        });
    }
}

/// Damped runs of graphs that are mostly tables of binary variables, so that some blocks have no other factors, or all.
#[test]
fn damped_runs_of_tables() {
    on_cases(8, |choices, size, options| {
        let variables = 3 + choices.below(1 + 5 * size);
        let mut builder = FactorGraphBuilder::new();
        builder
            .add_variables(&(0..variables as u64).collect::<Vec<_>>(), &vec![2; variables])
            .unwrap();
        let tables = variables + choices.below(1 + 3 * variables);
        let conjunctions = choices.below(4);
        for number in 0..tables + conjunctions {
            let first = choices.below(variables);
            let scope = [first, (first + 1) % variables, (first + 2) % variables].map(|v| v as u64);
            if number < conjunctions {
                builder.add_and(scope[0], &scope[1..], 0.9, 0.1).unwrap();
            } else {
                let scope = &scope[..2 + choices.below(2)];
                builder.add_table(scope, &choices.weights(1 << scope.len())).unwrap();
            }
        }
        let graph = Arc::new(builder.build().unwrap());
        let mut pair = Pair::new(&graph, &Schedule::Parallel, options)?;
        for round in 0..3 {
            let changes = random_changes(choices, &graph);
            pair.both(|session| change_evidence(session, &changes));
            let rule = random_rule(choices, &graph, 30);
            let start = if round == 0 || choices.flag() { Start::Fresh } else { Start::Warm };
            let damping = [0.0, 0.3, 0.5][choices.below(3)];
            let is_tolerance = matches!(rule, StopRule::Tolerance { .. });
            let rough_progress = is_tolerance && choices.flag();
            let request =
                RunRequest { start, damping, rough_progress, ..random_request(choices, rule) };
            within(pair.run(&request), || format!("round {round}, {request:?}"))?.ok();
        }
        Ok(())
    });
}

/// Tables of two variables, conjunctions of any number of literals and other factors, over variables of several states and
/// binary ones, some of which are in more than eight factors, and some in more than 32.
fn factors_of_several_states(choices: &mut Choices, size: usize, far: bool) -> Arc<FactorGraph> {
    const STATES: [usize; 8] = [3, 2, 4, 7, 9, 16, 32, 33];
    let several = 3 + size / 16;
    let binary = 24 + size;
    let most = 1 + choices.below(STATES.len());
    let states: Vec<usize> = (0..several).map(|_| STATES[choices.below(most)]).collect();
    let mut builder = FactorGraphBuilder::new();
    for (label, &states) in states.iter().enumerate() {
        builder.add_variable(label as u64, if label == 0 { 3 } else { states }).unwrap();
    }
    let states_of = |v: usize| if v == 0 { 3 } else { states.get(v).copied().unwrap_or(2) };
    let table = |choices: &mut Choices, builder: &mut FactorGraphBuilder, scope: &[usize]| {
        let labels: Vec<u64> = scope.iter().map(|&v| v as u64).collect();
        let mut values = choices.weights(scope.iter().map(|&v| states_of(v)).product());
        if far {
            let scale = |choices: &mut Choices| 2_f64.powi(choices.below(500) as i32 - 450);
            values.iter_mut().for_each(|value| *value *= scale(choices));
        }
        builder.add_table(&labels, &values).unwrap();
    };
    // Of the binary variables, the first ones are in most factors.
    let literal = |choices: &mut Choices| {
        let number = choices.below(binary);
        several + if choices.below(3) == 0 { number % 3 } else { number }
    };
    let probability =
        |choices: &mut Choices| if far { choices.probability() } else { choices.share() };
    for v in 0..several {
        for other in [choices.below(several), literal(choices), 0] {
            if other != v {
                table(choices, &mut builder, &[v, other]);
            }
        }
        if choices.flag() {
            table(choices, &mut builder, &[v]);
        }
        let third = literal(choices);
        if choices.below(4) == 0 && v > 0 && states_of(v) < 10 {
            table(choices, &mut builder, &[v, 0, third]);
        }
    }
    for number in 0..binary {
        let count = match choices.below(20) {
            0 => 32,
            1 => 8 + choices.below(16),
            _ => 2 + choices.below(4),
        };
        let mut scope: Vec<u64> = Vec::new();
        for _ in 0..count {
            let v = literal(choices) as u64;
            if !scope.contains(&v) {
                scope.push(v);
            }
        }
        let (head, body) = (scope[0], &scope[1..]);
        let (first, second) = (probability(choices), probability(choices));
        match number % 5 {
            _ if body.is_empty() => builder.add_prior(head, first).unwrap(),
            0 | 1 => builder.add_and(head, body, first, second).unwrap(),
            2 | 3 => builder.add_or(head, body, first, second).unwrap(),
            _ => builder.add_noisy_or(head, body, &vec![0.3; body.len()], 0.1).unwrap(),
        };
    }
    Arc::new(builder.build().unwrap())
}

/// Levels of factors that warps send from lists of all that they read, by all schedules that have several, with evidence of all
/// kinds, damping, maxima and rules.
#[test]
fn factors_of_several_states_by_levels() {
    on_cases(12, |choices, size, options| {
        let far = choices.below(3) == 0;
        let graph = factors_of_several_states(choices, size, far);
        let schedules = schedules(choices, &graph);
        let is_other = |schedule: &Schedule| {
            matches!(schedule, Schedule::Parallel | Schedule::MaximumResidual { .. })
        };
        let all: Vec<&Schedule> = schedules.iter().filter(|own| !is_other(own)).collect();
        let schedule = all[choices.below(all.len())];
        let mut pair = Pair::new(&graph, schedule, options)?;
        for round in 0..2 {
            let changes = random_changes(choices, &graph);
            pair.both(|session| change_evidence(session, &changes));
            let rule = match choices.flag() {
                true => StopRule::Iterations(1 + choices.below(3) as u64),
                false => StopRule::Tolerance { tolerance: 1e-9, max_iterations: 3 },
            };
            let start = if round == 0 || choices.flag() { Start::Fresh } else { Start::Warm };
            let request = RunRequest { start, ..random_request(choices, rule) };
            let what = || format!("{}, round {round}, {request:?}", schedule.name());
            within(pair.run(&request), what)?.ok();
        }
        Ok(())
    });
}

/// Three variables in more than 256 factors each, of two and of three states; at the second one many messages are
/// deterministic.
fn stars_of_all_kinds(choices: &mut Choices) -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    builder.add_variable(2, 3).unwrap();
    for child in 0..300 {
        let (first, second) = (10 + 2 * child, 11 + 2 * child);
        match child % 3 {
            0 => {
                builder.add_and(first, &[0], choices.probability(), choices.probability()).unwrap()
            }
            1 => builder.add_and(0, &[first, second], 0.9, 0.1).unwrap(),
            _ => {
                let shares = [choices.share(), choices.share()];
                builder.add_noisy_or(first, &[0, second], &shares, 0.1).unwrap();
            }
        }
        let certain = if child % 4 == 0 { (1.0, 0.0) } else { (0.8, 0.3) };
        builder.add_and(first, &[1], certain.0, certain.1).unwrap();
        builder.add_table(&[2, second], &choices.weights(6)).unwrap();
        if child % 5 == 0 {
            builder.add_prior(second, choices.probability()).unwrap();
        }
    }
    Arc::new(builder.build().unwrap())
}

/// Variables of which levels read many messages, so that they send to all factors first, observed or not, with soft
/// evidence, and where deterministic messages disagree, in some places only by all but one of them.
#[test]
fn high_degree_variables_of_levels() {
    let Some(options) = tested() else { return };
    let (sums, maxima) = (Inference::SumProduct, Inference::MaxProduct);
    let tolerance = StopRule::Tolerance { tolerance: 1e-9, max_iterations: 4 };
    let bingos =
        StopRule::Bingo { tolerance: 1e-6, min_iterations: 1, max_iterations: 2, history: 2 };
    let runs = [
        (StopRule::Iterations(3), Start::Fresh, 0.0, sums),
        (tolerance, Start::Warm, 0.5, sums),
        (bingos, Start::Warm, 0.0, sums),
        (StopRule::Iterations(2), Start::Warm, 0.3, maxima),
        (StopRule::Iterations(3), Start::Fresh, 0.0, sums),
    ];
    for (seed, rarity) in [(1, 1000), (2, 8)] {
        let numbers = numbers(seed, 10_000);
        let mut choices = Choices::new(&numbers, rarity);
        let graph = stars_of_all_kinds(&mut choices);
        // Two classes, by the side that a message goes to.
        let is_high = |v: u32| graph.degree(v as usize) > 256;
        let ranks = graph.edge_variables().iter().map(|&v| u64::from(is_high(v)));
        let sides = Preorder::from_ranks(&graph, &ranks.collect::<Vec<u64>>()).unwrap();
        for schedule in [
            Schedule::Blocks { blocks: 3, seed: 1 },
            Schedule::ForwardBackward,
            Schedule::Custom(Arc::new(sides)),
        ] {
            let mut pair = Pair::new(&graph, &schedule, options).unwrap();
            for (round, (rule, start, damping, inference)) in runs.into_iter().enumerate() {
                let request = RunRequest { start, damping, inference, ..RunRequest::new(rule) };
                let what = format!("seed {seed}, {}", schedule.name());
                under_both_policies(&mut pair, &request, &what);
                // One child of the second variable says that it is in state 1, others that it is in state 0.
                let children = graph.variable_edges(1);
                assert!(children.len() > 256, "{} factors", children.len());
                for child in 0..round.min(3) {
                    let v = graph.variable_of_label(10 + 8 * child as u64).unwrap();
                    pair.both(|session| session.observe(v, usize::from(child == 0)).unwrap());
                }
                let weights = [0.2, 0.7, 0.4];
                for v in [0, 1, 2] {
                    let v = graph.variable_of_label(v).unwrap();
                    pair.both(|session| match (v + round) % 5 {
                        0 => session.observe(v, round % 2).unwrap(),
                        1 => session.set_likelihood(v, &weights[..graph.cardinality(v)]).unwrap(),
                        _ => session.clear_evidence(v).unwrap(),
                    });
                }
            }
        }
    }
}

/// Levels with more factors of two variables than there are warps for eight each, on the largest devices too: sums, damped and not,
/// and maxima, with messages that doubles hold and others, and deterministic ones.
#[test]
fn factors_of_two_variables_in_wide_levels() {
    let Some(options) = tested() else { return };
    let (sums, maxima) = (Inference::SumProduct, Inference::MaxProduct);
    for (seed, rarity) in [(1, 1000), (2, 6)] {
        let numbers = numbers(seed, 50_000);
        let mut choices = Choices::new(&numbers, rarity);
        let mut builder = FactorGraphBuilder::new();
        for factor in 0..5000_u64 {
            let (one, other) = (factor * 7 % 2999, (factor * 11 + 1) % 2999);
            let (p, q) = (choices.probability(), choices.probability());
            let p = if factor % 50 == 0 { 1e-30 } else { p };
            match factor % 3 {
                _ if one == other => builder.add_prior(one, p).unwrap(),
                0 => builder.add_or(one, &[other], p, q).unwrap(),
                _ => builder.add_and(one, &[other], p, q).unwrap(),
            }
        }
        // Messages that are no doubles.
        for v in (0..2999).step_by(40) {
            builder.add_table(&[v], &[1e-250, 1.0]).unwrap();
            builder.add_table(&[v], &[1.0, 1e-150]).unwrap();
            builder.add_table(&[v + 1], &[1.0, 1e-250]).unwrap();
            builder.add_table(&[v + 1], &[1.0, 1e-250]).unwrap();
        }
        let graph = Arc::new(builder.build().unwrap());
        let ranks: Vec<u64> = (0..graph.edge_count() as u64).map(|edge| edge % 2).collect();
        let halves = Preorder::from_ranks(&graph, &ranks).unwrap();
        let schedule = Schedule::Custom(Arc::new(halves));
        let mut pair = Pair::new(&graph, &schedule, options).unwrap();
        for (start, damping, inference) in [
            (Start::Fresh, 0.0, sums),
            (Start::Warm, 0.5, sums),
            (Start::Warm, 0.3, maxima),
            (Start::Fresh, 0.0, maxima),
        ] {
            let rule = StopRule::Iterations(2);
            let request = RunRequest { start, damping, inference, ..RunRequest::new(rule) };
            under_both_policies(&mut pair, &request, &format!("seed {seed}"));
            for v in 0..20 {
                let variable = (v * 151) % graph.variable_count();
                pair.both(|session| session.observe(variable, v % 2).unwrap());
            }
        }
    }
}

/// Conjunctions that share two variables of several pieces of messages, one or both of them, beside some of fewer factors; with
/// priors among their factors, and deterministic factors.
fn stars_of_conjunctions(choices: &mut Choices, children: u64) -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    for child in 0..children {
        let own = 20 + child;
        let (first, second) = (choices.probability(), choices.probability());
        let certain = if child % 40 == 7 { (1.0, 0.0) } else { (first, second) };
        match child % 4 {
            0 => builder.add_and(own, &[0, 1], certain.0, certain.1).unwrap(),
            1 => builder.add_or(own, &[0, 2 + child / 4 % 9], certain.0, certain.1).unwrap(),
            2 => builder.add_and(0, &[own], first, second).unwrap(),
            _ => builder
                .add_and(own, &[1, 2 + child / 4 % 5, 11 + child / 4 % 3], first, second)
                .unwrap(),
        }
        if child % 90 == 3 {
            builder.add_prior(child % 2, choices.probability()).unwrap();
        }
        if child % 3 == 0 && child > 0 {
            builder.add_or(own, &[own - 1], 0.9, choices.probability()).unwrap();
        }
    }
    Arc::new(builder.build().unwrap())
}

/// Conjunctions that share one variable each of two, with messages to it that are near one, that are far from it, and deterministic
/// ones, of which some disagree if the first and the last child of both kinds are observed.
fn simple_stars(choices: &mut Choices, children: u64) -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    for child in 0..children {
        let (own, shared) = (20 + child, child % 4 / 3);
        let (first, second) = (choices.probability(), choices.probability());
        match child % 5 {
            _ if child % 50 < 4 => builder.add_and(own, &[shared], 1.0, 0.0).unwrap(),
            // So that not all is there at once by SEQFIX.
            _ if child % 50 == 4 => builder.add_and(own, &[shared, 5], first, second).unwrap(),
            0 => builder.add_and(own, &[shared], first, second).unwrap(),
            1 => builder.add_and(shared, &[own], first, second).unwrap(),
            2 => builder.add_or(own, &[shared], first, second).unwrap(),
            // What it says is passed on nearly as it is.
            3 => builder.add_and(shared, &[own], 1.0 - 1e-40, 1e-40).unwrap(),
            _ => builder.add_or(shared, &[own], first, second).unwrap(),
        }
        let prior = match child % 7 {
            0 => choices.probability(),
            1 => 1e-30,
            2 => 1.0 - 1e-14,
            _ => continue,
        };
        builder.add_prior(own, prior).unwrap();
    }
    Arc::new(builder.build().unwrap())
}

/// Variables of several pieces of messages by levels, whose products are read in versions: of all messages, of none, and of some.
#[test]
fn versions_of_pieces_by_levels() {
    let Some(options) = tested() else { return };
    check_stars(stars_of_conjunctions, 560, 257, options);
    check_stars(simple_stars, 1200, 257, options);
}

/// Variables whose messages to several factors are computed at once: on a device of few warps, as graphs of up to 1,024 edges have,
/// those of few pieces, too.
#[test]
fn messages_to_several_factors_by_levels() {
    let Some(options) = tested() else { return };
    check_stars(stars_of_conjunctions, 280, 100, options);
    check_stars(simple_stars, 330, 60, options);
}

/// Stars of so many children by many schedules, with evidence of all kinds. The first two variables have so many factors at least.
fn check_stars(
    graphs: fn(&mut Choices, u64) -> Arc<FactorGraph>, children: u64, least: usize,
    options: EngineOptions,
) {
    for (seed, rarity) in [(1, 1000), (2, 6)] {
        let numbers = numbers(seed, 10_000);
        let mut choices = Choices::new(&numbers, rarity);
        let graph = graphs(&mut choices, children);
        let degrees = [0, 1].map(|label| graph.degree(graph.variable_of_label(label).unwrap()));
        assert!(degrees.iter().all(|&degree| degree >= least), "{degrees:?} factors");
        let edges = graph.edge_count() as u64;
        let ranks: [fn(u64, u64) -> u64; 3] = [
            |edge, edges| 12 * edge / edges,
            |edge, edges| 9 * (edges - edge) / edges,
            |edge, _| (edge.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 5,
        ];
        let custom = ranks.map(|rank| {
            let ranks: Vec<u64> = (0..edges).map(|edge| rank(edge, edges)).collect();
            Schedule::Custom(Arc::new(Preorder::from_ranks(&graph, &ranks).unwrap()))
        });
        let named = [
            Schedule::Blocks { blocks: 3, seed: 1 },
            Schedule::SequentialFixed,
            Schedule::ForwardBackward,
        ];
        // Emulated devices take long: of large graphs, they have one of those with few levels.
        let all = custom.into_iter().chain(named);
        let chosen: Vec<Schedule> = match std::env::var_os("FAKE_CUDA") {
            Some(_) if edges > 1024 => all.skip(seed as usize).take(1).collect(),
            _ => all.collect(),
        };
        for schedule in chosen {
            let mut pair = Pair::new(&graph, &schedule, options).unwrap();
            let what = format!("seed {seed}, {}", schedule.name());
            sums_and_maxima(&mut pair, [3, 2], &what);
            for (label, state) in [(21, 1), (70, 0), (0, 1)] {
                let v = graph.variable_of_label(label).unwrap();
                pair.both(|session| session.observe(v, state).unwrap());
            }
            let bingo = StopRule::Bingo {
                tolerance: 1e-6,
                min_iterations: 1,
                max_iterations: 2,
                history: 2,
            };
            let request = RunRequest { start: Start::Warm, ..RunRequest::new(bingo) };
            under_both_policies(&mut pair, &request, &what);
            // The likelihoods of the first variable agree with its messages, or do not.
            for weights in [[0.2, 0.7], [0.0, 0.4], [1e-290, 1.0]] {
                for label in [0, 1, 5] {
                    let v = graph.variable_of_label(label).unwrap();
                    pair.both(|session| session.set_likelihood(v, &weights).unwrap());
                }
                under_both_policies(&mut pair, &RunRequest::new(StopRule::Iterations(3)), &what);
            }
        }
    }
}

/// What priors of a variable say.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Priors {
    /// One after the other the opposite, so that their product is near one.
    Balanced,
    /// All the same, so that no double holds their product, nor, of very many, any message.
    Extreme,
    /// Half of them deterministic, more of one kind than of the other.
    Deterministic,
}

impl Priors {
    fn at(self, number: u64) -> f64 {
        match self {
            Self::Balanced => [0.3, 0.7][number as usize % 2],
            Self::Extreme => 1e-3,
            Self::Deterministic => {
                [0.4, if number % 16 == 1 { 0.0 } else { 1.0 }][number as usize % 2]
            }
        }
    }
}

/// A variable with so many priors, with conjunctions among them; their other variables have some factors each.
fn star_of_priors(count: u64, priors: Priors) -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    let conjunctions = 150;
    let mut added = 0;
    for number in 0..count {
        builder.add_prior(0, priors.at(number)).unwrap();
        while added * count < conjunctions * number {
            let own = 1 + added;
            match added % 3 {
                0 => builder.add_and(own, &[0, 1 + (own * 7) % 90], 0.9, 0.1).unwrap(),
                1 => builder.add_or(0, &[own, 1 + (own * 5) % 80], 0.7, 0.2).unwrap(),
                _ => builder.add_and(0, &[own], 0.6, 1e-7).unwrap(),
            }
            added += 1;
        }
    }
    Arc::new(builder.build().unwrap())
}

/// Pieces of two heights and of three by levels: products of more messages than 32 pieces of 256 have, and 1,024 of them.
#[test]
fn pieces_of_pieces_by_levels() {
    let Some(options) = tested() else { return };
    let is_emulated = std::env::var_os("FAKE_CUDA").is_some();
    let all = [Priors::Balanced, Priors::Extreme, Priors::Deterministic];
    let counts: &[u64] = if is_emulated { &[8_300] } else { &[8_300, 9_000, 262_300] };
    for (priors, &count) in
        all.into_iter().flat_map(|priors| counts.iter().map(move |c| (priors, c)))
    {
        let graph = star_of_priors(count, priors);
        let edges = graph.edge_count() as u64;
        let rank = |edge: u64| (edge.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 5;
        let ranks: Vec<u64> = (0..edges).map(rank).collect();
        let custom = Schedule::Custom(Arc::new(Preorder::from_ranks(&graph, &ranks).unwrap()));
        let schedules = [Schedule::SequentialFixed, custom, Schedule::ForwardBackward];
        for schedule in schedules.into_iter().take(if is_emulated { 2 } else { 3 }) {
            let mut pair = Pair::new(&graph, &schedule, options).unwrap();
            let what = format!("{count} priors, {priors:?}, {}", schedule.name());
            sums_and_maxima(&mut pair, [3, 2], &what);
            for (label, state) in [(21, 1), (2, 0)] {
                let v = graph.variable_of_label(label).unwrap();
                pair.both(|session| session.observe(v, state).unwrap());
            }
            let request =
                RunRequest { start: Start::Warm, ..RunRequest::new(StopRule::Iterations(2)) };
            under_both_policies(&mut pair, &request, &what);
        }
    }
}

/// Messages beyond the range of f64, to and from high-degree variables whose factors are in all blocks, over many
/// iterations.
#[test]
fn messages_beyond_f64_range_in_larger_graphs() {
    let Some(options) = tested() else { return };
    let mut builder = FactorGraphBuilder::new();
    let children = 1600;
    for child in 0..children {
        let high_degree = if child % 8 < 6 { child / 8 % 2 } else { 2 + child % 11 };
        builder.add_and(16 + child, &[high_degree], 0.9, 1e-12).unwrap();
    }
    // Each of these equals one of the first three, and its own factors alone say much less.
    for high_degree in 2..12 {
        builder.add_and(high_degree + 1, &[high_degree % 3], 1.0, 0.0).unwrap();
        builder.add_prior(high_degree, 0.3).unwrap();
    }
    let graph = Arc::new(builder.build().unwrap());
    let mut pair = Pair::new(&graph, &Schedule::Parallel, options).unwrap();
    for round in 0..3 {
        for (v, &label) in graph.labels().iter().enumerate() {
            if label >= 16 && label % 5 != 4 {
                let state = usize::from(label % 97 > 3 * round);
                pair.both(|session| session.observe(v, state).unwrap());
            }
        }
        for (iterations, start) in [(21, Start::Fresh), (40, Start::Warm)] {
            let rule = StopRule::Iterations(iterations);
            let contradiction = Contradiction::Vote;
            let request = RunRequest { start, contradiction, ..RunRequest::new(rule) };
            let what = || format!("round {round}, {request:?}");
            let report = within(pair.run(&request), what).unwrap().unwrap();
            assert_eq!(report.contradictions, 0);
        }
    }
}

/// Factors of 2 to 8 variables of which some, few or many side by side, have inputs whose product no f64 holds; of some, neither
/// the messages.
#[test]
fn factors_beyond_f64_range_among_others() {
    let Some(options) = tested() else { return };
    // Of so many priors one says as good as nothing else than its state.
    for rarity in [1, 3, 12, 60] {
        let mut builder = FactorGraphBuilder::new();
        for variable in 0..500 {
            let p = if variable % rarity == 0 { 1e-200 } else { 0.3 };
            builder.add_prior(variable, p).unwrap();
        }
        for factor in 0..840 {
            let inputs = 1 + factor / 120;
            let body: Vec<u64> = (0..inputs).map(|i| (31 * factor + 67 * i) % 500).collect();
            let (p, q) = if factor % 4 < 2 { (0.9, 1e-12) } else { (1.0, 0.0) };
            match factor % 2 {
                0 => builder.add_and(1000 + factor, &body, p, q).unwrap(),
                _ => builder.add_or(1000 + factor, &body, p, q).unwrap(),
            }
        }
        let graph = Arc::new(builder.build().unwrap());
        let mut pair = Pair::new(&graph, &Schedule::Parallel, options).unwrap();
        for observed in (3..graph.variable_count()).step_by(29) {
            pair.both(|session| session.observe(observed, observed % 2).unwrap());
        }
        sums_and_maxima(&mut pair, [7, 4], &format!("one of {rarity}"));
    }
}

/// Chains of factors of 2 to 26 variables that pass on messages of some 1e-200, each to the next one at once: by levels, the
/// last input that a factor waits for is one that doubles do not do for.
#[test]
fn factors_beyond_f64_range_in_chains() {
    let Some(options) = tested() else { return };
    let mut builder = FactorGraphBuilder::new();
    let (chains, length) = (28, 12);
    for chain in 0..chains {
        let of_chain = |link: u64| 1000 * chain + link;
        builder.add_prior(of_chain(0), if chain % 3 == 0 { 0.4 } else { 1e-200 }).unwrap();
        for link in 0..length {
            let others = [0, 1, 2, 3, 4, 5, 6, 14, 24][chain as usize % 9];
            let other = |i: u64| 1_000_000 + 10_000 * chain + 100 * link + i;
            let body: Vec<u64> =
                std::iter::once(of_chain(link)).chain((0..others).map(other)).collect();
            builder.add_and(of_chain(link + 1), &body, 1.0, 0.0).unwrap();
            for &variable in &body[1..] {
                builder.add_prior(variable, 0.3).unwrap();
            }
        }
    }
    let graph = Arc::new(builder.build().unwrap());
    for schedule in [Schedule::SequentialFixed, Schedule::ForwardBackward] {
        let mut pair = Pair::new(&graph, &schedule, options).unwrap();
        for observed in [None, Some(5)] {
            if let Some(variable) = observed {
                pair.both(|session| session.observe(variable, 1).unwrap());
            }
            sums_and_maxima(&mut pair, [9, 4], &format!("{schedule:?}, {observed:?}"));
        }
    }
}

/// Variables in 5 to 700 factors whose messages are as far from one as 2^-830 and 2^830, up and down by turns, so that what is sent
/// is not; with a certain one among them, or two that disagree.
#[test]
fn high_degrees_of_messages_of_all_sizes() {
    let Some(options) = tested() else { return };
    const SMALLEST: [f64; 5] = [0.2, 1e-12, 1e-40, 1e-120, 1e-250];
    for certain in 0..4 {
        let mut builder = FactorGraphBuilder::new();
        let mut observed = Vec::new();
        let mut child = 1000;
        for (parent, degree) in [5, 8, 9, 17, 40, 70, 130, 300, 700].into_iter().enumerate() {
            let parent = parent as u64;
            for i in 0..degree {
                child += 1;
                // Pairs of factors say the opposite; the distance of some stays small.
                let small = SMALLEST[i / 2 % (2 + parent as usize % 4)];
                let (p, q) = if i % 2 == 0 { (0.9, small) } else { (small, 0.9) };
                builder.add_and(child, &[parent], p, q).unwrap();
                if i % 5 != 4 {
                    observed.push((child, 1));
                }
            }
            if certain & 1 != 0 {
                child += 1;
                builder.add_and(child, &[parent], 0.7, 0.0).unwrap();
                observed.push((child, usize::from(!parent.is_multiple_of(3))));
            }
            if certain & 2 != 0 {
                child += 1;
                builder.add_and(child, &[parent], 1.0, 0.3).unwrap();
                observed.push((child, usize::from(parent.is_multiple_of(4))));
            }
            builder.add_or(500 + parent, &[parent, parent + 1], 0.9, 0.1).unwrap();
        }
        let graph = Arc::new(builder.build().unwrap());
        for schedule in [Schedule::SequentialFixed, Schedule::ForwardBackward] {
            let mut pair = Pair::new(&graph, &schedule, options).unwrap();
            for &(label, state) in &observed {
                pair.both(|session| session.observe_label(label, state).unwrap());
            }
            sums_and_maxima(&mut pair, [6, 3], &format!("{schedule:?}, certain {certain}"));
        }
    }
}

/// Quotients whose divisors have only ones as digits, or nearly so: 1 - p for p of a few times 2^-53.
#[test]
fn quotients_by_nearly_one() {
    let Some(options) = tested() else { return };
    let mut builder = FactorGraphBuilder::new();
    for i in 1..=400 {
        let p = f64::from(i) * f64::EPSILON / 2.0;
        let others: Vec<u64> = (1..=1 + i as u64 % 6).collect();
        builder.add_and(10 + i as u64, &others, p, 0.25 / f64::from(i)).unwrap();
    }
    for body in 1..=6 {
        builder.add_prior(body, 1.0).unwrap();
    }
    let graph = Arc::new(builder.build().unwrap());
    let mut pair = Pair::new(&graph, &Schedule::Parallel, options).unwrap();
    for iterations in [3, 9] {
        let report = pair.run(&RunRequest::new(StopRule::Iterations(iterations))).unwrap();
        assert!(report.is_ok());
    }
}

/// Factors of all kinds whose values lie at the ends of f64, with factors whose values lie at other ones; those
/// which binary programs do have an own graph.
#[test]
fn factors_at_the_ends_of_f64() {
    let Some(options) = tested() else { return };
    let is_horn = |kind: &&str| matches!(kind.as_bytes()[0], b'A' | b'O' | b's');
    let binary: Vec<&str> = extremes::KINDS.into_iter().filter(is_horn).collect();
    for kinds in [&binary[..], &extremes::KINDS] {
        let mut builder = FactorGraphBuilder::new();
        for case in 0..24 * kinds.len() * kinds.len() {
            let pair = [kinds[case % kinds.len()], kinds[case / kinds.len() % kinds.len()]];
            let numbers = numbers(case as u64, 200);
            let choices = &mut Choices::new(&numbers, 8);
            extremes::PairOfFactors::add(&mut builder, 8 * case as u64, pair, choices);
        }
        let graph = Arc::new(builder.build().unwrap());
        for schedule in [Schedule::Parallel, Schedule::SequentialFixed, Schedule::Tree] {
            for compile_tables in [false, true] {
                let options = EngineOptions { compile_tables, ..options };
                let mut pair = Pair::new(&graph, &schedule, options).unwrap();
                for inference in [Inference::SumProduct, Inference::MaxProduct] {
                    let request = RunRequest {
                        inference,
                        contradiction: Contradiction::Vote,
                        ..RunRequest::new(StopRule::Iterations(4))
                    };
                    let what = || format!("{}, {inference:?}", schedule.name());
                    within(pair.run(&request), what).unwrap().unwrap();
                }
            }
        }
    }
}

/// Contradictions that come up after some iterations end runs in the state in which they were found.
#[test]
fn late_contradictions_of_larger_graphs() {
    let Some(options) = tested() else { return };
    // What is certain goes along chains; where two of them meet it disagrees.
    let mut builder = FactorGraphBuilder::new();
    let length = 400;
    for chain in 0..2 {
        let first = 1 + chain * length;
        builder.add_prior(first, chain as f64).unwrap();
        for v in first..first + length - 1 {
            builder.add_and(v + 1, &[v], 1.0, 0.0).unwrap();
        }
    }
    for v in 1..2 * length {
        builder.add_or(0, &[v], 0.6, 0.3).unwrap();
    }
    for meeting in [7, 250] {
        builder.add_and(2 * length + meeting, &[meeting], 1.0, 0.0).unwrap();
        builder.add_and(2 * length + meeting, &[length + meeting], 1.0, 0.0).unwrap();
    }
    let graph = Arc::new(builder.build().unwrap());
    assert!(graph.edge_count() > 3000);
    for contradiction in [Contradiction::Error, Contradiction::Vote] {
        let mut pair = Pair::new(&graph, &Schedule::Parallel, options).unwrap();
        let mut failed = 0;
        for (iterations, start) in [(30, Start::Fresh), (2, Start::Warm), (3, Start::Warm)] {
            let rule = StopRule::Iterations(iterations);
            let request = RunRequest { start, contradiction, ..RunRequest::new(rule) };
            let report = within(pair.run(&request), || format!("{request:?}")).unwrap();
            failed += usize::from(report.is_err());
        }
        assert_eq!(failed > 0, contradiction == Contradiction::Error);
    }
}

/// Contradictions of variables and factors that come up one after the other, where the state with more votes wins: how many
/// there are at most, and the first one, are those of iterations with a barrier each, though there is none.
#[test]
fn contradictions_of_iterations_without_a_grid_barrier() {
    let Some(options) = tested() else { return };
    // What is certain goes along two chains, false and true.
    let length = 300;
    let (low, high) = (|at| at, |at| length + at);
    let mut builder = FactorGraphBuilder::new();
    for (first, p) in [(low(0), 0.0), (high(0), 1.0)] {
        builder.add_prior(first, p).unwrap();
        for v in first..first + length - 1 {
            builder.add_and(v + 1, &[v], 1.0, 0.0).unwrap();
        }
    }
    for v in 0..2 * length {
        builder.add_or(2 * length, &[v], 0.6, 0.3).unwrap();
    }
    for (number, meeting) in [40, 9, 21, 60].into_iter().enumerate() {
        let new = 2 * length + 10 * (1 + number as u64);
        builder.add_and(new, &[low(meeting)], 1.0, 0.0).unwrap();
        builder.add_and(new, &[high(meeting)], 1.0, 0.0).unwrap();
        // A conjunction that holds although one of its literals does not: what it sends to the other is 0/0.
        builder.add_and(high(meeting + 5), &[low(meeting + 5), new + 1], 1.0, 0.0).unwrap();
        builder.add_and(new + 2, &[new + 1, new], 0.9, 0.2).unwrap();
    }
    let graph = Arc::new(builder.build().unwrap());
    let mut counts = Vec::new();
    // More iterations than there are without a grid barrier at a time, and fewer.
    for (inference, damping, many) in [
        (Inference::SumProduct, 0.0, 1100),
        (Inference::MaxProduct, 0.0, 60),
        (Inference::SumProduct, 0.5, 60),
    ] {
        let mut pair = Pair::new(&graph, &Schedule::Parallel, options).unwrap();
        for (iterations, start) in [
            (8, Start::Fresh),
            (24, Start::Fresh),
            (90, Start::Warm),
            (many, Start::Fresh),
            (7, Start::Warm),
        ] {
            let request = RunRequest {
                contradiction: Contradiction::Vote,
                inference,
                damping,
                start,
                ..RunRequest::new(StopRule::Iterations(iterations))
            };
            let what = || format!("{request:?}");
            let report = within(pair.run(&request), what).unwrap().unwrap();
            within(pair.compare(), what).unwrap();
            counts.push(report.contradictions);
        }
    }
    assert_eq!(counts[0], 0);
    assert!(counts[1] > 0 && counts[1] < counts[3], "{counts:?}");
}

/// Sums without damping by PARALL and SEQFIX: what most programs ask for.
#[test]
fn binary_graphs_by_plain_requests() {
    on_cases(25, |choices, size, options| {
        let graph = binary_graph(choices, size);
        for schedule in [Schedule::Parallel, Schedule::SequentialFixed] {
            let mut pair = Pair::new(&graph, &schedule, options)?;
            for start in [Start::Fresh, Start::Warm, Start::Fresh] {
                let rule = StopRule::Iterations(choices.below(7) as u64);
                let request = RunRequest {
                    start,
                    contradiction: Contradiction::Vote,
                    ..RunRequest::new(rule)
                };
                within(pair.run(&request), || format!("{}, {request:?}", schedule.name()))?.ok();
                let changes = random_changes(choices, &graph);
                pair.both(|session| change_evidence(session, &changes));
            }
        }
        Ok(())
    });
}

/// One session after another request: evidence, schedule, sums or maxima, damping, rule, start and
/// active set change from run to run.
fn check_sequence(
    choices: &mut Choices, graph: &Arc<FactorGraph>, options: EngineOptions,
) -> Checked {
    let mut pair = Pair::new(graph, &random_schedule(choices, graph), options)?;
    let steps = 3 + choices.below(4);
    for step in 0..steps {
        let changes = random_changes(choices, graph);
        pair.both(|session| change_evidence(session, &changes));
        if step > 0 && choices.below(3) == 0 {
            let schedule = random_schedule(choices, graph);
            let [reference, tested] = pair.both(|session| session.set_schedule(schedule.clone()));
            same_results(&reference, &tested, "new schedule")?;
        }
        if choices.below(8) == 0 {
            pair.both(|session| session.clear_all_evidence().unwrap());
        }
        let rule = match choices.flag() {
            true => StopRule::Iterations(choices.below(7) as u64),
            false => random_rule(choices, graph, 8),
        };
        let mut request = random_request(choices, rule);
        request.start = if choices.below(3) == 0 { Start::Fresh } else { Start::Warm };
        // What is refused, an active set with damping or SEQMAX, is refused alike.
        request.active_threshold = [None, None, None, Some(0.0), Some(0.1)][choices.below(5)];
        let name = pair.reference.schedule().name();
        let what = || format!("step {step}, {name}, {request:?}");
        within(pair.run(&request), what)?.ok();
    }
    Ok(())
}

#[test]
fn runs_on_binary_graphs_follow_each_other() {
    on_graphs(20, binary_graph, check_sequence);
}

#[test]
fn runs_on_mixed_graphs_follow_each_other() {
    on_graphs(20, mixed_graph, check_sequence);
}

/// Rules that look at changes, up to many iterations.
/// What factors with one variable send by maxima stays in no warm run by sums, nor the other way round.
#[test]
fn factors_with_one_variable_send_by_the_inference_of_the_run() {
    let Some(options) = tested() else { return };
    let [sums, maxima] = [Inference::SumProduct, Inference::MaxProduct];
    for states in [2, 3, 40] {
        let graph = tree_of_terms(states);
        let numbers = numbers(1, 1 << 10);
        for schedule in schedules(&mut Choices::new(&numbers, 10), &graph) {
            let mut pair = Pair::new(&graph, &schedule, options).unwrap();
            for (inference, damping, start) in [
                (sums, 0.0, Start::Fresh),
                (maxima, 0.0, Start::Warm),
                (maxima, 0.0, Start::Warm),
                (sums, 0.5, Start::Warm),
                (sums, 0.0, Start::Warm),
                (maxima, 0.0, Start::Fresh),
                (sums, 0.0, Start::Warm),
            ] {
                let rule = StopRule::Iterations(1);
                let request = RunRequest { inference, damping, start, ..RunRequest::new(rule) };
                let what = || format!("{states} states, {}, {request:?}", schedule.name());
                within(pair.run(&request), what).unwrap().unwrap();
            }
        }
    }
}

fn check_rules(choices: &mut Choices, graph: &Arc<FactorGraph>, options: EngineOptions) -> Checked {
    let schedule = random_schedule(choices, graph);
    let mut pair = Pair::new(graph, &schedule, options)?;
    for most in [10, 120] {
        let changes = random_changes(choices, graph);
        pair.both(|session| change_evidence(session, &changes));
        let rule = random_rule(choices, graph, most);
        let request =
            RunRequest { contradiction: Contradiction::Vote, ..random_request(choices, rule) };
        within(pair.run(&request), || format!("{}, {request:?}", schedule.name()))?.ok();
    }
    Ok(())
}

#[test]
fn rules_end_runs_on_binary_graphs() {
    on_graphs(200, |choices, size| binary_graph(choices, size.min(30)), check_rules);
}

#[test]
fn rules_end_runs_on_mixed_graphs() {
    on_graphs(200, |choices, size| mixed_graph(choices, size.min(30)), check_rules);
}

/// Graphs with many certain factors: runs that end at contradictions, and such that vote.
#[test]
fn contradictions_are_found_alike() {
    let found = Cell::new([0; 2]);
    let cases = on_cases(3, |choices, size, options| {
        let graph = GRAPHS[choices.below(2)].1(choices, size);
        let schedule = random_schedule(choices, &graph);
        let mut pair = Pair::new(&graph, &schedule, options)?;
        let changes = random_changes(choices, &graph);
        pair.both(|session| change_evidence(session, &changes));
        for start in [Start::Fresh, Start::Warm] {
            for contradiction in [Contradiction::Error, Contradiction::Vote] {
                let rule = StopRule::Iterations(1 + choices.below(4) as u64);
                let request = RunRequest { start, contradiction, ..random_request(choices, rule) };
                let what = || format!("{}, {request:?}", schedule.name());
                let [errors, votes] = found.get();
                match within(pair.run(&request), what)? {
                    Err(Error::Contradiction { .. }) => found.set([errors + 1, votes]),
                    Ok(report) if report.contradictions > 0 => found.set([errors, votes + 1]),
                    _ => {}
                }
            }
        }
        Ok(())
    });
    println!("{:?} in {cases} cases", found.get());
    assert!(cases < 20 || found.get().iter().all(|&count| count > 0), "{:?}", found.get());
}

/// A run that ends before its first iteration, as deterministic messages disagree, changes nothing that is counted later.
#[test]
fn runs_that_end_before_an_iteration() {
    let Some(options) = tested() else { return };
    let mut builder = FactorGraphBuilder::new();
    // A factor with one variable whose message is 0/0, and priors that disagree.
    builder.add_and(0, &[0], 0.0, 1.0).unwrap();
    builder.add_prior(1, 1.0).unwrap();
    builder.add_prior(1, 0.0).unwrap();
    builder.add_and(2, &[0, 1], 0.9, 0.2).unwrap();
    let graph = Arc::new(builder.build().unwrap());
    for schedule in [Schedule::Parallel, Schedule::SequentialFixed] {
        for damping in [0.0, 0.5] {
            let mut pair = Pair::new(&graph, &schedule, options).unwrap();
            let maxima = RunRequest {
                inference: Inference::MaxProduct,
                contradiction: Contradiction::Vote,
                observe: true,
                ..RunRequest::new(StopRule::Iterations(2))
            };
            let what = || format!("{}, damping {damping}", schedule.name());
            within(pair.run(&maxima), what).unwrap().unwrap();
            let sums = RunRequest::new(StopRule::Iterations(1));
            let sums = RunRequest { start: Start::Warm, damping, ..sums };
            assert!(within(pair.run(&sums), what).unwrap().is_err());
            let again = RunRequest { start: Start::Warm, ..maxima };
            within(pair.run(&again), what).unwrap().unwrap();
        }
    }
}

/// A variable is counted where one factor reads its messages, also if it is not this factor's that disagree.
#[test]
fn messages_of_others_disagree() {
    let Some(options) = tested() else { return };
    for uncertain in 1..=2 {
        let mut builder = FactorGraphBuilder::new();
        for head in 1..=uncertain {
            builder.add_and(head, &[0], 0.9, 0.2).unwrap();
        }
        builder.add_prior(0, 1.0).unwrap();
        builder.add_prior(0, 0.0).unwrap();
        let graph = Arc::new(builder.build().unwrap());
        for schedule in [Schedule::Parallel, Schedule::SequentialFixed, Schedule::Topological] {
            for contradiction in [Contradiction::Error, Contradiction::Vote] {
                let mut pair = Pair::new(&graph, &schedule, options).unwrap();
                let request =
                    RunRequest { contradiction, ..RunRequest::new(StopRule::Iterations(3)) };
                let what = || format!("{}, {uncertain} others", schedule.name());
                let outcome = within(pair.run(&request), what).unwrap();
                assert!(outcome.map_or(true, |report| report.contradictions > 0), "{}", what());
            }
        }
    }
}

/// States go from one backend to the other, and messages can be set.
#[test]
fn messages_can_be_saved_and_replaced() {
    on_cases(50, |choices, size, options| {
        let graph = GRAPHS[choices.below(2)].1(choices, size);
        let schedule = random_schedule(choices, &graph);
        let mut pair = Pair::new(&graph, &schedule, options)?;
        let request = RunRequest {
            contradiction: Contradiction::Vote,
            ..RunRequest::new(StopRule::Iterations(1 + choices.below(3) as u64))
        };
        pair.run(&request)?.ok();
        let saved = pair.tested.save_state().unwrap();
        let warm = RunRequest { start: Start::Warm, ..random_request(choices, request.rule) };
        within(pair.run(&warm), || format!("{}, {warm:?}", schedule.name()))?.ok();
        // The reference gets what the tested backend saved.
        pair.both(|session| session.restore_state(&saved).unwrap());
        pair.compare()?;
        within(pair.run(&warm), || format!("restored, {}, {warm:?}", schedule.name()))?.ok();
        let [expected, got] = pair.both(|session| session.messages().unwrap());
        same_bits(&expected, &got, "message value")?;
        let mut replaced = got;
        for (value, number) in replaced.iter_mut().zip(numbers(choices.number(), 1 << 16)) {
            *value = 0.01 + (number % 1000) as f64;
        }
        pair.both(|session| session.set_messages(&replaced).unwrap());
        pair.compare()?;
        within(pair.run(&warm), || format!("replaced, {}, {warm:?}", schedule.name()))?.ok();
        Ok(())
    });
}

/// What is computed from messages on request, and batches.
#[test]
fn beliefs_and_batches_are_the_same() {
    on_cases(200, |choices, size, options| {
        let graph = GRAPHS[choices.below(2)].1(choices, size.min(20));
        let schedule = random_schedule(choices, &graph);
        let mut pair = Pair::new(&graph, &schedule, options)?;
        let rule = StopRule::Iterations(1 + choices.below(4) as u64);
        let request = RunRequest { damping: 0.0, ..random_request(choices, rule) };
        pair.run(&request)?.ok();
        for factor in 0..graph.factor_count() {
            if graph.joint_states(factor).is_none_or(|size| size > 4096) {
                continue;
            }
            let [expected, got] = pair.both(|session| session.factor_belief(factor));
            same_results(&expected, &got, &format!("belief of factor {factor}"))?;
        }
        let [expected, got] = pair.both(|session| session.log_partition());
        same_results(&expected, &got, "log-partition")?;
        let [expected, got] = pair.both(|session| session.find_maximum());
        same_results(&expected, &got, "most probable joint state")?;
        let mut entries = vec![Evidence::new(); 1 + choices.below(4)];
        for entry in &mut entries {
            let variable = choices.below(graph.variable_count());
            let state = choices.below(graph.cardinality(variable));
            entry.observe(&graph, variable, state).unwrap();
        }
        let [expected, got] = pair.both(|session| session.run_batch(&entries, &request).unwrap());
        let reports = |of: &fastlbp::BatchResults| -> Vec<_> {
            let report = |result: &Result<fastlbp::RunReport, Error>| match result {
                Ok(report) => Ok(without_spared(*report)),
                Err(error) => Err(error.to_string()),
            };
            of.reports.iter().map(report).collect()
        };
        same(&reports(&expected), &reports(&got), "reports of a batch")?;
        same_bits(&expected.marginals, &got.marginals, "marginal of a batch")?;
        let [_, streamed] = pair.both(|session| {
            let mut marginals = Vec::new();
            let unset = vec![f64::NAN; graph.state_count()];
            let digest =
                |_, result: Result<(_, Vec<f64>), _>| result.map_or(unset.clone(), |r| r.1);
            let deliver = |_, own: Vec<f64>| {
                marginals.extend(own);
                Control::Continue
            };
            let never = AtomicBool::new(false);
            session.run_batch_streamed(&entries, &request, &never, digest, deliver).unwrap();
            marginals
        });
        same_bits(&expected.marginals, &streamed, "marginal of a batch that is streamed")?;
        // The batch leaves the session as it was.
        pair.compare()
    });
}

/// What the random graphs have, so that the tests above mean something.
#[test]
fn the_graphs_have_what_is_to_be_tested() {
    let mut kinds = HashSet::new();
    let [mut high_degree_variables, mut large_high_degree_variables, mut wide, mut mixed] = [0; 4];
    for seed in 0..150 {
        for (_, graphs) in GRAPHS {
            let numbers = numbers(seed, 1 << 16);
            let graph = graphs(&mut Choices::new(&numbers, 12), SIZE);
            let degrees = (0..graph.variable_count()).map(|v| graph.degree(v));
            let degree = degrees.max().unwrap();
            high_degree_variables += usize::from((9..=300).contains(&degree));
            large_high_degree_variables += usize::from(degree > 1000);
            let arities = (0..graph.factor_count()).map(|factor| graph.arity(factor));
            wide += usize::from(arities.max().unwrap() > 20);
            mixed += usize::from(!graph.all_binary());
            kinds.extend((0..graph.factor_count()).map(|factor| graph.kind(factor).name()));
        }
        let numbers = numbers(seed, 1 << 16);
        let graph = binary_graph(&mut Choices::new(&numbers, 12), SIZE);
        let conjunctions = [FactorKind::Prior, FactorKind::And, FactorKind::Or, FactorKind::Signed];
        let kind = |factor| conjunctions.contains(&graph.kind(factor));
        assert!(graph.all_binary() && (0..graph.factor_count()).all(kind), "seed {seed}");
    }
    println!(
        "{kinds:?}; {high_degree_variables} high-degree variables, {large_high_degree_variables} large ones, {wide} wide, {mixed} mixed"
    );
    assert!(
        high_degree_variables > 50 && large_high_degree_variables > 2 && wide > 10 && mixed > 100
    );
    assert_eq!(kinds.len(), 7, "{kinds:?}");
}

/// Two deterministic messages to a high-degree variable disagree, whatever the product of the others is; with a variable of three
/// states, too, for programs that know others than binary ones.
#[test]
fn deterministic_messages_to_high_degree_variables_disagree() {
    let Some(options) = tested() else { return };
    for (exponent, states) in (1..=24).flat_map(|exponent| [(exponent, 2), (exponent, 3)]) {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(1, &[0], 0.9, 0.2).unwrap();
        builder.add_and(2, &[0], 0.9, 0.2).unwrap();
        builder.add_variable(3, states).unwrap();
        builder.add_table(&[2, 3], &vec![0.5; 2 * states]).unwrap();
        for _ in 0..200 {
            builder.add_prior(0, 1.0 / (1.0 + f64::from(1 << exponent))).unwrap();
        }
        builder.add_prior(0, 1.0).unwrap();
        builder.add_prior(0, 0.0).unwrap();
        let graph = Arc::new(builder.build().unwrap());
        for schedule in [Schedule::Parallel, Schedule::SequentialFixed] {
            let mut pair = Pair::new(&graph, &schedule, options).unwrap();
            let contradiction = Contradiction::Vote;
            let request = RunRequest { contradiction, ..RunRequest::new(StopRule::Iterations(3)) };
            let what = || format!("{states} states, {}, others of 2^-{exponent}", schedule.name());
            let report = within(pair.run(&request), what).unwrap().unwrap();
            assert!(report.contradictions > 0, "{}", what());
        }
    }
}

/// A conjunction that holds although one of its literals does not: what it sends to the others is 0/0.
#[test]
fn messages_that_are_zero_by_zero_are_noted() {
    let Some(options) = tested() else { return };
    let mut builder = FactorGraphBuilder::new();
    builder.add_and(2, &[0, 1], 1.0, 0.0).unwrap();
    builder.add_prior(0, 0.0).unwrap();
    builder.add_prior(2, 1.0).unwrap();
    builder.add_and(3, &[1, 4, 5], 0.9, 0.2).unwrap();
    // Not for programs that know conjunctions only.
    builder.add_table(&[3, 6], &[0.5, 0.25, 0.75, 1.0]).unwrap();
    let graph = Arc::new(builder.build().unwrap());
    for schedule in [Schedule::Parallel, Schedule::SequentialFixed] {
        for (inference, damping) in [
            (Inference::SumProduct, 0.0),
            (Inference::MaxProduct, 0.0),
            (Inference::SumProduct, 0.5),
        ] {
            let mut pair = Pair::new(&graph, &schedule, options).unwrap();
            let vote = RunRequest {
                contradiction: Contradiction::Vote,
                inference,
                damping,
                ..RunRequest::new(StopRule::Iterations(3))
            };
            let what = || format!("{}, {inference:?}, damping {damping}", schedule.name());
            let report = within(pair.run(&vote), what).unwrap().unwrap();
            assert!(report.contradictions > 0, "{}", what());
            within(pair.compare(), what).unwrap();
            let error = RunRequest { contradiction: Contradiction::Error, ..vote };
            within(pair.run(&error), what).unwrap().unwrap_err();
        }
    }
}

/// These tests on two emulated devices: two multiprocessors with little shared memory, and six. Few cases, since emulation is
/// slow. By levels, where shared memory does not matter, those that take longest run on the first one only, unless there are to be
/// many cases.
#[test]
fn emulated_devices_do_the_same() {
    let usual = 4;
    let cases = setting("FASTLBP_TEST_EMULATED_CASES", usual);
    let others: &[&str] = if cases > usual { &["emulated"] } else { &["emulated", "levels"] };
    let devices: [(&str, &[&str]); 2] = [
        ("capability=70,multiprocessors=2,shared=13", &["emulated"]),
        ("capability=90,multiprocessors=6,resident=512", others),
    ];
    let cases = cases.to_string();
    fake_cuda::run_on_emulated_devices(&devices, &[("FASTLBP_TEST_CASES", cases.as_str())]);
}
