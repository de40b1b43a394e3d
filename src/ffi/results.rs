//! # Results
//!
//! For everyone. Marginals are those of the last run that ended without an error, NO_RESULT before there is one. Beliefs
//! of factors and joint beliefs are of the current messages and evidence, need no run, and prepare a session that is not
//! yet prepared. After fastlbp_bp_run_exact, all of them are those of that run.

use super::arguments::Buffer;
use super::bp::fastlbp_bp;
use super::memory;
use super::session::Session;
use super::status::{Outcome, fastlbp_status};
use crate::error::Error;
use crate::model::{check_factor, check_variable};

/// Most entries of a belief that are written out.
const BELIEF_LIMIT: usize = 1 << 26;

/// Marginals of all variables: the probabilities of the states of variable 0, then those of variable 1, and so on;
/// FASTLBP_COUNT_STATES in all. Each is exact to rounding on its own, so that a probability next to 1 can be had from
/// its complement.
///
/// @return NO_RESULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_marginals(
    bp: *const fastlbp_bp, buffer: *mut f64, length: usize, needed: *mut usize,
) -> fastlbp_status {
    read!(bp, |session| fill!(buffer, length, needed, session.marginals()?))
}

/// P(x = 1) of all variables of a graph with binary variables only.
///
/// @return NO_RESULT; UNSUPPORTED if a variable has more or fewer than two states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_probabilities(
    bp: *const fastlbp_bp, buffer: *mut f64, length: usize, needed: *mut usize,
) -> fastlbp_status {
    read!(bp, |session| {
        let buffer = Buffer::new(buffer, length, needed)?;
        session.check_binary()?;
        let marginals = session.marginals()?;
        buffer.fill_with(session.graph().variable_count(), |variable| marginals[2 * variable + 1])
    })
}

/// P(x = 1) of some variables.
///
/// @param variables `count` indices of variables.
/// @param count Number of variables.
/// @param out Where `count` probabilities are written.
/// @return NO_RESULT; OUT_OF_RANGE, also for a variable with one state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_probabilities_of(
    bp: *const fastlbp_bp, variables: *const u32, count: usize, out: *mut f64,
) -> fastlbp_status {
    read!(bp, |session| {
        let of = |variable: u32| session.probability(variable as usize);
        each!("probabilities", variables, count, out, |variable| Ok(of(variable)?))
    })
}

/// Belief of some variables: of one alone its marginal, of several that share a factor their joint belief, one
/// probability per joint state, the first given variable fastest, from the lowest factor that contains all of them. None
/// at all gives the number 1. O(entries * size of the factor) at most.
///
/// @param variables `count` indices of variables, all different, in any order.
/// @param count Number of variables.
/// @return OUT_OF_RANGE; INVALID_ARGUMENT if a variable is given twice or no factor contains all of them; LIMIT_EXCEEDED
///         for more than 2^26 entries; CONTRADICTION if the belief would be 0/0; NO_RESULT for one variable before there
///         is a run; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_belief(
    bp: *const fastlbp_bp, variables: *const u32, count: usize, buffer: *mut f64, length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    read!(bp, |session| {
        let variables = array!(variables, count);
        let buffer = Buffer::new(buffer, length, needed)?;
        match variables {
            &[variable] => buffer.fill(session.marginal(variable as usize)?),
            _ => write_joint_belief(session, variables, buffer),
        }
    })
}

fn write_joint_belief(session: &Session, variables: &[u32], buffer: Buffer<f64>) -> Outcome {
    let graph = session.graph();
    let checked = |_, variable: u32| {
        check_variable(graph, variable as usize)?;
        Ok(variable as usize)
    };
    let variables = memory::converted("variables", variables, checked)?;
    let cardinalities = variables.iter().map(|&variable| graph.cardinality(variable));
    let size = belief_size(cardinalities).ok_or_else(|| {
        Error::LimitExceeded(format!(
            "joint belief of {} variables: it has more than {BELIEF_LIMIT} entries",
            variables.len()
        ))
    })?;
    buffer.check(size)?.fill(&session.joint_belief(&variables)?)
}

/// Number of joint states, unless these are too many to be written out.
fn belief_size(mut cardinalities: impl Iterator<Item = usize>) -> Option<usize> {
    let size = cardinalities.try_fold(1_usize, usize::checked_mul);
    size.filter(|&size| size <= BELIEF_LIMIT)
}

