//! Loopy belief propagation, compared with a plain implementation of its textbook definition: every
//! factor a dense table, messages as logarithms of probabilities over all states, one edge at a time.

#[path = "common/random.rs"]
mod random;
#[path = "common/session.rs"]
mod session;

use fastlbp::schedule::Preorder;
use fastlbp::{
    BeliefPropagation, FactorGraph, Inference, RunRequest, Schedule, StopRule, VariableEvidence,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use random::{Choices, Dense, Input, Model, labels};
use session::{random_evidence, session, sum_to};
use std::cell::Cell;
use std::sync::Arc;

/// Largest difference, absolute for probabilities, otherwise relative.
const TOLERANCE: f64 = 1e-10;
/// Logarithm of the smallest probability that is compared by its ratio too.
const COMPARED_BY_RATIO: f64 = -230.0;
/// Most entries of a factor as a table.
const ENTRIES: usize = 1300;

/// A message or belief that would be 0/0.
#[derive(Debug)]
struct Contradiction;

/// Divides weights by their sum, all as logarithms.
fn normalise(mut logs: Vec<f64>) -> Result<Vec<f64>, Contradiction> {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return Err(Contradiction);
    }
    let total = top + logs.iter().map(|log| (log - top).exp()).sum::<f64>().ln();
    logs.iter_mut().for_each(|log| *log -= total);
    Ok(logs)
}

struct Reference<'a> {
    graph: &'a FactorGraph,
    factors: &'a [Dense],
    /// Logarithms of their values.
    logs: Vec<Vec<f64>>,
    evidence: &'a [Option<VariableEvidence>],
    inference: Inference,
    damping: f64,
    /// Message of each edge from its factor to its variable, damped.
    messages: Vec<Vec<f64>>,
    /// The same as they were computed.
    undamped: Vec<Vec<f64>>,
}

impl<'a> Reference<'a> {
    fn new(
        model: &'a Model, evidence: &'a [Option<VariableEvidence>], inference: Inference,
        damping: f64,
    ) -> Self {
        let graph = &model.graph;
        let uniform = graph.edge_variables().iter().map(|&v| {
            let cardinality = graph.cardinality(v as usize);
            vec![-(cardinality as f64).ln(); cardinality]
        });
        let messages: Vec<Vec<f64>> = uniform.collect();
        let logs = model.factors.iter().map(|f| f.values.iter().map(|value| value.ln()).collect());
        Self {
            graph,
            factors: &model.factors,
            logs: logs.collect(),
            evidence,
            inference,
            damping,
            undamped: messages.clone(),
            messages,
        }
    }

    fn ends(&self, edge: usize) -> (usize, usize) {
        let factor = self.graph.edge_factors()[edge] as usize;
        (factor, self.graph.edge_variables()[edge] as usize)
    }

