// What variables send in passes by levels, from the messages that threads of a warp have read.
//
// Most often one message comes long after all others: that of the factor before, be it of this pass or, for the first
// factors, of the pass before. Of each variable, one of the same eight may be the *last* one. Everything else is
// multiplied before it is there; then only those products are left that it meets on its way up the tree, and those
// that the way down to the factor meets.
//
// What warps execute here should be short, as the cache of instructions is small, and without branches.
#pragma once

#include "binary_reads.cuh"

namespace fastlbp {

/// What a variable sends, and whether certain messages disagree there.
struct Sent {
    uint64_t bits;
    bool contradictory;
};

/// The same as the product that it is, the significand of which may be up to 2^32.
struct ProductSent {
    double significand;
    int32_t exponent;
    Certain certain;

    static __device__ __forceinline__ ProductSent of(Packed value) {
        const Far far = Far::of(uncertain(value));
        ProductSent product = {far.significand, far.exponent, {0, 0}};
        product.certain.count(value);
        return product;
    }

    __device__ __forceinline__ Sent sent() const {
        const Packed odds = Far::normalise(significand, exponent).packed();
        return Sent{certain.any() ? certain.odds().bits : odds.bits, certain.contradictory()};
    }

    /// Times soft evidence.
    __device__ __forceinline__ ProductSent times(const ProductSent &soft) const {
        return ProductSent{significand * soft.significand, exponent + soft.exponent,
                           {certain.zeros + soft.certain.zeros, certain.infinities + soft.certain.infinities}};
    }

    /// That of another thread of the warp.
    __device__ __forceinline__ ProductSent of_thread(uint32_t thread) const {
        const int from = static_cast<int>(thread);
        return ProductSent{__shfl_sync(~0u, significand, from), __shfl_sync(~0u, exponent, from),
                           {__shfl_sync(~0u, certain.zeros, from), __shfl_sync(~0u, certain.infinities, from)}};
    }
};

// Messages are multiplied as doubles, certain ones as well: a zero makes a zero of all others, an infinity an infinity, and both
// something that is no number. Those of hubs are ones, and counted.

/// What counts a zero and an infinity among some messages, above an exponent of 19 bits.
constexpr int32_t EXPONENT_ZERO = 1 << 19;
constexpr int32_t EXPONENT_INFINITY = 1 << 25;

/// What counts a message if it is certain.
__device__ __forceinline__ int32_t exponent_of_certain(Packed value) {
    return value == Packed::zero() ? EXPONENT_ZERO : value == Packed::infinity() ? EXPONENT_INFINITY : 0;
}

/// The same of some messages, a bit for each that is zero and for each that is infinite.
__device__ __forceinline__ int32_t exponent_of_certain(uint32_t zeros, uint32_t infinities) {
    return (zeros != 0 ? EXPONENT_ZERO : 0) + (infinities != 0 ? EXPONENT_INFINITY : 0);
}

/// The most that the exponents of a variable's messages may add up to, signs set aside, below what counts certain ones.
constexpr uint32_t MOST_EXPONENTS = 256000;

/// Finds the certain messages among eight, a bit for each; `rest` gets the others, and ones.
__device__ __forceinline__ void set_certain_apart(const Packed (&values)[8], Packed (&rest)[8], uint32_t &zeros,
                                                  uint32_t &infinities) {
    zeros = 0;
    infinities = 0;
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        zeros |= static_cast<uint32_t>(values[i] == Packed::zero()) << i;
        infinities |= static_cast<uint32_t>(values[i] == Packed::infinity()) << i;
        rest[i] = uncertain(values[i]);
    }
}

/// Whether a message is within a range as in Partial.
__device__ __forceinline__ bool is_in_range(Packed value, uint32_t range) {
    return (high_half(value.bits) - ((static_cast<uint32_t>(BIAS) << 20) - range) < 2 * range) | (range == 0);
}

