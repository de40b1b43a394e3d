// src/kernel/table.rs: messages of dense tables, by a recursion over halves of the variables. Here the
// recursion has a stack of its own, each step of summing out writes a new table instead of shrinking one
// in place, and the threads of a group (a warp, a block) share the entries of each step: each entry is
// one thread's, with the same order of operations.
#pragma once

#include "body.cuh"

namespace fastlbp {

/// A dense table and the inputs to it.
struct TableInputs {
    /// Values, first variable fastest, and their number.
    const double *values;
    uint32_t entries;
    /// table_exponents of the values.
    int64_t low;
    int64_t high;
    /// States of each variable.
    const uint32_t *radices;
    uint32_t arity;
    /// Stored messages from the variables.
    const Packed *inputs;
};

/// One thread, as a group. Groups of more have their own rank and size, and a barrier; and they may share the search for a
/// smallest or largest number: the threads that search together, this one's number among them, and what they have found.
struct OneThread {
    FASTLBP_HD uint32_t rank() const { return 0; }
    FASTLBP_HD uint32_t size() const { return 1; }
    FASTLBP_HD void sync() const {}
    FASTLBP_HD uint32_t searchers() const { return 1; }
    FASTLBP_HD uint32_t searcher() const { return 0; }
    FASTLBP_HD int64_t largest(int64_t found) const { return found; }
};

/// Stands for all messages where one may be named.
constexpr uint32_t ALL = ~uint32_t(0);

/// Number of stored values of a message of a variable with `radix` states.
FASTLBP_HD uint32_t stored_values(uint32_t radix) { return radix == 2 ? 1 : radix; }

/// Stores the weights of the states of one message, `weight(x)` for x < radix; 0/0 is a contradiction
/// in its first value. All threads of the group call it.
template <class Weights, class Group>
FASTLBP_COLD void store(const Weights &weight, uint32_t radix, Packed *out, const Group &group) {
    if (radix == 2) {
        if (group.rank() == 0) {
            out[0] = Packed::ratio(widen(weight(1)), widen(weight(0)));
        }
        return;
    }
    int64_t top = INT64_MIN;
    for (uint32_t x = group.searcher(); x < radix; x += group.searchers()) {
        if (!is_zero(weight(x))) {
            top = larger_of(top, widen(weight(x)).exponent);
        }
    }
    top = group.largest(top);
    if (top == INT64_MIN) {
        if (group.rank() == 0) {
            out[0] = Packed::contradiction();
        }
        return;
    }
    for (uint32_t x = group.rank(); x < radix; x += group.size()) {
        out[x] = is_zero(weight(x)) ? Packed::zero() : Packed::pack(widen(weight(x)).scaled(-top));
    }
}

/// Exponents of the smallest and the largest positive weight of a stored message; `false` if some value is not stored as a
/// double. All threads of the group call it.
template <class Group>
FASTLBP_HD bool input_exponents(const Packed *stored, uint32_t count, int64_t &low, int64_t &high, const Group &group) {
    low = 0;
    high = 0;
    bool plain = true;
    for (uint32_t x = group.searcher(); x < count; x += group.searchers()) {
        plain &= stored[x].is_plain();
        if (count == 1 ? !stored[x].is_certain() : stored[x] != Packed::zero()) {
            const int64_t exponent = stored[x].unpack().exponent;
            low = smaller_of(low, exponent);
            high = larger_of(high, exponent);
        }
    }
    low = -group.largest(-low);
    high = group.largest(high);
    return group.largest(plain ? 0 : 1) == 0;
}

/// Whether all inputs, every product of a table entry and the inputs, and every sum of them, are
/// normal doubles. All threads of the group call it, and get it.
template <class Group>
FASTLBP_COLD bool fits_f64(const TableInputs &table, const Group &group) {
    int64_t low = table.low, high = table.high, growth = 0;
    uint32_t at = 0;
    bool plain = true;
    for (uint32_t i = 0; i < table.arity; ++i) {
        const uint32_t count = stored_values(table.radices[i]);
        int64_t input_low, input_high;
        plain &= input_exponents(table.inputs + at, count, input_low, input_high, group);
        low += input_low;
        high += input_high;
        growth += 3 + ilog2(table.radices[i]);
        at += count;
    }
    return plain && low > -1000 && high + growth < 1000;
}

/// The weights of the states of all inputs, one variable after the other, and where each variable's
/// start; `starts` has an entry more than there are variables. All threads of the group call it.
template <class T, class Group>
FASTLBP_COLD void unpack_inputs(const uint32_t *radices, uint32_t arity, const Packed *inputs,
                              T *weights, uint32_t *starts, const Group &group) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < arity; ++i) {
        if (group.rank() == 0) {
            starts[i] = next;
        }
        if (radices[i] == 2) {
            if (group.rank() == 0) {
                FromPacked<T>::weights(*inputs, false, weights[next + 1], weights[next]);
            }
            ++inputs;
        } else {
            for (uint32_t x = group.rank(); x < radices[i]; x += group.size()) {
                weights[next + x] = FromPacked<T>::number(inputs[x]);
            }
            inputs += radices[i];
        }
        next += radices[i];
    }
    if (group.rank() == 0) {
        starts[arity] = next;
    }
}

