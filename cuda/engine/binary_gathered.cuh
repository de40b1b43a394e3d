// Messages of factors whose variables' messages are read by a thread each.
#pragma once

#include "binary_factors.cuh"

namespace fastlbp {

/// One of a variable's messages, from the new or the old ones.
__device__ __forceinline__ Packed read_mixed(const Block &pass, uint32_t slot, bool is_new) {
    return (is_new ? pass.to : pass.from)[slot];
}

/// Stores a message; notes if it was 0/0, and if the certain ones change by it.
__device__ __forceinline__ void store_message(uint32_t slot, Packed message, Packed old,
                                              const Block &pass) {
    if (message == Packed::contradiction()) {
        message = Packed::one();
        note_zero_by_zero(pass.g, slot, pass.of_pass);
    }
    if (message != old && (message.is_certain() || old.is_certain())) {
        pass.of_pass->certain_changed = 1;
    }
    pass.to[slot] = message;
}

/// The message of a factor to the variable of this thread, by groups of 2^LEVELS threads: the body's
/// variables in the first ones, the head in the last one; others are neutral. In the numbers T.
template <class T, int LEVELS>
__device__ __forceinline__ Packed group_message_in(Packed value, bool there, bool negated, const HeadValues &f) {
    constexpr int WIDTH = 1 << LEVELS;
    const uint32_t own = threadIdx.x % WIDTH;
    const bool is_head = own == WIDTH - 1;
    Body<T> body = Body<T>::neutral();
    if (there && !is_head) {
        FromPacked<T>::weights(value, negated, body.all, body.not_all);
    }
    const Packed head = Packed{__shfl_sync(~0u, value.bits, WIDTH - 1, WIDTH)};
    const HeadWeights<T> weights(head, f);
    Body<T> siblings[LEVELS];
    FASTLBP_UNROLL
    for (int level = 0; level < LEVELS; ++level) {
        siblings[level] = Body<T>{shuffle_xor(body.all, 1 << level), shuffle_xor(body.not_all, 1 << level)};
        const bool right = (own >> level & 1) != 0;
        const Body<T> a = right ? siblings[level] : body, b = right ? body : siblings[level];
        body = combine(a, b);
    }
    Body<T> rest = siblings[LEVELS - 1];
    FASTLBP_UNROLL
    for (int level = LEVELS - 2; level >= 0; --level) {
        rest = combine(rest, siblings[level]);
    }
    T holds, fails;
    weights.with_rest(rest, holds, fails);
    const T weight1 = add(multiply(Real<T>::from_f64(f.values[0][0]), body.all),
                          multiply(Real<T>::from_f64(f.values[1][0]), body.not_all));
    const T weight0 = add(multiply(Real<T>::from_f64(f.values[0][1]), body.all),
                          multiply(Real<T>::from_f64(f.values[1][1]), body.not_all));
    return FromPacked<T>::ratio(is_head ? weight1 : holds, is_head ? weight0 : fails, !is_head && negated);
}

/// The same where doubles do not do.
template <int LEVELS>
__device__ __noinline__ uint64_t far_group_message(uint64_t value, bool there, bool negated, HeadValues f) {
    return group_message_in<Wide, LEVELS>(Packed{value}, there, negated, f).bits;
}

/// The same, in the numbers that do. All threads of the warp.
template <int LEVELS>
__device__ __forceinline__ Packed group_message(Packed value, bool there, bool negated, const HornCoefficients &c,
                                                uint32_t arity) {
    const bool within = arity <= 5   ? value.is_within<88>()
                        : arity <= 9 ? value.is_within<48>()
                                     : arity <= 17 && value.is_within<22>();
    const bool fits = !there || (within && (c.flags & HORN_PLAIN) != 0);
    if (__all_sync(~0u, fits)) {
        return group_message_in<double, LEVELS>(value, there, negated, c.head);
    }
    return Packed{far_group_message<LEVELS>(value.bits, there, negated, c.head)};
}

/// As Packed::unpack and pack where the value is not stored as a double. Seldom called.
__device__ __noinline__ inline Wide unpack_far(uint64_t bits) { return Packed{bits}.unpack(); }
__device__ __noinline__ inline uint64_t pack_far(double significand, int32_t exponent) {
    return Packed::pack(Wide{significand, exponent}).bits;
}

/// Products of the other messages of variables, one of which each of 2^width neighbouring threads has, in the
/// shape of the tree; with a width of 0, the message itself, and with one of 6 all threads have one in each of
/// two rounds. Rounds side by side, so that one's waiting is another's time. No width is above `height`.
/// Significands from 1 to 2, of which 64 are multiplied far below the largest double, and exponents.
template <int COUNT>
__device__ __forceinline__ void products_of_others(Packed (&values)[COUNT], const uint32_t (&widths)[COUNT],
                                                   uint32_t height, bool (&contradictory)[COUNT]) {
    uint32_t zeros[COUNT], infinities[COUNT];
    double product[COUNT], siblings[COUNT][5];
    int32_t own_exponent[COUNT], exponent[COUNT];
    FASTLBP_UNROLL
    for (int i = 0; i < COUNT; ++i) {
        zeros[i] = __ballot_sync(~0u, values[i].bits == 0);
        infinities[i] = __ballot_sync(~0u, values[i].bits == INFINITY_BITS);
        const uint64_t bits = widths[i] == 0 ? ONE_BITS : uncertain(values[i]).bits;
        product[i] = from_bits((bits & FRACTION) | ONE_BITS);
        exponent[i] = static_cast<int32_t>(bits >> 52) - static_cast<int32_t>(BIAS);
        if (bits & TAG) {
            const Wide wide = unpack_far(bits);
            product[i] = wide.significand;
            exponent[i] = static_cast<int32_t>(wide.exponent);
        }
        own_exponent[i] = exponent[i];
        siblings[i][3] = siblings[i][4] = 1.0;
    }
    FASTLBP_UNROLL
    for (int level = 0; level < 5; ++level) {
        if (level < 3 || height > 3) {
            FASTLBP_UNROLL
            for (int i = 0; i < COUNT; ++i) {
                siblings[i][level] = __shfl_xor_sync(~0u, product[i], 1 << level);
                product[i] = product[i] * siblings[i][level];
                const int32_t other = __shfl_xor_sync(~0u, exponent[i], 1 << level);
                exponent[i] += level < static_cast<int>(widths[i]) ? other : 0;
            }
        }
    }
    FASTLBP_UNROLL
    for (int i = 0; i < COUNT; ++i) {
        const bool twice = COUNT == 2 && widths[i] > 5;
        double rest = twice ? product[COUNT - 1 - i] : 1.0;
        FASTLBP_UNROLL
        for (int level = 4; level >= 0; --level) {
            rest = rest * (level < static_cast<int>(widths[i]) ? siblings[i][level] : 1.0);
        }
        const uint64_t bits = to_bits(rest);
        const int32_t top = static_cast<int32_t>(bits >> 52) - static_cast<int32_t>(BIAS) + exponent[i] -
                            own_exponent[i] + (twice ? exponent[COUNT - 1 - i] : 0);
        Packed odds = Packed{(bits & FRACTION) | static_cast<uint64_t>(top + static_cast<int32_t>(BIAS)) << 52};
        if (static_cast<uint32_t>(top + PLAIN_EXPONENT) > 2 * PLAIN_EXPONENT) {
            odds = Packed{pack_far(from_bits((bits & FRACTION) | ONE_BITS), top)};
        }
        const uint32_t zeros_beyond = twice ? zeros[COUNT - 1 - i] : 0;
        const uint32_t infinities_beyond = twice ? infinities[COUNT - 1 - i] : 0;
        contradictory[i] = false;
        if ((zeros[i] | infinities[i] | zeros_beyond | infinities_beyond) != 0) {
            const uint32_t lane = threadIdx.x % 32, threads = 1u << smaller_of(widths[i], 5u);
            const uint32_t all = (threads < 32 ? (1u << threads) - 1 : ~0u) << (lane & ~(threads - 1));
            const uint32_t others = all & ~(1u << lane);
            const Certain certain = {static_cast<uint32_t>(__popc(zeros[i] & others) + __popc(zeros_beyond)),
                                     static_cast<uint32_t>(__popc(infinities[i] & others) + __popc(infinities_beyond))};
            contradictory[i] = certain.contradictory();
            odds = certain.any() ? certain.odds() : odds;
        }
        values[i] = widths[i] == 0 ? values[i] : odds;
    }
}

/// Some messages of factors, each by 2^LEVELS threads, and their variables' by as many as have messages, so
/// that all run the same instructions. `shape`: the number of rounds in which messages are read, at least
/// one; from bit 8 on the largest width. Words: for each thread the input, ~0 for none; then SENT, NEGATED,
/// the number of coefficients, and the thread (bits 0-4) and the round (5-7) that has what the variable
/// sends; then for each round what each thread reads (LEAF_NEW).
template <int LEVELS>
struct GatheredFactors {
    uint32_t second, slot, wanted, rounds, height;
    bool there, sent;
    Packed value, old;
    HornCoefficients coefficients;

