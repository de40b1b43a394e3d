//! Numbers by which a journal knows the graph, the evidence and the alarms that it belongs to.

use crate::hash::Hasher;
use crate::model::{Evidence, FactorGraph, VariableEvidence};
use std::fmt::Write;

/// A number for the content of a graph: its variables, edges, and all parameters of its factors.
pub(super) fn of_graph(graph: &FactorGraph) -> u64 {
    let mut hasher = Hasher::new();
    graph.labels().iter().for_each(|&label| hasher.word(label));
    graph.cardinalities().iter().for_each(|&cardinality| hasher.word(cardinality.into()));
    for factor in 0..graph.factor_count() {
        hasher.word(graph.arity(factor) as u64);
        graph.factor_variables(factor).iter().for_each(|&variable| hasher.word(variable.into()));
        hasher.word(graph.head_position(factor).map_or(u64::MAX, |position| position as u64));
        // The view has all parameters of its kind, whatever that is. Writing to a hasher does not fail.
        let _ = write!(hasher, "{:?}", graph.factor(factor));
    }
    hasher.finish()
}

/// A number for evidence.
pub(super) fn of_evidence(evidence: &Evidence) -> u64 {
    let mut hasher = Hasher::new();
    for (variable, known) in evidence.iter() {
        hasher.word(variable as u64);
        match known {
            VariableEvidence::Observed(state) => hasher.word((*state).into()),
            VariableEvidence::Likelihood(weights) => {
                weights.iter().for_each(|weight| hasher.word(weight.to_bits()));
            }
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;
    use std::collections::BTreeSet;

    #[test]
    fn graphs_that_differ_have_different_numbers() {
        let graph = |label, p, is_and: bool| {
            let mut builder = FactorGraphBuilder::new();
            builder.add_prior(1, 0.25).unwrap();
            match is_and {
                true => builder.add_and(label, &[1], p, 0.0).unwrap(),
                false => builder.add_or(label, &[1], p, 0.0).unwrap(),
            };
            of_graph(&builder.build().unwrap())
        };
        assert_eq!(graph(2, 0.5, true), graph(2, 0.5, true));
        let all =
            [graph(2, 0.5, true), graph(3, 0.5, true), graph(2, 0.75, true), graph(2, 0.5, false)];
        assert_eq!(BTreeSet::from(all).len(), all.len());
    }
}
