//! Belief propagation sessions: settings, evidence, runs, results, messages.

use super::arguments::{Buffer, Output, text};
use super::graph::{Graph, fastlbp_graph};
use super::guard::{self, Guarded, Object, into_handle};
use super::log::UserPointer;
use super::properties;
use super::session::{ProgressFunction, Session};
use super::status::{Failure, fastlbp_status};
use crate::engine::{Backend, Contradiction, Start};
use std::ffi::{c_char, c_void};

/// Backend: the one that is expected to be the faster, run by run.
pub const FASTLBP_BACKEND_AUTO: u32 = 0;
/// Backend: the processor.
pub const FASTLBP_BACKEND_CPU: u32 = 1;
/// Backend: a CUDA device. The first session on one retains its primary context, which other users of CUDA
/// in the process share; it stays, with the kernels in it, to the end of the process, unless it fails.
pub const FASTLBP_BACKEND_CUDA: u32 = 2;

/// Start of a run: from uniform messages.
pub const FASTLBP_START_FRESH: u32 = 0;
/// Start of a run: from the messages as the last run, fastlbp_bp_set_messages or
/// fastlbp_bp_restore_state left them.
pub const FASTLBP_START_WARM: u32 = 1;

/// Contradictions (places where certain messages that disagree meet, so that a belief or message
/// would be 0/0): end the run with FASTLBP_STATUS_CONTRADICTION.
pub const FASTLBP_CONTRADICTION_ERROR: u32 = 0;
/// Contradictions: the state backed by more certain messages wins, a tie is uniform; the run goes on
/// and counts them.
pub const FASTLBP_CONTRADICTION_VOTE: u32 = 1;

/// A run ended since the changes fell to the tolerance.
pub const FASTLBP_STOP_CONVERGED: u32 = 0;
/// A run ended since all passes asked for were made.
pub const FASTLBP_STOP_PASSES: u32 = 1;
/// A run ended by BINGO's rule since few variables and factors still moved.
pub const FASTLBP_STOP_SHARE: u32 = 2;
/// A run ended since the time was up.
pub const FASTLBP_STOP_TIME: u32 = 3;
/// A run ended since the progress callback asked for it.
pub const FASTLBP_STOP_CANCELLED: u32 = 4;

/// Told after each pass how a run goes.
///
/// @param user The pointer given to fastlbp_bp_set_progress.
/// @param passes Passes done in this run.
/// @param max_passes Largest number of passes that this run can make.
/// @param max_diff Largest change in the last pass; infinity where the run does not measure it.
/// @param frac Share of variables and factors that still move (fastlbp_bp_run_bingo), else 1.
/// @return 0 to go on, any other number to end the run before its next pass.
///
/// Called on the thread that called the run function. Calls on the running session from inside it
/// return FASTLBP_STATUS_BUSY, but fastlbp_bp_free, which takes effect when the run ends. It must
/// return: no exception and no longjmp may leave it.
pub type fastlbp_progress_callback = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        passes: u64,
        max_passes: u64,
        max_diff: f64,
        frac: f64,
    ) -> i32,
>;

/// A session of belief propagation on one graph: a schedule, evidence, messages, and the results of
/// the last run.
///
/// The analysis of the schedule and all buffers are made once, at the first run or
/// fastlbp_bp_prepare; evidence is data that can change between runs at no cost but its own.
///
/// Made by fastlbp_bp_new or fastlbp_bp_clone, freed by fastlbp_bp_free.
pub struct fastlbp_bp(Guarded<Session>);

impl Object for fastlbp_bp {
    type State = Session;
    const NAME: &'static str = "fastlbp_bp";

    fn wrap(guarded: Guarded<Session>) -> Self {
        Self(guarded)
    }
    fn guarded(&self) -> &Guarded<Session> {
        &self.0
    }
}

/// Makes a session on a graph: schedule SEQFIX, no evidence, sum-product, no damping, no active set,
/// tolerance 1e-9 for beliefs of variables, at most 10000 passes, no time limit, fresh starts,
/// contradictions are errors, backend AUTO, one thread per physical core.
///
/// The graph is shared, not copied: its handle may be freed or added to at once, neither of which
/// changes the session.
///
/// @param graph The graph.
/// @param out Where the handle is written; free it with fastlbp_bp_free.
/// @return FASTLBP_STATUS_OK; as in fastlbp_graph_build.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_new(
    graph: *const fastlbp_graph,
    out: *mut *mut fastlbp_bp,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(graph, |graph: &Graph| {
            let out = Output::new("out", out)?;
            out.set(into_handle(Session::new(graph.built()?.clone()))?);
            Ok(())
        })
    }
}

/// Makes a session in the same state as another: settings, schedule, evidence, messages and results,
/// but without the progress callback. The two are independent, and may run at the same time.
///
/// @param bp The session.
/// @param out Where the new handle is written; free it with fastlbp_bp_free.
/// @return FASTLBP_STATUS_OK, or why a session cannot be prepared (see fastlbp_bp_prepare).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_clone(
    bp: *const fastlbp_bp,
    out: *mut *mut fastlbp_bp,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            let out = Output::new("out", out)?;
            out.set(into_handle(session.duplicate()?)?);
            Ok(())
        })
    }
}

