//! power.cuh, damping.cuh and threshold.cuh.

use super::{Cases, Function, message, messages, numbers};
use crate::kernel::damping::damp;
use crate::kernel::number::{Arithmetic, ExtendedFloat, Real};
use crate::kernel::packed::EncodedMessage;
use crate::kernel::power::geometric_mean;
use crate::kernel::threshold::Threshold;
use proptest::prelude::*;

fn dampings() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 1e-3..1.0,
        6 => (1..64_u32).prop_map(|k| f64::from(k) / 64.0),
        1 => Just(0.5),
        1 => Just(1.0 - f64::EPSILON),
        1 => Just(1e-20),
    ]
}

/// Thresholds of active sets, in log-odds.
fn thresholds() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => (-12.0..1.0_f64).prop_map(|exponent| 10_f64.powf(exponent)),
        1 => Just(1e-17),
        1 => 1.0..2000.0,
    ]
}

pub(super) fn draw(cases: &mut Cases) {
    let positive = |x: ExtendedFloat| if x.is_zero() { ExtendedFloat::ONE } else { x };
    let pairs = numbers::pairs().prop_map(move |(a, b)| (positive(a), positive(b)));
    cases.draw(Function::Mean, (pairs, dampings()), |((a, b), damping), inputs, out| {
        inputs.extended(a).extended(b).number(damping);
        out.extended(geometric_mean(a, b, damping));
    });
    // Odds, or weights of states, which are finite.
    let finite = |m| if m == EncodedMessage::INFINITY { EncodedMessage::ZERO } else { m };
    let state = move || message().prop_map(finite);
    let states = move || {
        (3..6_usize).prop_flat_map(move |count| {
            (prop::collection::vec(state(), count), prop::collection::vec(state(), count))
        })
    };
    let either = move || prop_oneof![(messages(1), messages(1)), states()];
    cases.draw(
        Function::Damping,
        (either(), dampings()),
        |((old, mut new), damping), inputs, out| {
            inputs.number(damping).list(&old).list(&new);
            let settled = damp(&old, &mut new, damping);
            out.word(settled).all(&new);
        },
    );
    // What has moved by about the threshold, and anything else.
    let moved = (either(), thresholds(), any::<bool>(), 0.99..1.01).prop_map(
        |((old, new), threshold, is_near, share)| {
            let near = |&old: &EncodedMessage| match old.is_deterministic() {
                true => old,
                false => EncodedMessage::pack(
                    old.unpack().multiply(ExtendedFloat::from_f64(f64::exp(threshold * share))),
                ),
            };
            let new = if is_near && threshold < 700.0 {
                old.iter().take(1).map(near).chain(old.iter().skip(1).copied()).collect()
            } else {
                new
            };
            (old, new, threshold)
        },
    );
    cases.draw(Function::Threshold, moved, |(old, new, threshold), inputs, out| {
        let threshold = Threshold::new(threshold);
        let Some(factor) = threshold.factor() else { return };
        inputs.number(factor).list(&old).list(&new);
        let moved = match (&*old, &*new) {
            (&[old], &[new]) => threshold.is_exceeded_by_odds(old, new),
            _ => threshold.is_exceeded(old.iter().copied(), &new),
        };
        out.word(moved);
    });
}
