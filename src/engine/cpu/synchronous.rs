//! Synchronous iterations (PARALL): every message reads the values of the previous iteration. First all
//! messages to factors are computed, then all messages to variables. Nodes all of whose inputs are as they were are left out.

use super::factor::{all_messages, is_constant, settle_contradictions};
use super::pace::Pace;
use super::stale::Stale;
use super::state::State;
use super::team::{Chunks, Team, Worker};
use super::tuning::Tuning;
use super::variable::send_to_factors;
use super::workspace::Workspace;
use crate::error::Result;
use crate::kernel::{EncodedMessage, HornCoefficients, small_horn_messages};
use crate::memory::{Grow, NoMemory, collected, filled, fit, room};
use std::ops::Range;

/// The nodes of a graph, cut into chunks of about equal work.
pub(super) struct Synchronous {
    variables: Nodes,
    factors: Nodes,
    /// The slot of each edge.
    slots: Vec<u32>,
    stale_variables: Stale,
    stale_factors: Stale,
    /// Whether nodes that are not stale are left out.
    skips: bool,
    /// Whether that may ever be so; tests compare with an engine where it is not.
    pub(super) may_skip: bool,
    /// Whether one thread runs the next iteration.
    pub(super) pace: Pace,
}

/// Nodes in the order in which threads visit them, and where each chunk starts.
struct Nodes {
    order: Vec<u32>,
    chunks: Vec<u32>,
}

/// Number of nodes by which the prefetch of what they write precedes the computation.
const PREFETCH_DISTANCE: usize = 12;
/// Most edges of a node that are prefetched; the processor's own prefetcher finds the rest.
const PREFETCHED_EDGES: usize = 8;

/// Number of edges and nodes of a chunk: some tens of microseconds of work.
const CHUNK_WORK: usize = 4096;

impl Nodes {
    /// Inside a chunk, nodes of one `shape` follow each other, so that branches on it are predicted.
    fn new<K: Ord>(
        count: usize, degree: impl Fn(usize) -> usize, shape: impl Fn(usize) -> K,
    ) -> Result<Self> {
        let mut order = room(count)?;
        let mut chunks = filled(1, 0)?;
        let mut work = 0;
        // Shapes are looked up once per node, not once per comparison.
        let mut chunk = Vec::new();
        for node in 0..count {
            chunk.try_push((shape(node), node as u32))?;
            work += 1 + degree(node);
            if work >= CHUNK_WORK || node + 1 == count {
                chunk.sort_unstable();
                order.extend(chunk.drain(..).map(|(_, node)| node));
                chunks.try_push(node as u32 + 1)?;
                work = 0;
            }
        }
        Ok(Self { order, chunks })
    }

    /// Runs `visit` for every node, on all threads, and `prepare` for the same nodes a little earlier.
    fn for_each(
        &self, team: &Team, prepare: impl Fn(usize) + Sync,
        visit: impl Fn(usize, &mut Workspace) + Sync,
    ) {
        let queue = Chunks::new(self.chunks.len() - 1);
        team.run(|worker: &mut Worker<'_>| {
            while let Some(chunk) = queue.next() {
                let nodes = self.chunks[chunk] as usize..self.chunks[chunk + 1] as usize;
                let mut ahead = self.order[nodes.start..].iter().skip(PREFETCH_DISTANCE);
                for &node in &self.order[nodes] {
                    if let Some(&node) = ahead.next() {
                        prepare(node as usize);
                    }
                    visit(node as usize, worker.workspace);
                }
            }
        });
    }
}

impl Synchronous {
    pub(super) fn new(state: &State, tuning: &Tuning) -> Result<Self> {
        let graph = &state.graph;
        let factor_shape =
            |f| (graph.arity(f), graph.kind(f) as u8, graph.head_position(f).unwrap_or_default());
        let degree = |v| graph.degree(v);
        Ok(Self {
            variables: Nodes::new(graph.variable_count(), degree, degree)?,
            factors: Nodes::new(graph.factor_count(), |f| graph.arity(f), factor_shape)?,
            slots: collected(state.links.iter().map(|link| link.slot))?,
            stale_variables: Stale::new(graph.variable_count())?,
            stale_factors: Stale::new(graph.factor_count())?,
            skips: false,
            may_skip: true,
            pace: Pace::new(tuning),
        })
    }

    /// Begins a run, before which messages and evidence may have changed. `skips` says that from now on only this changes
    /// them, and that they depend on nothing but the inputs of their nodes.
    pub(super) fn begin(&mut self, skips: bool) {
        self.skips = skips && self.may_skip;
        self.messages_were_replaced();
    }

    /// All nodes are stale: somebody else has changed messages.
    pub(super) fn messages_were_replaced(&mut self) {
        self.stale_variables.mark_all();
        self.stale_factors.mark_all();
    }

    /// Whether the messages to a variable may have changed since those from it were last computed.
    #[inline(always)]
    pub(super) fn may_have_changed(&self, variable: usize) -> bool {
        !self.skips || self.stale_variables.is_marked(variable)
    }

    #[inline(always)]
    fn is_factor_skipped(&self, factor: usize) -> bool {
        self.skips && !self.stale_factors.is_marked(factor)
    }

    /// Runs `visit` for every variable, on all threads.
    pub(super) fn for_variables(&self, team: &Team, visit: impl Fn(usize, &mut Workspace) + Sync) {
        self.variables.for_each(team, |_| {}, visit);
    }

    /// Runs `visit` for every factor, on all threads.
    pub(super) fn for_factors(&self, team: &Team, visit: impl Fn(usize, &mut Workspace) + Sync) {
        self.factors.for_each(team, |_| {}, visit);
    }

