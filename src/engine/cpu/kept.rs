//! The messages before the last iteration, from which follows what was not measured then.

use super::measure::Tracker;
use super::state::{Contradictions, State};
use super::synchronous::Synchronous;
use super::team::Team;
use super::values::Values;
use crate::error::Result;
use crate::kernel::EncodedMessage;

/// See the head of this file.
pub(super) struct Kept {
    before: Values,
    /// Whether these are those before the last iteration.
    has_kept: bool,
}

impl Kept {
    /// Errors: no memory.
    pub(super) fn new(state: &State) -> Result<Self> {
        let before = Values::new(state.to_variable.len(), EncodedMessage::ONE)?;
        Ok(Self { before, has_kept: false })
    }

    /// Before an iteration: keeps the messages, if they may be wanted.
    pub(super) fn keep(&mut self, state: &State, team: &Team, is_wanted: bool) {
        self.has_kept = is_wanted;
        if is_wanted {
            let length = self.before.len();
            team.run(|worker| {
                self.before.copy_range_from(&state.to_variable, worker.share(length));
            });
        }
    }

    /// Gives the tracker the beliefs of variables before the last iteration; `false` if they are not known here.
    pub(super) fn recall_beliefs(
        &mut self, state: &mut State, tracker: &Tracker, synchronous: &Synchronous, team: &mut Team,
    ) -> bool {
        if self.has_kept {
            std::mem::swap(&mut self.before, &mut state.to_variable);
            tracker.beliefs_moved(state, synchronous, team, false, None);
            std::mem::swap(&mut self.before, &mut state.to_variable);
        }
        self.has_kept
    }

    /// Gives the tracker what it measures of factors before the last iteration, if it is known here.
    pub(super) fn recall_factors(
        &mut self, state: &mut State, tracker: &Tracker, synchronous: &mut Synchronous,
        team: &mut Team,
    ) {
        if !self.has_kept {
            return;
        }
        std::mem::swap(&mut self.before, &mut state.to_variable);
        synchronous.messages_were_replaced();
        synchronous.update_all_to_factors(state, team);
        tracker.factors_moved(state, synchronous, team, true);
        synchronous.messages_were_replaced();
        team.collect(|w| w.contradictions = Contradictions::default());
        std::mem::swap(&mut self.before, &mut state.to_variable);
    }
}