__device__ __forceinline__ bool is_in_range_or_certain(Packed value, uint32_t range) {
    return is_in_range(value, range) | is_certain_half(high_half(value.bits));
}

/// The product of a thread's own messages, from 1 to 2, and its exponent.
struct Share {
    double significand;
    int32_t exponent;

    static __device__ __forceinline__ Share of(double product) {
        const uint64_t bits = to_bits(product);
        return Share{from_bits((bits & FRACTION) | ONE_BITS),
                     static_cast<int32_t>(bits >> 52) - static_cast<int32_t>(BIAS)};
    }
    /// Of a message that is not certain.
    static __device__ __forceinline__ Share of_any(Packed value) {
        const Far far = Far::of(value);
        return Share{far.significand, far.exponent};
    }
};

/// What a variable sends, with an exponent that is still to be added.
struct Completed {
    double product;
    int32_t exponent;

    /// From a product that may be certain, or no number, and then has no exponent.
    static __device__ __forceinline__ Completed of(double product, int32_t exponent) {
        const uint32_t high = high_half(to_bits(product));
        return Completed{product, high == 0 || high >= HIGH_INFINITY ? 0 : exponent};
    }
    __device__ __forceinline__ bool is_number() const {
        const uint64_t bits = to_bits(product);
        return high_half(bits) < HIGH_INFINITY || bits == INFINITY_BITS;
    }

    /// Times soft evidence.
    __device__ __forceinline__ Completed times(Packed soft) const {
        const bool is_certain = is_certain_half(high_half(soft.bits));
        const Share share = Share::of_any(uncertain(soft));
        return of(product * (is_certain ? soft.plain() : share.significand), exponent + share.exponent);
    }

    /// As a message that is stored as a double, if it is one.
    __device__ __forceinline__ Packed plain() const {
        return Packed{to_bits(product) + (static_cast<uint64_t>(static_cast<int64_t>(exponent)) << 52)};
    }
    __device__ __forceinline__ bool is_plain() const {
        const int32_t top = static_cast<int32_t>(to_bits(product) >> 52) - static_cast<int32_t>(BIAS) + exponent;
        return (static_cast<uint32_t>(top + PLAIN_EXPONENT) <= 2 * PLAIN_EXPONENT) | (exponent == 0);
    }
    /// As any message.
    __device__ __forceinline__ Packed packed() const {
        return is_plain() ? plain() : Far::normalise(product, exponent).packed();
    }
};

/// What a variable sends but for the last message: the products that it meets. An exponent is still to be added, which counts
/// certain messages as well.
struct Partial {
    double above, up[2], down[2];
    int32_t exponent;
    /// The last message must be within 2^-range..2^range, as in the high half of a double, or certain; 0: may be
    /// anything.
    uint32_t range;

    static __device__ __forceinline__ Partial of(Packed value) {
        return Partial{value.plain(), {1.0, 1.0}, {1.0, 1.0}, 0, 0};
    }

    /// From the products above what is one, two and four leaves wide, and of all; given how far away the last one is.
    __device__ __forceinline__ void set(uint32_t last, double one, double two, double four, double all) {
        above = last == 0 ? all : last == 1 ? one : last < 4 ? two : four;
    }

    /// From the leaf and the pair beside the factor's, and those beside the last one's.
    __device__ __forceinline__ void set_paths(uint32_t last, double leaf, double pair, double leaf_of_last,
                                              double pair_of_last) {
        up[0] = last > 1 ? leaf_of_last : 1.0;
        up[1] = last > 3 ? pair_of_last : 1.0;
        down[0] = last > 1 ? leaf : 1.0;
        down[1] = last > 3 ? pair : 1.0;
    }

