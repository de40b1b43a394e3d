//! Stored product trees of variables with many factors, so that one message in or out costs
//! O(log degree).

use super::state::State;
use crate::kernel::{Monoid, Packed, Product, SMALL_DEGREE, tree_levels};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The inner nodes of the product trees of all variables above [`SMALL_DEGREE`]. The leaves are the
/// messages themselves.
#[derive(Default)]
pub(super) struct Trees {
    /// Where each variable's nodes start; `NONE` for a variable without a tree. Empty if none has.
    starts: Vec<u32>,
    nodes: Vec<Cell>,
}

const NONE: u32 = u32::MAX;
/// Levels of a tree over 2^32 leaves.
const MAX_LEVELS: usize = 33;

/// A product that threads write and read in turn; see `Values`.
#[derive(Default)]
struct Cell {
    significand: AtomicU64,
    exponent: AtomicU64,
    counts: AtomicU64,
}

impl Cell {
    fn get(&self) -> Product {
        Product::from_words([
            self.significand.load(Relaxed),
            self.exponent.load(Relaxed),
            self.counts.load(Relaxed),
        ])
    }

    fn set(&self, product: Product) {
        let [significand, exponent, counts] = product.to_words();
        self.significand.store(significand, Relaxed);
        self.exponent.store(exponent, Relaxed);
        self.counts.store(counts, Relaxed);
    }
}

/// Number of products that a variable's tree holds per node.
fn states(state: &State, variable: usize) -> usize {
    if state.is_binary(variable) { 1 } else { state.graph.cardinality(variable) }
}

impl Trees {
    /// Trees for the messages as they are.
    pub(super) fn new(state: &State) -> Self {
        let graph = &state.graph;
        let mut trees = Self::default();
        let is_hub = |v: usize| graph.degree(v) > SMALL_DEGREE;
        if !(0..graph.variable_count()).any(is_hub) {
            return trees;
        }
        let mut next = 0;
        for v in 0..graph.variable_count() {
            if is_hub(v) {
                trees.starts.push(next as u32);
                next += tree_levels(graph.degree(v)).sum::<usize>() * states(state, v);
            } else {
                trees.starts.push(NONE);
            }
        }
        trees.nodes.resize_with(next, Cell::default);
        trees.rebuild_all(state);
        trees
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
    pub(super) fn rebuild(&self, state: &State, variable: usize) {
        let degree = state.graph.degree(variable);
        for x in 0..states(state, variable) {
            let mut walk = Walk::new(self, state, variable, x);
            for size in tree_levels(degree) {
                for node in 0..size {
                    walk.combine_children(node);
                }
                walk.ascend();
            }
        }
    }

    /// Computes the nodes above one leaf, whose message has changed. O(log degree * states).
    pub(super) fn update(&self, state: &State, variable: usize, leaf: usize) {
        for x in 0..states(state, variable) {
            let mut walk = Walk::new(self, state, variable, x);
            let mut node = leaf;
            while walk.size > 1 {
                node /= 2;
                walk.combine_children(node);
                walk.ascend();
            }
        }
    }

    /// Computes the nodes above some leaves of a variable, given as slots. O(min(degree, slots *
    /// log degree) * states).
    pub(super) fn update_slots(&self, state: &State, variable: usize, slots: &[u32]) {
        let own = state.graph.variable_slots(variable);
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
    pub(super) fn leave_one_out(
        &self,
        state: &State,
        variable: usize,
        leaf: usize,
        x: usize,
    ) -> Product {
        // Where each level lies, from the leaves to the root's children.
        let mut levels = [(0, 0); MAX_LEVELS];
        let mut walk = Walk::new(self, state, variable, x);
        let mut height = 0;
        while walk.size > 1 {
            levels[height] = (walk.level, walk.size);
            height += 1;
            walk.ascend();
        }
        let mut product = Product::NEUTRAL;
        for level in (0..height).rev() {
            let sibling = (leaf >> level) ^ 1;
            let (start, size) = levels[level];
            if sibling < size {
                (walk.level, walk.size, walk.is_leaves) = (start, size, level == 0);
                product = product.combine(walk.node(sibling));
            }
        }
        product
    }
}

/// For each tree of a binary variable, the leaf last visited and the products on the way down to it.
///
/// Schedules mostly visit a variable's factors in their order. The way to the next leaf then shares
/// all but its end with the way to the last one, and two combinations up and down suffice on average
/// where the whole way would take O(log degree). The nodes above the last leaf are brought up to date
/// only when another leaf is visited: until then no one reads them.
#[derive(Default)]
pub(super) struct Cursors {
    /// Where each variable's entries in `down` start; `NONE` without a tree, empty if none has.
    starts: Vec<u32>,
    /// Per variable with a tree its last leaf, `NONE` if there is none, at the index of its start.
    leaves: Vec<u32>,
    /// Per variable and level, from the leaves to the root, the product of all that is not below.
    down: Vec<Product>,
}

impl Cursors {
    pub(super) fn new(state: &State, trees: &Trees) -> Self {
        let mut cursors = Self::default();
        for v in 0..trees.starts.len() {
            if trees.covers(v) && state.is_binary(v) {
                cursors.starts.push(cursors.down.len() as u32);
                let height = tree_levels(state.graph.degree(v)).count();
                cursors.down.resize(cursors.down.len() + height + 1, Product::NEUTRAL);
            } else {
                cursors.starts.push(NONE);
            }
        }
        cursors.leaves = vec![NONE; cursors.down.len()];
        cursors
    }

    /// Forgets all leaves, when the trees have been rebuilt.
    pub(super) fn reset(&mut self) {
        self.leaves.fill(NONE);
    }

    /// Whether a variable has a cursor.
    #[inline(always)]
    pub(super) fn covers(&self, variable: usize) -> bool {
        self.starts.get(variable).is_some_and(|&start| start != NONE)
    }

    /// The product of all messages to a variable but the one at `leaf`, which the caller may change
    /// from now on.
    #[inline]
    pub(super) fn visit(
        &mut self,
        state: &State,
        trees: &Trees,
        variable: usize,
        leaf: usize,
    ) -> Product {
        let start = self.starts[variable] as usize;
        let last = self.leaves[start];
        if last as usize == leaf {
            return self.down[start];
        }
        self.leaves[start] = leaf as u32;
        // The levels below the lowest common ancestor of both leaves.
        let mut levels = [(0, 0); MAX_LEVELS];
        let mut walk = Walk::new(trees, state, variable, 0);
        let mut height = 0;
        let common = |height: usize| last != NONE && (last as usize >> height) == (leaf >> height);
        while walk.size > 1 && !common(height) {
            levels[height] = (walk.level, walk.size);
            height += 1;
            if last != NONE && !common(height) {
                walk.combine_children(last as usize >> height);
            }
            walk.ascend();
        }
        if walk.size == 1 {
            self.down[start + height] = Product::NEUTRAL;
        }
        let mut product = self.down[start + height];
        for level in (0..height).rev() {
            let sibling = (leaf >> level) ^ 1;
            let (first, size) = levels[level];
            if sibling < size {
                (walk.level, walk.size, walk.is_leaves) = (first, size, level == 0);
                product = product.combine(walk.node(sibling));
            }
            self.down[start + level] = product;
        }
        product
    }
}

/// Access to the stored products: through cursors where one thread has them to itself, straight from
/// the trees otherwise.
pub(super) struct Hubs<'a> {
    pub(super) trees: &'a Trees,
    pub(super) cursors: Option<&'a mut Cursors>,
}

impl Hubs<'_> {
    /// Whether a variable's products are stored.
    #[inline(always)]
    pub(super) fn covers(&self, variable: usize) -> bool {
        self.trees.covers(variable)
    }

