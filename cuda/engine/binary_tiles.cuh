// What factors send where all messages are sent at once, most of them by a thread each. Units are made by
// src/engine/cuda/binary/flood.rs.
#pragma once

#include "binary_exchange.cuh"
#include "binary_factors.cuh"

namespace fastlbp {

// What warps do with factors comes in units, which they take as they are free: first those of factors without
// large hubs, and then the others. Its word is factor_unit. Rows are of a word for
// each thread. Of the first kinds are 32 factors with two variables, three and so on up to eight, each by one thread.
// Rows: the number of coefficients, ~0 for no factor; then the place of each variable, the head's first.
// FLOOD_WIDE is a factor with up to 32 variables: a row of places, ~0 for nothing, and one with the number of coefficients.
// FLOOD_UP_TO_FOUR and FLOOD_UP_TO_EIGHT are as before; places of variables that are not there are ~0.

/// Notes that certain messages leave a factor's message no state; gives what is sent instead.
__device__ __noinline__ inline Packed without_states(const Block &block, const Home &home, uint32_t place,
                                                 uint32_t pass) {
    note_zero_by_zero(block.g, home.slot_of(place), block.tally_of_pass(pass));
    block.mark();
    return Packed::one();
}

/// Stores a factor's message, which may be 0/0, in the place of its input.
__device__ __forceinline__ void put_message(const Block &block, const Home &home, uint32_t place, Packed message,
                                            uint32_t pass) {
    if (message == Packed::contradiction()) {
        message = without_states(block, home, place, pass);
    }
    home.messages[home.inputs + place] = message;
}

/// What factors with one variable send, by so many threads.
template <class Run>
__device__ __forceinline__ void constants_send(const Block &block, const Home &home, uint32_t threads) {
    for (uint32_t i = threadIdx.x; i < home.shape.constants.count; i += threads) {
        inputs_at<Run>(home)[home.constant_places[i]] = home.constants[i];
    }
}

/// Damps what factors sent, which stays where their inputs were; with an active set, what is stored of it is in both places. All
/// threads of the block have met before, and meet after.
template <class Run>
__device__ __forceinline__ void damp_messages(const Block &block, const Home &home, uint32_t pass) {
    if (!Run::OPTIONS || home.inputs == 0) {
        return;
    }
    Packed *const messages = messages_at<Run>(home);
    Packed *const inputs = inputs_at<Run>(home);
    for (uint32_t place = threadIdx.x; place < home.shape.places; place += blockDim.x) {
        Packed now = inputs[place];
        const Packed message = stored(block.g, messages[place], now);
        if (block.g.least_growth > 0.0) {
            inputs[place] = now;
        }
        messages[place] = message == Packed::contradiction() ? without_states(block, home, place, pass) : message;
    }
    __syncthreads();
}

/// The distances of the inputs of a factor from one: sums of the exponents of those that are not certain. Each input is in each
/// product once at most, sums of products of N inputs are larger than the largest one by up to 2 N, and coefficients are within
/// 2^-64..2.
struct FloodRange {
    /// Exponents are counted by this part of one, so that sums of eight are no larger than a word.
    static constexpr uint32_t PART = 17;
    /// Where sums for eight inputs are less, or for 32, quotients of sums of products are within 2^-1000..2^1000.
    static constexpr uint32_t MOST = static_cast<uint32_t>(1000 - 65 - 65 - 2 * 2 * 8) << PART;
    static constexpr uint32_t MOST_OF_WIDE = static_cast<uint32_t>(1000 - 65 - 65 - 2 * 2 * 32) << PART;
    /// With balanced weights, sums of products for eight inputs are normal doubles.
    static constexpr uint32_t MOST_BALANCED = BALANCED_EXPONENTS << PART;
    uint32_t sum = 0;

