// What becomes of the messages that factors send: damped, or held back by an active set, if the run has that, they are stored
// where their variables find them.
#pragma once

#include "general_states.cuh"
#include "general_warp_items.cuh"

namespace fastlbp {

/// Stores the message along an edge, or what make_stored makes of it.
FASTLBP_DEVICE_COLD void deliver(const General &g, const Pass &pass, uint32_t edge, Packed *message) {
    const uint32_t variable = g.edge_variables[edge];
    const uint32_t width = g.width(variable);
    const uint32_t at = g.edge_places[edge];
    if (message[0] == Packed::contradiction()) {
        settle(message, width, pass.tally, variable);
    }
    if (pass.newest) {
        for (uint32_t x = 0; x < width; ++x) {
            pass.newest[at + x] = message[x];
        }
    }
    if (pass.depends_on_old && !make_stored(g, pass.old_values + at, message, width)) {
        settle(message, width, pass.tally, variable);
    }
    bool certain_changed = false;
    for (uint32_t x = 0; x < width; ++x) {
        if (g.by_levels) {
            certain_changed |= is_certain_change(pass.old_values[at + x], message[x]);
        }
        pass.new_values[at + x] = message[x];
    }
    if (certain_changed) {
        atomic_max(&pass.tally->certain_changed, uint32_t(1));
    }
}

/// The old and the new value of a message of several states, neither of them zero, damped.
FASTLBP_DEVICE Far damped_value(Packed old_value, Packed now, double damping) {
    const double scaled = damping * MEAN_DENOMINATOR;
    const uint32_t numerator = static_cast<uint32_t>(scaled);
    if (static_cast<double>(numerator) == scaled) {
        return mean_by_roots(Far::of(old_value), Far::of(now), numerator);
    }
    const Wide mean = geometric_mean(old_value.unpack(), now.unpack(), damping);
    return Far{mean.significand, static_cast<int32_t>(mean.exponent)};
}

/// Adds how a state of a message has grown, if it counts; whether it is a certain change.
FASTLBP_DEVICE_COLD uint32_t add_growth(Growth &growth, Packed old_value, Packed now) {
    if (!old_value.is_certain() && !now.is_certain()) {
        growth = growth.with(Growth::of(old_value, now));
    }
    return is_certain_change(old_value, now);
}

/// Whether the states of lanes have grown by more than `factor` against each other, or one of them is a certain change. All lanes
/// of the warp call it.
FASTLBP_DEVICE_COLD bool exceeds_by_lanes(Growth growth, uint32_t certain_changed, double factor, const LaneGroup &lanes) {
    for (uint32_t distance = lanes.size / 2; distance > 0; distance /= 2) {
        const Far least = {shuffle_xor(growth.least.significand, distance), shuffle_xor(growth.least.exponent, distance)};
        const Far most = {shuffle_xor(growth.most.significand, distance), shuffle_xor(growth.most.exponent, distance)};
        growth = growth.with(Growth{least, most});
    }
    return lanes.largest(certain_changed) != 0 || growth.exceeds(factor);
}

/// Whether a message has moved by more than `factor`, as has_moved, of the values now(i) of which lanes share the states: this one has
/// those i below `turns` for which is_there(i), and old_value(i) is what they were. All lanes of the warp call it.
template <class IsThere, class Value, class OldValue>
FASTLBP_DEVICE bool has_moved_by_lanes(uint32_t turns, const IsThere &is_there, const OldValue &old_value, const Value &now,
                                       double factor, const LaneGroup &lanes) {
    Growth growth = Growth::none();
    uint32_t certain_changed = 0;
    for (uint32_t turn = 0; turn < turns; ++turn) {
        if (is_there(turn)) {
            certain_changed |= add_growth(growth, old_value(turn), now(turn));
        }
    }
    return exceeds_by_lanes(growth, certain_changed, factor, lanes);
}

/// A message of several states that lanes share: where its values are, how many, and whether it is 0/0.
struct StatesOfMessage {
    uint32_t at, width;
    bool is_contradictory;
};

/// deliver by lanes, of a message of several states. value(i) is the one of the state i * lanes.size + lanes.rank(),
/// for i below `turns`, which is TURNS unless that is 0; variable() is its variable's number. All lanes of the warp
/// call it, those without a message with a width of 0.
template <uint32_t TURNS, class Value, class Variable>
FASTLBP_DEVICE void deliver_states(const General &g, const Pass &pass, const StatesOfMessage &states,
                                   const Value &value, const Variable &variable, const LaneGroup &lanes) {
    const uint32_t turns = TURNS > 0 ? TURNS : (states.width + lanes.size - 1) / lanes.size;
    const auto note = [&] {
        if (lanes.rank() == 0) {
            note_factor(pass.tally, variable());
        }
    };
    const auto is_there = [&](uint32_t turn) { return turn * lanes.size + lanes.rank() < states.width; };
    const auto place = [&](uint32_t turn) { return states.at + turn * lanes.size + lanes.rank(); };
    const auto sent = [&](uint32_t turn) { return states.is_contradictory ? Packed::one() : value(turn); };
    const auto before = [&](uint32_t turn) { return pass.old_values[place(turn)]; };
    const bool damped = pass.depends_on_old && g.least_growth == 0.0;
    bool is_held_back = false;
    if (pass.depends_on_old && !damped) {
        is_held_back = !has_moved_by_lanes(turns, is_there, before, sent, g.least_growth, lanes);
    }
    const auto computed = [&](uint32_t turn) { return is_held_back ? before(turn) : sent(turn); };
    if (states.is_contradictory && states.width > 0) {
        note();
    }
    int32_t top = NO_EXPONENT;
    const auto mean = [&](uint32_t turn) {
        const Packed old_value = before(turn), now = computed(turn);
        const bool is_left = old_value != Packed::zero() && now != Packed::zero();
        return is_left ? damped_value(old_value, now, g.damping) : Far::zero();
    };
    Far first = Far::zero();
    for (uint32_t turn = 0; damped && turn < turns; ++turn) {
        if (is_there(turn)) {
            pass.newest[place(turn)] = computed(turn);
            const Far own = mean(turn);
            first = turn == 0 ? own : first;
            top = own.is_zero() ? top : larger_of(top, own.exponent);
        }
    }
    if (damped) {
        top = lanes.largest(top);
        if (top == NO_EXPONENT && states.width > 0) {
            note();
        }
    }
    bool certain_changed = false;
    for (uint32_t turn = 0; turn < turns; ++turn) {
        if (!is_there(turn)) {
            continue;
        }
        Packed now = computed(turn);
        if (damped) {
            const Far own = turn == 0 ? first : mean(turn);
            now = top == NO_EXPONENT ? Packed::one() : own.is_zero() ? Packed::zero() : pack_below(own, top);
        }
        if (g.by_levels) {
            certain_changed |= is_certain_change(before(turn), now);
        }
        pass.new_values[place(turn)] = now;
    }
    if (certain_changed) {
        atomic_max(&pass.tally->certain_changed, uint32_t(1));
    }
}

/// deliver by a warp, of a message of several states.
FASTLBP_DEVICE_COLD void deliver_by_warp(const General &g, const Pass &pass, uint32_t edge, const Packed *message) {
    const LaneGroup lanes(LANES);
    const uint32_t variable = g.edge_variables[edge];
    const StatesOfMessage states = {g.edge_places[edge], g.width(variable), message[0] == Packed::contradiction()};
    const auto value = [&](uint32_t turn) { return message[turn * lanes.size + lanes.rank()]; };
    deliver_states<0>(g, pass, states, value, [&] { return variable; }, lanes);
}

}  // namespace fastlbp
