//! The engine against the definition, which updates one edge at a time, stores old and new messages apart, and computes
//! every product anew.

use super::high_arity::HighArityFactors;
use super::plan::{BatchPlan, Order, Plan};
use super::serial::Serial;
use super::single_inputs::single_inputs;
use super::trees::HighDegreeVariables;
use super::tuning::Tuning;
use super::*;
use crate::engine::options::EngineOptions;
use crate::engine::request::{
    Contradiction, Control, Progress, RunReport, RunRequest, Start, StopReason, StopRule,
};
use crate::engine::trial::Trial;
use crate::error::Error;
use crate::kernel::{EncodedMessage, Inference};
use crate::model::{Evidence, FactorGraph, FactorGraphBuilder, WILDCARD};
use crate::schedule::{Preorder, Schedule};
use crate::testing::cases;
use proptest::prelude::*;
use reference::{Mode, Reference};
use std::sync::Arc;

mod dynamic;
mod reference;

/// Everything multi-threaded, however small.
const EAGER: Tuning = Tuning {
    edges_per_thread: 1,
    wide_batch: 1,
    mixed_batch: 0,
    worthwhile: f64::INFINITY,
    worthwhile_lanes: f64::INFINITY,
    worthwhile_layout: f64::INFINITY,
    given_up: f64::INFINITY,
    marking_degree: 2,
    narrow_level: 0,
    high_arity_reads: u64::MAX,
    patience_without_marks: f64::INFINITY,
    ..Tuning::MEASURED
};
/// Some batches on all threads, some on one; lanes are given up at each wait.
const MIXED: Tuning = Tuning {
    edges_per_thread: 1,
    wide_batch: 4,
    mixed_batch: 2,
    worthwhile: f64::INFINITY,
    worthwhile_lanes: f64::INFINITY,
    worthwhile_layout: f64::INFINITY,
    first_alone: 1,
    given_up: 0.0,
    narrow_level: 3,
    window_bytes: 0,
    least_window: 2,
    ..Tuning::MEASURED
};

/// As [`EAGER`], but levels do not run on several threads: classes are taken apart where they can be, and run in lanes.
const APART: Tuning = Tuning { worthwhile: 0.0, mixed_batch: usize::MAX, ..EAGER };

/// An active set goes by marks wherever it can, never, and for two of three iterations.
const BY_MARKS: Tuning = Tuning { patience_without_marks: 0.0, ..Tuning::MEASURED };
const NO_MARKS: Tuning = Tuning { patience_without_marks: f64::INFINITY, ..Tuning::MEASURED };
const SOME_MARKS: Tuning = Tuning {
    patience_without_marks: 1e-9,
    marks_bound: 0.0,
    marking_degree: 2,
    ..Tuning::MEASURED
};

/// A graph with high-degree variables, high-arity factors, duplicates and mixed cardinalities, evidence, and ranks.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Case {
    pub(in crate::engine) graph: Arc<FactorGraph>,
    pub(in crate::engine) evidence: Evidence,
    ranks: Vec<u64>,
    mode: Mode,
}

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(1.0),
        Just(0.5),
        Just(0.01),
        Just(0.999),
        Just(1e-40),
        Just(1e-300),
        0.0..1.0
    ]
}

/// Factors as (kind, head, body, p, q, seed of table values).
type Sketch = (u8, u64, Vec<u64>, f64, f64, u64);

