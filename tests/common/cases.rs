//! Random graphs, evidence, schedules and requests for comparing backends, each determined by a size and a seed.

pub use crate::random::numbers;
use crate::random::{Choices, Definition, Input, labels};
use fastlbp::schedule::Preorder;
use fastlbp::{
    BeliefPropagation, Contradiction, FactorGraph, FactorGraphBuilder, Inference, RunRequest,
    Schedule, StopRule, VariableEvidence,
};
use std::sync::Arc;

/// Most entries of a factor as a table.
const ENTRIES: usize = 625;

/// A probability that is hard on arithmetic now and then, and certain as often as the graph has it.
fn probability(choices: &mut Choices) -> f64 {
    match choices.below(8) {
        0 => [1e-300, 1e-40, 1e-17, 1.0 - f64::EPSILON / 2.0, 0.5, 0.999][choices.below(6)],
        _ => choices.probability(),
    }
}

/// Two of them, not both 0.
fn pair(choices: &mut Choices) -> [f64; 2] {
    let pair = [probability(choices), probability(choices)];
    if pair == [0.0, 0.0] { [1.0, 0.0] } else { pair }
}

/// A conjunction of binary variables: an AND, an OR, a prior, or one with signs.
fn conjunction(choices: &mut Choices, scope: Vec<u64>) -> Input {
    let body = scope.len() - 1;
    let [p, q] = [probability(choices), probability(choices)];
    let mut negated = |count: usize| (0..count).map(|_| choices.flag()).collect::<Vec<_>>();
    let signs = negated(body + 1);
    let definition = match choices.below(8) {
        0..3 if body == 0 => Definition::Prior { p },
        0..3 => Definition::And { p, q },
        3 | 4 => Definition::Or { p, q },
        5 => {
            let [[a, b], [c, d]] = [pair(choices), pair(choices)];
            Definition::Signed { negated: signs[1..].to_vec(), values: [a, 2.5 * b, 3.0 * c, d] }
        }
        6 if choices.flag() => {
            Definition::SignedAnd { negated: signs[1..].to_vec(), p, q: 0.25 + 0.5 * q }
        }
        6 => Definition::SignedOr { negated: signs[1..].to_vec(), p, q: 0.25 + 0.5 * q },
        _ => Definition::Clause { negated: signs, satisfied: 1.5, violated: p },
    };
    Input { scope, definition }
}

/// Different variables, at most `count` of them.
fn choose_scope(choices: &mut Choices, among: &[u64], count: usize) -> Vec<u64> {
    let mut scope: Vec<u64> = Vec::new();
    for _ in 0..count {
        let label = among[choices.below(among.len())];
        if !scope.contains(&label) {
            scope.push(label);
        }
    }
    scope
}

/// Gives a variable very many factors: 9 to 300, at times more than 1000.
fn add_high_degree(choices: &mut Choices, size: usize, among: &[u64], inputs: &mut Vec<Input>) {
    let high_degree = among[choices.below(among.len())];
    let degree = match choices.below(4) {
        0 if size > 30 => 1001 + choices.below(500),
        _ => 9 + choices.below(292),
    };
    for _ in 0..degree {
        let count = choices.below(3);
        let mut scope = choose_scope(choices, among, count);
        scope.retain(|&label| label != high_degree);
        scope.insert(choices.below(scope.len() + 1), high_degree);
        inputs.push(conjunction(choices, scope));
    }
}

/// Adds factors of many variables, high-degree variables, and factors that are there already.
fn add_special(choices: &mut Choices, size: usize, among: &[u64], inputs: &mut Vec<Input>) {
    if size > 10 && choices.below(4) == 0 {
        add_high_degree(choices, size, among, inputs);
    }
    if size > 5 && choices.below(3) == 0 {
        for _ in 0..1 + choices.below(3) {
            let most = if size > 30 && choices.below(8) == 0 { 1300 } else { 40 };
            let count = 7 + choices.below(most - 6);
            let scope = choose_scope(choices, among, count);
            inputs.push(conjunction(choices, scope));
        }
    }
    if choices.below(3) == 0 {
        for _ in 0..1 + choices.below(size + 1) {
            inputs.push(inputs[choices.below(inputs.len())].clone());
        }
    }
}

