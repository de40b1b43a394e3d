//! All values of a factor, as a table has them.

use super::Factor;
use crate::error::Result;
use crate::kernel::ExtendedFloat;
use crate::memory::{filled, room};

/// Steps to the next joint state, the first variable fastest; `false`, at all zeros, after the last.
pub(crate) fn next_joint_state(states: &mut [usize], cardinalities: &[usize]) -> bool {
    for (state, &cardinality) in states.iter_mut().zip(cardinalities) {
        *state += 1;
        if *state < cardinality {
            return true;
        }
        *state = 0;
    }
    false
}

impl Factor<'_> {
    /// The values at all joint states, the first variable fastest; `None` where they are more than `limit`.
    /// O(entries * arity). Errors: no memory.
    pub(crate) fn all_values(
        &self, cardinalities: &[usize], limit: usize,
    ) -> Result<Option<Vec<ExtendedFloat>>> {
        let size = cardinalities.iter().try_fold(1_usize, |size, &r| size.checked_mul(r));
        let Some(size) = size.filter(|&size| size <= limit) else { return Ok(None) };
        let mut states = filled(cardinalities.len(), 0)?;
        let mut values = room(size)?;
        self.each_value(cardinalities, &mut states, |value| values.push(value));
        Ok(Some(values))
    }

    /// Calls `see` with the value at each joint state, the first variable fastest. `states` has a zero for each
    /// variable, also afterwards. O(entries * arity).
    pub(crate) fn each_value(
        &self, cardinalities: &[usize], states: &mut [usize], mut see: impl FnMut(ExtendedFloat),
    ) {
        loop {
            see(self.extended_value(states, cardinalities.iter().copied()));
            if !next_joint_state(states, cardinalities) {
                break;
            }
        }
    }
}
