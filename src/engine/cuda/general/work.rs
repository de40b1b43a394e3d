//! What an iteration computes, level by level, and whether threads, warps or blocks do.

use super::factors::{HIGH_DEGREE, PRODUCT, SMALL_ARITY, body_memory, tree_nodes};
use crate::error::Result;
use crate::kernel::stored_values;
use crate::memory::{Grow, collected, copied, filled, room};
use crate::model::FactorGraph;
use crate::schedule::{Preorder, Storage, analyse};

/// Bytes of memory that a thread may have for a factor, and a warp for a factor or a variable.
const THREAD_BYTES: u64 = 512;
const WARP_BYTES: u64 = 16 << 10;
/// Most edges of a variable that a thread looks at, and most values of messages on them.
const THREAD_DEGREE: usize = 8;
const THREAD_VALUES: usize = 16;
/// VALUES_AT_ONCE of general_variables.cuh.
const VALUES_AT_ONCE: u64 = 128;

/// How many threads share a work item: the numbers are those of `SPAN_THREAD` and so on in groups.cuh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    Thread = 0,
    Warp = 1,
    Block = 2,
}

impl Span {
    /// That of work which takes so many bytes of memory, if it is too much for a thread.
    fn of_bytes(bytes: u64) -> Self {
        if bytes <= WARP_BYTES { Self::Warp } else { Self::Block }
    }
}

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

/// The work items of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TaskLists {
    /// Conjunctions of 2 to 8 variables where updates are synchronous, by arity, and the end of each arity's: each by one
    /// thread, in registers.
    pub conjunctions: Vec<u32>,
    pub conjunctions_end: [u32; 7],
    /// Of other factors, by [`Span`].
    pub items: [Items; 3],
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

/// The numbers below `count` that have a class, by classes, ascending in each, and where each class ends. O(count).
fn by_class<const N: usize>(
    count: usize, class: impl Fn(usize) -> Option<usize>,
) -> Result<(Vec<u32>, [u32; N])> {
    let mut next = [0_u32; N];
    for class in (0..count).filter_map(&class) {
        next[class] += 1;
    }
    let mut start = 0;
    for next in &mut next {
        start += std::mem::replace(next, start);
    }
    let mut all = filled(start as usize, 0)?;
    for number in 0..count {
        if let Some(class) = class(number) {
            all[next[class] as usize] = number as u32;
            next[class] += 1;
        }
    }
    Ok((all, next))
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

    pub fn graph(&self) -> &'a FactorGraph {
        self.graph
    }

    /// Bytes that a block needs for messages out of the high-degree variables of a factor; 0 if it has none.
    fn high_degree_bytes(&self, factor: usize) -> u64 {
        if self.graph.arity(factor) == 1 {
            return 0; // whose message reads nothing
        }
        let degrees = self.graph.factor_variables(factor).iter();
        let degrees = degrees.map(|&v| self.graph.degree(v as usize));
        degrees.filter(|&degree| degree > HIGH_DEGREE).map(product_memory).max().unwrap_or(0)
    }

    /// Who computes the messages of a factor, and the bytes of memory that it takes for them.
    fn of_factor(&self, factor: usize, by_levels: bool) -> (Span, u64) {
        let own = self.factor_bytes[factor];
        let high_degree = if by_levels { self.high_degree_bytes(factor) } else { 0 };
        if own <= THREAD_BYTES && high_degree == 0 {
            return (Span::Thread, own);
        }
        // Small conjunctions, too, take memory where more than a thread computes them.
        let bytes = own.max(body_memory(self.graph.arity(factor) as u64)).max(high_degree);
        (if high_degree > 0 { Span::Block } else { Span::of_bytes(bytes) }, bytes)
    }

    /// Who looks at a variable, and the bytes of memory that it takes; `None` for those that are cut into tiles.
    fn of_variable(graph: &FactorGraph, v: usize) -> Option<(Span, u64)> {
        let (degree, width) = (graph.degree(v), stored_values(graph.cardinalities()[v]));
        if degree <= THREAD_DEGREE && degree * width <= THREAD_VALUES {
            return Some((Span::Thread, 0));
        }
        if width == 1 {
            return None;
        }
        let width = width as u64;
        // See VariableMemory in general_variables.cuh.
        let values = (8 * width).max(VALUES_AT_ONCE);
        let bytes = width * (PRODUCT + product_memory(degree)) + (PRODUCT + 16) * values;
        Some((Span::of_bytes(bytes), bytes))
    }

    /// Variables that are not cut into tiles, by who looks at them, and how many each has. O(variables).
    pub fn variables(graph: &FactorGraph) -> Result<(Vec<u32>, [u32; 3])> {
        // Neighbouring threads do the same where a thread's variables are sorted by degree.
        let (all, [_, _, threads, warps, blocks]) = by_class(graph.variable_count(), |v| {
            Some(match Self::of_variable(graph, v)?.0 {
                Span::Thread => [3, 5].iter().filter(|&&degree| degree <= graph.degree(v)).count(),
                Span::Warp => 3,
                Span::Block => 4,
            })
        })?;
        Ok((all, [threads, warps - threads, blocks - warps]))
    }

    /// Factors with one variable, in the same way. O(factors).
    pub fn constants(&self) -> Result<(Vec<u32>, [u32; 3])> {
        let (all, [threads, warps, blocks]) = by_class(self.graph.factor_count(), |factor| {
            let is_constant = self.graph.arity(factor) == 1;
            is_constant.then(|| self.of_factor(factor, false).0 as usize)
        })?;
        Ok((all, [threads, warps - threads, blocks - warps]))
    }

    /// Bytes of memory of a group of each span.
    pub fn scratch(&self, by_levels: bool) -> [u64; 3] {
        let mut bytes = [0; 3];
        let mut add = |(span, own): (Span, u64)| {
            bytes[span as usize] = own.max(bytes[span as usize]);
        };
        (0..self.graph.factor_count()).for_each(|factor| add(self.of_factor(factor, by_levels)));
        (0..self.graph.variable_count())
            .filter_map(|v| Self::of_variable(self.graph, v))
            .for_each(add);
        bytes
    }

    /// Synchronous updates: every factor is a work item, in one level.
    pub fn synchronous(&self) -> Result<TaskLists> {
        let mut items = [Items::new()?, Items::new()?, Items::new()?];
        // Conjunctions of few variables take no memory.
        let is_few = |f: usize| self.factor_bytes[f] == 0;
        let (conjunctions, conjunctions_end) = by_class(self.graph.factor_count(), |factor| {
            let arity = self.graph.arity(factor);
            ((2..=SMALL_ARITY).contains(&arity) && is_few(factor)).then(|| arity - 2)
        })?;
        let others = |&f: &usize| self.graph.arity(f) > 1 && !is_few(f);
        for factor in (0..self.graph.factor_count()).filter(others) {
            let (span, _) = self.of_factor(factor, false);
            items[span as usize].push(factor as u32, 0, 0)?;
        }
        items.iter_mut().try_for_each(Items::end_level)?;
        let (targets, ranks) = (Vec::new(), Vec::new());
        Ok(TaskLists { conjunctions, conjunctions_end, items, targets, ranks })
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
        let mut items = [Items::new()?, Items::new()?, Items::new()?];
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
                let (span, _) = self.of_factor(factor, true);
                items[span as usize].push(factor as u32, first, targets.len())?;
            }
            items.iter_mut().try_for_each(Items::end_level)?;
        }
        let slots = graph.all_variable_edges().iter();
        let ranks = collected(slots.map(|&edge| runs[edge as usize]))?;
        let (conjunctions, conjunctions_end) = (Vec::new(), [0; 7]);
        Ok(TaskLists { conjunctions, conjunctions_end, items, targets, ranks })
    }
}

