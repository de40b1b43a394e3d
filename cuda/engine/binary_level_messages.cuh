// What hubs send by levels where several factors read the same.
//
// Of a hub, each factor reads all messages but its own. Where several do so that see the same messages anew, as by schedules of few
// classes, a unit computes what the hub sends to all of them, and hands it over as messages are: each has a place behind the slots,
// which only the factor reads, as the one message of a variable with two factors. So a level takes as long as the hub has messages,
// where it took as long as their number times that of the factors. The same unit serves factors of one level that see those messages
// anew whose slots come before their own, as by SEQFIX.
//
// Each thread has eight messages, and sends as many at most. Each message may be read in two states, that which the hub's messages to
// later slots need and that which those to earlier slots need. Made by src/engine/cuda/binary/level_messages.rs.
#pragma once

#include "binary_versions.cuh"

namespace fastlbp {

/// What a thread sends: the place of the first message in a state, the others follow; to the slots of which of the messages that it
/// reads (the word level_message), and which of these are new for messages to earlier slots; and the variable's position. Those that
/// are new for messages to later slots are in its HubWords.
struct MessageWords {
    uint32_t place, slots, position;

    __device__ __forceinline__ explicit MessageWords(const uint4 &words)
        : place(words.x), slots(words.y), position(words.z) {}

    __device__ __forceinline__ bool is_sent(int i) const { return (level_message_sent(slots) >> i & 1) != 0; }

    __device__ __forceinline__ HubWords for_earlier(const HubWords &hub) const {
        return HubWords{hub.x, (hub.y & ~HUB_READING_NEWS_MASK) | level_message_news(slots), hub.z, hub.w};
    }

    /// Sends what is to be sent of eight messages.
    __device__ __forceinline__ void send(const Places &places, const uint64_t (&bits)[8]) const {
        uint32_t at = place;
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            if (is_sent(i)) {
                hand_over(&places.messages[places.now + at].bits, bits[i]);
                hand_over(&places.messages[places.reset + at].bits, UNSENT);
                ++at;
            }
        }
    }
};

/// The messages that a thread reads, as messages to later and to earlier slots see them.
struct TwoReadings {
    HubReadings later, earlier;
    /// Whether some thread's differ.
    bool differ;

    __device__ __forceinline__ TwoReadings(const Places &places, const MessageWords &words, const HubWords &hub) {
        const HubWords other = words.for_earlier(hub);
        differ = __any_sync(~0u, other.y != hub.y);
        later.start(places, hub, true);
        if (differ) {
            earlier.start(places, other, true);
        }
    }

    __device__ __forceinline__ void wait(const Places &places) {
        if (differ) {
            wait_for(places, later, earlier);
        } else {
            wait_for(places, later);
            earlier = later;
        }
    }
};

/// Digits of eight messages, with exponents; and which of them are certain, and ones here.
struct EightDigits {
    double digits[8];
    int32_t exponents[8];
    uint32_t zeros, infinities;

    /// Of messages near one.
    __device__ __forceinline__ void take_near(const Packed (&values)[8]) {
        zeros = infinities = 0;
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            set(i, Share{values[i].plain(), 0});
        }
    }

    /// Of messages that are stored as doubles, or certain; returns whether they are.
    __device__ __forceinline__ bool take_plain(const Packed (&values)[8]) {
        Packed rest[8];
        set_certain_apart(values, rest, zeros, infinities);
        bool is_plain = true;
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            is_plain &= values[i].is_plain();
            set(i, Share::of(rest[i].plain()));
        }
        return is_plain;
    }

    /// Of any.
    __device__ __forceinline__ void take_any(const Packed (&values)[8]) {
        Packed rest[8];
        set_certain_apart(values, rest, zeros, infinities);
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            set(i, Share::of_any(rest[i]));
        }
    }

    /// The share of all.
    __device__ __forceinline__ Share total() const {
        const double (&x)[8] = digits;
        Share share = Share::of(((x[0] * x[1]) * (x[2] * x[3])) * ((x[4] * x[5]) * (x[6] * x[7])));
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            share.exponent += exponents[i];
        }
        return share;
    }

  private:
    __device__ __forceinline__ void set(int i, const Share &share) {
        digits[i] = share.significand;
        exponents[i] = share.exponent;
    }
};

