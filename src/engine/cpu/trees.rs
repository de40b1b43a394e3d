//! Product trees of high-degree variables, with which reading or replacing one message costs O(log degree).
//!
//! The leaves of a tree are the messages to the variable, in blocks of [`BLOCK`]. Stored are the products of the blocks
//! and, level by level up to the root, the products of pairs; a variable with more than two states has a tree for each.

use super::state::{Link, State};
use crate::error::Result;
use crate::kernel::{
    BLOCK, BLOCK_LEVELS, EncodedMessage, Monoid, Product, SMALL_DEGREE, tree_levels,
};
use crate::memory::{Grow, collected, room};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The trees of all variables of a degree above [`SMALL_DEGREE`].
#[derive(Default)]
pub(super) struct Trees {
    /// Where each variable's nodes start; `NONE` for a variable without a tree. Empty if none has.
    starts: Vec<u32>,
    nodes: Cells,
}

const NONE: u32 = u32::MAX;
/// Levels of a tree over 2^32 leaves.
const MAX_LEVELS: usize = 33;

/// A [`Product`] that several threads access. Accesses are relaxed: as for `Values`, what makes threads wait for each
/// other orders them.
#[derive(Default)]
struct Cell {
    significand: AtomicU64,
    exponent: AtomicU64,
    counts: AtomicU64,
}

impl Cell {
    #[inline(always)]
    fn get(&self) -> Product {
        Product::from_words([
            self.significand.load(Relaxed),
            self.exponent.load(Relaxed),
            self.counts.load(Relaxed),
        ])
    }

    #[inline(always)]
    fn set(&self, product: Product) {
        let [significand, exponent, counts] = product.to_words();
        self.significand.store(significand, Relaxed);
        self.exponent.store(exponent, Relaxed);
        self.counts.store(counts, Relaxed);
    }
}

/// Products, in lines of the cache, so that those of two variables, which two threads may access, are in different ones: those of
/// each start at a multiple of [`Cells::IN_LINE`].
#[derive(Default)]
struct Cells(Vec<Line>);

#[derive(Default)]
#[repr(align(64))]
struct Line([Cell; Cells::IN_LINE]);

impl Cells {
    const IN_LINE: usize = 2;

    /// At least so many.
    fn new(count: usize) -> Result<Self> {
        Ok(Self(collected((0..count.div_ceil(Self::IN_LINE)).map(|_| Line::default()))?))
    }

    #[inline(always)]
    fn get(&self, index: usize) -> Product {
        self.0[index / Self::IN_LINE].0[index % Self::IN_LINE].get()
    }

    #[inline(always)]
    fn set(&self, index: usize, product: Product) {
        self.0[index / Self::IN_LINE].0[index % Self::IN_LINE].set(product);
    }
}

/// Number of trees of a variable: one of odds, or one for each of more than two states.
fn states(state: &State, variable: usize) -> usize {
    if state.is_binary(variable) { 1 } else { state.graph.cardinality(variable) }
}

/// Number of blocks of a variable's messages.
fn blocks(state: &State, variable: usize) -> usize {
    state.graph.degree(variable).div_ceil(BLOCK)
}

/// Number of nodes of a tree over this many blocks: the blocks and the levels above them.
fn stored_nodes(blocks: usize) -> usize {
    blocks + tree_levels(blocks).sum::<usize>()
}

impl Trees {
    /// The trees of the current messages.
    pub(super) fn new(state: &State) -> Result<Self> {
        let graph = &state.graph;
        let mut trees = Self::default();
        let is_high_degree = |v: usize| graph.degree(v) > SMALL_DEGREE;
        if !(0..graph.variable_count()).any(is_high_degree) {
            return Ok(trees);
        }
        trees.starts = room(graph.variable_count())?;
        let mut next = 0;
        for v in 0..graph.variable_count() {
            if is_high_degree(v) {
                trees.starts.push(next as u32);
                next += stored_nodes(blocks(state, v)) * states(state, v);
                next = next.next_multiple_of(Cells::IN_LINE);
            } else {
                trees.starts.push(NONE);
            }
        }
        trees.nodes = Cells::new(next)?;
        trees.rebuild_all(state);
        Ok(trees)
    }

    /// Whether a variable has a tree.
    #[inline(always)]
    pub(super) fn covers(&self, variable: usize) -> bool {
        self.starts.get(variable).is_some_and(|&start| start != NONE)
    }

