//! Trees of partial body products of high-arity factors, for schedules that update few of a factor's messages at a
//! time: a message costs O(log arity) for each input that has changed since the tree was last read.
//!
//! The leaves are the literals of the body in order, and each level above halves the number of nodes. Inputs are read
//! lazily: whoever changes a message to a variable marks the variable's inputs in `changed`, and the next message of
//! such a factor reads those anew.

use super::state::State;
use super::trees::HighDegreeVariables;
use super::variable::odds_to_factor;
use super::workspace::Workspace;
use crate::error::Result;
use crate::kernel::{Body, EncodedMessage, ExtendedFloat, HornCoefficients, Monoid, tree_levels};
use crate::memory::{Grow, collected, filled, room};

/// A conjunction of literals with more variables than this is a high-arity factor.
const MAX_ARITY: usize = 64;
/// The tree is used where fewer than one in `FEW` of a factor's messages are updated at a time.
const FEW: usize = 8;

/// Inputs from a variable with more edges to high-arity factors than this are not marked at each change: the factors
/// read them at every message.
const BUSY: usize = 64;

/// The high-arity factors of a graph.
#[derive(Default)]
pub(super) struct HighArityFactors {
    /// Per factor its entry in `factors`, or `NONE`; empty if there are no entries.
    index: Vec<u32>,
    factors: Vec<HighArityFactor>,
    /// The edges of variable v to high-arity factors are `edges[offsets[v]..offsets[v + 1]]`; none for a busy variable.
    offsets: Vec<u32>,
    edges: Vec<u32>,
}

const NONE: u32 = u32::MAX;
/// Levels of a tree over 2^32 leaves, with the leaves.
const MAX_LEVELS: usize = 34;

struct HighArityFactor {
    first_edge: usize,
    head: usize,
    /// The inputs as last read; `nodes` are computed from these.
    inputs: Vec<EncodedMessage>,
    /// The literals, then the levels above them up to the root.
    nodes: Vec<Body<ExtendedFloat>>,
    /// Per position, whether it is in `changes`.
    changed: Vec<bool>,
    /// Positions whose input may have changed since it was read, each once. Has room for all, so that pushing does not
    /// allocate.
    changes: Vec<u32>,
    /// `changes` while it is processed; else empty.
    waiting: Vec<u32>,
    /// Positions of busy variables (see [`BUSY`]), whose inputs are read at every message.
    busy: Vec<u32>,
}

impl HighArityFactors {
    /// Trees for the high-arity conjunctions for which `few` is true: those of which few messages are updated at a
    /// time.
    pub(super) fn new(state: &State, mut few: impl FnMut(usize) -> bool) -> Result<Self> {
        let graph = &state.graph;
        let mut found = Self::default();
        for f in 0..graph.factor_count() {
            if graph.arity(f) <= MAX_ARITY || state.conjunction(f).is_none() || !few(f) {
                continue;
            }
            found.index.try_resize(graph.factor_count(), NONE)?;
            found.index[f] = found.factors.len() as u32;
            let arity = graph.arity(f);
            let nodes = arity - 1 + tree_levels(arity - 1).sum::<usize>();
            found.factors.try_push(HighArityFactor {
                first_edge: graph.factor_edges(f).start,
                head: graph.head_position(f).unwrap_or_default(),
                inputs: filled(arity, EncodedMessage::ONE)?,
                nodes: filled(nodes, Body::NEUTRAL)?,
                changed: filled(arity, true)?,
                changes: collected(0..arity as u32)?,
                waiting: room(arity)?,
                busy: Vec::new(),
            })?;
        }
        if !found.factors.is_empty() {
            found.offsets = room(graph.variable_count() + 1)?;
            found.offsets.push(0);
            for v in 0..graph.variable_count() {
                let Self { index, factors, edges, .. } = &mut found;
                let index = |e: u32| index[graph.edge_factors()[e as usize] as usize];
                let variable_edges = graph.variable_edges(v).iter().copied();
                let own = variable_edges.filter(|&edge| index(edge) != NONE);
                if own.clone().count() <= BUSY {
                    edges.try_extend(own)?;
                } else {
                    for edge in own {
                        let factor = &mut factors[index(edge) as usize];
                        factor.busy.try_push(edge - factor.first_edge as u32)?;
                    }
                }
                found.offsets.push(found.edges.len() as u32);
            }
        }
        Ok(found)
    }

    /// Whether `messages` messages of a factor should be computed from its tree.
    #[inline(always)]
    pub(super) fn serves(&self, factor: usize, messages: usize, arity: usize) -> bool {
        Self::is_few(messages, arity) && self.index.get(factor).is_some_and(|&index| index != NONE)
    }

