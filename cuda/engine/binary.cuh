// Graphs of binary variables and conjunctions: how they and their messages lie in the device's memory.
// Mirrored by src/engine/cuda/binary/mod.rs; made by its layout.rs, flood.rs and levels.rs.
//
// A variable's messages lie side by side, from a multiple of their number rounded up to 2, 4 or a
// multiple of 8, and ones fill the gaps: so one or two wide loads bring all that a small variable needs.
// Variables are numbered by *position*: hubs (more than 4 factors, or by which blocks meet) by their classes, then
// those with 3 or 4, with 2, with 1 and with none; in each class those of all blocks and then block by block, where
// blocks have variables (see binary_home.cuh), and hubs by falling degree.
#pragma once

#include "../arithmetic/damping.cuh"
#include "../arithmetic/far.cuh"
#include "../arithmetic/horn.cuh"
#include "../arithmetic/product.cuh"
#include "control.cuh"

namespace fastlbp {

/// An input of a factor is described by a word: the slot of its edge, and where the message comes from.
constexpr uint32_t SLOT_BITS = 28;
constexpr uint32_t SLOT_MASK = (uint32_t(1) << SLOT_BITS) - 1;
constexpr uint32_t SOURCE_SHIFT = 29;
/// Sources, but that it is 1 as there is no other message: stored by the hub; observed in state 0 or 1; by levels, the
/// messages that threads read.
constexpr uint32_t SOURCE_PREPARED = 1;
constexpr uint32_t SOURCE_FALSE = 2;
constexpr uint32_t SOURCE_TRUE = 3;
constexpr uint32_t SOURCE_READ = 4;

/// By levels, the second word of an input: from where on the number of coefficients stands.
constexpr uint32_t COEFFICIENTS_SHIFT = 12;
/// By levels, slots have fewer bits. From LAST_SHIFT on an input says which of the variable's messages is the last one:
/// that whose slot differs from the input's by these three bits; 0: none. LAST_IS_OLD of the first message that the same
/// thread reads says that it is of the pass before.
constexpr uint32_t LAST_SHIFT = 25;
constexpr uint32_t LAST_IS_OLD = uint32_t(1) << LAST_SHIFT;
constexpr uint32_t LEVEL_SLOT_MASK = (uint32_t(1) << LAST_SHIFT) - 1;
/// A message that a thread reads by levels: its slot, the first one behind all for none; whether it is a last one;
/// whether it is read anew; and the logarithm of the number of threads that read the same variable's.
constexpr uint32_t LEAF_LAST = uint32_t(1) << (SLOT_BITS - 1);
constexpr uint32_t LEAF_NEW = uint32_t(1) << SLOT_BITS;
constexpr uint32_t LEAF_SHIFT = SLOT_BITS + 1;

/// What is known about a variable: 0 nothing, 1 that it is in state 0, 2 that it is in state 1, 3 a likelihood of each.
constexpr uint32_t KNOWN_TRUE = 2;
constexpr uint32_t KNOWN_SOFT = 3;
/// Where all messages are sent at once, in the words of edges of variables with soft evidence.
constexpr uint32_t SOFT_BIT = uint32_t(1) << SLOT_BITS;

/// Most messages of a hub that one warp takes at once, 8 by each thread; classes of hubs by the number of
/// threads: large ones, 32, 16, 8, 4, 2, 1.
constexpr uint32_t WARP_LEAVES = 256;
constexpr uint32_t HUB_CLASSES = 7;
/// Most pieces of WARP_LEAVES whose products fit in a block's shared memory.
constexpr uint32_t SHARED_PIECES = 512;

/// States of the messages that are there at the same time by levels, where passes overlap (see overlap.cuh); each pass
/// leads to the next one of them, by turns. Where all messages are sent at once there are PASS_BUFFERS.
constexpr uint32_t LEVEL_STATES = 5;

struct HomeShape;

/// Which of a warp's units had certain messages the last time, and which could not be sent the usual way at all;
/// those 64 apart share a bit.
struct UnusualUnits {
    uint64_t certain, far;
};

struct Binary {
    /// States of messages, by slot; and how many entries each has.
    Packed *messages;
    uint64_t stride;
    /// By slot, of hubs only: their messages to their factors. Then the products of pieces (Pieces in
    /// binary_pieces.cuh).
    Packed *prepared;

    uint32_t variables;
    /// First position of those with 4, 2, 1, 0 slots, and the first slot of each.
    uint32_t fours, twos, ones, zeros;
    uint32_t four_slot, two_slot, one_slot;
    /// First position of each class of hubs, and the number of hubs.
    uint32_t classes[HUB_CLASSES + 1];
    /// By position; hub_slots has an entry more than there are hubs.
    const uint32_t *variable, *hub_slots;
    const uint32_t *known;
    /// Large hubs have pieces of WARP_LEAVES slots: if one has more than SHARED_PIECES, room for two products of
    /// each; the hub of each; the first piece of each large hub, and the end.
    Product *pieces;
    const uint32_t *piece_hubs, *hub_pieces;

