// PTX targets: sm_70; cubin: sm_90
//
// The general program: passes of src/engine/cuda/general.

#include "engine/general_beliefs.cuh"
#include "engine/general_level_items.cuh"

using namespace fastlbp;

namespace {

/// What run_passes runs.
struct Work {
    const General &g;
    const Rule &rule;
    /// For how many passes the constants have been sent when this launch begins, and its first pass.
    uint32_t constant_passes;
    uint64_t first_pass;
    /// Whether this launch has computed the messages of factors with one variable.
    bool constants_are_there;

    FASTLBP_DEVICE bool measures_inputs(bool measuring) const {
        return measuring && rule.kind == RULE_BINGO;
    }

    FASTLBP_DEVICE bool depends_on_old() const { return g.damping > 0.0 || g.least_growth > 0.0; }

    /// For how many passes, two at most, the constants have been sent after `n` passes. Those that depend on the ones
    /// before go on changing.
    FASTLBP_DEVICE uint32_t sent(uint64_t n) const {
        if (depends_on_old()) {
            return n == first_pass ? constant_passes : 0;
        }
        const uint64_t passes = constant_passes + (n - first_pass);
        return passes < 2 ? static_cast<uint32_t>(passes) : 2;
    }

    /// Looks at all variables, or, before messages are sent at once, at those that send.
    FASTLBP_DEVICE void look(uint32_t buffer, uint64_t n, bool sending, bool all, bool measuring, Tally *tally,
                             GridBarrier &barrier) const {
        const Packed *newest = g.newest[buffer] ? g.newest[buffer] : g.messages[buffer];
        const bool inputs = measures_inputs(measuring);
        double *const row = inputs && n > 0 ? g.history + (n - 1) % g.history_rows * g.belief_count : nullptr;
        const Look look = {g.messages[buffer], newest,         sending || inputs, inputs, all,
                           measuring,          rule.tolerance, row,               tally};
        if (g.tiles > 0) {
            multiply_tiles(g, look);
            barrier.arrive();
        }
        look_at_variables(g, look);
        if (g.tiles > 0) {
            barrier.wait();
            look_at_tiles(g, look);
        }
    }

    /// Factors send, level by level.
    FASTLBP_DEVICE void run_levels(const Pass &pass, GridBarrier &barrier) const {
        const LevelArrays arrays(g, pass);
        const LevelWarps warps(g);
        const uint32_t levels = g.levels;
        const bool some_items = g.some_items != 0;
        // Where levels end: this one, the next one, and the one behind it.
        const auto end_of = [&](uint32_t level) { return arrays.levels[smaller_of(level + 1, levels)]; };
        uint32_t end = end_of(0), next_end = end_of(1);
        LevelWork work = warps.work(arrays, 0, end);
        work.load_input(arrays);
        for (uint32_t level = 0; level < levels; ++level) {
            if (g.prepared && prepare_level(g, pass, level)) {
                barrier.sync();
            }
            if (some_items) {
                run_level(g, pass, level);
            }
            const uint32_t end_behind = end_of(level + 2);
            LevelWork next = warps.work(arrays, end, next_end);
            run_level_items(g, pass, arrays, warps, work);
            next.load_input(arrays);
            work = next;
            end = next_end;
            next_end = end_behind;
            if (level + 1 < levels) {
                barrier.sync();
            }
        }
    }

    /// What factors get, by BINGO's rule; `by_edge` is there.
    FASTLBP_DEVICE void measure(Tally *of_state, GridBarrier &barrier) {
        if (g.long_factors.count > 0) {
            measure_parts(g);
            barrier.sync();
        }
        measure_inputs(g, rule.tolerance, of_state);
    }

    FASTLBP_DEVICE void pass(uint32_t buffer, uint64_t n, Measuring measuring, bool scanning, Tally *of_state,
                             Tally *of_pass, GridBarrier &barrier) {
        const bool inputs = measures_inputs(measuring);
        const Pass pass = {g.messages[buffer], g.messages[buffer ^ 1], g.newest[buffer ^ 1],
                           depends_on_old(), of_pass, measuring ? nullptr : of_state};
        if (g.by_levels ? measuring || scanning : measuring || g.some_send) {
            look(buffer, n, !g.by_levels, measuring || g.by_levels, measuring, of_state, barrier);
        }
        if (inputs || (!g.by_levels && g.some_send)) {
            barrier.sync();
        }
        if (inputs) {
            measure(of_state, barrier);
            if (g.by_levels) {
                barrier.sync();
            }
        }
        if (sent(n) == 0) {
            run_constants(g, pass, constants_are_there);
            constants_are_there = pass.depends_on_old;
            if (g.prepared) {
                // Prepared variables send to these, too, where they have left what they do not need.
                barrier.sync();
            }
        } else if (sent(n) == 1 || pass.depends_on_old) {
            // Only the other buffer lacks them.
            keep_constants(g, pass, g.newest[buffer]);
        }
        if (g.by_levels) {
            run_levels(pass, barrier);
        } else if (g.levels > 0) {
            run_level(g, pass, 0);
        }
        send_pairs(g, pass);
        send_warp_items(g, pass);
        barrier.sync();
    }

