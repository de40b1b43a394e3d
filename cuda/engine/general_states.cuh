// Variables of several states and up to eight messages: lanes of a warp have a state each, or several if there are more
// states than lanes. Each multiplies the messages for its states as a thread does for a binary variable; what the
// states have to know of each other, the largest exponent and the fewest zeros, they exchange.
#pragma once

#include "general_variables.cuh"
#include "lanes.cuh"

namespace fastlbp {

/// A variable as its lanes see it.
struct StateLanes {
    uint32_t variable, width, degree, known;
    /// Whether there is one in this group of lanes.
    bool active;
    LaneGroup lanes;

    FASTLBP_DEVICE StateLanes(const General &g, uint32_t of, bool is_active, LaneGroup group)
        : variable(of), width(0), degree(0), known(KNOWN_STATE), active(is_active), lanes(group) {
        if (active) {
            width = g.width(variable);
            degree = g.degree(variable);
            known = g.known[variable];
        }
    }

    /// Whether its messages are products of others.
    FASTLBP_DEVICE bool is_free() const { return active && !is_observed(known); }

    /// The messages for a state, padded with ones.
    FASTLBP_DEVICE void read(const Packed *messages, const General &g, uint32_t state, Packed (&values)[BLOCK]) const {
        const Packed *const own = messages + g.variable_places[variable] + state;
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            values[i] = i < degree ? own[i * width] : Packed::one();
        }
    }

    /// The soft evidence of a state; one without.
    FASTLBP_DEVICE Packed soft(const General &g, uint32_t state) const {
        return known == KNOWN_WEIGHTS ? g.weights_of(variable)[state] : Packed::one();
    }
};

/// The messages for a state that is not excluded by one of them, in doubles: where all are near one, as is soft
/// evidence.
struct NearState {
    double others[BLOCK];

    /// For each message the product of the others and of soft evidence: times_others_of_each of product.cuh.
    FASTLBP_DEVICE NearState(const Packed (&values)[BLOCK], Packed soft) {
        double x[BLOCK], pairs[4];
        FASTLBP_UNROLL
        for (int i = 0; i < BLOCK; ++i) {
            x[i] = values[i].plain();
        }
        FASTLBP_UNROLL
        for (int i = 0; i < 4; ++i) {
            pairs[i] = x[2 * i] * x[2 * i + 1];
        }
        const double sides[2] = {pairs[2] * pairs[3], pairs[0] * pairs[1]};
        FASTLBP_UNROLL
        for (int i = 0; i < BLOCK; ++i) {
            others[i] = (sides[i / 4] * pairs[i / 2 ^ 1]) * x[i ^ 1] * soft.plain();
        }
    }

    FASTLBP_DEVICE uint32_t zeros(uint32_t) const { return 0; }
    FASTLBP_DEVICE uint32_t all_zeros() const { return 0; }
};

/// The same for any messages: zeros are counted, not multiplied.
struct FarState {
    Far others[BLOCK];
    /// All zeros, those of soft evidence included; and a bit for each message that is one.
    uint32_t count, marks;

    FASTLBP_DEVICE FarState(const Packed (&values)[BLOCK], Packed soft) : count(soft == Packed::zero()), marks(0) {
        Far x[BLOCK], pairs[4];
        FASTLBP_UNROLL
        for (int i = 0; i < BLOCK; ++i) {
            x[i] = Far::of(uncertain(values[i]));
            const uint32_t is_zero = values[i] == Packed::zero();
            count += is_zero;
            marks |= is_zero << i;
        }
        FASTLBP_UNROLL
        for (int i = 0; i < 4; ++i) {
            pairs[i] = multiply(x[2 * i], x[2 * i + 1]);
        }
        const Far sides[2] = {multiply(pairs[2], pairs[3]), multiply(pairs[0], pairs[1])};
        const Far weight = Far::of(uncertain(soft));
        FASTLBP_UNROLL
        for (int i = 0; i < BLOCK; ++i) {
            others[i] = multiply(multiply(multiply(sides[i / 4], pairs[i / 2 ^ 1]), x[i ^ 1]), weight);
        }
    }

