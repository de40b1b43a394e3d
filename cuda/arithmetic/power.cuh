// src/kernel/power.rs: weighted geometric means, from + - * /, square roots and powers of two only.
#pragma once

#include "number.cuh"

namespace fastlbp {

/// The rounded product and its rounding error in `rest` (Dekker 1971, with Veltkamp's splitting).
FASTLBP_HD double two_product(double a, double b, double &rest) {
    const double c = 134217729.0 * a;
    const double a_high = c - (c - a);
    const double a_low = a - a_high;
    const double d = 134217729.0 * b;
    const double b_high = d - (d - b);
    const double b_low = b - b_high;
    const double product = a * b;
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    return product;
}

/// The rounded sum and its rounding error in `rest` (Knuth).
FASTLBP_HD double two_sum(double a, double b, double &rest) {
    const double sum = a + b;
    const double b_part = sum - a;
    rest = (a - (sum - b_part)) + (b - b_part);
    return sum;
}

/// log2(x/y) as a whole number and, in `rest`, a rest within -1/2..1/2.
FASTLBP_HD double log2_quotient(Wide x, Wide y, double &rest) {
    const double sqrt_2 = from_bits(0x3ff6a09e667f3bcd);
    const bool above = x.significand > y.significand * sqrt_2;
    const bool below = y.significand > x.significand * sqrt_2;
    const int64_t exponent = x.exponent - y.exponent + (above ? 1 : 0) - (below ? 1 : 0);
    const double a = above ? x.significand * 0.5 : x.significand;
    const double b = below ? y.significand * 0.5 : y.significand;
    // a - b is exact since neither is more than twice the other.
    const double z = (a - b) / (a + b);
    const double u = z * z;
    const double u2 = u * u;
    const double low =
        (from_bits(0x3feec709dc3a0401) + from_bits(0x3fe2776c50ef68fb) * u) +
        u2 * (from_bits(0x3fda61762b532f39) + from_bits(0x3fd484b091bb27dc) * u);
    const double high = (from_bits(0x3fd0c9e9175ecd74) + from_bits(0x3fcc4ff418a4c6ba) * u) +
                        u2 * from_bits(0x3fcafdd06f96961f);
    const double series = low + (u2 * u2) * high;
    // 2/ln(2) in two numbers.
    rest = z * from_bits(0x40071547652b82fe) + z * (from_bits(0x3c8777d0ffda0d24) + u * series);
    return static_cast<double>(exponent);
}

/// 2^f - 1 for f within -1/2..1/2 or a little more; exactly 0 for 0.
FASTLBP_HD double exp2_minus_one(double f) {
    const double f2 = f * f;
    const double f4 = f2 * f2;
    const double low = (from_bits(0x3fcebfbdff82c58f) + from_bits(0x3fac6b08d704a0c2) * f) +
                       f2 * (from_bits(0x3f83b2ab6fba4e78) + from_bits(0x3f55d87fe78a5276) * f);
    const double middle = (from_bits(0x3f2430912f86bf52) + from_bits(0x3eeffcbfc670dcd4) * f) +
                          f2 * (from_bits(0x3eb62c022401b97d) + from_bits(0x3e7b524fae627834) * f);
    const double high = (from_bits(0x3e3e4cf1cd08d4b8) + from_bits(0x3dfe9d3fe3952179) * f) +
                        f2 * from_bits(0x3dbc48f769ad2c46);
    const double series = low + f4 * (middle + f4 * high);
    // ln(2) in two numbers.
    return f * from_bits(0x3fe62e42fefa39ef) + (f * from_bits(0x3c7abc9e3b39803f) + f2 * series);
}

/// The mean for any damping.
FASTLBP_HD Wide mean_by_logarithm(Wide old_number, Wide new_number, double damping) {
    const bool small = damping <= 0.5;
    const Wide base = small ? new_number : old_number;
    const Wide other = small ? old_number : new_number;
    const double weight = small ? damping : 1.0 - damping;
    double logarithm, product_rest, sum_rest;
    const double exponent = log2_quotient(other, base, logarithm);
    const double product = two_product(weight, exponent, product_rest);
    const double sum = two_sum(product, weight * logarithm, sum_rest);
    // Adding and subtracting 1.5 * 2^52 rounds to the nearest whole number.
    const double rounder = 6755399441055744.0;
    const double whole = (sum + rounder) - rounder;
    const double fraction = (sum - whole) + (sum_rest + product_rest);
    const double raised = base.significand + base.significand * exp2_minus_one(fraction);
    return Wide::from_f64(raised).scaled(base.exponent + static_cast<int64_t>(whole));
}

/// The correctly rounded square root of a number within 1/2..4. On a device by the operations into which compilers expand it
/// there: the error of the reciprocal root, at first about 2^-20, is cubed, and what the square of the root leaves is divided
/// as well (Markstein, as for `quotient` of flat.cuh). They are written out since that of CUDA 12.0, as ptxas 12.0 placed
/// it in general_passes, gave some last bits differently on an H200, though not in a kernel of its own.
FASTLBP_HD double square_root(double value) {
#ifdef __CUDA_ARCH__
    double r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(value));
    const double error = __fma_rn(-value, r * r, 1.0);
    r = __fma_rn(r * error, __fma_rn(error, 0.375, 0.5), r);
    const double root = value * r;
    return __fma_rn(__fma_rn(-root, root, value), 0.5 * r, root);
#else
    return __builtin_sqrt(value);
#endif
}

/// sqrt(a * b); exactly a if both are the same.
FASTLBP_HD Wide root_of_product(Wide a, Wide b) {
    const int64_t exponent = a.exponent + b.exponent;
    // Half of the product, which is exact, where its exponent would be odd.
    const int64_t odd = exponent & 1;
    const double product = a.significand * b.significand * Wide::scale_down(-odd);
    return Wide::normalise(square_root(product), (exponent + odd) / 2);
}

/// Multiples of 1/16 take square roots.
constexpr uint32_t MEAN_DENOMINATOR = 16;

/// The mean for the damping `numerator` / MEAN_DENOMINATOR, by Horner's scheme over its binary digits.
template <class T>
FASTLBP_HD T mean_by_roots(T old_number, T new_number, uint32_t numerator) {
    // The 1 in front of the digits ends the loop.
    uint32_t digits = numerator | MEAN_DENOMINATOR;
    while ((digits & 1) == 0) {
        digits >>= 1;
    }
    T mean = new_number;
    while (digits > 1) {
        mean = root_of_product(mean, (digits & 1) == 1 ? old_number : new_number);
        digits >>= 1;
    }
    return mean;
}

/// old^damping * new^(1 - damping), for positive numbers and 0 < damping < 1.
FASTLBP_COLD Wide geometric_mean(Wide old_number, Wide new_number, double damping) {
    const double scaled = damping * MEAN_DENOMINATOR;
    const uint32_t numerator = static_cast<uint32_t>(scaled);
    return static_cast<double>(numerator) == scaled ? mean_by_roots(old_number, new_number, numerator)
                                                    : mean_by_logarithm(old_number, new_number, damping);
}

}  // namespace fastlbp
