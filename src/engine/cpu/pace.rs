//! Whether lanes, synchronous iterations and batches of many factors run on their threads or on one, by how long either took.
//!
//! Threads that wait for each other need a core each. Where other programs have the cores, a thread that is waited for may not
//! run for milliseconds, and an iteration that takes one thread a millisecond takes several a second. Two threads may also
//! be two halves of one core. So one thread runs the first iterations, for comparison; threads that take longer than twice as
//! long give an iteration up, which one thread then ends; and after that, or where threads are not faster for some iterations,
//! one thread runs iterations for a while, each time for longer. Synchronous iterations of small graphs, and batches of many
//! factors there, are compared in the same way, but not given up. What is computed does not depend on it.

use super::tuning::Tuning;
use std::time::Duration;

/// Iterations on one thread after threads have been slower for the first time, and at most. A trial that fails takes some
/// three iterations.
const FIRST_WAIT: u64 = 32;
const LONGEST_WAIT: u64 = 4096;

/// Iterations on all threads after which earlier failures are forgotten.
const TRUSTED: u64 = 256;

/// Where threads are but little faster than one thread was, one iteration in so many is run by one, which may have become
/// faster.
const COMPARED_EVERY: u64 = 256;
/// What counts as little.
const LITTLE: f64 = 0.7;

/// Iterations in a row in which threads were slower than one, until one runs them.
const PATIENCE: u32 = 3;

/// Threads are given this much longer than twice the time of one, since a time this short says little.
const SLACK: Duration = Duration::from_micros(100);

/// See the head of this file.
pub(super) struct Pace {
    /// How much longer than one thread all may take; without a bound, they run all iterations.
    bound: f64,
    /// How long one thread takes for an iteration.
    alone: Option<Duration>,
    /// Iterations that one thread runs next, and so many the next time that threads are slower.
    wait: u64,
    next_wait: u64,
    /// Iterations in a row in which threads were slower, or were not.
    slow: u32,
    fast: u64,
    /// Iterations since one thread ran the last one.
    since_alone: u64,
}

impl Pace {
    pub(super) fn new(tuning: &Tuning) -> Self {
        Self::after(tuning.first_alone, tuning)
    }

    /// As [`Self::new`], after so many iterations on one thread.
    pub(super) fn after(first_alone: u64, tuning: &Tuning) -> Self {
        let bound = tuning.given_up;
        Self {
            bound,
            alone: None,
            wait: first_alone,
            next_wait: FIRST_WAIT,
            slow: 0,
            fast: 0,
            since_alone: 0,
        }
    }

    /// The time that threads have for so many iterations; `None` if one thread is to run them.
    pub(super) fn limit(&self, iterations: u64) -> Option<Duration> {
        if self.bound == f64::INFINITY {
            return Some(Duration::MAX);
        }
        let alone = self.alone.filter(|_| self.wait == 0)?;
        let slack = if self.bound > 0.0 { SLACK } else { Duration::ZERO };
        let iterations = u32::try_from(iterations).unwrap_or(u32::MAX);
        Some((alone.mul_f64(self.bound) + slack).saturating_mul(iterations))
    }

    /// An iteration took so long, on one thread or on all.
    pub(super) fn ran(&mut self, is_alone: bool, time: Duration) {
        if is_alone {
            self.ran_alone(time);
        } else {
            self.ran_together(1, time, false);
        }
    }

    /// One thread took so long for an iteration.
    pub(super) fn ran_alone(&mut self, time: Duration) {
        self.wait = self.wait.saturating_sub(1);
        self.since_alone = 0;
        // A slower one may have been interrupted.
        self.alone = Some(self.alone.map_or(time, |alone| time.min((15 * alone + time) / 16)));
    }

    /// All threads took so long for some iterations, or gave them up.
    pub(super) fn ran_together(&mut self, iterations: u64, time: Duration, given_up: bool) {
        let each = time / u32::try_from(iterations).unwrap_or(u32::MAX).max(1);
        if !given_up && self.alone.is_none_or(|alone| each <= alone) {
            self.slow = 0;
            self.since_alone += iterations;
            let is_little = self.alone.is_some_and(|alone| each > alone.mul_f64(LITTLE));
            if is_little && self.since_alone >= COMPARED_EVERY && self.bound.is_finite() {
                self.wait = 1;
            }
            self.fast += iterations;
            if self.fast >= TRUSTED {
                self.next_wait = FIRST_WAIT;
            }
            return;
        }
        self.fast = 0;
        self.slow += 1;
        if given_up || self.slow >= PATIENCE {
            self.slow = 0;
            self.wait = self.next_wait;
            self.next_wait = (2 * self.next_wait).min(LONGEST_WAIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// After the iterations on one thread.
    fn pace() -> Pace {
        let mut pace = Pace::new(&Tuning { given_up: 2.0, ..Tuning::MEASURED });
        (0..Tuning::MEASURED.first_alone).for_each(|_| pace.ran_alone(MS));
        pace
    }

    #[test]
    fn one_thread_runs_the_first_iterations_and_threads_have_twice_its_time() {
        let mut pace = Pace::new(&Tuning { given_up: 2.0, ..Tuning::MEASURED });
        for time in [3 * MS, MS, 2 * MS] {
            assert_eq!(pace.limit(1), None);
            pace.ran_alone(time);
        }
        let alone = MS + MS / 16;
        assert_eq!(pace.limit(1), Some(2 * alone + SLACK));
        assert_eq!(pace.limit(3), Some(3 * (2 * alone + SLACK)));
    }

    #[test]
    fn threads_that_give_up_wait_longer_each_time() {
        let mut pace = pace();
        for wait in [32, 64, 128] {
            pace.ran_together(1, 5 * MS, true);
            for _ in 0..wait {
                assert_eq!(pace.limit(1), None);
                pace.ran_alone(MS);
            }
            assert!(pace.limit(1).is_some());
        }
        // Until they have been faster for long.
        pace.ran_together(TRUSTED, MS, false);
        pace.ran_together(1, 5 * MS, true);
        (0..32).for_each(|_| pace.ran_alone(MS));
        assert!(pace.limit(1).is_some());
    }

    #[test]
    fn threads_that_are_slower_several_times_leave_it_to_one() {
        let mut pace = pace();
        for slow in [true, true, false, true, true] {
            pace.ran_together(1, if slow { MS * 3 / 2 } else { MS / 2 }, false);
            assert!(pace.limit(1).is_some());
        }
        pace.ran_together(1, MS * 3 / 2, false);
        assert_eq!(pace.limit(1), None);
    }

    #[test]
    fn threads_that_are_little_faster_are_compared_with_one_now_and_then() {
        let mut pace = pace();
        pace.ran_together(COMPARED_EVERY, (MS * 8 / 10) * COMPARED_EVERY as u32, false);
        assert_eq!(pace.limit(1), None);
        // One thread is faster by now.
        pace.ran_alone(MS / 2);
        for _ in 0..PATIENCE {
            assert!(pace.limit(1).is_some());
            pace.ran_together(1, MS * 8 / 10, false);
        }
        assert_eq!(pace.limit(1), None);
    }
}
