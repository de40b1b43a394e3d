// What factors send where all messages are sent at once, most of them by a thread each. Units are made by
// src/engine/cuda/binary/flood.rs.
#pragma once

#include "binary_factors.cuh"
#include "binary_home.cuh"

namespace fastlbp {

/// What warps do with factors comes in units, which they take as they are free: first those of factors without
/// large hubs, and then the others. A unit's word: its first row, and from this bit on its kind. Rows are of a word for
/// each thread. Of the first kinds are 32 factors with two variables, three and so on up to eight, each by one thread.
/// Rows: the number of coefficients, ~0 for no factor; then the place of each variable, the head's first.
constexpr uint32_t FLOOD_KIND_SHIFT = 28;
/// A factor with up to 32 variables: a row of places, ~0 for nothing, and one with the number of coefficients.
constexpr uint32_t FLOOD_WIDE = 7;
/// Factors with up to four variables or up to eight, as before; places of variables that are not there are ~0.
constexpr uint32_t FLOOD_UP_TO_FOUR = 8;
constexpr uint32_t FLOOD_UP_TO_EIGHT = 9;

/// Stores a factor's message, which may be 0/0.
__device__ __forceinline__ void put_message(const Block &block, const Home &home, uint32_t place, Packed message) {
    if (message == Packed::contradiction()) {
        message = Packed::one();
        note_zero_by_zero(block.g, home.slot_of(place), block.of_pass);
        block.mark();
    }
    home.messages[place] = message;
}

/// The distances of inputs of a factor from one: sums of the exponents, as far as they matter, of those that are not
/// certain. Each input is in each product once at most, so that the rule of fits_f64 of src/kernel/horn.rs holds for
/// sums as well.
struct FloodRange {
    /// For factors with eight variables, and with 32.
    static constexpr uint32_t MOST = static_cast<uint32_t>((1000 - 66) / 2 - 2 * 8) << 20;
    static constexpr uint32_t MOST_OF_WIDE = static_cast<uint32_t>((1000 - 66) / 2 - 2 * 32) << 20;
    uint32_t sum;

    __device__ __forceinline__ void add(Packed value) {
        const uint32_t distance = smaller_of(distance_from_one(value), MOST);
        sum += is_certain_half(high(value)) ? 0 : distance;
    }
    __device__ __forceinline__ bool is_far() const { return sum >= MOST; }
};

/// A factor of more than eight variables.
__device__ __noinline__ inline void flood_wide(const Block &block, const Home &home, const uint32_t *words) {
    const uint32_t place = words[0], number = words[32];
    const bool there = place != ~uint32_t(0);
    const uint32_t arity = __popc(__ballot_sync(~0u, there));
    const Packed value = there ? home.messages[place] : Packed::one();
    FloodRange range = {0};
    range.add(value);
    FASTLBP_UNROLL
    for (int level = 0; level < 5; ++level) {
        range.sum = smaller_of(range.sum + __shfl_xor_sync(~0u, range.sum, 1 << level), FloodRange::MOST);
    }
    const HornLiterals c = block.literals(__shfl_sync(~0u, number, 0));
    const bool fits = range.sum < FloodRange::MOST_OF_WIDE && (c.c.flags & HORN_PLAIN) != 0;
    const Packed message = fits ? warp_message_in<double>(arity, value, c)
                                : Packed{far_warp_message(arity, value.bits, c)};
    if (there) {
        put_message(block, home, place, message);
    }
}

/// A factor of a tile with up to so many variables, whatever its inputs are, given this thread's first word. Slow.
__device__ __noinline__ inline void far_factor(const Block &block, const Home &home, const uint32_t *words,
                                               uint32_t arity) {
    Packed inputs[8], messages[8];
    Body<Wide> scratch[16];
    while (words[32 * arity] == ~uint32_t(0)) {
        --arity;
    }
    for (uint32_t i = 0; i < arity; ++i) {
        inputs[i] = home.messages[words[32 * (i + 1)]];
    }
    horn_messages(inputs, arity, 0, block.literals(words[0]), messages, scratch);
    for (uint32_t i = 0; i < arity; ++i) {
        put_message(block, home, words[32 * (i + 1)], messages[i]);
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
        Body<T> body;
        FromPacked<T>::weights(odds, is_negated(position), body.all, body.not_all);
        return body;
    }
    template <class T>
    __device__ __forceinline__ Packed message(uint32_t position, T holds, T fails) const {
        return FromPacked<T>::ratio(holds, fails, is_negated(position));
    }
};

/// All messages of a factor with N variables, or up to N, as long as doubles do. Given this thread's first word.
template <int N, bool INSIDE, bool UP_TO = false>
__device__ __forceinline__ void send_factor(const Block &block, const Home &home, const uint32_t *words) {
    Packed *const messages = messages_at<INSIDE>(home);
    const uint32_t number = words[0];
    if (number == ~uint32_t(0)) {
        return;
    }
    const HornCoefficients &c = block.coefficients_of(number);
    FloodRange range = {0};
    uint32_t places[N];
    Packed values[N];
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        places[i] = words[32 * (i + 1)];
    }
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        // What is not there is a literal that holds: it changes nothing.
        const uint64_t holds = FloodLiterals{c}.is_negated(i) ? 0 : INFINITY_BITS;
        values[i] = !UP_TO || places[i] != ~uint32_t(0) ? messages[places[i]] : Packed{holds};
        range.add(values[i]);
    }
    bool far_off = range.is_far() || (c.flags & HORN_PLAIN) == 0;
    messages_of<Flat>(values, 0, FloodLiterals{c});
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        far_off |= (!UP_TO || places[i] != ~uint32_t(0)) & (high(values[i]) == ~uint32_t(0));
    }
    if (far_off) {
        far_factor(block, home, words, N);
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
template <bool INSIDE>
__device__ __forceinline__ void factors_send(const Block &block, Home &home, uint32_t late) {
    const uint32_t begin = late ? home.shape.early_units : 0;
    const uint32_t end = late ? home.shape.units.count : home.shape.early_units;
    const uint32_t warp = warp_of_block();
    uint32_t unit = warp < home.beginners[late] ? warp : home.end_turn(home.begin_turn(1 + late));
    while (unit < end - begin) {
        const uint32_t next = home.begin_turn(1 + late);
        const uint32_t word = home.units[begin + unit];
        const uint32_t *const words =
            home.words + (word & ((1u << FLOOD_KIND_SHIFT) - 1)) * 32 + threadIdx.x % 32;
        switch (word >> FLOOD_KIND_SHIFT) {
        case 0:
            send_factor<2, INSIDE>(block, home, words);
            break;
        case 1:
            send_factor<3, INSIDE>(block, home, words);
            break;
        case 2:
            send_factor<4, INSIDE>(block, home, words);
            break;
        case 3:
            send_factor<5, INSIDE>(block, home, words);
            break;
        case 4:
            send_factor<6, INSIDE>(block, home, words);
            break;
        case 5:
            send_factor<7, INSIDE>(block, home, words);
            break;
        case 6:
            send_factor<8, INSIDE>(block, home, words);
            break;
        case FLOOD_UP_TO_FOUR:
            send_factor<4, INSIDE, true>(block, home, words);
            break;
        case FLOOD_UP_TO_EIGHT:
            send_factor<8, INSIDE, true>(block, home, words);
            break;
        default:
            flood_wide(block, home, words);
        }
        __syncwarp();
        unit = home.end_turn(next);
    }
}

}  // namespace fastlbp
