//! Messages of four nodes at once, in vector registers of AVX2. Each number is computed by the operations, in the order, of the
//! functions for one node, so that bits are the same. What is here serves only where [`is_available`].

use super::body::{
    BALANCED_EXPONENTS, Body, HeadWeights, Literals, SMALL_ARITY, SmallFactor, Values, send_small,
    weights_of_head,
};
use super::extended_four::{ExtendedFour, words};
use super::horn::{HornCoefficients, head_first_position};
use super::number::Arithmetic;
use super::packed::{EncodedMessage, F64_EXPONENT};
use super::tree::{Monoid, leave_one_out_of_eight};
use std::arch::x86_64::*;

/// Number of nodes.
pub(crate) const FOUR: usize = 4;

/// Whether the processor has what this file needs.
pub(crate) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
}

/// Four numbers. They are made by functions only that require AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Four(pub(super) __m256d);

impl Four {
    pub(crate) const fn splat(value: f64) -> Self {
        // SAFETY: both are 32 bytes that any bits are valid for.
        Self(unsafe { std::mem::transmute::<[f64; FOUR], __m256d>([value; FOUR]) })
    }

    /// Stored messages that are within the range of `f64`.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn of([a, b, c, d]: [EncodedMessage; FOUR]) -> Self {
        let words = _mm256_setr_epi64x(a.0 as i64, b.0 as i64, c.0 as i64, d.0 as i64);
        Self(_mm256_castsi256_pd(words))
    }

    /// `N` stored messages in a row at each of four places, the first ones together and so on; all are within the range of
    /// `f64`.
    ///
    /// # Safety
    ///
    /// There are `N` messages at each place, to which nobody writes at the same time.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) unsafe fn columns<const N: usize>([a, b, c, d]: [*const f64; FOUR]) -> [Self; N] {
        let mut columns = [Self::splat(1.0); N];
        for at in (0..N / 2).map(|pair| 2 * pair) {
            // SAFETY: two messages are left at each place.
            let (low, high) = unsafe {
                (
                    [_mm_loadu_pd(a.add(at)), _mm_loadu_pd(b.add(at))],
                    [_mm_loadu_pd(c.add(at)), _mm_loadu_pd(d.add(at))],
                )
            };
            let first_and_third = _mm256_set_m128d(high[0], low[0]);
            let others = _mm256_set_m128d(high[1], low[1]);
            columns[at] = Self(_mm256_unpacklo_pd(first_and_third, others));
            columns[at + 1] = Self(_mm256_unpackhi_pd(first_and_third, others));
        }
        if N % 2 == 1 {
            let last = N - 1;
            // SAFETY: one message is left at each place.
            columns[last] = Self(unsafe {
                _mm256_setr_pd(*a.add(last), *b.add(last), *c.add(last), *d.add(last))
            });
        }
        columns
    }

    /// How far apart each is from another number.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn distance(self, other: Self) -> Self {
        let sign = _mm256_set1_pd(-0.0);
        Self(_mm256_andnot_pd(sign, _mm256_sub_pd(self.0, other.0)))
    }

    /// Which of the numbers exceed a bound, as a bit for each.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn above(self, bound: f64) -> u32 {
        let above = _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, _mm256_set1_pd(bound));
        _mm256_movemask_pd(above) as u32
    }

    /// The numbers as stored messages.
    #[inline(always)]
    pub(crate) fn stored(self) -> [EncodedMessage; FOUR] {
        // SAFETY: a message is a word, and both are 32 bytes that any bits are valid for.
        unsafe { std::mem::transmute::<__m256d, [EncodedMessage; FOUR]>(self.0) }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn words(self) -> __m256i {
        _mm256_castpd_si256(self.0)
    }
}

