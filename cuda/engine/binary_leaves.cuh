// Eight neighbouring messages of a variable, as a thread takes them, and the products of all and of all others.
#pragma once

#include "binary.cuh"

namespace fastlbp {

/// The product of at most WARP_LEAVES messages: exponents fit 32 bits, counts 16. The low half of
/// `counts` has infinities, the high one zeros.
struct Part {
    double significand;
    int32_t exponent;
    uint32_t counts;

    static __device__ __forceinline__ Part normalise(double value, int32_t exponent, uint32_t counts) {
        const uint64_t bits = to_bits(value);
        return Part{from_bits((bits & FRACTION) | ONE_BITS),
                    exponent + static_cast<int32_t>(bits >> 52) - static_cast<int32_t>(BIAS), counts};
    }

    __device__ __forceinline__ uint32_t zeros() const { return counts >> 16; }
    __device__ __forceinline__ uint32_t infinities() const { return counts & 0xffff; }
    __device__ __forceinline__ Product product() const {
        return Product{significand, exponent, infinities(), zeros()};
    }
};

/// Eight messages of which one is far from 1, none of them certain: significands from 1 to 2 are multiplied as they
/// are, and exponents are added.
struct FarLeaves {
    double x[8];
    int32_t exponents[8], exponent;

    __device__ __forceinline__ explicit FarLeaves(const double (&values)[8]) : exponent(0) {
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            const Far far = Far::of(Packed{to_bits(values[i])});
            x[i] = far.significand;
            exponents[i] = far.exponent;
            exponent += far.exponent;
        }
    }
};

/// The product of all. By value, so that the caller's stay in registers.
__device__ __noinline__ inline Wide far_total(double a, double b, double c, double d, double e, double f, double g,
                                              double h) {
    const FarLeaves leaves({a, b, c, d, e, f, g, h});
    const double *const x = leaves.x;
    return Wide::normalise(((x[0] * x[1]) * (x[2] * x[3])) * ((x[4] * x[5]) * (x[6] * x[7])), leaves.exponent);
}

/// A product with any exponent, as a message: what is farther away than messages can be does not matter.
__device__ __forceinline__ Packed far_message_of(double significand, int64_t exponent) {
    const int64_t limit = 1 << 30;
    const int64_t clamped = exponent < -limit ? -limit : exponent > limit ? limit : exponent;
    return Far::normalise(significand, static_cast<int32_t>(clamped)).packed();
}

struct EightMessages {
    Packed odds[8];
};

/// The products of what is above and of all but one each of eight messages, none of them certain.
struct FarOthers {
    double products[8];
    int64_t exponents[8];

    __device__ __forceinline__ FarOthers(Wide above, const double (&values)[8]) {
        const FarLeaves leaves(values);
        const double *const x = leaves.x;
        const double pair[4] = {x[0] * x[1], x[2] * x[3], x[4] * x[5], x[6] * x[7]};
        const double to_left = above.significand * (pair[2] * pair[3]);
        const double to_right = above.significand * (pair[0] * pair[1]);
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            products[i] = ((i < 4 ? to_left : to_right) * pair[(i / 2) ^ 1]) * x[i ^ 1];
            exponents[i] = above.exponent + leaves.exponent - leaves.exponents[i];
        }
    }
};

/// The same as messages.
__device__ __noinline__ inline EightMessages far_others(Wide above, double a, double b, double c, double d, double e,
                                                        double f, double g, double h) {
    const FarOthers others(above, {a, b, c, d, e, f, g, h});
    EightMessages messages;
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        messages.odds[i] = far_message_of(others.products[i], others.exponents[i]);
    }
    return messages;
}

/// The same, each times soft evidence, some of all being certain: those of the eight as a bit each, and all.
__device__ __noinline__ inline EightMessages soft_others(Wide above, uint32_t zeros, uint32_t infinities, Certain all,
                                                         Packed soft, double a, double b, double c, double d, double e,
                                                         double f, double g, double h) {
    const FarOthers others(above, {a, b, c, d, e, f, g, h});
    const Far evidence = Far::of(uncertain(soft));
    EightMessages messages;
    all.count(soft);
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        const Certain certain = {all.zeros - (zeros >> i & 1), all.infinities - (infinities >> i & 1)};
        messages.odds[i] = certain.any() ? certain.odds()
                                         : far_message_of(others.products[i] * evidence.significand,
                                                          others.exponents[i] + evidence.exponent);
    }
    return messages;
}

/// Eight neighbouring messages of a variable. Of certain ones, `x` has ones.
struct Leaves {
    double x[8];
    uint32_t zeros, infinities;
    bool near;

