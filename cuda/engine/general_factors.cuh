// The factors' side of the general program: src/engine/cpu/factor.rs once more, and how far their inputs
// have moved, as in measure.rs.
#pragma once

#include "general_pairs.cuh"
#include "general_prepared.cuh"
#include "other_factors.cuh"
#include "sums.cuh"

namespace fastlbp {

/// All messages of a factor from its inputs, or the one to `target`, to `out`; 0/0 is a contradiction.
/// `scratch` is the group's.
FASTLBP_DEVICE_COLD void compute(const General &g, const Record &record, uint32_t first_edge,
                                 uint32_t arity, uint32_t target, const Packed *inputs, Packed *out,
                                 void *scratch, const ThreadGroup &group) {
    if (record.kind == HORN_FACTOR) {
        const HornLiterals c = {g.horn[record.parameter], g.words};
        share_horn_messages(g.maxima, inputs, arity, record.head, c, target, out, scratch, group);
    } else {
        // Noisy conjunctions alone need none.
        const uint32_t *const radices = g.edge_radices ? g.edge_radices + first_edge : nullptr;
        other_messages(g.parameters, g.maxima != 0, record, radices, arity, target, inputs, out, scratch, group);
    }
}

/// replace_by_messages where doubles do not do.
template <class T, int N>
FASTLBP_DEVICE_COLD void replace_far(Packed (&values)[N], uint32_t head, HornLiterals c) {
    messages_of<T>(values, head, c);
}

/// All messages of a conjunction of N = 2 to 8 variables from its inputs, in registers.
template <int N>
FASTLBP_DEVICE void replace_by_messages(const General &g, const Record &record, Packed (&values)[N]) {
    const uint32_t head = record.head;
    const HornLiterals c = {g.horn[record.parameter], g.words};
    if (c.fits_f64(values)) {
        if (g.maxima) {
            messages_of<Max<double>>(values, head, c);
        } else {
            messages_of<double>(values, head, c);
        }
        return;
    }
    Packed copy[N];
    load_values(values, copy);
    if (g.maxima) {
        replace_far<Max<Far>>(copy, head, c);
    } else {
        replace_far<Far>(copy, head, c);
    }
    load_values(copy, values);
}

/// compute for a conjunction of N = 2 to 8 variables.
template <int N>
FASTLBP_DEVICE_COLD void compute_few(const General &g, const Record &record, uint32_t target,
                                     const Packed *inputs, Packed *out) {
    Packed values[N];
    load_values(inputs, values);
    replace_by_messages(g, record, values);
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        if (target == ALL) {
            out[i] = values[i];
        } else if (target == static_cast<uint32_t>(i)) {
            out[0] = values[i];
        }
    }
}

/// Stores the messages along some edges, `count` of them, edge(i) with its message at message(i); by a group.
template <class Edge, class Message>
FASTLBP_DEVICE void deliver_all(const General &g, const Pass &pass, uint32_t count, const Edge &edge,
                                const Message &message, const ThreadGroup &group) {
    if (group.span == SPAN_WARP && g.variable_values) {
        for (uint32_t i = 0; i < count; ++i) {
            if (g.width(g.edge_variables[edge(i)]) > 1) {
                deliver_by_warp(g, pass, edge(i), message(i));
            } else if (group.rank() == 0) {
                deliver(g, pass, edge(i), message(i));
            }
        }
    } else {
        for (uint32_t i = group.rank(); i < count; i += group.size()) {
            deliver(g, pass, edge(i), message(i));
        }
    }
    group.sync();
}

/// Whether a thread has the memory for a factor's messages.
FASTLBP_DEVICE bool is_small(const Record &record, uint32_t arity) {
    return record.kind == HORN_FACTOR && arity <= SMALL_ARITY;
}

/// Memory of a thread's own for the messages of a small conjunction.
struct SmallScratch {
    Packed inputs[SMALL_ARITY];
    Packed outputs[SMALL_ARITY];
    /// Leaves and nodes of the body's tree.
    Body<Wide> bodies[2 * SMALL_ARITY];
};

