//! What each kind of factor is: a value for every joint state, from what the builder was given. A
//! probability and its complement are computed side by side, since either may be lost in rounding the
//! other.

use crate::random::{Definition, Dense, Input};
use fastlbp::FactorGraph;
use fastlbp::model::WILDCARD;

/// The factor as a table over its variables, ascending, the first one fastest.
pub fn dense(input: &Input, graph: &FactorGraph) -> Dense {
    let index = |label: &u64| graph.variable_of_label(*label).expect("a variable");
    let scope: Vec<usize> = input.scope.iter().map(index).collect();
    let mut variables = scope.clone();
    variables.sort_unstable();
    variables.dedup();
    let radices = |variables: &[usize]| -> Vec<usize> {
        variables.iter().map(|&v| graph.cardinality(v)).collect()
    };
    let own = radices(&scope);
    let mut dense = Dense { cardinalities: radices(&variables), variables, values: Vec::new() };
    for index in 0..dense.cardinalities.iter().product() {
        let states = dense.states(index);
        let place = |v: &usize| dense.variables.binary_search(v).expect("one of its variables");
        let states: Vec<usize> = scope.iter().map(|v| states[place(v)]).collect();
        dense.values.push(value(&input.definition, &states, &own));
    }
    dense
}

/// (q, c) and a probability p of a further condition: all hold, one fails.
fn and([holds, fails]: [f64; 2], p: f64) -> [f64; 2] {
    [holds * p, fails + holds * (1.0 - p)]
}

/// One state per entry of the scope.
fn value(definition: &Definition, states: &[usize], cardinalities: &[usize]) -> f64 {
    let (head, body) = (states[0], &states[1..]);
    // P(head = 1) or P(head = 0) is given.
    let of_true = |p: f64| if head == 1 { p } else { 1.0 - p };
    let of_false = |p: f64| if head == 0 { p } else { 1.0 - p };
    let holds = |state: usize, negated: bool| (state == 0) == negated;
    let all = |negated: &[bool]| body.iter().zip(negated).all(|(&x, &not)| holds(x, not));
    let any = |states: &[usize], negated: &[bool]| {
        states.iter().zip(negated).any(|(&x, &not)| holds(x, not))
    };
    match definition {
        Definition::Table { values } => {
            let digits = states.iter().zip(cardinalities).rev();
            values[digits.fold(0, |index, (&state, &r)| index * r + state)]
        }
        &Definition::Singleton { p } => of_true(p),
        &Definition::And { p, q } => of_true(if body.contains(&0) { q } else { p }),
        &Definition::Or { p, q } => of_false(if body.contains(&1) { q } else { p }),
        Definition::Signed { negated, values } => {
            values[if all(negated) { 0 } else { 2 } + usize::from(head == 0)]
        }
        Definition::SignedAnd { negated, p, q } => of_true(if all(negated) { *p } else { *q }),
        Definition::SignedOr { negated, p, q } => {
            of_false(if any(body, negated) { *q } else { *p })
        }
        Definition::Clause { negated, satisfied, violated } => {
            if any(states, negated) {
                *satisfied
            } else {
                *violated
            }
        }
        Definition::Noisy { literals, values } => {
            let each = body.iter().zip(literals).map(|(&x, literal)| literal[x]);
            let [holds, fails] = each.fold([1.0, 0.0], |[before, failed], [holds, fails]| {
                [before * holds, failed + before * fails]
            });
            let row = usize::from(head == 0);
            holds * values[row] + fails * values[2 + row]
        }
        Definition::NoisyOr { links, leak } => {
            let active = body.iter().zip(links).filter(|&(&state, _)| state == 1);
            // No cause works, or one does.
            let none = active.fold([1.0 - leak, *leak], |[none, some], (_, &link)| {
                [none * (1.0 - link), some + none * link]
            });
            none[head]
        }
        Definition::NoisyAnd { links, p } => {
            let inactive = body.iter().zip(links).filter(|&(&state, _)| state == 0);
            let pair = inactive.fold([*p, 1.0 - p], |pair, (_, &link)| and(pair, link));
            pair[usize::from(head == 0)]
        }
        Definition::Terms { weights, indicators } => {
            let rows = weights.iter().zip(indicators.chunks(states.len()));
            let held = rows.filter(|(_, row)| {
                let mut wanted = row.iter().zip(states);
                wanted.all(|(&w, &state)| w == WILDCARD || w == state as i32)
            });
            held.map(|(weight, _)| weight).sum()
        }
    }
}
