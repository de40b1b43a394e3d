// Trees over the messages of a binary variable whose leaves are shared by lanes of a warp, eight each. So many leaves
// are a tile: a subtree of the tree of tree.cuh.
#pragma once

#include "general_variables.cuh"

namespace fastlbp {

/// Levels of the tree over the lanes of a warp, and leaves of a tile. Variables of up to QUAD messages share a warp:
/// each has the lanes of a subtree.
constexpr uint32_t LANE_LEVELS = LANES == 32 ? 5 : 0;
constexpr uint32_t QUAD_LEVELS = LANES == 32 ? SHARED_WARP_LEVELS : 0;
constexpr uint32_t TILE = BLOCK * LANES;
constexpr uint32_t QUAD = BLOCK << QUAD_LEVELS;
static_assert(LANES == uint32_t(1) << LANE_LEVELS, "a level for each bit of a lane's number");

/// The number of this lane among 2^levels.
FASTLBP_DEVICE uint32_t lane_of(uint32_t levels) { return thread_of_block() & ((uint32_t(1) << levels) - 1); }

FASTLBP_DEVICE Product shuffle_xor_product(const Product &value, uint32_t distance) {
    const uint64_t counts = shuffle_xor(static_cast<uint64_t>(value.zeros) << 32 | value.infinities, distance);
    return Product{from_bits(shuffle_xor(to_bits(value.significand), distance)), shuffle_xor(value.exponent, distance),
                   static_cast<uint32_t>(counts), static_cast<uint32_t>(counts >> 32)};
}

FASTLBP_DEVICE Product product_of_lane(const Product &value, uint32_t lane) {
    const uint64_t counts = shuffle_from(static_cast<uint64_t>(value.zeros) << 32 | value.infinities, lane);
    return Product{from_bits(shuffle_from(to_bits(value.significand), lane)), shuffle_from(value.exponent, lane),
                   static_cast<uint32_t>(counts), static_cast<uint32_t>(counts >> 32)};
}

/// This lane's leaves of a tile, of which so many messages are in it and behind it.
FASTLBP_DEVICE void load_leaves(const Packed *messages, uint32_t count, uint32_t levels, Packed (&values)[BLOCK]) {
    const uint32_t first = lane_of(levels) * BLOCK;
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < BLOCK; ++i) {
        values[i] = first + i < count ? messages[first + i] : Packed::one();
    }
}

/// The leaves of a tile, eight for each of 2^LEVELS lanes, and the tree above them.
template <uint32_t LEVELS>
struct TileTree {
    Packed values[BLOCK];
    /// Of each level the product of the half that this lane is not in.
    Product siblings[LEVELS + 1];
    Product total;

    /// All lanes of a warp make one.
    FASTLBP_DEVICE explicit TileTree(const Packed (&leaves)[BLOCK]) {
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            values[i] = leaves[i];
        }
        total = of_block(values);
        FASTLBP_UNROLL
        for (uint32_t level = 0; level < LEVELS; ++level) {
            siblings[level] = shuffle_xor_product(total, 1 << level);
            total = combine(total, siblings[level]);
        }
    }

    /// For each of this lane's leaves the message to its factor, given the product of all leaves outside of the tile.
    FASTLBP_DEVICE void send(Product above, const Product &weight, Packed (&odds)[BLOCK]) const {
        FASTLBP_UNROLL
        for (uint32_t level = LEVELS; level-- > 0;) {
            above = combine(above, siblings[level]);
        }
        Product others[BLOCK];
        times_others_of_each(above, values, others);
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            odds[i] = combine(others[i], weight).odds();
        }
    }
};

/// The same where doubles hold all products: certain messages are counted, and ones stand for them.
template <uint32_t LEVELS>
struct PlainTree {
    /// Bits of the number of zeros among all leaves, and of that of infinities; behind them the distance of their
    /// product from one, as a bound of its logarithm.
    static constexpr uint32_t COUNT_BITS = 9, MOST_OF_LANE = 511, MOST = 500;