    FASTLBP_DEVICE uint64_t run_ahead(Findings &, GridBarrier &) { return 0; }
    FASTLBP_DEVICE void go_back(Findings &, GridBarrier &) {}
    FASTLBP_DEVICE bool is_quiet(const GridBarrier &) const { return false; }

    FASTLBP_DEVICE void close(uint32_t buffer, uint64_t n, bool measuring, Tally *of_state,
                              GridBarrier &barrier) {
        const bool inputs = measures_inputs(measuring);
        look(buffer, n, false, true, measuring, of_state, barrier);
        if (inputs) {
            barrier.sync();
            measure(of_state, barrier);
        }
        barrier.sync();
    }
};

/// Gives the probabilities of all states.
struct ResultSink {
    double *out;

    FASTLBP_DEVICE void operator()(uint32_t state, double probability) const { out[state] = probability; }
};

}  // namespace

// Tells lanes where they find their messages, with the present evidence.
extern "C" __global__ void __launch_bounds__(THREADS) general_prepare(const __grid_constant__ General g) {
    prepare_warp_items(g);
}

// Before the first pass of a run whose messages are in `buffer`: uniform ones, copies, and uniform beliefs
// to compare with.
extern "C" __global__ void __launch_bounds__(THREADS) general_begin(const __grid_constant__ General g, uint32_t buffer) {
    for (uint32_t i = thread_of_grid(); i < g.values; i += threads_of_grid()) {
        if (g.reset) {
            g.messages[buffer][i] = Packed::one();
        }
        if (g.restart_newest) {
            g.newest[buffer][i] = g.messages[buffer][i];
        }
        if (g.inputs) {
            g.inputs[i] = 0.0;
        }
    }
    for (uint32_t v = thread_of_grid(); v < g.variables; v += threads_of_grid()) {
        const uint32_t first = g.first_value(v);
        const uint32_t width = g.width(v);
        for (uint32_t x = 0; x < width; ++x) {
            g.beliefs[first + x] = width == 1 ? 0.5 : 1.0 / static_cast<double>(width);
        }
    }
    if (thread_of_grid() == 0 && g.reset) {
        *g.constant_iterations = 0;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    general_passes(const __grid_constant__ General g, const __grid_constant__ Loop loop) {
    GridBarrier barrier(loop.barrier);
    Work work = {g, loop.rule, *g.constant_iterations, loop.control->iterations, false};
    run_passes(work, barrier, loop);
    if (thread_of_grid() == 0) {
        *g.constant_iterations = work.sent(loop.control->iterations);
    }
}

// Probabilities of all states for the messages in `buffer`; with `rows`, the means of so many rows of the
// history, the last one that of pass `passes`.
extern "C" __global__ void __launch_bounds__(THREADS)
    general_results(const __grid_constant__ General g, uint32_t buffer, uint64_t passes, uint64_t rows,
                    double *out) {
    const Packed *newest = g.newest[buffer] ? g.newest[buffer] : g.messages[buffer];
    for (uint32_t v = thread_of_grid(); v < g.variables; v += threads_of_grid()) {
        double *const own = out + (g.variable_states ? g.variable_states[v] : 2 * v);
        if (rows == 0) {
            const Incoming incoming(g, newest, v);
            const Everything all = {incoming};
            give_belief(g, v, with_evidence(g, v, all), ResultSink{own});
            continue;
        }
        const uint32_t width = g.width(v);
        for (uint32_t x = 0; x < width; ++x) {
            double sum = 0.0;
            for (uint64_t pass = passes - rows; pass < passes; ++pass) {
                // Of no number does the sum with zero differ.
                sum += g.history[pass % g.history_rows * g.belief_count + g.first_value(v) + x];
            }
            own[width == 1 ? 1 : x] = sum / static_cast<double>(rows);
        }
        if (width == 1) {
            own[0] = 1.0 - own[1];
        }
    }
}

// The messages of a program of binary variables, of which that along each edge is in `from` at this slot, into buffer 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    general_take(const __grid_constant__ General g, const Packed *from, const uint32_t *slots) {
    for (uint32_t edge = thread_of_grid(); edge < g.edges; edge += threads_of_grid()) {
        g.messages[0][g.edge_places[edge]] = from[slots[edge]];
    }
}

// Uniform beliefs of factors.
extern "C" __global__ void __launch_bounds__(THREADS) general_begin_beliefs(const __grid_constant__ FactorBeliefs all) {
    fill_factor_beliefs(all);
}

// The beliefs of factors for the messages in `by_edge`, and by how much they have changed; see measure_factor_beliefs.
extern "C" __global__ void __launch_bounds__(THREADS)
    general_measure_beliefs(const __grid_constant__ General g, const __grid_constant__ FactorBeliefs all, double tolerance,
                            uint32_t recalling) {
    measure_factor_beliefs(g, all, tolerance, recalling != 0);
}
