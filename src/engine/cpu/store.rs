//! Storing a computed message, for schedules that update messages in batches or one at a time.
//!
//! Whoever stores a deterministic message (0 or infinite odds) that differs from the stored one marks its
//! variable in `State::newly_certain`: only there can a contradiction have appeared or gone.

use super::state::{Link, State};
use super::workspace::{Damping, Workspace};
use crate::kernel::{EncodedMessage, damped_odds};
use crate::memory::fit;

/// Stores a message, damped if the run is damped, and marks the variable of a new deterministic message; does nothing, and returns
/// `false`, where the run drops what has changed so little.
#[inline(always)]
pub(super) fn store(
    state: &State, edge: usize, link: Link, message: &[EncodedMessage], workspace: &mut Workspace,
) -> bool {
    if state.drops_message(link.slot as usize, message) {
        return false;
    }
    store_moved(state, edge, link, message, workspace);
    true
}

/// As [`store`] for a message that is not dropped.
#[inline(always)]
pub(super) fn store_moved(
    state: &State, edge: usize, link: Link, message: &[EncodedMessage], workspace: &mut Workspace,
) {
    state.keep_computed(link.slot as usize, message);
    if state.damping > 0.0 {
        return store_damped(state, edge, link, message, workspace);
    }
    store_settled(state, edge, link, message);
}

#[inline(never)]
fn store_damped(
    state: &State, edge: usize, link: Link, message: &[EncodedMessage], workspace: &mut Workspace,
) {
    let Workspace { damping, contradictions, lacks_memory, .. } = workspace;
    if let [odds] = *message {
        let old = state.to_variable.get(state.slot_values(link.slot as usize).start);
        let damped = damped_odds(old, odds, state.damping);
        if damped.is_none() {
            contradictions.add(state.graph.edge_variables()[edge] as usize);
        }
        return store_settled(state, edge, link, &[damped.unwrap_or(EncodedMessage::ONE)]);
    }
    let Damping { damped, old } = damping;
    damped.clear();
    if fit(damped, message.len()).and_then(|()| fit(old, message.len())).is_err() {
        *lacks_memory = true;
        return;
    }
    damped.extend_from_slice(message);
    if state.damp(link.slot as usize, damped, old) {
        contradictions.add(state.graph.edge_variables()[edge] as usize);
    }
    store_settled(state, edge, link, damped);
}

/// Stores a message without damping, and marks the variable of a new deterministic message.
#[inline(always)]
fn store_settled(state: &State, edge: usize, link: Link, message: &[EncodedMessage]) {
    for (index, &value) in state.slot_values(link.slot as usize).zip(message) {
        if value.may_be_deterministic() {
            note_deterministic(state, edge, index, value);
        }
        state.to_variable.set(index, value);
    }
}

#[cold]
pub(super) fn note_deterministic(state: &State, edge: usize, at: usize, value: EncodedMessage) {
    if value.is_deterministic() && state.to_variable.get(at) != value {
        state.newly_certain.set(state.graph.edge_variables()[edge] as usize);
    }
}
