//! Four numbers at once whose exponents are beyond the range of `f64`, in vector registers of AVX2: what [`ExtendedFloat`] is
//! for one. Few operations follow each other here, so that a significand is brought back to [1, 2) only where a message is
//! stored. Significands are rounded alike whatever power of two they are scaled by: the bits are those of [`ExtendedFloat`].
//!
//! [`ExtendedFloat`]: super::number::ExtendedFloat

use super::number::Arithmetic;
use super::packed::{EncodedMessage, F64_EXPONENT, LONG, LONG_LAYOUT, SHORT_LAYOUT, TAG};
use std::arch::x86_64::*;

/// Four non-negative numbers `significand * 2^exponent`, for products of up to [`MOST_FACTORS`] and sums of a few hundred of
/// these. They are made by functions only that require AVX2.
///
/// A significand is at least 1, and far from the largest `f64`. An exponent is the signed lower half of its lane, of which the
/// upper half is 0: there is a maximum of 32-bit numbers in AVX2, of 64-bit ones there is none. Numbers with exponents below
/// -[`BEYOND`] are zero, and with those above [`BEYOND`] infinite; only products may be infinite.
#[derive(Clone, Copy)]
pub(super) struct ExtendedFour {
    significand: __m256d,
    exponent: __m256i,
}

/// Most messages and coefficients in a product: those of a factor with eight variables.
const MOST_FACTORS: i32 = 9;
/// Larger than the exponent of any product or quotient of products of stored messages.
const BEYOND: i32 = 1 << 26;
/// Exponent of infinity; that of zero is its negative. Products with finite numbers stay beyond [`BEYOND`], those of
/// [`MOST_FACTORS`] zeros are in the range of exponents.
const INFINITE: i32 = 1 << 27;

const _: () = {
    let stored = LONG_LAYOUT.limit as i32 + 1;
    assert!(2 * MOST_FACTORS * stored < BEYOND && BEYOND < INFINITE - 2 * MOST_FACTORS * stored);
    assert!(INFINITE.checked_mul(MOST_FACTORS + 1).is_some());
};

const F64_BIAS: i32 = 1023;
const FRACTION: u64 = (1 << 52) - 1;

/// The same word in each lane.
pub(super) const fn words(word: u64) -> __m256i {
    // SAFETY: both are 32 bytes that any bits are valid for.
    unsafe { std::mem::transmute::<[u64; 4], __m256i>([word; 4]) }
}

/// The same exponent in each lane.
const fn exponents(exponent: i32) -> __m256i {
    words(exponent as u32 as u64)
}

impl ExtendedFour {
    const fn power_of_two(exponent: i32) -> Self {
        // SAFETY: as in `words`.
        let significand = unsafe { std::mem::transmute::<[f64; 4], __m256d>([1.0; 4]) };
        Self { significand, exponent: exponents(exponent) }
    }

