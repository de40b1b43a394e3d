//! How far beliefs and messages moved in an iteration, and the means of the last beliefs.

use super::factor_beliefs::FactorBeliefs;
use super::inputs::replace_probabilities;
use super::state::State;
use super::synchronous::Synchronous;
use super::team::Team;
use super::values::Values;
use super::variable::{belief, filled_with_zeros, probability};
use super::workspace::{Movement, Workspace};
use crate::engine::factor_tables::FactorTables;
use crate::error::{Error, Result};
use crate::kernel::{Product, pairwise_sum, stored_values, weights_to_probabilities};
use crate::memory::{Grow, NoMemory, all_collected, fit, room};
use std::sync::Arc;

/// Factors whose messages are measured together.
const FACTORS_AT_ONCE: usize = 256;

/// What is measured after an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// The beliefs of variables.
    Variables,
    /// The beliefs of variables and of factors (libDAI's rule).
    AllBeliefs,
    /// The beliefs of variables, and the messages to factors (BINGO's rule).
    Inputs,
}

/// The beliefs at the last measurement, and what else is measured, to be compared with the next ones.
///
/// For a binary variable one number is stored: the probability of state 1.
pub(super) struct Tracker {
    /// Where each variable's numbers start; `None` if all variables are binary.
    starts: Option<Vec<u32>>,
    beliefs: Values,
    /// The messages to factors, in the layout of `by_edge`; empty if not wanted.
    inputs: Values,
    /// The beliefs of factors, if they are measured.
    factor_beliefs: Option<FactorBeliefs>,
    /// A node counts as moved if it changed by more than this.
    tolerance: f64,
}

impl Tracker {
    /// Starts from uniform beliefs and messages of 0, with which a fresh run compares its first iteration.
    ///
    /// `tables` are wanted where beliefs of factors are measured.
    pub(super) fn new(
        state: &State, measure: Measure, tables: Option<Arc<FactorTables>>, tolerance: f64,
    ) -> Result<Self> {
        let graph = &state.graph;
        let radices = graph.cardinalities();
        let count: usize = radices.iter().map(|&radix| stored_values(radix)).sum();
        let beliefs = Values::numbers(count, 0.5)?;
        let starts = if graph.all_binary() {
            None
        } else {
            let mut next = 0;
            Some(all_collected(radices.iter().map(|&radix| {
                let start = u32::try_from(next).map_err(|_| {
                    Error::LimitExceeded(format!(
                        "{count} beliefs of states of variables: at most 2^32 can be compared"
                    ))
                });
                next += stored_values(radix);
                start
            }))?)
        };
        let inputs = if measure == Measure::Inputs { state.value_count } else { 0 };
        let factor_beliefs = tables.map(|tables| FactorBeliefs::new(state, tables)).transpose()?;
        let tracker = Self {
            starts,
            beliefs,
            inputs: Values::numbers(inputs, 0.0)?,
            factor_beliefs,
            tolerance,
        };
        if tracker.starts.is_some() {
            for (v, &radix) in radices.iter().enumerate() {
                let start = tracker.start(v);
                for index in start..start + stored_values(radix) {
                    tracker.beliefs.set_number(index, 1.0 / f64::from(radix));
                }
            }
        }
        Ok(tracker)
    }

    #[inline(always)]
    fn start(&self, variable: usize) -> usize {
        self.starts.as_ref().map_or(variable, |starts| starts[variable] as usize)
    }

    /// Replaces the stored beliefs of variables by the current ones, and returns how far they moved. `follows` says that the
    /// stored ones are those before the last iteration: then only variables that got a new message have moved. The current
    /// ones go to `row` as well.
    pub(super) fn beliefs_moved(
        &self, state: &State, synchronous: &Synchronous, team: &mut Team, follows: bool,
        row: Option<&Values>,
    ) -> Movement {
        // Where variables are left out, copying takes less than the others would.
        let (with_all, copied) =
            if follows && synchronous.skips() { (None, row) } else { (row, None) };
        let each = |v, probability, workspace: &mut Workspace| {
            let diff = self.replace_belief(self.start(v), probability, with_all);
            self.note(workspace, v, diff);
        };
        synchronous.probabilities(state, team, follows, each, |v, workspace| {
            if !follows || synchronous.may_have_changed(v) {
                self.measure(state, v, None, with_all, workspace);
            }
        });
        if let Some(row) = copied {
            let length = self.beliefs.len();
            team.run(|worker| row.copy_range_from(&self.beliefs, worker.share(length)));
        }
        collect(team)
    }

