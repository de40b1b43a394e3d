//! The faster of CPU and device, run by run.
//!
//! Each run is made where it is expected to end first, with all that has to be made before it: the start
//! of the driver, engines, the move of messages. What is expected comes from a model of the costs (see
//! [`cost`]), corrected by what earlier runs took. A device that is slower for each of many runs only
//! because its engine is not made yet gets its chance when these runs have together lost on the CPU what
//! making it takes: that costs at most twice what knowing their number would have.
//!
//! A run is never moved halfway. Neither is a warm one with damping, since undamped messages are no part
//! of what an engine hands over.

mod chance;
mod cost;
#[cfg(cuda)]
mod machine;
#[cfg(test)]
mod tests;

#[cfg(cuda)]
pub(super) use machine::auto_engine;

use super::{
    Backend, Control, Engine, Progress, RunReport, RunRequest, Start, StopReason, StopRule,
};
use crate::error::{Error, Result};
use crate::kernel::Packed;
use crate::model::{FactorGraph, VariableEvidence};
use crate::schedule::Schedule;
use chance::{Chance, Device};
use cost::{Costs, Lengths, RunCost, Seen, Shape, Work, is_for_devices, limited};
use std::collections::BTreeMap;
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

struct Side {
    place: Place,
    engine: Box<dyn Engine>,
    /// Whether the engine has the current schedule.
    is_current: bool,
}

/// See the module.
struct AutoEngine {
    graph: Arc<FactorGraph>,
    schedule: Schedule,
    machine: Box<dyn Machine>,
    costs: Costs,
    work: Work,
    shape: Shape,
    evidence: BTreeMap<usize, VariableEvidence>,
    /// Has the newest messages.
    holder: Side,
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
    /// Makes the engine that a run of typical length would use; errors are those of the CPU engine.
    fn new(
        machine: Box<dyn Machine>,
        costs: Costs,
        graph: Arc<FactorGraph>,
        schedule: &Schedule,
    ) -> Result<Self> {
        let work = Work::of(&graph, &costs);
        let mut shape = Shape::of(schedule);
        let mut device = Device::Unknown;
        let typical = RunRequest::new(StopRule::Passes(costs.typical_passes));
        let mut notes = Vec::new();
        let mut first = None;
        let cpu = costs.cpu(&work, schedule, machine.threads(), &typical);
        let cpu = cpu.of_passes(costs.typical_passes) + costs.making_cpu(&work);
        let set_up = set_up_device(&costs, &work, machine.as_ref());
        if is_for_devices(schedule, &typical) {
            let mut chance = Chance {
                costs: &costs,
                work: &work,
                graph: &graph,
                schedule,
                machine: machine.as_ref(),
                device: &mut device,
                shape: &mut shape,
            };
            let on_device = |shape| {
                costs.device(&work, shape, &typical).of_passes(costs.typical_passes) + set_up
            };
            if chance.wins(cpu, on_device) {
                match machine.make(Place::Device, &graph, schedule) {
                    Ok(engine) => {
                        first = Some(Side { place: Place::Device, engine, is_current: true });
                    }
                    Err(error) => {
                        device = Device::Gone;
                        notes.push(note(&error));
                    }
                }
            }
        }
        let holder = match first {
            Some(side) => side,
            None => {
                let engine = machine.make(Place::Cpu, &graph, schedule)?;
                Side { place: Place::Cpu, engine, is_current: true }
            }
        };
        Ok(Self {
            graph,
            schedule: schedule.clone(),
            machine,
            costs,
            work,
            shape,
            evidence: BTreeMap::new(),
            holder,
            other: None,
            results_on_other: false,
            device,
            lost: false,
            seen_cpu: Seen::default(),
            seen_device: Seen::default(),
            lengths: Lengths::default(),
            missed: 0.0,
            coming: 1,
            notes,
        })
    }

    /// Where a run is made.
    fn choose(&mut self, request: &RunRequest) -> Place {
        if self.device == Device::Gone {
            return Place::Cpu;
        }
        if request.start == Start::Warm && request.damping > 0.0 {
            return self.holder.place;
        }
        let runs = self.coming.max(1) as f64;
        let cpu = runs * self.seconds(Place::Cpu, request) + self.set_up(Place::Cpu);
        let set_up = (self.set_up(Place::Device) - self.missed).max(0.0);
        if self.device_wins(request, cpu, runs, set_up) { Place::Device } else { Place::Cpu }
    }

