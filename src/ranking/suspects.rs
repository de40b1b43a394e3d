//! The most suspicious candidates of a run, and how well rankings of several graphs found the faulty ones.

use crate::error::Result;
use crate::memory::{Grow, room};
use crate::session::BeliefPropagation;

/// A ranked candidate. Candidates of one probability share their ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suspect {
    /// Its place in the list of candidates.
    pub candidate: usize,
    /// The probability that it is at fault.
    pub probability: f64,
    /// Its rank, counted from 1, if it came first among those of its probability.
    pub best: usize,
    /// Its rank if it came last among them.
    pub worst: usize,
}

impl Suspect {
    /// The mean of its ranks over all orders of those of its probability.
    pub fn average(&self) -> f64 {
        (self.best as f64 + self.worst as f64) / 2.0
    }
}

/// Candidates, the most suspicious first; those of equal probability in the order of their list.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspects(Vec<Suspect>);

impl Suspects {
    /// Ranks candidates (indices of variables) by the probability of their state `fault` in the last run of a session.
    /// What is compared are the probabilities of the other states, the lowest first, as SmartFL compares those to be
    /// right: where a fault is next to certain, they still differ.
    ///
    /// Errors: no run; a variable or a state that is not there.
    pub fn new(session: &BeliefPropagation, candidates: &[usize], fault: usize) -> Result<Self> {
        let mut keyed = room(candidates.len())?;
        for (candidate, &variable) in candidates.iter().enumerate() {
            let belief = session.marginal(variable)?;
            let probability =
                *belief.get(fault).ok_or_else(|| no_state(session, variable, fault))?;
            let others = belief.iter().enumerate().filter(|(state, _)| *state != fault);
            let right: f64 = others.map(|(_, probability)| probability).sum();
            keyed.try_push((right, probability, candidate))?;
        }
        keyed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        let mut suspects = room(keyed.len())?;
        for group in keyed.chunk_by(|a, b| a.0 == b.0) {
            let (best, worst) = (suspects.len() + 1, suspects.len() + group.len());
            let ranked = |&(_, probability, candidate): &(f64, f64, usize)| Suspect {
                candidate,
                probability,
                best,
                worst,
            };
            suspects.try_extend(group.iter().map(ranked))?;
        }
        Ok(Self(suspects))
    }

    /// All of them.
    pub fn all(&self) -> &[Suspect] {
        &self.0
    }

    /// The ranks of the first one that is at fault, by the candidates' places; `None` if none is.
    pub fn first(&self, is_at_fault: impl Fn(usize) -> bool) -> Option<FirstRank> {
        let position = self.0.iter().position(|suspect| is_at_fault(suspect.candidate))?;
        let first = self.0[position];
        // Several of one probability may be at fault: the first of them comes earlier than one alone.
        let group = &self.0[first.best - 1..first.worst];
        let faulty = group.iter().filter(|suspect| is_at_fault(suspect.candidate)).count();
        let (before, size) = ((first.best - 1) as f64, group.len() as f64);
        Some(FirstRank {
            // The mean of the smallest of k different numbers from 1 to n is (n + 1) / (k + 1).
            average: before + (size + 1.0) / (faulty as f64 + 1.0),
            worst: first.worst - (faulty - 1),
        })
    }
}

/// The rank of the first faulty candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstRank {
    /// Its mean over all orders of candidates of equal probability.
    pub average: f64,
    /// The last that it can be.
    pub worst: usize,
}

/// How rankings of several graphs found the faulty candidates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FirstRanks(Vec<FirstRank>);

/// Which of the two ranks counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// [`FirstRank::average`].
    Average,
    /// [`FirstRank::worst`].
    Worst,
}

impl FirstRanks {
    /// Adds a graph. Errors: no memory.
    pub fn add(&mut self, first: FirstRank) -> Result<()> {
        self.0.try_push(first)
    }

    /// Number of graphs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of graphs with a faulty candidate among the first `count` (Top-k).
    pub fn top(&self, count: usize, counted: Counted) -> usize {
        self.ranks(counted).filter(|&rank| rank <= count as f64).count()
    }

