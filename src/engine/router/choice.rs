//! Which backend a run of `auto` is made on.
//!
//! Each run is made where it is expected to end first, with all that has to be made before it: the start
//! of the driver, engines, the move of messages. What is expected comes from a model of the costs (see
//! [`super::cost`]), corrected by what earlier runs took. A device that is slower for each of many runs only
//! because its engine is not made yet gets its chance when these runs have together lost on the CPU what
//! making it takes: that costs at most twice what knowing their number would have. The start of the driver is shared by all
//! sessions of a process, and so is what they have lost without it.

use super::cost::{Costs, Lengths, RunCost, Seen, Shape, Workload, is_worth_a_device, limited};
use super::engines::{CPU, Engines};
use crate::engine::interface::Provider;
use crate::engine::options::EngineOptions;
use crate::engine::request::{RunReport, RunRequest, Start, StopReason, StopRule};
use crate::error::Result;
use crate::memory::collected;
use crate::model::FactorGraph;
use crate::schedule::{KnownOrder, Schedule};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;

/// What is known of a backend.
#[derive(Default)]
struct Candidate {
    is_present: OnceCell<bool>,
    /// It failed, and is not used any more.
    is_given_up: bool,
    seen: Seen,
    /// Seconds that runs so far would have been shorter here, had the engine been there; and the shape of
    /// the schedule by which that was estimated.
    missed: Option<(f64, Shape)>,
    /// What of the seconds in [`Choice::lost`] is from here.
    lost: f64,
}

/// What the choice goes by.
pub(super) struct Choice {
    costs: Costs,
    work: Workload,
    /// Number of CPU threads that engines may use.
    threads: usize,
    /// What the schedule tells of its levels.
    declared: Shape,
    /// Its levels, once they have been found.
    found: OnceCell<Shape>,
    /// By number of the engine; those after the first are devices.
    candidates: Vec<Candidate>,
    lengths: Lengths,
    /// Number of runs like the next one that will most likely follow, with it.
    coming: usize,
    /// Seconds that the first runs of all sessions so far would have been shorter on a device with a driver that has started.
    lost: &'static Mutex<f64>,
}

/// How it is known that there is a device.
#[derive(Clone, Copy, PartialEq)]
enum Presence {
    /// The driver is asked, which takes a tenth of a second the first time.
    Asked,
    /// It is not, where nothing is known yet.
    Assumed,
}

/// A run that a backend is looked for.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) graph: &'a FactorGraph,
    pub(super) schedule: &'a Schedule,
    pub(super) order: &'a KnownOrder,
    pub(super) engines: &'a Engines,
    pub(super) request: &'a RunRequest,
}

