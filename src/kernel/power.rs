//! Weighted geometric means, from `+ - * /` and square roots of binary64 values and powers of two
//! only, all of them correctly rounded, so that every machine and every GPU gives the same bits.
//!
//! A weight that is a binary fraction of few digits, such as 1/2 or 3/4, takes one square root for
//! each digit. Any other weight takes a logarithm and a power, made of polynomials.

use super::number::{ExtendedFloat, Real};

/// `old`^`damping` * `new`^(1 - `damping`), for positive numbers and 0 < `damping` < 1.
///
/// Exponents may be up to 2^40 in magnitude. The result is never outside the two numbers; it is
/// `new` exactly if both are the same; scaling both by a power of two scales it exactly. The error
/// is below 0.86 units in the last place of the significand for a damping of 1/2, below 2.1 for other
/// multiples of 1/16, and below 2 for the rest.
pub(crate) fn geometric_mean(
    old: ExtendedFloat, new: ExtendedFloat, damping: f64,
) -> ExtendedFloat {
    debug_assert!(0.0 < damping && damping < 1.0, "damping {damping}");
    debug_assert!(!old.is_zero() && !new.is_zero());
    match mean_numerator(damping) {
        0 => mean_by_logarithm(old, new, damping),
        numerator => mean_by_roots(old, new, numerator),
    }
}

/// The same of two numbers within 2^-256..2^256 for the damping `numerator` / [`DENOMINATOR`]: `f64` holds all that leads to their
/// mean. The bits are the same, as what is under each root differs from that of [`mean_by_roots`] by an even power of two.
#[inline(always)]
pub(super) fn mean_of_near(old: f64, new: f64, numerator: u32) -> f64 {
    by_roots(old, new, numerator, |a, b| (a * b).sqrt())
}

/// A damping between 0 and 1 as a multiple of 1/16, which square roots do for, or 0 if it is none.
#[inline(always)]
pub(crate) fn mean_numerator(damping: f64) -> u32 {
    let scaled = damping * f64::from(DENOMINATOR);
    let numerator = scaled as u32;
    if f64::from(numerator) == scaled { numerator } else { 0 }
}

/// Multiples of 1/16 take square roots. One root takes a third of the time of the logarithm, four take
/// 3/4 of it; from five on the logarithm is faster (measured on a Xeon, Skylake-SP, 2.5 GHz).
const DENOMINATOR: u32 = 1 << 4;

/// The mean for the damping `numerator` / [`DENOMINATOR`], by Horner's scheme over the binary digits
/// of the damping, from the last 1 on: the root of x * `old` has half of the weights that x has, and
/// 1/2 more of `old`.
///
/// Rounding the product and the root adds at most 0.75 * 2^-52 of the number in each step, and each
/// step halves the relative error before it. The three steps before the last thus leave less than
/// 0.66 * 2^-52 of the number; the last one adds at most 0.86 units in the last place, at sqrt(2), and
/// 0.75 just below 2, where the unit is 2^-53 of the number: together less than 2.1 units.
#[inline(always)]
fn mean_by_roots(old: ExtendedFloat, new: ExtendedFloat, numerator: u32) -> ExtendedFloat {
    by_roots(old, new, numerator, root_of_product)
}

/// [`mean_by_roots`] for any numbers.
#[inline(always)]
fn by_roots<T: Copy>(old: T, new: T, numerator: u32, root_of_product: impl Fn(T, T) -> T) -> T {
    // The 1 in front of the digits ends the loop.
    let mut digits = numerator | DENOMINATOR;
    digits >>= digits.trailing_zeros();
    let mut mean = new;
    while digits > 1 {
        let other = if digits & 1 == 1 { old } else { new };
        mean = root_of_product(mean, other);
        digits >>= 1;
    }
    mean
}

/// sqrt(`a` * `b`); exactly `a` if both are the same: rounding the square moves its root by at most
/// 0.36 units in the last place, and so the nearest number stays `a`.
#[inline(always)]
fn root_of_product(a: ExtendedFloat, b: ExtendedFloat) -> ExtendedFloat {
    let exponent = a.exponent() + b.exponent();
    // Half of the product, which is exact, where its exponent would be odd.
    let odd = exponent & 1;
    let product = a.significand() * b.significand() * ExtendedFloat::scale_down(-odd);
    ExtendedFloat::normalise(product.sqrt(), (exponent + odd) / 2)
}

