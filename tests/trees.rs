//! On factor graphs without loops one iteration of TREE, and on polytrees without evidence one iteration of
//! TOPO or FWDBWD, gives the exact marginals: compared with sums over all joint states.

#[path = "common/random.rs"]
mod random;
#[path = "common/session.rs"]
mod session;

use fastlbp::{
    BeliefPropagation, EngineOptions, Error, FactorGraphBuilder, Inference, RunRequest, Schedule,
    StopRule, VariableEvidence,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};
use random::{Choices, Definition, Input, Model, labels};
use session::{random_evidence, session, sum_to};
use std::sync::Arc;

/// Largest difference of a variable's belief from the exact one.
const VARIABLE: f64 = 1e-13;
/// Largest difference of an entry of a factor's belief from the exact one.
const FACTOR: f64 = 1e-12;

/// Largest number of variables.
const VARIABLES: usize = 12;
/// Largest number of joint states: each one is visited.
const JOINT_STATES: usize = 1 << 15;

/// A factor graph without loops, of one component or more: each factor, of any kind, joins variables
/// of which no two are connected yet. Unless `binary`, variables have 2 to 5 states.
fn forest(choices: &mut Choices, binary: bool) -> Model {
    let count = 1 + choices.below(VARIABLES);
    let labels = labels(choices, count);
    let mut joint_states = 1;
    let mut cardinalities = Vec::new();
    for variable in 0..count {
        let mut cardinality = if binary { 2 } else { 2 + choices.below(7).saturating_sub(3) };
        // Room for two states of each variable that is to come.
        if (joint_states * cardinality) << (count - variable - 1) > JOINT_STATES {
            cardinality = 2;
        }
        joint_states *= cardinality;
        cardinalities.push(cardinality);
    }
    let mut component: Vec<usize> = (0..count).collect();
    let mut inputs = Vec::new();
    for _ in 0..2 * count {
        // Variables of distinct components; often binary ones alone, for the kinds that need them.
        let all_binary = choices.flag();
        let mut scope: Vec<usize> = Vec::new();
        for _ in 0..choices.below(5) + 1 {
            let variable = choices.below(count);
            let fits = !all_binary || cardinalities[variable] == 2;
            if fits && scope.iter().all(|&other| component[other] != component[variable]) {
                scope.push(variable);
            }
        }
        if scope.is_empty() {
            continue;
        }
        let joined: Vec<usize> = scope.iter().map(|&variable| component[variable]).collect();
        for entry in &mut component {
            if joined.contains(entry) {
                *entry = joined[0];
            }
        }
        let names: Vec<u64> = scope.iter().map(|&variable| labels[variable]).collect();
        let own: Vec<usize> = scope.iter().map(|&variable| cardinalities[variable]).collect();
        inputs.push(Input::random(choices, &names, &own));
    }
    Model::build(&labels, &cardinalities, &inputs)
}

/// A polytree as program analyses give it: each variable heads one factor at most, and its body and
/// it were not connected before.
fn polytree(choices: &mut Choices) -> Model {
    let count = 1 + choices.below(VARIABLES);
    let labels = labels(choices, count);
    let mut component: Vec<usize> = (0..count).collect();
    let mut inputs = Vec::new();
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
        let scope = std::iter::once(head).chain(body).map(|v| labels[v]).collect::<Vec<_>>();
        let (p, q) = (choices.probability(), choices.probability());
        let definition = match (scope.len(), choices.flag()) {
            (1, _) => Definition::Prior { p },
            (_, false) => Definition::And { p, q },
            (_, true) => Definition::Or { p, q },
        };
        inputs.push(Input { scope, definition });
    }
    Model::build(&labels, &vec![2; count], &inputs)
}

/// A sum that carries its rounding error along: there are many summands of one sign.
#[derive(Clone, Copy, Default)]
struct Sum {
    sum: f64,
    error: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        let corrected = value + self.error;
        let sum = self.sum + corrected;
        self.error = corrected - (sum - self.sum);
        self.sum = sum;
    }
}

/// Sums and maxima of the product of all factors and the evidence over all joint states.
struct Exact {
    /// Probabilities of the states of each variable; not normalised if `total` is 0.
    variables: Vec<Vec<f64>>,
    /// Of each factor, the first variable fastest.
    factors: Vec<Vec<f64>>,
    /// Max-marginals of the states of each variable, normalised as the probabilities are.
    maxima: Vec<Vec<f64>>,
    /// Sum over all joint states: 0 if the evidence is impossible.
    total: f64,
    /// The weight of the most probable joint state.
    highest: f64,
}

