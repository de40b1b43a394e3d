//! Batches with edges of many factors, as those of BLOCKS and FWDBWD, in two steps like a synchronous iteration.
//!
//! First the messages from variables to the batch's factors are computed into `State::by_edge`: all of a variable together,
//! where one to it has changed since. Then those of the batch are computed from them and stored. So nothing is computed for
//! each edge that could be computed for a node, and four nodes are computed at once.
//!
//! Of a variable of high degree that many batches read a few messages of, single messages are computed from its product tree.

use super::batches::{Batches, FactorPart};
use super::factor::wanted_messages;
use super::four::{FourAtOnce, MOST_EDGES};
use super::nodes::{Nodes, Sorter};
use super::pace::Pace;
use super::parallel::aligned;
use super::state::{Known, State};
use super::store::note_deterministic;
use super::synchronous::{
    FACTOR_SHAPES, FACTOR_VARIANTS, LARGEST_DEGREE, Synchronous, factor_shape, few,
};
use super::team::{Team, Worker};
use super::trees::{HighDegreeVariables, Trees};
use super::tuning::Tuning;
use super::variable::{odds_to_factor, send_in_batch};
use super::workspace::Workspace;
use crate::error::Result;
use crate::kernel::{BLOCK, EncodedMessage, HornCoefficients, small_horn_messages};
use crate::memory::{Grow, NoMemory, collected, filled, fit, room};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// What batches of many factors read and write.
pub(super) struct MixedBatches {
    /// What is computed before and in each batch.
    steps: Vec<Step>,
    /// The variables all of whose messages are computed.
    variables: Nodes,
    /// Of each edge, the step that updates it.
    step_of_edge: Vec<u32>,
    /// Edges from variables of which single messages are.
    singles: Vec<u32>,
    parts: Vec<FactorPart>,
    /// Numbers of parts.
    part_nodes: Nodes,
    /// Of each factor, how often a part of it found that inputs had changed, and of each part, that number when it was last
    /// computed. Where they are the same, its messages are as they were.
    versions: Vec<AtomicU32>,
    computed: Vec<AtomicU32>,
    /// Slots of variables that have single messages, those of one variable together.
    tree_slots: Vec<u32>,
    /// Batches that all threads run together, or one after the other on one thread.
    segments: Vec<Segment>,
    /// Whether one thread runs the next iteration, if several may.
    pub(super) pace: Pace,
}

/// Of one batch: chunks of `variables` and of `part_nodes`, parts of `singles` and `tree_slots`.
struct Step {
    variables: Range<u32>,
    singles: Range<u32>,
    parts: Range<u32>,
    tree_slots: Range<u32>,
}

struct Segment {
    steps: Range<u32>,
    is_wide: bool,
}

/// Most inputs that are read for each message of an iteration, where factors are read once for each batch that has some of
/// their edges.
const MOST_READS: usize = 32;
/// Number of parts of which the stale ones are collected at a time.
const GATHERED: usize = 256;
/// Work of a chunk on one thread, and of one of several.
const CHUNK_WORK: [usize; 2] = [4096, 512];

/// Which messages of variables batches read.
struct Reads {
    /// Per variable, the number of batches that read some, and of messages that are read.
    batches: Vec<u32>,
    messages: Vec<u32>,
    /// Per variable, one more than the last batch that was seen to read it.
    last: Vec<u32>,
}

impl Reads {
    fn of(state: &State, batches: &Batches) -> Result<Self> {
        let count = state.graph.variable_count();
        let mut reads = Self {
            batches: filled(count, 0)?,
            messages: filled(count, 0)?,
            last: filled(count, 0)?,
        };
        for index in 0..batches.count() {
            for part in batches.parts(state, index) {
                for edge in inputs(state, batches, part) {
                    let variable = state.graph.edge_variables()[edge] as usize;
                    reads.messages[variable] += 1;
                    reads.batches[variable] += u32::from(reads.is_new(variable, index));
                }
            }
        }
        reads.last.fill(0);
        Ok(reads)
    }

