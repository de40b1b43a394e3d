//! Belief propagation sessions: settings, evidence, runs, results, messages.

use super::arguments::{Buffer, OptionalOutput, Output, array, path, text};
use super::graph::{Graph, fastlbp_graph};
use super::guard::{self, Guarded, Object, into_handle};
use super::log::{self, FASTLBP_LOG_WARNING, UserPointer};
use super::memory;
use super::properties;
use super::session::{ProgressFunction, Session};
use super::status::{Failure, fastlbp_status};
use crate::engine::{Backend, Contradiction, RunReport, Start, StopReason, StopRule};
use crate::error::Error;
use crate::format::{self, PartialEvidence};
use crate::model::{Evidence, check_factor};
use std::ffi::{c_char, c_void};

/// Backend: the faster one that is there for the graph.
pub const FASTLBP_BACKEND_AUTO: u32 = 0;
/// Backend: the processor.
pub const FASTLBP_BACKEND_CPU: u32 = 1;
/// Backend: a CUDA device.
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

/// Makes a session on a graph: schedule SEQFIX, no evidence, tolerance 1e-9, at most 10000 passes, no
/// time limit, fresh starts, contradictions are errors, backend AUTO, one thread per physical core.
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
            out.set(into_handle(Session::new(graph.built()?.clone())));
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
            out.set(into_handle(session.duplicate()?));
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
            out.set(into_handle(Graph::of(session.graph().clone())));
            Ok(())
        })
    }
}

/// Analyses the schedule and makes all buffers by the current settings, where that is still to be
/// done; otherwise the next run does it. Messages, evidence and results stay.
///
/// @param bp The session; changed.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_UNSUPPORTED or FASTLBP_STATUS_NO_DEVICE if the backend
///         asked for is not there, with the reason in the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_prepare(bp: *mut fastlbp_bp) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, |session: &mut Session| session.prepare().map(drop)) }
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
/// @param backend FASTLBP_BACKEND_AUTO (the default: the faster one for the graph, else the CPU, with
///        a message to the log), FASTLBP_BACKEND_CPU or FASTLBP_BACKEND_CUDA (runs fail with the
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

/// Where the session's passes run. Prepares a session that is not yet prepared.
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
/// | `updates` | `SEQFIX`, `SEQRND`, `PARALL`, `TOPO` or `TREE` | see fastlbp_bp_set_schedule; the seed is that of `seed` |
/// | `damping` | `0` | other values are not supported by this version |
/// | `inference` | `SUMPROD` | `MAXPROD` is not supported by this version |
/// | `logdomain` | `0` or `1` | without effect: neither value loses small numbers |
/// | `verbose` | whole number | from 1 on, each run sends a message to the log |
/// | `threads` | whole number | see fastlbp_bp_set_threads |
/// | `seed` | whole number | seed of SEQRND |
/// | `backend` | `auto`, `cpu` or `cuda` | see fastlbp_bp_set_backend |
/// | `contradiction` | `error` or `vote` | see fastlbp_bp_set_contradiction |
/// | `start` | `fresh` or `warm` | see fastlbp_bp_set_start |
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

/// Observes a variable in a state; replaces what was known about it. Results of earlier runs stay.
///
/// @param bp The session; changed.
/// @param variable Index of the variable.
/// @param state The state, counted from 0.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
///
/// O(log observed variables).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_observe(
    bp: *mut fastlbp_bp,
    variable: usize,
    state: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, |session: &mut Session| session.observe(variable, state)) }
}

/// As fastlbp_bp_observe, for the variable with a label.
///
/// @param bp The session; changed.
/// @param label Label of the variable.
/// @param state The state, counted from 0.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_observe_label(
    bp: *mut fastlbp_bp,
    label: u64,
    state: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.observe(session.variable_of_label(label)?, state)
        })
    }
}

