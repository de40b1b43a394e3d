//! The active set of a run: which messages are computed, and which are stored.
//!
//! A message is stored only if it has moved by more than the threshold. One that is not computed again, since nothing that it reads
//! has been stored, would be what it is: so it does not matter which of these are computed, and all iterations may run as those of
//! other runs do, on all threads. Synchronous iterations and batches of many factors leave nodes out anyway. Where batches have
//! a factor each, or orders are random, one thread can find the messages to compute by [marks](super::marked), which is faster where
//! these are few. That is tried now and then, and goes on for as long as it is.

use super::marked::Marked;
use super::plan::Plan;
use super::state::State;
use super::tuning::Tuning;
use super::workspace::Workspace;
use crate::error::Result;
use crate::kernel::Threshold;
use crate::memory::boxed;
use crate::schedule::Schedule;
use std::time::{Duration, Instant};

/// Estimated nanoseconds of a trial of marks for each edge, until there has been one: two iterations.
const TRIAL: u64 = 60;
/// Iterations by marks in a row that take longer than those by the plan, until these go on. (One may have been interrupted.)
const MOST_SLOW: u32 = 3;
/// The most times as long as a trial that iterations go without marks before the next one.
const MOST_PATIENCE: f64 = 64.0;

/// See the head of this file.
pub(super) struct Active {
    threshold: Threshold,
    marks: Marks,
    next: Next,
    /// How long an iteration by the plan takes.
    by_plan: Option<Duration>,
    /// How long the last trial of marks has taken, and iterations by the plan since.
    trial: Duration,
    since_trial: Duration,
    /// Iterations by marks in a row that took longer than those by the plan.
    slow: u32,
    /// So many times as long as the last trial, iterations go without marks: now, and at first.
    patience: f64,
    first_patience: f64,
    /// How many times as long as by the plan an iteration by marks may take.
    bound: f64,
    /// Whether messages of factors with one variable are stored, or dropped, as they will be in the rest of the run.
    pub(super) constants_settled: bool,
    /// Number of messages that were left out.
    pub(super) spared: u64,
}

/// The means of iterations by marks.
enum Marks {
    /// The plan is always faster, or there is no memory.
    None,
    /// They are made for the first trial.
    Unmade,
    Made(Box<Marked>),
}

/// What the next iteration goes by.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Plan,
    /// By marks, which have all messages computed, since others have changed them.
    AllMarked,
    /// The same for a trial of marks, after that iteration.
    Trial,
    Marks,
}

impl Active {
    /// For a run that has not begun yet, by a schedule with this plan. Errors: no memory.
    pub(super) fn new(
        state: &mut State, plan: &Plan, threshold: f64, tuning: &Tuning,
    ) -> Result<Self> {
        let threshold = Threshold::new(threshold);
        let patience = tuning.patience_without_marks;
        let marks = match plan {
            Plan::Batches(_) if patience.is_finite() => {
                state.require_by_edge()?;
                Marks::Unmade
            }
            _ => Marks::None,
        };
        let trial = Duration::from_nanos(TRIAL.saturating_mul(state.graph.edge_count() as u64));
        Ok(Self {
            threshold,
            next: if patience == 0.0 { Next::AllMarked } else { Next::Plan },
            marks,
            by_plan: None,
            trial,
            since_trial: Duration::ZERO,
            slow: 0,
            patience,
            first_patience: patience,
            bound: tuning.marks_bound,
            constants_settled: false,
            spared: 0,
        })
    }

    /// The threshold, where changes are dropped.
    pub(super) fn threshold(&self) -> Option<Threshold> {
        self.threshold.factor().map(|_| self.threshold)
    }

    /// Whether the next iteration goes by marks.
    pub(super) fn goes_by_marks(&self) -> bool {
        !matches!(self.marks, Marks::None) && self.next != Next::Plan
    }

    /// Somebody else has changed messages, or may have.
    pub(super) fn messages_were_replaced(&mut self) {
        if matches!(self.next, Next::Trial | Next::Marks) {
            self.next = Next::AllMarked;
        }
    }

    /// So many iterations by the plan took so long.
    pub(super) fn ran_by_plan(&mut self, iterations: u64, time: Duration) {
        let each = time / u32::try_from(iterations).unwrap_or(u32::MAX).max(1);
        // A slower one may have been interrupted.
        let smoothed = |before: Duration| each.min((15 * before + each) / 16);
        self.by_plan = Some(self.by_plan.map_or(each, smoothed));
        self.since_trial += time;
        if self.since_trial.as_secs_f64() >= self.trial.as_secs_f64() * self.patience {
            self.next = Next::AllMarked;
        }
    }

