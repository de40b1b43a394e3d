// The beliefs of factors, which libDAI's rule looks at as well: src/engine/cpu/factor_beliefs.rs once more.
#pragma once

#include "general_factors.cuh"

namespace fastlbp {

FASTLBP_DEVICE Wide shuffle_sum(Wide own, uint32_t distance) {
    return add(own, Wide{shuffle_xor(own.significand, distance), shuffle_xor(own.exponent, distance)});
}
FASTLBP_DEVICE double shuffle_sum(double own, uint32_t distance) { return add(own, shuffle_xor(own, distance)); }

/// Those who share the entries of a belief: a thread, a warp or a block. What each has of neighbouring entries is added up in the
/// shape of the tree, and all get the sum; and the largest of some numbers.
struct BeliefGroup {
    uint32_t span;

    FASTLBP_DEVICE uint32_t rank() const { return ThreadGroup{span}.rank(); }
    FASTLBP_DEVICE uint32_t size() const { return ThreadGroup{span}.size(); }

    /// Of numbers that are not negative.
    template <class T>
    FASTLBP_DEVICE T sum(T own) const {
        if (span != SPAN_BLOCK) {
            for (uint32_t distance = 1; span == SPAN_WARP && distance < LANES; distance *= 2) {
                own = shuffle_sum(own, distance);
            }
            return own;
        }
        return reduced(own, [](T a, T b) { return add(a, b); });
    }

    FASTLBP_DEVICE uint64_t largest(uint64_t own) const {
        if (span != SPAN_BLOCK) {
            for (uint32_t distance = 1; span == SPAN_WARP && distance < LANES; distance *= 2) {
                own = larger_of(own, shuffle_xor(own, distance));
            }
            return own;
        }
        return reduced(own, [](uint64_t a, uint64_t b) { return larger_of(a, b); });
    }

private:
    template <class T, class Combine>
    static FASTLBP_DEVICE T reduced(T own, const Combine &combine) {
        struct All {
            T numbers[THREADS];
        };
        FASTLBP_SHARED(All, all);
        const uint32_t rank = thread_of_block(), size = threads_of_block();
        all.numbers[rank] = own;
        sync_block();
        for (uint32_t distance = 1; distance < size; distance *= 2) {
            if (rank % (2 * distance) == 0 && rank + distance < size) {
                all.numbers[rank] = combine(all.numbers[rank], all.numbers[rank + distance]);
            }
            sync_block();
        }
        const T total = all.numbers[0];
        sync_block();
        return total;
    }
};

/// The bits of what is no number, but for the sign all of them.
constexpr uint64_t NO_NUMBER = ~uint64_t(0) >> 1;

FASTLBP_DEVICE double nearest_double(double value) { return value; }
FASTLBP_DEVICE double nearest_double(Wide value) { return value.to_f64(); }

/// A factor as a table, and the messages to it, which are in `by_edge`.
struct JointFactor {
    JointTable table;
    const Packed *by_edge;
    /// Of its edges the places of messages, and the states of variables, null if all have two.
    const uint32_t *places, *states;
    uint32_t arity;

    FASTLBP_DEVICE JointFactor(const General &g, const FactorBeliefs &all, const FactorBelief &item)
        : table(all.tables[item.table]), by_edge(g.by_edge), places(g.edge_inputs + g.factor_offsets[item.factor]),
          states(all.states ? all.states + g.factor_offsets[item.factor] : nullptr),
          arity(g.factor_offsets[item.factor + 1] - g.factor_offsets[item.factor]) {}

    FASTLBP_DEVICE uint32_t states_of(uint32_t position) const { return states ? states[position] : 2; }

    FASTLBP_DEVICE void get(uint32_t entry, double &value) const { value = table.values[entry]; }
    FASTLBP_DEVICE void get(uint32_t entry, Wide &value) const {
        value = Wide::from_f64(table.values[entry]);
        value.exponent += table.exponents ? table.exponents[entry] : 0;
    }

