//! TOPO: along the arcs from bodies to heads, then back.

use super::digraph::Digraph;
use super::preorder::{Preorder, counting_sort};
use super::tree::tree;
use crate::model::{FactorGraph, FactorKind};

/// The order that [`super::Schedule::Topological`] describes. O((variables + edges) log variables).
pub(super) fn topological(graph: &FactorGraph) -> Preorder {
    let horn = |factor: &usize| matches!(graph.kind(*factor), FactorKind::And | FactorKind::Or);
    if !(0..graph.factor_count()).any(|factor| horn(&factor)) {
        return tree(graph);
    }
    let position = variable_positions(graph);
    // Head edge of each factor that has edges.
    let mut factors = Vec::with_capacity(graph.factor_count());
    let mut heads = Vec::with_capacity(graph.factor_count());
    let mut head_positions = Vec::with_capacity(graph.factor_count());
    for factor in 0..graph.factor_count() {
        let edges = graph.factor_edges(factor);
        let position_of = |edge: &usize| position[graph.edge_variables()[*edge] as usize];
        let head = match graph.head_position(factor) {
            Some(head) => Some(edges.start + head),
            None => edges.max_by_key(position_of),
        };
        if let Some(head) = head {
            factors.push(factor);
            heads.push(head as u32);
            head_positions.push(position_of(&head));
        }
    }
    let (by_head, _) = counting_sort(&head_positions, graph.variable_count());
    let mut order: Vec<u32> = Vec::with_capacity(graph.edge_count());
    order.extend(by_head.iter().map(|&i| heads[i as usize]));
    for &i in by_head.iter().rev() {
        let head = heads[i as usize];
        let edges = graph.factor_edges(factors[i as usize]).rev().map(|edge| edge as u32);
        order.extend(edges.filter(|&edge| edge != head));
    }
    Preorder::from_order(&order)
}

/// Position of each variable in the topological order of the arcs from bodies to heads.
fn variable_positions(graph: &FactorGraph) -> Vec<u32> {
    let arcs = (0..graph.factor_count())
        .filter(|&factor| matches!(graph.kind(factor), FactorKind::And | FactorKind::Or))
        .flat_map(|factor| {
            let variables = graph.factor_variables(factor);
            let head = variables[graph.head_position(factor).unwrap_or_default()];
            variables.iter().filter(move |&&v| v != head).map(move |&v| (v, head))
        });
    let (ranks, components) = Digraph::from_arcs(graph.variable_count(), arcs).component_ranks();
    let (sorted, _) = counting_sort(&ranks, components);
    let mut position = vec![0; graph.variable_count()];
    for (place, &v) in sorted.iter().enumerate() {
        position[v as usize] = place as u32;
    }
    position
}