    /// Zeros among the others of a message, and among all.
    FASTLBP_DEVICE uint32_t zeros(uint32_t leaf) const { return count - (marks >> leaf & 1); }
    FASTLBP_DEVICE uint32_t all_zeros() const { return count; }
};

/// Sends all messages of a variable. The lanes of a warp have a variable each or none. Returns the fewest zeros of a
/// state, of all messages.
template <class State>
FASTLBP_DEVICE uint32_t send_states(const General &g, const Packed *messages, const StateLanes &own, bool sending) {
    const uint32_t *const inputs = g.slot_inputs + (own.active ? g.variable_offsets[own.variable] : 0);
    const uint32_t rank = own.lanes.rank(), size = own.lanes.size;
    int32_t tops[BLOCK];
    // Negated, so that all searches are for the largest.
    uint32_t fewest[BLOCK], fewest_of_all = 0;
    bool any_zeros = false;
    FASTLBP_UNROLL
    for (int i = 0; i < BLOCK; ++i) {
        tops[i] = NO_EXPONENT;
        fewest[i] = 0;
    }
    for (uint32_t x = rank; own.is_free() && x < own.width; x += size) {
        Packed values[BLOCK];
        own.read(messages, g, x, values);
        const State state(values, own.soft(g, x));
        fewest_of_all = larger_of(fewest_of_all, ~state.all_zeros());
        any_zeros |= state.all_zeros() > 0;
        FASTLBP_UNROLL
        for (int i = 0; i < BLOCK; ++i) {
            fewest[i] = larger_of(fewest[i], ~state.zeros(i));
            tops[i] = state.zeros(i) == 0 ? larger_of(tops[i], exponent_of(state.others[i])) : tops[i];
        }
    }
    if (!all_of_warp(!any_zeros)) {
        fewest_of_all = own.lanes.largest(fewest_of_all);
        FASTLBP_UNROLL
        for (int i = 0; i < BLOCK; ++i) {
            fewest[i] = own.lanes.largest(fewest[i]);
        }
    }
    if (!sending) {
        return ~fewest_of_all;
    }
    FASTLBP_UNROLL
    for (int i = 0; i < BLOCK; ++i) {
        tops[i] = own.lanes.largest(tops[i]);
    }
    for (uint32_t x = rank; own.is_free() && x < own.width; x += size) {
        Packed values[BLOCK];
        own.read(messages, g, x, values);
        const State state(values, own.soft(g, x));
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < BLOCK; ++i) {
            if (i < own.degree) {
                const bool is_left = state.zeros(i) == ~fewest[i];
                g.by_edge[inputs[i] + x] = !is_left             ? Packed::zero()
                                           : state.zeros(i) > 0 ? Packed::one()
                                                                : pack_below(state.others[i], tops[i]);
            }
        }
    }
    return ~fewest_of_all;
}

/// The same where doubles do not do.
FASTLBP_DEVICE_COLD uint32_t send_far_states(const General &g, const Packed *messages, const StateLanes &own,
                                             bool sending) {
    return send_states<FarState>(g, messages, own, sending);
}

/// All messages of a variable for a state, times soft evidence.
FASTLBP_DEVICE_COLD Product all_of_state(const General &g, const StateLanes &own, const Packed *messages,
                                         uint32_t state) {
    Packed values[BLOCK];
    own.read(messages, g, state, values);
    const Product all = of_block(values);
    return own.known == KNOWN_WEIGHTS ? combine(all, Product::of(own.soft(g, state))) : all;
}

