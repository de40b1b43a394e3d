//! Products of the messages that meet at a variable.

use super::number::{Arithmetic, ExtendedFloat, Real};
use super::packed::EncodedMessage;
use super::tree::{Monoid, TreeScratch, leave_one_out, leave_one_out_of_eight};
use crate::error::Result;
use crate::memory::{NoMemory, collected, filled, fit};

/// A product of message values. Zeros and infinities are counted, not multiplied: which state is
/// backed by more deterministic messages decides where deterministic messages disagree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    significand: f64,
    exponent: i64,
    zeros: u32,
    infinities: u32,
}

impl Product {
    #[inline(always)]
    pub(crate) fn of(value: EncodedMessage) -> Self {
        if value.is_deterministic() {
            let zero = value == EncodedMessage::ZERO;
            Self { zeros: u32::from(zero), infinities: u32::from(!zero), ..Self::NEUTRAL }
        } else {
            let extended = value.unpack();
            Self {
                significand: extended.significand(),
                exponent: extended.exponent(),
                ..Self::NEUTRAL
            }
        }
    }

    /// The odds of two weights of which at most one is zero.
    fn over(self, other: Self) -> EncodedMessage {
        match (self.zeros, other.zeros) {
            (0, 0) => EncodedMessage::pack(self.extended().divide(other.extended())),
            (0, _) => EncodedMessage::INFINITY,
            _ => EncodedMessage::ZERO,
        }
    }

    /// The product as words, for storage.
    pub(crate) fn to_words(self) -> [u64; 3] {
        let counts = u64::from(self.zeros) << 32 | u64::from(self.infinities);
        [self.significand.to_bits(), self.exponent as u64, counts]
    }

    /// Back from [`Self::to_words`].
    pub(crate) fn from_words([significand, exponent, counts]: [u64; 3]) -> Self {
        Self {
            significand: f64::from_bits(significand),
            exponent: exponent as i64,
            zeros: (counts >> 32) as u32,
            infinities: counts as u32,
        }
    }

    /// The product of the factors that are not deterministic.
    #[inline(always)]
    pub(super) fn extended(self) -> ExtendedFloat {
        ExtendedFloat::from_parts(self.significand, self.exponent)
    }

    /// Whether deterministic messages for both states of a binary variable are among the factors.
    #[inline(always)]
    pub(crate) fn is_contradictory(self) -> bool {
        self.zeros > 0 && self.infinities > 0
    }

    /// The product as odds of a binary variable. Where deterministic messages disagree, the state backed
    /// by more of them wins, and a tie is uniform.
    #[inline]
    pub(crate) fn odds(self) -> EncodedMessage {
        if self.zeros == 0 && self.infinities == 0 {
            EncodedMessage::pack(self.extended())
        } else {
            match self.zeros.cmp(&self.infinities) {
                std::cmp::Ordering::Greater => EncodedMessage::ZERO,
                std::cmp::Ordering::Less => EncodedMessage::INFINITY,
                std::cmp::Ordering::Equal => EncodedMessage::ONE,
            }
        }
    }

    /// Probabilities of the states 0 and 1 of a binary variable with these odds.
    pub(crate) fn probabilities(self) -> [f64; 2] {
        match self.exact_odds() {
            Some(odds) => odds.probabilities(),
            None => EncodedMessage::odds_to_probabilities(self.extended()),
        }
    }

    /// That of state 1.
    #[inline]
    pub(crate) fn probability(self) -> f64 {
        match self.exact_odds() {
            Some(odds) => odds.probability(),
            None => EncodedMessage::odds_to_probabilities(self.extended())[1],
        }
    }

    /// [`Self::odds`], unless as a message they have fewer bits than the product.
    #[inline(always)]
    fn exact_odds(self) -> Option<EncodedMessage> {
        if self.zeros == 0 && self.infinities == 0 {
            EncodedMessage::from_scaled_near_product(self.significand, self.exponent)
        } else {
            Some(self.odds())
        }
    }
}

