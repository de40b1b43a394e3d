//! Factors with local structure, from a builder into a graph.

use crate::model::{
    Evidence, Factor, FactorGraph, FactorGraphBuilder, FactorKind, HornParameters, NoisyLiteral,
};
use crate::threads::Gang;
use proptest::prelude::*;
use std::collections::BTreeSet;

const VALUES: [f64; 4] = [0.1, 0.2, 0.3, 0.4];

fn graph(add: impl Fn(&mut FactorGraphBuilder)) -> FactorGraph {
    let mut builder = FactorGraphBuilder::new();
    add(&mut builder);
    let graph = builder.build().unwrap();
    assert_eq!(FactorGraphBuilder::from_graph(&graph).unwrap().build().unwrap(), graph);
    graph
}

/// The values over all joint states, the lowest label fastest.
fn values(graph: &FactorGraph) -> Vec<f64> {
    graph.factor_table(0, 1 << 10).unwrap()
}

#[test]
fn equal_literals_merge() {
    let twice = graph(|b| b.add_signed(2, &[1, 3, 1], &[true, false, true], VALUES).unwrap());
    let once = graph(|b| b.add_signed(2, &[3, 1], &[false, true], VALUES).unwrap());
    assert_eq!(twice, once);
    // It holds for x1 = 0 and x3 = 1 alone.
    assert_eq!(values(&once), [0.4, 0.4, 0.3, 0.3, 0.2, 0.4, 0.1, 0.3]);
}

#[test]
fn a_body_with_both_signs_of_a_variable_never_holds() {
    let graph = graph(|b| b.add_signed(1, &[2, 2], &[true, false], VALUES).unwrap());
    assert_eq!(values(&graph), [0.4, 0.3, 0.4, 0.3]);
}

#[test]
fn a_head_in_its_own_body_fails_its_literal_in_one_state() {
    let own = graph(|b| b.add_signed(1, &[1, 2], &[false, false], VALUES).unwrap());
    assert_eq!(values(&own), [0.4, 0.3, 0.4, 0.1]);
    let negated = graph(|b| b.add_signed(1, &[1, 2], &[true, false], VALUES).unwrap());
    assert_eq!(values(&negated), [0.4, 0.3, 0.2, 0.3]);
    let both = graph(|b| b.add_signed(1, &[1, 2, 1], &[true, false, false], VALUES).unwrap());
    assert_eq!(values(&both), [0.4, 0.3, 0.4, 0.3]);
    let alone = graph(|b| b.add_signed(1, &[1], &[true], VALUES).unwrap());
    assert_eq!(values(&alone), [0.2, 0.3]);
}

#[test]
fn clauses_with_repeated_and_opposite_literals() {
    let clause = |variables: &[u64], negated: &[bool]| {
        values(&graph(|b| b.add_clause(variables, negated, 2.0, 0.5).unwrap()))
    };
    assert_eq!(clause(&[1], &[false]), [0.5, 2.0]);
    assert_eq!(clause(&[1], &[true]), [2.0, 0.5]);
    assert_eq!(clause(&[1, 2], &[false, true]), [2.0, 2.0, 0.5, 2.0]);
    assert_eq!(clause(&[1, 1], &[false, false]), [0.5, 2.0]);
    assert_eq!(clause(&[1, 1], &[false, true]), [2.0, 2.0]);
    assert_eq!(clause(&[2, 1, 1], &[false, true, false]), [2.0; 4]);
    assert_eq!(clause(&[2, 1, 1], &[false, true, true]), [2.0, 0.5, 2.0, 2.0]);
}

/// Merged literals may leave a factor without a positive value, as with AND: it is kept, and goes
/// through a builder again.
#[test]
fn a_factor_without_a_positive_value_is_kept() {
    let graph = graph(|b| b.add_signed(1, &[2, 2], &[true, false], [1.0, 1.0, 0.0, 0.0]).unwrap());
    assert_eq!(values(&graph), [0.0; 4]);
}

#[test]
fn literals_and_terms_follow_their_variables() {
    let literal = |p: f64| [[p, 1.0 - p], [1.0, 0.0]];
    let noisy = graph(|b| {
        b.add_noisy(5, &[7, 3], &[literal(0.75), literal(0.5)], VALUES).unwrap();
    });
    let Factor::Noisy(view) = noisy.factor(0) else { panic!("not noisy") };
    assert_eq!((view.head, view.literals), (1, &[literal(0.5), literal(1.0), literal(0.75)][..]));
    let terms = graph(|b| {
        b.add_variable(3, 4).unwrap();
        b.add_terms(&[7, 3], &[2.0, 1.0], &[1, 3, -1, 0]).unwrap();
    });
    assert_eq!(values(&terms), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0]);
    let Factor::Terms(view) = terms.factor(0) else { panic!("no terms") };
    assert!(view.exclusive);
}

