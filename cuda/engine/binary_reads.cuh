// What variables send to factors in passes by levels, from messages of which some are of this pass.
//
// Nobody waits for a level to end. A message that is sent in a pass also goes to a place that says by itself
// whether it is there: such places hold UNSENT until then, and whoever needs the message looks again and again.
// There is one for each slot and each of two passes: in each pass, who sends a message resets its other place.
// So a message travels as fast as the memory that all share, and no fence is needed; only passes end together.
#pragma once

#include "binary_factors.cuh"

namespace fastlbp {

/// No message is stored as this.
constexpr uint64_t UNSENT = ~uint64_t(0);

/// Where messages of a pass are.
struct Places {
    /// Those of the pass before, all of which are there, and where this one's go.
    const Packed *from;
    Packed *to;
    /// The places of this pass, and of the next one.
    Packed *now, *next;
};

/// Sets a place to which others look.
__device__ __forceinline__ void set_place(Packed *place, Packed message) {
#ifdef __CUDA_ARCH__
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(place), "l"(message.bits) : "memory");
#else
    __atomic_store_n(&place->bits, message.bits, __ATOMIC_RELAXED);
    tell_others();
#endif
}

/// Starts to read a message of this pass or the one before, which may be UNSENT.
__device__ __forceinline__ uint64_t start_reading(const Places &places, uint32_t slot, bool is_new) {
    const Packed *const place = (is_new ? places.now : places.from) + slot;
#ifdef __CUDA_ARCH__
    uint64_t bits;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(place));
    return bits;
#else
    return __atomic_load_n(&place->bits, __ATOMIC_RELAXED);
#endif
}

/// Other than UNSENT, no message has this half.
__device__ __forceinline__ bool is_missing(uint64_t bits) { return static_cast<uint32_t>(bits >> 32) == ~uint32_t(0); }

/// Reads a message of this pass again if it was missing.
__device__ __forceinline__ void repeat_reading(const Places &places, uint32_t slot, uint64_t &bits) {
#ifdef __CUDA_ARCH__
    asm volatile(
        "{\n\t.reg .pred missing;\n\t"
        "setp.ne.u32 missing, %2, 0;\n\t"
        "@missing ld.relaxed.gpu.global.u64 %0, [%1];\n\t}"
        : "+l"(bits)
        : "l"(places.now + slot), "r"(static_cast<uint32_t>(is_missing(bits))));
#else
    if (is_missing(bits)) {
        bits = start_reading(places, slot, true);
    }
#endif
}

/// Messages that a thread reads in COUNT rounds.
template <int COUNT>
struct RoundReadings {
    uint32_t slots[COUNT], widths[COUNT];
    uint64_t bits[COUNT];

    __device__ __forceinline__ void start(const Places &places, const uint32_t (&leaves)[COUNT]) {
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            slots[i] = leaves[i] & SLOT_MASK;
            widths[i] = leaves[i] >> LEAF_SHIFT;
            bits[i] = start_reading(places, slots[i], (leaves[i] & LEAF_NEW) != 0);
        }
    }
    __device__ __forceinline__ bool any_missing() const {
        bool missing = false;
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            missing |= is_missing(bits[i]);
        }
        return missing;
    }
    __device__ __forceinline__ void repeat(const Places &places) {
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            repeat_reading(places, slots[i], bits[i]);
        }
    }
};

/// What a thread reads of a hub, eight neighbouring messages: its first slot; which of them anew, a bit for each,
/// HUB_IDLE, and the logarithm of the number of threads that read the same hub's; where the slot of the factor is
/// among those of the hub; and the number of these. Of more than WARP_LEAVES, the next piece follows in the next
/// chunk. Who has nothing to read reads something, and has ones.
typedef uint4 HubWords;
constexpr uint32_t HUB_IDLE = 1 << 8;
constexpr uint32_t HUB_WIDTH_SHIFT = 9;