impl Arithmetic for Four {
    const ZERO: Self = Self::splat(0.0);
    const ONE: Self = Self::splat(1.0);
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        // SAFETY: a `Four` exists only where AVX2 does.
        Self(unsafe { _mm256_mul_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: as in `multiply`.
        Self(unsafe { _mm256_add_pd(self.0, other.0) })
    }
}

/// A condition for each of four nodes: all bits, or none.
#[derive(Clone, Copy)]
struct Condition(__m256i);

/// Numbers that messages of four factors are computed with.
trait Numbers: Arithmetic {
    /// Both numbers, exchanged where the condition holds.
    fn exchange(condition: Condition, numbers: [Self; 2]) -> [Self; 2];
    /// The quotients as stored odds.
    fn ratio(weights: [Self; 2]) -> Four;
}

impl Numbers for Four {
    #[inline(always)]
    fn exchange(Condition(mask): Condition, [a, b]: [Self; 2]) -> [Self; 2] {
        // SAFETY: a `Four` exists only where AVX2 does.
        unsafe {
            let difference = _mm256_and_pd(_mm256_xor_pd(a.0, b.0), _mm256_castsi256_pd(mask));
            [Self(_mm256_xor_pd(a.0, difference)), Self(_mm256_xor_pd(b.0, difference))]
        }
    }
    #[inline(always)]
    fn ratio([state1, state0]: [Self; 2]) -> Four {
        // SAFETY: as in `exchange`.
        Self(unsafe { _mm256_div_pd(state1.0, state0.0) })
    }
}

impl Numbers for ExtendedFour {
    #[inline(always)]
    fn exchange(Condition(mask): Condition, numbers: [Self; 2]) -> [Self; 2] {
        // SAFETY: an `ExtendedFour` exists only where AVX2 does.
        unsafe { Self::exchange(mask, numbers) }
    }
    #[inline(always)]
    fn ratio([state1, state0]: [Self; 2]) -> Four {
        // SAFETY: as in `exchange`.
        Four(unsafe { _mm256_castsi256_pd(state1.ratio(state0)) })
    }
}

/// Which of four nodes have inputs that are all positive and within 2^-`HALF`..2^`HALF`, as a bit for each: see
/// [`EncodedMessage::all_near`]. With `DETERMINISTIC`, inputs may also be 0 or infinite.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn near<const HALF: u64, const DETERMINISTIC: bool>(inputs: &[Four]) -> u32 {
    const { assert!(HALF.is_power_of_two()) };
    let low = _mm256_set1_epi64x(((1023 - HALF) << 52) as i64);
    let mut distances = _mm256_setzero_si256();
    for input in inputs {
        let word = input.words();
        let mut distance = _mm256_sub_epi64(word, low);
        if DETERMINISTIC {
            let is_zero = _mm256_cmpeq_epi64(word, _mm256_setzero_si256());
            let is_deterministic = _mm256_or_si256(is_zero, is_infinite(*input));
            distance = _mm256_andnot_si256(is_deterministic, distance);
        }
        distances = _mm256_or_si256(distances, distance);
    }
    // Below the power of two, if no higher bit is set.
    let higher = _mm256_set1_epi64x(!(((2 * HALF) << 52) - 1) as i64);
    let beyond = _mm256_and_si256(distances, higher);
    let is_near = _mm256_cmpeq_epi64(beyond, _mm256_setzero_si256());
    lanes_of(is_near)
}

/// [`near`] of nodes with `N` inputs, with a `HALF` such that products of them are within 2^-1000..2^1000, the range of stored `f64`.
#[target_feature(enable = "avx2")]
#[inline]
fn near_for_products<const N: usize, const DETERMINISTIC: bool>(inputs: &[Four; N]) -> u32 {
    match N {
        1..=3 => near::<256, DETERMINISTIC>(inputs),
        4..=7 => near::<128, DETERMINISTIC>(inputs),
        _ => near::<64, DETERMINISTIC>(inputs),
    }
}