/// The mean for any damping.
///
/// The mean of x with weight w <= 1/2 and y is y * 2^(w * log2(x/y)). The quotient is taken apart
/// into 2^e * r with r within 2^-1/2..2^1/2, so that log2 r is small, w * e and its sum with
/// w * log2 r are kept in two `f64`, and only then split into a whole number and a fraction f.
/// Multiplying y by 2^f as y + y * (2^f - 1) keeps all errors but the last rounding small where x
/// and y are near each other. Differences of numbers that may be near each other are exact. The error
/// is below 2 units in the last place (1.5 is the largest one found).
fn mean_by_logarithm(old: ExtendedFloat, new: ExtendedFloat, damping: f64) -> ExtendedFloat {
    // 1 - damping is exact from 1/2 on.
    let (base, other, weight) =
        if damping <= 0.5 { (new, old, damping) } else { (old, new, 1.0 - damping) };
    let (exponent, logarithm) = log2_quotient(other, base);
    let (product, product_rest) = two_product(weight, exponent);
    let (sum, sum_rest) = two_sum(product, weight * logarithm);
    // Adding and subtracting 1.5 * 2^52 rounds to the nearest whole number.
    let whole = (sum + ROUNDER) - ROUNDER;
    let fraction = (sum - whole) + (sum_rest + product_rest);
    let significand = base.significand();
    let raised = significand + significand * exp2_minus_one(fraction);
    ExtendedFloat::from_f64(raised).scaled(base.exponent() + whole as i64)
}

/// 1.5 * 2^52.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// sqrt(2), rounded.
const SQRT_2: f64 = f64::from_bits(0x3ff6_a09e_667f_3bcd);

/// log2(`x`/`y`) as a whole number and a rest within -1/2..1/2, with a relative error of the rest
/// of about 2^-51.
///
/// The rest is that of a quotient a/b within 2^-1/2..2^1/2: 2/ln(2) * atanh(z), z = (a - b)/(a + b).
#[inline(always)]
fn log2_quotient(x: ExtendedFloat, y: ExtendedFloat) -> (f64, f64) {
    let (a, b) = (x.significand(), y.significand());
    let above = a > b * SQRT_2;
    let below = b > a * SQRT_2;
    let exponent = x.exponent() - y.exponent() + i64::from(above) - i64::from(below);
    let a = if above { a * 0.5 } else { a };
    let b = if below { b * 0.5 } else { b };
    // a - b is exact since neither is more than twice the other.
    let z = (a - b) / (a + b);
    let u = z * z;
    let u2 = u * u;
    let [c0, c1, c2, c3, c4, c5, c6] = LOG2_SERIES;
    let low = (c0 + c1 * u) + u2 * (c2 + c3 * u);
    let high = (c4 + c5 * u) + u2 * c6;
    let series = low + (u2 * u2) * high;
    (exponent as f64, z * TWO_OVER_LN_2 + z * (TWO_OVER_LN_2_REST + u * series))
}

/// Numbers by their bits, so that no conversion of decimals rounds them.
const fn from_bits<const N: usize>(bits: [u64; N]) -> [f64; N] {
    let mut numbers = [0.0; N];
    let mut index = 0;
    while index < N {
        numbers[index] = f64::from_bits(bits[index]);
        index += 1;
    }
    numbers
}

/// 2/ln(2) in two numbers.
const TWO_OVER_LN_2: f64 = f64::from_bits(0x4007_1547_652b_82fe);
const TWO_OVER_LN_2_REST: f64 = f64::from_bits(0x3c87_77d0_ffda_0d24);

/// (2/ln(2) * atanh(z)/z - 2/ln(2)) / u for u = z^2 from 0 to (sqrt(2) - 1)^4, as a polynomial in u,
/// lowest power first.
///
/// The polynomial of degree 6 through the Chebyshev points, computed with 200 bits (mpmath's
/// `chebyfit`), its coefficients rounded. It makes an error of 2^-57.4 of the logarithm.
#[rustfmt::skip]
const LOG2_SERIES: [f64; 7] = from_bits([
    0x3fee_c709_dc3a_0401, 0x3fe2_776c_50ef_68fb, 0x3fda_6176_2b53_2f39, 0x3fd4_84b0_91bb_27dc,
    0x3fd0_c9e9_175e_cd74, 0x3fcc_4ff4_18a4_c6ba, 0x3fca_fdd0_6f96_961f,
]);

