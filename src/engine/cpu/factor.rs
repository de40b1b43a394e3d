//! The factors' side of an iteration: messages from a factor to its variables.

use super::state::{Expanded, State};
use super::trees::HighDegreeVariables;
use super::variable::{message_to_factor, simple_odds};
use super::workspace::Workspace;
use crate::engine::expand;
use crate::error::Result;
use crate::factor::Update;
use crate::kernel::{
    EncodedMessage, Inference, TableInputs, horn_message, horn_messages, stored_values,
    table_message, table_messages,
};
use crate::memory::{self, NoMemory, fit};
use std::ops::Range;

/// Computes all messages of a factor from the inputs in `workspace.inputs`, into
/// `workspace.outputs`, in the layout of its edges in `by_edge`. 0/0 is left as it is. The message to the variable at
/// `except` may be left out.
#[inline]
pub(super) fn all_messages(
    state: &State, factor: usize, except: Option<usize>, workspace: &mut Workspace,
) -> Result<(), NoMemory> {
    workspace.outputs.clear();
    fit(&mut workspace.outputs, workspace.inputs.len())?;
    workspace.outputs.resize(workspace.inputs.len(), EncodedMessage::ONE);
    if let Some((head, c)) = state.conjunction(factor) {
        let Workspace { inputs, outputs, scratch, .. } = workspace;
        horn_messages(inputs, head, c, state.inference, outputs, &mut scratch.horn)
    } else {
        other_messages(state, factor, None, except, workspace)
    }
}

/// Computes the messages of a factor that is no conjunction of literals from the inputs in
/// `workspace.inputs`, into `workspace.outputs`, which have their length: all of them, of which the one to `except` may
/// be left out, or the one to `target`.
fn other_messages(
    state: &State, factor: usize, target: Option<usize>, except: Option<usize>,
    workspace: &mut Workspace,
) -> Result<(), NoMemory> {
    let graph = &state.graph;
    let Workspace { inputs, outputs, radices, scratch, .. } = workspace;
    radices.clear();
    fit(radices, graph.arity(factor))?;
    radices
        .extend(graph.factor_variables(factor).iter().map(|&v| graph.cardinalities()[v as usize]));
    let view = graph.factor(factor);
    let Some((values, exponents)) = state.table(factor, &view) else {
        let (incoming, inference, out) = (inputs, state.inference, outputs);
        return view.messages(Update { radices, incoming, inference, target, out }, scratch);
    };
    let table = TableInputs { values, exponents, radices, inputs };
    match target {
        None => table_messages(table, state.inference, except, outputs, &mut scratch.tables),
        Some(target) => table_message(table, state.inference, target, outputs, &mut scratch.tables),
    }
}

/// Makes the tables of the factors that run as such. Errors: one has too many entries.
pub(super) fn expand_for(state: &mut State, inference: Inference) -> Result<()> {
    let graph = state.graph.clone();
    for factor in graph.other_factors() {
        let needed = graph.factor(factor).needs_table(inference);
        if needed && !state.expanded.contains_key(&(factor as u32)) {
            let values = expand(&graph, factor, inference)?;
            let exponents = values.as_values().exponents();
            memory::insert(&mut state.expanded, factor as u32, Expanded { values, exponents })?;
        }
    }
    Ok(())
}

/// Makes messages that are 0/0 uniform and notes them; `outputs` are those of `edges`, one after the
/// other.
#[inline]
pub(super) fn settle_contradictions(
    state: &State, edges: impl Iterator<Item = usize>, workspace: &mut Workspace,
) {
    let mut at = 0;
    for edge in edges {
        let length = state.edge_values(edge).len();
        if workspace.outputs[at] == EncodedMessage::CONTRADICTION {
            workspace.outputs[at..at + length].fill(EncodedMessage::ONE);
            workspace.contradictions.add(state.graph.edge_variables()[edge] as usize);
        }
        at += length;
    }
}

/// Computes the message of a factor to the variable at position `target` from the inputs in
/// `workspace.inputs`, into `workspace.outputs`. The target's own input is not used.
fn one_message(
    state: &State, factor: usize, target: usize, workspace: &mut Workspace,
) -> Result<(), NoMemory> {
    let variable = state.graph.factor_variables(factor)[target] as usize;
    let length = stored_values(state.graph.cardinalities()[variable]);
    let Workspace { inputs, outputs, scratch, .. } = workspace;
    outputs.clear();
    fit(outputs, length)?;
    if let Some((head, c)) = state.conjunction(factor) {
        let scratch = &mut scratch.horn;
        outputs.push(horn_message(inputs, head, target, c, state.inference, scratch)?);
        Ok(())
    } else {
        outputs.resize(length, EncodedMessage::ONE);
        other_messages(state, factor, Some(target), None, workspace)
    }
}

