// Numbers of factors and hubs which no double holds, for GPUs: the bits of Wide with few instructions and no branches, as
// where they are seldom needed and waited for, their code is in no cache.
#pragma once

#include "flat.cuh"

namespace fastlbp {

/// A number as Wide, with an exponent that does for products of up to 256 messages, whose exponents are within +-2^21,
/// and for what a factor of up to 32 variables makes of them.
struct Far {
    double significand;
    int32_t exponent;

    /// Exponent of zero, and what products of it stay below.
    static constexpr int32_t ZERO_EXPONENT = -(1 << 29);
    static constexpr int32_t ZERO_BELOW = -(1 << 28);

    static FASTLBP_HD Far zero() { return Far{1.0, ZERO_EXPONENT}; }
    static FASTLBP_HD Far one() { return Far{1.0, 0}; }
    FASTLBP_HD bool is_zero() const { return exponent < ZERO_BELOW; }

    /// Moves the exponent of a value into the exponent part.
    static FASTLBP_HD Far normalise(double value, int32_t exponent) {
        const Flat x = {value};
        return Far{Flat::of((x.high() & DIGITS) | HIGH_ONE, x.low()).value,
                   exponent + static_cast<int32_t>(x.high() >> 20) - static_cast<int32_t>(BIAS)};
    }

    /// 2^`by` for `by` <= 0; 2^-1000 for all that are smaller.
    static FASTLBP_HD double scale_down(int32_t by) {
        return Flat::of(static_cast<uint32_t>((by < -1000 ? -1000 : by) + static_cast<int32_t>(BIAS)) << 20, 0).value;
    }

    /// Any finite value, subnormal ones included.
    static FASTLBP_HD Far from_f64(double value) {
        const bool small = value < MIN_POSITIVE;
        const Far far = normalise(small ? value * from_bits(power_bits(100)) : value, small ? -100 : 0);
        return Far{far.significand, value == 0.0 ? ZERO_EXPONENT : far.exponent};
    }

    /// A message that is neither zero nor infinite.
    static FASTLBP_HD Far of(Packed value) {
        const uint32_t high = fastlbp::high(value);
        const bool plain = static_cast<int32_t>(high) >= 0, in_short = (high & HIGH_LONG) == 0;
        // Digits that are not stored; what is no part of the exponent; and its bias.
        const uint32_t drop = plain ? 0 : in_short ? 52 - SHORT_FRACTION : 52 - LONG_FRACTION;
        const uint32_t exponent = (plain ? high : high & ~(HIGH_TAG | HIGH_LONG)) >> (20 - drop);
        const int64_t bias = plain ? BIAS : in_short ? SHORT_BIAS : LONG_BIAS;
        const uint64_t digits = value.bits << drop;
        const Flat x = {from_bits(digits)};
        return Far{Flat::of((x.high() & DIGITS) | HIGH_ONE, x.low()).value,
                   static_cast<int32_t>(exponent) - static_cast<int32_t>(bias)};
    }

    /// Whether it is stored as a double, and as it is then.
    FASTLBP_HD bool is_plain() const { return static_cast<uint32_t>(exponent + PLAIN) <= 2 * PLAIN; }
    FASTLBP_HD Packed plain() const {
        const Flat digits = {significand};
        return Packed{to_bits(Flat::of(digits.high() + (static_cast<uint32_t>(exponent) << 20), digits.low()).value)};
    }