    /// Takes over another one if it is meant; without a branch.
    __device__ __forceinline__ void take(const Partial &other, bool meant) {
        above = meant ? other.above : above;
        FASTLBP_UNROLL
        for (int i = 0; i < 2; ++i) {
            up[i] = meant ? other.up[i] : up[i];
            down[i] = meant ? other.down[i] : down[i];
        }
        exponent = meant ? other.exponent : exponent;
        range = meant ? other.range : range;
    }

    /// Certain messages that an exponent counts decide; where they disagree, the product is no number. If there are none, `more` is
    /// added to the exponent.
    __device__ __forceinline__ void decide(int32_t more) {
        const uint32_t counts = static_cast<uint32_t>(exponent + EXPONENT_ZERO / 2) / EXPONENT_ZERO;
        const bool infinite = counts >= EXPONENT_INFINITY / EXPONENT_ZERO;
        const bool none = counts % (EXPONENT_INFINITY / EXPONENT_ZERO) != 0;
        const double only = from_bits(!infinite ? 0 : none ? ~uint64_t(0) : INFINITY_BITS);
        above = counts == 0 ? above : only;
        exponent = counts == 0 ? exponent + more : 0;
    }

    /// With the last message, or a one; returns whether that was right.
    __device__ __forceinline__ bool complete(Packed last, Completed &completed) const {
        // Zero and infinity have no exponent.
        const bool is_certain = is_certain_half(high_half(last.bits));
        completed = Completed{times(last.plain()), is_certain ? 0 : exponent};
        return is_in_range(last, range) | is_certain;
    }

    /// The same by the digits of the last message, whatever it is. Where certain messages disagree, the product is no number.
    __device__ __forceinline__ Completed complete_by_digits(Packed last) const {
        const bool is_certain = is_certain_half(high_half(last.bits));
        const Share share = Share::of_any(uncertain(last));
        return Completed::of(times(is_certain ? last.plain() : share.significand), exponent + share.exponent);
    }

  private:
    /// What is not met is one: multiplying by it is faster than a branch.
    __device__ __forceinline__ double times(double last) const {
        double product = last * up[0];
        product = product * up[1];
        product = above * product;
        product = product * down[1];
        return product * down[0];
    }
};

/// Where a thread finds what a variable sends: in another one, in this round, and how far away the last message is.
struct Wanted {
    uint32_t round, thread, last;
};

/// Adds up what the others of 2^width neighbouring threads have; with a width of 0, its own. No width is above 2.
__device__ __forceinline__ int32_t sum_beside(int32_t own, uint32_t width) {
    const int32_t other = __shfl_xor_sync(~0u, own, 1);
    const int32_t others = __shfl_xor_sync(~0u, own + other, 2);
    return (width > 0 ? other : own) + (width > 1 ? others : 0);
}

