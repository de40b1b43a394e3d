//! Terms, and what is no structure at all.

use super::*;
use proptest::prelude::*;

/// A decision tree: a value, or a variable with a subtree for each state.
enum Tree {
    Leaf(f64),
    Node(usize, Vec<Tree>),
}

impl Tree {
    /// A random tree of at most this depth. Leaf values are from `values` possible ones (0: all
    /// differ), the first of which is zero.
    fn random(
        random: &mut Random, cardinalities: &[u32], path: &mut Vec<usize>, depth: usize,
        values: usize,
    ) -> Tree {
        let free: Vec<usize> = (0..cardinalities.len()).filter(|v| !path.contains(v)).collect();
        if path.len() == depth || free.is_empty() || (path.len() > 1 && random.below(4) == 0) {
            return Tree::Leaf(match values {
                0 => random.unit(),
                _ => random.below(values) as f64 / values as f64,
            });
        }
        let variable = free[random.below(free.len())];
        path.push(variable);
        let mut child = || Tree::random(random, cardinalities, path, depth, values);
        let children = (0..cardinalities[variable]).map(|_| child()).collect();
        path.pop();
        Tree::Node(variable, children)
    }

    fn value(&self, states: &[usize]) -> f64 {
        match self {
            Tree::Leaf(value) => *value,
            Tree::Node(variable, children) => children[states[*variable]].value(states),
        }
    }

    /// Number of leaves that are not zero, and of literals on the way to them.
    fn size(&self, depth: usize) -> (usize, usize) {
        match self {
            Tree::Leaf(value) if *value == 0.0 => (0, 0),
            Tree::Leaf(_) => (1, depth),
            Tree::Node(_, children) => children
                .iter()
                .map(|child| child.size(depth + 1))
                .fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1)),
        }
    }
}

fn random_tree(seed: u64, cardinalities: &[u32], depth: usize, values: usize) -> (Tree, Vec<f64>) {
    let mut random = Random(seed);
    let tree = Tree::random(&mut random, cardinalities, &mut Vec::new(), depth, values);
    let entries = table(cardinalities, |states| tree.value(states));
    (tree, entries)
}

fn count(structure: &Structure) -> Option<usize> {
    match structure {
        Structure::Terms { weights, .. } => Some(weights.len()),
        _ => None,
    }
}

proptest! {
    /// Trees whose leaves all differ are found again, or as small ones.
    #[test]
    fn trees(
        seed in any::<u64>(),
        cardinalities in prop::collection::vec(2_u32..4, 4..8),
        depth in 2_usize..5,
    ) {
        let (tree, mut entries) = random_tree(seed, &cardinalities, depth, 0);
        let (terms, literals) = tree.size(0);
        let states = cardinalities.iter().sum::<u32>() as usize;
        let cost = super::super::terms::terms_cost(terms, literals, cardinalities.len(), states);
        let found = recognised(&entries, &cardinalities);
        match count(&found.structure) {
            Some(count) => {
                prop_assert_eq!(found.class, Class::ContextSpecific);
                prop_assert_eq!(count, terms);
            }
            None => prop_assert!(
                found.structure != Structure::Dense
                    || 2 * cost >= super::super::terms::dense_cost(entries.len())
            ),
        }
        let at = seed as usize % entries.len();
        entries[at] += 1.0;
        recognised(&entries, &cardinalities);
    }

    /// With few values, other trees may be as good, and the greedy choice may miss the best.
    #[test]
    fn deterministic(
        seed in any::<u64>(),
        cardinalities in prop::collection::vec(2_u32..5, 3..6),
        at in any::<prop::sample::Index>(),
    ) {
        let head = at.index(cardinalities.len());
        let mut others = cardinalities.clone();
        others[head] = 1;
        let mut random = Random(seed);
        let image = table(&others, |_| random.below(cardinalities[head] as usize) as f64);
        let mut random = Random(seed);
        let noise = table(&others, |_| random.unit() + 0.5);
        let entries = table(&cardinalities, |states| {
            let (mut index, mut stride) = (0, 1);
            for (&state, &cardinality) in states.iter().zip(&others) {
                index += if cardinality == 1 { 0 } else { state * stride };
                stride *= cardinality as usize;
            }
            if image[index] == states[head] as f64 { noise[index] } else { 0.0 }
        });
        let class = recognised(&entries, &cardinalities).class;
        let structured = [Class::And, Class::Or, Class::Clause, Class::Conjunction];
        prop_assert!(class == Class::Deterministic || structured.contains(&class), "{:?}", class);
    }

    #[test]
    fn random_tables_are_dense(
        seed in any::<u64>(),
        cardinalities in prop::collection::vec(1_u32..5, 2..7),
        values in prop_oneof![Just(2), Just(3), Just(1 << 50)],
    ) {
        let mut random = Random(seed);
        let entries = table(&cardinalities, |_| random.below(values) as f64);
        let found = recognised(&entries, &cardinalities);
        if entries.len() >= 16 && values > 3 {
            prop_assert_eq!(found, Recognised { structure: Structure::Dense, class: Class::Dense });
        }
    }
}