    /// See [`Trees::leave_one_out`].
    #[inline]
    pub(super) fn leave_one_out(
        &mut self,
        state: &State,
        variable: usize,
        leaf: usize,
        x: usize,
    ) -> Product {
        match &mut self.cursors {
            Some(cursors) if cursors.covers(variable) => {
                cursors.visit(state, self.trees, variable, leaf)
            }
            _ => self.trees.leave_one_out(state, variable, leaf, x),
        }
    }

    /// The message at a leaf has changed.
    #[inline]
    pub(super) fn changed(&mut self, state: &State, variable: usize, leaf: usize) {
        match &mut self.cursors {
            Some(cursors) if cursors.covers(variable) => {
                cursors.visit(state, self.trees, variable, leaf);
            }
            _ => self.trees.update(state, variable, leaf),
        }
    }
}

/// A level of one tree.
struct Walk<'a> {
    trees: &'a Trees,
    state: &'a State,
    first_slot: usize,
    x: usize,
    /// Where this level's nodes start: for the leaves, unused.
    level: usize,
    /// Where the next level's nodes start.
    above: usize,
    size: usize,
    is_leaves: bool,
}

impl<'a> Walk<'a> {
    /// At the leaves.
    #[inline]
    fn new(trees: &'a Trees, state: &'a State, variable: usize, x: usize) -> Self {
        let slots = state.graph.variable_slots(variable);
        let mut start = trees.starts[variable] as usize;
        if x > 0 {
            start += x * tree_levels(slots.len()).sum::<usize>();
        }
        let size = slots.len();
        Self {
            trees,
            state,
            first_slot: slots.start,
            x,
            level: 0,
            above: start,
            size,
            is_leaves: true,
        }
    }

    fn ascend(&mut self) {
        self.size = self.size.div_ceil(2);
        self.level = self.above;
        self.above += self.size;
        self.is_leaves = false;
    }

    #[inline(always)]
    fn node(&self, node: usize) -> Product {
        if self.is_leaves {
            Product::of(self.leaf(node))
        } else {
            self.trees.nodes[self.level + node].get()
        }
    }

    #[inline(always)]
    fn leaf(&self, node: usize) -> Packed {
        let values = self.state.slot_values(self.first_slot + node);
        self.state.to_variable.get(values.start + self.x)
    }

    /// Sets a node of the next level from its children in this one.
    #[inline(always)]
    fn combine_children(&self, node: usize) {
        let left = self.node(2 * node);
        let product =
            if 2 * node + 1 < self.size { left.combine(self.node(2 * node + 1)) } else { left };
        self.trees.nodes[self.above + node].set(product);
    }
}
