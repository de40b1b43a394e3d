// PTX targets: sm_70; cubin: sm_90
//
// Passes over graphs of binary variables; launched by src/engine/cuda/binary.

#include "engine/binary_flood.cuh"
#include "engine/binary_levels.cuh"
#include "engine/binary_look.cuh"

using namespace fastlbp;

/// The second half of a measurement by BINGO's rule; see measure.
__device__ __noinline__ static void look_at_factors(const Binary &g, Watch watch, GridBarrier barrier) {
    if (g.long_factors.count > 0) {
        sum_parts(g.long_factors, ChangesOfEdges(g));
        barrier.sync();
    }
    measure_factors(g, watch);
    watch.finish();
}

/// Copies all beliefs.
__device__ __forceinline__ static void copy_beliefs(const Binary &g, const double *from, double *to) {
    for (uint64_t i = thread_of_grid(); i < g.variables; i += threads_of_grid()) {
        to[i] = from[i];
    }
}

/// Copies a state of all messages.
__device__ __forceinline__ static void copy_state(const Binary &g, const Packed *from, Packed *to) {
    for (uint64_t slot = thread_of_grid(); slot < g.stride; slot += threads_of_grid()) {
        to[slot] = from[slot];
    }
}

/// What variables do in a pass in which the state before is measured, if `measuring`. A barrier must come, and by BINGO's
/// rule then look_at_factors.
__device__ __noinline__ static Watch measure(const Block &block, uint64_t n, bool measuring, bool comparing_sample) {
    const Binary &g = block.g;
    const Packed *from = block.from;
    const bool inputs = block.loop.rule.kind == RULE_BINGO;
    const Sink sink = {g.prepared, inputs ? g.inputs : nullptr, g.changes};
    Watch watch(g, block.loop.rule, n, measuring, true, false, block.of_state);
    watch.compared = comparing_sample ? &block.sample : nullptr;
    multiply_pieces(g, from);
    all_small_hubs(g, thread_of_grid() / 32, threads_of_grid() / 32, from, sink, watch);
    send_pieces(g, from, sink, watch);
    all_few(g, from, sink, watch);
    if (measuring && !inputs) {
        watch.finish();
    }
    return watch;
}

/// Looks at messages of a state for what is in `sought`, each warp for itself; made here to be in no one else's registers.
__device__ __noinline__ static void look_at(const Block &block, const Packed *messages, uint64_t n, uint32_t sought,
                                            bool is_other) {
    Look(block.g, block.loop, n, sought, messages, is_other).look();
}

/// Looks at a state for contradictions, and measures it if `measuring`. In damped runs, beliefs are of what messages were
/// before damping.
template <bool OPTIONS>
__device__ __forceinline__ static void look_at_state(const Block &block, uint32_t buffer, uint64_t n, bool measuring) {
    const Binary &g = block.g;
    const bool damped = OPTIONS && g.undamped;
    const uint32_t measured = !measuring ? 0 : damped ? INPUTS : BELIEFS | INPUTS;
    look_at(block, g.state(buffer), n, CONTRADICTIONS | measured, damped);
    if (damped && measuring) {
        look_at(block, g.undamped_state(buffer), n, BELIEFS, false);
    }
}

/// Passes in which all messages are sent at once.
template <class Run>
struct Flood {
    Block &block;
    Home &home;

    __device__ __forceinline__ void pass(uint32_t buffer, uint64_t n, Measuring measuring, bool, Tally *of_state,
                                         Tally *of_pass, GridBarrier &barrier) {
        const Binary &g = block.g;
        block.begin_pass(buffer, of_state, of_pass);
        // Variables with few factors are noted where they send.
        if (measuring) {
            store_state(buffer);
            barrier.sync();
            const bool damped = Run::OPTIONS && g.undamped;
            Watch watch = measure(block, n, !damped, measuring == SAMPLE_COMPARED);
            if (damped) {
                // Beliefs are of what messages were before damping.
                look_at(block, g.undamped_state(buffer), n, BELIEFS, false);
            }
            barrier.sync();
            if (block.loop.rule.kind == RULE_BINGO) {
                look_at_factors(g, watch, barrier);
            }
        }
        flood_of_pass(measuring == NOT_MEASURED);
        barrier.sync();
        if (threadIdx.x == 0) {
            block.stopped[0] = barrier.marks();
        }
    }

