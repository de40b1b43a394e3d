//! What the kernels take: the structs of cuda/engine/general.cuh.

use crate::engine::cuda::device_struct::device_struct;

/// Threads of a block.
pub(super) const THREADS: u32 = 128;

/// Messages of a binary variable that a lane of a warp takes (BLOCK of product.cuh).
pub(super) const LEAVES_OF_LANE: u32 = 8;

device_struct! {
    /// `ItemList`.
    DeviceItemList, 16 bytes:
    u64 { items, levels }
}

device_struct! {
    /// `Scratch`: memory for each of some threads, warps or blocks.
    DeviceScratch, 24 bytes:
    u64 { memory, bytes }
    u32 { count, padding }
}

device_struct! {
    /// `General`.
    DeviceGeneral, 536 bytes:
    u32 { variables, factors, edges, values }
    u64 {
        variable_offsets, variable_edges, variable_values, variable_states, known, weights, edge_variables,
        edge_slots, slot_values, edge_values, edge_radices, factor_offsets, records, horn, words, noisy, tables, terms
    }
    [u64; 2] { messages, newest }
    u64 {
        by_edge, outputs, beliefs, inputs, history, history_rows, belief_count, variables_by_span, tile_variables,
        tile_numbers, tile_products
    }
    u32 { whole_tiles, tiles }
    u64 { constants_by_span }
    [u32; 3] { variables_of_span, constants_of_span }
    u64 { conjunctions }
    [u32; 7] { conjunctions_end }
    u32 { more_padding }
    [DeviceItemList; 3] { items }
    u64 { targets, ranks }
    u32 { levels, by_levels }
    [DeviceScratch; 3] { scratch }
    u64 { constant_iterations }
    f64 { damping }
    u32 { maxima, reset, restart_newest, padding }
}
