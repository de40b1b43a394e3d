//! Random graphs with factors of every kind, and for each factor the dense table of its definition, computed from the
//! arguments of the builder and not from the graph.

use fastlbp::model::{NoisyLiteral, WILDCARD};
use fastlbp::{FactorGraph, FactorGraphBuilder};
use std::sync::Arc;

/// Random choices, one after the other: proptest shrinks them towards zero and a shorter list, after
/// whose end all choices are 0.
pub struct Choices<'a> {
    numbers: std::slice::Iter<'a, u64>,
    /// One probability in so many is 0 and one is 1.
    rarity: usize,
}

impl<'a> Choices<'a> {
    pub fn new(numbers: &'a [u64], rarity: usize) -> Self {
        Self { numbers: numbers.iter(), rarity }
    }

    pub fn number(&mut self) -> u64 {
        self.numbers.next().copied().unwrap_or_default()
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (self.number() % count as u64) as usize
    }

    pub fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    /// A number in [0, 1).
    pub fn share(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A probability: certain now and then, else any.
    pub fn probability(&mut self) -> f64 {
        match self.below(self.rarity) {
            0 => 1.0,
            1 => 0.0,
            _ => self.share(),
        }
    }

    /// Weights, not all zero.
    pub fn weights(&mut self, count: usize) -> Vec<f64> {
        let mut weights: Vec<f64> = (0..count).map(|_| self.probability()).collect();
        if weights.iter().all(|&weight| weight == 0.0) {
            weights[0] = 1.0;
        }
        weights
    }

    fn flags(&mut self, count: usize) -> Vec<bool> {
        (0..count).map(|_| self.flag()).collect()
    }

    fn probabilities(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.probability()).collect()
    }
}

/// Labels with gaps, in an order of their own, so that positions in a factor vary.
pub fn labels(choices: &mut Choices, count: usize) -> Vec<u64> {
    let mut labels: Vec<u64> = (0..count as u64).map(|label| 3 * label + 5).collect();
    for last in (1..count).rev() {
        labels.swap(last, choices.below(last + 1));
    }
    labels
}

/// What a builder is given for one factor.
#[derive(Clone, Debug)]
pub struct Input {
    /// The variables; of factors with a head, that first, then the body.
    pub scope: Vec<u64>,
    pub definition: Definition,
}

#[derive(Clone, Debug)]
pub enum Definition {
    Table { values: Vec<f64> },
    Prior { p: f64 },
    And { p: f64, q: f64 },
    Or { p: f64, q: f64 },
    Signed { negated: Vec<bool>, values: [f64; 4] },
    SignedAnd { negated: Vec<bool>, p: f64, q: f64 },
    SignedOr { negated: Vec<bool>, p: f64, q: f64 },
    Clause { negated: Vec<bool>, satisfied: f64, violated: f64 },
    Noisy { literals: Vec<NoisyLiteral>, values: [f64; 4] },
    NoisyOr { links: Vec<f64>, leak: f64 },
    NoisyAnd { links: Vec<f64>, p: f64 },
    Terms { weights: Vec<f64>, indicators: Vec<i32> },
}

impl Input {
    /// A factor of any kind that is possible over these variables. `cardinalities` are theirs.
    pub fn random(choices: &mut Choices, scope: &[u64], cardinalities: &[usize]) -> Self {
        let binary = cardinalities.iter().all(|&r| r == 2);
        let body = scope.len() - 1;
        let mut scope = scope.to_vec();
        let definition = match choices.below(if binary { 14 } else { 4 }) {
            0 | 1 => Definition::Table { values: choices.weights(cardinalities.iter().product()) },
            2 | 3 => random_terms(choices, cardinalities),
            4 if body == 0 => Definition::Prior { p: choices.probability() },
            4 | 5 => {
                repeat_some(choices, &mut scope);
                Definition::And { p: choices.probability(), q: choices.probability() }
            }
            6 => {
                repeat_some(choices, &mut scope);
                Definition::Or { p: choices.probability(), q: choices.probability() }
            }
            7 => Definition::Signed {
                negated: choices.flags(body),
                values: positive_somewhere(choices),
            },
            8 => {
                repeat_some(choices, &mut scope);
                let negated = choices.flags(scope.len() - 1);
                // With a q between 0 and 1 it is positive somewhere, whatever is repeated.
                let (p, q) = (choices.probability(), 0.25 + 0.5 * choices.share());
                if choices.flag() {
                    Definition::SignedAnd { negated, p, q }
                } else {
                    Definition::SignedOr { negated, p, q }
                }
            }
            9 => {
                repeat_some(choices, &mut scope);
                let negated = choices.flags(scope.len());
                Definition::Clause {
                    negated,
                    satisfied: 1.0 + choices.share(),
                    violated: choices.probability(),
                }
            }
            10 | 11 => {
                let literals = (0..body).map(|_| {
                    let [p, q] = [choices.probability(), choices.probability()];
                    [[p, 1.0 - p], [q, 1.0 - q]]
                });
                let literals = literals.collect();
                Definition::Noisy { literals, values: positive_somewhere(choices) }
            }
            12 => Definition::NoisyOr {
                links: choices.probabilities(body),
                leak: choices.probability(),
            },
            _ => Definition::NoisyAnd {
                links: choices.probabilities(body),
                p: choices.probability(),
            },
        };
        Self { scope, definition }
    }

