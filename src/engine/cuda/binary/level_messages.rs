//! What variables of many factors send by levels, computed once for several factors: see cuda/engine/binary_level_messages.cuh.

use super::layout::Layout;
use super::level_ranks::Ranks;
use super::level_words::LEVEL_SLOTS;
use super::limits::{FEW, WARP};
use crate::counting_sort::counting_sort;
use crate::engine::cuda::interface::binary::{THREAD_LEAVES, WARP_LEAVES};
use crate::engine::limits::MOST_VARIABLES;
use crate::error::Result;
use crate::memory::{Grow, collected, room};
use crate::parallel::{all_parts, all_ranges, computed};
use crate::threads::Gang;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Fewest messages of a variable that are computed together: of those that see the same messages anew, and of others.
const FEWEST_OF_SAME: usize = 3;
const FEWEST_OF_LEVEL: usize = 32;
/// Where each warp has so many rounds of what is read of hubs in a level, it is worth a step more to compute it once. Otherwise that is
/// so for variables in pieces only.
const ROUNDS_OF_LEVEL: usize = 2;
/// Variables that a thread looks at at a time.
const VARIABLES_AT_ONCE: usize = 64;

/// Messages of a variable in one of its pieces that are computed together.
pub(super) struct Group {
    pub variable: u32,
    /// The number of its piece of [`WARP_LEAVES`] messages to the variable.
    pub piece: u32,
    /// The level behind which its messages can be computed; `None` if that is so before all levels.
    pub level: Option<u32>,
    pub news: News,
    /// Its messages among those of all groups.
    pub messages: Range<u32>,
}

/// Which messages to the variable its messages see anew.
#[derive(Clone, Copy)]
pub(super) enum News {
    /// Those of lower ranks.
    Below(u32),
    /// Those of earlier slots than their own, of which these are so many at most.
    Earlier(u32),
}

/// A message of a group, as who reads it asks for it.
#[derive(Clone, Copy, Default)]
pub(super) struct Message {
    pub edge: u32,
    /// Least and largest rank of messages that read it.
    pub ranks: (u32, u32),
    /// The first level whose messages may read it.
    level: u32,
}

/// The messages from variables that are computed together.
#[derive(Default)]
pub(super) struct VariableMessages {
    pub groups: Vec<Group>,
    pub messages: Vec<Message>,
    /// Behind all slots, where the first one lies.
    pub first: u32,
    /// The messages of each edge, as numbers of them: `by_edge[offsets[e]..offsets[e + 1]]`. Both are empty if there are none.
    by_edge: Vec<u32>,
    offsets: Vec<u32>,
}

/// What messages by levels read.
pub(super) struct Reads<'a> {
    pub ranks: &'a Ranks<'a>,
    pub messages: VariableMessages,
}

impl<'a> Reads<'a> {
    /// For so many levels and warps: see [`VariableMessages::new`].
    pub(super) fn new(ranks: &'a Ranks<'a>, shape: [usize; 2], gang: &Gang) -> Result<Self> {
        Ok(Self { ranks, messages: VariableMessages::new(ranks, shape, gang)? })
    }

    /// The number of threads that read what the variable of this edge sends to messages of this rank and level: see
    /// [`Ranks::width_of`]; one if it is computed for several.
    pub(super) fn width(&self, edge: usize, rank: u32, level: u32) -> usize {
        self.width_at(edge, self.messages.place(edge, rank, level))
    }

    /// The same, given where it is if it is computed for several.
    pub(super) fn width_at(&self, edge: usize, place: Option<u32>) -> usize {
        let variable = self.ranks.graph.edge_variables()[edge] as usize;
        place.map_or_else(|| self.ranks.width_of(variable), |_| 1)
    }
}

/// A message from a variable that is read: the number of new ones among those that it is the product of, the edge, as a number
/// among the variable's, and the level of who reads it.
type ReadMessage = (u32, u32, u32);

