//! Edges in batches. All messages of a batch are computed before any of them is stored; batches run one after
//! the other.

use super::high_arity::HighArityFactors;
use super::state::State;
use super::tuning::Tuning;
use crate::error::Result;
use crate::kernel::head_first_position;
use crate::memory::{Grow, copied, filled, room};
use crate::model::FactorGraph;
use crate::prefetch::prefetch;
use crate::schedule::{Levels, Preorder};

/// By so many batches, what is looked up of variables is prefetched before it is needed.
const AHEAD: usize = 12;

/// By so many edges, a factor is far from the one before.
const FAR: u32 = 32;

/// Variables of a factor for which something is prefetched; few factors have more.
const PREFETCHED_VARIABLES: usize = 8;

/// The edges of a schedule, batch by batch, in the order in which the batches run.
pub(super) struct Batches {
    /// Inside a batch, edges ascend, so that a factor's edges lie together.
    edges: Vec<u32>,
    offsets: Vec<u32>,
    /// The batches as tasks for one thread; empty until [`Self::prepare_serial`]. Factors with one variable are
    /// left out: their messages never change.
    tasks: Vec<Task>,
    /// Whether most tasks are of factors far from that of the task before.
    jumps: bool,
}

/// Added to the arity of a task that updates some of a factor's messages, not all.
pub(super) const SOME: u8 = 8;

/// One batch as one thread runs it, in 12 bytes.
pub(super) struct Task {
    /// The first edge of the factor; if `arity` is 0, the index of the batch.
    pub(super) first: u32,
    /// Index of the factor's coefficients.
    pub(super) coefficients: u32,
    /// Number of variables of a binary conjunction, 2 to 8, all of whose messages are updated, or more by [`SOME`] where some are; 0
    /// for any other batch.
    pub(super) arity: u8,
    /// Position of the factor's head.
    pub(super) head: u8,
    /// A bit for each message that is updated, in the order of [`head_first_position`].
    pub(super) sent: u8,
}

/// What tasks are made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tasks {
    /// Of batches with some of a factor's edges, too.
    OfParts,
    /// Of batches with all edges of a factor only.
    OfFactors,
}

impl Task {
    /// The batch with an index. Returns `None` for a factor with one variable.
    pub(super) fn new(state: &State, index: usize, batch: &[u32], tasks: Tasks) -> Option<Self> {
        let graph = &state.graph;
        let factor = graph.edge_factors()[batch[0] as usize] as usize;
        let own = graph.factor_edges(factor);
        let is_of_one = (batch[batch.len() - 1] as usize) < own.end;
        let is_whole = is_of_one && batch.len() == own.len();
        if is_whole && own.len() == 1 {
            return None;
        }
        if (is_whole || is_of_one && tasks == Tasks::OfParts)
            && let Some(task) = Self::of_conjunction(state, factor)
        {
            return Some(if is_whole { task } else { task.of_some(batch) });
        }
        Some(Self { first: index as u32, coefficients: 0, arity: 0, head: 0, sent: 0 })
    }

    /// That of some of the factor's edges.
    fn of_some(self, edges: &[u32]) -> Self {
        let position = |number| head_first_position(number, self.head.into()) as u32;
        let bit = |number| u8::from(edges.contains(&(self.first + position(number)))) << number;
        let sent = (0..self.arity.into()).map(bit).sum();
        Self { arity: self.arity + SOME, sent, ..self }
    }

    /// All messages of a factor, if it is a binary conjunction of 2 to 8 variables.
    pub(super) fn of_conjunction(state: &State, factor: usize) -> Option<Self> {
        let graph = &state.graph;
        let own = graph.factor_edges(factor);
        if !graph.all_binary() || !(2..=8).contains(&own.len()) {
            return None;
        }
        Some(Self {
            first: own.start as u32,
            coefficients: graph.conjunction_parameter(factor)? as u32,
            arity: own.len() as u8,
            head: graph.head_position(factor)? as u8,
            sent: u8::MAX,
        })
    }
}