/// Frees a session. If a call is still running on it, it goes when that call ends.
///
/// @param bp A handle, or NULL, for which nothing happens. It must not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_free(bp: *mut fastlbp_bp) {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::free(bp) }
}

/// The graph of a session, as a handle of its own.
///
/// @param bp The session.
/// @param out Where the handle is written; free it with fastlbp_graph_free.
/// @return FASTLBP_STATUS_OK.
///
/// O(1): the graph is shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_graph(
    bp: *const fastlbp_bp,
    out: *mut *mut fastlbp_graph,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            let out = Output::new("out", out)?;
            out.set(into_handle(Graph::of(session.graph().clone()))?);
            Ok(())
        })
    }
}

/// Analyses the schedule and makes all buffers by the current settings, where that is still to be
/// done; otherwise the next run does it. Messages, evidence and results stay. With
/// FASTLBP_BACKEND_AUTO these are the buffers of the backend that is expected to be the faster one for
/// fastlbp_bp_run; another run may still choose the other.
///
/// @param bp The session; changed.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_UNSUPPORTED or FASTLBP_STATUS_NO_DEVICE if the backend
///         asked for is not there, with the reason in the text; as in fastlbp_bp_run for settings that
///         no run can have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_prepare(bp: *mut fastlbp_bp) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, Session::prepare_run) }
}

/// Sets the number of CPU threads; takes effect with the next run. Results do not depend on it.
///
/// @param bp The session; changed.
/// @param threads The number, at most 4096; 0 for one per physical core, the default.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_threads(
    bp: *mut fastlbp_bp,
    threads: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, |session: &mut Session| properties::set_threads(session, threads)) }
}

/// Number of CPU threads that the session's passes run on. Prepares a session that is not yet
/// prepared.
///
/// @param bp The session.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_threads(
    bp: *const fastlbp_bp,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            let out = Output::new("out", out)?;
            out.set(session.engine()?.threads());
            Ok(())
        })
    }
}

/// Sets where passes run; takes effect with the next run. Results do not depend on it.
///
/// @param bp The session; changed.
/// @param backend FASTLBP_BACKEND_AUTO (the default: each run where it is expected to end first; where a
///        device that is there fails, the CPU, with a message to the log), FASTLBP_BACKEND_CPU or FASTLBP_BACKEND_CUDA (runs fail with the
///        reason if there is none).
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_backend(
    bp: *mut fastlbp_bp,
    backend: u32,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        let backend = match backend {
            FASTLBP_BACKEND_AUTO => Backend::Auto,
            FASTLBP_BACKEND_CPU => Backend::Cpu,
            FASTLBP_BACKEND_CUDA => Backend::Cuda,
            _ => {
                return Err(Failure::invalid(format!(
                    "backend {backend}: FASTLBP_BACKEND_AUTO (0), FASTLBP_BACKEND_CPU (1) or \
                     FASTLBP_BACKEND_CUDA (2) is needed"
                )));
            }
        };
        properties::set_backend(session, backend);
        Ok(())
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// Where the session's last run was made, or where its first one will most likely be (with
/// FASTLBP_BACKEND_AUTO each run may choose anew). Prepares a session that is not yet prepared.
///
/// @param bp The session.
/// @param out Where FASTLBP_BACKEND_CPU or FASTLBP_BACKEND_CUDA is written.
/// @return FASTLBP_STATUS_OK; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_backend(
    bp: *const fastlbp_bp,
    out: *mut u32,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            let out = Output::new("out", out)?;
            out.set(match session.engine()?.backend() {
                Backend::Cuda => FASTLBP_BACKEND_CUDA,
                Backend::Cpu | Backend::Auto => FASTLBP_BACKEND_CPU,
            });
            Ok(())
        })
    }
}

/// Sets the tolerance of fastlbp_bp_run: the largest change of a probability that counts as none.
///
/// @param bp The session; changed.
/// @param tolerance A value >= 0; 1e-9 by default.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for a negative value or NaN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_tolerance(
    bp: *mut fastlbp_bp,
    tolerance: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.settings.tolerance = properties::check_tolerance(tolerance)?;
            Ok(())
        })
    }
}

/// Sets the number of passes after which fastlbp_bp_run ends in any case.
///
/// @param bp The session; changed.
/// @param max_passes The number; 10000 by default.
/// @return FASTLBP_STATUS_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_max_passes(
    bp: *mut fastlbp_bp,
    max_passes: u64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.settings.max_passes = max_passes;
            Ok(())
        })
    }
}

/// Sets the time after which a run of any kind begins no further pass.
///
/// @param bp The session; changed.
/// @param seconds A value >= 0; infinity, the default, for no limit.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for a negative value or NaN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_max_time(
    bp: *mut fastlbp_bp,
    seconds: f64,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.settings.max_time = properties::check_max_time(seconds)?;
            Ok(())
        })
    }
}

