// Dense tables of two variables where all messages are sent at once: a tile of the table at a time lies in shared
// memory, so that each entry is read once for both messages. Half of a group of lanes has the states of the first
// variable, the other half those of the second one; each lane sums its row or column in order, and then exchanges with
// its half what the states have to know of each other.
#pragma once

#include "general_delivery.cuh"

namespace fastlbp {

struct PairItem : PairItemData {
    FASTLBP_DEVICE uint32_t radix(uint32_t half) const { return half == 0 ? pair_radices_first(radices) : pair_radices_second(radices); }
    FASTLBP_DEVICE uint32_t place(uint32_t half) const { return half == 0 ? places[0] : places[1]; }
    FASTLBP_DEVICE uint32_t input_of(uint32_t half) const {
        return half == 0 ? input : input + stored_values(radix(0));
    }
};

FASTLBP_DEVICE PairItem load_pair_item(const PairItem *item) {
#ifdef __CUDACC__
    const uint4 *const words = reinterpret_cast<const uint4 *>(item);
    const uint4 a = words[0], b = words[1];
    PairItem pair;
    pair.values = reinterpret_cast<const double *>(static_cast<uint64_t>(a.y) << 32 | a.x);
    pair.input = a.z;
    pair.factor = a.w;
    pair.places[0] = b.x;
    pair.places[1] = b.y;
    pair.radices = b.z;
    pair.is_near = b.w;
    return pair;
#else
    return *item;
#endif
}

/// Most states of a tile in either direction, and warps of a block.
constexpr uint32_t MOST_OF_TILE = MIDDLE_PAIR;
constexpr uint32_t WARPS_OF_BLOCK = THREADS / 32;

/// What the lanes of a warp share: tiles, whose columns are one longer than they have entries, so that rows and columns
/// are read without conflicts; and weights of the states of both variables.
struct PairMemory {
    double tiles[MOST_OF_TILE * (MOST_OF_TILE + 1)];
    Far weights[2 * MOST_OF_TILE];
};

/// Most values of all messages to a factor, by levels, that the lanes of a warp share; and these, and those of messages from it.
constexpr uint32_t LEVEL_VALUES = 32;
struct LevelMemory {
    Packed inputs[LEVEL_VALUES];
    Packed outputs[LEVEL_VALUES];
};

/// Memory of a warp: of what it does at a time.
union WarpMemory {
    PairMemory pairs;
    LevelMemory level;
};
struct WarpMemories {
    WarpMemory of_warp[WARPS_OF_BLOCK];
};
FASTLBP_DEVICE WarpMemory &warp_memory() {
    FASTLBP_SHARED(WarpMemories, memories);
    return memories.of_warp[thread_of_block() / LANES % WARPS_OF_BLOCK];
}

/// How far the exponent of a message may be from zero for doubles to do.
constexpr int32_t NEAR_EXPONENT = 400;

/// A message, or a value of one, with which doubles do.
FASTLBP_DEVICE bool is_near_value(Packed value) { return value.is_within<NEAR_EXPONENT>(); }

/// The tables of a warp, one for each group of 2 * TILE lanes, of up to TILE * TILES states in either direction. On a
/// host, one lane has both halves.
template <uint32_t TILE, uint32_t TILES>
struct PairLanes {
    /// Lanes of a half, states of a tile that one has, and halves that one has.
    static constexpr uint32_t HALF = TILE < LANES ? TILE : LANES;
    static constexpr uint32_t OF_LANE = TILE / HALF;
    static constexpr uint32_t HALVES = 2 * TILE <= LANES ? 1 : 2;
    /// Entries of a tile that a lane moves to shared memory.
    static constexpr uint32_t ENTRIES = TILE * TILE / (2 * HALF / HALVES);

    const General &g;
    const Pass &pass;
    PairItem item;
    LaneGroup lanes, half_lanes;
    double *tile;
    void *weights;

    /// The table of this group, or one without states where the group has none.
    FASTLBP_DEVICE PairLanes(const General &of, const Pass &in, const PairItem &own, PairMemory &memory)
        : g(of), pass(in), item(own), lanes(2 * TILE), half_lanes(HALF) {
        tile = memory.tiles + lanes.number() * (TILE * (TILE + 1));
        weights = memory.weights + lanes.number() * (2 * TILE);
    }