/// With few values, other trees may be as good, and the greedy choice may miss the best: seldom.
#[test]
fn trees_with_few_values() {
    for values in 2..5 {
        let (mut found_terms, mut tree_terms, mut large) = (0, 0, 0);
        for seed in 0..200_u32 {
            let cardinalities: Vec<u32> =
                (0..8).map(|i| 2 + u32::from(i % 3 == seed % 4)).collect();
            let (tree, entries) = random_tree(seed.into(), &cardinalities, 4, values);
            if let Some(count) = count(&recognised(&entries, &cardinalities).structure) {
                let (terms, _) = tree.size(0);
                found_terms += count;
                tree_terms += terms;
                large += usize::from(count > 2 * terms);
            }
        }
        assert!(found_terms <= tree_terms && large <= 4, "{found_terms} {tree_terms} {large}");
    }
}

#[test]
fn parity_is_deterministic_and_dense() {
    for arity in 3..10 {
        let entries = table(&vec![2; arity], |x| (x.iter().sum::<usize>() % 2) as f64);
        let found = recognised_binary(&entries);
        let expected = Recognised { structure: Structure::Dense, class: Class::Deterministic };
        assert_eq!(found, expected);
    }
}

/// A multiplexer: the first variable says which of the others the last one copies.
#[test]
fn multiplexer() {
    let mut cardinalities = vec![4, 3, 3, 3, 3, 3];
    let entries = table(&cardinalities, |x| f64::from(x[5] == x[1 + x[0]]));
    let found = recognised(&entries, &cardinalities);
    assert_eq!(found.class, Class::Deterministic);
    assert_eq!(count(&found.structure), Some(12));

    cardinalities.push(1);
    assert_eq!(count(&recognised(&entries, &cardinalities).structure), Some(12));
}

/// Too large for all entries to be looked at when the variable is chosen, and one cell apart.
#[test]
fn a_rare_region_in_a_large_table() {
    let entries = table(&[2; 16], |x| if x[2..14] == [1; 12] { 0.5 } else { 5e-324 });
    let found = recognised_binary(&entries);
    assert_eq!(found.class, Class::ContextSpecific);
    assert_eq!(count(&found.structure), Some(13));
    let entries = table(&[2; 16], |x| if x[2..14] == [1; 12] { 0.5 } else { 0.0 });
    assert_eq!(count(&recognised_binary(&entries).structure), Some(1));
}

/// Terms of one literal in a small table: just cheaper, and just not.
#[test]
fn the_cost_decides() {
    let one = |cardinalities: &[u32]| {
        let entries = table(cardinalities, |x| if x[0] == 1 { 0.5 } else { 0.0 });
        count(&recognised(&entries, cardinalities).structure)
    };
    assert_eq!(one(&[3, 2, 2, 2]), Some(1));
    assert_eq!(one(&[3, 2, 2]), Some(1));
    assert_eq!(one(&[3, 3]), None);
}
