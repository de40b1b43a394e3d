//! # Runs
//!
//! For everyone: runs end by a rule, and all of its ways to end are OK; FASTLBP_REPORT_STOP_REASON says which it was.
//! After an error the results are those of the last run that ended without one.

use super::arguments::OptionalOutput;
use super::bp::fastlbp_bp;
use super::status::fastlbp_status;
use crate::engine::StopRule;

/// Runs iterations until no belief of a variable (see fastlbp_bp_set_measure) has changed by more than the tolerance in
/// an iteration, or until the greatest number of iterations or the time limit is reached.
///
/// @return CONTRADICTION (see FASTLBP_REPORT_FIRST_CONTRADICTION), after which the messages are those of the
///         contradictory iteration; LIMIT_EXCEEDED with FASTLBP_MEASURE_ALL for a factor of more than 2^20 joint
///         states; UNSUPPORTED for max-product on a NOISY factor, or a TERMS factor whose terms do not exclude each
///         other, of more than 2^22 joint states, and for an active set together with damping or SEQMAX; as in
///         fastlbp_bp_prepare; OUT_OF_RANGE for a device that there is not; DEVICE_FAILED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_run(bp: *mut fastlbp_bp) -> fastlbp_status {
    change!(bp, |session| session.run().map(drop))
}

/// Runs a number of iterations, unless the time limit or the progress callback ends them earlier.
///
/// @param iterations The number.
/// @return As fastlbp_bp_run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_run_iterations(
    bp: *mut fastlbp_bp, iterations: u64,
) -> fastlbp_status {
    change!(bp, |session| session.run_by(StopRule::Iterations(iterations)).map(drop))
}

/// Runs iterations by the rule of BINGO (`run(tolerance, minIters, maxIters, histLength)`). Before each iteration, with
/// n done, the run ends *converged* if the largest difference is at most `tolerance`; it ends if n > `min_iterations`
/// and the fraction of variables and factors that still move by more than `tolerance` is below (n - min_iterations) /
/// (max_iterations - min_iterations); it ends if n > `max_iterations`. Without convergence, the results are the means of
/// the last min(`history`, n) beliefs.
///
/// @param tolerance Largest difference that counts as none, >= 0.
/// @param min_iterations Iterations before the fraction is looked at.
/// @param max_iterations Iterations after which the run ends in any case, at least `min_iterations`.
/// @param history Number of beliefs that the results average, at least 1.
/// @param active_fraction Where the fraction after the last iteration is written, or NULL.
/// @return As fastlbp_bp_run; INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_run_bingo(
    bp: *mut fastlbp_bp, tolerance: f64, min_iterations: u64, max_iterations: u64, history: u64,
    active_fraction: *mut f64,
) -> fastlbp_status {
    change!(bp, |session| {
        let out = OptionalOutput::new("active_fraction", active_fraction)?;
        // No run has more beliefs than that.
        let history = history.min(max_iterations.saturating_add(1));
        let (min_iterations, max_iterations) = (min_iterations, max_iterations);
        let rule = StopRule::Bingo { tolerance, min_iterations, max_iterations, history };
        session.run_by(rule).map(|report| out.set(report.active_fraction))
    })
}

/// Computes the results exactly, by a junction tree, in place of iterations: marginals, beliefs of factors and of other
/// variables that are in one clique of it, the log-partition and, with FASTLBP_INFERENCE_MAX_PRODUCT, the most probable
/// joint state; to see how far off a run is, or where the treewidth is small. They are those of the evidence as it is now,
/// and stay until the next run, or until messages are set. Messages and reports are not touched.
///
/// Time and memory grow exponentially with the treewidth of the graph without the observed variables; `table_limit`
/// entries of 16 bytes and half as many more are the most it takes.
///
/// @param table_limit Most entries of all tables together, or 0 for 2^24.
/// @return LIMIT_EXCEEDED if more are needed, with the number of variables of the table that was too large;
///         CONTRADICTION if no joint state is possible.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_run_exact(
    bp: *mut fastlbp_bp, table_limit: usize,
) -> fastlbp_status {
    change!(bp, |session| session.run_exact(table_limit))
}

/// Makes all messages uniform and the number of iterations 0, so that the next run is a fresh one even with
/// FASTLBP_START_WARM. Evidence, schedule, settings and results stay. O(edges).
///
/// @return OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_reset(bp: *mut fastlbp_bp) -> fastlbp_status {
    change!(bp, |session| session.bp.reset())
}
