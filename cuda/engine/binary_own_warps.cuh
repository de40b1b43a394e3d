// Factors that have warps of their own where all messages are sent at once: what these have in common, and those that are no
// conjunctions of literals. Made by src/engine/cuda/binary/other_factors.rs.
//
// All variables of such a factor are hubs of all blocks. Graphs with such factors have a kernel of their own, as a call that is not
// made takes registers all the same. It is one only: homes take turns even if there is one for each block.
#pragma once

#include "binary_bodies.cuh"
#include "binary_exchange.cuh"
#include "other_factors.cuh"

namespace fastlbp {

/// What a thread of a warp sends along its edge of a factor that is no conjunction of literals, given what its variable sends; each
/// of the first `arity` threads has an edge, of which `target` may be the only one that is needed. Both places are in the warp's
/// memory, as are the numbers that lead from one to the other. All threads of the warp call it.
__device__ __noinline__ inline uint64_t message_of_other_factor(uint32_t number, uint32_t arity, uint32_t target, uint64_t value) {
    const Binary &g = shared_block().g;
    const uint32_t lane = lane_of_warp();
    Memory memory = {g.others.memory + g.others.bytes * (thread_of_grid() / LANES)};
    Packed *const inputs = memory.take<Packed>(LANES), *const outputs = memory.take<Packed>(LANES);
    inputs[lane] = Packed{value};
    __syncwarp();
    other_messages(g.others.parameters, g.maxima != 0, g.others.records[number], g.others.radices, arity, target, inputs,
                   outputs, memory.at, ThreadGroup{SPAN_WARP});
    const Packed message = lane < arity ? outputs[target == ALL ? lane : 0] : Packed::one();
    // Before the next factor's inputs come.
    __syncwarp();
    return message.bits;
}

/// What a thread sends along its edge of a table of up to four variables, by four threads with an edge each, of which it has `state1`
/// and `state0`: sums over the states of the other variables, in the order of TableRecursion. Of threads without a table, `count`
/// is 0. All threads of the warp call it.
template <class T>
__device__ __noinline__ uint64_t message_of_four_states(const double *values, uint32_t count, T state1, T state0) {
    const uint32_t lane = lane_of_warp(), own = lane % SMALL_TABLE, first = lane - own;
    T entries[1 << SMALL_TABLE];
    FASTLBP_UNROLL
    for (uint32_t entry = 0; entry < 1 << SMALL_TABLE; ++entry) {
        entries[entry] = Real<T>::from_f64(entry < count ? values[entry] : 1.0);
    }
    // The variables that are left, and where their halves meet; of the half that this thread is not in, one is summed out at a time.
    uint32_t low = 0, high = count == 0 ? 0 : ilog2(count), middle = (high + 1) / 2;
    bool is_low = own < middle;
    FASTLBP_UNROLL
    for (uint32_t size = 1 << (SMALL_TABLE - 1); size > 1; size /= 2) {
        const bool is_left = size < count;
        const uint32_t variable = first + (is_low ? high - 1 : low) % SMALL_TABLE;
        const T weight1 = shuffle(state1, variable), weight0 = shuffle(state0, variable);
        FASTLBP_UNROLL
        for (uint32_t i = 0; i < size; ++i) {
            const T sum = add(multiply(is_low ? entries[i] : entries[2 * i], weight0),
                              multiply(is_low ? entries[i + size] : entries[2 * i + 1], weight1));
            entries[i] = is_left ? sum : entries[i];
        }
        if (is_left) {
            high -= is_low ? 1 : 0;
            low += is_low ? 0 : 1;
            if ((is_low ? high : low) == middle) {
                middle = low + (high - low + 1) / 2;
                is_low = own < middle;
            }
        }
    }
    return Packed::ratio(widen(entries[1]), widen(entries[0])).bits;
}

/// message_of_four_states in the numbers T, from what a variable sends.
template <class T>
__device__ __forceinline__ uint64_t message_of_four_in(const double *values, uint32_t count, Packed value) {
    T state1, state0;
    FromPacked<T>::weights(value, false, state1, state0);
    return message_of_four_states(values, count, state1, state0);
}

/// What a thread sends along its edge of a table of up to four variables, given what its variable sends, a one of threads without
/// an edge. Each four threads have the number of a table, or NODE_NONE for none. All threads of the warp call it.
__device__ __noinline__ inline uint64_t message_of_small_table(uint32_t number, uint64_t bits) {
    const Binary &g = shared_block().g;
    const Packed value = {bits};
    const bool is_there = number != NODE_NONE;
    const TableRecord *const table = g.others.parameters.tables + (is_there ? g.others.records[number].parameter : 0);
    const double *const values = is_there ? table->values : nullptr;
    const uint32_t count = is_there ? table->entries : 0;
    if (g.maxima) {
        return message_of_four_in<Max<Wide>>(values, count, value);
    }
    int64_t low, high;
    bool fits = input_exponents(&value, 1, low, high, OneThread{});
    int sum_of_low = static_cast<int>(low), sum_of_high = static_cast<int>(high);
    FASTLBP_UNROLL
    for (int distance = 1; distance < static_cast<int>(SMALL_TABLE); distance *= 2) {
        sum_of_low += __shfl_xor_sync(~0u, sum_of_low, distance);
        sum_of_high += __shfl_xor_sync(~0u, sum_of_high, distance);
    }
    // As fits_f64 of a table.
    if (is_there) {
        fits &= table->low + sum_of_low > -1000 && table->high + sum_of_high + 4 * ilog2(count) < 1000;
    }
    return __all_sync(~0u, fits) ? message_of_four_in<double>(values, count, value)
                                 : message_of_four_in<Wide>(values, count, value);
}

/// What a warp does with such factors in a pass.
struct OwnWarps {
    const Block &block;

