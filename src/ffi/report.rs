//! # Reports
//!
//! For those who want to know how a run went, or what a session does. Keys are for one of two functions, by the type of
//! what they stand for. Unless it says otherwise, a key is about the last run that ended without an error.

use super::bp::fastlbp_bp;
use super::session::Session;
use super::status::{Failure, Outcome, fastlbp_status};
use crate::BeliefPropagation;
use crate::engine::{Backend, StopReason};
use crate::error::Error;

/// Report, u64: number of iterations.
pub const FASTLBP_REPORT_ITERATIONS: u32 = 0;
/// Report, u64: number of iterations since the messages were uniform; with warm starts, those of several runs.
pub const FASTLBP_REPORT_TOTAL_ITERATIONS: u32 = 1;
/// Report, u64: 1 if the changes fell to the tolerance, else 0; 0 for a run with a fixed number of iterations.
pub const FASTLBP_REPORT_CONVERGED: u32 = 2;
/// Report, u64: why the run ended, FASTLBP_STOP_CONVERGED and so on.
pub const FASTLBP_REPORT_STOP_REASON: u32 = 3;
/// Report, u64: number of messages that a run with an active set left out on the CPU, which depends on what was faster; 0 without
/// one, and on devices.
pub const FASTLBP_REPORT_SPARED_MESSAGES: u32 = 4;
/// Report, u64: number of contradictory places of the last run, also of one that failed by them: of the iteration
/// with most of them under FASTLBP_CONTRADICTION_VOTE, else of the one that ended the run.
pub const FASTLBP_REPORT_CONTRADICTIONS: u32 = 5;
/// Report, u64: label of the lowest contradictory variable in the first iteration of the last run that had one, also of
/// a run that failed by it; NO_RESULT if there was none.
pub const FASTLBP_REPORT_FIRST_CONTRADICTION: u32 = 6;
/// Report, u64: FASTLBP_BACKEND_CPU or FASTLBP_BACKEND_CUDA, where the last run was made, or where the first one will
/// most likely be. Needs no run; prepares a session that is not yet prepared.
pub const FASTLBP_REPORT_BACKEND: u32 = 7;
/// Report, u64: number of CPU threads that iterations run on. Needs no run; prepares a session that is not yet prepared.
pub const FASTLBP_REPORT_THREADS: u32 = 8;
/// Report, u64: number of variables about which something is known. Needs no run.
pub const FASTLBP_REPORT_EVIDENCE: u32 = 9;
/// Report, f64: largest change in the last iteration: of a variable's belief, with FASTLBP_MEASURE_ALL also of a factor's,
/// by BINGO's rule also of a factor's incoming messages. Infinity if no iteration was made.
pub const FASTLBP_REPORT_MAX_DIFF: u32 = 10;
/// Report, f64: fraction of the variables and factors that moved by more than the tolerance in the last iteration
/// (fastlbp_bp_run_bingo); 1 for other runs.
pub const FASTLBP_REPORT_ACTIVE_FRACTION: u32 = 11;

/// A run ended since the changes fell to the tolerance.
pub const FASTLBP_STOP_CONVERGED: u32 = 0;
/// A run ended since all iterations asked for were made.
pub const FASTLBP_STOP_ITERATIONS: u32 = 1;
/// A run ended by BINGO's rule since few variables and factors still moved.
pub const FASTLBP_STOP_ACTIVE_FRACTION: u32 = 2;
/// A run ended since the time was up.
pub const FASTLBP_STOP_TIME: u32 = 3;
/// A run ended since the progress callback asked for it.
pub const FASTLBP_STOP_CANCELLED: u32 = 4;

/// A whole number of the report.
///
/// @param key FASTLBP_REPORT_ITERATIONS, FASTLBP_REPORT_TOTAL_ITERATIONS, FASTLBP_REPORT_CONVERGED,
///        FASTLBP_REPORT_STOP_REASON, FASTLBP_REPORT_SPARED_MESSAGES, FASTLBP_REPORT_CONTRADICTIONS,
///        FASTLBP_REPORT_FIRST_CONTRADICTION, FASTLBP_REPORT_BACKEND, FASTLBP_REPORT_THREADS or FASTLBP_REPORT_EVIDENCE.
/// @return NO_RESULT before there is a run; INVALID_ARGUMENT for another number; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_report_u64(
    bp: *const fastlbp_bp, key: u32, out: *mut u64,
) -> fastlbp_status {
    read!(bp, |session| put!(out, session.whole_number(key)?))
}

/// A real number of the report.
///
/// @param key FASTLBP_REPORT_MAX_DIFF or FASTLBP_REPORT_ACTIVE_FRACTION.
/// @return NO_RESULT before there is a run; INVALID_ARGUMENT for another number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_report_f64(
    bp: *const fastlbp_bp, key: u32, out: *mut f64,
) -> fastlbp_status {
    read!(bp, |session| put!(out, session.real_number(key)?))
}

impl Session {
    /// What a key says that is for whole numbers.
    fn whole_number(&self, key: u32) -> Outcome<u64> {
        Ok(match key {
            FASTLBP_REPORT_ITERATIONS => self.report()?.iterations,
            FASTLBP_REPORT_TOTAL_ITERATIONS => self.report()?.total_iterations,
            FASTLBP_REPORT_CONVERGED => self.report()?.converged.into(),
            FASTLBP_REPORT_STOP_REASON => stop_reason(self.report()?.reason).into(),
            FASTLBP_REPORT_SPARED_MESSAGES => self.report()?.spared_messages,
            FASTLBP_REPORT_CONTRADICTIONS => self.contradictions()?.0,
            FASTLBP_REPORT_FIRST_CONTRADICTION => self.contradictions()?.1.ok_or_else(|| {
                Error::NoResult("the last run had no contradictory variable".into())
            })?,
            FASTLBP_REPORT_BACKEND => match self.prepared()?.backend() {
                Backend::Cuda => super::settings::FASTLBP_BACKEND_CUDA.into(),
                Backend::Cpu | Backend::Auto => super::settings::FASTLBP_BACKEND_CPU.into(),
            },
            FASTLBP_REPORT_THREADS => self.prepared()?.threads() as u64,
            FASTLBP_REPORT_EVIDENCE => self.bp.evidence().len() as u64,
            _ => return Err(wrong_key(key, "u64")),
        })
    }

    /// What a key says that is for real numbers.
    fn real_number(&self, key: u32) -> Outcome<f64> {
        Ok(match key {
            FASTLBP_REPORT_MAX_DIFF => self.report()?.max_diff,
            FASTLBP_REPORT_ACTIVE_FRACTION => self.report()?.active_fraction,
            _ => return Err(wrong_key(key, "f64")),
        })
    }

    /// The session with the engine of a backend that was asked for; of AUTO the log is told which one is expected.
    fn prepared(&self) -> Outcome<&BeliefPropagation> {
        self.bp.prepare_fixed()?;
        self.tell_backend();
        Ok(&self.bp)
    }
}

fn stop_reason(reason: StopReason) -> u32 {
    match reason {
        StopReason::Converged => FASTLBP_STOP_CONVERGED,
        StopReason::Iterations => FASTLBP_STOP_ITERATIONS,
        StopReason::Share => FASTLBP_STOP_ACTIVE_FRACTION,
        StopReason::Time => FASTLBP_STOP_TIME,
        StopReason::Cancelled => FASTLBP_STOP_CANCELLED,
    }
}

fn wrong_key(key: u32, of: &str) -> Failure {
    Failure::invalid(format!(
        "report key {key}: one of those FASTLBP_REPORT_... that fastlbp.h says to be {of} is needed"
    ))
}