    /// Whether a batch has not read a variable before.
    fn is_new(&mut self, variable: usize, batch: usize) -> bool {
        std::mem::replace(&mut self.last[variable], batch as u32 + 1) != batch as u32 + 1
    }

    /// Whether a product tree is less work for a variable that has one than all its messages for each batch.
    fn prefers_tree(&self, state: &State, variable: usize) -> bool {
        let degree = state.graph.degree(variable) as u64;
        let height = u64::from(degree.ilog2());
        // In products of two: all messages of a variable take three each, one read of a tree those of a block and of its path,
        // one replaced message as many.
        let all = 3 * degree * u64::from(self.batches[variable]);
        all > (BLOCK as u64 + height) * (u64::from(self.messages[variable]) + degree)
    }
}

/// The edges whose messages to the factor a part reads: the only one that it updates is not.
fn inputs<'a>(
    state: &State, batches: &'a Batches, part: FactorPart,
) -> impl Iterator<Item = usize> + use<'a> {
    let unread = unread(batches.edges_of(part));
    state.graph.factor_edges(part.factor as usize).filter(move |&edge| Some(edge) != unread)
}

/// The edge of which a message to the factor is not read.
fn unread(wanted: &[u32]) -> Option<usize> {
    if let [edge] = *wanted { Some(edge as usize) } else { None }
}

impl MixedBatches {
    /// Whether batches have many edges on average.
    pub(super) fn are_wide(state: &State, batches: &Batches, tuning: &Tuning) -> bool {
        state.graph.edge_count() / batches.count().max(1) >= tuning.mixed_batch
    }

    /// Whether batches are neither small, nor would read the same too often.
    pub(super) fn serves(state: &State, batches: &Batches, tuning: &Tuning) -> bool {
        let graph = &state.graph;
        if !graph.all_binary() || !Self::are_wide(state, batches, tuning) {
            return false;
        }
        let parts = (0..batches.count()).flat_map(|index| batches.parts(state, index));
        let reads: usize = parts.map(|part| graph.arity(part.factor as usize)).sum();
        reads <= MOST_READS * graph.edge_count()
    }

    /// For batches that these [serve](Self::serves). O(edges * batches with edges of a factor). Errors: no memory.
    pub(super) fn new(
        state: &State, trees: &Trees, batches: &Batches, threads: usize, tuning: &Tuning,
    ) -> Result<Self> {
        let graph = &state.graph;
        let edges = graph.edge_count();
        let mut reads = Reads::of(state, batches)?;
        let chunk_work = CHUNK_WORK[usize::from(threads > 1)];
        let mut by_degree = Sorter::new(LARGEST_DEGREE + 1, 1, chunk_work)?;
        let mut by_shape = Sorter::new(FACTOR_SHAPES, FACTOR_VARIANTS, chunk_work)?;
        let mut mixed = Self {
            steps: room(batches.count())?,
            step_of_edge: filled(edges, 0)?,
            variables: Nodes::NONE,
            singles: Vec::new(),
            parts: Vec::new(),
            part_nodes: Nodes::NONE,
            versions: collected((0..graph.factor_count()).map(|_| AtomicU32::new(0)))?,
            computed: Vec::new(),
            tree_slots: Vec::new(),
            segments: Vec::new(),
            pace: Pace::new(tuning),
        };
        let has_tree = |reads: &Reads, v| trees.covers(v) && reads.prefers_tree(state, v);
        let mut read = Vec::new();
        for index in 0..batches.count() {
            let chunks = |nodes: &Nodes| nodes.chunk_count() as u32;
            let before = [chunks(&mixed.variables), mixed.singles.len() as u32];
            let before_parts = [chunks(&mixed.part_nodes), mixed.tree_slots.len() as u32];
            let first_part = mixed.parts.len();
            read.clear();
            for part in batches.parts(state, index) {
                mixed.parts.try_push(part)?;
                for edge in inputs(state, batches, part) {
                    let variable = graph.edge_variables()[edge] as usize;
                    if has_tree(&reads, variable) {
                        mixed.singles.try_push(edge as u32)?;
                    } else if reads.is_new(variable, index) {
                        read.try_push(variable as u32)?;
                    }
                }
            }
            read.sort_unstable();
            let degree = |v| graph.degree(v);
            let degree_shape = |v| [degree(v).min(LARGEST_DEGREE) as u16, 0];
            mixed.variables.add_part(&mut by_degree, read.drain(..), degree, degree_shape)?;
            let factor = |number: usize| mixed.parts[number].factor as usize;
            let (arity, shape) = (|n| graph.arity(factor(n)), |n| factor_shape(state, factor(n)));
            let numbers = first_part as u32..mixed.parts.len() as u32;
            mixed.part_nodes.add_part(&mut by_shape, numbers, arity, shape)?;
            for &edge in batches.batch(index) {
                mixed.step_of_edge[edge as usize] = index as u32;
                if has_tree(&reads, graph.edge_variables()[edge as usize] as usize) {
                    mixed.tree_slots.try_push(state.links[edge as usize].slot)?;
                }
            }
            mixed.tree_slots[before_parts[1] as usize..].sort_unstable();
            mixed.steps.push(Step {
                variables: before[0]..chunks(&mixed.variables),
                singles: before[1]..mixed.singles.len() as u32,
                parts: before_parts[0]..chunks(&mixed.part_nodes),
                tree_slots: before_parts[1]..mixed.tree_slots.len() as u32,
            });
            let is_wide = batches.batch(index).len() >= tuning.wide_batch;
            let index = index as u32;
            match mixed.segments.last_mut() {
                Some(last) if !is_wide && !last.is_wide => last.steps.end = index + 1,
                _ => mixed.segments.try_push(Segment { steps: index..index + 1, is_wide })?,
            }
        }
        mixed.computed = collected(mixed.parts.iter().map(|_| AtomicU32::new(0)))?;
        Ok(mixed)
    }

