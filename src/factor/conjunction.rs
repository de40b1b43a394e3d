//! What the conjunctions of literals of `prior.rs`, `horn.rs` and `signed.rs` share. Their messages are those of
//! `kernel/horn.rs`. Engines keep the coefficients of all conjunctions of a graph and have paths of their own for
//! them; the views compute theirs anew for single messages.

use super::{Stores, Update};
use crate::error::Result;
use crate::kernel::{HornCoefficients, HornScratch, horn_message, horn_messages};
use crate::memory::{NoMemory, room};

impl Stores {
    /// The coefficients of all conjunctions of literals, by
    /// [`FactorGraph::conjunction_parameter`](crate::model::FactorGraph::conjunction_parameter).
    pub(crate) fn coefficients(&self) -> Result<Vec<HornCoefficients>> {
        let (horn, signed) = (self.horn.entries(), self.signed.entries());
        let mut coefficients = room(horn.len() + signed.len())?;
        coefficients.extend(horn.iter().map(HornCoefficients::of_horn));
        for parameters in signed {
            coefficients.push(HornCoefficients::of_signed(parameters)?);
        }
        Ok(coefficients)
    }
}

/// [`Kind::messages`](super::kind::Kind::messages) of a conjunction of literals.
pub(super) fn conjunction_messages(
    head: usize, c: &HornCoefficients, update: Update<'_>, scratch: &mut HornScratch,
) -> Result<(), NoMemory> {
    let Update { incoming, inference, out, .. } = update;
    match update.target {
        None => horn_messages(incoming, head, c, inference, out, scratch),
        Some(target) => {
            out[0] = horn_message(incoming, head, target, c, inference, scratch)?;
            Ok(())
        }
    }
}

/// Whether a conjunction whose body can hold, and can fail, excludes every joint state.
pub(super) fn all_zero(can_hold: bool, can_fail: bool, [h1, h0, f1, f0]: [f64; 4]) -> bool {
    !(can_hold && (h1 > 0.0 || h0 > 0.0) || can_fail && (f1 > 0.0 || f0 > 0.0))
}