/// What a thread's own messages see of each other: for each, the product of `above` and of the other ones, in the shape of the tree.
__device__ __forceinline__ void multiply_others(const double (&later)[8], const double (&earlier)[8], double above,
                                                double (&products)[8]) {
    double half[2], pair[4];
    half[0] = above * ((earlier[4] * earlier[5]) * (earlier[6] * earlier[7]));
    half[1] = above * ((later[0] * later[1]) * (later[2] * later[3]));
    FASTLBP_UNROLL
    for (int i = 0; i < 4; ++i) {
        const double other = i % 2 == 0 ? earlier[2 * i + 2] * earlier[2 * i + 3] : later[2 * i - 2] * later[2 * i - 1];
        pair[i] = half[i / 2] * other;
    }
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        products[i] = pair[i / 2] * (i % 2 == 0 ? earlier[i + 1] : later[i - 1]);
    }
}

/// The exponents of the other messages of a thread, for each of its own.
__device__ __forceinline__ void add_others(const int32_t (&later)[8], const int32_t (&earlier)[8], int32_t (&sums)[8]) {
    int32_t sum = 0;
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        sums[i] = sum;
        sum += later[i];
    }
    sum = 0;
    FASTLBP_UNROLL
    for (int i = 7; i >= 0; --i) {
        sums[i] += sum;
        sum += earlier[i];
    }
}

/// Of bits of a thread's messages, those that the message to slot i sees.
__device__ __forceinline__ uint32_t others_of(uint32_t later, uint32_t earlier, int i) {
    const uint32_t before = (1u << i) - 1;
    return (later & before) | (earlier & ~before & ~(1u << i));
}

/// What other threads of the same hub have, as the messages of this one see it: those of threads with earlier slots as messages to
/// later slots do, and the other way round.
struct SharesBeside {
    double significands[5];
    int32_t exponent;

    __device__ __forceinline__ SharesBeside(Share later, Share earlier, uint32_t width, bool differ) : exponent(0) {
        FASTLBP_UNROLL
        for (int level = 0; level < 5; ++level) {
            const bool is_inside = level < static_cast<int>(width), is_behind = (lane_of_warp() >> level & 1) != 0;
            const Share of_later = beside(later, level);
            const Share of_earlier = differ ? beside(earlier, level) : of_later;
            const Share &seen = is_behind ? of_later : of_earlier;
            significands[level] = is_inside ? seen.significand : 1.0;
            exponent += is_inside ? seen.exponent : 0;
            later.significand = later.significand * (is_inside ? of_later.significand : 1.0);
            later.exponent += is_inside ? of_later.exponent : 0;
            earlier.significand = earlier.significand * (is_inside ? of_earlier.significand : 1.0);
            earlier.exponent += is_inside ? of_earlier.exponent : 0;
        }
    }

    /// Times what is above.
    __device__ __forceinline__ Share times(const Share &above) const {
        double product = above.significand;
        FASTLBP_UNROLL
        for (int level = 4; level >= 0; --level) {
            product = product * significands[level];
        }
        return Share{product, above.exponent + exponent};
    }

  private:
    static __device__ __forceinline__ Share beside(const Share &share, int level) {
        return Share{__shfl_xor_sync(~0u, share.significand, 1 << level), __shfl_xor_sync(~0u, share.exponent, 1 << level)};
    }
};

/// Adds up what other threads of the same hub count, as SharesBeside.
__device__ __forceinline__ uint32_t counts_beside(uint32_t later, uint32_t earlier, uint32_t width) {
    uint32_t counts = 0;
    FASTLBP_UNROLL
    for (int level = 0; level < 5; ++level) {
        const bool is_inside = level < static_cast<int>(width), is_behind = (lane_of_warp() >> level & 1) != 0;
        const uint32_t of_later = __shfl_xor_sync(~0u, later, 1 << level);
        const uint32_t of_earlier = __shfl_xor_sync(~0u, earlier, 1 << level);
        counts += !is_inside ? 0 : is_behind ? of_later : of_earlier;
        later += is_inside ? of_later : 0;
        earlier += is_inside ? of_earlier : 0;
    }
    return counts;
}

