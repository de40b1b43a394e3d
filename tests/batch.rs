//! Batches give the bits of their entries one by one, whatever the number of threads.

use fastlbp::generate::bingo;
use fastlbp::{
    BeliefPropagation, Contradiction, Control, EngineOptions, Error, Evidence, FactorGraph,
    FactorGraphBuilder, Inference, RunReport, RunRequest, Schedule, Start, StopReason, StopRule,
    run_all, run_all_monitored,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Random choices; proptest shrinks the seed.
struct Choices(u64);

impl Choices {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % count as u64) as usize
    }

    fn probability(&mut self) -> f64 {
        match self.below(6) {
            0 => 0.0,
            1 => 1.0,
            _ => self.below(1 << 20) as f64 / f64::from(1 << 20),
        }
    }
}

/// A graph with loops, with certain and uncertain factors, that some evidence contradicts.
fn graph(choices: &mut Choices) -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    let count = 4 + choices.below(12) as u64;
    for label in 0..count {
        let prior = choices.probability();
        if label < 2 || choices.below(3) == 0 {
            builder.add_prior(label, prior).unwrap();
            continue;
        }
        let first = choices.below(label as usize) as u64;
        let second = choices.below(label as usize) as u64;
        let body = if first == second { vec![first] } else { vec![first, second] };
        let (p, q) = (choices.probability(), choices.probability());
        match choices.below(2) {
            0 => builder.add_and(label, &body, p, q).unwrap(),
            _ => builder.add_or(label, &body, p, q).unwrap(),
        }
    }
    if choices.below(2) == 0 {
        builder.add_variable(count, 3).unwrap();
        builder.add_table(&[0, count], &[0.1, 0.5, 0.2, 0.0, 0.7, 0.3]).unwrap();
    }
    Arc::new(builder.build().unwrap())
}

fn evidence(choices: &mut Choices, graph: &FactorGraph) -> Evidence {
    let mut evidence = Evidence::new();
    for _ in 0..choices.below(4) {
        let variable = choices.below(graph.variable_count());
        let states = graph.cardinality(variable);
        if choices.below(4) == 0 {
            let weights: Vec<f64> =
                (0..states).map(|x| (x + 1 + choices.below(3)) as f64).collect();
            evidence.set_likelihood(graph, variable, &weights).unwrap();
        } else {
            evidence.observe(graph, variable, choices.below(states)).unwrap();
        }
    }
    evidence
}

fn schedules() -> Vec<Schedule> {
    vec![
        Schedule::Parallel,
        Schedule::SequentialFixed,
        Schedule::SequentialRandom { seed: 5 },
        Schedule::Blocks { blocks: 3, seed: 2 },
        Schedule::Topological,
        Schedule::ForwardBackward,
        Schedule::Tree,
        Schedule::MaximumResidual { log_domain: false },
    ]
}