proptest! {
    /// Terms are known to exclude each other exactly where no joint state satisfies two of them.
    #[test]
    fn exclusive_terms_are_recognised(
        rows in prop::collection::vec(prop::array::uniform3(-1..3_i32), 1..4)
    ) {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variables(&[4, 5, 6], &[3, 3, 3]).unwrap();
        builder.add_terms(&[5, 6, 4], &vec![1.0; rows.len()], rows.as_flattened()).unwrap();
        let graph = builder.build().unwrap();
        let Factor::Terms(terms) = graph.factor(0) else { panic!("no terms") };
        // With weights of one the values count the terms.
        let values = graph.factor_table(0, 27).unwrap();
        prop_assert_eq!(terms.exclusive, values.iter().all(|&value| value <= 1.0));
    }

    /// A sum is rejected where, by its definition, it is negative somewhere or zero everywhere.
    #[test]
    fn sums_are_rejected_where_they_are_negative(
        terms in prop::collection::vec((-4..5_i32, prop::array::uniform2(-1..2_i32)), 1..5)
    ) {
        let weights: Vec<f64> = terms.iter().map(|&(weight, _)| f64::from(weight)).collect();
        let indicators: Vec<i32> = terms.iter().flat_map(|&(_, row)| row).collect();
        let mut builder = FactorGraphBuilder::new();
        builder.add_terms(&[0, 1], &weights, &indicators).unwrap();
        let value = |x: i32, y: i32| -> i32 {
            let holds = |row: &[i32; 2]| [-1, x].contains(&row[0]) && [-1, y].contains(&row[1]);
            terms.iter().filter(|(_, row)| holds(row)).map(|(weight, _)| weight).sum()
        };
        let values = [value(0, 0), value(1, 0), value(0, 1), value(1, 1)];
        match builder.build() {
            Ok(graph) => {
                prop_assert_eq!(graph.factor_table(0, 4).unwrap(), values.map(f64::from));
                prop_assert!(values.iter().all(|&v| v >= 0) && values.iter().any(|&v| v > 0));
            }
            Err(error) => {
                let message = error.to_string();
                prop_assert!(
                    values.iter().any(|&v| v < 0) && message.contains("negative")
                        || values == [0; 4] && message.contains("zero everywhere"),
                    "{values:?}: {message}"
                );
            }
        }
    }

    #[test]
    fn factors_that_are_zero_everywhere_are_recognised(
        values in prop::array::uniform4(0..2_u8),
        signs in prop::collection::vec((0..3_u64, any::<bool>()), 0..4),
        literals in prop::collection::vec(prop::array::uniform2(0..3_u8), 0..3),
    ) {
        prop_assume!(values != [0; 4]);
        let values = values.map(f64::from);
        let (body, negated): (Vec<u64>, Vec<bool>) = signs.into_iter().unzip();
        let outcome = |k: u8| [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]][usize::from(k)];
        let literals: Vec<NoisyLiteral> = literals.iter().map(|l| l.map(outcome)).collect();
        let mut builder = FactorGraphBuilder::new();
        builder.add_signed(0, &body, &negated, values).unwrap();
        builder.add_noisy(0, &[1, 2][..literals.len()], &literals, values).unwrap();
        let graph = builder.build().unwrap();
        for factor in 0..2 {
            let table = graph.factor_table(factor, 1 << 10).unwrap();
            let zero = graph.factor(factor).is_zero_everywhere(graph.arity(factor));
            prop_assert_eq!(zero, table.iter().all(|&value| value == 0.0));
        }
    }
}

