//! What host and device exchange about a run: the structs of cuda/engine/control.cuh, with the same fields in the
//! same order.

use super::driver::Element;
use crate::engine::{Contradiction, RunRequest, Start, StopReason, StopRule};
use cust::memory::DeviceCopy;

/// Which rule ends a run: the constants RULE_* of control.cuh.
#[repr(u32)]
enum RuleKind {
    Iterations = 0,
    Tolerance = 1,
    Bingo = 2,
}

const STOP_AT_CONTRADICTION: u32 = 1;
const BY_LEVELS: u32 = 2;
const FRESH: u32 = 4;

/// When a run ends.
#[repr(C)]
#[derive(Clone, Copy, Debug, DeviceCopy)]
pub(super) struct Rule {
    kind: u32,
    flags: u32,
    tolerance: f64,
    min_iterations: u64,
    max_iterations: u64,
    nodes: u64,
}

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
            | flag(request.start == Start::Fresh, FRESH);
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

/// The reduction counters of a state and of the iteration that led to it. After a launch, the host reads those of the
/// last iteration.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
struct ReductionCounters {
    max_diff: u64,
    moved: u64,
    factor_count: u64,
    variable_count: u64,
    factor_lowest: u32,
    variable_lowest: u32,
    met_lowest: u32,
    certain_changed: u32,
}

/// How many words of 64 bits these are.
pub(super) const COUNTERS_WORDS: usize = size_of::<ReductionCounters>() / 8;

/// The progress of the convergence scan of a state: work items that warps have taken and finished. Starts at zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
struct ScanProgress {
    taken: u32,
    finished: u32,
    factors_taken: u32,
    multiplied: u32,
}

/// The state of a run.
#[repr(C)]
#[derive(Clone, Copy, Debug, DeviceCopy)]
pub(super) struct RunState {
    /// Iterations of this run.
    pub iterations: u64,
    reason: u32,
    /// Which of the program's buffers holds the messages.
    pub buffer: u32,
    /// As in `RunReport`.
    pub max_diff: f64,
    /// As in `RunReport`.
    pub active_fraction: f64,
    /// Largest number of contradictory places in an iteration.
    pub contradictions: u64,
    /// Number of those that ended the run.
    pub error_count: u64,
    first_contradiction: u32,
    error_variable: u32,
    counters: [ReductionCounters; 4],
    /// Of the states, and of a second scan of each.
    scans: [ScanProgress; 8],
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
            iterations: 0,
            reason: 0,
            buffer,
            max_diff: f64::INFINITY,
            active_fraction: 1.0,
            contradictions: 0,
            error_count: 0,
            first_contradiction: 0,
            error_variable: 0,
            counters: [ReductionCounters::default(); 4],
            scans: [ScanProgress::default(); 8],
        }
    }

    /// What the last launch says.
    pub fn standing(&self) -> Standing {
        match self.reason {
            1 => Standing::Ended(StopReason::Converged),
            2 => Standing::Ended(StopReason::Iterations),
            3 => Standing::Ended(StopReason::Share),
            4 => Standing::Contradiction { variable: !self.error_variable as usize },
            _ => Standing::Running,
        }
    }

    /// Whether the last iteration of a run that a contradiction has ended computed a message 0/0.
    pub fn last_iteration_failed(&self) -> bool {
        self.last().factor_count > 0
    }

    /// The counters of the last iteration of a launch.
    fn last(&self) -> &ReductionCounters {
        &self.counters[(self.iterations % 4) as usize]
    }

    /// Of so many nodes that are looked at, the share that moved in the last iteration of a launch.
    pub fn unconverged(&self, nodes: usize) -> f64 {
        if nodes == 0 { 0.0 } else { self.last().moved as f64 / nodes as f64 }
    }

    /// Contradictory places in the last iteration of a launch. By levels, messages that met disagreeing are one, too, where
    /// no factor's were 0/0.
    pub fn contradictory_places(&self, by_levels: bool) -> u64 {
        let last = self.last();
        let met = u64::from(by_levels && last.factor_count == 0 && last.met_lowest != 0);
        last.factor_count + last.variable_count + met
    }

    /// The lowest contradictory variable in the first iteration that had one.
    pub fn first_contradiction(&self) -> Option<usize> {
        (self.first_contradiction != 0).then_some(!self.first_contradiction as usize)
    }
}

/// The log entry of an iteration.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
pub(super) struct IterationLog {
    /// As in `Progress`.
    pub max_diff: f64,
    /// As in `Progress`.
    pub active_fraction: f64,
}

/// What a launch is to do: the last argument of each kernel that runs iterations.
#[repr(C)]
#[derive(Clone, Copy, Debug, DeviceCopy)]
pub(super) struct Loop {
    /// When the run ends.
    pub rule: Rule,
    /// Iterations of the run after which the launch ends.
    pub limit: u64,
    /// Address of a [`RunState`].
    pub control: u64,
    /// Address of a [`IterationLog`] for each iteration of the launch.
    pub log: u64,
    /// Address of the grid barrier, zero at the beginning.
    pub barrier: u64,
}

// SAFETY: these consist of numbers without gaps, as the assertions say.
unsafe impl Element for RunState {}
// SAFETY: as above.
unsafe impl Element for IterationLog {}
// SAFETY: as above.
unsafe impl Element for Loop {}

const _: () = assert!(size_of::<Rule>() == 40 && size_of::<ReductionCounters>() == 48);
const _: () = assert!(size_of::<RunState>() == 56 + 4 * 48 + 8 * 16);
const _: () = assert!(size_of::<IterationLog>() == 16 && size_of::<Loop>() == 72);
