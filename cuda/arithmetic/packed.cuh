// src/kernel/packed.rs: the 64-bit form in which messages are stored.
#pragma once

#include "number.cuh"

namespace fastlbp {

constexpr uint64_t TAG = uint64_t(1) << 63;
/// Marks the form with the longer exponent.
constexpr uint64_t LONG_FORM = uint64_t(1) << 62;
constexpr int SHORT_FRACTION = 47;
constexpr int64_t SHORT_BIAS = 1 << 14;
constexpr int64_t SHORT_LIMIT = 16000;
constexpr int LONG_FRACTION = 40;
constexpr int64_t LONG_BIAS = 1 << 21;
constexpr int64_t LONG_LIMIT = (1 << 21) - 3;
/// Exponents of values stored as a double are within +-1000.
constexpr int64_t PLAIN_EXPONENT = 1000;

FASTLBP_HD constexpr uint64_t power_bits(int64_t exponent) {
    return static_cast<uint64_t>(BIAS + exponent) << 52;
}

constexpr uint64_t INFINITY_BITS = uint64_t(0x7ff) << 52;

/// One value of a message: the odds m(1)/m(0) of a binary variable, or the weight of one state.
struct Packed {
    uint64_t bits;

    static FASTLBP_HD Packed zero() { return Packed{0}; }
    static FASTLBP_HD Packed one() { return Packed{ONE_BITS}; }
    static FASTLBP_HD Packed infinity() { return Packed{INFINITY_BITS}; }
    /// What a kernel gives for 0/0; never stored.
    static FASTLBP_HD Packed contradiction() { return Packed{~uint64_t(0)}; }

    FASTLBP_HD bool operator==(Packed other) const { return bits == other.bits; }
    FASTLBP_HD bool operator!=(Packed other) const { return bits != other.bits; }

    /// Whether the value is 0 or infinity.
    FASTLBP_HD bool is_certain() const { return (bits == 0) | (bits == INFINITY_BITS); }

    /// Whether the value is 0, infinity or within 2^-RANGE..=2^RANGE.
    template <int RANGE>
    FASTLBP_HD bool is_within() const {
        return (bits - power_bits(-RANGE) <= power_bits(RANGE) - power_bits(-RANGE)) | is_certain();
    }

    /// Whether the value is stored as a double.
    FASTLBP_HD bool is_plain() const { return (bits & TAG) == 0; }

    /// Whether the value may be certain: true of 0, infinity and values that no double holds.
    FASTLBP_HD bool may_be_certain() const { return bits - 1 >= INFINITY_BITS - 1; }

    /// The value as a double; right only for values that are stored as one.
    FASTLBP_HD double plain() const { return fastlbp::from_bits(bits); }

    /// From a double that is 0, infinity or within 2^-1000..=2^1000.
    static FASTLBP_HD Packed from_plain(double value) { return Packed{to_bits(value)}; }

    /// From any double that is not negative and not NaN.
    static FASTLBP_HD Packed from_f64(double value) {
        return to_bits(value) == INFINITY_BITS ? infinity() : pack(Wide::from_f64(value));
    }

    /// Stores a finite value.
    static FASTLBP_HD Packed pack(Wide value) {
        const uint64_t fraction = to_bits(value.significand) & FRACTION;
        // One test: the exponent's distance from the lower end.
        if (static_cast<uint64_t>(value.exponent + PLAIN_EXPONENT) <= 2 * PLAIN_EXPONENT) {
            return Packed{fraction | power_bits(value.exponent)};
        }
        return is_zero(value) ? zero() : pack_tagged(fraction, value.exponent);
    }

    static FASTLBP_COLD Packed pack_tagged(uint64_t fraction, int64_t exponent) {
        const bool in_short = exponent >= -SHORT_LIMIT && exponent <= SHORT_LIMIT;
        const int bits_kept = in_short ? SHORT_FRACTION : LONG_FRACTION;
        const int64_t limit = in_short ? SHORT_LIMIT : LONG_LIMIT;
        const int64_t bias = in_short ? SHORT_BIAS : LONG_BIAS;
        const int64_t clamped = exponent < -limit ? -limit : exponent > limit ? limit : exponent;
        const int drop = 52 - bits_kept;
        const uint64_t odd = (fraction >> drop) & 1;
        const uint64_t rounded = (fraction + (uint64_t(1) << (drop - 1)) - 1 + odd) >> drop;
        // A fraction that rounds up to the next power of two carries into the exponent.
        const uint64_t biased = static_cast<uint64_t>(clamped + bias) << bits_kept;
        return Packed{TAG | (in_short ? 0 : LONG_FORM) | (biased + rounded)};
    }