impl Product {
    /// The product of eight messages, some of them padding ones, in the shape of the tree.
    #[inline]
    pub(crate) fn of_block(values: &[EncodedMessage; BLOCK]) -> Self {
        if let Some(x) = plain_factors(values) {
            let (left, right) = ((x[0] * x[1]) * (x[2] * x[3]), (x[4] * x[5]) * (x[6] * x[7]));
            return Self::of(EncodedMessage::from_near_product(left * right));
        }
        let [a, b, c, d, e, f, g, h] = values.map(Self::of);
        let (left, right) =
            (a.combine(b).combine(c.combine(d)), e.combine(f).combine(g.combine(h)));
        left.combine(right)
    }

    /// The product of all messages to a variable but one: this product, of all that are not in its
    /// block, times the others of its block.
    #[inline]
    pub(crate) fn times_others(self, values: &[EncodedMessage; BLOCK], leaf: usize) -> Self {
        if let Some(x) = plain_factors(values) {
            let product = plain_times_others(self.significand, &x, leaf);
            let product = ExtendedFloat::from_f64(product).scaled(self.exponent);
            return Self {
                significand: product.significand(),
                exponent: product.exponent(),
                ..self
            };
        }
        let x = values.map(Self::of);
        let (half, pair) = ((leaf & 4) ^ 4, (leaf & 6) ^ 2);
        let above = x[half].combine(x[half + 1]).combine(x[half + 2].combine(x[half + 3]));
        self.combine(above).combine(x[pair].combine(x[pair + 1])).combine(x[leaf ^ 1])
    }

    /// The odds of [`Self::times_others`], where no factor is deterministic and `f64` does for the block and for the odds;
    /// else `None`.
    #[inline(always)]
    pub(crate) fn near_odds_times_others(
        self, values: &[EncodedMessage; BLOCK], leaf: usize,
    ) -> Option<EncodedMessage> {
        let x = plain_factors(values).filter(|_| self.zeros | self.infinities == 0)?;
        let product = plain_times_others(self.significand, &x, leaf);
        EncodedMessage::from_scaled_near_product(product, self.exponent)
    }
}

/// A product that is multiplied by one product after the other, by at most 64 of them. Which digits it has does not depend on powers
/// of two, so that they are those of [`Monoid::combine`]; the powers of two of its digits are left in them until it is read.
#[derive(Clone, Copy)]
pub(crate) struct RunningProduct(Product);

impl RunningProduct {
    #[inline(always)]
    pub(crate) fn of(product: Product) -> Self {
        Self(product)
    }

    #[inline(always)]
    pub(crate) fn multiply(&mut self, other: Product) {
        self.0 = Product {
            significand: self.0.significand * other.significand,
            exponent: self.0.exponent + other.exponent,
            zeros: self.0.zeros + other.zeros,
            infinities: self.0.infinities + other.infinities,
        };
    }

    #[inline(always)]
    pub(crate) fn product(self) -> Product {
        let product = ExtendedFloat::normalise(self.0.significand, self.0.exponent);
        let (significand, exponent) = (product.significand(), product.exponent());
        Product { significand, exponent, ..self.0 }
    }
}

/// What is above a block, as an `f64`, times its factors but that of a leaf.
#[inline(always)]
fn plain_times_others(above: f64, x: &[f64; BLOCK], leaf: usize) -> f64 {
    let (half, pair) = ((leaf & 4) ^ 4, (leaf & 6) ^ 2);
    let other_half = (x[half] * x[half + 1]) * (x[half + 2] * x[half + 3]);
    ((above * other_half) * (x[pair] * x[pair + 1])) * x[(leaf ^ 1) & 7]
}

impl Monoid for Product {
    const NEUTRAL: Self = Self { significand: 1.0, exponent: 0, zeros: 0, infinities: 0 };

    #[inline(always)]
    fn combine(self, other: Self) -> Self {
        let product = ExtendedFloat::from_parts(self.significand, self.exponent)
            .multiply_positive(ExtendedFloat::from_parts(other.significand, other.exponent));
        Self {
            significand: product.significand(),
            exponent: product.exponent(),
            zeros: self.zeros + other.zeros,
            infinities: self.infinities + other.infinities,
        }
    }
}

/// Largest degree for which products are taken over the messages themselves, in `f64` where
/// that is exact.
pub(crate) const SMALL_DEGREE: usize = 8;
/// Number of messages whose product is taken together, below the stored nodes of a tree: 2^3.
pub(crate) const BLOCK: usize = 8;
/// Number of levels of the tree inside a block.
pub(crate) const BLOCK_LEVELS: u32 = BLOCK.ilog2();

