//! A lower bound of the words that messages by levels take: it turns graphs away before these are made.

use super::level_messages::Reads;
use super::level_units::Threads;
use super::level_words::{CHUNK, thread_levels};
use super::limits::{FEW, WARP};
use crate::engine::cuda::interface::binary::{SMALL_TABLE, THREAD_LEAVES, WARP_LEAVES};
use crate::engine::limits::{MOST_VARIABLES, has_own_warps, is_small_table};
use crate::error::Result;
use crate::memory::Grow;
use crate::parallel::all_ranges;
use crate::threads::Gang;
use std::ops::Range;

/// Fewer words than the units of a graph have, or as many: of each factor there is an item in each level that sends some of
/// its messages. Most words are those of hubs, which items do not share. O(edges log edges) at most, where to make the units
/// takes as long as there are words.
pub(super) fn fewest_words(reads: &Reads<'_>, gang: &Gang) -> Result<usize> {
    let of_parts = all_ranges(reads.ranks.graph.factor_count(), gang, |factors| {
        words_of_factors(reads, factors)
    })?;
    Ok(of_parts.into_iter().sum())
}

/// The same of some factors.
fn words_of_factors(reads: &Reads<'_>, factors: Range<usize>) -> Result<usize> {
    let Reads { ranks, messages } = reads;
    let graph = ranks.graph;
    let of_hub = |edge: usize| {
        let variable = graph.edge_variables()[edge] as usize;
        OfHubs::new(ranks.layout.slots_of(variable).1 as usize)
    };
    let (mut words, mut sent) = (0_usize, Vec::new());
    for factor in factors.filter(|&factor| graph.arity(factor) > 1) {
        let arity = graph.arity(factor);
        let edges = || graph.factor_edges(factor);
        let of_all = edges().map(of_hub).fold(OfHubs::default(), OfHubs::and);
        let of_unit = WARP >> thread_levels(arity);
        // One with warps of its own has at least one more chunk for each 32 literals, which small tables share.
        let shares = is_small_table(graph, factor);
        let (of_unit, of_nodes) = match has_own_warps(graph, factor) {
            false => (of_unit, 0),
            true if shares => (WARP / SMALL_TABLE, CHUNK * SMALL_TABLE / WARP),
            true => (1, (arity - 1).div_ceil(WARP) * CHUNK),
        };
        let words_of = |hubs: OfHubs| hubs.words(of_unit, shares);
        sent.clear();
        sent.try_extend(edges().map(|edge| (ranks.levels_and_ranks[edge].0, edge)))?;
        sent.sort_unstable();
        for of_level in sent.chunk_by(|(a, _), (b, _)| a == b) {
            let rank = |&(_, edge): &(u32, usize)| ranks.of(edge as u32);
            // What is read of hubs, but what is computed for several factors, which factors of very many variables do not read.
            let is_shared = |edge: usize| {
                let place = |sent| messages.place(edge, rank(sent), of_level[0].0);
                of_level.iter().any(|sent| place(sent).is_some())
            };
            let of_level_all = if messages.messages.is_empty() || arity > MOST_VARIABLES {
                of_all
            } else {
                let hubs = edges().filter(|&edge| !is_shared(edge)).map(of_hub);
                hubs.fold(OfHubs::default(), OfHubs::and)
            };
            words += of_nodes;
            words += match of_level {
                [(_, only)] if is_shared(*only) => words_of(of_level_all),
                [(_, only)] => words_of(of_level_all.without(of_hub(*only))),
                [first, others @ ..] if others.iter().all(|other| rank(other) == rank(first)) => {
                    words_of(of_level_all)
                }
                // Several items may have them, none of which reads all hubs.
                _ => CHUNK / of_unit + of_level_all.giants + of_level_all.others,
            };
        }
    }
    Ok(words)
}

/// What an item reads of hubs: threads, and words of larger hubs than a warp takes at once, and of the others.
#[derive(Clone, Copy, Default)]
struct OfHubs {
    threads: usize,
    giants: usize,
    others: usize,
}

impl OfHubs {
    /// Of a variable with so many slots: as Unit::place_hub has them.
    fn new(slots: usize) -> Self {
        if slots <= FEW {
            return Self::default();
        }
        let width = slots.next_power_of_two();
        let of_warp = width.min(WARP_LEAVES) / THREAD_LEAVES as usize;
        let words = 4 * slots.div_ceil(THREAD_LEAVES as usize).next_multiple_of(of_warp);
        // The words of its own piece, and of the products of others.
        let (giants, others) = if width > WARP_LEAVES { (2 * CHUNK, 0) } else { (0, words) };
        Self { threads: width / THREAD_LEAVES as usize, giants, others }
    }

    fn and(self, other: Self) -> Self {
        Self {
            threads: self.threads + other.threads,
            giants: self.giants + other.giants,
            others: self.others + other.others,
        }
    }

    fn without(self, other: Self) -> Self {
        Self {
            threads: self.threads - other.threads,
            giants: self.giants - other.giants,
            others: self.others - other.others,
        }
    }

    /// Fewest words of an item of which a unit has so many at most: one that is alone has rounds of its own, unless it `shares` all
    /// the same.
    fn words(self, of_unit: usize, shares: bool) -> usize {
        match (Threads { of_hubs: self.threads, of_rounds: 0 }).can_share() || shares {
            true => CHUNK / of_unit + self.giants + self.others,
            false => CHUNK + self.giants + self.others.next_multiple_of(CHUNK),
        }
    }
}
