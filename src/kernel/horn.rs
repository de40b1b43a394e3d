//! Messages of prior, AND, OR and signed factors, in time linear in the arity for all of them
//! together.

use super::Inference;
use super::body::{
    BALANCED_EXPONENTS, Balanced, Body, BodyScratch, FromEncoded, HeadWeights, Literals, Near,
    Values, head_message, messages, one_message, small_messages,
};
use super::number::{ExtendedFloat, Real, scratch_by_number};
use super::packed::EncodedMessage;
use crate::error::Result;
use crate::memory::{Grow, NoMemory};

/// What a factor's messages depend on besides its inputs.
#[derive(Clone, Debug)]
pub(crate) struct HornCoefficients {
    /// f(h=1), f(h=0) if the body holds, and if it fails, over 2^`exponent`.
    values: [[f64; 2]; 2],
    /// Whether the literal of the variable at a position below 64 is x = 0 instead of x = 1.
    negated: u64,
    /// The same for all positions; `None` where bit 63 of `negated` speaks for those from 64 on.
    all_negated: Option<Box<[u64]>>,
    /// Whether some value is positive and all that are lie within [`COEFFICIENTS_IN_F64_RANGE`].
    in_f64_range: bool,
    exponent: i64,
}

/// Coefficients as a GPU has them: `HornCoefficients` of cuda/arithmetic/horn.cuh, whose fields are where these are, as
/// `engine::cuda::interface` has compilers assert.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct DeviceHorn {
    pub(crate) values: [[f64; 2]; 2],
    pub(crate) negated: u64,
    /// Bits: [`Self::IN_F64_RANGE`], [`Self::LISTED`].
    pub(crate) flags: u32,
    /// Where the words for the positions from 64 on start among those of all factors, if listed.
    pub(crate) words: u32,
}

impl DeviceHorn {
    pub(crate) const IN_F64_RANGE: u32 = 1;
    pub(crate) const LISTED: u32 = 2;

    /// Whether no value is so small that doubles could underflow.
    pub(crate) fn is_in_f64_range(&self) -> bool {
        self.flags & Self::IN_F64_RANGE != 0
    }
}

/// Positive coefficients for which the `f64` ranges of [`HornCoefficients::fits_f64`] were computed: from
/// 2^-64 to below 2.
const COEFFICIENTS_IN_F64_RANGE: std::ops::Range<f64> = 1.0 / 18_446_744_073_709_551_616.0..2.0;

impl HornCoefficients {
    /// From `[f(h=1 | holds), f(h=0 | holds), f(h=1 | fails), f(h=0 | fails)]` and the signs of the
    /// literals: bit 63 of `negated` speaks for all positions from 64 on, unless `all_negated` lists them.
    pub(crate) fn new(values: [f64; 4], negated: u64, all_negated: Option<Box<[u64]>>) -> Self {
        let ([h1, h0, f1, f0], exponent) = near_one(values);
        let values = [h1, h0, f1, f0];
        // Where all are zero, near inputs give 0/0 as well.
        let in_f64_range =
            values.iter().all(|&c| c == 0.0 || COEFFICIENTS_IN_F64_RANGE.contains(&c))
                && values.iter().any(|&c| c > 0.0);
        Self { values: [[h1, h0], [f1, f0]], negated, all_negated, in_f64_range, exponent }
    }

    /// The coefficients of a factor with `arity` variables for a GPU. What `negated` has no bits for
    /// is appended to `words`, those of all factors.
    pub(crate) fn to_device(&self, arity: usize, words: &mut Vec<u64>) -> Result<DeviceHorn> {
        let mut flags = if self.in_f64_range { DeviceHorn::IN_F64_RANGE } else { 0 };
        let start = words.len() as u32;
        if let Some(all) = &self.all_negated
            && arity > 64
        {
            flags |= DeviceHorn::LISTED;
            let word = |index: usize| all.get(index).copied().unwrap_or_default();
            words.try_extend((1..arity.div_ceil(64)).map(word))?;
        }
        Ok(DeviceHorn { values: self.values, negated: self.negated, flags, words: start })
    }

