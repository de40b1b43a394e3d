//! # Many at once
//!
//! For those with many questions on one graph, or many small graphs: several run at once, and results are those of
//! running them one by one. One that fails spoils none of the others: its status says why, and a warning with the reason
//! goes to the log.

use super::arguments::Buffer;
use super::bp::fastlbp_bp;
use super::guard::{Locked, lock_all};
use super::log::{self, FASTLBP_LOG_WARNING};
use super::memory;
use super::session::{Session, send_notes};
use super::status::{DONE, Failure, Outcome, fastlbp_status};
use crate::engine::{Control, Start};
use crate::model::{Evidence, check_offsets};
use crate::session::{Ran, run_together};

/// Runs many evidence sets on the session's graph as fastlbp_bp_run would, each as a fresh run of its own with exactly
/// that evidence: entry i observes `variables[j]` in `states[j]` for all j from `entry_offsets[i]` up to, but not
/// including, `entry_offsets[i + 1]`; of several states for one variable the last one counts. The session's own evidence,
/// messages and results stay as they are; its settings are those of the runs, but for the start, which is fresh, and the
/// time limit is one per entry. The marginals of an entry that fails are NaN.
///
/// On devices, entries run on all that the session may use (the property `device`); what one had begun that fails is run
/// on another one.
///
/// The progress callback is called after each entry, on the calling thread: `iterations` is the number of finished entries,
/// `max_iterations` that of all, `max_diff` infinity and `active_fraction` 1. If it ends the call, entries that run at that
/// moment end before their next iteration, with the results so far, and those that have not begun get NO_RESULT.
///
/// @param bp The session; changed only in that it is prepared and keeps what the next batch can use.
/// @param entry_offsets `entries + 1` offsets, not descending, from 0 to `count`.
/// @param entries Number of entries.
/// @param variables `count` indices of variables.
/// @param states `count` states.
/// @param count Number of observations in all entries.
/// @param marginals Where the marginals of all entries are written, one entry after the other, each laid out as by
///        fastlbp_bp_marginals.
/// @param length Length of that buffer; entries * FASTLBP_COUNT_STATES is enough.
/// @param statuses Where `entries` statuses are written, or NULL: OK, or that with which fastlbp_bp_run would have failed.
/// @return OK if the entries were run, whatever their own statuses; INVALID_ARGUMENT or OUT_OF_RANGE before anything is
///         run; LIMIT_EXCEEDED; as in fastlbp_bp_prepare.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn fastlbp_bp_run_batch(
    bp: *mut fastlbp_bp, entry_offsets: *const usize, entries: usize, variables: *const u32,
    states: *const u32, count: usize, marginals: *mut f64, length: usize, needed: *mut usize,
    statuses: *mut fastlbp_status,
) -> fastlbp_status {
    change!(bp, |session| {
        let variables = array!(variables, count);
        let states = array!(states, count);
        let offsets = array!(entry_offsets, entries.saturating_add(1));
        check_offsets("entry_offsets", offsets, variables.len())?;
        let marginals = Buffer::named("marginals", marginals, length, needed)?;
        let statuses = match statuses.is_null() {
            true => None,
            false => Some(Buffer::array("statuses", statuses, entries)?),
        };
        run_batch(session, Observed { offsets, variables, states }, marginals, statuses)
    })
}

/// The evidence of a batch as C hands it over.
struct Observed<'a> {
    offsets: &'a [usize],
    variables: &'a [u32],
    states: &'a [u32],
}

impl Observed<'_> {
    /// The evidence of one entry.
    fn entry(&self, session: &Session, number: usize) -> Outcome<Evidence> {
        let range = self.offsets[number]..self.offsets[number + 1];
        let pairs = self.variables[range.clone()].iter().zip(&self.states[range]);
        let mut observed = memory::vector("evidence", pairs.len())?;
        observed.extend(pairs.map(|(&variable, &state)| (variable as usize, state as usize)));
        Evidence::of_observations(session.graph(), &observed)
            .map_err(|error| Failure::from(error).at(format_args!("entry {number}")))
    }
}

fn run_batch(
    session: &mut Session, observed: Observed<'_>, marginals: Buffer<f64>,
    statuses_out: Option<Buffer<fastlbp_status>>,
) -> Outcome {
    let count = observed.offsets.len() - 1;
    let state_count = session.graph().state_count();
    let wanted = count.checked_mul(state_count).ok_or_else(|| {
        let text = format!("{count} entries with {state_count} states each");
        Failure::new(fastlbp_status::LimitExceeded, text)
    })?;
    let marginals = marginals.check(wanted)?;
    let mut entries = memory::vector("evidence", count)?;
    for number in 0..count {
        entries.push(observed.entry(session, number)?);
    }
    let mut request = session.bp.settings().request();
    request.start = Start::Fresh;
    let progress = session.extras.progress;
    let mut monitor = |done: usize, all: usize| match progress {
        None => Control::Continue,
        Some((callback, user)) => {
            // SAFETY: the function and the pointer belong together and are valid until replaced, as
            // the header demands.
            let wish = unsafe { callback(user.0, done as u64, all as u64, f64::INFINITY, 1.0) };
            if wish == 0 { Control::Continue } else { Control::Cancel }
        }
    };
    let batch = session.bp.run_batch_monitored(&entries, &request, &mut monitor);
    send_notes(session.bp.take_notes());
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
    statuses_out.map_or(DONE, |buffer| buffer.fill(&statuses))
}

