//! The named schedules.

use super::*;
use std::sync::Arc;

#[test]
fn names_round_trip() {
    for schedule in named() {
        let again = Schedule::from_name(&schedule.name().to_lowercase(), 11).unwrap();
        assert_eq!(format!("{again:?}"), format!("{schedule:?}"));
        assert_eq!(schedule.is_static(), schedule.name() != "SEQRND");
    }
    for wrong in ["", "SEQMAX", "CUSTOM", "TOPO "] {
        let error = Schedule::from_name(wrong, 0).unwrap_err().to_string();
        for name in ["PARALL", "SEQFIX", "SEQRND", "TOPO", "TREE"] {
            assert!(error.contains(name), "{error}");
        }
    }
}

#[test]
fn custom_preorders_must_fit_the_graph() {
    let graph = build(&[(FactorKind::And, 0, vec![1])]);
    let custom = Schedule::Custom(Arc::new(preorder(&graph, &[9, 4])));
    assert_eq!(custom.name(), "CUSTOM");
    assert_eq!(custom.preorder(&graph, 3).unwrap().ranks(), [1, 0]);
    let other = build(&[(FactorKind::Singleton, 0, vec![])]);
    assert!(custom.preorder(&other, 0).unwrap_err().to_string().contains("2 edges"));
}

/// The edges in order as (factor, variable), classes separated.
fn listed(graph: &FactorGraph, schedule: &Schedule) -> Vec<Vec<(u32, u32)>> {
    let preorder = schedule.preorder(graph, 0).unwrap();
    let (order, offsets) = preorder.classes();
    let ends = |e: &u32| (graph.edge_factors()[*e as usize], graph.edge_variables()[*e as usize]);
    let class = |b: &[u32]| order[b[0] as usize..b[1] as usize].iter().map(ends).collect();
    offsets.windows(2).map(class).collect()
}

#[test]
fn topological_order_of_an_example() {
    use FactorKind::{And, Or, Singleton, Table};
    // Arcs 3 -> 2, 2 -> 1, 1 -> 2 (a cycle), 1 -> 0, 4 -> 0.
    let graph = build(&[
        (And, 0, vec![1, 4]),
        (And, 2, vec![3, 1]),
        (Or, 1, vec![2]),
        (Singleton, 4, vec![]),
        (Table, 0, vec![1, 3]),
        (Table, 0, vec![]),
    ]);
    // Positions: 3, then {1, 2} (lower than 4), then 4, then 0.
    let expected = [
        (2, 1), // head 1, factor 2 before the table that takes 1 for its head
        (4, 1),
        (1, 2),
        (3, 4),
        (0, 0),
        (0, 4), // bodies, last head first, variables descending
        (0, 1),
        (1, 3),
        (1, 1),
        (4, 3),
        (2, 2),
    ];
    assert_eq!(listed(&graph, &Schedule::Topological).concat(), expected);
}

#[test]
fn tree_order_of_an_example() {
    use FactorKind::{And, Singleton};
    // 1 -f0- 0 -f1- 2 -f2- 3, a prior on 3.
    let graph =
        build(&[(And, 0, vec![1]), (And, 2, vec![0]), (And, 3, vec![2]), (Singleton, 3, vec![])]);
    let expected: [&[(u32, u32)]; 5] =
        [&[(3, 3)], &[(2, 2)], &[(0, 0), (1, 0)], &[(0, 1), (1, 2)], &[(2, 3)]];
    assert_eq!(listed(&graph, &Schedule::Tree), expected);
    // Without heads TOPO is TREE.
    let tables = build(&[(FactorKind::Table, 0, vec![0, 1]), (Singleton, 1, vec![])]);
    assert_eq!(listed(&tables, &Schedule::Topological), listed(&tables, &Schedule::Tree));
}

