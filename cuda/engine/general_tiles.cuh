// Binary variables of more than 8 messages, whose leave-one-out products lanes share: trees over tiles
// (general_trees.cuh). Variables of several tiles take two steps with a barrier between: the product of each tile; then
// each warp that has a tile multiplies those of the others. The barrier is one of a block for up to TILES_OF_ROW tiles,
// and one of the grid for more.
#pragma once

#include "general_states.cuh"
#include "general_trees.cuh"

namespace fastlbp {

/// What lanes know of a tile: the evidence of its variable, and where its messages to factors are.
struct TileEvidence {
    uint32_t known;
    Packed weight;
    const uint32_t *inputs;

    FASTLBP_DEVICE TileEvidence(const General &g, uint32_t variable, uint32_t slot)
        : known(g.known[variable]), weight(Packed::one()), inputs(g.slot_inputs + slot) {
        if (known == KNOWN_WEIGHTS) {
            weight = *g.weights_of(variable);
        }
    }
    /// Whether the weight is 2^-400..2^400.
    FASTLBP_DEVICE bool is_near() const {
        return high(weight) - (HIGH_ONE - (400 << 20)) <= 800 << 20;
    }
};

/// send_tile where doubles do not hold all products.
template <uint32_t LEVELS>
FASTLBP_DEVICE_COLD void send_far_tile(const Packed *messages, uint32_t count, Product above, Packed weight,
                                       Packed (&odds)[BLOCK], Product &total) {
    Packed leaves[BLOCK];
    load_leaves(messages, count, LEVELS, leaves);
    const TileTree<LEVELS> tree(leaves);
    total = tree.total;
    tree.send(above, Product::of(weight), odds);
}

/// Sends the messages of a tile, those of this tile and behind it, if `sending`; returns its product. All lanes of a
/// warp call it; those without a tile with a count of 0.
template <uint32_t LEVELS>
FASTLBP_DEVICE Product send_tile(const General &g, const TileEvidence &evidence, const Packed *messages, uint32_t count,
                                 const Product &above, bool sending) {
    Packed odds[BLOCK];
    load_leaves(messages, count, LEVELS, odds);
    PlainTree<LEVELS> tree(odds);
    Product total;
    if (all_of_warp(tree.is_exact() & evidence.is_near())) {
        tree.multiply();
        total = tree.product();
        if (sending) {
            tree.send(above, evidence.weight.plain(), odds);
        }
    } else {
        Packed far_odds[BLOCK];
        Product far_total;
        send_far_tile<LEVELS>(messages, count, above, evidence.weight, far_odds, far_total);
        total = far_total;
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            odds[i] = far_odds[i];
        }
    }
    if (sending) {
        const bool observed = is_observed(evidence.known);
        const Packed certain = evidence.known == KNOWN_TRUE ? Packed::infinity() : Packed::zero();
        const uint32_t first = lane_of(LEVELS) * BLOCK;
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            if (first + i < count) {
                g.by_edge[evidence.inputs[first + i]] = observed ? certain : odds[i];
            }
        }
    }
    return total;
}

/// What is noted of a variable, given the products of all messages, as they are and as they were computed; by lanes of
/// which one is `writing`.
FASTLBP_DEVICE_COLD void note_total(const General &g, const Look &look, uint32_t variable, Product total,
                                    Product newest, bool writing, Movement &movement) {
    const auto product = [&](uint32_t) { return total; };
    if (!is_observed(g.known[variable]) && writing &&
        with_evidence(g, variable, product)(0).is_contradictory()) {
        note_variable(look.tally, variable);
    }
    if (look.measuring) {
        const auto computed = [&](uint32_t) { return newest; };
        measure_variable(g, look, variable, with_evidence(g, variable, computed), writing, movement);
    }
}

