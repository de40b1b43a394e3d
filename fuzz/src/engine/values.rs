//! Values against a plain implementation, and on graphs without cycles against sums over all joint
//! states.

use super::case::Case;
use super::number::Number;
use super::reference::{Contradiction, Distribution, Reference, enumerate};
use super::{count, session};
use fastlbp::{
    BeliefPropagation, Contradiction as Policy, Error, Inference, RunRequest, Schedule, StopRule,
    VariableEvidence,
};

/// Largest relative difference.
const TOLERANCE: f64 = 1e-12;
/// The same where powers are taken, of logarithms here, or values are differences.
const WIDER: f64 = 1e-10;
/// Probabilities below it need not be right by their ratio: they are rounded to what `f64` holds.
const SMALLEST: f64 = 1e-290;
pub fn check(case: &Case) {
    let mut reference = Reference::new(case);
    let wanted = (0..case.iterations).try_for_each(|iteration| {
        reference
            .iteration(&case.schedule.preorder(&case.model.graph, iteration).expect("a preorder"))
    });
    let wanted = wanted.and_then(|()| reference.beliefs());
    let mut bp = session(case, &case.schedule, 1);
    let strict = RunRequest { contradiction: Policy::Error, ..case.request(case.iterations) };
    match (wanted, bp.run(&strict)) {
        (_, result) if excluded(case) => {
            let noticed = matches!(result, Err(Error::Contradiction { .. }));
            assert!(noticed, "impossible evidence: {result:?}");
        }
        (Ok(wanted), result) => {
            result.unwrap_or_else(|error| panic!("the definition has no such thing: {error}"));
            count();
            compare_beliefs(case, &bp, &wanted);
            compare_messages(case, &bp, &reference.messages);
        }
        // What shows through several factors, in the course of an iteration, may go unnoticed; a vote has
        // decided, and the results are probabilities.
        (Err(Contradiction), Ok(_)) => check_probabilities(&bp),
        (
            Err(Contradiction),
            Err(Error::Contradiction { variable, label, iteration, count, .. }),
        ) => {
            assert_eq!(case.model.graph.label(variable), label);
            assert!((1..=case.iterations).contains(&iteration) && count > 0);
        }
        (Err(Contradiction), Err(error)) => panic!("{error}"),
    }
    if case.tree {
        check_tree(case);
    }
}

/// Whether a factor all of whose variables are observed is 0 there.
fn excluded(case: &Case) -> bool {
    case.model.factors.iter().any(|factor| {
        let mut index = 0;
        for (&v, &r) in factor.variables.iter().zip(&factor.cardinalities).rev() {
            let Some(VariableEvidence::Observed(state)) = &case.evidence[v] else { return false };
            index = index * r + *state as usize;
        }
        factor.values[index] == 0.0
    })
}

fn tolerance(case: &Case) -> f64 {
    if case.damping > 0.0 || case.negative { WIDER } else { TOLERANCE }
}

fn compare(got: &[f64], wanted: &[Number], tolerance: f64, what: &dyn std::fmt::Display) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (state, (&got, &exact)) in got.iter().zip(wanted).enumerate() {
        let wanted = exact.to_f64();
        // Not `> tolerance`: a NaN must fail.
        let close = (got - wanted).abs() <= tolerance * wanted.max(SMALLEST);
        assert!(close, "{what}, state {state}: {got:e} instead of {wanted:e}");
        assert!(got > 0.0 || wanted < 1e-300, "{what}, state {state}: 0 instead of {wanted:e}");
    }
}

fn compare_beliefs(case: &Case, bp: &BeliefPropagation, wanted: &[Distribution]) {
    for (variable, wanted) in wanted.iter().enumerate() {
        let got = bp.marginal(variable).expect("results");
        compare(got, wanted, tolerance(case), &format_args!("variable {variable}"));
    }
}

fn compare_messages(case: &Case, bp: &BeliefPropagation, wanted: &[Distribution]) {
    let got = bp.messages().expect("memory");
    let mut rest = &got[..];
    for (edge, wanted) in wanted.iter().enumerate() {
        let (message, others) = rest.split_at(wanted.len());
        rest = others;
        compare(message, wanted, tolerance(case), &format_args!("message {edge}"));
    }
}

fn check_probabilities(bp: &BeliefPropagation) {
    for variable in 0..bp.graph().variable_count() {
        let belief = bp.marginal(variable).expect("results");
        let sum: f64 = belief.iter().sum();
        let valid = belief.iter().all(|p| (0.0..=1.0).contains(p)) && (sum - 1.0).abs() < 1e-12;
        assert!(valid, "variable {variable}: {belief:?}");
    }
}

/// On a graph without cycles one iteration of TREE is exact, and so is any schedule after enough iterations.
fn check_tree(case: &Case) {
    let exact = enumerate(case);
    let enough = 2 * case.model.graph.edge_count() as u64 + 2;
    let log_domain = case.iterations.is_multiple_of(2);
    let other = match case.iterations {
        1 | 2 => case.schedule.clone(),
        _ => Schedule::MaximumResidual { log_domain },
    };
    for (schedule, iterations) in [(Schedule::Tree, 1), (other, enough)] {
        let mut bp = session(case, &schedule, 1);
        let residual = matches!(schedule, Schedule::MaximumResidual { .. });
        let rule = if residual {
            StopRule::Tolerance { tolerance: 0.0, max_iterations: iterations }
        } else {
            StopRule::Iterations(iterations)
        };
        let request = RunRequest { inference: case.inference, ..RunRequest::new(rule) };
        let result = bp.run(&request);
        let Some(marginals) = &exact.marginals else {
            match result {
                Ok(report) => panic!("impossible evidence on a tree: {report:?}"),
                Err(Error::Contradiction { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            continue;
        };
        match result {
            Ok(_) => {}
            Err(error) => panic!("{} on a tree: {error}", schedule.name()),
        }
        count();
        let name = schedule.name();
        for (variable, wanted) in marginals.iter().enumerate() {
            let got = bp.marginal(variable).expect("results");
            let tolerance = if case.negative { WIDER } else { TOLERANCE };
            compare(got, wanted, tolerance, &format_args!("{name} on a tree, variable {variable}"));
        }
        check_numbers(case, &mut bp, &exact);
    }
}

/// The log-partition, or the decoded joint state.
fn check_numbers(case: &Case, bp: &mut BeliefPropagation, exact: &super::reference::Exact) {
    let close = |got: f64, wanted: f64, what: &str| {
        let close = (got - wanted).abs() <= 1e-9 * wanted.abs().max(1.0);
        assert!(close, "{what}: {got} instead of {wanted}");
    };
    let ln = |number: Number| number.log2() * std::f64::consts::LN_2;
    if case.inference == Inference::MaxProduct {
        let states = bp.find_maximum().expect("a joint state");
        close(bp.log_score(&states).expect("a score"), ln(exact.highest), "score");
        return;
    }
    close(bp.log_partition().expect("a number"), ln(exact.total), "log-partition");
}