    /// The mean rank of the first faulty candidate (MFR); `None` without a graph.
    pub fn mean(&self, counted: Counted) -> Option<f64> {
        (!self.is_empty()).then(|| self.ranks(counted).sum::<f64>() / self.len() as f64)
    }

    fn ranks(&self, counted: Counted) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().map(move |first| match counted {
            Counted::Average => first.average,
            Counted::Worst => first.worst as f64,
        })
    }
}

fn no_state(session: &BeliefPropagation, variable: usize, state: usize) -> crate::Error {
    let graph = session.graph();
    crate::Error::OutOfRange(format!(
        "state {state} of variable {}: it has {} states, numbered from 0",
        graph.label(variable),
        graph.cardinality(variable)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{EngineOptions, RunRequest, StopRule};
    use crate::model::FactorGraphBuilder;
    use crate::schedule::Schedule;
    use std::sync::Arc;

    fn ranked(priors: &[f64], fault: usize) -> Suspects {
        let mut builder = FactorGraphBuilder::new();
        for (label, &prior) in (0..).zip(priors) {
            builder.add_prior(label, prior).unwrap();
        }
        let graph = Arc::new(builder.build().unwrap());
        let mut session =
            BeliefPropagation::new(graph, Schedule::Parallel, EngineOptions::default()).unwrap();
        session.run(&RunRequest::new(StopRule::Iterations(2))).unwrap();
        let all: Vec<usize> = (0..priors.len()).collect();
        assert!(Suspects::new(&session, &all, 2).is_err());
        Suspects::new(&session, &all, fault).unwrap()
    }

    #[test]
    fn equal_probabilities_share_their_ranks() {
        let suspects = ranked(&[0.5, 0.25, 0.5, 0.75, 0.5], 0);
        let brief: Vec<_> = suspects
            .all()
            .iter()
            .map(|s| (s.candidate, s.probability, s.best, s.worst, s.average()))
            .collect();
        let tied = |candidate| (candidate, 0.5, 2, 4, 3.0);
        assert_eq!(brief, [(1, 0.75, 1, 1, 1.0), tied(0), tied(2), tied(4), (3, 0.25, 5, 5, 5.0)]);
        assert_eq!(suspects.first(|c| c == 2), Some(FirstRank { average: 3.0, worst: 4 }));
        assert_eq!(
            suspects.first(|c| c == 3 || c == 1),
            Some(FirstRank { average: 1.0, worst: 1 })
        );
        // Of three in any order, the first of two is at 1, 1 or 2.
        let two = suspects.first(|c| c == 2 || c == 4).unwrap();
        assert!((two.average - (1.0 + 4.0 / 3.0)).abs() < 1e-15 && two.worst == 3);
        assert_eq!(suspects.first(|_| false), None);
    }

    #[test]
    fn faults_next_to_certain_are_told_apart() {
        let suspects = ranked(&[1e-30, 1e-20, 1e-25], 0);
        let order: Vec<_> = suspects.all().iter().map(|s| (s.candidate, s.best, s.worst)).collect();
        assert_eq!(order, [(0, 1, 1), (2, 2, 2), (1, 3, 3)]);
    }

    #[test]
    fn several_graphs_are_summed_up() {
        let mut ranks = FirstRanks::default();
        assert_eq!((ranks.mean(Counted::Worst), ranks.top(1, Counted::Worst)), (None, 0));
        for (average, worst) in [(1.0, 1), (2.5, 4), (11.0, 20)] {
            ranks.add(FirstRank { average, worst }).unwrap();
        }
        let top = |counted| [1, 3, 5, 10].map(|count| ranks.top(count, counted));
        assert_eq!(top(Counted::Average), [1, 2, 2, 2]);
        assert_eq!(top(Counted::Worst), [1, 1, 2, 2]);
        assert_eq!((ranks.len(), ranks.mean(Counted::Worst)), (3, Some(25.0 / 3.0)));
    }
}
