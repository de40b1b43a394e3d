//! Noisy conjunctions: noisy OR and noisy AND, with or without a leak.
//!
//! One state of the head, the product side, must have f = holds * Q, where Q is a product over the
//! body; the other state then has f = holds' * Q + fails' * (1 - Q). All numbers come from the entry
//! where every literal surely holds and from its neighbours; then every entry is compared.

use super::class::{Class, Recognised};
use crate::error::Result;
use crate::memory::filled;
use crate::model::TableStructure as Structure;

/// Bodies are never larger: a table has fewer entries than an address space has bytes.
const MAX_ARITY: usize = 64;

/// How far, relative to its value, a computed entry may be from the table's: what the roundings of
/// the table's author and ours amount to.
pub(super) fn tolerance(arity: usize) -> f64 {
    4e-16 * arity as f64
}

/// The table of three or more binary variables as a noisy conjunction, if it is one, and if some
/// literal is uncertain. O(entries) for each head and state where a few entries do not refute it.
pub(super) fn recognise(values: &[f64], arity: usize) -> Option<Result<Recognised>> {
    if !(3..=MAX_ARITY).contains(&arity) {
        return None;
    }
    (0..arity).find_map(|head| {
        (0..2).find_map(|side| Candidate { values, arity, head, side }.recognise())
    })
}

/// A table whose entries with `head` = `side` might be a product.
struct Candidate<'a> {
    values: &'a [f64],
    arity: usize,
    head: usize,
    side: usize,
}

/// A literal's probabilities in the state where it may fail; in the other one it surely holds.
#[derive(Clone, Copy, Default)]
struct Link {
    holds: f64,
    fails: f64,
}

/// The weights that the body holds and that it fails.
#[derive(Clone, Copy)]
struct Body {
    all: f64,
    not_all: f64,
}

impl Body {
    const SURE: Body = Body { all: 1.0, not_all: 0.0 };

    fn and(self, link: Link) -> Body {
        Body { all: self.all * link.holds, not_all: self.not_all + self.all * link.fails }
    }
}

/// Parameters that may reproduce a table.
#[derive(Clone, Copy)]
struct Noisy {
    /// The state of the body where all literals surely hold, as bits; the head's bit is 0.
    sure: usize,
    links: [Link; MAX_ARITY],
    /// f on the product side where the body holds.
    product: f64,
    /// f on the other side where the body holds, and where it fails.
    holds: f64,
    fails: f64,
}