    __device__ __forceinline__ void close(uint32_t buffer, uint64_t n, bool measuring, Tally *,
                                          GridBarrier &barrier) {
        store_state(buffer);
        barrier.sync();
        look_at_state<Run::OPTIONS>(block, buffer, n, measuring);
        barrier.sync();
    }

    /// Passes that run ahead, an even number: their messages end where they began. If something was noted that may end the
    /// run, they are of no use.
    __device__ __forceinline__ uint64_t run_ahead(Findings &findings, GridBarrier &barrier) {
        // Some more pass must come, so that what is done here at the beginning and at the end is worth it.
        const bool may_end = (block.loop.rule.flags & STOP_AT_CONTRADICTION) != 0;
        if (findings.n == 0 || (may_end && block.stopped[0] != 0)) {
            return 0;
        }
        if (block.loop.rule.kind == RULE_TOLERANCE) {
            // Beliefs of damped runs are of messages before damping, which those who send do not have.
            return Run::OPTIONS && !block.g.undamped ? run_sampled(findings, may_end, barrier) : 0;
        }
        uint64_t passes = findings.passes_unmeasured(block.loop) & ~uint64_t(1);
        if (!may_end) {
            passes = smaller_of(passes, uint64_t(AHEAD_AT_MOST));
        }
        return !Run::TURNS && passes >= 4 ? run_passes_ahead(findings, passes, may_end, barrier) : 0;
    }

    /// The state from which passes ran at once, and what is known of it.
    __device__ __forceinline__ void go_back(Findings &findings, GridBarrier &barrier) {
        const uint32_t buffer = findings.buffer ^ ((findings.n - block.copied) & 1);
        // All blocks have judged the state.
        barrier.sync();
        empty_counters(0, false);
        put_back(buffer, barrier);
        if (threadIdx.x == 0) {
            findings.go_back(block.copied, buffer);
        }
        __syncthreads();
    }

    static __device__ __noinline__ uint64_t run_passes_ahead(Findings &findings, uint64_t passes, bool may_end,
                                                             GridBarrier barrier) {
        // Found here, it is known to be in shared memory.
        Block &block = shared_block();
        Home &home = shared_home();
        const Binary &g = block.g;
        const uint32_t buffer = findings.buffer;
        const uint64_t n = findings.n;
        const bool sampling = block.loop.rule.kind == RULE_TOLERANCE;
        Packed *const state = g.state(buffer), *const copy = g.state(PASS_BUFFERS);
        block.begin_pass(buffer, &block.unused, &block.unused);
        // Others may still copy the state from which the launch begins.
        barrier.sync();
        if (threadIdx.x == 0) {
            block.to = state;
            block.undamped_to = g.undamped_state(buffer);
            block.copied = n;
            block.ahead = static_cast<uint32_t>(passes);
            block.sampled = g.tallies_ahead;
            block.given_up = 0;
            block.stopped[0] = block.stopped[1] = 0;
            block.tallies_ahead = may_end ? nullptr : g.tallies_ahead;
            block.sampling = sampling;
            home.met = 0;
        }
        for (uint64_t i = thread_of_grid(); (sampling || !may_end) && i <= passes; i += threads_of_grid()) {
            g.tallies_ahead[i] = Tally{};
        }
        if (sampling) {
            copy_beliefs(g, g.beliefs, g.beliefs + g.variables);
        }
        begin_ahead(block, home, state, copy);
        if (Run::OPTIONS && home.inputs != 0) {
            home.store(home.messages + home.inputs, g.undamped_state(buffer));
        }
        reset_pieces<Run>(block, true);
        barrier.sync();
        empty_counters(n, !may_end);
        repeat_ahead();
        barrier.sync();
        reset_pieces<Run>(block, true);
        if (threadIdx.x == 0) {
            block.stopped[0] = barrier.marks();
            block.tallies_ahead = nullptr;
            block.sampling = 0;
        }
        __syncthreads();
        const bool noted = block.stopped[0] != 0;
        const bool right = (!may_end || !noted) && (!sampling || judge_changes(findings, passes));
        if (noted && right) {
            take_over(findings, passes);
        }
        if (right) {
            // Also those that are far from one.
            give_joined<Run, false>(block, home, 0, home.shape.joined.count, blockDim.x, 0);
        } else {
            copy_state(g, copy, state);
            if (sampling) {
                copy_beliefs(g, g.beliefs + g.variables, g.beliefs);
            }
        }
        barrier.sync();
        if (!right) {
            home.load(state);
        }
        return right ? passes : 0;
    }

