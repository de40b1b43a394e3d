//! The factors' side of a pass: messages from a factor to its variables.

use super::state::State;
use super::trees::Hubs;
use super::variable::message_to_factor;
use super::workspace::Workspace;
use crate::kernel::{
    Packed, TableInputs, horn_message, horn_messages, stored_values, table_message, table_messages,
};
use crate::model::Factor;
use std::ops::Range;

/// Computes all messages of a factor from the inputs in `workspace.inputs`, into
/// `workspace.outputs`, in the layout of its edges in `by_edge`. 0/0 is left as it is.
#[inline]
pub(super) fn all_messages(state: &State, factor: usize, workspace: &mut Workspace) {
    let graph = &state.graph;
    let Workspace { inputs, outputs, radices, horn, table, .. } = workspace;
    outputs.clear();
    outputs.resize(inputs.len(), Packed::ONE);
    if let (Some(head), Some(parameter)) =
        (graph.head_position(factor), graph.horn_parameter(factor))
    {
        horn_messages(inputs, head, &state.coefficients[parameter], outputs, horn);
    } else {
        table_messages(table_inputs(state, factor, inputs, radices), outputs, table);
    }
}

/// Makes messages that are 0/0 uniform and notes them; `outputs` are those of `edges`, one after the
/// other.
#[inline]
pub(super) fn settle_contradictions(
    state: &State,
    edges: impl Iterator<Item = usize>,
    workspace: &mut Workspace,
) {
    let mut at = 0;
    for edge in edges {
        let length = state.edge_values(edge).len();
        if workspace.outputs[at] == Packed::CONTRADICTION {
            workspace.outputs[at..at + length].fill(Packed::ONE);
            workspace.contradictions.add(state.graph.edge_variables()[edge] as usize);
        }
        at += length;
    }
}

/// Computes the message of a factor to the variable at position `target` from the inputs in
/// `workspace.inputs`, into `workspace.outputs`. The target's own input is not used.
fn one_message(state: &State, factor: usize, target: usize, workspace: &mut Workspace) {
    let graph = &state.graph;
    let Workspace { inputs, outputs, radices, horn, table, .. } = workspace;
    outputs.clear();
    let variable = graph.factor_variables(factor)[target] as usize;
    if let (Some(head), Some(parameter)) =
        (graph.head_position(factor), graph.horn_parameter(factor))
    {
        outputs.push(horn_message(inputs, head, target, &state.coefficients[parameter], horn));
    } else {
        let radix = graph.cardinalities()[variable];
        outputs.resize(stored_values(radix), Packed::ONE);
        let inputs = table_inputs(state, factor, inputs, radices);
        table_message(inputs, target, outputs, table);
    }
}

fn table_inputs<'a>(
    state: &'a State,
    factor: usize,
    inputs: &'a [Packed],
    radices: &'a mut Vec<u32>,
) -> TableInputs<'a> {
    let graph = &state.graph;
    radices.clear();
    radices
        .extend(graph.factor_variables(factor).iter().map(|&v| graph.cardinalities()[v as usize]));
    let values = match graph.factor(factor) {
        Factor::Table(values) => values,
        _ => &[],
    };
    TableInputs { values, exponents: state.exponents_of_table(factor), radices, inputs }
}

/// Reads the messages to a factor from the variables' current state into `workspace.inputs`; at
/// `skip`, a message that is not needed, some value stands.
fn gather_inputs(
    state: &State,
    hubs: &mut Hubs<'_>,
    edges: Range<usize>,
    skip: Option<usize>,
    workspace: &mut Workspace,
) {
    let mut inputs = std::mem::take(&mut workspace.inputs);
    inputs.clear();
    for edge in edges {
        if skip == Some(edge) {
            inputs.resize(inputs.len() + state.edge_values(edge).len(), Packed::ONE);
        } else {
            message_to_factor(state, hubs, edge, workspace, &mut inputs);
        }
    }
    workspace.inputs = inputs;
}

/// Computes the messages along some edges of one factor (ascending) from the variables' current
/// state, into `workspace.outputs`, one after the other. O(arity * log degree), for tables
/// O(entries).
#[inline]
pub(super) fn messages(
    state: &State,
    hubs: &mut Hubs<'_>,
    factor: usize,
    wanted: &[u32],
    workspace: &mut Workspace,
) {
    let edges = state.graph.factor_edges(factor);
    if let [edge] = *wanted {
        let edge = edge as usize;
        gather_inputs(state, hubs, edges.clone(), Some(edge), workspace);
        one_message(state, factor, edge - edges.start, workspace);
        settle_contradictions(state, std::iter::once(edge), workspace);
        return;
    }
    gather_inputs(state, hubs, edges.clone(), None, workspace);
    all_messages(state, factor, workspace);
    if wanted.len() < edges.len() {
        // Close up: entries only move towards the front.
        let first = state.edge_values(edges.start).start;
        let mut at = 0;
        for &edge in wanted {
            let values = state.edge_values(edge as usize);
            workspace.outputs.copy_within(values.start - first..values.end - first, at);
            at += values.len();
        }
    }
    settle_contradictions(state, wanted.iter().map(|&edge| edge as usize), workspace);
}

/// Whether a factor's message never changes: it has one variable.
#[inline(always)]
pub(super) fn is_constant(state: &State, factor: usize) -> bool {
    state.graph.arity(factor) == 1
}
