//! Many evidence sets on one graph, and many graphs, in one call.

use super::arguments::{Buffer, array};
use super::bp::*;
use super::guard::{self, Locked, enter, lock_all};
use super::log::{self, FASTLBP_LOG_WARNING};
use super::memory;
use super::session::{Session, send_notes};
use super::status::{Failure, Outcome, fastlbp_status};
use crate::BeliefPropagation;
use crate::engine::{Control, Start};
use crate::model::{Evidence, check_offsets};
use crate::session::{run_together, thread_limit};

/// Runs many evidence sets on the session's graph as fastlbp_bp_run would, each as a fresh run of its
/// own with exactly that evidence: entry `i` observes `variables[j]` in `states[j]` for all `j` from
/// `entry_offsets[i]` up to, but not including, `entry_offsets[i + 1]`; of several states for one
/// variable the last one counts. The session's own evidence, messages and results stay as they are; its
/// settings are those of the runs, but for the start, which is fresh, and the time limit is one per
/// entry.
///
/// On small graphs several entries run at once, on one thread each; results do not depend on that.
///
/// An entry that fails, as by a contradiction, spoils none of the others: its marginals are NaN, its
/// status says why, and a warning with the reason goes to the log.
///
/// The progress callback is called after each entry, on the calling thread: `passes` is the number of
/// finished entries, `max_passes` that of all, `max_diff` infinity and `frac` 1. If it ends the
/// call, entries that run at that moment end before their next pass, with the results of their
/// passes so far, and those that have not begun get FASTLBP_STATUS_NO_RESULT.
///
/// @param bp The session; changed only in that it is prepared and keeps what the next batch can use.
/// @param entry_offsets `entries + 1` offsets, not descending, from 0 to `count`.
/// @param entries Number of entries.
/// @param variables `count` indices of variables.
/// @param states `count` states.
/// @param count Number of observations in all entries.
/// @param marginals Where the marginals of all entries are written, one entry after the other, each
///        laid out as by fastlbp_bp_marginals.
/// @param length Length of that buffer; entries * fastlbp_graph_state_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @param statuses Where `entries` statuses are written, or NULL: FASTLBP_STATUS_OK, or that with
///        which fastlbp_bp_run would have failed.
/// @return FASTLBP_STATUS_OK if the entries were run, whatever their own statuses;
///         FASTLBP_STATUS_BUFFER_TOO_SMALL, FASTLBP_STATUS_INVALID_ARGUMENT or
///         FASTLBP_STATUS_OUT_OF_RANGE before anything is run; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_run_batch(
    bp: *mut fastlbp_bp,
    entry_offsets: *const usize,
    entries: usize,
    variables: *const u32,
    states: *const u32,
    count: usize,
    marginals: *mut f64,
    length: usize,
    needed: *mut usize,
    statuses: *mut fastlbp_status,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        // SAFETY: by the header, arrays and buffers of these lengths.
        let (observed, results) = unsafe {
            let variables = array("variables", variables, count)?;
            let states = array("states", states, count)?;
            let observed = Observed::new(entry_offsets, entries, variables, states)?;
            (observed, Results::new(marginals, length, needed, statuses, entries)?)
        };
        run_batch(session, &observed, results, |_, &variable| Ok(variable as usize))
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// As fastlbp_bp_run_batch, for variables with labels.
///
/// @param bp The session; changed only in that it is prepared and keeps what the next batch can use.
/// @param entry_offsets `entries + 1` offsets, not descending, from 0 to `count`.
/// @param entries Number of entries.
/// @param labels `count` labels.
/// @param states `count` states.
/// @param count Number of observations in all entries.
/// @param marginals Where the marginals of all entries are written.
/// @param length Length of that buffer; entries * fastlbp_graph_state_count is enough.
/// @param needed Where the length needed is written, or NULL.
/// @param statuses Where `entries` statuses are written, or NULL.
/// @return As fastlbp_bp_run_batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_run_batch_labels(
    bp: *mut fastlbp_bp,
    entry_offsets: *const usize,
    entries: usize,
    labels: *const u64,
    states: *const u32,
    count: usize,
    marginals: *mut f64,
    length: usize,
    needed: *mut usize,
    statuses: *mut fastlbp_status,
) -> fastlbp_status {
    let body = |session: &mut Session| {
        // SAFETY: by the header, arrays and buffers of these lengths.
        let (observed, results) = unsafe {
            let labels = array("labels", labels, count)?;
            let states = array("states", states, count)?;
            let observed = Observed::new(entry_offsets, entries, labels, states)?;
            (observed, Results::new(marginals, length, needed, statuses, entries)?)
        };
        run_batch(session, &observed, results, |session, &label| session.variable_of_label(label))
    };
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, body) }
}

