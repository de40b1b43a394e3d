//! Round trips of every kind of factor through a builder and through the file formats of tables.

#[path = "common/random.rs"]
mod random;

use fastlbp::format::{GraphFormat, read_graph_from_bytes, write_graph_to_bytes};
use fastlbp::model::Factor;
use fastlbp::{Error, FactorGraph, FactorGraphBuilder};
use proptest::prelude::*;
use random::{Choices, Input, Model, labels};
use std::path::Path;

/// A graph of a few factors of any kind over variables with 2 to 4 states.
fn model(choices: &mut Choices) -> Model {
    let count = 1 + choices.below(6);
    let labels = labels(choices, count);
    let cardinalities: Vec<usize> = (0..count).map(|_| 2 + choices.below(5) / 3).collect();
    let mut inputs = Vec::new();
    for _ in 0..1 + choices.below(6) {
        let mut scope: Vec<usize> = Vec::new();
        for _ in 0..1 + choices.below(4) {
            let variable = choices.below(count);
            if !scope.contains(&variable) {
                scope.push(variable);
            }
        }
        let names: Vec<u64> = scope.iter().map(|&variable| labels[variable]).collect();
        let own: Vec<usize> = scope.iter().map(|&variable| cardinalities[variable]).collect();
        inputs.push(Input::random(choices, &names, &own));
    }
    Model::build(&labels, &cardinalities, &inputs)
}

/// A factor with its variables' labels, as a table.
fn table(graph: &FactorGraph, factor: usize) -> (Vec<u64>, Vec<f64>) {
    let variables = graph.factor_variables(factor);
    let labels = variables.iter().map(|&v| graph.label(v as usize)).collect();
    let size = graph.joint_states(factor).unwrap();
    let value = |mut index: usize| {
        let states: Vec<usize> = graph
            .factor_cardinalities(factor)
            .map(|r| {
                let state = index % r;
                index /= r;
                state
            })
            .collect();
        graph.factor(factor).value(&states, graph.factor_cardinalities(factor))
    };
    (labels, (0..size).map(value).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn factors_have_the_values_of_their_definitions(
        numbers in prop::collection::vec(any::<u64>(), 0..600)
    ) {
        let Model { graph, factors } = model(&mut Choices::new(&numbers, 8));
        for (factor, dense) in factors.iter().enumerate() {
            let variables = graph.factor_variables(factor).iter().map(|&v| v as usize);
            prop_assert!(variables.eq(dense.variables.iter().copied()));
            let (_, values) = table(&graph, factor);
            for (got, wanted) in values.iter().zip(&dense.values) {
                prop_assert!((got - wanted).abs() <= 1e-14 * wanted.max(1.0), "factor {factor}");
            }
        }
    }

    #[test]
    fn a_graph_goes_through_a_builder_unchanged(
        numbers in prop::collection::vec(any::<u64>(), 0..600)
    ) {
        let Model { graph, .. } = model(&mut Choices::new(&numbers, 8));
        let again = FactorGraphBuilder::from_graph(&graph).unwrap().build().unwrap();
        prop_assert!(again == *graph);
    }

    #[test]
    fn files_of_tables_hold_every_kind(
        numbers in prop::collection::vec(any::<u64>(), 0..600),
        uai: bool,
    ) {
        let choices = &mut Choices::new(&numbers, 8);
        let Model { graph, .. } = model(choices);
        let zero = (0..graph.factor_count())
            .find(|&factor| table(&graph, factor).1.iter().all(|&value| value == 0.0));
        let format = if uai { GraphFormat::Uai } else { GraphFormat::Fg };
        let bytes = match write_graph_to_bytes(&graph, format) {
            Ok(bytes) => bytes,
            Err(Error::Unsupported(message)) => {
                let factor = zero.expect(&message);
                prop_assert!(message.starts_with(&format!("factor {factor} (")), "{message}");
                return Ok(());
            }
            Err(error) => panic!("{error}"),
        };
        let again = read_graph_from_bytes(&bytes, Path::new("graph"), format).unwrap();
        prop_assert_eq!(zero, None);
        for factor in 0..graph.factor_count() {
            prop_assert!(matches!(again.factor(factor), Factor::Table(_)));
            let (labels, values) = table(&graph, factor);
            let (other_labels, other_values) = table(&again, factor);
            // The variables of .uai are numbered without gaps.
            let ranks = labels.iter().map(|&label| graph.variable_of_label(label).unwrap() as u64);
            prop_assert_eq!(other_labels, if uai { ranks.collect() } else { labels });
            let values: Vec<f64> = values.into_iter().map(|value| value.max(0.0)).collect();
            prop_assert_eq!(other_values, values);
        }
    }
}

#[test]
fn a_factor_that_its_signs_make_zero_is_refused_by_files_of_tables() {
    let mut builder = FactorGraphBuilder::new();
    builder.add_prior(1, 0.5).unwrap();
    // x2 and not x2 never holds, and where it does not, nothing is allowed.
    builder.add_signed(1, &[2, 2], &[false, true], [1.0, 0.0, 0.0, 0.0]).unwrap();
    let graph = builder.build().unwrap();
    for format in [GraphFormat::Fg, GraphFormat::Uai] {
        let error = write_graph_to_bytes(&graph, format).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("factor 1 (signed) contradicts itself"), "{message}");
    }
}