struct HubReadings {
    HubWords words;
    uint64_t bits[8];

    __device__ __forceinline__ void start(const Places &places, const HubWords &hub) {
        words = hub;
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            bits[i] = start_reading(places, words.x + i, (words.y >> i & 1) != 0);
        }
    }
    __device__ __forceinline__ bool any_missing() const {
        bool missing = false;
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            missing |= is_missing(bits[i]);
        }
        return missing;
    }
    __device__ __forceinline__ void repeat(const Places &places) {
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            repeat_reading(places, words.x + i, bits[i]);
        }
    }
    __device__ __forceinline__ void take(Packed (&values)[8]) const {
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            values[i] = words.y & HUB_IDLE ? Packed::one() : Packed{bits[i]};
        }
    }
};

/// Of several readings.
template <class First, class... Rest>
__device__ __forceinline__ bool any_missing(const First &first, const Rest &...rest) {
    bool missing = first.any_missing();
    const bool more[] = {false, rest.any_missing()...};
    FASTLBP_UNROLL
    for (unsigned i = 0; i < sizeof...(Rest) + 1; ++i) {
        missing |= more[i];
    }
    return missing;
}

/// Waits until all messages that a warp reads are there.
template <class... Readings>
__device__ __forceinline__ void wait_for(const Places &places, Readings &...readings) {
    while (__any_sync(~0u, any_missing(readings...))) {
#ifndef __CUDA_ARCH__
        take_turns();
#endif
        const int all[] = {(readings.repeat(places), 0)...};
        static_cast<void>(all);
    }
}

/// What a variable sends, and whether certain messages disagree there.
struct Sent {
    uint64_t bits;
    bool contradictory;
};

/// A positive product from its significand, at least 1, and the exponent to be added, as odds.
__device__ __forceinline__ Packed odds_of(double product, int32_t more) {
    const uint64_t bits = to_bits(product);
    const int32_t top = static_cast<int32_t>(bits >> 52) - static_cast<int32_t>(BIAS) + more;
    if (static_cast<uint32_t>(top + PLAIN_EXPONENT) > 2 * PLAIN_EXPONENT) {
        return Packed::pack(Wide{from_bits((bits & FRACTION) | ONE_BITS), top});
    }
    return Packed{bits + (static_cast<uint64_t>(static_cast<int64_t>(more)) << 52)};
}

/// Products of the other messages of variables, one of which each of 2^width neighbouring threads has, in the
/// shape of the tree; with a width of 0, the message itself. No width is above HEIGHT. COUNT rounds side by
/// side, so that one's waiting is another's time. Returns whether this was right, or far_others_of_group is needed.
template <int HEIGHT, int COUNT>
__device__ __forceinline__ bool others_up_to(Packed (&values)[COUNT], const uint32_t (&widths)[COUNT]) {
    // 32 messages within 2^-31..2^31, or fewer within more, are multiplied as they are: powers of two do not
    // matter for rounding.
    bool near = true;
    double product[COUNT], siblings[COUNT][HEIGHT];
    FASTLBP_UNROLL
    for (int i = 0; i < COUNT; ++i) {
        const uint32_t high = static_cast<uint32_t>(values[i].bits >> 32), range = (992u << 20) >> widths[i];
        near &= (high - ((static_cast<uint32_t>(BIAS) << 20) - range) < 2 * range) | (widths[i] == 0);
        product[i] = values[i].plain();
    }
    FASTLBP_UNROLL
    for (int level = 0; level < HEIGHT; ++level) {
        FASTLBP_UNROLL
        for (int i = 0; i < COUNT; ++i) {
            siblings[i][level] = __shfl_xor_sync(~0u, product[i], 1 << level);
            product[i] = product[i] * siblings[i][level];
        }
    }
    FASTLBP_UNROLL
    for (int i = 0; i < COUNT; ++i) {
        double rest = siblings[i][HEIGHT - 1];
        FASTLBP_UNROLL
        for (int level = HEIGHT - 2; level >= 0; --level) {
            rest = level + 1 < static_cast<int>(widths[i]) ? rest * siblings[i][level] : siblings[i][level];
        }
        values[i] = widths[i] == 0 ? values[i] : Packed::from_plain(rest);
    }
    return near;
}

