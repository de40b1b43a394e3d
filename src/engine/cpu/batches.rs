//! Passes that update the edges batch by batch: a batch's messages are all computed before any of
//! them is stored.

use super::factor::{is_constant, messages};
use super::plan::Tuning;
use super::state::{Link, Source, State};
use super::team::{Team, Worker};
use super::trees::{Hubs, Trees};
use super::variable::{hub_odds, odds_to_factor, simple_odds};
use super::wide::WideFactors;
use super::workspace::Workspace;
use crate::error::Result;
use crate::kernel::{HornCoefficients, Inference, Packed, small_horn_messages};
use crate::memory::{Grow, copied, filled, fit, room};
use crate::schedule::{Levels, Preorder};

/// Edges in batches, in the order in which the batches run.
pub(super) struct Batches {
    /// Inside a batch, edges ascend, so that a factor's edges lie together.
    edges: Vec<u32>,
    offsets: Vec<u32>,
    /// The same, with what one thread needs at hand, without the factors that send only once.
    tasks: Vec<Task>,
}

/// One batch of a serial pass.
struct Task {
    /// The first edge of a factor all of whose messages are sent, or the number of the batch.
    first: u32,
    /// Index of the factor's coefficients.
    coefficients: u32,
    /// Number of the factor's variables, 2 to 8; 0 for another batch.
    arity: u8,
    /// Position of the factor's head.
    head: u8,
}

impl Task {
    /// `None` for a factor with one variable.
    fn new(state: &State, index: usize, batch: &[u32]) -> Option<Self> {
        let graph = &state.graph;
        let factor = graph.edge_factors()[batch[0] as usize] as usize;
        let own = graph.factor_edges(factor);
        if batch.len() == own.len() && batch[batch.len() - 1] as usize + 1 == own.end {
            if own.len() == 1 {
                return None;
            }
            if let (true, 2..=8, Some(head), Some(parameter)) = (
                graph.all_binary(),
                own.len(),
                graph.head_position(factor),
                graph.conjunction_parameter(factor),
            ) {
                return Some(Self {
                    first: own.start as u32,
                    coefficients: parameter as u32,
                    arity: own.len() as u8,
                    head: head as u8,
                });
            }
        }
        Some(Self { first: index as u32, coefficients: 0, arity: 0, head: 0 })
    }
}

impl Batches {
    /// Prepares the batches for one thread.
    pub(super) fn prepare_serial(&mut self, state: &State) -> Result<()> {
        let tasks = || (0..self.count()).filter_map(|i| Task::new(state, i, self.batch(i)));
        let mut list = room(tasks().count())?;
        list.extend(tasks());
        self.tasks = list;
        Ok(())
    }

    /// One batch per class of a preorder. Classes that follow each other and concern one and the
    /// same factor are joined, since a factor's messages do not read each other.
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
        Ok(Self { edges, offsets, tasks: Vec::new() })
    }

    /// One batch per level.
    pub(super) fn of_levels(levels: &Levels) -> Result<Self> {
        Ok(Self {
            edges: copied(levels.order())?,
            offsets: copied(levels.offsets())?,
            tasks: Vec::new(),
        })
    }

    pub(super) fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(super) fn batch(&self, index: usize) -> &[u32] {
        &self.edges[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    /// Whether a batch has edges of several factors.
    pub(super) fn mixes_factors(&self, state: &State) -> bool {
        let factors = state.graph.edge_factors();
        (0..self.count()).any(|index| {
            let batch = self.batch(index);
            factors[batch[0] as usize] != factors[batch[batch.len() - 1] as usize]
        })
    }

    /// Whether several threads make a pass over these batches faster than one thread that takes the
    /// edges in their own order.
    ///
    /// Counted in messages read or written: one thread reads and writes each edge's once. In batches,
    /// a factor's inputs are read again for every batch that has some of its edges, messages are
    /// stored twice, and small factors have no way of their own; narrow batches run on one thread all
    /// the same.
    fn pays(&self, state: &State, threads: usize, tuning: &Tuning) -> bool {
        let graph = &state.graph;
        let alone = 2 * graph.edge_count();
        let mut together = 0.0;
        for index in 0..self.count() {
            let batch = self.batch(index);
            let work: usize = by_factor(state, batch)
                .map(|group| {
                    graph.arity(graph.edge_factors()[group[0] as usize] as usize) + 2 * group.len()
                })
                .sum();
            let (work, threads) = (work as f64, threads as f64);
            together += if batch.len() >= tuning.wide_batch {
                tuning.in_wide_batches * work / threads + tuning.barriers * threads
            } else {
                tuning.in_narrow_batches * work
            };
        }
        together < tuning.worthwhile * alone as f64
    }

    /// For each factor, whether some batch sends few of its messages; see [`WideFactors`].
    pub(super) fn sends_few(&self, state: &State) -> Result<Vec<bool>> {
        let graph = &state.graph;
        let mut few = filled(graph.factor_count(), false)?;
        for index in 0..self.count() {
            for group in by_factor(state, self.batch(index)) {
                let factor = graph.edge_factors()[group[0] as usize] as usize;
                few[factor] |= WideFactors::is_few(group.len(), graph.arity(factor));
            }
        }
        Ok(few)
    }
}

/// The edges of a batch, factor by factor.
pub(super) fn by_factor<'a>(state: &'a State, batch: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
    let factors = state.graph.edge_factors();
    batch.chunk_by(move |&a, &b| factors[a as usize] == factors[b as usize])
}