/// Chooses how the messages of a factor are computed.
FASTLBP_DEVICE void compute_any(const General &g, const Record &record, uint32_t first_edge,
                                uint32_t arity, uint32_t target, const Packed *inputs, Packed *out,
                                void *scratch, const ThreadGroup &group) {
    if (group.is_thread() && record.kind == HORN_FACTOR) {
        switch (arity) {
            case 2: return compute_few<2>(g, record, target, inputs, out);
            case 3: return compute_few<3>(g, record, target, inputs, out);
            case 4: return compute_few<4>(g, record, target, inputs, out);
            case 5: return compute_few<5>(g, record, target, inputs, out);
            case 6: return compute_few<6>(g, record, target, inputs, out);
            case 7: return compute_few<7>(g, record, target, inputs, out);
            case 8: return compute_few<8>(g, record, target, inputs, out);
            default: break;
        }
    }
    compute(g, record, first_edge, arity, target, inputs, out, scratch, group);
}

/// Reads the message to a factor at one of its edges, as an edge of a rank sees it.
FASTLBP_DEVICE void read_input(const General &g, const Pass &pass, uint32_t edge, uint32_t rank,
                               Packed *out) {
    const uint32_t variable = g.edge_variables[edge];
    const Incoming incoming(g, pass.old_values, pass.new_values, variable, rank);
    const uint32_t leaf = g.edge_slots[edge] - g.variable_offsets[variable];
    if (message_to_factor(g, variable, incoming, leaf, out)) {
        note_met(pass.tally, variable);
    }
}

/// Takes over the message of a prepared variable.
FASTLBP_DEVICE void take_input(const General &g, uint32_t edge, Packed *out) {
    const Packed *const there = g.by_edge + g.input_of(edge);
    const uint32_t width = there != out ? g.width(g.edge_variables[edge]) : 0;
    for (uint32_t x = 0; x < width; ++x) {
        out[x] = there[x];
    }
}

/// read_input of a variable with many edges by a block.
FASTLBP_DEVICE_COLD void read_hub_input(const General &g, const Pass &pass, uint32_t edge, uint32_t rank,
                                        Packed *out, Product *products) {
    const ThreadGroup group = {SPAN_BLOCK};
    const uint32_t variable = g.edge_variables[edge];
    const bool writing = group.rank() == 0;
    if (is_observed(g.known[variable])) {
        if (writing) {
            store_observed(g, variable, out);
        }
    } else {
        const Incoming incoming(g, pass.old_values, pass.new_values, variable, rank);
        const uint32_t leaf = g.edge_slots[edge] - g.variable_offsets[variable];
        const Others<ThreadGroup> others = {incoming, leaf, products, group};
        if (store_message(with_evidence(g, variable, others), incoming.width, writing, out) && writing) {
            note_met(pass.tally, variable);
        }
    }
    group.sync();
}

/// What is in the place of an input that no message needs.
FASTLBP_DEVICE void skip_input(const General &g, uint32_t edge, Packed *out) {
    for (uint32_t x = 0; x < g.width(g.edge_variables[edge]); ++x) {
        out[x] = Packed::one();
    }
}

/// The message of a variable of several states to its edge at `leaf`, by lanes with a state each, or several: of those that are
/// `active`. All lanes of the warp call it.
FASTLBP_DEVICE void read_states(const General &g, const Pass &pass, uint32_t edge, uint32_t rank, bool active, Packed *out,
                                const LaneGroup &lanes) {
    const uint32_t variable = g.edge_variables[edge];
    const Incoming incoming(g, pass.old_values, pass.new_values, variable, rank);
    const Others<OneThread> others = {incoming, g.edge_slots[edge] - g.variable_offsets[variable]};
    const auto products = with_evidence(g, variable, others);
    const uint32_t width = active ? incoming.width : 0;
    // Negated, so that both searches are for the largest.
    uint32_t fewest = 0;
    int64_t top = INT64_MIN;
    Product first = Product::neutral();
    for (uint32_t x = lanes.rank(); x < width; x += lanes.size) {
        const Product product = products(x);
        first = x == lanes.rank() ? product : first;
        fewest = larger_of(fewest, ~product.zeros);
        top = product.zeros == 0 ? larger_of(top, product.exponent) : top;
    }
    fewest = ~lanes.largest(fewest);
    top = lanes.largest(top);
    for (uint32_t x = lanes.rank(); x < width; x += lanes.size) {
        out[x] = resolved(x == lanes.rank() ? first : products(x), fewest, top);
    }
    if (active && fewest > 0 && lanes.rank() == 0) {
        note_met(pass.tally, variable);
    }
}

