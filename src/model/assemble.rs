//! Brings the factors of a builder into the form of the graph: variables ascending, edges, parameters.

use super::factor::HornParameters;
use super::graph::FactorGraph;
use super::parameters::ParameterTable;
use super::structured_scope::not_binary;
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, copied, filled, room};

/// Adds the edges of a horn factor: body and head, ascending, each once.
pub(super) fn add_horn_scope(
    graph: &mut FactorGraph,
    factor: usize,
    head: u32,
    scope: &mut Vec<u32>,
    horn: &mut ParameterTable,
) -> Result<()> {
    if scope.contains(&head) {
        let entry = horn.entries[graph.parameters[factor] as usize];
        graph.parameters[factor] = horn.intern(HornParameters { head_in_body: true, ..entry })?;
    }
    scope.try_push(head)?;
    scope.sort_unstable();
    scope.dedup();
    if !graph.all_binary
        && let Some(&v) = scope.iter().find(|&&v| graph.cardinalities[v as usize] != 2)
    {
        return Err(not_binary(graph, factor, v));
    }
    graph.heads[factor] = scope.partition_point(|&v| v < head) as u32;
    graph.edge_variable.try_append(scope)
}

/// Adds the edges of a table and brings its values into the graph's order.
pub(super) fn add_table_scope(
    graph: &mut FactorGraph,
    factor: usize,
    scope: &mut [u32],
) -> Result<()> {
    let table = graph.parameters[factor] as usize;
    let range = graph.table_offsets[table]..graph.table_offsets[table + 1];
    let mut size = 1_usize;
    for &v in scope.iter() {
        size = size.checked_mul(graph.cardinalities[v as usize] as usize).ok_or_else(|| {
            Error::LimitExceeded(format!("factor {factor}: its table has more than 2^64 entries"))
        })?;
    }
    if size != range.len() {
        return Err(Error::InvalidArgument(format!(
            "factor {factor}: the table has {} values: its {} variables have {size} joint states",
            range.len(),
            scope.len()
        )));
    }
    let mut order: Vec<usize> = collected(0..scope.len())?;
    order.sort_unstable_by_key(|&i| (scope[i], i));
    if let Some(pair) = order.windows(2).find(|pair| scope[pair[0]] == scope[pair[1]]) {
        return Err(Error::InvalidArgument(format!(
            "factor {factor}: variable {} occurs twice in the table's scope: it may occur once",
            graph.labels[scope[pair[0]] as usize]
        )));
    }
    if !order.is_sorted() {
        let radices: Vec<usize> =
            collected(scope.iter().map(|&v| graph.cardinalities[v as usize] as usize))?;
        permute_table(&mut graph.table_values[range], &radices, &order)?;
    }
    graph.edge_variable.try_extend(order.iter().map(|&i| scope[i]))
}

/// Reorders a table whose i-th variable has `radices[i]` states (first fastest), so that variable
/// `order[k]` becomes the k-th.
fn permute_table(values: &mut [f64], radices: &[usize], order: &[usize]) -> Result<()> {
    let mut strides = filled(radices.len(), 1)?;
    for i in 1..radices.len() {
        strides[i] = strides[i - 1] * radices[i - 1];
    }
    let source = copied(values)?;
    let mut states = filled(order.len(), 0)?;
    let mut from = 0;
    for value in values {
        *value = source[from];
        for (state, &i) in states.iter_mut().zip(order) {
            *state += 1;
            from += strides[i];
            if *state < radices[i] {
                break;
            }
            from -= strides[i] * radices[i];
            *state = 0;
        }
    }
    Ok(())
}

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