    /// Whether so many runs on the device, after `set_up` seconds, are done before `cpu` seconds.
    fn device_wins(&mut self, request: &RunRequest, cpu: f64, runs: f64, set_up: f64) -> bool {
        if self.device == Device::Gone || !is_for_devices(&self.schedule, request) {
            return false;
        }
        let before = self.shape;
        let (seen, moving) = (self.seen_device, self.moving(Place::Device, request));
        let passes = self.lengths.expected(request, &self.costs);
        let (costs, work) = (&self.costs, &self.work);
        let on_device = |shape| {
            let cost = seen.correct(costs.device(work, shape, request));
            runs * (limited(cost, passes, request) + moving) + set_up
        };
        let wins = Chance {
            costs,
            work,
            graph: &self.graph,
            schedule: &self.schedule,
            machine: self.machine.as_ref(),
            device: &mut self.device,
            shape: &mut self.shape,
        }
        .wins(cpu, on_device);
        if self.shape != before {
            // What was missed was taken for more than it is.
            self.missed = 0.0;
        }
        wins
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
        let moves = request.start == Start::Warm && self.holder.place != place;
        if moves { self.costs.handover * self.work.edges } else { 0.0 }
    }

    /// Making the engine of a place, or giving it the schedule.
    fn set_up(&self, place: Place) -> f64 {
        match (self.side(place), place) {
            (Some(side), _) if side.is_current => 0.0,
            (_, Place::Cpu) => self.costs.making_cpu(&self.work),
            (Some(_), Place::Device) => self.costs.making_device(&self.work),
            (None, Place::Device) => set_up_device(&self.costs, &self.work, self.machine.as_ref()),
        }
    }

    fn side(&self, place: Place) -> Option<&Side> {
        std::iter::once(&self.holder).chain(&self.other).find(|side| side.place == place)
    }

    /// Makes the other engine, or gives it what it has missed.
    fn prepare_other(&mut self) -> Result<&mut Side> {
        let side = match self.other.take() {
            None => {
                let place = match self.holder.place {
                    Place::Cpu => Place::Device,
                    Place::Device => Place::Cpu,
                };
                let mut engine = self.machine.make(place, &self.graph, &self.schedule)?;
                for (&variable, evidence) in &self.evidence {
                    engine.set_evidence(variable, Some(evidence));
                }
                Side { place, engine, is_current: true }
            }
            Some(mut side) if !side.is_current => {
                let outcome = side.engine.set_schedule(&self.schedule);
                side.is_current = outcome.is_ok();
                let side = self.other.insert(side);
                return outcome.map(|()| side);
            }
            Some(side) => side,
        };
        Ok(self.other.insert(side))
    }

    /// The other engine has the newest messages from now on.
    fn swap(&mut self) {
        if let Some(other) = &mut self.other {
            std::mem::swap(&mut self.holder, other);
            self.results_on_other = !self.results_on_other;
        }
    }

    /// Makes a run at a place; if that fails, messages are those before, but for a contradiction.
    fn run_at(
        &mut self,
        place: Place,
        request: &RunRequest,
        started: f64,
        monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport> {
        let moves = self.holder.place != place;
        if moves {
            let messages = (request.start == Start::Warm).then(|| self.holder.engine.messages());
            let other = self.prepare_other()?;
            if let Some((messages, passes)) = messages {
                other.engine.set_messages(&messages, passes);
            }
        }
        let begun = self.machine.now();
        // What has been made since the call counts.
        let spent = Duration::try_from_secs_f64(begun - started).unwrap_or_default();
        let request = &RunRequest {
            max_time: request.max_time.map(|limit| limit.saturating_sub(spent)),
            ..*request
        };
        let engine = match &mut self.other {
            Some(other) if moves => &mut other.engine,
            _ => &mut self.holder.engine,
        };
        let result = engine.run(request, monitor);
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
        self.notes.push(note(error));
    }

    /// Gets ready for a run on the CPU that the device failed to make. `Error::Device` means that the
    /// messages it had are gone: a warm run ends with it.
    fn fall_back(&mut self, error: Error, request: &RunRequest) -> Result<()> {
        self.give_up(&error);
        if self.holder.place == Place::Cpu || !matches!(error, Error::Device(_)) {
            return Ok(()); // the messages are still there
        }
        self.prepare_other()?;
        self.swap();
        self.lost = true;
        match request.start {
            Start::Fresh => Ok(()),
            Start::Warm => Err(error),
        }
    }
}

impl Engine for AutoEngine {
    fn backend(&self) -> Backend {
        let side = match &self.other {
            Some(other) if self.results_on_other => other,
            _ => &self.holder,
        };
        side.engine.backend()
    }