/// Whether a thread has soft evidence to multiply by, in runs with options.
__device__ __forceinline__ bool has_soft_evidence(const MessageWords &words, bool options) {
    const Binary &g = shared_block().g;
    return options && g.soft && words.slots != 0 && g.known[words.position] == KNOWN_SOFT;
}

/// What is to be sent, and whether each is a message that is stored as a double, or certain.
struct EightSent {
    uint64_t bits[8];
    bool is_right = true;

    /// From a product without its exponent.
    __device__ __forceinline__ void set(int i, bool is_sent, double product, int32_t exponent) {
        const Completed completed = {product, exponent};
        bits[i] = completed.plain().bits;
        // What is no number is where certain messages disagree.
        is_right &= !is_sent || (completed.is_plain() && high_half(to_bits(product)) <= HIGH_INFINITY);
    }
};

/// The digits of what the threads of a unit read, as messages to later and to earlier slots see it.
struct TwoDigits {
    EightDigits later, earlier;

    /// Of messages near one.
    __device__ __forceinline__ void take_near(const Packed (&of_later)[8], const Packed (&of_earlier)[8]) {
        later.take_near(of_later);
        earlier.take_near(of_earlier);
    }

    /// Of messages that are stored as doubles, or certain; returns whether they are.
    __device__ __forceinline__ bool take_plain(const Packed (&of_later)[8], const Packed (&of_earlier)[8]) {
        return later.take_plain(of_later) & earlier.take_plain(of_earlier);
    }

    /// What other threads have; certain messages are counted.
    __device__ __forceinline__ SharesBeside beside(const HubWords &hub, bool differ) const {
        return SharesBeside(share_of(later), share_of(earlier), hub_width(hub), differ);
    }

    /// The messages to eight slots, given the share of what is above the thread's own and an exponent above all. NEAR: all are near
    /// one, and none above is certain.
    template <bool NEAR>
    __device__ __forceinline__ void complete(const MessageWords &words, const Share &top, int32_t exponent, EightSent &sent) const {
        double products[8];
        multiply_others(later.digits, earlier.digits, top.significand, products);
        int32_t exponents[8];
        if (!NEAR) {
            add_others(later.exponents, earlier.exponents, exponents);
        }
        FASTLBP_UNROLL
        for (int i = 0; i < 8; ++i) {
            if (NEAR) {
                sent.set(i, words.is_sent(i), products[i], top.exponent + exponent);
                continue;
            }
            Partial partial = Partial::of(Packed{to_bits(products[i])});
            partial.exponent = top.exponent + exponents[i] +
                               exponent_of_certain(others_of(later.zeros, earlier.zeros, i),
                                                   others_of(later.infinities, earlier.infinities, i));
            partial.decide(exponent);
            sent.set(i, words.is_sent(i), partial.above, partial.exponent);
        }
    }

  private:
    static __device__ __forceinline__ Share share_of(const EightDigits &digits) {
        Share share = digits.total();
        share.exponent += exponent_of_certain(digits.zeros, digits.infinities);
        return share;
    }
};

