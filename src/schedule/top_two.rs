//! A leave-one-out maximum: the two highest levels by distinct owners give the highest level without any one
//! owner.

use super::steps::count_steps;

/// The two highest levels by distinct owners (factors or variables).
#[derive(Clone, Copy, Debug)]
pub(super) struct TopTwo {
    first: u32,
    owner: u32,
    second: u32,
}

impl TopTwo {
    pub const NONE: Self = Self { first: 0, owner: u32::MAX, second: 0 };

    /// Takes in a level of `owner`.
    #[inline]
    pub fn raise(&mut self, owner: u32, level: u32) {
        count_steps(1);
        if owner == self.owner {
            self.first = self.first.max(level);
        } else if level > self.first {
            *self = Self { first: level, owner, second: self.first };
        } else {
            self.second = self.second.max(level);
        }
    }

    /// The highest level of all owners but this one, 0 if there is none.
    #[inline]
    pub fn without(&self, owner: u32) -> u32 {
        if owner == self.owner { self.second } else { self.first }
    }
}