fn build(binary: bool, cardinalities: &[usize], factors: &[Sketch]) -> FactorGraph {
    let mut builder = FactorGraphBuilder::new();
    let count = cardinalities.len() as u64;
    let radix = |v: u64| if binary || v.is_multiple_of(2) { 2 } else { cardinalities[v as usize] };
    for v in 0..count {
        builder.add_variable(v * 3, radix(v)).unwrap();
    }
    for (kind, head, body, p, q, seed) in factors {
        let head = head % count;
        let body: Vec<u64> = body.iter().map(|v| v % count).collect();
        // Only variables with an even number are binary for certain.
        let even = |v: u64| if binary { v * 3 } else { (v - v % 2) * 3 };
        let signs: Vec<bool> = (0..body.len()).map(|i| seed >> (i % 64) & 1 == 1).collect();
        if *kind < 5 {
            let head = even(head);
            let body: Vec<u64> = body.iter().map(|&v| even(v)).collect();
            match kind {
                0 => builder.add_and(head, &body, *p, *q).unwrap(),
                1 => builder.add_or(head, &body, *p, *q).unwrap(),
                2 => builder.add_prior(head, *p).unwrap(),
                3 => builder.add_signed(head, &body, &signs, [*p, 1.0 - *p, *q, 2.5]).unwrap(),
                _ => {
                    // Few enough for a table, and all different.
                    let mut body: Vec<u64> = body.into_iter().filter(|&v| v != head).collect();
                    body.sort_unstable();
                    body.dedup();
                    body.truncate(6);
                    let links: Vec<f64> =
                        (0..body.len()).map(|i| if signs[i] { *q } else { 0.3 }).collect();
                    builder.add_noisy_or(head, &body, &links, *p).unwrap();
                }
            }
        } else {
            let mut scope = vec![head];
            for v in body.into_iter().take(3) {
                if !scope.contains(&v) {
                    scope.push(v);
                }
            }
            let size: usize = scope.iter().map(|&v| radix(v)).product();
            let mut word = *seed | 1;
            let values: Vec<f64> = (0..size)
                .map(|_| {
                    word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    // A few exact zeros and a wide range of values.
                    let x = (word >> 33) % 1000;
                    if x < 100 { 0.0 } else { x as f64 * 2_f64.powi((word >> 50) as i32 % 40 - 20) }
                })
                .collect();
            let values = if values.iter().all(|&v| v == 0.0) { vec![1.0; size] } else { values };
            let radices: Vec<usize> = scope.iter().map(|&v| radix(v)).collect();
            let scope: Vec<u64> = scope.iter().map(|&v| v * 3).collect();
            if *kind == 5 {
                builder.add_table(&scope, &values).unwrap();
            } else {
                // Some overlap, some do not; the first holds everywhere or somewhere.
                let count = 1 + (seed >> 7) as usize % 6;
                let weights: Vec<f64> = (0..count).map(|t| values[t % size] + 0.25).collect();
                let indicators: Vec<i32> = (0..count)
                    .flat_map(|t| radices.iter().enumerate().map(move |(i, &r)| (t, i, r)))
                    .map(|(t, i, r)| {
                        let word = (seed >> (3 * t + i) & 0xff) as usize;
                        if word.is_multiple_of(3) { WILDCARD } else { (word % r) as i32 }
                    })
                    .collect();
                builder.add_terms(&scope, &weights, &indicators).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

fn mode() -> impl Strategy<Value = Mode> {
    let inference = prop_oneof![
        2 => Just(Inference::SumProduct),
        1 => Just(Inference::MaxProduct),
    ];
    let damping = prop_oneof![3 => Just(0.0), 1 => Just(0.5), 1 => 0.01..0.99];
    (inference, damping).prop_map(|(inference, damping)| Mode { inference, damping })
}

/// A random case.
pub(in crate::engine) fn case() -> impl Strategy<Value = Case> {
    case_of(1)
}

/// A random case whose variables have at least so many states: the kernels of devices have no
/// variables of one state.
pub(in crate::engine) fn case_of(least_states: usize) -> impl Strategy<Value = Case> {
    let sketch = || {
        let body = prop_oneof![
            8 => prop::collection::vec(0_u64..1000, 0..5),
            1 => prop::collection::vec(0_u64..1000, 8..30),
        ];
        (0_u8..7, 0_u64..1000, body, probability(), probability(), any::<u64>())
    };
    let wide = || {
        let body = prop::collection::vec(0_u64..1000, 100..200);
        (
            prop_oneof![0_u8..2, 3_u8..4],
            0_u64..1000,
            body,
            probability(),
            probability(),
            any::<u64>(),
        )
    };
    let factors = (
        prop::collection::vec(sketch(), 1..25),
        prop_oneof![4 => prop::collection::vec(wide(), 0..1), 1 => prop::collection::vec(wide(), 1..3)],
        // A high-degree variable: the same head again and again.
        prop::collection::vec(sketch().prop_map(|mut s| { s.1 = 0; s }), 0..25),
    )
        .prop_map(|(a, b, c): (Vec<Sketch>, Vec<Sketch>, Vec<Sketch>)| [a, b, c].concat())
        .boxed();
    let sizes = prop_oneof![4 => 3..12_usize, 1 => 90..120_usize];
    (any::<bool>(), sizes)
        .prop_flat_map(move |(binary, count)| {
            (
                Just(binary),
                prop::collection::vec(least_states..5, count),
                factors.clone(),
                prop::collection::vec(
                    (0_usize..1000, 0_usize..4, prop::option::of(0.0..1.0)),
                    0..4,
                ),
                any::<u64>(),
                1_u64..40,
                mode(),
            )
        })
        .prop_map(|(binary, cardinalities, factors, known, seed, classes, mode)| {
            let graph = Arc::new(build(binary, &cardinalities, &factors));
            let mut evidence = Evidence::new();
            for (v, state, soft) in known {
                let v = v % graph.variable_count();
                let radix = graph.cardinality(v);
                match soft {
                    None => evidence.observe(&graph, v, state % radix).unwrap(),
                    Some(weight) => {
                        let mut likelihood = vec![weight; radix];
                        likelihood[state % radix] = 1.0 - weight;
                        evidence.set_likelihood(&graph, v, &likelihood).unwrap();
                    }
                }
            }
            let ranks = (0..graph.edge_count() as u64)
                .map(|edge| (edge + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) % classes)
                .collect();
            Case { graph, evidence, ranks, mode }
        })
}

impl Case {
    /// A graph with evidence, and a rank per edge, for sums without damping.
    #[cfg(cuda)] // the tests of its engine
    pub(in crate::engine) fn new(
        graph: Arc<FactorGraph>, evidence: Evidence, ranks: Vec<u64>,
    ) -> Self {
        Self { graph, evidence, ranks, mode: Mode::SUMS }
    }

    /// All schedules that are preorders.
    pub(in crate::engine) fn schedules(&self) -> Vec<Schedule> {
        let custom = Preorder::from_ranks(&self.graph, &self.ranks).unwrap();
        vec![
            Schedule::Parallel,
            Schedule::SequentialFixed,
            Schedule::SequentialRandom { seed: 7 },
            Schedule::Topological,
            Schedule::Tree,
            Schedule::ForwardBackward,
            Schedule::Blocks { blocks: 5, seed: 3 },
            Schedule::Custom(Arc::new(custom)),
        ]
    }

    fn engine(&self, schedule: &Schedule, threads: usize, tuning: Tuning) -> Trial<CpuEngine> {
        let options = EngineOptions { threads: Some(threads), ..Default::default() };
        let engine = CpuEngine::with_tuning(self.graph.clone(), schedule, options, tuning).unwrap();
        let mut engine = Trial::new(engine, &self.graph);
        for (v, evidence) in self.evidence.iter() {
            engine.set_evidence(v, Some(evidence)).unwrap();
        }
        engine
    }
}

impl Case {
    /// So many factors in a ring, each of two to four variables, of which most have two factors.
    fn of_two_factors(size: usize, seed: u64) -> Self {
        let mut builder = FactorGraphBuilder::new();
        let mut random = seed;
        let mut next = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            random >> 33
        };
        for factor in 0..size as u64 {
            let far = (factor + 1 + next() % (size as u64 - 1)) % size as u64;
            let body = [(factor + 1) % size as u64, size as u64 + factor, far];
            let used = 1 + next() as usize % 3;
            // Strong enough for messages to move for long.
            let weights = [next(), next()].map(|word| (1 + word % 1000) as f64 / 20_000.0);
            builder.add_and(factor, &body[..used], 1.0 - weights[0], weights[1]).unwrap();
        }
        Self {
            graph: Arc::new(builder.build().unwrap()),
            evidence: Evidence::new(),
            ranks: Vec::new(),
            mode: Mode { inference: Inference::SumProduct, damping: 0.0 },
        }
    }

    /// The definition, after some iterations.
    fn reference(&self, schedule: &Schedule, iterations: u64) -> Reference<'_> {
        let mut reference = Reference::new(&self.graph, &self.evidence, self.mode);
        for iteration in 0..iterations {
            reference.iteration(&schedule.preorder(&self.graph, iteration).unwrap());
        }
        reference
    }

    fn request(&self, iterations: u64) -> RunRequest {
        let Mode { inference, damping } = self.mode;
        RunRequest {
            contradiction: Contradiction::Vote,
            inference,
            damping,
            ..RunRequest::new(StopRule::Iterations(iterations))
        }
    }
}

fn go(engine: &mut Trial<CpuEngine>, request: &RunRequest) -> RunReport {
    engine.go(request).unwrap()
}

/// Report, results and messages of a run.
type Outcome = (RunReport, Vec<f64>, (Vec<EncodedMessage>, u64));

/// Two runs of an engine, a fresh one and a warm one with other evidence, which are ended after `end` iterations: where all
/// beliefs are measured, and where a witness may be enough.
fn measured_by_all_and_by_a_witness(
    case: &Case, schedule: &Schedule, threads: usize, rule: StopRule, end: u64,
) -> [[Outcome; 2]; 2] {
    [false, true].map(|rough_progress| {
        let mut engine = case.engine(schedule, threads, EAGER);
        [Start::Fresh, Start::Warm].map(|start| {
            let request = RunRequest { rule, start, rough_progress, ..case.request(1) };
            let report = engine.run(&request, &mut |progress| {
                if progress.iterations >= end { Control::Cancel } else { Control::Continue }
            });
            let outcome = (report.unwrap(), engine.results().to_vec(), engine.messages());
            engine.set_evidence(0, None).unwrap();
            outcome
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(50, 500)))]

    /// Whatever the schedule, the plan and the number of threads: the bits of one edge at a time.
    #[test]
    fn every_plan_gives_the_bits_of_the_definition(case in case()) {
        for schedule in case.schedules() {
            let expected = case.reference(&schedule, 3).flat();
            let mut reports = Vec::new();
            for (threads, tuning) in
                [(1, Tuning::default()), (1, EAGER), (2, EAGER), (4, MIXED), (3, APART)]
            {
                let mut engine = case.engine(&schedule, threads, tuning);
                reports.push((go(&mut engine, &case.request(3)), engine.results().to_vec()));
                let (messages, iterations) = engine.messages();
                prop_assert_eq!(iterations, 3);
                prop_assert!(messages == expected, "{} on {} threads", schedule.name(), threads);
            }
            for report in &reports {
                prop_assert_eq!(&reports[0], report);
            }
        }
    }

    /// A run that goes on from another is one long run; a saved state goes on as well.
    #[test]
    fn warm_runs_continue(case in case()) {
        for schedule in case.schedules() {
            let mut long = case.engine(&schedule, 1, Tuning::default());
            go(&mut long, &case.request(5));
            let mut parts = case.engine(&schedule, 2, MIXED);
            go(&mut parts, &case.request(2));
            let (saved, iterations) = parts.messages();
            let warm = RunRequest { start: Start::Warm, ..case.request(3) };
            go(&mut parts, &warm);
            prop_assert!(long.messages() == parts.messages(), "{}", schedule.name());
            prop_assert_eq!(long.results(), parts.results());
            let mut resumed = case.engine(&schedule, 1, Tuning::default());
            resumed.set_messages(&saved, iterations);
            go(&mut resumed, &warm);
            prop_assert!(long.messages() == resumed.messages(), "{} resumed", schedule.name());
        }
    }

    /// A synchronous run leaves nodes out whose inputs are as they were. What it tells of each iteration, and the messages, are
    /// those of a run that computes all of them; so in a second run, with other evidence.
    #[test]
    fn what_is_left_out_would_be_the_same(case in case(), rule in 0..3, threads in 1_usize..3) {
        // Beliefs of factors are tables.
        let most = (0..case.graph.factor_count()).map(|f| case.graph.arity(f)).max();
        let rule = match rule {
            0 => StopRule::Bingo {
                tolerance: 0.0, min_iterations: 8, max_iterations: 12, history: 2,
            },
            1 if most <= Some(8) => StopRule::AllBeliefs { tolerance: 0.0, max_iterations: 12 },
            _ => StopRule::Tolerance { tolerance: 0.0, max_iterations: 12 },
        };
        let mut found = Vec::new();
        for may_skip in [true, false] {
            let mut engine = case.engine(&Schedule::Parallel, threads, EAGER);
            engine.synchronous.may_skip = may_skip;
            let mut told = Vec::new();
            for start in [Start::Fresh, Start::Warm] {
                let request = RunRequest { rule, start, observe: true, ..case.request(12) };
                let report = engine.run(&request, &mut |progress| {
                    told.push(*progress);
                    Control::Continue
                });
                told.push(Progress { iterations: report.unwrap().iterations, ..told[0] });
                engine.set_evidence(0, None).unwrap();
            }
            found.push((told, engine.messages(), engine.results().to_vec()));
        }
        prop_assert!(found[0] == found[1], "{:?} and {:?}", found[0].0, found[1].0);
    }

    /// A run of which nobody wants to know the largest changes measures few beliefs. It ends where one does that measures all,
    /// with the same report, messages and results; so where it is ended, and in a second run, with other evidence.
    #[test]
    fn a_witness_decides_as_all_do(
        case in case(), digits in 1..12, max_iterations in 1_u64..40, end in 1_u64..60, threads in 1_usize..3,
    ) {
        let rule = StopRule::Tolerance { tolerance: 0.1_f64.powi(digits), max_iterations };
        for schedule in case.schedules() {
            let [all, witness] = measured_by_all_and_by_a_witness(&case, &schedule, threads, rule, end);
            prop_assert!(all == witness, "{}: {:?} and {:?}", schedule.name(), all, witness);
        }
    }

    /// The same by BINGO's rule, whose means are of the last iterations only. Where a run is ended before these, results are not
    /// compared.
    #[test]
    fn a_witness_decides_by_bingos_rule(
        case in case(), digits in 1..12, min_iterations in 0_u64..30, more in 0_u64..10, history in 1_u64..12,
        end in prop_oneof![3 => Just(u64::MAX), 1 => 1_u64..40], threads in 1_usize..3,
    ) {
        let max_iterations = min_iterations + more;
        let rule =
            StopRule::Bingo { tolerance: 0.1_f64.powi(digits), min_iterations, max_iterations, history };
        for schedule in case.schedules() {
            let mut found = measured_by_all_and_by_a_witness(&case, &schedule, threads, rule, end);
            for (report, results, _) in found.iter_mut().flatten() {
                if report.reason == StopReason::Cancelled && report.iterations <= min_iterations {
                    results.clear();
                }
            }
            let [all, witness] = found;
            prop_assert!(all == witness, "{}: {:?} and {:?}", schedule.name(), all, witness);
        }
    }

    /// What is taken for an input of a factor has the bits of the input that is computed, wherever messages lie.
    #[test]
    fn single_inputs_are_inputs(case in case(), threads in 1_usize..4) {
        for schedule in case.schedules().into_iter().filter(|_| case.graph.all_binary() && case.mode.damping == 0.0) {
            let mut engine = case.engine(&schedule, threads, EAGER);
            // By a rule that looks at inputs, so that there is room for them.
            let rule = StopRule::Bingo { tolerance: 0.0, min_iterations: 2, max_iterations: 3, history: 1 };
            go(&mut engine, &RunRequest { rule, ..case.request(1) });
            let CpuEngine { state, team, synchronous, .. } = &mut *engine;
            synchronous.messages_were_replaced();
            synchronous.update_all_to_factors(state, team);
            for factor in 0..case.graph.factor_count() {
                for (edge, place) in single_inputs(state, factor) {
                    prop_assert_eq!(state.by_edge.get(edge), state.to_variable.get(place as usize));
                }
            }
        }
    }

    /// By BINGO's rule, where most variables have two factors: factors that have moved for certain let runs go on, and no others do.
    #[test]
    fn single_inputs_decide_by_bingos_rule(
        size in 40_usize..200, seed in any::<u64>(), digits in 2..12, max_iterations in 5_u64..30, threads in 1_usize..4,
    ) {
        let case = Case::of_two_factors(size, seed);
        let tolerance = 0.1_f64.powi(digits);
        let rule = StopRule::Bingo { tolerance, min_iterations: 3, max_iterations, history: 3 };
        for schedule in [Schedule::SequentialFixed, Schedule::Parallel] {
            let [all, witness] =
                measured_by_all_and_by_a_witness(&case, &schedule, threads, rule, u64::MAX);
            prop_assert!(all == witness, "{}: {:?} and {:?}", schedule.name(), all, witness);
        }
    }

    /// Runs with other schedules, sums or maxima, damping, active sets, go on from each other.
    #[test]
    fn runs_of_all_kinds_follow_each_other(
        case in case(),
        steps in prop::collection::vec((any::<prop::sample::Index>(), mode(), any::<bool>()), 2..6),
    ) {
        let schedules = case.schedules();
        let mut reference = Reference::new(&case.graph, &case.evidence, case.mode);
        let mut engine = case.engine(&schedules[0], 2, MIXED);
        let mut start = Start::Fresh;
        for (iteration, (schedule, mode, active)) in (0..).zip(steps) {
            let schedule = &schedules[schedule.index(schedules.len())];
            reference.mode = mode;
            reference.iteration(&schedule.preorder(&case.graph, iteration).unwrap());
            engine.set_schedule(schedule).unwrap();
            let Mode { inference, damping } = mode;
            let active_threshold = (active && damping == 0.0).then_some(0.0);
            let request = RunRequest { start, inference, damping, active_threshold, ..case.request(1) };
            go(&mut engine, &request);
            prop_assert!(engine.messages().0 == reference.flat(), "{iteration} {}", schedule.name());
            start = Start::Warm;
        }
    }

    /// Evidence that was set, run with and cleared leaves no trace.
    #[test]
    fn cleared_evidence_leaves_no_trace(case in case()) {
        for schedule in case.schedules() {
            let mut used = case.engine(&schedule, 1, Tuning::default());
            go(&mut used, &case.request(2));
            for (v, _) in case.evidence.iter() {
                used.set_evidence(v, None).unwrap();
            }
            let bare = Case { evidence: Evidence::new(), ..case.clone() };
            let mut never = bare.engine(&schedule, 1, Tuning::default());
            let reports = (go(&mut used, &case.request(3)), go(&mut never, &case.request(3)));
            prop_assert_eq!(reports.0, reports.1);
            prop_assert!(used.messages() == never.messages());
        }
    }

    /// The measuring rules change no message, and give the same figures on any number of threads.
    #[test]
    fn measuring_changes_nothing(case in case()) {
        for schedule in case.schedules() {
            let mut plain = case.engine(&schedule, 1, Tuning::default());
            go(&mut plain, &case.request(4));
            let rules = [
                StopRule::Tolerance { tolerance: 0.0, max_iterations: 4 },
                StopRule::Bingo { tolerance: 0.0, min_iterations: 3, max_iterations: 3, history: 2 },
            ];
            for rule in rules {
                let mut reports = Vec::new();
                for (threads, tuning) in [(1, Tuning::default()), (3, EAGER)] {
                    let mut engine = case.engine(&schedule, threads, tuning);
                    let report = go(&mut engine, &RunRequest { rule, ..case.request(0) });
                    if report.iterations == 4 {
                        prop_assert!(engine.messages() == plain.messages());
                    }
                    reports.push((report, engine.results().to_vec()));
                }
                prop_assert_eq!(&reports[0], &reports[1]);
            }
        }
    }
}

/// What a run tells its caller after each iteration, and its result, where the caller ends it after some iterations.
fn told(engine: &mut Trial<CpuEngine>, request: &RunRequest, ended_after: u64) -> Vec<String> {
    let mut told = Vec::new();
    let result = engine.run(request, &mut |progress| {
        told.push(format!("{progress:?}"));
        if progress.iterations == ended_after { Control::Cancel } else { Control::Continue }
    });
    told.push(format!("{result:?}"));
    told
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(50, 500)))]

    /// Lanes run several iterations at once, but nobody can tell: not by what the caller is told, where it ends the run,
    /// which contradictions are found, nor by the messages.
    #[test]
    fn iterations_at_once_are_iterations(
        case in case(), threads in 2_usize..5, ended_after in 1_u64..30, vote in any::<bool>(),
        tuning in prop_oneof![3 => Just(EAGER), 1 => Just(MIXED)],
    ) {
        let policy = if vote { Contradiction::Vote } else { Contradiction::Error };
        let request = RunRequest { contradiction: policy, ..case.request(24) };
        for schedule in [Schedule::SequentialFixed, case.schedules().pop().unwrap()] {
            let mut alone = case.engine(&schedule, 1, Tuning::default());
            let mut lanes = case.engine(&schedule, threads, tuning);
            let expected = told(&mut alone, &request, ended_after);
            prop_assert_eq!(told(&mut lanes, &request, ended_after), expected);
            prop_assert!(alone.messages() == lanes.messages(), "{}", schedule.name());
            prop_assert_eq!(alone.results(), lanes.results());
            let warm = RunRequest { start: Start::Warm, ..request };
            let expected = told(&mut alone, &warm, ended_after);
            prop_assert_eq!(told(&mut lanes, &warm, ended_after), expected);
            prop_assert!(alone.messages() == lanes.messages(), "{} warm", schedule.name());
        }
    }

    /// A synchronous run measures beliefs together with the first step of the iteration that may follow. Nobody can tell, wherever
    /// the run ends: not by what the caller is told, which contradictions are found, the messages, nor by runs that go on from
    /// there with other evidence.
    #[test]
    fn what_is_sent_ahead_is_not_seen(
        case in case(), threads in 1_usize..3, observe in any::<bool>(), vote in any::<bool>(),
    ) {
        let case = Case { mode: Mode { damping: 0.0, ..case.mode }, ..case };
        let policy = if vote { Contradiction::Vote } else { Contradiction::Error };
        let found = |may_skip, rule, ended_after| {
            let mut engine = case.engine(&Schedule::Parallel, threads, EAGER);
            engine.synchronous.may_skip = may_skip;
            [Start::Fresh, Start::Warm, Start::Warm].map(|start| {
                let request =
                    RunRequest { rule, start, observe, contradiction: policy, ..case.request(0) };
                let told = told(&mut engine, &request, ended_after);
                let found = (told, engine.messages(), engine.results().to_vec());
                engine.set_evidence(0, None).unwrap();
                found
            })
        };
        let mut changes = Vec::new();
        let rule = |tolerance, max_iterations| StopRule::Tolerance { tolerance, max_iterations };
        let all = RunRequest { rule: rule(0.0, 8), ..case.request(0) };
        let mut engine = case.engine(&Schedule::Parallel, 1, Tuning::default());
        engine.run(&all, &mut |progress| {
            changes.push(progress.max_diff);
            Control::Continue
        }).unwrap();
        for (end, &change) in (1..).zip(&changes) {
            for (rule, ended_after) in [
                (rule(change, 12), 0),
                (rule(0.0, end), 0),
                (rule(0.0, 12), end),
                (StopRule::Iterations(end), 0),
            ] {
                let expected = found(false, rule, ended_after);
                let found = found(true, rule, ended_after);
                prop_assert!(found == expected, "{found:?} and {expected:?}");
            }
        }
    }
}