/// Observes many variables, or none if one of them cannot be; see fastlbp_bp_observe. Of several
/// states for one variable the last one counts.
///
/// @param bp The session; changed.
/// @param variables `count` indices of variables.
/// @param states `count` states.
/// @param count Number of observations.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_observe_variables(
    bp: *mut fastlbp_bp,
    variables: *const u32,
    states: *const u32,
    count: usize,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        // SAFETY: by the header, arrays of `count` entries.
        let (variables, states) =
            unsafe { (array("variables", variables, count)?, array("states", states, count)?) };
        let pairs = variables.iter().zip(states);
        session
            .observe_many(pairs.map(|(&variable, &state)| Ok((variable as usize, state as usize))))
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// As fastlbp_bp_observe_variables, for variables with labels.
///
/// @param bp The session; changed.
/// @param labels `count` labels.
/// @param states `count` states.
/// @param count Number of observations.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_observe_labels(
    bp: *mut fastlbp_bp,
    labels: *const u64,
    states: *const u32,
    count: usize,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        // SAFETY: by the header, arrays of `count` entries.
        let (labels, states) =
            unsafe { (array("labels", labels, count)?, array("states", states, count)?) };
        let graph = session.graph().clone();
        let pairs = labels.iter().zip(states);
        session.observe_many(pairs.map(|(&label, &state)| {
            Ok((super::graph::variable_of_label(&graph, label)?, state as usize))
        }))
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// Sets soft evidence on a variable, a likelihood per state, which multiplies its belief and its
/// outgoing messages; replaces what was known about the variable.
///
/// @param bp The session; changed.
/// @param variable Index of the variable.
/// @param likelihood `length` values: finite, not negative, not all zero. Only their ratios matter.
/// @param length Must be the variable's number of states.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE; FASTLBP_STATUS_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_likelihood(
    bp: *mut fastlbp_bp,
    variable: usize,
    likelihood: *const f64,
    length: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and an array of `length` entries.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            session.set_likelihood(variable, array("likelihood", likelihood, length)?)
        })
    }
}

/// Forgets what is known about a variable; harmless if nothing is.
///
/// @param bp The session; changed.
/// @param variable Index of the variable.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_clear_evidence(
    bp: *mut fastlbp_bp,
    variable: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, |session: &mut Session| session.clear_evidence(variable)) }
}

/// Forgets all evidence.
///
/// @param bp The session; changed.
/// @return FASTLBP_STATUS_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_clear_all_evidence(bp: *mut fastlbp_bp) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, |session: &mut Session| session.set_evidence(Evidence::new())) }
}

/// Replaces all evidence by that of a file: one named `.evid` is in the format of the UAI
/// competitions, any other one (`.obs`) has a line `label value` per observation, the value being a
/// state, `true` or `false`. A further `.gz` tells that it is compressed.
///
/// @param bp The session; changed.
/// @param path Name of the file.
/// @param unknown Where the number of observations is written whose variable the graph does not have:
///        they are left out, with a message to the log. NULL to make them an error.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_IO; FASTLBP_STATUS_PARSE, with file and line in the
///         text; FASTLBP_STATUS_INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_read_evidence(
    bp: *mut fastlbp_bp,
    path: *const c_char,
    unknown: *mut usize,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        // SAFETY: by the header, NULL or a string, and NULL or writable.
        let (path, out) = unsafe { (self::path(path)?, OptionalOutput::new("unknown", unknown)?) };
        let graph = session.graph();
        let PartialEvidence { observed, unknown: left_out } = if unknown.is_null() {
            let observed = format::read_evidence(path, graph)?;
            PartialEvidence { observed, unknown: Vec::new() }
        } else {
            format::read_partial_evidence(path, graph)?
        };
        let mut evidence = Evidence::new();
        for (variable, state) in observed {
            evidence.observe(graph, variable, state)?;
        }
        session.set_evidence(evidence)?;
        if let Some((label, line)) = left_out.first() {
            log::send(FASTLBP_LOG_WARNING, || {
                format!(
                    "{}:{line}: variable {label}: the graph has no such label; \
                     {} observations are left out",
                    path.display(),
                    left_out.len()
                )
            });
        }
        out.set(left_out.len());
        Ok(())
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// Number of variables about which something is known.
///
/// @param bp The session.
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_evidence_count(
    bp: *const fastlbp_bp,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            Output::new("out", out)?.set(session.evidence().len());
            Ok(())
        })
    }
}