    /// [`Self::beliefs_moved`] where the stored ones are those before the last iteration, together with
    /// [`Synchronous::update_to_factors`].
    pub(super) fn beliefs_moved_and_sent(
        &self, state: &State, synchronous: &mut Synchronous, team: &mut Team,
    ) -> Movement {
        let beliefs = (self.beliefs.view(), self.tolerance);
        synchronous.update_and_measure(state, team, beliefs, |v, product, workspace| {
            self.measure(state, v, product, None, workspace);
        });
        collect(team)
    }

    /// Replaces the stored belief of a variable, that of a binary one by that of a `product` if it is known, and notes how far it
    /// moved. The belief goes to `row` as well.
    fn measure(
        &self, state: &State, v: usize, product: Option<Product>, row: Option<&Values>,
        workspace: &mut Workspace,
    ) {
        let at = self.start(v);
        let diff = if let Some(product) = product {
            self.replace_belief(at, product.probability(), row)
        } else if state.is_binary(v) {
            self.replace_belief(at, probability(state, v, workspace), row)
        } else {
            let mut states = std::mem::take(&mut workspace.probabilities);
            if filled_with_zeros(&mut states, state.graph.cardinality(v)).is_err() {
                workspace.lacks_memory = true;
            }
            belief(state, v, workspace, &mut states);
            let diffs =
                states.iter().enumerate().map(|(x, &p)| self.replace_belief(at + x, p, row));
            let diff = diffs.fold(0.0, f64::max);
            workspace.probabilities = states;
            diff
        };
        self.note(workspace, v, diff);
    }

    #[inline(always)]
    fn note(&self, workspace: &mut Workspace, node: usize, diff: f64) {
        let moved = u64::from(diff > self.tolerance);
        workspace.movement.add(Movement { max_diff: diff, most: node, moved, undefined: false });
    }

    #[inline(always)]
    fn replace_belief(&self, index: usize, value: f64, row: Option<&Values>) -> f64 {
        let diff = (value - self.beliefs.number(index)).abs();
        self.beliefs.set_number(index, value);
        if let Some(row) = row {
            row.set_number(index, value);
        }
        diff
    }

    /// Replaces the stored beliefs of factors, or the stored messages to factors, whichever is measured, by those
    /// that follow from `State::by_edge`, and returns how far they moved; see [`FactorBeliefs::replace`] for what are only recalled.
    pub(super) fn factors_moved(
        &self, state: &State, synchronous: &Synchronous, team: &mut Team, recalling: bool,
    ) -> Movement {
        if state.graph.all_binary() && self.factor_beliefs.is_none() {
            self.inputs_moved(state, team);
            return collect(team);
        }
        synchronous.for_factors(team, |f, workspace| {
            let change = match &self.factor_beliefs {
                Some(beliefs) => beliefs.replace(state, f, recalling, workspace).map(|change| {
                    workspace.movement.undefined |= change.is_nan();
                    if change.is_nan() { 0.0 } else { change }
                }),
                None => self.inputs_of_moved(state, f, workspace),
            };
            match change {
                Ok(change) => self.note(workspace, f, change),
                Err(NoMemory) => workspace.lacks_memory = true,
            }
        });
        collect(team)
    }

    /// Replaces the stored messages to all factors by those in `State::by_edge`, where all variables are binary, and notes by
    /// how much.
    fn inputs_moved(&self, state: &State, team: &Team) {
        let graph = &state.graph;
        let (messages, last) = (state.by_edge.view(), self.inputs.view());
        team.run(|worker| {
            let own = worker.share(graph.factor_count());
            for first in own.clone().step_by(FACTORS_AT_ONCE) {
                let factors = first..own.end.min(first + FACTORS_AT_ONCE);
                let start = graph.factor_edges(factors.start).start;
                let end = graph.factor_edges(factors.end - 1).end;
                let mut moves = std::mem::take(&mut worker.workspace.differences);
                if filled_with_zeros(&mut moves, end - start).is_err() {
                    worker.workspace.lacks_memory = true;
                    return;
                }
                replace_probabilities(messages, last, start..end, &mut moves);
                for factor in factors {
                    let edges = graph.factor_edges(factor);
                    let own = &moves[edges.start - start..edges.end - start];
                    self.note(worker.workspace, factor, mean(own));
                }
                worker.workspace.differences = moves;
            }
        });
    }

