//! # Sessions
//!
//! For everyone: a session is one graph with a schedule, evidence, messages and results. The analysis of the
//! schedule and all buffers are made once, at the first run or by fastlbp_bp_prepare; evidence is data that can change
//! between runs at no cost but its own. Different sessions may run at the same time.

use super::graph::{Graph, fastlbp_graph};
use super::guard::{self, Guarded, into_handle};
use super::session::Session;
use super::status::fastlbp_status;

/// A session of belief propagation on one graph: a schedule, evidence, messages, and the results of
/// the last run.
pub struct fastlbp_bp(Guarded<Session>);

object!(fastlbp_bp, Session);

/// Makes a session on a graph; free it with fastlbp_bp_free. The graph is shared, not copied: its handle may be
/// freed or added to at once, neither of which changes the session.
///
/// It begins with the schedule SEQFIX, no evidence, sum-product, no damping, no active set, the tolerance 1e-9 for
/// beliefs of variables, at most 10000 iterations, no time limit, fresh starts, contradictions as errors, the backend
/// AUTO, and one thread per physical core.
///
/// @return As fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_new(
    graph: *const fastlbp_graph, out: *mut *mut fastlbp_bp,
) -> fastlbp_status {
    read!(graph, |graph| put!(out, into_handle(Session::new(graph.built()?.clone()))?))
}

/// Makes a session in the same state as another: settings, schedule, evidence, messages and results, but without the
/// progress callback. The two are independent. Free it with fastlbp_bp_free.
///
/// @return As fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_clone(
    bp: *const fastlbp_bp, out: *mut *mut fastlbp_bp,
) -> fastlbp_status {
    read!(bp, |session| put!(out, into_handle(session.duplicate()?)?))
}

/// The graph of a session, as a handle of its own; free it with fastlbp_graph_free. O(1): the graph is shared.
///
/// @return OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_graph(
    bp: *const fastlbp_bp, out: *mut *mut fastlbp_graph,
) -> fastlbp_status {
    read!(bp, |session| put!(out, into_handle(Graph::of(session.graph().clone()))?))
}

/// Analyses the schedule and makes all buffers by the current settings, where that is still to be done; otherwise the
/// next run does it. Messages, evidence and results stay. With FASTLBP_BACKEND_AUTO these are the buffers of the
/// backend that is expected to be the faster one for fastlbp_bp_run; another run may still choose the other.
///
/// @return UNSUPPORTED or NO_DEVICE if the backend asked for is not there, with the reason in the text; as in
///         fastlbp_bp_run for settings that no run can have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_prepare(bp: *mut fastlbp_bp) -> fastlbp_status {
    change!(bp, |session| session.prepare())
}

/// Frees a session, or nothing for NULL. If a call is still running on it, it goes when that call ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_free(bp: *mut fastlbp_bp) {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::free(bp) }
}