/// Products of the other messages of variables, one of which each of 2^width neighbouring threads has, in the
/// shape of the tree; with a width of 0, the message itself. No width is above 2. Two rounds side by side, so that
/// one's waiting is another's time. Returns whether this was right. BY_DIGITS: messages need not be doubles, and certain ones are
/// counted.
template <bool BY_DIGITS>
__device__ __forceinline__ bool take_rounds(const RoundReadings &readings, const Wanted &wanted, Partial &partial) {
    // Messages within 2^-248..2^248, or fewer within more, are multiplied as they are: powers of two do not matter
    // for rounding.
    bool near = true;
    double product[2], siblings[2][2];
    uint32_t ranges[2];
    int32_t exponents[2] = {0, 0};
    FASTLBP_UNROLL
    for (int i = 0; i < 2; ++i) {
        const Packed value = readings.value(i);
        ranges[i] = readings.width(i) == 0 ? 0 : (992u << 20) >> readings.width(i);
        if (BY_DIGITS) {
            const Share share = Share::of_any(uncertain(value));
            near &= static_cast<uint32_t>(share.exponent + static_cast<int32_t>(MOST_EXPONENTS / 4)) <= MOST_EXPONENTS / 2;
            product[i] = share.significand;
            exponents[i] = sum_beside(share.exponent + exponent_of_certain(value), readings.width(i));
        } else {
            near &= is_in_range_or_certain(value, ranges[i]);
            product[i] = value.plain();
        }
    }
    FASTLBP_UNROLL
    for (int i = 0; i < 2; ++i) {
        const double other = __shfl_xor_sync(~0u, product[i], 1);
        siblings[i][0] = readings.width(i) > 0 ? other : product[i];
        product[i] = product[i] * other;
    }
    FASTLBP_UNROLL
    for (int i = 0; i < 2; ++i) {
        const double others = __shfl_xor_sync(~0u, product[i], 2);
        siblings[i][1] = readings.width(i) > 1 ? others : 1.0;
    }
    FASTLBP_UNROLL
    for (int i = 0; i < 2; ++i) {
        const double leaf = __shfl_sync(~0u, siblings[i][0], wanted.thread);
        const double pair = __shfl_sync(~0u, siblings[i][1], wanted.thread);
        const double leaf_of_last = __shfl_sync(~0u, siblings[i][0], wanted.thread ^ wanted.last);
        const uint32_t range = __shfl_sync(~0u, ranges[i], wanted.thread);
        Partial of_round = Partial::of(Packed::one());
        of_round.set(wanted.last, pair, 1.0, 1.0, pair * leaf);
        of_round.set_paths(wanted.last, leaf, 1.0, leaf_of_last, 1.0);
        of_round.range = wanted.last != 0 ? range : 0;
        of_round.exponent = BY_DIGITS ? __shfl_sync(~0u, exponents[i], wanted.thread) : 0;
        partial.take(of_round, wanted.round == static_cast<uint32_t>(i));
    }
    return near;
}

/// Most hubs have at most so many levels of threads.
constexpr int FEW_LEVELS = 2;

/// The shares of the neighbouring subtrees that a thread meets on the way to the top of 2^width threads. 32
/// significands are multiplied as they are, far below the largest double.
template <int LEVELS = 5>
struct SiblingShares {
    double significands[LEVELS], all;
    int32_t own_exponent, exponent;

    SiblingShares() = default;

    __device__ __forceinline__ explicit SiblingShares(const Share &own)
        : all(own.significand), own_exponent(own.exponent), exponent(own.exponent) {
        FASTLBP_UNROLL
        for (int level = 0; level < LEVELS; ++level) {
            significands[level] = 1.0;
        }
    }

    __device__ __forceinline__ SiblingShares(const Share &own, uint32_t width) : SiblingShares(own) {
        FASTLBP_UNROLL
        for (int level = 0; level < LEVELS; ++level) {
            climb(level, width);
        }
    }

    __device__ __forceinline__ void climb(int level, uint32_t width) {
        const double sibling = __shfl_xor_sync(~0u, all, 1 << level);
        const int32_t more = __shfl_xor_sync(~0u, exponent, 1 << level);
        significands[level] = level < static_cast<int>(width) ? sibling : 1.0;
        all = all * significands[level];
        exponent += level < static_cast<int>(width) ? more : 0;
    }

    /// The share of all.
    __device__ __forceinline__ Share total() const {
        const Share share = Share::of(all);
        return Share{share.significand, share.exponent + exponent};
    }

    /// That of all others times what is above; its significand may be up to 2^32.
    __device__ __forceinline__ Share others(const Share &above) const {
        double rest = above.significand;
        FASTLBP_UNROLL
        for (int level = LEVELS - 1; level >= 0; --level) {
            rest = rest * significands[level];
        }
        return Share{rest, above.exponent + exponent - own_exponent};
    }
};

