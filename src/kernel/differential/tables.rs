//! table.cuh and terms.cuh.

use super::{Cases, Function, Words, message};
use crate::factor::terms::{TermInputs, TermScratch, term_messages};
use crate::factor::{TermLiteral, Terms};
use crate::kernel::packed::EncodedMessage;
use crate::kernel::table::{
    TableInputs, TableScratch, TableValues, stored_values, table_message, table_messages,
};
use crate::kernel::{Inference, table_belief, table_total};
use proptest::prelude::*;

/// The variables of a factor and the messages from them.
#[derive(Clone, Debug)]
struct Scope {
    radices: Vec<u32>,
    inputs: Vec<EncodedMessage>,
}

impl Scope {
    fn entries(&self) -> usize {
        self.radices.iter().map(|&radix| radix as usize).product()
    }

    /// Writes the messages that `run` makes: all at once, then one by one.
    fn each_message(
        &self, out: &mut Words, mut run: impl FnMut(Option<usize>, &mut [EncodedMessage]),
    ) {
        let mut all = vec![EncodedMessage::ONE; self.inputs.len()];
        run(None, &mut all);
        out.all(&all);
        for (target, &radix) in self.radices.iter().enumerate() {
            let mut one = vec![EncodedMessage::ONE; stored_values(radix)];
            run(Some(target), &mut one);
            out.all(&one);
        }
    }
}

/// Up to six variables of two to four states, or some more binary ones.
fn scope() -> impl Strategy<Value = Scope> {
    let near = || (1e-3_f64..1e3).prop_map(EncodedMessage::from_f64);
    let radices = prop_oneof![
        3 => prop::collection::vec(2_u32..5, 1..6),
        1 => prop::collection::vec(2_u32..3, 1..9),
    ];
    radices.prop_flat_map(move |radices| {
        let stored = radices.iter().map(|&radix| stored_values(radix)).sum::<usize>();
        let inputs = prop_oneof![
            prop::collection::vec(near(), stored),
            prop::collection::vec(message(), stored),
        ];
        inputs.prop_map(move |mut inputs| {
            let mut at = 0;
            for &radix in &radices {
                if radix > 2 {
                    // Weights of states are finite, and one of them is one.
                    let weights = &mut inputs[at..at + radix as usize];
                    weights[0] = EncodedMessage::ONE;
                    for weight in weights.iter_mut().filter(|w| **w == EncodedMessage::INFINITY) {
                        *weight = EncodedMessage::ZERO;
                    }
                }
                at += stored_values(radix);
            }
            Scope { radices: radices.clone(), inputs }
        })
    })
}

fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![3 => Just(0.0), 12 => 0.001_f64..10.0, 1 => prop_oneof![Just(1e-300), Just(1e290)]]
}

fn inference(max: bool) -> Inference {
    if max { Inference::MaxProduct } else { Inference::SumProduct }
}

fn table(scope: &Scope, values: &[f64], max: bool, out: &mut Words) {
    let Scope { radices, inputs } = scope;
    let entries = TableValues::F64(values);
    let exponents = entries.exponents();
    let table = TableInputs { values: entries, exponents, radices, inputs };
    let scratch = &mut TableScratch::default();
    scope.each_message(out, |target, message| match target {
        None => table_messages(table, inference(max), None, message, scratch).unwrap(),
        Some(target) => table_message(table, inference(max), target, message, scratch).unwrap(),
    });
    out.extended(table_total(table).unwrap());
    let mut belief = vec![0.0; values.len()];
    let settled = table_belief(table, &mut belief, scratch).unwrap();
    out.word(settled).numbers(&belief);
}

/// Terms with the state that each wants of each variable, if any.
#[derive(Clone, Debug)]
struct RandomTerms {
    scope: Scope,
    terms: Vec<(f64, Vec<Option<prop::sample::Index>>)>,
}

fn random_terms() -> impl Strategy<Value = RandomTerms> {
    // In some of the factors, some weights are negative.
    let sign = prop_oneof![3 => Just(0_u32), 1 => Just(3)];
    (scope(), sign).prop_flat_map(|(scope, negative)| {
        let weight =
            (weight(), 0..10_u32).prop_map(move |(w, draw)| if draw < negative { -w } else { w });
        let wants =
            prop::collection::vec(any::<Option<prop::sample::Index>>(), scope.radices.len());
        let terms = prop::collection::vec((weight, wants), 0..7);
        terms.prop_map(move |terms| RandomTerms { scope: scope.clone(), terms })
    })
}

fn terms(random: &RandomTerms, max: bool, given: &mut Words, out: &mut Words) {
    let scope = &random.scope;
    let weights: Vec<f64> = random.terms.iter().map(|term| term.0).collect();
    let (mut offsets, mut literals) = (vec![0], Vec::new());
    for (_, wants) in &random.terms {
        for (position, want) in wants.iter().enumerate() {
            if let Some(index) = want {
                let state = index.index(scope.radices[position] as usize) as u32;
                literals.push(TermLiteral { position: position as u32, state });
            }
        }
        offsets.push(literals.len());
    }
    given.word(max).count(weights.len()).numbers(&weights).counts(offsets.iter().copied());
    let words: Vec<u32> = literals.iter().flat_map(|l| [l.position, l.state]).collect();
    given.counts(words.iter().map(|&word| word as usize));
    given.counts(scope.radices.iter().map(|&radix| radix as usize)).list(&scope.inputs);
    let terms =
        Terms { weights: &weights, offsets: &offsets, literals: &literals, exclusive: false };
    let factor = TermInputs { terms, radices: &scope.radices, inputs: &scope.inputs };
    let scratch = &mut TermScratch::default();
    scope.each_message(out, |target, message| {
        term_messages(factor, inference(max), target, message, scratch).unwrap();
    });
}

pub(super) fn draw(cases: &mut Cases) {
    let tables = scope().prop_flat_map(|scope| {
        let values = prop::collection::vec(weight(), scope.entries());
        (Just(scope), values)
    });
    cases.draw(Function::Table, (tables, any::<bool>()), |((scope, values), max), given, out| {
        let (low, high) = TableValues::F64(&values).exponents();
        given.word(max).word(low as u64).word(high as u64);
        given.count(values.len()).numbers(&values);
        given.counts(scope.radices.iter().map(|&radix| radix as usize)).list(&scope.inputs);
        table(&scope, &values, max, out);
    });
    cases.draw(Function::Terms, (random_terms(), any::<bool>()), |(random, max), given, out| {
        terms(&random, max, given, out);
    });
}
