//! What an input makes: a small graph of factors of every kind, evidence, a schedule, a run.

use crate::choices::Choices;
use crate::random::{Definition, Input, Model};
use fastlbp::model::WILDCARD;
use fastlbp::schedule::Preorder;
use fastlbp::{Contradiction, Inference, RunRequest, Schedule, StopRule, VariableEvidence};
use std::sync::Arc;

/// Most joint states of all variables together where these are summed over.
pub const JOINT_STATES: usize = 1 << 10;
/// Most entries of a factor.
const ENTRIES: usize = 256;

pub struct Case {
    pub inputs: Vec<Input>,
    pub labels: Vec<u64>,
    pub cardinalities: Vec<usize>,
    pub model: Model,
    /// Whether it has no cycle.
    pub tree: bool,
    pub evidence: Vec<Option<VariableEvidence>>,
    pub schedule: Schedule,
    pub inference: Inference,
    pub damping: f64,
    pub iterations: u64,
    pub compile_tables: bool,
    /// Whether a term has a negative weight.
    pub negative: bool,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "labels {:?} with {:?} states", self.labels, self.cardinalities)?;
        self.inputs.iter().try_for_each(|input| writeln!(f, "{input:?}"))?;
        writeln!(f, "evidence {:?}", self.evidence)?;
        writeln!(f, "{:?}, tree: {}, compiled: {}", self.schedule, self.tree, self.compile_tables)?;
        write!(f, "{:?}, damping {}, {} iterations", self.inference, self.damping, self.iterations)
    }
}

impl Case {
    pub fn new(choices: &mut Choices) -> Self {
        let tree = choices.flag();
        let values = Values { kind: choices.byte() % 4, has_ends: true };
        let count = 1 + choices.below(if tree { 9 } else { 7 });
        let labels: Vec<u64> = (0..count as u64).map(|v| 3 * v + 5).collect();
        let mut joint_states = 1;
        let cardinalities: Vec<usize> = (0..count)
            .map(|v| {
                let wanted = choices.pick(&[2, 2, 2, 2, 3, 4, 5, 1]);
                let fits = (joint_states * wanted) << (count - v - 1) <= JOINT_STATES;
                let cardinality = if fits { wanted } else { 2 };
                joint_states *= cardinality;
                cardinality
            })
            .collect();
        let mut inputs = Vec::new();
        // Variables joined already, for a graph without cycles.
        let mut component: Vec<usize> = (0..count).collect();
        for _ in 0..1 + choices.below(2 * count + 1) {
            let among_binary = choices.flag();
            let mut scope: Vec<usize> = Vec::new();
            let mut entries = 1;
            for _ in 0..1 + choices.below(5) {
                let v = choices.below(count);
                let apart = if tree {
                    scope.iter().all(|&other| component[other] != component[v])
                } else {
                    !scope.contains(&v)
                };
                let fits = entries * cardinalities[v] <= ENTRIES;
                if apart && fits && (!among_binary || cardinalities[v] == 2) {
                    entries *= cardinalities[v];
                    scope.push(v);
                }
            }
            if scope.is_empty() {
                continue;
            }
            let joined: Vec<usize> = scope.iter().map(|&v| component[v]).collect();
            for entry in component.iter_mut().filter(|entry| joined.contains(entry)) {
                *entry = joined[0];
            }
            let names: Vec<u64> = scope.iter().map(|&v| labels[v]).collect();
            let own: Vec<usize> = scope.iter().map(|&v| cardinalities[v]).collect();
            inputs.push(factor(choices, values, &names, &own));
        }
        let mut model = Model::build(&labels, &cardinalities, &inputs);
        model.factors = inputs.iter().map(|input| input.dense(&model.graph)).collect();
        let negative = inputs.iter().any(|input| match &input.definition {
            Definition::Terms { weights, .. } => weights.iter().any(|&weight| weight < 0.0),
            _ => false,
        });
        let evidence = cardinalities
            .iter()
            .map(|&r| match choices.below(6) {
                4 => Some(VariableEvidence::Observed(choices.below(r) as u32)),
                5 => Some(VariableEvidence::Likelihood(values.weights(choices, r))),
                _ => None,
            })
            .collect();
        let schedule = schedule(choices, &model);
        let maximum = choices.below(4) == 3;
        let inference = if maximum { Inference::MaxProduct } else { Inference::SumProduct };
        let damping = [0.0, 0.0, 0.5, 0.98 * choices.share()][choices.below(4)];
        let iterations = 1 + choices.below(4) as u64;
        let compile_tables = choices.flag();
        Self {
            inputs,
            labels,
            cardinalities,
            model,
            tree,
            evidence,
            schedule,
            inference,
            damping,
            iterations,
            compile_tables,
            negative,
        }
    }

