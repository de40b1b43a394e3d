//! The 64-bit form in which messages are stored.

use super::number::{Arithmetic, ExtendedFloat, Real};

/// One value of a message: the odds m(1)/m(0) of a binary variable, or the weight of one state of
/// another variable, relative to the message's other states.
///
/// * Values from 2^-1000 to 2^1000, 0 and infinity are the bits of the `f64`.
/// * Other positive values, which have no place in an `f64`, set the sign bit. With exponents up to
///   16,000 a zero bit follows, a 15-bit biased exponent and 47 bits of fraction; beyond, up to 2
///   million, a one, a 22-bit exponent and 40 bits of fraction. So a message from a high-degree variable with 10^5
///   neighbours is never mistaken for a certain one. Fractions are rounded to nearest, ties to even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct EncodedMessage(pub(crate) u64);

pub(super) const TAG: u64 = 1 << 63;
/// Marks the form with the longer exponent.
pub(super) const LONG: u64 = 1 << 62;

/// How a tagged value is laid out below its marks.
pub(super) struct Layout {
    pub(super) fraction_bits: u32,
    pub(super) bias: i64,
    /// Largest exponent, up or down; rounding up may exceed it by one.
    pub(super) limit: i64,
}

pub(super) const SHORT_LAYOUT: Layout = Layout { fraction_bits: 47, bias: 1 << 14, limit: 16_000 };
pub(super) const LONG_LAYOUT: Layout =
    Layout { fraction_bits: 40, bias: 1 << 21, limit: (1 << 21) - 3 };

/// Exponents of values stored as an `f64` are within +-1000.
pub(super) const F64_EXPONENT: i64 = 1000;

const fn power_bits(exponent: i64) -> u64 {
    ((1023 + exponent) as u64) << 52
}

impl EncodedMessage {
    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const ONE: Self = Self(power_bits(0));
    pub(crate) const INFINITY: Self = Self(0x7ff << 52);
    /// What a kernel gives for 0/0; never stored.
    pub(crate) const CONTRADICTION: Self = Self(u64::MAX);

    /// Whether the value is 0 or infinity: a deterministic message, if it is the odds of one.
    #[inline(always)]
    pub(crate) fn is_deterministic(self) -> bool {
        (self.0 == 0) | (self.0 == Self::INFINITY.0)
    }

    /// Whether these are the bits of a value that can be stored.
    pub(crate) fn is_valid(self) -> bool {
        self.is_deterministic()
            || self.is_positive_in_f64_range()
            || (self.0 & TAG != 0 && Self::pack(self.unpack()) == self)
    }

    /// Whether the value is 0, infinity or within 2^-`RANGE`..=2^`RANGE`.
    #[inline(always)]
    pub(crate) fn is_within<const RANGE: i64>(self) -> bool {
        let low = power_bits(-RANGE);
        let high = power_bits(RANGE);
        (self.0.wrapping_sub(low) <= high - low) | self.is_deterministic()
    }

    /// Whether all values are positive and within 2^-`HALF`..2^`HALF`; `HALF` is a power of two.
    /// Neither 0 nor infinity is.
    #[inline(always)]
    pub(crate) fn all_near<const HALF: i64>(values: &[Self]) -> bool {
        const { assert!(HALF.count_ones() == 1) };
        // A value is in range if its distance from the lower end is below a power of two, so one
        // test of the bits of all distances serves.
        let low = power_bits(-HALF);
        let distances = values.iter().fold(0, |bits, value| bits | value.0.wrapping_sub(low));
        distances < (2 * HALF as u64) << 52
    }

    /// Whether the value is 0 or within 2^-100..2, as most weights of states are: relative to one in 1..2.
    #[inline(always)]
    pub(super) fn is_near_weight(self) -> bool {
        let low = power_bits(-100);
        (self.0.wrapping_sub(low) < power_bits(1) - low) | (self.0 == 0)
    }

    /// Whether these are weights of states of which the largest is within 1..2, the others not far below or 0: a message as
    /// a product of few is stored.
    #[inline(always)]
    pub(crate) fn are_near_weights(values: impl Iterator<Item = Self>) -> bool {
        let (mut near, mut largest) = (true, 0);
        for value in values {
            near &= value.is_near_weight();
            largest = largest.max(value.0);
        }
        near && largest >= Self::ONE.0
    }