/// [`near`] of factors with `N` variables. Products of all inputs but one are within 2^-256..2^256, as for one factor, of which less
/// is asked with two or three variables.
#[target_feature(enable = "avx2")]
#[inline]
fn near_for_factors<const N: usize, const DETERMINISTIC: bool>(inputs: &[Four; N]) -> u32 {
    match N {
        2 => near::<256, DETERMINISTIC>(inputs),
        3 => near::<128, DETERMINISTIC>(inputs),
        4..=5 => near::<64, DETERMINISTIC>(inputs),
        _ => near::<32, DETERMINISTIC>(inputs),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn is_infinite(number: Four) -> __m256i {
    let infinity = _mm256_set1_epi64x(EncodedMessage::INFINITY.0 as i64);
    _mm256_cmpeq_epi64(number.words(), infinity)
}

/// Which of four numbers are such, and not 0/0 or the product of 0 and infinity, as a bit for each.
#[target_feature(enable = "avx2")]
#[inline]
fn are_numbers(numbers: &[Four]) -> u32 {
    let mut none = _mm256_setzero_pd();
    for number in numbers {
        none = _mm256_or_pd(none, _mm256_cmp_pd::<_CMP_UNORD_Q>(number.0, number.0));
    }
    !(_mm256_movemask_pd(none) as u32) & ALL
}

/// The bits of all four.
pub(crate) const ALL: u32 = (1 << FOUR) - 1;

/// The values of four factors.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose([a, b, c, d]: [&Values<f64>; FOUR]) -> Values<Four> {
    // SAFETY: 32 bytes each.
    let rows = unsafe {
        [
            _mm256_loadu_pd(a.as_flattened().as_ptr()),
            _mm256_loadu_pd(b.as_flattened().as_ptr()),
            _mm256_loadu_pd(c.as_flattened().as_ptr()),
            _mm256_loadu_pd(d.as_flattened().as_ptr()),
        ]
    };
    let (low, high) = (_mm256_unpacklo_pd(rows[0], rows[1]), _mm256_unpackhi_pd(rows[0], rows[1]));
    let (low2, high2) =
        (_mm256_unpacklo_pd(rows[2], rows[3]), _mm256_unpackhi_pd(rows[2], rows[3]));
    [
        [
            Four(_mm256_permute2f128_pd::<0x20>(low, low2)),
            Four(_mm256_permute2f128_pd::<0x20>(high, high2)),
        ],
        [
            Four(_mm256_permute2f128_pd::<0x31>(low, low2)),
            Four(_mm256_permute2f128_pd::<0x31>(high, high2)),
        ],
    ]
}

/// Four conjunctions of `N` variables with the head at one position. Inputs and messages are those of the head, then those of
/// the body.
struct FourFactors<T, const N: usize> {
    /// Weights of the states 1 and 0 of each variable.
    weights: [[T; 2]; N],
    values: Values<T>,
    /// Which literals of the body are x = 0; that of the head is not used.
    negated: [Condition; N],
    out: [Four; N],
}

impl<T: Numbers, const N: usize> FourFactors<T, N> {
    #[inline(always)]
    fn messages(weights: [[T; 2]; N], values: Values<T>, negated: [Condition; N]) -> [Four; N] {
        let mut factors = Self { weights, values, negated, out: [Four::ONE; N] };
        send_small(N, &mut factors);
        factors.out
    }
}

impl<T: Numbers, const N: usize> SmallFactor<T> for FourFactors<T, N> {
    #[inline(always)]
    fn literal(&self, body: usize) -> Body<T> {
        Body::literal(T::exchange(self.negated[body + 1], self.weights[body + 1]))
    }
    #[inline(always)]
    fn head_weights(&self) -> HeadWeights<T> {
        HeadWeights::of(self.weights[0], self.values)
    }
    #[inline(always)]
    fn send_to_head(&mut self, body: Body<T>) {
        self.out[0] = T::ratio(weights_of_head(body, self.values));
    }
    #[inline(always)]
    fn send_to_body(&mut self, body: usize, weights: [T; 2]) {
        self.out[body + 1] = T::ratio(T::exchange(self.negated[body + 1], weights));
    }
}

/// Coefficients of four conjunctions of `N` variables with the head at one position.
#[derive(Clone, Copy)]
pub(crate) struct FourCoefficients<const N: usize> {
    values: Values<Four>,
    negated: [Condition; N],
}

impl<const N: usize> FourCoefficients<N> {
    /// Of no factors.
    pub(crate) const NONE: Self = {
        // SAFETY: 32 bytes that any bits are valid for.
        let no = Condition(unsafe { std::mem::transmute::<[u64; FOUR], __m256i>([0; FOUR]) });
        Self { values: [[Four::splat(0.0); 2]; 2], negated: [no; N] }
    };

    #[target_feature(enable = "avx2")]
    pub(crate) fn new(coefficients: [&HornCoefficients; FOUR], head: usize) -> Self {
        let [a, b, c, d] = coefficients;
        let values = transpose([a.values(), b.values(), c.values(), d.values()]);
        let signs = coefficients.map(|coefficients| coefficients.first_signs() as i64);
        let signs = _mm256_setr_epi64x(signs[0], signs[1], signs[2], signs[3]);
        let mut negated = [Condition(_mm256_setzero_si256()); N];
        for (number, negated) in negated.iter_mut().enumerate() {
            // The bit of the position becomes the sign.
            let shift = _mm_cvtsi32_si128(63 - head_first_position(number, head) as i32);
            let sign = _mm256_sll_epi64(signs, shift);
            *negated = Condition(_mm256_cmpgt_epi64(_mm256_setzero_si256(), sign));
        }
        Self { values, negated }
    }
}

/// The messages of four conjunctions of `N` = 2 to 8 variables with the head at one position, coefficients that
/// [`HornCoefficients::may_be_near`], and inputs in the order of [`super::head_first_messages`]; and for which of them these
/// are right, as a bit for each. The same bits as for one.
#[target_feature(enable = "avx2")]
#[inline]
pub(crate) fn four_head_first_messages<const N: usize>(
    inputs: [Four; N], coefficients: &FourCoefficients<N>,
) -> ([Four; N], u32) {
    const { assert!(2 <= N && N <= 8) };
    let FourCoefficients { values, negated } = *coefficients;
    if near_for_factors::<N, false>(&inputs) != ALL {
        return other_head_first_messages(inputs, values, negated);
    }
    let mut weights = [[Four::ONE; 2]; N];
    for number in 0..N {
        weights[number][0] = inputs[number];
    }
    (FourFactors::messages(weights, values, negated), ALL)
}

/// [`four_head_first_messages`] where some inputs are 0, infinite or beyond the range of `f64`.
#[target_feature(enable = "avx2")]
#[inline(never)]
fn other_head_first_messages<const N: usize>(
    inputs: [Four; N], values: Values<Four>, negated: [Condition; N],
) -> ([Four; N], u32) {
    if near_for_factors::<N, true>(&inputs) != ALL {
        return balanced_head_first_messages(inputs, values, negated);
    }
    let mut weights = [[Four::ONE; 2]; N];
    for number in 0..N {
        let is_infinite = _mm256_castsi256_pd(is_infinite(inputs[number]));
        weights[number] = [
            Four(_mm256_blendv_pd(inputs[number].0, Four::ONE.0, is_infinite)),
            Four(_mm256_andnot_pd(is_infinite, Four::ONE.0)),
        ];
    }
    let out = FourFactors::messages(weights, values, negated);
    (out, are_numbers(&out))
}

/// [`four_head_first_messages`] with balanced weights, where these do, and else with exponents that have a range of their own.
#[target_feature(enable = "avx2")]
#[inline(never)]
fn balanced_head_first_messages<const N: usize>(
    inputs: [Four; N], values: Values<Four>, negated: [Condition; N],
) -> ([Four; N], u32) {
    let balanced = BalancedInputs::of(&inputs);
    if balanced.are_within::<BALANCED_EXPONENTS>() != ALL {
        return extended_head_first_messages(inputs, values, negated);
    }
    let out = FourFactors::messages(balanced.weights, values, negated);
    let right = are_numbers(&out);
    // What no `f64` holds is taken for certain, or for subnormal.
    let may_be_beyond = right & !balanced.are_within::<EXPONENTS_OF_F64>();
    if may_be_beyond != 0 && may_be_beyond & !in_f64_range(&out) != 0 {
        return extended_head_first_messages(inputs, values, negated);
    }
    (out, right)
}

/// Where the exponents of the inputs of a factor add up to less, messages are certain or within 2^-+1000: they are quotients of two
/// sums of products of inputs and coefficients, as for [`BALANCED_EXPONENTS`].
const EXPONENTS_OF_F64: u64 = 1000 - 2 * 65 - 2 * 3 * SMALL_ARITY as u64;

/// The weights of four factors as those of [`Balanced`](super::body::Balanced).
struct BalancedInputs<const N: usize> {
    weights: [[Four; 2]; N],
    /// See [`EncodedMessage::sum_of_exponents`]; too large where some inputs are not stored as `f64`.
    exponents: __m256i,
}

impl<const N: usize> BalancedInputs<N> {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of(inputs: &[Four; N]) -> Self {
        let one = Four::ONE.words();
        let (mut weights, mut exponents) = ([[Four::ONE; 2]; N], _mm256_setzero_si256());
        for number in 0..N {
            let word = inputs[number].words();
            let is_infinite = is_infinite(inputs[number]);
            let is_zero = _mm256_cmpeq_epi64(word, _mm256_setzero_si256());
            let is_deterministic = _mm256_or_si256(is_zero, is_infinite);
            // The upper half, in the lower one.
            let distance = _mm256_srli_epi64::<32>(_mm256_sub_epi64(word, one));
            let distance = _mm256_andnot_si256(is_deterministic, distance);
            exponents = _mm256_add_epi64(exponents, _mm256_abs_epi32(distance));
            let half = _mm256_and_si256(_mm256_srai_epi32::<1>(distance), words(!0 << 20));
            let half = _mm256_slli_epi64::<32>(half);
            let state0 = _mm256_andnot_si256(is_infinite, _mm256_sub_epi64(one, half));
            let state1 = _mm256_blendv_epi8(_mm256_sub_epi64(word, half), one, is_infinite);
            weights[number] = [state1, state0].map(|word| Four(_mm256_castsi256_pd(word)));
            // The sign of those that are not stored as `f64`.
            let is_tagged = _mm256_srli_epi64::<63>(word);
            exponents = _mm256_add_epi64(exponents, _mm256_slli_epi64::<32>(is_tagged));
        }
        Self { weights, exponents }
    }

    /// Of which factors the exponents add up to less, as a bit for each.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn are_within<const EXPONENTS: u64>(&self) -> u32 {
        lanes_of(_mm256_cmpgt_epi64(words(EXPONENTS << 20), self.exponents))
    }
}