/// The evidence of a batch as C hands it over.
struct Observed<'a, V> {
    offsets: &'a [usize],
    variables: &'a [V],
    states: &'a [u32],
}

impl<'a, V> Observed<'a, V> {
    /// # Safety
    /// `offsets` is NULL or points to `entries + 1` offsets that nobody changes during `'a`.
    unsafe fn new(
        offsets: *const usize,
        entries: usize,
        variables: &'a [V],
        states: &'a [u32],
    ) -> Outcome<Self> {
        // SAFETY: as the caller promises.
        let offsets = unsafe { array("entry_offsets", offsets, entries.saturating_add(1)) }?;
        check_offsets("entry_offsets", offsets, variables.len())?;
        Ok(Self { offsets, variables, states })
    }
}

/// Where the results of a batch go.
struct Results {
    marginals: Buffer<f64>,
    statuses: Option<Buffer<fastlbp_status>>,
}

impl Results {
    /// # Safety
    /// As for [`Buffer::new`]; `statuses` is NULL or may be written to, `entries` values of it.
    unsafe fn new(
        marginals: *mut f64,
        length: usize,
        needed: *mut usize,
        statuses: *mut fastlbp_status,
        entries: usize,
    ) -> Outcome<Self> {
        // SAFETY: as the caller promises.
        unsafe {
            let marginals = Buffer::named("marginals", marginals, length, needed)?;
            let statuses = match statuses.is_null() {
                true => None,
                false => Some(Buffer::array("statuses", statuses, entries)?),
            };
            Ok(Self { marginals, statuses })
        }
    }
}

fn run_batch<V>(
    session: &mut Session,
    observed: &Observed<'_, V>,
    results: Results,
    variable: impl Fn(&Session, &V) -> Outcome<usize>,
) -> Outcome {
    let graph = session.graph().clone();
    let count = observed.offsets.len() - 1;
    let wanted = count.checked_mul(graph.state_count()).ok_or_else(|| {
        Failure::new(
            fastlbp_status::LimitExceeded,
            format!("{count} entries with {} states each", graph.state_count()),
        )
    })?;
    let marginals = results.marginals.check(wanted)?;
    let mut entries = memory::vector("evidence", count)?;
    for (number, range) in observed.offsets.windows(2).enumerate() {
        let range = range[0]..range[1];
        let mut evidence = Evidence::new();
        for (v, &state) in observed.variables[range.clone()].iter().zip(&observed.states[range]) {
            let known = variable(session, v)
                .and_then(|variable| Ok(evidence.observe(&graph, variable, state as usize)?));
            known.map_err(|failure| Failure {
                message: format!("entry {number}: {}", failure.message),
                ..failure
            })?;
        }
        entries.push(evidence);
    }
    let mut request = session.request(session.tolerance_rule());
    request.start = Start::Fresh;
    let progress = session.settings.progress;
    let mut monitor = |done: usize, all: usize| match progress {
        None => Control::Continue,
        Some((callback, user)) => {
            // SAFETY: the function and the pointer belong together and are valid until replaced, as
            // the header demands.
            let wish = unsafe { callback(user.0, done as u64, all as u64, f64::INFINITY, 1.0) };
            if wish == 0 { Control::Continue } else { Control::Cancel }
        }
    };
    let engine = session.prepare()?;
    let batch = engine.run_batch_monitored(&entries, &request, &mut monitor);
    send_notes(engine.take_notes());
    let batch = batch?;
    marginals.fill(&batch.marginals)?;
    let mut statuses = memory::vector("statuses", count)?;
    for (number, report) in batch.reports.into_iter().enumerate() {
        statuses.push(match report {
            Ok(_) => fastlbp_status::Ok,
            Err(error) => {
                let Failure { status, message } = error.into();
                log::send(FASTLBP_LOG_WARNING, || format!("entry {number}: {message}"));
                status
            }
        });
    }
    results.statuses.map_or(Ok(()), |buffer| buffer.fill(&statuses))
}

