//! On factor graphs without loops one pass of TREE, and on polytrees without evidence one pass of
//! TOPO or FWDBWD, gives the exact marginals: compared with sums over all joint states.

use fastlbp::model::{Factor, FactorKind};
use fastlbp::{
    BeliefPropagation, EngineOptions, Error, FactorGraph, FactorGraphBuilder, RunRequest, Schedule,
    StopRule, VariableEvidence,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};
use std::sync::Arc;

/// Largest difference of a variable's belief from the exact one.
const VARIABLE: f64 = 1e-13;
/// Largest difference of an entry of a factor's belief from the exact one.
const FACTOR: f64 = 1e-12;

/// Largest number of variables.
const VARIABLES: usize = 12;
/// Largest number of joint states: each one is visited.
const JOINT_STATES: usize = 1 << 15;

/// Random choices, one after the other: proptest shrinks them towards zero and a shorter list, after
/// whose end all choices are 0.
struct Choices<'a> {
    numbers: std::slice::Iter<'a, u64>,
}

impl<'a> Choices<'a> {
    fn new(numbers: &'a [u64]) -> Self {
        Self { numbers: numbers.iter() }
    }

    fn number(&mut self) -> u64 {
        self.numbers.next().copied().unwrap_or_default()
    }

    /// A number below `count`.
    fn below(&mut self, count: usize) -> usize {
        (self.number() % count as u64) as usize
    }

    /// A probability: certain with a chance of about one in four, else any.
    fn probability(&mut self) -> f64 {
        match self.below(8) {
            0 => 1.0,
            1 => 0.0,
            _ => (self.number() >> 11) as f64 / (1_u64 << 53) as f64,
        }
    }

    /// Weights, not all zero.
    fn weights(&mut self, count: usize) -> Vec<f64> {
        let mut weights: Vec<f64> = (0..count).map(|_| self.probability()).collect();
        if weights.iter().all(|&weight| weight == 0.0) {
            weights[0] = 1.0;
        }
        weights
    }
}

/// Labels with gaps, in an order of their own, so that positions in a factor vary.
fn labels(choices: &mut Choices, count: usize) -> Vec<u64> {
    let mut labels: Vec<u64> = (0..count as u64).map(|label| 3 * label + 5).collect();
    for last in (1..count).rev() {
        labels.swap(last, choices.below(last + 1));
    }
    labels
}

/// A factor graph without loops, of one component or more: each factor joins variables of which no
/// two are connected yet. With `tables` variables have 2 to 4 states.
fn forest(choices: &mut Choices, tables: bool) -> FactorGraph {
    let count = 1 + choices.below(VARIABLES);
    let labels = labels(choices, count);
    let mut builder = FactorGraphBuilder::new();
    let mut joint_states = 1;
    let mut cardinalities = Vec::new();
    for (variable, &label) in labels.iter().enumerate() {
        let mut cardinality = if tables { 2 + choices.below(6).saturating_sub(3) } else { 2 };
        // Room for two states of each variable that is to come.
        if (joint_states * cardinality) << (count - variable - 1) > JOINT_STATES {
            cardinality = 2;
        }
        joint_states *= cardinality;
        cardinalities.push(cardinality);
        builder.add_variable(label, cardinality).unwrap();
    }
    let mut component: Vec<usize> = (0..count).collect();
    for _ in 0..2 * count {
        // Variables of distinct components.
        let mut scope: Vec<usize> = Vec::new();
        for _ in 0..choices.below(5) + 1 {
            let variable = choices.below(count);
            if scope.iter().all(|&other| component[other] != component[variable]) {
                scope.push(variable);
            }
        }
        let joined: Vec<usize> = scope.iter().map(|&variable| component[variable]).collect();
        for entry in &mut component {
            if joined.contains(entry) {
                *entry = joined[0];
            }
        }
        let names: Vec<u64> = scope.iter().map(|&variable| labels[variable]).collect();
        let binary = scope.iter().all(|&variable| cardinalities[variable] == 2);
        match choices.below(4) {
            0 if binary => {
                let (p, q) = (choices.probability(), choices.probability());
                builder.add_and(names[0], &names[1..], p, q).unwrap();
            }
            1 if binary => {
                let (p, q) = (choices.probability(), choices.probability());
                builder.add_or(names[0], &names[1..], p, q).unwrap();
            }
            2 if cardinalities[scope[0]] == 2 => {
                builder.add_singleton(names[0], choices.probability()).unwrap();
            }
            _ if tables => {
                let size = scope.iter().map(|&variable| cardinalities[variable]).product();
                builder.add_table(&names, &choices.weights(size)).unwrap();
            }
            _ => builder.add_and(names[0], &names[1..], choices.probability(), 0.5).unwrap(),
        }
    }
    builder.build().unwrap()
}

