//! Runs, and the report of the last one.

use super::arguments::{OptionalOutput, Output};
use super::bp::*;
use super::guard::{self};
use super::session::Session;
use super::status::fastlbp_status;
use crate::engine::{RunReport, StopReason, StopRule};
use crate::error::Error;

/// Runs passes until no belief of a variable (see fastlbp_bp_set_measure) has changed by more than the
/// tolerance in a pass, or until the greatest number of passes or the time limit is reached. Which of
/// these it was, see fastlbp_bp_stop_reason: all of them are FASTLBP_STATUS_OK.
///
/// @param bp The session; changed.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_CONTRADICTION (see fastlbp_bp_first_contradiction), after
///         which the messages are those of the contradictory pass and the results those of the last
///         run without an error; FASTLBP_STATUS_LIMIT_EXCEEDED with FASTLBP_MEASURE_ALL for a factor
///         of more than 2^20 joint states; FASTLBP_STATUS_UNSUPPORTED for max-product on a NOISY factor,
///         or a TERMS factor whose terms do not exclude each other, of more than 2^22 joint states,
///         and for an active set together with damping; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_run(bp: *mut fastlbp_bp) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.run(session.tolerance_rule())?;
            Ok(())
        })
    }
}

/// Runs a number of passes, unless the time limit or the progress callback ends them earlier.
///
/// @param bp The session; changed.
/// @param passes The number.
/// @return As fastlbp_bp_run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_run_passes(bp: *mut fastlbp_bp, passes: u64) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.run(StopRule::Passes(passes))?;
            Ok(())
        })
    }
}

/// Runs passes by the rule of BINGO (`run(tolerance, minIters, maxIters, histLength)`). Before each
/// pass, with n passes done, the run ends *converged* if the largest difference is at most
/// `tolerance`; it ends if n > `min_passes` and the share of variables and factors that still move by
/// more than `tolerance` is below (n - min_passes) / (max_passes - min_passes); it ends if
/// n > `max_passes`. Without convergence, the results are the means of the last min(`history`, n)
/// beliefs.
///
/// @param bp The session; changed.
/// @param tolerance Largest difference that counts as none, >= 0.
/// @param min_passes Passes before the share is looked at.
/// @param max_passes Passes after which the run ends in any case, at least `min_passes`.
/// @param history Number of beliefs that the results average, at least 1.
/// @param frac Where the share after the last pass is written, or NULL.
/// @return As fastlbp_bp_run; FASTLBP_STATUS_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_run_bingo(
    bp: *mut fastlbp_bp,
    tolerance: f64,
    min_passes: u64,
    max_passes: u64,
    history: u64,
    frac: *mut f64,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        // SAFETY: by the header, NULL or writable.
        let frac = unsafe { OptionalOutput::new("frac", frac) }?;
        // No run has more beliefs than that.
        let history = history.min(max_passes.saturating_add(1));
        let rule = StopRule::Bingo { tolerance, min_passes, max_passes, history };
        frac.set(session.run(rule)?.frac);
        Ok(())
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// Makes all messages uniform and the number of passes 0, so that the next run is a fresh one even
/// with FASTLBP_START_WARM. Evidence, schedule, settings and results stay.
///
/// @param bp The session; changed.
/// @return FASTLBP_STATUS_OK.
///
/// O(edges).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_reset(bp: *mut fastlbp_bp) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, |session: &mut Session| session.reset()) }
}

/// Writes one value of the last run's report.
///
/// # Safety
/// `bp` is NULL or live, `out` NULL or writable.
unsafe fn report<T>(
    bp: *const fastlbp_bp,
    out: *mut T,
    value: impl FnOnce(&RunReport) -> T,
) -> fastlbp_status {
    // SAFETY: as the caller promises.
    unsafe {
        guard::read(bp, |session: &Session| {
            let out = Output::new("out", out)?;
            out.set(value(&session.report()?));
            Ok(())
        })
    }
}

/// Number of passes of the last run that ended without an error.
///
/// @param bp The session.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_passes(bp: *const fastlbp_bp, out: *mut u64) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe { report(bp, out, |report| report.passes) }
}

/// Number of passes from uniform messages to the end of the last run that ended without an error:
/// with warm starts, those of several runs.
///
/// @param bp The session.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_total_passes(
    bp: *const fastlbp_bp,
    out: *mut u64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe { report(bp, out, |report| report.total_passes) }
}

/// Whether the changes fell to the tolerance in the last run that ended without an error; false for
/// a run with a fixed number of passes.
///
/// @param bp The session.
/// @param out Where the answer is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_converged(
    bp: *const fastlbp_bp,
    out: *mut bool,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe { report(bp, out, |report| report.converged) }
}

/// Why the last run that ended without an error ended.
///
/// @param bp The session.
/// @param out Where FASTLBP_STOP_CONVERGED, FASTLBP_STOP_PASSES, FASTLBP_STOP_SHARE,
///        FASTLBP_STOP_TIME or FASTLBP_STOP_CANCELLED is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_stop_reason(
    bp: *const fastlbp_bp,
    out: *mut u32,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        report(bp, out, |report| match report.reason {
            StopReason::Converged => FASTLBP_STOP_CONVERGED,
            StopReason::Passes => FASTLBP_STOP_PASSES,
            StopReason::Share => FASTLBP_STOP_SHARE,
            StopReason::Time => FASTLBP_STOP_TIME,
            StopReason::Cancelled => FASTLBP_STOP_CANCELLED,
        })
    }
}

/// Largest change in the last pass of the last run that ended without an error: of a variable's
/// belief, with FASTLBP_MEASURE_ALL also of a factor's, and by BINGO's rule also of a factor's incoming
/// messages. Infinity if no pass was made.
///
/// @param bp The session.
/// @param out Where the value is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_max_diff(
    bp: *const fastlbp_bp,
    out: *mut f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe { report(bp, out, |report| report.max_diff) }
}

/// Share of the variables and factors that moved by more than the tolerance in the last pass of the
/// last run that ended without an error (fastlbp_bp_run_bingo); 1 for other runs.
///
/// @param bp The session.
/// @param out Where the value is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_frac(bp: *const fastlbp_bp, out: *mut f64) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe { report(bp, out, |report| report.frac) }
}

/// Number of messages that the active set spared in the last run that ended without an error; 0
/// without one (see fastlbp_bp_set_active_threshold).
///
/// @param bp The session.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before there is such a run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_spared_messages(
    bp: *const fastlbp_bp,
    out: *mut u64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe { report(bp, out, |report| report.spared_messages) }
}

/// Number of contradictory places of the last run: of the pass with most of them under
/// FASTLBP_CONTRADICTION_VOTE, of the pass that ended the run under FASTLBP_CONTRADICTION_ERROR.
///
/// @param bp The session.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before the first run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_contradictions(
    bp: *const fastlbp_bp,
    out: *mut u64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            let out = Output::new("out", out)?;
            out.set(session.contradictions()?.count);
            Ok(())
        })
    }
}

/// Label of the lowest contradictory variable in the first pass of the last run that had one.
///
/// @param bp The session.
/// @param out Where the label is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_RESULT before the first run, and if it had no
///         contradictory variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_first_contradiction(
    bp: *const fastlbp_bp,
    out: *mut u64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            let out = Output::new("out", out)?;
            let first = session.contradictions()?.first.ok_or_else(|| {
                Error::NoResult("the last run had no contradictory variable".into())
            })?;
            out.set(first);
            Ok(())
        })
    }
}
