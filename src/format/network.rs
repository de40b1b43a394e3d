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
    /// The probability of the priors of all variables that head no factor, if they get some.
    pub(super) missing_priors: Option<f64>,
}

impl ParsedNetwork {
    /// Without names; all variables that head no factor get a prior of this probability.
    pub(super) fn with_missing_priors(builder: FactorGraphBuilder, p: f64) -> Self {
        Self { builder, names: None, missing_priors: Some(p) }
    }

    pub(super) fn build(self) -> Result<Network> {
        let graph = match self.missing_priors {
            Some(p) => self.builder.build_with_missing_priors(p),
            None => self.builder.build(),
        }?;
        Ok(Network { graph, names: self.names })
    }
}

impl From<FactorGraphBuilder> for ParsedNetwork {
    fn from(builder: FactorGraphBuilder) -> Self {
        Self { builder, names: None, missing_priors: None }
    }
}
