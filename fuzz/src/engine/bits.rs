//! Bits: an iteration must give those of updating one class of edges after the other, and whatever does not
//! change what is computed must not change a bit.

use super::case::Case;
use super::{bits_of, count, session};
use crate::choices::Choices;
use fastlbp::{
    BeliefPropagation, Evidence, RunReport, RunRequest, Schedule, Start, StopRule, VariableEvidence,
};

/// Words that a saved state begins with.
const STATE_HEADER: usize = 6;

/// Places of the words of each edge in a saved state: behind what it begins with, edge by edge, one
/// word for a binary variable, otherwise one per state.
fn words_of_edges(bp: &BeliefPropagation) -> Vec<std::ops::Range<usize>> {
    let graph = bp.graph();
    let words = graph.edge_variables().iter().map(|&v| match graph.cardinality(v as usize) {
        2 => 1,
        r => r,
    });
    let mut next = STATE_HEADER;
    words
        .map(|count| {
            next += count;
            next - count..next
        })
        .collect()
}

/// Runs the iterations of a case class by class: all messages from one state, of which only those of the
/// class are kept. Returns the state.
fn by_classes(case: &Case) -> Vec<u64> {
    let mut bp = session(case, &Schedule::Parallel, 1);
    let places = words_of_edges(&bp);
    let request = RunRequest { start: Start::Warm, ..case.request(1) };
    let mut state = bp.save_state().unwrap();
    for iteration in 0..case.iterations {
        let preorder = case.schedule.preorder(&case.model.graph, iteration).expect("a preorder");
        let (order, starts) = preorder.classes().unwrap();
        for class in starts.windows(2) {
            bp.restore_state(&state).expect("a state that was saved");
            bp.run(&request).expect("an iteration");
            let new = bp.save_state().unwrap();
            for &edge in &order[class[0] as usize..class[1] as usize] {
                let place = places[edge as usize].clone();
                state[place.clone()].copy_from_slice(&new[place]);
            }
            seal(&mut state);
        }
    }
    state
}

/// Sets the checksum that ends a state whose messages were replaced: FNV-1a over words, with the high half folded in.
fn seal(state: &mut [u64]) {
    if let Some((sum, words)) = state.split_last_mut() {
        *sum = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
            let product = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
            product ^ product >> 32
        });
    }
}

/// The words of the messages in a state.
fn messages(bp: &BeliefPropagation, state: &[u64]) -> Vec<u64> {
    words_of_edges(bp).into_iter().flat_map(|place| state[place].to_vec()).collect()
}

fn same(bp: &BeliefPropagation, other: &BeliefPropagation, what: &str) {
    count();
    let (one, two) = (bp.save_state().unwrap(), other.save_state().unwrap());
    assert!(messages(bp, &one) == messages(bp, &two), "{what}: other messages");
    same_results(bp, other, what);
}

fn same_results(bp: &BeliefPropagation, other: &BeliefPropagation, what: &str) {
    let results = |bp: &BeliefPropagation| bits_of(bp.marginals().expect("results"));
    assert!(results(bp) == results(other), "{what}: other marginals");
}

fn run(bp: &mut BeliefPropagation, request: &RunRequest) -> RunReport {
    bp.run(request).unwrap_or_else(|error| panic!("{request:?}: {error}"))
}

pub fn check(case: &Case, choices: &mut Choices) {
    let whole = case.request(case.iterations);
    let mut bp = session(case, &case.schedule, 1);
    let report = run(&mut bp, &whole);
    assert_eq!(report.iterations, case.iterations);
    let wanted = by_classes(case);
    count();
    assert!(
        messages(&bp, &bp.save_state().unwrap()) == messages(&bp, &wanted),
        "{}: not the bits of one class at a time",
        case.schedule.name()
    );
    if case.damping == 0.0 {
        // Beliefs from those messages.
        let mut restored = session(case, &Schedule::Parallel, 1);
        restored.restore_state(&wanted).expect("a state");
        run(&mut restored, &RunRequest { start: Start::Warm, ..case.request(0) });
        same_results(&bp, &restored, "beliefs");
    }
    // One of these, so that an input is soon done with.
    match choices.below(7) {
        0 => {
            // More threads than the graph has use for: see `copies` for real ones.
            let mut threads = session(case, &case.schedule, 2 + choices.below(3));
            assert_eq!(run(&mut threads, &whole), report);
            same(&bp, &threads, "threads");
        }
        1 => check_parts(case, &bp, choices),
        2 => check_tolerance(case, choices),
        3 => check_rules(case, choices),
        4 => check_batch(case, &bp),
        5 => {
            check_evidence(case);
            check_factors(&bp);
        }
        _ => check_residual(case, choices),
    }
}

