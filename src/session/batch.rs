//! Many evidence sets on one graph, and many graphs, in one call.

use super::base::{BeliefPropagation, check_evidence};
use super::devices;
use super::distribute::{Fit, JobEnd, distribute, distribute_to_some};
use super::runner::Runner;
use super::spread::{DeviceChoice, Job, Ran, run_spread};
use super::workers::Workers;
use crate::engine::{
    Backend, Control, EngineOptions, Progress, RunReport, RunRequest, Start, is_of_device,
};
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, filled, out_of_memory, room, shared};
use crate::model::{Evidence, FactorGraph};
use crate::schedule::Schedule;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most edges that the engines of several entries at once may have together: each takes up to 80 bytes
/// per edge, so that they stay below 3 GB.
const EDGES_AT_ONCE: usize = 1 << 25;

/// What a run on two or more threads gains per thread, measured for PARALL at 2 threads: 0.8 to 1.
const TEAM_EFFICIENCY: f64 = 0.8;

/// What [`BeliefPropagation::run_batch`] gives.
#[derive(Debug)]
pub struct BatchResults {
    /// Marginals of all entries one after the other, each laid out as by
    /// [`BeliefPropagation::marginals`]: entries x state count values. Those of an entry whose report
    /// is an error are NaN.
    pub marginals: Vec<f64>,
    /// The report of each entry, or why it has no results.
    pub reports: Vec<Result<RunReport>>,
}

impl BatchResults {
    /// Marginals of one entry; `None` if there is no such entry or it has no results.
    pub fn of_entry(&self, entry: usize) -> Option<&[f64]> {
        self.reports.get(entry)?.as_ref().ok()?;
        let states = self.marginals.len() / self.reports.len();
        self.marginals.get(entry * states..(entry + 1) * states)
    }
}

/// One entry: what is known, and where its marginals go.
struct Entry<'a> {
    number: usize,
    evidence: &'a Evidence,
    marginals: &'a mut [f64],
}

impl BeliefPropagation {
    /// Runs many evidence sets, each as a fresh run of its own with exactly that evidence: the
    /// marginals and reports have the bits of [`Self::set_evidence`] and [`Self::run`], one entry after
    /// the other. The session's own evidence, messages, results and report stay as they are.
    ///
    /// Where a device is the faster place and there are several ([`EngineOptions::devices`]), entries run on all of
    /// them, each by the next one that is free. One that fails is given up: what it had begun is run on another one,
    /// or, where it was the last, as without devices.
    ///
    /// Where that is faster, several entries run at once, on one thread each; else one after the
    /// other on all threads, as on a device. An entry's time on one thread is proportional to the graph's edges. On a
    /// team of t threads (1 for small graphs, and for schedules that run on one thread anyway) it is
    /// divided by 0.8 t, if t > 1. With n entries and w threads, ceil(n / w) entries one after the
    /// other on a thread of their own are compared with n of them on the team. Engines for
    /// entries at once are as many as may have 2^25 edges together (at most 3 GB). All engines share
    /// graph and order with the session and stay for its next batch, until the schedule changes.
    ///
    /// An entry that fails, as by a contradiction, spoils none of the others: its report is the error,
    /// its marginals are NaN. A time limit is one per entry.
    ///
    /// Errors, before anything is run: a request as in [`Self::run`], or one that does not start fresh;
    /// evidence for another graph, naming the entry; memory for the results cannot be had.
    ///
    /// ```
    /// use fastlbp::{BeliefPropagation, Evidence, FactorGraphBuilder, RunRequest, Schedule, StopRule};
    /// let mut builder = FactorGraphBuilder::new();
    /// builder.add_prior(1, 0.3)?;
    /// builder.add_and(2, &[1], 0.9, 0.1)?;
    /// let graph = std::sync::Arc::new(builder.build()?);
    /// let mut entries = vec![Evidence::new(), Evidence::new()];
    /// entries[1].observe(&graph, 1, 1)?; // the variable with index 1, label 2, is true
    /// let mut bp = BeliefPropagation::new(graph, Schedule::Tree, Default::default())?;
    /// let results = bp.run_batch(&entries, &RunRequest::new(StopRule::Iterations(1)))?;
    /// assert!((results.of_entry(0).unwrap()[3] - 0.34).abs() < 1e-15); // P(x2)
    /// assert!((results.of_entry(1).unwrap()[1] - 0.27 / 0.34).abs() < 1e-15); // P(x1 | x2)
    /// # Ok::<(), fastlbp::Error>(())
    /// ```
    pub fn run_batch(
        &mut self, entries: &[Evidence], request: &RunRequest,
    ) -> Result<BatchResults> {
        self.run_batch_monitored(entries, request, &mut |_, _| Control::Continue)
    }

