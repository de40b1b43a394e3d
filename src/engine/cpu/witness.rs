//! Where a run ends when no belief of a variable moves by more than a tolerance, one that has moved by more shows that it
//! does not end yet: the variable that moved most when all were last measured. The others are measured only where that one
//! does not move by more, or the run ends; those before the last iteration come from the messages, which are [kept](super::kept).
//!
//! So a run has as many iterations, and at its end the same largest change, as if all were measured after each. Meanwhile, the
//! largest change is not known, but for a bound.
//!
//! BINGO's rule looks at messages to factors, too, and at the share of nodes that move, which ends no run before some number of
//! iterations; and the means that it gives are of the last beliefs. So a witness is enough in the iterations before these. In the
//! others, factors are left out where so many variables move, or variables and factors that have moved for certain (see
//! `single_inputs`), that the run goes on whatever the others do.

use super::state::State;
use super::variable::{belief, filled_with_zeros};
use super::workspace::{Movement, Workspace};
use crate::engine::StopRule;
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
    /// Whether only the witness was measured after the last iteration.
    is_alone: bool,
}

impl Witness {
    pub(super) fn new(tolerance: f64, until: u64) -> Self {
        Self { tolerance, until, variable: None, belief: Vec::new(), is_alone: false }
    }

    /// The last iteration after which it may be enough.
    pub(super) fn until(&self) -> u64 {
        self.until
    }

    /// The last iteration after which a witness may be enough for a rule, where the largest change is all that may end a run and
    /// nothing else is wanted; 0 if it never is.
    pub(super) fn enough_until(rule: &StopRule) -> u64 {
        match *rule {
            // (Beliefs of factors end no run while those of variables move.)
            StopRule::Tolerance { .. } | StopRule::AllBeliefs { .. } => u64::MAX,
            // The share is looked at after more than so many iterations, and means are of the last ones.
            StopRule::Bingo { min_iterations, history, .. } => {
                min_iterations.saturating_add(1).saturating_sub(history)
            }
            StopRule::Iterations(_) => 0,
        }
    }

    /// Whether only the witness was measured after the last iteration.
    pub(super) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Whether a variable may be enough after the next iteration, and the others are to be known from the messages before it.
    pub(super) fn is_chosen(&self) -> bool {
        self.variable.is_some()
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
}
