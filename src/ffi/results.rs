//! Marginals and factor beliefs.

use super::arguments::{Buffer, Output, array};
use super::bp::*;
use super::guard::{self};
use super::memory;
use super::session::Session;
use super::status::fastlbp_status;
use crate::model::check_factor;

/// Marginals of all variables from the last run that ended without an error: the probabilities of the
/// states of variable 0, then those of variable 1, and so on. Each is exact to rounding on its own,
/// so that a probability next to 1 can be had from its complement.
///
/// @param bp The session.
/// @param buffer Where the probabilities are written.
/// @param length Length of the buffer; fastlbp_graph_state_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run;
///         FASTLBP_STATUS_BUFFER_TOO_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_marginals(
    bp: *const fastlbp_bp,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            Buffer::new(buffer, length, needed)?.fill(session.marginals()?)
        })
    }
}

/// Marginal (belief) of one variable from the last run that ended without an error: one probability
/// per state.
///
/// @param bp The session.
/// @param variable Index of the variable.
/// @param buffer Where the probabilities are written.
/// @param length Length of the buffer; the variable's cardinality is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run;
///         FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_BUFFER_TOO_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_marginal(
    bp: *const fastlbp_bp,
    variable: usize,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            Buffer::new(buffer, length, needed)?.fill(session.marginal(variable)?)
        })
    }
}

/// Probability of state 1 of one variable from the last run that ended without an error.
///
/// @param bp The session.
/// @param variable Index of the variable.
/// @param out Where the probability is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run;
///         FASTLBP_STATUS_OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_probability(
    bp: *const fastlbp_bp,
    variable: usize,
    out: *mut f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            let out = Output::new("out", out)?;
            out.set(session.marginal(variable)?[1]);
            Ok(())
        })
    }
}

/// P(x = 1) of all variables of a graph with binary variables only, from the last run that ended
/// without an error.
///
/// @param bp The session.
/// @param buffer Where the probabilities are written.
/// @param length Length of the buffer; fastlbp_graph_variable_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run;
///         FASTLBP_STATUS_UNSUPPORTED if a variable has more than two states;
///         FASTLBP_STATUS_BUFFER_TOO_SMALL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_probabilities(
    bp: *const fastlbp_bp,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            let buffer = Buffer::new(buffer, length, needed)?;
            session.check_binary()?;
            let marginals = session.marginals()?;
            buffer
                .fill_with(session.graph().variable_count(), |variable| marginals[2 * variable + 1])
        })
    }
}

/// P(x = 1) of some variables from the last run that ended without an error.
///
/// @param bp The session.
/// @param variables `count` indices of variables.
/// @param count Number of variables.
/// @param out Where `count` probabilities are written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run;
///         FASTLBP_STATUS_OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_probabilities_of(
    bp: *const fastlbp_bp,
    variables: *const u32,
    count: usize,
    out: *mut f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, an array and a buffer of `count` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            let variables = array("variables", variables, count)?;
            let out = Buffer::array("out", out, count)?;
            let probabilities = memory::converted("probabilities", variables, |_, variable| {
                Ok(session.marginal(variable as usize)?[1])
            })?;
            out.fill(&probabilities)
        })
    }
}

/// Belief of a factor from the current messages and evidence: one probability per joint state of its
/// variables, which ascend; the first one (lowest index) varies fastest.
///
/// @param bp The session.
/// @param factor Index of the factor.
/// @param buffer Where the probabilities are written.
/// @param length Length of the buffer: the product of the variables' cardinalities is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_BUFFER_TOO_SMALL;
///         FASTLBP_STATUS_LIMIT_EXCEEDED for more than 2^26 entries; FASTLBP_STATUS_CONTRADICTION if
///         the belief would be 0/0; as in fastlbp_bp_prepare.
///
/// O(entries * arity). Prepares a session that is not yet prepared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_factor_belief(
    bp: *const fastlbp_bp,
    factor: usize,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    let body = |session: &Session| {
        // SAFETY: by the header, a buffer of `length` entries, and NULL or writable.
        let mut buffer = unsafe { Buffer::new(buffer, length, needed) }?;
        let graph = session.graph();
        check_factor(graph, factor)?;
        let variables = graph.factor_variables(factor).iter();
        let size =
            variables.map(|&v| graph.cardinality(v as usize)).try_fold(1_usize, usize::checked_mul);
        // A larger one is refused below.
        if let Some(size) = size.filter(|&size| size <= 1 << 26) {
            buffer = buffer.check(size)?;
            memory::check("the belief of a factor", size.checked_mul(16))?;
        }
        buffer.fill(&session.engine()?.factor_belief(factor)?)
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::read(bp, body) }
}

/// One entry of the belief of a factor; see fastlbp_bp_factor_belief.
///
/// @param bp The session.
/// @param factor Index of the factor.
/// @param index Index of the joint state: the sum over the factor's variables of state times the
///        product of the cardinalities of the variables before it.
/// @param out Where the probability is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_CONTRADICTION if the belief
///         would be 0/0; as in fastlbp_bp_prepare.
///
/// O(arity) for singleton, AND and OR factors. Prepares a session that is not yet prepared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_factor_belief_at(
    bp: *const fastlbp_bp,
    factor: usize,
    index: u64,
    out: *mut f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            let out = Output::new("out", out)?;
            out.set(session.engine()?.factor_belief_at(factor, index)?);
            Ok(())
        })
    }
}
