// Conjunctions of 2 to 32 variables where all messages are sent at once: each lane of a warp computes the message along
// one edge. It reads what the other factors of the edge's variable have sent, and multiplies it itself where a variable
// has up to four messages, which lie in one sector of memory: so most messages need no step of their own, and variables
// that have only such factors are looked at only where beliefs are measured. Variables with more messages, or with
// other factors, send theirs before (general_variables.cuh). Then lanes of a factor exchange what they have.
//
// A *warp item* is what a warp does at once: as many factors of the same number of variables as it has lanes for, side
// by side, each with its head first.
#pragma once

#include "../arithmetic/far.cuh"
#include "general_tiles.cuh"

namespace fastlbp {

/// Where a pass reads and writes, and what it notes.
struct Pass {
    const Packed *old_values;
    Packed *new_values;
    /// For messages as they were computed, or null.
    Packed *newest;
    /// Whether what is stored of a message depends on the one before: of damped runs, and of those with an active set.
    bool depends_on_old;
    /// Of the pass; and of the state before, where variables that factors read for themselves are to be noted in it,
    /// else null.
    Tally *tally, *of_state;
};

/// Notes that the message along an edge is 0/0, and makes it uniform.
FASTLBP_DEVICE_COLD void settle(Packed *message, uint32_t width, Tally *tally, uint32_t variable) {
    for (uint32_t x = 0; x < width; ++x) {
        message[x] = Packed::one();
    }
    note_factor(tally, variable);
}

/// Where a lane finds the message of a variable: nowhere, as the factor is its only one; the other one of two; the
/// others of up to four, which lie beside; among those that variables have sent; or the variable is observed, or has
/// soft evidence.
enum LaneSource : uint32_t {
    LANE_NONE,
    LANE_PAIR,
    LANE_FOUR,
    LANE_SENT,
    LANE_FALSE,
    LANE_TRUE,
    LANE_SOFT,
};

/// What a lane has to know.
struct WarpLane : WarpLaneData {
    FASTLBP_DEVICE uint32_t source() const { return lane_source(more); }
    FASTLBP_DEVICE bool notes() const { return lane_notes(more); }
    FASTLBP_DEVICE bool is_negated() const { return lane_negated(more); }
    FASTLBP_DEVICE bool is_used() const { return lane_used(more); }
    FASTLBP_DEVICE uint32_t index() const { return lane_index(more); }
    FASTLBP_DEVICE uint32_t literals() const { return lane_literals(more); }
    FASTLBP_DEVICE uint32_t range() const { return lane_range(more); }
};

struct MessagePair {
    Packed x, y;
};

/// Two neighbouring messages, the first at an even place.
FASTLBP_DEVICE MessagePair load_pair(const Packed *messages) {
#ifdef __CUDACC__
    const ulonglong2 pair = *reinterpret_cast<const ulonglong2 *>(messages);
    return MessagePair{Packed{pair.x}, Packed{pair.y}};
#else
    return MessagePair{messages[0], messages[1]};
#endif
}

FASTLBP_DEVICE WarpLane load_lane(const WarpLane *lane) {
#ifdef __CUDACC__
    const uint4 words = *reinterpret_cast<const uint4 *>(lane);
    return WarpLane{words.x, words.y, words.z, words.w};
#else
    return *lane;
#endif
}

/// (a * b) * c where some of them are deterministic, or far from 1.
FASTLBP_DEVICE_COLD Packed far_product_of_three(Packed a, Packed b, Packed c) {
    const uint32_t zeros = (a == Packed::zero()) + (b == Packed::zero()) + (c == Packed::zero());
    const uint32_t infinities =
        (a == Packed::infinity()) + (b == Packed::infinity()) + (c == Packed::infinity());
    const Far x = Far::of(uncertain(a)), y = Far::of(uncertain(b)), z = Far::of(uncertain(c));
    const Packed product =
        Far::normalise((x.significand * y.significand) * z.significand, x.exponent + y.exponent + z.exponent).packed();
    const Packed deterministic = zeros > infinities   ? Packed::zero()
                                 : zeros < infinities ? Packed::infinity()
                                                      : Packed::one();
    return (zeros | infinities) == 0 ? product : deterministic;
}

/// Whether deterministic messages among four disagree.
FASTLBP_DEVICE bool are_contradictory(MessagePair own, MessagePair others) {
    const bool zero = (own.x == Packed::zero()) | (own.y == Packed::zero()) | (others.x == Packed::zero()) |
                      (others.y == Packed::zero());
    const bool infinite = (own.x == Packed::infinity()) | (own.y == Packed::infinity()) |
                          (others.x == Packed::infinity()) | (others.y == Packed::infinity());
    return zero & infinite;
}

/// read_source of a variable with soft evidence.
FASTLBP_DEVICE_COLD Packed read_soft_source(const General &g, Pass pass, WarpLane lane) {
    const uint32_t variable = g.edge_variables[lane.edge];
    const Incoming incoming(g, pass.old_values, variable);
    Packed odds;
    message_to_factor(g, variable, incoming, lane.place - g.variable_places[variable], &odds);
    const Everything all = {incoming};
    if (lane.notes() && pass.of_state && with_evidence(g, variable, all)(0).is_contradictory()) {
        note_variable(pass.of_state, variable);
    }
    return odds;
}

/// What a lane reads: two neighbouring messages, one of which is its own; and of up to four those beside them.
struct LaneInputs {
    MessagePair own, others;

