//! Factors with warps of their own by levels: conjunctions of more than 32 variables, as trees of nodes, and such that are no
//! conjunctions. See cuda/engine/binary_level_bodies.cuh.

use super::level_messages::Reads;
use super::level_ranks::Ranks;
use super::level_units::{Input, Unit};
use super::level_versions::Versions;
use super::limits::{WARP, tables_of_warp};
use crate::engine::cuda::interface::binary::{
    NODE_DOWN, NODE_LEAF_DOWN, NODE_LEAF_UP, NODE_NONE, NODE_OTHER_FACTOR, NODE_ROOT,
    NODE_SMALL_TABLES, NODE_UP, SMALL_TABLE,
};
use crate::engine::cuda::interface::words::{level_want, unit_shape};
use crate::engine::limits::{has_own_warps, is_small_table};
use crate::error::Result;
use crate::kernel::HornCoefficients;
use crate::memory::{Grow, room};
use crate::model::FactorGraph;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// What such a factor sends at a level: its edges with the same rank, or such as read the same.
pub(super) struct ItemOfFactor {
    factor: u32,
    rank: u32,
    /// Positions of the edges, ascending.
    sent: Vec<u32>,
}

/// Units of a level: the first ones of leaves and those of whole factors, which wait for earlier levels only, and those that come
/// behind all other units of the level, as they wait for units of the same level.
#[derive(Default)]
pub(super) struct UnitsOfNodes {
    first: Vec<Unit>,
    others: Vec<Unit>,
}

impl UnitsOfNodes {
    /// All units of a level, of which these are the other ones.
    pub(super) fn around(mut self, mut units: Vec<Unit>) -> Result<Vec<Unit>> {
        if self.first.is_empty() {
            return Ok(units);
        }
        self.first.try_room(units.len() + self.others.len())?;
        self.first.append(&mut units);
        self.first.append(&mut self.others);
        Ok(self.first)
    }
}

/// The items of factors with warps of their own among the edges of a level, which ascend. O(E log E) with all edges E of the
/// variables of these factors.
pub(super) fn items_with_own_warps(
    graph: &FactorGraph, ranks: &Ranks<'_>, edges: &[u32],
) -> Result<Vec<ItemOfFactor>> {
    let factors = graph.edge_factors();
    let mut items = Vec::new();
    for group in edges.chunk_by(|&a, &b| factors[a as usize] == factors[b as usize]) {
        let factor = factors[group[0] as usize];
        if !has_own_warps(graph, factor as usize) {
            continue;
        }
        let start = graph.factor_edges(factor as usize).start as u32;
        let of_group = || group.iter().map(|&edge| ranks.of(edge));
        let least = of_group().min().unwrap_or_default();
        let most = of_group().max().unwrap_or_default();
        let others = ranks.others_between(factor as usize, least..most)?;
        // Edges between whose ranks no other message of their variables has its own read the same.
        let mut sorted: Vec<(usize, u32)> = room(group.len())?;
        let before = |edge| others.partition_point(|&other| other < ranks.of(edge));
        sorted.extend(group.iter().map(|&edge| (before(edge), edge)));
        sorted.sort_unstable();
        for same in sorted.chunk_by(|(a, _), (b, _)| a == b) {
            let mut sent = room(same.len())?;
            sent.extend(same.iter().map(|&(_, edge)| edge - start));
            items.try_push(ItemOfFactor { factor, rank: ranks.of(same[0].1), sent })?;
        }
    }
    Ok(items)
}

/// The trees of large factors, whose nodes are numbered.
pub(super) struct Trees<'a> {
    versions: &'a Versions<'a>,
    reads: &'a Reads<'a>,
    coefficients: &'a [HornCoefficients],
    /// Number of warps of a launch.
    warps: usize,
    nodes: AtomicU32,
}

/// What the units of an item have in common.
struct Tree<'a> {
    item: &'a ItemOfFactor,
    level: u32,
    head: usize,
    /// The nodes of each height, that of the leaves first.
    heights: Vec<Range<u32>>,
}

impl<'a> Trees<'a> {
    pub(super) fn new(
        versions: &'a Versions<'a>, reads: &'a Reads<'a>, coefficients: &'a [HornCoefficients],
        warps: usize,
    ) -> Self {
        Self { versions, reads, coefficients, warps, nodes: AtomicU32::new(0) }
    }

    /// Number of nodes of the units that have been made.
    pub(super) fn count(&self) -> usize {
        self.nodes.load(Relaxed) as usize
    }

