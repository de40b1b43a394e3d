// How threads read messages in passes by levels, of which some are of the same pass.
//
// Nobody waits for a level to end, nor for a pass. A message says by itself whether it is there: its place holds
// UNSENT until then, and whoever needs the message looks again and again. There is a place for each slot in each of
// LEVEL_STATES states: who sends a message resets the one that is used next but two (see overlap.cuh). So a message
// travels as fast as the memory that all share, and no fence is needed.
#pragma once

#include "binary_factors.cuh"
#include "overlap.cuh"

namespace fastlbp {

/// What is found in a pass, for each warp of a block.
__device__ __forceinline__ Tally *&tally_of_pass() {
    __shared__ Tally *all[LEVEL_THREADS / 32];
    return all[threadIdx.x / 32];
}

/// Words of a unit, which are read once in a pass.
__device__ __forceinline__ uint4 load_words(const uint4 *at) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint4 words;
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
        : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
        : "l"(at), "l"(policy));
    return words;
#else
    return __ldg(at);
#endif
}

/// Where messages of a pass are.
struct Places {
    /// Of all states.
    Packed *messages;
    /// Where the state before the pass begins, the one that it leads to, and the one to be reset.
    uint32_t from, now, reset;
    /// The number of the state before the pass.
    uint32_t buffer;

    __device__ __forceinline__ Places(const Binary &g, uint32_t number)
        : messages(g.messages), from(number * static_cast<uint32_t>(g.stride)),
          now((number + 1) % LEVEL_STATES * static_cast<uint32_t>(g.stride)),
          reset((number + 3) % LEVEL_STATES * static_cast<uint32_t>(g.stride)), buffer(number) {}

    /// Where a message of this pass or the one before is.
    __device__ __forceinline__ const Packed *at(uint32_t slot, bool is_new) const {
        return messages + (slot + (is_new ? now : from));
    }
};

/// Starts to read a message of this pass or the one before, which may be UNSENT.
__device__ __forceinline__ uint64_t start_reading(const Places &places, uint32_t slot, bool is_new) {
    return look_for(&places.at(slot, is_new)->bits);
}

/// So that only this half is looked at.
__device__ __forceinline__ uint32_t high_half(uint64_t bits) {
#ifdef __CUDA_ARCH__
    uint32_t high;
    asm("{\n\t.reg .b32 low;\n\tmov.b64 {low, %0}, %1;\n\t}" : "=r"(high) : "l"(bits));
    return high;
#else
    return static_cast<uint32_t>(bits >> 32);
#endif
}

/// Other than UNSENT, no message has this half.
__device__ __forceinline__ bool is_missing(uint64_t bits) { return high_half(bits) == ~uint32_t(0); }

template <int COUNT>
__device__ __forceinline__ bool is_any_missing(const uint64_t (&bits)[COUNT]) {
    bool missing = false;
    FASTLBP_UNROLL
    for (int i = 0; i < COUNT; ++i) {
        missing |= is_missing(bits[i]);
    }
    return missing;
}

/// Reads a message again if it was missing.
__device__ __forceinline__ void repeat_reading(const Places &places, uint32_t slot, bool is_new, uint64_t &bits) {
#ifdef __CUDA_ARCH__
    asm volatile(
        "{\n\t.reg .pred missing;\n\t"
        "setp.ne.u32 missing, %2, 0;\n\t"
        "@missing ld.relaxed.gpu.global.u64 %0, [%1];\n\t}"
        : "+l"(bits)
        : "l"(places.at(slot, is_new)), "r"(static_cast<uint32_t>(is_missing(bits))));
#else
    if (is_missing(bits)) {
        bits = start_reading(places, slot, is_new);
    }
#endif
}

/// Messages that a thread reads in two rounds.
struct RoundReadings {
    uint32_t leaves[2];
    uint64_t bits[2];

    /// In the place of last ones there are ones, unless `all` are read.
    __device__ __forceinline__ void start(const Places &places, const uint32_t (&words)[2], bool all) {
        FASTLBP_UNROLL
        for (int i = 0; i < 2; ++i) {
            leaves[i] = words[i];
            bits[i] = ONE_BITS;
            if (all || (leaves[i] & LEAF_LAST) == 0) {
                bits[i] = start_reading(places, slot(i), is_new(i));
            }
        }
    }
    __device__ __forceinline__ bool is_new(int i) const { return leaf_new(leaves[i]); }
    __device__ __forceinline__ uint32_t slot(int i) const { return leaf_slot(leaves[i]); }
    __device__ __forceinline__ uint32_t width(int i) const { return leaf_levels(leaves[i]); }
    __device__ __forceinline__ Packed value(int i) const { return Packed{bits[i]}; }
    __device__ __forceinline__ bool any_missing() const { return is_any_missing(bits); }
    __device__ __forceinline__ void repeat(const Places &places) {
        FASTLBP_UNROLL
        for (int i = 0; i < 2; ++i) {
            repeat_reading(places, slot(i), is_new(i), bits[i]);
        }
    }
};

