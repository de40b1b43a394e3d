//! The faster of CPU and device, run by run.
//!
//! Each run is made where it is expected to end first, with all that has to be made before it: the start
//! of the driver, engines, the move of messages. What is expected comes from a model of the costs (see
//! [`cost`]), corrected by what earlier runs took. A device that is slower for each of many runs only
//! because its engine is not made yet gets its chance when these runs have together lost on the CPU what
//! making it takes: that costs at most twice what knowing their number would have.
//!
//! No engine is made before it is needed: what a run is like is known when it is asked for.
//!
//! A run is never moved halfway. Neither is a warm one with damping, since undamped messages are no part
//! of what an engine hands over.

mod chance;
mod cost;
#[cfg(cuda)]
mod machine;
mod sides;
#[cfg(test)]
mod tests;

#[cfg(cuda)]
pub(super) use machine::auto_engine;

use super::{
    Backend, Control, Engine, Progress, RunReport, RunRequest, Snapshot, Start, StopReason,
    StopRule, value_count,
};
use crate::error::{Error, Result};
use crate::kernel::Packed;
use crate::memory::Grow;
use crate::model::{Evidence, FactorGraph, VariableEvidence};
use crate::schedule::Schedule;
use chance::{Chance, Device};
use cost::{Costs, Lengths, RunCost, Seen, Shape, Work, is_for_devices, limited};
use once_cell::sync::OnceCell;
use sides::Side;
use std::sync::Arc;
use std::time::Duration;

/// Where a run is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Cpu,
    Device,
}

/// What the choice needs of the machine that it runs on.
trait Machine: Send + Sync {
    /// Number of CPU threads that engines may use.
    fn threads(&self) -> usize;

    /// Number of threads of a CPU engine for a graph and a schedule; the errors are those of making it.
    fn check(&self, graph: &FactorGraph, schedule: &Schedule) -> Result<usize>;

    /// Whether there is a device. Takes as long as loading the driver, the first time.
    fn has_device(&self) -> bool;

    /// Whether this process has used the device before.
    fn is_started(&self) -> bool;

    /// Makes an engine.
    fn make(
        &self,
        place: Place,
        graph: &Arc<FactorGraph>,
        schedule: &Schedule,
    ) -> Result<Box<dyn Engine>>;

    /// Seconds since some moment.
    fn now(&self) -> f64;
}

/// What was found when the places were compared for a run.
struct Verdict {
    place: Place,
    device: Device,
    shape: Shape,
}

/// See the module.
struct AutoEngine {
    graph: Arc<FactorGraph>,
    schedule: Schedule,
    machine: Box<dyn Machine>,
    costs: Costs,
    work: Work,
    shape: Shape,
    evidence: Evidence,
    /// Of an engine on the CPU.
    threads: usize,
    /// The messages before the first run, if they were given.
    given: Option<Snapshot>,
    /// Answers what needs an engine on the CPU before the first run.
    reader: OnceCell<Box<dyn Engine>>,
    /// Has the newest messages; none before the first run.
    holder: Option<Side>,
    /// The engine of the other place, if it has been needed.
    other: Option<Side>,
    /// Whether it is the other engine that has the results.
    results_on_other: bool,
    device: Device,
    /// Whether the newest messages were lost with the device.
    lost: bool,
    seen_cpu: Seen,
    seen_device: Seen,
    lengths: Lengths,
    /// Seconds that runs so far would have been shorter on the device, had its engine been there.
    missed: f64,
    /// Number of runs like the next one that will most likely follow, with it.
    coming: usize,
    notes: Vec<String>,
}

impl AutoEngine {
    /// Errors are those of the CPU engine.
    fn new(
        machine: Box<dyn Machine>,
        costs: Costs,
        graph: Arc<FactorGraph>,
        schedule: &Schedule,
    ) -> Result<Self> {
        let threads = machine.check(&graph, schedule)?;
        let work = Work::of(&graph, &costs);
        Ok(Self {
            graph,
            schedule: schedule.clone(),
            machine,
            costs,
            work,
            shape: Shape::of(schedule),
            evidence: Evidence::new(),
            threads,
            given: None,
            reader: OnceCell::new(),
            holder: None,
            other: None,
            results_on_other: false,
            device: Device::Unknown,
            lost: false,
            seen_cpu: Seen::default(),
            seen_device: Seen::default(),
            lengths: Lengths::default(),
            missed: 0.0,
            coming: 1,
            notes: Vec::new(),
        })
    }