    /// What no double has is as far as what is stored as one can be, at least.
    __device__ __forceinline__ void add(Packed value) {
        const uint32_t distance = distance_from_one(value) >> (20 - PART);
        sum += is_certain_half(high(value)) ? 0 : distance;
    }
    __device__ __forceinline__ bool is_far() const { return sum >= MOST; }
    /// Whether balanced weights do for these inputs, of which this is the sum.
    template <int N>
    __device__ __forceinline__ bool is_balanced(const Packed (&inputs)[N]) const {
        uint32_t signs = 0;
        FASTLBP_UNROLL
        for (int i = 0; i < N; ++i) {
            signs |= high(inputs[i]);
        }
        return sum < MOST_BALANCED && static_cast<int32_t>(signs) >= 0;
    }
};

/// A factor of more than eight variables.
template <bool OPTIONS>
__device__ __noinline__ void flood_wide(const Block &block, const Home &home, const uint32_t *words, uint32_t pass) {
    const uint32_t place = words[0], number = words[32];
    const bool there = place != ~uint32_t(0);
    const uint32_t arity = __popc(__ballot_sync(~0u, there));
    const Packed value = there ? home.messages[home.inputs + place] : Packed::one();
    FloodRange range;
    range.add(value);
    FASTLBP_UNROLL
    for (int level = 0; level < 5; ++level) {
        range.sum = smaller_of(range.sum + __shfl_xor_sync(~0u, range.sum, 1 << level), FloodRange::MOST);
    }
    const HornLiterals c = block.literals(__shfl_sync(~0u, number, 0));
    const bool fits = range.sum < FloodRange::MOST_OF_WIDE && (c.c.flags & HORN_PLAIN) != 0;
    Packed message;
    if (OPTIONS && block.g.maxima != 0) {
        message = fits ? warp_message_in<Max<double>>(arity, value, c)
                       : Packed{far_warp_message<Max<Far>>(arity, value.bits, c)};
    } else {
        message = fits ? warp_message_in<double>(arity, value, c)
                       : Packed{far_warp_message<Far>(arity, value.bits, c)};
    }
    if (there) {
        put_message(block, home, place, message, pass);
    }
}

/// The literals of a factor with few variables.
struct FloodLiterals {
    const HornCoefficients &c;

    __device__ __forceinline__ const HeadValues &values() const { return c.head; }
    __device__ __forceinline__ bool is_negated(uint32_t position) const {
        return (static_cast<uint32_t>(c.negated) >> position & 1) != 0;
    }
    template <class T>
    __device__ __forceinline__ Body<T> literal(uint32_t position, Packed odds) const {
        return Body<T>::literal(odds, is_negated(position));
    }
    template <class T>
    __device__ __forceinline__ Packed message(uint32_t position, T holds, T fails) const {
        return FromPacked<T>::ratio(holds, fails, is_negated(position));
    }
};

/// The inputs of a factor with up to N variables at these places, ~0 for what is not there: a literal that holds, which
/// changes nothing.
template <int N, bool UP_TO>
__device__ __forceinline__ void load_inputs(const Packed *messages, const uint32_t (&places)[N],
                                            const FloodLiterals &literals, Packed (&inputs)[N]) {
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        const uint64_t holds = literals.is_negated(i) ? 0 : INFINITY_BITS;
        inputs[i] = !UP_TO || places[i] != ~uint32_t(0) ? messages[places[i]] : Packed{holds};
    }
}

/// A factor of a tile whose kind has `rows` places, of which N are enough, whatever its inputs are; in the numbers T, given
/// this thread's first word.
template <int N, class T>
__device__ __noinline__ void far_factor_of(const Block &block, const Home &home, const uint32_t *words, uint32_t rows,
                                           uint32_t pass) {
    const FloodLiterals literals = {block.coefficients_of(words[0])};
    uint32_t places[N];
    Packed messages[N];
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < N; ++i) {
        places[i] = i < rows ? words[32 * (i + 1)] : ~uint32_t(0);
    }
    load_inputs<N, true>(home.messages + home.inputs, places, literals, messages);
    messages_of<T>(messages, 0, literals);
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < N; ++i) {
        if (places[i] != ~uint32_t(0)) {
            put_message(block, home, places[i], messages[i], pass);
        }
    }
}

/// The same. Few of these functions, as the cache of instructions is small.
template <class T>
__device__ __forceinline__ void far_factor(const Block &block, const Home &home, const uint32_t *words, uint32_t rows,
                                           uint32_t pass) {
    if (rows <= 2) {
        far_factor_of<2, T>(block, home, words, rows, pass);
    } else if (rows <= 4) {
        far_factor_of<4, T>(block, home, words, rows, pass);
    } else {
        far_factor_of<8, T>(block, home, words, rows, pass);
    }
}

/// The message of a factor to the variable of this thread, by groups of eight threads, where doubles do not do.
template <class T>
__device__ __noinline__ uint64_t far_group_message(uint32_t lane, uint64_t value, bool negated, HeadValues f) {
    return group_message<T, 3>(lane, Packed{value}, negated, f).ratio().bits;
}