    /// As [`Self::run_batch`], with a callback after each entry, on the calling thread, that gets the
    /// number of finished entries and that of all, and can end the batch early. Entries that run at
    /// that moment end before their next iteration, with the results of their iterations so far and the reason
    /// [`crate::StopReason::Cancelled`]; those that have not begun get [`Error::NoResult`].
    pub fn run_batch_monitored(
        &mut self, entries: &[Evidence], request: &RunRequest,
        monitor: &mut dyn FnMut(usize, usize) -> Control,
    ) -> Result<BatchResults> {
        self.run_batch_cancellable(entries, request, &AtomicBool::new(false), monitor)
    }

    /// As [`Self::run_batch_monitored`], with a flag that ends the batch in the same way as soon as it is
    /// set, by another thread or a signal handler: also in the middle of an entry, which may be long.
    /// The callback sets it, too, when it ends the batch.
    pub fn run_batch_cancellable(
        &mut self, entries: &[Evidence], request: &RunRequest, cancelled: &AtomicBool,
        monitor: &mut dyn FnMut(usize, usize) -> Control,
    ) -> Result<BatchResults> {
        let request = &self.check_batch(entries, request)?;
        let states = self.graph().state_count();
        let mut marginals = unset(entries.len(), states)?;
        let mut rest = marginals.as_mut_slice();
        let mut jobs = room(entries.len())?;
        for (number, evidence) in entries.iter().enumerate() {
            let (marginals, others) = std::mem::take(&mut rest).split_at_mut(states);
            rest = others;
            jobs.push(Entry { number, evidence, marginals });
        }
        let mut reports: Vec<Option<Result<RunReport>>> = room(entries.len())?;
        reports.resize_with(entries.len(), || None);
        let mut done = 0;
        self.run_jobs(
            jobs,
            request,
            &Way {
                number: |entry| entry.number,
                fit: &|_| Fit::Now,
                run: &|runner, entry: &mut Entry<'_>| {
                    let Entry { evidence, marginals, .. } = entry;
                    match cancelled.load(Ordering::Relaxed) {
                        true => Ok(None),
                        false => {
                            run_entry(runner, request, evidence, marginals, cancelled).map(Some)
                        }
                    }
                },
                end: &|_, _, report| report,
                beside: false,
            },
            |number, report: Result<Option<RunReport>>| {
                let Some(report) = report.transpose() else { return };
                reports[number] = Some(report);
                done += 1;
                if monitor(done, entries.len()) == Control::Cancel {
                    cancelled.store(true, Ordering::Relaxed);
                }
            },
        )?;
        let reports = collected(reports.into_iter().map(|report| report.unwrap_or_else(not_run)))?;
        Ok(BatchResults { marginals, reports })
    }

    /// Checks what is common to all entries, and each of them; the request as it is run.
    pub(super) fn check_batch(
        &self, entries: &[Evidence], request: &RunRequest,
    ) -> Result<RunRequest> {
        request.check()?;
        if request.start != Start::Fresh {
            return Err(Error::InvalidArgument(
                "a batch with a warm start: each entry is a fresh run, and Start::Fresh is needed"
                    .into(),
            ));
        }
        for (number, evidence) in entries.iter().enumerate() {
            check_evidence(self.graph(), evidence).map_err(|error| in_entry(number, error))?;
        }
        Ok(RunRequest { rough_progress: true, ..*request })
    }

    /// Runs the jobs of a batch where they are done first. `finished` gets what they come to, in any order, on the calling
    /// thread.
    pub(super) fn run_jobs<J: Send, R: Send, E: Send>(
        &mut self, jobs: Vec<J>, request: &RunRequest, way: &Way<'_, J, R, E>,
        mut finished: impl FnMut(usize, E),
    ) -> Result<()> {
        let jobs = self.run_on_devices(jobs, request, way, &mut finished)?;
        if jobs.is_empty() {
            return Ok(());
        }
        let (workers, runs_on) = self.workers(jobs.len(), request)?;
        let beside = way.beside && runs_on == RunsOn::Device;
        let work = |runner: &mut Runner, mut job: J| {
            let (number, result) = ((way.number)(&job), (way.run)(runner, &mut job));
            JobEnd::Done((number, (way.end)(number, runs_on, result)))
        };
        let fit = |_: &Runner, job: &J| (way.fit)(job);
        let note = |_, (number, end)| finished(number, end);
        distribute_to_some(workers, beside, jobs, fit, work, note)?;
        let mut notes = Vec::new();
        for worker in workers {
            notes.try_extend(worker.router_mut()?.take_notes())?;
        }
        self.notes.try_extend(notes)
    }

    /// The devices that so many entries are spread over; none where there are not several, or other places are faster.
    pub(super) fn devices_for(&mut self, entries: usize, request: &RunRequest) -> Result<Vec<u32>> {
        if entries < 2 || !self.runner.router_mut()?.prefers_device(request, entries) {
            return Ok(Vec::new());
        }
        devices::several(&self.runner.options(), self.workers.failed_devices)
    }

    /// Runs jobs on several devices, where that is wanted and faster than here. Gives those that are left.
    fn run_on_devices<J: Send, R: Send, E: Send>(
        &mut self, jobs: Vec<J>, request: &RunRequest, way: &Way<'_, J, R, E>,
        mut finished: impl FnMut(usize, E),
    ) -> Result<Vec<J>> {
        let devices = self.devices_for(jobs.len(), request)?;
        if devices.is_empty() {
            return Ok(jobs);
        }
        let (runner, workers) = (&self.runner, &mut self.workers);
        let schedule = shared_schedule(runner, &mut workers.schedule)?;
        let used = &devices[..devices.len().min(jobs.len())];
        devices::add_workers(&mut workers.devices, used, runner, schedule)?;
        let Workers { devices, failed_devices, .. } = workers;
        let run = |runner: &mut Runner, job: &mut J| {
            let number = (way.number)(job);
            let result = match (way.run)(runner, job) {
                Err(error) if is_of_device(&error) => return Err(error),
                result => result,
            };
            Ok((number, (way.end)(number, RunsOn::Device, result)))
        };
        let note = |(number, end)| finished(number, end);
        devices::run_on_devices(devices, failed_devices, jobs, &mut self.notes, way.fit, run, note)
    }

    /// Engines for a batch of so many entries: several with one thread, or one with all; and where they run.
    fn workers(&mut self, entries: usize, request: &RunRequest) -> Result<(&mut [Runner], RunsOn)> {
        let edges = self.graph().edge_count();
        let at_once = entries_at_once(entries, self.options().thread_limit(), edges);
        let (runner, workers) = (&mut self.runner, &mut self.workers);
        let schedule = shared_schedule(runner, &mut workers.schedule)?;
        let on_one_thread = |schedule: &Schedule| {
            matches!(schedule, Schedule::SequentialRandom { .. } | Schedule::MaximumResidual { .. })
        };
        let team = if on_one_thread(schedule) { 1 } else { runner.router_mut()?.threads() };
        // A device runs one entry faster than several at once.
        let on_device = runner.router_mut()?.prefers_device(request, entries);
        let sibling = |options| {
            let sibling = runner.sibling(schedule.clone(), options)?;
            sibling.prepare_fixed()?;
            Ok::<_, Error>(sibling)
        };
        let options = runner.options();
        if !on_device && at_once > 1 && pays(entries, at_once, team) {
            let options = EngineOptions { backend: Backend::Cpu, threads: Some(1), ..options };
            while workers.single.len() < at_once {
                workers.single.try_push(sibling(options)?)?;
            }
            return Ok((&mut workers.single[..at_once], RunsOn::OneThread));
        }
        let mut team = match workers.team.take() {
            Some(team) => team,
            None => sibling(options)?,
        };
        team.router_mut()?.expect_runs(entries);
        let runs_on = if on_device { RunsOn::Device } else { RunsOn::Team };
        Ok((std::slice::from_mut(workers.team.insert(team)), runs_on))
    }
}

