//! A session that is saved and restored, or cloned, continues with the same bits as the original: by every schedule,
//! damped or not, on random graphs.

mod common;

#[path = "common/cases.rs"]
#[allow(dead_code, reason = "only its graphs and schedules are used")]
mod cases;
#[path = "common/random.rs"]
#[allow(dead_code, reason = "what factors are by their definition is not needed here")]
mod random;

use cases::{binary_graph, mixed_graph, numbers, random_schedule, schedules, tree_of_terms};
use fastlbp::{
    Backend, BeliefPropagation, Contradiction, EngineOptions, FactorGraph, FactorGraphBuilder,
    Inference, RunRequest, Schedule, Start, StopRule,
};
use random::Choices;
use std::sync::Arc;

const GRAPHS: usize = 100;

fn session(graph: &Arc<FactorGraph>, schedule: &Schedule) -> BeliefPropagation {
    let options =
        EngineOptions { backend: Backend::Cpu, threads: Some(1), ..EngineOptions::default() };
    BeliefPropagation::new(graph.clone(), schedule.clone(), options).unwrap()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn same(one: &BeliefPropagation, other: &BeliefPropagation, what: &str) {
    assert_eq!(bits(one.marginals().unwrap()), bits(other.marginals().unwrap()), "{what}: results");
    assert!(one.save_state().unwrap() == other.save_state().unwrap(), "{what}: states");
}

/// One run of all iterations, and runs of parts of them with a saved state between any two.
fn check(graph: &Arc<FactorGraph>, schedule: &Schedule, request: RunRequest, what: &str) {
    let parts = [2, 1, 3];
    let iterations = |count| RunRequest { rule: StopRule::Iterations(count), ..request };
    let warm = |count| RunRequest { start: Start::Warm, ..iterations(count) };
    let mut whole = session(graph, schedule);
    whole.run(&iterations(parts.iter().sum())).unwrap();
    let mut going_on = session(graph, schedule);
    going_on.run(&iterations(parts[0])).unwrap();
    for (index, &part) in parts.iter().enumerate().skip(1) {
        let what = format!("{what}, part {index}");
        let state = going_on.save_state().unwrap();
        let mut restored = session(graph, schedule);
        // Whatever it did before.
        restored.run(&RunRequest { inference: Inference::MaxProduct, ..iterations(1) }).unwrap();
        restored.restore_state(&state).unwrap();
        assert!(restored.save_state().unwrap() == state, "{what}: what is saved again");
        going_on.run(&warm(part)).unwrap();
        restored.run(&warm(part)).unwrap();
        same(&going_on, &restored, &what);
        // The same session, back to where it was.
        going_on.restore_state(&state).unwrap();
        going_on.run(&warm(part)).unwrap();
        same(&going_on, &restored, &format!("{what}, back"));
    }
    same(&whole, &going_on, what);
}

fn check_all(schedule_of: impl Fn(&mut Choices, &FactorGraph) -> Schedule) {
    for seed in 0..GRAPHS {
        let numbers = numbers(seed as u64, 1 << 14);
        let mut choices = Choices::new(&numbers, 10);
        let graphs = [binary_graph, mixed_graph];
        let graph = graphs[seed % 2](&mut choices, 4);
        let schedule = schedule_of(&mut choices, &graph);
        for damping in [0.0, 0.3, 0.9] {
            for inference in [Inference::SumProduct, Inference::MaxProduct] {
                let what = format!("seed {seed}, {}, {damping}, {inference:?}", schedule.name());
                let request = RunRequest {
                    damping,
                    inference,
                    contradiction: Contradiction::Vote,
                    ..RunRequest::new(StopRule::Iterations(1))
                };
                check(&graph, &schedule, request, &what);
            }
        }
    }
}

#[test]
fn the_message_that_would_change_most_stays_the_next_one() {
    check_all(|choices, _| Schedule::MaximumResidual { log_domain: choices.flag() });
}

/// Also of a state with all parts, none that this version does not know is taken.
#[test]
fn unknown_parts_of_a_state_are_refused() {
    let numbers = numbers(7, 1 << 14);
    let graph = binary_graph(&mut Choices::new(&numbers, 10), 4);
    let mut bp = session(&graph, &Schedule::MaximumResidual { log_domain: true });
    let inference = Inference::MaxProduct;
    let contradiction = Contradiction::Vote;
    bp.run(&RunRequest { inference, contradiction, ..RunRequest::new(StopRule::Iterations(1)) })
        .unwrap();
    let state = bp.save_state().unwrap();
    for bit in 0..64 {
        let mut other = state.clone();
        other[5] |= 1 << bit;
        assert_eq!(bp.restore_state(&other).is_ok(), other == state, "part {bit}");
    }
}

/// A word of a state that changed, wherever, does not become a message.
#[test]
fn damaged_states_are_refused() {
    let numbers = numbers(7, 1 << 14);
    let graph = mixed_graph(&mut Choices::new(&numbers, 10), 4);
    for schedule in [Schedule::Parallel, Schedule::MaximumResidual { log_domain: true }] {
        let mut bp = session(&graph, &schedule);
        let contradiction = Contradiction::Vote;
        bp.run(&RunRequest { contradiction, ..RunRequest::new(StopRule::Iterations(2)) }).unwrap();
        let state = bp.save_state().unwrap();
        for word in 0..state.len() {
            for bit in [0, 31, 51, 63] {
                let mut other = state.clone();
                other[word] ^= 1 << bit;
                assert!(bp.restore_state(&other).is_err(), "word {word}, bit {bit}");
            }
        }
        for length in 0..state.len() {
            assert!(bp.restore_state(&state[..length]).is_err(), "{length} words");
        }
        assert!(bp.save_state().unwrap() == state, "what is refused changes nothing");
    }
}

/// Messages belong to variables and scopes; with other parameters they go on.
#[test]
fn states_of_other_scopes_are_refused() {
    let graph = |label, body: [u64; 2], p| {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(1, &[2], p, 0.25).unwrap();
        builder.add_and(label, &body, 0.75, 0.25).unwrap();
        Arc::new(builder.build().unwrap())
    };
    let first = graph(4, [1, 3], 0.5);
    let state = session(&first, &Schedule::Parallel).save_state().unwrap();
    let restored = |graph| session(&graph, &Schedule::Parallel).restore_state(&state);
    restored(graph(4, [1, 3], 0.5)).unwrap();
    restored(graph(4, [1, 3], 0.625)).unwrap();
    for other in [graph(5, [1, 3], 0.5), graph(4, [2, 3], 0.5)] {
        let text = restored(other).unwrap_err().to_string();
        assert!(text.contains("other labels, cardinalities or scopes"), "{text}");
    }
}

#[test]
fn every_other_schedule_goes_on() {
    check_all(random_schedule);
}

/// After a run by the other inference, what factors with one variable send is computed anew: on a tree, messages are those
/// of a fresh run.
#[test]
fn factors_with_one_variable_send_by_the_inference_of_the_run() {
    let graph = tree_of_terms(2);
    let numbers = numbers(1, 1 << 10);
    let [sums, maxima] = [Inference::SumProduct, Inference::MaxProduct];
    for schedule in schedules(&mut Choices::new(&numbers, 10), &graph) {
        for threads in [1, 3] {
            let options = EngineOptions {
                backend: Backend::Cpu,
                threads: Some(threads),
                ..EngineOptions::default()
            };
            let session =
                || BeliefPropagation::new(graph.clone(), schedule.clone(), options).unwrap();
            let rule = StopRule::Iterations(12);
            let run = |session: &mut BeliefPropagation, inference, start| {
                session.run(&RunRequest { inference, start, ..RunRequest::new(rule) }).unwrap();
                bits(session.marginals().unwrap())
            };
            let [by_sums, by_maxima] =
                [sums, maxima].map(|inference| run(&mut session(), inference, Start::Fresh));
            assert!(by_sums != by_maxima);
            let mut going_on = session();
            for (inference, start) in [
                (sums, Start::Fresh),
                (maxima, Start::Warm),
                (maxima, Start::Warm),
                (sums, Start::Warm),
                (maxima, Start::Fresh),
                (sums, Start::Warm),
            ] {
                let expected = if inference == sums { &by_sums } else { &by_maxima };
                let mut copy = going_on.try_clone().unwrap();
                for session in [&mut going_on, &mut copy] {
                    let got = run(session, inference, start);
                    assert!(got == *expected, "{}, {threads} threads", schedule.name());
                }
            }
        }
    }
}

/// A variable of many factors has products that are kept from message to message.
#[test]
fn busy_variables_go_on() {
    let mut builder = FactorGraphBuilder::new();
    for i in 0..150_u64 {
        builder.add_prior(10 + i, 0.1 + i as f64 / 200.0).unwrap();
        builder.add_and(10 + i, &[1, 10 + (i * 7 + 1) % 150], 0.9, 0.2).unwrap();
        builder.add_or(1, &[10 + i, 10 + (i * 11 + 3) % 150], 0.55, 0.45).unwrap();
    }
    let graph = Arc::new(builder.build().unwrap());
    for schedule in [
        Schedule::MaximumResidual { log_domain: false },
        Schedule::SequentialFixed,
        Schedule::Parallel,
        Schedule::Tree,
    ] {
        for damping in [0.0, 0.5] {
            let what = format!("{}, {damping}", schedule.name());
            let request = RunRequest { damping, ..RunRequest::new(StopRule::Iterations(1)) };
            check(&graph, &schedule, request, &what);
        }
    }
}