    /// Replaces the stored messages to a factor by those in `State::by_edge`. Returns half the mean, over the
    /// factor's edges, of the change of the probability of state 1 (for more than two states, of the largest
    /// change).
    fn inputs_of_moved(
        &self, state: &State, factor: usize, workspace: &mut Workspace,
    ) -> Result<f64, NoMemory> {
        let Workspace { differences, message, probabilities, .. } = workspace;
        differences.clear();
        fit(differences, state.graph.arity(factor))?;
        for edge in state.graph.factor_edges(factor) {
            let values = state.edge_values(edge);
            let diff = if values.len() == 1 {
                self.replace_input(values.start, state.by_edge.get(values.start).probability())
            } else {
                message.clear();
                fit(message, values.len())?;
                message.extend(state.by_edge.slice(values.clone()));
                filled_with_zeros(probabilities, values.len())?;
                weights_to_probabilities(message, probabilities);
                let states = probabilities.iter();
                let diffs = values.zip(states).map(|(index, &p)| self.replace_input(index, p));
                diffs.fold(0.0, f64::max)
            };
            differences.push(diff / 2.0);
        }
        Ok(mean(differences))
    }

    #[inline(always)]
    fn replace_input(&self, index: usize, value: f64) -> f64 {
        let diff = (value - self.inputs.number(index)).abs();
        self.inputs.set_number(index, value);
        diff
    }
}

/// The mean of some numbers, with a sum in the shape of the tree; 0 of none.
fn mean(numbers: &[f64]) -> f64 {
    if numbers.is_empty() { 0.0 } else { pairwise_sum(numbers) / numbers.len() as f64 }
}

fn collect(team: &mut Team) -> Movement {
    let mut movement = Movement::default();
    team.collect(|workspace| movement.add(std::mem::take(&mut workspace.movement)));
    movement
}

/// The beliefs of all variables after the last few iterations, for their means.
pub(super) struct History {
    limit: usize,
    /// A ring buffer: once it has `limit` rows, the next row replaces the oldest one.
    rows: Vec<Values>,
    oldest: usize,
    /// Room for the means.
    sums: Vec<f64>,
}

impl History {
    /// A history of the beliefs of a tracker. Rows are allocated when they are needed: few runs need all of them.
    pub(super) fn new(limit: u64, tracker: &Tracker) -> Result<Self> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(Self { limit, rows: Vec::new(), oldest: 0, sums: room(tracker.beliefs.len())? })
    }

    /// The row for the beliefs of the next iteration, of which the caller puts all there; drops the oldest ones beyond the limit.
    pub(super) fn next_row(&mut self, tracker: &Tracker) -> Result<&Values> {
        let row = if self.rows.len() < self.limit {
            self.rows.try_room(1)?;
            self.rows.push(Values::numbers(tracker.beliefs.len(), 0.0)?);
            self.rows.len() - 1
        } else {
            let oldest = self.oldest;
            self.oldest = (oldest + 1) % self.limit;
            oldest
        };
        Ok(&self.rows[row])
    }

    /// Writes the means of the stored beliefs as probabilities of all states of all variables. The oldest row is
    /// added first. Returns `None` if there is no row.
    pub(super) fn means(
        &mut self, state: &State, tracker: &Tracker, out: &mut [f64],
    ) -> Option<()> {
        let (newer, older) = self.rows.split_at(self.oldest);
        let mut rows = older.iter().chain(newer);
        let sums = &mut self.sums;
        let first = rows.next()?;
        sums.clear();
        sums.extend((0..first.len()).map(|index| first.number(index)));
        for row in rows {
            for (index, sum) in sums.iter_mut().enumerate() {
                *sum += row.number(index);
            }
        }
        let count = self.rows.len() as f64;
        let mut at = 0;
        for (v, &radix) in state.graph.cardinalities().iter().enumerate() {
            let states = &mut out[at..at + radix as usize];
            at += states.len();
            let start = tracker.start(v);
            if let [state0, state1] = states {
                *state1 = sums[start] / count;
                *state0 = 1.0 - *state1;
            } else {
                for (x, value) in states.iter_mut().enumerate() {
                    *value = sums[start + x] / count;
                }
            }
        }
        Some(())
    }
}