/// Binary variables of more messages than a thread takes, cut into tiles: see cuda/engine/general_tiles.cuh.
#[derive(Debug, PartialEq)]
pub(super) struct Tiles {
    /// The variable of each tile: first those of one tile.
    pub variables: Vec<u32>,
    /// The number of such variables.
    pub whole: usize,
    /// Of each other tile its number among its variable's.
    pub numbers: Vec<u32>,
}

impl Tiles {
    /// O(edges).
    pub fn new(graph: &FactorGraph, leaves_of_tile: usize) -> Result<Self> {
        let degree = |v: u32| graph.degree(v as usize);
        // Those of one tile, and the others.
        let (mut variables, [whole, _]) = by_class(graph.variable_count(), |v| {
            let is_cut = Shares::of_variable(graph, v).is_none();
            is_cut.then(|| usize::from(graph.degree(v) > leaves_of_tile))
        })?;
        let whole = whole as usize;
        let others = copied(&variables[whole..])?;
        variables.truncate(whole);
        let mut numbers = Vec::new();
        for v in others {
            for number in 0..degree(v).div_ceil(leaves_of_tile) as u32 {
                variables.try_push(v)?;
                numbers.try_push(number)?;
            }
        }
        Ok(Self { variables, whole, numbers })
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
        assert_eq!(work.conjunctions, [0, 1]);
        assert_eq!(work.conjunctions_end, [2; 7]);
        assert!(work.items.iter().all(|items| items.words.is_empty() && items.levels == [0, 0]));
        assert!(work.targets.is_empty() && work.ranks.is_empty());
    }

    #[test]
    fn levels_list_the_messages_that_can_be_updated() {
        let graph = chain();
        // Edges: 0->0, 0->1, 1->1, 1->2, prior->0. The order of their numbers.
        let work = work(&graph, &[0, 1, 2, 3, 4]);
        // 1->2 reads 0->1. The prior is not listed.
        assert_eq!(work.targets, [0, 1, 2, 3]);
        assert_eq!(work.items[0].words, [0, 0, 2, 1, 2, 3, 1, 3, 4]);
        assert_eq!(work.items[0].levels, [0, 2, 3]);
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
        assert_eq!(work.items[0].words, [0, 0, 3]);
        assert_eq!(work.ranks[..3], [4, 0, 2]);
    }

    #[test]
    fn large_factors_and_high_degree_variables_are_for_warps_and_blocks() {
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
        assert_eq!(synchronous.items[1].words, [0, 0, 0]);
        assert_eq!(synchronous.conjunctions_end, [300; 7]);
        assert_eq!(synchronous.items.map(|items| items.width()), [0, 1, 0]);
        // 301 messages are two tiles.
        assert_eq!(Shares::of_variable(&graph, 0), None);
        let tiles = Tiles { variables: vec![0, 0], whole: 0, numbers: vec![0, 1] };
        assert_eq!(Tiles::new(&graph, 256).unwrap(), tiles);
        let tiles = Tiles { variables: vec![0], whole: 1, numbers: vec![] };
        assert_eq!(Tiles::new(&graph, 301).unwrap(), tiles);
        // 100 leaves and the levels of 50, 25, 13, 7, 4 and 2 nodes above them, of two extended floats.
        assert_eq!(shares.scratch(false), [0, (100 + 101) * 32, 0]);
        // By levels each factor reads a message of the high-degree variable.
        let preorder = Preorder::from_ranks(&graph, &vec![0; graph.edge_count()]).unwrap();
        let levels = shares.by_levels(&preorder).unwrap();
        assert_eq!(levels.items.map(|items| items.width()), [0, 0, 301]);
    }
}
