//! The words that a unit of the levels is made of: see cuda/engine/binary_levels.cuh.

use super::layout::{SLOT_BITS, SLOT_MASK};
use super::limits::WARP;
use crate::engine::cuda::interface::binary::{Source, THREAD_LEAVES, WARP_LEAVES};

/// What a thread knows of its input: in the first word, how the message that comes last differs from it; in the second,
/// the round in which it finds what it wants, whether its edge is sent, whether the literal is that the variable is in
/// state 0, and the number of coefficients.
pub(super) mod input {
    pub const LAST_SHIFT: u32 = 25;
    pub const ROUND_SHIFT: u32 = 5;
    pub const SENT: u32 = 1 << 10;
    pub const NEGATED: u32 = 1 << 11;
    pub const COEFFICIENTS_SHIFT: u32 = 12;
    /// In the first message that a thread reads: the last one for its own input is of the iteration before.
    pub const LAST_IS_OLD: u32 = 1 << LAST_SHIFT;
}

/// What a thread reads: a slot, the first one behind all for none; whether its message comes last; whether it is new;
/// and from a bit on, how many threads read the same variable's.
pub(super) mod leaf {
    use super::SLOT_BITS;

    pub const LAST: u32 = 1 << (SLOT_BITS - 1);
    pub const NEW: u32 = 1 << SLOT_BITS;
    pub const SHIFT: u32 = SLOT_BITS + 1;
}

/// What a thread reads of a hub: below all others a bit for each new message; how many threads read the hub's; how far
/// away the message that comes last is, and a bit for it among eight, all of them if there is nothing to read.
pub(super) mod hub {
    pub const WIDTH_SHIFT: u32 = 9;
    pub const LAST_SHIFT: u32 = 12;
    pub const LAST_BITS_SHIFT: u32 = 16;
    pub const NOTHING: u32 = 0xff << LAST_BITS_SHIFT;
}

/// Behind the words of a factor's own piece of a hub, one for each piece: the slot where its version is, and whether that is of this
/// iteration; or that there is none.
pub(super) mod version {
    pub const NEW: u32 = 1 << 31;
    pub const NONE: u32 = u32::MAX;
}

/// Of the shape of a unit.
pub(super) mod shape {
    /// It is the product of a piece.
    pub const MULTIPLIES: u32 = 1 << 6;
}

/// By levels, slots are below this.
pub(super) const LEVEL_SLOTS: usize = 1 << input::LAST_SHIFT;
/// Words of a chunk: four of each thread.
pub(super) const CHUNK: usize = 4 * WARP;
/// What threads without an input have: one that is certain. They are not sent.
pub(super) const ABSENT: u32 = (Source::True as u32) << 29 | SLOT_MASK;
const _: () = assert!(WARP_LEAVES == THREAD_LEAVES as usize * WARP);

/// The logarithm of the number of threads that a factor of this arity has.
pub(super) fn thread_levels(arity: usize) -> u32 {
    match arity {
        ..=4 => 2,
        5..=8 => 3,
        _ => 5,
    }
}

/// A flag, if it is set.
pub(super) fn flag(is: bool, flag: u32) -> u32 {
    if is { flag } else { 0 }
}
