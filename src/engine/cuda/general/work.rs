//! What an iteration computes, level by level, and whether threads or blocks do.

use super::factors::{HIGH_DEGREE, PRODUCT, body_memory, tree_nodes};
use crate::error::Result;
use crate::kernel::stored_values;
use crate::memory::{Grow, collected, filled, room};
use crate::model::FactorGraph;
use crate::schedule::{Preorder, Storage, analyse};

/// Variables of a higher degree are computed by blocks (THREAD_DEGREE of general.cuh).
pub(super) const THREAD_DEGREE: usize = 64;
/// Bytes of memory that a thread may have.
const THREAD_BYTES: u64 = 4096;

/// Words of `Item` of general.cuh: factor, first target, end of the targets.
const ITEM: usize = 3;

/// Items of all levels, and where each level starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Items {
    /// Three words each.
    pub words: Vec<u32>,
    pub levels: Vec<u32>,
}

impl Items {
    fn new() -> Result<Self> {
        Ok(Self { words: Vec::new(), levels: filled(1, 0)? })
    }

    fn push(&mut self, factor: u32, first: usize, end: usize) -> Result<()> {
        let item: [u32; ITEM] = [factor, first as u32, end as u32];
        self.words.try_append(&item)
    }

    fn end_level(&mut self) -> Result<()> {
        self.levels.try_push((self.words.len() / ITEM) as u32)
    }

    /// Number of items of the widest level.
    pub fn width(&self) -> usize {
        self.levels.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0) as usize
    }
}

/// The work items of an iteration, for threads and for blocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TaskLists {
    pub thread_items: Items,
    pub block_items: Items,
    /// Edges, item by item; empty if every item is all messages of its factor and all read old ones.
    pub targets: Vec<u32>,
    /// By slot; empty as well.
    pub ranks: Vec<u32>,
}

/// Bytes of memory for the products over so many edges.
fn product_memory(degree: usize) -> u64 {
    let blocks = degree.div_ceil(8) as u64;
    PRODUCT * (blocks + tree_nodes(blocks))
}

/// What decides who computes.
pub(super) struct Shares<'a> {
    graph: &'a FactorGraph,
    /// `Factors::scratch`.
    factor_bytes: &'a [u64],
}

impl<'a> Shares<'a> {
    /// `factor_bytes` are those of memory that each factor's messages take ([`Factors::scratch`]).
    ///
    /// [`Factors::scratch`]: super::factors::Factors::scratch
    pub fn new(graph: &'a FactorGraph, factor_bytes: &'a [u64]) -> Self {
        Self { graph, factor_bytes }
    }

    /// Bytes that a block needs for messages out of the high-degree variables of a factor; 0 if it has none.
    fn high_degree_bytes(&self, factor: usize) -> u64 {
        let degrees = self.graph.factor_variables(factor).iter();
        let degrees = degrees.map(|&v| self.graph.degree(v as usize));
        degrees.filter(|&degree| degree > HIGH_DEGREE).map(product_memory).max().unwrap_or(0)
    }

    fn is_of_block(&self, factor: usize, by_levels: bool) -> bool {
        self.factor_bytes[factor] > THREAD_BYTES
            || (by_levels && self.high_degree_bytes(factor) > 0)
    }

    /// Bytes of memory of a thread and of a block.
    pub fn scratch(&self, by_levels: bool) -> (u64, u64) {
        let graph = self.graph;
        let (mut threads, mut blocks) = (0, 0);
        for factor in 0..graph.factor_count() {
            let own = self.factor_bytes[factor];
            if graph.arity(factor) <= 1 || !self.is_of_block(factor, by_levels) {
                // Factors with one variable are always a thread's.
                threads = own.max(threads);
            } else {
                let high_degree = if by_levels { self.high_degree_bytes(factor) } else { 0 };
                // A block takes memory for small conjunctions as well.
                let body = body_memory(graph.arity(factor) as u64);
                blocks = own.max(body).max(high_degree).max(blocks);
            }
        }
        for v in 0..graph.variable_count() {
            let degree = graph.degree(v);
            if degree > THREAD_DEGREE {
                let states = stored_values(graph.cardinalities()[v]) as u64;
                blocks = (states * product_memory(degree)).max(blocks);
            }
        }
        (threads, blocks)
    }

