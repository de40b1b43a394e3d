// Graphs of binary variables and conjunctions: how they and their messages lie in the device's memory.
// Made by layout.rs, flood.rs and levels.rs of src/engine/cuda/binary; the structs are in interface.cuh.
//
// A variable's messages lie side by side, from a multiple of their number rounded up to 2, 4 or a
// multiple of 8, and ones fill the gaps: so one or two wide loads bring all that a small variable needs.
// Variables are numbered by *position*: hubs (more than 4 factors, or by which blocks meet) by their classes, then
// those with 3 or 4, with 2, with 1 and with none; in each class those of all blocks and then block by block, where
// blocks have variables (see binary_home.cuh), and hubs by falling degree.
#pragma once

#include "../arithmetic/damping.cuh"
#include "../arithmetic/threshold.cuh"
#include "../arithmetic/far.cuh"
#include "../arithmetic/horn.cuh"
#include "../arithmetic/product.cuh"
#include "control.cuh"

namespace fastlbp {

#ifdef __CUDACC__

struct Binary : BinaryData {
    __device__ __forceinline__ Packed *state(uint32_t number) const { return messages + number * stride; }
    __device__ __forceinline__ Packed *undamped_state(uint32_t number) const { return undamped + number * stride; }
    __device__ __forceinline__ Packed soft_of_hub(uint32_t slot) const { return soft[slot / 8]; }
    __device__ __forceinline__ Packed soft_of(uint32_t position) const {
        return position < fours ? soft_of_hub(hub_slots[position]) : soft[four_slot / 8 + (position - fours)];
    }
    /// That of the variable to which a slot belongs.
    __device__ __forceinline__ Packed soft_of_slot(uint32_t slot) const {
        return slot < four_slot ? soft_of_hub(slot) : soft_of(position_of_few(slot));
    }
    /// The position of a variable with few factors, given one of its slots.
    __device__ __forceinline__ uint32_t position_of_few(uint32_t slot) const {
        return slot >= one_slot   ? ones + (slot - one_slot)
               : slot >= two_slot ? twos + (slot - two_slot) / 2
                                  : fours + (slot - four_slot) / 4;
    }
};

static_assert(sizeof(Binary) == sizeof(BinaryData), "functions only");

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
    if (slot >= g.four_slot) {
        return g.position_of_few(slot);
    }
    uint32_t low = 0, high = g.classes[HUB_CLASSES];
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (g.hub_slots[middle] <= slot) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
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