fn session(graph: &Arc<FactorGraph>, schedule: &Schedule, threads: usize) -> BeliefPropagation {
    let options = EngineOptions { threads: Some(threads), ..EngineOptions::default() };
    BeliefPropagation::new(graph.clone(), schedule.clone(), options).unwrap()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn same(
    a: &Result<RunReport, Error>, b: &Result<RunReport, Error>, what: &str,
) -> Result<(), TestCaseError> {
    // (How many messages an active set leaves out depends on what was faster.)
    let compared = |report: &RunReport| RunReport { spared_messages: 0, ..*report };
    match (a, b) {
        (Ok(a), Ok(b)) => prop_assert_eq!(compared(a), compared(b), "{}", what),
        (Err(a), Err(b)) => prop_assert_eq!(a.to_string(), b.to_string(), "{}", what),
        _ => prop_assert!(false, "{}: {:?} and {:?}", what, a, b),
    }
    Ok(())
}

type Streamed = Vec<Result<(RunReport, Vec<f64>), Error>>;

/// What is delivered of a batch; checks that it is in order.
fn streamed(
    session: &mut BeliefPropagation, entries: &[Evidence], request: &RunRequest,
) -> Streamed {
    let mut delivered = Vec::new();
    let digest = |number, result| (number, result);
    let deliver = |number, (digested, result)| {
        assert_eq!((number, number), (digested, delivered.len()));
        delivered.push(result);
        Control::Continue
    };
    let never = AtomicBool::new(false);
    session.run_batch_streamed(entries, request, &never, digest, deliver).unwrap();
    assert_eq!(delivered.len(), entries.len());
    delivered
}

/// Compares a batch, and a second one on the same engines, with runs one by one.
fn check(
    graph: &Arc<FactorGraph>, entries: &[Evidence], schedule: &Schedule, request: &RunRequest,
    threads: usize,
) -> Result<usize, TestCaseError> {
    let what = format!("{schedule:?} on {threads} threads");
    let mut alone = session(graph, schedule, 1);
    let mut batch = session(graph, schedule, threads);
    let results = batch.run_batch(entries, request).unwrap();
    let mut reversed = batch
        .run_batch(&entries.iter().rev().cloned().collect::<Vec<_>>(), request)
        .unwrap()
        .marginals;
    reversed = reversed.chunks(graph.state_count()).rev().flatten().copied().collect();
    prop_assert_eq!(bits(&results.marginals), bits(&reversed), "{}", what);
    let streamed = streamed(&mut batch, entries, request);
    for (number, (result, report)) in streamed.into_iter().zip(&results.reports).enumerate() {
        let marginals = result.as_ref().ok().map(|run| bits(&run.1));
        prop_assert_eq!(marginals, results.of_entry(number).map(bits), "{}", what);
        same(&result.map(|run| run.0), report, &what)?;
    }
    let mut failures = 0;
    for (number, evidence) in entries.iter().enumerate() {
        alone.set_evidence(evidence).unwrap();
        let report = alone.run(request);
        same(&results.reports[number], &report, &what)?;
        match report {
            Ok(_) => {
                let wanted = bits(alone.marginals().unwrap());
                prop_assert_eq!(bits(results.of_entry(number).unwrap()), wanted, "{}", what);
            }
            Err(_) => {
                failures += 1;
                prop_assert_eq!(results.of_entry(number), None);
                let states = graph.state_count();
                let marginals = &results.marginals[number * states..(number + 1) * states];
                prop_assert!(marginals.iter().all(|value| value.is_nan()));
            }
        }
    }
    Ok(failures)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_batch_is_its_entries_one_by_one(seed in any::<u64>()) {
        let choices = &mut Choices(seed);
        let graph = graph(choices);
        let entries: Vec<Evidence> = (0..7).map(|_| evidence(choices, &graph)).collect();
        let tolerance = StopRule::Tolerance { tolerance: 1e-6, max_iterations: 30 };
        let requests = [
            RunRequest::new(StopRule::Iterations(5)),
            RunRequest { contradiction: Contradiction::Vote, ..RunRequest::new(tolerance) },
            RunRequest { inference: Inference::MaxProduct, damping: 0.25, ..RunRequest::new(tolerance) },
        ];
        for schedule in &schedules() {
            for threads in [1, 2, 4] {
                check(&graph, &entries, schedule, &requests[choices.below(3)], threads)?;
            }
        }
        let active = RunRequest { active_threshold: Some(0.0), ..requests[0] };
        check(&graph, &entries, &Schedule::SequentialFixed, &active, 2)?;
    }
}

#[test]
fn the_random_graphs_have_contradictory_entries_and_others() {
    let (mut failures, mut all) = (0, 0);
    for seed in 0..40 {
        let choices = &mut Choices(seed);
        let graph = graph(choices);
        let entries: Vec<Evidence> = (0..7).map(|_| evidence(choices, &graph)).collect();
        let request = RunRequest::new(StopRule::Iterations(5));
        failures += check(&graph, &entries, &Schedule::Parallel, &request, 2).unwrap();
        all += entries.len();
    }
    assert!(failures > 5 && failures < all / 2, "{failures} of {all}");
}

#[test]
fn large_graphs_run_one_after_the_other_with_the_same_bits() {
    let generated = bingo(6000, 3).unwrap();
    let graph = Arc::new(generated.graph);
    let choices = &mut Choices(1);
    // Three entries on two threads: one after the other; eight of them: two at once.
    for (count, threads) in [(3, 2), (8, 2), (3, 4)] {
        let entries: Vec<Evidence> = (0..count).map(|_| evidence(choices, &graph)).collect();
        for schedule in [Schedule::Parallel, Schedule::Blocks { blocks: 4, seed: 1 }] {
            let request = RunRequest::new(StopRule::Iterations(6));
            check(&graph, &entries, &schedule, &request, threads).unwrap();
        }
    }
}

#[test]
fn the_session_stays_as_it_was() {
    let choices = &mut Choices(11);
    let graph = Arc::new(bingo(300, 4).unwrap().graph);
    for schedule in &schedules() {
        let mut bp = session(&graph, schedule, 2);
        bp.observe(5, 1).unwrap();
        let request = RunRequest::new(StopRule::Iterations(3));
        let report = bp.run(&request).unwrap();
        let (state, marginals) = (bp.save_state().unwrap(), bits(bp.marginals().unwrap()));
        let entries: Vec<Evidence> = (0..5).map(|_| evidence(choices, &graph)).collect();
        bp.run_batch(&entries, &request).unwrap();
        assert_eq!(bp.report(), Some(&report));
        assert_eq!(bits(bp.marginals().unwrap()), marginals);
        assert_eq!(bp.evidence().len(), 1);
        assert_eq!(bp.save_state().unwrap(), state);
        // A warm run goes on from where the session was.
        let mut other = session(&graph, schedule, 1);
        other.observe(5, 1).unwrap();
        let twice = RunRequest::new(StopRule::Iterations(6));
        other.run(&twice).unwrap();
        bp.run(&RunRequest { start: Start::Warm, ..request }).unwrap();
        assert_eq!(bits(bp.marginals().unwrap()), bits(other.marginals().unwrap()));
    }
}

#[test]
fn batches_follow_a_new_schedule() {
    let choices = &mut Choices(3);
    let graph = Arc::new(bingo(300, 9).unwrap().graph);
    let entries: Vec<Evidence> = (0..4).map(|_| evidence(choices, &graph)).collect();
    let request = RunRequest::new(StopRule::Iterations(2));
    let mut bp = session(&graph, &Schedule::Parallel, 2);
    bp.run_batch(&entries, &request).unwrap();
    bp.set_schedule(Schedule::SequentialFixed).unwrap();
    let results = bp.run_batch(&entries, &request).unwrap();
    let wanted = session(&graph, &Schedule::SequentialFixed, 1).run_batch(&entries, &request);
    assert_eq!(bits(&results.marginals), bits(&wanted.unwrap().marginals));
}

#[test]
fn what_a_batch_refuses() {
    let choices = &mut Choices(2);
    let graph = graph(choices);
    let mut bp = session(&graph, &Schedule::Parallel, 2);
    let request = RunRequest::new(StopRule::Iterations(1));
    let none = bp.run_batch(&[], &request).unwrap();
    assert!(none.marginals.is_empty() && none.reports.is_empty() && none.of_entry(0).is_none());
    let entries = vec![Evidence::new(); 3];
    let warm = RunRequest { start: Start::Warm, ..request };
    let error = bp.run_batch(&entries, &warm).unwrap_err();
    assert!(error.to_string().contains("Start::Fresh"), "{error}");
    let damped = RunRequest { damping: 1.5, ..request };
    assert!(matches!(bp.run_batch(&entries, &damped), Err(Error::InvalidArgument(_))));
    let mut large = FactorGraphBuilder::new();
    (0..1000).for_each(|label| large.add_prior(label, 0.5).unwrap());
    let mut foreign = Evidence::new();
    foreign.observe(&large.build().unwrap(), 999, 1).unwrap();
    let error = bp.run_batch(&[Evidence::new(), foreign], &request).unwrap_err();
    assert!(matches!(error, Error::OutOfRange(_)), "{error}");
    assert!(error.to_string().starts_with("entry 1: variable index 999"), "{error}");
}

#[test]
fn a_batch_can_be_cancelled() {
    let graph = Arc::new(bingo(300, 4).unwrap().graph);
    let entries = vec![Evidence::new(); 10];
    let request = RunRequest::new(StopRule::Iterations(20));
    for threads in [1, 3] {
        let mut bp = session(&graph, &Schedule::Parallel, threads);
        let mut calls = Vec::new();
        let results = bp
            .run_batch_monitored(&entries, &request, &mut |done, all| {
                calls.push((done, all));
                if done == 2 { Control::Cancel } else { Control::Continue }
            })
            .unwrap();
        assert_eq!(calls[..2], [(1, 10), (2, 10)]);
        let run = results.reports.iter().filter(|report| report.is_ok()).count();
        assert_eq!(run, calls.len());
        for (number, report) in results.reports.iter().enumerate() {
            match report {
                Ok(report) if report.reason == StopReason::Cancelled => {
                    assert!(report.iterations < 20);
                    assert!(results.of_entry(number).unwrap().iter().all(|p| !p.is_nan()));
                }
                Ok(report) => assert_eq!(report.iterations, 20),
                Err(error) => assert!(matches!(error, Error::NoResult(_)), "{error}"),
            }
        }
        if threads == 1 {
            assert_eq!(run, 2);
        }
        // The session is good for another batch.
        let results = bp.run_batch(&entries, &request).unwrap();
        assert!(results.reports.iter().all(|report| report.is_ok()));
    }
}

/// Without it, the entries would never end.
#[test]
fn a_flag_ends_a_batch_in_the_middle_of_its_entries() {
    let graph = Arc::new(bingo(300, 4).unwrap().graph);
    let entries = vec![Evidence::new(); 10];
    let endless = RunRequest::new(StopRule::Iterations(u64::MAX));
    for threads in [1, 3] {
        let mut bp = session(&graph, &Schedule::Parallel, threads);
        let cancelled = AtomicBool::new(false);
        let results = std::thread::scope(|scope| {
            scope.spawn(|| {
                // Entries most likely run by then; the test holds in any case.
                std::thread::sleep(std::time::Duration::from_millis(50));
                cancelled.store(true, Ordering::Relaxed);
            });
            bp.run_batch_cancellable(&entries, &endless, &cancelled, &mut |_, _| Control::Continue)
        });
        let results = results.unwrap();
        for (number, report) in results.reports.iter().enumerate() {
            match report {
                Ok(report) => {
                    assert_eq!(report.reason, StopReason::Cancelled);
                    assert!(results.of_entry(number).unwrap().iter().all(|p| !p.is_nan()));
                }
                Err(error) => assert!(matches!(error, Error::NoResult(_)), "{error}"),
            }
        }
        // A flag that is set before lets nothing begin.
        let monitor = &mut |_, _| Control::Continue;
        let none = bp.run_batch_cancellable(&entries, &endless, &cancelled, monitor).unwrap();
        assert!(none.reports.iter().all(|report| matches!(report, Err(Error::NoResult(_)))));
    }
}

/// In order, each once, and not much sooner than they can be delivered, on a graph that runs on one thread and on one that runs
/// on all.
#[test]
fn few_entries_of_a_stream_are_under_way() {
    for (variables, count, iterations) in [(100, 300, 2), (12_000, 40, 1)] {
        let graph = Arc::new(bingo(variables, 3).unwrap().graph);
        let choices = &mut Choices(5);
        let entries: Vec<Evidence> = (0..count).map(|_| evidence(choices, &graph)).collect();
        let voting = RunRequest {
            contradiction: Contradiction::Vote,
            ..RunRequest::new(StopRule::Iterations(iterations))
        };
        let mut wanted = session(&graph, &Schedule::Parallel, 1);
        let wanted = wanted.run_batch(&entries, &voting).unwrap();
        for threads in [1, 2, 3] {
            let mut bp = session(&graph, &Schedule::Parallel, threads);
            let (digested, mut delivered) = (AtomicUsize::new(0), 0);
            let digest = |_, result: Result<(RunReport, Vec<f64>), Error>| {
                digested.fetch_add(1, Ordering::Relaxed);
                bits(&result.unwrap().1)
            };
            let deliver = |number, marginals: Vec<u64>| {
                assert_eq!(number, delivered);
                assert_eq!(Some(marginals), wanted.of_entry(number).map(bits));
                delivered += 1;
                let ahead = digested.load(Ordering::Relaxed) - delivered;
                assert!(ahead < 4 * threads + threads, "{ahead} on {threads} threads");
                Control::Continue
            };
            let never = AtomicBool::new(false);
            bp.run_batch_streamed(&entries, &voting, &never, digest, deliver).unwrap();
            assert_eq!((digested.into_inner(), delivered), (count, count));
        }
    }
}

#[test]
fn a_stream_can_be_ended_by_whom_it_is_delivered_to() {
    let graph = Arc::new(bingo(300, 4).unwrap().graph);
    let entries = vec![Evidence::new(); 100];
    let request = RunRequest::new(StopRule::Iterations(20));
    for threads in [1, 3] {
        let mut bp = session(&graph, &Schedule::Parallel, threads);
        let cancelled = AtomicBool::new(false);
        let mut ends = Vec::new();
        let digest = |_, result: Result<(RunReport, Vec<f64>), Error>| result.map(|run| run.0);
        let deliver = |number, report| {
            assert_eq!(number, ends.len());
            ends.push(report);
            if number == 9 { Control::Cancel } else { Control::Continue }
        };
        bp.run_batch_streamed(&entries, &request, &cancelled, digest, deliver).unwrap();
        assert!(cancelled.into_inner());
        assert_eq!(ends.len(), 100);
        let run = ends.iter().filter(|end| end.is_ok()).count();
        assert!((10..10 + 4 * threads).contains(&run), "{run}");
        assert!(ends[..10].iter().all(|end| end.is_ok()));
        assert!(matches!(ends[99], Err(Error::NoResult(_))));
        // The session is good for another batch.
        assert!(streamed(&mut bp, &entries, &request).iter().all(|end| end.is_ok()));
    }
}

#[test]
fn whatever_panics_in_a_stream_reaches_the_caller() {
    let graph = Arc::new(bingo(300, 4).unwrap().graph);
    let entries = vec![Evidence::new(); 50];
    let request = RunRequest::new(StopRule::Iterations(2));
    for threads in [1, 3] {
        for in_digest in [false, true] {
            let mut bp = session(&graph, &Schedule::Parallel, threads);
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let digest = |number, _| assert!(!in_digest || number != 20, "on purpose");
                let deliver = |number, ()| {
                    assert!(in_digest || number != 20, "on purpose");
                    Control::Continue
                };
                bp.run_batch_streamed(&entries, &request, &AtomicBool::new(false), digest, deliver)
            }));
            assert!(outcome.is_err());
        }
    }
}