/// The messages as `f64`, if none is certain and the product of all is exact in `f64`.
#[inline(always)]
fn plain_factors<const N: usize>(values: &[EncodedMessage; N]) -> Option<[f64; N]> {
    let near = if N <= 4 {
        EncodedMessage::all_near::<128>(values)
    } else {
        const { assert!(N <= 8) };
        EncodedMessage::all_near::<64>(values)
    };
    near.then(|| values.map(EncodedMessage::stored_f64))
}

/// Product of four or eight messages of a binary variable, some of them padding ones, but the one at
/// `leaf`, as odds, in the shape of the tree; `None` where one is certain or `f64` does not do.
#[inline(always)]
pub(crate) fn leave_one_out_of_few<const N: usize>(
    values: &[EncodedMessage; N], leaf: usize,
) -> Option<EncodedMessage> {
    let x = plain_factors(values)?;
    let pair = (leaf & (N - 2)) ^ 2;
    let mut product = x[pair] * x[pair + 1];
    if N == 8 {
        // From the root down: the half, then the pair, then the sibling.
        let half = (leaf & 4) ^ 4;
        product *= (x[half] * x[half + 1]) * (x[half + 2] * x[half + 3]);
    }
    product *= x[leaf ^ 1];
    Some(EncodedMessage::from_near_product(product))
}

/// Product of a binary variable's at most [`SMALL_DEGREE`] messages but the one at `leaf`, as odds,
/// and whether deterministic messages disagree. In the shape of the tree.
#[inline]
pub(crate) fn binary_leave_one_out(
    values: &[EncodedMessage], leaf: usize,
) -> (EncodedMessage, bool) {
    match values.len() {
        1 => return (EncodedMessage::ONE, false),
        2 => return (values[leaf ^ 1], false),
        _ => {}
    }
    let mut padded = [EncodedMessage::ONE; SMALL_DEGREE];
    padded[..values.len()].copy_from_slice(values);
    if let Some(odds) = leave_one_out_of_few(&padded, leaf) {
        return (odds, false);
    }
    let mut products = [Product::NEUTRAL; SMALL_DEGREE];
    for (product, &value) in products.iter_mut().zip(values) {
        *product = Product::of(value);
    }
    let (rest, _) = leave_one_out_of_eight(&products);
    (rest[leaf].odds(), rest[leaf].is_contradictory())
}

/// The product of all messages to a binary variable.
pub(crate) struct All {
    /// Whether deterministic messages disagree.
    pub(crate) is_contradictory: bool,
    /// The product itself, where it has been computed as one.
    pub(crate) product: Option<Product>,
}

impl All {
    /// Where the product was not needed.
    #[inline(always)]
    fn without_product(is_contradictory: bool) -> Self {
        Self { is_contradictory, product: None }
    }

    #[inline(always)]
    fn of(product: Product) -> Self {
        Self { is_contradictory: product.is_contradictory(), product: Some(product) }
    }
}

/// For each of a binary variable's messages, the product of all others, as odds: `values` is
/// replaced by it. O(degree). Errors: no memory for the scratch space; never for up to four messages without an `extra` one.
#[inline]
pub(crate) fn binary_leave_one_out_all(
    values: &mut [EncodedMessage], extra: Option<EncodedMessage>, scratch: &mut Scratch,
) -> Result<All, NoMemory> {
    if extra.is_none() && values.len() <= 4 {
        match values {
            [] => return Ok(All::without_product(false)),
            [a] => {
                *a = EncodedMessage::ONE;
                return Ok(All::without_product(false));
            }
            [a, b] => {
                std::mem::swap(a, b);
                let disagree = a.is_deterministic() && b.is_deterministic() && a != b;
                return Ok(All::without_product(disagree));
            }
            _ => {}
        }
        let mut padded = [EncodedMessage::ONE; 4];
        padded[..values.len()].copy_from_slice(values);
        if let Some([a, b, c, d]) = plain_factors(&padded) {
            let (left, right) = (a * b, c * d);
            let out = [right * b, right * a, left * d, left * c];
            for (value, product) in values.iter_mut().zip(out) {
                *value = EncodedMessage::from_near_product(product);
            }
            return Ok(All::without_product(false));
        }
    }
    if extra.is_none()
        && let Some(total) = leave_one_out_of_many(values, scratch)?
    {
        return Ok(All::of(total));
    }
    let Scratch { products, tree } = scratch;
    products.clear();
    fit(products, values.len())?;
    products.extend(values.iter().map(|&value| Product::of(value)));
    let mut total = leave_one_out(products, tree)?;
    let extra = extra.map_or(Product::NEUTRAL, Product::of);
    total = total.combine(extra);
    for (value, product) in values.iter_mut().zip(products.iter()) {
        *value = product.combine(extra).odds();
    }
    Ok(All::of(total))
}

