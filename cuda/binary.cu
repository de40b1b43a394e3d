// PTX targets: sm_70 sm_90; cubin: sm_90
//
// Passes over graphs of binary variables and conjunctions; launched by src/engine/cuda/binary.

#include "engine/binary_flood.cuh"
#include "engine/binary_levels.cuh"
#include "engine/binary_look.cuh"

using namespace fastlbp;

/// Threads of a block that runs passes; by levels LEVEL_THREADS.
constexpr int THREADS = 512;

/// The second half of a measurement by BINGO's rule; see measure.
__device__ __noinline__ static void look_at_factors(const Binary &g, Watch watch) {
    measure_factors(g, watch);
    watch.finish();
}

/// What variables do in a pass in which the state before is measured. By BINGO's rule a barrier and then
/// look_at_factors must come.
__device__ __noinline__ static Watch measure(const Block &block, uint64_t n) {
    const Binary &g = block.g;
    const Packed *from = block.from;
    const bool inputs = block.loop.rule.kind == RULE_BINGO;
    const Sink sink = {block.prepared, block.retired, inputs ? g.inputs : nullptr, g.changes};
    Watch watch(g, block.loop.rule, n, true, false, block.of_state);
    multiply_pieces(g, from);
    all_small_hubs(g, thread_of_grid() / 32, threads_of_grid() / 32, from, sink, watch);
    send_pieces(g, from, sink, watch);
    all_few(g, from, sink, watch);
    if (!inputs) {
        watch.finish();
    }
    return watch;
}

/// Large hubs of the state in `from`, by all threads; see Look, which is made here to be in no one else's registers.
__device__ __noinline__ static void look_at_large_hubs(const Binary &g, const Loop &loop, uint64_t n, bool measuring,
                                                       const Packed *from, Tally *of_state) {
    Look look(g, loop, n, measuring, from, of_state);
    look.look_at_large_hubs();
    look.watch.finish();
}

/// The rest of it, by a warp.
__device__ __noinline__ static void look_at_rest(const Binary &g, const Loop &loop, uint64_t n, bool measuring,
                                                 const Packed *from, Tally *of_state) {
    Look(g, loop, n, measuring, from, of_state).look_at_rest();
}

/// The state only, at the end of a launch.
__device__ __noinline__ static void close_state(const Block &block, uint32_t buffer, uint64_t n, bool measuring,
                                                Tally *of_state) {
    look_at_large_hubs(block.g, block.loop, n, measuring, block.g.messages[buffer], of_state);
    look_at_rest(block.g, block.loop, n, measuring, block.g.messages[buffer], of_state);
}

/// Passes in which all messages are sent at once.
struct Flood {
    Block &block;

    __device__ __forceinline__ void pass(uint32_t buffer, uint64_t n, bool measuring, bool, Tally *of_state,
                                         Tally *of_pass, GridBarrier &barrier) {
        const Binary &g = block.g;
        block.begin_pass(buffer, of_state, of_pass);
        send_constants(g, n, block.to);
        // The factors note variables with few factors.
        if (measuring) {
            Watch watch = measure(block, n);
            if (block.loop.rule.kind == RULE_BINGO) {
                barrier.sync();
                look_at_factors(g, watch);
            }
        }
        flood(block, !measuring);
        barrier.sync();
    }

    __device__ __forceinline__ void close(uint32_t buffer, uint64_t n, bool measuring, Tally *of_state,
                                          GridBarrier &barrier) {
        close_state(block, buffer, n, measuring, of_state);
        barrier.sync();
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    binary_flood(const __grid_constant__ Binary g, const __grid_constant__ Loop loop) {
    Block &block = shared_block();
    block.fill(g, loop);
    load_flood_starts(g);
    GridBarrier barrier(loop.barrier);
    Flood work = {block};
    run_passes(work, barrier, block.loop);
    end_flood(block);
}

/// Passes by levels.
struct ByLevels {
    Block &block;

    __device__ __forceinline__ void pass(uint32_t buffer, uint64_t n, bool measuring, bool scanning, Tally *of_state,
                                         Tally *of_pass, GridBarrier &barrier) {
        const Binary &g = block.g;
        block.begin_pass(buffer, of_state, of_pass);
        const Places places = {block.from, block.to, g.places[buffer ^ 1], g.places[buffer]};
        place_constants(g, n, places);
        const bool looking = measuring || scanning;
        if (looking && g.classes[1] > 0) {
            look_at_large_hubs(g, block.loop, n, measuring, block.from, of_state);
        }
        LevelWork{places}.send_all(queue_of_warp());
        if (looking) {
            look_at_rest(g, block.loop, n, measuring, block.from, of_state);
        }
        barrier.sync();
    }

    __device__ __forceinline__ void close(uint32_t buffer, uint64_t n, bool measuring, Tally *of_state,
                                          GridBarrier &barrier) {
        close_state(block, buffer, n, measuring, of_state);
        barrier.sync();
    }
};

extern "C" __global__ void __launch_bounds__(LEVEL_THREADS, 1)
    binary_levels(const __grid_constant__ Binary g, const __grid_constant__ Loop loop) {
    Block &block = shared_block();
    block.fill(g, loop);
    GridBarrier barrier(loop.barrier);
    queue_of_warp().fill(g);
    ByLevels work = {block};
    run_passes(work, barrier, block.loop);
}

/// Probabilities of both states of all variables.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    binary_results(const __grid_constant__ Binary g, uint32_t buffer, double *results) {
    Watch watch(g, results);
    look_at_state(g, g.messages[buffer], Sink{nullptr, nullptr, nullptr, nullptr}, watch);
}

/// The same as means of the last beliefs after `passes` passes.
extern "C" __global__ void binary_means(const __grid_constant__ Binary g, uint64_t passes, double *results) {
    const uint64_t count = smaller_of(passes, uint64_t(g.history_length));
    for (uint32_t position = thread_of_grid(); position < g.variables; position += threads_of_grid()) {
        double sum = 0.0;
        for (uint64_t row = passes - count; row < passes; ++row) {
            const double value = g.history[(row % g.history_length) * g.variables + position];
            sum = row == passes - count ? value : sum + value;
        }
        const uint64_t at = 2 * static_cast<uint64_t>(g.variable[position]);
        results[at + 1] = sum / static_cast<double>(count);
        results[at] = 1.0 - results[at + 1];
    }
}

/// Sets `count` values.
extern "C" __global__ void binary_fill(uint64_t *values, uint64_t value, uint64_t count) {
    for (uint64_t i = thread_of_grid(); i < count; i += threads_of_grid()) {
        values[i] = value;
    }
}

/// Sets the words at some places: evidence has changed.
extern "C" __global__ void binary_patch(uint32_t *words, const uint32_t *places, const uint32_t *values,
                                        uint32_t count) {
    for (uint32_t i = thread_of_grid(); i < count; i += threads_of_grid()) {
        words[places[i]] = values[i];
    }
}