    /// Whether a factor of this arity has a high arity, and `messages` are few of its messages.
    #[inline(always)]
    pub(super) fn is_few(messages: usize, arity: usize) -> bool {
        arity > MAX_ARITY && messages * FEW < arity
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// Marks every input as changed.
    pub(super) fn invalidate(&mut self) {
        for factor in &mut self.factors {
            factor.changed.fill(true);
            factor.changes.clear();
            factor.changes.extend(0..factor.inputs.len() as u32);
        }
    }

    /// Marks the inputs from `variable` as changed, in all factors but `from`, whose message to it has changed.
    #[inline(always)]
    pub(super) fn message_arrived(&mut self, state: &State, variable: usize, from: usize) {
        if self.offsets.is_empty() {
            return;
        }
        let range = self.offsets[variable] as usize..self.offsets[variable + 1] as usize;
        for &edge in &self.edges[range] {
            let factor = state.graph.edge_factors()[edge as usize] as usize;
            if factor != from {
                let reader = &mut self.factors[self.index[factor] as usize];
                let position = edge as usize - reader.first_edge;
                if !reader.changed[position] {
                    reader.changed[position] = true;
                    reader.changes.push(position as u32);
                }
            }
        }
    }

    /// The message of a factor along one of its edges. O(log arity) for each changed input.
    pub(super) fn message(
        &mut self, state: &State, high_degree_variables: &mut HighDegreeVariables<'_>,
        factor: usize, edge: usize, workspace: &mut Workspace,
    ) -> EncodedMessage {
        let Some((_, coefficients)) = state.conjunction(factor) else { return EncodedMessage::ONE };
        let own = &mut self.factors[self.index[factor] as usize];
        let target = edge - own.first_edge;
        own.refresh(state, high_degree_variables, coefficients, target, workspace);
        let leaves = own.inputs.len() - 1;
        if target == own.head {
            // The last node is the root; a single literal is its own root.
            return coefficients.message_to_head(own.nodes[own.nodes.len() - 1]);
        }
        let leaf = target - usize::from(target > own.head);
        let rest = rest_of_body(&own.nodes, leaves, leaf);
        coefficients.message_to_body(target, own.inputs[own.head], rest)
    }
}

impl HighArityFactor {
    /// Reads the changed inputs and recomputes the nodes above them. The input at `target` stays marked: the message to
    /// it does not depend on it.
    fn refresh(
        &mut self, state: &State, high_degree_variables: &mut HighDegreeVariables<'_>,
        coefficients: &HornCoefficients, target: usize, workspace: &mut Workspace,
    ) {
        let leaves = self.inputs.len() - 1;
        for &position in &self.busy {
            if !self.changed[position as usize] {
                self.changed[position as usize] = true;
                self.changes.push(position);
            }
        }
        let rebuild = self.changes.len() * (leaves.ilog2() as usize + 1) >= leaves;
        std::mem::swap(&mut self.changes, &mut self.waiting);
        for index in 0..self.waiting.len() {
            let position = self.waiting[index] as usize;
            if position == target {
                self.changes.push(position as u32);
                continue;
            }
            self.changed[position] = false;
            let edge = self.first_edge + position;
            let input = odds_to_factor(state, high_degree_variables, edge, workspace);
            self.inputs[position] = input;
            if position != self.head {
                let leaf = position - usize::from(position > self.head);
                self.nodes[leaf] = coefficients.leaf(position, input);
                if !rebuild {
                    update_path(&mut self.nodes, leaves, leaf);
                }
            }
        }
        self.waiting.clear();
        if rebuild {
            rebuild_nodes(&mut self.nodes, leaves);
        }
    }
}

/// Sets a node of the level at `above` from its one or two children among the `size` nodes of the level at `level`.
fn combine_children(
    nodes: &mut [Body<ExtendedFloat>], level: usize, size: usize, above: usize, node: usize,
) {
    let left = nodes[level + 2 * node];
    nodes[above + node] =
        if 2 * node + 1 < size { left.combine(nodes[level + 2 * node + 1]) } else { left };
}

/// Recomputes the nodes above a leaf.
fn update_path(nodes: &mut [Body<ExtendedFloat>], leaves: usize, leaf: usize) {
    let (mut level, mut size, mut node) = (0, leaves, leaf);
    while size > 1 {
        node /= 2;
        combine_children(nodes, level, size, level + size, node);
        level += size;
        size = size.div_ceil(2);
    }
}

/// Recomputes all nodes above the leaves.
fn rebuild_nodes(nodes: &mut [Body<ExtendedFloat>], leaves: usize) {
    let (mut level, mut size) = (0, leaves);
    while size > 1 {
        let above = level + size;
        for node in 0..size.div_ceil(2) {
            combine_children(nodes, level, size, above, node);
        }
        level = above;
        size = size.div_ceil(2);
    }
}

/// The body without one literal: the product of the siblings on the path from the root to its leaf.
fn rest_of_body(nodes: &[Body<ExtendedFloat>], leaves: usize, leaf: usize) -> Body<ExtendedFloat> {
    let mut levels = [(0, leaves); MAX_LEVELS];
    let mut height = 0;
    while levels[height].1 > 1 {
        let (level, size) = levels[height];
        height += 1;
        levels[height] = (level + size, size.div_ceil(2));
    }
    let mut rest = Body::NEUTRAL;
    for (height, &(level, size)) in levels[..=height].iter().enumerate().rev() {
        let sibling = (leaf >> height) ^ 1;
        if sibling < size {
            rest = rest.combine(nodes[level + sibling]);
        }
    }
    rest
}
