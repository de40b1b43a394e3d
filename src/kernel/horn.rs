//! Messages of singleton, AND and OR factors, in time linear in the arity for all of them together.
//!
//! A body of literals is the pair (Q, C): Q the weight of "all literals hold", C that of "one of
//! them fails". Bodies are joined by (Q1, C1)(Q2, C2) = (Q1 Q2, C1 (Q2 + C2) + Q1 C2), which has no
//! subtraction (design.md section 2; the form without normalisation saves the divisions).

use super::number::{Real, Wide};
use super::packed::Packed;
use super::tree::{Monoid, TreeScratch, leave_one_out, leave_one_out_of_eight};
use crate::model::{FactorKind, HornParameters};

/// What a factor's messages depend on besides its inputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HornCoefficients {
    /// f(h=1), f(h=0) if the body holds.
    holds: [f64; 2],
    /// f(h=1), f(h=0) if it does not.
    fails: [f64; 2],
    /// Whether the literals are x = 0 instead of x = 1.
    negative: bool,
    /// Whether no coefficient is so small that `f64` arithmetic could underflow.
    plain: bool,
}

/// Smallest positive coefficient for which the `f64` ranges below were computed: 2^-64.
const SMALLEST_PLAIN_COEFFICIENT: f64 = 1.0 / 18_446_744_073_709_551_616.0;

impl HornCoefficients {
    pub(crate) fn new(parameters: &HornParameters) -> Self {
        let [h1, h0, f1, f0] = parameters.conditional();
        let plain = [h1, h0, f1, f0].iter().all(|&c| c == 0.0 || c >= SMALLEST_PLAIN_COEFFICIENT);
        Self {
            holds: [h1, h0],
            fails: [f1, f0],
            negative: parameters.kind == FactorKind::Or,
            plain,
        }
    }

    /// Whether `f64` arithmetic is exact for these inputs, in the sense of the kernel's module
    /// documentation. With b inputs within 2^-R..2^R and coefficients from 2^-64, every message
    /// is within 2^-+(2 (b + 1) (R + 1) + 66), which must stay below 1000.
    #[inline(always)]
    fn fits_f64(&self, inputs: &[Packed]) -> bool {
        self.plain
            && match inputs.len() {
                0..=5 => inputs.iter().all(|input| input.is_within::<88>()),
                6..=9 => inputs.iter().all(|input| input.is_within::<48>()),
                10..=17 => inputs.iter().all(|input| input.is_within::<22>()),
                _ => false,
            }
    }
}

/// The pair (Q, C) of a part of the body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<T> {
    all: T,
    not_all: T,
}

impl<T: FromPacked> Body<T> {
    #[inline(always)]
    pub(crate) fn literal(odds: Packed, negative: bool) -> Self {
        let [holds, fails] = T::weights(odds, negative);
        Self { all: holds, not_all: fails }
    }
}

impl<T: Real> Monoid for Body<T> {
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
pub(crate) trait FromPacked: Real {
    /// Weights of the states 1 and 0 with the given odds, or the other way round.
    fn weights(odds: Packed, swapped: bool) -> [Self; 2];
    /// The quotient as stored odds, or its inverse; 0/0 is a contradiction.
    fn ratio(numerator: Self, denominator: Self, inverse: bool) -> Packed;
}

/// One of two words, by a conditional move: which one is hard to predict.
#[inline(always)]
fn choose(condition: bool, yes: u64, no: u64) -> u64 {
    std::hint::select_unpredictable(condition, yes, no)
}

impl FromPacked for f64 {
    #[inline(always)]
    fn weights(odds: Packed, swapped: bool) -> [Self; 2] {
        let infinite = odds == Packed::INFINITY;
        let state1 = choose(infinite, Packed::ONE.0, odds.0);
        let state0 = choose(infinite, 0, Packed::ONE.0);
        let first = choose(swapped, state0, state1);
        [f64::from_bits(first), f64::from_bits(state0 ^ state1 ^ first)]
    }
    #[inline(always)]
    fn ratio(numerator: Self, denominator: Self, inverse: bool) -> Packed {
        let (a, b) = (numerator.to_bits(), denominator.to_bits());
        let above = choose(inverse, b, a);
        let ratio = f64::from_bits(above) / f64::from_bits(a ^ b ^ above);
        if ratio.is_nan() { Packed::CONTRADICTION } else { Packed::from_plain(ratio) }
    }
}

/// A plain number where no input is certain: then no message is 0/0.
#[derive(Clone, Copy)]
struct Near(f64);

impl Real for Near {
    const ZERO: Self = Self(0.0);
    const ONE: Self = Self(1.0);
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self(value)
    }
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0 == 0.0
    }
    #[inline(always)]
    fn widen(self) -> Wide {
        Wide::from_f64(self.0)
    }
    #[inline(always)]
    fn divide(self, other: Self) -> Self {
        Self(self.0 / other.0)
    }
}