    /// Whether the value is stored as an `f64`.
    #[inline(always)]
    pub(crate) fn is_in_f64_range(self) -> bool {
        self.0 & TAG == 0
    }

    /// Whether the value may be certain: true of 0, infinity and values that no `f64` holds.
    #[inline(always)]
    pub(crate) fn may_be_deterministic(self) -> bool {
        self.0.wrapping_sub(1) >= Self::INFINITY.0 - 1
    }

    /// 2^-(e / 2), rounded up, for a value with the exponent e that is stored as an `f64`; 1 for 0 and infinity.
    #[inline(always)]
    pub(super) fn balancing_power(self) -> f64 {
        let distance =
            if self.is_deterministic() { 0 } else { (self.0 as i64) - Self::ONE.0 as i64 };
        let half = (distance >> 1) as u64 & !((1 << 52) - 1);
        f64::from_bits(Self::ONE.0.wrapping_sub(half))
    }

    /// The sum of the exponents of values that are not certain, up or down, in parts of 2^-20; `None` where some are not stored as
    /// `f64`.
    #[inline(always)]
    pub(super) fn sum_of_exponents(values: &[Self]) -> Option<u64> {
        let (mut sum, mut marks) = (0, 0);
        for value in values {
            let distance = (value.0 >> 32) as i64 - (Self::ONE.0 >> 32) as i64;
            sum += if value.is_deterministic() { 0 } else { distance.unsigned_abs() };
            marks |= value.0;
        }
        (marks & TAG == 0).then_some(sum)
    }

    /// The value as an `f64`; right only for values that are stored as one.
    #[inline(always)]
    pub(crate) fn stored_f64(self) -> f64 {
        f64::from_bits(self.0)
    }

    /// From a product of factors near one (see [`Self::all_near`]): within 2^-1000..=2^1000.
    #[inline(always)]
    pub(super) fn from_near_product(value: f64) -> Self {
        let stored = Self(value.to_bits());
        debug_assert!(stored.is_within::<F64_EXPONENT>() && !stored.is_deterministic());
        stored
    }

    /// From a product of factors near one (see [`Self::all_near`]) times 2^`exponent`, if an `f64` holds it.
    #[inline(always)]
    pub(super) fn from_scaled_near_product(value: f64, exponent: i64) -> Option<Self> {
        let scaled = (value.to_bits() >> 52) as i64 - 1023 + exponent;
        (-F64_EXPONENT..=F64_EXPONENT)
            .contains(&scaled)
            .then(|| Self(value.to_bits().wrapping_add((exponent as u64) << 52)))
    }

    /// From a quotient of numbers that [`Self::all_near`] and the coefficients bound: 0, infinity or within
    /// 2^-1000..=2^1000.
    #[inline(always)]
    pub(super) fn from_near_ratio(value: f64) -> Self {
        let stored = Self(value.to_bits());
        debug_assert!(stored.is_within::<F64_EXPONENT>());
        stored
    }

    /// The quotient of two finite numbers that are not negative; 0/0 is a contradiction. A quotient
    /// that no `f64` holds is taken from the numbers themselves, so that every word this gives is valid.
    #[inline(always)]
    pub(super) fn ratio_of_f64(numerator: f64, denominator: f64) -> Self {
        let ratio = Self((numerator / denominator).to_bits());
        if ratio.is_positive_in_f64_range() {
            ratio
        } else {
            Self::other_ratio_of_f64(numerator, denominator)
        }
    }

    #[cold]
    #[inline(never)]
    fn other_ratio_of_f64(numerator: f64, denominator: f64) -> Self {
        Self::ratio(ExtendedFloat::from_f64(numerator), ExtendedFloat::from_f64(denominator))
    }

    /// Whether the value is positive and stored as an `f64`.
    #[inline(always)]
    fn is_positive_in_f64_range(self) -> bool {
        let low = power_bits(-F64_EXPONENT);
        self.0.wrapping_sub(low) < power_bits(F64_EXPONENT + 1) - low
    }

    /// From any `f64` that is not negative and not NaN.
    pub(crate) fn from_f64(value: f64) -> Self {
        if value.is_infinite() {
            Self::INFINITY
        } else {
            Self::pack(ExtendedFloat::from_f64(value))
        }
    }

