//! What the kernels take: the structs of cuda/engine/general.cuh, field by field. Addresses are numbers.

use crate::engine::cuda::driver::Element;
use cust::memory::DeviceCopy;

/// Threads of a block.
pub(super) const THREADS: u32 = 128;

/// Messages of a binary variable that a lane of a warp takes (BLOCK of product.cuh).
pub(super) const LEAVES_OF_LANE: u32 = 8;

/// `ItemList`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
pub(super) struct DeviceItemList {
    pub items: u64,
    pub levels: u64,
}

/// `Scratch`: memory for each of some threads, warps or blocks.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
pub(super) struct DeviceScratch {
    pub memory: u64,
    pub bytes: u64,
    pub count: u32,
    pub padding: u32,
}

/// `General`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
pub(super) struct DeviceGeneral {
    pub variables: u32,
    pub factors: u32,
    pub edges: u32,
    pub values: u32,
    pub variable_offsets: u64,
    pub variable_edges: u64,
    pub variable_values: u64,
    pub variable_states: u64,
    pub known: u64,
    pub weights: u64,
    pub edge_variables: u64,
    pub edge_slots: u64,
    pub slot_values: u64,
    pub edge_values: u64,
    pub edge_radices: u64,
    pub factor_offsets: u64,
    pub records: u64,
    pub horn: u64,
    pub words: u64,
    pub noisy: u64,
    pub tables: u64,
    pub terms: u64,
    pub messages: [u64; 2],
    pub newest: [u64; 2],
    pub by_edge: u64,
    pub outputs: u64,
    pub beliefs: u64,
    pub inputs: u64,
    pub history: u64,
    pub history_rows: u64,
    pub belief_count: u64,
    pub variables_by_span: u64,
    pub tile_variables: u64,
    pub tile_numbers: u64,
    pub tile_products: u64,
    pub whole_tiles: u32,
    pub tiles: u32,
    pub constants_by_span: u64,
    pub variables_of_span: [u32; 3],
    pub constants_of_span: [u32; 3],
    pub conjunctions: u64,
    pub conjunctions_end: [u32; 7],
    pub more_padding: u32,
    pub items: [DeviceItemList; 3],
    pub targets: u64,
    pub ranks: u64,
    pub levels: u32,
    pub by_levels: u32,
    pub scratch: [DeviceScratch; 3],
    pub constant_iterations: u64,
    pub damping: f64,
    pub maxima: u32,
    pub reset: u32,
    pub restart_newest: u32,
    pub padding: u32,
}

// SAFETY: numbers without gaps, as the assertion says.
unsafe impl Element for DeviceGeneral {}

const _: () = assert!(size_of::<DeviceScratch>() == 24);
const _: () = assert!(size_of::<DeviceGeneral>() == 536);
