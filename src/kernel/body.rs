//! Conjunctions of literals that decide a factor: messages in time linear in the arity for all of
//! them together.
//!
//! A body of literals is the pair (Q, C): Q the weight of "all literals hold", C that of "one of
//! them fails". Bodies are joined by (Q1, C1)(Q2, C2) = (Q1 Q2, C1 (Q2 + C2) + Q1 C2), which has no
//! subtraction (see `docs/src/inside/bits.md`; the form without normalisation saves the divisions). With
//! maxima in place of sums, the same gives max-product.

use super::number::{Arithmetic, ExtendedFloat, Max, Real};
use super::packed::EncodedMessage;
use super::tree::{Monoid, TreeScratch, leave_one_out, leave_one_out_of_eight};
use crate::memory::{NoMemory, fit};

/// The pair (Q, C) of a part of the body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<T> {
    all: T,
    not_all: T,
}

impl<T> Body<T> {
    /// One literal, from the weights with which it holds and fails.
    #[inline(always)]
    pub(crate) fn literal([holds, fails]: [T; 2]) -> Self {
        Self { all: holds, not_all: fails }
    }
}

impl<T: Arithmetic> Monoid for Body<T> {
    const NEUTRAL: Self = Self { all: T::ONE, not_all: T::ZERO };

    #[inline(always)]
    fn combine(self, other: Self) -> Self {
        let any = other.all.add(other.not_all);
        Self {
            all: self.all.multiply(other.all),
            not_all: self.not_all.multiply(any).add(self.all.multiply(other.not_all)),
        }
    }
}

/// Numbers that stored odds can be turned into.
pub(crate) trait FromEncoded: Real {
    /// Weights of the states 1 and 0 with the given odds, or the other way round.
    fn weights(odds: EncodedMessage, swapped: bool) -> [Self; 2];
    /// The quotient as stored odds, or its inverse; 0/0 is a contradiction.
    fn ratio(numerator: Self, denominator: Self, inverse: bool) -> EncodedMessage;
}

/// One of two words, by a conditional move: which one is hard to predict.
#[inline(always)]
fn choose(condition: bool, yes: u64, no: u64) -> u64 {
    std::hint::select_unpredictable(condition, yes, no)
}

impl FromEncoded for f64 {
    #[inline(always)]
    fn weights(odds: EncodedMessage, swapped: bool) -> [Self; 2] {
        let infinite = odds == EncodedMessage::INFINITY;
        let state1 = choose(infinite, EncodedMessage::ONE.0, odds.0);
        let state0 = choose(infinite, 0, EncodedMessage::ONE.0);
        let first = choose(swapped, state0, state1);
        [f64::from_bits(first), f64::from_bits(state0 ^ state1 ^ first)]
    }
    #[inline(always)]
    fn ratio(numerator: Self, denominator: Self, inverse: bool) -> EncodedMessage {
        let (a, b) = (numerator.to_bits(), denominator.to_bits());
        let above = choose(inverse, b, a);
        EncodedMessage::ratio_of_f64(f64::from_bits(above), f64::from_bits(a ^ b ^ above))
    }
}

/// A number in f64 range, for less than what `f64` serves for, or for more.
#[derive(Clone, Copy)]
pub(super) struct InRange<const BALANCED: bool>(f64);

/// Where no input is certain: then no message is 0/0.
pub(super) type Near = InRange<false>;

/// Of a factor whose inputs may be as far from one as an `f64` can be. Both weights of a variable are multiplied by a power of two
/// that leaves them about as far from one. A message is a quotient of sums of products with one weight of each other variable, so
/// that these powers cancel out; but exponents on the way are half as large.
pub(super) type Balanced = InRange<true>;

impl<const BALANCED: bool> Arithmetic for InRange<BALANCED> {
    const ZERO: Self = Self(0.0);
    const ONE: Self = Self(1.0);
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl<const BALANCED: bool> Real for InRange<BALANCED> {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self(value)
    }
    #[inline(always)]
    fn from_extended(value: ExtendedFloat) -> Self {
        Self(value.to_f64())
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Self(self.0.larger(other.0))
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0 == 0.0
    }
    #[inline(always)]
    fn widen(self) -> ExtendedFloat {
        ExtendedFloat::from_f64(self.0)
    }
    #[inline(always)]
    fn divide(self, other: Self) -> Self {
        Self(self.0 / other.0)
    }
}

