//! TOPO: along the arcs from bodies to heads, then back.

use super::digraph::Digraph;
use super::heads::{body_to_head_arcs, head_edges};
use super::preorder::{Preorder, counting_sort};
use super::tree::tree;
use crate::error::Result;
use crate::memory::{collected, filled, room};
use crate::model::FactorGraph;

/// The order that [`super::Schedule::Topological`] describes. O((variables + edges) log variables).
pub(super) fn topological(graph: &FactorGraph) -> Result<Preorder> {
    let Some(arcs) = body_to_head_arcs(graph)? else { return tree(graph) };
    let position = variable_positions(&arcs)?;
    let heads = collected(head_edges(graph, &position))?;
    let head_variables = heads.iter().map(|&(_, head)| graph.edge_variables()[head] as usize);
    let head_positions: Vec<u32> = collected(head_variables.map(|variable| position[variable]))?;
    let (by_head, _) = counting_sort(&head_positions, graph.variable_count())?;
    let mut order: Vec<u32> = room(graph.edge_count())?;
    order.extend(by_head.iter().map(|&i| heads[i as usize].1 as u32));
    for &i in by_head.iter().rev() {
        let (factor, head) = heads[i as usize];
        let bodies = graph.factor_edges(factor).rev().filter(|&edge| edge != head);
        order.extend(bodies.map(|edge| edge as u32));
    }
    Preorder::from_order(&order)
}

/// Position of each variable in the topological order of the arcs from bodies to heads.
fn variable_positions(arcs: &Digraph) -> Result<Vec<u32>> {
    let (ranks, components) = arcs.component_ranks()?;
    let (sorted, _) = counting_sort(&ranks, components)?;
    let mut position = filled(arcs.node_count(), 0)?;
    for (place, &v) in sorted.iter().enumerate() {
        position[v as usize] = place as u32;
    }
    Ok(position)
}