impl FromPacked for Near {
    #[inline(always)]
    fn weights(odds: Packed, swapped: bool) -> [Self; 2] {
        let first = choose(swapped, Packed::ONE.0, odds.0);
        let second = choose(swapped, odds.0, Packed::ONE.0);
        [Self(f64::from_bits(first)), Self(f64::from_bits(second))]
    }
    #[inline(always)]
    fn ratio(numerator: Self, denominator: Self, inverse: bool) -> Packed {
        let (a, b) = (numerator.0.to_bits(), denominator.0.to_bits());
        let (above, below) = (choose(inverse, b, a), choose(inverse, a, b));
        Packed::from_plain(f64::from_bits(above) / f64::from_bits(below))
    }
}

impl FromPacked for Wide {
    #[inline(always)]
    fn weights(odds: Packed, swapped: bool) -> [Self; 2] {
        let [state1, state0] = if odds == Packed::INFINITY {
            [Wide::ONE, Wide::ZERO]
        } else {
            [odds.unpack(), Wide::ONE]
        };
        if swapped { [state0, state1] } else { [state1, state0] }
    }
    #[inline(always)]
    fn ratio(numerator: Self, denominator: Self, inverse: bool) -> Packed {
        if inverse {
            Packed::ratio(denominator, numerator)
        } else {
            Packed::ratio(numerator, denominator)
        }
    }
}

/// The message to the head, given the whole body.
#[inline(always)]
fn head_message<T: FromPacked>(body: Body<T>, c: &HornCoefficients) -> Packed {
    let weight = |state: usize| {
        T::from_f64(c.holds[state])
            .multiply(body.all)
            .add(T::from_f64(c.fails[state]).multiply(body.not_all))
    };
    T::ratio(weight(0), weight(1), false)
}

/// The head's part of the messages to the body: the factor's weight, summed over the head's states,
/// where the body holds and where it does not.
#[derive(Clone, Copy)]
pub(crate) struct HeadWeights<T> {
    holds: T,
    fails: T,
}

impl<T: FromPacked> HeadWeights<T> {
    #[inline(always)]
    pub(crate) fn new(head: Packed, c: &HornCoefficients) -> Self {
        let [h1, h0] = T::weights(head, false);
        let weight =
            |f: &[f64; 2]| T::from_f64(f[0]).multiply(h1).add(T::from_f64(f[1]).multiply(h0));
        Self { holds: weight(&c.holds), fails: weight(&c.fails) }
    }

    /// The message to a body variable, given the rest of the body.
    #[inline(always)]
    pub(crate) fn body_message(self, rest: Body<T>, negative: bool) -> Packed {
        let literal_holds = self.holds.multiply(rest.all).add(self.fails.multiply(rest.not_all));
        let literal_fails = self.fails.multiply(rest.all.add(rest.not_all));
        T::ratio(literal_holds, literal_fails, negative)
    }
}

/// Memory for factors with a long body, kept between calls.
#[derive(Default)]
pub(crate) struct HornScratch {
    plain: BodyScratch<f64>,
    wide: BodyScratch<Wide>,
}

struct BodyScratch<T> {
    leaves: Vec<Body<T>>,
    tree: TreeScratch<Body<T>>,
}

impl<T> Default for BodyScratch<T> {
    fn default() -> Self {
        Self { leaves: Vec::new(), tree: TreeScratch::default() }
    }
}

