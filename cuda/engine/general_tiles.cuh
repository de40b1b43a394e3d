// Products over the messages of binary variables of more than 8: a leave-one-out product whose leaves are shared by the lanes
// of a warp, eight each. So many leaves are a tile: a subtree of the tree of tree.cuh. Variables of several tiles take two
// steps with a barrier between: the product of each tile; then each warp that has a tile multiplies those of the others.
#pragma once

#include "general_variables.cuh"

namespace fastlbp {

/// Levels of the tree over the lanes of a warp, and leaves of a tile.
constexpr uint32_t LANE_LEVELS = LANES == 32 ? 5 : 0;
constexpr uint32_t TILE = BLOCK * LANES;
static_assert(LANES == uint32_t(1) << LANE_LEVELS, "a level for each bit of a lane's number");

FASTLBP_DEVICE Product shuffle_xor_product(const Product &value, uint32_t distance) {
    const uint64_t counts = shuffle_xor(static_cast<uint64_t>(value.zeros) << 32 | value.infinities, distance);
    return Product{from_bits(shuffle_xor(to_bits(value.significand), distance)), shuffle_xor(value.exponent, distance),
                   static_cast<uint32_t>(counts), static_cast<uint32_t>(counts >> 32)};
}

/// The leaves of a tile, eight for each lane, and the tree above them.
struct TileTree {
    Packed values[BLOCK];
    /// Of each level the product of the half that this lane is not in.
    Product siblings[LANE_LEVELS + 1];
    Product total;

    /// All lanes of a warp make one, from messages of which so many are in this tile and those behind it.
    FASTLBP_DEVICE TileTree(const Packed *messages, uint32_t count) {
        const uint32_t first = thread_of_block() % LANES * BLOCK;
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            values[i] = first + i < count ? messages[first + i] : Packed::one();
        }
        total = of_block(values);
        FASTLBP_UNROLL
        for (uint32_t level = 0; level < LANE_LEVELS; ++level) {
            siblings[level] = shuffle_xor_product(total, 1 << level);
            total = combine(total, siblings[level]);
        }
    }

    /// For each of this lane's leaves the product of all others, given that of all leaves outside of the tile.
    FASTLBP_DEVICE void others(Product above, Product (&out)[BLOCK]) const {
        FASTLBP_UNROLL
        for (uint32_t level = LANE_LEVELS; level-- > 0;) {
            above = combine(above, siblings[level]);
        }
        times_others_of_each(above, values, out);
    }
};

/// The product of some products, in the shape of the tree: from `first`, a multiple of their number, a power of two, to
/// `end` at the most. By a warp: all lanes get it.
FASTLBP_DEVICE_COLD Product product_of_range(const Product *products, uint32_t first, uint32_t number, uint32_t end) {
    const uint32_t each = larger_of(number / LANES, uint32_t(1)), lanes = number / each;
    const uint32_t begin = first + thread_of_block() % LANES % lanes * each;
    Product stack[32];
    int depth = 0;
    for (uint32_t i = 0; i < each; ++i) {
        Product product = begin + i < end ? products[begin + i] : Product::neutral();
        for (uint32_t ones = i; ones & 1; ones >>= 1) {
            product = combine(stack[--depth], product);
        }
        stack[depth++] = product;
    }
    Product product = stack[0];
    for (uint32_t distance = 1; distance < lanes; distance *= 2) {
        product = combine(product, shuffle_xor_product(product, distance));
    }
    return product;
}

/// The smallest power of two that is at least this.
FASTLBP_DEVICE uint32_t power_of_two_from(uint32_t number) {
    uint32_t power = 1;
    while (power < number) {
        power *= 2;
    }
    return power;
}

/// The product of `count` products but that at `leaf`, in the shape of the tree, by a warp.
FASTLBP_DEVICE Product product_of_other_tiles(const Product *products, uint32_t count, uint32_t leaf) {
    Product down = Product::neutral();
    for (uint32_t size = power_of_two_from(count), start = 0; size > 1;) {
        size /= 2;
        uint32_t sibling = start + size;
        if (leaf >= sibling) {
            exchange(start, sibling);
        }
        if (sibling < count) {
            down = combine(down, product_of_range(products, sibling, size, count));
        }
    }
    return down;
}

/// Sends the messages of a tile along `edges`, those of this tile and behind it.
FASTLBP_DEVICE void send_tile(const General &g, uint32_t variable, const TileTree &tree, Product above, uint32_t count,
                              const uint32_t *edges) {
    const uint32_t known = g.known[variable];
    const uint32_t first = thread_of_block() % LANES * BLOCK;
    Packed odds[BLOCK];
    if (is_observed(known)) {
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            odds[i] = known == KNOWN_TRUE ? Packed::infinity() : Packed::zero();
        }
    } else {
        Product others[BLOCK];
        tree.others(above, others);
        const bool soft = known == KNOWN_WEIGHTS;
        const Product weight = soft ? Product::of(*g.weights_of(variable)) : Product::neutral();
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            odds[i] = (soft ? combine(others[i], weight) : others[i]).odds();
        }
    }
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < BLOCK; ++i) {
        if (first + i < count) {
            g.by_edge[g.edge_value(edges[first + i])] = odds[i];
        }
    }
}

