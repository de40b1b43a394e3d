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
use crate::memory::filled;

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
        while lanes > 1 {
            // The estimate hardly changes with the rounds.
            let assignment = Self::to_lanes(state, batches, lanes, 1, tuning)?;
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
                Self::to_lanes(state, batches, best.lanes, ROUNDS, tuning).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn is_worthwhile(&self, tuning: &Tuning) -> bool {
        (self.duration as f64) < tuning.worthwhile_lanes * self.alone as f64
    }

    fn to_lanes(
        state: &State, batches: &Batches, lanes: usize, rounds: usize, tuning: &Tuning,
    ) -> Result<Self> {
        let untouched = Touch { lane: NONE, end: 0 };
        let mut scheduler = Scheduler {
            tuning,
            touched: filled(state.graph.variable_count(), untouched)?,
            free: filled(lanes, 0)?,
            known: filled(lanes, 0)?,
            previous: 0,
        };
        let mut lane_of = filled(batches.count(), 0)?;
        let mut alone = 0;
        for _ in 0..rounds {
            scheduler.free.fill(0);
            scheduler.touched.iter_mut().for_each(|touch| touch.end = 0);
            alone = 0;
            for (index, lane) in lane_of.iter_mut().enumerate() {
                let batch = batches.batch(index);
                let factor = state.graph.edge_factors()[batch[0] as usize] as usize;
                let cost = cost(state, factor, batch.len(), tuning);
                *lane = scheduler.place(state, state.graph.factor_variables(factor), cost);
                alone += cost;
            }
        }
        let end = scheduler.free.iter().copied().max().unwrap_or(0);
        let duration = end + tuning.beginning * lanes as u64;
        Ok(Self { lanes, lane_of, duration, alone })
    }
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
    fn place(&mut self, state: &State, variables: &[u32], cost: u64) -> u16 {
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
            let Touch { lane, end } = touched[v as usize];
            if lane == NONE {
                continue;
            }
            let is_high = state.graph.degree(v as usize) > SMALL_DEGREE;
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
        let start = |lane: usize, free: &[u64]| {
            free[lane].max(if lane == latest_lane as usize { second } else { latest })
        };
        let earliest = (0..free.len()).map(|lane| start(lane, free)).min().unwrap_or(0);
        let mut chosen = (0, u64::MAX, (0, false));
        for (lane, &met_here) in known.iter().enumerate() {
            let begin = start(lane, free);
            let merit = (met_here, lane == *previous as usize);
            if begin <= earliest + tuning.patience
                && (merit > chosen.2 || merit == chosen.2 && begin < chosen.1)
            {
                chosen = (lane, begin, merit);
            }
        }
        let (lane, begin, _) = chosen;
        let end = begin + cost + tuning.transfer * u64::from(met - known[lane]);
        free[lane] = end;
        let lane = lane as u16;
        for &v in variables {
            let touch = &mut touched[v as usize];
            if touch.lane != NONE {
                known[touch.lane as usize] = 0;
            }
            *touch = Touch { lane, end };
        }
        *previous = lane;
        lane
    }
}
