//! Messages of factors with local structure: sums of weighted terms.
//!
//! Inputs are normalised first, so that a variable that a term does not name contributes a factor of
//! one. For each term, one sweep gives the products of all its inputs but one; all messages of a
//! factor together cost O(terms * arity), where FastLBP ("GPU-Accelerated Belief Propagation for
//! Program Analysis", Algorithm 1) spends that on each. Each state's sum runs over the terms in
//! their order.

use super::Terms;
use crate::error::Result;
use crate::kernel::table::{are_in_f64_range, store, unpack_inputs};
use crate::kernel::tree::{Monoid, TreeScratch, leave_one_out};
use crate::kernel::{
    Arithmetic, EncodedMessage, ExtendedFloat, Inference, Max, Real, scratch_by_number,
    stored_values,
};
use crate::memory::{NoMemory, fit};

/// A factor made of terms, and the inputs to it.
#[derive(Clone, Copy)]
pub(crate) struct TermInputs<'a> {
    pub(crate) terms: Terms<'a>,
    /// States of each variable.
    pub(crate) radices: &'a [u32],
    /// Stored messages from the variables.
    pub(crate) inputs: &'a [EncodedMessage],
}

scratch_by_number! {
    /// Memory for terms, kept between calls.
    TermScratch of Buffers
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
    /// The same of the terms with negative weights.
    negative: Vec<T>,
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
            negative: Vec::new(),
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
/// [`EncodedMessage::CONTRADICTION`] in its first value. For max-product, the terms exclude each other.
/// O(terms * arity). Errors: no memory for the scratch space.
pub(crate) fn term_messages(
    factor: TermInputs<'_>, inference: Inference, target: Option<usize>,
    out: &mut [EncodedMessage], scratch: &mut TermScratch,
) -> Result<(), NoMemory> {
    let TermScratch { in_f64, extended, in_f64_max, extended_max } = scratch;
    if factor.terms.weights.iter().any(|&weight| weight < 0.0) {
        // Positive and negative terms apart, subtracted once.
        extended.sum_up(factor, target, EncodedMessage::unpack, |weight| (-weight).max(0.0))?;
        std::mem::swap(&mut extended.sums, &mut extended.negative);
        extended.sum_up(factor, target, EncodedMessage::unpack, |weight| weight.max(0.0))?;
        for (sum, &negative) in extended.sums.iter_mut().zip(&extended.negative) {
            *sum = sum.minus(negative);
        }
        extended.store(factor, target, out);
        return Ok(());
    }
    match (inference, fits_f64(factor)) {
        (Inference::SumProduct, true) => {
            in_f64.run(factor, target, EncodedMessage::stored_f64, out)
        }
        (Inference::SumProduct, false) => extended.run(factor, target, EncodedMessage::unpack, out),
        (Inference::MaxProduct, true) => {
            in_f64_max.run(factor, target, |value| Max(value.stored_f64()), out)
        }
        (Inference::MaxProduct, false) => {
            extended_max.run(factor, target, |value| Max(value.unpack()), out)
        }
    }
}

/// The factor summed against its inputs. O(size of the terms). Errors: no memory.
pub(crate) fn term_total(factor: TermInputs<'_>) -> Result<ExtendedFloat> {
    let mut buffers = Buffers::<ExtendedFloat>::default();
    unpack_inputs(
        factor.radices,
        factor.inputs,
        EncodedMessage::unpack,
        &mut buffers.inputs,
        &mut buffers.starts,
    )?;
    let scale = buffers.normalise();
    let mut sums = [ExtendedFloat::ZERO; 2];
    for (term, &weight) in factor.terms.weights.iter().enumerate() {
        let product =
            factor.terms.term(term).iter().fold(ExtendedFloat::from_f64(weight.abs()), |p, l| {
                p.multiply(buffers.inputs[buffers.starts[l.position as usize] + l.state as usize])
            });
        let sum = &mut sums[usize::from(weight < 0.0)];
        *sum = sum.add(product);
    }
    Ok(sums[0].minus(sums[1]).multiply(scale))
}

impl<T: Real> Buffers<T> {
    fn run(
        &mut self, factor: TermInputs<'_>, target: Option<usize>,
        number: impl Fn(EncodedMessage) -> T, out: &mut [EncodedMessage],
    ) -> Result<(), NoMemory> {
        self.sum_up(factor, target, number, |weight| weight)?;
        self.store(factor, target, out);
        Ok(())
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
        &mut self, factor: TermInputs<'_>, target: Option<usize>,
        number: impl Fn(EncodedMessage) -> T, weight_of: impl Fn(f64) -> f64,
    ) -> Result<(), NoMemory> {
        let TermInputs { terms, radices, inputs } = factor;
        unpack_inputs(radices, inputs, number, &mut self.inputs, &mut self.starts)?;
        self.normalise();
        let Self { inputs, starts, rest, tree, sums, unnamed, .. } = self;
        sums.clear();
        fit(sums, inputs.len())?;
        sums.resize(inputs.len(), T::ZERO);
        unnamed.clear();
        fit(unnamed, radices.len())?;
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
            fit(rest, literals.len())?;
            rest.extend((0..literals.len()).map(|index| Times(inputs[place(index)])));
            let all = leave_one_out(rest, tree)?.0.multiply(weight);
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
        Ok(())
    }

    fn store(&self, factor: TermInputs<'_>, target: Option<usize>, out: &mut [EncodedMessage]) {
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
        .map(|&weight| ExtendedFloat::from_f64(weight).exponent())
        .fold((0, 0), |(low, high), e| (low.min(e), high.max(e)));
    let in_range =
        are_in_f64_range(factor.radices, factor.inputs, |radix, input_low, input_high| {
            low = low.saturating_add(input_low - input_high - 2 - i64::from(radix.ilog2()));
        });
    let growth = 2 + i64::from(factor.terms.weights.len().max(1).ilog2());
    in_range && low > -1000 && high + growth < 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factor::{TermLiteral, next_joint_state};
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    struct Case {
        radices: Vec<u32>,
        inputs: Vec<EncodedMessage>,
        weights: Vec<f64>,
        /// Per term, a wanted state or none of each variable.
        wanted: Vec<Vec<Option<u32>>>,
    }

    impl Case {
        /// Calls a function with the factor in the kernel's form.
        fn with<R>(&self, call: impl FnOnce(TermInputs<'_>) -> R) -> R {
            let mut literals = Vec::new();
            let mut offsets = vec![0];
            for term in &self.wanted {
                let named = term.iter().zip(0..).filter_map(|(state, position)| {
                    state.map(|state| TermLiteral { position, state })
                });
                literals.extend(named);
                offsets.push(literals.len());
            }
            let (weights, offsets) = (&self.weights, &offsets);
            let terms = Terms { weights, offsets, literals: &literals, exclusive: false };
            call(TermInputs { terms, radices: &self.radices, inputs: &self.inputs })
        }

        fn messages(&self, inference: Inference) -> Vec<EncodedMessage> {
            let mut out = self.inputs.clone();
            let scratch = &mut TermScratch::default();
            self.with(|factor| term_messages(factor, inference, None, &mut out, scratch)).unwrap();
            out
        }

        /// The stored message at a position among all.
        fn stored(&self, position: usize) -> std::ops::Range<usize> {
            let values = |radices: &[u32]| radices.iter().map(|&r| stored_values(r)).sum::<usize>();
            let start = values(&self.radices[..position]);
            start..start + stored_values(self.radices[position])
        }

        fn input(&self, position: usize, state: usize) -> ExtendedFloat {
            weight(&self.inputs[self.stored(position)], state)
        }

        /// The definition: the sum or maximum over all joint states, for each state of the target;
        /// without one, of everything.
        fn brute_force(&self, target: Option<usize>, inference: Inference) -> Vec<ExtendedFloat> {
            let radices: Vec<usize> = self.radices.iter().map(|&r| r as usize).collect();
            let mut sums = vec![ExtendedFloat::ZERO; target.map_or(1, |target| radices[target])];
            let mut states = vec![0; radices.len()];
            loop {
                let mut parts = [ExtendedFloat::ZERO; 2];
                for (term, &weight) in self.wanted.iter().zip(&self.weights) {
                    let mut conditions = term.iter().zip(&states);
                    if conditions
                        .all(|(wanted, &x)| wanted.is_none_or(|wanted| wanted as usize == x))
                    {
                        let part = &mut parts[usize::from(weight < 0.0)];
                        *part = part.add(ExtendedFloat::from_f64(weight.abs()));
                    }
                }
                let others = (0..radices.len()).filter(|&position| Some(position) != target);
                let value = others.fold(parts[0].minus(parts[1]), |value, position| {
                    value.multiply(self.input(position, states[position]))
                });
                let sum = &mut sums[target.map_or(0, |target| states[target])];
                *sum = match inference {
                    Inference::SumProduct => sum.add(value),
                    Inference::MaxProduct => sum.larger(value),
                };
                if !next_joint_state(&mut states, &radices) {
                    return sums;
                }
            }
        }

        /// Compares all messages with the definition.
        fn check(&self, inference: Inference, tolerance: f64) -> Result<(), TestCaseError> {
            let all = self.messages(inference);
            let mut scratch = TermScratch::default();
            for position in 0..self.radices.len() {
                let stored = &all[self.stored(position)];
                let mut one = stored.to_vec();
                self.with(|factor| {
                    term_messages(factor, inference, Some(position), &mut one, &mut scratch)
                        .unwrap();
                });
                prop_assert_eq!(&one[..], stored);
                let sums = self.brute_force(Some(position), inference);
                if sums.iter().all(|sum| sum.is_zero()) {
                    prop_assert_eq!(stored[0], EncodedMessage::CONTRADICTION);
                    continue;
                }
                // Messages are right up to a factor: that of the largest.
                let key = |sum: &ExtendedFloat| (sum.exponent(), sum.significand());
                let at = (1..sums.len())
                    .fold(0, |at, x| if key(&sums[x]) > key(&sums[at]) { x } else { at });
                for (x, &sum) in sums.iter().enumerate() {
                    let message = weight(stored, x);
                    prop_assert_eq!(message.is_zero(), sum.is_zero());
                    if !sum.is_zero() {
                        let got = message.divide(weight(stored, at));
                        let ratio = got.divide(sum.divide(sums[at]));
                        prop_assert!(
                            (ratio.to_f64() - 1.0).abs() <= tolerance,
                            "position {position}, state {x}: {ratio:?}"
                        );
                    }
                }
            }
            Ok(())
        }
    }

    fn weight(stored: &[EncodedMessage], state: usize) -> ExtendedFloat {
        match (stored, state) {
            ([odds], 0) if *odds == EncodedMessage::INFINITY => ExtendedFloat::ZERO,
            ([odds], _) if *odds == EncodedMessage::INFINITY => ExtendedFloat::ONE,
            ([_], 0) => ExtendedFloat::ONE,
            ([odds], _) => odds.unpack(),
            _ => stored[state].unpack(),
        }
    }

    /// Inputs and conditions of up to 8 terms; all weights 1.
    fn case() -> impl Strategy<Value = Case> {
        prop::collection::vec(2_u32..6, 1..=5).prop_flat_map(|radices| {
            let input = |&radix: &u32| {
                let weight = prop_oneof![
                    6 => (1e-3_f64..1e3).prop_map(EncodedMessage::from_f64),
                    1 => (-700_i32..700).prop_map(|e| EncodedMessage::from_f64(1.3 * 2_f64.powi(e))),
                    1 => (-5000_i64..5000).prop_map(|e| EncodedMessage::pack(ExtendedFloat::from_parts(1.7, e))),
                    1 => Just(if radix == 2 { EncodedMessage::INFINITY } else { EncodedMessage::ONE }),
                    1 => Just(EncodedMessage::ZERO),
                ];
                prop::collection::vec(weight, stored_values(radix)).prop_map(|mut message| {
                    // One state of several has a positive weight.
                    if message.len() > 1 && message.iter().all(|&weight| weight == EncodedMessage::ZERO) {
                        message[0] = EncodedMessage::ONE;
                    }
                    message
                })
            };
            let inputs: Vec<_> = radices.iter().map(input).collect();
            let row: Vec<_> = radices.iter().map(|&radix| prop::option::of(0..radix)).collect();
            (Just(radices), inputs, prop::collection::vec(row, 1..=8)).prop_map(
                |(radices, inputs, wanted)| Case {
                    radices,
                    inputs: inputs.concat(),
                    weights: vec![1.0; wanted.len()],
                    wanted,
                },
            )
        })
    }

    fn weighted() -> impl Strategy<Value = Case> {
        let weight = || prop_oneof![4 => 0.01..10.0_f64, 1 => Just(0.0), 1 => Just(1e-300), 1 => Just(1e300)];
        (case(), prop::collection::vec(weight(), 8)).prop_map(|(mut case, weights)| {
            let count = case.weights.len();
            case.weights.copy_from_slice(&weights[..count]);
            case
        })
    }

    /// One term per state of one variable, with other conditions of their own.
    fn exclusive() -> impl Strategy<Value = Case> {
        (weighted(), any::<prop::sample::Index>()).prop_map(|(mut case, chosen)| {
            let chosen = chosen.index(case.radices.len());
            let states = case.radices[chosen] as usize;
            case.wanted.truncate(states);
            case.weights.truncate(states);
            for (term, state) in case.wanted.iter_mut().zip(0..) {
                term[chosen] = Some(state);
            }
            case
        })
    }

    /// A constant part at least twice as large as all negative weights together.
    fn signed() -> impl Strategy<Value = Case> {
        (case(), prop::collection::vec(-1.0..3.0_f64, 8), 2.0..4.0_f64).prop_map(
            |(mut case, weights, factor)| {
                let count = case.weights.len();
                case.weights.copy_from_slice(&weights[..count]);
                let negative: f64 = case.weights.iter().map(|&weight| (-weight).max(0.0)).sum();
                case.weights.push(factor * negative + 1e-3);
                case.wanted.push(vec![None; case.radices.len()]);
                case
            },
        )
    }

    proptest! {
        #[test]
        fn messages_are_the_sums_of_the_definition(case in weighted()) {
            case.check(Inference::SumProduct, 1e-11)?;
        }

        #[test]
        fn exclusive_terms_give_the_maxima_of_the_definition(case in exclusive()) {
            case.check(Inference::MaxProduct, 1e-11)?;
        }

        #[test]
        fn negative_weights_keep_the_accuracy_of_what_they_leave(case in signed()) {
            case.check(Inference::SumProduct, 1e-11)?;
        }

        /// `f64` and `ExtendedFloat` give the same bits wherever `f64` is used.
        #[test]
        fn both_ranges_agree(case in prop_oneof![weighted(), exclusive()]) {
            let mut extended = case.inputs.clone();
            case.with(|factor| {
                Buffers::<ExtendedFloat>::default().run(factor, None, EncodedMessage::unpack, &mut extended).unwrap();
            });
            prop_assert_eq!(case.messages(Inference::SumProduct), extended);
            let mut extended = case.inputs.clone();
            case.with(|factor| {
                let number = |value: EncodedMessage| Max(value.unpack());
                Buffers::<Max<ExtendedFloat>>::default().run(factor, None, number, &mut extended).unwrap();
            });
            prop_assert_eq!(case.messages(Inference::MaxProduct), extended);
        }

        #[test]
        fn totals_are_those_of_the_definition(case in prop_oneof![weighted(), signed()]) {
            let total = case.with(term_total).unwrap();
            let wanted = case.brute_force(None, Inference::SumProduct)[0];
            prop_assert_eq!(total.is_zero(), wanted.is_zero());
            if !wanted.is_zero() {
                prop_assert!((total.divide(wanted).to_f64() - 1.0).abs() < 1e-12);
            }
        }
    }

    fn by_hand(weights: &[f64], wanted: &[[Option<u32>; 2]], inputs: &[EncodedMessage]) -> Case {
        Case {
            radices: vec![2, 3],
            inputs: inputs.to_vec(),
            weights: weights.to_vec(),
            wanted: wanted.iter().map(|term| term.to_vec()).collect(),
        }
    }

    #[test]
    fn overlapping_terms_by_hand() {
        // 1 everywhere, 2 more where the first variable is 1, 4 where it is and the second is 2.
        let terms = [[None, None], [Some(1), None], [Some(1), Some(2)]];
        let inputs = [
            EncodedMessage::ONE,
            EncodedMessage::ONE,
            EncodedMessage::from_f64(2.0),
            EncodedMessage::ONE,
        ];
        let case = by_hand(&[1.0, 2.0, 4.0], &terms, &inputs);
        let out = case.messages(Inference::SumProduct);
        // First: 4 against 3 * 4 + 4; second: 4, 4 and 8, the largest of them near 1.
        assert_eq!(out[0], EncodedMessage::from_f64(4.0));
        let [a, b, c] = [out[1], out[2], out[3]].map(|weight| weight.unpack().to_f64());
        assert!((b / a - 1.0).abs() < 1e-15 && (c / a - 2.0).abs() < 1e-15);
        assert!((case.with(term_total).unwrap().to_f64() - 20.0).abs() < 1e-14);
    }

    #[test]
    fn f64_arithmetic_is_used_where_it_is_in_range() {
        let near = by_hand(&[1.0], &[[Some(1), None]], &[EncodedMessage::ONE; 4]);
        assert!(near.with(fits_f64));
        let mut far = near.clone();
        far.inputs[0] = EncodedMessage::pack(ExtendedFloat::from_parts(1.0, -5000));
        assert!(!far.with(fits_f64));
        let heavy = by_hand(&[1e301], &[[Some(1), None]], &[EncodedMessage::ONE; 4]);
        assert!(!heavy.with(fits_f64));
    }

    #[test]
    fn terms_that_the_inputs_exclude_are_a_contradiction() {
        let mut case = by_hand(&[1.0], &[[Some(1), Some(2)]], &[EncodedMessage::ONE; 4]);
        case.inputs[0] = EncodedMessage::ZERO;
        let out = case.messages(Inference::SumProduct);
        // Not at the variable that excludes them, which could be told otherwise.
        assert_eq!((out[0], out[1]), (EncodedMessage::INFINITY, EncodedMessage::CONTRADICTION));
        assert!(case.with(term_total).unwrap().is_zero());
    }
}