/// One AND over many variables that are heads of chains: its messages, updated one by one, are computed from
/// its stored tree.
#[test]
fn high_arity_factors_use_their_trees() {
    let mut builder = FactorGraphBuilder::new();
    let body: Vec<u64> = (1..=300).collect();
    builder.add_and(0, &body, 1.0, 0.0).unwrap();
    for v in 1..=300 {
        builder.add_and(v, &[1000 + v % 7], 0.9, 0.2).unwrap();
        builder.add_prior(1000 + v % 7, 0.3).unwrap();
    }
    let graph = Arc::new(builder.build().unwrap());
    let mut evidence = Evidence::new();
    evidence.observe(&graph, 0, 1).unwrap();
    evidence.set_likelihood(&graph, 5, &[0.2, 0.7]).unwrap();
    let ranks = (0..graph.edge_count() as u64).map(|e| e * 7919 % 1009).collect();
    let case = Case { graph, evidence, ranks, mode: Mode::SUMS };
    for schedule in case.schedules() {
        let reference = case.reference(&schedule, 3);
        let mut engine = case.engine(&schedule, 2, Tuning { high_arity_reads: 0, ..EAGER });
        let stored = match &engine.plan {
            Plan::Batches(plan) => !plan.high_arity.is_empty(),
            Plan::Synchronous | Plan::Residual(_) => false,
        };
        // TOPO updates the AND's messages to its body together, and the one to its head alone.
        let one_by_one =
            matches!(schedule, Schedule::SequentialRandom { .. } | Schedule::Custom(_));
        assert_eq!(stored, one_by_one, "{}", schedule.name());
        go(&mut engine, &case.request(3));
        assert!(engine.messages().0 == reference.flat(), "{}", schedule.name());
    }
}