/// What variables send, one of whose messages each of 2^width neighbouring threads has, whatever they are. No width is
/// above 2.
__device__ __noinline__ inline ProductSent far_others_of_group(uint64_t value, uint32_t width) {
    const uint32_t lane = threadIdx.x % 32, threads = 1u << width;
    const uint32_t zeros = __ballot_sync(~0u, value == 0);
    const uint32_t infinities = __ballot_sync(~0u, value == INFINITY_BITS);
    const SiblingShares<2> siblings(Share::of_any(uncertain(Packed{value})), width);
    if (width == 0) {
        return ProductSent::of(Packed{value});
    }
    const uint32_t all = (threads < 32 ? (1u << threads) - 1 : ~0u) << (lane & ~(threads - 1));
    const uint32_t others = all & ~(1u << lane);
    const Certain certain = {static_cast<uint32_t>(__popc(zeros & others)),
                             static_cast<uint32_t>(__popc(infinities & others))};
    const Share rest = siblings.others(Share{1.0, 0});
    return ProductSent{rest.significand, rest.exponent, certain};
}

/// The range of eight messages that are multiplied as they are, and that of a last one by which such products are: then all are
/// within 2^-1000..2^1000.
constexpr uint32_t RANGE_OF_EIGHT = 64u << 20;
constexpr uint32_t RANGE_OF_LAST = 500u << 20;

/// Whether eight messages are so.
__device__ __forceinline__ bool eight_near(const Packed (&values)[8]) {
    uint32_t distances = 0;
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        distances |= high_half(values[i].bits) - ((static_cast<uint32_t>(BIAS) << 20) - RANGE_OF_EIGHT);
    }
    return distances < 2 * RANGE_OF_EIGHT;
}

/// The product of eight messages near 1.
__device__ __forceinline__ double product_of_eight(const Packed (&v)[8]) {
    return ((v[0].plain() * v[1].plain()) * (v[2].plain() * v[3].plain())) *
           ((v[4].plain() * v[5].plain()) * (v[6].plain() * v[7].plain()));
}

/// The exponents of eight messages of a hub, of all and of all but the factor's, with counts of certain ones as in Partial.
struct ExponentsOfEight {
    int32_t all = 0, of_others = 0;

    __device__ __forceinline__ void add(int32_t exponent, bool is_own) {
        all += exponent;
        of_others += is_own ? 0 : exponent;
    }

    /// Adds what counts certain ones, a bit for each.
    __device__ __forceinline__ void count(uint32_t zeros, uint32_t infinities, uint32_t own) {
        all += exponent_of_certain(zeros, infinities);
        of_others += exponent_of_certain(zeros & ~(1u << own), infinities & ~(1u << own));
    }
};

/// Leaves the digits of eight messages that are not certain, and adds their exponents.
__device__ __forceinline__ void take_digits(Packed (&values)[8], uint32_t own, ExponentsOfEight &exponents) {
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < 8; ++i) {
        const Share share = Share::of_any(values[i]);
        values[i] = Packed{to_bits(share.significand)};
        exponents.add(share.exponent, i == own);
    }
}

/// The same of eight that are certain, and leave ones, or stored as doubles. Returns whether they are so.
__device__ __forceinline__ bool take_plain_digits(Packed (&values)[8], uint32_t own, ExponentsOfEight &exponents) {
    bool is_plain = true;
    uint32_t zeros = 0, infinities = 0;
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < 8; ++i) {
        is_plain &= values[i].is_plain();
        zeros |= static_cast<uint32_t>(values[i] == Packed::zero()) << i;
        infinities |= static_cast<uint32_t>(values[i] == Packed::infinity()) << i;
        const Share share = Share::of(uncertain(values[i]).plain());
        values[i] = Packed{to_bits(share.significand)};
        exponents.add(share.exponent, i == own);
    }
    exponents.count(zeros, infinities, own);
    return is_plain;
}