    /// Where all messages are sent at once, what each warp does (see binary_flood.cuh): words that change with the
    /// evidence, first rows of units of hubs, units of factors.
    const uint32_t *flood_words, *flood_starts, *factor_units;
    /// What each home has (see binary_home.cuh), the words of its factors, places of its hubs, what factors with one
    /// variable send to which places; and whether words are in shared memory too. If there are more than blocks, home_turns
    /// for each, they take turns in shared memory, and have images of so many bytes in the device's memory. By position, the
    /// number of a variable's factors.
    const HomeShape *homes;
    const uint32_t *home_words, *home_hubs, *home_constant_places;
    const Packed *home_constants;
    char *home_images;
    uint64_t home_bytes;
    uint32_t home_turns, home_words_inside;
    const uint32_t *degrees;
    /// By slot, of hubs: where messages of hubs and to hubs are if they do not fit where others are (binary_exchange.cuh).
    Packed *far_prepared, *far_given;
    const HornCoefficients *coefficients;
    uint32_t coefficient_count, constant_count;

    /// Factors with one variable: slots and what they send.
    const uint32_t *constant_slots;
    const Packed *constants;
    /// Last beliefs by position, and rings of them; last probabilities of inputs by slot, and by how much
    /// they have changed.
    double *beliefs, *history, *inputs, *changes;
    uint32_t history_length, factors;
    /// The slots of each factor's edges in their order.
    const uint32_t *factor_offsets, *edge_slots;
    /// By levels: a bit for each slot whose message is sent in every pass; what each warp does, as units and their
    /// words, and each warp's first unit (see binary_levels.cuh).
    const uint32_t *sent;
    const uint2 *level_units;
    const uint4 *level_words;
    const uint32_t *level_starts;
    /// Room for eight times two words of each piece of a large hub, for who looks at states (see Look).
    uint64_t *looked_pieces;
    /// What the messages of the first two states were before damping; null where the run is not damped. By how much it is;
    /// the same as a multiple of 1/MEAN_DENOMINATOR, or 0 if it is none; and whether the run is one of maxima.
    Packed *undamped;
    double damping;
    uint32_t mean_numerator, maxima;
    /// Soft evidence as one more message to a variable: of hubs by the number of their slots divided by 8, then of others by
    /// position. Null if there is none.
    const Packed *soft;
    /// Where all messages are sent at once: what is found of AHEAD_AT_MOST states and one more, if passes run ahead.
    Tally *tallies_ahead;
    /// By levels: of each of so many warps, which of its units are unusual, from launch to launch of a run; the products of pieces of
    /// large hubs, in two words each, of all states, of which each has product_stride words; and by piece the place of the
    /// product of all its messages (see binary_versions.cuh).
    UnusualUnits *level_unusual;
    uint64_t *level_products, product_stride;
    const uint32_t *piece_places;
    uint32_t level_warps, unused;

#ifdef __CUDACC__
    __device__ __forceinline__ Packed *state(uint32_t number) const { return messages + number * stride; }
    __device__ __forceinline__ Packed *undamped_state(uint32_t number) const { return undamped + number * stride; }
    __device__ __forceinline__ Packed soft_of_hub(uint32_t slot) const { return soft[slot / 8]; }
    __device__ __forceinline__ Packed soft_of(uint32_t position) const {
        return position < fours ? soft_of_hub(hub_slots[position]) : soft[four_slot / 8 + (position - fours)];
    }
#endif
};

static_assert(sizeof(Binary) == 456, "the layout of Binary in src/engine/cuda/binary/mod.rs");

#ifdef __CUDACC__

struct Pair {
    Packed x, y;
};

/// Two neighbouring messages, the first at an even slot.
__device__ __forceinline__ Pair load_pair(const Packed *messages, uint32_t slot) {
    const ulonglong2 pair = *reinterpret_cast<const ulonglong2 *>(messages + slot);
    return Pair{Packed{pair.x}, Packed{pair.y}};
}

/// Of the high half of a message.
__device__ __forceinline__ bool is_certain_half(uint32_t high) { return (high == 0) | (high == HIGH_INFINITY); }

/// Whether a variable's state is known.
__device__ __forceinline__ bool is_observed(uint32_t known) { return known != 0 && known != KNOWN_SOFT; }

/// What an observed variable sends.
__device__ __forceinline__ Packed certain_message(uint32_t known) {
    return known == KNOWN_TRUE ? Packed::infinity() : Packed::zero();
}

/// The distance of a message that is not certain from one: its exponent, times 2^20. Far for what is not stored as a
/// double.
__device__ __forceinline__ uint32_t distance_from_one(Packed message) {
    const uint32_t distance = high(message) - HIGH_ONE;
    return smaller_of(distance, 0 - distance);
}

/// Stores two neighbouring messages, the first at an even place.
__device__ __forceinline__ void store_pair(Packed *messages, Packed x, Packed y) {
    ulonglong2 pair;
    pair.x = x.bits;
    pair.y = y.bits;
    *reinterpret_cast<ulonglong2 *>(messages) = pair;
}

constexpr uint64_t CACHE_LINE = 128;

/// Has a line of the second-level cache read from memory.
__device__ __forceinline__ void prefetch_line(const void *at) {
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#else
    (void)at;
#endif
}

/// What others wait for has these bits as long as it is not there. No message and no product has them.
constexpr uint64_t UNSENT = ~uint64_t(0);

/// What blocks hand over to each other in passes is not negative, so that its sign can say of which pass it is. UNSENT
/// has another one than what is sent the first time.
constexpr uint32_t SIGN = 1u << 31;

__device__ __forceinline__ bool has_other_sign(uint64_t bits, uint32_t sign) {
    return ((static_cast<uint32_t>(bits >> 32) ^ sign) & SIGN) != 0;
}
__device__ __forceinline__ uint64_t with_sign(uint64_t bits, uint32_t sign) {
    return bits ^ static_cast<uint64_t>(sign) << 32;
}

/// Stores two neighbouring words, the first at an even place, for which others look, each for itself.
__device__ __forceinline__ void hand_over(uint64_t *to, uint64_t x, uint64_t y) {
#ifdef __CUDA_ARCH__
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(x), "l"(y) : "memory");
#else
    __atomic_store_n(to, x, __ATOMIC_RELAXED);
    __atomic_store_n(to + 1, y, __ATOMIC_RELAXED);
    tell_others();
#endif
}