/// read_inputs by a warp where variables have several states: as many lanes for each as the widest has states. In a block, those of
/// many edges are left to all of its threads.
FASTLBP_DEVICE_COLD void read_inputs_by_lanes(const General &g, const Pass &pass, uint32_t level, uint32_t first_edge,
                                              uint32_t arity, uint32_t rank, uint32_t unneeded, Packed *inputs, bool in_block) {
    const LaneGroup warp(LANES);
    uint32_t widest = 1;
    for (uint32_t i = warp.rank(); i < arity; i += warp.size) {
        widest = larger_of(widest, g.width(g.edge_variables[first_edge + i]));
    }
    widest = warp.largest(widest);
    uint32_t size = 1;
    while (size < widest && size < LANES) {
        size *= 2;
    }
    const LaneGroup lanes(size);
    const uint32_t start = g.input_of(first_edge);
    for (uint32_t turn = 0; turn * lanes.groups() < arity; ++turn) {
        const uint32_t i = turn * lanes.groups() + lanes.number();
        const uint32_t edge = first_edge + (i < arity ? i : 0), variable = g.edge_variables[edge];
        Packed *const input = inputs + (g.input_of(edge) - start), *const there = g.by_edge + g.input_of(edge);
        const bool is_needed = edge != unneeded, is_there = is_needed && is_prepared(g, level, variable, rank);
        const bool is_left = in_block && is_needed && !is_there && g.degree(variable) > HIGH_DEGREE;
        const uint32_t width = i < arity && !is_left ? g.width(variable) : 0, known = g.known[variable];
        const bool is_free = is_needed && !is_there && width > 1 && !is_observed(known);
        // What a prepared variable has sent may be for another rank.
        const bool is_kept = !is_needed && input == there && prepared_state(g, variable);
        for (uint32_t x = lanes.rank(); x < width && !is_free && !is_kept; x += lanes.size) {
            if (!is_needed) {
                input[x] = Packed::one();
            } else if (is_there) {
                input[x] = there[x];
            } else if (width == 1) {
                read_input(g, pass, edge, rank, input);
            } else {
                input[x] = g.weights_of(variable)[x];
            }
        }
        read_states(g, pass, edge, rank, is_free, input, lanes);
    }
}

/// The messages to a factor as an edge of a rank sees them, but for the one along `unneeded`.
FASTLBP_DEVICE void read_inputs(const General &g, const Pass &pass, uint32_t level, uint32_t first_edge,
                                uint32_t arity, uint32_t rank, uint32_t unneeded, Packed *inputs, void *scratch,
                                const ThreadGroup &group) {
    const uint32_t start = g.input_of(first_edge);
    const bool by_lanes = !group.is_thread() && g.variable_values;
    if (by_lanes && group.rank() < LANES) {
        read_inputs_by_lanes(g, pass, level, first_edge, arity, rank, unneeded, inputs, group.span == SPAN_BLOCK);
    }
    for (uint32_t edge = first_edge + group.rank(); !by_lanes && edge < first_edge + arity; edge += group.size()) {
        Packed *const input = inputs + (g.input_of(edge) - start);
        if (edge == unneeded) {
            // What a prepared variable has sent may be for another rank.
            if (input != g.by_edge + g.input_of(edge) || !prepared_state(g, g.edge_variables[edge])) {
                skip_input(g, edge, input);
            }
        } else if (is_prepared(g, level, g.edge_variables[edge], rank)) {
            take_input(g, edge, input);
        } else if (group.span != SPAN_BLOCK || g.degree(g.edge_variables[edge]) <= HIGH_DEGREE) {
            read_input(g, pass, edge, rank, input);
        }
    }
    group.sync();
    if (group.span == SPAN_BLOCK) {
        for (uint32_t edge = first_edge; edge < first_edge + arity; ++edge) {
            const uint32_t variable = g.edge_variables[edge];
            if (edge != unneeded && g.degree(variable) > HIGH_DEGREE && !is_prepared(g, level, variable, rank)) {
                read_hub_input(g, pass, edge, rank, inputs + (g.input_of(edge) - start),
                               static_cast<Product *>(scratch));
            }
        }
        group.sync();
    }
}