/// Measures a variable: give_belief and BeliefSink by lanes.
FASTLBP_DEVICE_COLD void measure_states(const General &g, const Look &look, const StateLanes &own,
                                        Movement &movement) {
    const LaneGroup &lanes = own.lanes;
    const uint32_t first_value = own.active ? g.first_value(own.variable) : 0;
    uint32_t fewest = 0;
    int64_t top = INT64_MIN;
    for (uint32_t x = lanes.rank(); own.is_free() && x < own.width; x += lanes.size) {
        const Product product = all_of_state(g, own, look.newest, x);
        fewest = larger_of(fewest, ~product.zeros);
        top = product.zeros == 0 ? larger_of(top, product.exponent) : top;
    }
    fewest = ~lanes.largest(fewest);
    top = lanes.largest(top);
    const auto weight = [&](uint32_t x) {
        return resolved(all_of_state(g, own, look.newest, x), fewest, top).unpack();
    };
    // The sum in the order of the states. Variables of the same warp take the same number of turns.
    Wide total = Wide::zero();
    Wide first = Wide::zero();
    for (uint32_t turn = 0; !all_of_warp(turn * lanes.size >= own.width); ++turn) {
        const uint32_t x = turn * lanes.size + lanes.rank();
        const Wide mine = own.is_free() && x < own.width ? weight(x) : Wide::zero();
        first = turn == 0 ? mine : first;
        for (uint32_t i = 0; i < lanes.size; ++i) {
            const Wide next = {lanes.from(mine.significand, i), lanes.from(mine.exponent, i)};
            if (turn * lanes.size + i < own.width) {
                total = add(total, next);
            }
        }
    }
    uint64_t most = 0;
    for (uint32_t x = lanes.rank(); own.active && x < own.width; x += lanes.size) {
        double probability;
        if (own.is_free()) {
            const Wide mine = x == lanes.rank() ? first : weight(x);
            probability = is_zero(mine) ? 0.0 : divide(mine, total).to_f64();
        } else {
            // One weight is 1, the others are 0.
            probability = g.weights_of(own.variable)[x].plain();
        }
        const double change = probability - g.beliefs[first_value + x];
        // Of numbers that are not negative the bits are in the same order.
        most = larger_of(most, to_bits(change < 0.0 ? -change : change));
        g.beliefs[first_value + x] = probability;
        if (look.row) {
            look.row[first_value + x] = probability;
        }
    }
    most = lanes.largest(most);
    if (own.active && lanes.rank() == 0) {
        movement.note(from_bits(most), look.tolerance);
    }
}

/// Looks at the variables of a warp, one for each group of lanes or none.
FASTLBP_DEVICE_COLD void look_at_states(const General &g, const Look &look, const StateLanes &own,
                                        Movement &movement) {
    const uint32_t rank = own.lanes.rank(), size = own.lanes.size;
    bool near = true;
    for (uint32_t x = rank; own.is_free() && x < own.width; x += size) {
        Packed values[BLOCK];
        own.read(look.messages, g, x, values);
        const Packed soft[1] = {own.soft(g, x)};
        near &= all_near<64>(values) && all_near<64>(soft);
    }
    if (all_of_warp(near)) {
        if (look.sending) {
            send_states<NearState>(g, look.messages, own, true);
        }
    } else {
        const uint32_t fewest = send_far_states(g, look.messages, own, look.sending);
        if (own.is_free() && own.degree > 0 && fewest > 0 && rank == 0) {
            note_variable(look.tally, own.variable);
        }
    }
    if (look.sending && own.active && !own.is_free()) {
        const uint32_t *const inputs = g.slot_inputs + g.variable_offsets[own.variable];
        for (uint32_t i = 0; i < own.degree; ++i) {
            for (uint32_t x = rank; x < own.width; x += size) {
                g.by_edge[inputs[i] + x] = g.weights_of(own.variable)[x];
            }
        }
    }
    if (look.measuring) {
        measure_states(g, look, own, movement);
    }
}

/// Looks at all variables of several states and few messages.
FASTLBP_DEVICE_COLD void look_at_all_states(const General &g, const Look &look, Movement &movement) {
    const uint32_t *variables = g.variables_by_span + g.variables_of_span[SPAN_THREAD] +
                                g.variables_of_span[SPAN_WARP] + g.variables_of_span[SPAN_BLOCK];
    uint32_t warps_before = 0;
    for (uint32_t number = 0; number < STATE_CLASSES; ++number) {
        const LaneGroup lanes(FEWEST_STATE_LANES << number);
        const uint32_t count = g.variables_of_states[number], warps = warps_of_grid();
        for (uint32_t i = turn_of(warp_of_grid(), warps_before, warps); i * lanes.groups() < count; i += warps) {
            const uint32_t position = i * lanes.groups() + lanes.number();
            const bool active = position < count;
            look_at_states(g, look, StateLanes(g, active ? variables[position] : 0, active, lanes), movement);
        }
        warps_before += (count + lanes.groups() - 1) / lanes.groups();
        variables += count;
    }
}

}  // namespace fastlbp