    double values[BLOCK];
    /// A bit for each of this lane's leaves.
    uint32_t zeros, infinities;
    uint32_t sums;
    double siblings[LEVELS + 1];
    double total;

    FASTLBP_DEVICE explicit PlainTree(const Packed (&leaves)[BLOCK]) {
        zeros = infinities = 0;
        // In units of 2^-16. The bits of a number are its logarithm but for less than 0.09.
        uint32_t distance = 0;
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            const uint32_t word = high(leaves[i]);
            const bool zero = word == 0, infinite = word == HIGH_INFINITY;
            zeros |= static_cast<uint32_t>(zero) << i;
            infinities |= static_cast<uint32_t>(infinite) << i;
            distance += zero | infinite ? 0 : smaller_of(word - HIGH_ONE, HIGH_ONE - word) >> 4;
            values[i] = zero | infinite ? 1.0 : leaves[i].plain();
        }
        uint32_t zero_count = 0, infinite_count = 0;
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            zero_count += zeros >> i & 1;
            infinite_count += infinities >> i & 1;
        }
        sums = zero_count | infinite_count << COUNT_BITS |
               smaller_of((distance >> 16) + 2, MOST_OF_LANE) << 2 * COUNT_BITS;
        FASTLBP_UNROLL
        for (uint32_t level = 0; level < LEVELS; ++level) {
            sums += shuffle_xor(sums, 1 << level);
        }
    }

    /// Whether doubles hold all products.
    FASTLBP_DEVICE bool is_exact() const { return sums >> 2 * COUNT_BITS <= MOST; }

    FASTLBP_DEVICE void multiply() {
        const double left = (values[0] * values[1]) * (values[2] * values[3]);
        total = left * ((values[4] * values[5]) * (values[6] * values[7]));
        FASTLBP_UNROLL
        for (uint32_t level = 0; level < LEVELS; ++level) {
            siblings[level] = from_bits(shuffle_xor(to_bits(total), 1 << level));
            total *= siblings[level];
        }
    }

    FASTLBP_DEVICE uint32_t zero_count() const { return sums & ((1 << COUNT_BITS) - 1); }
    FASTLBP_DEVICE uint32_t infinite_count() const { return sums >> COUNT_BITS & ((1 << COUNT_BITS) - 1); }
    FASTLBP_DEVICE Product product() const {
        const Wide wide = Wide::from_f64(total);
        return Product{wide.significand, wide.exponent, infinite_count(), zero_count()};
    }

    /// As TileTree::send, with a weight that is not certain and near one.
    FASTLBP_DEVICE void send(const Product &outside, double weight, Packed (&odds)[BLOCK]) const {
        double above = outside.significand;
        FASTLBP_UNROLL
        for (uint32_t level = LEVELS; level-- > 0;) {
            above *= siblings[level];
        }
        double pairs[4];
        FASTLBP_UNROLL
        for (int i = 0; i < 4; ++i) {
            pairs[i] = values[2 * i] * values[2 * i + 1];
        }
        const double sides[2] = {above * (pairs[2] * pairs[3]), above * (pairs[0] * pairs[1])};
        const uint32_t all_zeros = outside.zeros + zero_count(), all_infinities = outside.infinities + infinite_count();
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            const double others = ((sides[i / 4] * pairs[i / 2 ^ 1]) * values[i ^ 1]) * weight;
            const uint32_t zero = all_zeros - (zeros >> i & 1), infinite = all_infinities - (infinities >> i & 1);
            const Packed certain = zero > infinite   ? Packed::zero()
                                   : zero < infinite ? Packed::infinity()
                                                     : Packed::one();
            odds[i] = (zero | infinite) != 0 ? certain : Packed::from_plain(others);
        }
        if (outside.exponent != 0) {
            FASTLBP_UNROLL
            for (uint32_t i = 0; i < BLOCK; ++i) {
                if (!odds[i].is_certain() && all_zeros + all_infinities == (zeros >> i & 1) + (infinities >> i & 1)) {
                    odds[i] = Packed::pack(Wide::from_f64(odds[i].plain()).scaled(outside.exponent));
                }
            }
        }
    }
};