/// What a thread reads of a hub, eight neighbouring messages: its first slot; which of them anew and which is the last
/// one (the word hub_reading); where the slot of the factor is among those of
/// the hub; and the number of these. Of more than WARP_LEAVES, these are of the piece in which that slot is, and versions of the
/// other ones follow: see binary_versions.cuh. Who has nothing to read has HUB_NOTHING.
typedef uint4 HubWords;

__device__ __forceinline__ uint32_t hub_width(const HubWords &words) { return hub_reading_levels(words.y); }

struct HubReadings {
    HubWords words;
    uint64_t bits[8];

    /// In the place of last ones there are ones, unless `all` are read.
    __device__ __forceinline__ void start(const Places &places, const HubWords &hub, bool all) {
        words = hub;
        const bool reads_last = all && (words.y & HUB_NOTHING) != HUB_NOTHING;
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            bits[i] = ONE_BITS;
            if (reads_last || (words.y >> (HUB_READING_LAST_BITS_SHIFT + i) & 1) == 0) {
                bits[i] = start_reading(places, words.x + i, is_new(i));
            }
        }
    }
    __device__ __forceinline__ bool is_new(int i) const { return (words.y >> i & 1) != 0; }
    __device__ __forceinline__ bool any_missing() const { return is_any_missing(bits); }
    __device__ __forceinline__ void repeat(const Places &places) {
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            repeat_reading(places, words.x + i, is_new(i), bits[i]);
        }
    }
    __device__ __forceinline__ void take(Packed (&values)[8]) const {
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            values[i] = Packed{bits[i]};
        }
    }
};

/// Of several readings.
template <class First, class... Rest>
__device__ __forceinline__ bool any_missing(const First &first, const Rest &...rest) {
    bool missing = first.any_missing();
    const bool more[] = {false, rest.any_missing()...};
    FASTLBP_UNROLL
    for (unsigned i = 0; i < sizeof...(Rest) + 1; ++i) {
        missing |= more[i];
    }
    return missing;
}

/// Looks again for what is missing.
template <class... Readings>
__device__ __forceinline__ void repeat_all(const Places &places, Readings &...readings) {
#ifndef __CUDA_ARCH__
    take_turns();
#endif
    const int all[] = {(readings.repeat(places), 0)...};
    static_cast<void>(all);
}

/// Waits until all messages that a warp reads are there.
template <class... Readings>
__device__ __forceinline__ void wait_for(const Places &places, Readings &...readings) {
    while (__any_sync(~0u, any_missing(readings...))) {
        repeat_all(places, readings...);
    }
}

/// Waits until some are there, and looks meanwhile for what is waited for after them.
template <class Readings, class... After>
__device__ __forceinline__ void wait_before(const Places &places, Readings &readings, After &...after) {
    while (__any_sync(~0u, readings.any_missing())) {
        repeat_all(places, readings, after...);
    }
}

/// A last message of each thread.
struct LastReading {
    bool is_read;
    const uint64_t *place;
    uint64_t bits;

    /// Who reads none looks where another thread does, as a branch would take longer.
    __device__ __forceinline__ LastReading(const Places &places, uint32_t slot, bool reads, bool is_new)
        : is_read(reads), bits(ONE_BITS) {
        const uint32_t readers = __ballot_sync(~0u, is_read), first = readers & (~readers + 1);
        const uint32_t index = slot + (is_new ? places.now : places.from);
        const uint32_t of_first = __shfl_sync(~0u, index, __popc(first - 1) & 31);
        place = &places.messages[readers == 0 ? 0 : is_read ? index : of_first].bits;
        if (readers != 0) {
            repeat();
        }
    }
    __device__ __forceinline__ void repeat() { bits = look_for(place); }
    /// Starts to, if it was missing: what it finds is there when it is needed.
    __device__ __forceinline__ void look_again() {
        if (is_missing(bits)) {
            repeat();
        }
    }
    __device__ __forceinline__ void wait() {
        while (__any_sync(~0u, is_missing(bits))) {
#ifndef __CUDA_ARCH__
            take_turns();
#endif
            repeat();
        }
    }
    /// A one if there is none.
    __device__ __forceinline__ Packed value() const { return is_read ? Packed{bits} : Packed::one(); }
};

}  // namespace fastlbp
