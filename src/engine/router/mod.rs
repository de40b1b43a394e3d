//! Chooses a backend for each run, makes its engine when it is needed, and moves the messages there.
//!
//! A run is never moved halfway: what fails on a device is made on the CPU from the beginning, if the backend
//! was to be chosen (`auto`), or else is an error.

mod choice;
mod cost;
mod engines;
#[cfg(test)]
mod tests;

use super::cpu;
use super::interface::{Problem, Provider, Run};
use super::options::{Backend, EngineOptions};
use super::registry::BACKENDS;
use super::request::{RunReport, RunRequest, Start, StopRule};
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::kernel::EncodedMessage;
use crate::memory::{Grow, boxed, text};
use crate::model::{Evidence, FactorGraph, VariableEvidence};
use crate::schedule::{KnownOrder, Schedule};
use choice::{Choice, Question};
use cost::Costs;
use engines::{CPU, Engines};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Seconds since some moment.
type Clock = Box<dyn Fn() -> f64 + Send + Sync>;

/// How the backend of a run is found.
enum Policy {
    /// The backend of this number; a device leaves to the CPU what it does not serve.
    Fixed(usize),
    /// The one that is expected to end first.
    Auto(Box<Choice>),
}

/// The engines of one graph. Runs, messages and evidence are those of one engine; which one is seen only in the
/// time that runs take.
pub(crate) struct Router {
    graph: Arc<FactorGraph>,
    schedule: Schedule,
    /// Of this schedule, from the choice of a backend until its engine is made.
    order: KnownOrder,
    options: EngineOptions,
    policy: Policy,
    engines: Mutex<Engines>,
    clock: Clock,
    /// Of an engine on the CPU.
    threads: usize,
    /// Where the last run by this schedule was made.
    last: Option<usize>,
    notes: Vec<String>,
    /// Reasons for the CPU that notes have told.
    told: Vec<&'static str>,
}

impl Router {
    /// No engine is made before it is needed. Errors: a schedule made for a graph with another number of
    /// edges; zero threads; no memory.
    pub(crate) fn new(
        graph: Arc<FactorGraph>, schedule: &Schedule, options: EngineOptions,
    ) -> Result<Self> {
        let begin = Instant::now();
        let clock = boxed(move || begin.elapsed().as_secs_f64())?;
        static LOST: Mutex<f64> = Mutex::new(0.0);
        Self::with(BACKENDS, clock, (Costs::MEASURED, &LOST), graph, schedule, options)
    }

