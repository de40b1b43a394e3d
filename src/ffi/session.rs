//! What a `fastlbp_bp` holds: settings that take effect with the next run, and the session itself,
//! which is made when it is first needed.

use super::log::{self, FASTLBP_LOG_INFO, FASTLBP_LOG_WARNING, UserPointer};
use super::memory;
use super::status::{Failure, Outcome};
use crate::engine::{
    Backend, Contradiction, Control, EngineOptions, Inference, Progress, RunReport, RunRequest,
    Start, StopReason, StopRule,
};
use crate::error::Error;
use crate::memory::copied;
use crate::model::{Evidence, FactorGraph, Label, VariableEvidence};
use crate::schedule::{Schedule, Storage, analyse};
use crate::{BeliefPropagation, Result};
use once_cell::sync::OnceCell;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

/// The header's `fastlbp_progress_callback` when there is one.
pub(super) type ProgressFunction = unsafe extern "C" fn(
    user: *mut c_void,
    iterations: u64,
    max_iterations: u64,
    max_diff: f64,
    active_fraction: f64,
) -> i32;

/// Whose changes end a run by tolerance.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Those of the beliefs of variables.
    Variables,
    /// libDAI's: those of the beliefs of variables and of factors.
    All,
}

/// What runs are made with.
#[derive(Clone)]
pub(super) struct Settings {
    pub tolerance: f64,
    pub max_passes: u64,
    /// In seconds; infinite for no limit.
    pub max_time: f64,
    pub contradiction: Contradiction,
    pub start: Start,
    pub inference: Inference,
    /// In [0, 1).
    pub damping: f64,
    /// See [`RunRequest::active_threshold`].
    pub active_threshold: Option<f64>,
    pub measure: Measure,
    pub seed: u64,
    /// Of the schedule BLOCKS.
    pub blocks: u32,
    /// From 1 on, every run sends a message to the log.
    pub verbose: u64,
    /// Without effect: one arithmetic serves both of libDAI's domains.
    pub log_domain: bool,
    pub progress: Option<(ProgressFunction, UserPointer)>,
}

/// Results that outlive the engine that made them.
#[derive(Clone)]
struct Results {
    marginals: Vec<f64>,
    report: RunReport,
}

/// Where certain messages disagreed in the last run.
#[derive(Clone, Copy)]
pub(super) struct Contradictions {
    pub count: u64,
    pub first: Option<Label>,
}

pub(super) struct Session {
    graph: Arc<FactorGraph>,
    pub settings: Settings,
    options: EngineOptions,
    schedule: Schedule,
    /// Number of edges of each level, once asked for.
    level_widths: OnceCell<Vec<u32>>,
    /// The evidence until there is an engine.
    evidence: Evidence,
    engine: OnceCell<BeliefPropagation>,
    /// Whether `options` changed since the engine was made.
    options_changed: bool,
    /// Whether `schedule` changed since the engine got it.
    schedule_changed: bool,
    /// The results of the last run if the engine that made them is gone.
    kept: Option<Results>,
    contradictions: Option<Contradictions>,
}

impl Session {
    pub fn new(graph: Arc<FactorGraph>) -> Self {
        Self {
            graph,
            settings: Settings {
                tolerance: 1e-9,
                max_passes: 10_000,
                max_time: f64::INFINITY,
                contradiction: Contradiction::Error,
                start: Start::Fresh,
                inference: Inference::SumProduct,
                damping: 0.0,
                active_threshold: None,
                measure: Measure::Variables,
                seed: 0,
                blocks: Schedule::DEFAULT_BLOCKS,
                verbose: 0,
                log_domain: false,
                progress: None,
            },
            options: EngineOptions::default(),
            schedule: Schedule::SequentialFixed,
            level_widths: OnceCell::new(),
            evidence: Evidence::new(),
            engine: OnceCell::new(),
            options_changed: false,
            schedule_changed: false,
            kept: None,
            contradictions: None,
        }
    }