/// A run of as many iterations as there are numbers goes on from another one until it is ended.
#[test]
fn runs_without_an_end_continue() {
    let case = Case::of_two_factors(50, 1);
    let schedules =
        [Schedule::SequentialRandom { seed: 7 }, Schedule::SequentialFixed, Schedule::Parallel];
    for schedule in schedules {
        let mut engine = case.engine(&schedule, 2, EAGER);
        go(&mut engine, &case.request(2));
        let endless = RunRequest { start: Start::Warm, ..case.request(u64::MAX) };
        let report = engine.run(&endless, &mut |progress| {
            if progress.iterations >= 3 { Control::Cancel } else { Control::Continue }
        });
        assert_eq!(report.unwrap().reason, StopReason::Cancelled, "{}", schedule.name());
        assert!(engine.messages().0 == case.reference(&schedule, 5).flat(), "{}", schedule.name());
    }
}

/// The plan of SEQFIX for conjunctions `head <- body`, on some threads.
fn plan_of(conjunctions: impl Iterator<Item = (u64, u64)>, threads: usize) -> Plan {
    let mut builder = FactorGraphBuilder::new();
    for (head, body) in conjunctions {
        builder.add_and(head, &[body], 0.9, 0.2).unwrap();
    }
    let graph = Arc::new(builder.build().unwrap());
    let tuning = Tuning { edges_per_thread: 1, ..Tuning::default() };
    let options = EngineOptions { threads: Some(threads), ..Default::default() };
    CpuEngine::with_tuning(graph, &Schedule::SequentialFixed, options, tuning).unwrap().plan
}