fn build(labels: &[u64], cardinalities: &[usize], inputs: &[Input]) -> Arc<FactorGraph> {
    let mut builder = FactorGraphBuilder::new();
    builder.add_variables(labels, cardinalities).unwrap();
    for input in inputs {
        input.add_to(&mut builder).unwrap_or_else(|error| panic!("{input:?}: {error}"));
    }
    Arc::new(builder.build().unwrap())
}

fn variable_count(choices: &mut Choices, size: usize) -> usize {
    match choices.below(12) {
        0 if size > 20 => 1100 + choices.below(400),
        1 if size > 10 => 60 + choices.below(200),
        _ => 2 + choices.below(2 + size),
    }
}

/// A graph of binary variables with conjunctions only. Most have loops.
pub fn binary_graph(choices: &mut Choices, size: usize) -> Arc<FactorGraph> {
    let count = variable_count(choices, size);
    let labels = labels(choices, count);
    let mut inputs = Vec::new();
    for _ in 0..1 + count / 2 + choices.below(2 * count) {
        let count = 1 + choices.below(5);
        let scope = choose_scope(choices, &labels, count);
        inputs.push(conjunction(choices, scope));
    }
    add_special(choices, size, &labels, &mut inputs);
    build(&labels, &vec![2; count], &inputs)
}

/// Whether a literal of a body holds where its variable is in state 1.
fn holds_at_one(definition: &Definition, literal: usize) -> bool {
    match definition {
        Definition::Or { .. } => false,
        Definition::Signed { negated, .. } | Definition::SignedAnd { negated, .. } => {
            !negated[literal]
        }
        Definition::SignedOr { negated, .. } => negated[literal],
        Definition::Clause { negated, .. } => negated[literal + 1],
        _ => true,
    }
}

/// A graph of so many binary variables, no multiple of 7, of small conjunctions and one of each of these numbers of variables; one of
/// the last one's variables is in so many more. Literals of the large ones most likely hold, but for deterministic messages: where one
/// most likely fails, messages depend on nothing else.
pub fn graph_with_large_factors(
    choices: &mut Choices, count: usize, arities: &[usize], degree: usize,
) -> Arc<FactorGraph> {
    let labels = labels(choices, count);
    let mut inputs = Vec::new();
    // Some variables have large factors only.
    let (others, alone) = labels.split_at(count - 4);
    for _ in 0..count + count / 2 {
        let count = 1 + choices.below(4);
        let scope = choose_scope(choices, others, count);
        inputs.push(conjunction(choices, scope));
    }
    let mut last = labels[0];
    for &arity in arities {
        let first = choices.below(count);
        last = labels[(first + 7 * (arity / 2)) % count];
        let scope: Vec<u64> = (0..arity).map(|i| labels[(first + 7 * i) % count]).collect();
        let large = conjunction(choices, scope);
        let literals = large.scope[1..].iter().enumerate();
        for (literal, &label) in literals.filter(|(_, label)| !alone.contains(label)) {
            let fails = (1 + choices.below(1000)) as f64 * 1e-12;
            let p = if holds_at_one(&large.definition, literal) { 1.0 - fails } else { fails };
            inputs.push(Input { scope: vec![label], definition: Definition::Prior { p } });
        }
        inputs.push(large);
    }
    let others: Vec<u64> = others.iter().copied().filter(|&label| label != last).collect();
    for _ in 0..degree {
        let scope = vec![last, others[choices.below(others.len())]];
        inputs.push(conjunction(choices, scope));
    }
    build(&labels, &vec![2; count], &inputs)
}

/// A graph of binary variables and factors of every kind, one of so many on average no conjunction.
pub fn binary_graph_of_all_kinds(
    choices: &mut Choices, size: usize, one_of: usize,
) -> Arc<FactorGraph> {
    let count = variable_count(choices, size);
    let labels = labels(choices, count);
    let binary: Vec<usize> = (0..count).collect();
    let mut inputs = Vec::new();
    for _ in 0..1 + count + choices.below(2 * count) {
        if choices.below(one_of) == 0 {
            inputs.push(Input::among(choices, &labels, &vec![2; count], &binary, ENTRIES));
        } else {
            let count = 1 + choices.below(5);
            let scope = choose_scope(choices, &labels, count);
            inputs.push(conjunction(choices, scope));
        }
    }
    add_special(choices, size, &labels, &mut inputs);
    build(&labels, &vec![2; count], &inputs)
}