    __device__ __forceinline__ bool is_quiet(const GridBarrier &barrier) const { return barrier.marks() == 0; }

    /// The state after `n` passes once more, where contradictions ended the run before it was stored: from that of which
    /// there is a copy, from which the launch began or passes ran ahead.
    static __device__ __noinline__ void repeat(Block &block, Home &home, Ending end, GridBarrier barrier) {
        Flood work = {block, home};
        const Binary &g = block.g;
        const uint64_t begin = block.copied;
        uint32_t buffer = end.buffer ^ ((end.n - begin) & 1);
        reset_pieces<Run>(block, false);
        copy_state(g, g.state(PASS_BUFFERS), g.state(buffer));
        barrier.sync();
        at_each_home<Run>(g, home, [&] { home.load_state(g, buffer); });
        if (Run::TURNS) {
            barrier.sync();
        }
        Tally *const unused = block.loop.control->counters;
        for (uint64_t n = begin; n < end.n; ++n) {
            work.pass(buffer, n, NOT_MEASURED, false, unused, unused, barrier);
            buffer ^= 1;
        }
        work.store_state(buffer);
    }

private:
    /// Passes of whose states a sample is measured, an even number.
    static __device__ __noinline__ uint64_t run_sampled(Findings &findings, bool may_end, GridBarrier barrier) {
        __shared__ uint64_t wanted;
        if (threadIdx.x == 0) {
            wanted = smaller_of(findings.passes_sampled(shared_block().loop), uint64_t(AHEAD_AT_MOST)) & ~uint64_t(1);
        }
        __syncthreads();
        const uint64_t passes = wanted;
        // Before the first thread asks again.
        __syncthreads();
        if (passes < AT_ONCE_LEAST) {
            return 0;
        }
        // Until passes run at once again, as the state behind these is compared with it.
        if (threadIdx.x == 0) {
            shared_block().sample.choose(findings.moved, shared_block().g.variables);
        }
        return Run::TURNS ? run_turns(findings, passes, may_end, barrier)
                          : run_passes_ahead(findings, passes, may_end, barrier);
    }

    /// The same where there are several homes for each block, which meet after each pass.
    static __device__ __noinline__ uint64_t run_turns(Findings &findings, uint64_t passes, bool may_end, GridBarrier barrier) {
        Block &block = shared_block();
        Home &home = shared_home();
        Flood work = {block, home};
        const Binary &g = block.g;
        const uint32_t buffer = findings.buffer;
        const uint64_t n = findings.n;
        work.store_state(buffer);
        for (uint64_t i = thread_of_grid(); i <= passes; i += threads_of_grid()) {
            g.tallies_ahead[i] = Tally{};
        }
        barrier.sync();
        copy_state(g, g.state(buffer), g.state(PASS_BUFFERS));
        copy_beliefs(g, g.beliefs, g.beliefs + g.variables);
        empty_counters(n, !may_end);
        if (threadIdx.x == 0) {
            block.copied = n;
            block.sampling = 1;
            block.sampled = g.tallies_ahead;
        }
        barrier.sync();
        for (uint32_t pass = 0; pass < passes; ++pass) {
            Tally *const tallies = g.tallies_ahead + pass;
            block.begin_pass(buffer ^ (pass & 1), may_end ? &block.unused : tallies, may_end ? &block.unused : tallies + 1);
            work.flood_of_pass(true);
            __syncthreads();
            if (threadIdx.x == 0) {
                block.tell_change(0, pass);
            }
            barrier.sync();
        }
        if (threadIdx.x == 0) {
            block.stopped[0] = barrier.marks();
            block.sampling = 0;
        }
        __syncthreads();
        const bool noted = block.stopped[0] != 0;
        const bool right = (!may_end || !noted) && judge_changes(findings, passes);
        if (noted && right) {
            take_over(findings, passes);
        }
        if (!right) {
            work.put_back(buffer, barrier);
            return 0;
        }
        barrier.sync();
        return passes;
    }

