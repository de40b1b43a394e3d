//! Every structure against the table it came from.

mod conjunction;
mod noisy;
mod terms;
mod timing;

use super::class::{Class, Recognised};
use super::recognise::recognise;
use crate::model::TableStructure as Structure;

/// Evenly distributed numbers in [0, 1) from a seed (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }
}

/// The table of a function of the states.
fn table(cardinalities: &[u32], mut f: impl FnMut(&[usize]) -> f64) -> Vec<f64> {
    let entries = cardinalities.iter().map(|&c| c as usize).product();
    let mut states = vec![0; cardinalities.len()];
    (0..entries)
        .map(|_| {
            let value = f(&states);
            for (state, &cardinality) in states.iter_mut().zip(cardinalities) {
                *state += 1;
                if *state < cardinality as usize {
                    break;
                }
                *state = 0;
            }
            value
        })
        .collect()
}

/// The value of a structure by its definition. Panics if two terms hold.
fn value(structure: &Structure, states: &[usize]) -> f64 {
    match structure {
        Structure::Dense => panic!("a dense table has no other definition"),
        Structure::Conjunction { head, negated, values } => {
            let literal = |(i, &x): (usize, &usize)| i == *head || (x == 1) != negated[i];
            let row = if states.iter().enumerate().all(literal) { 0 } else { 2 };
            values[row + usize::from(states[*head] == 0)]
        }
        Structure::Noisy { head, literals, values } => {
            let (mut all, mut not_all) = (1.0, 0.0);
            for (literal, &state) in literals.iter().zip(states) {
                not_all += all * literal[state][1];
                all *= literal[state][0];
            }
            let at = usize::from(states[*head] == 0);
            values[at] * all + values[2 + at] * not_all
        }
        Structure::Terms { weights, offsets, literals } => {
            let holds = |&term: &usize| {
                let mut literals = literals[offsets[term]..offsets[term + 1]].iter();
                literals.all(|&(position, state)| states[position as usize] == state as usize)
            };
            let found: Vec<usize> = (0..weights.len()).filter(holds).collect();
            assert!(found.len() <= 1, "terms {found:?} hold at {states:?}");
            found.first().map_or(0.0, |&term| weights[term])
        }
    }
}

/// Recognises a table and checks all that [`Structure`] promises.
fn recognised(values: &[f64], cardinalities: &[u32]) -> Recognised {
    let found = recognise(values, cardinalities).unwrap();
    let arity = cardinalities.len();
    match &found.structure {
        Structure::Dense => return found,
        Structure::Conjunction { head, negated, values: kept } => {
            assert!(cardinalities.iter().all(|&c| c == 2));
            assert!(negated.len() == arity && !negated[*head]);
            assert!(kept.iter().all(|k| values.iter().any(|v| v.to_bits() == k.to_bits())));
        }
        Structure::Noisy { head, literals, .. } => {
            assert!(cardinalities.iter().all(|&c| c == 2));
            assert!(literals.len() == arity && literals[*head] == [[1.0, 0.0]; 2]);
            for &[holds, fails] in literals.iter().flatten() {
                assert!(holds >= 0.0 && fails >= 0.0 && (holds + fails - 1.0).abs() <= 1e-15);
            }
        }
        Structure::Terms { weights, offsets, literals } => {
            assert!(weights.iter().all(|&weight| weight > 0.0));
            assert!(offsets.len() == weights.len() + 1 && offsets.is_sorted());
            assert!(offsets[0] == 0 && offsets[weights.len()] == literals.len());
            if found.class != Class::Constant {
                let states = cardinalities.iter().sum::<u32>() as usize;
                let cost = super::terms::terms_cost(weights.len(), literals.len(), arity, states);
                assert!(cost < super::terms::dense_cost(values.len()));
            }
        }
    }
    let noisy = matches!(found.structure, Structure::Noisy { .. });
    // The order of the products differs from the recogniser's, hence twice the tolerance.
    let tolerance = if noisy { 2.0 * super::noisy::tolerance(arity) } else { 0.0 };
    let mut entries = values.iter();
    table(cardinalities, |states| {
        let (computed, &entry) = (value(&found.structure, states), entries.next().unwrap());
        let near = (computed - entry).abs() <= tolerance * entry;
        assert!(near, "{states:?}: {computed:e} for {entry:e} in {found:?}");
        computed
    });
    found
}

/// As [`recognised`], for binary variables.
fn recognised_binary(values: &[f64]) -> Recognised {
    recognised(values, &vec![2; values.len().ilog2() as usize])
}

#[test]
fn names_are_lower_case_and_differ() {
    for (number, class) in Class::ALL.into_iter().enumerate() {
        assert_eq!(class as usize, number);
    }
    let mut names = Class::ALL.map(Class::name);
    assert!(names.iter().all(|name| name.to_lowercase() == *name));
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn one_variable() {
    let found = recognised_binary(&[0.75, 0.25]);
    let expected =
        Structure::Conjunction { head: 0, negated: vec![false], values: [0.25, 0.75, 0.25, 0.75] };
    assert_eq!(found, Recognised { structure: expected, class: Class::Prior });
    for values in [[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [5e-324, 1e308]] {
        assert_eq!(recognised_binary(&values).class, Class::Prior);
    }
    let found = recognised(&[0.5, 0.25, 0.25], &[3]);
    assert_eq!(found, Recognised { structure: Structure::Dense, class: Class::Prior });
}

#[test]
fn all_equal() {
    // Without variables there is no head.
    let found = recognised(&[0.25], &[]);
    assert_eq!(found, Recognised { structure: Structure::Dense, class: Class::Constant });
    for cardinalities in [&[2, 2][..], &[2; 12], &[3, 4], &[1, 2, 1]] {
        let entries = cardinalities.iter().product::<u32>() as usize;
        for value in [1.0, 0.25, 5e-324, 1e308] {
            let found = recognised(&vec![value; entries], cardinalities);
            let structure = if cardinalities.iter().all(|&cardinality| cardinality == 2) {
                let negated = vec![false; cardinalities.len()];
                Structure::Conjunction { head: 0, negated, values: [value; 4] }
            } else {
                Structure::Terms { weights: vec![value], offsets: vec![0, 0], literals: vec![] }
            };
            assert_eq!(found, Recognised { structure, class: Class::Constant });
        }
        let found = recognised(&vec![0.0; entries], cardinalities);
        assert_eq!(found, Recognised { structure: Structure::Dense, class: Class::Constant });
    }
}
