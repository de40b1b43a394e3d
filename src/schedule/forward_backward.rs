//! FWDBWD: along the arcs from bodies to heads, one depth at a time, then back.

use super::heads::{body_to_head_arcs, head_edges};
use super::preorder::Preorder;
use super::tree::tree;
use crate::error::Result;
use crate::memory::filled;
use crate::model::FactorGraph;

/// The preorder that [`super::Schedule::ForwardBackward`] describes. O(variables + edges).
pub(super) fn forward_backward(graph: &FactorGraph) -> Result<Preorder> {
    let Some(arcs) = body_to_head_arcs(graph)? else { return tree(graph) };
    let depth = arcs.component_depths()?;
    let turn = depth.iter().copied().max().map_or(0, u64::from);
    let mut ranks = filled(graph.edge_count(), 0)?;
    for (factor, head) in head_edges(graph, &depth) {
        let depth = u64::from(depth[graph.edge_variables()[head] as usize]);
        for edge in graph.factor_edges(factor) {
            ranks[edge] = if edge == head { depth } else { 2 * turn + 1 - depth };
        }
    }
    Preorder::compress(&ranks)
}