    fn with(
        providers: &[&'static dyn Provider], clock: Clock,
        (costs, lost): (Costs, &'static Mutex<f64>), graph: Arc<FactorGraph>, schedule: &Schedule,
        options: EngineOptions,
    ) -> Result<Self> {
        let threads = cpu::check(&graph, schedule, options)?;
        let policy = match options.backend {
            Backend::Auto => Policy::Auto(boxed(Choice::new(
                &graph, schedule, options, costs, providers, lost,
            )?)?),
            fixed => {
                let is_it = |provider: &&dyn Provider| provider.backend() == fixed;
                Policy::Fixed(providers.iter().position(is_it).unwrap_or(CPU))
            }
        };
        Ok(Self {
            graph,
            schedule: schedule.clone(),
            order: KnownOrder::default(),
            options,
            policy,
            engines: Mutex::new(Engines::new(providers)?),
            clock,
            threads,
            last: None,
            notes: Vec::new(),
            told: Vec::new(),
        })
    }

    fn problem<'a>(&'a self, evidence: &'a Evidence) -> Problem<'a> {
        Problem {
            graph: &self.graph,
            schedule: &self.schedule,
            order: &self.order,
            options: self.options,
            evidence,
        }
    }

    /// Where the last run by this schedule was made, or the next one will most likely be: never
    /// [`Backend::Auto`].
    pub(crate) fn backend(&self) -> Backend {
        let engines = self.engines.lock();
        let number = self.last.unwrap_or_else(|| match &self.policy {
            Policy::Auto(choice) => choice.fastest(self.question(&engines, &choice.typical())),
            &Policy::Fixed(number) => {
                let request = RunRequest::new(StopRule::Iterations(1));
                match engines.reason_against(number, &self.graph, &self.schedule, &request) {
                    None => number,
                    Some(_) => CPU,
                }
            }
        });
        engines.provider(number).backend()
    }

    /// Number of CPU threads that runs use: one where a device makes them.
    pub(crate) fn threads(&self) -> usize {
        match self.policy {
            Policy::Fixed(number) if number != CPU && self.backend() != Backend::Cpu => 1,
            _ => self.engines.lock().engine(CPU).map_or(self.threads, |engine| engine.threads()),
        }
    }

    /// Whether a device was given up.
    pub(crate) fn has_given_up(&self) -> bool {
        match &self.policy {
            Policy::Fixed(_) => false,
            Policy::Auto(choice) => choice.has_given_up(),
        }
    }

    /// Replaces the schedule; messages stay. Engines get it when they are next needed. Errors: a schedule
    /// for another graph; nothing has changed then.
    pub(crate) fn set_schedule(&mut self, schedule: &Schedule) -> Result<()> {
        self.threads = cpu::check(&self.graph, schedule, self.options)?;
        self.schedule = schedule.clone();
        self.order = KnownOrder::default();
        self.last = None;
        self.engines.get_mut().schedule_has_changed();
        if let Policy::Auto(choice) = &mut self.policy {
            choice.schedule_has_changed(schedule);
        }
        Ok(())
    }

    /// Takes over a change of evidence. Errors: no memory; some engines have changed then. Clearing never
    /// fails.
    pub(crate) fn set_evidence(
        &mut self, variable: usize, evidence: Option<&VariableEvidence>,
    ) -> Result<()> {
        self.engines.get_mut().set_evidence(variable, evidence)
    }

    /// Makes the engine of a fixed backend, so that it is known whether it can be had.
    pub(crate) fn prepare_fixed(&self, evidence: &Evidence) -> Result<()> {
        match self.policy {
            Policy::Fixed(number) => self.make_ready(number, evidence),
            Policy::Auto(_) => Ok(()),
        }
    }

    /// Makes what such a run needs and is not there yet, so that the run itself begins at once.
    pub(crate) fn prepare(&mut self, request: &RunRequest, evidence: &Evidence) -> Result<()> {
        let number = self.choose(request);
        let made = match self.make_ready(number, evidence) {
            Err(error) if number != CPU && self.is_auto() => {
                self.give_up(number, &error);
                self.make_ready(CPU, evidence)
            }
            other => other,
        };
        self.order = KnownOrder::default();
        made
    }

    fn make_ready(&self, number: usize, evidence: &Evidence) -> Result<()> {
        let mut engines = self.engines.lock();
        let made = engines.make_ready(number, self.problem(evidence)).map(drop);
        made.map_err(|error| self.of_fixed(number, &engines, error))
    }

    /// Runs iterations until the request's rule ends them; see [`super::interface::Engine::run`].
    pub(crate) fn run(&mut self, mut run: Run<'_>) -> Result<RunReport> {
        let request = run.request;
        let started = (self.clock)();
        if request.start == Start::Warm && self.engines.get_mut().are_messages_lost() {
            return Err(Error::Device(
                "the messages were lost with the device: a fresh start, or messages to start from, \
                 are needed"
                    .into(),
            ));
        }
        let number = self.choose(request);
        if let Policy::Auto(choice) = &mut self.policy {
            choice.run_begins();
        }
        let mut reason = None;
        if number != CPU {
            match self.run_at(number, run.with(request), started) {
                Ok(Outcome::Ended(report)) => return Ok(report),
                Ok(Outcome::Refused(why)) => reason = Some(why),
                Err(Error::Unsupported(_)) if self.is_auto() => {}
                Err(error) if self.is_auto() && is_of_device(&error) => {
                    self.fall_back(number, error, request)?;
                }
                Err(error) => {
                    return Err(self.of_fixed(number, &self.engines.lock(), error));
                }
            }
        }
        let outcome = self.run_at(CPU, run, started)?;
        let Outcome::Ended(report) = outcome else {
            return Err(Error::Unsupported("the request on the CPU".into()));
        };
        if let (Some(reason), Policy::Fixed(_)) = (reason, &self.policy) {
            self.tell(reason);
        }
        if let Policy::Auto(choice) = &self.policy {
            // Of what was given up nothing is needed any more.
            let engines = self.engines.get_mut();
            (0..engines.count()).filter(|&n| choice.is_gone(n)).for_each(|n| engines.discard(n));
        }
        Ok(report)
    }

    /// Makes a run on a backend, or gives the reason why that does not serve it. If it fails, messages are
    /// those before, but for a contradiction.
    fn run_at(&mut self, number: usize, mut run: Run<'_>, started: f64) -> Result<Outcome> {
        let Run { request, evidence, .. } = run;
        let problem = Problem {
            graph: &self.graph,
            schedule: &self.schedule,
            order: &self.order,
            options: self.options,
            evidence,
        };
        let engines = self.engines.get_mut();
        if let Some(reason) = engines.make_ready(number, problem)?.reason_against(request)? {
            return Ok(Outcome::Refused(reason));
        }
        let engine = engines.move_to(number, request.start, problem)?;
        self.order = KnownOrder::default();
        let begun = (self.clock)();
        // What has been made since the call counts.
        let spent = Duration::try_from_secs_f64(begun - started).unwrap_or_default();
        let request = &RunRequest {
            max_time: request.max_time.map(|limit| limit.saturating_sub(spent)),
            ..*request
        };
        let result = engine.run(run.with(request));
        let seconds = (self.clock)() - begun;
        if matches!(result, Ok(_) | Err(Error::Contradiction { .. })) {
            engines.has_run(number);
        }
        let report = result?;
        self.last = Some(number);
        // Who observes iterations learns nothing of what they take when nobody does.
        if let (Policy::Auto(choice), false) = (&mut self.policy, request.observe) {
            let (graph, schedule, order) = (&*self.graph, &self.schedule, &self.order);
            let question = Question { graph, schedule, order, engines, request };
            choice.learn(question, number, &report, seconds);
        }
        Ok(Outcome::Ended(report))
    }

    /// The engine with the newest messages as they are. Errors: no memory.
    pub(crate) fn export(&self) -> Result<Snapshot> {
        self.engines.lock().export(&self.graph)
    }

    /// Goes on from there; the lengths are right. Errors: no memory; nothing has changed then.
    pub(crate) fn import(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.engines.get_mut().import(snapshot)
    }

    /// Appends the current messages from a factor's variables to it, one after the other.
    pub(crate) fn factor_inputs(
        &self, factor: usize, evidence: &Evidence, out: &mut Vec<EncodedMessage>,
    ) -> Result<()> {
        self.engines.lock().factor_inputs(factor, self.problem(evidence), out)
    }

    /// What its user should know and is no error, such as why a run was made elsewhere than asked for;
    /// each is told once.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Whether a device is expected to make so many runs, with an engine that is yet to be made, faster
    /// than the CPU makes them several at once.
    pub(crate) fn prefers_device(&self, request: &RunRequest, runs: usize) -> bool {
        match &self.policy {
            Policy::Fixed(_) => self.backend() != Backend::Cpu,
            Policy::Auto(choice) => {
                choice.prefers_device(self.question(&self.engines.lock(), request), runs)
            }
        }
    }

    /// Whether a device, if there is one, is expected to make so many runs, one after the other, faster than the CPU.
    pub(crate) fn is_worth_a_device(&self, request: &RunRequest, runs: usize) -> bool {
        match &self.policy {
            &Policy::Fixed(number) => number != CPU,
            Policy::Auto(choice) => {
                choice.is_worth_a_device(self.question(&self.engines.lock(), request), runs)
            }
        }
    }

    /// Says how many runs, alike but for their evidence, are about to follow.
    pub(crate) fn expect_runs(&mut self, runs: usize) {
        if let Policy::Auto(choice) = &mut self.policy {
            choice.expect_runs(runs);
        }
    }

    /// The backend that a run is made on, if that serves it.
    fn choose(&self, request: &RunRequest) -> usize {
        match &self.policy {
            &Policy::Fixed(number) => number,
            Policy::Auto(choice) => choice.fastest(self.question(&self.engines.lock(), request)),
        }
    }

    fn question<'a>(&'a self, engines: &'a Engines, request: &'a RunRequest) -> Question<'a> {
        let Self { graph, schedule, order, .. } = self;
        Question { graph, schedule, order, engines, request }
    }

