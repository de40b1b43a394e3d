//! Random graphs and the definitions, spelled out as slowly as they read.

mod levels;
mod named;
mod relation;

use super::{Levels, Preorder, Schedule, Storage};
use crate::model::{FactorGraph, FactorGraphBuilder, FactorKind};
use proptest::prelude::*;

/// One factor: kind, head, members.
pub(crate) type FactorSketch = (FactorKind, u64, Vec<u64>);

/// Builds a graph of binary variables; labels have gaps so that they differ from indices.
pub(crate) fn build(factors: &[FactorSketch]) -> FactorGraph {
    let mut builder = FactorGraphBuilder::new();
    for (kind, head, members) in factors {
        let label = |v: &u64| v * 3 + 1;
        let mut members: Vec<u64> = members.iter().map(label).collect();
        match kind {
            FactorKind::Table => {
                members.sort_unstable();
                members.dedup();
                builder.add_table(&members, &vec![1.0; 1 << members.len()]).unwrap();
            }
            FactorKind::Prior => builder.add_prior(label(head), 0.5).unwrap(),
            kind => builder.add_horn(*kind, label(head), &members, 0.9, 0.1).unwrap(),
        }
    }
    builder.build().unwrap()
}

/// All factors mixed: cycles, high-degree variables, duplicates, heads in bodies, tables without variables.
pub(crate) fn graphs(variables: u64, factors: usize) -> impl Strategy<Value = FactorGraph> {
    // A skewed choice of variables makes high-degree variables.
    let variable = prop_oneof![0..variables, 0..1 + variables / 4];
    let kind = prop_oneof![
        Just(FactorKind::Table),
        Just(FactorKind::Prior),
        Just(FactorKind::And),
        Just(FactorKind::Or)
    ];
    let arity = prop_oneof![4 => 0..4_usize, 1 => 4..8_usize];
    let members = arity.prop_flat_map({
        let variable = variable.clone();
        move |arity| proptest::collection::vec(variable.clone(), arity)
    });
    proptest::collection::vec((kind, variable, members), 0..=factors)
        .prop_map(|factors| build(&factors))
}

/// A graph and ranks from few classes to a strict order.
pub(crate) fn ranked_graphs(
    variables: u64, factors: usize,
) -> impl Strategy<Value = (FactorGraph, Vec<u64>)> {
    let bound = prop_oneof![Just(1_u64), Just(2), Just(3), Just(6), Just(20), Just(u64::MAX)];
    (graphs(variables, factors), bound).prop_flat_map(|(graph, bound)| {
        let edges = graph.edge_count();
        (Just(graph), proptest::collection::vec(0..bound, edges))
    })
}

/// Edges that each edge's message reads, by the definition.
pub(crate) fn reads(graph: &FactorGraph) -> Vec<Vec<usize>> {
    let ends = |e: usize| (graph.edge_factors()[e] as usize, graph.edge_variables()[e] as usize);
    let all = 0..graph.edge_count();
    let reads = |e: usize, d: usize| {
        let ((f, v), (g, w)) = (ends(e), ends(d));
        g != f && w != v && graph.edge(f, w).is_some()
    };
    all.clone().map(|e| all.clone().filter(|&d| reads(e, d)).collect()).collect()
}

/// Least levels by raising them until both constraints hold.
pub(crate) fn naive_levels(graph: &FactorGraph, ranks: &[u32], storage: Storage) -> Vec<u32> {
    let reads = reads(graph);
    let mut levels = vec![0; graph.edge_count()];
    loop {
        let before = levels.clone();
        for (e, read) in reads.iter().enumerate() {
            for &d in read {
                if ranks[d] < ranks[e] {
                    levels[e] = levels[e].max(levels[d] + 1);
                } else if storage == Storage::InPlace {
                    levels[d] = levels[d].max(levels[e]);
                }
            }
        }
        if levels == before {
            return levels;
        }
    }
}

/// Runs three iterations level by level on iteration numbers in place of messages and checks that every
/// read gets the value that the preorder asks for.
pub(crate) fn check_reads(
    graph: &FactorGraph, ranks: &[u32], levels: &Levels, storage: Storage,
) -> Result<(), TestCaseError> {
    let reads = reads(graph);
    let mut stored = vec![0_u32; graph.edge_count()];
    for iteration in 1..=3 {
        let old = stored.clone();
        for level in 0..levels.count() {
            for &e in levels.edges(level) {
                for &d in &reads[e as usize] {
                    let new = ranks[d] < ranks[e as usize];
                    let aside = storage == Storage::SideBySide && !new;
                    let value = if aside { old[d] } else { stored[d] };
                    prop_assert_eq!(value, if new { iteration } else { iteration - 1 });
                }
            }
            for &e in levels.edges(level) {
                prop_assert_eq!(stored[e as usize], iteration - 1);
                stored[e as usize] = iteration;
            }
        }
        prop_assert!(stored.iter().all(|&value| value == iteration));
    }
    Ok(())
}

/// All named schedules that are preorders.
pub(crate) fn named() -> Vec<Schedule> {
    let mut all = Schedule::named(11, Schedule::DEFAULT_BLOCKS).to_vec();
    all.pop();
    all
}

/// A preorder of any ranks.
pub(crate) fn preorder(graph: &FactorGraph, ranks: &[u64]) -> Preorder {
    Preorder::from_ranks(graph, ranks).unwrap()
}
