// Variables whose factors all belong to one block are at home there: in passes in which all messages are sent at
// once, their messages stay in the block's own memory. Made by src/engine/cuda/binary/flood.rs.
//
// A block has a place for each message of these variables, side by side as slots are, and for each other edge of its
// factors. In a pass, first the messages of factors are replaced by those that the variables send along the same
// edges; then factors replace these by theirs.
#pragma once

#include "binary_measure.cuh"
#include "block.cuh"

namespace fastlbp {

/// Variables of a class that are at home: where they begin, by position, among slots, places and variables; and how
/// many they are.
struct HomeRange {
    uint32_t position, slot, place, index, count;
};

/// Classes of variables that are at home: hubs but the large ones, then those with 4 slots, 2 and 1.
constexpr uint32_t HOME_CLASSES = 9;
constexpr uint32_t HOME_HUBS = HOME_CLASSES - 3;

/// Where an array's part begins that a block has, and its length.
struct HomePart {
    uint32_t first, count;
};

/// What a block has. Places from `inbox` on are of edges to variables of all blocks; so many of them to others than large
/// hubs come first.
struct HomeShape {
    HomeRange ranges[HOME_CLASSES];
    uint32_t places, inbox, early;
    HomePart joined, constants, words, hubs, hub_words;
    uint32_t variables;
};

static_assert(sizeof(HomeShape) == 236, "the layout of HomeShape in src/engine/cuda/binary/flood.rs");

/// A block's own memory where shared memory has room for it.
extern __shared__ double home_room[];

/// What is known of a variable at home: as Binary::known has it, and from this bit on how many of its slots, or of a
/// hub's last eight, are of no edge.
constexpr uint32_t HOME_GAPS_SHIFT = 2;

struct Home {
    HomeShape shape;
    Packed *messages;
    Packed *constants;
    uint32_t *constant_places, *joined, *hubs, *hub_words;
    const uint32_t *words;
    uint8_t *variables;

    /// At the beginning of a launch: all but the messages.
    __device__ __forceinline__ void fill(const Binary &g) {
        if (threadIdx.x == 0) {
            shape = g.homes[blockIdx.x];
            char *room = g.home_memory ? g.home_memory + g.home_bytes * blockIdx.x
                                       : reinterpret_cast<char *>(home_room);
            messages = reinterpret_cast<Packed *>(room);
            constants = messages + shape.places;
            // Units of hubs have words in pairs.
            hub_words = reinterpret_cast<uint32_t *>(constants + shape.constants.count);
            constant_places = hub_words + shape.hub_words.count;
            joined = constant_places + shape.constants.count;
            hubs = joined + shape.joined.count;
            uint32_t *own_words = hubs + shape.hubs.count;
            words = g.home_words_inside ? own_words : g.home_words + shape.words.first;
            variables =
                reinterpret_cast<uint8_t *>(own_words + (g.home_words_inside ? shape.words.count : 0));
        }
        __syncthreads();
        copy(constants, g.home_constants, shape.constants);
        copy(constant_places, g.home_constant_places, shape.constants);
        copy(joined, g.flood_words, shape.joined);
        copy(hubs, g.home_hubs, shape.hubs);
        copy(hub_words, g.flood_words, shape.hub_words);
        if (g.home_words_inside) {
            copy(const_cast<uint32_t *>(words), g.home_words, shape.words);
        }
        for (uint32_t k = 0; k < HOME_CLASSES; ++k) {
            const HomeRange &range = shape.ranges[k];
            const uint32_t width = k < HOME_HUBS ? 8 : 4 >> (k - HOME_HUBS);
            for (uint32_t i = threadIdx.x; i < range.count; i += blockDim.x) {
                const uint32_t position = range.position + i;
                const uint32_t gaps = (0 - g.degrees[position]) & (width - 1);
                variables[range.index + i] = static_cast<uint8_t>(g.known[position] | gaps << HOME_GAPS_SHIFT);
            }
        }
        __syncthreads();
    }

    /// Takes the messages of a state, and puts them back.
    __device__ __forceinline__ void load(const Packed *state) {
        for (uint32_t k = 0; k < HOME_CLASSES; ++k) {
            for (uint32_t i = threadIdx.x; i < places_of(k); i += blockDim.x) {
                messages[shape.ranges[k].place + i] = state[shape.ranges[k].slot + i];
            }
        }
        __syncthreads();
    }

    __device__ __forceinline__ void store(Packed *state) const {
        __syncthreads();
        for (uint32_t k = 0; k < HOME_CLASSES; ++k) {
            for (uint32_t i = threadIdx.x; i < places_of(k); i += blockDim.x) {
                state[shape.ranges[k].slot + i] = messages[shape.ranges[k].place + i];
            }
        }
    }

