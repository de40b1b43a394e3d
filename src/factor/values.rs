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
        for _ in 0..size {
            values.push(self.extended_value(&states, cardinalities.iter().copied()));
            next_joint_state(&mut states, cardinalities);
        }
        Ok(Some(values))
    }
}
