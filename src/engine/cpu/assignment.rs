//! Which thread runs which batch, where each batch has edges of one factor only: list scheduling, with estimated times.
//!
//! Batches are taken in the order of the schedule. Two batches that touch a variable, by reading or replacing messages to
//! it, run in that order. So a batch can start on a lane when the lane has run what it was given before, and what the other
//! lanes did to the batch's variables has come over. Among the lanes on which it could start about as early as anywhere, it
//! goes to the one that touched most of its variables last: what it reads is in that lane's cache, and nothing is to be
//! waited for.
//!
//! An iteration follows another one, so that the first batch to touch a variable comes after the last one. Which lane that is
//! on is known from the assignment before: the second and third one put batches together that meet across iterations.

use super::batches::Batches;
use super::state::State;
use super::tuning::Tuning;
use crate::error::Result;
use crate::kernel::SMALL_DEGREE;
use crate::memory::{collected, filled, room};
use crate::prefetch::prefetch;
use std::cmp::Reverse;

/// The lane of each batch.
pub(super) struct Assignment {
    pub(super) lanes: usize,
    pub(super) lane_of: Vec<u16>,
    /// Estimated duration of an iteration, and of one on a single thread, in nanoseconds.
    duration: u64,
    alone: u64,
}

/// Number of times that batches are assigned, each time with what is known from the last time. On BINGO's graphs, a third
/// of the messages that cross lanes after the first time have ceased to after the third; a fourth time changes little.
const ROUNDS: usize = 3;

/// What touched a variable last.
#[derive(Clone, Copy)]
struct Touch {
    lane: u16,
    /// Whether the variable has so many factors that its products are kept.
    is_high: bool,
    /// When.
    end: u64,
}

const NONE: u16 = u16::MAX;

