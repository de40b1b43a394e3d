//! The rule of a run and its state, as host and device exchange them.

use super::interface::run::{
    BY_LEVELS, EndReason, FRESH, Found, ROUGH, ReductionCounters, Rule, RuleKind, RunState,
    STOP_AT_CONTRADICTION,
};
use crate::engine::{Contradiction, RunRequest, Start, StopReason, StopRule};

impl Rule {
    /// `nodes` is the number of variables and factors; `by_levels` says that updates are not synchronous.
    pub fn new(request: &RunRequest, nodes: usize, by_levels: bool) -> Self {
        let (kind, tolerance, min_iterations, max_iterations) = match request.rule {
            // The tolerance is for observed runs: it only decides what counts as moved.
            StopRule::Iterations(count) => {
                (RuleKind::Iterations, request.rule.tolerance(), 0, count)
            }
            StopRule::Tolerance { tolerance, max_iterations }
            | StopRule::AllBeliefs { tolerance, max_iterations } => {
                (RuleKind::Tolerance, tolerance, 0, max_iterations)
            }
            StopRule::Bingo { tolerance, min_iterations, max_iterations, .. } => {
                (RuleKind::Bingo, tolerance, min_iterations, max_iterations)
            }
        };
        let flag = |is: bool, flag| if is { flag } else { 0 };
        let flags = flag(request.contradiction == Contradiction::Error, STOP_AT_CONTRADICTION)
            | flag(by_levels, BY_LEVELS)
            | flag(request.start == Start::Fresh, FRESH)
            | flag(request.rough_progress && !request.observe, ROUGH);
        Self {
            kind: kind as u32,
            flags,
            tolerance,
            min_iterations,
            max_iterations,
            nodes: nodes as u64,
        }
    }

    /// The rule of a launch after which so many iterations of an observed run are done. With a fixed number of iterations,
    /// kernels measure the last one only, and so each launch is a run of its own.
    pub fn observed(self, limit: u64) -> Self {
        match self.kind == RuleKind::Iterations as u32 {
            true => Self { max_iterations: limit, ..self },
            false => self,
        }
    }
}

/// How a run stands after a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The launch made all its iterations, and the run goes on.
    Running,
    /// The rule ended it.
    Ended(StopReason),
    /// Deterministic messages disagree, at this variable first.
    Contradiction { variable: usize },
}

impl RunState {
    /// Before the first iteration, with the messages in `buffer`.
    pub fn new(buffer: u32) -> Self {
        Self {
            buffer,
            found: Found { max_diff: f64::INFINITY, active_fraction: 1.0, ..Found::default() },
            ..Self::default()
        }
    }

    /// What the last launch says.
    pub fn standing(&self) -> Standing {
        let is = |reason: EndReason| self.reason == reason as u32;
        if is(EndReason::Converged) {
            Standing::Ended(StopReason::Converged)
        } else if is(EndReason::Iterations) {
            Standing::Ended(StopReason::Iterations)
        } else if is(EndReason::Share) {
            Standing::Ended(StopReason::Share)
        } else if is(EndReason::Contradiction) {
            Standing::Contradiction { variable: !self.found.error_variable as usize }
        } else {
            Standing::Running
        }
    }

    /// Whether the last iteration of a run that a contradiction has ended computed a message 0/0.
    pub fn last_iteration_failed(&self) -> bool {
        self.last().factor_count.0 > 0
    }

    /// The counters of the last iteration of a launch.
    fn last(&self) -> &ReductionCounters {
        &self.counters[self.iterations as usize % self.counters.len()]
    }

    /// How many variables, or by BINGO's rule variables and factors, moved in the last iteration of a launch.
    pub fn moved(&self) -> u64 {
        self.last().moved.0
    }

    /// Of so many nodes that are looked at, the share that moved in the last iteration of a launch.
    pub fn unconverged(&self, nodes: usize) -> f64 {
        if nodes == 0 { 0.0 } else { self.moved() as f64 / nodes as f64 }
    }

    /// Contradictory places in the last iteration of a launch. By levels, messages that met disagreeing are one, too, where
    /// no factor's were 0/0.
    pub fn contradictory_places(&self, by_levels: bool) -> u64 {
        let last = self.last();
        let met = u64::from(by_levels && last.factor_count.0 == 0 && last.met_lowest != 0);
        last.factor_count.0 + last.variable_count.0 + met
    }

    /// The lowest contradictory variable in the first iteration that had one.
    pub fn first_contradiction(&self) -> Option<usize> {
        let first = self.found.first_contradiction;
        (first != 0).then_some(!first as usize)
    }
}
