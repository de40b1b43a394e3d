//! # Settings
//!
//! For everyone who wants other than what fastlbp_bp_new sets: each setting has a function, takes effect with the
//! next run of any kind, and costs O(1). fastlbp_bp_set_property sets the same by libDAI's names, from strings such as a
//! command line has.

use super::bp::fastlbp_bp;
use super::choices::{BACKENDS, CONTRADICTIONS, INFERENCES, MEASURES, STARTS};
use super::log::UserPointer;
use super::session::{ProgressFunction, Session};
use super::status::{Failure, Outcome, fastlbp_status};
use crate::EngineOptions;
use crate::engine::{Backend, DeviceSet};
use std::ffi::c_void;
use std::time::Duration;

/// Backend: the one that is expected to be the faster, run by run.
pub const FASTLBP_BACKEND_AUTO: u32 = 0;
/// Backend: the processor.
pub const FASTLBP_BACKEND_CPU: u32 = 1;
/// Backend: a CUDA device. The first session on one retains its primary context, which other users of CUDA
/// in the process share; it stays, with the kernels in it, to the end of the process, unless it fails.
pub const FASTLBP_BACKEND_CUDA: u32 = 2;

/// For fastlbp_bp_set_device: the device of the environment variable FASTLBP_DEVICE, and 0 where that is
/// not set.
pub const FASTLBP_DEVICE_DEFAULT: u32 = u32::MAX;

/// Contradictions (places where deterministic messages, those with a probability of 0, disagree, so that a belief or
/// message would be 0/0): end the run with FASTLBP_STATUS_CONTRADICTION.
pub const FASTLBP_CONTRADICTION_ERROR: u32 = 0;
/// Contradictions: the state backed by more deterministic messages wins, a tie is uniform; the run goes on
/// and counts them.
pub const FASTLBP_CONTRADICTION_VOTE: u32 = 1;

/// Start of a run: from uniform messages.
pub const FASTLBP_START_FRESH: u32 = 0;
/// Start of a run: from the messages as the last run, fastlbp_bp_set_messages or
/// fastlbp_bp_restore_state left them.
pub const FASTLBP_START_WARM: u32 = 1;

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

