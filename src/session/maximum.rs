//! Decoding the most probable joint state.

use super::base::BeliefPropagation;
use crate::engine::state_weight;
use crate::error::Result;
use crate::kernel::{Arithmetic, Inference, Real};
use crate::memory::{Grow, collected, filled};
use crate::model::VariableEvidence;

impl BeliefPropagation {
    /// A joint state, one state per variable, decoded from the current messages, as after a run with
    /// [`Inference::MaxProduct`]: on trees, after a converged run, one of the most probable ones.
    ///
    /// Factors are visited depth first, as in libDAI: from the lowest of each connected component, then
    /// always the highest of the factors of the variables that got their states last. The variables of
    /// a factor that are still free take the joint state that maximises the factor's belief, given the
    /// states already taken. Of joint states whose values are equal, bit for bit, the one with the
    /// lower state at the highest variable where they differ wins. Observed variables keep their
    /// observed state.
    ///
    /// Errors: no run yet; a factor that excludes the states already taken, as can happen on graphs
    /// with cycles. O(edges * cost of a message).
    pub fn find_maximum(&self) -> Result<Vec<usize>> {
        self.marginals()?;
        let graph = self.graph();
        const FREE: usize = usize::MAX;
        let mut states = filled(graph.variable_count(), FREE)?;
        for (variable, evidence) in self.runner.evidence().iter() {
            if let VariableEvidence::Observed(state) = evidence {
                states[variable] = *state as usize;
            }
        }
        let mut visited = filled(graph.factor_count(), false)?;
        let (mut stack, mut newly) = (Vec::new(), Vec::new());
        for first in 0..graph.factor_count() {
            stack.try_push(first)?;
            while let Some(factor) = stack.pop() {
                if std::mem::replace(&mut visited[factor], true) {
                    continue;
                }
                let free = |v: &u32| states[*v as usize] == FREE;
                newly.clear();
                newly.try_extend(graph.factor_variables(factor).iter().copied().filter(free))?;
                self.take_states(factor, &mut states, FREE)?;
                for &v in &newly {
                    let factors = graph.variable_edges(v as usize).iter();
                    let factors = factors.map(|&edge| graph.edge_factors()[edge as usize] as usize);
                    stack.try_extend(factors)?;
                }
            }
        }
        for (variable, state) in states.iter_mut().enumerate().filter(|(_, state)| **state == FREE)
        {
            // A variable without factors.
            let belief = self.marginal(variable)?;
            *state = (1..belief.len())
                .fold(0, |best, x| if belief[x] > belief[best] { x } else { best });
        }
        Ok(states)
    }

    /// Gives the free variables of a factor their states, or checks those that they have.
    fn take_states(&self, factor: usize, states: &mut [usize], free: usize) -> Result<()> {
        let mut inputs = self.inputs(factor)?;
        let scope = self.graph().factor_variables(factor);
        for (position, &v) in scope.iter().enumerate() {
            if states[v as usize] != free {
                inputs.fix(position, states[v as usize]);
            }
        }
        for (position, &v) in scope.iter().enumerate().rev() {
            if states[v as usize] != free {
                continue;
            }
            let message = inputs.message(position, Inference::MaxProduct)?;
            let message = message.ok_or_else(|| self.contradictory_factor(factor))?;
            let radix = self.graph().cardinality(v as usize);
            let value = |x: usize| state_weight(&message, x).multiply(inputs.weight(position, x));
            let best = (1..radix).fold((0, value(0)), |(best, highest), x| {
                let candidate = value(x);
                if !candidate.minus(highest).is_zero() { (x, candidate) } else { (best, highest) }
            });
            if best.1.is_zero() {
                return Err(self.contradictory_factor(factor));
            }
            states[v as usize] = best.0;
            inputs.fix(position, best.0);
        }
        let own: Vec<usize> = collected(scope.iter().map(|&v| states[v as usize]))?;
        if inputs.weight_of(&own).is_zero() {
            return Err(self.contradictory_factor(factor));
        }
        Ok(())
    }

    /// Natural logarithm of the product of all factors and of the likelihoods of soft evidence at a
    /// joint state, one state per variable: minus infinity where a factor excludes it or an
    /// observation contradicts it.
    ///
    /// Errors: another number of states than variables; a state that its variable does not have.
    /// O(edges + size of the terms).
    pub fn log_score(&self, states: &[usize]) -> Result<f64> {
        let graph = self.graph();
        if states.len() != graph.variable_count() {
            return Err(crate::Error::InvalidArgument(format!(
                "{} states: the graph has {} variables, and needs one for each",
                states.len(),
                graph.variable_count()
            )));
        }
        for (v, &state) in states.iter().enumerate() {
            if state >= graph.cardinality(v) {
                return Err(crate::Error::OutOfRange(format!(
                    "state {state} of variable {}: it has {} states, numbered from 0",
                    graph.label(v),
                    graph.cardinality(v)
                )));
            }
        }
        let mut score = 0.0;
        let mut own = Vec::new();
        for factor in 0..graph.factor_count() {
            own.clear();
            own.try_extend(graph.factor_variables(factor).iter().map(|&v| states[v as usize]))?;
            let value =
                graph.factor(factor).extended_value(&own, graph.factor_cardinalities(factor));
            score += value.ln();
        }
        for (v, evidence) in self.runner.evidence().iter() {
            score += match evidence {
                VariableEvidence::Observed(state) if *state as usize == states[v] => 0.0,
                VariableEvidence::Observed(_) => f64::NEG_INFINITY,
                VariableEvidence::Likelihood(likelihood) => likelihood[states[v]].ln(),
            };
        }
        Ok(score)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        BeliefPropagation, EngineOptions, Error, FactorGraphBuilder, Inference, RunRequest,
        Schedule, StopRule,
    };
    use std::sync::Arc;

    fn decode(tables: [[f64; 4]; 3]) -> Result<Vec<usize>, Error> {
        let mut builder = FactorGraphBuilder::new();
        for (scope, table) in [[1, 2], [1, 3], [2, 3]].into_iter().zip(&tables) {
            builder.add_table(&scope, table)?;
        }
        let graph = Arc::new(builder.build()?);
        let mut bp = BeliefPropagation::new(graph, Schedule::Parallel, EngineOptions::default())?;
        let inference = Inference::MaxProduct;
        bp.run(&RunRequest { inference, ..RunRequest::new(StopRule::Iterations(5)) })?;
        bp.find_maximum()
    }

    /// On a cycle, what is decoded agrees with all factors or is an error.
    #[test]
    fn decoded_states_are_possible() {
        let (equal, different) = ([1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]);
        assert_eq!(decode([equal, [1.0; 4], different]).unwrap(), [0, 0, 1]);
        let error = decode([equal, equal, different]).unwrap_err();
        assert!(matches!(error, Error::Contradiction { .. }), "{error}");
    }
}