/// Finds the groups of a variable.
struct Finder<'a> {
    ranks: &'a Ranks<'a>,
    /// By level: whether hubs are read so often that it is worth a step more to compute once what is read.
    busy: &'a [bool],
    /// The messages to a variable: their ranks, ascending, with the last level that sends one up to there.
    sorted: Vec<(u32, Option<u32>)>,
    reads: Vec<ReadMessage>,
    groups: Vec<Group>,
    messages: Vec<Message>,
}

impl VariableMessages {
    /// For so many levels and warps: O(E log E) for all edges E of variables of many factors, times the numbers of variables of
    /// their factors, at most [`MOST_VARIABLES`].
    pub(super) fn new(ranks: &Ranks<'_>, [levels, warps]: [usize; 2], gang: &Gang) -> Result<Self> {
        let busy = &busy_levels(ranks, [levels, warps], gang)?;
        let Layout { variable, classes, slots, .. } = ranks.layout;
        let hubs = &variable[..classes[classes.len() - 1] as usize];
        let parts = hubs.len().div_ceil(VARIABLES_AT_ONCE);
        let found = all_parts(parts, gang, |part| {
            let mut finder = Finder::new(ranks, busy);
            let end = hubs.len().min((part + 1) * VARIABLES_AT_ONCE);
            for &variable in &hubs[part * VARIABLES_AT_ONCE..end] {
                finder.find(variable)?;
            }
            Ok((finder.groups, finder.messages))
        })?;
        let first = first_place(*slots);
        let mut all = Self { first: first as u32, ..Self::default() };
        for (groups, messages) in found {
            let before = all.messages.len() as u32;
            if first + before as usize + messages.len() > LEVEL_SLOTS {
                break;
            }
            all.messages.try_extend(messages)?;
            all.groups.try_extend(groups.into_iter().map(|group| {
                let Range { start, end } = group.messages;
                Group { messages: start + before..end + before, ..group }
            }))?;
        }
        if !all.messages.is_empty() {
            let messages = &all.messages;
            let edges = computed(messages.len(), gang, |at| messages[at].edge)?;
            (all.by_edge, all.offsets) = counting_sort(&edges, ranks.graph.edge_count(), gang)?;
        }
        Ok(all)
    }

    /// Where the message from a variable along an edge is that messages of this rank and level read, if it is computed for
    /// several.
    pub(super) fn place(&self, edge: usize, rank: u32, level: u32) -> Option<u32> {
        let range = *self.offsets.get(edge)?..*self.offsets.get(edge + 1)?;
        let numbers = &self.by_edge[range.start as usize..range.end as usize];
        let is_it = |&&number: &&u32| {
            let Message { ranks: (least, most), level: first, .. } = self.messages[number as usize];
            (least..=most).contains(&rank) && level >= first
        };
        numbers.iter().find(is_it).map(|&number| self.first + number)
    }
}

/// Where messages from variables begin behind so many slots: between these and them is what threads read that have nothing to read.
pub(super) fn first_place(slots: usize) -> usize {
    slots + THREAD_LEAVES as usize
}

