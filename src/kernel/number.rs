//! Non-negative numbers with a binary64 significand and an exponent without practical bounds.

/// Declares a struct of memory that is kept between calls, with buffers for each type of number that messages are
/// computed with, for sums and for maxima: `scratch_by_number! { /// Memory for tables. TableScratch of Buffers }`.
macro_rules! scratch_by_number {
    ($(#[$about:meta])* $name:ident of $fields:vis $buffers:ident) => {
        $(#[$about])*
        #[derive(Default)]
        pub(crate) struct $name {
            $fields in_f64: $buffers<f64>,
            $fields extended: $buffers<$crate::kernel::ExtendedFloat>,
            $fields in_f64_max: $buffers<$crate::kernel::Max<f64>>,
            $fields extended_max: $buffers<$crate::kernel::Max<$crate::kernel::ExtendedFloat>>,
        }
    };
}
pub(crate) use scratch_by_number;

/// Sums and products, of one number or of several at once.
pub(crate) trait Arithmetic: Copy {
    const ZERO: Self;
    const ONE: Self;
    fn multiply(self, other: Self) -> Self;
    fn add(self, other: Self) -> Self;
}

/// Arithmetic that the message kernels need. Implemented by `f64`, which is right only where
/// nothing over- or underflows, and by [`ExtendedFloat`], which is right always. Both round alike.
pub(crate) trait Real: Arithmetic {
    fn from_f64(value: f64) -> Self;
    /// The nearest number of this type.
    fn from_extended(value: ExtendedFloat) -> Self;
    /// The larger of two numbers.
    fn larger(self, other: Self) -> Self;
    fn is_zero(self) -> bool;
    /// The value as a number that can be packed.
    fn widen(self) -> ExtendedFloat;
    /// The quotient; the divisor is not zero.
    fn divide(self, other: Self) -> Self;
    /// The number as an `f64`, if the type is one.
    #[inline(always)]
    fn as_f64(self) -> Option<f64> {
        None
    }
    /// A list as numbers of this type, if it is one of `f64`.
    #[inline(always)]
    fn list_of_f64(_: &[f64]) -> Option<&[Self]> {
        None
    }
}

impl Arithmetic for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        self * other
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self + other
    }
}

impl Real for f64 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn from_extended(value: ExtendedFloat) -> Self {
        value.to_f64()
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if self >= other { self } else { other }
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self == 0.0
    }
    #[inline(always)]
    fn widen(self) -> ExtendedFloat {
        ExtendedFloat::from_f64(self)
    }
    #[inline(always)]
    fn divide(self, other: Self) -> Self {
        self / other
    }
    #[inline(always)]
    fn as_f64(self) -> Option<f64> {
        Some(self)
    }
    #[inline(always)]
    fn list_of_f64(list: &[f64]) -> Option<&[Self]> {
        Some(list)
    }
}

/// A non-negative number: `significand * 2^exponent` with a significand in [1, 2).
///
/// Zero is any number with an exponent below [`ExtendedFloat::ZERO_BELOW`], so that products and sums need no
/// special case for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtendedFloat {
    significand: f64,
    exponent: i64,
}

const FRACTION: u64 = (1 << 52) - 1;
const BIAS: i64 = 1023;
const ONE_BITS: u64 = (BIAS as u64) << 52;

impl ExtendedFloat {
    /// Exponent of zero: what products of it can not bring back above `ZERO_BELOW`.
    const ZERO_EXPONENT: i64 = -(1 << 56);
    const ZERO_BELOW: i64 = -(1 << 55);

    /// From a significand in [1, 2) and an exponent.
    #[inline(always)]
    pub(crate) fn from_parts(significand: f64, exponent: i64) -> Self {
        Self { significand, exponent }
    }

    #[inline(always)]
    pub(crate) fn significand(self) -> f64 {
        self.significand
    }

    #[inline(always)]
    pub(crate) fn exponent(self) -> i64 {
        self.exponent
    }

