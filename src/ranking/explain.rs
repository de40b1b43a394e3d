//! What makes a variable probable: the derivations of it, with the probabilities of what they rest on.

use crate::error::Result;
use crate::factor::Factor;
use crate::memory::{Grow, room};
use crate::model::{FactorGraph, check_variable};
use crate::session::BeliefPropagation;

/// A way in which a variable can come about.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    /// The variable that stands for this derivation, as BINGO has one for each clause; `None` where the premises
    /// support the derived variable by themselves.
    pub variable: Option<usize>,
    /// The probability of that variable; else, if it can be had, the one that derived variable and premises are all
    /// true.
    pub probability: Option<f64>,
    /// The probability of the conclusion where all premises hold, if a rule says so.
    pub strength: Option<f64>,
    /// The premises with their probabilities, the least probable first: what the derivation hangs on.
    pub premises: Vec<(usize, f64)>,
}

/// The derivations of a variable (by index) and their probabilities by the last run, the most probable first.
///
/// A derivation is a rule, an AND factor with the variable as its head; or a way of an OR factor with the variable as
/// its head: each variable of its body, with the premises of the rules that have that one as head. Of factors of other
/// kinds that have a head, all other variables are premises.
pub fn explain(session: &BeliefPropagation, variable: usize) -> Result<Vec<Derivation>> {
    let graph = session.graph();
    check_variable(graph, variable)?;
    let mut derivations = Vec::new();
    for factor in headed_by(graph, variable) {
        if !matches!(graph.factor(factor), Factor::Or(_)) {
            derivations.try_push(rule(session, factor, variable)?)?;
            continue;
        }
        for way in body(graph, factor, variable) {
            let mut premises = Vec::new();
            let mut strength = None;
            for factor in headed_by(graph, way) {
                let rule = rule(session, factor, way)?;
                premises.try_extend(rule.premises)?;
                strength = rule.strength;
            }
            sort(&mut premises);
            let probability = Some(session.probability(way)?);
            derivations.try_push(Derivation {
                variable: Some(way),
                probability,
                strength,
                premises,
            })?;
        }
    }
    derivations.sort_unstable_by(|a, b| {
        let key = |derivation: &Derivation| derivation.probability.unwrap_or(-1.0);
        key(b).total_cmp(&key(a)).then(a.variable.cmp(&b.variable))
    });
    Ok(derivations)
}

/// The factors of more than one variable whose head is a variable.
fn headed_by(graph: &FactorGraph, variable: usize) -> impl Iterator<Item = usize> + '_ {
    let factors = graph.variable_edges(variable).iter();
    let factors = factors.map(|&edge| graph.edge_factors()[edge as usize] as usize);
    factors.filter(move |&factor| {
        let head =
            graph.head_position(factor).map(|position| graph.factor_variables(factor)[position]);
        head == Some(variable as u32) && graph.arity(factor) > 1
    })
}

/// The variables of a factor but one.
fn body(graph: &FactorGraph, factor: usize, head: usize) -> impl Iterator<Item = usize> + '_ {
    let all = graph.factor_variables(factor).iter().map(|&variable| variable as usize);
    all.filter(move |&variable| variable != head)
}

/// A factor as a derivation of its head.
fn rule(session: &BeliefPropagation, factor: usize, head: usize) -> Result<Derivation> {
    /// Where the joint states have numbers.
    const MOST_VARIABLES: usize = 63;
    let graph = session.graph();
    let strength = match graph.factor(factor) {
        Factor::And(_) => {
            graph.horn_parameter(factor).map(|number| graph.horn_parameters()[number].p)
        }
        _ => None,
    };
    let arity = graph.arity(factor);
    let probability = match strength {
        Some(_) if arity <= MOST_VARIABLES => {
            session.factor_belief_at(factor, (1 << arity) - 1).ok()
        }
        _ => None,
    };
    let mut premises = room(arity)?;
    for variable in body(graph, factor, head) {
        let belief = session.marginal(variable)?;
        premises.try_push((variable, belief.get(1).copied().unwrap_or(0.0)))?;
    }
    sort(&mut premises);
    Ok(Derivation { variable: None, probability, strength, premises })
}

fn sort(premises: &mut Vec<(usize, f64)>) {
    premises.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    premises.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{EngineOptions, RunRequest, StopRule};
    use crate::model::FactorGraphBuilder;
    use crate::schedule::Schedule;
    use std::sync::Arc;

    #[test]
    fn an_alarm_rests_on_its_clauses_and_these_on_their_premises() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_prior(1, 0.25).unwrap();
        builder.add_prior(2, 0.5).unwrap();
        builder.add_and(10, &[1, 2], 0.9, 0.0).unwrap();
        builder.add_and(11, &[2], 0.8, 0.0).unwrap();
        builder.add_or(20, &[10, 11], 1.0, 0.0).unwrap();
        let graph = Arc::new(builder.build().unwrap());
        let mut session =
            BeliefPropagation::new(graph, Schedule::Tree, EngineOptions::default()).unwrap();
        session.run(&RunRequest::new(StopRule::Iterations(50))).unwrap();
        let p = |variable| session.probability(variable).unwrap();
        let ways = explain(&session, 4).unwrap();
        assert_eq!(
            ways,
            [
                Derivation {
                    variable: Some(3),
                    probability: Some(p(3)),
                    strength: Some(0.8),
                    premises: vec![(1, p(1))]
                },
                Derivation {
                    variable: Some(2),
                    probability: Some(p(2)),
                    strength: Some(0.9),
                    premises: vec![(0, p(0)), (1, p(1))]
                }
            ]
        );
        let [rule] = &explain(&session, 3).unwrap()[..] else { panic!("one rule") };
        assert_eq!(
            (rule.variable, rule.strength, &rule.premises),
            (None, Some(0.8), &vec![(1, p(1))])
        );
        assert!((rule.probability.unwrap() - p(3)).abs() < 1e-12);
        assert!(explain(&session, 0).unwrap().is_empty());
        assert!(explain(&session, 5).is_err());
    }
}
