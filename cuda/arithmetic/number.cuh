// src/kernel/number.rs: non-negative numbers with a binary64 significand and an exponent without
// practical bounds. The trait Real is a set of functions over double, Wide and Max<T>.
#pragma once

#include "base.cuh"

namespace fastlbp {

constexpr uint64_t FRACTION = (uint64_t(1) << 52) - 1;
constexpr int64_t BIAS = 1023;
constexpr uint64_t ONE_BITS = uint64_t(BIAS) << 52;
/// Exponent of zero: what products of it can not bring back above ZERO_BELOW.
constexpr int64_t ZERO_EXPONENT = -(int64_t(1) << 56);
constexpr int64_t ZERO_BELOW = -(int64_t(1) << 55);
constexpr double MIN_POSITIVE = 2.2250738585072014e-308;

/// `significand` * 2^`exponent` with a significand in [1, 2); zero is any number with an exponent
/// below ZERO_BELOW.
struct Wide {
    double significand;
    int64_t exponent;

    static FASTLBP_HD Wide zero() { return Wide{1.0, ZERO_EXPONENT}; }
    static FASTLBP_HD Wide one() { return Wide{1.0, 0}; }

    /// Moves the exponent of a positive, normal `value` into the exponent part.
    static FASTLBP_HD Wide normalise(double value, int64_t exponent) {
        const uint64_t bits = to_bits(value);
        return Wide{from_bits((bits & FRACTION) | ONE_BITS),
                    exponent + (static_cast<int64_t>(bits >> 52) - BIAS)};
    }

    /// 2^`by` for `by` <= 0; 2^-1000 for all that are smaller.
    static FASTLBP_HD double scale_down(int64_t by) {
        return from_bits(static_cast<uint64_t>((by < -1000 ? -1000 : by) + BIAS) << 52);
    }

    static FASTLBP_HD Wide from_f64(double value) {
        if (value == 0.0) {
            return zero();
        }
        if (value < MIN_POSITIVE) {
            // A subnormal value, made normal by an exact scaling.
            return normalise(value * from_bits(static_cast<uint64_t>(BIAS + 100) << 52), -100);
        }
        return normalise(value, 0);
    }

    /// The product where neither number is zero.
    FASTLBP_HD Wide multiply_positive(Wide other) const {
        return normalise(significand * other.significand, exponent + other.exponent);
    }

    /// The number times 2^`by`.
    FASTLBP_HD Wide scaled(int64_t by) const { return Wide{significand, exponent + by}; }

    /// Whether this number is at least the other one: (exponent, significand) in lexical order.
    FASTLBP_HD bool at_least(Wide other) const {
        return exponent > other.exponent ||
               (exponent == other.exponent && significand >= other.significand);
    }

    FASTLBP_HD Wide smaller(Wide other) const { return other.at_least(*this) ? *this : other; }

    /// The difference, or zero where the other number is not smaller.
    FASTLBP_HD Wide minus(Wide other) const {
        if (other.at_least(*this)) {
            return zero();
        }
        const double less = other.significand * scale_down(other.exponent - exponent);
        return normalise(significand - less, exponent);
    }

    /// The nearest double: 0 or infinity beyond its range.
    FASTLBP_HD double to_f64() const {
        if (exponent < -1022) {
            // The first product is exact, the second rounds once to a subnormal number.
            return significand * MIN_POSITIVE * scale_down(exponent + 1022);
        }
        if (exponent > 1023) {
            return from_bits(uint64_t(0x7ff) << 52);
        }
        return from_bits((to_bits(significand) & FRACTION) |
                         (static_cast<uint64_t>(exponent + BIAS) << 52));
    }
};

/// The numbers of max-product: the larger of two numbers in place of their sum.
template <class T>
struct Max {
    T value;
};

/// The numbers of sums and of maxima over a plain or wide kind of number.
template <class T>
struct SumProduct {
    typedef T type;
};

template <class T>
struct MaxProduct {
    typedef Max<T> type;
};

/// 0, 1 and any double as a number of a kind.
template <class T>
struct Real;

template <>
struct Real<double> {
    static FASTLBP_HD double zero() { return 0.0; }
    static FASTLBP_HD double one() { return 1.0; }
    static FASTLBP_HD double from_f64(double value) { return value; }
};

template <>
struct Real<Wide> {
    static FASTLBP_HD Wide zero() { return Wide::zero(); }
    static FASTLBP_HD Wide one() { return Wide::one(); }
    static FASTLBP_HD Wide from_f64(double value) { return Wide::from_f64(value); }
};

template <class T>
struct Real<Max<T>> {
    static FASTLBP_HD Max<T> zero() { return Max<T>{Real<T>::zero()}; }
    static FASTLBP_HD Max<T> one() { return Max<T>{Real<T>::one()}; }
    static FASTLBP_HD Max<T> from_f64(double value) { return Max<T>{Real<T>::from_f64(value)}; }
};

FASTLBP_HD double multiply(double a, double b) { return a * b; }
FASTLBP_HD double add(double a, double b) { return a + b; }
FASTLBP_HD double larger(double a, double b) { return a >= b ? a : b; }
FASTLBP_HD double divide(double a, double b) { return a / b; }
FASTLBP_HD bool is_zero(double value) { return value == 0.0; }
FASTLBP_HD Wide widen(double value) { return Wide::from_f64(value); }

FASTLBP_HD Wide multiply(Wide a, Wide b) {
    const int64_t exponent = larger_of<int64_t>(a.exponent + b.exponent, ZERO_EXPONENT);
    return Wide::normalise(a.significand * b.significand, exponent);
}

FASTLBP_HD Wide add(Wide a, Wide b) {
    const int64_t top = larger_of(a.exponent, b.exponent);
    const double sum = a.significand * Wide::scale_down(a.exponent - top) +
                       b.significand * Wide::scale_down(b.exponent - top);
    return Wide::normalise(sum, top);
}

FASTLBP_HD Wide larger(Wide a, Wide b) { return a.at_least(b) ? a : b; }

FASTLBP_HD Wide divide(Wide a, Wide b) {
    return Wide::normalise(a.significand / b.significand, a.exponent - b.exponent);
}

FASTLBP_HD bool is_zero(Wide value) { return value.exponent < ZERO_BELOW; }
FASTLBP_HD Wide widen(Wide value) { return value; }

template <class T>
FASTLBP_HD Max<T> multiply(Max<T> a, Max<T> b) { return Max<T>{multiply(a.value, b.value)}; }

template <class T>
FASTLBP_HD Max<T> larger(Max<T> a, Max<T> b) { return Max<T>{larger(a.value, b.value)}; }

template <class T>
FASTLBP_HD Max<T> add(Max<T> a, Max<T> b) { return larger(a, b); }

template <class T>
FASTLBP_HD Max<T> divide(Max<T> a, Max<T> b) { return Max<T>{divide(a.value, b.value)}; }

template <class T>
FASTLBP_HD bool is_zero(Max<T> number) {
    return is_zero(number.value);
}

template <class T>
FASTLBP_HD Wide widen(Max<T> number) {
    return widen(number.value);
}

}  // namespace fastlbp