/// Where an entry has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunsOn {
    /// On a thread of its own, beside others.
    OneThread,
    /// On all threads.
    Team,
    /// On a device, which a thread waits for.
    Device,
}

/// How the jobs of a batch are done.
pub(super) struct Way<'a, J, R, E> {
    /// The number of a job's entry.
    pub(super) number: fn(&J) -> usize,
    /// Whether a job may begin; the first one may.
    pub(super) fit: &'a (dyn Fn(&J) -> Fit + Sync),
    /// Runs a job.
    pub(super) run: &'a (dyn Fn(&mut Runner, &mut J) -> Result<R> + Sync),
    /// What a job with a number comes to, by the result of its run; called on the thread that has run it.
    pub(super) end: &'a (dyn Fn(usize, RunsOn, Result<R>) -> E + Sync),
    /// Whether the only device has a thread of its own, so that the calling thread can do something else.
    pub(super) beside: bool,
}

/// Runs an entry, and writes its marginals: NaN after an error.
pub(super) fn run_entry(
    runner: &mut Runner, request: &RunRequest, evidence: &Evidence, marginals: &mut [f64],
    cancelled: &AtomicBool,
) -> Result<RunReport> {
    let mut run = |marginals: &mut [f64]| {
        runner.set_evidence(evidence)?;
        runner.run(request, marginals, &mut |_| control(cancelled))
    };
    run(marginals).inspect_err(|_| marginals.fill(f64::NAN))
}