    /// Runs an iteration by marks, as [`Marked::run`]; `false`, with nothing done, where there is no memory to make them.
    pub(super) fn run_by_marks(
        &mut self, state: &State, (schedule, tuning): (&Schedule, &Tuning), iteration: u64,
        constants_sent: bool, workspace: &mut Workspace,
    ) -> Result<bool> {
        let begun = Instant::now();
        if let Marks::Unmade = self.marks {
            let made = Marked::new(state, schedule, self.threshold, tuning).and_then(boxed);
            self.marks = made.map_or(Marks::None, Marks::Made);
        }
        let Marks::Made(marks) = &mut self.marks else { return Ok(false) };
        if self.next == Next::AllMarked {
            marks.begin(state);
        }
        let constants_sent = constants_sent && state.threshold.is_none();
        self.spared += marks.run(state, iteration, constants_sent, workspace)?;
        self.ran_by_marks(begun.elapsed());
        Ok(true)
    }

    fn ran_by_marks(&mut self, time: Duration) {
        let is_slower = self.by_plan.is_some_and(|by_plan| time > by_plan.mul_f64(self.bound));
        self.slow = if is_slower { self.slow + 1 } else { 0 };
        self.next = match self.next {
            Next::Plan | Next::AllMarked => {
                self.trial = time;
                Next::Trial
            }
            Next::Trial if is_slower => {
                self.trial += time;
                self.patience = (2.0 * self.patience).min(MOST_PATIENCE);
                Next::Plan
            }
            Next::Marks if self.slow >= MOST_SLOW => Next::Plan,
            Next::Trial | Next::Marks => {
                self.patience = self.first_patience;
                Next::Marks
            }
        };
        if self.next == Next::Plan {
            self.since_trial = Duration::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// An active set whose marks cost nothing to make, after an iteration by the plan.
    fn active() -> Active {
        Active {
            threshold: Threshold::new(0.0),
            marks: Marks::Unmade,
            next: Next::Plan,
            by_plan: None,
            trial: 2 * MS,
            since_trial: Duration::ZERO,
            slow: 0,
            patience: 4.0,
            first_patience: 4.0,
            bound: 1.0,
            constants_settled: false,
            spared: 0,
        }
    }

    /// Runs iterations by the plan until the next one goes by marks, and returns their number.
    fn until_trial(active: &mut Active) -> u64 {
        let mut count = 0;
        while !active.goes_by_marks() {
            active.ran_by_plan(1, MS);
            count += 1;
        }
        count
    }

    #[test]
    fn marks_that_are_slower_are_tried_less_and_less_often() {
        let mut active = active();
        assert_eq!(until_trial(&mut active), 8);
        for expected in [40, 80, 160, 320, 320] {
            active.ran_by_marks(3 * MS);
            active.ran_by_marks(2 * MS);
            assert!(!active.goes_by_marks());
            assert_eq!(until_trial(&mut active), expected);
        }
    }

    #[test]
    fn marks_that_are_faster_go_on_until_they_are_not() {
        let mut active = active();
        until_trial(&mut active);
        active.ran_by_marks(3 * MS);
        for _ in 0..100 {
            active.ran_by_marks(MS / 2);
            assert!(active.goes_by_marks());
        }
        // One that takes longer may have been interrupted.
        for slow in [true, true, false, true, true, true] {
            assert!(active.goes_by_marks());
            active.ran_by_marks(if slow { 2 * MS } else { MS / 2 });
        }
        assert!(!active.goes_by_marks());
        // The trial was worth while, and its first iteration took three.
        assert_eq!(until_trial(&mut active), 12);
    }

    #[test]
    fn iterations_at_once_count_as_so_many() {
        let mut active = active();
        active.ran_by_plan(7, 7 * MS);
        assert!(!active.goes_by_marks());
        assert_eq!(active.by_plan, Some(MS));
        active.ran_by_plan(2, 2 * MS);
        assert!(active.goes_by_marks());
    }

    #[test]
    fn without_marks_all_iterations_go_by_the_plan() {
        let mut active = Active { marks: Marks::None, ..active() };
        (0..100).for_each(|_| active.ran_by_plan(1, MS));
        assert!(!active.goes_by_marks());
    }
}