#[test]
fn threads_share_an_order_where_that_is_faster() {
    // Factors that have nothing to do with each other, and a chain of them.
    for (chained, threads, shared) in [(false, 2, true), (false, 8, true), (true, 8, false)] {
        let conjunctions = (0..4000).map(|v| if chained { (v, v + 1) } else { (2 * v, 2 * v + 1) });
        let Plan::Batches(plan) = plan_of(conjunctions, threads) else {
            panic!("SEQFIX is not synchronous")
        };
        assert_eq!(matches!(plan.order, Order::Lanes(_)), shared, "{threads} threads");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(100, 1000)))]

    /// Lanes wait for all that they need, however fast the threads are: with any choice of the lane that goes on, also in
    /// several iterations at once, the bits are those of the definition.
    #[test]
    fn lanes_may_run_at_any_speed(
        case in case(), threads in 2_usize..7, seed in any::<u64>(), slow in 0_usize..8,
    ) {
        let strict = Preorder::from_ranks(
            &case.graph,
            &(0..case.graph.edge_count() as u64).map(|e| e.wrapping_mul(seed | 1)).collect::<Vec<_>>(),
        ).unwrap();
        for schedule in [Schedule::SequentialFixed, Schedule::Custom(Arc::new(strict))] {
            let mut engine = case.engine(&schedule, threads, EAGER);
            let sums = Case { mode: Mode::SUMS, ..case.clone() };
            // Priors are computed once, by the first iteration.
            go(&mut engine, &sums.request(1));
            let CpuEngine { state, team, plan, .. } = &mut *engine;
            let Plan::Batches(plan) = plan else {
                prop_assert_eq!(case.graph.edge_count(), 1);
                continue;
            };
            let BatchPlan { order, trees, cursors, high_arity, .. } = &mut **plan;
            let Order::Lanes(lanes) = order else {
                let only_priors = (0..case.graph.factor_count()).all(|f| case.graph.arity(f) == 1);
                prop_assert!(only_priors || !high_arity.is_empty());
                continue;
            };
            let mut word = seed;
            let mut choose = |count: usize| {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let lane = (word >> 33) as usize % count;
                // One lane is picked rarely.
                if lane == slow && word >> 40 & 15 > 0 { (lane + 1) % count } else { lane }
            };
            team.run_alone(|workspace| {
                let mut serial = Serial {
                    state,
                    high_degree_variables: HighDegreeVariables { trees, cursors: Some(cursors) },
                    high_arity: &mut HighArityFactors::default(),
                    constants_sent: true,
                    workspace,
                };
                lanes.run_in_any_order(&mut serial, 3, &mut choose);
            });
            let messages = engine.messages().0;
            prop_assert!(messages == sums.reference(&schedule, 4).flat(), "{}", schedule.name());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(60, 600)))]

    /// Messages stay what they are where schedules on several threads, which lay them out anew, take turns with others, and where
    /// a layout is taken back.
    #[test]
    fn messages_stay_where_layouts_change(case in case(), threads in 2_usize..5, turns in 0_usize..64) {
        let sequential = Schedule::SequentialFixed;
        let others = [Schedule::Parallel, Schedule::MaximumResidual { log_domain: false }, Schedule::SequentialRandom { seed: 1 }];
        let mut engines = [case.engine(&sequential, threads, EAGER), case.engine(&sequential, 1, Tuning::default())];
        for turn in 0..4 {
            let schedule = match turns >> turn & 3 {
                3 => &sequential,
                other => &others[other],
            };
            for engine in &mut engines {
                go(engine, &case.request(2));
                engine.plan_by(schedule).unwrap();
                go(engine, &RunRequest { start: Start::Warm, ..case.request(2) });
            }
            prop_assert!(engines[0].messages() == engines[1].messages(), "{}", schedule.name());
            let state = &mut engines[0].state;
            let is_sequential = state.has_layout();
            state.arrange(None).unwrap();
            prop_assert!(!state.has_layout());
            prop_assert_eq!(state.is_rearranged(), is_sequential);
            state.take_back();
            prop_assert_eq!(state.has_layout(), is_sequential);
            prop_assert!(engines[0].messages() == engines[1].messages());
        }
    }
}

