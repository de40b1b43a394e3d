// src/kernel/terms.rs: messages of factors with local structure, sums of weighted terms.
#pragma once

#include "table.cuh"

namespace fastlbp {

/// One condition of a term: the variable at a position of the factor is in a state.
struct TermLiteral {
    uint32_t position;
    uint32_t state;
};

/// A factor made of terms, and the inputs to it.
struct TermInputs {
    const double *weights;
    uint32_t terms;
    /// Where each term's conditions start in `literals`, and where the last one's end.
    const uint32_t *offsets;
    const TermLiteral *literals;
    /// States of each variable.
    const uint32_t *radices;
    uint32_t arity;
    /// Stored messages from the variables.
    const Packed *inputs;
};

template <class T>
struct Times {
    T value;

    static FASTLBP_HD Times neutral() { return Times{Real<T>::one()}; }
};

template <class T>
FASTLBP_HD Times<T> combine(Times<T> a, Times<T> b) {
    return Times<T>{multiply(a.value, b.value)};
}

/// Which of the terms' weights are summed, and how.
enum class TermSign { ANY, POSITIVE, NEGATIVE };

/// Bytes of memory that term messages need, for so many states of all variables together and a
/// longest term with so many conditions.
FASTLBP_HD uint64_t term_memory(uint32_t states, uint32_t arity, uint32_t longest) {
    return 3 * Memory::bytes<Wide>(states) + Memory::bytes<Wide>(arity) +
           Memory::bytes<Wide>(uint64_t(longest) + tree_nodes(longest)) +
           Memory::bytes<uint32_t>(uint64_t(arity) + 1);
}

/// Memory for the terms of a factor, and its use.
template <class T>
struct TermBuffers {
    /// Where each variable's weights start.
    uint32_t *starts;
    /// Normalised weights of the states of all inputs, one variable after the other.
    T *inputs;
    /// Sums for the states of all variables, in the layout of `inputs`.
    T *sums;
    /// Per variable, the sum of the terms that do not name it.
    T *unnamed;
    /// A term's inputs, then the product of all but each; behind them the nodes of a tree.
    Times<T> *rest;

    FASTLBP_HD TermBuffers(const TermInputs &factor, uint32_t states, void *memory) {
        Memory pieces = {static_cast<unsigned char *>(memory)};
        starts = pieces.take<uint32_t>(uint64_t(factor.arity) + 1);
        inputs = pieces.take<T>(states);
        sums = pieces.take<T>(states);
        unnamed = pieces.take<T>(factor.arity);
        rest = pieces.take<Times<T>>(0);
    }

    /// Divides each variable's inputs by their sum.
    FASTLBP_HD void normalise(uint32_t arity) {
        for (uint32_t i = 0; i < arity; ++i) {
            T total = inputs[starts[i]];
            for (uint32_t at = starts[i] + 1; at < starts[i + 1]; ++at) {
                total = add(total, inputs[at]);
            }
            for (uint32_t at = starts[i]; at < starts[i + 1]; ++at) {
                if (!is_zero(inputs[at])) {
                    inputs[at] = divide(inputs[at], total);
                }
            }
        }
    }

    /// The sums for all states of the target, or of all variables.
    FASTLBP_COLD void sum_up(const TermInputs &factor, uint32_t target, TermSign sign) {
        unpack_inputs(factor.radices, factor.arity, factor.inputs, inputs, starts, OneThread{});
        normalise(factor.arity);
        const uint32_t first = target == ALL ? 0 : target;
        const uint32_t end = target == ALL ? factor.arity : target + 1;
        for (uint32_t at = 0; at < starts[factor.arity]; ++at) {
            sums[at] = Real<T>::zero();
        }
        for (uint32_t position = first; position < end; ++position) {
            unnamed[position] = Real<T>::zero();
        }
        for (uint32_t term = 0; term < factor.terms; ++term) {
            const double given = factor.weights[term];
            const double signed_weight = sign == TermSign::NEGATIVE ? -given : given;
            if (given == 0.0 || (sign != TermSign::ANY && !(signed_weight > 0.0))) {
                continue;
            }
            const T weight = Real<T>::from_f64(signed_weight);
            const TermLiteral *literals = factor.literals + (factor.offsets[term] - factor.offsets[0]);
            const uint32_t count = factor.offsets[term + 1] - factor.offsets[term];
            for (uint32_t index = 0; index < count; ++index) {
                rest[index].value = inputs[starts[literals[index].position] + literals[index].state];
            }
            const T all = multiply(leave_one_out(rest, count, rest + count).value, weight);
            uint32_t next = 0;
            for (uint32_t position = first; position < end; ++position) {
                while (next < count && literals[next].position < position) {
                    ++next;
                }
                if (next < count && literals[next].position == position) {
                    T &sum = sums[starts[position] + literals[next].state];
                    sum = add(sum, multiply(rest[next].value, weight));
                } else {
                    unnamed[position] = add(unnamed[position], all);
                }
            }
        }
        for (uint32_t position = first; position < end; ++position) {
            for (uint32_t at = starts[position]; at < starts[position + 1]; ++at) {
                sums[at] = add(sums[at], unnamed[position]);
            }
        }
    }