    /// The coefficients of a factor for a GPU that has the head, here at position `head`, in front of the others; the signs of
    /// the first 64 of these.
    pub(crate) fn to_device_head_first(&self, head: usize) -> DeviceHorn {
        let flags = if self.in_f64_range { DeviceHorn::IN_F64_RANGE } else { 0 };
        let before = if head < 64 { self.negated & ((1 << head) - 1) } else { self.negated };
        let after = if head < 63 { self.negated >> (head + 1) << (head + 1) } else { 0 };
        let negated = before << 1 | after;
        DeviceHorn { values: self.values, negated, flags, words: 0 }
    }

    /// Whether messages of a factor with few variables can be computed in `f64` where its inputs are near one.
    pub(crate) fn may_be_near(&self) -> bool {
        self.in_f64_range
    }

    /// Whether the literals at the first 64 positions are negated, as a bit for each.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn first_signs(&self) -> u64 {
        self.negated
    }

    #[inline(always)]
    pub(crate) fn is_negated(&self, position: usize) -> bool {
        if position < 64 {
            return self.negated >> position & 1 == 1;
        }
        match &self.all_negated {
            Some(all) => bit(all, position),
            None => self.negated >> 63 == 1,
        }
    }

    /// Whether `f64` arithmetic is exact for these inputs, in the sense of the kernel's module
    /// documentation. With b inputs within 2^-R..2^R and coefficients from 2^-64 to 2, every message
    /// is within 2^-+(2 (b + 1) (R + 1) + 66), which must stay below 1000.
    #[inline(always)]
    fn fits_f64(&self, inputs: &[EncodedMessage]) -> bool {
        self.in_f64_range
            && match inputs.len() {
                0..=5 => inputs.iter().all(|input| input.is_within::<88>()),
                6..=9 => inputs.iter().all(|input| input.is_within::<48>()),
                10..=17 => inputs.iter().all(|input| input.is_within::<22>()),
                _ => false,
            }
    }
}

/// Whether a bit of a list of words is set; words that the list does not have are 0.
pub(crate) fn bit(list: &[u64], index: usize) -> bool {
    list.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
}

/// Values of a factor over a power of two that leaves the largest of them between 2^-60 and 2, and
/// the exponent of that power; unchanged where some would get lost.
pub(crate) fn near_one(values: [f64; 4]) -> ([f64; 4], i64) {
    let exponents =
        || values.iter().filter(|&&v| v > 0.0).map(|&v| ExtendedFloat::from_f64(v).exponent());
    let (low, high) = (exponents().min().unwrap_or(0), exponents().max().unwrap_or(0));
    if (-60..=0).contains(&high) || low - high < -900 {
        return (values, 0);
    }
    (values.map(|value| ExtendedFloat::from_f64(value).scaled(-high).to_f64()), high)
}

impl Literals for HornCoefficients {
    #[inline(always)]
    fn values(&self) -> &Values<f64> {
        &self.values
    }

    #[inline(always)]
    fn literal<T: FromEncoded>(&self, position: usize, odds: EncodedMessage) -> Body<T> {
        Body::literal(T::weights(odds, self.is_negated(position)))
    }

    #[inline(always)]
    fn message<T: FromEncoded>(&self, position: usize, holds: T, fails: T) -> EncodedMessage {
        T::ratio(holds, fails, self.is_negated(position))
    }
}

scratch_by_number! {
    /// Memory for factors with a long body, kept between calls.
    HornScratch of pub(crate) BodyScratch
}