/// All messages of a factor from its inputs (odds of the messages from its variables, in their
/// order); 0/0 gives [`Packed::CONTRADICTION`]. O(arity).
#[inline]
pub(crate) fn horn_messages(
    inputs: &[Packed],
    head: usize,
    c: &HornCoefficients,
    out: &mut [Packed],
    scratch: &mut HornScratch,
) {
    if c.fits_f64(inputs) {
        messages::<f64>(inputs, head, c, out, Some(&mut scratch.plain));
    } else {
        messages::<Wide>(inputs, head, c, out, Some(&mut scratch.wide));
    }
}

/// As [`horn_messages`] for a factor with `N` = 1 to 8 variables, with nothing on the heap.
#[inline(always)]
pub(crate) fn small_horn_messages<const N: usize>(
    inputs: &[Packed; N],
    head: usize,
    c: &HornCoefficients,
) -> [Packed; N] {
    let mut out = [Packed::ONE; N];
    let near = if N <= 5 { Packed::all_near::<64>(inputs) } else { Packed::all_near::<32>(inputs) };
    // With one variable, a head alone in its own body, even near numbers can give 0/0.
    if (N > 1) & c.plain & near {
        messages::<Near>(inputs, head, c, &mut out, None);
    } else {
        far_horn_messages(inputs, head, c, &mut out);
    }
    out
}

#[cold]
#[inline(never)]
fn far_horn_messages(inputs: &[Packed], head: usize, c: &HornCoefficients, out: &mut [Packed]) {
    if c.fits_f64(inputs) {
        messages::<f64>(inputs, head, c, out, None);
    } else {
        messages::<Wide>(inputs, head, c, out, None);
    }
}

/// The message of a factor to the variable at one position, the input of which is not used.
/// O(arity).
pub(crate) fn horn_message(
    inputs: &mut [Packed],
    head: usize,
    target: usize,
    c: &HornCoefficients,
    scratch: &mut HornScratch,
) -> Packed {
    inputs[target] = Packed::ONE;
    if inputs.len() <= 4 {
        let mut out = [Packed::ONE; 4];
        horn_messages(inputs, head, c, &mut out[..inputs.len()], scratch);
        return out[target];
    }
    fn message<T: FromPacked>(
        inputs: &[Packed],
        head: usize,
        target: usize,
        c: &HornCoefficients,
        scratch: &mut BodyScratch<T>,
    ) -> Packed {
        let total = body_leave_one_out(inputs, head, c, scratch);
        if target == head {
            return head_message(total, c);
        }
        let rest = scratch.leaves[target - usize::from(target > head)];
        HeadWeights::new(inputs[head], c).body_message(rest, c.negative)
    }
    if c.fits_f64(inputs) {
        message::<f64>(inputs, head, target, c, &mut scratch.plain)
    } else {
        message::<Wide>(inputs, head, target, c, &mut scratch.wide)
    }
}

/// Replaces `scratch.leaves` by the body without each of its literals; returns the whole body.
fn body_leave_one_out<T: FromPacked>(
    inputs: &[Packed],
    head: usize,
    c: &HornCoefficients,
    scratch: &mut BodyScratch<T>,
) -> Body<T> {
    let BodyScratch { leaves, tree } = scratch;
    leaves.clear();
    let literals = inputs.iter().enumerate().filter(|&(position, _)| position != head);
    leaves.extend(literals.map(|(_, &input)| Body::literal(input, c.negative)));
    leave_one_out(leaves, tree)
}