    /// `position` is that of the lane among all.
    FASTLBP_DEVICE LaneInputs(const General &g, const Pass &pass, const WarpLane &lane, uint32_t position) {
        const uint32_t source = lane.source();
        own = others = {Packed::one(), Packed::one()};
        if (lane.is_used() && source != LANE_NONE && source != LANE_FALSE && source != LANE_TRUE) {
            const uint32_t at = source == LANE_SENT ? position : lane.place;
            own = load_pair((source == LANE_SENT ? g.by_edge : pass.old_values) + (at & ~uint32_t(1)));
        }
        if (source == LANE_FOUR) {
            others = load_pair(pass.old_values + ((lane.place & ~uint32_t(1)) ^ 2));
        }
    }
};

/// The message of a variable along a lane's edge.
FASTLBP_DEVICE Packed read_source(const General &g, const Pass &pass, const WarpLane &lane, const LaneInputs &inputs,
                                  uint32_t position) {
    const uint32_t source = lane.source();
    // What variables have sent is in the place itself, what is read is beside it.
    const uint32_t at = source == LANE_SENT ? position ^ 1 : lane.place;
    Packed odds = (at & 1) != 0 ? inputs.own.x : inputs.own.y;
    if (source == LANE_FOUR) {
        const Packed values[3] = {inputs.others.x, inputs.others.y, odds};
        odds = all_near<128>(values)
                   ? Packed::from_plain((values[0].plain() * values[1].plain()) * odds.plain())
                   : far_product_of_three(values[0], values[1], odds);
    } else if (source == LANE_SOFT) {
        return read_soft_source(g, pass, lane);
    }
    if (lane.notes() && pass.of_state && are_contradictory(inputs.own, inputs.others)) {
        note_variable(pass.of_state, g.edge_variables[lane.edge]);
    }
    return source == LANE_FALSE ? Packed::zero() : source == LANE_TRUE ? Packed::infinity() : odds;
}

/// Says where a lane finds its message, with the present evidence.
FASTLBP_DEVICE uint32_t source_of(const General &g, const WarpLane &lane) {
    const uint32_t variable = g.edge_variables[lane.edge];
    const uint32_t known = g.known[variable], reader = g.readers[variable], degree = g.degree(variable);
    if (known == KNOWN_FALSE || known == KNOWN_TRUE) {
        return known == KNOWN_FALSE ? LANE_FALSE : LANE_TRUE;
    }
    if (reader == NO_READER) {
        return LANE_SENT;
    }
    const uint32_t notes = lane.place - g.variable_places[variable] == reader ? LANE_NOTES : 0;
    const uint32_t kind = degree == 1 ? LANE_NONE : degree == 2 ? LANE_PAIR : LANE_FOUR;
    return notes | (known == KNOWN_WEIGHTS ? LANE_SOFT : kind);
}

/// Tells all lanes where they find their messages.
FASTLBP_DEVICE void prepare_warp_items(const General &g) {
    for (uint32_t i = thread_of_grid(); i < g.warp_items * ITEM_LANES; i += threads_of_grid()) {
        const WarpLane lane = g.warp_lanes[i];
        if (lane.is_used()) {
            g.warp_lanes[i].more = (lane.more & ~(LANE_SOURCE_MASK | LANE_NOTES)) | source_of(g, lane);
        }
    }
}

/// Makes what is stored of a computed message: it damped; or, with an active set, the old one unless it has moved. `false` where
/// damping leaves no state.
FASTLBP_DEVICE bool make_stored(const General &g, const Packed *old_values, Packed *message, uint32_t width) {
    if (g.least_growth == 0.0) {
        return damp(old_values, message, width, g.damping);
    }
    const bool moved = has_moved(old_values, message, width, g.least_growth);
    for (uint32_t x = 0; !moved && x < width; ++x) {
        message[x] = old_values[x];
    }
    return true;
}

/// deliver_odds for what depends on the old message or is 0/0.
FASTLBP_DEVICE_COLD void deliver_other_odds(const General &g, Pass pass, uint32_t edge, uint32_t place,
                                            Packed odds) {
    if (odds == Packed::contradiction()) {
        settle(&odds, 1, pass.tally, g.edge_variables[edge]);
    }
    if (pass.newest) {
        pass.newest[place] = odds;
    }
    if (pass.depends_on_old && !make_stored(g, pass.old_values + place, &odds, 1)) {
        settle(&odds, 1, pass.tally, g.edge_variables[edge]);
    }
    pass.new_values[place] = odds;
}

/// Stores the message to a binary variable.
FASTLBP_DEVICE void deliver_odds(const General &g, const Pass &pass, uint32_t edge, uint32_t place, Packed odds) {
    if (pass.depends_on_old || odds == Packed::contradiction()) {
        deliver_other_odds(g, pass, edge, place, odds);
    } else {
        pass.new_values[place] = odds;
    }
}

#ifdef __CUDACC__

FASTLBP_DEVICE Flat shuffle_number(Flat x, uint32_t lane) { return Flat{shuffle_from(x.value, lane)}; }
FASTLBP_DEVICE Far shuffle_number(Far x, uint32_t lane) {
    return Far{shuffle_from(x.significand, lane), shuffle_from(x.exponent, lane)};
}
template <class T>
FASTLBP_DEVICE Max<T> shuffle_number(Max<T> x, uint32_t lane) {
    return Max<T>{shuffle_number(x.value, lane)};
}
template <class T>
FASTLBP_DEVICE Body<T> shuffle_body(const Body<T> &body, uint32_t lane) {
    return Body<T>{shuffle_number(body.all, lane), shuffle_number(body.not_all, lane)};
}

/// The message along a lane's edge in the numbers T, from the messages of all lanes; by all lanes of a warp.
template <class T>
FASTLBP_DEVICE Packed warp_item_message(const WarpLane &lane, const HeadValues &values, Packed value) {
    const uint32_t number = thread_of_block() % LANES, index = lane.index(), literals = lane.literals();
    const uint32_t base = number - index, leaf = index == 0 ? 0 : index - 1;
    const Packed head = Packed{shuffle_from(value.bits, base)};
    Body<T> body = Body<T>::literal(value, lane.is_negated());
    Body<T> siblings[5];
    FASTLBP_UNROLL
    for (uint32_t level = 0; level < 5; ++level) {
        siblings[level] = Body<T>::neutral();
        if (uint32_t(1) << level < literals) {
            const uint32_t sibling = (leaf >> level ^ 1) << level;
            const Body<T> there = shuffle_body(body, base + 1 + sibling);
            if (sibling < literals) {
                siblings[level] = there;
            }
            const bool is_second = (leaf >> level & 1) != 0;
            body = combine(is_second ? siblings[level] : body, is_second ? body : siblings[level]);
        }
    }
    Body<T> rest = Body<T>::neutral();
    FASTLBP_UNROLL
    for (uint32_t level = 5; level-- > 0;) {
        if (uint32_t(1) << level < literals) {
            rest = combine(rest, siblings[level]);
        }
    }
    const Body<T> total = shuffle_body(body, base + 1);
    const HeadWeights<T> weights(head, values);
    T holds, fails;
    weights.with_rest(rest, holds, fails);
    if (index == 0) {
        holds = head_weight(total, values, 0);
        fails = head_weight(total, values, 1);
    }
    const Packed odds = FromPacked<T>::ratio(holds, fails, index != 0 && lane.is_negated());
    // Of Flat only the high half says that it is 0/0; no message has that half.
    return high(odds) == high(Packed::contradiction()) ? Packed::contradiction() : odds;
}

/// warp_item_message for maxima, and where doubles do not do.
template <class T>
FASTLBP_DEVICE_COLD uint64_t other_warp_item_message(const General &g, WarpLane lane, uint64_t value) {
    return warp_item_message<T>(lane, g.horn[lane.parameter].head, Packed{value}).bits;
}

/// Whether doubles do for a factor with this message: as fits_f64 of horn.rs, but for the ranges, of which these come
/// nearer to the bound that is derived there.
FASTLBP_DEVICE bool is_near(Packed value, uint32_t range) {
    const uint32_t high = fastlbp::high(value);
    return (high - (HIGH_ONE - (range << 20)) < range << 21) | value.is_certain();
}

/// The message along a lane's edge, sums or maxima, whatever the messages of all lanes are; by all lanes of a warp.
FASTLBP_DEVICE Packed any_warp_item_message(const General &g, const WarpLane &lane, Packed value) {
    const bool is_plain = (g.horn[lane.parameter].flags & HORN_PLAIN) != 0;
    const bool near = all_of_warp(!lane.is_used() || (is_plain && is_near(value, lane.range())));
    if (g.maxima) {
        return Packed{near ? other_warp_item_message<Max<Flat>>(g, lane, value.bits)
                           : other_warp_item_message<Max<Far>>(g, lane, value.bits)};
    }
    return Packed{near ? other_warp_item_message<Flat>(g, lane, value.bits)
                       : other_warp_item_message<Far>(g, lane, value.bits)};
}

/// Sends the messages of a warp item, whatever they are.
FASTLBP_DEVICE_COLD void send_any_warp_item(const General &g, Pass pass, uint32_t position) {
    const WarpLane lane = load_lane(g.warp_lanes + position);
    const Packed value = read_source(g, pass, lane, LaneInputs(g, pass, lane, position), position);
    const Packed odds = any_warp_item_message(g, lane, value);
    if (lane.is_used()) {
        deliver_odds(g, pass, lane.edge, lane.place, odds);
    }
}

/// What a warp needs for warp items whose messages are sums that do not depend on old ones, kept where no call can change it.
struct UsualItems {
    const WarpLane *lanes;
    const Packed *by_edge, *old_values;
    Packed *new_values;
    const HornCoefficients *coefficients;
    bool noting;

