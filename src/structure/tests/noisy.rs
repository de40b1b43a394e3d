//! Noisy OR and noisy AND.

use super::*;
use proptest::prelude::*;

/// A probability and its complement, so that a test's table loses no digits.
type Pair = (f64, f64);

fn pair() -> impl Strategy<Value = Pair> {
    prop_oneof![
        4 => (0.01..0.99).prop_map(|p: f64| (p, 1.0 - p)),
        1 => Just((0.0, 1.0)),
        1 => (1e-30..1e-3).prop_map(|p: f64| (p, 1.0 - p)),
        1 => (1e-30..1e-3).prop_map(|p: f64| (1.0 - p, p)),
    ]
}

/// f = product[h] * Q + rest[h] * (1 - Q): per variable other than the head, the state in which its
/// literal surely holds, and what it is in the other one.
fn noisy(head: usize, links: &[(usize, Pair)], values: [f64; 4]) -> Vec<f64> {
    table(&vec![2; links.len()], |states| {
        let (mut all, mut not_all) = (1.0, 0.0);
        for (i, &(sure, (holds, fails))) in links.iter().enumerate() {
            if i != head && states[i] != sure {
                not_all += all * fails;
                all *= holds;
            }
        }
        let at = usize::from(states[head] == 0);
        values[at] * all + values[2 + at] * not_all
    })
}

fn is_noisy(found: &Recognised) -> bool {
    matches!(found.structure, Structure::Noisy { .. })
}

fn uncertain((holds, fails): Pair) -> bool {
    holds > 0.0 && fails > 0.0
}

proptest! {
    #[test]
    fn noisy_or_and(
        pairs in prop::collection::vec(pair(), 3..9),
        at in any::<prop::sample::Index>(),
        (leak, no_leak) in prop_oneof![Just((0.0, 1.0)), pair()],
        and in any::<bool>(),
    ) {
        let head = at.index(pairs.len());
        let links: Vec<_> = pairs.iter().map(|&pair| (usize::from(and), pair)).collect();
        let values = if and { [no_leak, leak, 0.0, 1.0] } else { [leak, no_leak, 1.0, 0.0] };
        let entries = noisy(head, &links, values);
        let found = recognised_binary(&entries);
        let body = |&(i, _): &(usize, &Pair)| i != head;
        let uncertain =
            pairs.iter().enumerate().filter(body).filter(|&(_, &pair)| uncertain(pair)).count();
        if uncertain > 0 && no_leak > 0.0 {
            let class = if and { Class::NoisyAnd } else { Class::NoisyOr };
            prop_assert_eq!(found.class, class);
            let expected = matches!(found.structure, Structure::Noisy { head: h, .. } if h == head);
            prop_assert!(expected, "{:?}", found.structure);
        }
    }

    #[test]
    fn any_signs(
        links in prop::collection::vec((0_usize..2, (0.01..0.99).prop_map(|p| (p, 1.0 - p))), 3..9),
        at in any::<prop::sample::Index>(),
        (a, b, c) in (0.1..1.0, 0.01..0.1, 0.5..100.0),
        side in 0_usize..2,
    ) {
        let head = at.index(links.len());
        let values = if side == 1 { [a, b, 0.0, c] } else { [b, a, c, 0.0] };
        let mut entries = noisy(head, &links, values);
        // The failing value is not in the table, and its last bits may be lost.
        let found = recognised_binary(&entries);
        let certain = values.map(|value| if value == c { 1.0 } else { value });
        let of_one = recognised_binary(&noisy(head, &links, certain));
        prop_assert!(is_noisy(&of_one));

        if is_noisy(&found) {
            prop_assert!([Class::Noisy, Class::NoisyOr, Class::NoisyAnd].contains(&found.class));
        }
        let at = at.index(entries.len());
        entries[at] *= 1.0 + 1e-6;
        let perturbed = recognised_binary(&entries);
        // With a body of two, a neighbour of the sure state is free to choose.
        if links.len() > 3 {
            prop_assert!(!is_noisy(&perturbed));
        }
    }
}

/// The usual way to write a noisy OR: a product, and 1 minus it.
#[test]
fn written_as_one_minus_a_product() {
    let links = [0.8, 0.3, 0.5, 0.9, 0.25];
    let entries = table(&[2; 6], |x| {
        let product: f64 = (0..5).filter(|&i| x[i] == 1).map(|i| 1.0 - links[i]).product();
        let none = 0.95 * product;
        if x[5] == 0 { none } else { 1.0 - none }
    });
    let found = recognised_binary(&entries);
    assert_eq!(found.class, Class::NoisyOr);
    match found.structure {
        Structure::Noisy { head: 5, literals, values } => {
            assert_eq!(values, [1.0 - 0.95, 0.95, 1.0, 0.0]);
            for (literal, link) in literals.iter().zip(links) {
                assert_eq!(literal[0], [1.0, 0.0]);
                assert!((literal[1][0] - (1.0 - link)).abs() < 1e-15);
                assert!((literal[1][1] - link).abs() < 1e-15);
            }
        }
        other => panic!("{other:?}"),
    }
}

/// Failing with 1e-20 is not lost, although holding is 1 in double precision.
#[test]
fn tiny_links_keep_their_digits() {
    let links = [(0, (1.0, 1e-20)), (0, (1.0 - 1e-9, 1e-9)), (0, (1.0, 0.0)), (0, (0.0, 1.0))];
    let found = recognised_binary(&noisy(2, &links, [0.0, 1.0, 1.0, 0.0]));
    match found.structure {
        Structure::Noisy { head: 2, literals, values } => {
            assert_eq!(values, [0.0, 1.0, 1.0, 0.0]);
            assert_eq!(literals[0], [[1.0, 0.0], [1.0, 1e-20]]);
            assert_eq!(literals[1], [[1.0, 0.0], [1.0 - 1e-9, 1e-9]]);
            assert_eq!(literals[3], [[1.0, 0.0], [0.0, 1.0]]);
        }
        other => panic!("{other:?}"),
    }
}

/// A product of one factor per variable is a noisy conjunction without a failing value.
#[test]
fn products() {
    let entries = table(&[2; 5], |x| (0..5).map(|i| [0.3, 1.5][x[i]] * (i + 1) as f64).product());
    let found = recognised_binary(&entries);
    assert_eq!(found.class, Class::Noisy);
}

#[test]
fn ends_of_the_range_of_numbers() {
    for scale in [1e-308, 5e-324, 1e-160, 1e160, 1e300] {
        let links = [(0, (0.5, 0.5)), (1, (0.25, 0.75)), (0, (0.5, 0.5)), (1, (0.0, 0.0))];
        let entries = noisy(3, &links, [scale, 0.0, 0.0, scale]);
        recognised_binary(&entries);
        let entries = noisy(3, &links, [1.0, scale, 0.0, 1.0]);
        recognised_binary(&entries);
    }
}