/// All messages of a factor from its inputs (odds of the messages from its variables, in their
/// order); 0/0 gives [`EncodedMessage::CONTRADICTION`]. O(arity). Errors: no memory for the scratch space; never for
/// up to eight variables.
#[inline]
pub(crate) fn horn_messages(
    inputs: &[EncodedMessage], head: usize, c: &HornCoefficients, inference: Inference,
    out: &mut [EncodedMessage], scratch: &mut HornScratch,
) -> Result<(), NoMemory> {
    match (inference, c.fits_f64(inputs)) {
        (Inference::SumProduct, true) => messages(inputs, head, c, out, &mut scratch.in_f64),
        (Inference::SumProduct, false) => messages(inputs, head, c, out, &mut scratch.extended),
        (Inference::MaxProduct, true) => messages(inputs, head, c, out, &mut scratch.in_f64_max),
        (Inference::MaxProduct, false) => messages(inputs, head, c, out, &mut scratch.extended_max),
    }
}

/// As [`horn_messages`] for sum-product and a factor with `N` = 1 to 8 variables, with nothing on the
/// heap.
#[inline(always)]
pub(crate) fn small_horn_messages<const N: usize>(
    inputs: &[EncodedMessage; N], head: usize, c: &HornCoefficients,
) -> [EncodedMessage; N] {
    let mut out = [EncodedMessage::ONE; N];
    // With one variable, a head alone in its own body, even near numbers can give 0/0.
    if (N > 1) & c.in_f64_range & are_near(inputs) {
        small_messages::<Near>(inputs, head, c, &mut out);
    } else {
        messages_in_any_range(inputs, head, c, c, &mut out);
    }
    out
}

/// Whether [`Near`] serves for these inputs, if it does for the coefficients.
#[inline(always)]
fn are_near<const N: usize>(inputs: &[EncodedMessage; N]) -> bool {
    if N <= 5 {
        EncodedMessage::all_near::<64>(inputs)
    } else {
        EncodedMessage::all_near::<32>(inputs)
    }
}

/// All messages where [`Near`] does not serve. `literals` are those of the coefficients, in the order of the inputs.
#[cold]
#[inline(never)]
fn messages_in_any_range(
    inputs: &[EncodedMessage], head: usize, c: &HornCoefficients, literals: &impl Literals,
    out: &mut [EncodedMessage],
) {
    if c.in_f64_range && may_be_balanced(inputs) {
        small_messages::<Balanced>(inputs, head, literals, out);
    } else {
        small_messages::<ExtendedFloat>(inputs, head, literals, out);
    }
}

/// Whether [`Balanced`] serves for these inputs, if it does for the coefficients.
#[inline(always)]
fn may_be_balanced(inputs: &[EncodedMessage]) -> bool {
    let exponents = EncodedMessage::sum_of_exponents(inputs);
    exponents.is_some_and(|sum| sum < BALANCED_EXPONENTS << 20)
}

/// [`small_horn_messages`] of a factor with at least two variables, where inputs and messages are in another order: those
/// of the head first, then those of the body as they stand. Nothing is looked up by a position that is only known at run
/// time, so that all of them stay in registers.
#[inline(always)]
pub(crate) fn head_first_messages<const N: usize>(
    inputs: &[EncodedMessage; N], head: usize, c: &HornCoefficients,
) -> [EncodedMessage; N] {
    let literals = HeadFirst { c, head };
    let mut out = [EncodedMessage::ONE; N];
    if c.in_f64_range & are_near(inputs) {
        small_messages::<Near>(inputs, 0, &literals, &mut out);
    } else {
        messages_in_any_range(inputs, 0, c, &literals, &mut out);
    }
    out
}

/// Position in a factor of a variable of which the number in the order of [`head_first_messages`] is known.
#[inline(always)]
pub(crate) fn head_first_position(number: usize, head: usize) -> usize {
    if number == 0 { head } else { number - usize::from(number <= head) }
}

/// Coefficients of a factor with at most 64 variables, in the order of [`head_first_messages`].
struct HeadFirst<'a> {
    c: &'a HornCoefficients,
    head: usize,
}