/// Each variable has slots of its own, and of those in a cache line, all or none are in one lane.
#[test]
fn lanes_have_cache_lines_of_their_own() {
    let mut builder = FactorGraphBuilder::new();
    let mut word = 1_u64;
    let mut draw = |count: u64| {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (word >> 33) % count
    };
    for _ in 0..2000 {
        // Variables of few factors, and some of many.
        let body = [draw(20), 20 + draw(1500)];
        builder.add_and(20 + draw(1500), &body, 0.9, 0.2).unwrap();
    }
    let graph = Arc::new(builder.build().unwrap());
    for threads in 2..5 {
        let options = EngineOptions { threads: Some(threads), ..Default::default() };
        let schedule = Schedule::SequentialFixed;
        let engine = CpuEngine::with_tuning(graph.clone(), &schedule, options, EAGER).unwrap();
        let state = &engine.state;
        assert!(state.has_layout());
        let Plan::Batches(plan) = &engine.plan else { panic!("SEQFIX is not synchronous") };
        let Order::Lanes(lanes) = &plan.order else { panic!("{threads} threads") };
        let mut lanes_of = vec![0_u32; graph.variable_count()];
        for (lane, edge) in lanes.edges() {
            let factor = graph.edge_factors()[edge as usize] as usize;
            graph.factor_variables(factor).iter().for_each(|&v| lanes_of[v as usize] |= 1 << lane);
        }
        assert!(lanes_of.iter().any(|lanes| !lanes.is_power_of_two()));
        let mut variable_of = vec![None; state.slot_count()];
        let mut lines = vec![Vec::new(); state.slot_count() + 1];
        for v in 0..graph.variable_count() {
            for slot in state.slots(v) {
                assert_eq!(variable_of[slot].replace(v), None);
                lines[(state.to_variable.address() / 8 + slot) / 8
                    - state.to_variable.address() / 64]
                    .push(v);
            }
        }
        for (edge, &v) in graph.edge_variables().iter().enumerate() {
            assert_eq!(variable_of[state.links[edge].slot as usize], Some(v as usize));
        }
        for line in lines {
            let is_of_one = |v: &usize| *v == line[0];
            let is_of_a_lane =
                |v: &usize| lanes_of[*v] == lanes_of[line[0]] && lanes_of[*v].is_power_of_two();
            assert!(line.iter().all(is_of_one) || line.iter().all(is_of_a_lane), "{line:?}");
        }
    }
}