    /// Moves the exponent of a positive, normal `value` into the exponent part.
    #[inline(always)]
    pub(super) fn normalise(value: f64, exponent: i64) -> Self {
        let bits = value.to_bits();
        Self {
            significand: f64::from_bits((bits & FRACTION) | ONE_BITS),
            exponent: exponent + (bits >> 52) as i64 - BIAS,
        }
    }

    /// The power of two with the exponent `by` <= 0; 2^-1000, which no rounding can see beside a
    /// significand, for all that are smaller.
    #[inline(always)]
    pub(super) fn scale_down(by: i64) -> f64 {
        f64::from_bits(((by.max(-1000) + BIAS) as u64) << 52)
    }

    /// The product where neither number is zero: one operation less.
    #[inline(always)]
    pub(crate) fn multiply_positive(self, other: Self) -> Self {
        Self::normalise(self.significand * other.significand, self.exponent + other.exponent)
    }

    /// The smaller of two numbers.
    pub(crate) fn smaller(self, other: Self) -> Self {
        if (self.exponent, self.significand) <= (other.exponent, other.significand) {
            self
        } else {
            other
        }
    }

    /// The difference, or zero where the other number is not smaller.
    pub(crate) fn minus(self, other: Self) -> Self {
        if (other.exponent, other.significand) >= (self.exponent, self.significand) {
            return Self::ZERO;
        }
        let less = other.significand * Self::scale_down(other.exponent - self.exponent);
        Self::normalise(self.significand - less, self.exponent)
    }

    /// The number times 2^`by`.
    #[inline(always)]
    pub(crate) fn scaled(self, by: i64) -> Self {
        Self { significand: self.significand, exponent: self.exponent + by }
    }

    /// Natural logarithm, by the platform's: for results only.
    pub(crate) fn ln(self) -> f64 {
        if self.is_zero() {
            return f64::NEG_INFINITY;
        }
        self.significand.ln() + self.exponent as f64 * std::f64::consts::LN_2
    }

    /// The nearest f64: 0 or infinity beyond its range.
    pub(crate) fn to_f64(self) -> f64 {
        if self.exponent < -1022 {
            // The first product is exact, the second rounds once to a subnormal number.
            let down = self.exponent + 1022;
            self.significand * f64::MIN_POSITIVE * Self::scale_down(down)
        } else if self.exponent > 1023 {
            f64::INFINITY
        } else {
            f64::from_bits(
                (self.significand.to_bits() & FRACTION) | (((self.exponent + BIAS) as u64) << 52),
            )
        }
    }
}

impl Arithmetic for ExtendedFloat {
    const ZERO: Self = Self { significand: 1.0, exponent: Self::ZERO_EXPONENT };
    const ONE: Self = Self { significand: 1.0, exponent: 0 };

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        let exponent = (self.exponent + other.exponent).max(Self::ZERO_EXPONENT);
        Self::normalise(self.significand * other.significand, exponent)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let top = self.exponent.max(other.exponent);
        let sum = self.significand * Self::scale_down(self.exponent - top)
            + other.significand * Self::scale_down(other.exponent - top);
        Self::normalise(sum, top)
    }
}

impl Real for ExtendedFloat {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        if value == 0.0 {
            Self::ZERO
        } else if value < f64::MIN_POSITIVE {
            // A subnormal value, made normal by an exact scaling.
            Self::normalise(value * f64::from_bits(((BIAS + 100) as u64) << 52), -100)
        } else {
            Self::normalise(value, 0)
        }
    }

    #[inline(always)]
    fn from_extended(value: ExtendedFloat) -> Self {
        value
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if (self.exponent, self.significand) >= (other.exponent, other.significand) {
            self
        } else {
            other
        }
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.exponent < Self::ZERO_BELOW
    }

    #[inline(always)]
    fn widen(self) -> ExtendedFloat {
        self
    }

    #[inline(always)]
    fn divide(self, other: Self) -> Self {
        Self::normalise(self.significand / other.significand, self.exponent - other.exponent)
    }
}

