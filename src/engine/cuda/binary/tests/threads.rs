//! What is made of a graph by several threads is what one makes.

use super::level_work;
use super::messages::star;
use crate::engine::cuda::binary::flood::FloodWork;
use crate::engine::cuda::binary::homes::{Homes, MOST_NEAR, OrderAlongVariables};
use crate::engine::cuda::binary::layout::Layout;
use crate::engine::cuda::binary::levels::LevelWork;
use crate::engine::cuda::binary::limits::FEW;
use crate::generate;
use crate::model::{FactorGraph, FactorGraphBuilder};
use crate::schedule::Schedule;
use crate::threads::Gang;
use std::collections::{BTreeSet, HashMap, HashSet};

/// More than a thread takes at a time, of each kind of factor, with the same parameters and several heads.
fn with_many_heads() -> FactorGraph {
    let mut builder = FactorGraphBuilder::new();
    builder.add_variables(&(0..6000).collect::<Vec<_>>(), &[2; 6000]).unwrap();
    for factor in 0..9000_u64 {
        let [a, b, c] = [factor * 7 % 6000, (factor * 11 + 1) % 6000, (factor * 13 + 2) % 6000];
        let scope = [a, b, c];
        if a == b || b == c || a == c {
            continue;
        }
        let negated = [factor % 3 == 0, factor % 2 == 0, factor % 5 == 0];
        match factor % 4 {
            0 => builder.add_clause(&scope, &negated, 1.5, 0.5 + (factor % 300) as f64).unwrap(),
            1 => builder.add_prior(a, 0.3).unwrap(),
            2 => builder.add_table(&scope, &[0.1, 0.7, 0.2, 0.5, 0.3, 0.9, 0.4, 0.6]).unwrap(),
            _ => builder.add_and(a, &[b, c], 0.9, 0.1).unwrap(),
        }
    }
    builder.build().unwrap()
}

fn layouts(graph: &FactorGraph, homes: Option<&Homes>) -> [Layout; 2] {
    [1, 3].map(|threads| Layout::new(graph, homes, &Gang::of(threads)).unwrap().unwrap())
}

fn check_same(graph: &FactorGraph) {
    for turns in [1, 3] {
        let [alone, homes] = [1, 3].map(|threads| {
            let order = &mut OrderAlongVariables::default();
            Homes::new(graph, [5, turns], 128, order, &Gang::of(threads)).unwrap().unwrap()
        });
        assert_eq!(alone.of_factor, homes.of_factor);
        assert!(alone.of_variable == homes.of_variable);
        let all = layouts(graph, Some(&homes));
        let [a, b] = [(&all[0], 1), (&all[1], 3)].map(|(layout, threads)| {
            FloodWork::new(graph, layout, &homes, 4, &Gang::of(threads)).unwrap()
        });
        assert!(a.words == b.words && a.hub_starts == b.hub_starts && a.places == b.places);
        assert!(a.factors == b.factors && a.factor_units == b.factor_units && a.hubs == b.hubs);
        assert!(a.constant_places == b.constant_places && a.constants == b.constants);
    }
    let all = layouts(graph, None);
    assert!(all[0].slot_of_edge == all[1].slot_of_edge && all[0].constants == all[1].constants);
    assert_eq!(all[0].other_factors, all[1].other_factors);
    assert_eq!(all[0].coefficients_of, all[1].coefficients_of);
    let blocks = Schedule::Blocks { blocks: 4, seed: 1 };
    for schedule in [Schedule::SequentialFixed, Schedule::ForwardBackward, blocks] {
        let preorder = schedule.preorder(graph, 0).unwrap();
        let [a, b] = [1, 3].map(|threads| {
            let gang = &Gang::of(threads);
            level_work(graph, &all[0], &preorder, [3, 4], gang).unwrap()
        });
        assert!(a.words == b.words && a.starts == b.starts && a.places == b.places);
        assert_eq!(a.variable_messages, b.variable_messages);
        let units = |work: &LevelWork| {
            work.units.iter().map(|unit| (unit.chunk, unit.shape)).collect::<Vec<_>>()
        };
        assert_eq!(units(&a), units(&b));
    }
}

#[test]
fn threads_make_no_difference() {
    check_same(&with_many_heads());
    check_same(&generate::smartfl(8000, 1).unwrap().graph);
    check_same(&star(700, 40));
}

/// All factors, each followed by such that share a variable of few factors with it: found without anything put together before.
fn in_depth(graph: &FactorGraph) -> Vec<u32> {
    let (mut seen, mut order) = (HashSet::new(), Vec::new());
    let mut waiting: Vec<u32> = (0..graph.factor_count() as u32).rev().collect();
    while let Some(f) = waiting.pop() {
        if seen.insert(f) {
            order.push(f);
            for &v in graph.factor_variables(f as usize) {
                let edges = graph.variable_edges(v as usize);
                let others = edges.iter().map(|&edge| graph.edge_factors()[edge as usize]);
                waiting.extend(others.filter(|other| edges.len() <= FEW && !seen.contains(other)));
            }
        }
    }
    order
}

#[test]
fn factors_follow_those_that_they_share_a_variable_with() {
    let mut builder = FactorGraphBuilder::new();
    for factor in 0..600_u64 {
        // Of so many variables that some have more neighbours than are put together.
        let scope = [0, 1, 7, 23, 60].map(|away| 1000 + (factor * 2 + away * factor % 400) % 1150);
        let body: BTreeSet<u64> = scope.into_iter().collect();
        builder.add_and(factor, &body.into_iter().collect::<Vec<_>>(), 0.9, 0.1).unwrap();
    }
    let with_many_neighbours = builder.build().unwrap();
    let neighbours = |&f: &usize| {
        let variables = with_many_neighbours.factor_variables(f).iter();
        let degrees = variables.map(|&v| with_many_neighbours.degree(v as usize));
        degrees.filter(|&degree| degree <= FEW).map(|degree| degree - 1).sum::<usize>()
    };
    let many = (0..600).filter(|f| neighbours(f) > MOST_NEAR).count();
    assert!((100..500).contains(&many), "{many}");
    for graph in [with_many_neighbours, with_many_heads(), generate::bingo(5000, 1).unwrap().graph]
    {
        for threads in [1, 3] {
            let mut order = OrderAlongVariables::default();
            let order = order.of(&graph, &Gang::of(threads)).unwrap();
            assert_eq!(order, in_depth(&graph));
        }
    }
}

/// Parameters with the same head share a number, and nothing else does.
#[test]
fn each_parameter_has_a_number_for_each_head() {
    let graph = with_many_heads();
    let [layout, _] = layouts(&graph, None);
    let mut numbers = HashMap::new();
    for f in (0..graph.factor_count()).filter(|&f| graph.arity(f) > 1) {
        if let Some(pair) = graph.conjunction_parameter(f).zip(graph.head_position(f)) {
            let number = layout.coefficients_of[f];
            assert_eq!(*numbers.entry(pair).or_insert(number), number, "{pair:?}");
        }
    }
    let used: HashSet<u32> = numbers.values().copied().collect();
    assert_eq!((used.len(), layout.coefficients.len()), (numbers.len(), numbers.len()));
    let parameters: HashSet<usize> = numbers.keys().map(|(parameter, _)| *parameter).collect();
    assert!(parameters.len() > 100 && numbers.len() > parameters.len());
}
