//! What an iteration computes, level by level, and whether threads, warps or blocks do.

use super::classes::by_class;

use super::items::{Items, THREAD_BYTES, of_many, of_messages, product_memory};
use super::level_items::{LevelFactors, LevelItemMaker, LevelItems};
use super::pairs::Pairs;
use super::prepared::{Prepared, PreparedRanks, Run, for_factors, is_high};
use super::warp_items::is_in_warp_item;
use crate::engine::cuda::interface::factors::Span;
use crate::engine::cuda::interface::general::{FEWEST_STATE_LANES, NO_READER, STATE_CLASSES};
use crate::engine::cuda::parameters::body_memory;
use crate::error::Result;
use crate::kernel::stored_values;
use crate::memory::{collected, filled, room};
use crate::model::FactorGraph;
use crate::parallel::computed;
use crate::schedule::{Levels, Preorder};
use crate::threads::Gang;

/// Most edges of a variable that a thread looks at, or lanes with a state each.
const THREAD_DEGREE: usize = 8;
/// Most messages of a binary variable of which conjunctions multiply the others themselves, where these
/// do not send.
const READ_DEGREE: usize = 4;

/// Most edges of a level whose factors have a warp each, but for conjunctions: with some 2,000 warps, a few for each.
const NARROW_LEVEL: usize = 1 << 14;

/// Who looks at a variable, by the numbers of its messages and of its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looker {
    Thread,
    /// Lanes of a warp, a state each: twice as many for each class.
    Lanes(usize),
    /// So many threads, with so many bytes of memory.
    Group(Span, u64),
    /// It is cut into tiles.
    Tiles,
}

/// The work items of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TaskLists {
    /// By [`Span`]; where updates are synchronous, of the factors that are in no warp item.
    pub items: [Items; 3],
    /// Edges, item by item; empty if every item is all messages of its factor and all read old ones.
    pub targets: Vec<u32>,
    /// By slot; empty as well.
    pub ranks: Vec<u32>,
    /// The tables of two variables, which are in no item; none by levels.
    pub pairs: Pairs,
    /// What is computed before the factors of a level; none where updates are synchronous.
    pub prepared: Prepared,
    /// By levels, factors that are in no item.
    pub level_items: LevelItems,
}

/// What decides who computes.
pub(super) struct Shares<'a> {
    graph: &'a FactorGraph,
    /// `Factors::scratch`.
    factor_bytes: &'a [u64],
    /// What level items are made of, where there are any.
    level_factors: Option<&'a LevelFactors<'a>>,
}

impl<'a> Shares<'a> {
    /// `factor_bytes` are those of memory that each factor's messages take ([`Factors::scratch`]).
    ///
    /// [`Factors::scratch`]: super::factors::Factors::scratch
    pub fn new(
        graph: &'a FactorGraph, factor_bytes: &'a [u64],
        level_factors: Option<&'a LevelFactors<'a>>,
    ) -> Self {
        Self { graph, factor_bytes, level_factors }
    }

    /// Bytes that a block needs for messages out of the high-degree variables of a factor; 0 if it has none.
    fn high_degree_bytes(&self, factor: usize) -> u64 {
        if self.graph.arity(factor) == 1 {
            return 0; // whose message reads nothing
        }
        let variables = self.graph.factor_variables(factor).iter().map(|&v| v as usize);
        let high = variables.filter(|&v| is_high(self.graph, v));
        high.map(|v| product_memory(self.graph.degree(v))).max().unwrap_or(0)
    }

    /// Who computes the messages of a factor, and the bytes of memory that it takes for them; if it computes messages out of
    /// high-degree variables, too, as by levels where these are not prepared, with what that takes.
    fn of_factor(&self, factor: usize, with_high_degree: bool) -> (Span, u64) {
        let own = self.factor_bytes[factor];
        let high_degree = if with_high_degree { self.high_degree_bytes(factor) } else { 0 };
        if own <= THREAD_BYTES && high_degree == 0 {
            return (Span::Thread, own);
        }
        let bytes = self.bytes_of_group(factor).max(high_degree);
        (if high_degree > 0 { Span::Block } else { Span::of_bytes(bytes) }, bytes)
    }