/// Bytes of memory that table messages need, for so many entries and so many states of all variables
/// together.
FASTLBP_HD uint64_t table_memory(uint32_t entries, uint32_t states, uint32_t arity) {
    return Memory::bytes<Wide>(entries) + Memory::bytes<Wide>(states) +
           Memory::bytes<uint32_t>(uint64_t(arity) + 1);
}

/// A table over some neighbouring variables: the factor's own or one on the stack.
template <class T>
struct Table {
    const double *values;
    const T *numbers;
    uint32_t size;

    FASTLBP_HD T operator()(uint32_t index) const {
        return values ? Real<T>::from_f64(values[index]) : numbers[index];
    }
};

template <class T, class Group>
struct TableRecursion {
    const uint32_t *radices;
    const T *weights;
    const uint32_t *starts;
    uint32_t target;
    Packed *out;
    const Group &group;

    /// The sum of `radix` entries, each `stride` behind the one before, times these weights.
    static FASTLBP_HD T weighted_sum(const Table<T> &table, uint32_t begin, uint32_t stride, const T *weight, uint32_t radix) {
        T sum = multiply(table(begin), weight[0]);
        for (uint32_t x = 1; x < radix; ++x) {
            sum = add(sum, multiply(table(begin + x * stride), weight[x]));
        }
        return sum;
    }

    /// The table with one of its variables, the slowest or the fastest, summed out, at `next`, which
    /// moves on behind it.
    FASTLBP_COLD Table<T> sum_out(const Table<T> &old, uint32_t variable, bool slowest, T *&next) const {
        const T *weight = weights + starts[variable];
        const uint32_t radix = radices[variable];
        const uint32_t size = old.size / radix;
        const uint32_t stride = slowest ? size : 1;
        for (uint32_t i = group.rank(); i < size; i += group.size()) {
            next[i] = weighted_sum(old, slowest ? i : i * radix, stride, weight, radix);
        }
        group.sync();
        const Table<T> made = {nullptr, next, size};
        next += size;
        return made;
    }

    /// The messages to the variables low..high, from the table over just these; the first one is
    /// stored from `at` on, and memory is free from `next` on.
    struct Frame {
        Table<T> table;
        uint32_t low;
        uint32_t high;
        uint32_t at;
        uint32_t halves_done;
        T *next;
    };

    /// Both messages of a table of two variables: as `run`, but at once.
    FASTLBP_HD void run_pair(const Table<T> &whole, T *sums) const {
        const uint32_t first = radices[0], second = radices[1];
        for (uint32_t i = group.rank(); i < first + second; i += group.size()) {
            const bool is_first = i < first;
            const T *const weight = weights + (is_first ? first : 0);
            const uint32_t begin = is_first ? i : (i - first) * first, stride = is_first ? first : 1;
            sums[i] = weighted_sum(whole, begin, stride, weight, is_first ? second : first);
        }
        group.sync();
        store(Table<T>{nullptr, sums, first}, first, out, group);
        store(Table<T>{nullptr, sums + first, second}, second, out + stored_values(first), group);
        group.sync();
    }

