//! Factors with values at the ends of the range of f64: every pair of kinds against exact arithmetic.
//!
//! Two factors share a variable, and the other variables of each have tables of their own, so the graph
//! is a tree and its marginals are exact but for rounding. They are compared with sums over all joint
//! states in integers: an f64 is an integer times a power of two, so nothing here is rounded.

#[path = "common/extremes.rs"]
mod extremes;
#[path = "common/random.rs"]
#[allow(dead_code, reason = "only its choices are used")]
mod random;

use extremes::{Exact, KINDS, PairOfFactors, WEIGHTS, joint_states};
use fastlbp::format::{GraphFormat, write_graph_to_bytes};
use fastlbp::model::WILDCARD;
use fastlbp::{
    Backend, BeliefPropagation, EngineOptions, Error, FactorGraph, FactorGraphBuilder, Inference,
    RunRequest, Schedule, StopRule,
};
use random::{Choices, numbers};
use std::sync::Arc;

/// A graph of two factors, with the exact values.
struct Case {
    graph: Arc<FactorGraph>,
    pair: PairOfFactors,
}

impl Case {
    fn new(pair: [&str; 2], choices: &mut Choices<'_>) -> Self {
        let mut builder = FactorGraphBuilder::new();
        let pair = PairOfFactors::add(&mut builder, 0, pair, choices);
        Self { graph: Arc::new(builder.build().unwrap()), pair }
    }

    /// The entry of a joint state among the values of a factor.
    fn entry(&self, scope: &[usize], states: &[usize]) -> usize {
        scope.iter().rev().fold(0, |index, &v| index * self.pair.cardinalities[v] + states[v])
    }

    /// The product of all factors at a joint state.
    fn product(&self, states: &[usize]) -> Exact {
        self.pair.factors.iter().fold(Exact::of(1.0), |product, (scope, values)| {
            product.times(&values[self.entry(scope, states)])
        })
    }

    /// Sums or maxima over all joint states, for each state of each variable.
    fn exact(&self, inference: Inference) -> Vec<Vec<Exact>> {
        let mut sums: Vec<Vec<Exact>> =
            self.pair.cardinalities.iter().map(|&r| vec![Exact::zero(); r]).collect();
        for states in joint_states(&self.pair.cardinalities) {
            let product = self.product(&states);
            for (sum, &state) in sums.iter_mut().zip(&states) {
                let sum = &mut sum[state];
                *sum = match inference {
                    Inference::SumProduct => sum.plus(&product),
                    Inference::MaxProduct => sum.larger(&product),
                };
            }
        }
        sums
    }

    /// Compares one run with the sums.
    fn check(&self, schedule: Schedule, inference: Inference, compile_tables: bool, what: &str) {
        let exact = self.exact(inference);
        let options = EngineOptions { backend: Backend::Cpu, compile_tables, ..Default::default() };
        let mut bp = BeliefPropagation::new(self.graph.clone(), schedule.clone(), options).unwrap();
        let request = RunRequest { inference, ..RunRequest::new(StopRule::Iterations(8)) };
        if exact[0].iter().all(Exact::is_zero) {
            let error = bp.run(&request).unwrap_err();
            assert!(matches!(error, Error::Contradiction { .. }), "{what}: {error}");
            return;
        }
        bp.run(&request).unwrap_or_else(|error| panic!("{what}: {error}"));
        for (v, weights) in exact.iter().enumerate() {
            let total = weights.iter().fold(Exact::zero(), |sum, weight| sum.plus(weight));
            for (x, weight) in weights.iter().enumerate() {
                let p = bp.marginal(v).unwrap()[x];
                assert!(
                    weight.is_probability(p, &total),
                    "{what}, {schedule:?}, {inference:?}, tables compiled: {compile_tables}: \
                     P(variable {v} = {x}) = {p:e}"
                );
            }
        }
        if inference == Inference::SumProduct {
            self.check_beliefs(&bp, what);
        }
        // What was computed can be saved and restored.
        let state = bp.save_state().unwrap();
        bp.restore_state(&state).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(bp.save_state().unwrap(), state, "{what}");
    }

