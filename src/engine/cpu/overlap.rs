//! How many iterations lanes run at once, where nobody looks at the messages between them, and the messages before these.
//!
//! A run counts contradictions after each iteration, and its caller may end it after any. Neither is usual, so iterations are
//! run at once as if neither happened, and if one does, the messages from before are put back and the iterations repeated one
//! by one: what a run returns does not depend on it.

use super::state::State;
use super::values::Values;
use crate::error::Result;
use crate::kernel::EncodedMessage;
use crate::memory::room;
use std::time::Duration;

/// About the longest time for which iterations run at once: that soon a run is cancelled, or ends by its limit.
const LONGEST: Duration = Duration::from_millis(4);
/// The most iterations at once: there is nothing left to gain from more.
const MOST: u64 = 64;

/// See the head of this file.
pub(super) struct Overlap {
    /// The stored messages, and those last computed where they differ.
    to_variable: Vec<EncodedMessage>,
    newest: Vec<EncodedMessage>,
    /// Number of iterations at once the next time, if they take no longer than [`LONGEST`].
    count: u64,
    /// How long the last iteration took.
    each: Duration,
    /// Iterations that are made one by one before it is tried again, and so many the next time that it fails.
    wait: u64,
    next_wait: u64,
}

impl Overlap {
    /// For a run with the current settings of the state. Allocates all that is needed.
    pub(super) fn new(state: &State) -> Result<Self> {
        let to_variable = room(state.to_variable.len())?;
        let newest = room(state.newest.len())?;
        Ok(Self { to_variable, newest, count: 2, each: Duration::ZERO, wait: 0, next_wait: 8 })
    }

    /// Number of iterations to run at once where so many may be; `None` if the next one is made alone.
    pub(super) fn next(&mut self, allowed: u64) -> Option<u64> {
        if self.wait > 0 {
            self.wait -= 1;
            return None;
        }
        let soon = LONGEST.as_nanos() / self.each.as_nanos().max(1);
        let count = self.count.min(allowed).min(u64::try_from(soon).unwrap_or(u64::MAX));
        (count > 1).then_some(count)
    }

    /// Keeps the messages.
    pub(super) fn keep(&mut self, state: &State) {
        for (kept, values) in self.kept(state) {
            kept.clear();
            kept.extend(values.slice(0..values.len()));
        }
    }

    /// Puts the messages back that were kept last.
    pub(super) fn put_back(&mut self, state: &State) {
        for (kept, values) in self.kept(state) {
            for (index, &message) in kept.iter().enumerate() {
                values.set(index, message);
            }
        }
    }

    fn kept<'a>(&'a mut self, state: &'a State) -> [(&'a mut Vec<EncodedMessage>, &'a Values); 2] {
        [(&mut self.to_variable, &state.to_variable), (&mut self.newest, &state.newest)]
    }

    /// An iteration was made alone in this time.
    pub(super) fn made_one(&mut self, time: Duration) {
        self.each = time;
    }

    /// So many iterations were run at once in this time.
    pub(super) fn succeeded(&mut self, count: u64, time: Duration) {
        self.next_wait = 8;
        self.each = time / u32::try_from(count).unwrap_or(u32::MAX);
        self.count = (2 * count).min(MOST);
    }

    /// They had to be repeated.
    pub(super) fn failed(&mut self) {
        self.count = 2;
        self.wait = self.next_wait;
        self.next_wait = self.next_wait.saturating_mul(2);
    }
}
