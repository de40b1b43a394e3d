//! Exact inference against sums over all joint states, and where these are too many, against other algorithms.

#[path = "common/random.rs"]
mod random;

use fastlbp::exact::DEFAULT_TABLE_LIMIT;
use fastlbp::{
    BeliefPropagation, EngineOptions, Error, Evidence, ExactInference, FactorGraph,
    FactorGraphBuilder, Inference, RunRequest, Schedule, StopRule, VariableEvidence,
};
use random::{Choices, Dense, Input, Model, labels, numbers};
use std::sync::Arc;

/// All joint states of a graph, by the definitions of its factors.
struct Joint {
    cardinalities: Vec<usize>,
    weights: Vec<f64>,
}

impl Joint {
    fn new(model: &Model, evidence: &Evidence) -> Self {
        let cardinalities: Vec<usize> =
            model.graph.cardinalities().iter().map(|&r| r as usize).collect();
        let all = Dense {
            variables: (0..cardinalities.len()).collect(),
            cardinalities: cardinalities.clone(),
            values: Vec::new(),
        };
        let weight = |index: usize| {
            let states = all.states(index);
            let factors = model.factors.iter().map(|factor| {
                let place = factor.variables.iter().zip(&factor.cardinalities).rev();
                factor.values[place.fold(0, |place, (&v, &r)| place * r + states[v])]
            });
            let known = evidence.iter().map(|(v, evidence)| match evidence {
                VariableEvidence::Observed(state) => f64::from(states[v] == *state as usize),
                VariableEvidence::Likelihood(likelihood) => likelihood[states[v]],
            });
            factors.chain(known).product()
        };
        let weights = (0..cardinalities.iter().product()).map(weight).collect();
        Self { cardinalities, weights }
    }

    /// The table of some variables, the first one fastest, summed or maximised over the others, and normalised.
    fn belief(&self, variables: &[usize], join: fn(f64, f64) -> f64) -> Vec<f64> {
        let size = variables.iter().map(|&v| self.cardinalities[v]).product();
        let mut belief = vec![0.0; size];
        let all = Dense {
            variables: Vec::new(),
            cardinalities: self.cardinalities.clone(),
            values: Vec::new(),
        };
        for (index, &weight) in self.weights.iter().enumerate() {
            let states = all.states(index);
            let place = variables.iter().rev();
            let place = place.fold(0, |place, &v| place * self.cardinalities[v] + states[v]);
            belief[place] = join(belief[place], weight);
        }
        let total: f64 = belief.iter().sum();
        belief.iter().map(|weight| weight / total).collect()
    }
}

fn assert_close(actual: &[f64], expected: &[f64], what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (a, b) in actual.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-11 * b.abs().max(1e-3), "{what}: {actual:?}, not {expected:?}");
    }
}

fn random_model(choices: &mut Choices) -> Model {
    let count = 1 + choices.below(7);
    let labels = labels(choices, count);
    let cardinalities: Vec<usize> =
        (0..count).map(|_| [2, 2, 2, 3, 4, 1][choices.below(6)]).collect();
    let binary: Vec<usize> = (0..count).filter(|&v| cardinalities[v] == 2).collect();
    let factors = choices.below(2 * count + 1);
    let among = |_| Input::among(choices, &labels, &cardinalities, &binary, 1 << 10);
    let inputs: Vec<Input> = (0..factors).map(among).collect();
    Model::build(&labels, &cardinalities, &inputs)
}

fn random_evidence(choices: &mut Choices, graph: &FactorGraph) -> Evidence {
    let mut evidence = Evidence::new();
    for v in 0..graph.variable_count() {
        match choices.below(6) {
            0 => evidence.observe(graph, v, choices.below(graph.cardinality(v))).unwrap(),
            1 => {
                let likelihood = choices.weights(graph.cardinality(v));
                evidence.set_likelihood(graph, v, &likelihood).unwrap();
            }
            _ => {}
        }
    }
    evidence
}

