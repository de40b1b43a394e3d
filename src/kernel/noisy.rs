//! Messages of noisy conjunctions: as those of signed ones, with literals that hold with a
//! probability.

use super::body::{Body, FromPacked, Literals, messages, one_message};
use super::horn::{HornScratch, near_one};
use super::number::{Real, Wide};
use super::packed::Packed;
use crate::model::{Noisy, NoisyLiteral};

/// A noisy conjunction, ready for messages.
pub(crate) struct NoisyCoefficients<'a> {
    values: [[f64; 2]; 2],
    literals: &'a [NoisyLiteral],
    exponent: i64,
}

impl<'a> NoisyCoefficients<'a> {
    pub(crate) fn new(noisy: &Noisy<'a>) -> Self {
        let ([h1, h0, f1, f0], exponent) = near_one(noisy.values);
        Self { values: [[h1, h0], [f1, f0]], literals: noisy.literals, exponent }
    }

    /// The values for a GPU: `NoisyLiterals::head` of cuda/arithmetic/noisy.cuh.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for the CUDA engine, which is being written")
    )]
    pub(crate) fn to_device(&self) -> [[f64; 2]; 2] {
        self.values
    }

    /// Whether every product of values, literals and inputs, and every sum of such, is a normal
    /// `f64`, and so is every quotient of two.
    fn fits_f64(&self, inputs: &[Packed]) -> bool {
        let exponent = |value: f64| if value == 0.0 { 0 } else { Wide::from_f64(value).exponent() };
        let mut low = self.values.iter().flatten().map(|&v| exponent(v)).min().unwrap_or(0);
        let mut high = 1;
        for (&input, literal) in inputs.iter().zip(self.literals) {
            if !input.is_plain() {
                return false;
            }
            let input = if input.is_certain() { 0 } else { input.unpack().exponent() };
            low += input.min(0) + literal.iter().flatten().map(|&p| exponent(p)).min().unwrap_or(0);
            // A literal's weight is a sum of two, and bodies are joined by sums of three.
            high += input.max(0) + 4;
        }
        high - low < 900
    }
}

impl Literals for NoisyCoefficients<'_> {
    fn values(&self) -> &[[f64; 2]; 2] {
        &self.values
    }

    fn literal<T: FromPacked>(&self, position: usize, odds: Packed) -> Body<T> {
        let [one, zero] = T::weights(odds, false);
        let [given_zero, given_one] = self.literals[position];
        Body::literal([0, 1].map(|outcome| {
            let by_one = one.multiply(T::from_f64(given_one[outcome]));
            by_one.add(zero.multiply(T::from_f64(given_zero[outcome])))
        }))
    }

    fn message<T: FromPacked>(&self, position: usize, holds: T, fails: T) -> Packed {
        let weight =
            |[h, f]: [f64; 2]| holds.multiply(T::from_f64(h)).add(fails.multiply(T::from_f64(f)));
        let [given_zero, given_one] = self.literals[position];
        T::ratio(weight(given_one), weight(given_zero), false)
    }
}

/// All messages of a noisy conjunction; see [`super::horn_messages`]. O(arity).
pub(crate) fn noisy_messages(
    inputs: &[Packed],
    head: usize,
    c: &NoisyCoefficients<'_>,
    out: &mut [Packed],
    scratch: &mut HornScratch,
) {
    if c.fits_f64(inputs) {
        messages(inputs, head, c, out, Some(&mut scratch.plain));
    } else {
        messages(inputs, head, c, out, Some(&mut scratch.wide));
    }
}

/// The message to the variable at one position, the input of which is not used. O(arity).
pub(crate) fn noisy_message(
    inputs: &mut [Packed],
    head: usize,
    target: usize,
    c: &NoisyCoefficients<'_>,
    scratch: &mut HornScratch,
) -> Packed {
    inputs[target] = Packed::ONE;
    if inputs.len() <= 4 {
        let mut out = [Packed::ONE; 4];
        noisy_messages(inputs, head, c, &mut out[..inputs.len()], scratch);
        return out[target];
    }
    if c.fits_f64(inputs) {
        one_message(inputs, head, target, c, &mut scratch.plain)
    } else {
        one_message(inputs, head, target, c, &mut scratch.wide)
    }
}

/// The factor summed against its inputs. O(arity).
pub(crate) fn noisy_total(inputs: &[Packed], head: usize, c: &NoisyCoefficients<'_>) -> Wide {
    super::body::total(inputs, head, c).scaled(c.exponent)
}
