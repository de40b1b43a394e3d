//! Conjunctions: AND, OR, clauses.

use super::class::{Class, Recognised};
use crate::error::Result;
use crate::memory::{filled, room};
use crate::model::TableStructure as Structure;

/// From this arity on, a few entries are looked at before all of them.
const PROBED_ARITY: usize = 6;

/// The structure of a binary variable's table.
pub(super) fn single(values: &[f64]) -> Result<Structure> {
    let (f0, f1) = (values[0], values[1]);
    Ok(Structure::Conjunction { head: 0, negated: filled(1, false)?, values: [f1, f0, f1, f0] })
}

/// The table of two or more binary variables as a conjunction, if it is one.
///
/// Every table of two variables is one. O(entries * arity) at worst.
pub(super) fn recognise(values: &[f64], arity: usize) -> Option<Result<Recognised>> {
    if arity == 2 {
        return Some(of_two(values));
    }
    (0..arity).find_map(|head| {
        let pairs = Pairs { values, head };
        let usual = pairs.usual()?;
        if arity >= PROBED_ARITY && !pairs.plausible(usual) {
            return None;
        }
        let special = pairs.only_other_than(usual)?;
        Some(match special {
            None => conjunction(arity, head, usize::MAX, usual, usual),
            Some(at) => conjunction(arity, head, at, pairs.pair(at), usual),
        })
    })
}

/// The first variable is the head. The literal is the one that makes the failing pair equal, if one
/// does: a clause then shows.
fn of_two(values: &[f64]) -> Result<Recognised> {
    let pairs = Pairs { values, head: 0 };
    let (at0, at1) = (pairs.pair(0), pairs.pair(1));
    if at1.0 == at1.1 && at0.0 != at0.1 {
        conjunction(2, 0, 0, at0, at1)
    } else {
        conjunction(2, 0, 1, at1, at0)
    }
}

/// `holds_at`: the states of the body where it holds, one bit per variable without the head.
fn conjunction(
    arity: usize, head: usize, holds_at: usize, holds: (f64, f64), fails: (f64, f64),
) -> Result<Recognised> {
    let mut negated = room(arity)?;
    let mut states = holds_at;
    for position in 0..arity {
        if position == head {
            negated.push(false);
        } else {
            negated.push(states & 1 == 0);
            states >>= 1;
        }
    }
    let negative = negated.iter().filter(|&&negated| negated).count();
    let class = if fails.0 == fails.1 && (holds.0 == fails.0 || holds.1 == fails.0) {
        Class::Clause
    } else if negative == 0 {
        Class::And
    } else if negative + 1 == arity {
        Class::Or
    } else {
        Class::Conjunction
    };
    let values = [holds.0, holds.1, fails.0, fails.1];
    Ok(Recognised { structure: Structure::Conjunction { head, negated, values }, class })
}

/// A table as pairs (f(h=1), f(h=0)), one for each joint state of the body.
struct Pairs<'a> {
    values: &'a [f64],
    head: usize,
}

impl Pairs<'_> {
    fn pair(&self, body: usize) -> (f64, f64) {
        let low = body & ((1 << self.head) - 1);
        let at = ((body ^ low) << 1) | low;
        (self.values[at | 1 << self.head], self.values[at])
    }

    /// The pair that all but one must equal: what two of the first three agree on.
    fn usual(&self) -> Option<(f64, f64)> {
        let (first, second, third) = (self.pair(0), self.pair(1), self.pair(2));
        if first == second || first == third {
            Some(first)
        } else {
            (second == third).then_some(second)
        }
    }

    /// Whether at most one of the states near all 0 and near all 1 has another pair. With a wrong
    /// head, the right one changes many of them, unless nearly all entries are equal.
    fn plausible(&self, usual: (f64, f64)) -> bool {
        let all = self.values.len() / 2 - 1;
        let bits = (0..all.count_ones()).map(|bit| 1 << bit);
        let near = [0, all].into_iter().chain(bits.flat_map(|bit: usize| [bit, all ^ bit]));
        near.filter(|&body| self.pair(body) != usual).nth(1).is_none()
    }

    /// The only state with another pair (the inner `None`: no state has); `None` if several have.
    fn only_other_than(&self, usual: (f64, f64)) -> Option<Option<usize>> {
        let half = 1 << self.head;
        let mut found = None;
        for (block, entries) in self.values.chunks_exact(2 * half).enumerate() {
            let (zeros, ones) = entries.split_at(half);
            for (at, (&f0, &f1)) in zeros.iter().zip(ones).enumerate() {
                if (f1, f0) != usual && found.replace(block * half + at).is_some() {
                    return None;
                }
            }
        }
        Some(found)
    }
}