/// A polytree as program analyses give it: each variable heads one factor at most, and its body and
/// it were not connected before.
fn polytree(choices: &mut Choices) -> FactorGraph {
    let count = 1 + choices.below(VARIABLES);
    let labels = labels(choices, count);
    let mut component: Vec<usize> = (0..count).collect();
    let mut builder = FactorGraphBuilder::new();
    for head in 0..count {
        let mut body: Vec<usize> = Vec::new();
        for _ in 0..choices.below(4) {
            let variable = choices.below(count);
            let apart = |&other: &usize| component[other] != component[variable];
            if apart(&head) && body.iter().all(apart) {
                body.push(variable);
            }
        }
        for &variable in &body {
            let (old, new) = (component[variable], component[head]);
            component.iter_mut().filter(|entry| **entry == old).for_each(|entry| *entry = new);
        }
        let names: Vec<u64> = body.iter().map(|&variable| labels[variable]).collect();
        let (p, q) = (choices.probability(), choices.probability());
        let kind = if body.is_empty() {
            FactorKind::Singleton
        } else {
            [FactorKind::And, FactorKind::Or][choices.below(2)]
        };
        builder.add_horn(kind, labels[head], &names, p, q).unwrap();
    }
    builder.build().unwrap()
}

/// The exact marginals: sums of the product of all factors and the evidence over all joint states.
struct Exact {
    /// Probabilities of the states of each variable; not normalised if `total` is 0.
    variables: Vec<Vec<f64>>,
    /// Of each factor, the first variable fastest.
    factors: Vec<Vec<f64>>,
    /// Sum over all joint states: 0 if the evidence is impossible.
    total: f64,
}

fn enumerate(graph: &FactorGraph, evidence: &[Option<VariableEvidence>]) -> Exact {
    let cardinality = |variable: u32| graph.cardinality(variable as usize);
    let factors: Vec<Factor> = (0..graph.factor_count()).map(|f| graph.factor(f)).collect();
    let mut exact = Exact {
        variables: graph.cardinalities().iter().map(|&r| vec![0.0; r as usize]).collect(),
        factors: (0..graph.factor_count())
            .map(|f| {
                let scope = graph.factor_variables(f).iter();
                vec![0.0; scope.map(|&v| cardinality(v)).product()]
            })
            .collect(),
        total: 0.0,
    };
    let mut states = vec![0_usize; graph.variable_count()];
    let mut indices = vec![0; factors.len()];
    loop {
        let mut weight = 1.0;
        for (evidence, &state) in evidence.iter().zip(&states) {
            weight *= match evidence {
                None => 1.0,
                Some(VariableEvidence::Observed(observed)) => f64::from(*observed == state as u32),
                Some(VariableEvidence::Likelihood(likelihood)) => likelihood[state],
            };
        }
        for (f, factor) in factors.iter().enumerate() {
            let scope = graph.factor_variables(f);
            let local: Vec<usize> = scope.iter().map(|&v| states[v as usize]).collect();
            weight *= factor.value(&local, scope.iter().map(|&v| cardinality(v)));
            let digits = local.iter().zip(scope).rev();
            indices[f] = digits.fold(0, |index, (&state, &v)| index * cardinality(v) + state);
        }
        exact.total += weight;
        for (sums, &state) in exact.variables.iter_mut().zip(&states) {
            sums[state] += weight;
        }
        for (sums, &index) in exact.factors.iter_mut().zip(&indices) {
            sums[index] += weight;
        }
        // The next joint state.
        let Some(next) = (0..states.len()).find(|&v| states[v] + 1 < graph.cardinality(v)) else {
            break;
        };
        states[next] += 1;
        states[..next].fill(0);
    }
    if exact.total > 0.0 {
        for sum in exact.variables.iter_mut().chain(&mut exact.factors).flatten() {
            *sum /= exact.total;
        }
    }
    exact
}

