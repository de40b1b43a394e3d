//! Marginals and factor beliefs.

use super::arguments::{Buffer, Output, array};
use super::bp::*;
use super::guard::{self};
use super::memory;
use super::session::Session;
use super::status::{Outcome, fastlbp_status};
use crate::error::Error;
use crate::model::{check_factor, check_variable};

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
///         FASTLBP_STATUS_OUT_OF_RANGE, also for a variable with one state.
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
            out.set(session.probability(variable)?);
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
///         FASTLBP_STATUS_UNSUPPORTED if a variable has more or fewer than two states;
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
///         FASTLBP_STATUS_OUT_OF_RANGE, also for a variable with one state.
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
                session.probability(variable as usize)
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
/// O(arity) for factors with a head, O(terms * arity) for terms, O(entries) for tables. Prepares a session that is not yet prepared.
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

/// Most entries of a joint belief that are written out.
const JOINT_BELIEF_LIMIT: usize = 1 << 26;

/// Writes the belief of some variables, given by index.
fn write_joint_belief(session: &Session, variables: &[usize], buffer: Buffer<f64>) -> Outcome {
    let graph = session.graph();
    for &variable in variables {
        check_variable(graph, variable)?;
    }
    let size = variables
        .iter()
        .try_fold(1_usize, |size, &variable| size.checked_mul(graph.cardinality(variable)))
        .filter(|&size| size <= JOINT_BELIEF_LIMIT);
    let size = size.ok_or_else(|| {
        Error::LimitExceeded(format!(
            "joint belief of {} variables: it has more than {JOINT_BELIEF_LIMIT} entries",
            variables.len()
        ))
    })?;
    let buffer = buffer.check(size)?;
    if let [variable] = variables {
        // Also from a run whose engine is gone.
        return buffer.fill(session.marginal(*variable)?);
    }
    buffer.fill(&session.engine()?.joint_belief(variables)?)
}

/// Joint belief of two variables that share a factor, from the current messages and evidence: entry
/// `x + y * cardinality(first)` is the probability of the states x and y. See fastlbp_bp_joint_belief.
///
/// @param bp The session.
/// @param first Index of one variable.
/// @param second Index of another variable.
/// @param buffer Where the probabilities are written.
/// @param length Length of the buffer; the product of the two cardinalities is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return As fastlbp_bp_joint_belief.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_pair_belief(
    bp: *const fastlbp_bp,
    first: usize,
    second: usize,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            let buffer = Buffer::new(buffer, length, needed)?;
            write_joint_belief(session, &[first, second], buffer)
        })
    }
}

/// Joint belief of some variables that share a factor: one probability per joint state, the first
/// given variable fastest, from the lowest factor that contains all of them and the current messages
/// and evidence. One variable alone gives its marginal from the last run that ended without an error
/// (see fastlbp_bp_marginal), none at all the number 1.
///
/// @param bp The session.
/// @param variables `count` indices of variables, all different, in any order.
/// @param count Number of variables.
/// @param buffer Where the probabilities are written.
/// @param length Length of the buffer; the product of the variables' cardinalities is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE for an index that names no variable;
///         FASTLBP_STATUS_INVALID_ARGUMENT if a variable is given twice or no factor contains all of
///         them; FASTLBP_STATUS_BUFFER_TOO_SMALL; FASTLBP_STATUS_LIMIT_EXCEEDED for more than 2^26
///         entries; FASTLBP_STATUS_CONTRADICTION if the belief would be 0/0; FASTLBP_STATUS_NO_RESULT
///         for one variable before there is a run; as in fastlbp_bp_prepare.
///
/// O(factor + entries * arity) for factors with a head, O(entries * terms * arity) for terms, for tables
/// O(their entries * arity); finding the factor takes O(degree of the first variable * count * log
/// arity). Prepares a session that is not yet prepared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_joint_belief(
    bp: *const fastlbp_bp,
    variables: *const u32,
    count: usize,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, an array of `count` and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            let variables = array("variables", variables, count)?;
            let buffer = Buffer::new(buffer, length, needed)?;
            let variables =
                memory::converted("variables", variables, |_, variable| Ok(variable as usize))?;
            write_joint_belief(session, &variables, buffer)
        })
    }
}
