//! Walks through the entries of a table that tell where the same states are in another one.

use crate::error::Result;
use crate::memory::{Grow, filled};

/// Where the joint states of some variables are in a table over some of them, or over them and others.
pub(super) struct Walk {
    radices: Vec<usize>,
    /// By how much the place changes with the state of each variable; 0 for one that is not in the other table.
    strides: Vec<usize>,
    states: Vec<usize>,
    place: usize,
}

impl Walk {
    /// Through the joint states of variables with so many states, the first one fastest. `inner` has the positions, among
    /// these, of the variables of the smaller table in their order.
    pub(super) fn new(
        radices: impl IntoIterator<Item = usize>, inner: impl IntoIterator<Item = usize>,
    ) -> Result<Self> {
        let mut all = Vec::new();
        all.try_extend(radices)?;
        let mut strides = filled(all.len(), 0)?;
        let mut stride = 1;
        for position in inner {
            strides[position] = stride;
            stride *= all[position];
        }
        Ok(Self { states: filled(all.len(), 0)?, radices: all, strides, place: 0 })
    }

    /// Through the joint states of variables with so many states, each with its stride in the other table.
    pub(super) fn with_strides(variables: impl Iterator<Item = (usize, usize)>) -> Result<Self> {
        let (mut radices, mut strides) = (Vec::new(), Vec::new());
        for (radix, stride) in variables {
            radices.try_push(radix)?;
            strides.try_push(stride)?;
        }
        Ok(Self { states: filled(radices.len(), 0)?, radices, strides, place: 0 })
    }

    /// The place of the current joint state; steps to the next one, and after the last one to the first.
    #[inline]
    pub(super) fn step(&mut self) -> usize {
        let place = self.place;
        for (position, state) in self.states.iter_mut().enumerate() {
            self.place += self.strides[position];
            *state += 1;
            if *state < self.radices[position] {
                break;
            }
            self.place -= self.strides[position] * self.radices[position];
            *state = 0;
        }
        place
    }
}