/// The same for any height.
template <int COUNT>
__device__ __forceinline__ bool others_of_groups(Packed (&values)[COUNT], const uint32_t (&widths)[COUNT],
                                                 uint32_t height) {
    return height == 0   ? true
           : height <= 2 ? others_up_to<2>(values, widths)
           : height == 3 ? others_up_to<3>(values, widths)
                         : others_up_to<5>(values, widths);
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
};

/// The shares of the neighbouring subtrees that a thread meets on the way to the top of 2^width threads. 32
/// significands are multiplied as they are, far below the largest double.
struct SiblingShares {
    double significands[5], all;
    int32_t own_exponent, exponent;

    __device__ __forceinline__ SiblingShares(const Share &own, uint32_t width)
        : all(own.significand), own_exponent(own.exponent), exponent(own.exponent) {
        FASTLBP_UNROLL
        for (int level = 0; level < 5; ++level) {
            const double sibling = __shfl_xor_sync(~0u, all, 1 << level);
            const int32_t more = __shfl_xor_sync(~0u, exponent, 1 << level);
            significands[level] = level < static_cast<int>(width) ? sibling : 1.0;
            all = all * significands[level];
            exponent += level < static_cast<int>(width) ? more : 0;
        }
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
        for (int level = 4; level >= 0; --level) {
            rest = rest * significands[level];
        }
        return Share{rest, above.exponent + exponent - own_exponent};
    }
};

/// As others_of_groups for one round, where messages are certain or far from 1.
__device__ __noinline__ inline Sent far_others_of_group(uint64_t value, uint32_t width) {
    const uint32_t lane = threadIdx.x % 32, threads = 1u << width;
    const uint32_t zeros = __ballot_sync(~0u, value == 0);
    const uint32_t infinities = __ballot_sync(~0u, value == INFINITY_BITS);
    const Wide own = uncertain(Packed{value}).unpack();
    const SiblingShares siblings(Share{own.significand, static_cast<int32_t>(own.exponent)}, width);
    if (width == 0) {
        return Sent{value, false};
    }
    const uint32_t all = (threads < 32 ? (1u << threads) - 1 : ~0u) << (lane & ~(threads - 1));
    const uint32_t others = all & ~(1u << lane);
    const Certain certain = {static_cast<uint32_t>(__popc(zeros & others)),
                             static_cast<uint32_t>(__popc(infinities & others))};
    const Share rest = siblings.others(Share{1.0, 0});
    const Packed odds = certain.any() ? certain.odds() : odds_of(rest.significand, rest.exponent);
    return Sent{odds.bits, certain.contradictory()};
}

/// The product of eight messages near 1.
__device__ __forceinline__ double product_of_eight(const Packed (&v)[8]) {
    return ((v[0].plain() * v[1].plain()) * (v[2].plain() * v[3].plain())) *
           ((v[4].plain() * v[5].plain()) * (v[6].plain() * v[7].plain()));
}

/// What hubs send whose messages are read by threads, each with eight, given what is above them. The threads at the
/// slots of the factor have it.
__device__ __forceinline__ Packed message_of_eight(const HubWords &words, const Packed (&values)[8], const Share &top) {
    const uint32_t width = words.y >> HUB_WIDTH_SHIFT;
    const Share above = SiblingShares(Share::of(product_of_eight(values)), width).others(top);
    double x[8];
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        x[i] = values[i].plain();
    }
    const Siblings<double> s(x, words.z & 7);
    const double half = (s.half[0] * s.half[1]) * (s.half[2] * s.half[3]);
    const Share rest = Share::of(((above.significand * half) * (s.pair[0] * s.pair[1])) * s.leaf);
    return odds_of(rest.significand, rest.exponent + above.exponent);
}