/// What hubs send, if their messages are stored as doubles or certain and what is sent is so, too; returns whether, and has sent
/// nothing if not. IN_PIECES: the unit's only hub is in pieces, and `versions` are its words.
template <bool IN_PIECES>
__device__ __noinline__ bool send_messages(Places places, MessageWords words, HubWords hub, const uint4 *versions, bool options) {
    TwoReadings readings(places, words, hub);
    PieceShare above = PieceShare::none();
    const bool reads_version = IN_PIECES && hub.w <= MOST_OF_ONE_HEIGHT;
    if (IN_PIECES && !reads_version) {
        above = share_above_piece(other_versions(places.buffer, versions, hub));
    }
    EightSent sent;
    sent.is_right = !has_soft_evidence(words, options);
    readings.wait(places);
    Packed later[8], earlier[8];
    readings.later.take(later);
    readings.earlier.take(earlier);
    TwoDigits digits;
    const bool are_near = __all_sync(~0u, eight_near(later) && (!readings.differ || eight_near(earlier)));
    if (IN_PIECES) {
        // Products of other pieces come a step later, if they are of messages of the same level: all else is done before they are
        // there.
        VersionReading version;
        if (reads_version) {
            version = VersionReading(places.buffer, versions);
        }
        if (are_near) {
            digits.take_near(later, earlier);
        } else {
            sent.is_right &= digits.take_plain(later, earlier);
        }
        const SharesBeside beside = digits.beside(hub, readings.differ);
        if (reads_version) {
            wait_for(places, version);
            above = share_above_piece(version.above(hub.z));
        }
        const Share top = beside.times(above.above);
        if (are_near && __all_sync(~0u, above.above.exponent == 0)) {
            digits.complete<true>(words, top, above.exponent, sent);
        } else {
            digits.complete<false>(words, top, above.exponent, sent);
        }
    } else if (are_near) {
        digits.take_near(later, earlier);
        digits.complete<true>(words, digits.beside(hub, readings.differ).times(above.above), 0, sent);
    } else {
        sent.is_right &= digits.take_plain(later, earlier);
        digits.complete<false>(words, digits.beside(hub, readings.differ).times(above.above), 0, sent);
    }
    if (!__all_sync(~0u, sent.is_right)) {
        return false;
    }
    words.send(places, sent.bits);
    return true;
}

/// One such message, whatever it is; notes if certain messages disagree at a variable that is not observed.
__device__ __noinline__ inline uint64_t any_message_of(MessageWords words, ProductSent product, bool options) {
    const Binary &g = shared_block().g;
    if (has_soft_evidence(words, options)) {
        product = product.times(ProductSent::of(g.soft_of(words.position)));
    }
    const Sent sent = product.sent();
    if (sent.contradictory && !is_observed(g.known[words.position])) {
        note_met(tally_of_pass(), g.variable[words.position]);
    }
    return sent.bits;
}

/// The same as send_messages, whatever the messages are.
__device__ __noinline__ inline void send_any_messages(Places places, MessageWords words, HubWords hub, const uint4 *versions,
                                                      bool options) {
    TwoReadings readings(places, words, hub);
    const Product above = versions ? other_versions(places.buffer, versions, hub) : Product::neutral();
    readings.wait(places);
    Packed later[8], earlier[8];
    readings.later.take(later);
    readings.earlier.take(earlier);
    EightDigits of_later, of_earlier;
    of_later.take_any(later);
    of_earlier.take_any(earlier);
    const uint32_t width = hub_width(hub);
    const SharesBeside beside(of_later.total(), of_earlier.total(), width, readings.differ);
    // What is farther away than messages can be does not matter.
    const int64_t limit = 1 << 30;
    const int64_t exponent = above.exponent < -limit ? -limit : above.exponent > limit ? limit : above.exponent;
    const Share top = beside.times(Share{above.significand, static_cast<int32_t>(exponent)});
    double products[8];
    int32_t exponents[8];
    multiply_others(of_later.digits, of_earlier.digits, top.significand, products);
    add_others(of_later.exponents, of_earlier.exponents, exponents);
    // Zeros in the high half, infinities in the low one.
    const auto count = [](uint32_t zeros, uint32_t infinities) {
        return static_cast<uint32_t>(__popc(zeros) << 16 | __popc(infinities));
    };
    const uint32_t counts = counts_beside(count(of_later.zeros, of_later.infinities),
                                          count(of_earlier.zeros, of_earlier.infinities), width);
    uint64_t bits[8];
    FASTLBP_UNROLL
    for (int i = 0; i < 8; ++i) {
        const uint32_t all = counts + count(others_of(of_later.zeros, of_earlier.zeros, i),
                                            others_of(of_later.infinities, of_earlier.infinities, i));
        const Certain certain = {above.zeros + (all >> 16), above.infinities + (all & 0xffff)};
        bits[i] = words.is_sent(i)
                      ? any_message_of(words, ProductSent{products[i], top.exponent + exponents[i], certain}, options)
                      : ONE_BITS;
    }
    words.send(places, bits);
}

}  // namespace fastlbp