    /// What factors with one variable send.
    __device__ __forceinline__ void put_constants() const {
        for (uint32_t i = threadIdx.x; i < shape.constants.count; i += blockDim.x) {
            messages[constant_places[i]] = constants[i];
        }
    }

    /// The slot of a place. Seldom needed.
    __device__ __forceinline__ uint32_t slot_of(uint32_t place) const {
        if (place >= shape.inbox) {
            return joined[place - shape.inbox] & SLOT_MASK;
        }
        uint32_t k = HOME_CLASSES - 1;
        while (shape.ranges[k].place > place || shape.ranges[k].count == 0) {
            --k;
        }
        return shape.ranges[k].slot + (place - shape.ranges[k].place);
    }

private:
    template <class T>
    __device__ __forceinline__ static void copy(T *to, const T *all, HomePart part) {
        for (uint32_t i = threadIdx.x; i < part.count; i += blockDim.x) {
            to[i] = all[part.first + i];
        }
    }

    __device__ __forceinline__ uint32_t places_of(uint32_t k) const {
        const uint32_t end = k + 1 < HOME_CLASSES ? shape.ranges[k + 1].place : shape.inbox;
        return end - shape.ranges[k].place;
    }
};

/// The one of this block.
__device__ __forceinline__ Home &shared_home() {
    __shared__ double room[(sizeof(Home) + 7) / 8];
    return *reinterpret_cast<Home *>(room);
}

/// Notes a variable at which certain messages of the state disagree.
__device__ __noinline__ inline void note_contradiction(const Block &block, uint32_t position) {
    note_variable(block.of_state, block.g.variable[position]);
    block.mark();
}

/// Messages of a variable with up to four factors, in place, where doubles do not do or certain ones disagree.
__device__ __noinline__ inline void far_four_sends(const Block &block, Packed *messages, uint32_t gaps,
                                                   uint32_t position) {
    Packed values[4], odds[4];
    FASTLBP_UNROLL
    for (int i = 0; i < 4; ++i) {
        values[i] = messages[i];
    }
    others_of_four(values, odds);
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
        messages[i] = i + gaps < 4 ? odds[i] : Packed::one();
    }
    Certain certain = {0, 0};
    FASTLBP_UNROLL
    for (int i = 0; i < 4; ++i) {
        certain.count(values[i]);
    }
    if (certain.contradictory()) {
        note_contradiction(block, position);
    }
}

/// Whether a value is within 2^-RANGE..2^RANGE, or certain.
template <int RANGE>
__device__ __forceinline__ bool is_near(Packed value) {
    const uint32_t word = high(value);
    return (word - (static_cast<uint32_t>(BIAS - RANGE) << 20) < static_cast<uint32_t>(2 * RANGE) << 20) |
           is_certain_half(word);
}

/// A block's messages. Where it is known that they are in shared memory, fewer instructions reach them.
template <bool INSIDE>
__device__ __forceinline__ Packed *messages_at(const Home &home) {
    return INSIDE ? reinterpret_cast<Packed *>(home_room) : home.messages;
}

/// What variables with up to four factors send, by so many threads of which this is the one with this number.
template <bool INSIDE>
__device__ __forceinline__ void fours_send(const Block &block, const Home &home, uint32_t thread,
                                           uint32_t threads) {
    const HomeRange range = home.shape.ranges[HOME_HUBS];
    for (uint32_t i = thread; i < range.count; i += threads) {
        Packed *const messages = messages_at<INSIDE>(home) + range.place + 4 * i;
        const uint32_t variable = home.variables[range.index + i];
        const uint32_t known = variable & 3, gaps = variable >> HOME_GAPS_SHIFT;
        const Pair first = load_pair(messages, 0), second = load_pair(messages, 2);
        const double left = first.x.plain() * first.y.plain(), right = second.x.plain() * second.y.plain();
        Packed odds[4] = {
            Packed::from_plain(right * first.y.plain()), Packed::from_plain(right * first.x.plain()),
            Packed::from_plain(left * second.y.plain()), Packed::from_plain(left * second.x.plain())};
        // No number comes of zero times infinity.
        const bool near = is_near<256>(first.x) & is_near<256>(first.y) & is_near<256>(second.x) &
                          is_near<256>(second.y) & (odds[0].plain() * first.x.plain() >= 0.0);
        if (known != 0) {
            FASTLBP_UNROLL
            for (int j = 0; j < 4; ++j) {
                odds[j] = certain_message(known);
            }
        } else if (!near) {
            far_four_sends(block, messages, gaps, range.position + i);
            continue;
        }
        store_pair(messages, odds[0], odds[1]);
        store_pair(messages + 2, odds[2], gaps ? Packed::one() : odds[3]);
    }
}

