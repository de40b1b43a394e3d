//! Messages: read, replaced, saved and restored.

use super::arguments::{Buffer, Output, array};
use super::bp::*;
use super::guard::{self};
use super::session::Session;
use super::status::fastlbp_status;

/// Length of the array of all messages: the sum over all edges of the cardinality of the edge's
/// variable.
///
/// @param bp The session.
/// @param out Where the length is written.
/// @return FASTLBP_STATUS_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_message_length(
    bp: *const fastlbp_bp,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            Output::new("out", out)?.set(message_length(session));
            Ok(())
        })
    }
}

fn message_length(session: &Session) -> usize {
    let graph = session.graph();
    if graph.all_binary() {
        return 2 * graph.edge_count();
    }
    graph.edge_variables().iter().map(|&v| graph.cardinality(v as usize)).sum()
}

/// All factor-to-variable messages, edge by edge: one probability per state of the edge's variable.
/// These are rounded; to go on later with the same bits, see fastlbp_bp_save_state.
///
/// @param bp The session.
/// @param buffer Where the messages are written.
/// @param length Length of the buffer; fastlbp_bp_message_length is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_bp_prepare.
///
/// Prepares a session that is not yet prepared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_messages(
    bp: *const fastlbp_bp,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            let buffer = Buffer::new(buffer, length, needed)?.check(message_length(session))?;
            buffer.fill(&session.engine()?.messages()?)
        })
    }
}

/// Replaces all factor-to-variable messages, in the layout of fastlbp_bp_messages. The number of
/// passes done counts from 0 again. A run with FASTLBP_START_WARM goes on from them.
///
/// @param bp The session; changed.
/// @param messages `length` values: for each edge finite and not negative, not all zero; only their
///        ratios matter.
/// @param length Must be fastlbp_bp_message_length.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_messages(
    bp: *mut fastlbp_bp,
    messages: *const f64,
    length: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and an array of `length` entries.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            let messages = array("messages", messages, length)?;
            Ok(session.prepare()?.set_messages(messages)?)
        })
    }
}

/// The exact state of the messages and the number of passes done, for fastlbp_bp_restore_state: a
/// sequence of words whose meaning belongs to this version of the library. Evidence, schedule,
/// settings and results are not part of it.
///
/// @param bp The session.
/// @param buffer Where the words are written.
/// @param length Length of the buffer; 4 more than fastlbp_bp_message_length is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_bp_prepare.
///
/// Prepares a session that is not yet prepared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_save_state(
    bp: *const fastlbp_bp,
    buffer: *mut u64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            let buffer = Buffer::new(buffer, length, needed)?;
            buffer.fill(&session.engine()?.save_state()?)
        })
    }
}

/// Goes back to a saved state, also of another session on an equal graph. A run with
/// FASTLBP_START_WARM goes on from it with the same bits.
///
/// @param bp The session; changed.
/// @param state `length` words from fastlbp_bp_save_state.
/// @param length Number of words.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT if it is not a state of this version
///         and graph; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_restore_state(
    bp: *mut fastlbp_bp,
    state: *const u64,
    length: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and an array of `length` entries.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            let state = array("state", state, length)?;
            Ok(session.prepare()?.restore_state(state)?)
        })
    }
}