/// What a batch updates of one factor.
#[derive(Clone, Copy)]
pub(super) struct FactorPart {
    pub(super) factor: u32,
    /// Which edges of all batches.
    pub(super) start: u32,
    pub(super) end: u32,
    /// A bit for the position of each edge in the factor, of the first 32; for `four.rs`.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
    pub(super) positions: u32,
}

impl Batches {
    /// The parts of a batch.
    pub(super) fn parts<'a>(
        &'a self, state: &'a State, index: usize,
    ) -> impl Iterator<Item = FactorPart> + 'a {
        let mut end = self.offsets[index];
        by_factor(state, self.batch(index)).map(move |edges| {
            let start = end;
            end += edges.len() as u32;
            let factor = state.graph.edge_factors()[edges[0] as usize];
            let first = state.graph.factor_edges(factor as usize).start as u32;
            let bit = |&edge: &u32| 1_u32.checked_shl(edge - first).unwrap_or(0);
            let positions = edges.iter().map(bit).fold(0, |bits, bit| bits | bit);
            FactorPart { factor, start, end, positions }
        })
    }

    /// The edges of a part.
    #[inline(always)]
    pub(super) fn edges_of(&self, part: FactorPart) -> &[u32] {
        &self.edges[part.start as usize..part.end as usize]
    }

    /// Makes the tasks for one thread.
    pub(super) fn prepare_serial(&mut self, state: &State, kind: Tasks) -> Result<()> {
        let mut list = room(self.count())?;
        for index in 0..self.count() {
            self.prefetch_factors(&state.graph, index);
            list.extend(Task::new(state, index, self.batch(index), kind));
        }
        let is_far = |pair: &&[Task]| pair[1].first.wrapping_sub(pair[0].first) >= FAR;
        self.jumps = 2 * list.windows(2).filter(is_far).count() > list.len();
        self.tasks = list;
        Ok(())
    }

    /// One batch per class of a preorder. Consecutive classes with edges of the same single factor become
    /// one batch, since a factor's messages do not read each other.
    pub(super) fn of_classes(state: &State, preorder: &Preorder) -> Result<Self> {
        let factors = state.graph.edge_factors();
        let (mut edges, classes) = preorder.classes()?;
        let mut offsets = filled(1, 0)?;
        let mut previous = None;
        for class in classes.windows(2) {
            let own = &edges[class[0] as usize..class[1] as usize];
            let factor = factors[own[0] as usize];
            let single = (factors[own[own.len() - 1] as usize] == factor).then_some(factor);
            if single.is_some() && single == previous {
                offsets.pop();
            }
            offsets.try_push(class[1])?;
            previous = single;
        }
        for batch in offsets.windows(2) {
            edges[batch[0] as usize..batch[1] as usize].sort_unstable();
        }
        Ok(Self { edges, offsets, tasks: Vec::new(), jumps: false })
    }

    /// The same messages in batches of a factor each, where those of a batch do not read each other: an order among them changes
    /// nothing then. O(variables + sum of the arities of the factors of each batch).
    pub(super) fn by_factors(self, state: &State) -> Result<Self> {
        let mut updates = Updates::new(state)?;
        let mut offsets = filled(1, 0)?;
        for index in 0..self.count() {
            self.prefetch_factors(&state.graph, index);
            let batch = self.batch(index);
            let mut end = self.offsets[index];
            if updates.are_read(state, batch, index) {
                offsets.try_push(end + batch.len() as u32)?;
                continue;
            }
            for group in by_factor(state, batch) {
                end += group.len() as u32;
                offsets.try_push(end)?;
            }
        }
        Ok(Self { offsets, ..self })
    }

    /// One batch per level.
    pub(super) fn of_levels(levels: &Levels) -> Result<Self> {
        Ok(Self {
            edges: copied(levels.order())?,
            offsets: copied(levels.offsets())?,
            tasks: Vec::new(),
            jumps: false,
        })
    }

    /// The tasks that [`Self::prepare_serial`] has made, in the order of the batches.
    pub(super) fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Whether what tasks read of their factors has to be prefetched: the processor's own prefetcher does not find it.
    pub(super) fn jumps(&self) -> bool {
        self.jumps
    }

    pub(super) fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(super) fn batch(&self, index: usize) -> &[u32] {
        &self.edges[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    /// The factor of a batch, where each has edges of one factor only.
    #[inline]
    pub(super) fn factor(&self, graph: &FactorGraph, index: usize) -> usize {
        graph.edge_factors()[self.batch(index)[0] as usize] as usize
    }

    /// Prefetches what is needed to find the factors, and their variables, of batches behind this one.
    pub(super) fn prefetch_factors(&self, graph: &FactorGraph, index: usize) {
        if index + 4 * AHEAD < self.count() {
            prefetch(graph.edge_factors(), self.batch(index + 4 * AHEAD)[0] as usize);
            let edge = self.batch(index + 3 * AHEAD)[0] as usize;
            prefetch(graph.edge_variables(), edge);
            prefetch(graph.factor_offsets(), graph.edge_factors()[edge] as usize);
        }
    }

    /// Variables of the factor of a batch some places behind this one, or twice as many, of which something may be prefetched;
    /// [`Self::prefetch_factors`] is to be called for each batch.
    pub(super) fn variables_ahead<'a>(
        &self, graph: &'a FactorGraph, index: usize, times: usize,
    ) -> &'a [u32] {
        let index = index + times * AHEAD;
        if index >= self.count() {
            return &[];
        }
        let variables = graph.factor_variables(self.factor(graph, index));
        &variables[..variables.len().min(PREFETCHED_VARIABLES)]
    }

    /// Whether some batch has edges of several factors.
    pub(super) fn mixes_factors(&self, state: &State) -> bool {
        let factors = state.graph.edge_factors();
        (0..self.count()).any(|index| {
            let batch = self.batch(index);
            factors[batch[0] as usize] != factors[batch[batch.len() - 1] as usize]
        })
    }

    /// Estimates whether several threads run an iteration over these batches, which are levels, faster than one thread that
    /// updates the edges in schedule order; `in_two_steps` as [`MixedBatches`] do.
    ///
    /// The unit of cost is one message read or written. One thread reads and writes each message once. In
    /// batches, a factor's inputs are read again for every batch that has some of its edges, each message is
    /// stored twice, and small factors do not get their own fast path. In two steps all this is so on one thread, too. Narrow
    /// batches run on one thread in either case.
    ///
    /// [`MixedBatches`]: super::mixed::MixedBatches
    pub(super) fn pays(
        &self, state: &State, threads: usize, in_two_steps: bool, tuning: &Tuning,
    ) -> bool {
        let graph = &state.graph;
        let costs = if in_two_steps { &tuning.two_steps } else { &tuning.one_step };
        let (mut alone, mut together) = (0.0, 0.0);
        for index in 0..self.count() {
            let batch = self.batch(index);
            let work: usize = by_factor(state, batch)
                .map(|group| {
                    graph.arity(graph.edge_factors()[group[0] as usize] as usize) + 2 * group.len()
                })
                .sum();
            let (work, threads) = (work as f64, threads as f64);
            alone += if in_two_steps { work } else { 2.0 * batch.len() as f64 };
            together += if batch.len() >= tuning.wide_batch {
                costs.in_wide_batches * work / threads + costs.barriers * threads
            } else {
                costs.in_narrow_batches * work
            };
        }
        together < tuning.worthwhile * alone
    }

    /// For each factor, whether some batch updates only few of its messages; see [`HighArityFactors`].
    pub(super) fn sends_few(&self, state: &State) -> Result<Vec<bool>> {
        let graph = &state.graph;
        let mut few = filled(graph.factor_count(), false)?;
        for index in 0..self.count() {
            for group in by_factor(state, self.batch(index)) {
                let factor = graph.edge_factors()[group[0] as usize] as usize;
                few[factor] |= HighArityFactors::is_few(group.len(), graph.arity(factor));
            }
        }
        Ok(few)
    }
}

