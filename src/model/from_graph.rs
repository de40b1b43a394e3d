//! From a graph back to a builder.

use super::builder::FactorGraphBuilder;
use super::graph::{FactorGraph, Label};
use crate::error::Result;
use crate::memory::Grow;

impl FactorGraphBuilder {
    /// A builder that builds a graph equal to this one. O(size of the graph).
    pub fn from_graph(graph: &FactorGraph) -> Result<Self> {
        let mut builder = Self::new();
        for (&label, &cardinality) in graph.labels().iter().zip(graph.cardinalities()) {
            builder.add_variable(label, cardinality as usize)?;
        }
        let mut members: Vec<Label> = Vec::new();
        for factor in 0..graph.factor_count() {
            let (kind, number) = (graph.kind(factor), graph.parameters[factor]);
            let head = graph.head_position(factor);
            let left_out = head.filter(|_| !graph.stores.has_head_in_body(kind, number));
            let variables = graph.factor_variables(factor);
            let label = |position: usize| graph.label(variables[position] as usize);
            members.clear();
            let positions = (0..variables.len()).filter(|&position| Some(position) != left_out);
            members.try_extend(positions.map(label))?;
            let position = graph.heads[factor] as usize;
            let draft = builder.drafts.restore(&graph.stores, kind, number, position)?;
            builder.make_room(1, members.len())?;
            builder.push_factor(kind, head.map_or(0, label), &members, draft);
        }
        Ok(builder)
    }
}