/// Some iterations and then the others, in one session and by a saved state in another one.
fn check_parts(case: &Case, bp: &BeliefPropagation, choices: &mut Choices) {
    let first = choices.below(case.iterations as usize + 1) as u64;
    let warm = RunRequest { start: Start::Warm, ..case.request(case.iterations - first) };
    let mut parts = session(case, &case.schedule, 1);
    run(&mut parts, &case.request(first));
    let saved = parts.save_state().unwrap();
    let report = run(&mut parts, &warm);
    assert_eq!(report.total_iterations, case.iterations);
    let mut resumed = session(case, &case.schedule, 1);
    resumed.restore_state(&saved).expect("a state that was saved");
    assert!(resumed.save_state().unwrap() == saved, "a state restored is another one");
    run(&mut resumed, &warm);
    // With damping, beliefs are of what was computed last, and no iteration computes nothing.
    if first < case.iterations {
        same(bp, &parts, "in parts");
        same(bp, &resumed, "resumed");
    }
    if case.damping == 0.0 {
        same(bp, &parts, "in parts without damping");
        let active = RunRequest { active_threshold: Some(0.0), ..case.request(case.iterations) };
        let mut spared = session(case, &case.schedule, 1);
        run(&mut spared, &active);
        same(bp, &spared, "active set");
    }
}

/// Tolerances of stop rules.
const TOLERANCES: [f64; 6] = [0.0, 1e-12, 1e-6, 1e-3, 0.1, 1.0];
/// Iterations of runs that stop by a rule.
const MOST_ITERATIONS: u64 = 4;

/// A tolerance changes no message, and ends the run where its definition says.
fn check_tolerance(case: &Case, choices: &mut Choices) {
    let tolerance = choices.pick(&TOLERANCES);
    let most = MOST_ITERATIONS;
    // Beliefs after each iteration.
    let mut steps = session(case, &case.schedule, 1);
    let mut beliefs: Vec<f64> = Vec::new();
    let mut wanted = most;
    let mut largest = f64::INFINITY;
    let mut sessions = Vec::new();
    for iteration in 1..=most {
        let start = if iteration == 1 { Start::Fresh } else { Start::Warm };
        run(&mut steps, &RunRequest { start, ..case.request(1) });
        let new = steps.marginals().expect("results").to_vec();
        let old = if iteration == 1 { uniform(case) } else { beliefs };
        largest = largest_change(case, &old, &new);
        beliefs = new;
        sessions.push(steps.save_state().unwrap());
        if largest <= tolerance {
            wanted = iteration;
            break;
        }
    }
    let request = |rule| RunRequest { rule, ..case.request(0) };
    let rule = StopRule::Tolerance { tolerance, max_iterations: most };
    let mut bp = session(case, &case.schedule, 1);
    let report = run(&mut bp, &request(rule));
    assert_eq!(
        report.iterations, wanted,
        "{rule:?}: {report:?}, the largest change is {largest:e}"
    );
    assert_eq!(report.max_diff.to_bits(), largest.to_bits(), "{rule:?}");
    assert_eq!(report.converged, largest <= tolerance);
    count();
    let words = messages(&bp, &bp.save_state().unwrap());
    assert!(words == messages(&bp, &sessions[wanted as usize - 1]), "{rule:?}: other messages");
    assert_eq!(bits_of(bp.marginals().expect("results")), bits_of(&beliefs));
}

/// The other rules change no message either, and give the same on threads.
fn check_rules(case: &Case, choices: &mut Choices) {
    let tolerance = choices.pick(&TOLERANCES);
    let request = |rule| RunRequest { rule, ..case.request(0) };
    let min_iterations = choices.below(3) as u64;
    let others = [
        StopRule::AllBeliefs { tolerance, max_iterations: MOST_ITERATIONS },
        StopRule::Bingo {
            tolerance,
            min_iterations,
            max_iterations: min_iterations + choices.below(4) as u64,
            history: 1 + choices.below(3) as u64,
        },
    ];
    for rule in others {
        let mut one = session(case, &case.schedule, 1);
        let report = run(&mut one, &request(rule));
        assert!(
            report.iterations <= rule.most_iterations()
                && (0.0..=1.0).contains(&report.active_fraction)
        );
        let mut two = session(case, &case.schedule, 3);
        assert_eq!(run(&mut two, &request(rule)), report, "{rule:?}");
        same(&one, &two, "rules on threads");
        let mut iterations = session(case, &case.schedule, 1);
        run(&mut iterations, &case.request(report.iterations));
        count();
        let (one, two) = (one.save_state().unwrap(), iterations.save_state().unwrap());
        assert!(
            messages(&iterations, &one) == messages(&iterations, &two),
            "{rule:?}: other messages"
        );
    }
}