    FASTLBP_HD void run(const Table<T> &whole, uint32_t arity, T *memory) const {
        if (arity == 2 && target == ALL) {
            run_pair(whole, memory);
            return;
        }
        // Below 2^32 entries are at most 31 variables, and six frames.
        Frame stack[6];
        stack[0] = Frame{whole, 0, arity, 0, 0, memory};
        int depth = 1;
        while (depth > 0) {
            Frame &frame = stack[depth - 1];
            if (frame.high - frame.low == 1) {
                store(frame.table, radices[frame.low], out + frame.at, group);
                group.sync();
                --depth;
                continue;
            }
            const uint32_t middle = frame.low + (frame.high - frame.low + 1) / 2;
            const uint32_t half = frame.halves_done++;
            if (half == 0 && (target == ALL || target < middle)) {
                Frame child = {frame.table, frame.low, middle, frame.at, 0, frame.next};
                for (uint32_t variable = frame.high; variable-- > middle;) {
                    child.table = sum_out(child.table, variable, true, child.next);
                }
                stack[depth++] = child;
            } else if (half == 1 && (target == ALL || target >= middle)) {
                Frame child = {frame.table, middle, frame.high, frame.at, 0, frame.next};
                for (uint32_t variable = frame.low; variable < middle; ++variable) {
                    child.table = sum_out(child.table, variable, false, child.next);
                    // A single message is all that is stored.
                    child.at += target == ALL ? stored_values(radices[variable]) : 0;
                }
                stack[depth++] = child;
            } else if (half == 2) {
                --depth;
            }
        }
    }
};

template <class T, class Group>
FASTLBP_HD void table_messages_with(const TableInputs &table, uint32_t target, Packed *out,
                                    void *memory, const Group &group) {
    Memory pieces = {static_cast<unsigned char *>(memory)};
    T *tables = pieces.take<T>(table.entries);
    uint32_t *starts = pieces.take<uint32_t>(uint64_t(table.arity) + 1);
    T *weights = pieces.take<T>(0);
    unpack_inputs(table.radices, table.arity, table.inputs, weights, starts, group);
    group.sync();
    const TableRecursion<T, Group> recursion = {table.radices, weights, starts, target, out, group};
    recursion.run(Table<T>{table.values, nullptr, table.entries}, table.arity, tables);
}

/// All messages of a table, in the layout of its inputs, or the one to the variable at `target`, the
/// input from which is not used. A message that would be 0/0 is a contradiction in its first value.
/// `memory` has table_memory bytes. Number is SumProduct or MaxProduct. All threads of the group call
/// it.
template <template <class> class Number, class Group>
FASTLBP_HD void table_messages(const TableInputs &table, uint32_t target, Packed *out, void *memory,
                               const Group &group) {
    if (table.arity == 0) {
        return;
    }
    if (fits_f64(table, group)) {
        table_messages_with<typename Number<double>::type>(table, target, out, memory, group);
    } else {
        table_messages_with<typename Number<Wide>::type>(table, target, out, memory, group);
    }
}

/// An entry of a table times its inputs.
FASTLBP_HD Wide table_weight(const TableInputs &table, uint32_t entry) {
    Wide weight = Wide::from_f64(table.values[entry]);
    const Packed *input = table.inputs;
    for (uint32_t i = 0; i < table.arity; ++i) {
        const uint32_t radix = table.radices[i];
        const uint32_t state = entry % radix;
        entry /= radix;
        Wide factor;
        if (radix == 2) {
            Wide state1, state0;
            FromPacked<Wide>::weights(*input, false, state1, state0);
            factor = state == 1 ? state1 : state0;
        } else {
            factor = input[state].unpack();
        }
        weight = multiply(weight, factor);
        input += stored_values(radix);
    }
    return weight;
}

/// A table summed against its inputs.
FASTLBP_HD Wide table_total(const TableInputs &table) {
    Wide total = Wide::zero();
    for (uint32_t entry = 0; entry < table.entries; ++entry) {
        total = add(total, table_weight(table, entry));
    }
    return total;
}

/// The belief of a table: its entries times the inputs, divided by their sum in the shape of the tree. `false`, with `out`
/// unchanged, if all products are zero.
FASTLBP_HD bool table_belief(const TableInputs &table, double *out) {
    SubtreeSums<Wide> sums;
    for (uint32_t entry = 0; entry < table.entries; ++entry) {
        sums.add(table_weight(table, entry), entry);
    }
    const Wide total = sums.total();
    if (is_zero(total)) {
        return false;
    }
    for (uint32_t entry = 0; entry < table.entries; ++entry) {
        const Wide weight = table_weight(table, entry);
        out[entry] = is_zero(weight) ? 0.0 : divide(weight, total).to_f64();
    }
    return true;
}

}  // namespace fastlbp