/// Of which nodes all messages are within 2^-1000..=2^1000, as a bit for each. None is not a number.
#[target_feature(enable = "avx2")]
#[inline]
fn in_f64_range(messages: &[Four]) -> u32 {
    let power = |exponent: i64| words(((1023 + exponent) as u64) << 52);
    let (low, high) = (power(-F64_EXPONENT), power(F64_EXPONENT));
    let mut beyond = _mm256_setzero_si256();
    for message in messages {
        let below = _mm256_cmpgt_epi64(low, message.words());
        let above = _mm256_cmpgt_epi64(message.words(), high);
        beyond = _mm256_or_si256(beyond, _mm256_or_si256(below, above));
    }
    !lanes_of(beyond) & ALL
}

/// [`four_head_first_messages`] with exponents that have a range of their own.
#[target_feature(enable = "avx2")]
#[inline(never)]
fn extended_head_first_messages<const N: usize>(
    inputs: [Four; N], values: Values<Four>, negated: [Condition; N],
) -> ([Four; N], u32) {
    let mut weights = [[ExtendedFour::ONE; 2]; N];
    for number in 0..N {
        weights[number] = ExtendedFour::weights(inputs[number].words());
    }
    let mut extended = [[ExtendedFour::ONE; 2]; 2];
    for (extended, value) in extended.as_flattened_mut().iter_mut().zip(values.as_flattened()) {
        *extended = ExtendedFour::of_f64(value.0);
    }
    let out = FourFactors::messages(weights, extended, negated);
    let mut contradictions = _mm256_setzero_si256();
    for message in &out {
        let contradiction = _mm256_set1_epi64x(EncodedMessage::CONTRADICTION.0 as i64);
        let is_contradiction = _mm256_cmpeq_epi64(message.words(), contradiction);
        contradictions = _mm256_or_si256(contradictions, is_contradiction);
    }
    (out, !lanes_of(contradictions) & ALL)
}