/// Sends the messages of an item. Without targets the inputs are those in `by_edge`.
FASTLBP_DEVICE_COLD void run_item(const General &g, const Pass &pass, uint32_t level, const Item &item, void *scratch,
                                  SmallScratch *small, const ThreadGroup &group) {
    const Record record = g.records[item.factor];
    const uint32_t first_edge = g.factor_offsets[item.factor];
    const uint32_t arity = g.factor_offsets[item.factor + 1] - first_edge;
    const uint32_t start = g.input_of(first_edge);
    const bool uses_small = small && is_small(record, arity);
    Packed *const outputs = uses_small ? small->outputs : g.outputs + start;
    void *const memory = uses_small ? static_cast<void *>(small->bodies) : scratch;
    if (!g.targets) {
        compute_any(g, record, first_edge, arity, ALL, g.by_edge + start, outputs, memory, group);
        deliver_all(
            g, pass, arity, [&](uint32_t i) { return first_edge + i; },
            [&](uint32_t i) { return outputs + (g.input_of(first_edge + i) - start); }, group);
        return;
    }
    Packed *const inputs = uses_small ? small->inputs : g.by_edge + start;
    for (uint32_t first = item.first, end = first; first < item.end; first = end) {
        // Messages of one rank read the same.
        const uint32_t rank = g.ranks[g.edge_slots[g.targets[first]]];
        while (end < item.end && g.ranks[g.edge_slots[g.targets[end]]] == rank) {
            ++end;
        }
        const uint32_t only = end - first == 1 ? g.targets[first] : ALL;
        read_inputs(g, pass, level, first_edge, arity, rank, only, inputs, scratch, group);
        compute_any(g, record, first_edge, arity, only == ALL ? ALL : only - first_edge, inputs, outputs,
                    memory, group);
        deliver_all(
            g, pass, end - first, [&](uint32_t i) { return g.targets[first + i]; },
            [&](uint32_t i) {
                return outputs + (only == ALL ? g.input_of(g.targets[first + i]) - start : 0);
            },
            group);
    }
}

/// Sends the messages of a level.
FASTLBP_DEVICE_COLD void run_level(const General &g, const Pass &pass, uint32_t level) {
    for (uint32_t span = SPAN_BLOCK; span > SPAN_THREAD; --span) {
        const Groups groups(g, span);
        const uint32_t end = g.items[span].levels[level + 1];
        for (uint32_t i = g.items[span].levels[level] + groups.number; groups.number < groups.count && i < end;
             i += groups.count) {
            run_item(g, pass, level, g.items[span].items[i], groups.memory, nullptr, ThreadGroup{span});
        }
    }
    const Groups threads(g, SPAN_THREAD);
    if (threads.number < threads.count) {
        SmallScratch small;
        const uint32_t end = g.items[SPAN_THREAD].levels[level + 1];
        for (uint32_t i = g.items[SPAN_THREAD].levels[level] + threads.number; i < end; i += threads.count) {
            run_item(g, pass, level, g.items[SPAN_THREAD].items[i], threads.memory, &small, ThreadGroup{SPAN_THREAD});
        }
    }
}