    /// As it is stored; not zero.
    FASTLBP_HD Packed packed() const {
        const uint64_t digits = to_bits(significand) & FRACTION;
        const bool plain = static_cast<uint32_t>(exponent + PLAIN) <= 2 * PLAIN;
        const bool in_short = static_cast<uint32_t>(exponent + SHORT) <= 2 * SHORT;
        const uint32_t drop = in_short ? 52 - SHORT_FRACTION : 52 - LONG_FRACTION;
        const int32_t limit = in_short ? SHORT : LONG;
        const int32_t clamped = exponent < -limit ? -limit : exponent > limit ? limit : exponent;
        const uint32_t odd = static_cast<uint32_t>(digits >> drop) & 1;
        const uint64_t rounded = (digits + ((1u << (drop - 1)) - 1 + odd)) >> drop;
        // A fraction that rounds up to the next power of two carries into the exponent.
        const uint32_t biased =
            static_cast<uint32_t>(clamped + static_cast<int32_t>(in_short ? SHORT_BIAS : LONG_BIAS)) << (20 - drop);
        const uint32_t tag = HIGH_TAG | (in_short ? 0 : HIGH_LONG);
        const uint64_t tagged = rounded + (static_cast<uint64_t>(tag | biased) << 32);
        const uint32_t power = static_cast<uint32_t>(exponent + static_cast<int32_t>(BIAS)) << 20;
        return Packed{plain ? digits + (static_cast<uint64_t>(power) << 32) : tagged};
    }

  private:
    static constexpr uint32_t DIGITS = (1u << 20) - 1;
    static constexpr uint32_t HIGH_TAG = static_cast<uint32_t>(TAG >> 32);
    static constexpr uint32_t HIGH_LONG = static_cast<uint32_t>(LONG_FORM >> 32);
    static constexpr int32_t PLAIN = PLAIN_EXPONENT, SHORT = SHORT_LIMIT, LONG = LONG_LIMIT;
};

FASTLBP_HD Far multiply(Far a, Far b) {
    const int32_t exponent = a.exponent + b.exponent;
    return Far::normalise(a.significand * b.significand,
                          exponent < Far::ZERO_EXPONENT ? Far::ZERO_EXPONENT : exponent);
}

FASTLBP_HD Far add(Far a, Far b) {
    const int32_t top = a.exponent > b.exponent ? a.exponent : b.exponent;
    return Far::normalise(a.significand * Far::scale_down(a.exponent - top) +
                              b.significand * Far::scale_down(b.exponent - top),
                          top);
}

FASTLBP_HD bool is_zero(Far value) { return value.is_zero(); }

FASTLBP_HD Far larger(Far a, Far b) {
    const bool first = a.exponent > b.exponent || (a.exponent == b.exponent && a.significand >= b.significand);
    return first ? a : b;
}

template <>
struct Real<Far> {
    static FASTLBP_HD Far zero() { return Far::zero(); }
    static FASTLBP_HD Far one() { return Far::one(); }
    static FASTLBP_HD Far from_f64(double value) { return Far::from_f64(value); }
};

template <>
struct FromPacked<Far> {
    static FASTLBP_HD void weights(Packed odds, bool swapped, Far &first, Far &second) {
        const bool infinite = odds.bits == INFINITY_BITS, none = odds.bits == 0;
        const Far far = Far::of(uncertain(odds));
        const Far state1 = {far.significand, none ? Far::ZERO_EXPONENT : far.exponent};
        const Far state0 = {1.0, infinite ? Far::ZERO_EXPONENT : 0};
        first = swapped ? state0 : state1;
        second = swapped ? state1 : state0;
    }

    static FASTLBP_HD Packed ratio(Far numerator, Far denominator, bool inverse) {
        const Far above = inverse ? denominator : numerator, below = inverse ? numerator : denominator;
        const bool none = above.is_zero(), infinite = below.is_zero();
        const Packed odds = Far::normalise(quotient(above.significand, below.significand),
                                           above.exponent - below.exponent).packed();
        return infinite ? (none ? Packed::contradiction() : Packed::infinity()) : none ? Packed::zero() : odds;
    }

    static FASTLBP_HD Far number(Packed value) { return value == Packed::zero() ? Far::zero() : Far::of(value); }
};

/// As Far, for factors of up to eight variables, in fewer instructions: what is not a significand from 1 to 2 is left so. A
/// value is at least 1, and at most what products of eight and sums make of numbers below 2; rounding does the same as with
/// significands, since scaling by powers of two is exact. The exponent of zero is so low that no product of numbers is as low,
/// and none of zeros leaves an integer. IN_RANGE: coefficients are zero or within 2^-64..2, and taken as they are, as then sums are
/// still those of numbers whose exponents say which is so small that it does not matter.
template <bool IN_RANGE>
struct LooseOf {
    double value;
    int32_t exponent;