/// A condition as a bit for each of four.
#[target_feature(enable = "avx2")]
#[inline]
fn lanes_of(condition: __m256i) -> u32 {
    _mm256_movemask_pd(_mm256_castsi256_pd(condition)) as u32
}

/// A number as a factor of a product.
#[derive(Clone, Copy)]
struct Factor<T>(T);

impl<T: Arithmetic> Monoid for Factor<T> {
    const NEUTRAL: Self = Self(T::ONE);
    #[inline(always)]
    fn combine(self, other: Self) -> Self {
        Self(self.0.multiply(other.0))
    }
}

/// Numbers as factors of a product of eight.
#[inline(always)]
fn factors<T: Arithmetic, const D: usize>(numbers: [T; D]) -> [Factor<T>; 8] {
    const { assert!(1 <= D && D <= 8) };
    let mut factors = [Factor::NEUTRAL; 8];
    for at in 0..D {
        factors[at] = Factor(numbers[at]);
    }
    factors
}

/// Products of the `D` = 1 to 8 messages to each of four binary variables without evidence.
pub(crate) struct FourProducts<const D: usize> {
    /// For each message, the product of all others, as odds.
    pub(crate) others: [Four; D],
    /// For which variables these are right, as a bit for each: all but those with messages 0 and infinity.
    pub(crate) right: u32,
    /// Odds with the probability of the product of all, and for which variables they are right.
    all: Four,
    all_right: u32,
}