/// In which levels warps have many rounds of what is read of hubs.
fn busy_levels(ranks: &Ranks<'_>, [levels, warps]: [usize; 2], gang: &Gang) -> Result<Vec<bool>> {
    let graph = ranks.graph;
    let mut threads_of_level: Vec<AtomicU64> = Vec::new();
    threads_of_level.try_extend((0..levels).map(|_| AtomicU64::new(0)))?;
    // Those of a warp for a variable in pieces, one or two to read it and others for products.
    let threads = |edge: usize| {
        let width = ranks.width_of(graph.edge_variables()[edge] as usize);
        if width <= FEW { 0 } else { (width.min(2 * WARP_LEAVES) / THREAD_LEAVES as usize) as u64 }
    };
    all_ranges(graph.factor_count(), gang, |factors| {
        let mut sent: Vec<(u32, u64)> = Vec::new();
        // Added up here first: threads that add to one sum take turns.
        let mut read: Vec<(u32, u64)> = Vec::new();
        for factor in factors.filter(|&factor| graph.arity(factor) > 1) {
            let edges = graph.factor_edges(factor);
            let all: u64 = edges.clone().map(threads).sum();
            if all == 0 {
                continue;
            }
            sent.clear();
            sent.try_extend(edges.map(|edge| (ranks.levels_and_ranks[edge].0, threads(edge))))?;
            sent.sort_unstable();
            for of_level in sent.chunk_by(|(a, _), (b, _)| a == b) {
                let own = if let [(_, own)] = of_level { *own } else { 0 };
                read.try_push((of_level[0].0, all - own))?;
            }
        }
        read.sort_unstable();
        for of_level in read.chunk_by(|(a, _), (b, _)| a == b) {
            let sum = of_level.iter().map(|(_, threads)| threads).sum();
            threads_of_level[of_level[0].0 as usize].fetch_add(sum, Relaxed);
        }
        Ok(())
    })?;
    let most = (ROUNDS_OF_LEVEL * WARP * warps) as u64;
    collected(threads_of_level.into_iter().map(|threads| threads.into_inner() >= most))
}

impl<'a> Finder<'a> {
    fn new(ranks: &'a Ranks<'a>, busy: &'a [bool]) -> Self {
        let (sorted, reads) = (Vec::new(), Vec::new());
        Self { ranks, busy, sorted, reads, groups: Vec::new(), messages: Vec::new() }
    }

    /// Whether it is worth it to compute at once what so many of these reads want, or more.
    fn pays(&self, variable: u32, reads: &[ReadMessage], fewest: usize) -> bool {
        let has_pieces = self.ranks.width_of(variable as usize) > WARP_LEAVES;
        let counts = |&&(_, _, level): &&ReadMessage| has_pieces || self.busy[level as usize];
        reads.len() >= fewest && reads.iter().filter(counts).take(fewest).count() == fewest
    }

    /// The groups of a variable.
    fn find(&mut self, variable: u32) -> Result<()> {
        let ranks = self.ranks;
        let edges = ranks.graph.variable_edges(variable as usize);
        self.sorted.clear();
        let of_edge = |&edge: &u32| (ranks.of(edge), ranks.level_of(edge));
        self.sorted.try_extend(edges.iter().map(of_edge))?;
        self.sorted.sort_unstable();
        let mut last = None;
        for (_, level) in &mut self.sorted {
            last = last.max(*level);
            *level = last;
        }
        self.find_reads(edges)?;
        if !self.pays(variable, &self.reads, FEWEST_OF_SAME) {
            return Ok(());
        }
        self.reads.sort_unstable();
        self.reads.dedup_by_key(|&mut (news, number, _)| (news, number));
        let reads = std::mem::take(&mut self.reads);
        let is_same =
            |a: &ReadMessage, b: &ReadMessage| (a.0, piece_of(a.1)) == (b.0, piece_of(b.1));
        let mut others: Vec<ReadMessage> = Vec::new();
        for same in reads.chunk_by(is_same) {
            if !self.pays(variable, same, FEWEST_OF_SAME) {
                others.try_extend(same.iter().copied())?;
                continue;
            }
            let news = same[0].0;
            let (rank, level) = (self.interval(news).1, self.level_behind(news));
            self.push(variable, edges, same, News::Below(rank), level)?;
        }
        if ranks.is_rising(variable as usize) {
            self.find_of_levels(variable, edges, others)?;
        }
        self.reads = reads;
        Ok(())
    }