/// Evidence on a few variables, hard and soft.
fn random_evidence(choices: &mut Choices, graph: &FactorGraph) -> Vec<Option<VariableEvidence>> {
    let cardinalities = graph.cardinalities().iter();
    let evidence = cardinalities.map(|&cardinality| match choices.below(6) {
        0 => Some(VariableEvidence::Observed(choices.below(cardinality as usize) as u32)),
        1 => Some(VariableEvidence::Likelihood(choices.weights(cardinality as usize))),
        _ => None,
    });
    evidence.collect()
}

fn session(
    graph: &Arc<FactorGraph>,
    schedule: Schedule,
    threads: usize,
    evidence: &[Option<VariableEvidence>],
) -> BeliefPropagation {
    let options = EngineOptions { threads: Some(threads), ..Default::default() };
    let mut bp = BeliefPropagation::new(graph.clone(), schedule, options).unwrap();
    for (variable, evidence) in evidence.iter().enumerate() {
        match evidence {
            None => {}
            Some(VariableEvidence::Observed(state)) => {
                bp.observe(variable, *state as usize).unwrap();
            }
            Some(VariableEvidence::Likelihood(likelihood)) => {
                bp.set_likelihood(variable, likelihood).unwrap();
            }
        }
    }
    bp
}

/// Compares what a session gives with the exact values.
fn check(got: &[f64], wanted: &[f64], tolerance: f64, what: &str) -> Result<(), TestCaseError> {
    prop_assert_eq!(got.len(), wanted.len(), "{}", what);
    for (state, (&got, &wanted)) in got.iter().zip(wanted).enumerate() {
        // Not `> tolerance`: a NaN must fail.
        let close = (got - wanted).abs() <= tolerance;
        prop_assert!(close, "{what}, state {state}: {got:e} instead of {wanted:e}");
    }
    Ok(())
}

fn check_beliefs(bp: &BeliefPropagation, exact: &Exact) -> Result<(), TestCaseError> {
    for (variable, wanted) in exact.variables.iter().enumerate() {
        let label = bp.graph().label(variable);
        check(bp.marginal(variable).unwrap(), wanted, VARIABLE, &format!("variable {label}"))?;
    }
    Ok(())
}

fn check_factor_beliefs(bp: &BeliefPropagation, exact: &Exact) -> Result<(), TestCaseError> {
    for (factor, wanted) in exact.factors.iter().enumerate() {
        let got = bp.factor_belief(factor).unwrap();
        check(&got, wanted, FACTOR, &format!("factor {factor}"))?;
    }
    Ok(())
}

/// The smallest probability of the evidence for which 1e-13 is asked. Below it the sums over all
/// joint states would still be right, as no terms are subtracted, but could leave the normal numbers.
const SMALLEST: f64 = 1e-290;

fn one_pass() -> RunRequest {
    RunRequest::new(StopRule::Passes(1))
}