    /// From stored messages, or from coefficients that are 0 or normal `f64`. Infinity is one.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of_finite(stored: __m256i, is_infinite: __m256i) -> Self {
        let mut fraction = stored;
        let mut exponent = _mm256_sub_epi32(_mm256_srli_epi64::<52>(stored), exponents(F64_BIAS));
        if _mm256_movemask_pd(_mm256_castsi256_pd(stored)) != 0 {
            (fraction, exponent) = unpack_tagged(stored, exponent);
        }
        let is_zero = _mm256_cmpeq_epi64(stored, _mm256_setzero_si256());
        let exponent = _mm256_or_si256(
            _mm256_andnot_si256(_mm256_or_si256(is_zero, is_infinite), exponent),
            _mm256_and_si256(is_zero, exponents(-INFINITE)),
        );
        let fraction = _mm256_and_si256(fraction, words(FRACTION));
        let significand = _mm256_or_si256(fraction, words(EncodedMessage::ONE.0));
        Self { significand: _mm256_castsi256_pd(significand), exponent }
    }

    /// From coefficients that are 0 or normal.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn of_f64(values: __m256d) -> Self {
        Self::of_finite(_mm256_castpd_si256(values), _mm256_setzero_si256())
    }

    /// Weights of the states 1 and 0, from stored odds.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn weights(odds: __m256i) -> [Self; 2] {
        let is_infinite = _mm256_cmpeq_epi64(odds, words(EncodedMessage::INFINITY.0));
        let state0 = _mm256_and_si256(is_infinite, exponents(-INFINITE));
        [Self::of_finite(odds, is_infinite), Self { exponent: state0, ..Self::ONE }]
    }

    /// Factors of a product, from stored odds.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn of_odds(odds: __m256i) -> Self {
        let is_infinite = _mm256_cmpeq_epi64(odds, words(EncodedMessage::INFINITY.0));
        let finite = Self::of_finite(odds, is_infinite);
        let infinite = _mm256_and_si256(is_infinite, exponents(INFINITE));
        Self { exponent: _mm256_or_si256(finite.exponent, infinite), ..finite }
    }

    /// Both numbers, exchanged in lanes with all bits set in `condition`, not in those with none.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn exchange(condition: __m256i, [a, b]: [Self; 2]) -> [Self; 2] {
        let mask = _mm256_castsi256_pd(condition);
        let significands = _mm256_and_pd(_mm256_xor_pd(a.significand, b.significand), mask);
        let exponents = _mm256_and_si256(_mm256_xor_si256(a.exponent, b.exponent), condition);
        let changed = |number: Self| Self {
            significand: _mm256_xor_pd(number.significand, significands),
            exponent: _mm256_xor_si256(number.exponent, exponents),
        };
        [changed(a), changed(b)]
    }

    /// The quotients as stored odds; 0/0 is a contradiction.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn ratio(self, divisor: Self) -> __m256i {
        let quotient = Self {
            significand: _mm256_div_pd(self.significand, divisor.significand),
            exponent: _mm256_sub_epi32(self.exponent, divisor.exponent),
        };
        let larger = _mm256_max_epi32(self.exponent, divisor.exponent);
        let is_contradiction = in_lanes(_mm256_cmpgt_epi32(exponents(-BEYOND), larger));
        const { assert!(EncodedMessage::CONTRADICTION.0 == u64::MAX) };
        _mm256_or_si256(quotient.stored(), is_contradiction)
    }

    /// The numbers as stored messages.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn stored(self) -> __m256i {
        let bits = _mm256_castpd_si256(self.significand);
        let biased = _mm256_add_epi32(self.exponent, _mm256_srli_epi64::<52>(bits));
        let is_in_f64_range = {
            let low = _mm256_cmpgt_epi32(biased, exponents(F64_BIAS - F64_EXPONENT as i32 - 1));
            let high = _mm256_cmpgt_epi32(exponents(F64_BIAS + F64_EXPONENT as i32 + 1), biased);
            _mm256_and_si256(low, high)
        };
        let stored = _mm256_add_epi64(bits, _mm256_slli_epi64::<52>(self.exponent));
        let lower_half = exponents(-1);
        if _mm256_testc_si256(is_in_f64_range, lower_half) == 1 {
            return stored;
        }
        let exponent = _mm256_sub_epi32(biased, exponents(F64_BIAS));
        let other = pack_other(_mm256_and_si256(bits, words(FRACTION)), exponent);
        _mm256_blendv_epi8(other, stored, in_lanes(is_in_f64_range))
    }
}

/// Largest exponent of odds for probabilities: those from 2^54 on have the probability 1.
const LARGEST_ODDS: i32 = 100;
/// Odds with an exponent below this one have the probability 0: it is below half of the smallest `f64`.
const VANISHING: i32 = -1080;

impl ExtendedFour {
    /// Odds in the range of `f64` that have the same probability of state 1, and for which of them there are such, as a condition:
    /// all but odds with a probability below the range of stored `f64`, where that is not 0.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn odds_for_probability(self) -> (__m256d, __m256i) {
        const { assert!(LARGEST_ODDS > 54 && VANISHING < -1075) };
        let bits = _mm256_castpd_si256(self.significand);
        let biased = _mm256_add_epi32(self.exponent, _mm256_srli_epi64::<52>(bits));
        let clamped = _mm256_min_epi32(biased, exponents(F64_BIAS + LARGEST_ODDS));
        let fraction = _mm256_and_si256(bits, words(FRACTION));
        let odds = _mm256_or_si256(fraction, _mm256_slli_epi64::<52>(clamped));
        let vanishes = in_lanes(_mm256_cmpgt_epi32(exponents(F64_BIAS + VANISHING), biased));
        let low = exponents(F64_BIAS - F64_EXPONENT as i32 - 1);
        let is_in_range = in_lanes(_mm256_cmpgt_epi32(biased, low));
        let odds = _mm256_castsi256_pd(_mm256_andnot_si256(vanishes, odds));
        (odds, _mm256_or_si256(vanishes, is_in_range))
    }

    /// The significands times 2^(exponent - `base` - [`F64_BIAS`]), for powers up to 1. What no rounding can see beside a number
    /// with the power 1 may be 0.
    #[inline(always)]
    fn times_power(self, base: __m256i) -> __m256d {
        // SAFETY: an `ExtendedFour` exists only where AVX2 does.
        unsafe {
            let biased = _mm256_sub_epi32(self.exponent, base);
            let biased = _mm256_max_epi32(biased, _mm256_setzero_si256());
            _mm256_mul_pd(self.significand, _mm256_castsi256_pd(_mm256_slli_epi64::<52>(biased)))
        }
    }
}

