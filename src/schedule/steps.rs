//! The steps of a dependency analysis. Tests count them, to hold their number against that of the edges; outside of tests,
//! counting does nothing.
//!
//! A step looks at one edge, one variable of a factor, or one factor of a variable.

#[cfg(not(test))]
#[inline]
pub(super) fn count_steps(_: usize) {}

#[cfg(test)]
pub(super) use counter::{count_steps, take_steps};

#[cfg(test)]
mod counter {
    use std::cell::Cell;

    thread_local! {
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    pub fn count_steps(steps: usize) {
        STEPS.set(STEPS.get() + steps as u64);
    }

    /// The steps of this thread since this was called last.
    pub fn take_steps() -> u64 {
        STEPS.take()
    }
}
