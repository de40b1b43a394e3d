//! The named schedules.

use super::*;
use crate::schedule::analyse;
use crate::schedule::random::random_blocks;
use std::sync::Arc;

#[test]
fn names_round_trip() {
    let residual = Schedule::MaximumResidual { log_domain: false };
    for schedule in named().into_iter().chain([residual]) {
        let again = Schedule::from_name(&schedule.name().to_lowercase(), 11).unwrap();
        assert_eq!(format!("{again:?}"), format!("{schedule:?}"));
        assert_eq!(schedule.is_static(), !["SEQRND", "SEQMAX"].contains(&schedule.name()));
    }
    for wrong in ["", "SEQ", "CUSTOM", "TOPO "] {
        let error = Schedule::from_name(wrong, 0).unwrap_err().to_string();
        for name in Schedule::names() {
            assert!(error.contains(name), "{error}");
        }
    }
}

/// What lists the schedules, in other languages and for readers, has all of them.
#[test]
fn lists_elsewhere_are_complete() {
    for file in [
        "src/ffi/schedule.rs",
        "src/ffi/properties.rs",
        "src/bin/fastlbp/options.rs",
        "include/fastlbp.h",
        "bindings/cpp/include/fastlbp/libdai_algorithm.hpp",
        "bindings/java/src/main/java/io/github/fastlbp/Schedule.java",
        "docs/src/concepts/schedules.md",
        "docs/src/guides/libdai.md",
        "docs/src/reference/contract.md",
        "tests/c/test_api.c",
        "tests/cpp/test_session.hpp",
        "tests/libdai/test_bp.cpp",
        "bindings/java/src/test/java/io/github/fastlbp/SessionTest.java",
        "fuzz/src/c_api/texts.rs",
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = std::fs::read_to_string(path).unwrap();
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        for name in Schedule::names() {
            assert!(words.contains(&name), "{file} does not name {name}");
        }
    }
}

#[test]
fn custom_preorders_must_fit_the_graph() {
    let graph = build(&[(FactorKind::And, 0, vec![1])]);
    let custom = Schedule::Custom(Arc::new(preorder(&graph, &[9, 4])));
    assert_eq!(custom.name(), "CUSTOM");
    assert_eq!(custom.preorder(&graph, 3).unwrap().ranks(), [1, 0]);
    let other = build(&[(FactorKind::Prior, 0, vec![])]);
    assert!(custom.preorder(&other, 0).unwrap_err().to_string().contains("2 edges"));
    let residual = Schedule::MaximumResidual { log_domain: false };
    assert!(residual.preorder(&graph, 0).unwrap_err().to_string().contains("no preorder"));
}

/// The edges in order as (factor, variable), classes separated.
fn listed(graph: &FactorGraph, schedule: &Schedule) -> Vec<Vec<(u32, u32)>> {
    let preorder = schedule.preorder(graph, 0).unwrap();
    let (order, offsets) = preorder.classes().unwrap();
    let ends = |e: &u32| (graph.edge_factors()[*e as usize], graph.edge_variables()[*e as usize]);
    let class = |b: &[u32]| order[b[0] as usize..b[1] as usize].iter().map(ends).collect();
    offsets.windows(2).map(class).collect()
}

/// A graph with the arcs 3 -> 2, 2 -> 1, 1 -> 2 (a cycle), 1 -> 0 and 4 -> 0, and some more factors.
fn example(more: &[(FactorKind, u64, Vec<u64>)]) -> FactorGraph {
    let mut factors = vec![
        (FactorKind::And, 0, vec![1, 4]),
        (FactorKind::And, 2, vec![3, 1]),
        (FactorKind::Or, 1, vec![2]),
        (FactorKind::Prior, 4, vec![]),
    ];
    factors.extend_from_slice(more);
    build(&factors)
}