    /// The units of some items of a level.
    pub(super) fn units_of(&self, items: &[ItemOfFactor], level: u32) -> Result<UnitsOfNodes> {
        let mut units = UnitsOfNodes::default();
        let mut by_step: Vec<Vec<Unit>> = Vec::new();
        let (mut whole, mut tables) = (Vec::new(), Vec::new());
        for item in items {
            if let Some(number) = self.reads.ranks.layout.other_factor(item.factor) {
                match is_small_table(self.reads.ranks.graph, item.factor as usize) {
                    true => tables.try_push((item, number))?,
                    false => {
                        let only = [(item, number)];
                        whole.try_push(self.others(&only, level, WARP, NODE_OTHER_FACTOR)?)?;
                    }
                }
                continue;
            }
            let tree = self.tree(item, level)?;
            let leaves = tree.heights[0].len();
            for leaf in 0..leaves {
                units.first.try_push(self.leaf(&tree, leaf, NODE_LEAF_UP)?)?;
            }
            for (step, mut of_step) in self.steps(&tree)?.into_iter().enumerate() {
                if step == by_step.len() {
                    by_step.try_push(Vec::new())?;
                }
                by_step[step].try_room(of_step.len())?;
                by_step[step].append(&mut of_step);
            }
        }
        for of_unit in tables.chunks(tables_of_warp(tables.len(), self.warps / 2)) {
            whole.try_push(self.others(of_unit, level, SMALL_TABLE, NODE_SMALL_TABLES)?)?;
        }
        // Behind leaves, for which others wait longest.
        units.first.try_room(whole.len())?;
        units.first.append(&mut whole);
        for mut of_step in by_step {
            units.others.try_room(of_step.len())?;
            units.others.append(&mut of_step);
        }
        Ok(units)
    }