/// Stores a message, damped if the run is, and notes where a certain one came.
#[inline(always)]
pub(super) fn store(
    state: &State,
    edge: usize,
    link: Link,
    message: &[Packed],
    workspace: &mut Workspace,
) {
    state.keep_computed(link.slot as usize, message);
    if state.damping > 0.0 {
        return store_damped(state, edge, link, message, workspace);
    }
    store_settled(state, edge, link, message);
}

#[cold]
#[inline(never)]
fn store_damped(
    state: &State,
    edge: usize,
    link: Link,
    message: &[Packed],
    workspace: &mut Workspace,
) {
    let Workspace { damped, old, contradictions, lacks_memory, .. } = workspace;
    damped.clear();
    if fit(damped, message.len()).and_then(|()| fit(old, message.len())).is_err() {
        *lacks_memory = true;
        return;
    }
    damped.extend_from_slice(message);
    if state.damp(link.slot as usize, damped, old) {
        contradictions.add(state.graph.edge_variables()[edge] as usize);
    }
    store_settled(state, edge, link, damped);
}

/// Stores a message as it is and notes where a certain one came.
#[inline(always)]
fn store_settled(state: &State, edge: usize, link: Link, message: &[Packed]) {
    for (index, &value) in state.slot_values(link.slot as usize).zip(message) {
        if value.may_be_certain() {
            note_certain(state, edge, index, value);
        }
        state.to_variable.set(index, value);
    }
}

#[cold]
fn note_certain(state: &State, edge: usize, at: usize, value: Packed) {
    if value.is_certain() && state.to_variable.get(at) != value {
        state.newly_certain.set(state.graph.edge_variables()[edge] as usize);
    }
}

/// How many tasks ahead of the one at work the messages are brought near.
const PREFETCH_DISTANCE: usize = 8;

/// What one thread needs to run batches in their order.
pub(super) struct Serial<'a> {
    pub(super) state: &'a State,
    pub(super) hubs: Hubs<'a>,
    pub(super) wide: &'a mut WideFactors,
    pub(super) constants_sent: bool,
    pub(super) workspace: &'a mut Workspace,
}

