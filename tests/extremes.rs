//! Factors whose values lie at the ends of f64: every pair of kinds against exact arithmetic.
//!
//! Two factors share a variable, and the other variables of each have tables of their own, so the graph
//! is a tree and its marginals are exact but for rounding. They are compared with sums over all joint
//! states in integers: an f64 is an integer times a power of two, so nothing here is rounded.

#[path = "common/random.rs"]
#[allow(dead_code, reason = "only its choices are used")]
mod random;

use fastlbp::format::{GraphFormat, write_graph_to_bytes};
use fastlbp::model::WILDCARD;
use fastlbp::{
    Backend, BeliefPropagation, EngineOptions, Error, FactorGraph, FactorGraphBuilder, Inference,
    RunRequest, Schedule, StopRule,
};
use num_bigint::BigUint;
use random::Choices;
use std::sync::Arc;

/// Parameters of factors: the smallest and the largest positive f64, subnormal ones among them.
const WEIGHTS: [f64; 9] =
    [5e-324, 1e-310, f64::MIN_POSITIVE, 1e-300, 1e-150, 1.0, 1e150, 1e300, f64::MAX];

/// Largest relative error of a probability.
const TOLERANCE_INVERSE: u64 = 1_000_000_000_000;

/// A non-negative number `digits * 2^exponent`.
#[derive(Clone, Debug)]
struct Exact {
    digits: BigUint,
    exponent: i64,
}

impl Exact {
    fn zero() -> Self {
        Self { digits: BigUint::ZERO, exponent: 0 }
    }

    fn of(value: f64) -> Self {
        assert!(value >= 0.0 && value.is_finite());
        let (biased, fraction) =
            ((value.to_bits() >> 52) as i64, value.to_bits() & ((1 << 52) - 1));
        let digits = if biased == 0 { fraction } else { fraction | 1 << 52 };
        Self { digits: digits.into(), exponent: biased.max(1) - 1075 }
    }

    fn times(&self, other: &Self) -> Self {
        Self { digits: &self.digits * &other.digits, exponent: self.exponent + other.exponent }
    }

    /// The digits over a common power of two.
    fn aligned(&self, other: &Self) -> [BigUint; 2] {
        let low = self.exponent.min(other.exponent);
        [self, other].map(|x| &x.digits << (x.exponent - low))
    }

    fn plus(&self, other: &Self) -> Self {
        let [a, b] = self.aligned(other);
        Self { digits: a + b, exponent: self.exponent.min(other.exponent) }
    }

    fn larger(&self, other: &Self) -> Self {
        let [a, b] = self.aligned(other);
        if a >= b { self.clone() } else { other.clone() }
    }

    fn is_zero(&self) -> bool {
        self.digits == BigUint::ZERO
    }

    /// Whether `probability` is this over `total`, up to a relative error of 1e-12, or, where no normal
    /// f64 holds it, up to two steps between subnormal ones.
    fn is_probability(&self, probability: f64, total: &Self) -> bool {
        if self.is_zero() {
            return probability == 0.0;
        }
        let got = Self::of(probability).times(total);
        let [got, wanted] = got.aligned(self);
        let error = if got >= wanted { &got - &wanted } else { &wanted - &got };
        let low = (Self::of(probability).exponent + total.exponent).min(self.exponent);
        let error = Self { digits: error * TOLERANCE_INVERSE, exponent: low };
        let steps = total.times(&Self::of(1e-323));
        let steps = Self { digits: steps.digits * TOLERANCE_INVERSE, ..steps };
        let [error, bound] = error.aligned(&self.plus(&steps));
        error <= bound
    }
}

type Add = Box<dyn Fn(&mut FactorGraphBuilder, &[u64])>;

/// A factor over a shared variable and others of its own.
struct Factor {
    /// Cardinalities; the shared variable is the first.
    cardinalities: Vec<usize>,
    /// The value of each joint state, the first variable fastest.
    values: Vec<Exact>,
    add: Add,
}

const KINDS: [&str; 12] = [
    "table of one",
    "table of two",
    "table of states",
    "singleton",
    "AND",
    "OR",
    "AND, shared in its body",
    "signed",
    "signed, shared in its body",
    "noisy",
    "terms",
    "terms of states",
];

fn weight(choices: &mut Choices<'_>) -> f64 {
    WEIGHTS[choices.below(WEIGHTS.len())]
}

fn weights(choices: &mut Choices<'_>, count: usize) -> Vec<f64> {
    (0..count).map(|_| weight(choices)).collect()
}

/// A parameter that is a probability, or the complement of one.
fn probability(choices: &mut Choices<'_>) -> f64 {
    let p = WEIGHTS[choices.below(6)];
    if choices.below(4) == 0 { 1.0 - p } else { p }
}