    FASTLBP_DEVICE UsualItems(const General &g, const Pass &pass)
        : lanes(g.warp_lanes), by_edge(g.by_edge), old_values(pass.old_values), new_values(pass.new_values),
          coefficients(g.horn), noting(pass.of_state != nullptr) {}

    /// As LaneInputs has them, but without a branch: what is not needed is read all the same.
    FASTLBP_DEVICE MessagePair own(const WarpLane &lane, uint32_t position) const {
        const bool sent = lane.source() == LANE_SENT;
        const Packed *const messages = sent ? by_edge : old_values;
        return load_pair(messages + ((sent ? position : lane.place) & ~uint32_t(1)));
    }
    FASTLBP_DEVICE MessagePair others(const WarpLane &lane) const {
        MessagePair pair = {Packed::one(), Packed::one()};
        if (lane.source() == LANE_FOUR) {
            pair = load_pair(old_values + ((lane.place & ~uint32_t(1)) ^ 2));
        }
        return pair;
    }

    /// The message along a lane's edge, if doubles do for it and nothing is to be noted: `usual`.
    FASTLBP_DEVICE Packed message(const WarpLane &lane, MessagePair own, MessagePair others, uint32_t position,
                                  bool &usual) const {
        const uint32_t source = lane.source();
        const HornCoefficients &own_coefficients = coefficients[lane.parameter];
        const uint32_t at = source == LANE_SENT ? position ^ 1 : lane.place;
        const Packed other = (at & 1) != 0 ? own.x : own.y;
        const Packed values[3] = {others.x, others.y, other};
        // One by one but where there are four.
        const Packed product = Packed::from_plain((values[0].plain() * values[1].plain()) * other.plain());
        const bool is_four = source == LANE_FOUR;
        Packed value = is_four ? product : other;
        value = source == LANE_NONE ? Packed::one() : value;
        value = source == LANE_FALSE ? Packed::zero() : source == LANE_TRUE ? Packed::infinity() : value;
        const bool is_noted = lane.notes() & noting & (source != LANE_NONE) & are_contradictory(own, others);
        const Packed odds = warp_item_message<Flat>(lane, own_coefficients.head, value);
        usual = !lane.is_used() |
                (((own_coefficients.flags & HORN_PLAIN) != 0) & is_near(value, lane.range()) & (source != LANE_SOFT) &
                 (!is_four | all_near<128>(values)) & !is_noted & (odds != Packed::contradiction()));
        return odds;
    }
};

/// Sends the messages of all warp items: usual ones two by two, so that what two read is on its way at the same time.
FASTLBP_DEVICE void send_warp_items(const General &g, const Pass &pass) {
    constexpr uint32_t AT_ONCE = 2;
    const uint32_t items = g.warp_items, warps = warps_of_grid(), lane_number = thread_of_block() % LANES;
    uint32_t item = warp_of_grid();
    if (pass.depends_on_old || g.maxima) {
        for (; item < items; item += warps) {
            send_any_warp_item(g, pass, item * ITEM_LANES + lane_number);
        }
        return;
    }
    const UsualItems usual_items(g, pass);
    for (; item < items; item += AT_ONCE * warps) {
        WarpLane lanes[AT_ONCE];
        MessagePair own[AT_ONCE], others[AT_ONCE];
        uint32_t positions[AT_ONCE], unusual = 0;
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < AT_ONCE; ++i) {
            positions[i] = smaller_of(item + i * warps, items - 1) * ITEM_LANES + lane_number;
            lanes[i] = load_lane(usual_items.lanes + positions[i]);
        }
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < AT_ONCE; ++i) {
            own[i] = usual_items.own(lanes[i], positions[i]);
            others[i] = usual_items.others(lanes[i]);
        }
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < AT_ONCE; ++i) {
            bool usual;
            const Packed odds = usual_items.message(lanes[i], own[i], others[i], positions[i], usual);
            const bool there = item + i * warps < items;
            if (!all_of_warp(usual)) {
                unusual |= static_cast<uint32_t>(there) << i;
            } else if (lanes[i].is_used() && there) {
                usual_items.new_values[lanes[i].place] = odds;
            }
        }
        for (uint32_t i = 0; unusual != 0; ++i, unusual >>= 1) {
            if ((unusual & 1) != 0) {
                send_any_warp_item(g, pass, (item + i * warps) * ITEM_LANES + lane_number);
            }
        }
    }
}

