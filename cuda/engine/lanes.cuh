// Neighbouring lanes of a warp that work together: on a host, where a warp has one lane, that one alone.
#pragma once

#include "../arithmetic/far.cuh"
#include "threads.cuh"

namespace fastlbp {

/// No exponent: less than any.
constexpr int32_t NO_EXPONENT = -0x7fffffff - 1;

/// So many lanes, a power of two. All lanes of a warp call what they do together.
struct LaneGroup {
    uint32_t size;

    FASTLBP_DEVICE explicit LaneGroup(uint32_t wanted) : size(smaller_of(wanted, LANES)) {}

    FASTLBP_DEVICE uint32_t lane() const { return thread_of_block() % LANES; }
    /// The number of this lane in its group, that of the group in its warp, and how many groups a warp has.
    FASTLBP_DEVICE uint32_t rank() const { return lane() % size; }
    FASTLBP_DEVICE uint32_t number() const { return lane() / size; }
    FASTLBP_DEVICE uint32_t groups() const { return LANES / size; }

    template <class T>
    FASTLBP_DEVICE T largest(T own) const {
        for (uint32_t distance = size / 2; distance > 0; distance /= 2) {
            own = larger_of(own, shuffle_xor(own, distance));
        }
        return own;
    }

    /// What the lane with this rank has.
    template <class T>
    FASTLBP_DEVICE T from(T own, uint32_t rank_of_giver) const {
        return shuffle_from(own, number() * size + rank_of_giver);
    }
};

/// Whose turn it is after that of `first`, of so many who take turns.
FASTLBP_DEVICE uint32_t turn_of(uint32_t own, uint32_t first, uint32_t all) { return (own + all - first % all) % all; }

/// The exponent of a positive double that is not subnormal, or of another number.
FASTLBP_DEVICE int32_t exponent_of(double value) {
    return static_cast<int32_t>(to_bits(value) >> 52) - static_cast<int32_t>(BIAS);
}
FASTLBP_DEVICE int32_t exponent_of(Far value) { return value.exponent; }
template <class T>
FASTLBP_DEVICE int32_t exponent_of(Max<T> number) {
    return exponent_of(number.value);
}

/// A positive number times 2^-`top`, as a value of a message.
FASTLBP_DEVICE Packed pack_below(Far value, int32_t top) {
    return Far{value.significand, value.exponent - top}.packed();
}
FASTLBP_DEVICE Packed pack_below(double value, int32_t top) {
    const int32_t exponent = exponent_of(value) - top;
    return exponent >= -PLAIN_EXPONENT && exponent <= PLAIN_EXPONENT
               ? Packed{(to_bits(value) & FRACTION) | power_bits(exponent)}
               : pack_below(Far::from_f64(value), top);
}
template <class T>
FASTLBP_DEVICE Packed pack_below(Max<T> number, int32_t top) {
    return pack_below(number.value, top);
}

}  // namespace fastlbp
