// Messages of factors when all are sent at once.
#pragma once

#include "binary_hubs.cuh"
#include "stream.cuh"

namespace fastlbp {

/// Notes that a factor's message was 0/0.
__device__ __noinline__ inline void note_zero_by_zero(const Binary &g, uint32_t slot, Tally *of_pass) {
    note_factor(of_pass, variable_of_slot(g, slot));
}

/// Notes a variable whose messages, of which these are all, disagree.
__device__ __noinline__ inline void check_variable(const Binary &g, uint32_t slot, uint64_t a, uint64_t b, uint64_t c,
                                                   uint64_t d, Tally *of_state) {
    Certain certain = {0, 0};
    certain.count(Packed{a});
    certain.count(Packed{b});
    certain.count(Packed{c});
    certain.count(Packed{d});
    if (certain.contradictory()) {
        note_variable(of_state, variable_of_slot(g, slot));
    }
}

/// All messages of the factors of a tile, one by each thread. Words: numbers of coefficients, then for each
/// position, the head first, a row of inputs; 32 to a row.
template <int N>
__device__ __forceinline__ void tile_factors(const Block &block, const Words &words) {
    const Binary &g = block.g;
    const Packed *from = block.from;
    Packed *to = block.to;
    const uint32_t lane = threadIdx.x % 32;
    uint32_t inputs[N];
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        inputs[i] = words[4 + 32 * (i + 1) + lane];
    }
    if (inputs[0] == ~uint32_t(0)) {
        return;
    }
    // All loads first, so that they run together.
    Pair near[N], far[N];
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        const uint32_t source = inputs[i] >> SOURCE_SHIFT, pair = inputs[i] & SLOT_MASK & ~1u;
        near[i] = Pair{Packed::one(), Packed::one()};
        far[i] = near[i];
        if (source - SOURCE_TWO <= SOURCE_PREPARED - SOURCE_TWO) {
            near[i] = load_pair(source == SOURCE_PREPARED ? g.prepared : from, pair);
        }
        if (source == SOURCE_FOUR) {
            far[i] = load_pair(from, pair ^ 2);
        }
    }
    Packed values[N];
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        const uint32_t source = inputs[i] >> SOURCE_SHIFT;
        const bool odd = (inputs[i] & 1) != 0;
        const Packed own = odd ? near[i].y : near[i].x, other = odd ? near[i].x : near[i].y;
        // Of four messages of which two are certain, one is among these.
        const bool certain = own.is_certain() | far[i].x.is_certain() | far[i].y.is_certain();
        if ((inputs[i] & COUNTED) && certain) {
            check_variable(g, inputs[i] & SLOT_MASK, own.bits, other.bits, far[i].x.bits, far[i].y.bits, block.of_state);
        }
        Packed value = source == SOURCE_PREPARED ? own : other;
        if (source == SOURCE_FOUR) {
            value = send_three(far[i].x, far[i].y, other);
        }
        value = source == SOURCE_FALSE ? Packed::zero() : source == SOURCE_TRUE ? Packed::infinity() : value;
        values[i] = value;
    }
    small_horn_messages<SumProduct>(values, 0, block.literals(words[4 + lane]));
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        const uint32_t slot = inputs[i] & SLOT_MASK;
        if (values[i] == Packed::contradiction()) {
            values[i] = Packed::one();
            note_zero_by_zero(g, slot, block.of_pass);
        }
        to[slot] = values[i];
    }
}

/// One input of a factor where hubs have been prepared. Slow: for wide factors.
__device__ __noinline__ inline Packed gather(const Binary &g, uint32_t input, const Packed *from, Tally *of_state) {
    const uint32_t source = input >> SOURCE_SHIFT, slot = input & SLOT_MASK;
    if (source == SOURCE_NONE) {
        return Packed::one();
    }
    if (source >= SOURCE_FALSE) {
        return source == SOURCE_FALSE ? Packed::zero() : Packed::infinity();
    }
    if (source == SOURCE_PREPARED) {
        return g.prepared[slot];
    }
    const Packed own = from[slot], other = from[slot ^ 1];
    Pair far = {Packed::one(), Packed::one()};
    if (source == SOURCE_FOUR) {
        far = load_pair(from, (slot & ~1u) ^ 2);
    }
    if (input & COUNTED) {
        check_variable(g, slot, own.bits, other.bits, far.x.bits, far.y.bits, of_state);
    }
    return source == SOURCE_FOUR ? send_three(far.x, far.y, other) : other;
}

__device__ __forceinline__ Wide shuffle_xor(const Wide &w, int distance) {
    return Wide{__shfl_xor_sync(~0u, w.significand, distance),
                __shfl_xor_sync(~0u, static_cast<long long>(w.exponent), distance)};
}