impl<const D: usize> FourProducts<D> {
    /// Only `WITH_ALL` has it [`Self::probabilities`].
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn of<const WITH_ALL: bool>(values: [Four; D]) -> Self {
        let (rest, Factor(all)) = leave_one_out_of_eight(&factors(values));
        let mut others = [Four::ONE; D];
        for at in 0..D {
            others[at] = rest[at].0;
        }
        if D == 2 {
            // Not multiplied: the message of the other factor, of any size, as it stands.
            others.copy_from_slice(&[values[1], values[0]]);
            if !WITH_ALL {
                return Self { others, right: not_contradictory(&values), all, all_right: 0 };
            }
        }
        if near_for_products::<D, false>(&values) == ALL {
            return Self { others, right: ALL, all, all_right: ALL };
        }
        if near_for_products::<D, true>(&values) == ALL {
            // Products of numbers near one with 0, or with infinity, are exact, and those with both are no numbers.
            let right = are_numbers(&[all]);
            return Self { others, right, all, all_right: right };
        }
        let mut products = extended_products(values);
        if D == 2 {
            products.others = others;
        }
        products
    }

    /// The probability of state 1 of each variable, and for which of them it is right, as a bit for each.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn probabilities(&self) -> (Four, u32) {
        (probabilities_of(self.all), self.all_right)
    }
}

/// The probability of state 1 of each of four binary variables without evidence with `D` = 1 to 8 messages; and for which of
/// them it is right, as a bit for each.
#[target_feature(enable = "avx2")]
#[inline]
pub(crate) fn four_probabilities<const D: usize>(values: [Four; D]) -> ([f64; FOUR], u32) {
    let (_, Factor(mut odds)) = leave_one_out_of_eight(&factors(values));
    let mut right = are_numbers(&[odds]);
    if near_for_products::<D, true>(&values) != ALL {
        let products = extended_products(values);
        (odds, right) = (products.all, products.all_right);
    }
    (probabilities_of(odds).stored().map(EncodedMessage::stored_f64), right)
}