    /// Where a run is made.
    fn choose(&mut self, request: &RunRequest) -> Place {
        let verdict = self.judge(request);
        self.keep(verdict)
    }

    /// Where a run would be made.
    fn judge(&self, request: &RunRequest) -> Verdict {
        if request.start == Start::Warm
            && request.damping > 0.0
            && let Some(holder) = &self.holder
            && self.device != Device::Gone
        {
            return Verdict { place: holder.place, device: self.device, shape: self.shape };
        }
        let runs = self.coming.max(1) as f64;
        let cpu = runs * self.seconds(Place::Cpu, request) + self.set_up(Place::Cpu);
        let set_up = (self.set_up(Place::Device) - self.missed).max(0.0);
        self.compare(request, cpu, runs, set_up)
    }

    /// The place where so many runs are done first: the device after `set_up` seconds and theirs, or the
    /// CPU after `cpu` seconds.
    fn compare(&self, request: &RunRequest, cpu: f64, runs: f64, set_up: f64) -> Verdict {
        let (mut device, mut shape) = (self.device, self.shape);
        let (seen, moving) = (self.seen_device, self.moving(Place::Device, request));
        let passes = self.lengths.expected(request, &self.costs);
        let (costs, work) = (&self.costs, &self.work);
        let on_device = |shape| {
            let cost = seen.correct(costs.device(work, shape, request));
            runs * (limited(cost, passes, request) + moving) + set_up
        };
        let possible = device != Device::Gone && is_for_devices(&self.schedule, request);
        let wins = possible
            && Chance {
                costs,
                work,
                graph: &self.graph,
                schedule: &self.schedule,
                machine: self.machine.as_ref(),
                device: &mut device,
                shape: &mut shape,
            }
            .wins(cpu, on_device);
        Verdict { place: if wins { Place::Device } else { Place::Cpu }, device, shape }
    }

    /// Remembers what was looked up for a verdict, and gives its place.
    fn keep(&mut self, verdict: Verdict) -> Place {
        if self.shape != verdict.shape {
            // What was missed was taken for more than it is.
            self.missed = 0.0;
        }
        (self.device, self.shape) = (verdict.device, verdict.shape);
        verdict.place
    }

    /// Seconds that a run is expected to take at a place whose engine is there.
    fn seconds(&self, place: Place, request: &RunRequest) -> f64 {
        let passes = self.lengths.expected(request, &self.costs);
        limited(self.expected(place, request), passes, request) + self.moving(place, request)
    }

    fn expected(&self, place: Place, request: &RunRequest) -> RunCost {
        match place {
            Place::Cpu => self.seen_cpu.correct(self.modelled(place, request)),
            Place::Device => self.seen_device.correct(self.modelled(place, request)),
        }
    }

    fn modelled(&self, place: Place, request: &RunRequest) -> RunCost {
        let threads = self.machine.threads();
        match place {
            Place::Cpu => self.costs.cpu(&self.work, &self.schedule, threads, request),
            Place::Device => self.costs.device(&self.work, self.shape, request),
        }
    }

    /// Moving the messages to a place where a run needs them.
    fn moving(&self, place: Place, request: &RunRequest) -> f64 {
        let moves = request.start == Start::Warm
            && self.holder.as_ref().is_some_and(|holder| holder.place != place);
        if moves { self.costs.handover * self.work.edges } else { 0.0 }
    }

    /// Making the engine of a place, or giving it the schedule.
    fn set_up(&self, place: Place) -> f64 {
        match (self.side(place), place) {
            (Some(side), _) if side.is_current => 0.0,
            (_, Place::Cpu) => self.costs.making_cpu(&self.work, &self.schedule),
            (Some(_), Place::Device) => self.costs.making_device(&self.work, self.shape),
            (None, Place::Device) => self.set_up_device(),
        }
    }

