//! The arcs from the bodies of factors to their heads, which TOPO and FWDBWD follow.

use super::digraph::Digraph;
use crate::error::Result;
use crate::model::FactorGraph;

/// The arcs from the other variables of each factor with a head to that head. `None` if there are
/// none.
pub(super) fn body_to_head_arcs(graph: &FactorGraph) -> Result<Option<Digraph>> {
    let arcs = (0..graph.factor_count())
        .filter_map(|factor| Some((factor, graph.head_position(factor)?)))
        .flat_map(|(factor, head)| {
            let variables = graph.factor_variables(factor);
            let head = variables[head];
            variables.iter().filter(move |&&v| v != head).map(move |&v| (v, head))
        });
    if arcs.clone().next().is_none() {
        return Ok(None);
    }
    Digraph::from_arcs(graph.variable_count(), arcs).map(Some)
}

/// The factors that have edges, with the edge to the head of each. In a factor without a head, the
/// variable with the highest key counts as one; of several, the highest variable.
pub(super) fn head_edges<'a>(
    graph: &'a FactorGraph, key: &'a [u32],
) -> impl Iterator<Item = (usize, usize)> + 'a {
    (0..graph.factor_count()).filter_map(move |factor| {
        let mut edges = graph.factor_edges(factor);
        let head = match graph.head_position(factor) {
            Some(head) => edges.nth(head),
            None => edges.max_by_key(|&edge| key[graph.edge_variables()[edge] as usize]),
        };
        Some((factor, head?))
    })
}