/// Factors with one variable send. Their messages read nothing. Without targets, what is in `by_edge`
/// stays. What warps have left in `outputs` in an earlier iteration need not be computed again, if it `is_there`.
FASTLBP_DEVICE_COLD void run_constants(const General &g, const Pass &pass, bool is_there) {
    uint32_t first = 0;
    for (uint32_t span = SPAN_THREAD; span <= SPAN_BLOCK; ++span) {
        const uint32_t end = first + g.constants_of_span[span];
        const Groups groups(g, span);
        const ThreadGroup group = {span};
        SmallScratch small;
        for (uint32_t i = first + groups.number; groups.number < groups.count && i < end; i += groups.count) {
            const uint32_t factor = g.constants_by_span[i];
            const uint32_t edge = g.factor_offsets[factor];
            const uint32_t start = g.input_of(edge);
            const bool by_lanes = span == SPAN_WARP && g.width(g.edge_variables[edge]) > 1;
            if (!by_lanes || !is_there) {
                const Record record = g.records[factor];
                const bool uses_small = group.is_thread() && is_small(record, 1);
                Packed *const inputs = uses_small ? small.inputs : g.by_edge + start;
                Packed *const outputs = uses_small ? small.outputs : g.outputs + start;
                if ((uses_small || g.targets) && group.rank() == 0) {
                    skip_input(g, edge, inputs);
                }
                group.sync();
                compute(g, record, edge, 1, 0, inputs, outputs,
                        uses_small ? static_cast<void *>(small.bodies) : groups.memory, group);
                if (group.rank() == 0 && !by_lanes) {
                    deliver(g, pass, edge, outputs);
                }
                group.sync();
            }
            if (by_lanes) {
                deliver_by_warp(g, pass, edge, g.outputs + start);
            }
        }
        first = end;
    }
}

/// Factors with one variable do not send again: what they have sent, computed as it was then, stays.
FASTLBP_DEVICE_COLD void keep_constants(const General &g, const Pass &pass, const Packed *old_newest) {
    const uint32_t count = g.constants_of_span[0] + g.constants_of_span[1] + g.constants_of_span[2];
    for (uint32_t i = thread_of_grid(); i < count; i += threads_of_grid()) {
        const uint32_t edge = g.factor_offsets[g.constants_by_span[i]];
        const uint32_t width = g.width(g.edge_variables[edge]);
        const uint32_t at = g.edge_places[edge];
        for (uint32_t x = at; x < at + width; ++x) {
            pass.new_values[x] = pass.old_values[x];
            if (pass.newest) {
                pass.newest[x] = old_newest[x];
            }
        }
    }
}

/// Replaces the probability of a state in an input and returns how far it has moved.
FASTLBP_DEVICE double replace_input(const General &g, uint32_t index, double value) {
    const double change = value - g.inputs[index];
    g.inputs[index] = value;
    return change < 0.0 ? -change : change;
}

/// Half of how far the input along an edge has moved, from `by_edge`: of its states, the most. Not inlined, as sums have many calls.
FASTLBP_DEVICE_COLD double input_movement(const General &g, uint32_t edge) {
    const uint32_t width = g.width(g.edge_variables[edge]);
    const uint32_t start = g.input_of(edge);
    const Packed *weights = g.by_edge + start;
    if (width == 1) {
        return replace_input(g, start, weights[0].probability()) / 2.0;
    }
    Wide total = Wide::zero();
    for (uint32_t x = 0; x < width; ++x) {
        total = add(total, weights[x].unpack());
    }
    double most = 0.0;
    for (uint32_t x = 0; x < width; ++x) {
        const Wide weight = weights[x].unpack();
        const double probability = is_zero(weight) ? 0.0 : divide(weight, total).to_f64();
        most = larger_of(most, replace_input(g, start + x, probability));
    }
    return most / 2.0;
}

/// What comes before measure_inputs, and a barrier, if there are long factors.
FASTLBP_DEVICE_COLD void measure_parts(const General &g) {
    sum_parts(g.long_factors, [&](uint32_t edge) { return input_movement(g, edge); });
}

/// Measures how far the inputs of all factors have moved, from `by_edge`: half their mean, the sum in the
/// shape of the tree.
FASTLBP_DEVICE_COLD void measure_inputs(const General &g, double tolerance, Tally *tally) {
    Movement movement = {0.0, 0};
    const auto take = [&](double sum, uint32_t count) {
        movement.note(count == 0 ? 0.0 : sum / static_cast<double>(count), tolerance);
    };
    sums_of_parts(g.long_factors, take);
    sums_by_grid(g.factor_offsets, g.factors, [&](uint32_t edge) { return input_movement(g, edge); }, take);
    note_movement(tally, movement.max_diff, movement.moved);
}

}  // namespace fastlbp