    /// An entry times the messages, that of the first variable first.
    template <class T>
    FASTLBP_DEVICE T weight(uint32_t entry) const {
        T product;
        get(entry, product);
        uint32_t rest = entry;
        for (uint32_t i = 0; i < arity; ++i) {
            const uint32_t radix = states_of(i);
            const Packed *const message = by_edge + places[i];
            T weight;
            if (radix == 2) {
                T state1, state0;
                FromPacked<T>::weights(*message, false, state1, state0);
                weight = rest % 2 == 1 ? state1 : state0;
                rest /= 2;
            } else {
                weight = FromPacked<T>::number(message[rest % radix]);
                rest /= radix;
            }
            product = multiply(product, weight);
        }
        return product;
    }

    /// Whether all products, their sum and their quotients are normal doubles.
    FASTLBP_DEVICE bool fits_doubles() const {
        int64_t low = table.low, high = table.high;
        bool plain = true;
        for (uint32_t i = 0; i < arity; ++i) {
            const uint32_t radix = states_of(i);
            int64_t input_low, input_high;
            plain &= input_exponents(by_edge + places[i], stored_values(radix), input_low, input_high, OneThread{});
            low += input_low;
            high += input_high + 3 + ilog2(radix);
        }
        return plain && low > -1000 && high < 1000 && high - low < 1000;
    }
};

/// Replaces the belief of a factor, and gives the bits of its largest change to all of the group. A belief that is 0/0 has not
/// changed; if it is one of those that the next ones are compared with, what it was before is not known: it is no number then, and
/// so is the change to the next one that is not 0/0, which is larger than all others.
template <class T>
FASTLBP_DEVICE_COLD uint64_t replace_belief(const JointFactor &factor, double *belief, bool recalling, BeliefGroup group) {
    const uint32_t entries = factor.table.entries, rank = group.rank(), size = group.size();
    // A power of two of neighbours for each.
    uint32_t own = 1;
    while (own * size < entries) {
        own *= 2;
    }
    SubtreeSums<T> sums;
    for (uint32_t i = 0; i < own && rank * own + i < entries; ++i) {
        sums.add(factor.weight<T>(rank * own + i), i);
    }
    const T total = group.sum(sums.total());
    uint64_t change = 0;
    if (is_zero(total)) {
        if (recalling && rank == 0) {
            belief[0] = from_bits(NO_NUMBER);
        }
        return change;
    }
    for (uint32_t entry = rank; entry < entries; entry += size) {
        const T weight = factor.weight<T>(entry);
        const double probability = is_zero(weight) ? 0.0 : nearest_double(divide(weight, total));
        // Of numbers that are not negative, the bits ascend with them.
        change = larger_of(change, to_bits(probability - belief[entry]) & NO_NUMBER);
        belief[entry] = probability;
    }
    return group.largest(change);
}

/// Makes the beliefs of all factors uniform.
FASTLBP_DEVICE void fill_factor_beliefs(const FactorBeliefs &all) {
    for (uint32_t i = warp_of_grid(); i < all.ends[SPAN_BLOCK]; i += warps_of_grid()) {
        const FactorBelief item = all.list[i];
        const uint32_t entries = all.tables[item.table].entries;
        for (uint32_t entry = thread_of_block() % LANES; entry < entries; entry += LANES) {
            all.beliefs[item.first + entry] = 1.0 / static_cast<double>(entries);
        }
    }
}

/// Replaces the beliefs of all factors by those of the messages in `by_edge`, and notes by how much they have changed, unless it
/// is only `recalling` those that the next ones are compared with. All threads of the grid call it.
FASTLBP_DEVICE void measure_factor_beliefs(const General &g, const FactorBeliefs &all, double tolerance, bool recalling) {
    uint64_t largest = 0;
    uint32_t moved = 0, begin = 0;
    for (uint32_t span = SPAN_THREAD; span <= SPAN_BLOCK; ++span) {
        const BeliefGroup group = {span};
        for (uint32_t i = begin + group_of_grid(span); i < all.ends[span]; i += groups_of_grid(span)) {
            const FactorBelief item = all.list[i];
            const JointFactor factor(g, all, item);
            double *const belief = all.beliefs + item.first;
            const uint64_t change = factor.fits_doubles() ? replace_belief<double>(factor, belief, recalling, group)
                                                          : replace_belief<Wide>(factor, belief, recalling, group);
            largest = larger_of(largest, change);
            moved += group.rank() == 0 && from_bits(change) > tolerance;
        }
        begin = all.ends[span];
    }
    if (!recalling) {
        note_movement(all.found, from_bits(largest), moved);
    }
}

}  // namespace fastlbp