    /// Synchronous updates: every factor is a work item, in one level.
    pub fn synchronous(&self) -> Result<TaskLists> {
        let (mut thread_items, mut block_items) = (Items::new()?, Items::new()?);
        for factor in (0..self.graph.factor_count()).filter(|&f| self.graph.arity(f) > 1) {
            let of_block = self.is_of_block(factor, false);
            let items = if of_block { &mut block_items } else { &mut thread_items };
            items.push(factor as u32, 0, 0)?;
        }
        thread_items.end_level()?;
        block_items.end_level()?;
        Ok(TaskLists { thread_items, block_items, targets: Vec::new(), ranks: Vec::new() })
    }

    /// The messages of a preorder, by the levels of its analysis.
    ///
    /// Ranks number the runs: classes that follow each other and concern one and the same factor are
    /// one, since a factor's messages do not read each other. So messages of a factor of one run read
    /// the same.
    pub fn by_levels(&self, preorder: &Preorder) -> Result<TaskLists> {
        let graph = self.graph;
        let levels = analyse(graph, preorder, Storage::SideBySide)?;
        let runs = runs(graph, preorder)?;
        let factors = graph.edge_factors();
        let (mut thread_items, mut block_items) = (Items::new()?, Items::new()?);
        let mut targets = room(graph.edge_count())?;
        for level in 0..levels.count() {
            let edges = levels.edges(level);
            for group in edges.chunk_by(|&a, &b| factors[a as usize] == factors[b as usize]) {
                let factor = factors[group[0] as usize] as usize;
                if graph.arity(factor) == 1 {
                    continue;
                }
                let first = targets.len();
                targets.extend_from_slice(group);
                targets[first..].sort_unstable_by_key(|&edge| (runs[edge as usize], edge));
                let of_block = self.is_of_block(factor, true);
                let items = if of_block { &mut block_items } else { &mut thread_items };
                items.push(factor as u32, first, targets.len())?;
            }
            thread_items.end_level()?;
            block_items.end_level()?;
        }
        let slots = graph.all_variable_edges().iter();
        let ranks = collected(slots.map(|&edge| runs[edge as usize]))?;
        Ok(TaskLists { thread_items, block_items, targets, ranks })
    }
}