impl Serial<'_> {
    pub(super) fn run(&mut self, batches: &Batches) {
        if !self.constants_sent || !self.state.is_plain_run() {
            for index in 0..batches.count() {
                self.run_batch(batches.batch(index));
            }
            return;
        }
        if self.wide.is_empty() {
            self.run_tasks::<false>(batches);
        } else {
            self.run_tasks::<true>(batches);
        }
    }

    fn run_tasks<const WIDE: bool>(&mut self, batches: &Batches) {
        let mut ahead = batches.tasks.iter().skip(PREFETCH_DISTANCE);
        for task in &batches.tasks {
            if let Some(next) = ahead.next() {
                let links = self.state.links.get(next.first as usize..);
                if let Some(links) = links.and_then(|links| links.first_chunk::<4>()) {
                    for link in links {
                        self.state.to_variable.prefetch(link.slot as usize);
                    }
                }
            }
            match task.arity {
                2 => self.run_task::<2, WIDE>(task),
                3 => self.run_task::<3, WIDE>(task),
                4 => self.run_task::<4, WIDE>(task),
                5 => self.run_task::<5, WIDE>(task),
                6 => self.run_task::<6, WIDE>(task),
                7 => self.run_task::<7, WIDE>(task),
                8 => self.run_task::<8, WIDE>(task),
                _ => self.run_batch(batches.batch(task.first as usize)),
            }
        }
    }

    /// All messages of a factor with `N` variables, where some factors are wide if `WIDE`.
    #[inline(always)]
    fn run_task<const N: usize, const WIDE: bool>(&mut self, task: &Task) {
        let state = self.state;
        let first = task.first as usize;
        let Some(links) = state.links[first..].first_chunk::<N>() else { return };
        let mut inputs = [Packed::ONE; N];
        for (position, input) in inputs.iter_mut().enumerate() {
            let (edge, link) = (first + position, links[position]);
            *input = match simple_odds(state, link) {
                Some(odds) => odds,
                None if link.source == Source::Hub => {
                    hub_odds(state, &mut self.hubs, edge, self.workspace)
                }
                None => odds_to_factor(state, &mut self.hubs, edge, self.workspace),
            };
        }
        let c = state.coefficients(task.coefficients as usize);
        let outputs = small_horn_messages(&inputs, task.head as usize, c);
        for (position, &output) in outputs.iter().enumerate() {
            let (edge, link) = (first + position, links[position]);
            let mut odds = output;
            if odds.may_be_certain() {
                odds = self.checked(odds, edge);
                note_certain(state, edge, link.slot as usize, odds);
            }
            state.to_variable.set(link.slot as usize, odds);
            if link.hub {
                self.hubs.changed(state, edge);
            }
            if WIDE {
                let variable = state.graph.edge_variables()[edge] as usize;
                let factor = state.graph.edge_factors()[edge] as usize;
                self.wide.message_arrived(state, variable, factor);
            }
        }
    }

    /// Runs edges one after the other.
    pub(super) fn run_sequence(&mut self, edges: &[u32]) {
        for edge in edges {
            self.run_batch(std::slice::from_ref(edge));
        }
    }

    fn run_batch(&mut self, batch: &[u32]) {
        let factors = self.state.graph.edge_factors();
        if factors[batch[0] as usize] == factors[batch[batch.len() - 1] as usize] {
            self.run_factor(batch, |this, edge, message| this.arrive(edge, message));
            return;
        }
        let state = self.state;
        for group in by_factor(state, batch) {
            self.run_factor(group, |_, edge, message| state.hold(edge, message));
        }
        let mut message = std::mem::take(&mut self.workspace.message);
        for &edge in batch {
            let factor = factors[edge as usize] as usize;
            if self.constants_sent && is_constant(state, factor) {
                continue;
            }
            if state.take_held(edge as usize, &mut message).is_err() {
                self.workspace.lacks_memory = true;
                break;
            }
            self.arrive(edge as usize, &message);
        }
        self.workspace.message = message;
    }

    /// Computes the messages along some edges of one factor.
    #[inline]
    fn run_factor(&mut self, edges: &[u32], mut emit: impl FnMut(&mut Self, usize, &[Packed])) {
        let state = self.state;
        let factor = state.graph.edge_factors()[edges[0] as usize] as usize;
        let arity = state.graph.arity(factor);
        if arity == 1 && self.constants_sent {
            return;
        }
        if state.graph.all_binary()
            && state.is_plain_run()
            && let Some((head, c)) = state.conjunction(factor)
        {
            match arity {
                2 => return self.run_small_factor::<2>(edges, head, c, emit),
                3 => return self.run_small_factor::<3>(edges, head, c, emit),
                4 => return self.run_small_factor::<4>(edges, head, c, emit),
                5 => return self.run_small_factor::<5>(edges, head, c, emit),
                6 => return self.run_small_factor::<6>(edges, head, c, emit),
                7 => return self.run_small_factor::<7>(edges, head, c, emit),
                8 => return self.run_small_factor::<8>(edges, head, c, emit),
                _ => {}
            }
        }
        if state.inference == Inference::SumProduct && self.wide.serves(factor, edges.len(), arity)
        {
            // Its own messages change none of its inputs, so they may be sent one by one.
            for &edge in edges {
                let edge = edge as usize;
                let message =
                    self.wide.message(state, &mut self.hubs, factor, edge, self.workspace);
                let message = self.checked(message, edge);
                emit(self, edge, &[message]);
            }
            return;
        }
        if !messages(state, &mut self.hubs, factor, edges, self.workspace) {
            return;
        }
        let outputs = std::mem::take(&mut self.workspace.outputs);
        let mut at = 0;
        for &edge in edges {
            let length = state.edge_values(edge as usize).len();
            emit(self, edge as usize, &outputs[at..at + length]);
            at += length;
        }
        self.workspace.outputs = outputs;
    }

    /// As [`Self::run_factor`] for the common case: binary, `N` variables, nothing on the heap.
    #[inline(always)]
    fn run_small_factor<const N: usize>(
        &mut self,
        edges: &[u32],
        head: usize,
        c: &HornCoefficients,
        mut emit: impl FnMut(&mut Self, usize, &[Packed]),
    ) {
        let state = self.state;
        let factor = state.graph.edge_factors()[edges[0] as usize] as usize;
        let first = state.graph.factor_edges(factor).start;
        let mut inputs = [Packed::ONE; N];
        // A message's own input is not needed, and must not be read for it alone.
        let unneeded = if edges.len() == 1 { edges[0] as usize } else { usize::MAX };
        for (position, input) in inputs.iter_mut().enumerate() {
            let edge = first + position;
            if edge != unneeded {
                *input = match simple_odds(state, state.links[edge]) {
                    Some(odds) => odds,
                    None => odds_to_factor(state, &mut self.hubs, edge, self.workspace),
                };
            }
        }
        let outputs = small_horn_messages(&inputs, head, c);
        if edges.len() == N {
            for (position, &output) in outputs.iter().enumerate() {
                let message = self.checked(output, first + position);
                emit(self, first + position, &[message]);
            }
        } else {
            for &edge in edges {
                let edge = edge as usize;
                let message = self.checked(outputs[edge - first], edge);
                emit(self, edge, &[message]);
            }
        }
    }

    #[inline(always)]
    fn checked(&mut self, message: Packed, edge: usize) -> Packed {
        if message == Packed::CONTRADICTION {
            let variable = self.state.graph.edge_variables()[edge] as usize;
            self.workspace.contradictions.add(variable);
            Packed::ONE
        } else {
            message
        }
    }

    /// Stores a message and brings the trees up to date.
    #[inline(always)]
    fn arrive(&mut self, edge: usize, message: &[Packed]) {
        let state = self.state;
        let link = state.links[edge];
        store(state, edge, link, message, self.workspace);
        if link.hub {
            self.hubs.changed(state, edge);
        }
        if !self.wide.is_empty() {
            let variable = state.graph.edge_variables()[edge] as usize;
            self.wide.message_arrived(state, variable, state.graph.edge_factors()[edge] as usize);
        }
    }
}