    /// The product of the messages to a variable, but for that of one edge.
    fn product<'m>(
        &self, variable: usize, without: Option<usize>, message: impl Fn(usize) -> &'m Vec<f64>,
    ) -> Result<Vec<f64>, Contradiction> {
        let mut logs = vec![0.0; self.graph.cardinality(variable)];
        match &self.evidence[variable] {
            Some(VariableEvidence::Observed(observed)) => {
                logs.fill(f64::NEG_INFINITY);
                logs[*observed as usize] = 0.0;
                return Ok(logs);
            }
            Some(VariableEvidence::Likelihood(likelihood)) => {
                logs.iter_mut().zip(likelihood).for_each(|(log, weight)| *log += weight.ln());
            }
            None => {}
        }
        for edge in (0..self.messages.len()).filter(|&edge| Some(edge) != without) {
            if self.ends(edge).1 == variable {
                logs.iter_mut().zip(message(edge)).for_each(|(log, other)| *log += other);
            }
        }
        normalise(logs)
    }

    /// The message of an edge, from the messages that it reads.
    fn message<'m>(
        &self, edge: usize, read: impl Fn(usize) -> &'m Vec<f64>,
    ) -> Result<Vec<f64>, Contradiction> {
        let (factor, target) = self.ends(edge);
        let dense = &self.factors[factor];
        let mut inputs = Vec::new();
        for &variable in &dense.variables {
            let own = self.graph.edge(factor, variable);
            inputs.push(if variable == target {
                vec![0.0; self.graph.cardinality(variable)]
            } else {
                self.product(variable, own, &read)?
            });
        }
        let position = dense.variables.iter().position(|&v| v == target).unwrap();
        let mut terms = vec![Vec::new(); self.graph.cardinality(target)];
        for (index, log) in self.logs[factor].iter().enumerate() {
            let states = dense.states(index);
            let inputs = inputs.iter().zip(&states).map(|(input, &state)| input[state]);
            terms[states[position]].push(log + inputs.sum::<f64>());
        }
        let out = terms.iter().map(|terms| {
            let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            match self.inference {
                Inference::SumProduct if top > f64::NEG_INFINITY => {
                    top + terms.iter().map(|term| (term - top).exp()).sum::<f64>().ln()
                }
                _ => top,
            }
        });
        normalise(out.collect())
    }

    fn iteration(&mut self, preorder: &Preorder) -> Result<(), Contradiction> {
        let ranks = preorder.ranks();
        let before = self.messages.clone();
        for edge in preorder.order().unwrap() {
            let edge = edge as usize;
            let message = self.message(edge, |other| {
                if ranks[other] < ranks[edge] { &self.messages[other] } else { &before[other] }
            })?;
            // A weight of zero in either leaves zero.
            let damped = before[edge].iter().zip(&message).map(|(old, new)| {
                if self.damping == 0.0 {
                    *new
                } else {
                    self.damping * old + (1.0 - self.damping) * new
                }
            });
            self.messages[edge] = normalise(damped.collect())?;
            self.undamped[edge] = message;
        }
        Ok(())
    }

    /// Logarithms of the belief of each variable.
    fn beliefs(&self) -> Result<Vec<Vec<f64>>, Contradiction> {
        let variables = 0..self.graph.variable_count();
        variables.map(|v| self.product(v, None, |edge| &self.undamped[edge])).collect()
    }

    /// Logarithms of the belief of each factor.
    fn factor_beliefs(&self) -> Result<Vec<Vec<f64>>, Contradiction> {
        let mut beliefs = Vec::new();
        for (factor, dense) in self.factors.iter().enumerate() {
            let mut inputs = Vec::new();
            for &variable in &dense.variables {
                let own = self.graph.edge(factor, variable);
                inputs.push(self.product(variable, own, |edge| &self.messages[edge])?);
            }
            let entries = self.logs[factor].iter().enumerate().map(|(index, log)| {
                let states = dense.states(index);
                log + inputs.iter().zip(states).map(|(input, x)| input[x]).sum::<f64>()
            });
            beliefs.push(normalise(entries.collect())?);
        }
        Ok(beliefs)
    }

    /// sum_i (1 - d_i) H(b_i) - sum_I KL(b_I || f_I), soft evidence being one more factor.
    fn log_partition(&self, beliefs: &[Vec<f64>], factor_beliefs: &[Vec<f64>]) -> f64 {
        let expectation = |belief: &[f64], value: &dyn Fn(usize) -> f64| -> f64 {
            let states = belief.iter().enumerate().filter(|(_, log)| **log > f64::NEG_INFINITY);
            states.map(|(x, log)| log.exp() * value(x)).sum()
        };
        let mut sum = 0.0;
        for (v, belief) in beliefs.iter().enumerate() {
            let soft = match &self.evidence[v] {
                Some(VariableEvidence::Likelihood(likelihood)) => Some(likelihood),
                _ => None,
            };
            let degree = self.graph.degree(v) + usize::from(soft.is_some());
            sum -= (1.0 - degree as f64) * expectation(belief, &|x| belief[x]);
            if let Some(likelihood) = soft {
                sum -= expectation(belief, &|x| belief[x] - likelihood[x].ln());
            }
        }
        for (belief, logs) in factor_beliefs.iter().zip(&self.logs) {
            sum -= expectation(belief, &|index| belief[index] - logs[index]);
        }
        sum
    }
}

/// Largest change of a probability.
fn largest_change(old: &[Vec<f64>], new: &[Vec<f64>]) -> f64 {
    let changes = old.iter().flatten().zip(new.iter().flatten());
    changes.map(|(old, new)| (old.exp() - new.exp()).abs()).fold(0.0, f64::max)
}

fn uniform(sizes: impl Iterator<Item = usize>) -> Vec<Vec<f64>> {
    sizes.map(|size| vec![-(size as f64).ln(); size]).collect()
}

/// A graph, most often with cycles, of variables with 1 to 7 states and factors of every kind.
fn loopy(choices: &mut Choices) -> Model {
    let count = 2 + choices.below(9);
    let labels = labels(choices, count);
    let states = |choice: usize| if choice == 0 { 1 } else { 2 + choice.saturating_sub(6) };
    let cardinalities: Vec<usize> = (0..count).map(|_| states(choices.below(12))).collect();
    let binary: Vec<usize> = (0..count).filter(|&v| cardinalities[v] == 2).collect();
    let mut inputs = Vec::new();
    for _ in 0..count / 2 + choices.below(2 * count) {
        inputs.push(Input::among(choices, &labels, &cardinalities, &binary, ENTRIES));
    }
    Model::build(&labels, &cardinalities, &inputs)
}

