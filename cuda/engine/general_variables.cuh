// The variables' side of the general program: src/engine/cpu/variable.rs and measure.rs once more.
#pragma once

#include "general.cuh"

namespace fastlbp {

/// The messages that meet at a variable. One whose edge ranks below `rank` is new, the others are old;
/// without ranks, all are old.
struct Incoming {
    const Packed *old_values;
    const Packed *new_values;
    const uint32_t *ranks;
    uint32_t rank;
    uint32_t width;
    uint32_t degree;

    FASTLBP_DEVICE Incoming(const General &g, const Packed *messages, uint32_t variable)
        : Incoming(g, messages, messages, variable, 0) {
        ranks = nullptr;
    }

    FASTLBP_DEVICE Incoming(const General &g, const Packed *olds, const Packed *news, uint32_t variable,
                            uint32_t reader)
        : rank(reader), width(g.width(variable)) {
        const uint32_t slot = g.variable_offsets[variable];
        degree = g.variable_offsets[variable + 1] - slot;
        const uint32_t start = g.variable_places[variable];
        old_values = olds + start;
        new_values = news + start;
        ranks = g.ranks ? g.ranks + slot : nullptr;
    }

    FASTLBP_DEVICE Packed value(uint32_t index, uint32_t state) const {
        const Packed *values = ranks && ranks[index] < rank ? new_values : old_values;
        return values[index * width + state];
    }
};

/// The values of one state.
struct StateOfIncoming {
    const Incoming &incoming;
    uint32_t state;

    FASTLBP_DEVICE Packed operator()(uint32_t index) const { return incoming.value(index, state); }
};

/// The product of all messages to a variable but one, for a state; by one thread or by a group. Whoever
/// calls it gives memory for the latter.
template <class Group>
struct Others {
    const Incoming &incoming;
    uint32_t leaf;
    Product *products;
    const Group &group;

    FASTLBP_DEVICE Product operator()(uint32_t state) const {
        return share_product_of_others(StateOfIncoming{incoming, state}, incoming.degree, leaf, products,
                                       group);
    }
};

template <>
struct Others<OneThread> {
    const Incoming &incoming;
    uint32_t leaf;

    FASTLBP_DEVICE Product operator()(uint32_t state) const {
        return product_of_others(StateOfIncoming{incoming, state}, incoming.degree, leaf);
    }
};

/// The product of all messages to a variable, for a state, by a thread.
struct Everything {
    const Incoming &incoming;

    FASTLBP_DEVICE Product operator()(uint32_t state) const {
        return range_product(StateOfIncoming{incoming, state}, 0, incoming.degree);
    }
};

/// Products for a variable's states, with soft evidence.
template <class Products>
struct WithEvidence {
    const Products &products;
    /// Null without.
    const Packed *soft;

    FASTLBP_DEVICE Product operator()(uint32_t state) const {
        const Product product = products(state);
        return soft ? combine(product, Product::of(soft[state])) : product;
    }
};

template <class Products>
FASTLBP_DEVICE WithEvidence<Products> with_evidence(const General &g, uint32_t variable,
                                                    const Products &products) {
    const bool soft = g.known[variable] == KNOWN_WEIGHTS;
    return WithEvidence<Products>{products, soft ? g.weights_of(variable) : nullptr};
}

/// The weight of a state with this product, given the fewest zeros of a state, and the largest exponent of states
/// without.
FASTLBP_DEVICE Packed resolved(Product product, uint32_t fewest, int64_t top) {
    if (product.zeros != fewest) {
        return Packed::zero();
    }
    return fewest > 0 ? Packed::one() : Packed::pack(product.wide().scaled(-top));
}

/// resolve_states with products that are computed again instead of stored.
template <class Products>
struct Resolved {
    const Products &products;
    uint32_t fewest;
    int64_t top;

