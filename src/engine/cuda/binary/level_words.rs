//! The words that a unit of the levels is made of: see cuda/engine/binary_levels.cuh.

use super::limits::WARP;
use crate::engine::cuda::interface::binary::{Source, THREAD_LEAVES, WARP_LEAVES};
use crate::engine::cuda::interface::words::{input, level_input, level_want};
use crate::engine::limits::MOST_LEVEL_WORDS;

/// By levels, slots are below this.
pub(super) const LEVEL_SLOTS: usize = level_input::SLOT.largest() as usize + 1;
/// By levels, there are no more coefficients than this.
pub(super) const LEVEL_COEFFICIENTS: usize = level_want::COEFFICIENTS.largest() as usize + 1;
/// In the place of an input: soft evidence of its variable is in the message that it reads, and the word does not tell of it.
pub(super) const READS_SOFT: u32 = 1 << 31;
const _: () = assert!(MOST_LEVEL_WORDS < READS_SOFT as usize);
/// Words of a chunk: four of each thread.
pub(super) const CHUNK: usize = 4 * WARP;
/// What threads without an input have: one that is certain. They are not sent.
pub(super) const ABSENT: u32 = input::SOURCE.put(Source::True as u32) | input::SLOT.mask();
const _: () = assert!(WARP_LEAVES == THREAD_LEAVES as usize * WARP);

/// The logarithm of the number of threads that a factor of this arity has.
pub(super) fn thread_levels(arity: usize) -> u32 {
    match arity {
        ..=2 => 1,
        3..=4 => 2,
        5..=8 => 3,
        _ => 5,
    }
}