    pub(super) fn rebuild_all(&self, state: &State) {
        for v in 0..self.starts.len() {
            if self.covers(v) {
                self.rebuild(state, v);
            }
        }
    }

    /// Computes all nodes of a variable's tree. O(degree * states).
    fn rebuild(&self, state: &State, variable: usize) {
        for x in 0..states(state, variable) {
            let mut walk = Walk::new(self, state, variable, x);
            for block in 0..walk.size {
                walk.refresh_block(state, variable, block, x);
            }
            for size in tree_levels(walk.size) {
                for node in 0..size {
                    walk.combine_children(node);
                }
                walk.ascend();
            }
        }
    }

    /// Computes the nodes above one leaf, whose message has changed. O(log degree * states).
    fn update(&self, state: &State, variable: usize, leaf: usize) {
        for x in 0..states(state, variable) {
            let mut walk = Walk::new(self, state, variable, x);
            let mut node = leaf >> BLOCK_LEVELS;
            walk.refresh_block(state, variable, node, x);
            while walk.size > 1 {
                node /= 2;
                walk.combine_children(node);
                walk.ascend();
            }
        }
    }

    /// Computes the nodes above some leaves of a variable, given as message indices in variable-major order.
    /// O(min(degree, slots * log degree) * states).
    pub(super) fn update_slots(&self, state: &State, variable: usize, slots: &[u32]) {
        let own = state.slots(variable);
        if slots.len() * (own.len().ilog2() as usize + 1) >= own.len() {
            self.rebuild(state, variable);
        } else {
            for &slot in slots {
                self.update(state, variable, slot as usize - own.start);
            }
        }
    }

    /// The product of all messages to a variable but the one at `leaf`, for the weights of state
    /// `x` (for a binary variable: the odds, x = 0). O(log degree).
    fn leave_one_out(&self, state: &State, variable: usize, leaf: usize, x: usize) -> Product {
        // Start and size of each level, from the blocks to the children of the root.
        let mut levels = [(0, 0); MAX_LEVELS];
        let mut walk = Walk::new(self, state, variable, x);
        let mut height = 0;
        while walk.size > 1 {
            levels[height] = (walk.level, walk.size);
            height += 1;
            walk.ascend();
        }
        let block = leaf >> BLOCK_LEVELS;
        let mut product = Product::NEUTRAL;
        for level in (0..height).rev() {
            let sibling = (block >> level) ^ 1;
            let (start, size) = levels[level];
            if sibling < size {
                product = product.combine(self.nodes.get(start + sibling));
            }
        }
        product.times_others(&block_messages(state, variable, block, x), leaf % BLOCK)
    }
}

/// The messages of a block, padded with ones.
#[inline(always)]
fn block_messages(
    state: &State, variable: usize, block: usize, x: usize,
) -> [EncodedMessage; BLOCK] {
    let slots = state.slots(variable);
    let first = slots.start + block * BLOCK;
    let count = (slots.end - first).min(BLOCK);
    if state.is_binary(variable) {
        return state.to_variable.padded::<BLOCK>(state.slot_values(first).start, count);
    }
    std::array::from_fn(|index| {
        if index < count {
            state.to_variable.get(state.slot_values(first + index).start + x)
        } else {
            EncodedMessage::ONE
        }
    })
}

/// For each tree of a binary variable, the block last visited and the products along the path from the root to it.
///
/// Most schedules visit a variable's factors in order. The paths to successive blocks then differ at their lower ends
/// only, so that a visit takes two combinations up and two down on average instead of O(log degree).
///
/// Invariant: all nodes are up to date but those on the path to the last block, which is visited while its messages
/// change. Nothing reads these nodes until another block is visited, which updates them first.
///
/// A visit changes the cursor of its variable. Several threads may visit, as long as the visits to one variable are
/// ordered, each before the next: in `lanes`, whatever touches a variable waits for what touched it before.
#[derive(Default)]
pub(super) struct Cursors {
    /// In the order of the variables with trees; empty unless all variables are binary.
    high_degree_variables: Vec<Cursor>,
    /// Per cursor, then per level from the blocks to the root: the product of all messages that are not below the node
    /// of the path at that level.
    down: Cells,
}

