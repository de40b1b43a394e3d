//! The variables of a factor while a builder becomes a graph.

use super::FactorKind;
use crate::error::{Error, Result};

/// A factor's variables: as its draft has them, and as the graph will have them.
pub(crate) struct Scope<'a> {
    pub(crate) factor: usize,
    pub(crate) kind: FactorKind,
    /// Index of the head, for kinds that have one.
    pub(crate) head: Option<u32>,
    /// Indices of the body, or of all variables of a kind without a head, in the order of the draft.
    pub(crate) members: &'a [u32],
    /// Indices of all variables of the factor, ascending, each once.
    pub(crate) variables: &'a [u32],
    /// Labels and numbers of states of all variables of the graph.
    pub(crate) labels: &'a [u64],
    pub(crate) cardinalities: &'a [u32],
    /// Whether all variables of the graph have two states.
    pub(crate) all_binary: bool,
}

impl Scope<'_> {
    /// Position of one of the variables in the graph's order.
    pub(crate) fn position(&self, variable: u32) -> usize {
        self.variables.partition_point(|&other| other < variable)
    }

    /// Numbers of states of the variables in the graph's order.
    pub(crate) fn radices(&self) -> impl Iterator<Item = usize> + '_ {
        self.variables.iter().map(|&v| self.cardinalities[v as usize] as usize)
    }

    /// Errors: a variable that has not two states.
    pub(crate) fn require_binary(&self) -> Result<()> {
        if self.all_binary {
            return Ok(());
        }
        let other = self.variables.iter().find(|&&v| self.cardinalities[v as usize] != 2);
        other.map_or(Ok(()), |&variable| Err(self.not_binary(variable)))
    }

    #[cold]
    fn not_binary(&self, variable: u32) -> Error {
        Error::InvalidArgument(format!(
            "factor {} ({}): variable {} has {} states: such a factor needs binary variables",
            self.factor,
            self.kind.name(),
            self.labels[variable as usize],
            self.cardinalities[variable as usize]
        ))
    }

    /// Errors: a variable that occurs twice.
    pub(crate) fn require_distinct(&self) -> Result<()> {
        if self.variables.len() == self.members.len() + usize::from(self.head.is_some()) {
            return Ok(());
        }
        let occurrences = |v: u32| {
            let own = self.members.iter().filter(|&&member| member == v).count();
            own + usize::from(self.head == Some(v))
        };
        let twice = self.variables.iter().copied().find(|&v| occurrences(v) > 1);
        Err(Error::InvalidArgument(format!(
            "factor {} ({}): variable {} occurs twice: it may occur once",
            self.factor,
            self.kind.name(),
            self.labels[twice.unwrap_or_default() as usize]
        )))
    }
}