#[test]
fn results_are_those_of_all_joint_states() {
    let (mut possible, mut impossible) = (0, 0);
    for seed in 0..600 {
        let numbers = numbers(seed, 600);
        let choices = &mut Choices::new(&numbers, 8);
        let model = random_model(choices);
        let graph = &model.graph;
        let evidence = random_evidence(choices, graph);
        let joint = Joint::new(&model, &evidence);
        let total: f64 = joint.weights.iter().sum();
        let exact = |inference| {
            ExactInference::new(graph.clone(), &evidence, inference, DEFAULT_TABLE_LIMIT)
        };
        if total == 0.0 {
            impossible += 1;
            let error = exact(Inference::SumProduct).err().unwrap();
            assert!(matches!(error, Error::Contradiction { iteration: 0, .. }), "{seed}: {error}");
            continue;
        }
        possible += 1;
        let what = format!("seed {seed}");
        let sums = exact(Inference::SumProduct).unwrap();
        assert_close(&[sums.log_partition()], &[total.ln()], &what);
        let maxima = exact(Inference::MaxProduct).unwrap();
        let best = joint.weights.iter().copied().fold(0.0, f64::max);
        assert_close(&[maxima.log_partition()], &[best.ln()], &what);
        let all: Vec<usize> = (0..graph.variable_count()).collect();
        let of_each = |join: fn(f64, f64) -> f64| -> Vec<f64> {
            all.iter().flat_map(|&v| joint.belief(&[v], join)).collect()
        };
        assert_close(sums.marginals(), &of_each(|a, b| a + b), &what);
        assert_close(maxima.marginals(), &of_each(f64::max), &what);
        for factor in 0..graph.factor_count() {
            let mut scope: Vec<usize> =
                graph.factor_variables(factor).iter().map(|&v| v as usize).collect();
            let first = choices.below(scope.len());
            scope.rotate_left(first);
            assert_close(&sums.belief(&scope).unwrap(), &joint.belief(&scope, |a, b| a + b), &what);
            assert_close(&maxima.belief(&scope).unwrap(), &joint.belief(&scope, f64::max), &what);
        }
        let states = maxima.find_maximum().unwrap();
        let index = states.iter().zip(&joint.cardinalities).rev().fold(0, |i, (&x, &r)| i * r + x);
        assert_close(&[joint.weights[index]], &[best], &what);
        assert!(sums.table_entries() >= 1 || all.iter().all(|&v| sums.belief(&[v]).is_ok()));
    }
    assert!(possible > 300 && impossible > 20, "{possible} {impossible}");
}

/// A chain of binary variables with couplings that make each agree with the one before by `odds`.
fn chain(count: u64, odds: f64) -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    builder.add_table(&[0], &[1.0, odds]).unwrap();
    for v in 1..count {
        builder.add_table(&[v - 1, v], &[odds, 1.0, 1.0, odds]).unwrap();
    }
    Arc::new(builder.build().unwrap())
}

#[test]
fn long_chains_and_high_degrees_take_linear_time() {
    let count = 50_000;
    let graph = chain(count, 3.0);
    let exact =
        ExactInference::new(graph, &Evidence::new(), Inference::SumProduct, DEFAULT_TABLE_LIMIT);
    let exact = exact.unwrap();
    assert_eq!(exact.width(), 1);
    assert_eq!(exact.table_entries(), 4 * count as usize - 2);
    let expected = count as f64 * 4.0_f64.ln();
    assert!((exact.log_partition() - expected).abs() < 1e-9 * expected);

    let mut builder = FactorGraphBuilder::new();
    for leaf in 1..=count {
        builder.add_table(&[0, leaf], &[1e-30, 1.0, 2e-30, 3.0]).unwrap();
    }
    let star = Arc::new(builder.build().unwrap());
    let exact =
        ExactInference::new(star, &Evidence::new(), Inference::SumProduct, DEFAULT_TABLE_LIMIT);
    let exact = exact.unwrap();
    assert_eq!(exact.width(), 1);
    // The probability of state 0 is 0 in any floating-point format; its logarithm would be -3.4 million.
    assert_eq!(exact.marginal(0).unwrap(), [0.0, 1.0]);
    assert_close(exact.marginal(7).unwrap(), &[0.25, 0.75], "a leaf");
}

#[test]
fn factors_far_beyond_the_range_of_numbers_are_no_matter() {
    // Two chains of evidence, each 10^-1200 against the other: only together do they say anything.
    let mut builder = FactorGraphBuilder::new();
    for _ in 0..4 {
        builder.add_table(&[0], &[1e-300, 1.0]).unwrap();
        builder.add_table(&[0], &[3.0, 1e-300]).unwrap();
    }
    let graph = Arc::new(builder.build().unwrap());
    let exact = ExactInference::new(graph, &Evidence::new(), Inference::SumProduct, 100).unwrap();
    assert_close(exact.marginals(), &[81.0 / 82.0, 1.0 / 82.0], "balanced");
    assert_close(&[exact.log_partition()], &[82.0_f64.ln() - 1200.0 * 10.0_f64.ln()], "partition");
}