fn enumerate(model: &Model, evidence: &[Option<VariableEvidence>]) -> Exact {
    let Model { graph, factors } = model;
    let cardinalities = graph.cardinalities().iter().map(|&r| r as usize);
    let mut variables: Vec<_> = cardinalities.clone().map(|r| vec![Sum::default(); r]).collect();
    let mut factor_sums: Vec<_> =
        factors.iter().map(|factor| vec![Sum::default(); factor.values.len()]).collect();
    let mut maxima: Vec<_> = cardinalities.map(|r| vec![0.0_f64; r]).collect();
    let mut total = Sum::default();
    let mut highest = 0.0_f64;
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
        for (factor, index) in factors.iter().zip(&mut indices) {
            let digits = factor.variables.iter().zip(&factor.cardinalities).rev();
            *index = digits.fold(0, |index, (&v, &r)| index * r + states[v]);
            weight *= factor.values[*index];
        }
        total.add(weight);
        highest = highest.max(weight);
        for ((sums, maxima), &state) in variables.iter_mut().zip(&mut maxima).zip(&states) {
            sums[state].add(weight);
            maxima[state] = maxima[state].max(weight);
        }
        for (sums, &index) in factor_sums.iter_mut().zip(&indices) {
            sums[index].add(weight);
        }
        // The next joint state.
        let Some(next) = (0..states.len()).find(|&v| states[v] + 1 < graph.cardinality(v)) else {
            break;
        };
        states[next] += 1;
        states[..next].fill(0);
    }
    let shares = |values: Vec<f64>, total: f64| -> Vec<f64> {
        values.into_iter().map(|value| if total > 0.0 { value / total } else { value }).collect()
    };
    let of_sums = |sums: Vec<Sum>| shares(sums.iter().map(|sum| sum.sum).collect(), total.sum);
    Exact {
        variables: variables.into_iter().map(of_sums).collect(),
        factors: factor_sums.into_iter().map(of_sums).collect(),
        maxima: maxima
            .into_iter()
            .map(|values| {
                let total = values.iter().sum();
                shares(values, total)
            })
            .collect(),
        total: total.sum,
        highest,
    }
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