    static constexpr int32_t ZERO_EXPONENT = -(1 << 27);
    static constexpr int32_t ZERO_BELOW = -(1 << 26);

    static FASTLBP_HD LooseOf of(Far far, bool zero) {
        return LooseOf{far.significand, zero ? ZERO_EXPONENT : far.exponent};
    }
    FASTLBP_HD bool is_zero() const { return exponent < ZERO_BELOW; }
};
typedef LooseOf<false> Loose;
typedef LooseOf<true> LooseInRange;

template <bool R>
FASTLBP_HD LooseOf<R> multiply(LooseOf<R> a, LooseOf<R> b) {
    return LooseOf<R>{a.value * b.value, a.exponent + b.exponent};
}

template <bool R>
FASTLBP_HD LooseOf<R> add(LooseOf<R> a, LooseOf<R> b) {
    const int32_t top = a.exponent > b.exponent ? a.exponent : b.exponent;
    return LooseOf<R>{a.value * Far::scale_down(a.exponent - top) + b.value * Far::scale_down(b.exponent - top), top};
}

template <bool R>
FASTLBP_HD LooseOf<R> larger(LooseOf<R> a, LooseOf<R> b) {
    const int32_t top = a.exponent > b.exponent ? a.exponent : b.exponent;
    return a.value * Far::scale_down(a.exponent - top) >= b.value * Far::scale_down(b.exponent - top) ? a : b;
}

template <bool R>
struct Real<LooseOf<R>> {
    typedef LooseOf<R> Loose;
    static FASTLBP_HD Loose zero() { return Loose{1.0, Loose::ZERO_EXPONENT}; }
    static FASTLBP_HD Loose one() { return Loose{1.0, 0}; }
    static FASTLBP_HD Loose from_f64(double value) {
        return Loose::of(R ? Far{value == 0.0 ? 1.0 : value, 0} : Far::from_f64(value), value == 0.0);
    }
};

/// Odds with the exponent that they have, rounded as they are stored.
struct FarOdds {
    double digits;
    int32_t exponent;

    /// Of zero and of infinity.
    static constexpr int32_t NONE = Loose::ZERO_EXPONENT;
    static constexpr int32_t INFINITE = -NONE;

    /// From a number of which the exponent is another one; or zero or infinity.
    static FASTLBP_HD FarOdds rounded(double value, int32_t exponent) {
        const bool none = value == 0.0, infinite = to_bits(value) == INFINITY_BITS;
        const Far far = Far::normalise(value, exponent);
        // A sum has as many digits less as it is larger.
        const double more = is_within(far.exponent, PLAIN_EXPONENT) ? 0.0
                            : is_within(far.exponent, SHORT_LIMIT)  ? 1.5 * power(52 - SHORT_FRACTION)
                                                                    : 1.5 * power(52 - LONG_FRACTION);
        const int32_t limit = static_cast<int32_t>(LONG_LIMIT);
        const int32_t clamped = far.exponent < -limit ? -limit : far.exponent > limit ? limit : far.exponent;
        const bool any = none | infinite;
        return FarOdds{any ? 1.0 : (far.significand + more) - more, any ? (none ? NONE : INFINITE) : clamped};
    }

  private:
    static FASTLBP_HD bool is_within(int32_t exponent, int64_t limit) {
        return static_cast<uint32_t>(exponent + static_cast<int32_t>(limit)) <= 2 * static_cast<uint32_t>(limit);
    }
    static constexpr double power(int exponent) { return static_cast<double>(1u << exponent); }
};

template <bool R>
struct FromPacked<LooseOf<R>> {
    typedef LooseOf<R> Loose;
    static FASTLBP_HD void weights(Packed odds, bool swapped, Loose &first, Loose &second) {
        const Loose state1 = Loose::of(Far::of(uncertain(odds)), odds.bits == 0);
        const Loose state0 = {1.0, odds.bits == INFINITY_BITS ? Loose::ZERO_EXPONENT : 0};
        first = swapped ? state0 : state1;
        second = swapped ? state1 : state0;
    }