/// The numbers of max-product: the same, with the larger of two numbers in place of their sum. What
/// sums over states then maximises over them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Max<T>(pub(crate) T);

impl<T: Real> Arithmetic for Max<T> {
    const ZERO: Self = Self(T::ZERO);
    const ONE: Self = Self(T::ONE);
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        Self(self.0.multiply(other.0))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.larger(other.0))
    }
}

impl<T: Real> Real for Max<T> {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self(T::from_f64(value))
    }
    #[inline(always)]
    fn from_extended(value: ExtendedFloat) -> Self {
        Self(T::from_extended(value))
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Self(self.0.larger(other.0))
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0.is_zero()
    }
    #[inline(always)]
    fn widen(self) -> ExtendedFloat {
        self.0.widen()
    }
    #[inline(always)]
    fn divide(self, other: Self) -> Self {
        Self(self.0.divide(other.0))
    }
    #[inline(always)]
    fn as_f64(self) -> Option<f64> {
        self.0.as_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(extended: ExtendedFloat, value: f64) -> bool {
        extended.is_zero() == (value == 0.0) && (value == 0.0 || extended.to_f64() == value)
    }

    proptest! {
        /// Where nothing over- or underflows, both kinds of arithmetic give the same bits.
        #[test]
        fn extended_floats_round_like_f64(
            a in 1e-60_f64..1e60, b in 1e-60_f64..1e60, zero in any::<bool>(), shift in -150_i32..150
        ) {
            let a = a * 2_f64.powi(shift);
            let b = if zero { 0.0 } else { b };
            let (x, y) = (ExtendedFloat::from_f64(a), ExtendedFloat::from_f64(b));
            prop_assert!(same(x.multiply(y), a * b));
            prop_assert!(same(x.add(y), a + b));
            prop_assert!(same(y.add(x), a + b));
            prop_assert!(same(x.minus(y), (a - b).max(0.0)));
            prop_assert!(same(x.larger(y), a.max(b)));
            prop_assert!(same(Max(y).add(Max(x)).widen(), a.max(b)));
            if !zero {
                prop_assert!(same(x.divide(y), a / b));
            }
        }

        /// Scaling by a power of two changes no significand, however large the exponents are.
        #[test]
        fn scaling_is_exact(a in 1e-3_f64..1e3, b in 1e-3_f64..1e3, e in -10_000_000_i64..10_000_000) {
            let (x, y) = (ExtendedFloat::from_f64(a), ExtendedFloat::from_f64(b));
            let sum = x.scaled(e).add(y.scaled(e));
            prop_assert_eq!(sum.scaled(-e).to_f64(), a + b);
            prop_assert_eq!(x.scaled(e).multiply(y.scaled(-e)).to_f64(), a * b);
        }
    }

    #[test]
    fn subnormal_numbers_are_rounded_once() {
        for text in ["5e-324", "1e-310", "2.2250738585072011e-308", "1.23456789e-315"] {
            let x: f64 = text.parse().unwrap();
            assert_eq!(ExtendedFloat::from_f64(x).to_f64(), x);
        }
        assert_eq!(ExtendedFloat::from_parts(1.5, -1074).to_f64(), 1e-323);
        assert_eq!(ExtendedFloat::from_parts(1.4, -1074).to_f64(), 5e-324);
        assert_eq!(ExtendedFloat::from_parts(1.9, -2000).to_f64(), 0.0);
        assert_eq!(ExtendedFloat::ZERO.to_f64(), 0.0);
    }

    #[test]
    fn zero_stays_zero() {
        let mut zero = ExtendedFloat::ZERO;
        for _ in 0..1000 {
            zero = zero.multiply(ExtendedFloat::ZERO).multiply(ExtendedFloat::from_f64(1e300));
            zero = zero.add(ExtendedFloat::ZERO);
        }
        assert!(zero.is_zero());
        assert_eq!(zero.add(ExtendedFloat::from_f64(0.3)).to_f64(), 0.3);
        assert_eq!(ExtendedFloat::from_f64(5e-324).exponent(), -1074);
    }
}