    /// Bytes of memory that the messages of a factor take where more than a thread computes them: small conjunctions, too, take some.
    fn bytes_of_group(&self, factor: usize) -> u64 {
        self.factor_bytes[factor].max(body_memory(self.graph.arity(factor) as u64))
    }

    /// Who computes the messages of a factor where there are more warps than factors, given who does else: warps are slower than
    /// threads only with conjunctions.
    fn of_narrow_level(&self, factor: usize, span: Span) -> Span {
        let is_conjunction = self.graph.is_conjunction(factor);
        if span == Span::Thread && !is_conjunction { Span::Warp } else { span }
    }

    pub fn of_variable(graph: &FactorGraph, v: usize) -> Looker {
        let (degree, width) = (graph.degree(v), stored_values(graph.cardinalities()[v]));
        match (degree <= THREAD_DEGREE, width == 1) {
            (true, true) => return Looker::Thread,
            (false, true) => return Looker::Tiles,
            (true, false) => {
                let classes = width.div_ceil(FEWEST_STATE_LANES).next_power_of_two().ilog2();
                return Looker::Lanes((classes as usize).min(STATE_CLASSES - 1));
            }
            (false, false) => {}
        }
        let (span, bytes) = of_messages(degree, width as u64);
        Looker::Group(span, bytes)
    }

    /// Threads that all variables together have work for, those of several messages not counted more than once.
    pub fn threads_of_variables(graph: &FactorGraph) -> usize {
        if graph.all_binary() {
            return graph.variable_count();
        }
        let threads = |v| match Self::of_variable(graph, v) {
            Looker::Lanes(class) => FEWEST_STATE_LANES << class,
            _ => 1,
        };
        (0..graph.variable_count()).map(threads).sum()
    }

    /// Variables that are not cut into tiles, by who looks at them. O(edges).
    pub fn variables(graph: &FactorGraph, by_levels: bool, gang: &Gang) -> Result<Variables> {
        let readers = computed(graph.variable_count(), gang, |v| {
            if by_levels { NO_READER } else { Self::reader(graph, v) }
        })?;
        let reads = |v: usize| readers[v] != NO_READER;
        // Neighbouring threads do the same where a thread's variables are sorted by degree.
        let classes = by_class(graph.variable_count(), gang, |v| {
            let degrees = [3, 5].iter().filter(|&&degree| degree <= graph.degree(v)).count();
            match Self::of_variable(graph, v) {
                Looker::Thread => Some(degrees + if reads(v) { 3 } else { 0 }),
                Looker::Group(Span::Block, _) => Some(7),
                Looker::Group(_, _) => Some(6),
                Looker::Lanes(class) => Some(8 + class),
                Looker::Tiles => None,
            }
        })?;
        let (by_span, [_, _, senders, _, _, threads, warps, blocks, a, b, c, d]) = classes;
        let of_span = [threads, warps - threads, blocks - warps];
        let of_states = [a - blocks, b - a, c - b, d - c];
        Ok(Variables { by_span, of_span, of_states, senders, readers })
    }

    /// Which message of a variable is the first that a conjunction reads for itself; [`NO_READER`] if the variable sends.
    fn reader(graph: &FactorGraph, v: usize) -> u32 {
        if graph.cardinality(v) != 2 || graph.degree(v) > READ_DEGREE {
            return NO_READER;
        }
        let mut first = NO_READER;
        for (index, &edge) in graph.variable_edges(v).iter().enumerate() {
            let factor = graph.edge_factors()[edge as usize] as usize;
            match graph.arity(factor) {
                0 | 1 => {} // read nothing
                _ if !is_in_warp_item(graph, factor) => return NO_READER,
                _ => first = first.min(index as u32),
            }
        }
        first
    }