/// What the threads of a warp send for up to four factors that doubles do not do for, of those of both kinds the ones from this
/// number on, a thread for each message: alone, a thread would take two to three times as long for eight messages. With
/// balanced weights, doubles do for most of them.
template <class T>
__device__ __noinline__ void few_far_factors(const Block &block, const Home &home, uint32_t first, uint32_t count,
                                             uint32_t pass) {
    constexpr uint32_t WIDTH = 8;
    const uint32_t lane = threadIdx.x % 32, own = lane % WIDTH, at = first + lane / WIDTH;
    // Who is left without a factor takes the words of another one, without its messages.
    const uint32_t number = smaller_of(at, count - 1), of_first_kind = block.far.count(0);
    const uint32_t word =
        number < of_first_kind ? block.far.words[0][number] : block.far.words[1][number - of_first_kind];
    const uint32_t rows = word & ((1u << FarFactors::WORDS_SHIFT) - 1);
    const uint32_t *const words = home.words + (word >> FarFactors::WORDS_SHIFT);
    // The body's variables in the first threads of a group, the head in its last one.
    const uint32_t position = own + 1 == WIDTH ? 0 : own + 1;
    const FloodLiterals literals = {block.coefficients_of(words[0])};
    const uint32_t place = position < rows ? words[32 * (position + 1)] : ~uint32_t(0);
    const bool there = at < count && place != ~uint32_t(0), negated = literals.is_negated(position);
    const Packed value = there ? home.messages[home.inputs + place] : Packed{negated ? 0 : INFINITY_BITS};
    FloodRange range;
    range.add(value);
    FASTLBP_UNROLL
    for (int level = 0; level < 3; ++level) {
        range.sum += __shfl_xor_sync(~0u, range.sum, 1 << level);
    }
    bool fits = range.sum < FloodRange::MOST_BALANCED && !has_sign(value) && (literals.c.flags & HORN_PLAIN) != 0;
    Packed message = Packed::one();
    if (__all_sync(~0u, fits)) {
        message = group_message<typename BalancedFor<T>::type, 3>(lane, value, negated, literals.values()).ratio();
        fits = !there | (high(message) != ~uint32_t(0));
    }
    if (!__all_sync(~0u, fits)) {
        message = Packed{far_group_message<T>(lane, value.bits, negated, literals.values())};
    }
    if (there) {
        put_message(block, home, place, message, pass);
    }
}

/// Most factors of a block for which few_far_factors is faster than a thread for each: two rounds.
constexpr uint32_t FEW_FAR = 128;
/// The same where balanced weights may do for most of them.
constexpr uint32_t FEW_BALANCED = 320;

/// What factors that were noted send, in the numbers T.
template <class T>
__device__ __noinline__ void send_noted_factors(const Block &block, const Home &home, uint32_t pass) {
    const uint32_t count = block.far.count(0) + block.far.count(1), warps = blockDim.x / 32;
    if (count <= (2 * block.far.balanced >= count ? FEW_BALANCED : FEW_FAR)) {
        for (uint32_t first = threadIdx.x / 32 * 4; first < count; first += warps * 4) {
            few_far_factors<T>(block, home, first, count, pass);
        }
        return;
    }
    // Warps take those of one kind each, the larger ones first.
    const uint32_t larger = block.far.count(1), of_larger = (larger + 31) / 32;
    for (uint32_t row = threadIdx.x / 32; row < of_larger + (block.far.count(0) + 31) / 32; row += warps) {
        const uint32_t kind = row < of_larger ? 1 : 0;
        const uint32_t at = (row - (kind == 1 ? 0 : of_larger)) * 32 + threadIdx.x % 32;
        if (at < block.far.count(kind)) {
            const uint32_t word = block.far.words[kind][at];
            far_factor<T>(block, home, home.words + (word >> FarFactors::WORDS_SHIFT),
                          word & ((1u << FarFactors::WORDS_SHIFT) - 1), pass);
        }
    }
}

/// The same in a pass. All threads of the block have met before, and meet after.
template <class Run>
__device__ __forceinline__ void noted_factors_send(const Block &block, const Home &home, uint32_t pass) {
    if (!block.far.are_there()) {
        return;
    }
    if (Run::OPTIONS && block.g.maxima != 0) {
        send_noted_factors<Max<Loose>>(block, home, pass);
    } else {
        send_noted_factors<Loose>(block, home, pass);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        block.far.clear();
    }
}