#else

/// The literals of a factor as its lanes have them.
template <class Negated>
struct WarpLiterals {
    HeadValues head;
    const Negated &is_negated;

    const HeadValues &values() const { return head; }

    template <class T>
    Body<T> literal(uint32_t position, Packed odds) const {
        return Body<T>::literal(odds, is_negated(position));
    }

    template <class T>
    Packed message(uint32_t position, T holds, T fails) const {
        return FromPacked<T>::ratio(holds, fails, is_negated(position));
    }
};

/// All messages of a conjunction whose head is its first variable, sums or maxima, from its inputs.
template <class Negated>
FASTLBP_DEVICE void warp_item_messages(const General &g, uint32_t parameter, uint32_t arity, const Negated &is_negated,
                                       const Packed *inputs, Packed *out) {
    const WarpLiterals<Negated> c = {g.horn[parameter].head, is_negated};
    if (g.maxima) {
        Body<Max<Wide>> bodies[2 * ITEM_LANES];
        messages<Max<Wide>>(inputs, arity, 0, c, out, bodies);
    } else {
        Body<Wide> bodies[2 * ITEM_LANES];
        messages<Wide>(inputs, arity, 0, c, out, bodies);
    }
}

/// Sends the messages of all warp items: on a host a thread takes one after the other.
FASTLBP_DEVICE void send_warp_items(const General &g, const Pass &pass) {
    for (uint32_t item = thread_of_grid(); item < g.warp_items; item += threads_of_grid()) {
        const WarpLane *const lanes = g.warp_lanes + item * ITEM_LANES;
        const uint32_t arity = lanes->literals() + 1;
        for (uint32_t first = 0; first + arity <= ITEM_LANES && lanes[first].is_used(); first += arity) {
            Packed inputs[ITEM_LANES], out[ITEM_LANES];
            for (uint32_t i = 0; i < arity; ++i) {
                const uint32_t position = item * ITEM_LANES + first + i;
                const WarpLane &lane = lanes[first + i];
                inputs[i] = read_source(g, pass, lane, LaneInputs(g, pass, lane, position), position);
            }
            const auto is_negated = [&](uint32_t position) { return lanes[first + position].is_negated(); };
            warp_item_messages(g, lanes[first].parameter, arity, is_negated, inputs, out);
            for (uint32_t i = 0; i < arity; ++i) {
                deliver_odds(g, pass, lanes[first + i].edge, lanes[first + i].place, out[i]);
            }
        }
    }
}

#endif

}  // namespace fastlbp