/// Runs passes until no belief of a variable has changed by more than the tolerance in a pass, or
/// until the greatest number of passes or the time limit is reached. Which of these it was, see
/// fastlbp_bp_stop_reason: all of them are FASTLBP_STATUS_OK.
///
/// @param bp The session; changed.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_CONTRADICTION (see fastlbp_bp_first_contradiction), after
///         which the messages are those of the contradictory pass and the results those of the last
///         run without an error; as in fastlbp_bp_prepare.
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
/// belief, and by BINGO's rule also of a factor's incoming messages. Infinity if no pass was made.
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

/// Length of the array of all messages: the sum over all edges of the cardinality of the edge's
/// variable.
///
/// @param bp The session.
/// @param out Where the length is written.
/// @return FASTLBP_STATUS_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_message_length(
    bp: *const fastlbp_bp,
    out: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and NULL or writable.
    unsafe {
        guard::read(bp, |session: &Session| {
            Output::new("out", out)?.set(message_length(session));
            Ok(())
        })
    }
}

fn message_length(session: &Session) -> usize {
    let graph = session.graph();
    if graph.all_binary() {
        return 2 * graph.edge_count();
    }
    graph.edge_variables().iter().map(|&v| graph.cardinality(v as usize)).sum()
}

/// All factor-to-variable messages, edge by edge: one probability per state of the edge's variable.
/// These are rounded; to go on later with the same bits, see fastlbp_bp_save_state.
///
/// @param bp The session.
/// @param buffer Where the messages are written.
/// @param length Length of the buffer; fastlbp_bp_message_length is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_bp_prepare.
///
/// Prepares a session that is not yet prepared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_messages(
    bp: *const fastlbp_bp,
    buffer: *mut f64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            let buffer = Buffer::new(buffer, length, needed)?.check(message_length(session))?;
            memory::check("messages", message_length(session).checked_mul(16))?;
            buffer.fill(&session.engine()?.messages())
        })
    }
}

/// Replaces all factor-to-variable messages, in the layout of fastlbp_bp_messages. The number of
/// passes done counts from 0 again. A run with FASTLBP_START_WARM goes on from them.
///
/// @param bp The session; changed.
/// @param messages `length` values: for each edge finite and not negative, not all zero; only their
///        ratios matter.
/// @param length Must be fastlbp_bp_message_length.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_messages(
    bp: *mut fastlbp_bp,
    messages: *const f64,
    length: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and an array of `length` entries.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            let messages = array("messages", messages, length)?;
            memory::check("messages", length.checked_mul(16))?;
            Ok(session.prepare()?.set_messages(messages)?)
        })
    }
}

/// The exact state of the messages and the number of passes done, for fastlbp_bp_restore_state: a
/// sequence of words whose meaning belongs to this version of the library. Evidence, schedule,
/// settings and results are not part of it.
///
/// @param bp The session.
/// @param buffer Where the words are written.
/// @param length Length of the buffer; 4 more than fastlbp_bp_message_length is enough.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; as in fastlbp_bp_prepare.
///
/// Prepares a session that is not yet prepared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_save_state(
    bp: *const fastlbp_bp,
    buffer: *mut u64,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and a buffer of `length` entries.
    unsafe {
        guard::read(bp, |session: &Session| {
            let buffer = Buffer::new(buffer, length, needed)?;
            memory::check("a saved state", message_length(session).checked_mul(16))?;
            buffer.fill(&session.engine()?.save_state())
        })
    }
}

/// Goes back to a saved state, also of another session on an equal graph. A run with
/// FASTLBP_START_WARM goes on from it with the same bits.
///
/// @param bp The session; changed.
/// @param state `length` words from fastlbp_bp_save_state.
/// @param length Number of words.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_INVALID_ARGUMENT if it is not a state of this version
///         and graph; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_restore_state(
    bp: *mut fastlbp_bp,
    state: *const u64,
    length: usize,
) -> fastlbp_status {
    // SAFETY: by the header, NULL or live, and an array of `length` entries.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            let state = array("state", state, length)?;
            memory::check("a saved state", length.checked_mul(16))?;
            Ok(session.prepare()?.restore_state(state)?)
        })
    }
}