/// The same where messages are certain or far from 1.
__device__ __noinline__ inline Sent far_message_of_eight(HubWords words, Product above, uint64_t a, uint64_t b,
                                                         uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
                                                         uint64_t h) {
    const Packed values[8] = {Packed{a}, Packed{b}, Packed{c}, Packed{d}, Packed{e}, Packed{f}, Packed{g}, Packed{h}};
    const uint32_t width = words.y >> HUB_WIDTH_SHIFT;
    Leaves leaves;
    leaves.set(values);
    const Part own = leaves.total();
    Product all = own.product(), rest = above;
    Product siblings[5];
    for (int level = 0; level < 5; ++level) {
        siblings[level] = shuffle_xor(all, 1 << level);
        siblings[level] = level < static_cast<int>(width) ? siblings[level] : Product::neutral();
        all = combine(all, siblings[level]);
    }
    for (int level = 4; level >= 0; --level) {
        rest = combine(rest, siblings[level]);
    }
    bool contradictory;
    const Packed odds = leaves.others_of(rest, words.z & 7, contradictory);
    return Sent{odds.bits, contradictory};
}

/// As message_of_eight, whatever the messages are.
__device__ __forceinline__ Sent any_message_of_eight(const HubWords &words, const Packed (&values)[8],
                                                     const Product &top) {
    if (__all_sync(~0u, all_near<64>(values)) && (top.zeros | top.infinities) == 0) {
        const Share above = {top.significand, static_cast<int32_t>(top.exponent)};
        return Sent{message_of_eight(words, values, above).bits, false};
    }
    return far_message_of_eight(words, top, values[0].bits, values[1].bits, values[2].bits, values[3].bits,
                                values[4].bits, values[5].bits, values[6].bits, values[7].bits);
}

/// The product of a piece of WARP_LEAVES messages, of which each thread has eight.
__device__ __forceinline__ Product product_of_piece(const Packed (&values)[8]) {
    if (__all_sync(~0u, all_near<64>(values))) {
        const Share total = SiblingShares(Share::of(product_of_eight(values)), 5).total();
        return Product{total.significand, total.exponent, 0, 0};
    }
    Leaves leaves;
    leaves.set(values);
    Ascent ascent;
    ascent.climb(leaves.total(), 32);
    return ascent.total();
}

/// What a hub of more than WARP_LEAVES slots sends; `words` are those of the first piece, which `chunk` follows.
__device__ __noinline__ inline Sent message_of_pieces(const Places &places, const uint4 *chunk, HubWords words) {
    const uint32_t lane = threadIdx.x % 32, own_piece = words.z / WARP_LEAVES;
    const uint32_t pieces = (words.w + WARP_LEAVES - 1) / WARP_LEAVES;
    Product total = Product::neutral();
    HubWords own_words = words, next = __ldg(chunk + 32 + lane);
    HubReadings readings;
    Packed own_values[8];
    readings.start(places, words);
    for (uint32_t piece = 0; piece < pieces; ++piece) {
        const HubWords after = __ldg(chunk + smaller_of(piece + 2, pieces - 1) * 32 + lane);
        Packed values[8];
        wait_for(places, readings);
        readings.take(values);
        const HubWords current = readings.words;
        if (piece + 1 < pieces) {
            readings.start(places, next);
        }
        next = after;
        if (piece == own_piece) {
            own_words = current;
            FASTLBP_UNROLL
            for (int i = 0; i < 8; ++i) {
                own_values[i] = values[i];
            }
        } else {
            const Product product = product_of_piece(values);
            total = lane == piece ? product : total;
        }
    }
    return any_message_of_eight(own_words, own_values, product_without(total, own_piece));
}

}  // namespace fastlbp
