//! Random choices by arithmetic that is the same on every machine.

use crate::error::Result;
use crate::memory;
use crate::model::Label;
use crate::schedule::SplitMix64;

/// Random choices by integer arithmetic.
pub(super) struct Choices(SplitMix64);

impl Choices {
    /// `stream` keeps the choices for different shapes apart.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let key = SplitMix64(seed).next() ^ stream;
        Self(SplitMix64(SplitMix64(key).next()))
    }

    /// A number below `bound` > 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// A number from 1 to `highest` > 0 with a probability about inverse to its size: each power of
    /// two up to the next is as likely as any other.
    pub(super) fn skewed(&mut self, highest: usize) -> usize {
        let power = 1_usize << self.below(highest.ilog2() as usize + 1);
        power + self.below(power.min(highest - power + 1))
    }

    /// A value by its weight.
    pub(super) fn weighted(&mut self, values: &[(usize, usize)]) -> usize {
        let total = values.iter().map(|&(_, weight)| weight).sum();
        let mut left = self.below(total);
        for &(value, weight) in values {
            if left < weight {
                return value;
            }
            left -= weight;
        }
        0
    }

    /// The numbers below `count` in random order (Fisher and Yates).
    pub(super) fn permutation(&mut self, count: usize) -> Result<Vec<Label>> {
        let mut numbers = memory::collected(0..count as Label)?;
        for last in (1..count).rev() {
            let chosen = self.below(last + 1);
            numbers.swap(last, chosen);
        }
        Ok(numbers)
    }

    /// Puts random ones of `numbers` into its first `count` places.
    pub(super) fn shuffle_first(&mut self, numbers: &mut [Label], count: usize) {
        for place in 0..count {
            let chosen = place + self.below(numbers.len() - place);
            numbers.swap(place, chosen);
        }
    }

    /// c or 1/c, each as likely, for a c from 1 up to, but not including, 1 + `parts`/1024. The quotient is correctly
    /// rounded everywhere.
    pub(super) fn ratio(&mut self, parts: usize) -> f64 {
        let ratio = 1.0 + self.below(parts) as f64 / 1024.0;
        if self.one_in(2) { 1.0 / ratio } else { ratio }
    }

    /// A probability from 1/8 up to, but not including, 7/8.
    pub(super) fn probability(&mut self) -> f64 {
        (128 + self.below(768)) as f64 / 1024.0
    }
}