    /// The state from which passes ran at once, into this buffer and where blocks have it, and its beliefs.
    __device__ __forceinline__ void put_back(uint32_t buffer, GridBarrier barrier) {
        const Binary &g = block.g;
        reset_pieces<Run>(block, false);
        copy_state(g, g.state(PASS_BUFFERS), g.state(buffer));
        copy_beliefs(g, g.beliefs + g.variables, g.beliefs);
        barrier.sync();
        at_each_home<Run>(g, home, [&] { home.load_state(g, buffer); });
        barrier.sync();
    }

    /// Before passes run at once from the state after n of them; all blocks have met, and meet again. If these have counters of
    /// their own, the first ones get what the pass before found of factors.
    static __device__ __forceinline__ void empty_counters(uint64_t n, bool has_own) {
        if (thread_of_grid() != 0) {
            return;
        }
        const Block &block = shared_block();
        if (has_own) {
            const Tally &before = block.loop.control->counters[n % 4];
            block.g.tallies_ahead[0].factor_count = before.factor_count;
            block.g.tallies_ahead[0].factor_lowest = before.factor_lowest;
        }
        for (Tally &tally : block.loop.control->counters) {
            tally = Tally{};
        }
        for (LookProgress &look : block.loop.control->scans) {
            look = LookProgress{};
        }
    }

    /// Looks through the changes in the states from which passes at once began, and plans what follows. Returns whether the run
    /// goes on after all of them; if so, tells the host of each. All blocks have met since.
    static __device__ __noinline__ bool judge_changes(Findings &findings, uint64_t passes) {
        // The complement of the first in which the sample does not say so; 0 for none.
        __shared__ uint32_t end;
        const Block &block = shared_block();
        const Loop &loop = block.loop;
        const Tally *const tallies = block.g.tallies_ahead;
        if (threadIdx.x == 0) {
            end = 0;
        }
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < passes; i += blockDim.x) {
            if (from_bits(tallies[i].max_diff) <= loop.rule.tolerance) {
                atomicMax(&end, ~i);
            }
        }
        __syncthreads();
        const bool right = end == 0;
        for (uint64_t i = threadIdx.x; right && blockIdx.x == 0 && i < passes; i += blockDim.x) {
            const uint64_t n = findings.n + i;
            if (n > findings.begin) {
                loop.log[n - findings.begin - 1] = Progress{from_bits(tallies[i].max_diff), findings.active_fraction};
            }
        }
        // All have read what the first thread changes.
        __syncthreads();
        if (threadIdx.x == 0) {
            if (right) {
                findings.max_diff = from_bits(tallies[passes - 1].max_diff);
                findings.plan(loop.rule, passes, tallies[0].max_diff, tallies[passes - 1].max_diff);
            } else {
                findings.doubt(~end);
            }
        }
        if (!right && thread_of_grid() == 0) {
            // The first state is judged again.
            Tally &first = loop.control->counters[findings.n % 4];
            first.factor_count = tallies[0].factor_count;
            first.factor_lowest = tallies[0].factor_lowest;
        }
        __syncthreads();
        return right;
    }

    /// What a pass with a barrier at its end does but measure and meet. Where homes take turns, made here once for all that call it.
    __device__ __forceinline__ void flood_of_pass(bool with_hubs) {
        if (Run::TURNS) {
            flood_called(with_hubs);
        } else {
            flood<Run>(block, home, with_hubs);
        }
    }
    static __device__ __noinline__ void flood_called(bool with_hubs) { flood<Run>(shared_block(), shared_home(), with_hubs); }

    /// All passes that run ahead, apart from what precedes and follows them, so that nothing else takes registers.
    static __device__ __noinline__ void repeat_ahead() {
        Block &block = shared_block();
        Home &home = shared_home();
        for (uint32_t pass = 0; pass < block.ahead; ++pass) {
            flood_ahead<Run>(block, home, pass);
            if (block.stopped[pass & 1] != 0) {
                break;
            }
        }
    }

    /// Tells what was found of the states from which passes that ran ahead began, and leaves what was found of factors in the
    /// last one where it is looked for at the end of the next pass. All blocks have met since.
    static __device__ __noinline__ void take_over(Findings &findings, uint64_t passes) {
        __shared__ unsigned long long most, first;
        const Block &block = shared_block();
        const Tally *const tallies = block.g.tallies_ahead;
        if (threadIdx.x == 0) {
            most = first = 0;
        }
        __syncthreads();
        for (uint64_t i = threadIdx.x; i < passes; i += blockDim.x) {
            const Tally &tally = tallies[i];
            const unsigned long long count = tally.factor_count + tally.variable_count;
            if (count != 0) {
                const uint32_t lowest = tally.factor_count != 0 ? tally.factor_lowest : tally.variable_lowest;
                atomicMax(&most, count);
                // Of the first state, the one with the largest complement.
                atomicMax(&first, static_cast<unsigned long long>(~static_cast<uint32_t>(i)) << 32 | lowest);
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            findings.take_over(most, static_cast<uint32_t>(first));
        }
        if (thread_of_grid() == 0) {
            Tally &last = block.loop.control->counters[(findings.n + passes) % 4];
            last.factor_count = tallies[passes].factor_count;
            last.factor_lowest = tallies[passes].factor_lowest;
        }
    }

    __device__ __forceinline__ void store_state(uint32_t buffer) {
        at_each_home<Run>(block.g, home, [&] { home.store_state(block.g, buffer); });
    }
};