impl FromEncoded for Near {
    #[inline(always)]
    fn weights(odds: EncodedMessage, swapped: bool) -> [Self; 2] {
        let first = choose(swapped, EncodedMessage::ONE.0, odds.0);
        let second = choose(swapped, odds.0, EncodedMessage::ONE.0);
        [InRange(f64::from_bits(first)), InRange(f64::from_bits(second))]
    }
    #[inline(always)]
    fn ratio(numerator: Self, denominator: Self, inverse: bool) -> EncodedMessage {
        let (a, b) = (numerator.0.to_bits(), denominator.0.to_bits());
        let (above, below) = (choose(inverse, b, a), choose(inverse, a, b));
        EncodedMessage::from_near_ratio(f64::from_bits(above) / f64::from_bits(below))
    }
}

/// The exponents of the odds of a factor, up or down, of those that are not certain, add up to less than this where [`Balanced`]
/// serves. With the exponent e, weights are within 2^-+(|e| / 2 + 2), sums of products of N are larger by at most N, and coefficients
/// are within 2^-64..2: so all numbers on the way are within 2^-+960. (Doubles go further, and devices take 60 more on each side.)
pub(super) const BALANCED_EXPONENTS: u64 = 2 * (960 - 65 - 3 * SMALL_ARITY as u64);

impl FromEncoded for Balanced {
    #[inline(always)]
    fn weights(odds: EncodedMessage, swapped: bool) -> [Self; 2] {
        let scale = odds.balancing_power();
        f64::weights(odds, swapped).map(|weight| InRange(weight * scale))
    }
    #[inline(always)]
    fn ratio(numerator: Self, denominator: Self, inverse: bool) -> EncodedMessage {
        f64::ratio(numerator.0, denominator.0, inverse)
    }
}

impl FromEncoded for ExtendedFloat {
    #[inline(always)]
    fn weights(odds: EncodedMessage, swapped: bool) -> [Self; 2] {
        let [state1, state0] = if odds == EncodedMessage::INFINITY {
            [ExtendedFloat::ONE, ExtendedFloat::ZERO]
        } else {
            [odds.unpack(), ExtendedFloat::ONE]
        };
        if swapped { [state0, state1] } else { [state1, state0] }
    }
    #[inline(always)]
    fn ratio(numerator: Self, denominator: Self, inverse: bool) -> EncodedMessage {
        if inverse {
            EncodedMessage::ratio(denominator, numerator)
        } else {
            EncodedMessage::ratio(numerator, denominator)
        }
    }
}

impl<T: FromEncoded> FromEncoded for Max<T> {
    #[inline(always)]
    fn weights(odds: EncodedMessage, swapped: bool) -> [Self; 2] {
        T::weights(odds, swapped).map(Max)
    }
    #[inline(always)]
    fn ratio(numerator: Self, denominator: Self, inverse: bool) -> EncodedMessage {
        T::ratio(numerator.0, denominator.0, inverse)
    }
}

/// The literals of a factor's body and what it does with them.
pub(crate) trait Literals {
    /// f(h=1), f(h=0) if the body holds, and if it fails.
    fn values(&self) -> &Values<f64>;

    /// The literal of the variable at a position, given the odds of the message from it.
    fn literal<T: FromEncoded>(&self, position: usize, odds: EncodedMessage) -> Body<T>;

    /// The message to a variable from the factor's weight where its literal holds and where it fails.
    fn message<T: FromEncoded>(&self, position: usize, holds: T, fails: T) -> EncodedMessage;
}

/// Values of a factor in the numbers `T`: f(h=1), f(h=0) if the body holds, and if it fails.
pub(super) type Values<T> = [[T; 2]; 2];

#[inline(always)]
fn values_as<T: Real>(values: &Values<f64>) -> Values<T> {
    let [[a, b], [c, d]] = *values;
    [[T::from_f64(a), T::from_f64(b)], [T::from_f64(c), T::from_f64(d)]]
}

/// The factor's weights of the head's states 1 and 0, given the whole body.
#[inline(always)]
pub(super) fn weights_of_head<T: Arithmetic>(body: Body<T>, [holds, fails]: Values<T>) -> [T; 2] {
    [
        holds[0].multiply(body.all).add(fails[0].multiply(body.not_all)),
        holds[1].multiply(body.all).add(fails[1].multiply(body.not_all)),
    ]
}