/// A factor that is zero everywhere contradicts its variable, in every schedule.
#[test]
fn a_factor_without_a_positive_value_is_a_contradiction() {
    let mut builder = FactorGraphBuilder::new();
    builder.add_and(0, &[0], 0.0, 1.0).unwrap();
    builder.add_prior(0, 0.3).unwrap();
    builder.add_and(1, &[0], 0.9, 0.1).unwrap();
    let graph = Arc::new(builder.build().unwrap());
    let ranks = (0..graph.edge_count() as u64).rev().collect();
    let case = Case { graph, evidence: Evidence::new(), ranks, mode: Mode::SUMS };
    for schedule in case.schedules() {
        let mut engine = case.engine(&schedule, 1, Tuning::default());
        let report = go(&mut engine, &case.request(3));
        assert_eq!((report.contradictions, report.first_contradiction), (1, Some(0)));
        assert_eq!(engine.results()[1], 0.3, "{}", schedule.name());
        let strict = RunRequest::new(StopRule::Iterations(3));
        let error = engine.run(&strict, &mut |_| Control::Continue);
        assert!(matches!(error, Err(Error::Contradiction { variable: 0, iteration: 1, .. })));
    }
}

/// Many high-arity factors over the same variables: too busy to announce every change.
#[test]
fn busy_variables_of_high_arity_factors() {
    let mut builder = FactorGraphBuilder::new();
    // A few variables in all of them; the others in one or two, for the definition is slow.
    for factor in 0..70 {
        let others = (0..66).map(|i| 1000 + factor * 65 + i);
        let body: Vec<u64> = (0..4).chain(others).collect();
        builder.add_or(100 + factor, &body, 0.99, 0.1).unwrap();
    }
    for v in 0..4 {
        builder.add_prior(v, 0.01 + 0.001 * v as f64).unwrap();
    }
    let graph = Arc::new(builder.build().unwrap());
    let mut evidence = Evidence::new();
    evidence.observe(&graph, 75, 1).unwrap();
    let ranks = (0..graph.edge_count() as u64).map(|e| e * 7919 % 1009).collect();
    let case = Case { graph, evidence, ranks, mode: Mode::SUMS };
    for schedule in case.schedules() {
        let reference = case.reference(&schedule, 2);
        let mut engine = case.engine(&schedule, 2, EAGER);
        go(&mut engine, &case.request(2));
        assert!(engine.messages().0 == reference.flat(), "{}", schedule.name());
    }
}