    FASTLBP_DEVICE Resolved(const Products &of, uint32_t count)
        : products(of), fewest(~uint32_t(0)), top(INT64_MIN) {
        for (uint32_t x = 0; x < count; ++x) {
            const Product product = products(x);
            fewest = smaller_of(fewest, product.zeros);
            if (product.zeros == 0) {
                top = larger_of(top, product.exponent);
            }
        }
    }

    FASTLBP_DEVICE bool is_contradictory() const { return fewest > 0; }

    FASTLBP_DEVICE Packed operator()(uint32_t state) const { return resolved(products(state), fewest, top); }
};

/// Stores the message that follows from a variable's products, by whoever is `writing`. Returns whether
/// certain messages disagree.
template <class Products>
FASTLBP_DEVICE bool store_message(const Products &products, uint32_t width, bool writing, Packed *out) {
    if (width == 1) {
        const Product product = products(0);
        if (writing) {
            out[0] = product.odds();
        }
        return product.is_contradictory();
    }
    const Resolved<Products> weights(products, width);
    for (uint32_t x = 0; x < width; ++x) {
        const Packed weight = weights(x);
        if (writing) {
            out[x] = weight;
        }
    }
    return weights.is_contradictory();
}

/// Stores the message of an observed variable; `false` if it is not observed.
FASTLBP_DEVICE bool store_observed(const General &g, uint32_t variable, Packed *out) {
    const uint32_t known = g.known[variable];
    if (known == KNOWN_FALSE || known == KNOWN_TRUE) {
        out[0] = known == KNOWN_TRUE ? Packed::infinity() : Packed::zero();
        return true;
    }
    if (known == KNOWN_STATE) {
        const Packed *weights = g.weights_of(variable);
        for (uint32_t x = 0; x < g.width(variable); ++x) {
            out[x] = weights[x];
        }
        return true;
    }
    return false;
}

FASTLBP_DEVICE bool is_observed(uint32_t known) {
    return known != KNOWN_NOTHING && known != KNOWN_WEIGHTS;
}

/// N of a binary variable's messages.
template <int N>
FASTLBP_DEVICE void read_few(const Incoming &incoming, Packed (&values)[N]) {
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < N; ++i) {
        values[i] = i < incoming.degree ? incoming.value(i, 0) : Packed::one();
    }
}

/// The message of a variable to its edge at `leaf`; returns whether certain messages disagree.
FASTLBP_DEVICE_COLD bool message_to_factor(const General &g, uint32_t variable, const Incoming &incoming,
                                      uint32_t leaf, Packed *out) {
    const uint32_t known = g.known[variable];
    if (known == KNOWN_NOTHING && incoming.width == 1 && incoming.degree <= 8) {
        bool contradictory = false;
        if (incoming.degree <= 2) {
            out[0] = incoming.degree == 2 ? incoming.value(leaf ^ 1, 0) : Packed::one();
        } else if (incoming.degree <= 4) {
            Packed values[4];
            read_few(incoming, values);
            out[0] = binary_leave_one_out(values, leaf, contradictory);
        } else {
            Packed values[8];
            read_few(incoming, values);
            out[0] = binary_leave_one_out(values, leaf, contradictory);
        }
        return contradictory;
    }
    if (store_observed(g, variable, out)) {
        return false;
    }
    const Others<OneThread> others = {incoming, leaf};
    return store_message(with_evidence(g, variable, others), incoming.width, true, out);
}