    /// A random factor over up to five of some variables, often over binary ones only (`binary` has their
    /// positions), with no more joint states than `most_states`.
    #[allow(dead_code, reason = "not all test files use it")]
    pub fn among(
        choices: &mut Choices, labels: &[u64], cardinalities: &[usize], binary: &[usize],
        most_states: usize,
    ) -> Self {
        let among_binary = choices.flag() && !binary.is_empty();
        let mut scope: Vec<usize> = Vec::new();
        let mut states = 1;
        for _ in 0..1 + choices.below(5) {
            let variable = if among_binary {
                binary[choices.below(binary.len())]
            } else {
                choices.below(labels.len())
            };
            if !scope.contains(&variable) && states * cardinalities[variable] <= most_states {
                states *= cardinalities[variable];
                scope.push(variable);
            }
        }
        let names: Vec<u64> = scope.iter().map(|&variable| labels[variable]).collect();
        let own: Vec<usize> = scope.iter().map(|&variable| cardinalities[variable]).collect();
        Input::random(choices, &names, &own)
    }

    pub fn add_to(&self, builder: &mut FactorGraphBuilder) -> fastlbp::Result<()> {
        let scope = &self.scope;
        let (head, body) = (scope[0], &scope[1..]);
        match &self.definition {
            Definition::Table { values } => builder.add_table(scope, values),
            &Definition::Prior { p } => builder.add_prior(head, p),
            &Definition::And { p, q } => builder.add_and(head, body, p, q),
            &Definition::Or { p, q } => builder.add_or(head, body, p, q),
            Definition::Signed { negated, values } => {
                builder.add_signed(head, body, negated, *values)
            }
            Definition::SignedAnd { negated, p, q } => {
                builder.add_signed_and(head, body, negated, *p, *q)
            }
            Definition::SignedOr { negated, p, q } => {
                builder.add_signed_or(head, body, negated, *p, *q)
            }
            Definition::Clause { negated, satisfied, violated } => {
                builder.add_clause(scope, negated, *satisfied, *violated)
            }
            Definition::Noisy { literals, values } => {
                builder.add_noisy(head, body, literals, *values)
            }
            Definition::NoisyOr { links, leak } => builder.add_noisy_or(head, body, links, *leak),
            Definition::NoisyAnd { links, p } => builder.add_noisy_and(head, body, links, *p),
            Definition::Terms { weights, indicators } => {
                builder.add_terms(scope, weights, indicators)
            }
        }
    }

