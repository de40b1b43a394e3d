//! product.cuh, and the trees of tree.cuh with it.

use super::{Cases, Function, Words, message, messages};
use crate::kernel::packed::EncodedMessage;
use crate::kernel::product::{
    BLOCK, Product, Scratch, binary_leave_one_out, binary_leave_one_out_all, leave_one_out_of_few,
    probability_of_few, resolve_states, weights_to_probabilities,
};
use crate::kernel::tree::Monoid;
use proptest::prelude::*;

fn padded<const N: usize>(values: &[EncodedMessage]) -> [EncodedMessage; N] {
    let mut padded = [EncodedMessage::ONE; N];
    padded[..values.len()].copy_from_slice(values);
    padded
}

/// Everything over four or eight padded messages.
fn few<const N: usize>(values: &[EncodedMessage], extra: EncodedMessage, out: &mut Words) {
    for leaf in 0..values.len() {
        let odds = leave_one_out_of_few(&padded::<N>(values), leaf);
        out.word(odds.is_some()).encoded(odds.unwrap_or(EncodedMessage::ZERO));
        let (odds, contradictory) = binary_leave_one_out(values, leaf);
        out.encoded(odds).word(contradictory);
    }
    for extra in [None, Some(extra)] {
        let mut all = values.to_vec();
        let product = binary_leave_one_out_all(&mut all, extra, &mut Scratch::default()).unwrap();
        out.word(product.is_contradictory).all(&all);
    }
}

fn few_products(values: &[EncodedMessage], extra: EncodedMessage, out: &mut Words) {
    if values.len() <= 4 {
        few::<4>(values, extra, out);
        let probability = probability_of_few(&padded::<4>(values));
        out.word(probability.is_some()).number(probability.unwrap_or(0.0));
    }
    few::<8>(values, extra, out);
    let padded: [EncodedMessage; BLOCK] = padded(values);
    out.product(Product::of_block(&padded));
    let above = Product::of(extra).combine(Product::of(values[0]));
    for leaf in 0..BLOCK {
        out.product(above.times_others(&padded, leaf));
    }
}

fn many_products(values: &[EncodedMessage], extra: EncodedMessage, out: &mut Words) {
    let mut scratch = Scratch::default();
    let total = scratch.product(values.iter().copied()).unwrap();
    out.product(total).encoded(total.odds()).numbers(&total.probabilities());
    let mut all = values.to_vec();
    let product = binary_leave_one_out_all(&mut all, Some(extra), &mut scratch).unwrap();
    out.word(product.is_contradictory).all(&all);
}

fn states(values: &[EncodedMessage], out: &mut Words) {
    let pair = |pair: &[EncodedMessage]| Product::of(pair[0]).combine(Product::of(pair[1]));
    let products: Vec<Product> = values.chunks_exact(2).map(pair).collect();
    let mut message = vec![EncodedMessage::ONE; products.len()];
    out.word(resolve_states(&products, &mut message));
    let mut probabilities = vec![0.0; products.len()];
    weights_to_probabilities(&message, &mut probabilities);
    for (&weight, probability) in message.iter().zip(probabilities) {
        out.encoded(weight).number(probability);
    }
}

pub(super) fn draw(cases: &mut Cases) {
    let extra = || prop_oneof![message(), Just(EncodedMessage::ONE)];
    cases.draw(
        Function::FewProducts,
        (messages(1..=8), extra()),
        |(values, extra), inputs, out| {
            inputs.encoded(extra).list(&values);
            few_products(&values, extra, out);
        },
    );
    let many = (prop_oneof![messages(0..12), messages(0..70)], extra());
    cases.draw(Function::ManyProducts, many, |(values, extra), inputs, out| {
        inputs.encoded(extra).list(&values);
        many_products(&values, extra, out);
    });
    // Weights of states are finite.
    let finite = |m| if m == EncodedMessage::INFINITY { EncodedMessage::ZERO } else { m };
    let pairs = (1..6_usize)
        .prop_flat_map(move |states| prop::collection::vec(message().prop_map(finite), 2 * states));
    cases.draw(Function::States, pairs, |values, inputs, out| {
        inputs.list(&values);
        states(&values, out);
    });
}
