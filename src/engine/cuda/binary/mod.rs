//! Graphs of binary variables and conjunctions of literals, with sums and without damping: what most
//! graphs of program analysis are, in a layout of its own. See cuda/engine/binary.cuh.

mod flood;
mod homes;
mod layout;
mod levels;
mod program;
#[cfg(test)]
mod tests;

use super::driver::Element;
use cust::memory::DeviceCopy;
pub(super) use program::BinaryProgram;

/// `Binary` of cuda/engine/binary.cuh, field by field; addresses are numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
pub(super) struct Binary {
    messages: u64,
    stride: u64,
    prepared: u64,
    variables: u32,
    few: [u32; 4],
    few_slots: [u32; 3],
    classes: [u32; 8],
    variable: u64,
    hub_slots: u64,
    known: u64,
    pieces: u64,
    piece_hubs: u64,
    hub_pieces: u64,
    flood_words: u64,
    flood_starts: u64,
    factor_units: u64,
    homes: u64,
    home_words: u64,
    home_hubs: u64,
    home_constant_places: u64,
    home_constants: u64,
    home_memory: u64,
    home_bytes: u64,
    home_words_inside: u64,
    degrees: u64,
    far_prepared: u64,
    far_given: u64,
    coefficients: u64,
    coefficient_count: u32,
    constant_count: u32,
    constant_slots: u64,
    constants: u64,
    constants_until: u64,
    beliefs: u64,
    history: u64,
    inputs: u64,
    changes: u64,
    history_length: u32,
    factors: u32,
    factor_offsets: u64,
    edge_slots: u64,
    sent: u64,
    level_units: u64,
    level_words: u64,
    level_starts: u64,
    looked_pieces: u64,
}

// SAFETY: numbers without gaps, as the assertion says.
unsafe impl Element for Binary {}

const _: () = assert!(size_of::<Binary>() == 384);
