//! Evidence that a single factor excludes.

use crate::engine::{Contradiction, RunReport};
use crate::error::{Error, Result};
use crate::kernel::Real;
use crate::memory::{Grow, collected, filled};
use crate::model::{FactorGraph, VariableEvidence};

/// No state is observed.
const NONE: u32 = u32::MAX;

/// The factors all of whose variables are observed in states for which the factor is zero.
///
/// Messages do not show this: what an observed variable sends is its state, whatever its factors say. Kept up to
/// date with each change of evidence, at a cost of O(degree) for most variables.
#[derive(Default)]
pub(super) struct Impossible {
    /// Per variable its observed state, or `NONE`; empty before the first observation.
    states: Vec<u32>,
    /// The factors, ascending.
    factors: Vec<u32>,
}

impl Impossible {
    /// What is known about a variable changes. Errors: no memory; nothing has changed then.
    pub(super) fn change(
        &mut self, graph: &FactorGraph, variable: usize, evidence: Option<&VariableEvidence>,
    ) -> Result<()> {
        let state = match evidence {
            Some(&VariableEvidence::Observed(state)) => state,
            _ => NONE,
        };
        if self.states.is_empty() {
            if state == NONE {
                return Ok(());
            }
            self.states = filled(graph.variable_count(), NONE)?;
        }
        let before = std::mem::replace(&mut self.states[variable], state);
        let done = self.check_factors_of(graph, variable);
        if done.is_err() {
            self.states[variable] = before;
            // There was memory for what this finds.
            let _ = self.check_factors_of(graph, variable);
        }
        done
    }

    fn check_factors_of(&mut self, graph: &FactorGraph, variable: usize) -> Result<()> {
        for &edge in graph.variable_edges(variable) {
            let factor = graph.edge_factors()[edge as usize];
            let place = self.factors.binary_search(&factor);
            match (self.is_impossible(graph, factor as usize)?, place) {
                (true, Err(place)) => {
                    self.factors.try_room(1)?;
                    self.factors.insert(place, factor);
                }
                (false, Ok(place)) => {
                    self.factors.remove(place);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn is_impossible(&self, graph: &FactorGraph, factor: usize) -> Result<bool> {
        let state = |&v: &u32| self.states[v as usize];
        let variables = graph.factor_variables(factor);
        if variables.iter().any(|v| state(v) == NONE) {
            return Ok(false);
        }
        let states = collected(variables.iter().map(|v| state(v) as usize))?;
        let cardinalities = graph.factor_cardinalities(factor);
        Ok(graph.factor(factor).extended_value(&states, cardinalities).is_zero())
    }

    /// Before a run: an error if there are any and the policy does not vote.
    pub(super) fn judge(&self, graph: &FactorGraph, policy: Contradiction) -> Result<()> {
        match (self.factors.first(), policy) {
            (Some(&factor), Contradiction::Error) => {
                let variable = self.first_variable(graph).unwrap_or_default();
                Err(Error::Contradiction {
                    label: graph.label(variable),
                    variable,
                    factor: Some(factor as usize),
                    iteration: 0,
                    count: self.factors.len() as u64,
                })
            }
            _ => Ok(()),
        }
    }

    /// After a run: counts them. They are contradictory in each of its iterations, and before the first one.
    pub(super) fn add_to(&self, graph: &FactorGraph, report: &mut RunReport) {
        if let Some(variable) = self.first_variable(graph) {
            report.contradictions += self.factors.len() as u64;
            report.first_contradiction = Some(variable);
        }
    }

    /// The lowest variable of the lowest factor.
    fn first_variable(&self, graph: &FactorGraph) -> Option<usize> {
        let variables = graph.factor_variables(*self.factors.first()? as usize);
        variables.first().map(|&v| v as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;
    use proptest::prelude::*;

    fn graph() -> FactorGraph {
        let mut builder = FactorGraphBuilder::new();
        builder.add_prior(0, 0.0).unwrap();
        builder.add_and(1, &[0, 2], 1.0, 0.0).unwrap();
        builder.add_or(2, &[3], 1.0, 0.0).unwrap();
        builder.add_table(&[4, 0], &[1.0, 0.0, 2.0, 0.0, 0.0, 3.0]).unwrap();
        builder.add_variable(4, 3).unwrap();
        builder.build().unwrap()
    }

    proptest! {
        /// After any changes the factors are those that looking at all of them finds.
        #[test]
        fn changes_are_followed(
            changes in prop::collection::vec((0_usize..5, 0_u32..5), 0..60),
        ) {
            let graph = graph();
            let mut impossible = Impossible::default();
            let mut states = [NONE; 5];
            for (variable, state) in changes {
                let (evidence, observed) = match state {
                    3 => (None, NONE),
                    4 => (Some(VariableEvidence::Likelihood(vec![1.0, 2.0])), NONE),
                    state => {
                        let state = state % graph.cardinality(variable) as u32;
                        (Some(VariableEvidence::Observed(state)), state)
                    }
                };
                impossible.change(&graph, variable, evidence.as_ref()).unwrap();
                states[variable] = observed;
                let excluded = |&f: &usize| {
                    let own: Vec<u32> =
                        graph.factor_variables(f).iter().map(|&v| states[v as usize]).collect();
                    let own_states: Vec<usize> = own.iter().map(|&s| s as usize).collect();
                    !own.contains(&NONE)
                        && graph.factor(f).value(&own_states, graph.factor_cardinalities(f)) == 0.0
                };
                let wanted: Vec<u32> =
                    (0..graph.factor_count()).filter(excluded).map(|f| f as u32).collect();
                prop_assert_eq!(&impossible.factors, &wanted);
            }
        }
    }
}