/// A graph of so many binary variables, and of factors of several kinds of which one of so many may be no conjunction; among these a
/// table of nine variables and a noisy OR of nine, or, where there are only such factors, of 32. One variable is in so many more.
pub fn graph_of_other_kinds(
    choices: &mut Choices, count: usize, one_of: usize, degree: usize,
) -> Arc<FactorGraph> {
    let labels = labels(choices, count);
    let mut inputs = Vec::new();
    for number in 0..count + count / 2 + degree {
        let size = 1 + choices.below(4);
        let mut scope = choose_scope(choices, &labels[1..], size);
        if number < degree {
            scope.truncate(1);
            scope.insert(choices.below(2), labels[0]);
        }
        inputs.push(match choices.below(one_of) {
            // Of one variable, maxima of most kinds have other bits.
            0 if scope.len() == 1 => {
                Input { scope, definition: Definition::Table { values: choices.weights(2) } }
            }
            0 => Input::random(choices, &scope, &vec![2; scope.len()]),
            _ => conjunction(choices, scope),
        });
    }
    let table = Definition::Table { values: choices.weights(512) };
    inputs.push(Input { scope: labels[..9].to_vec(), definition: table });
    // Maxima take it as a table, so only without it warps do all.
    let body = if one_of == 1 { 31 } else { 8 };
    let links = (0..body).map(|_| choices.share()).collect();
    let scope = labels[count - 1 - body..].to_vec();
    inputs.push(Input { scope, definition: Definition::NoisyOr { links, leak: 0.125 } });
    build(&labels, &vec![2; count], &inputs)
}

/// A graph of variables with 2 to 5 states and factors of every kind.
pub fn mixed_graph(choices: &mut Choices, size: usize) -> Arc<FactorGraph> {
    let count = variable_count(choices, size).min(120);
    let labels = labels(choices, count);
    let cardinalities: Vec<usize> =
        (0..count).map(|_| 2 + choices.below(7).saturating_sub(3)).collect();
    let binary: Vec<usize> = (0..count).filter(|&v| cardinalities[v] == 2).collect();
    let mut inputs = Vec::new();
    for _ in 0..1 + count / 2 + choices.below(2 * count) {
        inputs.push(Input::among(choices, &labels, &cardinalities, &binary, ENTRIES));
    }
    let binary: Vec<u64> = binary.iter().map(|&variable| labels[variable]).collect();
    if !binary.is_empty() {
        add_special(choices, size, &binary, &mut inputs);
    }
    build(&labels, &cardinalities, &inputs)
}

/// A tree with factors of one variable that send other messages by maxima than by sums, which add up two terms of one
/// state; and a variable with so many states.
pub fn tree_of_terms(states: usize) -> Arc<FactorGraph> {
    let weights = [1.5945506416861812, 1.7774373471289422, 0.9543803607373145, 2.0];
    let mut builder = FactorGraphBuilder::new();
    builder.add_variable(4, states).unwrap();
    for v in 1..=4 {
        builder.add_terms(&[v], &weights, &[-1, 1, 0, 1]).unwrap();
    }
    builder.add_and(3, &[1, 2], 0.9, 0.2).unwrap();
    let entries: Vec<f64> = (0..2 * states).map(|i| 0.3 + (i * 7 % 5) as f64).collect();
    builder.add_table(&[3, 4], &entries).unwrap();
    Arc::new(builder.build().unwrap())
}