proptest! {
    #[test]
    fn labels_are_found_whatever_their_gaps(
        labels in prop::collection::btree_set(prop_oneof![0_u64..40, 1000..1010_u64, any::<u64>()], 0..40),
        others in prop::collection::vec(prop_oneof![0_u64..50, any::<u64>()], 20),
    ) {
        let graph = graph(|b| labels.iter().for_each(|&label| b.add_prior(label, 0.5).unwrap()));
        for label in labels.iter().copied().chain(others) {
            let wanted = labels.iter().position(|&other| other == label);
            prop_assert_eq!(graph.variable_of_label(label), wanted, "{}", label);
        }
    }

    #[test]
    fn many_observations_are_those_one_by_one(
        observations in prop::collection::vec((0_usize..1400, 0_usize..2), 0..2000),
    ) {
        let graph = graph(|b| (0..1400).for_each(|label| b.add_prior(label, 0.5).unwrap()));
        let mut wanted = Evidence::new();
        for &(variable, state) in &observations {
            wanted.observe(&graph, variable, state).unwrap();
        }
        prop_assert_eq!(Evidence::of_observations(&graph, &observations).unwrap(), wanted);
    }
}

#[test]
fn of_many_observations_the_first_wrong_one_is_told() {
    let graph = graph(|b| (0..3).for_each(|label| b.add_prior(label, 0.5).unwrap()));
    for (observations, why) in [
        ([(2, 0), (1, 2), (3, 0)], "state 2 of variable 1: it has 2 states"),
        ([(2, 0), (3, 0), (1, 2)], "variable index 3: the graph has 3 variables"),
    ] {
        let error = Evidence::of_observations(&graph, &observations).unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
    }
}

#[test]
fn factors_are_added_by_their_parameters() {
    let parameters = HornParameters { kind: FactorKind::Or, p: 0.75, q: 0.5, head_in_body: false };
    let mut builder = FactorGraphBuilder::new();
    builder.add_factor(Some(3), &[1, 3, 2], &parameters).unwrap();
    let mut other = FactorGraphBuilder::new();
    other.add_or(3, &[1, 3, 2], 0.75, 0.5).unwrap();
    assert_eq!(builder.build().unwrap(), other.build().unwrap());
    let error = builder.add_factor(None, &[1, 2], &parameters).unwrap_err().to_string();
    assert!(error.contains("factor 1 (or)") && error.contains("a head"), "{error}");
    let table = crate::factor::NewTable(&[1.0, 2.0]);
    let error = builder.add_factor(Some(1), &[2], &table).unwrap_err().to_string();
    assert!(error.contains("factor 1 (table)") && error.contains("no head"), "{error}");
    assert_eq!(builder.factor_count(), 1);
}

proptest! {
    #[test]
    fn any_number_of_threads_builds_the_same_graph(
        factors in prop::collection::vec(
            (0_u64..30, prop::collection::vec(0_u64..30, 0..6), 0_usize..4), 0..60,
        ),
        gap in prop::sample::select(vec![1_u64, 2, 1 << 40]),
        cardinality in prop::sample::select(vec![None, None, None, Some(1), Some(2), Some(3)]),
        threads in 2_usize..6,
    ) {
        let label = |v: u64| v * gap;
        let mut builder = FactorGraphBuilder::new();
        let mut scopes = Vec::new();
        for (head, body, kind) in &factors {
            let (head, body): (_, Vec<u64>) = (label(*head), body.iter().copied().map(label).collect());
            let scope: BTreeSet<u64> = body.iter().copied().chain([head]).collect();
            match kind {
                0 => builder.add_and(head, &body, 0.5, 0.25).unwrap(),
                1 => builder.add_or(head, &body, 0.25, 0.5).unwrap(),
                2 => builder.add_prior(head, 0.75).unwrap(),
                _ => {
                    let scope: Vec<u64> = scope.iter().rev().copied().collect();
                    let values: Vec<f64> = (0..1 << scope.len()).map(f64::from).map(|x| x + 1.0).collect();
                    builder.add_table(&scope, &values).unwrap();
                }
            }
            scopes.push(if *kind == 2 { BTreeSet::from([head]) } else { scope });
        }
        if let Some(cardinality) = cardinality {
            builder.add_variable(label(5), cardinality).unwrap();
        }
        let wanted = builder.build_on(&Gang::ALONE);
        match (builder.build_on(&Gang::of(threads)), wanted) {
            (Ok(found), Ok(wanted)) => {
                prop_assert_eq!(&found, &wanted);
                for (factor, scope) in scopes.iter().enumerate() {
                    let own = found.factor_variables(factor).iter();
                    prop_assert!(own.map(|&v| found.label(v as usize)).eq(scope.iter().copied()));
                }
            }
            (Err(found), Err(wanted)) => prop_assert_eq!(found.to_string(), wanted.to_string()),
            (found, wanted) => prop_assert!(false, "{:?} instead of {:?}", found, wanted),
        }
    }
}