    static FASTLBP_HD void weights(FarOdds odds, bool swapped, Loose &first, Loose &second) {
        const bool infinite = odds.exponent == FarOdds::INFINITE;
        const Loose state1 = {odds.digits, infinite ? 0 : odds.exponent};
        const Loose state0 = {1.0, infinite ? Loose::ZERO_EXPONENT : 0};
        first = swapped ? state0 : state1;
        second = swapped ? state1 : state0;
    }

    static FASTLBP_HD Packed ratio(Loose numerator, Loose denominator, bool inverse) {
        const Loose above = inverse ? denominator : numerator, below = inverse ? numerator : denominator;
        const bool none = above.is_zero(), infinite = below.is_zero();
        const Far odds = Far::normalise(quotient(above.value, below.value), above.exponent - below.exponent);
        if (none | infinite) {
            return (none & infinite) ? Packed::contradiction() : none ? Packed::zero() : Packed::infinity();
        }
        return odds.is_plain() ? odds.plain() : odds.packed();
    }
};

/// A number as Balanced, of messages that no double has as well, as inputs and as quotients.
typedef InDouble<Scaling::BALANCED_FAR> BalancedFar;

/// The bound of the exponents of odds that are not certain, all of a factor of up to eight variables together: weights are
/// within 2^-(half of it + 2)..2^(half of it + 2), sums of products of N are larger by at most N, and coefficients are within
/// 2^-64..2. So all numbers are within 2^-1020..2^1020.
constexpr uint32_t BALANCED_EXPONENTS = 2 * (1020 - 65 - 3 * 8);

/// The exponent of odds, up or down, as it counts.
FASTLBP_HD uint32_t balanced_exponent(Packed odds) {
    const int32_t exponent = Far::of(uncertain(odds)).exponent;
    return static_cast<uint32_t>(exponent < 0 ? -exponent : exponent);
}

template <>
struct FromPacked<BalancedFar> {
    static FASTLBP_HD void weights(Packed odds, bool swapped, BalancedFar &first, BalancedFar &second) {
        const bool none = odds.bits == 0, infinite = odds.bits == INFINITY_BITS;
        const Far far = Far::of(uncertain(odds));
        const Flat digits = {far.significand};
        const int32_t half = far.exponent >> 1;
        const uint32_t above = digits.high() + (static_cast<uint32_t>(far.exponent - half) << 20);
        const uint32_t below = HIGH_ONE - (static_cast<uint32_t>(half) << 20);
        const BalancedFar state1 = BalancedFar::of(none ? 0 : above, none ? 0 : digits.low());
        const BalancedFar state0 = BalancedFar::of(infinite ? 0 : below, 0);
        first = swapped ? state0 : state1;
        second = swapped ? state1 : state0;
    }

    static FASTLBP_HD Packed ratio(BalancedFar numerator, BalancedFar denominator, bool inverse) {
        const BalancedFar above = inverse ? denominator : numerator, below = inverse ? numerator : denominator;
        // No number here is so small that its high word is zero.
        const bool none = above.high() == 0, infinite = below.high() == 0;
        if (none | infinite) {
            return (none & infinite) ? Packed::contradiction() : none ? Packed::zero() : Packed::infinity();
        }
        const Far a = Far::normalise(above.value, 0), b = Far::normalise(below.value, 0);
        const Far odds = Far::normalise(quotient(a.significand, b.significand), a.exponent - b.exponent);
        return odds.is_plain() ? odds.plain() : odds.packed();
    }
};

/// Balanced, for sums where Loose is, and for maxima.
template <class T>
struct BalancedFor;
template <>
struct BalancedFor<Loose> {
    typedef Balanced type;
};
template <>
struct BalancedFor<Max<Loose>> {
    typedef Max<Balanced> type;
};

}  // namespace fastlbp