    /// Whether it reads product trees. It keeps up to date those that it reads.
    pub(super) fn needs_trees(&self) -> bool {
        !self.singles.is_empty()
    }

    /// Runs one iteration over `batches`, those that this was made of, on all threads of the team. The run is plain
    /// ([`State::is_plain_run`]), and messages of factors with one variable are there. `is_first` says that others may have
    /// changed messages since the last call; then the trees are those of the messages, and all nodes are stale.
    pub(super) fn run(
        &self, state: &State, trees: &Trees, batches: &Batches, synchronous: &Synchronous,
        team: &Team, is_first: bool,
    ) {
        let four = synchronous.four_of_a_batch(state);
        let four = four.as_ref();
        let run = Run { mixed: self, state, trees, batches, synchronous, four, is_first };
        team.run(|worker| {
            let is_alone = worker.count == 1;
            for segment in &self.segments {
                for index in segment.steps.clone() {
                    if is_alone || !segment.is_wide {
                        if worker.index == 0 {
                            run.step(index, worker.workspace, &|length| 0..length, &|| ());
                        }
                    } else {
                        run.shared_step(index, worker);
                    }
                }
                if !is_alone && !segment.is_wide {
                    worker.wait();
                }
            }
        });
    }
}

/// What an iteration is made of.
struct Run<'a> {
    mixed: &'a MixedBatches,
    state: &'a State,
    trees: &'a Trees,
    batches: &'a Batches,
    synchronous: &'a Synchronous,
    four: Option<&'a FourAtOnce<'a>>,
    is_first: bool,
}