/// The message to the head, given the whole body.
#[inline(always)]
pub(super) fn head_message<T: FromEncoded>(body: Body<T>, values: &Values<f64>) -> EncodedMessage {
    let [state1, state0] = weights_of_head(body, values_as(values));
    T::ratio(state1, state0, false)
}

/// The head's part of the messages to the body: the factor's weight, summed over the head's states,
/// where the body holds and where it does not.
#[derive(Clone, Copy)]
pub(crate) struct HeadWeights<T> {
    holds: T,
    fails: T,
}

impl<T: FromEncoded> HeadWeights<T> {
    #[inline(always)]
    pub(super) fn new(head: EncodedMessage, values: &Values<f64>) -> Self {
        Self::of(T::weights(head, false), values_as(values))
    }
}

impl<T: Arithmetic> HeadWeights<T> {
    /// From the weights of the head's states 1 and 0.
    #[inline(always)]
    pub(super) fn of([h1, h0]: [T; 2], [holds, fails]: Values<T>) -> Self {
        Self {
            holds: holds[0].multiply(h1).add(holds[1].multiply(h0)),
            fails: fails[0].multiply(h1).add(fails[1].multiply(h0)),
        }
    }

    /// The factor's weight where one literal holds and where it fails, given the rest of the body.
    #[inline(always)]
    pub(super) fn with_rest(self, rest: Body<T>) -> [T; 2] {
        let holds = self.holds.multiply(rest.all).add(self.fails.multiply(rest.not_all));
        [holds, self.fails.multiply(rest.all.add(rest.not_all))]
    }

    /// The factor's whole weight, given the whole body.
    pub(super) fn total(self, body: Body<T>) -> T {
        self.holds.multiply(body.all).add(self.fails.multiply(body.not_all))
    }
}

/// Memory for factors with a long body, kept between calls.
pub(crate) struct BodyScratch<T> {
    leaves: Vec<Body<T>>,
    tree: TreeScratch<Body<T>>,
}

impl<T> Default for BodyScratch<T> {
    fn default() -> Self {
        Self { leaves: Vec::new(), tree: TreeScratch::default() }
    }
}

/// Replaces `scratch.leaves` by the body without each of its literals; returns the whole body.
fn body_leave_one_out<T: FromEncoded>(
    inputs: &[EncodedMessage], head: usize, c: &impl Literals, scratch: &mut BodyScratch<T>,
) -> Result<Body<T>, NoMemory> {
    let BodyScratch { leaves, tree } = scratch;
    leaves.clear();
    fit(leaves, inputs.len())?;
    let literals = inputs.iter().enumerate().filter(|&(position, _)| position != head);
    leaves.extend(literals.map(|(position, &input)| c.literal(position, input)));
    leave_one_out(leaves, tree)
}

/// The message to the variable at one position, in the numbers `T`. O(arity).
pub(crate) fn one_message<T: FromEncoded>(
    inputs: &[EncodedMessage], head: usize, target: usize, c: &impl Literals,
    scratch: &mut BodyScratch<T>,
) -> Result<EncodedMessage, NoMemory> {
    let total = body_leave_one_out(inputs, head, c, scratch)?;
    if target == head {
        return Ok(head_message(total, c.values()));
    }
    let rest = scratch.leaves[target - usize::from(target > head)];
    let [holds, fails] = HeadWeights::new(inputs[head], c.values()).with_rest(rest);
    Ok(c.message(target, holds, fails))
}

/// The factor summed against its inputs. O(arity).
pub(crate) fn total(inputs: &[EncodedMessage], head: usize, c: &impl Literals) -> ExtendedFloat {
    let literals = inputs.iter().enumerate().filter(|&(position, _)| position != head);
    let body = literals.fold(Body::<ExtendedFloat>::NEUTRAL, |body, (position, &input)| {
        body.combine(c.literal(position, input))
    });
    HeadWeights::new(inputs[head], c.values()).total(body)
}

/// All messages of a factor from its inputs, in the numbers `T`. O(arity). Errors: no memory for the scratch
/// space.
pub(crate) fn messages<T: FromEncoded>(
    inputs: &[EncodedMessage], head: usize, c: &impl Literals, out: &mut [EncodedMessage],
    scratch: &mut BodyScratch<T>,
) -> Result<(), NoMemory> {
    if inputs.len() <= SMALL_ARITY {
        small_messages::<T>(inputs, head, c, out);
        return Ok(());
    }
    let total = body_leave_one_out(inputs, head, c, scratch)?;
    out[head] = head_message(total, c.values());
    let weights = HeadWeights::<T>::new(inputs[head], c.values());
    for (body, &rest) in scratch.leaves.iter().enumerate() {
        let position = body + usize::from(body >= head);
        let [holds, fails] = weights.with_rest(rest);
        out[position] = c.message(position, holds, fails);
    }
    Ok(())
}

