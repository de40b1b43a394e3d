// Passes that overlap: no warp waits for all others between two passes, since messages wait for each other.
//
// A warp's *turn* n is: it sends its messages of the pass after the state n; when all others have done with turn n - 1,
// so that this state is complete, it looks at it, as far as that is asked for; then it has done. So no warp is more
// than a turn ahead of another one, and who looks needs no further care. The last warp of the grid has no messages: it
// counts those that have done, judges states and lets the others go on.
#pragma once

#include "control.cuh"

namespace fastlbp {

/// What warps read to go on, an entry for each block: the next turn (of the launch) whose warps may begin it, and
/// whether contradictory variables are looked for in the state before, or the run is at its end. Behind the counter
/// of the launch; zeros at first.
constexpr uint32_t GO_SCANNING = 1;
constexpr uint32_t GO_ENDED = 2;
constexpr uint32_t GO_SHIFT = 2;

/// Waits until a word that others increase is at least so much; gives it. All threads of a warp.
__device__ __forceinline__ uint32_t wait_until_at_least(const uint32_t *word, uint32_t least) {
    uint32_t seen = 0;
    if (threadIdx.x % 32 == 0) {
        while (static_cast<int32_t>(load_relaxed(word) - least) < 0) {
#ifdef __CUDA_ARCH__
            __nanosleep(40);
#else
            take_turns();
#endif
        }
        // Each load that acquires empties the cache, so only the last one does.
        seen = load_acquire(word);
    }
    __syncwarp();
    return __shfl_sync(~0u, seen, 0);
}

/// Says that a warp has done with a turn.
__device__ __forceinline__ void finish_turn(uint32_t *counter) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
#ifdef __CUDA_ARCH__
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
#else
        __atomic_fetch_add(counter, 1, __ATOMIC_RELEASE);
        tell_others();
#endif
    }
}

/// Lets all warps go on.
__device__ __forceinline__ void let_go_on(uint32_t *words, uint32_t word) {
    __syncwarp();
    __threadfence();
    for (uint32_t block = threadIdx.x % 32; block < gridDim.x; block += 32) {
        uint32_t *const of_block = words + GO_FIRST + GO_STRIDE * block;
#ifdef __CUDA_ARCH__
        asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(of_block), "r"(word) : "memory");
#else
        __atomic_store_n(of_block, word, __ATOMIC_RELEASE);
#endif
    }
#ifndef __CUDA_ARCH__
    tell_others();
#endif
}

/// What the last warp does: judges states as they become complete, `states` of which there are by turns.
__device__ __noinline__ inline void judge_states(const Loop &loop, uint32_t states) {
    __shared__ Findings findings;
    const uint32_t workers = gridDim.x * (blockDim.x / 32) - 1;
    Control *const control = loop.control;
    const bool first = threadIdx.x % 32 == 0;
    if (first) {
        findings.begin_launch(*control, true);
    }
    for (uint32_t turn = 0, ended = 0; ended == 0; ++turn) {
        wait_until_at_least(loop.barrier, (turn + 1) * workers);
        uint32_t word = 0;
        if (first) {
            // Of no use any more, and next used when all may begin the turn after the next one.
            const uint64_t n = findings.n;
            control->counters[(n + 3) % 4] = Tally{};
            control->scans[(n + 2) % 4] = control->scans[(n + 2) % 4 + 4] = LookProgress{};
            findings.go_on(loop, states);
            const bool scanning = findings.scanning != 0 || findings.n == loop.limit;
            word = (turn + 2) << GO_SHIFT | (scanning ? GO_SCANNING : 0) | (findings.ended ? GO_ENDED : 0);
        }
        word = __shfl_sync(~0u, word, 0);
        ended = word & GO_ENDED;
        let_go_on(loop.barrier, word);
    }
    if (first) {
        findings.end_launch(*control);
    }
}

/// Where a launch begins, as all warps of a block find it.
struct Beginning {
    uint64_t passes;
    uint32_t buffer;
};

/// Runs passes. `Work` has
///   send(buffer, n): sends a warp's messages of pass n + 1, from the state in `buffer`;
///   look(buffer, n, measuring): looks at that state; warps share it.
/// `states` are there at the same time, at least LEVEL_STATES: while a warp sends messages from the state n, others
/// may read those from n - 1 to n + 2. It must make room for the state n + 3.
template <class Work>
__device__ __forceinline__ void run_turns(Work &work, const Loop &loop, uint32_t states) {
    __shared__ Beginning beginning;
    if (threadIdx.x == 0) {
        beginning = Beginning{loop.control->iterations, loop.control->buffer};
    }
    __syncthreads();
    if (thread_of_grid() / 32 == threads_of_grid() / 32 - 1) {
        judge_states(loop, states);
        return;
    }
    const uint32_t *const go = loop.barrier + GO_FIRST + GO_STRIDE * blockIdx.x;
    for (uint32_t turn = 0;; ++turn) {
        const uint64_t n = beginning.passes + turn;
        const uint32_t buffer = (beginning.buffer + turn) % states;
        const bool is_last = n == loop.limit;
        if (!is_last) {
            work.send(buffer, n);
        }
        // An earlier launch has looked at the first state, if there was one.
        bool looking = n == 0;
        const bool measuring = (turn > 0 || n == 0) && is_measured(loop.rule, n);
        if (turn > 0) {
            const uint32_t word = wait_until_at_least(go, (turn + 1) << GO_SHIFT);
            if (word & GO_ENDED) {
                return;
            }
            looking = (word & GO_SCANNING) != 0;
        }
        if (looking || measuring) {
            work.look(buffer, n, measuring);
        }
        finish_turn(loop.barrier);
        if (is_last) {
            return;
        }
    }
}

}  // namespace fastlbp
