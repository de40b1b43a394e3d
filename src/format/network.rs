//! A graph with the names of its variables, as a file has them together.

use super::names::Names;
use crate::error::Result;
use crate::model::{FactorGraph, FactorGraphBuilder};

/// The content of a file: a graph, and the names of its variables if the format has names.
#[derive(Clone, Debug)]
pub struct Network {
    /// The graph.
    pub graph: FactorGraph,
    /// Names of all its variables and their states; `None` for formats without names.
    pub names: Option<Names>,
}

/// A network before its graph is built.
pub(super) struct ParsedNetwork {
    pub(super) builder: FactorGraphBuilder,
    pub(super) names: Option<Names>,
}

impl ParsedNetwork {
    pub(super) fn build(self) -> Result<Network> {
        Ok(Network { graph: self.builder.build()?, names: self.names })
    }
}

impl From<FactorGraphBuilder> for ParsedNetwork {
    fn from(builder: FactorGraphBuilder) -> Self {
        Self { builder, names: None }
    }
}