/// Notes a factor of a tile whose kind has so many rows, for which doubles do not do, or sends its messages. Given this
/// thread's first word.
template <class Run>
__device__ __noinline__ void note_or_send_factor(const Block &block, const Home &home, const uint32_t *words, uint32_t rows,
                                                 bool may_be_balanced, uint32_t pass) {
    const uint32_t kind = rows > 4 ? 1 : 0, at = static_cast<uint32_t>(words - home.words);
    if (block.far.note(kind, at << FarFactors::WORDS_SHIFT | rows, may_be_balanced)) {
        return;
    }
    if (Run::OPTIONS && block.g.maxima != 0) {
        far_factor<Max<Loose>>(block, home, words, rows, pass);
    } else {
        far_factor<Loose>(block, home, words, rows, pass);
    }
}

/// All messages of a factor with N variables, or up to N. Given this thread's first word.
template <int N, class Run, bool UP_TO = false>
__device__ __forceinline__ void send_factor(const Block &block, const Home &home, const uint32_t *words, uint32_t pass) {
    Packed *const messages = inputs_at<Run>(home);
    const uint32_t number = words[0];
    if (number == ~uint32_t(0)) {
        return;
    }
    const HornCoefficients &c = block.coefficients_of(number);
    typedef typename Run::Number Number;
    FloodRange range;
    uint32_t places[N];
    Packed values[N];
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        places[i] = words[32 * (i + 1)];
    }
    load_inputs<N, UP_TO>(messages, places, FloodLiterals{c}, values);
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        range.add(values[i]);
    }
    bool far_off = !(Run::TURNS ? range.is_balanced(values) : !range.is_far()) || (c.flags & HORN_PLAIN) == 0;
    if (!far_off) {
        if (Run::OPTIONS && block.g.maxima != 0) {
            messages_of<Max<Number>>(values, 0, FloodLiterals{c});
        } else {
            messages_of<Number>(values, 0, FloodLiterals{c});
        }
        FASTLBP_UNROLL
        for (int i = 0; i < N; ++i) {
            far_off |= (!UP_TO || places[i] != ~uint32_t(0)) & (high(values[i]) == ~uint32_t(0));
        }
    }
    if (far_off) {
        note_or_send_factor<Run>(block, home, words, N, !Run::TURNS && range.is_balanced(values), pass);
        return;
    }
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        if (!UP_TO || places[i] != ~uint32_t(0)) {
            messages[places[i]] = values[i];
        }
    }
}

/// The number of this warp, found anew: what is known across passes would be spilled, and come from the second-level
/// cache in each.
__device__ __forceinline__ uint32_t warp_of_block() {
    uint32_t thread = threadIdx.x;
#ifdef __CUDA_ARCH__
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
#endif
    return thread / 32;
}

/// What factors send, those without large hubs or the others. Each of the first warps begins with a unit of its own.
template <class Run>
__device__ __forceinline__ void factors_send(const Block &block, Home &home, uint32_t late, uint32_t pass) {
    const uint32_t begin = late ? home.shape.early_units : 0;
    const uint32_t end = late ? home.shape.units.count : home.shape.early_units;
    const uint32_t warp = warp_of_block();
    uint32_t unit = warp < home.beginners[late] ? warp : home.end_turn(home.begin_turn(1 + late));
    while (unit < end - begin) {
        const uint32_t next = home.begin_turn(1 + late);
        const uint32_t word = home.units[begin + unit];
        const uint32_t *const words =
            home.words + factor_unit_row(word) * 32 + threadIdx.x % 32;
        switch (factor_unit_kind(word)) {
        case 0:
            send_factor<2, Run>(block, home, words, pass);
            break;
        case 1:
            send_factor<3, Run>(block, home, words, pass);
            break;
        case 2:
            send_factor<4, Run>(block, home, words, pass);
            break;
        case 3:
            send_factor<5, Run>(block, home, words, pass);
            break;
        case 4:
            send_factor<6, Run>(block, home, words, pass);
            break;
        case 5:
            send_factor<7, Run>(block, home, words, pass);
            break;
        case 6:
            send_factor<8, Run>(block, home, words, pass);
            break;
        case FLOOD_UP_TO_FOUR:
            send_factor<4, Run, true>(block, home, words, pass);
            break;
        case FLOOD_UP_TO_EIGHT:
            send_factor<8, Run, true>(block, home, words, pass);
            break;
        default:
            flood_wide<Run::OPTIONS>(block, home, words, pass);
        }
        __syncwarp();
        unit = home.end_turn(next);
    }
}

}  // namespace fastlbp