/// Looks at a variable of one tile by 2^LEVELS lanes, if it is `there`; all lanes of a warp call it.
template <uint32_t LEVELS>
FASTLBP_DEVICE_COLD void look_at_whole(const General &g, const Look &look, uint32_t variable, bool there,
                                       Movement &movement) {
    const uint32_t slot = g.variable_offsets[variable], degree = there ? g.degree(variable) : 0;
    const uint32_t at = g.variable_places[variable];
    const TileEvidence evidence(g, variable, slot);
    const Product total = send_tile<LEVELS>(g, evidence, look.messages + at, degree, Product::neutral(), look.sending);
    const bool damped = look.measuring && look.newest != look.messages;
    const Product newest = damped ? total_of_tile<LEVELS>(look.newest + at, degree) : total;
    const bool contradictory = total.is_contradictory() | !evidence.is_near();
    if (there && (look.measuring || contradictory)) {
        note_total(g, look, variable, total, newest, lane_of(LEVELS) == 0, movement);
    }
}

/// Looks at the variables of one tile: some share a warp, the others have one each. The warp with this number begins.
FASTLBP_DEVICE void look_at_whole_tiles(const General &g, const Look &look, uint32_t first_warp, Movement &movement) {
    constexpr uint32_t of_warp = LANES >> QUAD_LEVELS;
    const uint32_t shared = (g.quads + of_warp - 1) / of_warp, warps = warps_of_grid();
    for (uint32_t i = turn_of(warp_of_grid(), first_warp, warps); i < shared + g.whole_tiles; i += warps) {
        if (i < shared) {
            const uint32_t number = i * of_warp + (thread_of_block() % LANES >> QUAD_LEVELS);
            const bool there = number < g.quads;
            look_at_whole<QUAD_LEVELS>(g, look, g.tile_variables[there ? number : 0], there, movement);
        } else {
            look_at_whole<LANE_LEVELS>(g, look, g.tile_variables[g.quads + (i - shared)], true, movement);
        }
    }
}

/// Where a tile of a variable of several is; `entry` is its place in a list.
struct TileOfMany {
    uint32_t variable, number, tiles, slot, at, count;

    FASTLBP_DEVICE TileOfMany(const General &g, uint32_t entry)
        : variable(g.tile_variables[g.quads + g.whole_tiles + entry]), number(g.tile_numbers[entry]), tiles(0),
          slot(0), at(0), count(0) {
        if (variable == NO_TILE) {
            return;
        }
        const uint32_t degree = g.degree(variable);
        tiles = (degree - 1) / TILE + 1;
        slot = g.variable_offsets[variable] + number * TILE;
        at = g.variable_places[variable] + number * TILE;
        count = smaller_of(degree - number * TILE, TILE);
    }

    FASTLBP_DEVICE bool is_multiplied(const General &g) const {
        return variable != NO_TILE && !is_observed(g.known[variable]);
    }

    /// Looks at the tile, given the products of all of its variable, as they are and as they were computed.
    FASTLBP_DEVICE void look(const General &g, const Look &look, const Product *products, const Product *newest,
                             Movement &movement) const {
        const bool observed = is_observed(g.known[variable]);
        TileProducts found = {Product::neutral(), Product::neutral()};
        if (!observed && (look.sending || number == 0)) {
            found = products_of_tiles(products, tiles, number);
        }
        if (look.sending) {
            send_tile<LANE_LEVELS>(g, TileEvidence(g, variable, slot), look.messages + at, count, found.others, true);
        }
        if (number == 0) {
            const bool damped = look.measuring && look.newest != look.messages && !observed;
            const Product computed = damped ? products_of_tiles(newest, tiles, 0).all : found.all;
            note_total(g, look, variable, found.all, computed, thread_of_block() % LANES == 0, movement);
        }
    }

    /// The product of its messages in this array; by all lanes.
    FASTLBP_DEVICE Product total(const Packed *messages) const {
        return total_of_tile<LANE_LEVELS>(messages + at, count);
    }
};

/// Products of the tiles of a row.
struct RowProducts {
    Product products[TILES_OF_ROW], newest[TILES_OF_ROW];
};