    /// The entries of a tile that this lane moves. All are read before any is written, so that they are waited for
    /// once.
    struct Entries {
        double values[ENTRIES];
    };
    FASTLBP_DEVICE Entries load_tile(uint32_t row, uint32_t column) const {
        const uint32_t first = item.radix(0), second = item.radix(1);
        Entries entries;
        FASTLBP_UNROLL
        for (uint32_t number = 0; number < ENTRIES; ++number) {
            const uint32_t i = number * lanes.size + lanes.rank();
            const uint32_t x = row * TILE + i % TILE, y = column * TILE + i / TILE;
            entries.values[number] = x < first && y < second ? item.values[y * first + x] : 0.0;
        }
        return entries;
    }

    FASTLBP_DEVICE uint32_t half_of(uint32_t turn) const {
        return HALVES == 2 ? turn : lanes.rank() / TILE;
    }
    FASTLBP_DEVICE uint32_t state_of(uint32_t number) const { return number * HALF + half_lanes.rank(); }

    /// Whether doubles do for this table.
    FASTLBP_DEVICE bool is_near() const {
        bool near = item.radices == 0 || item.is_near != 0;
        for (uint32_t turn = 0; turn < HALVES; ++turn) {
            const uint32_t half = half_of(turn), values = stored_values(item.radix(half));
            for (uint32_t number = 0; number < OF_LANE * TILES; ++number) {
                const uint32_t x = state_of(number);
                near &= x >= values || is_near_value(g.by_edge[item.input_of(half) + x]);
            }
        }
        return near;
    }

    /// The weight of a state in the message from a variable; zero of a state that it does not have.
    template <class T>
    FASTLBP_DEVICE T weight(uint32_t half, uint32_t x) const {
        const uint32_t radix = item.radix(half);
        if (x >= radix) {
            return Real<T>::zero();
        }
        const Packed *const input = g.by_edge + item.input_of(half);
        if (radix == 2) {
            T state1, state0;
            FromPacked<T>::weights(*input, false, state1, state0);
            return x == 1 ? state1 : state0;
        }
        return FromPacked<T>::number(input[x]);
    }

    /// Adds the products of a tile to the sums of this lane's rows and columns.
    template <class T>
    FASTLBP_DEVICE void add_tile(const Entries &entries, uint32_t row, uint32_t column,
                                 T (&sums)[HALVES][OF_LANE * TILES]) const {
        T *const own_weights = static_cast<T *>(weights);
        sync_warp();
        for (uint32_t i = lanes.rank(); i < 2 * TILE; i += lanes.size) {
            own_weights[i] = i < TILE ? weight<T>(0, row * TILE + i) : weight<T>(1, column * TILE + i - TILE);
        }
        FASTLBP_UNROLL
        for (uint32_t number = 0; number < ENTRIES; ++number) {
            const uint32_t i = number * lanes.size + lanes.rank();
            tile[i / TILE * (TILE + 1) + i % TILE] = entries.values[number];
        }
        sync_warp();
        for (uint32_t turn = 0; turn < HALVES; ++turn) {
            const uint32_t half = half_of(turn), stride = half == 0 ? TILE + 1 : 1;
            const T *const others = own_weights + (half == 0 ? TILE : 0);
            for (uint32_t j = 0; j < OF_LANE; ++j) {
                const uint32_t own = half_lanes.rank() + j * HALF;
                const double *const column_or_row = tile + (half == 0 ? own : own * (TILE + 1));
                T &sum_of_state = sums[turn][(half == 0 ? row : column) * OF_LANE + j];
                T sum = sum_of_state;
                FASTLBP_UNROLL
                for (uint32_t x = 0; x < TILE; ++x) {
                    sum = add(sum, multiply(Real<T>::from_f64(column_or_row[x * stride]), others[x]));
                }
                sum_of_state = sum;
            }
        }
    }

