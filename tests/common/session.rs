//! Sessions with random evidence on the graphs of `random.rs`.

use crate::random::{Choices, Dense};
use fastlbp::{BeliefPropagation, EngineOptions, FactorGraph, Schedule, VariableEvidence};
use std::sync::Arc;

/// Evidence on a few variables, hard and soft.
pub fn random_evidence(
    choices: &mut Choices, graph: &FactorGraph,
) -> Vec<Option<VariableEvidence>> {
    let cardinalities = graph.cardinalities().iter();
    let evidence = cardinalities.map(|&cardinality| match choices.below(6) {
        0 => Some(VariableEvidence::Observed(choices.below(cardinality as usize) as u32)),
        1 => Some(VariableEvidence::Likelihood(choices.weights(cardinality as usize))),
        _ => None,
    });
    evidence.collect()
}

pub fn session(
    graph: &Arc<FactorGraph>, schedule: Schedule, threads: usize,
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

/// Sums a factor's belief over all its variables but some: of those the first given one fastest.
pub fn sum_to(factor: &Dense, belief: &[f64], variables: &[usize]) -> Vec<f64> {
    let position = |v: &usize| factor.variables.iter().position(|other| other == v).unwrap();
    let positions: Vec<usize> = variables.iter().map(position).collect();
    let mut sums = vec![0.0; positions.iter().map(|&p| factor.cardinalities[p]).product()];
    for (index, &probability) in belief.iter().enumerate() {
        let states = factor.states(index);
        let digits = positions.iter().rev();
        sums[digits.fold(0, |at, &p| at * factor.cardinalities[p] + states[p])] += probability;
    }
    sums
}