/// Looks at the variables of up to TILES_OF_ROW tiles: a block at a row, a warp at a tile. The block with this number
/// begins.
FASTLBP_DEVICE_COLD void look_at_rows(const General &g, const Look &look, uint32_t first_block, Movement &movement) {
    FASTLBP_SHARED(RowProducts, row_products);
    const uint32_t warps = threads_of_block() / LANES, warp = thread_of_block() / LANES;
    const bool writing = thread_of_block() % LANES == 0, damped = look.measuring && look.newest != look.messages;
    const uint32_t blocks = blocks_of_grid();
    for (uint32_t row = turn_of(block_of_grid(), first_block, blocks); row < g.tile_rows; row += blocks) {
        const uint32_t first = row * TILES_OF_ROW;
        for (uint32_t i = warp; i < TILES_OF_ROW; i += warps) {
            const TileOfMany tile(g, first + i);
            if (tile.is_multiplied(g)) {
                const Product total = tile.total(look.messages);
                const Product newest = damped ? tile.total(look.newest) : total;
                if (writing) {
                    row_products.products[i] = total;
                    row_products.newest[i] = newest;
                }
            }
        }
        sync_block();
        for (uint32_t i = warp; i < TILES_OF_ROW; i += warps) {
            const TileOfMany tile(g, first + i);
            if (tile.variable != NO_TILE) {
                const uint32_t of_variable = i - tile.number;
                tile.look(g, look, row_products.products + of_variable, row_products.newest + of_variable, movement);
            }
        }
        sync_block();
    }
}

/// Multiplies the messages of all tiles of variables of more.
FASTLBP_DEVICE_COLD void multiply_tiles(const General &g, const Look &look) {
    for (uint32_t i = warp_of_grid(); i < g.tiles; i += warps_of_grid()) {
        const TileOfMany tile(g, g.tile_rows * TILES_OF_ROW + i);
        if (!tile.is_multiplied(g)) {
            continue;
        }
        const bool writing = thread_of_block() % LANES == 0;
        const Product total = tile.total(look.messages);
        if (writing) {
            g.tile_products[i] = total;
        }
        if (look.measuring && look.newest != look.messages) {
            const Product newest = tile.total(look.newest);
            if (writing) {
                g.tile_products[g.tiles + i] = newest;
            }
        }
    }
}

/// Looks at these variables when all of their tiles have been multiplied.
FASTLBP_DEVICE_COLD void look_at_tiles(const General &g, const Look &look) {
    Movement movement = {0.0, 0};
    for (uint32_t i = warp_of_grid(); i < g.tiles; i += warps_of_grid()) {
        const TileOfMany tile(g, g.tile_rows * TILES_OF_ROW + i);
        const Product *const products = g.tile_products + (i - tile.number);
        tile.look(g, look, products, products + g.tiles, movement);
    }
    if (look.measuring) {
        note_movement(look.tally, movement.max_diff, movement.moved);
    }
}

/// Looks at all variables but those whose tiles no row has room for.
FASTLBP_DEVICE_COLD void look_at_variables(const General &g, const Look &look) {
    Movement movement = {0.0, 0};
    uint32_t end = g.variables_of_span[SPAN_THREAD] + g.variables_of_span[SPAN_WARP] + g.variables_of_span[SPAN_BLOCK];
    for (uint32_t span = SPAN_BLOCK; span > SPAN_THREAD; --span) {
        const uint32_t first = end - g.variables_of_span[span];
        const Groups groups(g, span);
        for (uint32_t i = first + groups.number; groups.number < groups.count && i < end; i += groups.count) {
            look_at_many(g, look, g.variables_by_span[i], groups.memory, movement, ThreadGroup{span});
        }
        end = first;
    }
    end = look.all_looked_at ? end : g.senders;
    // Warps with tiles of the largest variables are the first ones; others begin with what comes next.
    const uint32_t warps_of_block = threads_of_block() / LANES, threads = threads_of_grid();
    const uint32_t first_row = (g.tiles + warps_of_block - 1) / warps_of_block;
    const uint32_t first_few = (first_row + g.tile_rows) * warps_of_block;
    for (uint32_t i = turn_of(thread_of_grid(), first_few * LANES, threads); i < end; i += threads) {
        look_at_few(g, look, g.variables_by_span[i], i < g.senders ? look.sending : look.all_send, movement);
    }
    look_at_all_states(g, look, movement);
    look_at_rows(g, look, first_row, movement);
    look_at_whole_tiles(g, look, first_few + (g.senders + LANES - 1) / LANES, movement);
    if (look.measuring) {
        note_movement(look.tally, movement.max_diff, movement.moved);
    }
}

}  // namespace fastlbp