/// The report of an entry that was not begun.
pub(super) fn not_run<T>() -> Result<T> {
    Err(Error::NoResult("this entry was not run: the batch was cancelled before".into()))
}

/// Runs many sessions, each with its own graph, schedule and evidence, as [`BeliefPropagation::run`]
/// would one after the other; messages, results and reports are in the sessions afterwards.
///
/// Those whose backend is a device, where there are several ([`EngineOptions::devices`]), run on all of them, each on the
/// one that it ran on before, or else on the first that is free; one that fails is given up, and what it had begun is
/// run elsewhere. Sessions that use one thread, those on small graphs, run several at once: as many as the session
/// with the most threads may use ([`EngineOptions::threads`]). Then the others run one after the other
/// on their own threads, or on their device. One that fails spoils none of the others. Errors: no memory for
/// the list of reports, before anything is run.
///
/// ```
/// use fastlbp::{BeliefPropagation, FactorGraphBuilder, RunRequest, Schedule, StopRule};
/// let mut sessions = Vec::new();
/// for prior in [0.25, 0.5] {
///     let mut builder = FactorGraphBuilder::new();
///     builder.add_prior(7, prior)?;
///     let graph = std::sync::Arc::new(builder.build()?);
///     sessions.push(BeliefPropagation::new(graph, Schedule::Parallel, Default::default())?);
/// }
/// let reports = fastlbp::run_all(&mut sessions, &RunRequest::new(StopRule::Iterations(1)))?;
/// assert!(reports.iter().all(|report| report.is_ok()));
/// assert_eq!(sessions[0].probability(0)?, 0.25);
/// # Ok::<(), fastlbp::Error>(())
/// ```
pub fn run_all(
    sessions: &mut [BeliefPropagation], request: &RunRequest,
) -> Result<Vec<Result<RunReport>>> {
    run_all_monitored(sessions, request, &mut |_, _| Control::Continue)
}

/// As [`run_all`], with a callback after each session, on the calling thread, that gets the number of
/// finished sessions and that of all, and can end the call early, as that of
/// [`BeliefPropagation::run_batch_monitored`] does. A session that was not run stays as it was.
pub fn run_all_monitored(
    sessions: &mut [BeliefPropagation], request: &RunRequest,
    monitor: &mut dyn FnMut(usize, usize) -> Control,
) -> Result<Vec<Result<RunReport>>> {
    let request = &RunRequest { rough_progress: true, ..*request };
    let total = sessions.len();
    let cancelled = AtomicBool::new(false);
    let limits = sessions.iter().map(|session| session.options().thread_limit());
    let threads = limits.max().unwrap_or(1);
    let mut done = 0;
    let run = |session: &mut BeliefPropagation| {
        let mut control = |_: &Progress| control(&cancelled);
        (!cancelled.load(Ordering::Relaxed)).then(|| session.run_monitored(request, &mut control))
    };
    let has_failed = |report: &Option<Result<RunReport>>| match report {
        Some(Err(error)) => is_of_device(error),
        _ => false,
    };
    let reports = run_together(
        collected(sessions.iter_mut())?,
        threads,
        |session| (session.runs_alone(), session.choice_of_devices()),
        |session, device| {
            session.begin_on(device);
            let report = run(session);
            let failed = has_failed(&report);
            session.end_on(request.start, report, failed)
        },
        run,
        |report: &Option<Result<RunReport>>| {
            done += usize::from(report.is_some());
            if report.is_some() && monitor(done, total) == Control::Cancel {
                cancelled.store(true, Ordering::Relaxed);
            }
        },
    )?;
    let not_run =
        || Err(Error::NoResult("this session was not run: the call was cancelled before".into()));
    collected(reports.into_iter().map(|report| report.unwrap_or_else(not_run)))
}