// With some bytes for barriers.
static_assert(sizeof(Block) + sizeof(Home) + sizeof(FloodStarts) + sizeof(Findings) + 256 <= FLOOD_SHARED,
              "more shared memory than is left for it");

template <class Run>
__device__ __forceinline__ static void run_flood(const Binary &g, const Loop &loop) {
    Block &block = shared_block();
    Home &home = shared_home();
    block.fill(g, loop);
    flood_starts().fill(g);
    for (uint32_t number = blockIdx.x; number < (Run::TURNS ? g.home_turns : 1) * gridDim.x; number += gridDim.x) {
        home.fill(g, number, flood_starts().first_of_large);
        home.load_state(g, loop.control->buffer);
        if (Run::TURNS) {
            home.save(g);
        }
    }
    if (Run::TURNS) {
        order_homes(g, block.turns, 0, 0);
    }
    if (threadIdx.x == 0) {
        const uint32_t first = g.homes[blockIdx.x * g.home_turns].hub_words.first;
        block.hub_words = Run::TURNS ? g.flood_words + first : home.hub_words();
    }
    const bool may_fail = (loop.rule.flags & STOP_AT_CONTRADICTION) != 0;
    if (threadIdx.x == 0) {
        block.copied = loop.control->iterations;
        block.stopped[0] = 0;
    }
    __syncthreads();
    if (may_fail) {
        copy_state(g, g.state(loop.control->buffer), g.state(PASS_BUFFERS));
    }
    GridBarrier barrier(loop.barrier);
    if (Run::TURNS) {
        // Homes are taken by other blocks than have saved them.
        barrier.sync();
    }
    Flood<Run> work = {block, home};
    const Ending end = run_passes(work, barrier, block.loop);
    if (end.reason == CONTRADICTION && end.n > end.begin && !is_measured(loop.rule, end.n)) {
        Flood<Run>::repeat(block, home, end, barrier);
    }
    reset_pieces<Run>(block, false);
}