impl Choice {
    /// Errors: no memory.
    pub(super) fn new(
        graph: &FactorGraph, schedule: &Schedule, options: EngineOptions, costs: Costs,
        providers: &[&'static dyn Provider], lost: &'static Mutex<f64>,
    ) -> Result<Self> {
        Ok(Self {
            work: Workload::of(graph, &costs),
            costs,
            threads: options.thread_limit(),
            declared: Shape::of(schedule),
            found: OnceCell::new(),
            candidates: collected(providers.iter().map(|_| Candidate::default()))?,
            lengths: Lengths::default(),
            coming: 1,
            lost,
        })
    }

    /// What was learned belongs to the old schedule.
    pub(super) fn schedule_has_changed(&mut self, schedule: &Schedule) {
        self.declared = Shape::of(schedule);
        self.found = OnceCell::new();
        self.lengths.clear();
        for candidate in &mut self.candidates {
            candidate.seen = Seen::default();
            candidate.missed = None;
        }
    }

    pub(super) fn give_up(&mut self, number: usize) {
        self.candidates[number].is_given_up = true;
    }

    pub(super) fn has_given_up(&self) -> bool {
        self.candidates.iter().any(|candidate| candidate.is_given_up)
    }

    /// Whether a backend is known not to be there, or was given up.
    pub(super) fn is_gone(&self, number: usize) -> bool {
        let Candidate { is_present, is_given_up, .. } = &self.candidates[number];
        *is_given_up || is_present.get() == Some(&false)
    }

    pub(super) fn expect_runs(&mut self, runs: usize) {
        self.coming = runs;
    }

    pub(super) fn shape(&self) -> Shape {
        self.found.get().copied().unwrap_or(self.declared)
    }

    /// One of the runs that were expected begins.
    pub(super) fn run_begins(&mut self) {
        self.coming = self.coming.saturating_sub(1);
    }

    /// A run of typical length.
    pub(super) fn typical(&self) -> RunRequest {
        RunRequest::new(StopRule::Iterations(self.costs.typical_iterations))
    }

    /// Whether a device makes so many runs, with an engine that is yet to be made, faster than the CPU makes
    /// them several at once.
    pub(super) fn prefers_device(&self, question: Question<'_>, runs: usize) -> bool {
        let Question { schedule, request, .. } = question;
        let threads = self.threads.clamp(1, runs.max(1));
        let iterations = self.lengths.expected(request, &self.costs);
        let cpu = || {
            let one = self.costs.cpu(&self.work, schedule, self.shape(), 1, request);
            limited(one, iterations, request) * runs.div_ceil(threads) as f64
        };
        (CPU + 1..self.candidates.len()).any(|device| {
            let set_up = self.making_first(device, question.engines);
            let runs = runs as f64;
            self.seconds_if_faster(question, device, runs, set_up, &cpu, Presence::Asked).is_some()
        })
    }

    /// Whether a device makes so many runs, one after the other, faster than the CPU, if there is one.
    pub(super) fn is_worth_a_device(&self, question: Question<'_>, runs: usize) -> bool {
        let runs = runs as f64;
        let cpu = || runs * self.seconds(question, CPU) + self.set_up(question, CPU);
        (CPU + 1..self.candidates.len()).any(|device| {
            let set_up = self.set_up(question, device);
            self.seconds_if_faster(question, device, runs, set_up, &cpu, Presence::Assumed)
                .is_some()
        })
    }

    /// The backend where a run, and those that are expected after it, are done first.
    pub(super) fn fastest(&self, question: Question<'_>) -> usize {
        let runs = self.coming.max(1) as f64;
        let cpu = || runs * self.seconds(question, CPU) + self.set_up(question, CPU);
        let mut best = (CPU, f64::INFINITY);
        for device in CPU + 1..self.candidates.len() {
            let set_up = (self.set_up(question, device) - self.missed(device)).max(0.0);
            let limit = || cpu().min(best.1);
            let asked = Presence::Asked;
            let found = self.seconds_if_faster(question, device, runs, set_up, &limit, asked);
            if let Some(seconds) = found {
                best = (device, seconds);
            }
        }
        best.0
    }

    /// Seconds until so many runs are done on a device after `set_up` seconds, if these are less than `limit`, which depends on
    /// the levels as they are known.
    /// What costs time is only looked up where it can change the answer: the levels of the schedule, which may take a small share
    /// of the time on the CPU, and then, as that takes a tenth of a second, that there is a device.
    fn seconds_if_faster(
        &self, question: Question<'_>, device: usize, runs: f64, set_up: f64,
        limit: &dyn Fn() -> f64, presence: Presence,
    ) -> Option<f64> {
        let Question { graph, schedule, order, engines, request } = question;
        let candidate = &self.candidates[device];
        let provider = engines.provider(device);
        if self.is_gone(device)
            || !is_worth_a_device(schedule)
            || engines.reason_against(device, graph, schedule, request).is_some()
        {
            return None;
        }
        let iterations = self.lengths.expected(request, &self.costs);
        let moving = self.moving(question, device);
        let seconds_if_less = || {
            let cost = candidate.seen.correct(self.costs.device(&self.work, self.shape(), request));
            let seconds = runs * (limited(cost, iterations, request) + moving) + set_up;
            (seconds < limit()).then_some(seconds)
        };
        let mut seconds = seconds_if_less()?;
        if self.shape() == Shape::Unknown {
            if limit() * self.costs.analysis_share < self.costs.analysis * self.work.edges
                || !provider.may_be_present()
            {
                return None;
            }
            // What is wrong with the schedule the CPU engine says.
            let found = || order.levels(graph, schedule).map(Shape::found);
            self.found.get_or_try_init(found).ok()?;
            seconds = seconds_if_less()?;
        }
        let is_there = presence == Presence::Assumed
            || *candidate.is_present.get_or_init(|| provider.is_present());
        is_there.then_some(seconds)
    }

    /// Seconds that a run is expected to take on a backend whose engine is there.
    fn seconds(&self, question: Question<'_>, number: usize) -> f64 {
        let Question { schedule, request, .. } = question;
        let iterations = self.lengths.expected(request, &self.costs);
        let cost = self.candidates[number].seen.correct(self.modelled(schedule, number, request));
        limited(cost, iterations, request) + self.moving(question, number)
    }

    fn modelled(&self, schedule: &Schedule, number: usize, request: &RunRequest) -> RunCost {
        match number {
            CPU => self.costs.cpu(&self.work, schedule, self.shape(), self.threads, request),
            _ => self.costs.device(&self.work, self.shape(), request),
        }
    }

    /// Moving the messages to a backend where a run needs them.
    fn moving(&self, question: Question<'_>, number: usize) -> f64 {
        let owner = question.engines.owner();
        let moves = question.request.start == Start::Warm && owner.is_some_and(|n| n != number);
        if moves { self.costs.transfer * self.work.edges } else { 0.0 }
    }

    /// Making the engine of a backend, or giving it the schedule.
    fn set_up(&self, question: Question<'_>, number: usize) -> f64 {
        let Question { schedule, engines, .. } = question;
        match number {
            _ if engines.is_ready(number) => 0.0,
            CPU => self.costs.making_cpu(&self.work, schedule, self.threads),
            _ if engines.engine(number).is_some() => {
                self.costs.making_device(&self.work, self.shape())
            }
            _ => self.making_first(number, engines),
        }
    }

    /// Making the engine of a device, with what other sessions have not lost yet of the start of its driver.
    fn making_first(&self, device: usize, engines: &Engines) -> f64 {
        let is_started = engines.provider(device).is_started();
        let by_others = *self.lost.lock() - self.candidates[device].lost;
        let making = self.costs.making_device(&self.work, self.shape());
        if is_started {
            return making;
        }
        let start = (self.costs.driver_start - by_others).max(0.0);
        start + (making - self.costs.driver_start_beside).max(0.0)
    }

    /// What runs have lost that were not made on a device. An estimate by another shape of the schedule took it
    /// for more than it is.
    fn missed(&self, device: usize) -> f64 {
        match self.candidates[device].missed {
            Some((seconds, shape)) if shape == self.shape() => seconds,
            _ => 0.0,
        }
    }

    /// Corrects what is expected of runs by what one took on a backend.
    pub(super) fn learn(
        &mut self, question: Question<'_>, number: usize, report: &RunReport, seconds: f64,
    ) {
        let Question { graph, schedule, engines, request, .. } = question;
        if !matches!(report.reason, StopReason::Time | StopReason::Cancelled) {
            self.lengths.note(request, report.iterations);
        }
        if request.active_threshold.is_some() && number == CPU {
            return; // which messages it computes is not known beforehand
        }
        let model = self.modelled(schedule, number, request);
        self.candidates[number].seen.note(model, report.iterations, seconds);
        for device in CPU + 1..self.candidates.len() {
            if self.is_gone(device)
                || engines.engine(device).is_some()
                || !is_worth_a_device(schedule)
                || engines.reason_against(device, graph, schedule, request).is_some()
            {
                continue;
            }
            let model = self.modelled(schedule, device, request);
            let there =
                self.candidates[device].seen.correct(model).of_iterations(report.iterations);
            let missed = self.missed(device) + (seconds - there).max(0.0);
            let shape = self.shape();
            let making = self.costs.making_device(&self.work, shape);
            let candidate = &mut self.candidates[device];
            if candidate.missed.is_none() && !engines.provider(device).is_started() {
                let lost = (seconds - there - making).max(0.0);
                candidate.lost += lost;
                *self.lost.lock() += lost;
            }
            candidate.missed = Some((missed, shape));
        }
    }
}