/// The same whatever the messages are; those of 2^`width` threads are multiplied together. Returns whether their exponents leave room
/// for what counts certain ones.
__device__ __forceinline__ bool take_any_digits(Packed (&values)[8], uint32_t own, uint32_t width, ExponentsOfEight &exponents) {
    uint32_t sum = 0;
    uint32_t zeros, infinities;
    Packed rest[8];
    set_certain_apart(values, rest, zeros, infinities);
    FASTLBP_UNROLL
    for (uint32_t i = 0; i < 8; ++i) {
        const Share share = Share::of_any(rest[i]);
        values[i] = Packed{to_bits(share.significand)};
        exponents.add(share.exponent, i == own);
        sum += static_cast<uint32_t>(share.exponent < 0 ? -share.exponent : share.exponent);
    }
    exponents.count(zeros, infinities, own);
    return sum <= MOST_EXPONENTS >> width;
}

/// The product of a thread's eight messages near 1, or of their digits.
__device__ __forceinline__ Share share_of_eight(const Packed (&values)[8], const ExponentsOfEight &exponents) {
    const Share share = Share::of(product_of_eight(values));
    return Share{share.significand, share.exponent + exponents.all};
}

/// What hubs send whose messages are read by threads, each with eight near 1, given what is above those of each, but for
/// the last ones. The threads at the slots of the factor have it.
__device__ __forceinline__ Partial partial_of_eight(const HubWords &words, const Packed (&values)[8],
                                                    const Share &above) {
    double x[8];
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        x[i] = values[i].plain();
    }
    const uint32_t own = words.z & 7, last = hub_reading_last(words.y);
    const Siblings<double> s(x, own);
    // Of the pair in which the last one is, it is the other one.
    const double first = s.half[0] * s.half[1], second = s.half[2] * s.half[3], pair = s.pair[0] * s.pair[1];
    const double two = above.significand * (first * second), one = two * pair;
    Partial partial;
    partial.set(last, one, two, above.significand, one * s.leaf);
    const bool in_second = ((own ^ last) & 2) != 0;
    partial.set_paths(last, s.leaf, pair, last < 4 ? pair : in_second ? second : first, in_second ? first : second);
    partial.exponent = above.exponent;
    return partial;
}

/// What is above the messages of hubs that threads read, those of other pieces: their share, with certain ones as in Partial but no
/// exponent; and the exponent.
struct PieceShare {
    Share above;
    int32_t exponent;

    static __device__ __forceinline__ PieceShare none() { return PieceShare{{1.0, 0}, 0}; }
};

/// Takes over what hubs send that are read in N rounds, side by side; `top` is above those of the first. Returns whether
/// that was right. `few`: none has more than 2^FEW_LEVELS threads. BY_DIGITS: messages need not be doubles.
template <int N, bool BY_DIGITS>
__device__ __forceinline__ bool take_hubs(const HubReadings *readings, const Share &top, const uint32_t *rounds,
                                          bool few, const Wanted &wanted, Partial &partial) {
    Packed values[N][8];
    bool is_right = true;
    ExponentsOfEight exponents[N];
    SiblingShares<> shares[N];
    FASTLBP_UNROLL
    for (int n = 0; n < N; ++n) {
        readings[n].take(values[n]);
        if (BY_DIGITS) {
            is_right &= take_any_digits(values[n], readings[n].words.z & 7, hub_width(readings[n].words), exponents[n]);
        } else if (!__all_sync(~0u, eight_near(values[n]))) {
            is_right &= take_plain_digits(values[n], readings[n].words.z & 7, exponents[n]);
        }
        shares[n] = SiblingShares<>(share_of_eight(values[n], exponents[n]));
    }
    const auto climb = [&](int first, int end) {
        FASTLBP_UNROLL
        for (int level = first; level < end; ++level) {
            FASTLBP_UNROLL
            for (int n = 0; n < N; ++n) {
                shares[n].climb(level, hub_width(readings[n].words));
            }
        }
    };
    // One branch is worth it; one at each level is not.
    climb(0, FEW_LEVELS);
    if (!few) {
        climb(FEW_LEVELS, 5);
    }
    FASTLBP_UNROLL
    for (int n = 0; n < N; ++n) {
        const Share above = shares[n].others(n == 0 ? top : Share{1.0, 0});
        Partial of_hub = partial_of_eight(readings[n].words, values[n], above);
        of_hub.exponent += exponents[n].of_others;
        of_hub.range = RANGE_OF_LAST;
        of_hub.above = __shfl_sync(~0u, of_hub.above, wanted.thread);
        of_hub.exponent = __shfl_sync(~0u, of_hub.exponent, wanted.thread);
        FASTLBP_UNROLL
        for (int i = 0; i < 2; ++i) {
            of_hub.up[i] = __shfl_sync(~0u, of_hub.up[i], wanted.thread);
            of_hub.down[i] = __shfl_sync(~0u, of_hub.down[i], wanted.thread);
        }
        partial.take(of_hub, wanted.round == rounds[n]);
    }
    return is_right;
}