/// What variables with two factors send, and those with one.
template <bool INSIDE>
__device__ __forceinline__ void twos_send(const Block &block, const Home &home, uint32_t thread,
                                           uint32_t threads) {
    const HomeRange range = home.shape.ranges[HOME_HUBS + 1];
    for (uint32_t i = thread; i < range.count; i += threads) {
        Packed *const messages = messages_at<INSIDE>(home) + range.place + 2 * i;
        const uint32_t known = home.variables[range.index + i] & 3;
        const Pair pair = load_pair(messages, 0);
        const uint32_t x = high(pair.x), y = high(pair.y);
        const bool contradictory = ((x == 0) & (y == HIGH_INFINITY)) | ((x == HIGH_INFINITY) & (y == 0));
        const Packed certain = certain_message(known);
        store_pair(messages, known ? certain : pair.y, known ? certain : pair.x);
        if (contradictory && known == 0) {
            note_contradiction(block, range.position + i);
        }
    }
    const HomeRange ones = home.shape.ranges[HOME_HUBS + 2];
    for (uint32_t i = thread; i < ones.count; i += threads) {
        const uint32_t known = home.variables[ones.index + i] & 3;
        messages_at<INSIDE>(home)[ones.place + i] = known ? certain_message(known) : Packed::one();
    }
}

/// Whether certain messages, counted as in Part, disagree.
__device__ __forceinline__ bool disagree(uint32_t counts) { return counts >> 16 != 0 && (counts & 0xffff) != 0; }

/// What hubs that are at home send, by so many warps of which this one is the one with this turn. They are noted where
/// contradictory, if `noting`. Gives this warp's turn for what comes next.
template <bool INSIDE>
__device__ __forceinline__ uint32_t hubs_at_home_send(const Block &block, const Home &home, uint32_t turn,
                                                      uint32_t warps, bool noting) {
    Packed *const messages = messages_at<INSIDE>(home);
    const uint32_t lane = threadIdx.x % 32;
    for (uint32_t k = 0; k < HOME_HUBS; ++k) {
        const HomeRange &range = home.shape.ranges[k];
        const uint32_t shift = HOME_HUBS - 1 - k, width = 1 << shift;
        const uint32_t units = (range.count + (32 >> shift) - 1) >> (5 - shift);
        for (; turn < units; turn += warps) {
            const uint32_t hub = range.index + (turn << (5 - shift)) + (lane >> shift);
            const bool there = hub < range.index + range.count;
            const uint32_t place = there ? home.hubs[hub] + 8 * (lane & (width - 1)) : 0;
            const uint32_t end = there ? home.hubs[hub + 1] : 0;
            const uint32_t variable = there ? home.variables[hub] : 0;
            const bool mine = place < end;
            const uint32_t known = variable & 3;
            Leaves leaves;
            if (mine) {
                leaves.load(messages, place);
            } else {
                leaves.fill_with_ones();
            }
            Ascent ascent;
            ascent.climb(leaves.total(), width);
            if (mine) {
                const uint32_t position = range.position + (hub - range.index);
                if (noting && known == 0 && (lane & (width - 1)) == 0 && disagree(ascent.counts)) {
                    note_contradiction(block, position);
                }
                Packed odds[8];
                if (known) {
                    fill(odds, known);
                } else {
                    leaves.others(ascent.above(), odds);
                }
                const uint32_t count = place + 8 == end ? 8 - (variable >> HOME_GAPS_SHIFT) : 8;
                FASTLBP_UNROLL
                for (uint32_t i = 0; i < 8; i += 2) {
                    store_pair(messages + place + i, i < count ? odds[i] : Packed::one(),
                               i + 1 < count ? odds[i + 1] : Packed::one());
                }
            }
        }
        turn -= units;
    }
    return turn;
}

/// What all variables send that are at home, by so many warps of which this one is the one with this number. Who writes
/// here and who reads must meet before and after.
template <bool INSIDE>
__device__ __forceinline__ void variables_at_home_send(const Block &block, const Home &home, uint32_t number,
                                                       uint32_t warps, bool noting_hubs) {
    // The first warps have hubs of all blocks, so the last ones begin.
    uint32_t turn = hubs_at_home_send<INSIDE>(block, home, warps - 1 - number, warps, noting_hubs);
    const uint32_t lane = threadIdx.x % 32;
    fours_send<INSIDE>(block, home, turn * 32 + lane, warps * 32);
    const uint32_t busy = (home.shape.ranges[HOME_HUBS].count + 31) / 32 % warps;
    turn += turn < busy ? warps - busy : 0 - busy;
    twos_send<INSIDE>(block, home, turn * 32 + lane, warps * 32);
}

}  // namespace fastlbp
