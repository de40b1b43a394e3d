//! What a session's runs compute and look at: sums or maxima, damping, active sets, the stop rule.

use super::bp::fastlbp_bp;
use super::guard;
use super::properties;
use super::session::{Measure, Session};
use super::status::{Failure, fastlbp_status};
use crate::engine::Inference;

/// Inference: sum-product, for marginals.
pub const FASTLBP_INFERENCE_SUM_PRODUCT: u32 = 0;
/// Inference: max-product, for the most probable joint state.
pub const FASTLBP_INFERENCE_MAX_PRODUCT: u32 = 1;

/// Measure of fastlbp_bp_run: changes of the beliefs of variables.
pub const FASTLBP_MEASURE_VARIABLES: u32 = 0;
/// Measure of fastlbp_bp_run: changes of the beliefs of variables and of factors, as in libDAI.
pub const FASTLBP_MEASURE_ALL: u32 = 1;

/// For fastlbp_bp_set_active_threshold: no active set.
pub const FASTLBP_ACTIVE_OFF: f64 = -1.0;

/// Sets what messages and beliefs are over the states of the other variables; takes effect with the
/// next run of any kind.
///
/// With FASTLBP_INFERENCE_SUM_PRODUCT, a message of factor f to variable x is the sum over the states
/// of f's other variables of f's value times the messages that come in from these, and beliefs
/// approximate marginals. With FASTLBP_INFERENCE_MAX_PRODUCT it is the maximum of the same products;
/// marginals are then max-marginals, each scaled so that it adds up to 1, and fastlbp_bp_find_maximum
/// decodes a most probable joint state.
///
/// @param bp The session; changed.
/// @param inference FASTLBP_INFERENCE_SUM_PRODUCT, the default, or FASTLBP_INFERENCE_MAX_PRODUCT.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another number.
///
/// O(1). With max-product, runs fail with FASTLBP_STATUS_UNSUPPORTED on a NOISY factor, or a TERMS factor
/// whose terms do not exclude each other, that has more than 2^22 joint states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_inference(
    bp: *mut fastlbp_bp,
    inference: u32,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        session.settings.inference = match inference {
            FASTLBP_INFERENCE_SUM_PRODUCT => Inference::SumProduct,
            FASTLBP_INFERENCE_MAX_PRODUCT => Inference::MaxProduct,
            _ => {
                return Err(Failure::invalid(format!(
                    "inference {inference}: FASTLBP_INFERENCE_SUM_PRODUCT (0) or \
                     FASTLBP_INFERENCE_MAX_PRODUCT (1) is needed"
                )));
            }
        };
        Ok(())
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// Sets the damping d of runs of any kind: a new message becomes old^d * new^(1-d), state by state,
/// and normalised, so that messages that swing to and fro settle down. Fixed points, and with them
/// converged results, are those without damping; near one, a pass moves about 1 - d as far.
///
/// Other messages read the damped ones; a variable's belief, and the change that the stop rules look
/// at, is of the undamped ones last computed, as in libDAI. Results are the same bits everywhere with
/// damping too.
///
/// @param bp The session; changed.
/// @param damping A number from 0, the default, for none, up to but not including 1.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(1). Runs with damping and an active set fail with FASTLBP_STATUS_UNSUPPORTED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_damping(
    bp: *mut fastlbp_bp,
    damping: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.settings.damping = properties::check_damping(damping)?;
            Ok(())
        })
    }
}

/// Sets the threshold of the active set of runs of any kind: a message is computed again only if one
/// that it reads has changed by more than the threshold since, in log-odds (natural logarithm; of any
/// two states). A change up to it is dropped.
///
/// With a threshold t, every message of a run that has come to rest is within t of its update; with 0,
/// runs give the bits of runs without an active set. Which messages are computed depends on the
/// schedule alone; passes run on one thread. How many were spared, see fastlbp_bp_spared_messages.
///
/// @param bp The session; changed.
/// @param threshold A number >= 0, or FASTLBP_ACTIVE_OFF, the default, to compute all messages in every
///        pass.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
///
/// O(1). Runs with damping and an active set fail with FASTLBP_STATUS_UNSUPPORTED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_active_threshold(
    bp: *mut fastlbp_bp,
    threshold: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.settings.active_threshold = if threshold == FASTLBP_ACTIVE_OFF {
                None
            } else {
                Some(properties::check_threshold(threshold)?)
            };
            Ok(())
        })
    }
}

/// Sets whose changes the tolerance of fastlbp_bp_run is compared with. Other runs have rules of their
/// own.
///
/// @param bp The session; changed.
/// @param measure FASTLBP_MEASURE_VARIABLES, the default, or FASTLBP_MEASURE_ALL, libDAI's rule: no
///        belief of a variable or of a factor has changed by more than the tolerance; a fresh run
///        compares its first pass with uniform beliefs.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another number.
///
/// O(1). With FASTLBP_MEASURE_ALL a pass takes O(joint states * arity) of each factor more, and runs
/// fail with FASTLBP_STATUS_LIMIT_EXCEEDED on a factor of more than 2^20 joint states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_measure(
    bp: *mut fastlbp_bp,
    measure: u32,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        session.settings.measure = match measure {
            FASTLBP_MEASURE_VARIABLES => Measure::Variables,
            FASTLBP_MEASURE_ALL => Measure::All,
            _ => {
                return Err(Failure::invalid(format!(
                    "measure {measure}: FASTLBP_MEASURE_VARIABLES (0) or FASTLBP_MEASURE_ALL (1) \
                     is needed"
                )));
            }
        };
        Ok(())
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}