/// Belief of a factor: one probability per joint state of its variables, which ascend; the first one (lowest index)
/// varies fastest. O(entries * arity).
///
/// @param factor Index of the factor.
/// @return OUT_OF_RANGE; LIMIT_EXCEEDED for more than 2^26 entries; CONTRADICTION if the belief would be 0/0; as in
///         fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_factor_belief(
    bp: *const fastlbp_bp, factor: usize, buffer: *mut f64, length: usize, needed: *mut usize,
) -> fastlbp_status {
    read!(bp, |session| {
        let mut buffer = Buffer::new(buffer, length, needed)?;
        check_factor(session.graph(), factor)?;
        // A larger one is refused below.
        if let Some(size) = belief_size(session.graph().factor_cardinalities(factor)) {
            buffer = buffer.check(size)?;
        }
        buffer.fill(&session.factor_belief(factor)?)
    })
}

/// One entry of the belief of a factor, for factors that are too large to write out. O(arity) for factors with a head,
/// O(terms * arity) for terms, O(entries) for tables.
///
/// @param factor Index of the factor.
/// @param index Index of the joint state: the sum over the factor's variables of state times the product of the
///        cardinalities of the variables before it.
/// @return OUT_OF_RANGE; CONTRADICTION if the belief would be 0/0; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_factor_belief_at(
    bp: *const fastlbp_bp, factor: usize, index: u64, out: *mut f64,
) -> fastlbp_status {
    read!(bp, |session| put!(out, session.factor_belief_at(factor, index)?))
}

/// Natural logarithm of the partition function by the Bethe approximation (libDAI's `logZ`), from the current messages
/// and the beliefs of the last run, a sum-product one: the sum over variables i of (1 - d_i) H(b_i), less the sum over
/// factors f of KL(b_f || f), where d_i is the number of factors of variable i, b its belief and b_f that of a factor
/// (Yedidia, Freeman, Weiss: Constructing free-energy approximations, 2005). Exact on a graph without cycles after a
/// converged run. With evidence, the partition function sums over the joint states that agree with it, weighted by
/// likelihoods: less the value without evidence, it is the log-probability of the evidence.
///
/// Run again first if evidence or messages were changed since the last run. O(edges * states), for tables O(entries *
/// arity). The bits of all that leads to it are the same everywhere; the logarithm is the platform's.
///
/// @return NO_RESULT before there is such a run, and in a clone or after a change of backend or threads until the session
///         has run again (0 iterations from a warm start will do); CONTRADICTION if a factor's belief would be 0/0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_log_partition(
    bp: *const fastlbp_bp, out: *mut f64,
) -> fastlbp_status {
    read!(bp, |session| put!(out, session.log_partition()?))
}

/// A joint state decoded from the current messages, one state per variable, in general after a run with
/// FASTLBP_INFERENCE_MAX_PRODUCT: on a graph without cycles, after a converged run, one of the most probable joint states;
/// elsewhere a good guess, whose score fastlbp_bp_log_score tells. O(edges * cost of a message).
///
/// Factors are visited depth first, as in libDAI: from the lowest of each connected component, then always the highest of
/// the factors of the variables that got their states last. The variables of a factor that are still free take the joint
/// state that maximises the factor's belief, given the states already taken; so what is decoded is one joint state, not a
/// mixture of several. Of joint states whose values are equal, bit for bit, the one with the lower state at the highest
/// variable where they differ wins. Observed variables keep their observed state.
///
/// @return NO_RESULT as in fastlbp_bp_log_partition; CONTRADICTION if a factor excludes the states already taken, as can
///         happen on graphs with cycles; UNSUPPORTED for a factor that max-product cannot handle (see fastlbp_bp_run).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_find_maximum(
    bp: *const fastlbp_bp, buffer: *mut u32, length: usize, needed: *mut usize,
) -> fastlbp_status {
    read!(bp, |session| write_maximum(session, Buffer::new(buffer, length, needed)?))
}

fn write_maximum(session: &Session, buffer: Buffer<u32>) -> Outcome {
    session.check_results("the maximum")?;
    let buffer = buffer.check(session.graph().variable_count())?;
    let states = session.find_maximum()?;
    buffer.fill_with(states.len(), |variable| states[variable] as u32)
}

/// Natural logarithm of the product of all factors, and of the likelihoods of soft evidence, at a joint state: minus
/// infinity where a factor or an observation excludes it. Less fastlbp_bp_log_partition, it is the log-probability of the
/// joint state. Needs no run. O(edges + conditions of terms). The logarithm is the platform's.
///
/// @param states `length` states, by variable index.
/// @param length Must be the number of variables.
/// @return INVALID_ARGUMENT for another length; OUT_OF_RANGE for a state that its variable does not have; as in
///         fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_log_score(
    bp: *const fastlbp_bp, states: *const u32, length: usize, out: *mut f64,
) -> fastlbp_status {
    read!(bp, |session| {
        let states = array!(states, length);
        let states = memory::converted("a joint state", states, |_, state| Ok(state as usize))?;
        put!(out, session.bp.log_score(&states)?)
    })
}
