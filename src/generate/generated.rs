//! What every shape gives, and the sizes that there are.

use super::choices::Choices;
use crate::error::{Error, Result};
use crate::memory::Grow;
use crate::model::{FactorGraph, FactorGraphBuilder};
use std::ops::RangeInclusive;

/// Fewest variables of a generated graph.
pub const MIN_VARIABLES: usize = 10;
/// Most variables of a generated graph.
pub const MAX_VARIABLES: usize = 100_000_000;
/// Most edges of a generated graph: indices have 32 bits.
pub(super) const MAX_EDGES: u64 = u32::MAX as u64 - 1;

/// A graph and observations that fit it.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The graph.
    pub graph: FactorGraph,
    /// (variable index, state), ascending. They do not contradict the graph.
    pub observations: Vec<(usize, usize)>,
}

/// A graph to which factors may still be added. Its variables are the labels from 0 on, so that labels are
/// indices.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) builder: FactorGraphBuilder,
    /// As in [`Generated`].
    pub(super) observations: Vec<(usize, usize)>,
}

impl Draft {
    /// An empty graph of a shape, and its random choices, which `stream` keeps apart from those of other shapes. Errors:
    /// no generated graph has so many variables.
    pub(super) fn begin(variables: usize, seed: u64, stream: u64) -> Result<(Self, Choices)> {
        check_range(variables, MIN_VARIABLES..=MAX_VARIABLES, "variables", "a generated graph")?;
        Ok((Self::default(), Choices::new(seed, stream)))
    }

    /// Adds an observation of a variable after those before.
    pub(super) fn observe(&mut self, variable: usize, state: usize) -> Result<()> {
        self.observations.try_push((variable, state))
    }

    pub(super) fn build(self) -> Result<Generated> {
        Ok(Generated { graph: self.builder.build()?, observations: self.observations })
    }
}

/// Checks that a number is among those that `owner` may have.
pub(super) fn check_range(
    number: usize, allowed: RangeInclusive<usize>, what: &str, owner: &str,
) -> Result<()> {
    if allowed.contains(&number) {
        return Ok(());
    }
    let (least, most) = allowed.into_inner();
    Err(Error::InvalidArgument(format!("{number} {what}: {owner} has {least} to {most}")))
}

/// Checks a number of edges before the memory for them is taken.
pub(super) fn check_edges(edges: u64) -> Result<()> {
    if edges <= MAX_EDGES {
        return Ok(());
    }
    Err(Error::LimitExceeded(format!(
        "about {edges} edges: a generated graph has at most {MAX_EDGES}"
    )))
}