/// Batches that are worth several threads, and runs of batches that are not.
pub(super) struct ParallelBatches {
    batches: Batches,
    /// Ranges of batches: either one wide batch or a run of narrow ones.
    segments: Vec<Segment>,
    /// Per batch, the slots of its edges into variables with trees, ascending.
    tree_offsets: Vec<u32>,
    tree_slots: Vec<u32>,
}

struct Segment {
    batches: std::ops::Range<u32>,
    wide: bool,
}

impl ParallelBatches {
    /// `None` if the batches are too narrow for several threads to pay.
    pub(super) fn new(
        state: &State,
        trees: &Trees,
        batches: Batches,
        threads: usize,
        tuning: &Tuning,
    ) -> Result<Option<Self>> {
        if !batches.pays(state, threads, tuning) {
            return Ok(None);
        }
        let widths = || batches.offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
        let mut segments: Vec<Segment> = Vec::new();
        for (index, width) in widths().enumerate() {
            let index = index as u32;
            let wide = width >= tuning.wide_batch;
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
        Ok(Some(Self { batches, segments, tree_offsets, tree_slots }))
    }

    /// One pass on all threads.
    pub(super) fn run(&self, state: &State, trees: &Trees, team: &Team, constants_sent: bool) {
        team.run(|worker| {
            for segment in &self.segments {
                if segment.wide {
                    let index = segment.batches.start as usize;
                    self.run_wide(state, trees, worker, index, constants_sent);
                } else if worker.index == 0 {
                    let mut serial = Serial {
                        state,
                        hubs: Hubs { trees, cursors: None },
                        wide: &mut WideFactors::default(),
                        constants_sent,
                        workspace: worker.workspace,
                    };
                    for index in segment.batches.clone() {
                        serial.run_batch(self.batches.batch(index as usize));
                    }
                }
                worker.wait();
            }
        });
    }

    fn run_wide(
        &self,
        state: &State,
        trees: &Trees,
        worker: &mut Worker<'_>,
        index: usize,
        constants_sent: bool,
    ) {
        let batch = self.batches.batch(index);
        let factors = state.graph.edge_factors();
        let share = worker.share(batch.len());
        let same_factor = |&a: &u32, &b: &u32| factors[a as usize] == factors[b as usize];
        let skipped = |factor: usize| constants_sent && is_constant(state, factor);
        let mut serial = Serial {
            state,
            hubs: Hubs { trees, cursors: None },
            wide: &mut WideFactors::default(),
            constants_sent,
            workspace: worker.workspace,
        };
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

/// The part of `items` that a share covers, with both ends moved forward so that no group is cut.
fn aligned<T>(items: &[T], share: std::ops::Range<usize>, same: impl Fn(&T, &T) -> bool) -> &[T] {
    let forward = |mut at: usize| {
        while at > 0 && at < items.len() && same(&items[at - 1], &items[at]) {
            at += 1;
        }
        at
    };
    &items[forward(share.start)..forward(share.end)]
}