    /// Factors with one variable, in the same way. O(factors).
    pub fn constants(&self) -> Result<(Vec<u32>, [u32; 3])> {
        let (all, [threads, warps, blocks]) =
            by_class(self.graph.factor_count(), &Gang::ALONE, |factor| {
                let is_constant = self.graph.arity(factor) == 1;
                is_constant.then(|| self.of_factor(factor, false).0 as usize)
            })?;
        Ok((all, [threads, warps - threads, blocks - warps]))
    }

    /// Bytes of memory of a group of each span, for all factors but the excepted ones.
    pub fn scratch(
        &self, by_levels: Option<&Prepared>, excepted: impl Fn(usize) -> bool,
    ) -> [u64; 3] {
        let mut bytes = [0; 3];
        let mut add = |(span, own): (Span, u64)| {
            bytes[span as usize] = own.max(bytes[span as usize]);
        };
        (0..self.graph.factor_count()).filter(|&factor| !excepted(factor)).for_each(|factor| {
            let alone = self.of_factor(factor, false);
            add(alone);
            if by_levels.is_some() {
                add(self.of_factor(factor, true));
                let is_item = self.level_factors.is_some_and(|all| all.takes_memory(factor));
                if is_item || self.of_narrow_level(factor, alone.0) != alone.0 {
                    add((Span::Warp, self.bytes_of_group(factor)));
                }
            }
        });
        for v in 0..self.graph.variable_count() {
            if let Looker::Group(span, own) = Self::of_variable(self.graph, v) {
                add((span, own));
            }
            if by_levels.is_some_and(|prepared| prepared.has(v)) {
                add(of_many(self.graph, v));
            }
        }
        bytes
    }

    /// Synchronous updates: every factor but the excepted ones is a work item, in one level.
    pub fn synchronous(&self, excepted: impl Fn(usize) -> bool) -> Result<TaskLists> {
        let mut items = [Items::new()?, Items::new()?, Items::new()?];
        let others =
            |&f: &usize| self.graph.arity(f) > 1 && !is_in_warp_item(self.graph, f) && !excepted(f);
        for factor in (0..self.graph.factor_count()).filter(others) {
            let (span, _) = self.of_factor(factor, false);
            items[span as usize].push(factor as u32, 0, 0)?;
        }
        items.iter_mut().try_for_each(Items::end_level)?;
        let (targets, ranks) = (Vec::new(), Vec::new());
        let (pairs, prepared) = (Pairs::default(), Prepared::default());
        let level_items = LevelItems::default();
        Ok(TaskLists { items, targets, ranks, pairs, prepared, level_items })
    }