/// All joint states of variables, the first fastest.
fn joint_states(cardinalities: &[usize]) -> Vec<Vec<usize>> {
    (0..cardinalities.iter().product())
        .map(|mut index: usize| {
            let digit = |&r: &usize| {
                let state = index % r;
                index /= r;
                state
            };
            cardinalities.iter().map(digit).collect()
        })
        .collect()
}

impl Factor {
    /// A factor of a kind; the shared variable has `states` states, more than two for tables and terms
    /// only.
    fn random(kind: &str, states: usize, choices: &mut Choices<'_>) -> Self {
        match kind {
            "table of one" => Self::table(&[states], choices),
            "table of two" => Self::table(&[states, 2], choices),
            "table of states" => Self::table(&[states, 3], choices),
            "singleton" => {
                let p = probability(choices);
                let value =
                    move |states: &[usize]| Exact::of(if states[0] == 1 { p } else { 1.0 - p });
                Self::new(&[2], value, move |builder, scope| builder.add_singleton(scope[0], p))
            }
            "AND" | "OR" | "AND, shared in its body" => {
                let (p, q) = (probability(choices), probability(choices));
                let (or, head) = (kind == "OR", usize::from(kind == "AND, shared in its body"));
                let value = move |states: &[usize]| {
                    let all = (states[1 - head] == 1) != or;
                    let p = if all { p } else { q };
                    Exact::of(if (states[head] == 1) != or { p } else { 1.0 - p })
                };
                Self::new(&[2, 2], value, move |builder, scope| {
                    let (head, body) = (scope[head], [scope[1 - head]]);
                    if or {
                        builder.add_or(head, &body, p, q)
                    } else {
                        builder.add_and(head, &body, p, q)
                    }
                })
            }
            "signed" | "signed, shared in its body" => {
                let values: [f64; 4] = std::array::from_fn(|_| weight(choices));
                let (negated, head) = (choices.flag(), usize::from(kind != "signed"));
                let value = move |states: &[usize]| {
                    let holds = (states[1 - head] == 1) != negated;
                    Exact::of(values[usize::from(!holds) * 2 + usize::from(states[head] == 0)])
                };
                Self::new(&[2, 2], value, move |builder, scope| {
                    builder.add_signed(scope[head], &[scope[1 - head]], &[negated], values)
                })
            }
            "noisy" => {
                let values: [f64; 4] = std::array::from_fn(|_| weight(choices));
                let literals: [[[f64; 2]; 2]; 2] = std::array::from_fn(|_| {
                    std::array::from_fn(|_| {
                        let p = probability(choices);
                        [p, 1.0 - p]
                    })
                });
                let value = move |states: &[usize]| {
                    let [[a, not_a], [b, not_b]] =
                        [0, 1].map(|i| literals[i][states[i + 1]].map(Exact::of));
                    let holds = a.times(&b);
                    let fails = not_a.plus(&a.times(&not_b));
                    let at = usize::from(states[0] == 0);
                    let holds = holds.times(&Exact::of(values[at]));
                    holds.plus(&fails.times(&Exact::of(values[2 + at])))
                };
                Self::new(&[2, 2, 2], value, move |builder, scope| {
                    builder.add_noisy(scope[0], &scope[1..], &literals, values)
                })
            }
            "terms" => Self::terms(&[states, 2], choices),
            "terms of states" => Self::terms(&[states, 3], choices),
            other => panic!("no kind '{other}'"),
        }
    }

    fn new(
        cardinalities: &[usize],
        value: impl Fn(&[usize]) -> Exact,
        add: impl Fn(&mut FactorGraphBuilder, &[u64]) -> fastlbp::Result<()> + 'static,
    ) -> Self {
        Self {
            cardinalities: cardinalities.to_vec(),
            values: joint_states(cardinalities).iter().map(|states| value(states)).collect(),
            add: Box::new(move |builder, scope| add(builder, scope).unwrap()),
        }
    }

    fn table(cardinalities: &[usize], choices: &mut Choices<'_>) -> Self {
        let values = weights(choices, cardinalities.iter().product());
        let exact = values.iter().map(|&value| Exact::of(value)).collect();
        let add = move |builder: &mut FactorGraphBuilder, scope: &[u64]| {
            builder.add_table(scope, &values).unwrap();
        };
        Self { cardinalities: cardinalities.to_vec(), values: exact, add: Box::new(add) }
    }

