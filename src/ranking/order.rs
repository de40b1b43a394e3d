//! The order of alarms: by falling probability, those of equal probability by name.

use crate::error::Result;
use crate::format::six_digits;
use crate::memory::{Grow, collected, filled, room};
use crate::session::BeliefPropagation;
use std::cmp::Ordering;

/// When probabilities count as equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// When their first six significant digits are equal: BINGO compares probabilities as its protocol prints them.
    #[default]
    SixDigits,
    /// When they are the same number.
    Exact,
}

/// A ranked alarm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// Its place in the list of alarms.
    pub alarm: usize,
    /// The probability that it is true, with all digits.
    pub probability: f64,
}

impl Precision {
    /// The number by which probabilities are compared.
    fn key(self, probability: f64) -> f64 {
        match self {
            Precision::Exact => probability,
            Precision::SixDigits => six_digits(probability).parse().unwrap_or(probability),
        }
    }
}

/// Ranks of alarms of equal probability: named ones by name, byte by byte, as Python compares strings; before them
/// unnamed ones by their variables, and so are those of one name.
pub(super) fn rank_of_ties(alarms: &[(Option<&str>, usize)]) -> Result<Vec<u32>> {
    let mut order: Vec<u32> = collected(0..alarms.len() as u32)?;
    order.sort_unstable_by_key(|&alarm| alarms[alarm as usize]);
    let mut ranks = filled(alarms.len(), 0)?;
    for (rank, alarm) in (0..).zip(order) {
        ranks[alarm as usize] = rank;
    }
    Ok(ranks)
}

/// The alarms by the probabilities of the last run, the most probable first. `alarms` has the place of each in the
/// list of all, and its variable.
pub(super) fn rank(
    session: &BeliefPropagation, alarms: impl Iterator<Item = (usize, usize)>, ties: &[u32],
    precision: Precision,
) -> Result<Vec<Ranked>> {
    let mut keyed: Vec<(f64, Ranked)> = room(alarms.size_hint().0)?;
    for (alarm, variable) in alarms {
        let probability = session.probability(variable)?;
        keyed.try_push((precision.key(probability), Ranked { alarm, probability }))?;
    }
    keyed.sort_unstable_by(|(a, one), (b, other)| match b.total_cmp(a) {
        Ordering::Equal => ties[one.alarm].cmp(&ties[other.alarm]),
        order => order,
    });
    collected(keyed.into_iter().map(|(_, ranked)| ranked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_by_name() {
        let alarms = [(Some("b"), 0), (None, 3), (Some("a10"), 1), (Some("a9"), 2), (None, 2)];
        assert_eq!(rank_of_ties(&alarms).unwrap(), [4, 1, 2, 3, 0]);
    }

    #[test]
    fn six_digits_make_ties() {
        let (low, high) = (0.123_456_1, 0.123_456_4);
        assert_eq!(Precision::SixDigits.key(low), Precision::SixDigits.key(high));
        assert!(Precision::Exact.key(low) < Precision::Exact.key(high));
        assert!(Precision::SixDigits.key(1e-300) > 0.0);
    }
}