fn random_schedule(choices: &mut Choices, graph: &FactorGraph) -> Schedule {
    match choices.below(9) {
        0 => Schedule::Parallel,
        1 => Schedule::SequentialFixed,
        2 => Schedule::SequentialRandom { seed: choices.number() },
        3 => Schedule::Topological,
        4 => Schedule::Tree,
        5 => Schedule::ForwardBackward,
        6 => Schedule::from_name("BLOCKS", choices.number()).unwrap(),
        _ => {
            // Few ranks for many ties, or many.
            let bound = 1 + choices.below(2 * graph.edge_count() + 1);
            let ranks = graph.edge_variables().iter().map(|_| choices.below(bound) as u64);
            let ranks: Vec<u64> = ranks.collect();
            Schedule::Custom(Arc::new(Preorder::from_ranks(graph, &ranks).unwrap()))
        }
    }
}

fn random_request(choices: &mut Choices, rule: StopRule) -> RunRequest {
    let mut request = RunRequest::new(rule);
    if choices.below(3) == 0 {
        request.inference = Inference::MaxProduct;
    }
    request.damping = [0.0, 0.0, 0.5, 0.9 * choices.share()][choices.below(4)];
    request
}

/// Compares probabilities with wanted ones, given as logarithms.
fn check(got: &[f64], wanted: &[f64], what: &str) -> Result<(), TestCaseError> {
    prop_assert_eq!(got.len(), wanted.len(), "{}", what);
    for (state, (&got, &log)) in got.iter().zip(wanted).enumerate() {
        let wanted = log.exp();
        // Not `> TOLERANCE`: a NaN must fail.
        let close = (got - wanted).abs() <= TOLERANCE;
        prop_assert!(close, "{what}, state {state}: {got:e} instead of {wanted:e}");
        if log > COMPARED_BY_RATIO {
            let close = (got / wanted - 1.0).abs() <= TOLERANCE;
            prop_assert!(close, "{what}, state {state}: {got:e} is not {wanted:e} by its ratio");
        }
    }
    Ok(())
}

fn check_number(got: f64, wanted: f64, what: &str) -> Result<(), TestCaseError> {
    let close = (got - wanted).abs() <= TOLERANCE * wanted.abs().max(1.0);
    prop_assert!(close, "{what}: {got:e} instead of {wanted:e}");
    Ok(())
}

/// Compares all results of a session with those of the reference after the same iterations.
fn check_results(
    bp: &BeliefPropagation, reference: &Reference, beliefs: &[Vec<f64>],
    factor_beliefs: &[Vec<f64>], choices: &mut Choices,
) -> Result<(), TestCaseError> {
    for (v, belief) in beliefs.iter().enumerate() {
        check(bp.marginal(v).unwrap(), belief, &format!("variable {v}"))?;
    }
    let probabilities = |logs: &[f64]| logs.iter().map(|log| log.exp()).collect::<Vec<f64>>();
    for (factor, (belief, dense)) in factor_beliefs.iter().zip(reference.factors).enumerate() {
        check(&bp.factor_belief(factor).unwrap(), belief, &format!("factor {factor}"))?;
        let index = choices.below(belief.len());
        let entry = bp.factor_belief_at(factor, index as u64).unwrap();
        check(&[entry], &belief[index..=index], &format!("factor {factor} at {index}"))?;
        // Some variables of it, in any order; the first factor with all of them gives the belief.
        let mut variables = dense.variables.clone();
        for last in (1..variables.len()).rev() {
            variables.swap(last, choices.below(last + 1));
        }
        variables.truncate(2 + choices.below(3));
        if variables.len() < 2 {
            continue;
        }
        let holds = |dense: &Dense| variables.iter().all(|v| dense.variables.contains(v));
        let first = reference.factors.iter().position(holds).unwrap();
        let sums =
            sum_to(&reference.factors[first], &probabilities(&factor_beliefs[first]), &variables);
        let wanted: Vec<f64> = sums.iter().map(|sum| sum.ln()).collect();
        let what = format!("variables {variables:?}");
        check(&bp.joint_belief(&variables).unwrap(), &wanted, &what)?;
        if let [a, b] = variables[..] {
            check(&bp.pair_belief(a, b).unwrap(), &wanted, &what)?;
        }
    }
    let wanted = reference.log_partition(beliefs, factor_beliefs);
    check_number(bp.log_partition().unwrap(), wanted, "log-partition")
}