    /// Stores a finite value.
    #[inline]
    pub(crate) fn pack(value: ExtendedFloat) -> Self {
        let fraction = value.significand().to_bits() & ((1 << 52) - 1);
        let exponent = value.exponent();
        if (-F64_EXPONENT..=F64_EXPONENT).contains(&exponent) {
            Self(fraction | power_bits(exponent))
        } else if value.is_zero() {
            Self::ZERO
        } else {
            let short = exponent.abs() <= SHORT_LAYOUT.limit;
            let layout = if short { SHORT_LAYOUT } else { LONG_LAYOUT };
            let exponent = exponent.clamp(-layout.limit, layout.limit);
            let drop = 52 - layout.fraction_bits;
            let odd = (fraction >> drop) & 1;
            let rounded = (fraction + (1 << (drop - 1)) - 1 + odd) >> drop;
            // A fraction that rounds up to the next power of two carries into the exponent.
            let biased = ((exponent + layout.bias) as u64) << layout.fraction_bits;
            Self(TAG | if short { 0 } else { LONG } | (biased + rounded))
        }
    }

    /// The value, where it is not infinite.
    #[inline(always)]
    pub(crate) fn unpack(self) -> ExtendedFloat {
        if self.0 & TAG == 0 {
            if self.0 == 0 {
                return ExtendedFloat::ZERO;
            }
            let significand = f64::from_bits((self.0 & ((1 << 52) - 1)) | power_bits(0));
            ExtendedFloat::from_parts(significand, (self.0 >> 52) as i64 - 1023)
        } else {
            let layout = if self.0 & LONG == 0 { SHORT_LAYOUT } else { LONG_LAYOUT };
            let fraction =
                (self.0 & ((1 << layout.fraction_bits) - 1)) << (52 - layout.fraction_bits);
            let biased = (self.0 & !(TAG | LONG)) >> layout.fraction_bits;
            let exponent = biased as i64 - layout.bias;
            ExtendedFloat::from_parts(f64::from_bits(fraction | power_bits(0)), exponent)
        }
    }

    /// The quotient of two numbers that are not negative: 0/0 is a contradiction.
    #[inline(always)]
    pub(crate) fn ratio(numerator: ExtendedFloat, denominator: ExtendedFloat) -> Self {
        match (numerator.is_zero(), denominator.is_zero()) {
            (false, false) => Self::pack(numerator.divide(denominator)),
            (true, false) => Self::ZERO,
            (false, true) => Self::INFINITY,
            (true, true) => Self::CONTRADICTION,
        }
    }

    /// Probabilities of the states 0 and 1 from the odds: each as exact as an `f64` can hold it.
    #[inline]
    pub(crate) fn probabilities(self) -> [f64; 2] {
        if self == Self::INFINITY {
            return [0.0, 1.0];
        }
        if self.is_within::<F64_EXPONENT>() {
            let odds = self.stored_f64();
            let total = odds + 1.0;
            return [1.0 / total, odds / total];
        }
        Self::odds_to_probabilities(self.unpack())
    }

    /// The probability of state 1, as in [`Self::probabilities`].
    #[inline]
    pub(crate) fn probability(self) -> f64 {
        if self.is_within::<F64_EXPONENT>() && self != Self::INFINITY {
            let odds = self.stored_f64();
            odds / (odds + 1.0)
        } else {
            self.probabilities()[1]
        }
    }

    /// [`Self::probability`] of four messages, without a branch where all are within the range of `f64`.
    #[inline(always)]
    pub(crate) fn probabilities_of_four(odds: [Self; 4]) -> [f64; 4] {
        let are_within = odds.iter().fold(true, |all, odds| all & odds.is_within::<F64_EXPONENT>());
        if !are_within {
            return odds.map(Self::probability);
        }
        odds.map(|odds| {
            let is_infinite = odds == Self::INFINITY;
            let odds = if is_infinite { 1.0 } else { odds.stored_f64() };
            odds / if is_infinite { 1.0 } else { odds + 1.0 }
        })
    }