    /// Stores the message to the target, or all.
    FASTLBP_HD void store_sums(const TermInputs &factor, uint32_t target, Packed *out) const {
        for (uint32_t position = 0; position < factor.arity; ++position) {
            if (target == ALL || target == position) {
                const uint32_t radix = factor.radices[position];
                store(Table<T>{nullptr, sums + starts[position], radix}, radix, out, OneThread{});
                out += stored_values(radix);
            }
        }
    }
};

/// Whether all inputs, every product of a weight and normalised inputs, and every sum of them, are
/// normal doubles. The weights are not negative.
FASTLBP_COLD bool fits_f64(const TermInputs &factor) {
    int64_t low = 0, high = 0;
    for (uint32_t term = 0; term < factor.terms; ++term) {
        if (factor.weights[term] != 0.0) {
            const int64_t exponent = Wide::from_f64(factor.weights[term]).exponent;
            low = smaller_of(low, exponent);
            high = larger_of(high, exponent);
        }
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < factor.arity; ++i) {
        const uint32_t count = stored_values(factor.radices[i]);
        int64_t input_low, input_high;
        if (!input_exponents(factor.inputs + at, count, input_low, input_high, OneThread{})) {
            return false;
        }
        low += input_low - input_high - 2 - ilog2(factor.radices[i]);
        at += count;
    }
    const int64_t growth = 2 + ilog2(factor.terms > 0 ? factor.terms : 1);
    return low > -1000 && high + growth < 1000;
}

template <class T>
FASTLBP_HD void term_messages_with(const TermInputs &factor, uint32_t states, uint32_t target,
                                   Packed *out, void *memory) {
    TermBuffers<T> buffers(factor, states, memory);
    buffers.sum_up(factor, target, TermSign::ANY);
    buffers.store_sums(factor, target, out);
}

/// Messages of a factor some of whose terms have negative weights: positive and negative terms apart,
/// subtracted once.
FASTLBP_HD void signed_term_messages(const TermInputs &factor, uint32_t states, uint32_t target,
                                     Packed *out, void *memory) {
    Memory pieces = {static_cast<unsigned char *>(memory)};
    Wide *negative = pieces.take<Wide>(states);
    TermBuffers<Wide> buffers(factor, states, pieces.at);
    buffers.sum_up(factor, target, TermSign::NEGATIVE);
    for (uint32_t at = 0; at < states; ++at) {
        negative[at] = buffers.sums[at];
    }
    buffers.sum_up(factor, target, TermSign::POSITIVE);
    for (uint32_t at = 0; at < states; ++at) {
        buffers.sums[at] = buffers.sums[at].minus(negative[at]);
    }
    buffers.store_sums(factor, target, out);
}

/// All messages of a factor, in the layout of its inputs, or the one to the variable at `target`. A
/// message that would be 0/0 is a contradiction in its first value. For max-product, the terms exclude
/// each other. `states` are those of all variables together; `memory` has term_memory bytes. Number is
/// SumProduct or MaxProduct.
template <template <class> class Number>
FASTLBP_HD void term_messages(const TermInputs &factor, uint32_t states, uint32_t target, Packed *out,
                              void *memory) {
    bool negative = false;
    for (uint32_t term = 0; term < factor.terms; ++term) {
        negative |= factor.weights[term] < 0.0;
    }
    if (negative) {
        signed_term_messages(factor, states, target, out, memory);
    } else if (fits_f64(factor)) {
        term_messages_with<typename Number<double>::type>(factor, states, target, out, memory);
    } else {
        term_messages_with<typename Number<Wide>::type>(factor, states, target, out, memory);
    }
}

}  // namespace fastlbp
