//! What a `fastlbp_bp` holds: a session, and what only the C interface has besides: the progress callback, the
//! numbers that schedules are made with by name, and messages to the log.

use super::log::{self, FASTLBP_LOG_INFO, FASTLBP_LOG_WARNING, UserPointer};
use super::status::{Failure, Outcome, fastlbp_status};
use crate::BeliefPropagation;
use crate::engine::{
    Backend, Control, EngineOptions, Progress, RunReport, RunRequest, StopReason, StopRule,
};
use crate::error::Error;
use crate::exact::{DEFAULT_TABLE_LIMIT, ExactInference};
use crate::memory::shared;
use crate::model::{Evidence, FactorGraph, Label, VariableEvidence};
use crate::schedule::Schedule;
use crate::session::Ran;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The header's `fastlbp_progress_callback` when there is one.
pub(super) type ProgressFunction = unsafe extern "C" fn(
    user: *mut c_void,
    iterations: u64,
    max_iterations: u64,
    max_diff: f64,
    active_fraction: f64,
) -> i32;

/// The settings that the session itself does not have.
#[derive(Clone)]
pub(super) struct Extras {
    pub seed: u64,
    /// Of the schedule BLOCKS.
    pub blocks: u32,
    /// From 1 on, every run writes to the log.
    pub verbose: u64,
    /// Which of libDAI's domains SEQMAX measures residuals in; one arithmetic serves both.
    pub log_domain: bool,
    pub progress: Option<(ProgressFunction, UserPointer)>,
    /// Whether that may be told a bound in place of the largest change.
    pub rough_progress: bool,
}

pub(super) struct Session {
    pub bp: BeliefPropagation,
    pub extras: Extras,
    /// The results, where the last run was an exact one.
    pub exact: Option<Arc<ExactInference>>,
    /// Whether the log has been told which backend is expected.
    is_told: AtomicBool,
}

impl Session {
    pub fn new(graph: Arc<FactorGraph>) -> Self {
        Self {
            bp: BeliefPropagation::with_defaults(graph),
            extras: Extras {
                seed: 0,
                blocks: Schedule::DEFAULT_BLOCKS,
                verbose: 0,
                log_domain: false,
                progress: None,
                rough_progress: false,
            },
            exact: None,
            is_told: AtomicBool::new(false),
        }
    }

    /// A session of its own in the same state, but without the progress callback.
    pub fn duplicate(&self) -> Outcome<Self> {
        let extras = Extras { progress: None, ..self.extras.clone() };
        let is_told = AtomicBool::new(self.is_told.load(Ordering::Relaxed));
        Ok(Self { bp: self.bp.try_clone()?, extras, exact: self.exact.clone(), is_told })
    }

    pub fn graph(&self) -> &Arc<FactorGraph> {
        self.bp.graph()
    }

    /// Observes many variables, or none if one cannot be.
    pub fn observe_many(&mut self, observed: impl Iterator<Item = (usize, usize)>) -> Outcome {
        let mut checked = Evidence::new();
        for (variable, state) in observed {
            checked.observe(self.graph(), variable, state)?;
        }
        for (variable, evidence) in checked.iter() {
            if let VariableEvidence::Observed(state) = evidence {
                self.bp.observe(variable, *state as usize)?;
            }
        }
        Ok(())
    }

    /// Makes what a run by the settings needs.
    pub fn prepare(&mut self) -> Outcome {
        let request = self.bp.settings().request();
        self.bp.prepare(&request)?;
        self.tell_backend();
        Ok(())
    }

    /// Replaces what iterations run with, from the next run on.
    pub fn set_options(&mut self, options: EngineOptions) {
        self.bp.set_options(options);
        self.is_told = AtomicBool::new(false);
    }

    /// Tells the log once which backend is expected. The callback may ask for it, too.
    pub fn tell_backend(&self) {
        if self.bp.options().backend == Backend::Auto && !self.is_told.swap(true, Ordering::Relaxed)
        {
            log::send(FASTLBP_LOG_INFO, || {
                format!("backend auto: {} most likely", self.bp.backend().name())
            });
        }
    }

    /// Replaces the messages; the results are then theirs.
    pub fn replace_messages(
        &mut self, replace: impl FnOnce(&mut BeliefPropagation) -> crate::error::Result<()>,
    ) -> Outcome {
        replace(&mut self.bp)?;
        self.exact = None;
        Ok(())
    }