/// Runs a test on random graphs, most of which must be free of contradictions.
fn on_random_graphs(
    cases: u32, test: impl Fn(&mut Choices) -> Result<Result<(), Contradiction>, TestCaseError>,
) {
    let contradictions = Cell::new(0);
    let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    let numbers = prop::collection::vec(any::<u64>(), 2000..4000);
    let result = TestRunner::new(config).run(&numbers, |numbers| {
        if test(&mut Choices::new(&numbers, 25))?.is_err() {
            contradictions.set(contradictions.get() + 1);
        }
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, numbers)) => panic!("{why}\nfor the numbers {numbers:?}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
    assert!(contradictions.get() * 10 < cases, "{} of {cases} contradict", contradictions.get());
}

#[test]
fn messages_after_any_iteration_are_those_of_the_definition() {
    on_random_graphs(1000, |choices| {
        let model = loopy(choices);
        let evidence = random_evidence(choices, &model.graph);
        let schedule = random_schedule(choices, &model.graph);
        let iterations = 1 + choices.below(6) as u64;
        let request = random_request(choices, StopRule::Iterations(iterations));
        let mut reference = Reference::new(&model, &evidence, request.inference, request.damping);
        let results = (0..iterations)
            .try_for_each(|iteration| {
                reference.iteration(&schedule.preorder(&model.graph, iteration).unwrap())
            })
            .and_then(|()| Ok((reference.beliefs()?, reference.factor_beliefs()?)));
        let (beliefs, factor_beliefs) = match results {
            Ok(beliefs) => beliefs,
            Err(contradiction) => return Ok(Err(contradiction)),
        };
        let mut bp = session(&model.graph, schedule, 1 + choices.below(2), &evidence);
        bp.run(&request).unwrap();
        check_results(&bp, &reference, &beliefs, &factor_beliefs, choices)?;
        Ok(Ok(()))
    });
}

/// The rules that look at changes end at the iteration at which the definition says so.
#[test]
fn runs_converge_where_the_definition_does() {
    let converged = Cell::new(0);
    on_random_graphs(400, |choices| {
        let model = loopy(choices);
        let graph = &model.graph;
        let evidence = random_evidence(choices, graph);
        let schedule = random_schedule(choices, graph);
        let (tolerance, max_iterations) = (1e-6, 40);
        let all = choices.flag();
        let rule = if all {
            StopRule::AllBeliefs { tolerance, max_iterations }
        } else {
            StopRule::Tolerance { tolerance, max_iterations }
        };
        let request = random_request(choices, rule);
        let mut reference = Reference::new(&model, &evidence, request.inference, request.damping);
        let mut beliefs = uniform(graph.cardinalities().iter().map(|&r| r as usize));
        let mut factor_beliefs = uniform(model.factors.iter().map(|f| f.values.len()));
        let (mut iterations, mut change) = (0, f64::INFINITY);
        while iterations < max_iterations && change > tolerance {
            let preorder = schedule.preorder(graph, iterations).unwrap();
            let results = reference
                .iteration(&preorder)
                .and_then(|()| Ok((reference.beliefs()?, reference.factor_beliefs()?)));
            let (next, factor_next) = match results {
                Ok(beliefs) => beliefs,
                Err(contradiction) => return Ok(Err(contradiction)),
            };
            change = largest_change(&beliefs, &next);
            if all {
                change = change.max(largest_change(&factor_beliefs, &factor_next));
            }
            (beliefs, factor_beliefs) = (next, factor_next);
            iterations += 1;
            // A change that is the tolerance itself may be seen on either side of it.
            prop_assume!((change - tolerance).abs() > 10.0 * TOLERANCE);
        }
        let mut bp = session(graph, schedule, 1 + choices.below(2), &evidence);
        let report = bp.run(&request).unwrap();
        prop_assert_eq!((report.iterations, report.converged), (iterations, change <= tolerance));
        // In a run that does not settle, rounding errors may grow from iteration to iteration.
        if report.converged {
            check_number(report.max_diff, change, "largest change")?;
            check_results(&bp, &reference, &beliefs, &factor_beliefs, choices)?;
            converged.set(converged.get() + 1);
        }
        Ok(Ok(()))
    });
    assert!(converged.get() > 250, "only {} runs converged", converged.get());
}