impl HeadFirst<'_> {
    #[inline(always)]
    fn is_negated(&self, number: usize) -> bool {
        self.c.negated.wrapping_shr(head_first_position(number, self.head) as u32) & 1 == 1
    }
}

impl Literals for HeadFirst<'_> {
    #[inline(always)]
    fn values(&self) -> &Values<f64> {
        &self.c.values
    }

    #[inline(always)]
    fn literal<T: FromEncoded>(&self, number: usize, odds: EncodedMessage) -> Body<T> {
        Body::literal(T::weights(odds, self.is_negated(number)))
    }

    #[inline(always)]
    fn message<T: FromEncoded>(&self, number: usize, holds: T, fails: T) -> EncodedMessage {
        T::ratio(holds, fails, self.is_negated(number))
    }
}

/// The message of a factor to the variable at one position, the input of which is not used.
/// O(arity). Errors: no memory for the scratch space.
pub(crate) fn horn_message(
    inputs: &mut [EncodedMessage], head: usize, target: usize, c: &HornCoefficients,
    inference: Inference, scratch: &mut HornScratch,
) -> Result<EncodedMessage, NoMemory> {
    inputs[target] = EncodedMessage::ONE;
    if inputs.len() <= 4 {
        let mut out = [EncodedMessage::ONE; 4];
        horn_messages(inputs, head, c, inference, &mut out[..inputs.len()], scratch)?;
        return Ok(out[target]);
    }
    match (inference, c.fits_f64(inputs)) {
        (Inference::SumProduct, true) => one_message(inputs, head, target, c, &mut scratch.in_f64),
        (Inference::SumProduct, false) => {
            one_message(inputs, head, target, c, &mut scratch.extended)
        }
        (Inference::MaxProduct, true) => {
            one_message(inputs, head, target, c, &mut scratch.in_f64_max)
        }
        (Inference::MaxProduct, false) => {
            one_message(inputs, head, target, c, &mut scratch.extended_max)
        }
    }
}

/// The factor summed against its inputs. O(arity).
pub(crate) fn horn_total(
    inputs: &[EncodedMessage], head: usize, c: &HornCoefficients,
) -> ExtendedFloat {
    super::body::total(inputs, head, c).scaled(c.exponent)
}

/// What single messages of a high-arity factor need, where its body is stored as the nodes of a tree.
impl HornCoefficients {
    /// The part of the body variable at a position.
    pub(crate) fn leaf<T: FromEncoded>(&self, position: usize, odds: EncodedMessage) -> Body<T> {
        self.literal(position, odds)
    }

    /// The message to the head, given the whole body.
    pub(crate) fn message_to_head<T: FromEncoded>(&self, body: Body<T>) -> EncodedMessage {
        head_message(body, &self.values)
    }