    /// A run of so many iterations that takes votes at contradictions.
    pub fn request(&self, iterations: u64) -> RunRequest {
        RunRequest {
            contradiction: Contradiction::Vote,
            inference: self.inference,
            damping: self.damping,
            ..RunRequest::new(StopRule::Iterations(iterations))
        }
    }
}

/// What values a case has: moderate, with zeros and ones, far apart, any of these.
#[derive(Clone, Copy)]
struct Values {
    kind: u8,
    /// Whether those at the ends of f64 are among them.
    has_ends: bool,
}

impl Values {
    /// For factors whose values are products of several of them, which the definition computes as f64.
    fn of_products(self) -> Self {
        Self { has_ends: false, ..self }
    }

    fn probability(self, choices: &mut Choices) -> f64 {
        let kind = if self.kind == 3 { choices.byte() % 3 } else { self.kind };
        if kind == 2 && choices.once_in(4) && self.has_ends {
            return choices.pick(&[5e-324, 1e-310, f64::MIN_POSITIVE, 1e-300, 1e-150]);
        }
        let certain = [0.0, 1.0, 0.5, 0.99, 0.01];
        let far = [1e-3, 1e-9, 1e-20, 1e-40, 1.0 - 1e-9, 1.0 - f64::EPSILON / 2.0];
        match kind {
            1 if choices.below(3) == 2 => choices.pick(&certain),
            2 if choices.flag() => choices.pick(&far),
            // Positive and less than 1.
            _ => (1.0 + 65534.0 * choices.share()) / 65536.0,
        }
    }

    fn probabilities(self, choices: &mut Choices, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.probability(choices)).collect()
    }

    /// Not all zero.
    fn weights(self, choices: &mut Choices, count: usize) -> Vec<f64> {
        let mut weights = self.probabilities(choices, count);
        if weights.iter().all(|&weight| weight == 0.0) {
            weights[0] = 1.0;
        }
        weights
    }

    fn conditionals(self, choices: &mut Choices) -> [f64; 4] {
        let mut values = [0.0; 4].map(|_: f64| 2.0 * self.probability(choices));
        for pair in values.chunks_mut(2) {
            if pair == [0.0, 0.0] {
                pair[choices.below(2)] = 0.5;
            }
        }
        values
    }
}

fn flags(choices: &mut Choices, count: usize) -> Vec<bool> {
    (0..count).map(|_| choices.flag()).collect()
}

/// Names a variable of the scope a second time in the body, now and then.
fn repeat_some(choices: &mut Choices, scope: &mut Vec<u64>) {
    if choices.once_in(8) {
        scope.push(scope[choices.below(scope.len())]);
    }
}

