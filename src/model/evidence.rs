//! What is known about variables in one query. Evidence is data: it changes no graph.

use super::graph::FactorGraph;
use crate::error::{Error, Result};
use crate::factor::check_weights;
use crate::memory::{SortedMap, copied, room};

/// What is known about one variable.
#[derive(Clone, Debug, PartialEq)]
pub enum VariableEvidence {
    /// The variable is in this state: its outgoing messages and its belief are one-hot.
    Observed(u32),
    /// Soft evidence: a likelihood per state, which multiplies the variable's belief and outgoing
    /// messages. Finite, not negative, not all zero; only ratios matter.
    Likelihood(Vec<f64>),
}

impl VariableEvidence {
    /// That a variable (by index) is in a state. Errors: there is no such variable or state.
    pub(crate) fn observed(graph: &FactorGraph, variable: usize, state: usize) -> Result<Self> {
        check_variable(graph, variable)?;
        let cardinality = graph.cardinality(variable);
        if state >= cardinality {
            return Err(Error::OutOfRange(format!(
                "state {state} of variable {}: it has {cardinality} states, numbered from 0",
                graph.label(variable)
            )));
        }
        Ok(Self::Observed(state as u32))
    }

    /// A copy. Errors: no memory.
    pub fn try_clone(&self) -> Result<Self> {
        Ok(match self {
            Self::Observed(state) => Self::Observed(*state),
            Self::Likelihood(likelihood) => Self::Likelihood(copied(likelihood)?),
        })
    }
}

/// The evidence of a query: at most one entry per variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    entries: SortedMap<VariableEvidence>,
}

impl Evidence {
    /// No evidence.
    pub fn new() -> Self {
        Self::default()
    }

    /// Observes a variable (by index) in a state; replaces what was known about it.
    pub fn observe(&mut self, graph: &FactorGraph, variable: usize, state: usize) -> Result<()> {
        let observed = VariableEvidence::observed(graph, variable, state)?;
        self.entries.insert(variable as u32, observed)
    }

    /// The evidence of many observations, pairs of a variable (by index) and its state, in any order: as by
    /// [`Self::observe`] one after the other, so that of several states for one variable the last one counts, but in
    /// time O(n log n). Errors: the first variable or state that the graph does not have.
    pub fn of_observations(graph: &FactorGraph, observations: &[(usize, usize)]) -> Result<Self> {
        let mut ascending = room(observations.len())?;
        for (position, &(variable, state)) in observations.iter().enumerate() {
            VariableEvidence::observed(graph, variable, state)?;
            ascending.push((variable as u32, position));
        }
        ascending.sort_unstable();
        let mut entries = SortedMap::default();
        for (variable, position) in ascending {
            let state = observations[position].1 as u32;
            entries.insert(variable, VariableEvidence::Observed(state))?;
        }
        Ok(Self { entries })
    }

    /// Sets a likelihood per state of a variable (by index); replaces what was known about it.
    pub fn set_likelihood(
        &mut self, graph: &FactorGraph, variable: usize, likelihood: &[f64],
    ) -> Result<()> {
        check_variable(graph, variable)?;
        let label = graph.label(variable);
        if likelihood.len() != graph.cardinality(variable) {
            return Err(Error::InvalidArgument(format!(
                "{} likelihoods for variable {label}: it has {} states",
                likelihood.len(),
                graph.cardinality(variable)
            )));
        }
        check_weights(likelihood, || format!("likelihood of variable {label}"))?;
        self.entries.insert(variable as u32, VariableEvidence::Likelihood(copied(likelihood)?))
    }

    /// Forgets what was known about a variable; harmless if nothing was.
    pub fn clear(&mut self, graph: &FactorGraph, variable: usize) -> Result<()> {
        check_variable(graph, variable)?;
        self.entries.remove(variable as u32);
        Ok(())
    }

    /// What is known about a variable.
    pub fn get(&self, variable: usize) -> Option<&VariableEvidence> {
        u32::try_from(variable).ok().and_then(|variable| self.entries.get(variable))
    }

    /// All entries, by ascending variable index.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &VariableEvidence)> {
        self.entries.iter().map(|(variable, evidence)| (variable as usize, evidence))
    }

    /// A copy. Errors: no memory.
    pub fn try_clone(&self) -> Result<Self> {
        Ok(Self { entries: self.entries.try_clone(VariableEvidence::try_clone)? })
    }

    /// Sets or, with `None`, clears what is known about a variable; the arguments are valid. Errors: no memory;
    /// nothing has changed then.
    pub(crate) fn set(
        &mut self, variable: usize, evidence: Option<&VariableEvidence>,
    ) -> Result<()> {
        match evidence {
            Some(evidence) => self.entries.insert(variable as u32, evidence.try_clone()?),
            None => {
                self.entries.remove(variable as u32);
                Ok(())
            }
        }
    }

    /// Number of variables about which something is known.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Checks that a variable index is in range.
pub(crate) fn check_variable(graph: &FactorGraph, variable: usize) -> Result<()> {
    let count = graph.variable_count();
    if variable < count {
        Ok(())
    } else {
        Err(Error::OutOfRange(format!(
            "variable index {variable}: the graph has {count} variables"
        )))
    }
}

/// Checks that a factor index is in range.
pub(crate) fn check_factor(graph: &FactorGraph, factor: usize) -> Result<()> {
    let count = graph.factor_count();
    if factor < count {
        Ok(())
    } else {
        Err(Error::OutOfRange(format!("factor index {factor}: the graph has {count} factors")))
    }
}