    /// Making the engine of the device, with the start of the driver.
    fn set_up_device(&self) -> f64 {
        let start = if self.machine.is_started() { 0.0 } else { self.costs.driver_start };
        start + self.costs.making_device(&self.work, self.shape)
    }

    /// Makes a run at a place; if that fails, messages are those before, but for a contradiction.
    fn run_at(
        &mut self,
        place: Place,
        request: &RunRequest,
        started: f64,
        monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport> {
        let moves = self.move_to(place, request.start)?;
        let begun = self.machine.now();
        // What has been made since the call counts.
        let spent = Duration::try_from_secs_f64(begun - started).unwrap_or_default();
        let request = &RunRequest {
            max_time: request.max_time.map(|limit| limit.saturating_sub(spent)),
            ..*request
        };
        let side = if moves { &mut self.other } else { &mut self.holder };
        let side = side.as_mut().ok_or_else(|| Error::NoResult("no engine was made".into()))?;
        let result = side.engine.run(request, monitor);
        let seconds = self.machine.now() - begun;
        if matches!(result, Ok(_) | Err(Error::Contradiction { .. })) {
            if moves {
                self.swap();
            }
            self.lost = false;
        }
        if let Ok(report) = &result {
            self.results_on_other = false;
            self.learn(place, request, report, seconds);
        }
        result
    }

    /// Corrects what is expected of runs by what one took.
    fn learn(&mut self, place: Place, request: &RunRequest, report: &RunReport, seconds: f64) {
        if !matches!(report.reason, StopReason::Time | StopReason::Cancelled) {
            self.lengths.note(request, report.passes);
        }
        if request.active_threshold.is_some() {
            return; // which messages it computes is not known beforehand
        }
        let model = self.modelled(place, request);
        let seen = match place {
            Place::Cpu => &mut self.seen_cpu,
            Place::Device => &mut self.seen_device,
        };
        seen.note(model, report.passes, seconds);
        let missed = self.device != Device::Gone
            && self.side(Place::Device).is_none()
            && is_for_devices(&self.schedule, request);
        if missed {
            let device = self.expected(Place::Device, request).of_passes(report.passes);
            self.missed += (seconds - device).max(0.0);
        }
    }

    /// The device is not used any more.
    fn give_up(&mut self, error: &Error) {
        self.device = Device::Gone;
        if self.notes.try_room(1).is_ok() {
            self.notes.push(note(error));
        }
    }

    /// The CPU goes on from the messages of the device, which is not used any more.
    fn hand_over(&mut self, error: &Error) -> Result<()> {
        self.move_to(Place::Cpu, Start::Warm)?;
        self.swap();
        self.lost = matches!(error, Error::Device(_));
        self.give_up(error);
        Ok(())
    }

    /// Gets ready for a run on the CPU that the device failed to make. `Error::Device` means that the
    /// messages it had are gone: a warm run ends with it.
    fn fall_back(&mut self, error: Error, request: &RunRequest) -> Result<()> {
        self.give_up(&error);
        let held = self.holder.as_ref().is_some_and(|holder| holder.place == Place::Device);
        if !held || !matches!(error, Error::Device(_)) {
            return Ok(()); // the messages are still there
        }
        self.make_ready(Place::Cpu)?;
        self.swap();
        self.lost = true;
        match request.start {
            Start::Fresh => Ok(()),
            Start::Warm => Err(error),
        }
    }
}

impl Engine for AutoEngine {
    /// Before the first run, where one of typical length would be made.
    fn backend(&self) -> Backend {
        let typical = RunRequest::new(StopRule::Passes(self.costs.typical_passes));
        match self.with_results() {
            Some(side) => side.engine.backend(),
            None => match self.judge(&typical).place {
                Place::Cpu => Backend::Cpu,
                Place::Device => Backend::Cuda,
            },
        }
    }

    fn threads(&self) -> usize {
        let side = self.side(Place::Cpu).or(self.holder.as_ref());
        side.map_or(self.threads, |side| side.engine.threads())
    }