fn grid(side: u64, numbers: &[u64]) -> (Arc<FactorGraph>, Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let value = |number: u64| 0.1 + (number % 1000) as f64 / 500.0;
    let mut numbers = numbers.iter().copied().map(value);
    let (mut fields, mut couplings) = (Vec::new(), Vec::new());
    let mut builder = FactorGraphBuilder::new();
    for v in 0..side * side {
        fields.push((0..2).map(|_| numbers.next().unwrap()).collect::<Vec<f64>>());
        builder.add_table(&[v], fields.last().unwrap()).unwrap();
        for (there, neighbour) in [(v % side + 1 < side, v + 1), (v + side < side * side, v + side)]
        {
            couplings.push((0..4).map(|_| numbers.next().unwrap()).collect::<Vec<f64>>());
            if there {
                builder.add_table(&[v, neighbour], couplings.last().unwrap()).unwrap();
            }
        }
    }
    (Arc::new(builder.build().unwrap()), fields, couplings)
}

/// The partition function of a grid, variable by variable with a vector over the states of the last row.
fn partition_of_grid(side: usize, fields: &[Vec<f64>], couplings: &[Vec<f64>]) -> f64 {
    let mut vector = vec![1.0; 1 << side];
    for v in 0..side * side {
        let (x, y) = (v % side, v / side);
        let mut next = vec![0.0; 1 << side];
        for (index, &weight) in vector.iter().enumerate() {
            for state in 0..2 {
                let after = index & !(1 << x) | state << x;
                let above = if y > 0 {
                    couplings[2 * (v - side) + 1][(index >> x & 1) + 2 * state]
                } else {
                    1.0
                };
                let left = if x > 0 {
                    couplings[2 * (v - 1)][(index >> (x - 1) & 1) + 2 * state]
                } else {
                    1.0
                };
                // In the first row, the state that is replaced is none.
                if y > 0 || index >> x & 1 == 0 {
                    next[after] += weight * fields[v][state] * above * left;
                }
            }
        }
        if y == 0 && x == 0 {
            // The vector began with all states of the row: only that of zeros stands for nothing yet.
            next = vec![0.0; 1 << side];
            next[0] = fields[0][0];
            next[1] = fields[0][1];
        }
        vector = next;
    }
    vector.iter().sum()
}

#[test]
fn grids_have_the_partition_function_of_the_transfer_matrix() {
    for side in [2, 5, 9] {
        let (graph, fields, couplings) = grid(side, &numbers(side, 2000));
        let exact = ExactInference::new(
            graph,
            &Evidence::new(),
            Inference::SumProduct,
            DEFAULT_TABLE_LIMIT,
        );
        let exact = exact.unwrap();
        let expected = partition_of_grid(side as usize, &fields, &couplings).ln();
        assert_close(&[exact.log_partition()], &[expected], "grid");
        // A grid has the treewidth of its side.
        assert!((side as usize..=side as usize + 3).contains(&exact.width()), "{}", exact.width());
    }
}

#[test]
fn trees_have_the_marginals_of_belief_propagation() {
    let numbers = numbers(3, 4000);
    let choices = &mut Choices::new(&numbers, 50);
    let mut builder = FactorGraphBuilder::new();
    for v in 1..300_u64 {
        let parent = choices.below(v as usize) as u64;
        let values: [f64; 4] = std::array::from_fn(|_| 0.1 + choices.share());
        builder.add_table(&[parent, v], &values).unwrap();
    }
    let graph = Arc::new(builder.build().unwrap());
    let mut evidence = Evidence::new();
    evidence.observe(&graph, 17, 1).unwrap();
    evidence.set_likelihood(&graph, 40, &[0.2, 0.7]).unwrap();
    let mut bp =
        BeliefPropagation::new(graph.clone(), Schedule::Tree, EngineOptions::default()).unwrap();
    bp.set_evidence(&evidence).unwrap();
    for inference in [Inference::SumProduct, Inference::MaxProduct] {
        let rule = StopRule::Tolerance { tolerance: 1e-14, max_iterations: 10 };
        bp.run(&RunRequest { inference, ..RunRequest::new(rule) }).unwrap();
        let exact = ExactInference::new(graph.clone(), &evidence, inference, 10_000).unwrap();
        assert_close(exact.marginals(), bp.marginals().unwrap(), "marginals");
        if inference == Inference::SumProduct {
            assert_close(&[exact.log_partition()], &[bp.log_partition().unwrap()], "partition");
        } else {
            assert_eq!(exact.find_maximum().unwrap(), bp.find_maximum().unwrap());
        }
    }
}

