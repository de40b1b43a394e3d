// Numbers of factors which doubles do for, without branches: for GPUs, where those are what takes long.
#pragma once

#include "body.cuh"

namespace fastlbp {

constexpr uint32_t HIGH_ONE = static_cast<uint32_t>(ONE_BITS >> 32);
constexpr uint32_t HIGH_INFINITY = static_cast<uint32_t>(INFINITY_BITS >> 32);

/// The high half of a message tells zero, infinity, UNSENT and contradictions from all others. (What reads by levels has
/// high_half instead: here that was 2 to 4 percent slower.)
FASTLBP_HD uint32_t high(Packed message) { return static_cast<uint32_t>(message.bits >> 32); }

/// The quotient, within 2^-1000..2^1000, of positive numbers within 2^-960..2^960, as a division rounds it: the same
/// operations in the same order as those by which the compiler divides, but for its test of operands, which keeps divisions
/// from running together. The error of the reciprocal, at first less than 2^-20, is cubed and then squared; then what the
/// product with it leaves is divided as well (Markstein, "Computation of elementary functions on the IBM RISC System/6000
/// processor", 1990). That the reciprocal is not just too small at the end, which would be wrong for divisors with only ones as
/// digits, is due to the one in its lowest digit.
FASTLBP_HD double quotient(double a, double b) {
#ifdef __CUDA_ARCH__
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
    r = from_bits(to_bits(r) | 1);
    double error = __fma_rn(-b, r, 1.0);
    error = __fma_rn(error, error, error);
    r = __fma_rn(r, error, r);
    r = __fma_rn(r, __fma_rn(-b, r, 1.0), r);
    const double product = a * r;
    return __fma_rn(r, __fma_rn(-b, product, a), product);
#else
    return a / b;
#endif
}

/// How the two weights are scaled that odds are turned into.
enum class Scaling { NONE, BALANCED, BALANCED_FAR };

/// A number which doubles do for, of factors whose weights are scaled so: tests and selections of it are of its high word.
template <Scaling SCALING>
struct InDouble {
    double value;

    static FASTLBP_HD InDouble of(uint32_t high, uint32_t low) {
        return InDouble{from_bits(static_cast<uint64_t>(high) << 32 | low)};
    }
    FASTLBP_HD uint32_t high() const { return static_cast<uint32_t>(to_bits(value) >> 32); }
    FASTLBP_HD uint32_t low() const { return static_cast<uint32_t>(to_bits(value)); }
    /// As it is stored, and what is left of the number without it, from 1 to 2.
    FASTLBP_HD int32_t exponent() const { return static_cast<int32_t>(high() >> 20); }
    FASTLBP_HD double digits() const { return of((high() & ((1u << 20) - 1)) | HIGH_ONE, low()).value; }
};

template <Scaling S>
FASTLBP_HD InDouble<S> multiply(InDouble<S> a, InDouble<S> b) {
    return InDouble<S>{a.value * b.value};
}
template <Scaling S>
FASTLBP_HD InDouble<S> add(InDouble<S> a, InDouble<S> b) {
    return InDouble<S>{a.value + b.value};
}
template <Scaling S>
FASTLBP_HD InDouble<S> larger(InDouble<S> a, InDouble<S> b) {
    return a.value >= b.value ? a : b;
}

template <Scaling S>
struct Real<InDouble<S>> {
    static FASTLBP_HD InDouble<S> zero() { return InDouble<S>{0.0}; }
    static FASTLBP_HD InDouble<S> one() { return InDouble<S>{1.0}; }
    static FASTLBP_HD InDouble<S> from_f64(double value) { return InDouble<S>{value}; }
};

/// Odds x are the weights x and 1.
typedef InDouble<Scaling::NONE> Flat;

template <>
struct FromPacked<Flat> {
    static FASTLBP_HD void weights(Packed odds, bool swapped, Flat &first, Flat &second) {
        // The low words of zero, one and infinity are zeros.
        const bool infinite = high(odds) == HIGH_INFINITY;
        const uint32_t low = static_cast<uint32_t>(odds.bits);
        const uint32_t state1 = infinite ? HIGH_ONE : high(odds), state0 = infinite ? 0 : HIGH_ONE;
        first = Flat::of(swapped ? state0 : state1, swapped ? 0 : low);
        second = Flat::of(swapped ? state1 : state0, swapped ? low : 0);
    }