/// What a visit to a high-degree variable needs, in one place for the cache, in which nothing is beside it.
#[repr(align(64))]
struct Cursor {
    first_slot: u32,
    degree: u32,
    /// Where its nodes start in `Trees::nodes`.
    nodes: u32,
    /// Where its entries in `down` start.
    down: u32,
    /// The block last visited; `NONE` if there is none.
    block: AtomicU32,
}

impl Cursors {
    pub(super) fn new(state: &State, trees: &Trees) -> Result<Self> {
        let mut cursors = Self::default();
        if !state.graph.all_binary() {
            return Ok(cursors);
        }
        let mut down = 0;
        for v in 0..trees.starts.len() {
            if trees.covers(v) {
                let slots = state.slots(v);
                cursors.high_degree_variables.try_push(Cursor {
                    first_slot: slots.start as u32,
                    degree: slots.len() as u32,
                    nodes: trees.starts[v],
                    down: down as u32,
                    block: AtomicU32::new(NONE),
                })?;
                let height = tree_levels(blocks(state, v)).count();
                down = (down + height + 1).next_multiple_of(Cells::IN_LINE);
            }
        }
        cursors.down = Cells::new(down)?;
        Ok(cursors)
    }

    /// Forgets the last blocks. To be called when the trees have been rebuilt.
    pub(super) fn reset(&mut self) {
        for cursor in &mut self.high_degree_variables {
            *cursor.block.get_mut() = NONE;
        }
    }

    /// The product of all messages to a high-degree variable but those of a block. The caller may change the messages
    /// of the block until the next visit.
    #[inline]
    fn visit(&self, state: &State, trees: &Trees, high_degree: usize, block: usize) -> Product {
        let cursor = &self.high_degree_variables[high_degree];
        if cursor.block.load(Relaxed) as usize == block {
            return self.down.get(cursor.down as usize);
        }
        self.go_to(state, trees, high_degree, block)
    }

    /// The product of all messages to a high-degree variable but the one at a slot.
    #[inline]
    fn product(&self, state: &State, trees: &Trees, high_degree: usize, slot: u32) -> Product {
        let leaf = (slot - self.high_degree_variables[high_degree].first_slot) as usize;
        let block = leaf >> BLOCK_LEVELS;
        let above = self.visit(state, trees, high_degree, block);
        above.times_others(
            &self.high_degree_variables[high_degree].messages(state, block),
            leaf % BLOCK,
        )
    }

    /// [`Self::product`] as odds, where none of its factors is deterministic and `f64` does for what is multiplied last.
    #[inline(always)]
    fn near_odds(&self, state: &State, trees: &Trees, link: Link) -> Option<EncodedMessage> {
        let high_degree = link.place as usize;
        let cursor = &self.high_degree_variables[high_degree];
        let leaf = (link.slot - cursor.first_slot) as usize;
        let block = leaf >> BLOCK_LEVELS;
        let above = self.visit(state, trees, high_degree, block);
        above.near_odds_times_others(&cursor.messages(state, block), leaf % BLOCK)
    }

    /// [`Self::visit`] where the last block was another one: updates the nodes above that one up to the lowest common
    /// ancestor, then computes the products of the new path below it.
    #[inline(never)]
    fn go_to(&self, state: &State, trees: &Trees, high_degree: usize, block: usize) -> Product {
        let cursor = &self.high_degree_variables[high_degree];
        let last = cursor.block.load(Relaxed);
        cursor.block.store(block as u32, Relaxed);
        let start = cursor.down as usize;
        let common = |height: usize| last != NONE && (last as usize >> height) == (block >> height);
        let mut levels = [(0, 0); MAX_LEVELS];
        let size = (cursor.degree as usize).div_ceil(BLOCK);
        let mut walk = Walk { trees, level: cursor.nodes as usize, size };
        if last != NONE {
            let product = Product::of_block(&cursor.messages(state, last as usize));
            trees.nodes.set(walk.level + last as usize, product);
        }
        // The levels below the lowest common ancestor of both blocks.
        let mut height = 0;
        while walk.size > 1 && !common(height) {
            levels[height] = (walk.level, walk.size);
            height += 1;
            if last != NONE && !common(height) {
                walk.combine_children(last as usize >> height);
            }
            walk.ascend();
        }
        if walk.size == 1 {
            self.down.set(start + height, Product::NEUTRAL);
        }
        let mut product = self.down.get(start + height);
        for level in (0..height).rev() {
            let sibling = (block >> level) ^ 1;
            let (first, size) = levels[level];
            if sibling < size {
                product = product.combine(trees.nodes.get(first + sibling));
            }
            self.down.set(start + level, product);
        }
        product
    }
}

