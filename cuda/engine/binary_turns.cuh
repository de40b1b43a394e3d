// Passes in which all messages are sent at once, where there are several homes for each block, which take turns.
//
// How long a home takes depends on its messages, so blocks take the next one when they are free, and those that took longest
// before come first: a block that takes one of these last would let all others wait. What they took is noted in each pass. Before
// the first pass of a launch, and after passes 1, 2, 4 and so on, homes are ordered by the times of a pass that all blocks have done.
#pragma once

#include "binary_large_factors.cuh"
#include "binary_tiles.cuh"

namespace fastlbp {

/// What a block measures the times of its homes with.
__device__ __forceinline__ uint32_t ticks() {
#ifdef __CUDA_ARCH__
    return clock();
#else
    // Any order will do, so that all are tried.
    static thread_local uint32_t number = 1;
    return number = 1664525 * number + 1013904223;
#endif
}

/// An order of homes, or their times, of the two.
__device__ __forceinline__ uint32_t *of_homes(uint32_t *both, const HomeTurns &turns, uint32_t which) {
    return both + (which & 1) * turns.homes;
}

/// Makes one of the two orders by one of the two times, each warp for some homes: those that took longest come first. It is there
/// when all blocks have met. O(homes^2) in all.
__device__ __noinline__ inline void order_homes(const Binary &g, const HomeTurns &turns, uint32_t which_times,
                                                uint32_t which_order) {
    const uint32_t *const times = of_homes(g.home_times, turns, which_times);
    uint32_t *const order = of_homes(g.home_orders, turns, which_order);
    for (uint32_t home = thread_of_grid() / 32; home < turns.homes; home += threads_of_grid() / 32) {
        const uint32_t own = times[home];
        uint32_t before = 0;
        for (uint32_t other = threadIdx.x % 32; other < turns.homes; other += 32) {
            before += times[other] > own || (times[other] == own && other < home) ? 1 : 0;
        }
        FASTLBP_UNROLL
        for (int distance = 16; distance > 0; distance /= 2) {
            before += __shfl_xor_sync(~0u, before, distance);
        }
        if (threadIdx.x % 32 == 0) {
            order[before] = home;
        }
    }
}

/// Asks for the next home; of the first thread. Each block asks as often as it gets one, and once more, so all know what was
/// counted before a pass.
__device__ __forceinline__ void ask_for_home(Block &block) {
    HomeTurns &turns = block.turns;
    const uint32_t place = atomicAdd(block.loop.barrier + HOMES_TAKEN, 1u) - turns.taken_before;
    turns.coming = place < turns.homes ? of_homes(block.g.home_orders, turns, turns.order)[place] : turns.homes;
}

/// Has what a pass reads of the image of a home brought to the second-level cache.
__device__ __forceinline__ void prefetch_home(const Binary &g, uint32_t number) {
    const Home &there = Home::image(g, number);
    const char *const room = reinterpret_cast<const char *>(Home::in_image(g, there, there.messages));
    const uint64_t kept = 8 * static_cast<uint64_t>(there.kept);
    for (uint64_t at = threadIdx.x * CACHE_LINE; at < kept; at += blockDim.x * CACHE_LINE) {
        prefetch_line(room + at);
    }
    const uint64_t end = 8 * static_cast<uint64_t>(there.room_words);
    for (uint64_t at = 8 * there.first_fixed + threadIdx.x * CACHE_LINE; at < end; at += blockDim.x * CACHE_LINE) {
        prefetch_line(room + at);
    }
}

/// Makes a block's home another one, and takes over what variables of all blocks send to it meanwhile.
template <class Run>
__device__ __forceinline__ void take_home(const Block &block, Home &home, uint32_t number) {
    const Binary &g = block.g;
    const Home &there = Home::image(g, number);
    home.begin_taking(g, number, there.kept);
    Packed *const inbox = messages_at<Run>(home) + (Run::OPTIONS ? there.inputs : 0) + there.shape.inbox;
    // More at a time than where there is something else to do.
    take_joined<2 * JOINED_AT_ONCE>(block, inbox, Home::in_image(g, there, there.joined), 0, there.shape.joined.count);
    home.end_taking();
}

/// Such a pass. Other than with one home for each block, all hubs have sent before, so that fewer steps are enough.
template <class Run>
__device__ __forceinline__ void flood_by_turns(Block &block, Home &home, bool with_hubs) {
    const Binary &g = block.g;
    HomeTurns &turns = block.turns;
    if (threadIdx.x == 0) {
        ask_for_home(block);
        if (with_hubs) {
            block.sent[0].wait();
            block.sent[1].wait();
        }
    }
    __syncthreads();
    if (Run::OWN_WARPS) {
        LargeFactors::multiply();
    }
    for (uint32_t number = turns.coming; number < turns.homes; number = turns.coming) {
        const uint32_t began = ticks();
        take_home<Run>(block, home, number);
        variables_at_home_send<Run>(block, home, with_hubs, 0);
        __syncthreads();
        if (threadIdx.x == 0) {
            // As late as there is time for the image to come nearer: who asks early may have much to do before.
            ask_for_home(block);
        }
        factors_send<Run>(block, home, 0, 0);
        factors_send<Run>(block, home, 1, 0);
        constants_send<Run>(block, home, blockDim.x);
        __syncthreads();
        if (turns.coming < turns.homes) {
            prefetch_home(g, turns.coming);
        }
        noted_factors_send<Run>(block, home, 0);
        damp_messages<Run>(block, home, 0);
        give_joined<Run, false>(block, home, 0, home.shape.joined.count, blockDim.x, 0);
        home.put(g);
        if (threadIdx.x == 0) {
            of_homes(g.home_times, turns, turns.passes)[number] = ticks() - began;
        }
    }
    if (Run::OWN_WARPS) {
        LargeFactors::send_pieces();
        OwnWarps::send_other_factors();
    }
    // All blocks have done the pass before.
    const uint32_t passes = turns.passes;
    const bool reorders = passes != 0 && (passes & (passes - 1)) == 0;
    if (reorders) {
        order_homes(g, turns, passes - 1, turns.order + 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        turns.taken_before += turns.homes + gridDim.x;
        turns.passes = passes + 1;
        turns.order ^= reorders ? 1 : 0;
    }
}

}  // namespace fastlbp