    /// See [`Self::probabilities`].
    pub(crate) fn odds_to_probabilities(odds: ExtendedFloat) -> [f64; 2] {
        let total = odds.add(ExtendedFloat::ONE);
        [
            ExtendedFloat::ONE.divide(total).to_f64(),
            if odds.is_zero() { 0.0 } else { odds.divide(total).to_f64() },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn four_probabilities_are_those_of_each(
            odds in prop::array::uniform4(prop_oneof![
                6 => (1e-300_f64..1e300).prop_map(EncodedMessage::from_f64),
                4 => (1e-3_f64..1e3).prop_map(EncodedMessage::from_f64),
                1 => Just(EncodedMessage::ZERO),
                1 => Just(EncodedMessage::INFINITY),
                1 => (1.0_f64..2.0, -5000_i64..5000)
                    .prop_map(|(x, e)| EncodedMessage::pack(ExtendedFloat::from_f64(x).scaled(e))),
            ]),
        ) {
            let each = odds.map(EncodedMessage::probability);
            let four = EncodedMessage::probabilities_of_four(odds);
            prop_assert_eq!(four.map(f64::to_bits), each.map(f64::to_bits));
        }

        #[test]
        fn values_in_f64_range_are_kept_exactly(value in 1e-300_f64..1e300) {
            prop_assert_eq!(EncodedMessage::from_f64(value).stored_f64(), value);
            prop_assert_eq!(EncodedMessage::from_f64(value).unpack().to_f64(), value);
        }

        #[test]
        fn other_values_keep_most_bits(
            s in 1.0_f64..2.0,
            e in prop_oneof![1001_i64..20_000, 1001_i64..2_000_000],
            sign in any::<bool>(),
        ) {
            let e = if sign { -e } else { e };
            let back = EncodedMessage::pack(ExtendedFloat::from_parts(s, e)).unpack();
            let relative = back.scaled(-e).to_f64() / s - 1.0;
            let bits = if e.abs() <= 16_000 { 48 } else { 41 };
            prop_assert!(relative.abs() <= 2_f64.powi(-bits));
            // Packing is idempotent.
            prop_assert_eq!(EncodedMessage::pack(back), EncodedMessage::pack(ExtendedFloat::from_parts(s, e)));
        }

        #[test]
        fn probabilities_add_up(odds in 1e-200_f64..1e200) {
            let [p0, p1] = EncodedMessage::from_f64(odds).probabilities();
            prop_assert!((p0 + p1 - 1.0).abs() < 1e-15);
            prop_assert!((p1 / p0 / odds - 1.0).abs() < 1e-15);
            prop_assert_eq!(EncodedMessage::from_f64(odds).probability(), p1);
            let extended = EncodedMessage::odds_to_probabilities(ExtendedFloat::from_f64(odds));
            prop_assert_eq!(extended, [p0, p1]);
        }
    }

    #[test]
    fn near_values() {
        let near = |x: f64| {
            EncodedMessage::all_near::<64>(&[EncodedMessage::ONE, EncodedMessage::from_f64(x)])
        };
        assert!(near(1.0) && near(2_f64.powi(-64)) && near(1.999 * 2_f64.powi(63)));
        assert!(!near(2_f64.powi(64)) && !near(1.999 * 2_f64.powi(-65)));
        assert!(!near(0.0) && !near(f64::INFINITY) && !near(1e300));
        let far = EncodedMessage::pack(ExtendedFloat::from_parts(1.0, 5000));
        assert!(!EncodedMessage::all_near::<64>(&[far]) && far.may_be_deterministic());
        assert!(
            EncodedMessage::ZERO.may_be_deterministic()
                && EncodedMessage::INFINITY.may_be_deterministic()
        );
        assert!(
            !EncodedMessage::ONE.may_be_deterministic()
                && !EncodedMessage::from_f64(1e-300).may_be_deterministic()
        );
    }

    #[test]
    fn certain_values() {
        assert_eq!(EncodedMessage::ZERO.probabilities(), [1.0, 0.0]);
        assert_eq!(EncodedMessage::INFINITY.probabilities(), [0.0, 1.0]);
        assert_eq!(EncodedMessage::pack(ExtendedFloat::ZERO), EncodedMessage::ZERO);
        assert!(
            EncodedMessage::ZERO.is_within::<10>() && EncodedMessage::INFINITY.is_within::<10>()
        );
        assert!(!EncodedMessage::from_f64(5000.0).is_within::<10>());
        assert!(!EncodedMessage::pack(ExtendedFloat::from_parts(1.0, 5000)).is_within::<1000>());
        // Out of the range of exponents, a value stays positive and finite.
        for exponent in [i64::from(i32::MAX), -i64::from(i32::MAX)] {
            let kept =
                EncodedMessage::pack(ExtendedFloat::from_parts(1.999_999_999_999_999, exponent));
            assert!(kept.0 & TAG != 0 && kept != EncodedMessage::CONTRADICTION);
            assert_eq!(kept.unpack().exponent() > 0, exponent > 0);
        }
    }
}