/// Whether a session is to run alone, and the devices that it may run on.
pub(crate) type Wish = (bool, Result<Option<DeviceChoice>>);

/// Does a job for each session: on several devices for those that may choose; then at once on so many threads; and
/// then, for those that are to be alone, one after the other on the calling thread. `finished` is called on the calling
/// thread after each of them. The results are in the order of the sessions.
pub(crate) fn run_together<S: Send, R: Send>(
    sessions: Vec<S>, threads: usize, wish: impl Fn(&S) -> Wish,
    run_on: impl Fn(&mut S, u32) -> Ran<R> + Sync, run: impl Fn(S) -> R + Sync,
    mut finished: impl FnMut(&R),
) -> Result<Vec<R>> {
    let mut results: Vec<Option<R>> = room(sessions.len())?;
    results.resize_with(sessions.len(), || None);
    let (mut large, mut small) = (room(sessions.len())?, room(sessions.len())?);
    let mut spread = room(sessions.len())?;
    for (index, session) in sessions.into_iter().enumerate() {
        match wish(&session) {
            (true, Ok(Some(choice))) => spread.push(Job { index, session, choice }),
            (true, _) => large.push((index, session)),
            (false, _) => small.push((index, session)),
        }
    }
    let mut workers = filled(threads.min(small.len()).max(1), ())?;
    let mut note = |index: usize, result: R| {
        finished(&result);
        results[index] = Some(result);
    };
    large.try_extend(run_spread(spread, run_on, &mut note)?)?;
    distribute(
        &mut workers,
        small,
        |(), (index, session)| (index, run(session)),
        |_, (index, result)| note(index, result),
    )?;
    for (index, session) in large {
        note(index, run(session));
    }
    collected(results.into_iter().flatten())
}

fn control(cancelled: &AtomicBool) -> Control {
    if cancelled.load(Ordering::Relaxed) { Control::Cancel } else { Control::Continue }
}

/// How many entries may run at once.
pub(super) fn entries_at_once(entries: usize, threads: usize, edges: usize) -> usize {
    entries.min(threads).min((EDGES_AT_ONCE / edges.max(1)).max(1))
}

/// Whether so many entries at once, on one thread each, are done before one after the other on a team
/// of threads.
fn pays(entries: usize, at_once: usize, team: usize) -> bool {
    let speed_up = if team > 1 { team as f64 * TEAM_EFFICIENCY } else { 1.0 };
    entries.div_ceil(at_once) as f64 <= entries as f64 / speed_up
}

/// The schedule of a session as all engines of its batches share it; worked out once.
fn shared_schedule<'a>(runner: &Runner, shared: &'a mut Option<Schedule>) -> Result<&'a Schedule> {
    match shared {
        Some(schedule) => Ok(schedule),
        None => Ok(shared.insert(shared_order(runner.graph(), runner.schedule())?)),
    }
}

/// A schedule as all engines of a batch can share it: its order is worked out once.
fn shared_order(graph: &FactorGraph, schedule: &Schedule) -> Result<Schedule> {
    match schedule {
        Schedule::Parallel
        | Schedule::SequentialRandom { .. }
        | Schedule::MaximumResidual { .. }
        | Schedule::Custom(_) => Ok(schedule.clone()),
        _ => Ok(Schedule::Custom(shared(schedule.preorder(graph, 0)?)?)),
    }
}

/// Marginals of entries without results.
fn unset(entries: usize, states: usize) -> Result<Vec<f64>> {
    let length = entries.checked_mul(states);
    length.and_then(|length| filled(length, f64::NAN).ok()).ok_or_else(|| {
        out_of_memory(format_args!("marginals of {entries} entries with {states} states each"))
    })
}

/// The same error, saying which entry of a batch it is about.
fn in_entry(number: usize, error: Error) -> Error {
    match error {
        Error::InvalidArgument(text) => Error::InvalidArgument(format!("entry {number}: {text}")),
        Error::OutOfRange(text) => Error::OutOfRange(format!("entry {number}: {text}")),
        other => other,
    }
}