/// The belief of a variable from its products: gives the probability of each state, by sink(state,
/// probability), in order. For a binary variable the products are not used if it is observed.
template <class Products, class Sink>
FASTLBP_DEVICE void give_belief(const General &g, uint32_t variable, const Products &products,
                                const Sink &sink) {
    const uint32_t known = g.known[variable];
    const uint32_t width = g.width(variable);
    if (width == 1) {
        double probabilities[2];
        if (is_observed(known)) {
            probabilities[1] = known == KNOWN_TRUE ? 1.0 : 0.0;
            probabilities[0] = 1.0 - probabilities[1];
        } else {
            products(0).probabilities(probabilities);
        }
        sink(0, probabilities[0]);
        sink(1, probabilities[1]);
        return;
    }
    if (known == KNOWN_STATE) {
        // One weight is 1, the others are 0.
        const Packed *weights = g.weights_of(variable);
        for (uint32_t x = 0; x < width; ++x) {
            sink(x, weights[x].plain());
        }
        return;
    }
    const Resolved<Products> weights(products, width);
    Wide total = Wide::zero();
    for (uint32_t x = 0; x < width; ++x) {
        total = add(total, weights(x).unpack());
    }
    for (uint32_t x = 0; x < width; ++x) {
        const Wide weight = weights(x).unpack();
        sink(x, is_zero(weight) ? 0.0 : divide(weight, total).to_f64());
    }
}

/// What a thread has measured.
struct Movement {
    double max_diff;
    uint32_t moved;

    FASTLBP_DEVICE void note(double diff, double tolerance) {
        max_diff = larger_of(max_diff, diff);
        moved += diff > tolerance;
    }
};

/// Replaces the beliefs of a variable and keeps them in the history.
struct BeliefSink {
    double *beliefs;
    /// Null for none.
    double *row;
    bool binary;
    bool writing;
    double *diff;

    FASTLBP_DEVICE void operator()(uint32_t state, double probability) const {
        if (!writing || (binary && state == 0)) {
            return;
        }
        const uint32_t index = binary ? 0 : state;
        const double change = probability - beliefs[index];
        *diff = larger_of(*diff, change < 0.0 ? -change : change);
        beliefs[index] = probability;
        if (row) {
            row[index] = probability;
        }
    }
};

/// What is looked at in the state after some passes.
struct Look {
    const Packed *messages;
    /// Where beliefs come from.
    const Packed *newest;
    /// Whether those variables send to the factors from which these do not read for themselves; whether all do; and
    /// whether all are looked at.
    bool sending, all_send, all_looked_at;
    bool measuring;
    double tolerance;
    /// Row of the history, or null.
    double *row;
    Tally *tally;
};

/// Measures a variable, by whoever is `writing`.
template <class Products>
FASTLBP_DEVICE void measure_variable(const General &g, const Look &look, uint32_t variable,
                                     const Products &products, bool writing, Movement &movement) {
    const uint32_t first = g.first_value(variable);
    double diff = 0.0;
    const BeliefSink sink = {g.beliefs + first, look.row ? look.row + first : nullptr,
                             g.width(variable) == 1, writing, &diff};
    give_belief(g, variable, products, sink);
    if (writing) {
        movement.note(diff, look.tolerance);
    }
}

/// All messages of a binary variable with at most N = 4 or 8 edges that is not observed, to `by_edge`.
template <int N>
FASTLBP_DEVICE bool send_few(const General &g, const Incoming &incoming, Packed soft,
                             const uint32_t *inputs) {
    Packed values[N];
    read_few(incoming, values);
    const bool contradictory = binary_leave_one_out_all(values, soft);
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < N; ++i) {
        if (i < incoming.degree) {
            g.by_edge[inputs[i]] = values[i];
        }
    }
    return contradictory;
}

/// Whether certain messages to a variable that is not observed disagree.
template <class Products>
FASTLBP_DEVICE bool is_contradictory(const Products &products, uint32_t width) {
    return width == 1 ? products(0).is_contradictory()
                      : Resolved<Products>(products, width).is_contradictory();
}

