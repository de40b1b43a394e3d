//! The random orders of SEQRND and classes of BLOCKS, defined so that anybody can reproduce them.

use crate::error::Result;
use crate::memory::{Grow, collected};

/// SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound` > 0, each with the same probability: the high word of a product
    /// (Lemire 2019), redrawn in the rare case that would make some numbers likelier.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        loop {
            let product = u128::from(self.next()) * u128::from(bound);
            let low = product as u64;
            // bound.wrapping_neg() % bound = 2^64 mod bound; smaller than bound, so it is needed
            // only if low is below bound.
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }
}

/// Puts into `out` the order of the edges `0..edge_count` in iteration `iteration` of SEQRND(`seed`).
///
/// All arithmetic is on 64-bit integers, modulo 2^64. A generator is an integer s; a draw is
///
/// ```text
/// s += 0x9E3779B97F4A7C15; z = s
/// z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
/// z = (z ^ (z >> 27)) * 0x94D049BB133111EB
/// result z ^ (z >> 31)
/// ```
///
/// (SplitMix64). The generator of an iteration starts with s = draw(s = draw(s = seed) xor iteration). A
/// number below n is the high word of the 128-bit product draw * n; a draw with (draw * n) mod 2^64
/// < 2^64 mod n is dropped and the next one taken. The order is that of the edges 0, 1, 2, ... after
/// for i = `edge_count` - 1 down to 1: swap entries i and (number below i + 1) (Fisher and Yates).
///
/// Errors: no memory for so many entries; never where `out` has room for them.
pub fn random_order(
    edge_count: usize, seed: u64, iteration: u64, out: &mut Vec<u32>,
) -> Result<()> {
    out.clear();
    out.try_extend((0..edge_count).map(|edge| edge as u32))?;
    let key = SplitMix64(seed).next() ^ iteration;
    let mut generator = SplitMix64(SplitMix64(key).next());
    for last in (1..edge_count).rev() {
        let chosen = generator.below(last as u64 + 1) as usize;
        out.swap(last, chosen);
    }
    Ok(())
}

/// The class of each of the edges `0..edge_count` in BLOCKS(`blocks`, `seed`); `blocks` > 0.
///
/// With draws and numbers below n as [`random_order`] defines them, the generator starts with
/// s = draw(s = `seed`). The classes of the edges 0, 1, 2, ... are one number below `blocks` each, in
/// this order.
pub(super) fn random_blocks(edge_count: usize, blocks: u32, seed: u64) -> Result<Vec<u64>> {
    let mut generator = SplitMix64(SplitMix64(seed).next());
    collected((0..edge_count).map(|_| generator.below(u64::from(blocks))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(edge_count: usize, seed: u64, iteration: u64) -> Vec<u32> {
        let mut out = vec![7; 3];
        random_order(edge_count, seed, iteration, &mut out).unwrap();
        out
    }

    #[test]
    fn generator_gives_the_published_values() {
        // The reference implementation's first outputs for the seed 1234567.
        let mut generator = SplitMix64(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| generator.next()).collect();
        assert_eq!(drawn, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn orders_are_permutations_that_differ_by_seed_and_iteration() {
        for edge_count in [0, 1, 2, 3, 100, 1000] {
            for (seed, iteration) in [(0, 0), (0, 1), (1, 0), (u64::MAX, u64::MAX)] {
                let mut sorted = order(edge_count, seed, iteration);
                assert_eq!(sorted, order(edge_count, seed, iteration));
                sorted.sort_unstable();
                assert!(sorted.iter().copied().eq(0..edge_count as u32));
            }
        }
        let orders = [order(50, 0, 0), order(50, 0, 1), order(50, 1, 0), order(50, 1, 1)];
        for (i, one) in orders.iter().enumerate() {
            assert!(orders[..i].iter().all(|other| other != one));
        }
    }

    #[test]
    fn all_orders_of_four_are_about_equally_frequent() {
        let mut counts = std::collections::HashMap::new();
        for iteration in 0..24_000 {
            *counts.entry(order(4, 5, iteration)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 24);
        assert!(counts.values().all(|&count| (850..1150).contains(&count)), "{counts:?}");
    }

    #[test]
    fn blocks_are_about_equally_large() {
        for seed in 0..20 {
            let mut sizes = [0; 7];
            for block in random_blocks(70_000, 7, seed).unwrap() {
                sizes[block as usize] += 1;
            }
            assert!(sizes.iter().all(|size| (9_500..10_500).contains(size)), "{sizes:?}");
        }
    }

    #[test]
    fn numbers_below_a_large_bound_are_unbiased() {
        // Three quarters of all words: without redrawing, multiples of 3 would make up one half.
        let bound = (1_u64 << 63) + (1 << 62);
        let mut generator = SplitMix64(1);
        let drawn: Vec<u64> = (0..3000).map(|_| generator.below(bound)).collect();
        assert!(drawn.iter().all(|&number| number < bound));
        let multiples = drawn.iter().filter(|&&number| number % 3 == 0).count();
        assert!((900..1100).contains(&multiples), "{multiples}");
    }

    #[test]
    fn orders_never_change() {
        assert_eq!(order(10, 0, 0), FROZEN[0]);
        assert_eq!(order(10, 0, 1), FROZEN[1]);
        assert_eq!(order(10, 42, 7), FROZEN[2]);
    }

    #[test]
    fn blocks_never_change() {
        assert_eq!(random_blocks(12, 4, 0).unwrap(), FROZEN_BLOCKS[0]);
        assert_eq!(random_blocks(12, 3, 42).unwrap(), FROZEN_BLOCKS[1]);
        assert_eq!(random_blocks(2, u32::MAX, u64::MAX).unwrap(), FROZEN_LARGE_BLOCKS);
        assert!(random_blocks(0, 4, 0).unwrap().is_empty());
    }

    /// Checked against the definition above with an independent program.
    const FROZEN_BLOCKS: [[u64; 12]; 2] =
        [[2, 2, 1, 2, 3, 0, 3, 1, 1, 2, 1, 0], [1, 2, 1, 0, 2, 0, 0, 2, 0, 2, 1, 0]];
    const FROZEN_LARGE_BLOCKS: [u64; 2] = [1_572_997_799, 3_181_733_513];

    /// Checked against the definition above with an independent program.
    const FROZEN: [[u32; 10]; 3] = [
        [4, 7, 0, 5, 9, 3, 6, 2, 8, 1],
        [0, 8, 6, 1, 7, 9, 3, 4, 5, 2],
        [0, 2, 1, 7, 5, 8, 6, 4, 9, 3],
    ];
}