    /// Sends all messages of those of this warp that are no conjunctions, when all hubs have sent. A unit of a factor has two words
    /// for each thread: that of its edge, ~0 for nothing, and the number of the factor; one of small tables has four threads for each.
    static __device__ __noinline__ void send_other_factors() {
        const OwnWarps work = {shared_block()};
        const uint32_t *const starts = flood_starts().of_warp(threadIdx.x / 32);
        for (uint32_t row = starts[FLOOD_SMALL_TABLES]; row < starts[FLOOD_OTHER_FACTORS]; row += 2) {
            const FloodWords words(work.block, row);
            const Packed message = {message_of_small_table(words.number, work.input(words).bits)};
            if (words.is_there()) {
                work.send(words.slot(), message);
            }
        }
        for (uint32_t row = starts[FLOOD_OTHER_FACTORS]; row < starts[FLOOD_HUB_KINDS]; row += 2) {
            const FloodWords words(work.block, row);
            const uint32_t arity = __popc(__ballot_sync(~0u, words.is_there()));
            const uint32_t number = __shfl_sync(~0u, words.number, 0);
            const Packed message = {message_of_other_factor(number, arity, ALL, work.input(words).bits)};
            if (words.is_there()) {
                work.send(words.slot(), message);
            }
        }
    }

    __device__ __forceinline__ bool maxima() const { return block.g.maxima != 0; }

    /// What the variable of this thread sends, given its words; nothing is one.
    __device__ __forceinline__ Packed input(const FloodWords &words) const {
        if (words.is_sent()) {
            return block.g.prepared[words.slot()];
        }
        return words.is_there() ? observed_message(words.input) : Packed::one();
    }

    /// Sends a message along an edge.
    __device__ __forceinline__ void send(uint32_t slot, Packed message) const {
        message = with_states(slot, message);
        if (block.g.undamped) {
            const Packed damped = stored(block.g, block.from[slot], message);
            block.undamped_to[slot] = message;
            message = with_states(slot, damped);
        }
        block.to[slot] = message;
    }

private:
    /// A message, or what is sent instead where no state is left.
    __device__ __forceinline__ Packed with_states(uint32_t slot, Packed message) const {
        if (message != Packed::contradiction()) {
            return message;
        }
        note_zero_by_zero(block.g, slot, block.of_pass);
        block.mark();
        return Packed::one();
    }
};

}  // namespace fastlbp
