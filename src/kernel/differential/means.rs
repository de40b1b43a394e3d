//! power.cuh and damping.cuh.

use super::{Cases, Function, message, messages, numbers};
use crate::kernel::damping::damp;
use crate::kernel::number::{Arithmetic, ExtendedFloat, Real};
use crate::kernel::packed::EncodedMessage;
use crate::kernel::power::geometric_mean;
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
    let states = (3..6_usize).prop_flat_map(move |count| {
        (prop::collection::vec(state(), count), prop::collection::vec(state(), count))
    });
    let either = prop_oneof![(messages(1), messages(1)), states];
    cases.draw(
        Function::Damping,
        (either, dampings()),
        |((old, mut new), damping), inputs, out| {
            inputs.number(damping).list(&old).list(&new);
            let settled = damp(&old, &mut new, damping);
            out.word(settled).all(&new);
        },
    );
}