impl Cursor {
    /// The messages of a block, padded with ones.
    #[inline(always)]
    fn messages(&self, state: &State, block: usize) -> [EncodedMessage; BLOCK] {
        let first = block * BLOCK;
        let count = (self.degree as usize - first).min(BLOCK);
        state.to_variable.padded::<BLOCK>(self.first_slot as usize + first, count)
    }
}

/// Access to the stored products: through cursors where the visits to each variable are ordered, and directly where
/// threads share a tree.
pub(super) struct HighDegreeVariables<'a> {
    pub(super) trees: &'a Trees,
    pub(super) cursors: Option<&'a Cursors>,
}

impl<'a> HighDegreeVariables<'a> {
    /// Whether a variable's products are stored.
    #[inline(always)]
    pub(super) fn covers(&self, variable: usize) -> bool {
        self.trees.covers(variable)
    }

    /// The cursors, if the high-degree variable at the end of an edge has one.
    #[inline(always)]
    fn cursors(&self, link: Link) -> Option<&'a Cursors> {
        let cursors = self.cursors?;
        (link.high_degree && !cursors.high_degree_variables.is_empty()).then_some(cursors)
    }

    /// The product of all messages to an edge's variable but the edge's own, for the weights of
    /// state `x` (for a binary variable: the odds, x = 0). O(log degree).
    #[inline]
    pub(super) fn leave_one_out(&mut self, state: &State, edge: usize, x: usize) -> Product {
        let (link, trees) = (state.links[edge], self.trees);
        if let Some(cursors) = self.cursors(link) {
            return cursors.product(state, trees, link.place as usize, link.slot);
        }
        let variable = state.graph.edge_variables()[edge] as usize;
        let leaf = link.slot as usize - state.slots(variable).start;
        trees.leave_one_out(state, variable, leaf, x)
    }

    /// The product of all messages to an edge's binary variable but the edge's own, as odds, where that is quickly found;
    /// else `None`.
    #[inline(always)]
    pub(super) fn near_odds(&self, state: &State, link: Link) -> Option<EncodedMessage> {
        self.cursors(link)?.near_odds(state, self.trees, link)
    }

    /// To be called after the message along an edge to a high-degree variable has changed.
    #[inline]
    pub(super) fn changed(&mut self, state: &State, edge: usize) {
        let (link, trees) = (state.links[edge], self.trees);
        if let Some(cursors) = self.cursors(link) {
            let high_degree = link.place as usize;
            let leaf = (link.slot - cursors.high_degree_variables[high_degree].first_slot) as usize;
            cursors.visit(state, trees, high_degree, leaf >> BLOCK_LEVELS);
            return;
        }
        let variable = state.graph.edge_variables()[edge] as usize;
        let leaf = link.slot as usize - state.slots(variable).start;
        trees.update(state, variable, leaf);
    }
}

/// A level of one tree, for walks from the blocks to the root.
struct Walk<'a> {
    trees: &'a Trees,
    /// Where this level's nodes start.
    level: usize,
    /// Number of this level's nodes.
    size: usize,
}

impl<'a> Walk<'a> {
    /// The level of the blocks.
    #[inline]
    fn new(trees: &'a Trees, state: &State, variable: usize, x: usize) -> Self {
        let size = blocks(state, variable);
        let mut level = trees.starts[variable] as usize;
        if x > 0 {
            level += x * stored_nodes(size);
        }
        Self { trees, level, size }
    }

    /// Goes to the next level.
    fn ascend(&mut self) {
        self.level += self.size;
        self.size = self.size.div_ceil(2);
    }

    /// Computes the product of a block, at the lowest level.
    #[inline(always)]
    fn refresh_block(&self, state: &State, variable: usize, block: usize, x: usize) {
        let product = Product::of_block(&block_messages(state, variable, block, x));
        self.trees.nodes.set(self.level + block, product);
    }

    /// Sets a node of the next level from its children in this one.
    #[inline(always)]
    fn combine_children(&self, node: usize) {
        let child = |index: usize| self.trees.nodes.get(self.level + index);
        let left = child(2 * node);
        let product =
            if 2 * node + 1 < self.size { left.combine(child(2 * node + 1)) } else { left };
        self.trees.nodes.set(self.level + self.size + node, product);
    }
}