    /// Makes the results exact ones; a `table_limit` of 0 is the usual one.
    pub fn run_exact(&mut self, table_limit: usize) -> Outcome {
        let limit = if table_limit == 0 { DEFAULT_TABLE_LIMIT } else { table_limit };
        let inference = self.bp.settings().request().inference;
        let graph = self.graph().clone();
        let exact = ExactInference::new(graph, self.bp.evidence(), inference, limit)?;
        self.exact = Some(shared(exact)?);
        Ok(())
    }

    /// Runs by the settings.
    pub fn run(&mut self) -> Outcome<RunReport> {
        let request = self.bp.settings().request();
        self.run_request(&request)
    }

    /// Runs by the settings on one of several devices.
    pub fn run_on(&mut self, device: u32) -> Ran<Outcome> {
        let start = self.bp.settings().request().start;
        self.bp.begin_on(device);
        let outcome = self.run().map(drop);
        let has_failed = matches!(
            &outcome,
            Err(Failure {
                status: fastlbp_status::DeviceFailed
                    | fastlbp_status::NoDevice
                    | fastlbp_status::OutOfMemory,
                ..
            })
        );
        self.bp.end_on(start, outcome, has_failed)
    }

    /// Runs by the settings, but for the rule.
    pub fn run_by(&mut self, rule: StopRule) -> Outcome<RunReport> {
        let request = self.bp.settings().request_by(rule);
        self.run_request(&request)
    }

    fn run_request(&mut self, request: &RunRequest) -> Outcome<RunReport> {
        let request = RunRequest { rough_progress: self.extras.rough_progress, ..*request };
        self.tell_backend();
        // Before the first run this takes time, which only a listener is worth.
        let before = log::is_heard().then(|| self.bp.backend());
        let result = match self.extras.progress {
            None => self.bp.run(&request),
            Some((callback, user)) => self.bp.run_monitored(&request, &mut |progress| {
                let Progress { iterations, max_iterations, max_diff, active_fraction, .. } =
                    *progress;
                // SAFETY: the function and the pointer belong together and are valid until
                // replaced, as the header demands.
                let wish = unsafe {
                    callback(user.0, iterations, max_iterations, max_diff, active_fraction)
                };
                if wish == 0 { Control::Continue } else { Control::Cancel }
            }),
        };
        send_notes(self.bp.take_notes());
        if before.is_some_and(|before| before != self.bp.backend()) {
            log::send(FASTLBP_LOG_INFO, || {
                format!("backend auto: {} from now on", self.bp.backend().name())
            });
        }
        let report = result?;
        self.exact = None;
        self.send_report(&report);
        Ok(report)
    }

    fn send_report(&self, report: &RunReport) {
        if report.contradictions > 0 {
            log::send(FASTLBP_LOG_WARNING, || {
                let label = |variable| self.graph().label(variable).to_string();
                let first = report.first_contradiction.map_or("none".into(), label);
                format!(
                    "contradictions decided by vote: up to {} places in an iteration; \
                     first variable: {first}",
                    report.contradictions
                )
            });
        }
        if self.extras.verbose > 0 {
            log::send(FASTLBP_LOG_INFO, || {
                let RunReport { iterations, max_diff, reason, .. } = report;
                let reason = stop_reason_name(*reason);
                format!("run: {iterations} iterations, {reason}, max_diff {max_diff:e}")
            });
        }
    }

    pub fn report(&self) -> Outcome<&RunReport> {
        self.bp.report().ok_or_else(|| no_result("reports of a run"))
    }

    /// Number of contradictory places in the last run, and the label of the first variable.
    pub fn contradictions(&self) -> Outcome<(u64, Option<Label>)> {
        let found = self.bp.contradictions().ok_or_else(|| no_result("contradictions"))?;
        Ok((found.count, found.first.map(|variable| self.graph().label(variable))))
    }

    /// Fails before there was any run, for results that are computed from its messages and beliefs together.
    pub fn check_results(&self, what: &str) -> Outcome {
        match (self.bp.report(), &self.exact) {
            (None, None) => Err(no_result(what)),
            _ => Ok(()),
        }
    }

    /// Fails unless every variable has two states.
    pub fn check_binary(&self) -> Outcome {
        let graph = self.graph();
        if graph.all_binary() {
            return Ok(());
        }
        let variable = graph.cardinalities().iter().position(|&r| r != 2).unwrap_or_default();
        Err(Failure::unsupported(format!(
            "variable {} has {} states: P(x = 1) of all variables is there for graphs of binary \
             variables only; ask for all marginals",
            graph.label(variable),
            graph.cardinality(variable)
        )))
    }
}

/// Sends what engines had to say.
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
        StopReason::Iterations => "all iterations made",
        StopReason::Share => "active fraction low",
        StopReason::Time => "time up",
        StopReason::Cancelled => "cancelled",
    }
}
