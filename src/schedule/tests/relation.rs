//! Preorders from relations against the closure by brute force.

use super::*;
use crate::error::Error;

/// The reflexive and transitive closure.
fn closure(edges: usize, pairs: &[(u32, u32)]) -> Vec<Vec<bool>> {
    let mut below = vec![vec![false; edges]; edges];
    for (e, row) in below.iter_mut().enumerate() {
        row[e] = true;
    }
    for &(a, b) in pairs {
        below[a as usize][b as usize] = true;
    }
    for middle in 0..edges {
        let through = below[middle].clone();
        for row in below.iter_mut().filter(|row| row[middle]) {
            row.iter_mut().zip(&through).for_each(|(slot, &reached)| *slot |= reached);
        }
    }
    below
}

/// Checks the result of `from_relation`; returns whether the relation is legal.
fn check(graph: &FactorGraph, pairs: &[(u32, u32)]) -> Result<bool, TestCaseError> {
    let below = closure(graph.edge_count(), pairs);
    let reads = reads(graph);
    let incomparable = |e: usize, d: usize| !below[e][d] && !below[d][e];
    let legal = !reads.iter().enumerate().any(|(e, read)| read.iter().any(|&d| incomparable(e, d)));
    match Preorder::from_relation(graph, pairs) {
        Ok(preorder) => {
            prop_assert!(legal);
            let ranks = preorder.ranks();
            for (e, row) in below.iter().enumerate() {
                for (d, &before) in row.iter().enumerate() {
                    prop_assert_eq!(before && below[d][e], ranks[e] == ranks[d]);
                    prop_assert!(!before || ranks[e] <= ranks[d]);
                }
            }
            prop_assert_eq!(Preorder::from_relation(graph, pairs).unwrap(), preorder);
        }
        Err(Error::InvalidArgument(message)) => {
            prop_assert!(!legal, "{}", message);
            // The pair named is one.
            let named: Vec<usize> = message
                .split("edge ")
                .skip(1)
                .map(|rest| rest.split(' ').next().unwrap().parse().unwrap())
                .collect();
            prop_assert!(reads[named[0]].contains(&named[1]) && incomparable(named[0], named[1]));
            let variable = graph.edge_variables()[named[1]] as usize;
            let factor = graph.edge_factors()[named[1]];
            let place = format!("factor {factor}, variable {}", graph.label(variable));
            prop_assert!(message.contains(&place), "{}", message);
        }
        Err(error) => prop_assert!(false, "{}", error),
    }
    Ok(legal)
}

/// A Hasse diagram of the preorder of ranks, in which classes are cycles.
fn diagram(preorder: &Preorder) -> Vec<(u32, u32)> {
    let (order, offsets) = preorder.classes().unwrap();
    let mut pairs = Vec::new();
    for bounds in offsets.windows(2) {
        let (start, end) = (bounds[0] as usize, bounds[1] as usize);
        pairs.extend((start + 1..end).map(|i| (order[i - 1], order[i])));
        pairs.push((order[end - 1], order[start]));
        if end < order.len() {
            pairs.push((order[end - 1], order[end]));
        }
    }
    pairs
}

/// All dependent pairs by rank, both ways if equal, and nothing else: partial, but legal.
fn dependences(graph: &FactorGraph, ranks: &[u32]) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for (e, read) in reads(graph).iter().enumerate() {
        for &d in read {
            if ranks[e] <= ranks[d] {
                pairs.push((e as u32, d as u32));
            }
            if ranks[d] <= ranks[e] {
                pairs.push((d as u32, e as u32));
            }
        }
    }
    pairs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn random_relations(
        graph in graphs(5, 6),
        raw in proptest::collection::vec((any::<u32>(), any::<u32>()), 0..60),
    ) {
        let edges = graph.edge_count() as u32;
        if edges > 0 {
            let pairs: Vec<_> = raw.iter().map(|&(a, b)| (a % edges, b % edges)).collect();
            check(&graph, &pairs)?;
        }
    }

    #[test]
    fn relations_of_ranks((graph, ranks) in ranked_graphs(7, 9), drop in any::<prop::sample::Index>()) {
        let ranked = preorder(&graph, &ranks);
        let mut pairs = diagram(&ranked);
        prop_assert_eq!(&Preorder::from_relation(&graph, &pairs).unwrap(), &ranked);
        if !pairs.is_empty() {
            pairs.remove(drop.index(pairs.len()));
            check(&graph, &pairs)?;
        }
        let mut pairs = dependences(&graph, ranked.ranks());
        prop_assert!(check(&graph, &pairs)?);
        // Independent edges may come in any order: the levels are those of the ranks.
        let partial = Preorder::from_relation(&graph, &pairs).unwrap();
        for storage in [Storage::InPlace, Storage::SideBySide] {
            prop_assert_eq!(
                naive_levels(&graph, partial.ranks(), storage),
                naive_levels(&graph, ranked.ranks(), storage)
            );
        }
        if !pairs.is_empty() {
            pairs.remove(drop.index(pairs.len()));
            check(&graph, &pairs)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// More classes than the exact check takes at once.
    #[test]
    fn large_relations((graph, ranks) in ranked_graphs(120, 250), drop in any::<prop::sample::Index>()) {
        let mut pairs = dependences(&graph, preorder(&graph, &ranks).ranks());
        prop_assert!(check(&graph, &pairs)?);
        if !pairs.is_empty() {
            pairs.remove(drop.index(pairs.len()));
            check(&graph, &pairs)?;
        }
    }
}

#[test]
fn edges_out_of_range_are_named() {
    let graph = build(&[(FactorKind::And, 0, vec![1])]);
    let error = Preorder::from_relation(&graph, &[(0, 1), (1, 2)]).unwrap_err();
    assert!(matches!(error, Error::OutOfRange(_)));
    assert!(error.to_string().contains("pair 1 (1, 2)"), "{error}");
    // The edges of one factor never read each other.
    assert_eq!(Preorder::from_relation(&graph, &[]).unwrap().class_count(), 2);
}

#[test]
fn a_long_cycle_needs_no_deep_stack() {
    const SIZE: u32 = 300_000;
    let graph =
        build(&(0..u64::from(SIZE)).map(|v| (FactorKind::Prior, v, vec![])).collect::<Vec<_>>());
    let cycle: Vec<_> = (0..SIZE).map(|e| (e, (e + 1) % SIZE)).collect();
    assert_eq!(Preorder::from_relation(&graph, &cycle).unwrap().class_count(), 1);
    let reversed: Vec<_> = (1..SIZE).map(|e| (e, e - 1)).collect();
    let preorder = Preorder::from_relation(&graph, &reversed).unwrap();
    assert!(preorder.order().unwrap().into_iter().eq((0..SIZE).rev()));
}
