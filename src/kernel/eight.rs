//! Products of many messages to a binary variable, eight of them at a time, in vector registers of AVX2: what `product.rs`
//! computes where all are near one, by the same operations, so that bits are the same. What is here serves only where
//! [`is_available`](super::four::is_available).

use super::four::{ALL, Four, near};
use super::number::Arithmetic;
use super::packed::EncodedMessage;
use super::product::{BLOCK, Product, scaled_near_product};
use super::tree::{TreeScratch, leave_one_out};
use crate::memory::{NoMemory, fit};
use std::arch::x86_64::*;

/// Largest exponent of what is above a block with which no message leaves the range of `f64`: seven factors are within
/// 2^-64..2^64.
const LARGEST_EXPONENT: u64 = 500;

/// The messages to a variable in blocks of eight, the last one with ones after the last message; and the products of blocks.
#[derive(Default)]
pub(crate) struct Blocks {
    blocks: Vec<[Four; 2]>,
    products: Vec<Product>,
    tree: TreeScratch<Product>,
}

impl Blocks {
    /// Begins with a variable of so many messages. Errors: no memory.
    pub(crate) fn begin(&mut self, messages: usize) -> Result<(), NoMemory> {
        self.blocks.clear();
        self.products.clear();
        fit(&mut self.blocks, messages.div_ceil(BLOCK))?;
        fit(&mut self.products, messages.div_ceil(BLOCK))
    }

    /// Adds a block. Returns whether all messages are near one; otherwise, nothing else serves.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn add(&mut self, [a, b, c, d, e, f, g, h]: [EncodedMessage; BLOCK]) -> bool {
        let block = [Four::of([a, b, c, d]), Four::of([e, f, g, h])];
        let [left, right] = halves(block).map(|half| _mm256_cvtsd_f64(half.0));
        self.blocks.push(block);
        self.products.push(Product::of(EncodedMessage((left * right).to_bits())));
        near::<64, false>(&block) == ALL
    }

    /// The product of all messages, after the last block was added. Errors: no memory.
    pub(crate) fn multiply(&mut self) -> Result<Product, NoMemory> {
        leave_one_out(&mut self.products, &mut self.tree)
    }

    /// After [`Self::multiply`]: for each message of a block, the product of all others, as odds.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn others(&self, block: usize) -> [EncodedMessage; BLOCK] {
        let (messages, above) = (self.blocks[block], self.products[block].extended());
        let [left, right] = halves(messages);
        let significand = Four::splat(above.significand());
        // From the root down, the exponent of what is above apart.
        let others = [
            others_of_half(messages[0], significand.multiply(right)),
            others_of_half(messages[1], significand.multiply(left)),
        ];
        if above.exponent().unsigned_abs() > LARGEST_EXPONENT {
            return scaled(others, above.exponent());
        }
        let exponent = _mm256_set1_epi64x(above.exponent() << 52);
        let others = others.map(|half| _mm256_add_epi64(_mm256_castpd_si256(half.0), exponent));
        // SAFETY: messages are words, and both are 64 bytes that any bits are valid for.
        unsafe { std::mem::transmute::<[__m256i; 2], [EncodedMessage; BLOCK]>(others) }
    }
}

/// Numbers times a power of two, where products may be beyond the range of `f64`.
#[cold]
#[inline(never)]
fn scaled(numbers: [Four; 2], exponent: i64) -> [EncodedMessage; BLOCK] {
    // SAFETY: as in `Blocks::others`.
    let numbers = unsafe { std::mem::transmute::<[Four; 2], [f64; BLOCK]>(numbers) };
    numbers.map(|number| scaled_near_product(number, exponent))
}

/// Each product of two neighbours, twice.
#[target_feature(enable = "avx2")]
#[inline]
fn pairs(half: Four) -> Four {
    half.multiply(siblings(half))
}

#[target_feature(enable = "avx2")]
#[inline]
fn siblings(half: Four) -> Four {
    Four(_mm256_permute_pd::<0b0101>(half.0))
}

/// Pairs, exchanged.
#[target_feature(enable = "avx2")]
#[inline]
fn other_pairs(pairs: Four) -> Four {
    Four(_mm256_permute2f128_pd::<1>(pairs.0, pairs.0))
}

/// The product of the first four messages, and that of the others, each four times.
#[target_feature(enable = "avx2")]
#[inline]
fn halves(block: [Four; 2]) -> [Four; 2] {
    let [a, b] = [pairs(block[0]), pairs(block[1])];
    [a.multiply(other_pairs(a)), b.multiply(other_pairs(b))]
}

/// For each message of half a block, what is `above` times the three others.
#[target_feature(enable = "avx2")]
#[inline]
fn others_of_half(half: Four, above: Four) -> Four {
    above.multiply(other_pairs(pairs(half))).multiply(siblings(half))
}

#[cfg(test)]
mod tests {
    use super::super::four::is_available;
    use super::*;
    use crate::kernel::{ProductScratch, binary_leave_one_out_all};
    use proptest::prelude::*;

    proptest! {
        /// The bits of one message after the other, also where the product is far beyond the range of `f64`.
        #[test]
        fn blocks_are_parts_of_the_tree(
            values in prop::collection::vec((1e-19_f64..1e19).prop_map(EncodedMessage::from_f64), 9..200),
            power in -63_i64..63, other in prop::option::weighted(0.2, Just(EncodedMessage::ZERO)),
        ) {
            if !is_available() {
                return Ok(());
            }
            let mut values = values;
            for (at, value) in values.iter_mut().enumerate() {
                if at % 3 == 0 {
                    *value = EncodedMessage::from_f64(2_f64.powi(power as i32));
                }
            }
            if let Some(other) = other {
                let at = values.len() / 2;
                values[at] = other;
            }
            let mut blocks = Blocks::default();
            blocks.begin(values.len()).unwrap();
            let mut are_near = true;
            for block in values.chunks(BLOCK) {
                let mut padded = [EncodedMessage::ONE; BLOCK];
                padded[..block.len()].copy_from_slice(block);
                // SAFETY: there is AVX2.
                are_near &= unsafe { blocks.add(padded) };
            }
            prop_assert_eq!(are_near, EncodedMessage::all_near::<64>(&values));
            if !are_near {
                return Ok(());
            }
            let total = blocks.multiply().unwrap();
            let mut expected = values.clone();
            let scratch = &mut ProductScratch::default();
            let all = binary_leave_one_out_all(&mut expected, None, scratch).unwrap();
            prop_assert_eq!(total.to_words(), all.product.unwrap().to_words());
            for (block, expected) in expected.chunks(BLOCK).enumerate() {
                // SAFETY: there is AVX2.
                let others = unsafe { blocks.others(block) };
                prop_assert_eq!(&others[..expected.len()], expected);
            }
        }
    }
}