    __device__ __forceinline__ void fill_with_ones() {
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            x[i] = 1.0;
        }
        zeros = 0;
        infinities = 0;
        near = true;
    }

    /// Whether the distances from one, as exponents, add up to so little that no product of some of these messages,
    /// none of which is certain, is farther than seven within 2^-64..2^64 can be.
    static __device__ __forceinline__ bool near_in_all(const Packed (&values)[8]) {
        constexpr uint32_t MOST = (7 * 64 - 8) << 20;
        uint32_t sum = 0;
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            sum += smaller_of(distance_from_one(values[i]), MOST);
        }
        return sum < MOST;
    }

    __device__ __forceinline__ void set(const Packed (&values)[8]) {
        zeros = 0;
        infinities = 0;
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            x[i] = values[i].plain();
        }
        near = all_near<64>(values);
        if (!near) {
            Packed rest[8];
            FASTLBP_UNROLL
            for (int i = 0; i < 8; ++i) {
                zeros |= static_cast<uint32_t>(values[i].bits == 0) << i;
                infinities |= static_cast<uint32_t>(values[i].bits == INFINITY_BITS) << i;
                rest[i] = uncertain(values[i]);
                x[i] = rest[i].plain();
            }
            near = all_near<64>(rest) || near_in_all(rest);
        }
    }

    __device__ __forceinline__ void load(const Packed *messages, uint32_t slot) {
        Packed values[8];
        FASTLBP_UNROLL
        for (int i = 0; i < 8; i += 2) {
            const Pair pair = load_pair(messages, slot + i);
            values[i] = pair.x;
            values[i + 1] = pair.y;
        }
        set(values);
    }

    /// The same if they are there; else ones.
    __device__ __forceinline__ void load_if(bool there, const Packed *messages, uint32_t slot) {
        if (there) {
            load(messages, slot);
        } else {
            fill_with_ones();
        }
    }

    __device__ __forceinline__ uint32_t counts() const { return __popc(zeros) << 16 | __popc(infinities); }

    /// The product of all, as Product::of_block.
    __device__ __forceinline__ Part total() const {
        if (near) {
            const double left = (x[0] * x[1]) * (x[2] * x[3]);
            const double right = (x[4] * x[5]) * (x[6] * x[7]);
            return Part::normalise(left * right, 0, counts());
        }
        const Wide wide = far_total(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
        return Part{wide.significand, static_cast<int32_t>(wide.exponent), counts()};
    }

    /// A product with what is above, if both are stored as doubles: only the exponent is added. Those of seven leaves within
    /// 2^-64..2^64 and a significand are within 2^-449..2^449.
    static __device__ __forceinline__ Packed plain_odds(double product, const Product &above) {
        return Packed{to_bits(product) + (static_cast<uint64_t>(above.exponent) << 52)};
    }

    /// For each leaf the product of what is above and of all others, as odds; as times_others.
    __device__ __forceinline__ void others(const Product &above, Packed (&odds)[8]) const {
        const double pair[4] = {x[0] * x[1], x[2] * x[3], x[4] * x[5], x[6] * x[7]};
        const double to_left = above.significand * (pair[2] * pair[3]);
        const double to_right = above.significand * (pair[0] * pair[1]);
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            odds[i] = plain_odds(((i < 4 ? to_left : to_right) * pair[(i / 2) ^ 1]) * x[i ^ 1], above);
        }
        if (!near || static_cast<uint64_t>(above.exponent + 500) > 1000) {
            const EightMessages far = far_others(above.wide(), x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
            FASTLBP_UNROLL
            for (int i = 0; i < 8; ++i) {
                odds[i] = far.odds[i];
            }
        }
        if ((zeros | infinities | above.zeros | above.infinities) != 0) {
            const Certain all = all_certain(above);
            FASTLBP_UNROLL
            for (int i = 0; i < 8; ++i) {
                const Certain certain = {all.zeros - (zeros >> i & 1), all.infinities - (infinities >> i & 1)};
                odds[i] = certain.any() ? certain.odds() : odds[i];
            }
        }
    }

    /// The same, each times soft evidence.
    __device__ __forceinline__ void others_with(const Product &above, Packed soft, Packed (&odds)[8]) const {
        const EightMessages messages = soft_others(above.wide(), zeros, infinities, all_certain(above), soft, x[0], x[1],
                                                   x[2], x[3], x[4], x[5], x[6], x[7]);
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            odds[i] = messages.odds[i];
        }
    }

  private:
    __device__ __forceinline__ Certain all_certain(const Product &above) const {
        return Certain{above.zeros + __popc(zeros), above.infinities + __popc(infinities)};
    }
};

/// What a hub sends along eight edges, given what is above these messages; if there may be soft evidence.
template <bool SOFT = true>
__device__ __forceinline__ void hub_sends(const Binary &g, uint32_t slot, uint32_t known, const Leaves &leaves,
                                          const Product &above, Packed (&odds)[8]) {
    if (SOFT && known == KNOWN_SOFT) {
        leaves.others_with(above, g.soft_of_hub(slot), odds);
    } else if (known) {
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            odds[i] = certain_message(known);
        }
    } else {
        leaves.others(above, odds);
    }
}

/// What a variable with up to four factors and soft evidence sends, and whether certain messages disagree. Messages that are
/// not there are ones.
__device__ __forceinline__ bool soft_few_send(Packed soft, const Packed (&v)[4], Packed (&odds)[8]) {
    const Packed one = Packed::one(), values[8] = {v[0], v[1], v[2], v[3], one, one, one, one};
    Leaves leaves;
    leaves.set(values);
    leaves.others_with(Product::neutral(), soft, odds);
    Certain certain = {static_cast<uint32_t>(__popc(leaves.zeros)), static_cast<uint32_t>(__popc(leaves.infinities))};
    certain.count(soft);
    return certain.contradictory();
}

}  // namespace fastlbp