/// Odds as probabilities of state 1.
#[target_feature(enable = "avx2")]
#[inline]
fn probabilities_of(odds: Four) -> Four {
    let probabilities = _mm256_div_pd(odds.0, odds.add(Four::ONE).0);
    let is_infinite = _mm256_castsi256_pd(is_infinite(odds));
    Four(_mm256_blendv_pd(probabilities, Four::ONE.0, is_infinite))
}

/// [`FourProducts::of`] with exponents that have a range of their own.
#[target_feature(enable = "avx2")]
#[inline(never)]
fn extended_products<const D: usize>(values: [Four; D]) -> FourProducts<D> {
    let mut leaves = [Factor::NEUTRAL; 8];
    for at in 0..D {
        leaves[at] = Factor(ExtendedFour::of_odds(values[at].words()));
    }
    let (rest, Factor(all)) = leave_one_out_of_eight(&leaves);
    let mut others = [Four::ONE; D];
    for at in 0..D {
        others[at] = Four(_mm256_castsi256_pd(rest[at].0.stored()));
    }
    let right = not_contradictory(&values);
    let (odds, has_odds) = all.odds_for_probability();
    FourProducts { others, right, all: Four(odds), all_right: right & lanes_of(has_odds) }
}

/// Which of four variables do not have messages 0 and infinity, both of them, as a bit for each.
#[target_feature(enable = "avx2")]
#[inline]
fn not_contradictory(values: &[Four]) -> u32 {
    let (mut zeros, mut infinities) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    for &value in values {
        let is_zero = _mm256_cmpeq_epi64(value.words(), _mm256_setzero_si256());
        zeros = _mm256_or_si256(zeros, is_zero);
        infinities = _mm256_or_si256(infinities, is_infinite(value));
    }
    !lanes_of(_mm256_and_si256(zeros, infinities)) & ALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::extended_four::tests::message as extended_message;
    use crate::kernel::horn::tests::inputs;
    use crate::kernel::{ProductScratch, binary_leave_one_out_all, small_horn_messages};
    use proptest::prelude::*;

    fn message() -> impl Strategy<Value = EncodedMessage> {
        prop_oneof![
            40 => (1e-9_f64..1e9).prop_map(EncodedMessage::from_f64),
            4 => Just(EncodedMessage::ZERO),
            2 => Just(EncodedMessage::INFINITY),
            1 => inputs(1e6, 300),
        ]
    }

    /// Messages of a node with eight edges: near one, extended, or some of each.
    fn messages() -> impl Strategy<Value = [EncodedMessage; 8]> {
        let mixed = prop_oneof![4 => message(), 1 => extended_message()].boxed();
        prop_oneof![Just(message().boxed()), Just(extended_message().boxed()), Just(mixed)]
            .prop_flat_map(|message| prop::collection::vec(message, 8))
            .prop_map(|messages| messages.try_into().unwrap())
    }

    fn coefficients() -> impl Strategy<Value = HornCoefficients> {
        let value = || prop_oneof![3 => 1e-6_f64..1.0, 1 => Just(0.0), 1 => Just(1.0)];
        let values = [value(), value(), value(), value()];
        (values, any::<u64>())
            .prop_map(|(values, negated)| HornCoefficients::new(values, negated, None))
    }

    /// Compares the messages of four factors with those of each.
    fn compare_factors<const N: usize>(
        inputs: &[[EncodedMessage; 8]; FOUR], head: usize, coefficients: &[HornCoefficients; FOUR],
    ) -> Result<(), TestCaseError> {
        let mut first = [Four::ONE; N];
        // SAFETY: there is AVX2, as the caller has seen.
        let (messages, right) = unsafe {
            for (number, four) in first.iter_mut().enumerate() {
                let position = head_first_position(number, head);
                *four = Four::of(inputs.map(|inputs| inputs[position]));
            }
            let coefficients = FourCoefficients::new(coefficients.each_ref(), head);
            four_head_first_messages(first, &coefficients)
        };
        for lane in 0..FOUR {
            let inputs: [EncodedMessage; N] = std::array::from_fn(|at| inputs[lane][at]);
            let c = &coefficients[lane];
            let expected = small_horn_messages(&inputs, head, c);
            let is_right = right >> lane & 1 == 1;
            let is_contradictory = expected.contains(&EncodedMessage::CONTRADICTION);
            prop_assert!(is_right || !c.may_be_near() || is_contradictory);
            if is_right && c.may_be_near() {
                for (number, message) in messages.iter().enumerate() {
                    let position = head_first_position(number, head);
                    prop_assert_eq!(message.stored()[lane], expected[position]);
                }
            }
        }
        Ok(())
    }

    /// Compares the messages of four variables with those of each.
    fn compare_variables<const D: usize>(
        values: &[[EncodedMessage; 8]; FOUR],
    ) -> Result<(), TestCaseError> {
        let mut fours = [Four::ONE; D];
        // SAFETY: there is AVX2, as the caller has seen.
        let (products, (probability_of_all, all_right), (probabilities, are_right)) = unsafe {
            for (at, four) in fours.iter_mut().enumerate() {
                *four = Four::of(values.map(|values| values[at]));
            }
            let products = FourProducts::of::<true>(fours);
            let of_all = products.probabilities();
            (products, of_all, four_probabilities(fours))
        };
        // SAFETY: as above.
        let alone = unsafe { FourProducts::of::<false>(fours) };
        prop_assert_eq!(alone.right, products.right);
        for (alone, with_all) in alone.others.iter().zip(&products.others) {
            prop_assert_eq!(alone.stored(), with_all.stored());
        }
        let FourProducts { others: messages, right, .. } = products;
        prop_assert_eq!(all_right, are_right);
        for lane in 0..FOUR {
            let mut values = values[lane][..D].to_vec();
            let scratch = &mut ProductScratch::default();
            let product = scratch.product(values.iter().copied()).unwrap();
            let near = values.iter().all(|value| value.is_within::<63>());
            let all = binary_leave_one_out_all(&mut values, None, scratch).unwrap();
            let is_contradictory = all.is_contradictory;
            let is_right = right >> lane & 1 == 1;
            prop_assert_eq!(is_right, !is_contradictory);
            let has_probability = are_right >> lane & 1 == 1;
            prop_assert!(has_probability || !near || is_contradictory);
            if has_probability {
                prop_assert_eq!(probabilities[lane], product.probabilities()[1]);
                prop_assert_eq!(
                    probability_of_all.stored()[lane].stored_f64(),
                    probabilities[lane]
                );
            }
            if is_right {
                for (message, &expected) in messages.iter().zip(&values) {
                    prop_assert_eq!(message.stored()[lane], expected);
                }
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn four_are_one_after_the_other(
            inputs in prop::array::uniform4(messages()),
            head in 0_usize..8,
            coefficients in prop::collection::vec(coefficients(), FOUR),
        ) {
            if !is_available() {
                return Ok(());
            }
            let coefficients: [HornCoefficients; FOUR] = coefficients.try_into().unwrap();
            compare_factors::<2>(&inputs, head % 2, &coefficients)?;
            compare_factors::<3>(&inputs, head % 3, &coefficients)?;
            compare_factors::<4>(&inputs, head % 4, &coefficients)?;
            compare_factors::<5>(&inputs, head % 5, &coefficients)?;
            compare_factors::<6>(&inputs, head % 6, &coefficients)?;
            compare_factors::<7>(&inputs, head % 7, &coefficients)?;
            compare_factors::<8>(&inputs, head, &coefficients)?;
            compare_variables::<1>(&inputs)?;
            compare_variables::<2>(&inputs)?;
            compare_variables::<3>(&inputs)?;
            compare_variables::<4>(&inputs)?;
            compare_variables::<5>(&inputs)?;
            compare_variables::<6>(&inputs)?;
            compare_variables::<7>(&inputs)?;
            compare_variables::<8>(&inputs)?;
        }
    }
}