    /// Compares the beliefs of the two factors with sums.
    fn check_beliefs(&self, bp: &BeliefPropagation, what: &str) {
        for (factor, (scope, values)) in self.pair.factors.iter().enumerate().take(2) {
            let mut weights = vec![Exact::zero(); values.len()];
            for states in joint_states(&self.pair.cardinalities) {
                let index = self.entry(scope, &states);
                weights[index] = weights[index].plus(&self.product(&states));
            }
            let total = weights.iter().fold(Exact::zero(), |sum, weight| sum.plus(weight));
            let belief = bp.factor_belief(factor).unwrap();
            for (index, weight) in weights.iter().enumerate() {
                let single = bp.factor_belief_at(factor, index as u64).unwrap();
                for p in [belief[index], single] {
                    assert!(weight.is_probability(p, &total), "{what}: factor {factor}: {p:e}");
                    assert!((0.0..=1.0).contains(&p), "{what}: factor {factor}: {p:e}");
                }
            }
        }
    }
}

const CASES: u64 = 60;

#[test]
fn every_pair_of_kinds_is_exact_at_the_ends_of_f64() {
    for (i, first) in KINDS.into_iter().enumerate() {
        for (j, second) in KINDS.into_iter().enumerate() {
            for case in 0..CASES {
                let seed = (i * KINDS.len() + j) as u64 * CASES + case;
                let case = Case::new([first, second], &mut Choices::new(&numbers(seed, 200), 8));
                let what = format!("{first} and {second}, seed {seed}");
                for inference in [Inference::SumProduct, Inference::MaxProduct] {
                    case.check(Schedule::Tree, inference, seed.is_multiple_of(2), &what);
                    case.check(Schedule::Parallel, inference, !seed.is_multiple_of(2), &what);
                }
            }
        }
    }
}

/// All pairs of unary tables, which no random choice could miss.
#[test]
fn every_pair_of_unary_tables_is_exact() {
    for index in 0..WEIGHTS.len().pow(4) {
        let values: [f64; 4] =
            std::array::from_fn(|i| WEIGHTS[index / WEIGHTS.len().pow(i as u32) % WEIGHTS.len()]);
        let mut builder = FactorGraphBuilder::new();
        builder.add_table(&[7], &values[..2]).unwrap();
        builder.add_table(&[7], &values[2..]).unwrap();
        let factor = |values: &[f64]| (vec![0], values.iter().map(|&v| Exact::of(v)).collect());
        let case = Case {
            graph: Arc::new(builder.build().unwrap()),
            pair: PairOfFactors {
                cardinalities: vec![2],
                factors: vec![factor(&values[..2]), factor(&values[2..])],
            },
        };
        for compile_tables in [true, false] {
            let what = format!("tables {values:?}");
            case.check(Schedule::Parallel, Inference::SumProduct, compile_tables, &what);
        }
    }
}

/// A factor of which each value is a product of probabilities that no f64 holds.
#[test]
fn tables_in_files_never_lose_a_value() {
    let mut builder = FactorGraphBuilder::new();
    let literal = [[1e-200, 1.0 - 1e-200], [1e-250, 1.0 - 1e-250]];
    builder.add_noisy(1, &[2, 3], &[literal; 2], [1.0, 2.0, 0.0, 0.0]).unwrap();
    let graph = Arc::new(builder.build().unwrap());
    for format in [GraphFormat::Fg, GraphFormat::Uai] {
        let error = write_graph_to_bytes(&graph, format).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
        let text = error.to_string();
        assert!(text.starts_with("factor 0 (noisy): its value at the joint state 0"), "{text}");
    }
    // Its logarithm is there all the same.
    let bp = BeliefPropagation::new(graph, Schedule::Tree, EngineOptions::default()).unwrap();
    let score = bp.log_score(&[0, 1, 1]).unwrap();
    assert!((score - 2.0_f64.ln() - 2.0 * 1e-250_f64.ln()).abs() < 1e-9, "{score}");
    let score = bp.log_score(&[0, 0, 0]).unwrap();
    assert!((score - 2.0_f64.ln() - 2.0 * 1e-200_f64.ln()).abs() < 1e-9, "{score}");

    let mut builder = FactorGraphBuilder::new();
    let both = [WILDCARD, 1];
    builder.add_terms(&[1], &[f64::MAX, f64::MAX], &both).unwrap();
    let error = write_graph_to_bytes(&builder.build().unwrap(), GraphFormat::Fg).unwrap_err();
    assert!(error.to_string().contains("factor 0 (terms): its value at the joint state 1"));
}