/// The product of a tile where doubles do not hold it.
template <uint32_t LEVELS>
FASTLBP_DEVICE_COLD Product far_total(const Packed *messages, uint32_t count) {
    Packed leaves[BLOCK];
    load_leaves(messages, count, LEVELS, leaves);
    return TileTree<LEVELS>(leaves).total;
}

/// The product of a tile; the same for all lanes.
template <uint32_t LEVELS>
FASTLBP_DEVICE Product total_of_tile(const Packed *messages, uint32_t count) {
    Packed leaves[BLOCK];
    load_leaves(messages, count, LEVELS, leaves);
    PlainTree<LEVELS> tree(leaves);
    if (!all_of_warp(tree.is_exact())) {
        return far_total<LEVELS>(messages, count);
    }
    tree.multiply();
    return tree.product();
}

/// The smallest power of two that is at least this.
FASTLBP_DEVICE uint32_t power_of_two_from(uint32_t number) {
    uint32_t power = 1;
    while (power < number) {
        power *= 2;
    }
    return power;
}

/// The product of `size` products from `first` on, of which there are none from `end` on, in the shape of the tree.
FASTLBP_DEVICE Product product_of_subtree(const Product *products, uint32_t first, uint32_t size, uint32_t end) {
    if (size == 1) {
        return first < end ? products[first] : Product::neutral();
    }
    Product stack[32];
    int depth = 0;
    for (uint32_t i = 0; i < size; ++i) {
        Product product = first + i < end ? products[first + i] : Product::neutral();
        for (uint32_t ones = i; ones & 1; ones >>= 1) {
            product = combine(stack[--depth], product);
        }
        stack[depth++] = product;
    }
    return stack[0];
}

/// The products of all tiles of a variable and of all but one.
struct TileProducts {
    Product all, others;
};

/// These, of `count` tiles, in the shape of the tree; by a warp, whose lanes share the tree: all of them get the
/// result.
FASTLBP_DEVICE_COLD TileProducts products_of_tiles(const Product *products, uint32_t count, uint32_t leaf) {
    TileProducts result = {Product::neutral(), Product::neutral()};
    uint32_t first = 0, size = power_of_two_from(count);
    if (LANES == 1) {
        result.all = product_of_subtree(products, 0, size, count);
        for (size /= 2; size > 0; size /= 2) {
            const bool is_second = leaf >= first + size;
            result.others =
                combine(result.others, product_of_subtree(products, is_second ? first : first + size, size, count));
            first += is_second ? size : 0;
        }
        return result;
    }
    for (bool is_top = true; is_top || size > 1; is_top = false) {
        const uint32_t lanes = smaller_of(size, LANES), each = size / lanes;
        const uint32_t lane = thread_of_block() % LANES % lanes;
        Product product = product_of_subtree(products, first + lane * each, each, count);
        Product siblings[LANE_LEVELS + 1];
        FASTLBP_UNROLL
        for (uint32_t level = 0; level < LANE_LEVELS; ++level) {
            siblings[level] = shuffle_xor_product(product, 1 << level);
            if (uint32_t(1) << level < lanes) {
                product = combine(product, siblings[level]);
            } else {
                siblings[level] = Product::neutral();
            }
        }
        result.all = is_top ? product : result.all;
        Product others = result.others;
        FASTLBP_UNROLL
        for (uint32_t level = LANE_LEVELS; level-- > 0;) {
            others = combine(others, siblings[level]);
        }
        const uint32_t owner = (leaf - first) / each;
        result.others = product_of_lane(others, owner);
        first += owner * each;
        size = each;
    }
    return result;
}

}  // namespace fastlbp
