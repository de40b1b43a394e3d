//! Factors that have moved for certain by BINGO's rule, since some of their inputs have.
//!
//! A factor moves by the mean of what its inputs move by, which is at least what some of them move by, over the number of all. A
//! variable of two factors sends to each of them what it gets from the other one: so such an input is a message that is there
//! already, where others are products. Most inputs in BINGO's graphs are of this kind. As long as variables and so many of these
//! factors have moved that the run goes on, no other input is computed.

use super::inputs::{AtPlaces, replace_probabilities};
use super::state::{Known, State};
use super::team::Team;
use super::values::Values;
use super::variable::filled_with_zeros;
use crate::error::Result;
use crate::memory::{Grow, room};
use std::ops::Range;

/// Factors whose inputs are taken together.
const FACTORS_AT_ONCE: usize = 256;
/// So many more are looked at than would be enough if as large a part of them had moved as in the iteration before.
const SPARE_PART: usize = 8;
const LEAST_SPARE: usize = 64;
/// It is given up after so many iterations in a row in which all together were not enough: fewer and fewer move.
const MOST_FAILURES: u32 = 3;

/// See the head of this file.
pub(super) struct SingleInputs {
    /// Of each factor that has such inputs, where the messages are: `places[ends[i - 1]..ends[i]]`; and the number of all its inputs.
    places: Vec<u32>,
    ends: Vec<u32>,
    arities: Vec<u32>,
    /// By input, the probability of state 1 that it was when last looked at.
    last: Values,
    /// The inputs of so many factors, the first ones, were looked at after this iteration, and so many of these had moved.
    looked_at: usize,
    iteration: u64,
    moved: usize,
    failures: u32,
}

/// The edges of a factor along which it gets what another factor sends to the same variable, and where that is.
pub(super) fn single_inputs(
    state: &State, factor: usize,
) -> impl Iterator<Item = (usize, u32)> + use<'_> {
    state.graph.factor_edges(factor).filter_map(|edge| {
        let variable = state.graph.edge_variables()[edge] as usize;
        let slots = state.slots(variable);
        let is_single = slots.len() == 2 && state.known[variable] == Known::Nothing;
        is_single
            .then(|| (edge, (slots.start + slots.end - 1 - state.links[edge].slot as usize) as u32))
    })
}

impl SingleInputs {
    /// For a graph of binary variables, with the evidence of the state. O(edges). Errors: no memory.
    pub(super) fn new(state: &State) -> Result<Self> {
        let graph = &state.graph;
        let count = graph.factor_count();
        let (mut places, mut ends, mut arities) = (Vec::new(), room(count)?, room(count)?);
        for factor in 0..count {
            let before = places.len();
            places.try_extend(single_inputs(state, factor).map(|(_, place)| place))?;
            if places.len() > before {
                ends.push(places.len() as u32);
                arities.push(graph.arity(factor) as u32);
            }
        }
        let last = Values::numbers(places.len(), 0.0)?;
        Ok(Self { places, ends, arities, last, looked_at: 0, iteration: 0, moved: 0, failures: 0 })
    }

    /// How many factors have moved by more than the tolerance in the last of so many iterations: no more than have, and if
    /// possible as many as are `wanted`. O(wanted), if most of them have.
    pub(super) fn moved(
        &mut self, state: &State, team: &mut Team, iterations: u64, wanted: usize, tolerance: f64,
    ) -> usize {
        let all = self.ends.len();
        if self.failures >= MOST_FAILURES || wanted > all {
            return 0;
        }
        let known = if self.iteration + 1 == iterations { self.looked_at } else { 0 };
        // As `wanted` grows with each iteration, so does this.
        let enough = match self.moved {
            0 => all,
            moved => (wanted as u64 * self.looked_at as u64 / moved as u64) as usize,
        };
        let looked_at = enough.saturating_add(enough / SPARE_PART + LEAST_SPARE).min(all);
        let inputs = AtPlaces { messages: state.to_variable.view(), places: &self.places };
        team.run(|worker| {
            let own = worker.share(looked_at);
            let mut moves = std::mem::take(&mut worker.workspace.differences);
            for first in own.clone().step_by(FACTORS_AT_ONCE) {
                let factors = first..own.end.min(first + FACTORS_AT_ONCE);
                let range = self.start(factors.start)..self.start(factors.end);
                if filled_with_zeros(&mut moves, range.len()).is_err() {
                    worker.workspace.lacks_memory = true;
                    break;
                }
                replace_probabilities(inputs, self.last.view(), range, &mut moves);
                let known_here = known.clamp(factors.start, factors.end);
                let moved = self.count(factors.start..known_here, &moves, tolerance);
                worker.workspace.movement.moved += moved;
            }
            worker.workspace.differences = moves;
        });
        let mut moved = 0;
        team.collect(|workspace| moved += std::mem::take(&mut workspace.movement).moved as usize);
        let has_failed = known == all && moved < wanted;
        self.failures = if has_failed { self.failures + 1 } else { 0 };
        // (Nothing is known of the part that moves if nothing was known before.)
        self.moved = if known == 0 { 0 } else { moved * looked_at / known.min(looked_at) };
        (self.looked_at, self.iteration) = (looked_at, iterations);
        moved
    }

    /// Where the inputs of a factor begin.
    fn start(&self, factor: usize) -> usize {
        factor.checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    /// How many of some factors have moved by more than the tolerance, whose inputs have by `moves`. These are summed in another
    /// order than that of the rule: so sums are taken for less than they are, by more than all roundings make.
    fn count(&self, factors: Range<usize>, moves: &[f64], tolerance: f64) -> u64 {
        let (mut moved, mut start) = (0, self.start(factors.start));
        let first = start;
        for factor in factors {
            let end = self.ends[factor] as usize;
            let sum: f64 = moves[start - first..end - first].iter().sum();
            let least = sum * (1.0 - f64::EPSILON * (end - start) as f64);
            moved += u64::from(least / f64::from(self.arities[factor]) > tolerance);
            start = end;
        }
        moved
    }
}
