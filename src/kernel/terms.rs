//! Messages of factors with local structure: sums of weighted terms (paper section 3).
//!
//! Inputs are normalised first, so that a variable that a term does not name contributes a factor of
//! one. For each term, one sweep gives the products of all its inputs but one; all messages of a
//! factor together cost O(terms * arity), where the paper's Algorithm 1 spends that on each. Each
//! state's sum runs over the terms in their order.

use super::Inference;
use super::number::{Max, Real, Wide};
use super::packed::Packed;
use super::table::{input_exponents, store, stored_values, unpack_inputs};
use super::tree::{Monoid, TreeScratch, leave_one_out};
use crate::model::Terms;

/// A factor made of terms, and the inputs to it.
#[derive(Clone, Copy)]
pub(crate) struct TermInputs<'a> {
    pub(crate) terms: Terms<'a>,
    /// States of each variable.
    pub(crate) radices: &'a [u32],
    /// Stored messages from the variables.
    pub(crate) inputs: &'a [Packed],
}

/// Memory for terms, kept between calls.
#[derive(Default)]
pub(crate) struct TermScratch {
    plain: Buffers<f64>,
    wide: Buffers<Wide>,
    plain_max: Buffers<Max<f64>>,
    wide_max: Buffers<Max<Wide>>,
    /// Sums of the terms with negative weights.
    negative: Vec<Wide>,
}

struct Buffers<T> {
    /// Normalised weights of the states of all inputs, one variable after the other.
    inputs: Vec<T>,
    /// Where each variable's weights start.
    starts: Vec<usize>,
    /// A term's inputs, then the product of all but each.
    rest: Vec<Times<T>>,
    tree: TreeScratch<Times<T>>,
    /// Sums for the states of all variables, in the layout of `inputs`.
    sums: Vec<T>,
    /// Per variable, the sum of the terms that do not name it.
    unnamed: Vec<T>,
}

impl<T> Default for Buffers<T> {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            starts: Vec::new(),
            rest: Vec::new(),
            tree: TreeScratch::default(),
            sums: Vec::new(),
            unnamed: Vec::new(),
        }
    }
}

#[derive(Clone, Copy)]
struct Times<T>(T);

impl<T: Real> Monoid for Times<T> {
    const NEUTRAL: Self = Self(T::ONE);
    #[inline(always)]
    fn combine(self, other: Self) -> Self {
        Self(self.0.multiply(other.0))
    }
}

/// All messages of a factor, or with `target` the one to the variable at that position: `out` has the
/// layout of the inputs, or of that message. A message that would be 0/0 is
/// [`Packed::CONTRADICTION`] in its first value. For max-product, the terms exclude each other.
/// O(terms * arity).
pub(crate) fn term_messages(
    factor: TermInputs<'_>,
    inference: Inference,
    target: Option<usize>,
    out: &mut [Packed],
    scratch: &mut TermScratch,
) {
    let TermScratch { plain, wide, plain_max, wide_max, negative } = scratch;
    if factor.terms.weights.iter().any(|&weight| weight < 0.0) {
        // Positive and negative terms apart, subtracted once.
        wide.sum_up(factor, target, Packed::unpack, |weight| (-weight).max(0.0));
        negative.clone_from(&wide.sums);
        wide.sum_up(factor, target, Packed::unpack, |weight| weight.max(0.0));
        for (sum, &negative) in wide.sums.iter_mut().zip(negative.iter()) {
            *sum = sum.minus(negative);
        }
        return wide.store(factor, target, out);
    }
    match (inference, fits_f64(factor)) {
        (Inference::SumProduct, true) => plain.run(factor, target, Packed::plain, out),
        (Inference::SumProduct, false) => wide.run(factor, target, Packed::unpack, out),
        (Inference::MaxProduct, true) => {
            plain_max.run(factor, target, |value| Max(value.plain()), out);
        }
        (Inference::MaxProduct, false) => {
            wide_max.run(factor, target, |value| Max(value.unpack()), out);
        }
    }
}

/// The factor summed against its inputs. O(size of the terms).
pub(crate) fn term_total(factor: TermInputs<'_>) -> Wide {
    let mut buffers = Buffers::<Wide>::default();
    unpack_inputs(
        factor.radices,
        factor.inputs,
        Packed::unpack,
        &mut buffers.inputs,
        &mut buffers.starts,
    );
    let scale = buffers.normalise();
    let mut sums = [Wide::ZERO; 2];
    for (term, &weight) in factor.terms.weights.iter().enumerate() {
        let product = factor.terms.term(term).iter().fold(Wide::from_f64(weight.abs()), |p, l| {
            p.multiply(buffers.inputs[buffers.starts[l.position as usize] + l.state as usize])
        });
        let sum = &mut sums[usize::from(weight < 0.0)];
        *sum = sum.add(product);
    }
    sums[0].minus(sums[1]).multiply(scale)
}