/// A variable of few messages, by one thread.
FASTLBP_DEVICE void look_at_few(const General &g, const Look &look, uint32_t variable, bool sending,
                                Movement &movement) {
    const Incoming incoming(g, look.messages, variable);
    const uint32_t *inputs = g.slot_inputs + g.variable_offsets[variable];
    const uint32_t known = g.known[variable];
    const Everything all = {incoming};
    if (is_observed(known)) {
        for (uint32_t i = 0; sending && i < incoming.degree; ++i) {
            store_observed(g, variable, g.by_edge + inputs[i]);
        }
    } else if (incoming.degree > 0) {
        bool contradictory;
        if (sending && incoming.width == 1 && incoming.degree <= 8) {
            const Packed soft = known == KNOWN_WEIGHTS ? *g.weights_of(variable) : Packed::one();
            contradictory = incoming.degree <= 4 ? send_few<4>(g, incoming, soft, inputs)
                                                 : send_few<8>(g, incoming, soft, inputs);
        } else {
            if (sending) {
                for (uint32_t i = 0; i < incoming.degree; ++i) {
                    message_to_factor(g, variable, incoming, i, g.by_edge + inputs[i]);
                }
            }
            contradictory = is_contradictory(with_evidence(g, variable, all), incoming.width);
        }
        if (contradictory) {
            note_variable(look.tally, variable);
        }
    }
    if (look.measuring) {
        const Incoming computed(g, look.newest, variable);
        const Everything newest = {computed};
        measure_variable(g, look, variable, with_evidence(g, variable, newest), true, movement);
    }
}

/// Memory of a group for a variable: the products of all messages for each state; for each state, a tree over the
/// products of its messages, eight by eight; and messages on their way out, with what resolves each.
struct VariableMemory {
    struct Resolution {
        int64_t top;
        uint32_t fewest;
    };

    uint32_t blocks, room, width;
    Product *totals, *products, *values;
    Resolution *resolutions;

    FASTLBP_DEVICE VariableMemory(const Incoming &incoming, void *memory) {
        width = incoming.width;
        blocks = incoming.degree == 0 ? 0 : blocks_of(incoming.degree);
        room = blocks + (blocks == 0 ? 0 : tree_nodes(blocks));
        totals = static_cast<Product *>(memory);
        products = totals + width;
        values = products + width * room;
        resolutions = reinterpret_cast<Resolution *>(values + blocks_at_once() * BLOCK * width);
    }

    FASTLBP_DEVICE Product *tree(uint32_t state) const { return products + state * room; }
    FASTLBP_DEVICE uint32_t blocks_at_once() const {
        return width * BLOCK >= VALUES_AT_ONCE ? 1 : VALUES_AT_ONCE / BLOCK / width;
    }
    /// The product of all messages for a state.
    FASTLBP_DEVICE Product operator()(uint32_t state) const { return totals[state]; }
};

/// Fills the totals of a variable, and its trees with the products of all messages outside of each eight.
FASTLBP_DEVICE void multiply_many(const Incoming &incoming, const VariableMemory &memory, const ThreadGroup &group) {
    const uint32_t width = memory.width, blocks = memory.blocks;
    for (uint32_t i = group.rank(); i < width * blocks; i += group.size()) {
        const uint32_t state = i % width, number = i / width;
        Packed block[BLOCK];
        read_block(StateOfIncoming{incoming, state}, number * BLOCK, incoming.degree, block);
        memory.tree(state)[number] = of_block(block);
    }
    group.sync();
    for (uint32_t state = 0; blocks > 1 && state < width; ++state) {
        const Product total = share_leave_one_out(memory.tree(state), blocks, memory.tree(state) + blocks, group);
        if (group.rank() == 0) {
            memory.totals[state] = total;
        }
    }
    for (uint32_t state = group.rank(); blocks <= 1 && state < width; state += group.size()) {
        memory.totals[state] = Product::neutral();
        if (blocks == 1) {
            exchange(memory.totals[state], *memory.tree(state));
        }
    }
    group.sync();
}