    /// 0/0 is something with the high word ~0.
    static FASTLBP_HD Packed ratio(Flat numerator, Flat denominator, bool inverse) {
        const Flat above = Flat{inverse ? denominator.value : numerator.value};
        const Flat below = Flat{inverse ? numerator.value : denominator.value};
        // No number here is so small that its high word is zero. Divisions by and of zero take a long way.
        const bool none = above.high() == 0, infinite = below.high() == 0;
        const Flat ratio = Flat{quotient(Flat::of(none ? HIGH_ONE : above.high(), above.low()).value,
                                         Flat::of(infinite ? HIGH_ONE : below.high(), below.low()).value)};
        const uint32_t certain = none ? (infinite ? ~uint32_t(0) : 0) : HIGH_INFINITY;
        const bool any = none | infinite;
        return Packed{to_bits(Flat::of(any ? certain : ratio.high(), any ? 0 : ratio.low()).value)};
    }
};

/// A number of a factor with balanced weights: those of both states of each variable, times a power of two that leaves them about
/// as far from one. A message is a quotient of sums of products with one weight of each other variable, so such powers cancel out;
/// but the exponents of the sums are half as large, so that doubles do where odds are as far from one as messages can be.
typedef InDouble<Scaling::BALANCED> Balanced;

template <>
struct FromPacked<Balanced> {
    /// Of odds that are certain or stored as a double. With the exponent e, weights are within 2^-(|e| / 2 + 1)..2^(|e| / 2 + 2).
    static FASTLBP_HD void weights(Packed odds, bool swapped, Balanced &first, Balanced &second) {
        const uint32_t low = static_cast<uint32_t>(odds.bits);
        const bool infinite = high(odds) == HIGH_INFINITY;
        const uint32_t distance = (infinite | (high(odds) == 0)) ? 0 : high(odds) - HIGH_ONE;
        const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(distance) >> 1) & ~((1u << 20) - 1);
        const uint32_t state1 = infinite ? HIGH_ONE : high(odds) - half, state0 = infinite ? 0 : HIGH_ONE - half;
        first = Balanced::of(swapped ? state0 : state1, swapped ? 0 : low);
        second = Balanced::of(swapped ? state1 : state0, swapped ? low : 0);
    }

    /// The quotient, if it is certain or stored as a double; else something with the high word ~0, as of 0/0. Digits are divided,
    /// and exponents subtracted, so that any normal numbers will do.
    static FASTLBP_HD Packed ratio(Balanced numerator, Balanced denominator, bool inverse) {
        const Balanced above = {inverse ? denominator.value : numerator.value};
        const Balanced below = {inverse ? numerator.value : denominator.value};
        // No number here is so small that its high word is zero.
        const bool none = above.high() == 0, infinite = below.high() == 0, any = none | infinite;
        const Balanced digits = {quotient(above.digits(), below.digits())};
        const int32_t difference = above.exponent() - below.exponent();
        const uint32_t certain = none ? (infinite ? ~uint32_t(0) : 0) : HIGH_INFINITY;
        // The quotient of the digits is from 1/2 to 2.
        const bool is_plain = static_cast<uint32_t>(difference + 999) <= 1999;
        const uint32_t high = is_plain ? digits.high() + (static_cast<uint32_t>(difference) << 20) : ~uint32_t(0);
        return Packed{to_bits(Balanced::of(any ? certain : high, any ? 0 : digits.low()).value)};
    }
};

}  // namespace fastlbp