    /// Overlapping terms, one of which holds everywhere.
    fn terms(cardinalities: &[usize], choices: &mut Choices<'_>) -> Self {
        let weights = weights(choices, 4);
        let mut indicators = vec![WILDCARD; 4 * cardinalities.len()];
        for row in indicators.chunks_mut(cardinalities.len()).skip(1) {
            for (wanted, &r) in row.iter_mut().zip(cardinalities) {
                *wanted = choices.below(r + 1) as i32 - 1;
            }
        }
        let (rows, values) = (indicators.clone(), weights.clone());
        let arity = cardinalities.len();
        let value = move |states: &[usize]| {
            let holds = |row: &[i32]| {
                row.iter().zip(states).all(|(&w, &state)| w == WILDCARD || w == state as i32)
            };
            let held = rows.chunks(arity).zip(&values).filter(|(row, _)| holds(row));
            held.fold(Exact::zero(), |sum, (_, &value)| sum.plus(&Exact::of(value)))
        };
        Self::new(cardinalities, value, move |builder, scope| {
            builder.add_terms(scope, &weights, &indicators)
        })
    }
}

/// Two factors and the tables of the variables that only one of them has.
struct Case {
    graph: Arc<FactorGraph>,
    cardinalities: Vec<usize>,
    /// Variables and values of all factors.
    factors: Vec<(Vec<usize>, Vec<Exact>)>,
}

impl Case {
    fn new(pair: [&str; 2], choices: &mut Choices<'_>) -> Self {
        let of_states = |kind: &str| kind.starts_with("ta") || kind.starts_with("te");
        let states = if pair.iter().all(|kind| of_states(kind)) { 2 + choices.below(2) } else { 2 };
        let mut builder = FactorGraphBuilder::new();
        let mut cardinalities = vec![states];
        let mut factors = Vec::new();
        let mut own = Vec::new();
        for kind in pair {
            let factor = Factor::random(kind, states, choices);
            let mut scope = vec![0];
            for &r in &factor.cardinalities[1..] {
                scope.push(cardinalities.len());
                cardinalities.push(r);
                own.push((cardinalities.len() - 1, weights(choices, r)));
            }
            let labels: Vec<u64> = scope.iter().map(|&v| v as u64).collect();
            (factor.add)(&mut builder, &labels);
            factors.push((scope, factor.values));
        }
        // Some of them have none.
        for (v, values) in own {
            if choices.below(3) > 0 {
                builder.add_table(&[v as u64], &values).unwrap();
                factors.push((vec![v], values.iter().map(|&value| Exact::of(value)).collect()));
            }
        }
        for (v, &r) in cardinalities.iter().enumerate() {
            builder.add_variable(v as u64, r).unwrap();
        }
        Self { graph: Arc::new(builder.build().unwrap()), cardinalities, factors }
    }

    /// The entry of a joint state among the values of a factor.
    fn entry(&self, scope: &[usize], states: &[usize]) -> usize {
        scope.iter().rev().fold(0, |index, &v| index * self.cardinalities[v] + states[v])
    }

    /// The product of all factors at a joint state.
    fn product(&self, states: &[usize]) -> Exact {
        self.factors.iter().fold(Exact::of(1.0), |product, (scope, values)| {
            product.times(&values[self.entry(scope, states)])
        })
    }

    /// Sums or maxima over all joint states, for each state of each variable.
    fn exact(&self, inference: Inference) -> Vec<Vec<Exact>> {
        let mut sums: Vec<Vec<Exact>> =
            self.cardinalities.iter().map(|&r| vec![Exact::zero(); r]).collect();
        for states in joint_states(&self.cardinalities) {
            let mut product = Exact::of(1.0);
            for (scope, values) in &self.factors {
                let index =
                    scope.iter().rev().fold(0, |i, &v| i * self.cardinalities[v] + states[v]);
                product = product.times(&values[index]);
            }
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
        let request = RunRequest { inference, ..RunRequest::new(StopRule::Passes(8)) };
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
        let state = bp.save_state();
        bp.restore_state(&state).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(bp.save_state(), state, "{what}");
    }

    /// Compares the beliefs of the two factors with sums.
    fn check_beliefs(&self, bp: &BeliefPropagation, what: &str) {
        for (factor, (scope, values)) in self.factors.iter().enumerate().take(2) {
            let mut weights = vec![Exact::zero(); values.len()];
            for states in joint_states(&self.cardinalities) {
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

/// Numbers that look random, the same in each run.
fn numbers(seed: u64) -> Vec<u64> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    std::iter::repeat_with(next).take(200).collect()
}

const CASES: u64 = 60;

#[test]
fn every_pair_of_kinds_is_exact_at_the_ends_of_f64() {
    for (i, first) in KINDS.into_iter().enumerate() {
        for (j, second) in KINDS.into_iter().enumerate() {
            for case in 0..CASES {
                let seed = (i * KINDS.len() + j) as u64 * CASES + case;
                let case = Case::new([first, second], &mut Choices::new(&numbers(seed), 8));
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
            cardinalities: vec![2],
            factors: vec![factor(&values[..2]), factor(&values[2..])],
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