/// 2^`f` - 1 for `f` within -1/2..1/2 or a little more; exactly 0 for 0.
#[inline(always)]
fn exp2_minus_one(f: f64) -> f64 {
    let f2 = f * f;
    let f4 = f2 * f2;
    let [c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10] = EXP2_SERIES;
    let low = (c0 + c1 * f) + f2 * (c2 + c3 * f);
    let middle = (c4 + c5 * f) + f2 * (c6 + c7 * f);
    let high = (c8 + c9 * f) + f2 * c10;
    let series = low + f4 * (middle + f4 * high);
    f * LN_2 + (f * LN_2_REST + f2 * series)
}

/// ln(2) in two numbers.
const LN_2: f64 = f64::from_bits(0x3fe6_2e42_fefa_39ef);
const LN_2_REST: f64 = f64::from_bits(0x3c7a_bc9e_3b39_803f);

/// (2^f - 1 - f ln(2)) / f^2 for f from -1/2 to 1/2, as a polynomial in f, lowest power first.
///
/// The polynomial of degree 10 through the Chebyshev points, computed as that of the logarithm. It
/// makes an error of 2^-56.7 of 2^f - 1.
#[rustfmt::skip]
const EXP2_SERIES: [f64; 11] = from_bits([
    0x3fce_bfbd_ff82_c58f, 0x3fac_6b08_d704_a0c2, 0x3f83_b2ab_6fba_4e78, 0x3f55_d87f_e78a_5276,
    0x3f24_3091_2f86_bf52, 0x3eef_fcbf_c670_dcd4, 0x3eb6_2c02_2401_b97d, 0x3e7b_524f_ae62_7834,
    0x3e3e_4cf1_cd08_d4b8, 0x3dfe_9d3f_e395_2179, 0x3dbc_48f7_69ad_2c46,
]);

/// The rounded product and its rounding error (Dekker 1971, with Veltkamp's splitting).
#[inline(always)]
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let (a_high, a_low) = split(a);
    let (b_high, b_low) = split(b);
    let product = a * b;
    let rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    (product, rest)
}

/// Two numbers of at most 26 bits each with the sum `a`.
#[inline(always)]
fn split(a: f64) -> (f64, f64) {
    let c = 134_217_729.0 * a;
    let high = c - (c - a);
    (high, a - high)
}

