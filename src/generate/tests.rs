//! Sizes, degrees and levels of generated graphs, and that they are the same everywhere.

use super::*;
use crate::error::Error;
use crate::model::{FactorGraph, FactorKind};
use crate::schedule::{Schedule, Storage, analyse};

fn degrees(graph: &FactorGraph) -> Vec<usize> {
    let mut degrees: Vec<usize> =
        (0..graph.variable_count()).map(|variable| graph.degree(variable)).collect();
    degrees.sort_unstable();
    degrees
}

#[test]
fn sizes_are_exact_and_seeds_matter() {
    for make in [smartfl, bingo] {
        for variables in [10, 11, 12, 13, 17, 50, 100, 999, 20_000] {
            for seed in 0..4 {
                let generated = make(variables, seed).unwrap();
                assert_eq!(generated.graph.variable_count(), variables);
                assert_eq!(generated, make(variables, seed).unwrap());
                for &(variable, state) in &generated.observations {
                    assert!(variable < variables && state < 2);
                }
                assert!(generated.observations.is_sorted());
            }
        }
        assert_ne!(make(1000, 0).unwrap(), make(1000, 1).unwrap());
        assert!(matches!(make(9, 0), Err(Error::InvalidArgument(_))));
        assert!(matches!(make(MAX_VARIABLES + 1, 0), Err(Error::InvalidArgument(_))));
        assert!(matches!(make(usize::MAX, 0), Err(Error::InvalidArgument(_))));
    }
}

#[test]
fn smartfl_graphs_have_high_degree_variables_and_the_usual_edge_density() {
    for (variables, seed) in [(5_000, 1), (40_000, 2), (200_000, 3)] {
        let graph = smartfl(variables, seed).unwrap().graph;
        let per_variable = graph.edge_count() as f64 / variables as f64;
        assert!((2.8..4.5).contains(&per_variable), "{per_variable}");
        let degrees = degrees(&graph);
        let highest = degrees[variables - 1];
        assert!((variables / 40..variables / 8).contains(&highest), "{highest}");
        assert!((2..=3).contains(&degrees[variables / 2]), "{}", degrees[variables / 2]);
        assert_eq!(graph.factor_count(), variables);
        for factor in 0..graph.factor_count() {
            assert!(matches!(graph.kind(factor), FactorKind::Prior | FactorKind::And));
        }
    }
}

#[test]
fn bingo_graphs_have_the_usual_kinds_and_degrees() {
    for (variables, seed) in [(1_500, 1), (30_000, 2), (160_000, 3)] {
        let Generated { graph, observations } = bingo(variables, seed).unwrap();
        let per_variable = graph.edge_count() as f64 / variables as f64;
        assert!((2.1..3.0).contains(&per_variable), "{per_variable}");
        let degrees = degrees(&graph);
        assert!((15..600).contains(&degrees[variables - 1]), "{}", degrees[variables - 1]);
        assert_eq!(degrees[variables / 2], 2, "{variables}");
        let ors = (0..variables).filter(|&f| graph.kind(f) == FactorKind::Or).count();
        assert!((variables / 3..variables / 2).contains(&ors), "{ors}");
        assert_eq!(observations.len(), 20);
        assert!(observations.iter().all(|&(alarm, _)| graph.degree(alarm) == 1));
    }
}

/// The same graphs on every machine: these sums were computed once and must never change
/// within a version.
#[test]
fn graphs_do_not_depend_on_the_machine() {
    let fingerprint = |generated: &Generated| {
        let graph = &generated.graph;
        let edges = graph.edge_variables().iter().zip(graph.edge_factors());
        let edges = edges.map(|(&v, &f)| u64::from(v) << 32 | u64::from(f));
        let tables = (0..graph.factor_count()).filter_map(|factor| graph.factor(factor).as_table());
        let entries = tables.flat_map(|table| table.iter().map(|entry| entry.to_bits()));
        edges
            .chain(entries)
            .fold(0_u64, |sum, word| sum.wrapping_mul(0x100_0000_01b3).wrapping_add(word))
    };
    let extremes = Some(Extremes { count: 3, size: 70 });
    let plan = Plan { high_arity: extremes, high_degree: extremes, ..plan(Shape::Ising, 100) };
    let graphs = [
        smartfl(1000, 1),
        bingo(1000, 1),
        layers(1000, 20, 1),
        ising(1000, 1),
        potts(1000, 4, 1),
        rbm(100, 40, 1),
        plan.generate(),
    ];
    let found = graphs.map(|graph| fingerprint(&graph.unwrap()));
    let known = [
        1_040_959_712_157_107_459,
        4_397_207_308_764_314_206,
        7_838_200_289_113_593_575,
        8_533_731_752_717_316_504,
        6_604_305_403_728_132_244,
        15_435_300_242_551_719_739,
        8_245_920_101_276_042_630,
    ];
    assert_eq!(found, known);
}

fn plan(shape: Shape, variables: usize) -> Plan {
    Plan { shape, variables, seed: 1, high_arity: None, high_degree: None }
}