    /// A session of its own in the same state, but without the progress callback.
    pub fn duplicate(&self) -> Outcome<Self> {
        let mut copy = Self {
            graph: self.graph.clone(),
            settings: Settings { progress: None, ..self.settings.clone() },
            options: self.options,
            schedule: self.schedule.clone(),
            level_widths: OnceCell::new(),
            evidence: self.evidence().try_clone()?,
            engine: OnceCell::new(),
            options_changed: false,
            schedule_changed: false,
            kept: self.results()?,
            contradictions: self.contradictions,
        };
        if let Some(engine) = self.engine.get() {
            copy.prepare()?.restore_state(&engine.save_state()?)?;
        }
        Ok(copy)
    }

    pub fn graph(&self) -> &Arc<FactorGraph> {
        &self.graph
    }

    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.schedule = schedule;
        self.schedule_changed = true;
        self.level_widths = OnceCell::new();
    }

    /// Number of edges of each level of the (first) pass.
    pub fn level_widths(&self) -> Outcome<&[u32]> {
        let widths = self.level_widths.get_or_try_init(|| -> Result<_> {
            let preorder = self.schedule.preorder(&self.graph, 0)?;
            copied(analyse(&self.graph, &preorder, Storage::InPlace)?.widths())
        })?;
        Ok(widths)
    }

    pub fn options(&self) -> EngineOptions {
        self.options
    }

    pub fn set_options(&mut self, options: EngineOptions) {
        if self.options != options {
            self.options = options;
            self.options_changed = true;
        }
    }

    fn make_engine(&self) -> Outcome<BeliefPropagation> {
        let graph = &self.graph;
        // Results, and messages of tables, which are as long as cardinalities are high.
        Ok(BeliefPropagation::new(graph.clone(), self.schedule.clone(), self.options)?)
    }

    /// Says which backend is expected. Not while the engine is being made: the callback may ask for it.
    fn send_backend(&self, engine: &BeliefPropagation) {
        if self.options.backend == Backend::Auto {
            log::send(FASTLBP_LOG_INFO, || {
                format!("backend auto: {} most likely", engine.backend().name())
            });
        }
    }

    /// The session's engine as it is; made if there is none yet.
    pub fn engine(&self) -> Outcome<&BeliefPropagation> {
        let mut made = false;
        let engine = self.engine.get_or_try_init(|| -> Outcome<_> {
            let mut engine = self.make_engine()?;
            engine.set_evidence(&self.evidence)?;
            made = true;
            Ok(engine)
        })?;
        if made {
            self.send_backend(engine);
        }
        Ok(engine)
    }

    /// The engine by the current settings: schedule analysis and buffers are made where they are
    /// missing or out of date. Messages, evidence and results stay.
    pub fn prepare(&mut self) -> Outcome<&mut BeliefPropagation> {
        if let Some(old) = self.engine.get() {
            if self.options_changed {
                let mut engine = self.make_engine()?;
                engine.set_evidence(old.evidence())?;
                engine.restore_state(&old.save_state()?)?;
                self.kept = self.results()?;
                self.send_backend(&engine);
                self.engine = OnceCell::with_value(engine);
            } else if self.schedule_changed {
                let schedule = self.schedule.clone();
                if let Some(engine) = self.engine.get_mut() {
                    engine.set_schedule(schedule)?;
                }
            }
        } else {
            self.engine()?;
        }
        self.options_changed = false;
        self.schedule_changed = false;
        self.engine.get_mut().ok_or_else(|| Failure::invalid("the session has no engine"))
    }

    /// As [`Self::prepare`], with what a run by the settings needs.
    pub fn prepare_run(&mut self) -> Outcome {
        let request = self.request(self.tolerance_rule());
        Ok(self.prepare()?.prepare(&request)?)
    }

    pub fn evidence(&self) -> &Evidence {
        self.engine.get().map_or(&self.evidence, |engine| engine.evidence())
    }

    pub fn observe(&mut self, variable: usize, state: usize) -> Outcome {
        match self.engine.get_mut() {
            Some(engine) => engine.observe(variable, state)?,
            None => self.evidence.observe(&self.graph, variable, state)?,
        }
        Ok(())
    }

    /// Observes many variables, or none if one cannot be.
    pub fn observe_many(
        &mut self,
        observed: impl Iterator<Item = Outcome<(usize, usize)>>,
    ) -> Outcome {
        let mut checked = Evidence::new();
        for pair in observed {
            let (variable, state) = pair?;
            checked.observe(&self.graph, variable, state)?;
        }
        for (variable, evidence) in checked.iter() {
            if let VariableEvidence::Observed(state) = evidence {
                self.observe(variable, *state as usize)?;
            }
        }
        Ok(())
    }

    pub fn set_likelihood(&mut self, variable: usize, likelihood: &[f64]) -> Outcome {
        match self.engine.get_mut() {
            Some(engine) => engine.set_likelihood(variable, likelihood)?,
            None => self.evidence.set_likelihood(&self.graph, variable, likelihood)?,
        }
        Ok(())
    }

    pub fn clear_evidence(&mut self, variable: usize) -> Outcome {
        match self.engine.get_mut() {
            Some(engine) => engine.clear_evidence(variable)?,
            None => self.evidence.clear(&self.graph, variable)?,
        }
        Ok(())
    }

    pub fn set_evidence(&mut self, evidence: Evidence) -> Outcome {
        match self.engine.get_mut() {
            Some(engine) => engine.set_evidence(&evidence)?,
            None => self.evidence = evidence,
        }
        Ok(())
    }

    /// Makes the messages uniform.
    pub fn reset(&mut self) -> Outcome {
        if let Some(engine) = self.engine.get_mut() {
            let uniform = memory::filled("uniform messages", engine.message_length(), 1.0)?;
            engine.set_messages(&uniform)?;
        }
        Ok(())
    }

    /// The rule of libDAI's users: until the tolerance is met, within the greatest number of passes.
    pub fn tolerance_rule(&self) -> StopRule {
        let Settings { tolerance, max_passes, .. } = self.settings;
        match self.settings.measure {
            Measure::Variables => StopRule::Tolerance { tolerance, max_passes },
            Measure::All => StopRule::AllBeliefs { tolerance, max_passes },
        }
    }

    /// What the settings make of a run by a rule.
    pub fn request(&self, rule: StopRule) -> RunRequest {
        let settings = &self.settings;
        RunRequest {
            rule,
            start: settings.start,
            // A time too long to be a duration is no limit.
            max_time: Duration::try_from_secs_f64(settings.max_time).ok(),
            contradiction: settings.contradiction,
            inference: settings.inference,
            damping: settings.damping,
            active_threshold: settings.active_threshold,
        }
    }

    pub fn run(&mut self, rule: StopRule) -> Outcome<RunReport> {
        let settings = self.settings.clone();
        let request = self.request(rule);
        let engine = self.prepare()?;
        // Before the first run this takes time, which only a listener is worth.
        let before = log::is_heard().then(|| engine.backend());
        let result = match settings.progress {
            None => engine.run(&request),
            Some((callback, user)) => engine.run_monitored(&request, &mut |progress| {
                let Progress { passes, max_passes, max_diff, frac } = *progress;
                // SAFETY: the function and the pointer belong together and are valid until
                // replaced, as the header demands.
                let wish = unsafe { callback(user.0, passes, max_passes, max_diff, frac) };
                if wish == 0 { Control::Continue } else { Control::Cancel }
            }),
        };
        let (after, notes) = (engine.backend(), engine.take_notes());
        send_notes(notes);
        if before.is_some_and(|before| before != after) {
            log::send(FASTLBP_LOG_INFO, || format!("backend auto: {} from now on", after.name()));
        }
        self.contradictions = match &result {
            Ok(report) => Some(Contradictions {
                count: report.contradictions,
                first: report.first_contradiction.map(|variable| self.graph.label(variable)),
            }),
            Err(Error::Contradiction { label, count, .. }) => {
                Some(Contradictions { count: *count, first: Some(*label) })
            }
            Err(_) => self.contradictions,
        };
        let report = result?;
        self.kept = None;
        self.send_report(&report);
        Ok(report)
    }

    fn send_report(&self, report: &RunReport) {
        if let Some(Contradictions { count: count @ 1.., first }) = self.contradictions {
            log::send(FASTLBP_LOG_WARNING, || {
                let first = first.map_or("none".into(), |label| label.to_string());
                format!(
                    "contradictions decided by vote: up to {count} places in an iteration; \
                     first variable: {first}"
                )
            });
        }
        if self.settings.verbose > 0 {
            log::send(FASTLBP_LOG_INFO, || {
                let RunReport { passes, max_diff, reason, .. } = report;
                let reason = stop_reason_name(*reason);
                format!("run: {passes} iterations, {reason}, max_diff {max_diff:e}")
            });
        }
    }

    pub fn contradictions(&self) -> Outcome<Contradictions> {
        self.contradictions.ok_or_else(|| no_result("contradictions"))
    }

    /// A copy of the last run's results, if there are any.
    fn results(&self) -> Outcome<Option<Results>> {
        let Some(report) = self.last_report() else {
            return Ok(None);
        };
        let source = self.marginals()?;
        let mut marginals = memory::vector("results", source.len())?;
        marginals.extend_from_slice(source);
        Ok(Some(Results { marginals, report }))
    }

    fn last_report(&self) -> Option<RunReport> {
        let current = self.engine.get().and_then(|engine| engine.report());
        current.or(self.kept.as_ref().map(|results| &results.report)).copied()
    }

    pub fn report(&self) -> Outcome<RunReport> {
        self.last_report().ok_or_else(|| no_result("reports of a run"))
    }

    /// The engine that made the last run, for results that are computed from its messages and
    /// beliefs together.
    pub fn engine_of_run(&self, what: &str) -> Outcome<&BeliefPropagation> {
        match self.engine.get().filter(|engine| engine.report().is_some()) {
            Some(engine) => Ok(engine),
            None if self.kept.is_some() => Err(Error::NoResult(format!(
                "no {what}: the session is a clone, or got another backend or number of threads, \
                 since the last run; it is there after a run, of 0 iterations from a warm start at least"
            ))
            .into()),
            None => Err(no_result(what)),
        }
    }

    pub fn marginals(&self) -> Outcome<&[f64]> {
        if let Some(engine) = self.engine.get().filter(|engine| engine.report().is_some()) {
            return Ok(engine.marginals()?);
        }
        let kept = self.kept.as_ref().ok_or_else(|| no_result("marginals"))?;
        Ok(&kept.marginals)
    }

    pub fn marginal(&self, variable: usize) -> Outcome<&[f64]> {
        crate::model::check_variable(&self.graph, variable)?;
        if let Some(engine) = self.engine.get().filter(|engine| engine.report().is_some()) {
            return Ok(engine.marginal(variable)?);
        }
        let cardinalities = self.graph.cardinalities();
        let start: usize = cardinalities[..variable].iter().map(|&r| r as usize).sum();
        Ok(&self.marginals()?[start..start + self.graph.cardinality(variable)])
    }

    /// Probability of state 1 of a variable.
    pub fn probability(&self, variable: usize) -> Outcome<f64> {
        let probability = self.marginal(variable)?.get(1).copied();
        Ok(probability.ok_or_else(|| crate::session::no_state_1(self.graph.label(variable)))?)
    }

    /// Fails unless every variable has two states.
    pub fn check_binary(&self) -> Outcome {
        if self.graph.all_binary() {
            return Ok(());
        }
        let variable = self.graph.cardinalities().iter().position(|&r| r != 2).unwrap_or_default();
        Err(Failure::unsupported(format!(
            "variable {} has {} states: P(x = 1) of all variables is there for graphs of binary \
             variables only; ask for all marginals",
            self.graph.label(variable),
            self.graph.cardinality(variable)
        )))
    }
}

/// Sends what engines had to say. Not while a session is locked for reading, see `send_backend`.
pub(super) fn send_notes(notes: Vec<String>) {
    for note in notes {
        log::send(FASTLBP_LOG_INFO, || note);
    }
}

fn no_result(what: &str) -> Failure {
    let message = format!("no results yet: run first to have {what}");
    Error::NoResult(message).into()
}

fn stop_reason_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Converged => "converged",
        StopReason::Passes => "all iterations made",
        StopReason::Share => "active fraction low",
        StopReason::Time => "time up",
        StopReason::Cancelled => "cancelled",
    }
}