proptest! {
    #![proptest_config(Config::with_cases(400))]

    #[test]
    fn one_pass_of_tree_is_exact_with_any_evidence(
        numbers in prop::collection::vec(any::<u64>(), 0..400),
        tables: bool,
    ) {
        let choices = &mut Choices::new(&numbers);
        let graph = Arc::new(forest(choices, tables));
        let mut evidence = random_evidence(choices, &graph);
        let mut exact = enumerate(&graph, &evidence);
        if exact.total < SMALLEST {
            evidence.fill(None);
            exact = enumerate(&graph, &evidence);
        }
        for threads in [1, 2] {
            let mut bp = session(&graph, Schedule::Tree, threads, &evidence);
            let result = bp.run(&one_pass());
            if exact.total == 0.0 {
                // Impossible even without evidence.
                let contradiction = matches!(result, Err(Error::Contradiction { .. }));
                prop_assert!(contradiction, "{result:?}");
            } else if exact.total >= SMALLEST {
                result.unwrap();
                check_beliefs(&bp, &exact)?;
                check_factor_beliefs(&bp, &exact)?;
            }
        }
    }

    #[test]
    fn one_pass_along_the_arcs_is_exact_on_polytrees_without_evidence(
        numbers in prop::collection::vec(any::<u64>(), 0..200),
    ) {
        let graph = Arc::new(polytree(&mut Choices::new(&numbers)));
        let evidence = vec![None; graph.variable_count()];
        let exact = enumerate(&graph, &evidence);
        // Each factor is a conditional distribution of its head.
        prop_assert!((exact.total - 1.0).abs() < 1e-12, "{}", exact.total);
        for threads in [1, 2] {
            for schedule in [Schedule::Topological, Schedule::ForwardBackward] {
                let mut bp = session(&graph, schedule, threads, &evidence);
                bp.run(&one_pass()).unwrap();
                check_beliefs(&bp, &exact)?;
            }
        }
    }

    /// Certain evidence that the factors rule out is an error that names a variable, never a NaN
    /// and never a result. An observed variable is in its state whatever its factors say, so that
    /// the other direction holds for likelihoods alone.
    #[test]
    fn impossible_evidence_is_a_contradiction(
        numbers in prop::collection::vec(any::<u64>(), 0..100),
        hard: bool,
    ) {
        let choices = &mut Choices::new(&numbers);
        let graph = Arc::new(polytree(choices));
        let evidence = (0..graph.variable_count()).map(|_| match choices.below(4) {
            state @ (0 | 1) if hard => Some(VariableEvidence::Observed(state as u32)),
            0 => Some(VariableEvidence::Likelihood(vec![1.0, 0.0])),
            1 => Some(VariableEvidence::Likelihood(vec![0.0, 1.0])),
            _ => None,
        });
        let evidence: Vec<_> = evidence.collect();
        let exact = enumerate(&graph, &evidence);
        let mut bp = session(&graph, Schedule::Tree, 1, &evidence);
        match bp.run(&one_pass()) {
            Ok(_) if exact.total > 0.0 => check_beliefs(&bp, &exact)?,
            Ok(_) => {
                prop_assert!(hard, "impossible evidence was not noticed");
                for belief in bp.marginals().unwrap().chunks(2) {
                    prop_assert!((belief[0] + belief[1] - 1.0).abs() < 1e-15, "{belief:?}");
                }
            }
            Err(Error::Contradiction { label, variable, pass, count }) => {
                prop_assert_eq!(exact.total, 0.0);
                prop_assert_eq!((graph.label(variable), pass), (label, 1));
                prop_assert!(count > 0);
                prop_assert!(bp.marginals().is_err());
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

#[test]
fn a_chain_by_hand() {
    // 0.3: a; 0.9: a -> b, 0.2 otherwise; b is true.
    let mut builder = FactorGraphBuilder::new();
    builder.add_singleton(1, 0.3).unwrap();
    builder.add_and(2, &[1], 0.9, 0.2).unwrap();
    let graph = Arc::new(builder.build().unwrap());
    let evidence = [None, Some(VariableEvidence::Observed(1))];
    let exact = enumerate(&graph, &evidence);
    assert!((exact.total - 0.41).abs() < 1e-15);
    assert!((exact.variables[0][1] - 0.27 / 0.41).abs() < 1e-15);
    let mut bp = session(&graph, Schedule::Tree, 1, &evidence);
    bp.run(&one_pass()).unwrap();
    assert!((bp.probability(0).unwrap() - 0.27 / 0.41).abs() < 1e-15);
}

#[test]
fn evidence_of_probability_zero_by_hand() {
    // x2 and x3 are both equal to x1, but observed to differ.
    let mut builder = FactorGraphBuilder::new();
    builder.add_singleton(1, 0.5).unwrap();
    builder.add_and(2, &[1], 1.0, 0.0).unwrap();
    builder.add_or(3, &[1], 1.0, 0.0).unwrap();
    let graph = Arc::new(builder.build().unwrap());
    for schedule in ["PARALL", "SEQFIX", "SEQRND", "BLOCKS", "TOPO", "FWDBWD", "TREE"] {
        let schedule = Schedule::from_name(schedule, 1).unwrap();
        let mut bp =
            BeliefPropagation::new(graph.clone(), schedule, EngineOptions::default()).unwrap();
        bp.observe_label(2, 1).unwrap();
        bp.observe_label(3, 0).unwrap();
        let error = bp.run(&RunRequest::new(StopRule::Passes(5))).unwrap_err();
        assert!(matches!(error, Error::Contradiction { label: 1, .. }), "{error}");
        assert!(matches!(bp.marginals(), Err(Error::NoResult(_))));
        // Without one of the observations the same session is right again.
        bp.clear_evidence(2).unwrap();
        bp.run(&RunRequest::new(StopRule::Passes(5))).unwrap();
        assert_eq!(bp.marginals().unwrap(), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    }
}