    fn tree<'i>(&self, item: &'i ItemOfFactor, level: u32) -> Result<Tree<'i>> {
        let f = item.factor as usize;
        let graph = self.reads.ranks.graph;
        let mut counts = vec_of_one((graph.arity(f) - 1).div_ceil(WARP))?;
        while let Some(&last) = counts.last()
            && last > WARP
        {
            counts.try_push(last.div_ceil(WARP))?;
        }
        let all: usize = counts.iter().sum();
        let mut next = self.nodes.fetch_add(all as u32, Relaxed);
        let mut heights = room(counts.len())?;
        for count in counts {
            heights.push(next..next + count as u32);
            next += count as u32;
        }
        Ok(Tree { item, level, head: graph.head_position(f).unwrap_or_default(), heights })
    }

    /// The unit of some factors that are no conjunctions, with their numbers among such, each by so many threads.
    fn others(
        &self, items: &[(&ItemOfFactor, u32)], level: u32, threads: usize, kind: u32,
    ) -> Result<Unit> {
        let arity = |item: &ItemOfFactor| self.reads.ranks.graph.arity(item.factor as usize);
        let inputs = items.iter().enumerate().flat_map(|(at, &(item, _))| {
            let tree = Tree { item, level, head: 0, heights: Vec::new() };
            (0..arity(item)).map(move |position| {
                self.input(&tree, at * threads + position, position, false, true)
            })
        });
        let mut unit = Unit::of_inputs(self.versions, self.reads, inputs, level, 0)?;
        unit.shape |= unit_shape::NODE.mask();
        let words = |lane: usize| match items.get(lane / threads) {
            Some(&(item, number)) if lane % threads < arity(item) => (lane as u32, number),
            Some(&(_, number)) => (NODE_NONE, number),
            None => (NODE_NONE, NODE_NONE),
        };
        append_nodes(&mut unit, words, kind)?;
        Ok(unit)
    }

    /// The units behind those of leaves that hand over their bodies, step by step.
    fn steps(&self, tree: &Tree<'_>) -> Result<Vec<Vec<Unit>>> {
        let top = tree.heights.len() - 1;
        let mut steps = Vec::new();
        for height in 1..=top {
            let mut units = room(tree.heights[height].len())?;
            for node in 0..tree.heights[height].len() {
                units.push(self.above(tree, height, node, NODE_UP)?);
            }
            steps.try_push(units)?;
        }
        steps.try_push(vec_of_one(self.root(tree)?)?)?;
        let mut needed = self.leaves_needed(tree)?;
        let mut down: Vec<Vec<Unit>> = Vec::new();
        let mut leaves = room(needed.len())?;
        for &leaf in &needed {
            leaves.push(self.leaf(tree, leaf, NODE_LEAF_DOWN)?);
        }
        down.try_push(leaves)?;
        for height in 1..=top {
            needed.iter_mut().for_each(|node| *node /= WARP);
            needed.dedup();
            let mut units = room(needed.len())?;
            for &node in &needed {
                units.push(self.above(tree, height, node, NODE_DOWN)?);
            }
            down.try_push(units)?;
        }
        steps.try_room(down.len())?;
        steps.extend(down.into_iter().rev());
        Ok(steps)
    }

    /// Leaves with edges that are sent, ascending.
    fn leaves_needed(&self, tree: &Tree<'_>) -> Result<Vec<usize>> {
        let mut leaves = Vec::new();
        for &position in tree.item.sent.iter().filter(|&&at| at as usize != tree.head) {
            let literal = position as usize - usize::from(position as usize > tree.head);
            leaves.try_push(literal / WARP)?;
        }
        leaves.dedup();
        Ok(leaves)
    }

    /// A unit of a leaf.
    fn leaf(&self, tree: &Tree<'_>, leaf: usize, kind: u32) -> Result<Unit> {
        let item = tree.item;
        let f = item.factor as usize;
        let graph = self.reads.ranks.graph;
        let literals = leaf * WARP..((leaf + 1) * WARP).min(graph.arity(f) - 1);
        let signs = graph.conjunction_parameter(f).map(|parameter| &self.coefficients[parameter]);
        let count = literals.len();
        let inputs = literals.enumerate().map(|(lane, literal)| {
            let position = literal + usize::from(literal >= tree.head);
            let is_negated = signs.is_some_and(|signs| signs.is_negated(position));
            self.input(tree, lane, position, is_negated, kind == NODE_LEAF_DOWN)
        });
        let mut unit = self.unit(tree, inputs)?;
        let own = tree.heights[0].start + leaf as u32;
        let words = |lane| (if lane < count { lane as u32 } else { NODE_NONE }, own);
        append_nodes(&mut unit, words, kind)?;
        Ok(unit)
    }

    fn root(&self, tree: &Tree<'_>) -> Result<Unit> {
        let mut unit =
            self.unit(tree, std::iter::once(self.input(tree, 0, tree.head, false, true)))?;
        let of_root = tree.heights[tree.heights.len() - 1].clone();
        append_nodes(&mut unit, |lane| (nth(&of_root, lane), NODE_NONE), NODE_ROOT)?;
        Ok(unit)
    }

    /// A unit of a node above the leaves.
    fn above(&self, tree: &Tree<'_>, height: usize, node: usize, kind: u32) -> Result<Unit> {
        let mut unit = self.unit(tree, std::iter::empty())?;
        let below = &tree.heights[height - 1];
        let own = tree.heights[height].start + node as u32;
        append_nodes(&mut unit, |lane| (nth(below, node * WARP + lane), own), kind)?;
        Ok(unit)
    }

    fn unit(&self, tree: &Tree<'_>, inputs: impl Iterator<Item = Input>) -> Result<Unit> {
        let number = self.coefficients_of(tree);
        let mut unit = Unit::of_inputs(self.versions, self.reads, inputs, tree.level, number)?;
        unit.shape |= unit_shape::NODE.mask();
        Ok(unit)
    }

    fn coefficients_of(&self, tree: &Tree<'_>) -> u32 {
        self.reads.ranks.layout.coefficients_of[tree.item.factor as usize]
    }

    /// What a thread has of an edge, along which it sends if that is to be sent and `sends`.
    fn input(
        &self, tree: &Tree<'_>, lane: usize, position: usize, is_negated: bool, sends: bool,
    ) -> Input {
        let ItemOfFactor { factor, rank, ref sent } = *tree.item;
        let edge = self.reads.ranks.graph.factor_edges(factor as usize).start + position;
        let is_sent = sent.binary_search(&(position as u32)).is_ok();
        let flags = level_want::SENT.flag(is_sent && sends)
            | level_want::NEGATED.flag(is_negated)
            | level_want::COEFFICIENTS.put(self.coefficients_of(tree));
        // The only edge that is sent does not need its own input, which may come later.
        let is_read = self.reads.ranks.is_read(edge) && !(is_sent && sent.len() == 1);
        Input { lane, edge, rank, flags, is_read }
    }
}

/// The last chunk of a unit, given what each lane takes and its own number: see NodeWords.
fn append_nodes(unit: &mut Unit, words: impl Fn(usize) -> (u32, u32), kind: u32) -> Result<()> {
    for lane in 0..WARP {
        let (taken, own) = words(lane);
        unit.words.try_append(&[taken, own, kind, 0])?;
    }
    Ok(())
}

/// The node at a place of some, if there is one.
fn nth(nodes: &Range<u32>, at: usize) -> u32 {
    if at < nodes.len() { nodes.start + at as u32 } else { NODE_NONE }
}

fn vec_of_one<T>(only: T) -> Result<Vec<T>> {
    let mut all = room(1)?;
    all.push(only);
    Ok(all)
}