    /// Computes all messages from variables to factors into `State::by_edge`. A variable that is contradictory stays stale, so
    /// that it is counted in every iteration.
    pub(super) fn update_to_factors(&self, state: &State, team: &Team) {
        let prepare = |v| {
            if !self.may_have_changed(v) {
                return;
            }
            for &edge in state.graph.variable_edges(v).iter().take(PREFETCHED_EDGES) {
                state.by_edge.prefetch(state.edge_values(edge as usize).start);
            }
        };
        self.variables.for_each(team, prepare, |v, workspace| {
            if self.may_have_changed(v) {
                let before = workspace.contradictions.count;
                send_to_factors(state, v, &self.stale_factors, workspace);
                if workspace.contradictions.count == before {
                    self.stale_variables.unmark(v);
                }
            }
        });
    }

    /// Computes and stores all messages from factors to variables, from the messages in `State::by_edge`. Messages
    /// of factors with one variable never change, and are left out if `constants_sent`. A factor with a contradictory message
    /// stays stale.
    pub(super) fn update_to_variables(&self, state: &State, team: &Team, constants_sent: bool) {
        let prepare = |f| {
            if self.is_factor_skipped(f) {
                return;
            }
            for edge in state.graph.factor_edges(f).take(PREFETCHED_EDGES) {
                state.to_variable.prefetch(state.slot_values(self.slots[edge] as usize).start);
            }
        };
        let small = state.graph.all_binary() && state.is_plain_run();
        self.factors.for_each(team, prepare, |f, workspace| {
            if !(self.is_factor_skipped(f) || constants_sent && is_constant(state, f)) {
                let before = workspace.contradictions.count;
                self.factor_sends(state, f, small, workspace);
                if workspace.contradictions.count == before {
                    self.stale_factors.unmark(f);
                }
            }
        });
    }

    /// Updates all messages of a factor. `small` says that small conjunctions may take their fast path.
    #[inline(always)]
    fn factor_sends(&self, state: &State, factor: usize, small: bool, workspace: &mut Workspace) {
        let edges = state.graph.factor_edges(factor);
        if small && let Some((head, c)) = state.conjunction(factor) {
            match edges.len() {
                1 => return self.small_factor_sends::<1>(state, edges.start, head, c, workspace),
                2 => return self.small_factor_sends::<2>(state, edges.start, head, c, workspace),
                3 => return self.small_factor_sends::<3>(state, edges.start, head, c, workspace),
                4 => return self.small_factor_sends::<4>(state, edges.start, head, c, workspace),
                5 => return self.small_factor_sends::<5>(state, edges.start, head, c, workspace),
                6 => return self.small_factor_sends::<6>(state, edges.start, head, c, workspace),
                7 => return self.small_factor_sends::<7>(state, edges.start, head, c, workspace),
                8 => return self.small_factor_sends::<8>(state, edges.start, head, c, workspace),
                _ => {}
            }
        }
        if !edges.is_empty() && self.any_factor_sends(state, factor, edges, workspace).is_err() {
            workspace.lacks_memory = true;
        }
    }

    #[inline(never)]
    fn any_factor_sends(
        &self, state: &State, factor: usize, edges: Range<usize>, workspace: &mut Workspace,
    ) -> Result<(), NoMemory> {
        let values = state.edge_values(edges.start).start..state.edge_values(edges.end - 1).end;
        let first = values.start;
        workspace.inputs.clear();
        fit(&mut workspace.inputs, values.len())?;
        workspace.inputs.extend(state.by_edge.slice(values));
        all_messages(state, factor, None, workspace)?;
        settle_contradictions(state, edges.clone(), workspace);
        for edge in edges {
            let slot = self.slots[edge] as usize;
            let from = state.edge_values(edge);
            let Workspace { outputs, damping, contradictions, .. } = workspace;
            let message = &mut outputs[from.start - first..from.end - first];
            state.keep_computed(slot, message);
            if state.damping > 0.0 {
                fit(&mut damping.old, message.len())?;
                if state.damp(slot, message, &mut damping.old) {
                    contradictions.add(state.graph.edge_variables()[edge] as usize);
                }
            }
            let mut differs = false;
            for (index, &value) in state.slot_values(slot).zip(message.iter()) {
                differs |= state.to_variable.replace(index, value);
            }
            if differs {
                self.stale_variables.mark(state.graph.edge_variables()[edge] as usize);
            }
        }
        Ok(())
    }

    /// [`Self::factor_sends`] for the common case: binary, `N` variables, nothing on the heap.
    #[inline(always)]
    fn small_factor_sends<const N: usize>(
        &self, state: &State, first: usize, head: usize, c: &HornCoefficients,
        workspace: &mut Workspace,
    ) {
        let inputs = state.by_edge.array::<N>(first);
        let outputs = small_horn_messages(&inputs, head, c);
        let mut changed = 0_u32;
        for (position, &output) in outputs.iter().enumerate() {
            let edge = first + position;
            let mut odds = output;
            if odds == EncodedMessage::CONTRADICTION {
                odds = EncodedMessage::ONE;
                workspace.contradictions.add(state.graph.edge_variables()[edge] as usize);
            }
            let differs = state.to_variable.replace(self.slots[edge] as usize, odds);
            changed |= u32::from(differs) << position;
        }
        while changed != 0 {
            let edge = first + changed.trailing_zeros() as usize;
            self.stale_variables.mark(state.graph.edge_variables()[edge] as usize);
            changed &= changed - 1;
        }
    }
}
