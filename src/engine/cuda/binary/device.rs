//! What a binary graph is for the kernels.

use crate::engine::cuda::device_struct::device_struct;

device_struct! {
    /// `Binary` of cuda/engine/binary.cuh.
    Binary, 456 bytes:
    u64 { messages, stride, prepared }
    u32 { variables }
    [u32; 4] { few }
    [u32; 3] { few_slots }
    [u32; 8] { classes }
    u64 {
        variable, hub_slots, known, pieces, piece_hubs, hub_pieces, flood_words, flood_starts, factor_units, homes,
        home_words, home_hubs, home_constant_places, home_constants, home_images, home_bytes
    }
    u32 { home_turns, home_words_inside }
    u64 { degrees, far_prepared, far_given, coefficients }
    u32 { coefficient_count, constant_count }
    u64 { constant_slots, constants, beliefs, history, inputs, changes }
    u32 { history_length, factors }
    u64 { factor_offsets, edge_slots, sent, level_units, level_words, level_starts, looked_pieces, undamped }
    f64 { damping }
    u32 { mean_numerator, maxima }
    u64 { soft, tallies_ahead, level_unusual, level_products, product_stride, piece_places }
    u32 { level_warps, unused }
}