/// The rounded sum and its rounding error (Knuth).
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Arithmetic;
    use num_bigint::BigUint;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    /// Units in the last place from the significand 1 and the exponent 0; neighbouring numbers
    /// have neighbouring places.
    fn place(number: ExtendedFloat) -> i128 {
        let fraction = number.significand().to_bits() - 1_f64.to_bits();
        (i128::from(number.exponent()) << 52) + i128::from(fraction)
    }

    fn distance(a: ExtendedFloat, b: ExtendedFloat) -> u128 {
        place(a).abs_diff(place(b))
    }

    /// Whether `mean` is within `bound` units in its last place of a^(k/64) * b^(1 - k/64): by 64th powers
    /// of whole numbers, without rounding.
    fn has_error_below(
        mean: ExtendedFloat, a: ExtendedFloat, b: ExtendedFloat, k: u32, bound: f64,
    ) -> bool {
        // In parts of 1/128 of a unit in the last place.
        let digits = |x: ExtendedFloat| (x.significand() * (128_u64 << 52) as f64) as u64;
        let exact = BigUint::from(digits(a)).pow(k) * BigUint::from(digits(b)).pow(64 - k);
        let exact_exponent = a.exponent() * i64::from(k) + b.exponent() * i64::from(64 - k);
        let parts = (bound * 128.0) as u64;
        let compare = |digits: u64| {
            let power = BigUint::from(digits).pow(64);
            // 2^by is between the exponents; powers that are further apart than their digits differ anyway.
            let by = (exact_exponent - 64 * mean.exponent()).clamp(-10_000, 10_000);
            let up = |number: &BigUint, by: i64| number << by.max(0) as u64;
            up(&power, -by).cmp(&up(&exact, by))
        };
        compare(digits(mean) - parts) == Ordering::Less
            && compare(digits(mean) + parts) == Ordering::Greater
    }

    fn significands() -> impl Strategy<Value = f64> {
        let last = 2.0 - f64::EPSILON;
        prop_oneof![8 => 1.0..2.0, 1 => Just(1.0), 1 => Just(last), 1 => SQRT_2 - 1e-15..SQRT_2 + 1e-15]
    }

    /// Numbers near each other and far apart.
    fn numbers() -> impl Strategy<Value = ExtendedFloat> {
        let exponents = prop_oneof![
            Just(0_i64),
            -3..=3_i64,
            -2000..=2000_i64,
            -3_000_000..=3_000_000_i64,
            -(1 << 40)..=1_i64 << 40,
        ];
        (significands(), exponents).prop_map(|(s, e)| ExtendedFloat::from_parts(s, e))
    }

    /// A number and one a few places away.
    fn neighbours() -> impl Strategy<Value = (ExtendedFloat, ExtendedFloat)> {
        let last = 2_f64.to_bits() - 1;
        (significands(), 0..20_u64).prop_map(move |(s, places)| {
            let moved = f64::from_bits((s.to_bits() + places).min(last));
            (ExtendedFloat::from_parts(s, 5), ExtendedFloat::from_parts(moved, 5))
        })
    }

    fn pairs() -> impl Strategy<Value = (ExtendedFloat, ExtendedFloat)> {
        prop_oneof![4 => (numbers(), numbers()), 1 => neighbours()]
    }

    fn dampings() -> impl Strategy<Value = f64> {
        let nearly_one = 1.0 - f64::EPSILON / 2.0;
        prop_oneof![
            8 => 1e-3..1.0,
            2 => Just(0.5),
            4 => (1..64_u32).prop_map(|k| f64::from(k) / 64.0),
            1 => 1e-20..1e-3,
            1 => Just(nearly_one),
            1 => Just(5e-324),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_mean_of_a_number_with_itself_is_that_number(x in numbers(), damping in dampings()) {
            prop_assert_eq!(place(geometric_mean(x, x, damping)), place(x));
        }

        #[test]
        fn means_lie_between_the_numbers((a, b) in pairs(), damping in dampings()) {
            let mean = place(geometric_mean(a, b, damping));
            let (low, high) = (place(a).min(place(b)), place(a).max(place(b)));
            prop_assert!(low <= mean && mean <= high);
        }

        #[test]
        fn the_square_of_an_even_mean_is_the_product((a, b) in pairs()) {
            let mean = geometric_mean(a, b, 0.5);
            prop_assert!(distance(mean.multiply(mean), a.multiply(b)) <= 4);
        }

        #[test]
        fn scaling_both_numbers_scales_the_mean(
            (a, b) in pairs(), damping in dampings(), by in -(1 << 30)..1_i64 << 30
        ) {
            let scaled = geometric_mean(a.scaled(by), b.scaled(by), damping);
            prop_assert_eq!(place(scaled), place(geometric_mean(a, b, damping).scaled(by)));
        }

        /// 1 - k * 2^-53 is exact, so the two weights are those of the other order exactly.
        #[test]
        fn the_numbers_may_change_places((a, b) in pairs(), k in 1..1_u64 << 53) {
            let damping = k as f64 / (1_u64 << 53) as f64;
            for damping in [damping, 0.5, 0.25, 0.3125] {
                let one = geometric_mean(a, b, damping);
                let other = geometric_mean(b, a, 1.0 - damping);
                prop_assert_eq!(place(one), place(other));
            }
        }

        /// A bound for both ways, by exact arithmetic; one of 64 parts is too fine for roots.
        #[test]
        fn means_have_small_errors((a, b) in pairs(), k in 1..64_u32) {
            let mean = geometric_mean(a, b, f64::from(k) / 64.0);
            let bound = if k == 32 { 0.86 } else if k.is_multiple_of(4) { 2.1 } else { 2.0 };
            prop_assert!(has_error_below(mean, a, b, k, bound));
        }

        /// Both ways are close to each other, of any weight that roots take.
        #[test]
        fn roots_and_logarithms_agree((a, b) in pairs(), k in 1..DENOMINATOR) {
            let damping = f64::from(k) / f64::from(DENOMINATOR);
            let logarithm = mean_by_logarithm(a, b, damping);
            prop_assert!(distance(geometric_mean(a, b, damping), logarithm) <= 4);
            prop_assert!(has_error_below(logarithm, a, b, 64 / DENOMINATOR * k, 2.0));
        }

        /// Steps of one input of many sizes never lead more than rounding the other way.
        #[test]
        fn means_grow_with_the_numbers(
            (a, b) in pairs(), damping in dampings(), s in significands(), bits in 0..53_u32
        ) {
            let last = 2_f64.to_bits() - 1;
            let step = (s.to_bits() & ((1 << 52) - 1)) >> bits;
            let larger = f64::from_bits((a.significand().to_bits() + step).min(last));
            let larger = ExtendedFloat::from_parts(larger, a.exponent());
            let (mean, grown) = (geometric_mean(a, b, damping), geometric_mean(larger, b, damping));
            // Products and roots are monotonic, and so are their roundings.
            let slack = if 16.0 * damping == (16.0 * damping).floor() { 0 } else { 2 };
            prop_assert!(place(grown) >= place(mean) - slack);
            let (mean, grown) = (geometric_mean(b, a, damping), geometric_mean(b, larger, damping));
            prop_assert!(place(grown) >= place(mean) - slack);
        }
    }

    /// The bits may not differ on any platform; they were also computed by another program from the
    /// constants above (NumPy), and are near the values computed with 300 bits.
    #[test]
    fn means_have_always_the_same_bits() {
        let float = |field: &str| f64::from_bits(u64::from_str_radix(field, 16).unwrap());
        let mut lines = 0;
        for line in VALUES.lines().filter(|line| !line.trim().is_empty()) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let exponent = |i: usize| fields[i].parse().unwrap();
            let old = ExtendedFloat::from_parts(float(fields[0]), exponent(1));
            let new = ExtendedFloat::from_parts(float(fields[2]), exponent(3));
            let exact = ExtendedFloat::from_parts(float(fields[6]), exponent(5));
            let frozen = ExtendedFloat::from_parts(float(fields[7]), exponent(5));
            let mean = geometric_mean(old, new, float(fields[4]));
            assert_eq!(place(mean), place(frozen), "{line}");
            assert!(distance(mean, exact) <= 1, "{line}");
            lines += 1;
        }
        assert_eq!(lines, 36);
    }

    /// Significand and exponent of the old number, of the new one; damping; exponent of the mean,
    /// its exact significand rounded to nearest (computed with mpmath, or by roots with 120 digits), and the one
    /// computed here.
    const VALUES: &str = "
        3ff0000000000000 0 3ff0000000000000 1 3fe0000000000000 0 3ff6a09e667f3bcd 3ff6a09e667f3bcd
        3ff8000000000000 0 3ff4000000000000 0 3fe0000000000000 0 3ff5e8add236a58f 3ff5e8add236a58f
        3ff0000000000000 0 3ff6a09e667f3bcd 0 3fe0000000000000 0 3ff306fe0a31b715 3ff306fe0a31b715
        3ff6a09e667f3bcd 0 3ff0000000000000 0 3fd0000000000000 0 3ff172b83c7d517b 3ff172b83c7d517b
        3ff0000000000001 0 3fffffffffffffff 0 3fe0000000000000 0 3ff6a09e667f3bcd 3ff6a09e667f3bcd
        3fffffffffffffff -1 3ff0000000000000 0 3fe8000000000000 -1 3fffffffffffffff 3fffffffffffffff
        3ff199999999999a 3 3ffe666666666666 -4 3fb999999999999a -3 3ff7610f2f15c994 3ff7610f2f15c994
        3ffe666666666666 -4 3ff199999999999a 3 3feccccccccccccd -3 3ff7610f2f15c994 3ff7610f2f15c994
        3ff0000000000000 1 3ff0000000000000 0 3fd5555555555555 0 3ff428a2f98d728b 3ff428a2f98d728b
        3ff4cccccccccccd 2000000 3ffb333333333333 -2000000 3fd3333333333333 -800000 3ff918c3a81d7040 3ff918c3a81d7040
        3ff4cccccccccccd 1099511627776 3ffb333333333333 -1099511627776 3fd3333333333333 -439804651110 3ff304fa7aafdd46 3ff304fa7aafdd46
        3ff4cccccccccccd -1099511627776 3ffb333333333333 1099511627776 3fe6666666666666 -439804651110 3ff115ef7a1e13da 3ff115ef7a1e13da
        3ff999999999999a 1099511627776 3ff3333333333333 -1099511627776 3c30000000000000 -1099511627776 3ff33334dd11e592 3ff33334dd11e592
        3ff999999999999a 12345 3ff3333333333333 -54321 3fefffffffffffff 12345 3ff9999999990932 3ff9999999990932
        3ff999999999999a -7 3ff3333333333333 5 0000000000000001 5 3ff3333333333333 3ff3333333333333
        3ff69fbe76c8b439 0 3ff0000000000000 0 3fe0000000000000 0 3ff3069fe1f331f1 3ff3069fe1f331f1
        3ff0000000000000 0 3ff6b851eb851eb8 0 3fe0000000000000 0 3ff310f2836cd4ba 3ff310f2836cd4ba
        3ff0000000000000 -1074 3fffffffffffffff 1023 3fe0000000000000 -26 3fffffffffffffff 3fffffffffffffff
        3ffa00641a9f1e54 2 3ffc693565f940b0 4 3fccd396d5eab510 4 3ff46197d4a83b91 3ff46197d4a83b91
        3ff4cd7b2990e375 -2 3ff01591126e9a1a 3 3fea4780d1effe40 -1 3ff2755c07b6a59d 3ff2755c07b6a59c
        3ffcc0cbdf921a62 -49 3ff4d93887ad103e -4 3fd1d1b9a895dcd4 -17 3fff99912709fdc5 3fff99912709fdc4
        3ff413f221fb82f4 63 3ff812a131f7a67f -7 3fe1b6401432a431 32 3ff23e1e3d9e3dac 3ff23e1e3d9e3dac
        3fffed91b48826b2 1260 3ff9f472352b3452 1199 3fefa58fc06ae9af 1260 3ff3f93c238ce1ec 3ff3f93c238ce1ec
        3ff371e7889775ae 1414 3ff9ccf653fdb81c -1392 3fa67f911e3abbb0 -1269 3fff665475c7f1c2 3fff665475c7f1c2
        3ff092257be71dbb -751709 3ff7759472ff8634 31224 3fed59703ad9deca -686857 3ff2134945374aed 3ff2134945374aed
        3ffa114f8c8d2ce8 -122898 3ff7f3318f3442a4 29607 3fcfae91a7b08f64 -8140 3ff46111477933d9 3ff46111477933d9
        3ff0304eee9fe45c -865022509 3ffb129045ef8119 474542993 3f6e9745efa60100 469540731 3ffe6b4da6a14597 3ffe6b4da6a14597
        3ffd47e020d9e174 -742039179 3ff4481635588a74 816757081 3fe05034d105f59c 22097073 3ffbfdc77c0e5656 3ffbfdc77c0e5656
        3ffd8ded6aaf0939 307241299307 3ffbde4b3680ac80 -898310664462 3fe1510cd8e7d2d2 -245933667920 3ffa99c81db1b7f1 3ffa99c81db1b7f1
        3ff81fd5c7cba0ec 816583925050 3ff5c7bcd26af9f1 215909047113 3fae563b34376980 251500020146 3ffdfa7890ea4725 3ffdfa7890ea4725
        3fff2a7452e6b438 3 3ff65132269e0d37 -4 3fb0000000000000 -4 3ffedc5214d494cc 3ffedc5214d494cc
        3ff0c5c7a6a3a450 -3 3ffd23f0128b2f33 4 3fee000000000000 -3 3ff78321c81ef3ac 3ff78321c81ef3ad
        3ff1818e892f902b 1234567 3ff953195d9dc9f8 -7654321 3fc8000000000000 -5987654 3ff0b59c870e14d8 3ff0b59c870e14d8
        3ffe8e250ed90475 1099511627776 3ff36f6781e74ef5 -1099511627776 3fe2000000000000 137438953472 3ff91162fafac52c 3ff91162fafac52c
        3ff1600a099950d8 -1 3ff6b0d56f03675a 0 3fd0000000000000 0 3ff1d951594be4f2 3ff1d951594be4f2
        3ff3d9c111e20b8f -1074 3ff8d1161738f7d9 1023 3fe8000000000000 -550 3ff8f6313a3c3136 3ff8f6313a3c3136
    ";
}