/// As [`binary_leave_one_out_all`] where no message is certain and all are so near to one that
/// products of eight are exact in `f64`: `None`, with nothing done, where that is not so. The three
/// lowest levels of the tree are then taken in `f64`, block by block.
fn leave_one_out_of_many(
    values: &mut [EncodedMessage], scratch: &mut Scratch,
) -> Result<Option<Product>, NoMemory> {
    if !EncodedMessage::all_near::<64>(values) {
        return Ok(None);
    }
    let Scratch { products, tree } = scratch;
    products.clear();
    fit(products, values.len().div_ceil(8))?;
    products.extend(values.chunks(8).map(|block| {
        let x = padded_block(block);
        let pairs = [x[0] * x[1], x[2] * x[3], x[4] * x[5], x[6] * x[7]];
        let product = (pairs[0] * pairs[1]) * (pairs[2] * pairs[3]);
        Product::of(EncodedMessage::from_near_product(product))
    }));
    let total = leave_one_out(products, tree)?;
    for (block, above) in values.chunks_mut(8).zip(products.iter()) {
        let x = padded_block(block);
        let pairs = [x[0] * x[1], x[2] * x[3], x[4] * x[5], x[6] * x[7]];
        let (left, right) = (pairs[0] * pairs[1], pairs[2] * pairs[3]);
        // From the root down, the exponent of what is above apart.
        let (left, right) = (above.significand * right, above.significand * left);
        let down = [left * pairs[1], left * pairs[0], right * pairs[3], right * pairs[2]];
        for (leaf, value) in block.iter_mut().enumerate() {
            let product = down[leaf / 2] * x[leaf ^ 1];
            *value = scaled_near_product(product, above.exponent);
        }
    }
    Ok(Some(total))
}

/// A product of factors near one, times a power of two.
#[inline(always)]
pub(super) fn scaled_near_product(value: f64, exponent: i64) -> EncodedMessage {
    EncodedMessage::from_scaled_near_product(value, exponent)
        .unwrap_or_else(|| pack_scaled(value, exponent))
}

/// A positive number times a power of two, where the product is beyond the range of `f64`.
#[cold]
#[inline(never)]
fn pack_scaled(value: f64, exponent: i64) -> EncodedMessage {
    EncodedMessage::pack(ExtendedFloat::from_f64(value).scaled(exponent))
}

/// Up to eight values in f64 range, padded with ones.
#[inline(always)]
fn padded_block(values: &[EncodedMessage]) -> [f64; 8] {
    let mut block = [1.0; 8];
    for (factor, value) in block.iter_mut().zip(values) {
        *factor = value.stored_f64();
    }
    block
}

/// Memory for products over many edges, kept between calls.
#[derive(Default)]
pub(crate) struct Scratch {
    products: Vec<Product>,
    tree: TreeScratch<Product>,
}

impl Scratch {
    /// The product of all values, in the shape of the tree.
    pub(crate) fn product(
        &mut self, mut values: impl ExactSizeIterator<Item = EncodedMessage>,
    ) -> Result<Product, NoMemory> {
        self.products.clear();
        if values.len() > BLOCK {
            fit(&mut self.products, values.len().div_ceil(BLOCK))?;
            while values.len() > 0 {
                let mut block = [EncodedMessage::ONE; BLOCK];
                block.iter_mut().zip(&mut values).for_each(|(message, value)| *message = value);
                self.products.push(Product::of_block(&block));
            }
        } else {
            fit(&mut self.products, values.len())?;
            self.products.extend(values.map(Product::of));
        }
        let mut count = self.products.len();
        while count > 1 {
            for i in 0..count / 2 {
                self.products[i] = self.products[2 * i].combine(self.products[2 * i + 1]);
            }
            if count % 2 == 1 {
                self.products[count / 2] = self.products[count - 1];
            }
            count = count.div_ceil(2);
        }
        Ok(self.products.first().copied().unwrap_or(Product::NEUTRAL))
    }

