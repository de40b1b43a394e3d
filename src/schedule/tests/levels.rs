//! Preorders and the dependency analysis.

use super::super::levels::{analyse, analyse_with};
use super::super::steps::take_steps;
use super::*;
use proptest::test_runner::TestRunner;

const STORAGES: [Storage; 2] = [Storage::InPlace, Storage::SideBySide];

fn check(graph: &FactorGraph, preorder: &Preorder) -> Result<(), TestCaseError> {
    for storage in STORAGES {
        let levels = analyse(graph, preorder, storage).unwrap();
        let expected = naive_levels(graph, preorder.ranks(), storage);
        prop_assert_eq!(levels.level_of_edge(), &expected[..]);
        check_shape(&levels)?;
        check_reads(graph, preorder.ranks(), &levels, storage)?;
        // All or most factors count as high-arity ones.
        for (arity, groups) in [(1, 1), (2, 1), (3, 2)] {
            let found = analyse_with(graph, preorder, storage, arity, groups).unwrap();
            prop_assert_eq!(&found, &levels);
        }
    }
    Ok(())
}

fn check_shape(levels: &Levels) -> Result<(), TestCaseError> {
    let edges = levels.level_of_edge().len();
    let mut sorted: Vec<u32> = (0..edges as u32).collect();
    sorted.sort_by_key(|&edge| levels.level_of_edge()[edge as usize]);
    prop_assert_eq!(levels.order(), &sorted[..]);
    prop_assert_eq!(levels.offsets().len(), levels.count() + 1);
    for (level, &width) in levels.widths().iter().enumerate() {
        prop_assert!(width > 0);
        prop_assert_eq!(levels.edges(level).len(), width as usize);
        prop_assert!(
            levels.edges(level).iter().all(|&e| levels.level_of_edge()[e as usize] == level as u32)
        );
    }
    prop_assert_eq!(levels.widths().iter().sum::<u32>() as usize, edges);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn levels_are_the_least_ones((graph, ranks) in ranked_graphs(8, 12)) {
        check(&graph, &preorder(&graph, &ranks))?;
    }

    #[test]
    fn levels_of_named_schedules_are_the_least_ones(graph in graphs(10, 14), iteration in 0..5_u64) {
        for schedule in named() {
            check(&graph, &schedule.preorder(&graph, iteration).unwrap())?;
        }
    }

    #[test]
    fn ranks_are_dense_and_keep_their_order((graph, ranks) in ranked_graphs(8, 12), factor in 1..9_u64) {
        let ranks: Vec<u64> = ranks.iter().map(|&rank| rank / factor * factor).collect();
        let preorder = preorder(&graph, &ranks);
        let dense = preorder.ranks();
        for (i, &rank) in ranks.iter().enumerate() {
            for (j, &other) in ranks.iter().enumerate() {
                prop_assert_eq!(rank.cmp(&other), dense[i].cmp(&dense[j]));
            }
        }
        let mut occurring = dense.to_vec();
        occurring.sort_unstable();
        occurring.dedup();
        prop_assert!(occurring.iter().copied().eq(0..preorder.class_count() as u32));
        let mut sorted: Vec<u32> = (0..ranks.len() as u32).collect();
        sorted.sort_by_key(|&edge| ranks[edge as usize]);
        let (order, offsets) = preorder.classes().unwrap();
        prop_assert_eq!(&order, &sorted);
        prop_assert_eq!(preorder.order().unwrap(), sorted);
        prop_assert_eq!(offsets.len(), preorder.class_count() + 1);
        for (class, bounds) in offsets.windows(2).enumerate() {
            let members = &order[bounds[0] as usize..bounds[1] as usize];
            prop_assert!(members.iter().all(|&edge| dense[edge as usize] == class as u32));
        }
    }
}

#[test]
fn levels_of_larger_graphs_are_the_least_ones() {
    let mut runner = TestRunner::new(ProptestConfig::with_cases(40));
    let checked = runner
        .run(&ranked_graphs(60, 150), |(graph, ranks)| check(&graph, &preorder(&graph, &ranks)));
    checked.unwrap();
}