#[test]
fn topological_order_of_an_example() {
    use FactorKind::Table;
    let graph = example(&[(Table, 0, vec![1, 3]), (Table, 0, vec![])]);
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
fn forward_backward_classes_of_an_example() {
    use FactorKind::{Prior, Table};
    // 1 and 2 are a component of depth 1 below 3, 0 has depth 2.
    let graph = example(&[(Prior, 1, vec![]), (Table, 0, vec![1, 2, 3]), (Table, 0, vec![])]);
    let expected: [&[(u32, u32)]; 5] = [
        &[(3, 4)],
        &[(1, 2), (2, 1), (4, 1), (5, 2)], // 2 is the highest variable of depth 1 in the table
        &[(0, 0)],
        &[(0, 1), (0, 4)], // bodies, deepest head first
        &[(1, 1), (1, 3), (2, 2), (5, 1), (5, 3)],
    ];
    assert_eq!(listed(&graph, &Schedule::ForwardBackward), expected);
}

/// A chain of implications takes a level per depth each way, whatever hangs on it.
#[test]
fn forward_backward_levels_are_few_and_wide() {
    let mut factors = Vec::new();
    for depth in 0..10 {
        for i in 0..100 {
            let (below, head) = (depth * 100, (depth + 1) * 100 + i);
            factors.push((FactorKind::And, head, vec![below + i, below + (i * 7 + 3) % 100]));
        }
    }
    let graph = build(&factors);
    let count = |schedule: &Schedule| {
        let preorder = schedule.preorder(&graph, 0).unwrap();
        (preorder.class_count(), analyse(&graph, &preorder, Storage::InPlace).unwrap().count())
    };
    assert_eq!(count(&Schedule::ForwardBackward), (20, 19));
    assert!(count(&Schedule::Topological).1 > 19);
}

#[test]
fn graphs_without_arcs_are_ordered_as_by_tree() {
    use FactorKind::{And, Prior, Table};
    for factors in [
        vec![(Table, 0, vec![0, 1]), (Prior, 1, vec![]), (Table, 0, vec![1, 2])],
        // The only variable of its body is its head.
        vec![(And, 1, vec![1]), (Table, 0, vec![0, 1]), (Table, 0, vec![1, 2])],
        vec![(Prior, 1, vec![])],
        vec![(Table, 0, vec![])],
        vec![],
    ] {
        let graph = build(&factors);
        for schedule in [Schedule::Topological, Schedule::ForwardBackward] {
            assert_eq!(listed(&graph, &schedule), listed(&graph, &Schedule::Tree));
        }
    }
}

/// The first classes frozen in `random.rs`, edges 0, 1, 2, ... being those listed by factor.
#[test]
fn blocks_of_an_example() {
    use FactorKind::{And, Or, Prior};
    let graph =
        build(&[(And, 0, vec![1, 2]), (Or, 3, vec![2]), (Prior, 1, vec![]), (Prior, 3, vec![])]);
    let expected: [&[(u32, u32)]; 4] =
        [&[(2, 1)], &[(0, 2)], &[(0, 0), (0, 1), (1, 2)], &[(1, 3), (3, 3)]];
    assert_eq!(listed(&graph, &Schedule::Blocks { blocks: 4, seed: 0 }), expected);
    // Far more blocks than edges: those without edges are no classes.
    let many = Schedule::Blocks { blocks: u32::MAX, seed: 0 }.preorder(&graph, 9).unwrap();
    assert_eq!(many.class_count(), 7);
}

#[test]
fn one_block_is_synchronous_and_none_is_an_error() {
    for factors in [vec![], vec![(FactorKind::And, 0, vec![1, 2])]] {
        let graph = build(&factors);
        let preorder = |blocks| Schedule::Blocks { blocks, seed: 3 }.preorder(&graph, 0);
        assert_eq!(preorder(1).unwrap(), Schedule::Parallel.preorder(&graph, 0).unwrap());
        let error = preorder(0).unwrap_err().to_string();
        assert!(error.contains("0 blocks: 1 or more"), "{error}");
    }
}

#[test]
fn tree_order_of_an_example() {
    use FactorKind::{And, Prior};
    // 1 -f0- 0 -f1- 2 -f2- 3, a prior on 3.
    let graph =
        build(&[(And, 0, vec![1]), (And, 2, vec![0]), (And, 3, vec![2]), (Prior, 3, vec![])]);
    let expected: [&[(u32, u32)]; 5] =
        [&[(3, 3)], &[(2, 2)], &[(0, 0), (1, 0)], &[(0, 1), (1, 2)], &[(2, 3)]];
    assert_eq!(listed(&graph, &Schedule::Tree), expected);
}

/// Whether any factor with a head has another variable.
fn has_arcs(graph: &FactorGraph) -> bool {
    (0..graph.factor_count()).any(|f| graph.head_position(f).is_some() && graph.arity(f) > 1)
}

/// Whether a path of arcs from bodies to heads leads from one variable to another, by brute force.
fn reachability(graph: &FactorGraph) -> Vec<Vec<bool>> {
    let count = graph.variable_count();
    let mut reaches = vec![vec![false; count]; count];
    for f in 0..graph.factor_count() {
        let variables = graph.factor_variables(f);
        if let Some(head) = graph.head_position(f) {
            for &v in variables {
                reaches[v as usize][variables[head] as usize] = true;
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
    reaches
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

    /// On a tree, every message ranks strictly after all that it reads, so one iteration is exact.
    #[test]
    fn tree_reads_only_new_messages_on_trees(graph in trees()) {
        let preorder = Schedule::Tree.preorder(&graph, 0).unwrap();
        for (e, read) in reads(&graph).iter().enumerate() {
            for &d in read {
                prop_assert!(preorder.ranks()[d] < preorder.ranks()[e]);
            }
        }
        // The classes are the levels then, each as early as can be within its sweep or earlier.
        let levels = analyse(&graph, &preorder, Storage::InPlace).unwrap();
        prop_assert!(levels.count() <= preorder.class_count());
    }

    #[test]
    fn sequential_orders_are_permutations(graph in graphs(9, 12), iteration in any::<u64>()) {
        let edges = graph.edge_count();
        for name in ["SEQFIX", "SEQRND"] {
            let schedule = Schedule::from_name(name, 5).unwrap();
            let preorder = schedule.preorder(&graph, iteration).unwrap();
            prop_assert_eq!(preorder.class_count(), edges);
            let mut order = preorder.order().unwrap();
            if name == "SEQRND" {
                let mut expected = Vec::new();
                crate::schedule::random_order(edges, 5, iteration, &mut expected).unwrap();
                prop_assert_eq!(&order, &expected);
                order.sort_unstable();
            }
            prop_assert!(order.into_iter().eq(0..edges as u32));
        }
    }

    #[test]
    fn blocks_are_the_classes_drawn(
        graph in graphs(9, 12), seed in any::<u64>(), blocks in prop_oneof![1..5_u32, any::<u32>()]
    ) {
        prop_assume!(blocks > 0);
        let preorder = Schedule::Blocks { blocks, seed }.preorder(&graph, 3).unwrap();
        let drawn = random_blocks(graph.edge_count(), blocks, seed).unwrap();
        prop_assert!(drawn.iter().all(|&block| block < u64::from(blocks)));
        prop_assert_eq!(preorder, Preorder::from_ranks(&graph, &drawn).unwrap());
    }

    /// The ranks are those of (sweep, depth), depths counted along chains of variables each of which
    /// reaches the next and not the other way round.
    #[test]
    fn forward_backward_follows_the_depths(graph in graphs(9, 12)) {
        prop_assume!(has_arcs(&graph));
        let reaches = reachability(&graph);
        let count = graph.variable_count();
        let mut depths = vec![0_u64; count];
        for _ in 0..count {
            for v in 0..count {
                for w in 0..count {
                    if reaches[v][w] && !reaches[w][v] {
                        depths[w] = depths[w].max(depths[v] + 1);
                    }
                }
            }
        }
        let variable = |edge: usize| graph.edge_variables()[edge] as usize;
        let key = |edge: usize| {
            let edges = graph.factor_edges(graph.edge_factors()[edge] as usize);
            let given = graph.head_position(graph.edge_factors()[edge] as usize);
            let deepest = edges.clone().max_by_key(|&edge| (depths[variable(edge)], edge)).unwrap();
            let head = given.map_or(deepest, |head| edges.start + head);
            let depth = depths[variable(head)];
            if edge == head { depth } else { 1000 - depth }
        };
        let keys: Vec<u64> = (0..graph.edge_count()).map(key).collect();
        let preorder = Schedule::ForwardBackward.preorder(&graph, 0).unwrap();
        prop_assert_eq!(preorder, Preorder::from_ranks(&graph, &keys).unwrap());
    }

    /// Without cycles among the arcs, heads come after the heads in their bodies.
    #[test]
    fn topological_follows_the_arcs(graph in graphs(9, 12)) {
        prop_assume!(has_arcs(&graph));
        let preorder = Schedule::Topological.preorder(&graph, 0).unwrap();
        prop_assert_eq!(preorder.class_count(), graph.edge_count());
        let ranks = preorder.ranks();
        let head = |f: usize| graph.head_position(f).map(|head| graph.factor_edges(f).start + head);
        let reaches = reachability(&graph);
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
