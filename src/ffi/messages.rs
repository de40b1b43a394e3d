//! # Messages
//!
//! For those who go on later, in another process, or from messages of their own. fastlbp_bp_messages tells them as
//! probabilities, which are rounded; fastlbp_bp_save_state keeps every bit.

use super::arguments::Buffer;
use super::bp::fastlbp_bp;
use super::session::Session;
use super::status::fastlbp_status;

/// Length of the array of all messages: the states of the variables of all edges together.
fn message_length(session: &Session) -> usize {
    let graph = session.graph();
    if graph.all_binary() {
        return 2 * graph.edge_count();
    }
    graph.edge_variables().iter().map(|&v| graph.cardinality(v as usize)).sum()
}

/// All factor-to-variable messages, edge by edge: one probability per state of the edge's variable. Prepares a session
/// that is not yet prepared, unless only the length is asked for.
///
/// @return As fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_messages(
    bp: *const fastlbp_bp, buffer: *mut f64, length: usize, needed: *mut usize,
) -> fastlbp_status {
    read!(bp, |session| {
        let buffer = Buffer::new(buffer, length, needed)?.check(message_length(session))?;
        buffer.fill(&session.bp.messages()?)
    })
}

/// Replaces all factor-to-variable messages, in the layout of fastlbp_bp_messages. The number of iterations done counts
/// from 0 again. A run with FASTLBP_START_WARM goes on from them.
///
/// @param messages `length` values: for each edge finite and not negative, not all zero; only their ratios matter.
/// @param length Must be the length that fastlbp_bp_messages needs.
/// @return INVALID_ARGUMENT; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_messages(
    bp: *mut fastlbp_bp, messages: *const f64, length: usize,
) -> fastlbp_status {
    change!(bp, |session| {
        let messages = array!(messages, length);
        session.replace_messages(|bp| bp.set_messages(messages))
    })
}

/// The exact state of the messages and the number of iterations done: words whose meaning belongs to this version of the
/// library. Evidence, schedule, settings and results are not part of it. Prepares a session that is not yet prepared.
///
/// @return As fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_save_state(
    bp: *const fastlbp_bp, buffer: *mut u64, length: usize, needed: *mut usize,
) -> fastlbp_status {
    read!(bp, |session| fill!(buffer, length, needed, &session.bp.save_state()?))
}

/// Goes back to a saved state, also of another session on an equal graph. A run with FASTLBP_START_WARM goes on from it
/// with the same bits.
///
/// @param state `length` words from fastlbp_bp_save_state.
/// @param length Number of words.
/// @return INVALID_ARGUMENT if it is not a state of this version and of a graph with these labels, cardinalities and
///         scopes, or is damaged, which a checksum in it tells; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_restore_state(
    bp: *mut fastlbp_bp, state: *const u64, length: usize,
) -> fastlbp_status {
    change!(bp, |session| {
        let state = array!(state, length);
        session.replace_messages(|bp| bp.restore_state(state))
    })
}