    /// The factor's value by its definition; one state per entry of the scope. A probability and its
    /// complement are computed side by side, since either may be lost in rounding the other.
    fn value(&self, states: &[usize], cardinalities: &[usize]) -> f64 {
        let (head, body) = (states[0], &states[1..]);
        // P(head = 1) or P(head = 0) is given.
        let of_true = |p: f64| if head == 1 { p } else { 1.0 - p };
        let of_false = |p: f64| if head == 0 { p } else { 1.0 - p };
        let holds = |state: usize, negated: bool| (state == 0) == negated;
        let all = |negated: &[bool]| body.iter().zip(negated).all(|(&x, &not)| holds(x, not));
        let any = |states: &[usize], negated: &[bool]| {
            states.iter().zip(negated).any(|(&x, &not)| holds(x, not))
        };
        match &self.definition {
            Definition::Table { values } => {
                let digits = states.iter().zip(cardinalities).rev();
                values[digits.fold(0, |index, (&state, &r)| index * r + state)]
            }
            &Definition::Prior { p } => of_true(p),
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

    /// The factor as a table.
    pub fn dense(&self, graph: &FactorGraph) -> Dense {
        let of = |label: &u64| graph.variable_of_label(*label).unwrap();
        let scope: Vec<usize> = self.scope.iter().map(of).collect();
        let mut variables = scope.clone();
        variables.sort_unstable();
        variables.dedup();
        let cardinalities: Vec<usize> = variables.iter().map(|&v| graph.cardinality(v)).collect();
        let own: Vec<usize> = scope.iter().map(|&v| graph.cardinality(v)).collect();
        let positions: Vec<usize> =
            scope.iter().map(|v| variables.iter().position(|other| other == v).unwrap()).collect();
        let mut dense = Dense { variables, cardinalities, values: Vec::new() };
        for index in 0..dense.cardinalities.iter().product() {
            let states = dense.states(index);
            let states: Vec<usize> = positions.iter().map(|&p| states[p]).collect();
            dense.values.push(self.value(&states, &own));
        }
        dense
    }
}

/// (q, c) and a probability p of a further condition: all hold, one fails.
fn and([holds, fails]: [f64; 2], p: f64) -> [f64; 2] {
    [holds * p, fails + holds * (1.0 - p)]
}

/// A factor as a table over variables of a graph, ascending, the first one fastest.
#[derive(Clone, Debug)]
pub struct Dense {
    pub variables: Vec<usize>,
    pub cardinalities: Vec<usize>,
    pub values: Vec<f64>,
}

impl Dense {
    /// The joint state of an entry.
    pub fn states(&self, mut index: usize) -> Vec<usize> {
        let digits = self.cardinalities.iter().map(|&r| {
            let state = index % r;
            index /= r;
            state
        });
        digits.collect()
    }
}

/// Names a variable of the scope a second time in the body, now and then: the head too.
fn repeat_some(choices: &mut Choices, scope: &mut Vec<u64>) {
    if choices.below(4) == 1 {
        scope.push(scope[choices.below(scope.len())]);
    }
}

/// Four values such that the factor is positive somewhere, whether its body can hold and fail or not.
fn positive_somewhere(choices: &mut Choices) -> [f64; 4] {
    let mut values = [0.0; 4].map(|_: f64| 3.0 * choices.probability());
    for pair in values.chunks_mut(2) {
        if pair == [0.0, 0.0] {
            pair[choices.below(2)] = 0.5;
        }
    }
    values
}

/// Terms: some that exclude each other, some that overlap, some with weights of both signs.
fn random_terms(choices: &mut Choices, cardinalities: &[usize]) -> Definition {
    let arity = cardinalities.len();
    let (mut weights, mut indicators) = (Vec::new(), Vec::new());
    if choices.below(3) == 0 {
        // One term per state of one variable, or one per state of it and the next one.
        let first = choices.below(arity);
        for x in 0..cardinalities[first] {
            let mut row = vec![WILDCARD; arity];
            row[first] = x as i32;
            let second = (first + 1) % arity;
            let split = if arity > 1 && choices.flag() { cardinalities[second] } else { 1 };
            for y in 0..split {
                if split > 1 {
                    row[second] = y as i32;
                }
                weights.push(choices.probability());
                indicators.extend_from_slice(&row);
            }
        }
        if weights.iter().all(|&weight| weight == 0.0) {
            weights[0] = 1.0;
        }
        return Definition::Terms { weights, indicators };
    }
    // What is negative stays well below the constant part.
    let constant = 1.0 + choices.share();
    let count = choices.below(6);
    let negative = choices.flag();
    weights.push(constant);
    indicators.resize(arity, WILDCARD);
    for _ in 0..count {
        let weight = choices.probability();
        let sign = if negative && choices.flag() { -0.9 / count as f64 } else { 2.0 };
        weights.push(sign * weight);
        indicators.extend(
            cardinalities
                .iter()
                .map(|&r| if choices.below(3) == 0 { WILDCARD } else { choices.below(r) as i32 }),
        );
    }
    Definition::Terms { weights, indicators }
}

/// A graph beside the definitions of its factors.
pub struct Model {
    pub graph: Arc<FactorGraph>,
    pub factors: Vec<Dense>,
}

impl Model {
    /// Builds a graph of variables with these labels and cardinalities.
    pub fn build(labels: &[u64], cardinalities: &[usize], inputs: &[Input]) -> Self {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variables(labels, cardinalities).unwrap();
        for input in inputs {
            input.add_to(&mut builder).unwrap_or_else(|error| panic!("{input:?}: {error}"));
        }
        let graph = builder.build().unwrap_or_else(|error| panic!("{inputs:?}: {error}"));
        let factors = inputs.iter().map(|input| input.dense(&graph)).collect();
        Self { graph: Arc::new(graph), factors }
    }
}

/// Numbers to choose by: splitmix64.
#[allow(dead_code, reason = "some tests have numbers of their own")]
pub fn numbers(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed;
    let next = std::iter::repeat_with(|| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    });
    next.take(count).collect()
}