/// What is noted of a variable, given the products of all messages, as they are and as they were computed; by a warp.
FASTLBP_DEVICE void note_total(const General &g, const Look &look, uint32_t variable, Product total, Product newest,
                               Movement &movement) {
    const bool writing = thread_of_block() % LANES == 0;
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

/// Looks at the variables of one tile, a warp each.
FASTLBP_DEVICE_COLD void look_at_whole_tiles(const General &g, const Look &look, Movement &movement) {
    for (uint32_t i = warp_of_grid(); i < g.whole_tiles; i += warps_of_grid()) {
        const uint32_t variable = g.tile_variables[i];
        const uint32_t slot = g.variable_offsets[variable], degree = g.degree(variable);
        const uint32_t at = g.slot_value(slot);
        const TileTree tree(look.messages + at, degree);
        if (look.sending) {
            send_tile(g, variable, tree, Product::neutral(), degree, g.variable_edges + slot);
        }
        Product newest = tree.total;
        if (look.measuring && look.newest != look.messages) {
            newest = TileTree(look.newest + at, degree).total;
        }
        note_total(g, look, variable, tree.total, newest, movement);
    }
}

/// Where a tile of a variable of several is.
struct TileOfMany {
    uint32_t variable, number, tiles, slot, at, count;
    /// Of all tiles of the variable.
    Product *products, *newest;

    FASTLBP_DEVICE TileOfMany(const General &g, uint32_t tile) {
        variable = g.tile_variables[g.whole_tiles + tile];
        number = g.tile_numbers[tile];
        const uint32_t degree = g.degree(variable);
        tiles = (degree - 1) / TILE + 1;
        slot = g.variable_offsets[variable] + number * TILE;
        at = g.slot_value(slot);
        count = smaller_of(degree - number * TILE, TILE);
        products = g.tile_products + (tile - number);
        newest = products + g.tiles;
    }
};

/// Multiplies the messages of all tiles of variables of several.
FASTLBP_DEVICE_COLD void multiply_tiles(const General &g, const Look &look) {
    for (uint32_t i = warp_of_grid(); i < g.tiles; i += warps_of_grid()) {
        const TileOfMany tile(g, i);
        if (is_observed(g.known[tile.variable])) {
            continue;
        }
        const bool writing = thread_of_block() % LANES == 0;
        const Product total = TileTree(look.messages + tile.at, tile.count).total;
        if (writing) {
            tile.products[tile.number] = total;
        }
        if (look.measuring && look.newest != look.messages) {
            const Product newest = TileTree(look.newest + tile.at, tile.count).total;
            if (writing) {
                tile.newest[tile.number] = newest;
            }
        }
    }
}

/// Looks at the variables of several tiles, when all tiles have been multiplied.
FASTLBP_DEVICE_COLD void look_at_tiles(const General &g, const Look &look) {
    Movement movement = {0.0, 0};
    for (uint32_t i = warp_of_grid(); i < g.tiles; i += warps_of_grid()) {
        const TileOfMany tile(g, i);
        const bool observed = is_observed(g.known[tile.variable]);
        if (look.sending) {
            const TileTree tree(look.messages + tile.at, tile.count);
            const Product above =
                observed ? Product::neutral() : product_of_other_tiles(tile.products, tile.tiles, tile.number);
            send_tile(g, tile.variable, tree, above, tile.count, g.variable_edges + tile.slot);
        }
        if (tile.number == 0) {
            const uint32_t size = power_of_two_from(tile.tiles);
            const auto total = [&](const Product *products) {
                return observed ? Product::neutral() : product_of_range(products, 0, size, tile.tiles);
            };
            const bool damped = look.measuring && look.newest != look.messages;
            const Product all = total(tile.products);
            note_total(g, look, tile.variable, all, damped ? total(tile.newest) : all, movement);
        }
    }
    if (look.measuring) {
        note_movement(look.tally, movement.max_diff, movement.moved);
    }
}

/// Looks at all variables but those of several tiles, and multiplies the messages of these.
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
    for (uint32_t i = thread_of_grid(); i < end; i += threads_of_grid()) {
        look_at_few(g, look, g.variables_by_span[i], movement);
    }
    look_at_whole_tiles(g, look, movement);
    multiply_tiles(g, look);
    if (look.measuring) {
        note_movement(look.tally, movement.max_diff, movement.moved);
    }
}

}  // namespace fastlbp
