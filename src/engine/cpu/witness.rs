//! Where a run ends when no belief of a variable moves by more than a tolerance, one that has moved by more shows that it
//! does not end yet: the variable that moved most when all were last measured. The others are measured only where that one
//! does not move by more, or the run ends; those before the last iteration come from the messages, which are kept.
//!
//! So a run has as many iterations, and at its end the same largest change, as if all were measured after each. Meanwhile, the
//! largest change is not known, but for a bound.
//!
//! BINGO's rule looks at messages to factors, too, and at the share of nodes that move, which ends no run before some number of
//! iterations; and the means that it gives are of the last beliefs. So a witness is enough in the iterations before these. In the
//! others, factors are left out where so many variables move, or variables and factors that have moved for certain (see
//! `single_inputs`), that the run goes on whatever the others do.

use super::measure::Tracker;
use super::state::{Contradictions, State};
use super::synchronous::Synchronous;
use super::team::Team;
use super::values::Values;
use super::variable::{belief, filled_with_zeros};
use super::workspace::{Movement, Workspace};
use crate::engine::StopRule;
use crate::error::Result;
use crate::kernel::EncodedMessage;
use crate::memory::NoMemory;

/// Variables are all measured where none has moved by more than so many times the tolerance. Beliefs then soon move by less, and
/// a witness that fails costs two measurements.
const LEAST_MOVE: f64 = 8.0;

/// See the head of this file.
pub(super) struct Witness {
    tolerance: f64,
    /// The last iteration after which it may be enough.
    until: u64,
    /// The variable, and its belief after the last iteration.
    variable: Option<usize>,
    belief: Vec<f64>,
    /// The messages before the last iteration, if they were kept.
    before: Values,
    has_kept: bool,
    /// Whether only the witness was measured after the last iteration.
    is_alone: bool,
}

impl Witness {
    /// Errors: no memory.
    pub(super) fn new(state: &State, tolerance: f64, until: u64) -> Result<Self> {
        let before = Values::new(state.to_variable.len(), EncodedMessage::ONE)?;
        Ok(Self {
            tolerance,
            until,
            variable: None,
            belief: Vec::new(),
            before,
            has_kept: false,
            is_alone: false,
        })
    }

    /// The last iteration after which it may be enough.
    pub(super) fn until(&self) -> u64 {
        self.until
    }

    /// The last iteration after which a witness may be enough for a rule, where the largest change is all that may end a run and
    /// nothing else is wanted; 0 if it never is.
    pub(super) fn enough_until(rule: &StopRule) -> u64 {
        match *rule {
            StopRule::Tolerance { .. } => u64::MAX,
            // The share is looked at after more than so many iterations, and means are of the last ones.
            StopRule::Bingo { min_iterations, history, .. } => {
                min_iterations.saturating_add(1).saturating_sub(history)
            }
            StopRule::Iterations(_) | StopRule::AllBeliefs { .. } => 0,
        }
    }

    /// Whether only the witness was measured after the last iteration.
    pub(super) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Before an iteration: keeps the messages, if there is a witness, or if factors were left out after the last one.
    pub(super) fn keep(&mut self, state: &State, team: &Team, factors_left_out: bool) {
        self.has_kept = self.variable.is_some() || factors_left_out;
        if self.has_kept {
            let length = self.before.len();
            team.run(|worker| {
                self.before.copy_range_from(&state.to_variable, worker.share(length));
            });
        }
    }

    /// After so many iterations: how far the witness moved in the last, if that is enough, and more than the tolerance. Else all
    /// have to be measured.
    pub(super) fn moved(
        &mut self, state: &State, iterations: u64, workspace: &mut Workspace,
    ) -> Result<Option<f64>, NoMemory> {
        self.is_alone = false;
        let Some(variable) = self.variable.filter(|_| iterations <= self.until) else {
            return Ok(None);
        };
        let mut now = std::mem::take(&mut workspace.probabilities);
        filled_with_zeros(&mut now, self.belief.len())?;
        belief(state, variable, workspace, &mut now);
        let moves = now.iter().zip(&self.belief).map(|(now, before)| (now - before).abs());
        let diff = moves.fold(0.0, f64::max);
        std::mem::swap(&mut now, &mut self.belief);
        workspace.probabilities = now;
        self.is_alone = diff > self.tolerance;
        Ok(self.is_alone.then_some(diff))
    }

    /// All variables have been measured after so many iterations, with such a result: chooses the next witness.
    pub(super) fn choose(
        &mut self, state: &State, iterations: u64, movement: Movement, workspace: &mut Workspace,
    ) -> Result<(), NoMemory> {
        self.is_alone = false;
        self.variable = None;
        if movement.max_diff > LEAST_MOVE * self.tolerance && iterations < self.until {
            let variable = movement.most;
            filled_with_zeros(&mut self.belief, state.graph.cardinality(variable))?;
            belief(state, variable, workspace, &mut self.belief);
            self.variable = Some(variable);
        }
        Ok(())
    }

    /// Gives the tracker the beliefs before the last iteration; `false` if they are not known here.
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

    /// Gives the tracker the messages to factors before the last iteration, if they are known here.
    pub(super) fn recall_inputs(
        &mut self, state: &mut State, tracker: &Tracker, synchronous: &mut Synchronous,
        team: &mut Team,
    ) {
        if !self.has_kept {
            return;
        }
        std::mem::swap(&mut self.before, &mut state.to_variable);
        synchronous.messages_were_replaced();
        synchronous.update_all_to_factors(state, team);
        tracker.factors_moved(state, synchronous, team, false);
        synchronous.messages_were_replaced();
        team.collect(|w| w.contradictions = Contradictions::default());
        std::mem::swap(&mut self.before, &mut state.to_variable);
    }
}