/// Reads the messages to a factor from the variables' current state into `workspace.inputs`; at
/// `skip`, a message that is not needed, some value stands.
fn gather_inputs(
    state: &State, high_degree_variables: &mut HighDegreeVariables<'_>, edges: Range<usize>,
    skip: Option<usize>, workspace: &mut Workspace,
) -> Result<(), NoMemory> {
    let mut inputs = std::mem::take(&mut workspace.inputs);
    inputs.clear();
    let gather = || {
        let Range { start, end } = edges;
        fit(&mut inputs, state.edge_values(end - 1).end - state.edge_values(start).start)?;
        for edge in edges {
            if skip == Some(edge) {
                inputs.resize(inputs.len() + state.edge_values(edge).len(), EncodedMessage::ONE);
            } else if let Some(odds) = simple_odds(state.to_variable.view(), state.links[edge]) {
                inputs.push(odds);
            } else {
                message_to_factor(state, high_degree_variables, edge, workspace, &mut inputs)?;
            }
        }
        Ok(())
    };
    let gathered = gather();
    workspace.inputs = inputs;
    gathered
}

/// Computes the messages along some edges of one factor (ascending) from the variables' current
/// state, into `workspace.outputs`, one after the other. O(arity * log degree), for tables
/// O(entries). `false` without memory for them, which the workspace then says, too.
#[inline]
#[must_use]
pub(super) fn messages(
    state: &State, high_degree_variables: &mut HighDegreeVariables<'_>, factor: usize,
    wanted: &[u32], workspace: &mut Workspace,
) -> bool {
    let made = try_messages(state, high_degree_variables, factor, wanted, workspace).is_ok();
    workspace.lacks_memory |= !made;
    made
}

#[inline]
fn try_messages(
    state: &State, high_degree_variables: &mut HighDegreeVariables<'_>, factor: usize,
    wanted: &[u32], workspace: &mut Workspace,
) -> Result<(), NoMemory> {
    let edges = state.graph.factor_edges(factor);
    let only = if let [edge] = *wanted { Some(edge as usize) } else { None };
    gather_inputs(state, high_degree_variables, edges, only, workspace)?;
    wanted_messages(state, factor, wanted, workspace)
}

/// Computes the messages along some edges of one factor (ascending) from the inputs in `workspace.inputs`, into
/// `workspace.outputs`, one after the other. Of one edge alone, the input is not used.
#[inline]
pub(super) fn wanted_messages(
    state: &State, factor: usize, wanted: &[u32], workspace: &mut Workspace,
) -> Result<(), NoMemory> {
    let edges = state.graph.factor_edges(factor);
    if let [edge] = *wanted {
        let edge = edge as usize;
        one_message(state, factor, edge - edges.start, workspace)?;
        settle_contradictions(state, std::iter::once(edge), workspace);
        return Ok(());
    }
    // The one that is not wanted, if it is one.
    let except = (wanted.len() + 1 == edges.len()).then(|| {
        let in_place = |&(place, &edge): &(usize, &u32)| edges.start + place == edge as usize;
        wanted.iter().enumerate().take_while(in_place).count()
    });
    all_messages(state, factor, except, workspace)?;
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
    Ok(())
}

/// Whether a factor's message never changes: it has one variable.
#[inline(always)]
pub(super) fn is_constant(state: &State, factor: usize) -> bool {
    state.graph.arity(factor) == 1
}

/// Whether no message of a factor with one variable is 0/0. O(factors). Errors: no memory.
#[cold]
pub(super) fn constants_are_consistent(
    state: &State, workspace: &mut Workspace,
) -> Result<bool, NoMemory> {
    for factor in 0..state.graph.factor_count() {
        if !is_constant(state, factor) {
            continue;
        }
        let length = state.edge_values(state.graph.factor_edges(factor).start).len();
        workspace.inputs.clear();
        fit(&mut workspace.inputs, length)?;
        workspace.inputs.resize(length, EncodedMessage::ONE);
        one_message(state, factor, 0, workspace)?;
        if workspace.outputs[0] == EncodedMessage::CONTRADICTION {
            return Ok(false);
        }
    }
    Ok(true)
}