/// All schedules; the custom one is of ranks with ties. SEQMAX, last, only where its messages are cheap:
/// each one changes what those of all neighbours would be.
pub fn schedules(choices: &mut Choices, graph: &FactorGraph) -> Vec<Schedule> {
    let seed = choices.number();
    // Few ranks for many ties, or many.
    let bound = match choices.below(3) {
        0 => 2 * graph.edge_count() + 1,
        _ => 2 + choices.below(30),
    };
    let mixed = numbers(seed, graph.edge_count());
    let ranks: Vec<u64> = mixed.iter().map(|number| number % bound as u64).collect();
    let mut schedules = vec![
        Schedule::Parallel,
        Schedule::SequentialFixed,
        Schedule::SequentialRandom { seed },
        Schedule::Topological,
        Schedule::ForwardBackward,
        Schedule::Tree,
        Schedule::Blocks { blocks: 1 + choices.below(9) as u32, seed },
        Schedule::Custom(Arc::new(Preorder::from_ranks(graph, &ranks).unwrap())),
    ];
    let log_domain = choices.flag();
    let small = (0..graph.variable_count()).all(|variable| graph.degree(variable) <= 50)
        && (0..graph.factor_count()).all(|factor| graph.arity(factor) <= 20);
    if small {
        schedules.push(Schedule::MaximumResidual { log_domain });
    }
    schedules
}

pub fn random_schedule(choices: &mut Choices, graph: &FactorGraph) -> Schedule {
    let mut schedules = schedules(choices, graph);
    schedules.swap_remove(choices.below(schedules.len()))
}

/// Sums or maxima, damping or an active set, and the policy at contradictions, with some rule. Fresh.
pub fn random_request(choices: &mut Choices, rule: StopRule) -> RunRequest {
    let (damping, active_threshold) = [
        (0.0, None),
        (0.0, None),
        (0.0, None),
        (0.3, None),
        (0.5, None),
        (0.0, Some(0.0)),
        (0.0, Some(1e-6)),
        (0.0, Some(0.1)),
        (0.0, Some(3.0)),
    ][choices.below(9)];
    RunRequest {
        inference: match choices.below(3) {
            0 => Inference::MaxProduct,
            _ => Inference::SumProduct,
        },
        damping,
        active_threshold,
        observe: choices.below(4) == 0,
        contradiction: match choices.flag() {
            true => Contradiction::Vote,
            false => Contradiction::Error,
        },
        ..RunRequest::new(rule)
    }
}

/// A rule that looks at changes. `most` bounds the number of iterations.
pub fn random_rule(choices: &mut Choices, graph: &FactorGraph, most: u64) -> StopRule {
    let tolerance = [0.0, 1e-12, 1e-6, 1e-2, 0.3][choices.below(5)];
    let max_iterations = choices.below(most as usize + 1) as u64;
    // It makes a table of each factor; some are too large for one, which is an error.
    let sizes = (0..graph.factor_count()).map(|factor| graph.joint_states(factor));
    let refused = |size: Option<usize>| size.is_none_or(|size| size > 1 << 20);
    let [largest, any_refused] = [
        sizes.clone().flatten().all(|size| size <= 4096),
        sizes.clone().any(refused) && choices.below(8) == 0,
    ];
    match choices.below(6) {
        0 | 1 if largest && !sizes.clone().any(refused) || any_refused => {
            StopRule::AllBeliefs { tolerance, max_iterations }
        }
        2..=4 => {
            let min_iterations = choices.below(max_iterations as usize + 1) as u64;
            let history = 1 + choices.below(6) as u64;
            StopRule::Bingo { tolerance, min_iterations, max_iterations, history }
        }
        _ => StopRule::Tolerance { tolerance, max_iterations },
    }
}

/// Changes of evidence: what a few variables get, or that they lose what they had.
pub fn random_changes(
    choices: &mut Choices, graph: &FactorGraph,
) -> Vec<(usize, Option<VariableEvidence>)> {
    let changes = (0..choices.below(5)).map(|_| {
        let variable = choices.below(graph.variable_count());
        let cardinality = graph.cardinality(variable);
        let evidence = match choices.below(5) {
            0 => None,
            1 | 2 => Some(VariableEvidence::Likelihood(choices.weights(cardinality))),
            _ => Some(VariableEvidence::Observed(choices.below(cardinality) as u32)),
        };
        (variable, evidence)
    });
    changes.collect()
}

pub fn change_evidence(
    session: &mut BeliefPropagation, changes: &[(usize, Option<VariableEvidence>)],
) {
    for (variable, evidence) in changes {
        match evidence {
            None => session.clear_evidence(*variable),
            Some(VariableEvidence::Observed(state)) => session.observe(*variable, *state as usize),
            Some(VariableEvidence::Likelihood(weights)) => {
                session.set_likelihood(*variable, weights)
            }
        }
        .unwrap();
    }
}