    fn prepare(&mut self, request: &RunRequest) -> Result<()> {
        let place = self.choose(request);
        self.make_ready_or_give_up(place).map(drop)
    }

    fn set_schedule(&mut self, schedule: &Schedule) -> Result<()> {
        let threads = self.machine.check(&self.graph, schedule)?;
        let old = std::mem::replace(&mut self.schedule, schedule.clone());
        if let Some(other) = &mut self.other {
            other.is_current = false;
        }
        if let Some(holder) = &mut self.holder
            && let Err(error) = holder.engine.set_schedule(schedule)
        {
            let outcome = match holder.place {
                Place::Cpu => Err(error),
                Place::Device => self.hand_over(&error),
            };
            if outcome.is_err() {
                self.schedule = old;
                return outcome;
            }
        }
        self.threads = threads;
        self.reader = OnceCell::new();
        self.shape = Shape::of(schedule);
        self.seen_cpu = Seen::default();
        self.seen_device = Seen::default();
        self.lengths.clear();
        self.missed = 0.0;
        Ok(())
    }

    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) -> Result<()> {
        self.evidence.set(variable, evidence)?;
        self.reader = OnceCell::new();
        self.sides().try_for_each(|side| side.engine.set_evidence(variable, evidence))
    }

    fn run(
        &mut self,
        request: &RunRequest,
        monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport> {
        let started = self.machine.now();
        if self.lost && request.start == Start::Warm {
            return Err(Error::Device(
                "the messages were lost with the device: a fresh start, or messages to start from, \
                 are needed"
                    .into(),
            ));
        }
        let place = self.choose(request);
        self.coming = self.coming.saturating_sub(1);
        let place = self.make_ready_or_give_up(place)?;
        if place == Place::Device {
            match self.run_at(place, request, started, monitor) {
                Err(Error::Unsupported(_)) => {}
                Err(error @ (Error::Device(_) | Error::NoDevice(_) | Error::OutOfMemory(_))) => {
                    self.fall_back(error, request)?;
                }
                other => return other,
            }
        }
        let result = self.run_at(Place::Cpu, request, started, monitor);
        if self.device == Device::Gone && result.is_ok() {
            // Nothing of it is needed any more.
            self.other = None;
        }
        result
    }

    fn results(&self) -> &[f64] {
        self.with_results().map_or(&[], |side| side.engine.results())
    }

    fn factor_inputs(&self, factor: usize, out: &mut Vec<Packed>) -> Result<()> {
        let engine = match &self.holder {
            Some(holder) => &holder.engine,
            None => self.reader.get_or_try_init(|| self.make_first(Place::Cpu))?,
        };
        engine.factor_inputs(factor, out)
    }

    fn export(&self) -> Result<Snapshot> {
        match (&self.holder, &self.given) {
            (Some(holder), _) => holder.engine.export(),
            (None, Some(given)) => given.try_clone(),
            (None, None) => Snapshot::uniform(value_count(&self.graph)),
        }
    }

    fn import(&mut self, snapshot: &Snapshot) -> Result<()> {
        match &mut self.holder {
            Some(holder) => holder.engine.import(snapshot)?,
            None => self.given = Some(snapshot.try_clone()?),
        }
        self.reader = OnceCell::new();
        self.lost = false;
        Ok(())
    }

    fn take_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        for side in self.sides() {
            // What is not told for want of memory is no loss.
            let _ = notes.try_extend(side.engine.take_notes());
        }
        notes
    }

    fn prefers_device(&mut self, request: &RunRequest, runs: usize) -> bool {
        let threads = self.machine.threads().clamp(1, runs.max(1));
        let one = self.costs.cpu(&self.work, &self.schedule, 1, request);
        let passes = self.lengths.expected(request, &self.costs);
        let cpu = limited(one, passes, request) * runs.div_ceil(threads) as f64;
        let verdict = self.compare(request, cpu, runs as f64, self.set_up_device());
        self.keep(verdict) == Place::Device
    }

    fn expect_runs(&mut self, runs: usize) {
        self.coming = runs;
    }
}

fn note(error: &Error) -> String {
    format!("backend auto does without the device: {error}")
}
