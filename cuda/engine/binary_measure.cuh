// Beliefs of variables and movements of factors.
#pragma once

#include "binary_hubs.cuh"
#include "sums.cuh"

namespace fastlbp {

/// All messages of a variable with up to four factors, from values padded with ones.
template <int N>
__device__ __forceinline__ void others_of_four(const Packed (&v)[4], Packed (&odds)[N]) {
    odds[0] = send_three(v[2], v[3], v[1]);
    odds[1] = send_three(v[2], v[3], v[0]);
    odds[2] = send_three(v[0], v[1], v[3]);
    odds[3] = send_three(v[0], v[1], v[2]);
}

/// The product of four messages.
__device__ __forceinline__ Product product_of_four(const Packed (&v)[4]) {
    return combine(combine(Product::of(v[0]), Product::of(v[1])), combine(Product::of(v[2]), Product::of(v[3])));
}

/// By how much a belief has changed, given the product of the messages; notes it.
__device__ __noinline__ inline double change_of_belief(const Binary &g, uint32_t position, uint32_t known, Product total) {
    const double last = g.beliefs[position];
    if (known == KNOWN_SOFT) {
        total = combine(total, Product::of(g.soft_of(position)));
    }
    double both[2];
    total.probabilities(both);
    g.beliefs[position] = both[1];
    return fabs(both[1] - last);
}

/// The same of a variable with up to four factors, given its messages and ones. What is observed does not change.
__device__ __noinline__ inline double change_of_few(const Binary &g, uint32_t position, uint32_t known, Packed a, Packed b,
                                                    Packed c, Packed d) {
    if (is_observed(known)) {
        return 0.0;
    }
    const double last = g.beliefs[position];
    const Packed messages[4] = {a, b, c, d};
    double probability;
    if (known == KNOWN_SOFT || !probability_of_few(messages, probability)) {
        return change_of_belief(g, position, known, product_of_four(messages));
    }
    g.beliefs[position] = probability;
    return fabs(probability - last);
}

/// A variable that is no hub.
__device__ __forceinline__ void look_at_few(const Binary &g, uint32_t position, const Packed *from, const Sink &sink,
                                            Watch &watch) {
    const uint32_t slots = position < g.twos ? 4 : position < g.ones ? 2 : position < g.zeros ? 1 : 0;
    const uint32_t at = slots == 4   ? g.four_slot + 4 * (position - g.fours)
                        : slots == 2 ? g.two_slot + 2 * (position - g.twos)
                                     : g.one_slot + (position - g.ones);
    Packed v[4];
    FASTLBP_UNROLL
    for (int i = 0; i < 4; ++i) {
        v[i] = static_cast<uint32_t>(i) < slots ? from[at + i] : Packed::one();
    }
    const uint32_t known = g.known[position];
    if (watch.measuring) {
        watch.look(position, known, product_of_four(v), watch.noting_few);
    } else if (watch.noting_few && !is_observed(known)) {
        Certain certain = {0, 0};
        if (known == KNOWN_SOFT) {
            certain.count(g.soft_of(position));
        }
        FASTLBP_UNROLL
        for (int i = 0; i < 4; ++i) {
            certain.count(v[i]);
        }
        if (certain.contradictory()) {
            note_variable(watch.of_state, g.variable[position]);
        }
    }
    if (sink.inputs) {
        Packed odds[8];
        if (known == KNOWN_SOFT) {
            soft_few_send(g.soft_of(position), v, odds);
        } else {
            others_of_four(v, odds);
        }
        FASTLBP_UNROLL
        for (int i = 0; i < 4; ++i) {
            if (static_cast<uint32_t>(i) < slots) {
                sink.measure(at + i, is_observed(known) ? certain_message(known) : odds[i]);
            }
        }
    }
}

/// The end of the variables that are looked at; `inputs` says whether what they send is measured. At those with one factor only
/// soft evidence can contradict its message.
__device__ __forceinline__ uint32_t end_of_variables(const Binary &g, const Watch &watch, bool inputs) {
    return watch.measuring ? g.variables : g.soft || inputs ? g.zeros : g.ones;
}

/// All of them, a thread each; from the last thread on, as the first ones have hubs.
__device__ __forceinline__ void all_few(const Binary &g, const Packed *from, const Sink &sink, Watch &watch) {
    const uint32_t end = end_of_variables(g, watch, sink.inputs != nullptr), threads = threads_of_grid();
    for (uint32_t position = g.fours + (threads - 1 - thread_of_grid()); position < end; position += threads) {
        look_at_few(g, position, from, sink, watch);
    }
}

/// By how much the input along an edge has changed.
struct ChangesOfEdges {
    const double *changes;
    const uint32_t *edge_slots;

    __device__ __forceinline__ explicit ChangesOfEdges(const Binary &g) : changes(g.changes), edge_slots(g.edge_slots) {}
    __device__ __forceinline__ double operator()(uint32_t edge) const { return changes[edge_slots[edge]]; }
};

/// How far the inputs of factors have moved on average, by all threads; the sums of the parts of long factors are there.
__device__ __forceinline__ void measure_factors(const Binary &g, Watch &watch) {
    const auto take = [&](double sum, uint32_t count) { watch.note_mean(sum, count); };
    sums_of_parts(g.long_factors, take);
    sums_by_grid(g.factor_offsets, g.factors, ChangesOfEdges(g), take);
}

/// The same of some factors, by a warp.
__device__ __forceinline__ void measure_some_factors(const Binary &g, uint32_t begin, uint32_t end, Watch &watch) {
    sums_by_warp(g.factor_offsets, begin, end, ChangesOfEdges(g), [&](double sum, uint32_t count) { watch.note_mean(sum, count); });
}

/// Looks at all variables of the state in `from`, and at what the sink wants.
__device__ __forceinline__ void look_at_all(const Binary &g, const Packed *from, const Sink &sink, Watch &watch) {
    all_hubs(g, from, sink, watch);
    all_few(g, from, sink, watch);
}

}  // namespace fastlbp