/// Sums without damping: where each block has one home, and where it has several. Then the same for any run; and any run where
/// factors have warps of their own.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    binary_flood(const __grid_constant__ Binary g, const __grid_constant__ Loop loop) {
    run_flood<FloodRun<false, false>>(g, loop);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    binary_turns_flood(const __grid_constant__ Binary g, const __grid_constant__ Loop loop) {
    run_flood<FloodRun<true, false>>(g, loop);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    binary_any_flood(const __grid_constant__ Binary g, const __grid_constant__ Loop loop) {
    run_flood<FloodRun<false, true>>(g, loop);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    binary_any_turns_flood(const __grid_constant__ Binary g, const __grid_constant__ Loop loop) {
    run_flood<FloodRun<true, true>>(g, loop);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    binary_own_warps_flood(const __grid_constant__ Binary g, const __grid_constant__ Loop loop) {
    run_flood<FloodRun<true, true, true>>(g, loop);
}

/// Passes by levels, of runs that may be damped or of maxima if they have options.
template <bool OPTIONS>
struct ByLevels {
    const Block &block;

    __device__ __forceinline__ void send(uint32_t buffer, uint64_t n) {
        if (threadIdx.x % 32 == 0) {
            tally_of_pass() = block.loop.control->counters + (n + 1) % 4;
        }
        __syncwarp();
        const Places places(block.g, buffer);
        if (OPTIONS && block.g.undamped) {
            send_constants(block.g, places);
        } else if (n == CONSTANTS_TURN) {
            place_constants(block.g, places);
        }
        LevelWork<OPTIONS>{places}.send_all(queue_of_warp());
    }

    __device__ __forceinline__ void look(uint32_t buffer, uint64_t n, bool measuring) {
        look_at_state<OPTIONS>(block, buffer, n, measuring);
    }
};

template <bool OPTIONS>
__device__ __forceinline__ static void run_levels(const Binary &g, const Loop &loop) {
    Block &block = shared_block();
    block.fill(g, loop);
    queue_of_warp().fill(g);
    ByLevels<OPTIONS> work = {block};
    run_turns(work, block.loop, LEVEL_STATES);
    LevelQueue::keep(g);
}

/// Sums without damping where no factors have warps of their own; and any runs.
extern "C" __global__ void __launch_bounds__(LEVEL_THREADS, 1)
    binary_levels(const __grid_constant__ Binary g, const __grid_constant__ Loop loop) {
    run_levels<false>(g, loop);
}

extern "C" __global__ void __launch_bounds__(LEVEL_THREADS, 1)
    binary_any_levels(const __grid_constant__ Binary g, const __grid_constant__ Loop loop) {
    run_levels<true>(g, loop);
}

/// Before a run by levels whose messages are in `buffer`: uniform ones, if it is `fresh`. The other states have what
/// stays as it is.
extern "C" __global__ void binary_begin(const __grid_constant__ Binary g, uint32_t buffer, uint32_t fresh) {
    for (uint64_t slot = thread_of_grid(); slot < g.stride; slot += threads_of_grid()) {
        const bool sent = (g.sent[slot / 32] >> slot % 32 & 1) != 0;
        for (uint32_t state = 0; state < LEVEL_STATES; ++state) {
            if (state != buffer ? sent : fresh != 0) {
                g.state(state)[slot] = Packed{state != buffer ? UNSENT : ONE_BITS};
            }
        }
    }
    for (uint32_t i = thread_of_grid(); i < g.constant_count; i += threads_of_grid()) {
        for (uint32_t state = 0; state < LEVEL_STATES; ++state) {
            if (state != buffer) {
                g.state(state)[g.constant_slots[i]] = g.undamped ? Packed{UNSENT} : g.constants[i];
            }
        }
    }
    for (uint32_t i = thread_of_grid(); i < g.level_warps; i += threads_of_grid()) {
        g.level_ways[i] = UnitWays{0, 0};
    }
    for (uint64_t i = thread_of_grid(); i < LEVEL_STATES * g.product_stride; i += threads_of_grid()) {
        g.level_products[i] = UNSENT;
    }
    for (uint64_t i = thread_of_grid(); i < LEVEL_STATES * g.node_stride; i += threads_of_grid()) {
        g.level_nodes[i] = UNSENT;
    }
}

/// Behind binary_begin: the products of pieces of large hubs in this state, those of one height, which are `first` up to `end`; their
/// parts come before them.
extern "C" __global__ void binary_begin_products(const __grid_constant__ Binary g, uint32_t buffer, uint32_t first,
                                                 uint32_t end) {
    const uint32_t warps = threads_of_grid() / 32, pieces = g.hub_pieces[g.classes[1]];
    const FirstVersions versions = {g, buffer};
    for (uint32_t piece = first + thread_of_grid() / 32; piece < end; piece += warps) {
        if (piece < pieces) {
            multiply_piece(g, versions, piece, g.state(buffer));
        } else {
            versions.multiply_parts(pieces, piece - pieces);
        }
    }
}

/// Probabilities of both states of all variables.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    binary_results(const __grid_constant__ Binary g, uint32_t buffer, double *results) {
    Watch watch(g, results);
    look_at_all(g, g.undamped ? g.undamped_state(buffer) : g.state(buffer), Sink{nullptr, nullptr, nullptr}, watch);
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