/// Gives the products of all messages to a variable but one, for a state, eight by eight: sink(leaf, product).
template <class Sink>
FASTLBP_DEVICE_COLD void give_others(const General &g, uint32_t variable, const Incoming &incoming,
                                     const VariableMemory &memory, uint32_t state, uint32_t block, const Sink &sink) {
    Packed values[BLOCK];
    read_block(StateOfIncoming{incoming, state}, block * BLOCK, incoming.degree, values);
    Product others[BLOCK];
    times_others_of_each(memory.tree(state)[block], values, others);
    const bool soft = g.known[variable] == KNOWN_WEIGHTS;
    const Product weight = soft ? Product::of(g.weights_of(variable)[state]) : Product::neutral();
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < BLOCK; ++i) {
        if (block * BLOCK + i < incoming.degree) {
            sink(block * BLOCK + i, soft ? combine(others[i], weight) : others[i]);
        }
    }
}

/// Stores products of messages of a state.
struct ValueSink {
    Product *values;
    uint32_t first, width, state;

    FASTLBP_DEVICE void operator()(uint32_t leaf, Product product) const {
        values[(leaf - first) * width + state] = product;
    }
};

/// Sends all messages of a variable of several states that is not observed, given the products of all outside of each
/// eight.
FASTLBP_DEVICE void send_many(const General &g, uint32_t variable, const Incoming &incoming,
                              const VariableMemory &memory, const ThreadGroup &group) {
    const uint32_t *inputs = g.slot_inputs + g.variable_offsets[variable];
    const uint32_t width = memory.width;
    for (uint32_t first = 0; first < memory.blocks; first += memory.blocks_at_once()) {
        const uint32_t blocks = smaller_of(memory.blocks_at_once(), memory.blocks - first);
        const uint32_t leaf = first * BLOCK, leaves = smaller_of(blocks * BLOCK, incoming.degree - leaf);
        for (uint32_t i = group.rank(); i < blocks * width; i += group.size()) {
            const uint32_t state = i % width;
            give_others(g, variable, incoming, memory, state, first + i / width,
                        ValueSink{memory.values, leaf, width, state});
        }
        group.sync();
        for (uint32_t i = group.rank(); i < leaves; i += group.size()) {
            const Product *const own = memory.values + i * width;
            const auto stored = [&](uint32_t state) { return own[state]; };
            const Resolved<decltype(stored)> weights(stored, width);
            memory.resolutions[i] = {weights.top, weights.fewest};
        }
        group.sync();
        for (uint32_t i = group.rank(); i < leaves * width; i += group.size()) {
            const VariableMemory::Resolution &resolution = memory.resolutions[i / width];
            g.by_edge[inputs[leaf + i / width] + i % width] =
                resolved(memory.values[i], resolution.fewest, resolution.top);
        }
        group.sync();
    }
}

/// A variable of several states and many messages, by a group with memory for them.
FASTLBP_DEVICE_COLD void look_at_many(const General &g, const Look &look, uint32_t variable, void *room,
                                      Movement &movement, const ThreadGroup &group) {
    const bool writing = group.rank() == 0;
    const Incoming incoming(g, look.messages, variable);
    const VariableMemory memory(incoming, room);
    if (is_observed(g.known[variable])) {
        const uint32_t *inputs = g.slot_inputs + g.variable_offsets[variable];
        for (uint32_t i = group.rank(); look.sending && i < incoming.degree; i += group.size()) {
            store_observed(g, variable, g.by_edge + inputs[i]);
        }
    } else {
        multiply_many(incoming, memory, group);
        if (is_contradictory(with_evidence(g, variable, memory), incoming.width) && writing) {
            note_variable(look.tally, variable);
        }
        if (look.sending) {
            send_many(g, variable, incoming, memory, group);
        }
    }
    if (look.measuring) {
        group.sync();
        if (look.newest != look.messages && !is_observed(g.known[variable])) {
            multiply_many(Incoming(g, look.newest, variable), memory, group);
        }
        measure_variable(g, look, variable, with_evidence(g, variable, memory), writing, movement);
    }
    group.sync();
}

}  // namespace fastlbp