    /// What can be done before the level begins.
    __device__ __forceinline__ void prepare(const Block &pass, const Words &words, uint32_t shape) {
        const uint32_t lane = threadIdx.x % 32, input = words[4 + lane];
        second = words[36 + lane];
        rounds = shape & 255;
        height = shape >> 8;
        there = input != ~uint32_t(0);
        sent = there && (second & SENT) != 0;
        slot = input & SLOT_MASK;
        const uint32_t source = there ? input >> SOURCE_SHIFT : SOURCE_NONE;
        value = source == SOURCE_FALSE ? Packed::zero() : source == SOURCE_TRUE ? Packed::infinity() : Packed::one();
        // What an observed variable sends is known.
        wanted = source == SOURCE_NONE || source == SOURCE_FALSE || source == SOURCE_TRUE ? ~uint32_t(0)
                                                                                          : second >> 5 & 7;
        old = sent ? pass.from[slot] : Packed::one();
        coefficients = pass.coefficients_of(there ? second >> COEFFICIENTS_SHIFT : 0);
    }

    /// Reads what variables send in some rounds from one on.
    template <int COUNT>
    __device__ __forceinline__ void read(const Block &pass, const Words &words, uint32_t first) {
        const uint32_t lane = threadIdx.x % 32;
        Packed values[COUNT];
        uint32_t widths[COUNT];
        bool contradictory[COUNT], any = false;
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            const uint32_t leaf = words[68 + 32 * (first + i) + lane];
            values[i] = (leaf & SLOT_MASK) == SLOT_MASK
                            ? Packed::one()
                            : read_mixed(pass, leaf & SLOT_MASK, (leaf & LEAF_NEW) != 0);
            widths[i] = leaf >> LEAF_SHIFT;
        }
        products_of_others(values, widths, height, contradictory);
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            const uint64_t gathered = __shfl_sync(~0u, values[i].bits, second & 31);
            value = wanted == first + i ? Packed{gathered} : value;
            any |= contradictory[i];
        }
        if (__any_sync(~0u, any)) {
            for (int i = 0; i < COUNT; ++i) {
                const bool disagreed = __shfl_sync(~0u, static_cast<int>(contradictory[i]), second & 31) != 0;
                if (wanted == first + i && disagreed) {
                    note_met(pass.of_pass, variable_of_slot(pass.g, slot));
                }
            }
        }
    }

    __device__ __forceinline__ void send(const Block &pass, const Words &words, uint32_t arity) {
        uint32_t round = 0;
        for (; round + 1 < rounds; round += 2) {
            read<2>(pass, words, round);
        }
        if (round < rounds) {
            read<1>(pass, words, round);
        }
        const Packed result = group_message<LEVELS>(value, there, (second & NEGATED) != 0, coefficients, arity);
        if (sent) {
            store_message(slot, result, old, pass);
        }
    }
};

/// The same for wide factors.
__device__ __noinline__ inline void gathered_wide_factors(const Block &pass, Words words, uint32_t arity,
                                                          uint32_t shape) {
    GatheredFactors<5> factors;
    factors.prepare(pass, words, shape);
    factors.send(pass, words, arity);
}

}  // namespace fastlbp