#[inline(always)]
fn messages<T: FromPacked>(
    inputs: &[Packed],
    head: usize,
    c: &HornCoefficients,
    out: &mut [Packed],
    scratch: Option<&mut BodyScratch<T>>,
) {
    // The positions of the body, without the head.
    let at = |body: usize| body + usize::from(body >= head);
    let literal = |body: usize| Body::<T>::literal(inputs[at(body)], c.negative);
    let weights = || HeadWeights::<T>::new(inputs[head], c);
    match inputs.len() {
        0 => {}
        1 => out[0] = head_message(Body::<T>::NEUTRAL, c),
        2 => {
            out[head] = head_message(literal(0), c);
            out[at(0)] = weights().body_message(Body::NEUTRAL, c.negative);
        }
        3 => {
            let (a, b) = (literal(0), literal(1));
            let weights = weights();
            out[head] = head_message(a.combine(b), c);
            out[at(0)] = weights.body_message(b, c.negative);
            out[at(1)] = weights.body_message(a, c.negative);
        }
        4 => {
            let (x, y, z) = (literal(0), literal(1), literal(2));
            let weights = weights();
            let pair = x.combine(y);
            out[head] = head_message(pair.combine(z), c);
            out[at(0)] = weights.body_message(z.combine(y), c.negative);
            out[at(1)] = weights.body_message(z.combine(x), c.negative);
            out[at(2)] = weights.body_message(pair, c.negative);
        }
        count @ 5..=8 => {
            let mut leaves = [Body::NEUTRAL; 8];
            for (body, leaf) in leaves.iter_mut().enumerate().take(count - 1) {
                *leaf = literal(body);
            }
            let (rest, total) = leave_one_out_of_eight(&leaves);
            out[head] = head_message(total, c);
            let weights = weights();
            for (body, &rest) in rest.iter().enumerate().take(count - 1) {
                out[at(body)] = weights.body_message(rest, c.negative);
            }
        }
        _ => {
            let mut own = BodyScratch::default();
            let scratch = scratch.unwrap_or(&mut own);
            let total = body_leave_one_out(inputs, head, c, scratch);
            out[head] = head_message(total, c);
            let weights = weights();
            for (body, &rest) in scratch.leaves.iter().enumerate() {
                out[at(body)] = weights.body_message(rest, c.negative);
            }
        }
    }
}

/// The factor summed against its inputs, and the weight of one joint state: their quotient is an
/// entry of the factor's belief. Returns (weight, total). O(arity).
pub(crate) fn horn_belief(
    inputs: &[Packed],
    head: usize,
    c: &HornCoefficients,
    states: &[usize],
) -> (Wide, Wide) {
    let mut body = Body::<Wide>::NEUTRAL;
    let mut holds = true;
    let mut weight = Wide::ONE;
    for (position, (&input, &state)) in inputs.iter().zip(states).enumerate() {
        let [state1, state0] = Wide::weights(input, false);
        weight = weight.multiply(if state == 1 { state1 } else { state0 });
        if position != head {
            body = body.combine(Body::literal(input, c.negative));
            holds &= (state == 1) != c.negative;
        }
    }
    let coefficients = if holds { &c.holds } else { &c.fails };
    let value = Wide::from_f64(coefficients[usize::from(states[head] == 0)]);
    let weights = HeadWeights::<Wide>::new(inputs[head], c);
    let total = weights.holds.multiply(body.all).add(weights.fails.multiply(body.not_all));
    (weight.multiply(value), total)
}

/// What single messages of a wide factor need: the body as stored nodes of a tree.
impl HornCoefficients {
    /// The body variable's part of a stored tree.
    pub(crate) fn leaf(&self, odds: Packed) -> Body<Wide> {
        Body::literal(odds, self.negative)
    }

    /// The message to the head, given the whole body.
    pub(crate) fn message_to_head(&self, body: Body<Wide>) -> Packed {
        head_message(body, self)
    }

    /// The message to a body variable, given the head's odds and the rest of the body.
    pub(crate) fn message_to_body(&self, head: Packed, rest: Body<Wide>) -> Packed {
        HeadWeights::<Wide>::new(head, self).body_message(rest, self.negative)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Factor, Horn};
    use proptest::prelude::*;

    fn input() -> impl Strategy<Value = Packed> {
        prop_oneof![
            6 => (1e-6_f64..1e6).prop_map(Packed::from_f64),
            1 => (-200_i32..200).prop_map(|e| Packed::from_f64(1.3 * 2_f64.powi(e))),
            1 => (-9000_i64..9000).prop_map(|e| Packed::pack(Wide::from_parts(1.7, e))),
            1 => Just(Packed::ZERO),
            1 => Just(Packed::INFINITY),
        ]
    }