impl Arithmetic for ExtendedFour {
    const ZERO: Self = Self::power_of_two(-INFINITE);
    const ONE: Self = Self::power_of_two(0);
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        // SAFETY: an `ExtendedFour` exists only where AVX2 does.
        unsafe {
            Self {
                significand: _mm256_mul_pd(self.significand, other.significand),
                exponent: _mm256_add_epi32(self.exponent, other.exponent),
            }
        }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: as in `multiply`.
        unsafe {
            let top = _mm256_max_epi32(self.exponent, other.exponent);
            let base = _mm256_sub_epi32(top, exponents(F64_BIAS));
            let sum = _mm256_add_pd(self.times_power(base), other.times_power(base));
            Self { significand: sum, exponent: top }
        }
    }
}

/// A condition for the lower half of each lane, for the whole lane.
#[target_feature(enable = "avx2")]
#[inline]
fn in_lanes(condition: __m256i) -> __m256i {
    _mm256_shuffle_epi32::<0b10_10_00_00>(condition)
}

/// One of two words in each lane.
#[target_feature(enable = "avx2")]
#[inline]
fn choose(condition: __m256i, yes: u64, no: u64) -> __m256i {
    _mm256_blendv_epi8(words(no), words(yes), condition)
}

/// Fractions, with other bits before them, and exponents of stored messages of which some are tagged; those of the others are
/// the messages themselves, and `exponent`. See [`EncodedMessage::unpack`].
#[target_feature(enable = "avx2")]
#[inline]
fn unpack_tagged(stored: __m256i, exponent: __m256i) -> (__m256i, __m256i) {
    let zero = _mm256_setzero_si256();
    let is_tagged = _mm256_cmpgt_epi64(zero, stored);
    let is_long = _mm256_cmpgt_epi64(zero, _mm256_slli_epi64::<1>(stored));
    let Layouts { fraction_bits, dropped, bias, .. } = Layouts::of(is_long);
    let fraction = _mm256_sllv_epi64(stored, dropped);
    let biased = _mm256_andnot_si256(words(TAG | LONG), stored);
    let tagged = _mm256_sub_epi32(_mm256_srlv_epi64(biased, fraction_bits), bias);
    (
        _mm256_blendv_epi8(stored, fraction, is_tagged),
        _mm256_blendv_epi8(exponent, tagged, is_tagged),
    )
}

/// Stored messages with these fractions and exponents, where an exponent is not in the range of `f64`. See
/// [`EncodedMessage::pack`].
#[target_feature(enable = "avx2")]
#[inline]
fn pack_other(fraction: __m256i, exponent: __m256i) -> __m256i {
    let size = _mm256_abs_epi32(exponent);
    let is_long = in_lanes(_mm256_cmpgt_epi32(size, exponents(SHORT_LAYOUT.limit as i32)));
    let Layouts { fraction_bits, dropped, bias, marks } = Layouts::of(is_long);
    let limit = exponents(LONG_LAYOUT.limit as i32);
    let clamped = _mm256_min_epi32(exponent, limit);
    let clamped = _mm256_max_epi32(clamped, exponents(-LONG_LAYOUT.limit as i32));
    let one = words(1);
    let odd = _mm256_and_si256(_mm256_srlv_epi64(fraction, dropped), one);
    let half = _mm256_srli_epi64::<1>(_mm256_sllv_epi64(one, dropped));
    let below_half = _mm256_sub_epi64(half, one);
    let rounded = _mm256_add_epi64(_mm256_add_epi64(fraction, below_half), odd);
    let rounded = _mm256_srlv_epi64(rounded, dropped);
    let biased = _mm256_sllv_epi64(_mm256_add_epi32(clamped, bias), fraction_bits);
    let tagged = _mm256_or_si256(marks, _mm256_add_epi64(biased, rounded));
    let is_finite = in_lanes(_mm256_cmpgt_epi32(exponents(BEYOND), size));
    let is_infinite = in_lanes(_mm256_cmpgt_epi32(exponent, exponents(BEYOND)));
    let infinite = _mm256_and_si256(is_infinite, words(EncodedMessage::INFINITY.0));
    _mm256_blendv_epi8(infinite, tagged, is_finite)
}