    /// What is read of a variable, maybe by several messages.
    fn find_reads(&mut self, edges: &[u32]) -> Result<()> {
        let Self { ranks, sorted, reads, .. } = self;
        let graph = ranks.graph;
        reads.clear();
        for (number, &edge) in (0..).zip(edges) {
            let factor = graph.edge_factors()[edge as usize] as usize;
            // Of a factor of very many variables, each would be looked at for each.
            if graph.arity(factor) > MOST_VARIABLES {
                continue;
            }
            for other in graph.factor_edges(factor).filter(|&other| other != edge as usize) {
                let Some(level) = ranks.level_of(other as u32) else { continue };
                let rank = ranks.of(other as u32);
                let news = sorted.partition_point(|&(of, _)| of < rank);
                // Its own message may be among the new ones, and come later.
                if news == 0 || sorted[news - 1].1 < Some(level) {
                    reads.try_push((news as u32, number, level))?;
                }
            }
        }
        Ok(())
    }

    /// Groups of messages each of which sees those messages anew whose slots come before its own, where ranks rise along slots: of
    /// each piece those that are read when all of these are there, and then those of each level.
    fn find_of_levels(
        &mut self, variable: u32, edges: &[u32], mut reads: Vec<ReadMessage>,
    ) -> Result<()> {
        // The last level that sends one of the messages before each edge.
        let mut before: Vec<Option<u32>> = room(edges.len())?;
        let mut last = None;
        for &edge in edges {
            before.push(last);
            last = last.max(self.ranks.level_of(edge));
        }
        // Its own message does not matter.
        reads.retain_mut(|(news, number, _)| {
            let is_rising = (*number..=*number + 1).contains(news);
            *news = *number;
            is_rising
        });
        let behind = |&(_, number, _): &ReadMessage| {
            let end = edges.len().min((piece_of(number) as usize + 1) * WARP_LEAVES);
            before[end - 1]
        };
        let key = |read: &ReadMessage| {
            let &(_, number, level) = read;
            let of_level = if Some(level) > behind(read) { None } else { Some(level) };
            (piece_of(number), of_level)
        };
        reads.sort_unstable_by_key(|read| (key(read), read.1));
        reads.dedup_by_key(|read| (key(read), read.1));
        for same in reads.chunk_by(|a, b| key(a) == key(b)) {
            let Some(&(_, last, _)) = same.last() else { continue };
            // All of them wait for what the last one does.
            let level = before[last as usize];
            let waits = same.iter().all(|&(_, _, of_read)| level < Some(of_read));
            if waits && self.pays(variable, same, FEWEST_OF_LEVEL) {
                self.push(variable, edges, same, News::Earlier(last), level)?;
            }
        }
        Ok(())
    }

    /// A group of these messages.
    fn push(
        &mut self, variable: u32, edges: &[u32], reads: &[ReadMessage], news_of_all: News,
        level: Option<u32>,
    ) -> Result<()> {
        let start = self.messages.len() as u32;
        for &(news, number, _) in reads {
            let edge = edges[number as usize];
            // With its own message or without, it is the same.
            let own = u32::from(matches!(news_of_all, News::Earlier(_)));
            let ranks = (self.interval(news).0, self.interval(news + own).1);
            self.messages.try_push(Message {
                edge,
                ranks,
                level: level.map_or(0, |level| level + 1),
            })?;
        }
        let messages = start..self.messages.len() as u32;
        let piece = piece_of(reads[0].1);
        self.groups.try_push(Group { variable, piece, level, news: news_of_all, messages })
    }

    /// Least and largest rank of messages that see so many anew.
    fn interval(&self, news: u32) -> (u32, u32) {
        let rank = |at: usize| self.sorted.get(at).map(|&(rank, _)| rank);
        let least = (news as usize).checked_sub(1).and_then(rank);
        (least.map_or(0, |rank| rank + 1), rank(news as usize).unwrap_or(u32::MAX))
    }

    /// The level that sends the last one of so many.
    fn level_behind(&self, news: u32) -> Option<u32> {
        self.sorted[(news as usize).checked_sub(1)?].1
    }
}

/// The piece of an edge, as a number among those of its variable.
fn piece_of(number: u32) -> u32 {
    number / WARP_LEAVES as u32
}
