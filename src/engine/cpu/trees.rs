//! Product trees of high-degree variables, with which reading or replacing one message costs O(log degree).
//!
//! The leaves of a tree are the messages to the variable, in blocks of [`BLOCK`]. Stored are the products of the blocks
//! and, level by level up to the root, the products of pairs; a variable with more than two states has a tree for each.

use super::state::{Link, State};
use crate::error::Result;
use crate::kernel::{
    BLOCK, BLOCK_LEVELS, EncodedMessage, Monoid, Product, RunningProduct, SMALL_DEGREE, tree_levels,
};
use crate::memory::{Grow, collected, room};
use crate::prefetch::{prefetch, prefetch_to_write};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The trees of all variables of a degree above [`SMALL_DEGREE`].
#[derive(Default)]
pub(super) struct Trees {
    /// Where each variable's nodes start; `NONE` for a variable without a tree. Empty if none has.
    starts: Vec<u32>,
    nodes: Cells,
    /// Where the trees and the messages are, in the order of the variables; empty unless all variables are binary.
    roots: Vec<Root>,
}

/// What is to be known of the tree of a binary variable, side by side.
#[derive(Clone, Copy)]
struct Root {
    first_slot: u32,
    degree: u32,
    /// Where its nodes start in [`Trees::nodes`].
    nodes: u32,
}

impl Root {
    /// The position of a link's message among those of its variable.
    fn leaf(self, link: Link) -> usize {
        (link.slot - self.first_slot) as usize
    }

    /// Number of blocks of the variable's messages.
    fn blocks(self) -> usize {
        (self.degree as usize).div_ceil(BLOCK)
    }

    /// The messages of a block, padded with ones.
    #[inline(always)]
    fn messages(self, state: &State, block: usize) -> [EncodedMessage; BLOCK] {
        let first = block * BLOCK;
        let count = (self.degree as usize - first).min(BLOCK);
        state.to_variable.padded::<BLOCK>(self.first_slot as usize + first, count)
    }
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
    fn prefetch(&self, index: usize, to_write: bool) {
        let line = index / Self::IN_LINE;
        if to_write { prefetch_to_write(&self.0, line) } else { prefetch(&self.0, line) }
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
        trees.find_roots(state)?;
        trees.rebuild_all(state);
        Ok(trees)
    }