/// How tagged values of four messages are laid out: see [`super::packed::Layout`].
struct Layouts {
    fraction_bits: __m256i,
    /// Bits of an `f64`'s fraction for which there is no room.
    dropped: __m256i,
    bias: __m256i,
    marks: __m256i,
}

impl Layouts {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of(is_long: __m256i) -> Self {
        let (long, short) = (&LONG_LAYOUT, &SHORT_LAYOUT);
        let fraction_bits = choose(is_long, long.fraction_bits.into(), short.fraction_bits.into());
        Self {
            fraction_bits,
            dropped: _mm256_sub_epi64(words(52), fraction_bits),
            bias: choose(is_long, long.bias as u64, short.bias as u64),
            marks: choose(is_long, TAG | LONG, TAG),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::kernel::number::ExtendedFloat;
    use proptest::prelude::*;

    /// Stored messages, mostly beyond the range of `f64` and next to where their form or their rounding changes.
    pub(in crate::kernel) fn message() -> impl Strategy<Value = EncodedMessage> {
        let near = |exponent: i64| (-2_i64..=2).prop_map(move |by| exponent + by);
        let size = prop_oneof![
            0_i64..2_100_000,
            0_i64..1000,
            near(F64_EXPONENT),
            near(SHORT_LAYOUT.limit),
            near(LONG_LAYOUT.limit),
        ];
        let low = prop_oneof![Just(0), 0_u64..1 << 13, (1_u64 << 52) - 8192..1 << 52];
        let fraction = prop_oneof![low, 0_u64..1 << 52];
        let finite = (fraction, size, any::<bool>()).prop_map(|(fraction, size, is_small)| {
            let significand = f64::from_bits(fraction | EncodedMessage::ONE.0);
            let exponent = if is_small { -size } else { size };
            EncodedMessage::pack(ExtendedFloat::from_parts(significand, exponent))
        });
        prop_oneof![
            10 => finite,
            1 => Just(EncodedMessage::ZERO),
            1 => Just(EncodedMessage::INFINITY),
        ]
    }

    fn in_lanes_of(messages: [EncodedMessage; 4]) -> __m256i {
        // SAFETY: a message is a word, and both are 32 bytes that any bits are valid for.
        unsafe { std::mem::transmute::<[EncodedMessage; 4], __m256i>(messages) }
    }

    fn of_lanes(stored: __m256i) -> [EncodedMessage; 4] {
        // SAFETY: as in `in_lanes_of`.
        unsafe { std::mem::transmute::<__m256i, [EncodedMessage; 4]>(stored) }
    }

    /// Weights of the states 1 and 0.
    fn weights(odds: EncodedMessage) -> [ExtendedFloat; 2] {
        if odds == EncodedMessage::INFINITY {
            [ExtendedFloat::ONE, ExtendedFloat::ZERO]
        } else {
            [odds.unpack(), ExtendedFloat::ONE]
        }
    }

    proptest! {
        #[test]
        fn four_extended_numbers_have_the_bits_of_each(
            a in prop::array::uniform4(message()),
            b in prop::array::uniform4(message()),
        ) {
            if !is_x86_feature_detected!("avx2") {
                return Ok(());
            }
            // SAFETY: there is AVX2.
            let (same, ratios) = unsafe {
                let ([a1, a0], [b1, b0]) =
                    (ExtendedFour::weights(in_lanes_of(a)), ExtendedFour::weights(in_lanes_of(b)));
                let same = ExtendedFour::of_odds(in_lanes_of(a)).stored();
                let cross = a1.multiply(b0).add(a0.multiply(b1));
                let both = a1.multiply(b1);
                let all = ExtendedFour::exchange(words(u64::MAX), [cross, both]);
                let none = ExtendedFour::exchange(words(0), [cross, both]);
                let ratios = [cross.ratio(both), all[0].ratio(all[1]), none[0].ratio(none[1]), both.ratio(a0)];
                (same, ratios.map(of_lanes))
            };
            for lane in 0..4 {
                let expected = if a[lane].is_deterministic() { a[lane] } else { EncodedMessage::pack(a[lane].unpack()) };
                prop_assert_eq!(of_lanes(same)[lane], expected);
                let ([a1, a0], [b1, b0]) = (weights(a[lane]), weights(b[lane]));
                let cross = a1.multiply(b0).add(a0.multiply(b1));
                let both = a1.multiply(b1);
                let expected = [(cross, both), (both, cross), (cross, both), (both, a0)];
                for (ratios, (numerator, denominator)) in ratios.iter().zip(expected) {
                    prop_assert_eq!(ratios[lane], EncodedMessage::ratio(numerator, denominator));
                }
            }
        }
    }
}