#[test]
fn what_is_too_large_is_an_error_that_says_so() {
    let too_large = |graph: Arc<FactorGraph>, evidence: &Evidence, limit, text: &str| {
        let error =
            ExactInference::new(graph, evidence, Inference::SumProduct, limit).err().unwrap();
        assert!(matches!(error, Error::LimitExceeded(_)), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    let none = Evidence::new();
    let (large, ..) = grid(40, &numbers(1, 20_000));
    too_large(
        large.clone(),
        &none,
        DEFAULT_TABLE_LIMIT,
        "may have 16777216 entries: the treewidth",
    );
    // One factor is too much.
    let mut builder = FactorGraphBuilder::new();
    let body: Vec<u64> = (1..2000).collect();
    builder.add_and(0, &body, 0.9, 0.1).unwrap();
    let wide = Arc::new(builder.build().unwrap());
    too_large(
        wide.clone(),
        &none,
        DEFAULT_TABLE_LIMIT,
        "2^64 entries or more, one of them over 2000 variables",
    );
    // Observed, it is not.
    let mut evidence = Evidence::new();
    for v in 3..2000 {
        evidence.observe(&wide, v, 1).unwrap();
    }
    let exact = ExactInference::new(wide, &evidence, Inference::SumProduct, 1000).unwrap();
    assert_eq!(exact.width(), 2);
    // All are joined with all, pair by pair.
    let mut builder = FactorGraphBuilder::new();
    for v in 0..60_u64 {
        (0..v).for_each(|w| builder.add_table(&[v, w], &[1.0, 2.0, 3.0, 4.0]).unwrap());
    }
    let joined = Arc::new(builder.build().unwrap());
    too_large(joined, &none, DEFAULT_TABLE_LIMIT, "one of them over 60 variables");
    too_large(chain(100, 2.0), &none, 396, "tables of 398 entries or more");
    ExactInference::new(chain(100, 2.0), &none, Inference::SumProduct, 398).unwrap();
}

#[test]
fn questions_that_have_no_answer_are_errors() {
    let graph = chain(4, 2.0);
    let mut evidence = Evidence::new();
    evidence.observe(&graph, 3, 1).unwrap();
    let exact = ExactInference::new(graph.clone(), &evidence, Inference::SumProduct, 1000).unwrap();
    let text = |result: fastlbp::Result<Vec<f64>>| result.unwrap_err().to_string();
    assert!(text(exact.belief(&[0, 2])).contains("no clique of the junction tree contains all"));
    assert!(text(exact.belief(&[1, 1])).contains("asked for twice"));
    assert!(text(exact.belief(&[4])).contains("variable index 4"));
    assert!(exact.find_maximum().unwrap_err().to_string().contains("max-product"));
    // Observed variables are in all cliques, so to say.
    assert_close(&exact.belief(&[3, 0]).unwrap()[..1], &[0.0], "observed");
    assert_eq!(exact.belief(&[]).unwrap(), [1.0]);
    assert!(exact.marginal(4).is_err() && exact.probability(4).is_err());
    assert_eq!(exact.probability(3).unwrap(), 1.0);
    assert_eq!(exact.graph().variable_count(), 4);

    let mut builder = FactorGraphBuilder::new();
    builder.add_and(5, &[3], 1.0, 0.0).unwrap();
    builder.add_prior(3, 0.0).unwrap();
    let graph = Arc::new(builder.build().unwrap());
    let mut evidence = Evidence::new();
    evidence.observe(&graph, 1, 1).unwrap();
    let new =
        |evidence: &_| ExactInference::new(graph.clone(), evidence, Inference::SumProduct, 1000);
    let error = new(&evidence).err().unwrap();
    assert!(error.to_string().contains("contradiction at variable 3: the factors and"), "{error}");
    evidence.observe(&graph, 0, 0).unwrap();
    let error = new(&evidence).err().unwrap();
    assert!(matches!(error, Error::Contradiction { factor: Some(0), .. }), "{error}");
    let empty = Arc::new(FactorGraphBuilder::new().build().unwrap());
    let exact = ExactInference::new(empty, &Evidence::new(), Inference::MaxProduct, 0).unwrap();
    assert_eq!((exact.log_partition(), exact.width()), (0.0, 0));
    assert_eq!(exact.find_maximum().unwrap(), [0; 0]);
}