impl Candidate<'_> {
    /// The entry at a state of the body on the product side.
    fn product(&self, body: usize) -> f64 {
        self.values[body | self.side << self.head]
    }

    fn other(&self, body: usize) -> f64 {
        self.values[body | (1 - self.side) << self.head]
    }

    fn body(&self) -> impl Iterator<Item = usize> + use<> {
        let head = self.head;
        (0..self.arity).filter(move |&position| position != head)
    }

    /// A state of the body where the product is positive.
    fn positive(&self) -> Option<usize> {
        let head = 1 << self.head;
        let states = [0, (self.values.len() - 1) ^ head].into_iter();
        let rest = (0..self.values.len()).filter(|&body| body & head == 0);
        states.chain(rest).find(|&body| self.product(body) > 0.0)
    }

    fn recognise(&self) -> Option<Result<Recognised>> {
        let start = self.positive()?;
        let mut pair = self.body().map(|position| 1 << position);
        if let (Some(i), Some(j)) = (pair.next(), pair.next()) {
            let crosswise = self.product(start ^ i) * self.product(start ^ j);
            let straight = self.product(start) * self.product(start ^ i ^ j);
            let range = 1e-300..1e300;
            // Products near the ends of the range of numbers tell nothing.
            if range.contains(&crosswise.max(straight))
                && (crosswise - straight).abs() > 1e-14 * crosswise.max(straight)
            {
                return None;
            }
        }
        let sure = self.body().fold(start, |sure, position| {
            let neighbour = self.product(start ^ 1 << position);
            if neighbour > self.product(start) { sure ^ 1 << position } else { sure }
        });
        let product = self.product(sure);
        let mut noisy = Noisy {
            sure,
            links: [Link::default(); MAX_ARITY],
            product,
            holds: self.other(sure),
            fails: 0.0,
        };
        let mut least = Body::SURE;
        let mut all_fail = sure;
        for position in self.body() {
            let holds = self.product(sure ^ 1 << position) / product;
            if holds > 1.0 {
                return None;
            }
            noisy.links[position] = Link { holds, fails: 1.0 - holds };
            least = least.and(noisy.links[position]);
            if holds < 1.0 {
                all_fail ^= 1 << position;
            }
        }
        if least.all == 0.0 && self.product(all_fail) == 0.0 {
            return self.accept(noisy, self.other(all_fail));
        }
        // Rounded links do not give the last bits of the other side's failing value: first what it
        // mostly is, the sum of a probability or nothing, then what they do give.
        let estimate = (self.other(all_fail) - noisy.holds * least.all) / least.not_all;
        let candidates = [1.0, 0.0, product + noisy.holds, estimate].into_iter();
        candidates.filter(|&fails| fails >= 0.0).find_map(|fails| self.accept(noisy, fails))
    }

    /// Completes the parameters for a failing value, and compares with the table.
    fn accept(&self, mut noisy: Noisy, value: f64) -> Option<Result<Recognised>> {
        noisy.fails = value;
        let mut uncertain = false;
        for position in self.body() {
            let other = self.other(noisy.sure ^ 1 << position);
            let link = &mut noisy.links[position];
            link.fails = fails(link.holds, other, noisy.holds, noisy.fails);
            if !((link.holds + link.fails - 1.0).abs() <= 1e-15 && link.fails >= 0.0) {
                return None;
            }
            uncertain |= link.holds > 0.0 && link.fails > 0.0;
        }
        (uncertain && self.fits(&noisy, self.arity, 0, Body::SURE)).then(|| self.report(&noisy))
    }

    /// Whether the entries at all states of the variables below `count` are reproduced, where the
    /// variables from there on are as in `state` and make the body `above`.
    fn fits(&self, noisy: &Noisy, count: usize, state: usize, above: Body) -> bool {
        if count == 0 {
            let near = |computed: f64, entry: f64| {
                (computed - entry).abs() <= tolerance(self.arity) * entry
            };
            let other = noisy.holds * above.all + noisy.fails * above.not_all;
            return near(noisy.product * above.all, self.product(state))
                && near(other, self.other(state));
        }
        let position = count - 1;
        if position == self.head {
            return self.fits(noisy, position, state, above);
        }
        let sure = noisy.sure & 1 << position;
        let unsure = sure ^ 1 << position;
        self.fits(noisy, position, state | unsure, above.and(noisy.links[position]))
            && self.fits(noisy, position, state | sure, above)
    }

    fn report(&self, noisy: &Noisy) -> Result<Recognised> {
        let mut literals = filled(self.arity, [[1.0, 0.0]; 2])?;
        // The states in which literals hold surely, of those that may fail.
        let (mut at0, mut at1) = (false, false);
        for position in self.body() {
            let Link { holds, fails } = noisy.links[position];
            let sure = noisy.sure >> position & 1;
            literals[position][1 - sure] = [holds, fails];
            if fails > 0.0 {
                at0 |= sure == 0;
                at1 |= sure == 1;
            }
        }
        let class = match (self.side, at0, at1) {
            (0, true, false) if noisy.fails > 0.0 => Class::NoisyOr,
            (1, false, true) if noisy.fails > 0.0 => Class::NoisyAnd,
            _ => Class::Noisy,
        };
        let Noisy { product, holds, fails, .. } = *noisy;
        let values = match self.side {
            0 => [holds, product, fails, 0.0],
            _ => [product, holds, 0.0, fails],
        };
        Ok(Recognised { structure: Structure::Noisy { head: self.head, literals, values }, class })
    }
}

/// The probability c that a literal fails, if it holds with probability `p`, and the other side's
/// entry there is `entry` = `holds` * p + `fails` * c: whichever of 1 - p and (entry - holds) /
/// (fails - holds) cancels fewer digits.
fn fails(p: f64, entry: f64, holds: f64, fails: f64) -> f64 {
    let (rise, range) = (entry - holds, fails - holds);
    let from_entry = rise / range;
    if holds == 0.0 && fails > 0.0 && p > 0.0 {
        return from_entry;
    }
    let lost = (entry + holds) / rise.abs() + (fails + holds) / range.abs();
    // An entry that says nothing makes this infinite or not a number.
    if lost < (1.0 + p) / (1.0 - p) { from_entry } else { 1.0 - p }
}