/// Prepares and runs many sessions, such as those of many small graphs, as fastlbp_bp_run would run
/// each of them; afterwards each has its own results and report. Sessions on small graphs run
/// several at once, on one thread each: as many as the session with the most threads may use
/// (fastlbp_bp_set_threads). Then the others, among them those on a device, run one after the other on
/// the calling thread, and so do those with a progress callback. Results do not depend on that.
///
/// One that fails spoils none of the others: its status says why, and a warning with the reason goes
/// to the log. Other messages to the log may come from threads of the library's own.
///
/// @param sessions `count` sessions, all different; changed.
/// @param count Number of sessions.
/// @param statuses Where `count` statuses are written: what fastlbp_bp_run would have returned for
///        each.
/// @return FASTLBP_STATUS_OK if the sessions were run, whatever their own statuses;
///         FASTLBP_STATUS_NULL_POINTER, FASTLBP_STATUS_BUSY (also for a session that is given twice) or
///         FASTLBP_STATUS_POISONED, with its position in the text, before anything is run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_run_all(
    sessions: *const *mut fastlbp_bp,
    count: usize,
    statuses: *mut fastlbp_status,
) -> fastlbp_status {
    enter(|| {
        // SAFETY: by the header, arrays of `count` entries.
        let (handles, statuses) = unsafe {
            let handles = array("sessions", sessions, count)?;
            (handles, Buffer::array("statuses", statuses, count)?)
        };
        // SAFETY: by the header, each is NULL or live.
        unsafe { lock_all(handles, "sessions", |sessions| run_all(sessions, statuses)) }
    })
}

fn run_all<'a>(sessions: Vec<Locked<'a, fastlbp_bp>>, statuses: Buffer<fastlbp_status>) -> Outcome {
    let limits = sessions.iter().map(|session| thread_limit(&session.state().options()));
    let threads = limits.max().unwrap_or(1);
    let prepare = |mut session: Locked<'a, fastlbp_bp>| {
        let prepared = session.change(|session| session.prepare().map(drop));
        (session, prepared)
    };
    let prepared = run_together(sessions, threads, |_| false, prepare, |_| {})?;
    let alone = |(session, prepared): &(Locked<'a, fastlbp_bp>, Outcome)| {
        let session = session.state();
        // Progress is told on the calling thread.
        session.settings.progress.is_some()
            || (prepared.is_ok() && session.engine().is_ok_and(BeliefPropagation::runs_alone))
    };
    let run = |(mut session, prepared): (Locked<'a, fastlbp_bp>, Outcome)| {
        prepared?;
        session.change(|session| session.run(session.tolerance_rule()).map(drop))
    };
    let outcomes = run_together(prepared, threads, alone, run, |_| {})?;
    statuses.fill_with(outcomes.len(), |index| match &outcomes[index] {
        Ok(()) => fastlbp_status::Ok,
        Err(Failure { status, message }) => {
            log::send(FASTLBP_LOG_WARNING, || format!("sessions[{index}]: {message}"));
            *status
        }
    })
}