__device__ __forceinline__ double shuffle_xor(double x, int distance) { return __shfl_xor_sync(~0u, x, distance); }

/// The message of a factor of `arity` <= 32 variables to the one of this thread, whose input is `value`;
/// the head is the first. In the numbers T.
template <class T>
__device__ __forceinline__ Packed warp_message_in(uint32_t arity, Packed value, const HornLiterals &c) {
    const uint32_t lane = threadIdx.x % 32;
    // The body in the threads 0, 1, ...; the head in the last one.
    const Packed head = Packed{__shfl_sync(~0u, value.bits, 0)};
    const Packed literal = Packed{__shfl_down_sync(~0u, value.bits, 1)};
    Body<T> body = lane + 1 < arity ? c.template literal<T>(lane + 1, literal) : Body<T>::neutral();
    Body<T> siblings[5];
    FASTLBP_UNROLL
    for (int level = 0; level < 5; ++level) {
        siblings[level] = Body<T>{shuffle_xor(body.all, 1 << level), shuffle_xor(body.not_all, 1 << level)};
        body = lane >> level & 1 ? combine(siblings[level], body) : combine(body, siblings[level]);
    }
    Body<T> rest = siblings[4];
    FASTLBP_UNROLL
    for (int level = 3; level >= 0; --level) {
        rest = combine(rest, siblings[level]);
    }
    const Packed to_body = body_message(c, lane + 1, HeadWeights<T>(head, c.values()), rest);
    const Packed to_head = head_message(body, c.values());
    const Packed moved = Packed{__shfl_up_sync(~0u, to_body.bits, 1)};
    return lane == 0 ? to_head : moved;
}

/// The same where doubles do not do.
__device__ __noinline__ inline uint64_t far_warp_message(uint32_t arity, uint64_t value, HornLiterals c) {
    return warp_message_in<Wide>(arity, Packed{value}, c).bits;
}

/// The same, in the numbers that do. All threads of the warp.
__device__ __forceinline__ Packed warp_message(uint32_t arity, Packed value, const HornLiterals &c) {
    bool fits = (c.c.flags & HORN_PLAIN) != 0 && arity <= 17;
    fits &= arity <= 5 ? value.is_within<88>() : arity <= 9 ? value.is_within<48>() : value.is_within<22>();
    const uint32_t lane = threadIdx.x % 32;
    return __all_sync(~0u, fits || lane >= arity) ? warp_message_in<double>(arity, value, c)
                                                  : Packed{far_warp_message(arity, value.bits, c)};
}

/// A factor of up to 32 variables, by a warp. Words: number of coefficients, then the inputs.
__device__ __noinline__ inline void wide_factor(const Block &block, Words words, uint32_t arity) {
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t input = lane < arity ? words[4 + lane] : 0;
    const Packed value = lane < arity ? gather(block.g, input, block.from, block.of_state) : Packed::one();
    Packed message = warp_message(arity, value, block.literals(words[1]));
    if (lane < arity) {
        const uint32_t slot = input & SLOT_MASK;
        if (message == Packed::contradiction()) {
            message = Packed::one();
            note_zero_by_zero(block.g, slot, block.of_pass);
        }
        block.to[slot] = message;
    }
}

/// What factors with one variable send is stored.
__device__ __forceinline__ void send_constants(const Binary &g, uint64_t n, Packed *to) {
    if (n < g.constants_until) {
        for (uint32_t i = thread_of_grid(); i < g.constant_count; i += threads_of_grid()) {
            to[g.constant_slots[i]] = g.constants[i];
        }
    }
}

/// All messages of all factors of a warp.
__device__ __forceinline__ void send_all(const Block &block, const WorkStream &stream) {
    for (;;) {
        Words words;
        const uint4 unit = stream.unit(words);
        const uint32_t head = unit.x, arity = head >> 2 & 63;
        if (head % 4 == UNIT_TILE) {
            switch (arity) {
            case 2: tile_factors<2>(block, words); break;
            case 3: tile_factors<3>(block, words); break;
            case 4: tile_factors<4>(block, words); break;
            case 5: tile_factors<5>(block, words); break;
            case 6: tile_factors<6>(block, words); break;
            case 7: tile_factors<7>(block, words); break;
            default: tile_factors<8>(block, words); break;
            }
        } else if (head % 4 == UNIT_ITEM) {
            wide_factor(block, words, arity);
        }
        stream.advance(head);
        if (unit.w != 0) {
            return;
        }
    }
}

}  // namespace fastlbp
