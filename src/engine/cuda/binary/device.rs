//! What a binary graph is for the kernels.

use crate::engine::cuda::driver::Element;
use cust::memory::DeviceCopy;

/// `Binary` of cuda/engine/binary.cuh, field by field; addresses are numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
pub(super) struct Binary {
    pub messages: u64,
    pub stride: u64,
    pub prepared: u64,
    pub variables: u32,
    pub few: [u32; 4],
    pub few_slots: [u32; 3],
    pub classes: [u32; 8],
    pub variable: u64,
    pub hub_slots: u64,
    pub known: u64,
    pub pieces: u64,
    pub piece_hubs: u64,
    pub hub_pieces: u64,
    pub flood_words: u64,
    pub flood_starts: u64,
    pub factor_units: u64,
    pub homes: u64,
    pub home_words: u64,
    pub home_hubs: u64,
    pub home_constant_places: u64,
    pub home_constants: u64,
    pub home_memory: u64,
    pub home_bytes: u64,
    pub home_words_inside: u64,
    pub degrees: u64,
    pub far_prepared: u64,
    pub far_given: u64,
    pub coefficients: u64,
    pub coefficient_count: u32,
    pub constant_count: u32,
    pub constant_slots: u64,
    pub constants: u64,
    pub constants_until: u64,
    pub beliefs: u64,
    pub history: u64,
    pub inputs: u64,
    pub changes: u64,
    pub history_length: u32,
    pub factors: u32,
    pub factor_offsets: u64,
    pub edge_slots: u64,
    pub sent: u64,
    pub level_units: u64,
    pub level_words: u64,
    pub level_starts: u64,
    pub looked_pieces: u64,
}

// SAFETY: numbers without gaps, as the assertion says.
unsafe impl Element for Binary {}

const _: () = assert!(size_of::<Binary>() == 384);