/// Prepares and runs many sessions as fastlbp_bp_run would run each of them; afterwards each has its own results and
/// report. Where there are several devices, those on a device run on all that they may use (the property `device`), each on
/// the one that it ran on before, or else on the first that is free; what one had begun that fails is run on another one.
/// Sessions on small graphs run several at once, on one thread each: as many as the session with the most threads may use
/// (fastlbp_bp_set_threads). Then the others, among them those on the only device, run one after the other on the calling
/// thread, and so do those with a progress callback. Other messages to the log may come from threads of the library's own.
///
/// @param sessions `count` sessions, all different; changed.
/// @param count Number of sessions.
/// @param statuses Where `count` statuses are written: what fastlbp_bp_run would have returned for each.
/// @return OK if the sessions were run, whatever their own statuses; NULL_POINTER, BUSY (also for a session that is given
///         twice) or POISONED, with its position in the text, before anything is run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_run_all(
    sessions: *const *mut fastlbp_bp, count: usize, statuses: *mut fastlbp_status,
) -> fastlbp_status {
    call!({
        let handles = array!(sessions, count);
        let statuses = Buffer::array("statuses", statuses, count)?;
        lock_all(handles, "sessions", |sessions| run_all(sessions, statuses))
    })
}

/// How far a session of many is.
enum Step<'a> {
    Prepared(Locked<'a, fastlbp_bp>, Outcome),
    /// On one of several devices.
    Ran(Outcome),
}

fn run_all<'a>(sessions: Vec<Locked<'a, fastlbp_bp>>, statuses: Buffer<fastlbp_status>) -> Outcome {
    let limits = sessions.iter().map(|session| session.state().bp.options().thread_limit());
    let threads = limits.max().unwrap_or(1);
    let prepare = |mut session: Locked<'a, fastlbp_bp>| {
        let prepared = session.change(Session::prepare);
        Step::Prepared(session, prepared)
    };
    // Progress is told on the calling thread.
    let choice = |session: &Locked<'a, fastlbp_bp>| match session.state().extras.progress {
        Some(_) => (false, Ok(None)),
        None => match session.state().bp.choice_of_devices() {
            Ok(Some(choice)) => (true, Ok(Some(choice))),
            other => (false, other),
        },
    };
    let run_on = |session: &mut Locked<'a, fastlbp_bp>, device| {
        let mut ran = Ran::GivenUp;
        let outcome = session.change(|session| {
            ran = session.run_on(device);
            DONE
        });
        match (outcome, ran) {
            (Err(failure), _) => Ran::Last(Step::Ran(Err(failure))),
            (_, Ran::Done(outcome)) => Ran::Done(Step::Ran(outcome)),
            (_, Ran::Last(outcome)) => Ran::Last(Step::Ran(outcome)),
            (_, Ran::GivenUp) => Ran::GivenUp,
        }
    };
    let steps = run_together(sessions, threads, choice, run_on, prepare, |_| {})?;
    let mut outcomes = memory::vector("outcomes", steps.len())?;
    let mut prepared = memory::vector("sessions", steps.len())?;
    for (index, step) in steps.into_iter().enumerate() {
        outcomes.push(DONE);
        match step {
            Step::Ran(outcome) => outcomes[index] = outcome,
            Step::Prepared(session, outcome) => prepared.push((index, session, outcome)),
        }
    }
    let alone = |(_, session, prepared): &(usize, Locked<'a, fastlbp_bp>, Outcome)| {
        let session = session.state();
        let alone =
            session.extras.progress.is_some() || (prepared.is_ok() && session.bp.runs_alone());
        (alone, Ok(None))
    };
    let run = |(index, mut session, prepared): (usize, Locked<'a, fastlbp_bp>, Outcome)| {
        (index, prepared.and_then(|()| session.change(|session| session.run().map(drop))))
    };
    let ran = run_together(prepared, threads, alone, |_, _| Ran::GivenUp, run, |_| {})?;
    for (index, outcome) in ran {
        outcomes[index] = outcome;
    }
    statuses.fill_with(outcomes.len(), |index| match &outcomes[index] {
        Ok(()) => fastlbp_status::Ok,
        Err(Failure { status, message }) => {
            log::send(FASTLBP_LOG_WARNING, || format!("sessions[{index}]: {message}"));
            *status
        }
    })
}