    /// For each value, the product of all others.
    pub(crate) fn leave_one_out(
        &mut self, values: impl ExactSizeIterator<Item = EncodedMessage>,
    ) -> Result<&[Product], NoMemory> {
        self.products.clear();
        fit(&mut self.products, values.len())?;
        self.products.extend(values.map(Product::of));
        leave_one_out(&mut self.products, &mut self.tree)?;
        Ok(&self.products)
    }
}

/// Probability of state 1 from a binary variable's four or eight messages, some of them padding ones, where
/// `f64` does.
#[inline]
pub(crate) fn probability_of_few<const N: usize>(values: &[EncodedMessage; N]) -> Option<f64> {
    const { assert!(N == 4 || N == 8) };
    let x = plain_factors(values)?;
    let mut odds = (x[0] * x[1]) * (x[2] * x[3]);
    if N == 8 {
        odds *= (x[4] * x[5]) * (x[6] * x[7]);
    }
    Some(odds / (odds + 1.0))
}

/// Probability of state 1 from messages to a binary variable of which some are deterministic, and these agree.
#[inline]
pub(crate) fn deterministic_probability(values: &[EncodedMessage]) -> Option<f64> {
    let (mut zero, mut infinite) = (false, false);
    for &value in values {
        zero |= value == EncodedMessage::ZERO;
        infinite |= value == EncodedMessage::INFINITY;
    }
    (zero != infinite).then_some(if zero { 0.0 } else { 1.0 })
}

/// A message over the states of a variable from one product per state: weights relative to the
/// largest, which has the exponent 0. Returns whether no state was free of zeros; then the states
/// with the fewest zeros win, equally.
pub(crate) fn resolve_states(products: &[Product], out: &mut [EncodedMessage]) -> bool {
    let fewest = products.iter().map(|product| product.zeros).min().unwrap_or(0);
    if fewest > 0 {
        for (value, product) in out.iter_mut().zip(products) {
            *value =
                if product.zeros == fewest { EncodedMessage::ONE } else { EncodedMessage::ZERO };
        }
        return true;
    }
    let free = || products.iter().filter(|product| product.zeros == 0);
    let top = free().map(|product| product.exponent).max().unwrap_or(0);
    for (value, product) in out.iter_mut().zip(products) {
        *value = if product.zeros == 0 {
            EncodedMessage::pack(product.extended().scaled(-top))
        } else {
            EncodedMessage::ZERO
        };
    }
    false
}

/// As [`resolve_states`], as a message is stored: that of the only state of a variable is 1.
pub(crate) fn resolve_message(products: &[Product], out: &mut [EncodedMessage]) -> bool {
    let contradictory = resolve_states(products, out);
    if let [only] = out {
        *only = EncodedMessage::ONE;
    }
    contradictory
}

/// Weights of states, not all zero, as a stored message: odds of a binary variable.
pub(crate) fn stored_message(weights: &[f64]) -> Result<Vec<EncodedMessage>> {
    let products: Vec<Product> =
        collected(weights.iter().map(|&weight| Product::of(EncodedMessage::from_f64(weight))))?;
    if let [state0, state1] = products[..] {
        return filled(1, state1.over(state0));
    }
    let mut out = filled(weights.len(), EncodedMessage::ONE)?;
    resolve_message(&products, &mut out);
    Ok(out)
}

/// Probabilities of states from their weights. The weights are finite and one is positive.
pub(crate) fn weights_to_probabilities(weights: &[EncodedMessage], out: &mut [f64]) {
    if weights.iter().fold(true, |near, weight| near & weight.is_near_weight()) {
        let total = weights.iter().fold(0.0, |sum, weight| sum + weight.stored_f64());
        for (probability, weight) in out.iter_mut().zip(weights) {
            *probability = weight.stored_f64() / total;
        }
        return;
    }
    extended_probabilities(weights, out);
}

