//! Non-negative numbers with an exponent of their own, so that no product of probabilities leaves their
//! range. Written for these comparisons alone: nothing of the library's arithmetic is in them.

use std::cmp::Ordering;

/// `significand * 2^exponent`; the significand is 0 or in [1, 2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    significand: f64,
    exponent: i64,
}

impl Number {
    pub const ZERO: Self = Self { significand: 0.0, exponent: 0 };
    pub const ONE: Self = Self { significand: 1.0, exponent: 0 };

    /// Of a finite number that is not negative.
    pub fn new(value: f64) -> Self {
        assert!((0.0..f64::INFINITY).contains(&value), "{value}");
        Self { significand: value, exponent: 0 }.normalised()
    }

    fn normalised(self) -> Self {
        if self.significand == 0.0 {
            return Self::ZERO;
        }
        let mut value = self.significand;
        let mut exponent = self.exponent;
        if value < f64::MIN_POSITIVE {
            value *= 2_f64.powi(54);
            exponent -= 54;
        }
        let bits = value.to_bits();
        exponent += (bits >> 52) as i64 - 1023;
        Self { significand: f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52), exponent }
    }

    pub fn is_zero(self) -> bool {
        self.significand == 0.0
    }

    pub fn times(self, other: Self) -> Self {
        let significand = self.significand * other.significand;
        Self { significand, exponent: self.exponent + other.exponent }.normalised()
    }

    /// Over a number that is not zero.
    pub fn over(self, other: Self) -> Self {
        assert!(!other.is_zero());
        let significand = self.significand / other.significand;
        Self { significand, exponent: self.exponent - other.exponent }.normalised()
    }

    pub fn plus(self, other: Self) -> Self {
        let (high, low) = if self.exponent >= other.exponent || other.is_zero() {
            (self, other)
        } else {
            (other, self)
        };
        if high.is_zero() {
            return low;
        }
        let shift = high.exponent - low.exponent;
        if low.is_zero() || shift > 1000 {
            return high;
        }
        let significand = high.significand + low.significand * 2_f64.powi(-(shift as i32));
        Self { significand, exponent: high.exponent }.normalised()
    }

    pub fn max(self, other: Self) -> Self {
        if self.is_less_than(other) { other } else { self }
    }

    pub fn is_less_than(self, other: Self) -> bool {
        if self.is_zero() || other.is_zero() {
            return self.is_zero() && !other.is_zero();
        }
        match self.exponent.cmp(&other.exponent) {
            Ordering::Equal => self.significand < other.significand,
            order => order == Ordering::Less,
        }
    }

    /// Base-2 logarithm; minus infinity of zero.
    pub fn log2(self) -> f64 {
        if self.is_zero() {
            f64::NEG_INFINITY
        } else {
            self.exponent as f64 + self.significand.log2()
        }
    }

    /// The number with a base-2 logarithm.
    pub fn exp2(log: f64) -> Self {
        if log == f64::NEG_INFINITY {
            return Self::ZERO;
        }
        let exponent = log.floor();
        Self { significand: (log - exponent).exp2(), exponent: exponent as i64 }.normalised()
    }

    /// As an `f64`, rounded; 0 or infinity where it is out of range.
    pub fn to_f64(self) -> f64 {
        let half = (self.exponent / 2).clamp(-2000, 2000) as i32;
        let rest = (self.exponent.clamp(-4000, 4000) as i32) - half;
        self.significand * 2_f64.powi(half) * 2_f64.powi(rest)
    }
}

/// Divides by the sum; `None` for 0/0.
pub fn shares(weights: &[Number]) -> Option<Vec<Number>> {
    let sum = weights.iter().fold(Number::ZERO, |sum, &weight| sum.plus(weight));
    (!sum.is_zero()).then(|| weights.iter().map(|weight| weight.over(sum)).collect())
}