/// Largest change of a probability; that of a binary variable is of its state 1.
fn largest_change(case: &Case, old: &[f64], new: &[f64]) -> f64 {
    let mut changes = old.iter().zip(new).map(|(a, b)| (a - b).abs());
    let each = case.cardinalities.iter().map(|&r| {
        let states = changes.by_ref().take(r).collect::<Vec<f64>>();
        if r == 2 { states[1] } else { states.into_iter().fold(0.0, f64::max) }
    });
    each.fold(0.0, f64::max)
}

/// What a fresh run compares the beliefs of its first iteration with.
fn uniform(case: &Case) -> Vec<f64> {
    case.cardinalities.iter().flat_map(|&r| vec![1.0 / r as f64; r]).collect()
}

/// A batch gives what runs one by one give, and leaves the session as it was.
fn check_batch(case: &Case, bp: &BeliefPropagation) {
    let mut evidence = Evidence::new();
    for (variable, known) in case.evidence.iter().enumerate() {
        match known {
            Some(VariableEvidence::Observed(state)) => {
                evidence.observe(&case.model.graph, variable, *state as usize).expect("a state");
            }
            Some(VariableEvidence::Likelihood(likelihood)) => {
                evidence.set_likelihood(&case.model.graph, variable, likelihood).expect("weights");
            }
            None => {}
        }
    }
    let mut batch = session(case, &case.schedule, 2);
    let before = batch.save_state().unwrap();
    let entries = [Evidence::new(), evidence];
    let results = batch.run_batch(&entries, &case.request(case.iterations)).expect("a batch");
    assert!(batch.save_state().unwrap() == before, "a batch changed the session");
    count();
    let own = results.of_entry(1).expect("an entry without an error");
    assert_eq!(bits_of(own), bits_of(bp.marginals().expect("results")), "a batch");
    let bare = bare(case);
    let without = results.of_entry(0).expect("an entry without an error");
    assert_eq!(bits_of(without), bits_of(bare.marginals().expect("results")), "a batch");
}

/// A session without evidence, after its iterations.
fn bare(case: &Case) -> BeliefPropagation {
    let none = vec![None; case.evidence.len()];
    let (graph, schedule) = (&case.model.graph, case.schedule.clone());
    let mut bp = super::session_on(graph, schedule, 1, case.compile_tables, &none);
    run(&mut bp, &case.request(case.iterations));
    bp
}

/// Evidence that is cleared leaves no trace.
fn check_evidence(case: &Case) {
    let mut bp = session(case, &case.schedule, 1);
    run(&mut bp, &case.request(1));
    for variable in 0..case.evidence.len() {
        bp.clear_evidence(variable).expect("a variable");
    }
    run(&mut bp, &case.request(case.iterations));
    same(&bp, &bare(case), "evidence that was cleared");
}

/// SEQMAX goes on where it was.
fn check_residual(case: &Case, choices: &mut Choices) {
    let schedule = Schedule::MaximumResidual { log_domain: choices.flag() };
    let mut long = session(case, &schedule, 1);
    run(&mut long, &case.request(2));
    let mut parts = session(case, &schedule, 2);
    run(&mut parts, &case.request(1));
    let saved = parts.save_state().unwrap();
    let warm = RunRequest { start: Start::Warm, ..case.request(1) };
    run(&mut parts, &warm);
    same(&long, &parts, "SEQMAX in parts");
    let mut resumed = session(case, &schedule, 1);
    resumed.restore_state(&saved).expect("a state that was saved");
    run(&mut resumed, &warm);
    same(&long, &resumed, "SEQMAX resumed");
}

/// Beliefs of factors agree with their entries one by one.
fn check_factors(bp: &BeliefPropagation) {
    for factor in 0..bp.graph().factor_count() {
        let Ok(belief) = bp.factor_belief(factor) else { continue };
        let sum: f64 = belief.iter().sum();
        assert!((sum - 1.0).abs() < 1e-12, "factor {factor}: {belief:?}");
        for (index, &wanted) in belief.iter().enumerate() {
            let got = bp.factor_belief_at(factor, index as u64).expect("an entry");
            assert!(got <= 1.0, "factor {factor}, entry {index}: {got:e}");
            let close = (got - wanted).abs() <= 1e-12 * wanted.max(1e-290);
            assert!(close, "factor {factor}, entry {index}: {got:e} and {wanted:e}");
        }
    }
}