fn check_beliefs(bp: &BeliefPropagation, wanted: &[Vec<f64>]) -> Result<(), TestCaseError> {
    for (variable, wanted) in wanted.iter().enumerate() {
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

/// Joint beliefs of some of the variables of each factor, in any order.
fn check_joint_beliefs(
    bp: &BeliefPropagation, model: &Model, exact: &Exact, choices: &mut Choices,
) -> Result<(), TestCaseError> {
    for (factor, belief) in model.factors.iter().zip(&exact.factors) {
        let mut variables = factor.variables.clone();
        for last in (1..variables.len()).rev() {
            variables.swap(last, choices.below(last + 1));
        }
        variables.truncate(choices.below(variables.len() + 1));
        let got = bp.joint_belief(&variables).unwrap();
        let wanted = sum_to(factor, belief, &variables);
        check(&got, &wanted, FACTOR, &format!("variables {variables:?}"))?;
    }
    Ok(())
}

/// Compares numbers that may be large.
fn check_number(got: f64, wanted: f64, what: &str) -> Result<(), TestCaseError> {
    let close = (got - wanted).abs() <= 1e-12 * wanted.abs().max(1.0);
    prop_assert!(close, "{what}: {got:e} instead of {wanted:e}");
    Ok(())
}

/// The smallest probability of the evidence for which 1e-13 is asked. Below it the sums over all
/// joint states would still be right, as no terms are subtracted, but could leave the normal numbers.
const SMALLEST: f64 = 1e-290;

fn one_iteration() -> RunRequest {
    RunRequest::new(StopRule::Iterations(1))
}

proptest! {
    #![proptest_config(Config::with_cases(400))]

    #[test]
    fn one_iteration_of_tree_is_exact_with_any_evidence(
        numbers in prop::collection::vec(any::<u64>(), 0..500),
        binary: bool,
    ) {
        let choices = &mut Choices::new(&numbers, 8);
        let model = forest(choices, binary);
        let mut evidence = random_evidence(choices, &model.graph);
        let mut exact = enumerate(&model, &evidence);
        if exact.total < SMALLEST {
            evidence.fill(None);
            exact = enumerate(&model, &evidence);
        }
        for threads in [1, 2] {
            let mut bp = session(&model.graph, Schedule::Tree, threads, &evidence);
            let mut request = one_iteration();
            let result = bp.run(&request);
            if exact.total == 0.0 {
                // Impossible even without evidence.
                let contradiction = matches!(result, Err(Error::Contradiction { .. }));
                prop_assert!(contradiction, "{result:?}");
            } else if exact.total >= SMALLEST {
                result.unwrap();
                check_beliefs(&bp, &exact.variables)?;
                check_factor_beliefs(&bp, &exact)?;
                check_joint_beliefs(&bp, &model, &exact, choices)?;
                check_number(bp.log_partition().unwrap(), exact.total.ln(), "log-partition")?;
                request.inference = Inference::MaxProduct;
                bp.run(&request).unwrap();
                check_beliefs(&bp, &exact.maxima)?;
                let best = bp.find_maximum().unwrap();
                check_number(bp.log_score(&best).unwrap(), exact.highest.ln(), "maximum")?;
            }
        }
    }

    #[test]
    fn one_iteration_along_the_arcs_is_exact_on_polytrees_without_evidence(
        numbers in prop::collection::vec(any::<u64>(), 0..200),
    ) {
        let model = polytree(&mut Choices::new(&numbers, 8));
        let graph = &model.graph;
        let evidence = vec![None; graph.variable_count()];
        let exact = enumerate(&model, &evidence);
        // Each factor is a conditional distribution of its head.
        prop_assert!((exact.total - 1.0).abs() < 1e-12, "{}", exact.total);
        for threads in [1, 2] {
            for schedule in [Schedule::Topological, Schedule::ForwardBackward] {
                let mut bp = session(graph, schedule, threads, &evidence);
                bp.run(&one_iteration()).unwrap();
                check_beliefs(&bp, &exact.variables)?;
            }
        }
    }

    /// Certain evidence is an error that names a variable exactly if the factors rule it out, whether
    /// it is observed or a likelihood: never a NaN and never a result.
    #[test]
    fn impossible_evidence_is_a_contradiction(
        numbers in prop::collection::vec(any::<u64>(), 0..100),
        hard: bool,
    ) {
        let choices = &mut Choices::new(&numbers, 8);
        let model = polytree(choices);
        let graph = &model.graph;
        let evidence = (0..graph.variable_count()).map(|_| match choices.below(4) {
            state @ (0 | 1) if hard => Some(VariableEvidence::Observed(state as u32)),
            0 => Some(VariableEvidence::Likelihood(vec![1.0, 0.0])),
            1 => Some(VariableEvidence::Likelihood(vec![0.0, 1.0])),
            _ => None,
        });
        let evidence: Vec<_> = evidence.collect();
        let exact = enumerate(&model, &evidence);
        let mut bp = session(graph, Schedule::Tree, 1, &evidence);
        match bp.run(&one_iteration()) {
            Ok(_) => {
                prop_assert!(exact.total > 0.0, "impossible evidence was not noticed");
                check_beliefs(&bp, &exact.variables)?;
            }
            Err(Error::Contradiction { label, variable, factor, iteration, count }) => {
                prop_assert_eq!(exact.total, 0.0);
                prop_assert_eq!(graph.label(variable), label);
                // A factor that excludes the states of its variables is found before the first iteration.
                prop_assert_eq!(iteration, u64::from(factor.is_none()));
                if let Some(factor) = factor {
                    prop_assert!(hard);
                    prop_assert!(graph.factor_variables(factor).contains(&(variable as u32)));
                }
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
    let inputs = [
        Input { scope: vec![1], definition: Definition::Prior { p: 0.3 } },
        Input { scope: vec![2, 1], definition: Definition::And { p: 0.9, q: 0.2 } },
    ];
    let model = Model::build(&[1, 2], &[2, 2], &inputs);
    let evidence = [None, Some(VariableEvidence::Observed(1))];
    let exact = enumerate(&model, &evidence);
    assert!((exact.total - 0.41).abs() < 1e-15);
    assert!((exact.variables[0][1] - 0.27 / 0.41).abs() < 1e-15);
    let mut bp = session(&model.graph, Schedule::Tree, 1, &evidence);
    bp.run(&one_iteration()).unwrap();
    assert!((bp.probability(0).unwrap() - 0.27 / 0.41).abs() < 1e-15);
}

#[test]
fn evidence_of_probability_zero_by_hand() {
    // x2 and x3 are both equal to x1, but observed to differ.
    let mut builder = FactorGraphBuilder::new();
    builder.add_prior(1, 0.5).unwrap();
    builder.add_and(2, &[1], 1.0, 0.0).unwrap();
    builder.add_or(3, &[1], 1.0, 0.0).unwrap();
    let graph = Arc::new(builder.build().unwrap());
    let all = Schedule::named(1, Schedule::DEFAULT_BLOCKS);
    for schedule in all.into_iter().filter(|schedule| schedule.name() != "SEQMAX") {
        let mut bp =
            BeliefPropagation::new(graph.clone(), schedule, EngineOptions::default()).unwrap();
        bp.observe_label(2, 1).unwrap();
        bp.observe_label(3, 0).unwrap();
        let error = bp.run(&RunRequest::new(StopRule::Iterations(5))).unwrap_err();
        assert!(matches!(error, Error::Contradiction { label: 1, .. }), "{error}");
        assert!(matches!(bp.marginals(), Err(Error::NoResult(_))));
        // Without one of the observations the same session is right again.
        bp.clear_evidence(2).unwrap();
        bp.run(&RunRequest::new(StopRule::Iterations(5))).unwrap();
        assert_eq!(bp.marginals().unwrap(), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    }
}
