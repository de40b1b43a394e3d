//! body.cuh, horn.cuh and noisy.cuh.

use super::{Cases, Function, Words, messages};
use crate::factor::noisy::{NoisyCoefficients, noisy_message, noisy_messages};
use crate::factor::{FactorKind, HornParameters, Noisy, NoisyLiteral, SignedParameters};
use crate::kernel::Inference;
use crate::kernel::horn::{
    HornCoefficients, HornScratch, horn_message, horn_messages, small_horn_messages,
};
use crate::kernel::packed::EncodedMessage;
use proptest::prelude::*;

/// Priors, ANDs, ORs and signed conjunctions with literals of both signs beyond the first word.
fn coefficients() -> impl Strategy<Value = HornCoefficients> {
    let probability = || prop_oneof![1 => Just(0.0), 1 => Just(1.0), 1 => Just(1e-200), 1 => Just(5e-324), 4 => 0.0..1.0];
    let horn = (any::<bool>(), probability(), probability(), any::<bool>()).prop_map(
        |(and, p, q, head_in_body)| {
            let kind = if and { FactorKind::And } else { FactorKind::Or };
            HornCoefficients::of_horn(&HornParameters { kind, p, q, head_in_body })
        },
    );
    let value = || prop_oneof![1 => Just(0.0), 1 => Just(1.0), 1 => Just(3e200), 1 => Just(1e-300), 4 => 0.0..1e5];
    let words = prop::collection::vec(any::<u64>(), 0..4);
    let signed = (prop::array::uniform4(value()), words).prop_map(|(mut values, negated)| {
        if values == [0.0; 4] {
            // No graph has a factor that is zero everywhere.
            values[3] = 1.0;
        }
        HornCoefficients::of_signed(&SignedParameters { values, negated }).unwrap()
    });
    prop_oneof![horn, signed]
}

fn expected(
    inputs: &[EncodedMessage], head: usize, c: &HornCoefficients, inference: Inference,
    out: &mut Words,
) {
    let mut scratch = HornScratch::default();
    let mut all = vec![EncodedMessage::ONE; inputs.len()];
    horn_messages(inputs, head, c, inference, &mut all, &mut scratch).unwrap();
    let one = |target| {
        let mut own = inputs.to_vec();
        horn_message(&mut own, head, target, c, inference, &mut HornScratch::default()).unwrap()
    };
    let ones: Vec<EncodedMessage> = (0..inputs.len()).map(one).collect();
    out.all(&all).all(&ones);
    // What the GPU does without memory, where there are at most eight variables.
    macro_rules! small {
        ($($n:literal)*) => {
            match inputs.len() {
                $($n if inference == Inference::SumProduct => {
                    let inputs: &[EncodedMessage; $n] = inputs.try_into().expect("that many");
                    out.all(&small_horn_messages(inputs, head, c)).all(&ones);
                })*
                1..=8 => {
                    out.all(&all).all(&ones);
                }
                _ => {}
            }
        };
    }
    small!(1 2 3 4 5 6 7 8);
    // What it does with far numbers.
    if inference == Inference::SumProduct && matches!(inputs.len(), 1..=4 | 8) {
        out.all(&all);
    }
}

fn noisy(inputs: &[EncodedMessage], head: usize, c: &NoisyCoefficients<'_>, out: &mut Words) {
    let mut scratch = HornScratch::default();
    let mut all = vec![EncodedMessage::ONE; inputs.len()];
    noisy_messages(inputs, head, c, &mut all, &mut scratch).unwrap();
    for (target, &message) in all.iter().enumerate() {
        let one = noisy_message(&mut inputs.to_vec(), head, target, c, &mut scratch).unwrap();
        out.encoded(message).encoded(one);
    }
}

fn noisy_literal() -> impl Strategy<Value = NoisyLiteral> {
    let outcomes = prop_oneof![
        6 => (0.0..1.0).prop_map(|p: f64| [p, 1.0 - p]),
        1 => Just([0.0, 1.0]),
        1 => Just([1.0, 0.0]),
        1 => Just([1e-250, 1.0]),
    ];
    prop::array::uniform2(outcomes)
}

pub(super) fn draw(cases: &mut Cases) {
    let inputs = prop_oneof![16 => messages(1..=8), 2 => messages(9..=20), 1 => messages(60..=200)];
    let strategy = (inputs, any::<prop::sample::Index>(), coefficients(), any::<bool>());
    cases.draw(Function::Horn, strategy, |(inputs, head, c, max), given, out| {
        let head = head.index(inputs.len());
        let mut words = Vec::new();
        let device = c.to_device(inputs.len(), &mut words).unwrap();
        let inference = if max { Inference::MaxProduct } else { Inference::SumProduct };
        given.word(max).count(head).numbers(device.values.as_flattened()).word(device.negated);
        // Two halves of one word, in the byte order of this machine.
        let halves = [device.flags, device.words].map(u32::to_ne_bytes);
        given.word(u64::from_ne_bytes(halves.as_flattened().try_into().expect("eight bytes")));
        given.count(words.len());
        given.0.extend(&words);
        given.list(&inputs);
        expected(&inputs, head, &c, inference, out);
    });
    let inputs = prop_oneof![6 => messages(1..=8), 1 => messages(9..=40)];
    let literals = inputs.prop_flat_map(|inputs| {
        let literals = prop::collection::vec(noisy_literal(), inputs.len());
        (Just(inputs), literals, prop::array::uniform4(0.0..1.0))
    });
    let strategy = (literals, any::<prop::sample::Index>());
    cases.draw(Function::Noisy, strategy, |((inputs, literals, values), head), given, out| {
        let head = head.index(inputs.len());
        let c = NoisyCoefficients::new(&Noisy { head, values, literals: &literals });
        given.count(head).count(4 + 4 * literals.len()).numbers(c.to_device().as_flattened());
        given.numbers(literals.as_flattened().as_flattened()).list(&inputs);
        noisy(&inputs, head, &c, out);
    });
}