#[test]
fn an_empty_graph_has_no_levels() {
    let graph = build(&[]);
    for schedule in named() {
        let preorder = schedule.preorder(&graph, 0).unwrap();
        assert_eq!(preorder.class_count(), 0);
        assert!(preorder.order().unwrap().is_empty());
        let levels = analyse(&graph, &preorder, Storage::InPlace).unwrap();
        assert_eq!((levels.count(), levels.order(), levels.offsets()), (0, &[][..], &[0][..]));
    }
}

#[test]
fn wrong_lengths_are_errors() {
    let graph = build(&[(FactorKind::And, 0, vec![1, 2])]);
    let error = Preorder::from_ranks(&graph, &[1, 2]).unwrap_err().to_string();
    assert!(error.contains("2 ranks") && error.contains("3 edges"), "{error}");
    let other = build(&[(FactorKind::Prior, 0, vec![])]);
    let preorder = Preorder::from_ranks(&other, &[9]).unwrap();
    let error = analyse(&graph, &preorder, Storage::InPlace).unwrap_err().to_string();
    assert!(error.contains("1 edges") && error.contains("has 3"), "{error}");
}

/// A chain of factors (x, y): synchronous needs one level, the strict order along the chain one per
/// edge; the old values that a sweep against the order reads keep edges in step.
#[test]
fn chains() {
    let factors: Vec<_> = (0..50).map(|i| (FactorKind::And, i + 1, vec![i])).collect();
    let graph = build(&factors);
    let count = |ranks: &[u64], storage| {
        analyse(&graph, &preorder(&graph, ranks), storage).unwrap().count()
    };
    assert_eq!(count(&[3; 100], Storage::InPlace), 1);
    let forward: Vec<u64> = (0..100).collect();
    // Messages to the right form a chain; those to the left read old values of the factor to the
    // right, which is updated later.
    assert_eq!(count(&forward, Storage::InPlace), 50);
    assert_eq!(count(&forward, Storage::SideBySide), 50);
    let backward: Vec<u64> = (0..100).rev().collect();
    assert_eq!(count(&backward, Storage::InPlace), 50);
}

/// One factor with all variables, one of which has all other factors, too: whatever the order, no edge looks at all
/// of those that it reads.
#[test]
fn high_arity_factors_and_high_degree_variables_take_few_steps_per_edge() {
    const SIZE: u64 = 100_000;
    let mut factors = vec![(FactorKind::And, 0, (1..SIZE).collect())];
    factors.extend((1..SIZE).map(|v| (FactorKind::Or, v, vec![0])));
    let graph = build(&factors);
    let mut counts = Vec::new();
    let mut steps = Vec::new();
    let mut count = |preorder: &Preorder| {
        for storage in STORAGES {
            take_steps();
            counts.push(analyse(&graph, preorder, storage).unwrap().count());
            steps.push(take_steps());
        }
    };
    for schedule in named() {
        count(&schedule.preorder(&graph, 0).unwrap());
    }
    // Few large classes, many small ones within a factor, many small ones across factors: an edge
    // of the high-degree variable reads almost all others.
    let edges = 0..graph.edge_count() as u64;
    let few: Vec<u64> = edges.clone().map(|e| e * 7919 % 5).collect();
    let within: Vec<u64> = edges.clone().map(|e| e * 7919 % 5 + e / 9).collect();
    let across: Vec<u64> = edges.map(|e| e * 7919 % 30_011).collect();
    for ranks in [few, within, across] {
        count(&preorder(&graph, &ranks));
    }
    assert_eq!(counts[..2], [1, 1]);
    // Two thirds of the edges read about 100,000 others or more.
    let most = steps.into_iter().max().unwrap();
    assert!(most <= 16 * graph.edge_count() as u64, "{most} steps");
}