/// A factor of any kind that is possible over these variables.
fn factor(choices: &mut Choices, values: Values, scope: &[u64], cardinalities: &[usize]) -> Input {
    let mut scope = scope.to_vec();
    let body = scope.len() - 1;
    let binary = cardinalities.iter().all(|&r| r == 2);
    let definition = match choices.below(if binary { 13 } else { 3 }) {
        0 | 1 => {
            Definition::Table { values: values.weights(choices, cardinalities.iter().product()) }
        }
        2 => terms(choices, values, cardinalities),
        3 | 4 if body == 0 => Definition::Prior { p: values.probability(choices) },
        kind @ (3 | 4) => {
            repeat_some(choices, &mut scope);
            let (p, q) = (values.probability(choices), values.probability(choices));
            if kind == 3 { Definition::And { p, q } } else { Definition::Or { p, q } }
        }
        5 => Definition::Signed {
            negated: flags(choices, body),
            values: values.conditionals(choices),
        },
        kind @ (6 | 7) => {
            repeat_some(choices, &mut scope);
            let negated = flags(choices, scope.len() - 1);
            // With a q between 0 and 1 it is positive somewhere, whatever is repeated.
            let (p, q) = (values.probability(choices), 0.25 + 0.5 * choices.share());
            if kind == 6 {
                Definition::SignedAnd { negated, p, q }
            } else {
                Definition::SignedOr { negated, p, q }
            }
        }
        8 => {
            repeat_some(choices, &mut scope);
            let negated = flags(choices, scope.len());
            let violated = values.probability(choices);
            Definition::Clause { negated, satisfied: 1.0 + choices.share(), violated }
        }
        9 => {
            let values = values.of_products();
            let literals = (0..body).map(|_| {
                let [p, q] = [values.probability(choices), values.probability(choices)];
                [[p, 1.0 - p], [q, 1.0 - q]]
            });
            let literals = literals.collect();
            Definition::Noisy { literals, values: values.conditionals(choices) }
        }
        10 | 11 => Definition::NoisyOr {
            links: values.of_products().probabilities(choices, body),
            leak: values.of_products().probability(choices),
        },
        _ => Definition::NoisyAnd {
            links: values.of_products().probabilities(choices, body),
            p: values.of_products().probability(choices),
        },
    };
    Input { scope, definition }
}

/// A constant part and some terms on top of it, negative ones among them.
fn terms(choices: &mut Choices, values: Values, cardinalities: &[usize]) -> Definition {
    let count = choices.below(5);
    let negative = choices.once_in(4);
    let mut weights = vec![1.0 + choices.share()];
    let mut indicators = vec![WILDCARD; cardinalities.len()];
    if !negative && count > 0 && choices.flag() {
        // Nothing where no term holds.
        weights.clear();
        indicators.clear();
    }
    for _ in 0..count {
        let weight = values.probability(choices);
        // What is negative stays well below the constant part.
        let sign = if negative && choices.flag() { -0.5 / count as f64 } else { 2.0 };
        weights.push(sign * weight);
        for &r in cardinalities {
            let state = choices.below(r + 1) as i32;
            indicators.push(if state == r as i32 { WILDCARD } else { state });
        }
    }
    if weights.iter().all(|&weight| weight == 0.0) {
        weights[0] = 1.0;
    }
    Definition::Terms { weights, indicators }
}

fn schedule(choices: &mut Choices, model: &Model) -> Schedule {
    let graph = &model.graph;
    match choices.below(9) {
        0 => Schedule::Parallel,
        1 => Schedule::SequentialFixed,
        2 => Schedule::SequentialRandom { seed: choices.word() },
        3 => Schedule::Topological,
        4 => Schedule::Tree,
        5 => Schedule::ForwardBackward,
        6 => Schedule::Blocks { blocks: 1 + choices.below(4) as u32, seed: choices.word() },
        _ => {
            // Few ranks for many ties, or many.
            let bound = 1 + choices.below(2 * graph.edge_count() + 1);
            let ranks: Vec<u64> =
                (0..graph.edge_count()).map(|_| choices.below(bound) as u64).collect();
            let preorder = Preorder::from_ranks(graph, &ranks).expect("a rank per edge");
            Schedule::Custom(Arc::new(preorder))
        }
    }
}