    fn is_auto(&self) -> bool {
        matches!(self.policy, Policy::Auto(_))
    }

    /// An error of a device that was asked for, with what else there is where there is no device.
    fn of_fixed(&self, number: usize, engines: &Engines, error: Error) -> Error {
        match (error, &self.policy) {
            (Error::NoDevice(reason), Policy::Fixed(_)) => Error::NoDevice(format!(
                "backend '{}': {reason}; use 'cpu' or 'auto'",
                engines.provider(number).backend().name()
            )),
            (other, _) => other,
        }
    }

    /// A device is not used any more.
    fn give_up(&mut self, number: usize, error: &Error) {
        if let Policy::Auto(choice) = &mut self.policy {
            choice.give_up(number);
        }
        let engines = self.engines.get_mut();
        if matches!(error, Error::Device(_)) && engines.owner() == Some(number) {
            engines.lose_messages();
        }
        if self.notes.try_room(1).is_ok() {
            self.notes.push(format!("backend auto does without the device: {error}"));
        }
    }

    /// Gets ready for a run on the CPU that a device failed to make. A warm run whose messages are lost ends
    /// here.
    fn fall_back(&mut self, number: usize, error: Error, request: &RunRequest) -> Result<()> {
        self.give_up(number, &error);
        match request.start {
            Start::Warm if self.engines.get_mut().are_messages_lost() => Err(error),
            _ => Ok(()),
        }
    }

    /// Notes once why runs were made on the CPU.
    fn tell(&mut self, reason: &'static str) {
        if self.told.contains(&reason) {
            return;
        }
        // What is not told for want of memory is no loss.
        if let (Ok(note), Ok(()), Ok(())) =
            (text(reason), self.told.try_push(reason), self.notes.try_room(1))
        {
            self.notes.push(note);
        }
    }
}

/// What came of a run on a backend.
enum Outcome {
    Ended(RunReport),
    /// The backend does not serve it: why.
    Refused(&'static str),
}

/// Whether the CPU can make a run that a device failed to make.
pub(crate) fn is_of_device(error: &Error) -> bool {
    matches!(error, Error::Device(_) | Error::NoDevice(_) | Error::OutOfMemory(_))
}