impl<T: Real> Buffers<T> {
    fn run(
        &mut self,
        factor: TermInputs<'_>,
        target: Option<usize>,
        number: impl Fn(Packed) -> T,
        out: &mut [Packed],
    ) {
        self.sum_up(factor, target, number, |weight| weight);
        self.store(factor, target, out);
    }

    /// Divides each variable's inputs by their sum; returns the product of the sums.
    fn normalise(&mut self) -> T {
        let mut scale = T::ONE;
        for range in self.starts.windows(2) {
            let states = &mut self.inputs[range[0]..range[1]];
            let total = states[1..].iter().fold(states[0], |sum, &weight| sum.add(weight));
            for weight in states.iter_mut().filter(|weight| !weight.is_zero()) {
                *weight = weight.divide(total);
            }
            scale = scale.multiply(total);
        }
        scale
    }

    /// The sums for all states of the target, or of all variables.
    fn sum_up(
        &mut self,
        factor: TermInputs<'_>,
        target: Option<usize>,
        number: impl Fn(Packed) -> T,
        weight_of: impl Fn(f64) -> f64,
    ) {
        let TermInputs { terms, radices, inputs } = factor;
        unpack_inputs(radices, inputs, number, &mut self.inputs, &mut self.starts);
        self.normalise();
        let Self { inputs, starts, rest, tree, sums, unnamed } = self;
        sums.clear();
        sums.resize(inputs.len(), T::ZERO);
        unnamed.clear();
        unnamed.resize(radices.len(), T::ZERO);
        let wanted = target.map_or(0..radices.len(), |target| target..target + 1);
        for (term, &weight) in terms.weights.iter().enumerate() {
            let weight = weight_of(weight);
            if weight == 0.0 {
                continue;
            }
            let weight = T::from_f64(weight);
            let literals = terms.term(term);
            let place = |index: usize| {
                let literal = literals[index];
                starts[literal.position as usize] + literal.state as usize
            };
            rest.clear();
            rest.extend((0..literals.len()).map(|index| Times(inputs[place(index)])));
            let all = leave_one_out(rest, tree).0.multiply(weight);
            let mut next = 0;
            for position in wanted.clone() {
                while next < literals.len() && (literals[next].position as usize) < position {
                    next += 1;
                }
                if next < literals.len() && literals[next].position as usize == position {
                    let sum = &mut sums[place(next)];
                    *sum = sum.add(rest[next].0.multiply(weight));
                } else {
                    unnamed[position] = unnamed[position].add(all);
                }
            }
        }
        for position in wanted {
            for sum in &mut sums[starts[position]..starts[position + 1]] {
                *sum = sum.add(unnamed[position]);
            }
        }
    }

    fn store(&self, factor: TermInputs<'_>, target: Option<usize>, out: &mut [Packed]) {
        let mut at = 0;
        for (position, &radix) in factor.radices.iter().enumerate() {
            if target.is_none_or(|target| target == position) {
                let sums = &self.sums[self.starts[position]..self.starts[position + 1]];
                store(sums, &mut out[at..at + stored_values(radix)]);
                at += stored_values(radix);
            }
        }
    }
}

/// Whether all inputs, every product of a weight and normalised inputs, and every sum of them, are
/// normal `f64`s.
fn fits_f64(factor: TermInputs<'_>) -> bool {
    let exponents = factor.terms.weights.iter().filter(|&&weight| weight != 0.0);
    let (mut low, high) = exponents
        .map(|&weight| Wide::from_f64(weight).exponent())
        .fold((0, 0), |(low, high), e| (low.min(e), high.max(e)));
    let mut at = 0;
    for &radix in factor.radices {
        let stored = &factor.inputs[at..at + stored_values(radix)];
        at += stored.len();
        if !stored.iter().all(|value| value.is_plain()) {
            return false;
        }
        let (input_low, input_high) = input_exponents(stored);
        low = low.saturating_add(input_low - input_high - 2 - i64::from(radix.ilog2()));
    }
    let growth = 2 + i64::from(factor.terms.weights.len().max(1).ilog2());
    low > -1000 && high + growth < 1000
}