impl Run<'_> {
    /// A worker's share of a step.
    fn shared_step(&self, index: u32, worker: &mut Worker<'_>) {
        let (number, count) = (worker.index, worker.count);
        let share = |length: usize| length * number / count..length * (number + 1) / count;
        let (workspace, wait) = worker.parts();
        self.step(index, workspace, &share, &wait);
    }

    /// The share of a step that `share` gives of so many items, with waits for other threads.
    fn step(
        &self, index: u32, workspace: &mut Workspace, share: &dyn Fn(usize) -> Range<usize>,
        wait: &dyn Fn(),
    ) {
        let step = &self.mixed.steps[index as usize];
        let within = |all: &Range<u32>| {
            let share = share(all.len());
            all.start as usize + share.start..all.start as usize + share.end
        };
        for chunk in within(&step.variables) {
            self.mixed.variables.for_groups_of(chunk, |degree, group| {
                self.update_variables(index, degree as usize, group.nodes, workspace);
            });
        }
        self.update_singles(&self.mixed.singles[within(&step.singles)], workspace);
        wait();
        for chunk in within(&step.parts) {
            self.mixed.part_nodes.for_groups_of(chunk, |shape, group| {
                self.update_parts(shape, group.nodes, workspace);
            });
        }
        let slots =
            &self.mixed.tree_slots[step.tree_slots.start as usize..step.tree_slots.end as usize];
        if !slots.is_empty() {
            wait();
            let edges = self.state.graph.all_variable_edges();
            let variables = self.state.graph.edge_variables();
            let variable = |slot: u32| variables[edges[slot as usize] as usize];
            let same = |&a: &u32, &b: &u32| variable(a) == variable(b);
            for group in aligned(slots, share(slots.len()), same).chunk_by(same) {
                self.trees.update_slots(self.state, variable(group[0]) as usize, group);
            }
        }
        wait();
    }

    /// Computes all messages of variables that the step `index` reads. A contradictory variable stays stale, so that it is noted
    /// in every iteration.
    fn update_variables(
        &self, index: u32, degree: usize, variables: &[u32], workspace: &mut Workspace,
    ) {
        let Synchronous { stale_variables, stale_factors, .. } = self.synchronous;
        let is_read = |edge: usize| self.is_read(index, edge);
        let many = self.four.filter(|_| degree > MOST_EDGES);
        let mut one = |v: usize| {
            if !stale_variables.is_marked(v)
                || many.is_some_and(|four| four.update_variable(v, workspace).is_some())
            {
                return;
            }
            if !send_in_batch(self.state, v, stale_factors, workspace, is_read) {
                stale_variables.unmark(v);
            }
        };
        match self.four {
            Some(four) if (2..=MOST_EDGES).contains(&degree) => {
                four.update_variables(degree, variables, &mut one);
            }
            _ => variables.iter().for_each(|&v| one(v as usize)),
        }
    }

    /// Whether a step reads the message to the factor along an edge: to update another one of the factor's edges.
    fn is_read(&self, index: u32, edge: usize) -> bool {
        let graph = &self.state.graph;
        let mut edges = graph.factor_edges(graph.edge_factors()[edge] as usize);
        edges.any(|other| other != edge && self.mixed.step_of_edge[other] == index)
    }

    /// Computes messages from variables along single edges.
    fn update_singles(&self, edges: &[u32], workspace: &mut Workspace) {
        let mut high_degree_variables = HighDegreeVariables { trees: self.trees, cursors: None };
        let (variables, factors) =
            (self.state.graph.edge_variables(), self.state.graph.edge_factors());
        for &edge in edges {
            let known = self.state.known[variables[edge as usize] as usize];
            if !self.is_first && matches!(known, Known::False | Known::True) {
                continue;
            }
            let odds =
                odds_to_factor(self.state, &mut high_degree_variables, edge as usize, workspace);
            if self.state.by_edge.replace(edge as usize, odds) {
                self.synchronous.stale_factors.mark(factors[edge as usize] as usize);
            }
        }
    }

    fn update_parts(&self, shape: u16, numbers: &[u32], workspace: &mut Workspace) {
        let MixedBatches { parts, versions, computed, .. } = self.mixed;
        let mut one = |number: usize| {
            let before = workspace.contradictions.count;
            self.update_part(parts[number], workspace);
            if workspace.contradictions.count != before {
                // It is to be noted in every iteration.
                let version = &versions[parts[number].factor as usize];
                computed[number].store(version.load(Relaxed).wrapping_sub(1), Relaxed);
            }
        };
        // (Lists by themselves: where they are has not to be read again after each write.)
        let (versions, computed, parts) = (&versions[..], &computed[..], &parts[..]);
        let stale_factors = self.synchronous.stale_factors.view();
        let (mut stale, mut messages) = ([0; GATHERED], 0);
        for numbers in numbers.chunks(GATHERED) {
            let mut count = 0;
            for &number in numbers {
                let factor = parts[number as usize].factor as usize;
                let is_stale = stale_factors.is_marked(factor);
                stale_factors.unmark(factor);
                let version = versions[factor].load(Relaxed).wrapping_add(u32::from(is_stale));
                versions[factor].store(version, Relaxed);
                let before = computed[number as usize].load(Relaxed);
                // As it is going to be.
                computed[number as usize].store(version, Relaxed);
                stale[count] = number;
                count += usize::from(before != version);
            }
            if self.state.counts_computed {
                let parts = stale[..count].iter().map(|&number| parts[number as usize]);
                messages += parts.map(|part| self.batches.edges_of(part).len() as u64).sum::<u64>();
            }
            match (self.four, few(shape)) {
                (Some(four), Some((arity, head))) if arity > 1 => {
                    four.update_parts((arity, head), parts, &stale[..count], &mut one);
                }
                _ => stale[..count].iter().for_each(|&number| one(number as usize)),
            }
        }
        workspace.computed += messages;
    }

    /// Updates the messages of one part.
    fn update_part(&self, part: FactorPart, workspace: &mut Workspace) {
        let state = self.state;
        let factor = part.factor as usize;
        let edges = state.graph.factor_edges(factor);
        let first = edges.start;
        if let Some((head, c)) = state.conjunction(factor) {
            match edges.len() {
                // (Their messages never change.)
                1 => return,
                2 => return self.update_small_part::<2>(part, first, head, c, workspace),
                3 => return self.update_small_part::<3>(part, first, head, c, workspace),
                4 => return self.update_small_part::<4>(part, first, head, c, workspace),
                5 => return self.update_small_part::<5>(part, first, head, c, workspace),
                6 => return self.update_small_part::<6>(part, first, head, c, workspace),
                7 => return self.update_small_part::<7>(part, first, head, c, workspace),
                8 => return self.update_small_part::<8>(part, first, head, c, workspace),
                _ => {}
            }
        }
        if edges.len() > 1 && self.update_large_part(part, edges, workspace).is_err() {
            workspace.lacks_memory = true;
        }
    }

    #[inline(always)]
    fn update_small_part<const N: usize>(
        &self, part: FactorPart, first: usize, head: usize, c: &HornCoefficients,
        workspace: &mut Workspace,
    ) {
        let wanted = self.batches.edges_of(part);
        let inputs = self.state.by_edge.array::<N>(first);
        let outputs = small_horn_messages(&inputs, head, c);
        for &edge in wanted {
            let mut odds = outputs[edge as usize - first];
            if odds == EncodedMessage::CONTRADICTION {
                odds = EncodedMessage::ONE;
                let variable = self.state.graph.edge_variables()[edge as usize];
                workspace.contradictions.add(variable as usize);
            }
            self.store(edge as usize, odds);
        }
    }

    fn update_large_part(
        &self, part: FactorPart, edges: Range<usize>, workspace: &mut Workspace,
    ) -> Result<(), NoMemory> {
        workspace.inputs.clear();
        fit(&mut workspace.inputs, edges.len())?;
        workspace.inputs.extend(self.state.by_edge.slice(edges));
        let wanted = self.batches.edges_of(part);
        wanted_messages(self.state, part.factor as usize, wanted, workspace)?;
        for (&edge, &odds) in wanted.iter().zip(&workspace.outputs) {
            self.store(edge as usize, odds);
        }
        Ok(())
    }

    /// Stores a message to a variable.
    #[inline(always)]
    fn store(&self, edge: usize, odds: EncodedMessage) {
        let target = self.synchronous.targets.to_variable.list()[edge];
        let slot = target.place as usize;
        if self.state.drops(slot, odds) {
            return;
        }
        if odds.may_be_deterministic() {
            note_deterministic(self.state, edge, slot, odds);
        }
        if self.state.to_variable.replace(slot, odds) {
            self.synchronous.stale_variables.mark(target.node as usize);
        }
    }
}
