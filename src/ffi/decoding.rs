//! The partition function, and the most probable joint state.

use super::arguments::{Buffer, Output, array};
use super::bp::fastlbp_bp;
use super::guard;
use super::memory;
use super::session::Session;
use super::status::fastlbp_status;

/// Natural logarithm of the partition function by the Bethe approximation (libDAI's `logZ`), from the
/// current messages and the beliefs of the last run that ended without an error, a sum-product one:
///
/// `sum over variables i of (1 - d_i) H(b_i) - sum over factors f of KL(b_f || f)`
///
/// where d_i is the number of factors of variable i, b its belief and b_f that of a factor (Yedidia,
/// Freeman, Weiss: Constructing free-energy approximations, 2005). Exact on a graph without cycles
/// after a converged run, an approximation elsewhere.
///
/// With evidence, the partition function sums over the joint states that agree with the observations,
/// weighted by the likelihoods of soft evidence: less the value without evidence, it is the
/// log-probability of the evidence.
///
/// @param bp The session.
/// @param out Where the logarithm is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run, and in a clone or
///         after a change of backend or threads until the session has run again (0 passes from a
///         warm start will do); FASTLBP_STATUS_CONTRADICTION if a factor's belief would be 0/0.
///
/// O(edges * states), for tables O(entries * arity). Run again first if evidence or messages were changed
/// since the last run. The bits of all that leads to it are the same everywhere; the logarithm is the
/// platform's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_log_partition(
    bp: *const fastlbp_bp,
    out: *mut f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            let out = Output::new("out", out)?;
            out.set(session.engine_of_run("the log-partition")?.log_partition()?);
            Ok(())
        })
    }
}

/// A joint state decoded from the current messages, one state per variable, in general after a run
/// with FASTLBP_INFERENCE_MAX_PRODUCT: on a graph without cycles, after a converged run, one of the
/// most probable joint states; elsewhere a good guess, whose score fastlbp_bp_log_score tells.
///
/// Factors are visited depth first, as in libDAI: from the lowest of each connected component, then
/// always the highest of the factors of the variables that got their states last. The variables of a
/// factor that are still free take the joint state that maximises the factor's belief, given the states
/// already taken; so what is decoded is one joint state, not a mixture of several. Ties: of joint states
/// whose values are equal, bit for bit, the one with the lower state at the highest variable where they
/// differ wins. Observed variables keep their observed state.
///
/// @param bp The session.
/// @param buffer Where the states are written, by variable index.
/// @param length Length of the buffer; fastlbp_graph_variable_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; FASTLBP_STATUS_NO_RESULT as in
///         fastlbp_bp_log_partition; FASTLBP_STATUS_CONTRADICTION if a factor excludes the
///         states already taken, as can happen on graphs with cycles; FASTLBP_STATUS_UNSUPPORTED for a factor that
///         max-product cannot handle (see fastlbp_bp_set_inference).
///
/// O(edges * cost of a message).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_find_maximum(
    bp: *const fastlbp_bp,
    buffer: *mut u32,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            let buffer = Buffer::new(buffer, length, needed)?;
            let engine = session.engine_of_run("the maximum")?;
            let graph = session.graph();
            let buffer = buffer.check(graph.variable_count())?;
            let states = engine.find_maximum()?;
            buffer.fill_with(states.len(), |variable| states[variable] as u32)
        })
    }
}

/// Natural logarithm of the product of all factors, and of the likelihoods of soft evidence, at a
/// joint state: minus infinity where a factor or an observation excludes it. Less
/// fastlbp_bp_log_partition, it is the log-probability of the joint state.
///
/// @param bp The session.
/// @param states `length` states, by variable index.
/// @param length Must be the number of variables.
/// @param out Where the logarithm is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another length;
///         FASTLBP_STATUS_OUT_OF_RANGE for a state that its variable does not have; as in
///         fastlbp_bp_prepare.
///
/// O(edges + conditions of terms). Needs no run. The logarithm is the platform's. Prepares a session that is not yet prepared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_log_score(
    bp: *const fastlbp_bp,
    states: *const u32,
    length: usize,
    out: *mut f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, an array of `length` entries, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            let states = array("states", states, length)?;
            let out = Output::new("out", out)?;
            let states = memory::converted("a joint state", states, |_, state| Ok(state as usize))?;
            out.set(session.engine()?.log_score(&states)?);
            Ok(())
        })
    }
}