/// [`weights_to_probabilities`] of weights of any exponent.
fn extended_probabilities(weights: &[EncodedMessage], out: &mut [f64]) {
    let total = weights.iter().fold(ExtendedFloat::ZERO, |sum, weight| sum.add(weight.unpack()));
    for (probability, weight) in out.iter_mut().zip(weights) {
        let weight = weight.unpack();
        *probability = if weight.is_zero() { 0.0 } else { weight.divide(total).to_f64() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::horn::tests::inputs;
    use proptest::prelude::*;

    fn message() -> impl Strategy<Value = EncodedMessage> {
        inputs(1e3, 300)
    }

    proptest! {
        /// All ways to the same product give the same bits.
        #[test]
        fn small_and_general_agree(
            values in prop_oneof![
                prop::collection::vec(message(), 1..=8),
                prop::collection::vec(message(), 9..=40),
                prop::collection::vec((1e-3_f64..1e3).prop_map(EncodedMessage::from_f64), 1..=70),
            ]
        ) {
            let mut scratch = Scratch::default();
            let expected: Vec<(EncodedMessage, bool)> = scratch
                .leave_one_out(values.iter().copied())
                .unwrap()
                .iter()
                .map(|product| (product.odds(), product.is_contradictory()))
                .collect();
            let mut all = values.clone();
            let All { is_contradictory: contradictory, product } =
                binary_leave_one_out_all(&mut all, None, &mut scratch).unwrap();
            let total = scratch.product(values.iter().copied()).unwrap();
            prop_assert_eq!(contradictory, total.is_contradictory());
            prop_assert!(product.is_some() || values.len() <= 4);
            if let Some(product) = product {
                prop_assert_eq!(product.to_words(), total.to_words());
            }
            let mut products: Vec<Product> = values.iter().map(|&value| Product::of(value)).collect();
            let whole = leave_one_out(&mut products, &mut scratch.tree).unwrap();
            prop_assert_eq!(total.to_words(), whole.to_words());
            let probability = total.probabilities()[1];
            prop_assert_eq!(total.probability(), probability);
            if !total.odds().is_deterministic() && !contradictory {
                let by_exponents = EncodedMessage::odds_to_probabilities(total.extended());
                prop_assert_eq!(total.probabilities(), by_exponents);
            }
            match deterministic_probability(&values) {
                Some(p) => prop_assert_eq!(p, probability),
                None => prop_assert!(contradictory || !total.odds().is_deterministic()),
            }
            if values.len() <= 8 {
                let mut padded = [EncodedMessage::ONE; 8];
                padded[..values.len()].copy_from_slice(&values);
                prop_assert!(probability_of_few(&padded).is_none_or(|p| p == probability));
            }
            for (leaf, &expected) in expected.iter().enumerate() {
                if values.len() <= SMALL_DEGREE {
                    prop_assert_eq!(binary_leave_one_out(&values, leaf), expected);
                }
                prop_assert_eq!(all[leaf], expected.0);
            }
            if values.len() <= 4 {
                let mut padded = [EncodedMessage::ONE; 4];
                padded[..values.len()].copy_from_slice(&values);
                prop_assert!(probability_of_few(&padded).is_none_or(|p| p == probability));
                for (leaf, &expected) in expected.iter().enumerate() {
                    if let Some(odds) = leave_one_out_of_few(&padded, leaf) {
                        prop_assert_eq!((odds, false), expected);
                    }
                }
            }
        }

        /// Odds of a part of a tree that are found quickly are those of its product.
        #[test]
        fn near_odds_are_products(
            others in prop::collection::vec(message(), 0..40),
            values in prop_oneof![
                prop::array::uniform8(message()),
                prop::array::uniform8((1e-19_f64..1e19).prop_map(EncodedMessage::from_f64)),
            ],
            leaf in 0_usize..8,
        ) {
            let above = others.iter().fold(Product::NEUTRAL, |all, &m| all.combine(Product::of(m)));
            let product = above.times_others(&values, leaf);
            if let Some(odds) = above.near_odds_times_others(&values, leaf) {
                prop_assert_eq!(odds, product.odds());
                prop_assert!(!product.is_contradictory());
            } else {
                let near = plain_factors(&values).is_some();
                prop_assert!(!near || above.odds().is_deterministic() || above.zeros > 0 || product.exponent.abs() > 1000);
            }
        }

        /// A running product has the bits of one product after the other, also with the most factors.
        #[test]
        fn running_products_are_products(values in prop::collection::vec(message(), 1..=65)) {
            let mut running = RunningProduct::of(Product::of(values[0]));
            let mut expected = Product::of(values[0]);
            for &value in &values[1..] {
                running.multiply(Product::of(value));
                expected = expected.combine(Product::of(value));
                prop_assert_eq!(running.product().to_words(), expected.to_words());
            }
        }

        /// A soft evidence of one changes nothing.
        #[test]
        fn neutral_evidence(values in prop::collection::vec(message(), 1..=12)) {
            let mut scratch = Scratch::default();
            let (mut with, mut without) = (values.clone(), values);
            binary_leave_one_out_all(&mut with, Some(EncodedMessage::ONE), &mut scratch).unwrap();
            binary_leave_one_out_all(&mut without, None, &mut scratch).unwrap();
            prop_assert_eq!(with, without);
        }
    }

    #[test]
    fn a_million_neighbours() {
        let mut scratch = Scratch::default();
        let up = EncodedMessage::from_f64(100.0);
        let down = EncodedMessage::from_f64(0.01);
        let values = (0..1_000_000).map(|i| if i < 500_000 { up } else { down });
        let [p0, p1] = scratch.product(values).unwrap().probabilities();
        // 0.01 is not exactly 1/100: half a million roundings of 100 * 0.01 = 1 + 2.08e-17.
        assert!((p1 - 0.5).abs() < 1e-11 && (p0 - 0.5).abs() < 1e-11);
        let all_up = scratch.product((0..1_000_000).map(|_| up)).unwrap();
        assert_eq!(all_up.probabilities(), [0.0, 1.0]);
        assert!(!all_up.odds().is_deterministic());
    }

    #[test]
    fn votes() {
        let resolve = |zeros: usize, infinities: usize| {
            let mut scratch = Scratch::default();
            let values = std::iter::repeat_n(EncodedMessage::ZERO, zeros)
                .chain(std::iter::repeat_n(EncodedMessage::INFINITY, infinities))
                .chain([EncodedMessage::from_f64(3.0)]);
            let values: Vec<EncodedMessage> = values.collect();
            let product = scratch.product(values.into_iter()).unwrap();
            (product.odds(), product.is_contradictory())
        };
        assert_eq!(resolve(2, 1), (EncodedMessage::ZERO, true));
        assert_eq!(resolve(1, 2), (EncodedMessage::INFINITY, true));
        assert_eq!(resolve(2, 2), (EncodedMessage::ONE, true));
        assert_eq!(resolve(0, 1), (EncodedMessage::INFINITY, false));
        assert_eq!(resolve(0, 0), (EncodedMessage::from_f64(3.0), false));
    }

    #[test]
    fn states_resolve() {
        let weight = |x: f64| Product::of(EncodedMessage::from_f64(x));
        let mut out = [EncodedMessage::ONE; 3];
        assert!(!resolve_states(&[weight(0.5), weight(8.0), weight(0.0)], &mut out));
        assert_eq!(out.map(|w| w.stored_f64()), [0.0625, 1.0, 0.0]);
        let zero = weight(0.0);
        assert!(resolve_states(&[zero, zero.combine(zero), zero], &mut out));
        assert_eq!(out, [EncodedMessage::ONE, EncodedMessage::ZERO, EncodedMessage::ONE]);
        let (mut p, mut extended) = ([0.0; 3], [0.0; 3]);
        weights_to_probabilities(&out, &mut p);
        assert_eq!(p, [0.5, 0.0, 0.5]);
        let weights = [1.0, 1e-30, 0.3].map(EncodedMessage::from_f64);
        weights_to_probabilities(&weights, &mut p);
        extended_probabilities(&weights, &mut extended);
        assert_eq!(p, extended);
    }
}