    fn parameters() -> impl Strategy<Value = HornParameters> {
        let probability =
            || prop_oneof![Just(0.0), Just(1.0), Just(0.5), Just(1e-200), Just(5e-324), 0.0..1.0];
        (any::<bool>(), probability(), probability(), any::<bool>()).prop_map(
            |(and, p, q, head_in_body)| HornParameters {
                kind: if and { FactorKind::And } else { FactorKind::Or },
                p,
                q,
                head_in_body,
            },
        )
    }

    /// The definition: sums over all joint states.
    fn brute_force(
        inputs: &[Packed],
        head: usize,
        parameters: &HornParameters,
        target: usize,
    ) -> Packed {
        let horn =
            Horn { head, head_in_body: parameters.head_in_body, p: parameters.p, q: parameters.q };
        let factor = match parameters.kind {
            FactorKind::And => Factor::And(horn),
            _ => Factor::Or(horn),
        };
        let mut sums = [Wide::ZERO; 2];
        for index in 0..1_usize << inputs.len() {
            let states: Vec<usize> = (0..inputs.len()).map(|i| index >> i & 1).collect();
            let value = factor.value(&states, inputs.iter().map(|_| 2));
            let mut weight = Wide::from_f64(value);
            for (position, &input) in inputs.iter().enumerate() {
                if position != target {
                    let [state1, state0] = Wide::weights(input, false);
                    weight = weight.multiply(if states[position] == 1 { state1 } else { state0 });
                }
            }
            let sum = &mut sums[states[target]];
            *sum = sum.add(weight);
        }
        Packed::ratio(sums[1], sums[0])
    }

    fn close(a: Packed, b: Packed) -> bool {
        if a.is_certain() || b.is_certain() || a == Packed::CONTRADICTION {
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
            parameters in parameters(),
        ) {
            let head = head % inputs.len();
            let c = HornCoefficients::new(&parameters);
            let mut scratch = HornScratch::default();
            let mut out = vec![Packed::ONE; inputs.len()];
            horn_messages(&inputs, head, &c, &mut out, &mut scratch);
            let mut wide = out.clone();
            messages::<Wide>(&inputs, head, &c, &mut wide, None);
            prop_assert_eq!(&out, &wide);
            macro_rules! small {
                ($($n:literal)*) => {$(
                    if let Some(inputs) = inputs.first_chunk::<$n>() {
                        if out.len() == $n {
                            let small = small_horn_messages(inputs, head, &c);
                            prop_assert_eq!(&out[..], &small[..]);
                        }
                    }
                )*};
            }
            small!(1 2 3 4 5 6 7 8);
            for (target, &out) in out.iter().enumerate() {
                let mut own = inputs.clone();
                let one = horn_message(&mut own, head, target, &c, &mut scratch);
                prop_assert_eq!(one, out);
                let expected = brute_force(&inputs, head, &parameters, target);
                prop_assert!(close(one, expected), "{:?} for {:?}", one, expected);
            }
        }
    }

    #[test]
    fn a_factor_that_is_zero_everywhere_is_a_contradiction() {
        let parameters =
            HornParameters { kind: FactorKind::And, p: 0.0, q: 1.0, head_in_body: true };
        let c = HornCoefficients::new(&parameters);
        assert_eq!(small_horn_messages(&[Packed::ONE], 0, &c), [Packed::CONTRADICTION]);
    }

    /// 10,000 inputs of one half: 2^-10000 is neither zero nor a contradiction.
    #[test]
    fn long_bodies_do_not_underflow() {
        let parameters =
            HornParameters { kind: FactorKind::And, p: 1.0, q: 0.0, head_in_body: false };
        let c = HornCoefficients::new(&parameters);
        let mut inputs = vec![Packed::ONE; 10_001];
        let mut out = inputs.clone();
        horn_messages(&inputs, 0, &c, &mut out, &mut HornScratch::default());
        assert_eq!(out[0].unpack().exponent(), -10_000);
        inputs[0] = Packed::INFINITY;
        horn_messages(&inputs, 0, &c, &mut out, &mut HornScratch::default());
        assert!(out[1..].iter().all(|&odds| odds == Packed::INFINITY));
    }
}