/// The run of each edge: the number of its class, counting classes that follow each other and concern one
/// and the same factor once.
fn runs(graph: &FactorGraph, preorder: &Preorder) -> Result<Vec<u32>> {
    let factors = graph.edge_factors();
    let (edges, classes) = preorder.classes()?;
    let mut runs = filled(edges.len(), 0)?;
    let mut run = 0;
    let mut previous = None;
    for (number, class) in classes.windows(2).enumerate() {
        let own = &edges[class[0] as usize..class[1] as usize];
        let factor = factors[own[0] as usize];
        // Inside a class, edges ascend.
        let single = (factors[own[own.len() - 1] as usize] == factor).then_some(factor);
        if number > 0 && (single.is_none() || single != previous) {
            run += 1;
        }
        previous = single;
        for &edge in own {
            runs[edge as usize] = run;
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::super::factors::Factors;
    use super::*;
    use crate::kernel::Inference;
    use crate::model::FactorGraphBuilder;

    /// A chain 0 - 1 - 2 of two factors, each of two variables, and a prior.
    fn chain() -> FactorGraph {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(1, &[0], 0.9, 0.2).unwrap();
        builder.add_and(2, &[1], 0.8, 0.1).unwrap();
        builder.add_prior(0, 0.3).unwrap();
        builder.build().unwrap()
    }

    fn work(graph: &FactorGraph, ranks: &[u64]) -> TaskLists {
        let factors = Factors::new(graph, Inference::SumProduct).unwrap();
        let preorder = Preorder::from_ranks(graph, ranks).unwrap();
        Shares::new(graph, &factors.scratch).by_levels(&preorder).unwrap()
    }

    #[test]
    fn synchronous_updates_are_one_level_of_whole_factors() {
        let graph = chain();
        let factors = Factors::new(&graph, Inference::SumProduct).unwrap();
        let work = Shares::new(&graph, &factors.scratch).synchronous().unwrap();
        assert_eq!(work.thread_items.words, [0, 0, 0, 1, 0, 0]);
        assert_eq!((work.thread_items.levels, work.block_items.levels), (vec![0, 2], vec![0, 0]));
        assert!(work.targets.is_empty() && work.ranks.is_empty());
    }

    #[test]
    fn levels_list_the_messages_that_can_be_updated() {
        let graph = chain();
        // Edges: 0->0, 0->1, 1->1, 1->2, prior->0. The order of their numbers.
        let work = work(&graph, &[0, 1, 2, 3, 4]);
        // 1->2 reads 0->1. The prior is not listed.
        assert_eq!(work.targets, [0, 1, 2, 3]);
        assert_eq!(work.thread_items.words, [0, 0, 2, 1, 2, 3, 1, 3, 4]);
        assert_eq!(work.thread_items.levels, [0, 2, 3]);
        // By slot: of variable 0 the edges 0 and 4, of 1 the edges 1 and 2, of 2 the edge 3.
        assert_eq!(work.ranks, [0, 2, 0, 1, 1]);
    }

    #[test]
    fn classes_of_one_factor_are_one_run_unless_others_are_among_them() {
        let graph = chain();
        let runs =
            |ranks: &[u64]| runs(&graph, &Preorder::from_ranks(&graph, ranks).unwrap()).unwrap();
        assert_eq!(runs(&[0, 1, 2, 3, 4]), [0, 0, 1, 1, 2]);
        assert_eq!(runs(&[0, 1, 1, 2, 3]), [0, 1, 1, 2, 3]);
        assert_eq!(runs(&[0, 2, 1, 3, 3]), [0, 2, 1, 3, 3]);
        assert_eq!(runs(&[0, 0, 0, 0, 0]), [0; 5]);
    }

    /// One factor, two runs in one level: the first reads old messages, the second new ones.
    #[test]
    fn runs_of_a_factor_in_one_level_are_apart() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(2, &[0, 1], 0.9, 0.2).unwrap();
        builder.add_prior(5, 0.2).unwrap();
        builder.add_prior(6, 0.2).unwrap();
        let graph = builder.build().unwrap();
        let work = work(&graph, &[4, 0, 2, 1, 3]);
        assert_eq!(work.targets, [1, 2, 0]);
        assert_eq!(work.thread_items.words, [0, 0, 3]);
        assert_eq!(work.ranks[..3], [4, 0, 2]);
    }

    #[test]
    fn large_factors_and_high_degree_variables_are_for_blocks() {
        let mut builder = FactorGraphBuilder::new();
        let body: Vec<u64> = (1..100).collect();
        builder.add_and(0, &body, 0.9, 0.2).unwrap();
        for v in 0..300 {
            builder.add_and(1000 + v, &[0], 0.9, 0.2).unwrap();
        }
        let graph = builder.build().unwrap();
        let factors = Factors::new(&graph, Inference::SumProduct).unwrap();
        let shares = Shares::new(&graph, &factors.scratch);
        let synchronous = shares.synchronous().unwrap();
        assert_eq!(synchronous.block_items.words, [0, 0, 0]);
        assert_eq!(synchronous.thread_items.width(), 300);
        let (threads, blocks) = shares.scratch(false);
        assert_eq!(threads, 0);
        // 100 leaves and the levels of 50, 25, 13, 7, 4 and 2 nodes above them, of two extended floats.
        assert_eq!(blocks, (100 + 101) * 32);
        // By levels each factor reads a message of the high-degree variable.
        let preorder = Preorder::from_ranks(&graph, &vec![0; graph.edge_count()]).unwrap();
        let levels = shares.by_levels(&preorder).unwrap();
        assert_eq!((levels.thread_items.width(), levels.block_items.width()), (0, 301));
    }
}
