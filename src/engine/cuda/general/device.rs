//! What the kernels take: the structs of cuda/engine/general.cuh.

use crate::engine::cuda::device_struct::device_struct;

/// Threads of a block.
pub(super) const THREADS: u32 = 512;

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
    DeviceGeneral, 640 bytes:
    u32 { variables, factors, edges, values }
    u64 {
        variable_offsets, slot_inputs, variable_values, variable_states, known, weights, edge_variables, edge_slots,
        edge_inputs, variable_places, edge_places, edge_radices, factor_offsets, records, horn, words, noisy, tables,
        terms
    }
    [u64; 2] { messages, newest }
    u64 {
        by_edge, outputs, beliefs, inputs, history, history_rows, belief_count, variables_by_span, readers,
        tile_variables, tile_numbers, tile_products
    }
    u32 { quads, whole_tiles, tile_rows, tiles, senders, some_send }
    u64 { constants_by_span }
    [u32; 3] { variables_of_span, constants_of_span }
    u64 { warp_lanes }
    [DeviceItemList; 3] { items }
    u64 { targets, ranks }
    u32 { levels, by_levels }
    [DeviceScratch; 3] { scratch }
    u64 { constant_iterations }
    f64 { damping }
    u32 { maxima, reset, restart_newest, warp_items }
    u64 { pairs }
    [u32; 3] { pairs_of_class }
    [u32; 4] { variables_of_states }
    u32 { padding }
    [DeviceItemList; 3] { prepared_items }
    u64 { prepared, prepared_states }
}