/// Adds up what 2^width neighbouring threads have.
__device__ __forceinline__ uint32_t sum_of_neighbours(uint32_t sum, uint32_t width) {
    FASTLBP_UNROLL
    for (int level = 0; level < 5; ++level) {
        const uint32_t more = __shfl_xor_sync(~0u, sum, 1 << level);
        sum += level < static_cast<int>(width) ? more : 0;
    }
    return sum;
}

/// The certain messages of some neighbouring threads together: zeros in the high half, infinities in the low one.
__device__ __forceinline__ uint32_t count_certain(uint32_t zeros, uint32_t infinities, uint32_t width) {
    return sum_of_neighbours(__popc(zeros) << 16 | __popc(infinities), width);
}

/// What hubs send, whatever the messages are; `top` is above all.
__device__ __forceinline__ ProductSent any_message_of_eight(const HubWords &words, const Packed (&values)[8],
                                                     const Product &top) {
    const HubWords without_last = {words.x, words.y & ~HUB_READING_LAST_MASK, words.z, words.w};
    const uint32_t own = words.z & 7, width = hub_width(words);
    Packed digits[8];
    uint32_t zeros, infinities;
    set_certain_apart(values, digits, zeros, infinities);
    ExponentsOfEight exponents;
    take_digits(digits, own, exponents);
    // What is farther away than messages can be does not matter.
    const int64_t limit = 1 << 30;
    const int64_t exponent = top.exponent < -limit ? -limit : top.exponent > limit ? limit : top.exponent;
    const SiblingShares<> shares(share_of_eight(digits, exponents), width);
    const Partial partial = partial_of_eight(without_last, digits,
                                             shares.others(Share{top.significand, static_cast<int32_t>(exponent)}));
    // Certain ones among the others decide.
    const uint32_t at_own = (zeros >> own & 1) << 16 | (infinities >> own & 1);
    const uint32_t others = count_certain(zeros, infinities, width) - at_own;
    const Certain certain = {top.zeros + (others >> 16), top.infinities + (others & 0xffff)};
    return ProductSent{partial.above, partial.exponent + exponents.of_others, certain};
}

/// The product of a piece of WARP_LEAVES messages, of which each thread has eight.
__device__ __forceinline__ Product product_of_piece(const Packed (&values)[8]) {
    if (__all_sync(~0u, eight_near(values))) {
        const Share total = SiblingShares<>(Share::of(product_of_eight(values)), 5).total();
        return Product{total.significand, total.exponent, 0, 0};
    }
    Packed digits[8];
    uint32_t zeros, infinities;
    set_certain_apart(values, digits, zeros, infinities);
    ExponentsOfEight exponents;
    take_digits(digits, 0, exponents);
    const Share total = SiblingShares<>(share_of_eight(digits, exponents), 5).total();
    const uint32_t certain = count_certain(zeros, infinities, 5);
    return Product{total.significand, total.exponent, certain & 0xffff, certain >> 16};
}

}  // namespace fastlbp
