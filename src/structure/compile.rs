//! The tables of a graph, each in its cheapest form.

use super::class::{Class, Recognised};
use super::recognise::recognise;
use crate::error::Result;
use crate::memory::{Grow, collected};
use crate::model::{FactorGraph, TableStructure as Structure};

/// The graph with each table in the form that is cheapest to run; `None` where none gains. Edges,
/// variables and the factors' values stay as they are. O(table entries * arity).
pub(crate) fn compile(graph: &FactorGraph) -> Result<Option<FactorGraph>> {
    graph.with_structures(|values, cardinalities| Ok(recognise(values, cardinalities)?.structure))
}

/// What the tables of one class amount to; see [`summarise`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSummary {
    /// The field's name of the class, in lower case: "and", "or", "clause", "noisy or", "context
    /// specific", "dense" and so on.
    pub class: &'static str,
    /// Number of tables of the class.
    pub tables: usize,
    /// Number of their entries.
    pub entries: usize,
    /// Number of those that do not run as tables.
    pub compiled: usize,
}

/// What local structure the tables of a graph have, by class; classes without tables are left out.
/// O(table entries * arity). Errors: no memory.
pub fn summarise(graph: &FactorGraph) -> Result<Vec<TableSummary>> {
    let empty =
        |class: Class| TableSummary { class: class.name(), tables: 0, entries: 0, compiled: 0 };
    let mut summaries: Vec<TableSummary> = collected(Class::ALL.into_iter().map(empty))?;
    let mut cardinalities: Vec<u32> = Vec::new();
    for factor in 0..graph.factor_count() {
        if let Some(values) = graph.factor(factor).as_table() {
            cardinalities.clear();
            cardinalities.try_extend(graph.factor_cardinalities(factor).map(|r| r as u32))?;
            let Recognised { structure, class } = recognise(values, &cardinalities)?;
            let summary = &mut summaries[class as usize];
            summary.tables += 1;
            summary.entries += values.len();
            summary.compiled += usize::from(structure != Structure::Dense);
        }
    }
    summaries.retain(|summary| summary.tables > 0);
    Ok(summaries)
}