    /// The message to the body variable at a position, given the head's odds and the rest of the
    /// body.
    pub(crate) fn message_to_body<T: FromEncoded>(
        &self, position: usize, head: EncodedMessage, rest: Body<T>,
    ) -> EncodedMessage {
        let [holds, fails] = HeadWeights::new(head, &self.values).with_rest(rest);
        self.message(position, holds, fails)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::factor::{Factor, FactorKind, Horn, HornParameters, Signed, SignedParameters};
    use crate::kernel::Arithmetic;
    use proptest::prelude::*;

    pub(crate) fn input() -> impl Strategy<Value = EncodedMessage> {
        inputs(1e6, 200)
    }

    /// Mostly messages from 1 / `near` to `near`; also such with exponents up to `far`, and beyond those of `f64`.
    pub(crate) fn inputs(near: f64, far: i32) -> impl Strategy<Value = EncodedMessage> {
        prop_oneof![
            6 => (1.0 / near..near).prop_map(EncodedMessage::from_f64),
            2 => (-far..far).prop_map(|e| EncodedMessage::from_f64(1.3 * 2_f64.powi(e))),
            1 => (-1001..=1001).prop_map(|e| EncodedMessage::from_f64(1.9 * 2_f64.powi(e))),
            1 => (-9000_i64..9000).prop_map(|e| EncodedMessage::pack(ExtendedFloat::from_parts(1.7, e))),
            1 => Just(EncodedMessage::ZERO),
            1 => Just(EncodedMessage::INFINITY),
        ]
    }

    /// A conjunction of either description: its coefficients and its values at joint states.
    #[derive(Clone, Debug)]
    enum Description {
        Horn(HornParameters),
        Signed(SignedParameters),
    }

    impl Description {
        fn coefficients(&self) -> HornCoefficients {
            match self {
                Description::Horn(parameters) => HornCoefficients::of_horn(parameters),
                Description::Signed(parameters) => HornCoefficients::of_signed(parameters).unwrap(),
            }
        }

        fn value(&self, head: usize, states: &[usize]) -> f64 {
            let factor = match self {
                Description::Horn(HornParameters { kind, p, q, head_in_body }) => {
                    let (kind, head_in_body) = (*kind, *head_in_body);
                    let horn = Horn { kind, head, head_in_body, p: *p, q: *q };
                    if kind == FactorKind::And { Factor::And(horn) } else { Factor::Or(horn) }
                }
                Description::Signed(SignedParameters { values, negated }) => {
                    Factor::Signed(Signed { head, values: *values, negated })
                }
            };
            factor.value(states, states.iter().map(|_| 2))
        }
    }

    fn description() -> impl Strategy<Value = Description> {
        let probability =
            || prop_oneof![Just(0.0), Just(1.0), Just(0.5), Just(1e-200), Just(5e-324), 0.0..1.0];
        let horn = (any::<bool>(), probability(), probability(), any::<bool>()).prop_map(
            |(and, p, q, head_in_body)| {
                let kind = if and { FactorKind::And } else { FactorKind::Or };
                Description::Horn(HornParameters { kind, p, q, head_in_body })
            },
        );
        let value = || prop_oneof![Just(0.0), Just(1.0), Just(3e200), Just(1e-300), 0.0..1e5];
        let signed = (prop::array::uniform4(value()), any::<u64>()).prop_map(|(values, word)| {
            Description::Signed(SignedParameters { values, negated: vec![word] })
        });
        prop_oneof![horn, signed]
    }

    /// The definition: sums or maxima over all joint states.
    fn brute_force(
        inputs: &[EncodedMessage], head: usize, description: &Description, target: usize,
        inference: Inference,
    ) -> EncodedMessage {
        let mut sums = [ExtendedFloat::ZERO; 2];
        for index in 0..1_usize << inputs.len() {
            let states: Vec<usize> = (0..inputs.len()).map(|i| index >> i & 1).collect();
            let mut weight = ExtendedFloat::from_f64(description.value(head, &states));
            for (position, &input) in inputs.iter().enumerate() {
                if position != target {
                    let [state1, state0] = ExtendedFloat::weights(input, false);
                    weight = weight.multiply(if states[position] == 1 { state1 } else { state0 });
                }
            }
            let sum = &mut sums[states[target]];
            *sum = match inference {
                Inference::SumProduct => sum.add(weight),
                Inference::MaxProduct => sum.larger(weight),
            };
        }
        EncodedMessage::ratio(sums[1], sums[0])
    }

    pub(crate) fn close(a: EncodedMessage, b: EncodedMessage) -> bool {
        if a.is_deterministic() || b.is_deterministic() || a == EncodedMessage::CONTRADICTION {
            return a == b;
        }
        let ratio = a.unpack().divide(b.unpack());
        // Values that no f64 holds are kept with 40 bits.
        let tolerance = if a.is_within::<1000>() { 1e-13 } else { 1e-11 };
        ratio.exponent().abs() <= 1 && (ratio.to_f64() - 1.0).abs() < tolerance
    }

    proptest! {
        /// Every kind of number and every way to a message gives the same bits, and the values are
        /// those of the definition.
        #[test]
        fn all_ways_agree(
            inputs in prop::collection::vec(input(), 1..=10),
            head in 0_usize..10,
            description in description(),
            max in any::<bool>(),
        ) {
            let head = head % inputs.len();
            let c = description.coefficients();
            let inference = if max { Inference::MaxProduct } else { Inference::SumProduct };
            let mut scratch = HornScratch::default();
            let mut out = vec![EncodedMessage::ONE; inputs.len()];
            horn_messages(&inputs, head, &c, inference, &mut out, &mut scratch).unwrap();
            let mut extended = out.clone();
            if max {
                messages(&inputs, head, &c, &mut extended, &mut scratch.extended_max).unwrap();
            } else {
                messages(&inputs, head, &c, &mut extended, &mut scratch.extended).unwrap();
            }
            prop_assert_eq!(&out, &extended);
            macro_rules! small {
                ($($n:literal)*) => {$(
                    if let Some(inputs) = inputs.first_chunk::<$n>() {
                        if out.len() == $n && !max {
                            let small = small_horn_messages(inputs, head, &c);
                            prop_assert_eq!(&out[..], &small[..]);
                            if $n > 1 {
                                let at = |number| head_first_position(number, head);
                                let ordered = std::array::from_fn(|number| inputs[at(number).min($n - 1)]);
                                let ordered = head_first_messages::<$n>(&ordered, head, &c);
                                for (number, &message) in ordered.iter().enumerate() {
                                    prop_assert_eq!(out[at(number)], message);
                                }
                            }
                        }
                    }
                )*};
            }
            small!(1 2 3 4 5 6 7 8);
            for (target, &out) in out.iter().enumerate() {
                let mut own = inputs.clone();
                let one =
                    horn_message(&mut own, head, target, &c, inference, &mut scratch).unwrap();
                prop_assert_eq!(one, out);
                let expected = brute_force(&inputs, head, &description, target, inference);
                prop_assert!(close(one, expected), "{:?} for {:?}", one, expected);
            }
        }
    }

    #[test]
    fn a_factor_that_is_zero_everywhere_is_a_contradiction() {
        let parameters =
            HornParameters { kind: FactorKind::And, p: 0.0, q: 1.0, head_in_body: true };
        let c = HornCoefficients::of_horn(&parameters);
        assert_eq!(
            small_horn_messages(&[EncodedMessage::ONE], 0, &c),
            [EncodedMessage::CONTRADICTION]
        );
        let parameters = SignedParameters { values: [0.0; 4], negated: vec![1] };
        let c = HornCoefficients::of_signed(&parameters).unwrap();
        assert_eq!(
            small_horn_messages(&[EncodedMessage::ONE; 3], 2, &c),
            [EncodedMessage::CONTRADICTION; 3]
        );
    }

    /// 10,000 inputs of one half: 2^-10000 is neither zero nor a contradiction.
    #[test]
    fn long_bodies_do_not_underflow() {
        let parameters =
            HornParameters { kind: FactorKind::And, p: 1.0, q: 0.0, head_in_body: false };
        let c = HornCoefficients::of_horn(&parameters);
        let mut inputs = vec![EncodedMessage::ONE; 10_001];
        let mut out = inputs.clone();
        let scratch = &mut HornScratch::default();
        horn_messages(&inputs, 0, &c, Inference::SumProduct, &mut out, scratch).unwrap();
        assert_eq!(out[0].unpack().exponent(), -10_000);
        inputs[0] = EncodedMessage::INFINITY;
        let scratch = &mut HornScratch::default();
        horn_messages(&inputs, 0, &c, Inference::SumProduct, &mut out, scratch).unwrap();
        assert!(out[1..].iter().all(|&odds| odds == EncodedMessage::INFINITY));
    }
}