/// Sets what happens where certain messages that disagree meet.
///
/// @param bp The session; changed.
/// @param policy FASTLBP_CONTRADICTION_ERROR, the default, or FASTLBP_CONTRADICTION_VOTE.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_contradiction(
    bp: *mut fastlbp_bp,
    policy: u32,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        session.settings.contradiction = match policy {
            FASTLBP_CONTRADICTION_ERROR => Contradiction::Error,
            FASTLBP_CONTRADICTION_VOTE => Contradiction::Vote,
            _ => {
                return Err(Failure::invalid(format!(
                    "contradiction policy {policy}: FASTLBP_CONTRADICTION_ERROR (0) or \
                     FASTLBP_CONTRADICTION_VOTE (1) is needed"
                )));
            }
        };
        Ok(())
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// Sets what messages runs start from.
///
/// @param bp The session; changed.
/// @param start FASTLBP_START_FRESH, the default, or FASTLBP_START_WARM: n passes and then m more give
///        the bits of n + m passes.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for another number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_start(bp: *mut fastlbp_bp, start: u32) -> fastlbp_status {
    let body = |session: &mut Session| {
        session.settings.start = match start {
            FASTLBP_START_FRESH => Start::Fresh,
            FASTLBP_START_WARM => Start::Warm,
            _ => {
                return Err(Failure::invalid(format!(
                    "start {start}: FASTLBP_START_FRESH (0) or FASTLBP_START_WARM (1) is needed"
                )));
            }
        };
        Ok(())
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// Sets a function that is told after each pass how a run goes, and can end it.
///
/// @param bp The session; changed.
/// @param callback The function, or NULL for none.
/// @param user Handed to the callback as it is; may be NULL.
/// @return FASTLBP_STATUS_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_progress(
    bp: *mut fastlbp_bp,
    callback: fastlbp_progress_callback,
    user: *mut c_void,
) -> fastlbp_status {
    let callback: Option<ProgressFunction> = callback;
    let user = UserPointer(user);
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.settings.progress = callback.map(|function| (function, user));
            Ok(())
        })
    }
}

/// Sets a property by its name, as libDAI's users know them.
///
/// | key | value | |
/// |---|---|---|
/// | `tol` | number >= 0 | see fastlbp_bp_set_tolerance |
/// | `maxiter` | whole number | see fastlbp_bp_set_max_passes |
/// | `maxtime` | seconds or `inf` | see fastlbp_bp_set_max_time |
/// | `updates` | `SEQFIX`, `SEQRND`, `PARALL`, `BLOCKS`, `TOPO`, `FWDBWD` or `TREE` | see fastlbp_bp_set_schedule; the seed is that of `seed`, the number of blocks that of `blocks` |
/// | `damping` | number in [0, 1) | see fastlbp_bp_set_damping |
/// | `inference` | `SUMPROD` or `MAXPROD` | see fastlbp_bp_set_inference |
/// | `logdomain` | `0` or `1` | in which domain SEQMAX compares messages; neither loses small numbers |
/// | `verbose` | whole number | from 1 on, each run sends a message to the log |
/// | `threads` | whole number | see fastlbp_bp_set_threads |
/// | `seed` | whole number | seed of SEQRND and BLOCKS |
/// | `blocks` | whole number > 0 | number of blocks of BLOCKS; 8 if never set |
/// | `backend` | `auto`, `cpu` or `cuda` | see fastlbp_bp_set_backend |
/// | `device` | `default` or whole number | see fastlbp_bp_set_device |
/// | `contradiction` | `error` or `vote` | see fastlbp_bp_set_contradiction |
/// | `start` | `fresh` or `warm` | see fastlbp_bp_set_start |
/// | `measure` | `variables` or `all` | see fastlbp_bp_set_measure; libDAI's rule is `all` |
/// | `active` | `off` or number >= 0 | see fastlbp_bp_set_active_threshold |
///
/// @param bp The session; changed.
/// @param key The key, a string.
/// @param value The value, a string.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for an unknown key (the text lists the
///         known ones) or a wrong value; FASTLBP_STATUS_UNSUPPORTED for a value that libDAI takes and
///         this version does not; FASTLBP_STATUS_INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_property(
    bp: *mut fastlbp_bp,
    key: *const c_char,
    value: *const c_char,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and each NULL or a string.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            properties::set(session, text("key", key)?, text("value", value)?)
        })
    }
}

/// The value of a property, as a string; see fastlbp_bp_set_property.
///
/// @param bp The session.
/// @param key The key, a string.
/// @param buffer Where the string is written, with its final NUL.
/// @param length Length of the buffer; 64 is enough for all of them.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT for an unknown key;
///         FASTLBP_STATUS_BUFFER_TOO_SMALL; FASTLBP_STATUS_INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_get_property(
    bp: *const fastlbp_bp,
    key: *const c_char,
    buffer: *mut c_char,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, NULL or a string, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            let key = text("key", key)?;
            let buffer = Buffer::new(buffer, length, needed)?;
            buffer.fill_text(&properties::get(session, key)?)
        })
    }
}
