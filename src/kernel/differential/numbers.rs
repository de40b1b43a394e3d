//! number.cuh, packed.cuh and the sum of tree.cuh.

use super::{Cases, Function, Words};
use crate::kernel::number::{Arithmetic, ExtendedFloat, Max, Real};
use crate::kernel::packed::EncodedMessage;
use crate::kernel::tree::pairwise_sum;
use proptest::prelude::*;

/// Numbers of all sizes, zeros among them.
fn extended() -> impl Strategy<Value = ExtendedFloat> {
    let exponents = prop_oneof![
        2 => Just(0_i64),
        4 => -3..=3_i64,
        4 => -1100..=1100_i64,
        2 => -17_000..=17_000_i64,
        2 => -3_000_000..=3_000_000_i64,
        1 => prop::sample::select(vec![-1000, 1000, -1001, 1001, -1022, 1023, 16_000, 16_001]),
    ];
    let significands = prop_oneof![4 => 1.0..2.0, 1 => Just(1.0), 1 => Just(2.0 - f64::EPSILON)];
    prop_oneof![
        12 => (significands, exponents).prop_map(|(s, e)| ExtendedFloat::from_parts(s, e)),
        1 => Just(ExtendedFloat::ZERO),
    ]
}

/// Two numbers, in some cases with significands or exponents that are the same.
pub(super) fn pairs() -> impl Strategy<Value = (ExtendedFloat, ExtendedFloat)> {
    prop_oneof![
        4 => (extended(), extended()),
        1 => (extended(), -60..=60_i64).prop_map(|(a, by)| (a, a.scaled(by))),
        1 => (extended(), 1.0..2.0).prop_map(|(a, s)| (a, ExtendedFloat::from_parts(s, a.exponent()))),
        1 => extended().prop_map(|a| (a, a)),
    ]
}

fn any_double() -> impl Strategy<Value = f64> {
    let special = vec![0.0, f64::INFINITY, f64::MIN_POSITIVE, 5e-324, 1e-310, f64::MAX];
    prop_oneof![
        4 => (0..0x7ff0_0000_0000_0000_u64).prop_map(f64::from_bits),
        1 => prop::sample::select(special),
        1 => (0..1_u64 << 52).prop_map(f64::from_bits),
    ]
}

fn number(a: ExtendedFloat, b: ExtendedFloat, out: &mut Words) {
    let products = [a.multiply(b), a.multiply_positive(b), a.add(b), a.minus(b), a.larger(b)];
    for value in products {
        out.extended(value);
    }
    out.extended(a.smaller(b)).extended(a.divide(b)).extended(Max(a).add(Max(b)).0);
    out.number(a.to_f64()).word(a.is_zero());
    out.extended(ExtendedFloat::from_f64(a.to_f64())).number(a.to_f64().larger(b.to_f64()));
}

fn encoded(a: ExtendedFloat, b: ExtendedFloat, any: f64, out: &mut Words) {
    out.encoded(EncodedMessage::from_f64(any)).encoded(EncodedMessage::ratio(a, b));
    let value = EncodedMessage::pack(a);
    out.encoded(value).extended(value.unpack());
    out.word(value.is_within::<10>()).word(value.is_within::<1000>());
    out.word(value.is_in_f64_range())
        .word(value.is_deterministic())
        .word(value.may_be_deterministic());
    let near = EncodedMessage::all_near::<64>(&[value, EncodedMessage::pack(b)]);
    out.word(near).word(near);
    out.numbers(&value.probabilities()).number(value.probability());
    // From and to far numbers.
    let stored =
        if value.is_deterministic() { value } else { EncodedMessage::pack(value.unpack()) };
    out.encoded(value).encoded(stored).encoded(stored);
}

pub(super) fn draw(cases: &mut Cases) {
    // The conversions of a `f64` are those of numbers that it holds.
    let in_range = pairs().prop_map(|(a, b)| {
        let limit =
            |x: ExtendedFloat| if x.exponent() > 1023 { x.scaled(-x.exponent()) } else { x };
        (limit(a), limit(b))
    });
    cases.draw(Function::Number, in_range, |(a, b), inputs, out| {
        inputs.extended(a).extended(b);
        number(a, b, out);
    });
    cases.draw(Function::EncodedMessage, (pairs(), any_double()), |((a, b), any), inputs, out| {
        inputs.extended(a).extended(b).number(any);
        encoded(a, b, any, out);
    });
    let numbers = prop_oneof![
        prop::collection::vec(0.0..1.0, 0..10),
        prop::collection::vec(-1e3_f64..1e3, 0..70),
    ];
    cases.draw(Function::Sum, numbers, |values, inputs, out| {
        inputs.count(values.len()).numbers(&values);
        out.number(pairwise_sum(&values));
        if values.len() <= 8 {
            // As the CPU engine has it for few values.
            let mut d = [0.0; 8];
            d[..values.len()].copy_from_slice(&values);
            let low = (d[0] + d[1]) + (d[2] + d[3]);
            let high = (d[4] + d[5]) + (d[6] + d[7]);
            out.number(if values.len() > 4 { low + high } else { low });
        }
    });
}
