//! AND, OR, clauses, and conjunctions of both signs.

use super::*;
use crate::model::{FactorKind, HornParameters};
use proptest::prelude::*;

/// The table of a conjunction.
fn conjunction(head: usize, negated: &[bool], values: [f64; 4]) -> Vec<f64> {
    let structure = Structure::Conjunction { head, negated: negated.to_vec(), values };
    table(&vec![2; negated.len()], |states| value(&structure, states))
}

fn is_conjunction(found: &Recognised) -> bool {
    matches!(found.structure, Structure::Conjunction { .. })
}

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), Just(0.5), Just(0.9), Just(1e-300), 0.0..1.0]
}

proptest! {
    #[test]
    fn and_and_or(
        arity in 2_usize..12,
        at in any::<prop::sample::Index>(),
        disjunction in any::<bool>(),
        (p, q) in (probability(), probability()),
        same in any::<bool>(),
        head_in_body in any::<bool>(),
    ) {
        let head = at.index(arity);
        let kind = if disjunction { FactorKind::Or } else { FactorKind::And };
        let q = if same { p } else { q };
        let parameters = HornParameters { kind, p, q, head_in_body };
        let mut negated = vec![disjunction; arity];
        negated[head] = false;
        let parameters = parameters.conditional();
        let found = recognised_binary(&conjunction(head, &negated, parameters));
        let [a, b, c, d] = parameters;
        if [b, c, d] == [a; 3] {
            prop_assert_eq!(found.class, Class::Constant);
            return Ok(());
        }
        prop_assert!(is_conjunction(&found));
        if arity > 2 && c != d && (a, b) != (c, d) {
            // Only one head is possible.
            let class = if disjunction { Class::Or } else { Class::And };
            prop_assert_eq!(found.class, class);
            let expected = Structure::Conjunction { head, negated, values: parameters };
            prop_assert_eq!(found.structure, expected);
        }
    }

    #[test]
    fn any_signs(
        arity in 3_usize..11,
        at in any::<prop::sample::Index>(),
        signs in any::<u16>(),
        values in [0.0..1.0, 0.0..1.0, 0.0..1.0, 0.0..1.0_f64],
    ) {
        let head = at.index(arity);
        let negated: Vec<bool> = (0..arity).map(|i| i != head && signs >> i & 1 == 1).collect();
        let mut entries = conjunction(head, &negated, values);
        let found = recognised_binary(&entries);
        let negative = negated.iter().filter(|&&negated| negated).count();
        let class = match negative {
            0 => Class::And,
            n if n == arity - 1 => Class::Or,
            _ => Class::Conjunction,
        };
        prop_assert_eq!(found.class, class);
        prop_assert_eq!(found.structure, Structure::Conjunction { head, negated, values });

        // One entry is not as it was: one more state of the body differs.
        let at = signs as usize % entries.len();
        entries[at] = entries[at] * 0.5 + 1.0;
        let found = recognised_binary(&entries);
        if arity > 3 {
            let kept = entries.iter().filter(|&&e| e == values[0] || e == values[1]).count();
            prop_assert_eq!(is_conjunction(&found), kept == 1);
        }
    }

    #[test]
    fn clauses(arity in 2_usize..12, at in any::<prop::sample::Index>(), usual in 0.1..1.0, other in 0.0..0.1) {
        let mut entries = vec![usual; 1 << arity];
        let at = at.index(entries.len());
        entries[at] = other;
        let found = recognised_binary(&entries);
        prop_assert_eq!(found.class, Class::Clause);
        match found.structure {
            Structure::Conjunction { head, negated, values } => {
                prop_assert_eq!(head, 0);
                prop_assert!((1..arity).all(|i| negated[i] == (at >> i & 1 == 0)));
                let pair = if at & 1 == 1 { [other, usual] } else { [usual, other] };
                prop_assert_eq!(values, [pair[0], pair[1], usual, usual]);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

/// With two entries apart, which differ in one variable, only that variable is a head.
#[test]
fn one_pair_differs() {
    for arity in [3, 5, 6, 9] {
        for head in 0..arity {
            for at in [0, 5, (1 << arity) - 1] {
                let mut entries = vec![0.5; 1 << arity];
                entries[at] = 0.25;
                entries[at ^ 1 << head] = 0.75;
                let found = recognised_binary(&entries).structure;
                assert!(matches!(found, Structure::Conjunction { head: h, .. } if h == head));
            }
        }
        let mut entries = vec![0.5; 1 << arity];
        (entries[0], entries[3]) = (0.25, 0.25);
        assert!(!is_conjunction(&recognised_binary(&entries)));
    }
}

/// What does not depend on the head is a conjunction with any head; the first one is taken.
#[test]
fn indicators() {
    let entries = conjunction(3, &[false; 4], [0.0, 0.0, 1.0, 1.0]);
    let found = recognised_binary(&entries);
    assert!(found.class == Class::And && is_conjunction(&found));
    // A variable that does not matter to an AND: no conjunction.
    let entries = table(&[2; 9], |x| if x[..8] == [1; 8] { 0.5 } else { 0.25 });
    let found = recognised_binary(&entries);
    assert!(matches!(found.structure, Structure::Conjunction { head: 8, .. }));
    let entries = table(&[2; 9], |x| if x[..7] == [1; 7] { 0.5 } else { 0.25 });
    let found = recognised_binary(&entries);
    assert_eq!(found.class, Class::ContextSpecific);
    assert!(matches!(found.structure, Structure::Terms { weights, .. } if weights.len() == 8));
}

#[test]
fn two_variables() {
    // f(0,0), f(1,0), f(0,1), f(1,1)
    for (entries, negative, class) in [
        ([0.1, 0.2, 0.3, 0.4], false, Class::And),
        ([1.0, 1.0, 0.0, 1.0], false, Class::Clause),
        ([1.0, 0.0, 1.0, 1.0], true, Class::Clause),
        ([0.9, 0.1, 0.5, 0.5], true, Class::Or),
        ([0.9, 0.1, 0.9, 0.1], false, Class::And),
        ([0.0, 1.0, 1.0, 0.0], false, Class::And),
    ] {
        let found = recognised_binary(&entries);
        assert_eq!(found.class, class);
        match found.structure {
            Structure::Conjunction { head: 0, negated, .. } => {
                assert_eq!(negated, [false, negative])
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(recognised(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], &[2, 3]).class, Class::Dense);
}
