// What the threads of a block have in common.
#pragma once

#include "binary.cuh"

namespace fastlbp {

/// Coefficients that a block has in shared memory.
constexpr uint32_t SHARED_COEFFICIENTS = 64;

/// How often a thread looks before it looks whether to wait makes sense.
#ifdef __CUDA_ARCH__
constexpr uint32_t LOOKS = 64;
#else
constexpr uint32_t LOOKS = 1;
#endif

/// What all blocks have done in a pass before some of it goes on. Other than at a barrier, who has done it does other
/// things before it waits for the others.
struct Milestone {
    /// Only grows; zero at first.
    uint32_t *counter;
    /// How far it must have come, and the warps of this block that have.
    uint32_t expected, warps;

    /// Says that a warp has done it, and whether it has written something; all of its threads call this.
    __device__ __forceinline__ void reach(bool wrote) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            if (wrote) {
                __threadfence();
            }
            if (atomicAdd(&warps, 1u) == blockDim.x / 32 - 1) {
                warps = 0;
                atomicAdd(counter, 1u);
#ifndef __CUDA_ARCH__
                tell_others();
#endif
            }
        }
    }

    /// Waits for all blocks, in the first thread only: the others must meet it.
    __device__ __forceinline__ void wait() {
        if (threadIdx.x != 0) {
            return;
        }
        expected += gridDim.x;
        while (static_cast<int32_t>(load_acquire(counter) - expected) < 0) {
            // Each load that acquires empties the cache, so others wait.
            uint32_t seen;
            do {
                seen = load_relaxed(counter);
#ifndef __CUDA_ARCH__
                take_turns();
#endif
            } while (static_cast<int32_t>(seen - expected) < 0);
        }
    }
};

/// Where the counters of milestones are, behind what GridBarrier uses; and the number of homes that blocks have asked for.
constexpr uint32_t MILESTONES = 8;
constexpr uint32_t HOMES_TAKEN = 10;

/// Factors of a block that doubles do not do for, in a pass in which all messages are sent at once. They are computed when all
/// others are, side by side, since most tiles have few of them. Those for which there is no room are computed at once.
struct FarFactors {
    /// Those with up to four variables, and others.
    static constexpr uint32_t KINDS = 2, ROOM = 320;
    /// Of each kind how many were noted, some of them without room, in 16 bits each, which are enough for factors with messages in
    /// shared memory; for how many of all balanced weights may do; and their words.
    uint32_t counts, balanced, words[KINDS][ROOM];

    /// In a word, the number of variables, or most of them, and from this bit on where the factor's first word is.
    static constexpr uint32_t WORDS_SHIFT = 4;

    /// Notes a factor; returns whether there was room.
    __device__ __forceinline__ bool note(uint32_t kind, uint32_t word, bool may_be_balanced) {
        if (may_be_balanced) {
            atomicAdd(&balanced, 1u);
        }
        const uint32_t at = atomicAdd(&counts, 1u << 16 * kind) >> 16 * kind & 0xffff;
        if (at < ROOM) {
            words[kind][at] = word;
        }
        return at < ROOM;
    }

    /// Before factors of a pass are noted; of one thread.
    __device__ __forceinline__ void clear() { counts = balanced = 0; }

    __device__ __forceinline__ bool are_there() const { return counts != 0; }
    __device__ __forceinline__ uint32_t count(uint32_t kind) const {
        return smaller_of(counts >> 16 * kind & 0xffff, ROOM);
    }
};

/// A sample of the beliefs: where few change, of all variables with several factors but large hubs; else of some of these.
struct Sample {
    uint32_t mask;

    /// Where so many of the variables have changed.
    __device__ __forceinline__ void choose(uint64_t moved, uint32_t variables) { mask = moved > variables / 16 ? 3 : 0; }
    /// Of hubs by their first slot.
    __device__ __forceinline__ bool has_hub(uint32_t slot) const { return (slot / 32 & mask) == 0; }
    /// Of variables with two to four factors that are no hubs.
    __device__ __forceinline__ bool has_few(uint32_t position) const { return (position / 32 & mask) == 0; }
    __device__ __forceinline__ bool has(const Binary &g, uint32_t position) const {
        return position < g.fours ? position >= g.classes[1] && has_hub(g.hub_slots[position])
                                  : position < g.ones && has_few(position);
    }
};

/// Which homes a block takes in a pass, of those that all blocks take as they are free.
struct HomeTurns {
    /// How many there are; the next one, or one behind the last; and what HOMES_TAKEN was before the pass.
    uint32_t homes, coming, taken_before;
    /// How many passes there were since the launch began, and which of the two orders is that of this pass.
    uint32_t passes, order;

    __device__ __forceinline__ void begin(uint32_t count) {
        homes = count;
        taken_before = passes = order = 0;
    }
};