impl Assignment {
    /// The assignment to at most so many lanes that is estimated to be fastest; `None` if one thread is.
    pub(super) fn new(
        state: &State, batches: &Batches, threads: usize, tuning: &Tuning,
    ) -> Result<Option<Self>> {
        let mut lanes = threads.min(NONE as usize);
        let mut best: Option<Self> = None;
        let costs = &costs(state, batches, tuning)?;
        while lanes > 1 {
            // The estimate hardly changes with the rounds.
            let assignment = Self::to_lanes(state, batches, costs, lanes, 1, tuning)?;
            if best.as_ref().is_some_and(|best| best.duration <= assignment.duration) {
                break;
            }
            // Where all lanes are busy, fewer of them would take longer.
            let busy = 2 * assignment.alone >= assignment.duration * lanes as u64;
            best = Some(assignment);
            if busy || lanes == 2 {
                break;
            }
            lanes = lanes.div_ceil(2);
        }
        match best {
            Some(best) if best.is_worthwhile(tuning) => {
                Self::to_lanes(state, batches, costs, best.lanes, ROUNDS, tuning).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn is_worthwhile(&self, tuning: &Tuning) -> bool {
        (self.duration as f64) < tuning.worthwhile_lanes * self.alone as f64
    }

    fn to_lanes(
        state: &State, batches: &Batches, costs: &[u64], lanes: usize, rounds: usize,
        tuning: &Tuning,
    ) -> Result<Self> {
        let graph = &*state.graph;
        let is_high = |v| graph.degree(v) > SMALL_DEGREE;
        let untouched = |v| Touch { lane: NONE, is_high: is_high(v), end: 0 };
        let mut scheduler = Scheduler {
            tuning,
            touched: collected((0..graph.variable_count()).map(untouched))?,
            free: filled(lanes, 0)?,
            known: filled(lanes, 0)?,
            previous: 0,
        };
        let mut lane_of = filled(batches.count(), 0)?;
        for _ in 0..rounds {
            scheduler.free.fill(0);
            scheduler.touched.iter_mut().for_each(|touch| touch.end = 0);
            for (index, (lane, &cost)) in lane_of.iter_mut().zip(costs).enumerate() {
                batches.prefetch_factors(graph, index);
                for &v in batches.variables_ahead(graph, index, 1) {
                    prefetch(&scheduler.touched, v as usize);
                }
                let variables = graph.factor_variables(batches.factor(graph, index));
                *lane = scheduler.place(variables, cost);
            }
        }
        let alone = costs.iter().sum();
        let end = scheduler.free.iter().copied().max().unwrap_or(0);
        let duration = end + tuning.beginning * lanes as u64;
        Ok(Self { lanes, lane_of, duration, alone })
    }
}

/// The [`cost`] of each batch. Errors: no memory.
fn costs(state: &State, batches: &Batches, tuning: &Tuning) -> Result<Vec<u64>> {
    let graph = &state.graph;
    let mut costs = room(batches.count())?;
    for index in 0..batches.count() {
        batches.prefetch_factors(graph, index);
        for &v in batches.variables_ahead(graph, index, 1) {
            prefetch(graph.variable_offsets(), v as usize);
        }
        let factor = batches.factor(graph, index);
        costs.push(cost(state, factor, batches.batch(index).len(), tuning));
    }
    Ok(costs)
}

/// Estimated time that a thread takes for a batch, in nanoseconds; 0 where the messages never change.
fn cost(state: &State, factor: usize, messages: usize, tuning: &Tuning) -> u64 {
    let graph = &state.graph;
    let variables = graph.factor_variables(factor);
    if variables.len() == 1 {
        return 0;
    }
    let high_degree =
        variables.iter().filter(|&&v| graph.degree(v as usize) > SMALL_DEGREE).count();
    let linear = tuning.task
        + tuning.message * (variables.len() + messages) as u64
        + tuning.high_degree * high_degree as u64;
    if graph.is_conjunction(factor) {
        return linear;
    }
    let entries = graph.factor(factor).table_entries(graph.joint_states(factor));
    // Beyond this nothing depends on how long it takes.
    linear + (entries * variables.len() as f64).min(1e12) as u64
}

/// The state of list scheduling.
struct Scheduler<'a> {
    tuning: &'a Tuning,
    /// Per variable.
    touched: Vec<Touch>,
    /// Per lane, when it has run what it was given.
    free: Vec<u64>,
    /// Per lane, how many variables of the current batch it touched last, by the time of their transfer.
    known: Vec<u32>,
    /// The lane of the last batch.
    previous: u16,
}

impl Scheduler<'_> {
    /// Chooses the lane of the next batch, which touches these variables. O(variables + lanes).
    fn place(&mut self, variables: &[u32], cost: u64) -> u16 {
        let Self { tuning, touched, free, known, previous } = self;
        if cost == 0 {
            // Nothing happens, so that it waits for nobody where it stays with its variable.
            let touch = &mut touched[variables[0] as usize];
            touch.lane = if touch.lane == NONE { *previous } else { touch.lane };
            return touch.lane;
        }
        // When the last touches are known to other lanes: the latest one, and the latest one of another lane.
        let (mut latest, mut latest_lane, mut second) = (0, NONE, 0);
        let mut met = 0;
        for &v in variables {
            let Touch { lane, is_high, end } = touched[v as usize];
            if lane == NONE {
                continue;
            }
            let weight = if is_high { tuning.transfer_of_products } else { 1 };
            known[lane as usize] += weight;
            met += weight;
            let end = if end == 0 { 0 } else { end + tuning.latency };
            if lane == latest_lane {
                latest = latest.max(end);
            } else if end > latest {
                (latest, latest_lane, second) = (end, lane, latest);
            } else {
                second = second.max(end);
            }
        }
        let start =
            |lane: u16| free[lane as usize].max(if lane == latest_lane { second } else { latest });
        let lanes = 0..free.len() as u16;
        let earliest = lanes.clone().map(start).min().unwrap_or(0);
        // Without one that touched a variable, or was the last one, it is the first of those where it starts earliest.
        let mut chosen = None;
        let touching = variables.iter().map(|&v| touched[v as usize].lane);
        for lane in touching.filter(|&lane| lane != NONE).chain([*previous]) {
            let begin = start(lane);
            if begin <= earliest + tuning.patience {
                let merit = (known[lane as usize], lane == *previous);
                chosen = chosen.max(Some((merit, Reverse(begin), Reverse(lane))));
            }
        }
        let (begin, lane) = match chosen {
            Some((_, Reverse(begin), Reverse(lane))) => (begin, lane),
            None => (earliest, lanes.clone().find(|&lane| start(lane) == earliest).unwrap_or(0)),
        };
        let end = begin + cost + tuning.transfer * u64::from(met - known[lane as usize]);
        free[lane as usize] = end;
        for &v in variables {
            let touch = &mut touched[v as usize];
            if touch.lane != NONE {
                known[touch.lane as usize] = 0;
            }
            (touch.lane, touch.end) = (lane, end);
        }
        *previous = lane;
        lane
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::SplitMix64;

    /// The lane that [`Scheduler::place`] is to choose, by looking at all of them.
    fn best_of_all(scheduler: &Scheduler<'_>, variables: &[u32]) -> u16 {
        let Scheduler { tuning, touched, free, previous, .. } = scheduler;
        let touches = || variables.iter().map(|&v| touched[v as usize]).filter(|t| t.lane != NONE);
        let known = |touch: Touch| if touch.end == 0 { 0 } else { touch.end + tuning.latency };
        let start = |lane: u16| {
            let others = touches().filter(|touch| touch.lane != lane);
            others.map(known).fold(free[lane as usize], u64::max)
        };
        let met = |lane: u16| -> u32 {
            let here = touches().filter(|touch| touch.lane == lane);
            here.map(|t| if t.is_high { tuning.transfer_of_products } else { 1 }).sum()
        };
        let lanes = || 0..free.len() as u16;
        let earliest = lanes().map(start).min().unwrap();
        let early = lanes().filter(|&lane| start(lane) <= earliest + tuning.patience);
        let merit = |lane| (met(lane), lane == *previous, Reverse(start(lane)), Reverse(lane));
        early.max_by_key(|&lane| merit(lane)).unwrap()
    }

    #[test]
    fn batches_go_to_the_best_of_all_lanes() {
        let tuning = &Tuning::MEASURED;
        let mut random = SplitMix64(3);
        for lanes in [1, 2, 3, 7, 16] {
            let mut below = |count| random.below(count);
            let touch = |is_high| Touch { lane: NONE, is_high, end: 0 };
            let mut scheduler = Scheduler {
                tuning,
                touched: (0..30).map(|_| touch(below(4) == 0)).collect(),
                free: vec![0; lanes],
                known: vec![0; lanes],
                previous: 0,
            };
            for step in 0..3000 {
                if step % 1000 == 0 {
                    // Another round.
                    scheduler.free.fill(0);
                    scheduler.touched.iter_mut().for_each(|touch| touch.end = 0);
                }
                let mut variables: Vec<u32> = (0..1 + below(4)).map(|_| below(30) as u32).collect();
                variables.sort_unstable();
                variables.dedup();
                let expected = best_of_all(&scheduler, &variables);
                let cost = 1 + below(3000);
                assert_eq!(
                    scheduler.place(&variables, cost),
                    expected,
                    "step {step}, {lanes} lanes"
                );
                assert!(scheduler.known.iter().all(|&known| known == 0));
            }
            assert!(lanes < 3 || scheduler.free.iter().filter(|&&end| end > 0).count() > 2);
        }
    }
}
