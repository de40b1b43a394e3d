//! Which schedule suits a graph, found by trial, and why.

use crate::activity::Activity;
use crate::failure::Outcome;
use fastlbp::{
    BeliefPropagation, Contradiction, Control, EngineOptions, Evidence, FactorGraph, RunReport,
    RunRequest, Schedule, StopRule,
};
use serde::Serialize;
use std::sync::Arc;

/// A trial is a run of at most so many iterations, to such changes. What has not converged by then mostly never does.
const ITERATIONS: u64 = 200;
const TOLERANCE: f64 = 1e-6;
/// So many messages at most: 200 iterations of two million edges, seconds on one core. Counted, not timed, so that the advice
/// is the same on every machine.
const MOST_MESSAGES: u64 = 400_000_000;
/// Damping of the trial that has it.
const DAMPING: f64 = 0.5;
/// A variable in so many factors, and so large a share of the edges, is worth a word.
const HIGH_DEGREE: usize = 100;
const HIGH_SHARE: f64 = 0.01;

/// A schedule, and the reasons for it.
#[derive(Serialize)]
pub struct Advice {
    schedule: &'static str,
    damping: f64,
    reasons: Vec<String>,
    /// In their order: the first that converges is taken.
    trials: Vec<Trial>,
}

#[derive(Serialize)]
struct Trial {
    schedule: &'static str,
    damping: f64,
    iterations: u64,
    converged: bool,
    /// `null` before the first iteration.
    largest_change: Option<f64>,
    /// Most places in an iteration at which deterministic messages disagreed.
    contradictions: u64,
}

/// What is known of a graph before any trial.
pub struct Shape<'a> {
    /// Whether it has no cycle.
    pub is_forest: bool,
    /// Of a variable.
    pub highest_degree: usize,
    /// Levels in place, by schedule.
    pub levels: &'a [(&'static str, usize)],
}

impl Advice {
    /// Errors: no memory.
    pub fn new(graph: &Arc<FactorGraph>, evidence: &Evidence, shape: &Shape<'_>) -> Outcome<Self> {
        let mut advice =
            Self { schedule: "", damping: 0.0, reasons: Vec::new(), trials: Vec::new() };
        if shape.is_forest {
            advice.schedule = Schedule::Tree.name();
            advice.reasons.push("the graph has no cycle: one iteration is exact".into());
            return Ok(advice);
        }
        advice.run_trials(graph, evidence)?;
        match advice.trials.iter().find(|trial| trial.converged) {
            Some(trial) => (advice.schedule, advice.damping) = (trial.schedule, trial.damping),
            None => {
                advice.schedule = Schedule::SequentialFixed.name();
                let reason =
                    "nothing tried comes to rest: --bingo gives the means of the last beliefs";
                advice.reasons.push(reason.into());
            }
        }
        advice.reasons.extend(advice.trials.iter().map(Trial::told));
        if let Some(trial) = advice.trials.iter().find(|trial| trial.contradictions > 0) {
            advice.reasons.push(format!(
                "deterministic messages disagree at {} places by {}: evidence and graph contradict each other there, and \
                 what is voted depends on the schedule",
                trial.contradictions, trial.schedule
            ));
        }
        let levels = shape.levels.iter().map(|(name, levels)| format!("{name} {levels}"));
        let levels = levels.collect::<Vec<_>>().join(", ");
        advice.reasons.push(format!("levels of an iteration, one after the other: {levels}"));
        let share = shape.highest_degree as f64 / graph.edge_count().max(1) as f64;
        if shape.highest_degree > HIGH_DEGREE && share > HIGH_SHARE {
            advice.reasons.push(format!(
                "a high-degree variable is in {} factors, {:.0} % of all edges: its messages change together, and PARALL \
                 may overshoot",
                shape.highest_degree,
                share * 100.0
            ));
        }
        Ok(advice)
    }

    /// Tries one schedule after the other until one converges.
    fn run_trials(&mut self, graph: &Arc<FactorGraph>, evidence: &Evidence) -> Outcome {
        let edges = graph.edge_count().max(1) as u64;
        let max_iterations = ITERATIONS.min((MOST_MESSAGES / edges).max(1));
        for (schedule, damping) in [
            (Schedule::Parallel, 0.0),
            (Schedule::SequentialFixed, 0.0),
            (Schedule::ForwardBackward, 0.0),
            (Schedule::Parallel, DAMPING),
        ] {
            if self.trials.iter().any(|trial| trial.converged) {
                break;
            }
            let name = schedule.name();
            let mut session =
                BeliefPropagation::new(graph.clone(), schedule, EngineOptions::default())?;
            session.set_evidence(evidence)?;
            let rule = StopRule::Tolerance { tolerance: TOLERANCE, max_iterations };
            let request =
                RunRequest { damping, contradiction: Contradiction::Vote, ..RunRequest::new(rule) };
            let activity = Activity::iterations(max_iterations);
            let report = session.run_monitored(&request, &mut |progress| {
                activity.advance(progress);
                Control::Continue
            })?;
            self.trials.push(Trial::new(name, damping, &report));
        }
        Ok(())
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = format!("\nadvice: {}\n", described(self.schedule, self.damping));
        for reason in &self.reasons {
            text += &format!("  {reason}\n");
        }
        text
    }
}

impl Trial {
    fn new(schedule: &'static str, damping: f64, report: &RunReport) -> Self {
        Self {
            schedule,
            damping,
            iterations: report.iterations,
            converged: report.converged,
            largest_change: report.max_diff.is_finite().then_some(report.max_diff),
            contradictions: report.contradictions,
        }
    }

    fn told(&self) -> String {
        let name = described(self.schedule, self.damping);
        let iterations = self.iterations;
        match self.converged {
            true => format!("{name} converges in {iterations} iterations"),
            false => format!(
                "{name} does not converge in {iterations} iterations: the largest change is still {:.1e}",
                self.largest_change.unwrap_or(f64::INFINITY)
            ),
        }
    }
}

/// A schedule as options name it.
fn described(schedule: &str, damping: f64) -> String {
    match damping > 0.0 {
        true => format!("{schedule} with --damping {damping}"),
        false => schedule.to_string(),
    }
}