/// Trees: factor i joins an earlier variable with new ones.
fn trees() -> impl Strategy<Value = FactorGraph> {
    proptest::collection::vec((any::<prop::sample::Index>(), 0..4_u64, any::<u8>()), 1..15)
        .prop_map(|steps| {
            let mut variables = 1;
            let mut factors = Vec::new();
            for (from, new, kind) in steps {
                let mut members = vec![from.index(variables as usize) as u64];
                members.extend(variables..variables + new);
                variables += new;
                let head = members[kind as usize % members.len()];
                let kind = [FactorKind::Table, FactorKind::And, FactorKind::Or][kind as usize % 3];
                factors.push((kind, head, members));
            }
            build(&factors)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// On a tree, every message ranks strictly after all that it reads, so one pass is exact.
    #[test]
    fn tree_reads_only_new_messages_on_trees(graph in trees()) {
        let preorder = Schedule::Tree.preorder(&graph, 0).unwrap();
        for (e, read) in reads(&graph).iter().enumerate() {
            for &d in read {
                prop_assert!(preorder.ranks()[d] < preorder.ranks()[e]);
            }
        }
        // The classes are the levels then, each as early as can be within its sweep or earlier.
        let levels = crate::schedule::analyse(&graph, &preorder, Storage::InPlace).unwrap();
        prop_assert!(levels.count() <= preorder.class_count());
    }

    #[test]
    fn sequential_orders_are_permutations(graph in graphs(9, 12), pass in any::<u64>()) {
        let edges = graph.edge_count();
        for name in ["SEQFIX", "SEQRND"] {
            let schedule = Schedule::from_name(name, 5).unwrap();
            let preorder = schedule.preorder(&graph, pass).unwrap();
            prop_assert_eq!(preorder.class_count(), edges);
            let mut order = preorder.order();
            if name == "SEQRND" {
                let mut expected = Vec::new();
                crate::schedule::random_order(edges, 5, pass, &mut expected);
                prop_assert_eq!(&order, &expected);
                order.sort_unstable();
            }
            prop_assert!(order.into_iter().eq(0..edges as u32));
        }
    }

    /// Without cycles among the arcs, heads come after the heads in their bodies.
    #[test]
    fn topological_follows_the_arcs(graph in graphs(9, 12)) {
        let horn = |f: usize| matches!(graph.kind(f), FactorKind::And | FactorKind::Or);
        prop_assume!((0..graph.factor_count()).any(horn));
        let preorder = Schedule::Topological.preorder(&graph, 0).unwrap();
        prop_assert_eq!(preorder.class_count(), graph.edge_count());
        let ranks = preorder.ranks();
        let head = |f: usize| graph.head_position(f).map(|head| graph.factor_edges(f).start + head);
        let arcs = |f: usize| horn(f).then(|| head(f)).flatten();
        // Reachability along arcs by brute force.
        let count = graph.variable_count();
        let mut reaches = vec![vec![false; count]; count];
        for f in 0..graph.factor_count() {
            if let Some(edge) = arcs(f) {
                for &v in graph.factor_variables(f) {
                    reaches[v as usize][graph.edge_variables()[edge] as usize] = true;
                }
            }
        }
        for middle in 0..count {
            for v in 0..count {
                for w in 0..count {
                    reaches[v][w] |= reaches[v][middle] && reaches[middle][w];
                }
            }
        }
        let variable = |edge: usize| graph.edge_variables()[edge] as usize;
        for f in 0..graph.factor_count() {
            let Some(to_head) = head(f) else { continue };
            for g in 0..graph.factor_count() {
                let Some(other) = head(g) else { continue };
                let (v, w) = (variable(to_head), variable(other));
                if reaches[v][w] && !reaches[w][v] {
                    prop_assert!(ranks[to_head] < ranks[other]);
                }
                // Bodies come after all heads, factors in the reverse order of their heads.
                for body in graph.factor_edges(f).filter(|&edge| edge != to_head) {
                    prop_assert!(ranks[other] < ranks[body]);
                    for later in graph.factor_edges(g).filter(|&edge| edge != other && f != g) {
                        prop_assert_eq!(ranks[to_head] < ranks[other], ranks[body] > ranks[later]);
                    }
                }
            }
        }
    }
}