    /// Computes both messages, given the first tile, and stores them.
    template <class T>
    FASTLBP_DEVICE void send(const Entries &first_tile) const {
        T sums[HALVES][OF_LANE * TILES];
        for (uint32_t turn = 0; turn < HALVES; ++turn) {
            for (uint32_t number = 0; number < OF_LANE * TILES; ++number) {
                sums[turn][number] = Real<T>::zero();
            }
        }
        // Rows are summed in the order of columns, and columns in that of rows.
        for (uint32_t column = 0; column < (TILES == 1 ? 1 : (item.radix(1) + TILE - 1) / TILE); ++column) {
            for (uint32_t row = 0; row < (TILES == 1 ? 1 : (item.radix(0) + TILE - 1) / TILE); ++row) {
                const bool is_first = TILES == 1 || (row == 0 && column == 0);
                add_tile(is_first ? first_tile : load_tile(row, column), row, column, sums);
            }
        }
        // A binary variable's lane needs both.
        sync_warp();
        T *const both = static_cast<T *>(weights);
        for (uint32_t turn = 0; turn < HALVES; ++turn) {
            for (uint32_t j = 0; j < OF_LANE; ++j) {
                both[half_of(turn) * TILE + half_lanes.rank() + j * HALF] = sums[turn][j];
            }
        }
        sync_warp();
        for (uint32_t turn = 0; turn < HALVES; ++turn) {
            const uint32_t half = half_of(turn);
            Packed message[OF_LANE * TILES];
            int32_t top = NO_EXPONENT;
            for (uint32_t number = 0; number < OF_LANE * TILES; ++number) {
                top = is_zero(sums[turn][number]) ? top : larger_of(top, exponent_of(sums[turn][number]));
            }
            top = half_lanes.largest(top);
            for (uint32_t number = 0; number < OF_LANE * TILES; ++number) {
                message[number] = is_zero(sums[turn][number]) ? Packed::zero() : pack_below(sums[turn][number], top);
            }
            const bool is_binary = item.radix(half) == 2;
            if (is_binary && half_lanes.rank() == 0) {
                message[0] = FromPacked<T>::ratio(both[half * TILE + 1], both[half * TILE], false);
                deliver(g, pass, g.factor_offsets[item.factor] + half, message);
            }
            const StatesOfMessage states = {item.place(half), is_binary ? 0 : item.radix(half), top == NO_EXPONENT};
            const auto value = [&](uint32_t number) { return message[number]; };
            const auto variable = [&] { return g.edge_variables[g.factor_offsets[item.factor] + half]; };
            deliver_states<OF_LANE * TILES>(g, pass, states, value, variable, half_lanes);
        }
    }
};

/// The messages of tables for which doubles do not do.
template <class Number, class Lanes>
FASTLBP_DEVICE_COLD void send_far_pairs(const Lanes &pairs, const typename Lanes::Entries &first_tile) {
    pairs.template send<Number>(first_tile);
}

/// The messages of the tables of a class, `count` of them. The warp with this number begins.
template <uint32_t TILE, uint32_t TILES>
FASTLBP_DEVICE_COLD void send_pairs_of(const General &g, const Pass &pass, const PairItem *items, uint32_t count,
                                       uint32_t first_warp, PairMemory &memory) {
    typedef PairLanes<TILE, TILES> Lanes;
    const LaneGroup lanes(2 * TILE);
    const uint32_t warps = warps_of_grid(), groups = lanes.groups();
    const auto load = [&](uint32_t turn) {
        const uint32_t position = turn * groups + lanes.number();
        PairItem item = load_pair_item(items + (position < count ? position : 0));
        item.radices = position < count ? item.radices : 0;
        return item;
    };
    uint32_t turn = turn_of(warp_of_grid(), first_warp, warps);
    if (turn * groups >= count) {
        return;
    }
    PairItem next = load(turn);
    for (; turn * groups < count; turn += warps) {
        const Lanes pairs(g, pass, next, memory);
        const typename Lanes::Entries first_tile = pairs.load_tile(0, 0);
        next = load(turn + warps);
        const bool near = all_of_warp(pairs.is_near());
        if (g.maxima) {
            near ? pairs.template send<Max<double>>(first_tile) : send_far_pairs<Max<Far>>(pairs, first_tile);
        } else {
            near ? pairs.template send<double>(first_tile) : send_far_pairs<Far>(pairs, first_tile);
        }
    }
}

/// The messages of all tables of two variables, at once.
FASTLBP_DEVICE_COLD void send_pairs(const General &g, const Pass &pass) {
    PairMemory &memory = warp_memory().pairs;
    const PairItem *const items = g.pairs;
    const uint32_t small = g.pairs_of_class[0], middle = g.pairs_of_class[1], large = g.pairs_of_class[2];
    // By the states of the larger variable: more than 16, more than 8, and the others. The largest ones begin.
    send_pairs_of<MIDDLE_PAIR, LARGE_PAIR / MIDDLE_PAIR>(g, pass, items + small + middle, large, 0, memory);
    send_pairs_of<MIDDLE_PAIR, 1>(g, pass, items + small, middle, large, memory);
    send_pairs_of<SMALL_PAIR, 1>(g, pass, items, small, large + middle, memory);
}

}  // namespace fastlbp
