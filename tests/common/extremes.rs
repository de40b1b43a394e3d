//! Factors with values at the ends of the range of f64, and their exact values: an f64 is an integer times a power of
//! two, so that integers represent them without rounding.

use super::random::Choices;
use fastlbp::FactorGraphBuilder;
use fastlbp::model::WILDCARD;
use num_bigint::BigUint;

/// Parameters of factors: the smallest and the largest positive f64, subnormal ones among them.
pub const WEIGHTS: [f64; 9] =
    [5e-324, 1e-310, f64::MIN_POSITIVE, 1e-300, 1e-150, 1.0, 1e150, 1e300, f64::MAX];

/// The inverse of the largest relative error of a probability.
const TOLERANCE_INVERSE: u64 = 1_000_000_000_000;

/// A non-negative number `digits * 2^exponent`.
#[derive(Clone, Debug)]
pub struct Exact {
    digits: BigUint,
    exponent: i64,
}

impl Exact {
    pub fn zero() -> Self {
        Self { digits: BigUint::ZERO, exponent: 0 }
    }

    pub fn of(value: f64) -> Self {
        assert!(value >= 0.0 && value.is_finite());
        let (biased, fraction) =
            ((value.to_bits() >> 52) as i64, value.to_bits() & ((1 << 52) - 1));
        let digits = if biased == 0 { fraction } else { fraction | 1 << 52 };
        Self { digits: digits.into(), exponent: biased.max(1) - 1075 }
    }

    pub fn times(&self, other: &Self) -> Self {
        Self { digits: &self.digits * &other.digits, exponent: self.exponent + other.exponent }
    }

    /// The digits over a common power of two.
    fn aligned(&self, other: &Self) -> [BigUint; 2] {
        let low = self.exponent.min(other.exponent);
        [self, other].map(|x| &x.digits << (x.exponent - low))
    }

    pub fn plus(&self, other: &Self) -> Self {
        let [a, b] = self.aligned(other);
        Self { digits: a + b, exponent: self.exponent.min(other.exponent) }
    }

    pub fn larger(&self, other: &Self) -> Self {
        let [a, b] = self.aligned(other);
        if a >= b { self.clone() } else { other.clone() }
    }

    pub fn is_zero(&self) -> bool {
        self.digits == BigUint::ZERO
    }

    /// Whether `probability` is this over `total`, up to a relative error of 1e-12, or, where no normal
    /// f64 holds it, up to two steps between subnormal ones.
    pub fn is_probability(&self, probability: f64, total: &Self) -> bool {
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

pub const KINDS: [&str; 12] = [
    "table of one",
    "table of two",
    "table of states",
    "prior",
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
pub fn joint_states(cardinalities: &[usize]) -> Vec<Vec<usize>> {
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
            "prior" => {
                let p = probability(choices);
                let value =
                    move |states: &[usize]| Exact::of(if states[0] == 1 { p } else { 1.0 - p });
                Self::new(&[2], value, move |builder, scope| builder.add_prior(scope[0], p))
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
        cardinalities: &[usize], value: impl Fn(&[usize]) -> Exact,
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

/// Two factors that share a variable, and tables of variables that only one of them has.
pub struct PairOfFactors {
    /// Of the variables, the shared one first.
    pub cardinalities: Vec<usize>,
    /// Variables and values of all factors, the two first.
    pub factors: Vec<(Vec<usize>, Vec<Exact>)>,
}

impl PairOfFactors {
    /// Adds a random pair of these kinds; the labels of its variables begin with a number.
    pub fn add(
        builder: &mut FactorGraphBuilder, first_label: u64, pair: [&str; 2],
        choices: &mut Choices<'_>,
    ) -> Self {
        let label = |v: usize| first_label + v as u64;
        let of_states = |kind: &str| kind.starts_with("ta") || kind.starts_with("te");
        let states = if pair.iter().all(|kind| of_states(kind)) { 2 + choices.below(2) } else { 2 };
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
            let labels: Vec<u64> = scope.iter().map(|&v| label(v)).collect();
            (factor.add)(builder, &labels);
            factors.push((scope, factor.values));
        }
        // Some of them have none.
        for (v, values) in own {
            if choices.below(3) > 0 {
                builder.add_table(&[label(v)], &values).unwrap();
                factors.push((vec![v], values.iter().map(|&value| Exact::of(value)).collect()));
            }
        }
        for (v, &r) in cardinalities.iter().enumerate() {
            builder.add_variable(label(v), r).unwrap();
        }
        Self { cardinalities, factors }
    }
}