    /// The messages of a preorder, by the levels of its analysis.
    ///
    /// Ranks number the runs: classes that follow each other and concern one and the same factor are
    /// one, since a factor's messages do not read each other. So messages of a factor of one run read
    /// the same. With `prepares`, variables that many of them read are prepared.
    pub fn by_levels(
        &self, preorder: &Preorder, levels: &Levels, prepares: bool, gang: &Gang,
    ) -> Result<TaskLists> {
        let graph = self.graph;
        let runs = runs(graph, preorder)?;
        let prepared =
            if prepares { Prepared::new(graph, levels, &runs)? } else { Prepared::default() };
        let mut prepared_ranks = PreparedRanks::new(&prepared)?;
        let mut items = [Items::new()?, Items::new()?, Items::new()?];
        let mut targets = room(graph.edge_count())?;
        let makers = self.level_factors.map(|all| LevelItemMaker::new(graph, all, &runs));
        let mut maker = makers.transpose()?;
        for level in 0..levels.count() {
            prepared_ranks.begin_level(level);
            let is_narrow = levels.edges(level).len() <= NARROW_LEVEL;
            for_factors(graph, levels.edges(level), |factor, edges| {
                let first = targets.len();
                targets.extend_from_slice(edges);
                let own: &mut [u32] = &mut targets[first..];
                own.sort_unstable_by_key(|&edge| (runs[edge as usize], edge));
                if let Some(maker) = maker.as_mut()
                    && maker.add(factor, own, first, &prepared_ranks)?
                {
                    return Ok(());
                }
                let is_left = |run: &Run, v| is_high(graph, v) && !prepared_ranks.has(v, run.rank);
                let computes = |run: Run| run.read(graph, factor).any(|v| is_left(&run, v));
                let (span, _) = self.of_factor(factor, Run::all(own, &runs).any(computes));
                let span = if is_narrow { self.of_narrow_level(factor, span) } else { span };
                items[span as usize].push(factor as u32, first, targets.len())
            })?;
            items.iter_mut().try_for_each(Items::end_level)?;
            maker.iter_mut().try_for_each(LevelItemMaker::end_level)?;
        }
        let slots = graph.all_variable_edges().iter();
        let ranks = collected(slots.map(|&edge| runs[edge as usize]))?;
        let pairs = Pairs::default();
        let level_items = match maker {
            Some(maker) => maker.finish(&prepared, gang)?,
            None => LevelItems::none(levels.count())?,
        };
        Ok(TaskLists { items, targets, ranks, pairs, prepared, level_items })
    }
}

/// The variables that are not cut into tiles.
#[derive(Debug, PartialEq)]
pub(super) struct Variables {
    /// Sorted by [`Span`], so many of each; those of threads begin with the ones that send in every iteration. Behind them
    /// those of lanes, by classes, so many of each.
    pub by_span: Vec<u32>,
    pub of_span: [u32; 3],
    pub of_states: [u32; STATE_CLASSES],
    pub senders: u32,
    /// Of all variables: `readers` of general.cuh.
    pub readers: Vec<u32>,
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
    use crate::schedule::{Schedule, Storage, analyse};

    /// A chain 0 - 1 - 2 of two factors, each of two variables, and a prior.
    fn chain() -> FactorGraph {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(1, &[0], 0.9, 0.2).unwrap();
        builder.add_and(2, &[1], 0.8, 0.1).unwrap();
        builder.add_prior(0, 0.3).unwrap();
        builder.build().unwrap()
    }

    /// Factor, first target and end of the targets of each item.
    fn words_of(items: &Items) -> Vec<u32> {
        items.list.iter().flat_map(|item| [item.factor, item.first, item.end]).collect()
    }

    fn work(graph: &FactorGraph, ranks: &[u64]) -> TaskLists {
        let factors = Factors::new(graph, Inference::SumProduct).unwrap();
        let preorder = Preorder::from_ranks(graph, ranks).unwrap();
        by_levels(&Shares::new(graph, &factors.scratch, None), &preorder, true)
    }

    fn by_levels(shares: &Shares<'_>, preorder: &Preorder, prepares: bool) -> TaskLists {
        let levels = analyse(shares.graph, preorder, Storage::SideBySide).unwrap();
        shares.by_levels(preorder, &levels, prepares, &Gang::ALONE).unwrap()
    }

    #[test]
    fn synchronous_updates_are_one_level_of_whole_factors() {
        let graph = chain();
        let factors = Factors::new(&graph, Inference::SumProduct).unwrap();
        let work = Shares::new(&graph, &factors.scratch, None).synchronous(|_| false).unwrap();
        assert!(work.items.iter().all(|items| items.list.is_empty() && items.levels == [0, 0]));
        assert!(work.targets.is_empty() && work.ranks.is_empty());
    }

