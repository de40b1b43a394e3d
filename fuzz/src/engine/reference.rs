//! Belief propagation by the letter of the definition: every factor a table, sums over all its entries,
//! one edge at a time, numbers that cannot leave their range.

use super::case::Case;
use super::number::{Number, shares};
use crate::random::Dense;
use fastlbp::schedule::Preorder;
use fastlbp::{FactorGraph, Inference, VariableEvidence};

/// A message or belief that would be 0/0.
#[derive(Clone, Copy, Debug)]
pub struct Contradiction;

pub type Distribution = Vec<Number>;

pub struct Reference<'a> {
    case: &'a Case,
    graph: &'a FactorGraph,
    /// From factors to variables, damped, as other messages read them.
    pub messages: Vec<Distribution>,
    /// The same as they were computed.
    undamped: Vec<Distribution>,
}

impl<'a> Reference<'a> {
    pub fn new(case: &'a Case) -> Self {
        let graph = &case.model.graph;
        let uniform = |&v: &u32| {
            let r = graph.cardinality(v as usize);
            vec![Number::ONE.over(Number::new(r as f64)); r]
        };
        let messages: Vec<Distribution> = graph.edge_variables().iter().map(uniform).collect();
        Self { case, graph, undamped: messages.clone(), messages }
    }

    fn ends(&self, edge: usize) -> (usize, usize) {
        let factor = self.graph.edge_factors()[edge] as usize;
        (factor, self.graph.edge_variables()[edge] as usize)
    }

    /// The product of evidence and the messages to a variable, but for that of one edge.
    fn product<'m>(
        &self, variable: usize, without: Option<usize>, message: impl Fn(usize) -> &'m Distribution,
    ) -> Result<Distribution, Contradiction> {
        let r = self.graph.cardinality(variable);
        let mut product = vec![Number::ONE; r];
        match &self.case.evidence[variable] {
            Some(VariableEvidence::Observed(state)) => {
                product.fill(Number::ZERO);
                product[*state as usize] = Number::ONE;
                return Ok(product);
            }
            Some(VariableEvidence::Likelihood(likelihood)) => {
                product = likelihood.iter().map(|&weight| Number::new(weight)).collect();
            }
            None => {}
        }
        for &edge in self.graph.variable_edges(variable) {
            if Some(edge as usize) != without {
                let factors = message(edge as usize);
                product.iter_mut().zip(factors).for_each(|(p, &factor)| *p = p.times(factor));
            }
        }
        shares(&product).ok_or(Contradiction)
    }

    /// The message of an edge, from the messages that it reads.
    fn message<'m>(
        &self, edge: usize, read: impl Fn(usize) -> &'m Distribution,
    ) -> Result<Distribution, Contradiction> {
        let (factor, target) = self.ends(edge);
        let Dense { variables, values, .. } = &self.case.model.factors[factor];
        let dense = &self.case.model.factors[factor];
        let mut inputs = Vec::new();
        for &variable in variables {
            inputs.push(if variable == target {
                vec![Number::ONE; self.graph.cardinality(variable)]
            } else {
                self.product(variable, self.graph.edge(factor, variable), &read)?
            });
        }
        let position = variables.iter().position(|&v| v == target).expect("one of its variables");
        let mut out = vec![Number::ZERO; self.graph.cardinality(target)];
        for (index, &value) in values.iter().enumerate() {
            let states = dense.states(index);
            let inputs = inputs.iter().zip(&states).map(|(input, &state)| input[state]);
            let weight = inputs.fold(Number::new(value), Number::times);
            let own = &mut out[states[position]];
            *own = match self.case.inference {
                Inference::SumProduct => own.plus(weight),
                Inference::MaxProduct => own.max(weight),
            };
        }
        shares(&out).ok_or(Contradiction)
    }

    pub fn iteration(&mut self, preorder: &Preorder) -> Result<(), Contradiction> {
        let ranks = preorder.ranks();
        let before = self.messages.clone();
        for edge in preorder.order().expect("memory") {
            let edge = edge as usize;
            let new = self.message(edge, |other| {
                if ranks[other] < ranks[edge] { &self.messages[other] } else { &before[other] }
            })?;
            let damped = damped(&before[edge], &new, self.case.damping);
            self.messages[edge] = shares(&damped).ok_or(Contradiction)?;
            self.undamped[edge] = new;
        }
        Ok(())
    }

    /// The belief of each variable, of messages as they were computed.
    pub fn beliefs(&self) -> Result<Vec<Distribution>, Contradiction> {
        let variables = 0..self.graph.variable_count();
        variables.map(|v| self.product(v, None, |edge| &self.undamped[edge])).collect()
    }
}

/// old^d * new^(1-d); zero where one of them is.
fn damped(old: &[Number], new: &[Number], damping: f64) -> Distribution {
    if damping == 0.0 {
        return new.to_vec();
    }
    let mean = |(old, new): (&Number, &Number)| {
        if old.is_zero() || new.is_zero() {
            return Number::ZERO;
        }
        Number::exp2(damping * old.log2() + (1.0 - damping) * new.log2())
    };
    old.iter().zip(new).map(mean).collect()
}

/// Sums and maxima over all joint states.
pub struct Exact {
    /// Marginals, or max-marginals divided by their sum; `None` if no joint state is possible.
    pub marginals: Option<Vec<Distribution>>,
    /// The sum over all joint states.
    pub total: Number,
    /// The weight of the most probable joint state.
    pub highest: Number,
}

pub fn enumerate(case: &Case) -> Exact {
    let graph = &case.model.graph;
    let radices: Vec<usize> = graph.cardinalities().iter().map(|&r| r as usize).collect();
    let mut sums: Vec<Distribution> = radices.iter().map(|&r| vec![Number::ZERO; r]).collect();
    let (mut total, mut highest) = (Number::ZERO, Number::ZERO);
    let mut states = vec![0; radices.len()];
    for mut index in 0..radices.iter().product::<usize>() {
        for (state, r) in states.iter_mut().zip(&radices) {
            *state = index % r;
            index /= r;
        }
        let mut weight = Number::ONE;
        for (evidence, &state) in case.evidence.iter().zip(&states) {
            weight = weight.times(Number::new(match evidence {
                None => 1.0,
                Some(VariableEvidence::Observed(wanted)) => f64::from(*wanted == state as u32),
                Some(VariableEvidence::Likelihood(likelihood)) => likelihood[state],
            }));
        }
        for factor in &case.model.factors {
            let digits = factor.variables.iter().zip(&factor.cardinalities).rev();
            let entry = digits.fold(0, |index, (&v, &r)| index * r + states[v]);
            weight = weight.times(Number::new(factor.values[entry]));
        }
        total = total.plus(weight);
        highest = highest.max(weight);
        for (sums, &state) in sums.iter_mut().zip(&states) {
            sums[state] = match case.inference {
                Inference::SumProduct => sums[state].plus(weight),
                Inference::MaxProduct => sums[state].max(weight),
            };
        }
    }
    Exact { marginals: sums.iter().map(|sums| shares(sums)).collect(), total, highest }
}
