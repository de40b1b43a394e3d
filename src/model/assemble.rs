//! The directions of a graph's edges that follow from its factors' scopes.

use super::graph::FactorGraph;
use crate::error::Result;
use crate::memory::{copied, filled, room};

/// Fills in the edge-to-factor and variable-to-edge directions.
pub(super) fn connect(graph: &mut FactorGraph) -> Result<()> {
    let edges = graph.edge_variable.len();
    graph.edge_factor = room(edges)?;
    for factor in 0..graph.kinds.len() {
        let degree = graph.factor_offsets[factor + 1] - graph.factor_offsets[factor];
        graph.edge_factor.extend(std::iter::repeat_n(factor as u32, degree as usize));
    }
    let mut offsets = filled(graph.labels.len() + 1, 0_u32)?;
    for &v in &graph.edge_variable {
        offsets[v as usize + 1] += 1;
    }
    for v in 0..graph.labels.len() {
        offsets[v + 1] += offsets[v];
    }
    let mut next = copied(&offsets)?;
    graph.variable_edges = filled(edges, 0)?;
    for (edge, &v) in graph.edge_variable.iter().enumerate() {
        let slot = &mut next[v as usize];
        graph.variable_edges[*slot as usize] = edge as u32;
        *slot += 1;
    }
    graph.variable_offsets = offsets;
    Ok(())
}