    #[test]
    fn levels_list_the_messages_that_can_be_updated() {
        let graph = chain();
        // Edges: 0->0, 0->1, 1->1, 1->2, prior->0. The order of their numbers.
        let work = work(&graph, &[0, 1, 2, 3, 4]);
        // 1->2 reads 0->1. The prior is not listed.
        assert_eq!(work.targets, [0, 1, 2, 3]);
        assert_eq!(words_of(&work.items[0]), [0, 0, 2, 1, 2, 3, 1, 3, 4]);
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
        assert_eq!(words_of(&work.items[0]), [0, 0, 3]);
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
        let shares = Shares::new(&graph, &factors.scratch, None);
        let synchronous = shares.synchronous(|_| false).unwrap();
        assert_eq!(words_of(&synchronous.items[1]), [0, 0, 0]);
        assert_eq!(synchronous.items.map(|items| items.width()), [0, 1, 0]);
        assert_eq!(Shares::of_variable(&graph, 0), Looker::Tiles);
        // 100 leaves and the levels of 50, 25, 13, 7, 4 and 2 nodes above them, of two extended floats.
        assert_eq!(shares.scratch(None, |_| false), [0, (100 + 101) * 32, 0]);
        // By levels each factor reads a message of the high-degree variable.
        let preorder = Preorder::from_ranks(&graph, &vec![0; graph.edge_count()]).unwrap();
        let levels = by_levels(&shares, &preorder, false);
        assert_eq!(levels.items.map(|items| items.width()), [0, 0, 301]);
        assert_eq!(levels.prepared, Prepared::default());
        // All of them read the same messages: it sends to all first.
        let levels = by_levels(&shares, &preorder, true);
        assert_eq!(levels.items.map(|items| items.width()), [300, 1, 0]);
        assert_eq!((levels.prepared.count, levels.prepared.has(0)), (1, true));
        assert!((1..graph.variable_count()).all(|v| !levels.prepared.has(v)));
        let [threads, warps, blocks] = &levels.prepared.items;
        assert_eq!((&words_of(warps)[..], &warps.levels[..]), (&[0, 0, 0][..], &[0, 1][..]));
        assert!(threads.list.is_empty() && blocks.list.is_empty());
        let (span, bytes) = of_many(&graph, 0);
        assert_eq!(span, Span::Warp);
        assert!(shares.scratch(Some(&levels.prepared), |_| false)[1] >= bytes);
    }

    #[test]
    fn variables_are_prepared_for_each_level_that_reads_them() {
        let mut builder = FactorGraphBuilder::new();
        for v in 0..300 {
            builder.add_and(1000 + v, &[0], 0.9, 0.2).unwrap();
        }
        let graph = builder.build().unwrap();
        let is_of_body = |edge: usize| graph.edge_variables()[edge] == 0;
        let ranks = |first: bool| -> Vec<u64> {
            (0..graph.edge_count()).map(|edge| u64::from(is_of_body(edge) == first)).collect()
        };
        // Messages from variable 0 read what came to it before, or what came in the last iteration. Those to it read nothing
        // of it.
        for (first, words, levels) in [(false, [0, 1, 0], &[0, 0, 1][..]), (true, [0; 3], &[0, 1])]
        {
            let prepared = work(&graph, &ranks(first)).prepared;
            assert_eq!(prepared.count, 1);
            let warps = &prepared.items[1];
            assert_eq!((&words_of(warps)[..], &warps.levels[..]), (&words[..], levels));
        }
        for schedule in [Schedule::Blocks { blocks: 3, seed: 1 }, Schedule::ForwardBackward] {
            let preorder = schedule.preorder(&graph, 0).unwrap();
            let factors = Factors::new(&graph, Inference::SumProduct).unwrap();
            let shares = Shares::new(&graph, &factors.scratch, None);
            assert_eq!(by_levels(&shares, &preorder, true).prepared.count, 1);
        }
        // Each edge is a class of its own: those of a level see different messages.
        let classes: Vec<u64> = (0..graph.edge_count() as u64).collect();
        assert_eq!(work(&graph, &classes).prepared, Prepared::default());
    }
}