/// Of which factors a batch updates messages to each variable.
struct Updates {
    /// Per variable, one more than the last batch that was seen to update messages to it, and the factor; [`SEVERAL`] for more.
    last: Vec<(u32, u32)>,
}

const SEVERAL: u32 = u32::MAX;

impl Updates {
    fn new(state: &State) -> Result<Self> {
        Ok(Self { last: filled(state.graph.variable_count(), (0, SEVERAL))? })
    }

    /// Whether any message of a batch is read for another one.
    fn are_read(&mut self, state: &State, batch: &[u32], index: usize) -> bool {
        let graph = &state.graph;
        let stamp = index as u32 + 1;
        let factor_of = |group: &[u32]| graph.edge_factors()[group[0] as usize];
        for group in by_factor(state, batch) {
            for &edge in group {
                let last = &mut self.last[graph.edge_variables()[edge as usize] as usize];
                *last = (stamp, if last.0 == stamp { SEVERAL } else { factor_of(group) });
            }
        }
        by_factor(state, batch).any(|group| {
            let factor = factor_of(group);
            // The variable of the only message is not read.
            let unread = if let [edge] = *group { edge as usize } else { usize::MAX };
            let mut edges = graph.factor_edges(factor as usize).filter(|&edge| edge != unread);
            edges.any(|edge| {
                let (batch, by) = self.last[graph.edge_variables()[edge] as usize];
                batch == stamp && by != factor
            })
        })
    }
}

