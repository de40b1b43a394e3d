//! The threshold of an active set: how far a message has to move to be stored.

use super::number::{Arithmetic, ExtendedFloat, Real};
use super::packed::EncodedMessage;
use std::hint::select_unpredictable;

/// How far a message has to move to be stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threshold {
    /// e^threshold: a message moved if the odds of two states grew or fell by more than this factor.
    factor: f64,
    /// Whether the threshold is 0, so that nothing is dropped.
    every_difference: bool,
}

impl Threshold {
    /// Of log-odds, at least 0.
    pub(crate) fn new(log_odds: f64) -> Self {
        // Beyond the range of f64 nothing moves but by becoming certain.
        Self { factor: log_odds.exp().min(f64::MAX), every_difference: log_odds == 0.0 }
    }

    /// The factor by which the odds of two states have to grow or fall, at least 1; `None` where every difference counts.
    pub(crate) fn factor(&self) -> Option<f64> {
        (!self.every_difference).then_some(self.factor)
    }

    /// [`Self::is_exceeded`] for a message of one number.
    #[inline(always)]
    pub(crate) fn is_exceeded_by_odds(&self, old: EncodedMessage, new: EncodedMessage) -> bool {
        if old == new || self.every_difference {
            return old != new;
        }
        if EncodedMessage::all_near::<256>(&[old, new]) {
            return self.is_exceeded_by_near(old, new);
        }
        self.is_exceeded(std::iter::once(old), &[new])
    }

    /// What is stored of a message of one number: the new one if [`Self::is_exceeded_by_odds`], else the old one. (Mostly without a
    /// branch, which would be hard to predict.)
    #[inline(always)]
    pub(crate) fn stored(&self, old: EncodedMessage, new: EncodedMessage) -> EncodedMessage {
        if EncodedMessage::all_near::<256>(&[old, new]) {
            return select_unpredictable(self.is_exceeded_by_near(old, new), new, old);
        }
        if self.is_exceeded_by_odds(old, new) { new } else { old }
    }

    /// [`Self::is_exceeded_by_odds`] for numbers within 2^-256..2^256.
    #[inline(always)]
    fn is_exceeded_by_near(&self, old: EncodedMessage, new: EncodedMessage) -> bool {
        let growth = new.stored_f64() / old.stored_f64();
        growth.max(1.0) > growth.min(1.0) * self.factor
    }

    /// Whether the log-odds of two states moved by more than the threshold.
    #[inline(never)]
    pub(crate) fn is_exceeded(
        &self, old: impl Iterator<Item = EncodedMessage>, new: &[EncodedMessage],
    ) -> bool {
        let mut range: Option<(ExtendedFloat, ExtendedFloat)> = None;
        let mut differs = false;
        for (old, &new) in old.zip(new) {
            differs |= old != new;
            if old.is_deterministic() || new.is_deterministic() {
                if old != new {
                    return true;
                }
                continue;
            }
            let growth = new.unpack().divide(old.unpack());
            let (least, most) = range.unwrap_or((growth, growth));
            range = Some((least.smaller(growth), most.larger(growth)));
        }
        if new.len() == 1 {
            // One number is the odds of two states, of which the other stays.
            range = range.map(|(least, most)| {
                (least.smaller(ExtendedFloat::ONE), most.larger(ExtendedFloat::ONE))
            });
        }
        let exceeds = |(least, most): (ExtendedFloat, ExtendedFloat)| {
            !most.minus(least.multiply(ExtendedFloat::from_f64(self.factor))).is_zero()
        };
        differs && (self.every_difference || range.is_some_and(exceeds))
    }
}