const SHAPES: [Shape; 6] = [
    Shape::Smartfl,
    Shape::Bingo,
    Shape::Layers { levels: 7 },
    Shape::Ising,
    Shape::Potts { states: 3 },
    Shape::Rbm { hidden: 4 },
];

#[test]
fn plans_make_every_shape() {
    for shape in SHAPES {
        for variables in [10, 11, 16, 99, 1000] {
            let plan = plan(shape, variables);
            let generated = plan.generate().unwrap();
            assert_eq!(generated, plan.generate().unwrap());
            assert_ne!(generated, Plan { seed: 2, ..plan }.generate().unwrap(), "{shape:?}");
            let Generated { graph, observations } = generated;
            assert_eq!(graph.variable_count(), variables);
            assert!(observations.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(observations.iter().all(|&(v, state)| state < graph.cardinality(v)));
        }
        assert!(matches!(plan(shape, 9).generate(), Err(Error::InvalidArgument(_))));
    }
    for shape in [
        Shape::Layers { levels: 0 },
        Shape::Layers { levels: 101 },
        Shape::Potts { states: 1 },
        Shape::Potts { states: MAX_STATES + 1 },
        Shape::Rbm { hidden: 0 },
        Shape::Rbm { hidden: 100 },
    ] {
        assert!(matches!(plan(shape, 100).generate(), Err(Error::InvalidArgument(_))), "{shape:?}");
    }
    let large = Shape::Rbm { hidden: 1_000_000 };
    assert!(matches!(plan(large, 2_000_000).generate(), Err(Error::LimitExceeded(_))));
}

#[test]
fn layers_have_as_many_levels_as_asked_for() {
    for (variables, levels) in
        [(10, 1), (10, 2), (10, 10), (500, 3), (500, 77), (2000, 1999), (2000, 40)]
    {
        let graph = layers(variables, levels, 3).unwrap().graph;
        let order = Schedule::SequentialFixed.preorder(&graph, 0).unwrap();
        let found = analyse(&graph, &order, Storage::InPlace).unwrap();
        assert_eq!(found.count(), levels, "{variables} variables");
    }
}

#[test]
fn grids_and_machines_have_their_edges() {
    // 5 columns; 7 rows of which the last one has 2 variables: pairs to the right and down.
    let pairs = (6 * 4 + 1) + (5 * 5 + 2);
    let graph = ising(32, 1).unwrap().graph;
    assert_eq!((graph.factor_count(), graph.edge_count()), (32 + pairs, 32 + 2 * pairs));
    assert_eq!(potts(32, 5, 1).unwrap().graph.edge_count(), 32 + 2 * pairs);
    let Generated { graph, observations } = rbm(100, 30, 1).unwrap();
    assert_eq!(graph.edge_count(), 100 + 2 * 70 * 30);
    assert!((0..70).all(|visible| graph.degree(visible) == 31));
    assert!((20..50).contains(&observations.len()));
    assert!(observations.iter().all(|&(variable, _)| variable < 70));
}

#[test]
fn high_arities_and_degrees_are_added() {
    let extremes = |count, size| Some(Extremes { count, size });
    for shape in SHAPES.into_iter().filter(|shape| !matches!(shape, Shape::Potts { .. })) {
        let base = plan(shape, 300);
        let before = base.generate().unwrap();
        let more = Plan { high_arity: extremes(3, 150), high_degree: extremes(2, 1000), ..base };
        let after = more.generate().unwrap();
        assert_eq!(after, more.generate().unwrap());
        assert_eq!(after.observations, before.observations);
        assert_eq!(after.graph.variable_count(), 300);
        let (old, new) = (before.graph.factor_count(), after.graph.factor_count());
        assert_eq!(new, old + 3 + 2 * 1000);
        assert!((old..old + 3).all(|factor| after.graph.arity(factor) == 150));
        let gained = |v: usize| after.graph.degree(v) - before.graph.degree(v);
        // Beside its own factors, a variable may be in those of the others.
        assert_eq!((0..300).filter(|&v| gained(v) >= 1000).count(), 2);
    }
    let wrong = [
        (Shape::Potts { states: 3 }, extremes(1, 5), None),
        (Shape::Ising, extremes(1, 1), None),
        (Shape::Ising, extremes(1, 101), None),
        (Shape::Ising, None, extremes(101, 1)),
    ];
    for (shape, high_arity, high_degree) in wrong {
        let plan = Plan { high_arity, high_degree, ..plan(shape, 100) };
        assert!(matches!(plan.generate(), Err(Error::InvalidArgument(_))), "{plan:?}");
    }
    for (high_arity, high_degree) in [
        (extremes(usize::MAX, 2), None),
        (None, extremes(100, usize::MAX)),
        (extremes(1 << 31, 100), None),
    ] {
        let plan = Plan { high_arity, high_degree, ..plan(Shape::Ising, 100) };
        assert!(matches!(plan.generate(), Err(Error::LimitExceeded(_))), "{plan:?}");
    }
}
