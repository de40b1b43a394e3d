//! From a graph back to a builder.

use super::builder::FactorGraphBuilder;
use super::factor::{Factor, FactorKind};
use super::graph::{FactorGraph, Label};
use crate::error::Result;
use crate::memory::{Grow, collected};

impl FactorGraphBuilder {
    /// A builder that builds a graph equal to this one. O(size of the graph).
    pub fn from_graph(graph: &FactorGraph) -> Result<Self> {
        let mut builder = Self::new();
        for (&label, &cardinality) in graph.labels().iter().zip(graph.cardinalities()) {
            builder.add_variable(label, cardinality as usize)?;
        }
        let mut body: Vec<Label> = Vec::new();
        for factor in 0..graph.factor_count() {
            let head_position = graph.head_position(factor).unwrap_or(usize::MAX);
            let variables = graph.factor_variables(factor);
            let labels = variables.iter().map(|&v| graph.label(v as usize));
            let mut head = 0;
            body.clear();
            let view = graph.factor(factor);
            let head_in_body =
                matches!(view, Factor::And(horn) | Factor::Or(horn) if horn.head_in_body);
            for (position, label) in labels.enumerate() {
                if position == head_position {
                    head = label;
                }
                if position != head_position || head_in_body {
                    body.try_push(label)?;
                }
            }
            let in_body = |position: &usize| *position != head_position;
            match view {
                Factor::Table(values) => builder.add_table(&body, values)?,
                Factor::Singleton { p } => builder.add_singleton(head, p)?,
                Factor::And(horn) => builder.add_and(head, &body, horn.p, horn.q)?,
                Factor::Or(horn) => builder.add_or(head, &body, horn.p, horn.q)?,
                Factor::Signed(signed) => {
                    let positions = (0..variables.len()).filter(in_body);
                    let negated: Vec<bool> = collected(positions.map(|p| signed.is_negated(p)))?;
                    // The merging of literals may have left no positive value.
                    let number = builder.structured.push_signed(signed.values, &negated)?;
                    builder.make_room(1, body.len())?;
                    builder.push_factor(FactorKind::Signed, head, &body, number);
                }
                Factor::Noisy(noisy) => {
                    let positions = (0..variables.len()).filter(in_body);
                    let literals: Vec<_> = collected(positions.map(|p| noisy.literals[p]))?;
                    builder.add_noisy(head, &body, &literals, noisy.values)?;
                }
                Factor::Terms(terms) => {
                    let each = (0..terms.weights.len()).map(|term| terms.term(term));
                    let number =
                        builder.structured.push_terms(terms.weights, each, terms.exclusive)?;
                    builder.make_room(1, body.len())?;
                    builder.push_factor(FactorKind::Terms, 0, &body, number);
                }
            }
        }
        Ok(builder)
    }
}