    fn threads(&self) -> usize {
        self.side(Place::Cpu).unwrap_or(&self.holder).engine.threads()
    }

    fn set_schedule(&mut self, schedule: &Schedule) -> Result<()> {
        let outcome = self.holder.engine.set_schedule(schedule);
        if self.holder.place == Place::Cpu {
            outcome?;
            self.schedule = schedule.clone();
            if let Some(other) = &mut self.other {
                other.is_current = false;
            }
        } else {
            let old = std::mem::replace(&mut self.schedule, schedule.clone());
            if let Some(other) = &mut self.other {
                other.is_current = false;
            }
            if let Err(error) = outcome {
                // The schedule may be wrong, or the device.
                let messages = self.holder.engine.messages();
                match self.prepare_other() {
                    Ok(cpu) => cpu.engine.set_messages(&messages.0, messages.1),
                    Err(wrong) => {
                        self.schedule = old;
                        return Err(wrong);
                    }
                }
                self.swap();
                self.lost = matches!(error, Error::Device(_));
                self.give_up(&error);
            }
        }
        self.shape = Shape::of(schedule);
        self.seen_cpu = Seen::default();
        self.seen_device = Seen::default();
        self.lengths.clear();
        self.missed = 0.0;
        Ok(())
    }

    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) {
        match evidence {
            Some(known) => self.evidence.insert(variable, known.clone()),
            None => self.evidence.remove(&variable),
        };
        for side in std::iter::once(&mut self.holder).chain(&mut self.other) {
            side.engine.set_evidence(variable, evidence);
        }
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
        let mut place = self.choose(request);
        self.coming = self.coming.saturating_sub(1);
        if place == Place::Device
            && self.holder.place == Place::Cpu
            && let Err(error) = self.prepare_other()
        {
            self.give_up(&error);
            place = Place::Cpu;
        }
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
        match &self.other {
            Some(other) if self.results_on_other => other.engine.results(),
            _ => self.holder.engine.results(),
        }
    }

    fn factor_inputs(&self, factor: usize, out: &mut Vec<Packed>) {
        self.holder.engine.factor_inputs(factor, out);
    }

    fn messages(&self) -> (Vec<Packed>, u64) {
        self.holder.engine.messages()
    }

    fn set_messages(&mut self, messages: &[Packed], passes: u64) {
        self.holder.engine.set_messages(messages, passes);
        self.lost = false;
    }

    fn take_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        for side in std::iter::once(&mut self.holder).chain(&mut self.other) {
            notes.extend(side.engine.take_notes());
        }
        notes
    }

    fn prefers_device(&mut self, request: &RunRequest, runs: usize) -> bool {
        let threads = self.machine.threads().clamp(1, runs.max(1));
        let one = self.costs.cpu(&self.work, &self.schedule, 1, request);
        let passes = self.lengths.expected(request, &self.costs);
        let cpu = limited(one, passes, request) * runs.div_ceil(threads) as f64;
        let set_up = set_up_device(&self.costs, &self.work, self.machine.as_ref());
        self.device_wins(request, cpu, runs as f64, set_up)
    }

    fn expect_runs(&mut self, runs: usize) {
        self.coming = runs;
    }
}

/// Making the engine of the device, with the start of the driver.
fn set_up_device(costs: &Costs, work: &Work, machine: &dyn Machine) -> f64 {
    let start = if machine.is_started() { 0.0 } else { costs.driver_start };
    start + costs.making_device(work)
}

fn note(error: &Error) -> String {
    format!("backend auto does without the device: {error}")
}
