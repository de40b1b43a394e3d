//! Decoding the most probable joint state.

use super::BeliefPropagation;
use crate::error::Result;
use crate::kernel::{Inference, Real, Wide};
use crate::model::{Factor, VariableEvidence};
use std::collections::VecDeque;

impl BeliefPropagation {
    /// A joint state, one state per variable, decoded from the current messages, as after a run with
    /// [`Inference::MaxProduct`]: on trees, after a converged run, one of the most probable ones.
    ///
    /// Variables are visited from the lowest of each connected component on. The first one takes the
    /// state with the highest belief. Then, factor by factor along a breadth-first search, each
    /// variable of the factor that is still free takes, in ascending order, the state with the highest
    /// max-marginal of the factor's belief given the states already taken, so that what is decoded is
    /// consistent. Of states whose values are equal, bit for bit, the lowest wins. Observed
    /// variables keep their observed state.
    ///
    /// Errors: no run yet; a factor that excludes all that is left, as can happen on graphs with
    /// cycles. O(edges * cost of a message).
    pub fn find_maximum(&self) -> Result<Vec<usize>> {
        let graph = &self.graph;
        const FREE: usize = usize::MAX;
        let mut states = vec![FREE; graph.variable_count()];
        for (variable, evidence) in self.evidence.iter() {
            if let VariableEvidence::Observed(state) = evidence {
                states[variable] = *state as usize;
            }
        }
        let mut visited = vec![false; graph.factor_count()];
        let mut queue = VecDeque::new();
        for root in 0..graph.variable_count() {
            if states[root] == FREE {
                let belief = self.marginal(root)?;
                states[root] = (1..belief.len())
                    .fold(0, |best, x| if belief[x] > belief[best] { x } else { best });
            }
            queue.push_back(root);
            while let Some(variable) = queue.pop_front() {
                for &edge in graph.variable_edges(variable) {
                    let factor = graph.edge_factors()[edge as usize] as usize;
                    if std::mem::replace(&mut visited[factor], true) {
                        continue;
                    }
                    let scope = graph.factor_variables(factor);
                    let free = |v: &u32| states[*v as usize] == FREE;
                    let newly: Vec<usize> =
                        scope.iter().filter(|v| free(v)).map(|&v| v as usize).collect();
                    if !newly.is_empty() {
                        self.take_states(factor, &mut states, FREE)?;
                    }
                    queue.extend(newly);
                }
            }
        }
        Ok(states)
    }

    /// Gives the free variables of a factor their states.
    fn take_states(&self, factor: usize, states: &mut [usize], free: usize) -> Result<()> {
        let mut inputs = self.inputs(factor);
        let scope = self.graph.factor_variables(factor);
        for (position, &v) in scope.iter().enumerate() {
            if states[v as usize] != free {
                inputs.fix(position, states[v as usize]);
            }
        }
        for (position, &v) in scope.iter().enumerate() {
            if states[v as usize] != free {
                continue;
            }
            let message = inputs.message(position, Inference::MaxProduct)?;
            let message = message.ok_or_else(|| self.contradictory_factor(factor))?;
            let radix = self.graph.cardinality(v as usize);
            let value = |x: usize| {
                super::partition::weight(&message, radix, x).multiply(inputs.weight(position, x))
            };
            let best = (1..radix).fold((0, value(0)), |(best, highest), x| {
                let candidate = value(x);
                if exceeds(candidate, highest) { (x, candidate) } else { (best, highest) }
            });
            if best.1.is_zero() {
                return Err(self.contradictory_factor(factor));
            }
            states[v as usize] = best.0;
            inputs.fix(position, best.0);
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
        let graph = &self.graph;
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
            own.extend(graph.factor_variables(factor).iter().map(|&v| states[v as usize]));
            let view: Factor<'_> = graph.factor(factor);
            score += view.value(&own, graph.factor_cardinalities(factor)).max(0.0).ln();
        }
        for (v, evidence) in self.evidence.iter() {
            score += match evidence {
                VariableEvidence::Observed(state) if *state as usize == states[v] => 0.0,
                VariableEvidence::Observed(_) => f64::NEG_INFINITY,
                VariableEvidence::Likelihood(likelihood) => likelihood[states[v]].ln(),
            };
        }
        Ok(score)
    }
}

/// Whether one number is greater than another.
fn exceeds(a: Wide, b: Wide) -> bool {
    !a.is_zero()
        && (b.is_zero() || (a.exponent(), a.significand()) > (b.exponent(), b.significand()))
}