#[test]
fn many_graphs_run_as_each_would_alone() {
    let choices = &mut Choices(8);
    let graphs: Vec<Arc<FactorGraph>> =
        (0..30).map(|_| graph(choices)).chain([Arc::new(bingo(6000, 3).unwrap().graph)]).collect();
    let known: Vec<Evidence> = graphs.iter().map(|graph| evidence(choices, graph)).collect();
    let all = schedules();
    let request = RunRequest::new(StopRule::Iterations(4));
    for threads in [1, 2, 4] {
        let make = |threads: usize| -> Vec<BeliefPropagation> {
            let sessions = graphs.iter().zip(&known).enumerate();
            sessions
                .map(|(number, (graph, evidence))| {
                    let mut bp = session(graph, &all[number % all.len()], threads);
                    bp.set_evidence(evidence).unwrap();
                    bp
                })
                .collect()
        };
        let (mut together, mut alone) = (make(threads), make(1));
        let reports = run_all(&mut together, &request).unwrap();
        assert_eq!(reports.len(), graphs.len());
        let mut failures = 0;
        for (number, report) in reports.iter().enumerate() {
            let wanted = alone[number].run(&request);
            same(report, &wanted, &format!("session {number}")).unwrap();
            failures += usize::from(wanted.is_err());
            if wanted.is_ok() {
                let (a, b) = (together[number].marginals(), alone[number].marginals());
                assert_eq!(bits(a.unwrap()), bits(b.unwrap()));
            }
        }
        assert!(failures > 0 && failures < graphs.len() / 2, "{failures}");
    }
    assert!(run_all(&mut [], &request).unwrap().is_empty());
}

#[test]
fn many_graphs_can_be_cancelled() {
    let graph = Arc::new(bingo(100, 4).unwrap().graph);
    let mut sessions: Vec<BeliefPropagation> =
        (0..6).map(|_| session(&graph, &Schedule::Parallel, 1)).collect();
    let request = RunRequest::new(StopRule::Iterations(3));
    let reports = run_all_monitored(&mut sessions, &request, &mut |done, all| {
        assert_eq!(all, 6);
        if done == 4 { Control::Cancel } else { Control::Continue }
    });
    let reports = reports.unwrap();
    assert_eq!(reports.iter().filter(|report| report.is_ok()).count(), 4);
    assert!(matches!(reports[5], Err(Error::NoResult(_))));
    assert!(sessions[3].report().is_some() && sessions[4].report().is_none());
}