/// What the threads of a block look up all the time, in shared memory, which waiting for other blocks does not
/// empty as it does the cache.
struct Block {
    Binary g;
    Loop loop;
    /// The current pass: where it reads and writes, and what it finds.
    const Packed *from;
    Packed *to, *undamped_to;
    /// When hubs of all blocks have sent their messages: all but large ones, and these.
    Milestone sent[2];
    /// The words of its units of hubs.
    const uint32_t *hub_words;
    Tally *of_state, *of_pass;
    /// Of the state of which there is a copy, how many passes were done.
    uint64_t copied;
    /// For passes that run ahead (binary_exchange.cuh): how many, what is noted, of no use, whether something was so that
    /// they end, by turns, since who looks does not meet who writes the next one; and whether a thread no longer waits
    /// since it was.
    uint32_t ahead, stopped[2];
    Tally unused;
    mutable uint32_t given_up;
    /// In passes that run ahead though something may be noted, which then does not end the run: what is found of each of their
    /// states; else null.
    Tally *tallies_ahead;
    mutable FarFactors far;
    /// Whether those who send measure a sample of the beliefs of the state from which the pass begins; which one; the largest changes
    /// in this pass and in the one before, by turns, as bits; and where those of passes at once are noted.
    uint32_t sampling;
    Sample sample;
    mutable unsigned long long largest_change[2];
    Tally *sampled;
    /// Where homes take turns (binary_turns.cuh).
    HomeTurns turns;
    HornCoefficients coefficients[SHARED_COEFFICIENTS];

    __device__ __forceinline__ void begin_pass(uint32_t buffer, Tally *state, Tally *pass) {
        if (threadIdx.x == 0) {
            from = g.state(buffer);
            to = g.state(buffer ^ 1);
            undamped_to = g.undamped_state(buffer ^ 1);
            of_state = state;
            of_pass = pass;
        }
        __syncthreads();
    }

    __device__ __forceinline__ void fill(const Binary &binary, const Loop &passes) {
        if (threadIdx.x == 0) {
            g = binary;
            loop = passes;
            for (uint32_t i = 0; i < 2; ++i) {
                sent[i] = Milestone{passes.barrier + MILESTONES + i, 0, 0};
            }
            from = nullptr;
            turns.begin(binary.home_turns * gridDim.x);
            tallies_ahead = nullptr;
            far.clear();
            sampling = 0;
            largest_change[0] = largest_change[1] = 0;
        }
        const uint32_t count = smaller_of(binary.coefficient_count, SHARED_COEFFICIENTS);
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
            coefficients[i] = binary.coefficients[i];
        }
        __syncthreads();
    }

    /// Whether something was noted since the launch began.
    __device__ __forceinline__ bool is_marked() const {
        return load_relaxed(loop.barrier + 1) != 0;
    }

    /// Whether something was noted for which passes are not to run ahead any longer.
    __device__ __forceinline__ bool is_to_stop() const { return !tallies_ahead && is_marked(); }

    /// Where is noted what is found of the state from which a pass begins, and of the pass, given its number if it runs ahead.
    __device__ __forceinline__ Tally *tally_of_state(uint32_t pass) const {
        return tallies_ahead ? tallies_ahead + pass : of_state;
    }
    __device__ __forceinline__ Tally *tally_of_pass(uint32_t pass) const {
        return tallies_ahead ? tallies_ahead + pass + 1 : of_pass;
    }

    /// Whether there is no sense in waiting after so many looks: what is waited for may not come where something was
    /// noted.
    __device__ __forceinline__ bool gives_up(uint32_t looks) const {
        if (looks % LOOKS != 0 || !is_to_stop()) {
            return false;
        }
        given_up = 1;
        return true;
    }

    /// Notes by how much beliefs have changed; all threads of a warp call this.
    __device__ __forceinline__ void note_change(double change, uint32_t pass) const {
        unsigned long long bits = to_bits(change);
        FASTLBP_UNROLL
        for (int distance = 16; distance > 0; distance /= 2) {
            const unsigned long long other = __shfl_xor_sync(~0u, bits, distance);
            bits = other > bits ? other : bits;
        }
        if (threadIdx.x % 32 == 0 && bits != 0) {
            atomicMax(&largest_change[pass & 1], bits);
        }
    }

    /// Tells others of it, given the number of the pass among those at once; of the first thread, when all of the block have met.
    __device__ __forceinline__ void tell_change(uint32_t pass, uint32_t number) {
        if (largest_change[pass & 1] != 0) {
            atomic_max(&sampled[number].max_diff, largest_change[pass & 1]);
            largest_change[pass & 1] = 0;
        }
    }

    /// Says that something was noted.
    __device__ __forceinline__ void mark() const { GridBarrier::mark(loop.barrier); }

    __device__ __forceinline__ const HornCoefficients &coefficients_of(uint32_t number) const {
        return number < SHARED_COEFFICIENTS ? coefficients[number] : g.coefficients[number];
    }

    __device__ __forceinline__ HornLiterals literals(uint32_t number) const {
        return HornLiterals{coefficients_of(number), nullptr};
    }
};

/// The one of this block.
__device__ __forceinline__ Block &shared_block() {
    __shared__ double room[(sizeof(Block) + 7) / 8];
    return *reinterpret_cast<Block *>(room);
}

}  // namespace fastlbp
