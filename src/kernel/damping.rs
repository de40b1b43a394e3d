//! Damping: the geometric mean of an old message and a new one.

use super::packed::Packed;
use super::power::geometric_mean;

/// Replaces a message by old^d * new^(1-d), renormalised (semantics.md section 2). A state that either
/// message excludes stays excluded. `false` where no state is left, with `new` in no certain state.
pub(crate) fn damp(old: &[Packed], new: &mut [Packed], damping: f64) -> bool {
    if let ([old], [new]) = (old, &mut *new) {
        let either = |value: Packed| *old == value || *new == value;
        let (zero, infinite) = (either(Packed::ZERO), either(Packed::INFINITY));
        if zero || infinite {
            *new = if zero { Packed::ZERO } else { Packed::INFINITY };
        } else {
            *new = Packed::pack(geometric_mean(old.unpack(), new.unpack(), damping));
        }
        return !(zero && infinite);
    }
    let mean = |old: Packed, new: Packed| {
        (old != Packed::ZERO && new != Packed::ZERO)
            .then(|| geometric_mean(old.unpack(), new.unpack(), damping))
    };
    let means = || old.iter().zip(new.iter()).map(|(&old, &new)| mean(old, new));
    let Some(top) = means().flatten().map(|mean| mean.exponent()).max() else { return false };
    for (&old, new) in old.iter().zip(new) {
        *new = mean(old, *new).map_or(Packed::ZERO, |mean| Packed::pack(mean.scaled(-top)));
    }
    true
}