/// One such word, or UNSENT.
__device__ __forceinline__ uint64_t look_for(const uint64_t *at) {
#ifdef __CUDA_ARCH__
    uint64_t word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at));
    return word;
#else
    return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

/// Sets a word for which others look.
__device__ __forceinline__ void hand_over(uint64_t *to, uint64_t x) {
#ifdef __CUDA_ARCH__
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(x) : "memory");
#else
    __atomic_store_n(to, x, __ATOMIC_RELAXED);
    tell_others();
#endif
}

/// Two neighbouring ones, the first at an even place.
__device__ __forceinline__ void look_for_two(const uint64_t *at, uint64_t &x, uint64_t &y) {
#ifdef __CUDA_ARCH__
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "l"(at));
#else
    x = look_for(at);
    y = look_for(at + 1);
#endif
}

/// The position of the variable to which a slot belongs. Seldom needed.
__device__ __noinline__ inline uint32_t position_of_slot(const Binary &g, uint32_t slot) {
    uint32_t position;
    if (slot >= g.one_slot) {
        position = g.ones + (slot - g.one_slot);
    } else if (slot >= g.two_slot) {
        position = g.twos + (slot - g.two_slot) / 2;
    } else if (slot >= g.four_slot) {
        position = g.fours + (slot - g.four_slot) / 4;
    } else {
        uint32_t low = 0, high = g.classes[HUB_CLASSES];
        while (high - low > 1) {
            const uint32_t middle = (low + high) / 2;
            if (g.hub_slots[middle] <= slot) {
                low = middle;
            } else {
                high = middle;
            }
        }
        position = low;
    }
    return position;
}

__device__ __forceinline__ uint32_t variable_of_slot(const Binary &g, uint32_t slot) {
    return g.variable[position_of_slot(g, slot)];
}

/// Zeros and infinities among messages.
struct Certain {
    uint32_t zeros, infinities;

    __device__ __forceinline__ void count(Packed value) {
        zeros += value.bits == 0;
        infinities += value.bits == INFINITY_BITS;
    }
    __device__ __forceinline__ bool any() const { return (zeros | infinities) != 0; }
    __device__ __forceinline__ bool contradictory() const { return zeros != 0 && infinities != 0; }
    /// See Product::odds.
    __device__ __forceinline__ Packed odds() const {
        return zeros > infinities ? Packed::zero() : zeros < infinities ? Packed::infinity() : Packed::one();
    }
};

/// The product of three messages, (a * b) * c, where one is certain or far from 1.
__device__ __noinline__ inline Packed product_of_three(uint64_t a, uint64_t b, uint64_t c) {
    Certain certain = {0, 0};
    certain.count(Packed{a});
    certain.count(Packed{b});
    certain.count(Packed{c});
    if (certain.any()) {
        return certain.odds();
    }
    const Far x = Far::of(Packed{a}), y = Far::of(Packed{b}), z = Far::of(Packed{c});
    const double product = (x.significand * y.significand) * z.significand;
    return Far::normalise(product, x.exponent + y.exponent + z.exponent).packed();
}

/// (a * b) * c.
__device__ __forceinline__ Packed send_three(Packed a, Packed b, Packed c) {
    const Packed values[4] = {a, b, c, Packed::one()};
    if (all_near<128>(values)) {
        return Packed::from_plain((a.plain() * b.plain()) * c.plain());
    }
    return product_of_three(a.bits, b.bits, c.bits);
}

#endif

}  // namespace fastlbp