/// Variables of a factor whose messages need nothing on the heap.
pub(super) const SMALL_ARITY: usize = 8;

/// What [`send_small`] reads and writes of a factor, or of several at once. Variables of the body are numbered without the head.
pub(super) trait SmallFactor<T> {
    fn literal(&self, body: usize) -> Body<T>;
    fn head_weights(&self) -> HeadWeights<T>;
    /// Stores the message to the head, given the whole body.
    fn send_to_head(&mut self, body: Body<T>);
    /// Stores the message to a variable of the body, given the factor's weight where its literal holds and where it fails.
    fn send_to_body(&mut self, body: usize, weights: [T; 2]);
}

/// All messages of a factor with at most [`SMALL_ARITY`] variables, in the numbers `T`.
#[inline(always)]
pub(super) fn send_small<T: Arithmetic>(arity: usize, factor: &mut impl SmallFactor<T>) {
    match arity {
        0 => {}
        1 => factor.send_to_head(Body::NEUTRAL),
        2 => {
            factor.send_to_head(factor.literal(0));
            factor.send_to_body(0, factor.head_weights().with_rest(Body::NEUTRAL));
        }
        3 => {
            let (a, b) = (factor.literal(0), factor.literal(1));
            let weights = factor.head_weights();
            factor.send_to_head(a.combine(b));
            factor.send_to_body(0, weights.with_rest(b));
            factor.send_to_body(1, weights.with_rest(a));
        }
        4 => {
            let (x, y, z) = (factor.literal(0), factor.literal(1), factor.literal(2));
            let weights = factor.head_weights();
            let pair = x.combine(y);
            factor.send_to_head(pair.combine(z));
            factor.send_to_body(0, weights.with_rest(z.combine(y)));
            factor.send_to_body(1, weights.with_rest(z.combine(x)));
            factor.send_to_body(2, weights.with_rest(pair));
        }
        count => {
            debug_assert!(count <= SMALL_ARITY);
            let mut leaves = [Body::NEUTRAL; 8];
            for (body, leaf) in leaves.iter_mut().enumerate().take(count - 1) {
                *leaf = factor.literal(body);
            }
            let (rest, total) = leave_one_out_of_eight(&leaves);
            factor.send_to_head(total);
            let weights = factor.head_weights();
            for (body, &rest) in rest.iter().enumerate().take(count - 1) {
                factor.send_to_body(body, weights.with_rest(rest));
            }
        }
    }
}

/// One factor, with its inputs and messages in the order of `literals`.
struct OneFactor<'a, L> {
    inputs: &'a [EncodedMessage],
    head: usize,
    literals: &'a L,
    out: &'a mut [EncodedMessage],
}

impl<L> OneFactor<'_, L> {
    /// The position of a variable of the body.
    #[inline(always)]
    fn at(&self, body: usize) -> usize {
        body + usize::from(body >= self.head)
    }
}

impl<T: FromEncoded, L: Literals> SmallFactor<T> for OneFactor<'_, L> {
    #[inline(always)]
    fn literal(&self, body: usize) -> Body<T> {
        self.literals.literal(self.at(body), self.inputs[self.at(body)])
    }
    #[inline(always)]
    fn head_weights(&self) -> HeadWeights<T> {
        HeadWeights::new(self.inputs[self.head], self.literals.values())
    }
    #[inline(always)]
    fn send_to_head(&mut self, body: Body<T>) {
        self.out[self.head] = head_message(body, self.literals.values());
    }
    #[inline(always)]
    fn send_to_body(&mut self, body: usize, [holds, fails]: [T; 2]) {
        let at = self.at(body);
        self.out[at] = self.literals.message(at, holds, fails);
    }
}

/// All messages of a factor with at most [`SMALL_ARITY`] variables, in the numbers `T`.
#[inline(always)]
pub(super) fn small_messages<T: FromEncoded>(
    inputs: &[EncodedMessage], head: usize, literals: &impl Literals, out: &mut [EncodedMessage],
) {
    send_small::<T>(inputs.len(), &mut OneFactor { inputs, head, literals, out });
}