/// Splits a batch into the edges of each factor.
pub(super) fn by_factor<'a>(state: &'a State, batch: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
    let factors = state.graph.edge_factors();
    batch.chunk_by(move |&a, &b| factors[a as usize] == factors[b as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;
    use std::sync::Arc;

    /// Of a chain, messages to one variable do not read each other; all messages to the left do, and so do those to both variables
    /// of neighbouring factors.
    #[test]
    fn batches_are_split_where_no_message_reads_another() {
        let mut builder = FactorGraphBuilder::new();
        (1..5).for_each(|v| builder.add_and(v, &[v - 1], 0.9, 0.1).unwrap());
        let graph = builder.build().unwrap();
        let edge = |factor: usize, variable: u32| {
            let mut edges = graph.factor_edges(factor);
            edges.find(|&edge| graph.edge_variables()[edge] == variable).unwrap()
        };
        let classes: [&[usize]; 3] = [
            &[edge(0, 1), edge(1, 1)],
            &[edge(0, 0), edge(2, 3), edge(3, 4)],
            &[edge(1, 2), edge(2, 2), edge(3, 3)],
        ];
        let mut ranks = vec![0; graph.edge_count()];
        for (rank, class) in classes.iter().enumerate() {
            class.iter().for_each(|&edge| ranks[edge] = rank as u64);
        }
        let preorder = Preorder::from_ranks(&graph, &ranks).unwrap();
        let state = State::new(Arc::new(graph)).unwrap();
        let sizes = |batches: &Batches| -> Vec<usize> {
            (0..batches.count()).map(|index| batches.batch(index).len()).collect()
        };
        let batches = Batches::of_classes(&state, &preorder).unwrap();
        assert_eq!(sizes(&batches), [2, 3, 3]);
        let split = batches.by_factors(&state).unwrap();
        assert_eq!(sizes(&split), [1, 1, 3, 3]);
        assert_eq!(split.edges.len(), state.graph.edge_count());
    }
}
