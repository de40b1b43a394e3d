//! One iteration on several threads.
//!
//! A wide batch runs on all threads in up to three steps with barriers between them: compute the messages
//! into `State::by_edge`, store them, update the product trees of high-degree variables. A run of narrow
//! batches runs on one thread while the others wait at a barrier.

use super::batches::{Batches, by_factor};
use super::factor::is_constant;
use super::high_arity::HighArityFactors;
use super::serial::Serial;
use super::state::State;
use super::store::store;
use super::team::{Team, Worker};
use super::trees::{HighDegreeVariables, Trees};
use super::tuning::Tuning;
use super::workspace::Workspace;
use crate::error::Result;
use crate::memory::{Grow, room};

/// Batches in segments, each of which runs either on all threads or on one.
pub(super) struct ParallelBatches {
    batches: Batches,
    /// Each segment is one wide batch or a run of narrow ones.
    segments: Vec<Segment>,
    /// Per batch, the message indices (in variable-major order) of its edges into variables with trees, ascending:
    /// `tree_slots[tree_offsets[i]..tree_offsets[i + 1]]`.
    tree_offsets: Vec<u32>,
    tree_slots: Vec<u32>,
}

struct Segment {
    batches: std::ops::Range<u32>,
    wide: bool,
}

impl ParallelBatches {
    /// Of levels for which several threads [pay](Batches::pays).
    pub(super) fn new(
        state: &State, trees: &Trees, batches: Batches, tuning: &Tuning,
    ) -> Result<Self> {
        let mut segments: Vec<Segment> = Vec::new();
        for index in 0..batches.count() {
            let wide = batches.batch(index).len() >= tuning.wide_batch;
            let index = index as u32;
            match segments.last_mut() {
                Some(last) if !wide && !last.wide => last.batches.end = index + 1,
                _ => segments.try_push(Segment { batches: index..index + 1, wide })?,
            }
        }
        let mut tree_slots = Vec::new();
        let mut tree_offsets = room(batches.count() + 1)?;
        tree_offsets.push(0);
        for index in 0..batches.count() {
            let start = tree_slots.len();
            for &edge in batches.batch(index) {
                let variable = state.graph.edge_variables()[edge as usize] as usize;
                if trees.covers(variable) {
                    tree_slots.try_push(state.links[edge as usize].slot)?;
                }
            }
            tree_slots[start..].sort_unstable();
            tree_offsets.push(tree_slots.len() as u32);
        }
        Ok(Self { batches, segments, tree_offsets, tree_slots })
    }

    pub(super) fn batches(&self) -> &Batches {
        &self.batches
    }

    /// Runs one iteration on all threads.
    pub(super) fn run(&self, state: &State, trees: &Trees, team: &Team, constants_sent: bool) {
        team.run(|worker| {
            for segment in &self.segments {
                if segment.wide {
                    let index = segment.batches.start as usize;
                    self.run_wide(state, trees, worker, index, constants_sent);
                } else if worker.index == 0 {
                    let mut high_arity = HighArityFactors::default();
                    let workspace = &mut *worker.workspace;
                    let mut serial =
                        uncached(state, trees, &mut high_arity, constants_sent, workspace);
                    for index in segment.batches.clone() {
                        serial.run_batch(self.batches.batch(index as usize));
                    }
                }
                worker.wait();
            }
        });
    }

    fn run_wide(
        &self, state: &State, trees: &Trees, worker: &mut Worker<'_>, index: usize,
        constants_sent: bool,
    ) {
        let batch = self.batches.batch(index);
        let factors = state.graph.edge_factors();
        let share = worker.share(batch.len());
        let same_factor = |&a: &u32, &b: &u32| factors[a as usize] == factors[b as usize];
        let skipped = |factor: usize| constants_sent && is_constant(state, factor);
        let mut high_arity = HighArityFactors::default();
        let workspace = &mut *worker.workspace;
        let mut serial = uncached(state, trees, &mut high_arity, constants_sent, workspace);
        for group in by_factor(state, aligned(batch, share.clone(), same_factor)) {
            serial.run_factor(group, |_, edge, message| state.hold(edge, message));
        }
        worker.wait();
        let mut message = std::mem::take(&mut worker.workspace.message);
        for &edge in &batch[share] {
            if !skipped(factors[edge as usize] as usize) {
                if state.take_held(edge as usize, &mut message).is_err() {
                    worker.workspace.lacks_memory = true;
                    break;
                }
                let link = state.links[edge as usize];
                store(state, edge as usize, link, &message, worker.workspace);
            }
        }
        worker.workspace.message = message;
        let slots = &self.tree_slots
            [self.tree_offsets[index] as usize..self.tree_offsets[index + 1] as usize];
        if !slots.is_empty() {
            worker.wait();
            let edges = state.graph.all_variable_edges();
            let variable = |slot: u32| state.graph.edge_variables()[edges[slot as usize] as usize];
            let same_variable = |&a: &u32, &b: &u32| variable(a) == variable(b);
            let own = aligned(slots, worker.share(slots.len()), same_variable);
            for group in own.chunk_by(same_variable) {
                trees.update_slots(state, variable(group[0]) as usize, group);
            }
        }
    }
}

/// The state of a serial run for one of several threads. It has neither cursors nor trees of high-arity
/// factors: both follow the messages in the order in which one thread updates them.
pub(super) fn uncached<'a>(
    state: &'a State, trees: &'a Trees, high_arity: &'a mut HighArityFactors, constants_sent: bool,
    workspace: &'a mut Workspace,
) -> Serial<'a> {
    let high_degree_variables = HighDegreeVariables { trees, cursors: None };
    Serial { state, high_degree_variables, high_arity, constants_sent, workspace }
}

/// The items of a share, with both ends moved forward to the next start of a group, so that every group
/// belongs to exactly one share.
pub(super) fn aligned<T>(
    items: &[T], share: std::ops::Range<usize>, same: impl Fn(&T, &T) -> bool,
) -> &[T] {
    let forward = |mut at: usize| {
        while at > 0 && at < items.len() && same(&items[at - 1], &items[at]) {
            at += 1;
        }
        at
    };
    &items[forward(share.start)..forward(share.end)]
}