    /// The value, where it is not infinite.
    FASTLBP_HD Wide unpack() const {
        if (is_plain()) {
            if (bits == 0) {
                return Wide::zero();
            }
            return Wide{fastlbp::from_bits((bits & FRACTION) | ONE_BITS),
                        static_cast<int64_t>(bits >> 52) - BIAS};
        }
        const bool in_short = (bits & LONG_FORM) == 0;
        const int bits_kept = in_short ? SHORT_FRACTION : LONG_FRACTION;
        const uint64_t fraction = (bits & ((uint64_t(1) << bits_kept) - 1)) << (52 - bits_kept);
        const uint64_t biased = (bits & ~(TAG | LONG_FORM)) >> bits_kept;
        return Wide{fastlbp::from_bits(fraction | ONE_BITS),
                    static_cast<int64_t>(biased) - (in_short ? SHORT_BIAS : LONG_BIAS)};
    }

    /// The quotient of two numbers that are not negative: 0/0 is a contradiction.
    static FASTLBP_HD Packed ratio(Wide numerator, Wide denominator) {
        if (is_zero(denominator)) {
            return is_zero(numerator) ? contradiction() : infinity();
        }
        return is_zero(numerator) ? zero() : pack(divide(numerator, denominator));
    }

    /// Whether a quotient of positive doubles is stored as one: so it was neither rounded to a subnormal nor
    /// to zero or infinity.
    static FASTLBP_HD bool is_in_double_range(double ratio) {
        return to_bits(ratio) - power_bits(-PLAIN_EXPONENT) <
               power_bits(PLAIN_EXPONENT + 1) - power_bits(-PLAIN_EXPONENT);
    }

    /// The quotient of two positive doubles that no double holds, taken from the numbers themselves.
    static FASTLBP_COLD Packed other_ratio(double numerator, double denominator) {
        return ratio(Wide::from_f64(numerator), Wide::from_f64(denominator));
    }

    /// See probabilities.
    static FASTLBP_HD void odds_to_probabilities(Wide odds, double (&out)[2]) {
        const Wide total = add(odds, Wide::one());
        out[0] = divide(Wide::one(), total).to_f64();
        out[1] = is_zero(odds) ? 0.0 : divide(odds, total).to_f64();
    }

    /// Probabilities of the states 0 and 1 from the odds.
    FASTLBP_HD void probabilities(double (&out)[2]) const {
        if (bits == INFINITY_BITS) {
            out[0] = 0.0;
            out[1] = 1.0;
        } else {
            odds_to_probabilities(unpack(), out);
        }
    }

    /// The probability of state 1, as in probabilities.
    FASTLBP_HD double probability() const {
        if (is_within<PLAIN_EXPONENT>() && bits != INFINITY_BITS) {
            const double odds = plain();
            return odds / (odds + 1.0);
        }
        double both[2];
        probabilities(both);
        return both[1];
    }
};

/// A message without what is certain.
FASTLBP_HD Packed uncertain(Packed value) { return value.is_certain() ? Packed::one() : value; }

/// Whether all values are positive and within 2^-HALF..2^HALF, a power of two: neither 0 nor
/// infinity is.
template <int HALF, int N>
FASTLBP_HD bool all_near(const Packed (&values)[N]) {
    static_assert((HALF & (HALF - 1)) == 0, "one test of the bits of all distances serves");
    uint64_t distances = 0;
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        distances |= values[i].bits - power_bits(-HALF);
    }
    return distances < static_cast<uint64_t>(2 * HALF) << 52;
}

/// The same for `count` values in memory.
template <int HALF>
FASTLBP_HD bool all_near(const Packed *values, uint32_t count) {
    static_assert((HALF & (HALF - 1)) == 0, "one test of the bits of all distances serves");
    uint64_t distances = 0;
    for (uint32_t i = 0; i < count; ++i) {
        distances |= values[i].bits - power_bits(-HALF);
    }
    return distances < static_cast<uint64_t>(2 * HALF) << 52;
}

/// N neighbouring values, into registers.
template <int N>
FASTLBP_HD void load_values(const Packed *from, Packed (&values)[N]) {
    FASTLBP_UNROLL
    for (int i = 0; i < N; ++i) {
        values[i] = from[i];
    }
}

}  // namespace fastlbp
