//! Messages of noisy conjunctions: as those of signed ones, with literals that hold with a
//! probability.

use super::{Noisy, NoisyLiteral};
use crate::kernel::body::{self, Body, FromEncoded, Literals, messages, one_message};
use crate::kernel::horn::near_one;
use crate::kernel::{EncodedMessage, ExtendedFloat, HornScratch, Real};
use crate::memory::NoMemory;

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
    pub(crate) fn to_device(&self) -> [[f64; 2]; 2] {
        self.values
    }

    /// Whether every product of values, literals and inputs, and every sum of such, is a normal
    /// `f64`, and so is every quotient of two.
    fn fits_f64(&self, inputs: &[EncodedMessage]) -> bool {
        let exponent =
            |value: f64| if value == 0.0 { 0 } else { ExtendedFloat::from_f64(value).exponent() };
        let values = || self.values.iter().flatten().map(|&value| exponent(value));
        let mut low = values().fold(0, i64::min);
        let mut high = values().fold(0, i64::max) + 1;
        for (&input, literal) in inputs.iter().zip(self.literals) {
            if !input.is_in_f64_range() {
                return false;
            }
            let input = if input.is_deterministic() { 0 } else { input.unpack().exponent() };
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

    fn literal<T: FromEncoded>(&self, position: usize, odds: EncodedMessage) -> Body<T> {
        let [one, zero] = T::weights(odds, false);
        let [given_zero, given_one] = self.literals[position];
        Body::literal([0, 1].map(|outcome| {
            let by_one = one.multiply(T::from_f64(given_one[outcome]));
            by_one.add(zero.multiply(T::from_f64(given_zero[outcome])))
        }))
    }

    fn message<T: FromEncoded>(&self, position: usize, holds: T, fails: T) -> EncodedMessage {
        let weight =
            |[h, f]: [f64; 2]| holds.multiply(T::from_f64(h)).add(fails.multiply(T::from_f64(f)));
        let [given_zero, given_one] = self.literals[position];
        T::ratio(weight(given_one), weight(given_zero), false)
    }
}

/// All messages of a noisy conjunction; see [`horn_messages`](crate::kernel::horn_messages). O(arity).
pub(crate) fn noisy_messages(
    inputs: &[EncodedMessage], head: usize, c: &NoisyCoefficients<'_>, out: &mut [EncodedMessage],
    scratch: &mut HornScratch,
) -> Result<(), NoMemory> {
    if c.fits_f64(inputs) {
        messages(inputs, head, c, out, &mut scratch.in_f64)
    } else {
        messages(inputs, head, c, out, &mut scratch.extended)
    }
}

/// The message to the variable at one position, the input of which is not used. O(arity).
pub(crate) fn noisy_message(
    inputs: &mut [EncodedMessage], head: usize, target: usize, c: &NoisyCoefficients<'_>,
    scratch: &mut HornScratch,
) -> Result<EncodedMessage, NoMemory> {
    inputs[target] = EncodedMessage::ONE;
    if inputs.len() <= 4 {
        let mut out = [EncodedMessage::ONE; 4];
        noisy_messages(inputs, head, c, &mut out[..inputs.len()], scratch)?;
        return Ok(out[target]);
    }
    if c.fits_f64(inputs) {
        one_message(inputs, head, target, c, &mut scratch.in_f64)
    } else {
        one_message(inputs, head, target, c, &mut scratch.extended)
    }
}

/// The factor summed against its inputs. O(arity).
pub(crate) fn noisy_total(
    inputs: &[EncodedMessage], head: usize, c: &NoisyCoefficients<'_>,
) -> ExtendedFloat {
    body::total(inputs, head, c).scaled(c.exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factor::Factor;
    use crate::kernel::Arithmetic;
    use crate::kernel::horn::tests::{close, input};
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    struct Case {
        inputs: Vec<EncodedMessage>,
        head: usize,
        values: [f64; 4],
        literals: Vec<NoisyLiteral>,
    }

    impl Case {
        fn noisy(&self) -> Noisy<'_> {
            Noisy { head: self.head, values: self.values, literals: &self.literals }
        }

        fn arity(&self) -> usize {
            self.inputs.len()
        }
    }

    fn literal() -> impl Strategy<Value = NoisyLiteral> {
        let outcome = || {
            prop_oneof![
                4 => (0.0..=1.0).prop_map(|p| [p, 1.0 - p]),
                1 => Just([1.0, 0.0]),
                1 => Just([0.0, 1.0]),
                1 => Just([1.0, 1e-200]),
                1 => Just([5e-324, 1.0]),
            ]
        };
        prop::array::uniform2(outcome())
    }

    fn case() -> impl Strategy<Value = Case> {
        let value = || prop_oneof![Just(0.0), Just(1.0), Just(3e200), Just(1e-300), 0.0..1e5];
        (
            prop::collection::vec((input(), literal()), 1..=10),
            prop::array::uniform4(value()),
            any::<prop::sample::Index>(),
        )
            .prop_map(|(pairs, values, head)| {
                let head = head.index(pairs.len());
                let (inputs, mut literals): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
                literals[head] = [[1.0, 0.0]; 2];
                Case { inputs, head, values, literals }
            })
    }

    /// The definition, without a subtraction: sums over all joint states and over which literals
    /// hold. The sums for the states 1 and 0 of the target, without its input; with no target, both
    /// times the inputs.
    fn brute_force(case: &Case, target: Option<usize>) -> [ExtendedFloat; 2] {
        let mut sums = [ExtendedFloat::ZERO; 2];
        let body = (0..case.arity()).filter(|&position| position != case.head);
        for index in 0..1_usize << case.arity() {
            let state = |position: usize| index >> position & 1;
            let mut inputs = ExtendedFloat::ONE;
            for position in (0..case.arity()).filter(|&position| Some(position) != target) {
                let weights = ExtendedFloat::weights(case.inputs[position], false);
                inputs = inputs.multiply(weights[1 - state(position)]);
            }
            for outcome in (0..1_usize << case.arity()).filter(|o| o >> case.head & 1 == 0) {
                let failed = |position: usize| outcome >> position & 1;
                let row = if outcome == 0 { 0 } else { 2 };
                let value = case.values[row + usize::from(state(case.head) == 0)];
                let weight =
                    body.clone().fold(ExtendedFloat::from_f64(value), |weight, position| {
                        let chance = case.literals[position][state(position)][failed(position)];
                        weight.multiply(ExtendedFloat::from_f64(chance))
                    });
                let sum = &mut sums[target.map_or(0, |target| 1 - state(target))];
                *sum = sum.add(weight.multiply(inputs));
            }
        }
        sums
    }

    proptest! {
        /// Both kinds of numbers and both ways to a message give the same bits, and the values are
        /// those of the definition.
        #[test]
        fn all_ways_agree(case in case()) {
            let c = NoisyCoefficients::new(&case.noisy());
            let scratch = &mut HornScratch::default();
            let mut all = case.inputs.clone();
            noisy_messages(&case.inputs, case.head, &c, &mut all, scratch).unwrap();
            let mut extended = case.inputs.clone();
            messages(&case.inputs, case.head, &c, &mut extended, &mut scratch.extended).unwrap();
            prop_assert_eq!(&all, &extended);
            for (target, &message) in all.iter().enumerate() {
                let mut own = case.inputs.clone();
                let one = noisy_message(&mut own, case.head, target, &c, scratch).unwrap();
                prop_assert_eq!(one, message);
                if case.arity() <= 5 {
                    let [sum1, sum0] = brute_force(&case, Some(target));
                    let wanted = EncodedMessage::ratio(sum1, sum0);
                    prop_assert!(close(one, wanted), "{target}: {one:?} for {wanted:?}");
                }
            }
        }

        #[test]
        fn totals_are_those_of_the_definition(case in case()) {
            if case.arity() > 5 {
                return Ok(());
            }
            let total = noisy_total(&case.inputs, case.head, &NoisyCoefficients::new(&case.noisy()));
            let [wanted, _] = brute_force(&case, None);
            prop_assert_eq!(total.is_zero(), wanted.is_zero());
            if !wanted.is_zero() {
                let ratio = total.divide(wanted).to_f64();
                prop_assert!((ratio - 1.0).abs() < 1e-13, "{total:?} for {wanted:?}");
            }
        }

        /// Numbers in f64 range are used at all, and not where they would not do.
        #[test]
        fn moderate_inputs_are_computed_in_f64(
            odds in prop::collection::vec(1e-3_f64..1e3, 2..=10), far in any::<prop::sample::Index>(),
        ) {
            let mut inputs: Vec<EncodedMessage> = odds.into_iter().map(EncodedMessage::from_f64).collect();
            let literals = vec![[[0.25, 0.75], [1.0, 0.0]]; inputs.len()];
            let noisy = Noisy { head: 0, values: [0.5, 0.5, 0.0, 1.0], literals: &literals };
            let c = NoisyCoefficients::new(&noisy);
            prop_assert!(c.fits_f64(&inputs));
            let far = far.index(inputs.len());
            inputs[far] = EncodedMessage::pack(ExtendedFloat::from_parts(1.5, 5000));
            prop_assert!(!c.fits_f64(&inputs));
        }
    }

    /// Certain inputs leave a conjunction of what is uncertain; far ones give odds that no `f64` holds.
    #[test]
    fn extreme_inputs_by_hand() {
        // A noisy-OR of two causes with links 0.5 and 0.75: the literals are "has not caused it".
        let literals = [[[1.0, 0.0]; 2], [[1.0, 0.0], [0.5, 0.5]], [[1.0, 0.0], [0.25, 0.75]]];
        let noisy = Noisy { head: 0, values: [0.0, 1.0, 1.0, 0.0], literals: &literals };
        let c = NoisyCoefficients::new(&noisy);
        let messages = |inputs: [EncodedMessage; 3]| {
            let mut out = inputs;
            noisy_messages(&inputs, 0, &c, &mut out, &mut HornScratch::default()).unwrap();
            out
        };
        let half = EncodedMessage::from_f64(1.0);
        // Both causes are there: P(effect = 0) = 1/8.
        let out = messages([half, EncodedMessage::INFINITY, EncodedMessage::INFINITY]);
        assert_eq!(out[0], EncodedMessage::from_f64(7.0));
        // The effect is certain and the first cause excluded: so the second one is there.
        let out = messages([EncodedMessage::INFINITY, EncodedMessage::ZERO, half]);
        assert_eq!(out[2], EncodedMessage::INFINITY);
        // No cause, but the effect: a contradiction at all but themselves.
        let out = messages([EncodedMessage::INFINITY, EncodedMessage::ZERO, EncodedMessage::ZERO]);
        assert_eq!(out[0], EncodedMessage::ZERO);
        assert_eq!(out[1..], [EncodedMessage::INFINITY; 2]);
        let far = EncodedMessage::pack(ExtendedFloat::from_parts(1.0, -5000));
        let out = messages([half, far, EncodedMessage::ZERO]);
        assert_eq!(out[0], EncodedMessage::pack(ExtendedFloat::from_parts(1.0, -5001)));
    }

    #[test]
    fn a_body_that_can_not_hold_beside_a_value_that_needs_it_is_a_contradiction() {
        let literals = [[[1.0, 0.0]; 2], [[0.0, 1.0]; 2]];
        let noisy = Noisy { head: 0, values: [1.0, 1.0, 0.0, 0.0], literals: &literals };
        let c = NoisyCoefficients::new(&noisy);
        let mut out = [EncodedMessage::ONE; 2];
        noisy_messages(&[EncodedMessage::ONE; 2], 0, &c, &mut out, &mut HornScratch::default())
            .unwrap();
        assert_eq!(out, [EncodedMessage::CONTRADICTION; 2]);
        assert!(noisy_total(&[EncodedMessage::ONE; 2], 0, &c).is_zero());
        assert_eq!(Factor::Noisy(noisy).value(&[1, 1], [2, 2].into_iter()), 0.0);
    }
}