functions! {
    /// Sets the number of CPU threads. Results do not depend on it.
    ///
    /// @param threads The number, at most 4096; 0 for one per physical core, the default.
    /// @return INVALID_ARGUMENT.
    fn fastlbp_bp_set_threads(bp: *mut fastlbp_bp, threads: usize) =>
        change!(bp, |session| set_threads(session, threads));

    /// Sets where iterations run. Results do not depend on it.
    ///
    /// @param backend FASTLBP_BACKEND_AUTO (the default: each run where it is expected to end first; where a device
    ///        that is there fails, the CPU, with a message to the log), FASTLBP_BACKEND_CPU or FASTLBP_BACKEND_CUDA (runs
    ///        fail with the reason if there is none).
    /// @return INVALID_ARGUMENT for another number.
    fn fastlbp_bp_set_backend(bp: *mut fastlbp_bp, backend: u32) =>
        change!(bp, |session| set_backend(session, BACKENDS.numbered(backend)?));

    /// Sets which CUDA device the backends FASTLBP_BACKEND_CUDA and FASTLBP_BACKEND_AUTO use. Results do not depend on it.
    ///
    /// @param index Number of the device, as in fastlbp_device_name, or FASTLBP_DEVICE_DEFAULT, the default.
    /// @return OK, also where there is no such device: with FASTLBP_BACKEND_CUDA runs then fail with OUT_OF_RANGE or
    ///         NO_DEVICE and the reason, with FASTLBP_BACKEND_AUTO they are made on the CPU.
    fn fastlbp_bp_set_device(bp: *mut fastlbp_bp, index: u32) =>
        change!(bp, |session| set_device(session, Some(index)));

    /// Sets the tolerance of fastlbp_bp_run: the largest change of a probability that counts as none.
    ///
    /// @param tolerance A value >= 0; 1e-9 by default.
    /// @return INVALID_ARGUMENT for a negative value or NaN.
    fn fastlbp_bp_set_tolerance(bp: *mut fastlbp_bp, tolerance: f64) =>
        change!(bp, |session| set_tolerance(session, tolerance));

    /// Sets the number of iterations after which fastlbp_bp_run ends in any case.
    ///
    /// @param max_iterations The number; 10000 by default.
    /// @return OK.
    fn fastlbp_bp_set_max_iterations(bp: *mut fastlbp_bp, max_iterations: u64) =>
        change!(bp, |session| set_max_iterations(session, max_iterations));

    /// Sets the time after which a run of any kind begins no further iteration.
    ///
    /// @param seconds A value >= 0; infinity, the default, for no limit.
    /// @return INVALID_ARGUMENT for a negative value or NaN.
    fn fastlbp_bp_set_max_time(bp: *mut fastlbp_bp, seconds: f64) =>
        change!(bp, |session| set_max_time(session, seconds));

    /// Sets what happens where deterministic messages disagree.
    ///
    /// @param policy FASTLBP_CONTRADICTION_ERROR, the default, or FASTLBP_CONTRADICTION_VOTE.
    /// @return INVALID_ARGUMENT for another number.
    fn fastlbp_bp_set_contradiction(bp: *mut fastlbp_bp, policy: u32) =>
        change!(bp, |session| CONTRADICTIONS.set(policy, &mut session.bp.settings_mut().contradiction));

    /// Sets what messages runs start from.
    ///
    /// @param start FASTLBP_START_FRESH, the default, or FASTLBP_START_WARM: n iterations and then m more give the bits of
    ///        n + m iterations.
    /// @return INVALID_ARGUMENT for another number.
    fn fastlbp_bp_set_start(bp: *mut fastlbp_bp, start: u32) =>
        change!(bp, |session| STARTS.set(start, &mut session.bp.settings_mut().start));

    /// Sets what messages and beliefs are over the states of the other variables: the sum, or the maximum, of the factor's
    /// value times the messages that come in. With max-product, marginals are max-marginals, each scaled so that it adds up
    /// to 1, and fastlbp_bp_find_maximum decodes a most probable joint state.
    ///
    /// @param inference FASTLBP_INFERENCE_SUM_PRODUCT, the default, or FASTLBP_INFERENCE_MAX_PRODUCT.
    /// @return INVALID_ARGUMENT for another number.
    fn fastlbp_bp_set_inference(bp: *mut fastlbp_bp, inference: u32) =>
        change!(bp, |session| INFERENCES.set(inference, &mut session.bp.settings_mut().inference));

    /// Sets the damping d: a new message becomes old^d * new^(1-d), state by state, and normalised, so that messages that
    /// swing to and fro settle down. Fixed points, and with them converged results, are those without damping; near one,
    /// an iteration moves about 1 - d as far. Other messages read the damped ones; beliefs, and the changes that stop
    /// rules look at, are those of the undamped ones, as in libDAI. Not together with an active set.
    ///
    /// @param damping A number from 0, the default, for none, up to but not including 1.
    /// @return INVALID_ARGUMENT.
    fn fastlbp_bp_set_damping(bp: *mut fastlbp_bp, damping: f64) =>
        change!(bp, |session| set_damping(session, damping));

    /// Sets the threshold of the active set: a message is computed again only if one that it reads has changed by more
    /// than the threshold since, in log-odds (natural logarithm; of any two states). A change up to it is dropped.
    ///
    /// With a threshold t, every message of a run that has come to rest is within t of its update; with 0, runs give the
    /// bits of runs without an active set. What is stored depends on the schedule alone. A message that is not computed
    /// again would be what it is: so the CPU computes all of an iteration, on its threads, or fewer, whichever is faster,
    /// and FASTLBP_REPORT_SPARED_MESSAGES tells how many it left out; devices compute all. Not together with damping.
    ///
    /// @param threshold A number >= 0, or FASTLBP_ACTIVE_OFF, the default, to compute all messages in every iteration.
    /// @return INVALID_ARGUMENT.
    fn fastlbp_bp_set_active_threshold(bp: *mut fastlbp_bp, threshold: f64) =>
        change!(bp, |session| set_active_threshold(session, (threshold != FASTLBP_ACTIVE_OFF).then_some(threshold)));

    /// Sets whose changes the tolerance of fastlbp_bp_run is compared with. Other runs have rules of their own.
    ///
    /// @param measure FASTLBP_MEASURE_VARIABLES, the default, or FASTLBP_MEASURE_ALL, libDAI's rule: no belief of a variable
    ///        or of a factor has changed by more than the tolerance; a fresh run compares its first iteration with uniform
    ///        beliefs. That takes O(joint states * arity) of each factor more.
    /// @return INVALID_ARGUMENT for another number.
    fn fastlbp_bp_set_measure(bp: *mut fastlbp_bp, measure: u32) =>
        change!(bp, |session| MEASURES.set(measure, &mut session.bp.settings_mut().measure));
}