    /// Finds out where messages are. To be called when they have been laid out anew.
    pub(super) fn find_roots(&mut self, state: &State) -> Result<()> {
        self.roots.clear();
        if state.graph.all_binary() {
            for (v, &nodes) in self.starts.iter().enumerate() {
                if nodes != NONE {
                    let slots = state.slots(v);
                    let (first_slot, degree) = (slots.start as u32, slots.len() as u32);
                    self.roots.try_push(Root { first_slot, degree, nodes })?;
                }
            }
        }
        Ok(())
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
        let block = leaf >> BLOCK_LEVELS;
        for x in 0..states(state, variable) {
            let product = Product::of_block(&block_messages(state, variable, block, x));
            Walk::new(self, state, variable, x).replace_block(block, product);
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
        let block = leaf >> BLOCK_LEVELS;
        let above = Walk::new(self, state, variable, x).leave_block_out(block);
        above.times_others(&block_messages(state, variable, block, x), leaf % BLOCK)
    }

    /// [`Self::leave_one_out`] for a binary variable as odds, where all variables are binary, none of the factors is deterministic,
    /// and `f64` does for what is multiplied last.
    #[inline]
    fn near_odds(&self, state: &State, link: Link) -> Option<EncodedMessage> {
        let &root = self.roots.get(link.place as usize)?;
        let leaf = root.leaf(link);
        let block = leaf >> BLOCK_LEVELS;
        let above = Walk::of(self, root).leave_block_out(block);
        above.near_odds_times_others(&root.messages(state, block), leaf % BLOCK)
    }

    /// Prefetches where the tree of a link's high-degree variable is.
    #[inline(always)]
    pub(super) fn prefetch_root(&self, link: Link) {
        prefetch(&self.roots, link.place as usize);
    }

    /// Prefetches the nodes that reading the messages beside that of a link to a high-degree variable takes, or replacing this one.
    #[inline]
    pub(super) fn prefetch_path(&self, link: Link, to_write: bool) {
        let Some(&root) = self.roots.get(link.place as usize) else { return };
        let mut walk = Walk::of(self, root);
        let mut node = root.leaf(link) >> BLOCK_LEVELS;
        while walk.size > 1 {
            // (A node is beside its sibling, or in the next line.)
            self.nodes.prefetch(walk.level + (node ^ usize::from(!to_write)), to_write);
            node /= 2;
            walk.ascend();
        }
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
    root: Root,
    /// Where its entries in `down` start.
    down: u32,
    /// The block last visited; `NONE` if there is none.
    block: AtomicU32,
}

impl Cursors {
    pub(super) fn new(trees: &Trees) -> Result<Self> {
        let mut cursors = Self::default();
        let mut down = 0;
        for &root in &trees.roots {
            cursors.high_degree_variables.try_push(Cursor {
                root,
                down: down as u32,
                block: AtomicU32::new(NONE),
            })?;
            let height = tree_levels(root.blocks()).count();
            down = (down + height + 1).next_multiple_of(Cells::IN_LINE);
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
    fn product(&self, state: &State, trees: &Trees, link: Link) -> Product {
        let high_degree = link.place as usize;
        let root = self.high_degree_variables[high_degree].root;
        let leaf = root.leaf(link);
        let block = leaf >> BLOCK_LEVELS;
        let above = self.visit(state, trees, high_degree, block);
        above.times_others(&root.messages(state, block), leaf % BLOCK)
    }

    /// [`Self::product`] as odds, where none of its factors is deterministic and `f64` does for what is multiplied last.
    #[inline(always)]
    fn near_odds(&self, state: &State, trees: &Trees, link: Link) -> Option<EncodedMessage> {
        let high_degree = link.place as usize;
        let root = self.high_degree_variables[high_degree].root;
        let leaf = root.leaf(link);
        let block = leaf >> BLOCK_LEVELS;
        let above = self.visit(state, trees, high_degree, block);
        above.near_odds_times_others(&root.messages(state, block), leaf % BLOCK)
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
        let mut walk = Walk::of(trees, cursor.root);
        let mut up = RunningProduct::of(Product::NEUTRAL);
        if last != NONE {
            let product = Product::of_block(&cursor.root.messages(state, last as usize));
            trees.nodes.set(walk.level + last as usize, product);
            up = RunningProduct::of(product);
        }
        // The levels below the lowest common ancestor of both blocks.
        let mut height = 0;
        while walk.size > 1 && !common(height) {
            levels[height] = (walk.level, walk.size);
            if last != NONE && !common(height + 1) {
                walk.multiply_by_sibling(last as usize >> height, &mut up);
                let parent = last as usize >> (height + 1);
                trees.nodes.set(walk.level + walk.size + parent, up.product());
            }
            height += 1;
            walk.ascend();
        }
        if walk.size == 1 {
            self.down.set(start + height, Product::NEUTRAL);
        }
        let mut down = RunningProduct::of(self.down.get(start + height));
        for level in (0..height).rev() {
            let sibling = (block >> level) ^ 1;
            let (first, size) = levels[level];
            if sibling < size {
                down.multiply(trees.nodes.get(first + sibling));
            }
            self.down.set(start + level, down.product());
        }
        down.product()
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
            return cursors.product(state, trees, link);
        }
        let variable = state.graph.edge_variables()[edge] as usize;
        let leaf = link.slot as usize - state.slots(variable).start;
        trees.leave_one_out(state, variable, leaf, x)
    }

    /// The product of all messages to an edge's binary variable but the edge's own, as odds, where that is quickly found;
    /// else `None`.
    #[inline(always)]
    pub(super) fn near_odds(&self, state: &State, link: Link) -> Option<EncodedMessage> {
        match self.cursors(link) {
            Some(cursors) => cursors.near_odds(state, self.trees, link),
            None => self.trees.near_odds(state, link),
        }
    }

    /// To be called after the message along an edge to a high-degree variable has changed.
    #[inline]
    pub(super) fn changed(&mut self, state: &State, edge: usize) {
        let (link, trees) = (state.links[edge], self.trees);
        if let Some(cursors) = self.cursors(link) {
            let high_degree = link.place as usize;
            let leaf = cursors.high_degree_variables[high_degree].root.leaf(link);
            cursors.visit(state, trees, high_degree, leaf >> BLOCK_LEVELS);
            return;
        }
        if let Some(&root) = trees.roots.get(link.place as usize) {
            let block = root.leaf(link) >> BLOCK_LEVELS;
            let product = Product::of_block(&root.messages(state, block));
            return Walk::of(trees, root).replace_block(block, product);
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

    /// As [`Self::new`], of a binary variable.
    #[inline]
    fn of(trees: &'a Trees, root: Root) -> Self {
        Self { trees, level: root.nodes as usize, size: root.blocks() }
    }

    /// From the level of the blocks: the product of all messages but those of a block. O(log degree).
    #[inline(always)]
    fn leave_block_out(mut self, block: usize) -> Product {
        // Where each level starts, from the blocks to the children of the root.
        let mut starts = [0_u32; MAX_LEVELS];
        let (blocks, mut height) = (self.size, 0);
        while self.size > 1 {
            starts[height] = self.level as u32;
            height += 1;
            self.ascend();
        }
        let mut product = RunningProduct::of(Product::NEUTRAL);
        for level in (0..height).rev() {
            let sibling = (block >> level) ^ 1;
            if sibling << level < blocks {
                product.multiply(self.trees.nodes.get(starts[level] as usize + sibling));
            }
        }
        product.product()
    }

    /// From the level of the blocks: replaces the product of a block, and all above it. O(log degree).
    #[inline]
    fn replace_block(mut self, block: usize, product: Product) {
        self.trees.nodes.set(self.level + block, product);
        let (mut node, mut product) = (block, RunningProduct::of(product));
        while self.size > 1 {
            self.multiply_by_sibling(node, &mut product);
            node /= 2;
            self.ascend();
            self.trees.nodes.set(self.level + node, product.product());
        }
    }

    /// Makes a node's product that of its parent.
    #[inline(always)]
    fn multiply_by_sibling(&self, node: usize, product: &mut RunningProduct) {
        if node ^ 1 < self.size {
            product.multiply(self.trees.nodes.get(self.level + (node ^ 1)));
        }
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