/// Told after each iteration how a run goes.
///
/// @param user The pointer given to fastlbp_bp_set_progress.
/// @param iterations Iterations done in this run.
/// @param max_iterations Largest number of iterations that this run can make.
/// @param max_diff Largest change in the last iteration; infinity where the run does not measure it; with the property
///        `progress` as `rough`, any change that exceeds the tolerance may stand for it.
/// @param active_fraction Fraction of variables and factors that still move (fastlbp_bp_run_bingo), else 1; with `rough`, at
///        least so many do, or it is that of an iteration before.
/// @return 0 to go on, any other number to end the run before its next iteration.
///
/// Called on the thread that called the run function. Calls on the running session from inside it
/// return FASTLBP_STATUS_BUSY, but fastlbp_bp_free, which takes effect when the run ends. It must
/// return: no exception and no longjmp may leave it.
pub type fastlbp_progress_callback = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        iterations: u64,
        max_iterations: u64,
        max_diff: f64,
        active_fraction: f64,
    ) -> i32,
>;

/// Sets a function that is told after each iteration how a run goes, and can end it.
///
/// @param callback The function, or NULL for none.
/// @param user Handed to the callback as it is; may be NULL.
/// @return OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_progress(
    bp: *mut fastlbp_bp, callback: fastlbp_progress_callback, user: *mut c_void,
) -> fastlbp_status {
    let callback: Option<ProgressFunction> = callback;
    let user = UserPointer(user);
    change!(bp, |session| {
        session.extras.progress = callback.map(|function| (function, user));
        Outcome::Ok(())
    })
}

/// A number from 0 on.
fn from_zero(value: f64, wrong: impl FnOnce() -> String) -> Outcome<f64> {
    // Not the zero with a sign.
    if value >= 0.0 { Ok(value.abs()) } else { Err(Failure::invalid(wrong())) }
}

pub(super) fn set_threads(session: &mut Session, threads: usize) -> Outcome {
    const LIMIT: usize = 4096;
    if threads > LIMIT {
        return Err(Failure::invalid(format!(
            "{threads} threads: at most {LIMIT}, or 0 for one per physical core, are possible"
        )));
    }
    let threads = (threads > 0).then_some(threads);
    session.set_options(EngineOptions { threads, ..session.bp.options() });
    Ok(())
}

pub(super) fn set_backend(session: &mut Session, backend: Backend) -> Outcome {
    session.set_options(EngineOptions { backend, ..session.bp.options() });
    Ok(())
}

/// Sets the CUDA device; `None`, or FASTLBP_DEVICE_DEFAULT, for the one of the environment variable.
pub(super) fn set_device(session: &mut Session, device: Option<u32>) -> Outcome {
    let device = device.filter(|&index| index != FASTLBP_DEVICE_DEFAULT);
    session.set_options(EngineOptions { device, devices: DeviceSet::NONE, ..session.bp.options() });
    Ok(())
}

/// Sets the CUDA devices, of which the lowest runs what is one run.
pub(super) fn set_devices(session: &mut Session, numbers: &[u32]) -> Outcome {
    let &[device] = numbers else {
        let devices = DeviceSet::of(numbers)?;
        let device = devices.iter().next();
        session.set_options(EngineOptions { device, devices, ..session.bp.options() });
        return Ok(());
    };
    set_device(session, Some(device))
}

pub(super) fn set_tolerance(session: &mut Session, tolerance: f64) -> Outcome {
    let wrong = || format!("tolerance {tolerance}: a value >= 0 is needed");
    session.bp.settings_mut().tolerance = from_zero(tolerance, wrong)?;
    Ok(())
}

pub(super) fn set_max_iterations(session: &mut Session, max_iterations: u64) -> Outcome {
    session.bp.settings_mut().max_iterations = max_iterations;
    Ok(())
}

pub(super) fn set_max_time(session: &mut Session, seconds: f64) -> Outcome {
    let wrong = || {
        format!("time limit of {seconds} seconds: a value >= 0, or infinity for none, is needed")
    };
    // A time too long to be a duration is no limit.
    session.bp.settings_mut().max_time =
        Duration::try_from_secs_f64(from_zero(seconds, wrong)?).ok();
    Ok(())
}

pub(super) fn set_damping(session: &mut Session, damping: f64) -> Outcome {
    let wrong = || format!("damping {damping}: a number in [0, 1) is needed");
    let damping = if damping < 1.0 { damping } else { f64::NAN };
    session.bp.settings_mut().damping = from_zero(damping, wrong)?;
    Ok(())
}

/// Sets the threshold; `None` for no active set.
pub(super) fn set_active_threshold(session: &mut Session, threshold: Option<f64>) -> Outcome {
    let check = |value: f64| {
        from_zero(value, || format!("threshold {value} of the active set: a number >= 0 is needed"))
    };
    session.bp.settings_mut().active_threshold = threshold.map(check).transpose()?;
    Ok(())
}
