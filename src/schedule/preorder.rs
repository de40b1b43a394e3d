//! Total preorders on the edges of a factor graph.

use crate::error::{Error, Result};
use crate::memory::{collected, copied, filled, zeroed};
use crate::model::FactorGraph;
use crate::threads::Gang;

/// A total preorder on edges: a rank per edge; edges of equal rank form a class.
///
/// Ranks are dense: classes are numbered from 0, ascending and without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preorder {
    ranks: Vec<u32>,
    class_count: usize,
}

impl Preorder {
    /// The preorder of any numbers, one per edge of `graph`: only their order and equality matter.
    ///
    /// O(edges) if the numbers lie close together, O(edges log edges) otherwise. An error if their
    /// count is not that of the edges.
    pub fn from_ranks(graph: &FactorGraph, ranks: &[u64]) -> Result<Self> {
        if ranks.len() != graph.edge_count() {
            return Err(Error::InvalidArgument(format!(
                "{} ranks: the graph has {} edges and needs one rank for each",
                ranks.len(),
                graph.edge_count()
            )));
        }
        Self::compress(ranks)
    }

    /// Makes ranks dense.
    pub(super) fn compress(ranks: &[u64]) -> Result<Self> {
        let (Some(&lowest), Some(&highest)) = (ranks.iter().min(), ranks.iter().max()) else {
            return Ok(Self { ranks: Vec::new(), class_count: 0 });
        };
        if (highest - lowest) / 4 > ranks.len() as u64 {
            return Self::compress_by_sorting(ranks);
        }
        // Few enough possible ranks for a table of those that occur.
        let mut dense = filled((highest - lowest) as usize + 1, u32::MAX)?;
        for &rank in ranks {
            dense[(rank - lowest) as usize] = 0;
        }
        let mut class_count = 0;
        for slot in dense.iter_mut().filter(|slot| **slot == 0) {
            *slot = class_count;
            class_count += 1;
        }
        let ranks = collected(ranks.iter().map(|&rank| dense[(rank - lowest) as usize]))?;
        Ok(Self { ranks, class_count: class_count as usize })
    }

    fn compress_by_sorting(ranks: &[u64]) -> Result<Self> {
        let mut sorted: Vec<(u64, u32)> = collected(ranks.iter().copied().zip(0..))?;
        sorted.sort_unstable();
        let mut dense = filled(ranks.len(), 0)?;
        let mut class = 0;
        let mut previous = sorted.first().map_or(0, |&(rank, _)| rank);
        for (rank, edge) in sorted {
            class += u32::from(rank != previous);
            previous = rank;
            dense[edge as usize] = class;
        }
        Ok(Self { ranks: dense, class_count: class as usize + 1 })
    }

    /// Ranks that are dense already.
    pub(super) fn from_dense(ranks: Vec<u32>, class_count: usize) -> Self {
        debug_assert!(ranks.iter().all(|&rank| (rank as usize) < class_count));
        Self { ranks, class_count }
    }

    /// One class of all edges.
    pub(super) fn flat(edge_count: usize) -> Result<Self> {
        Ok(Self { ranks: filled(edge_count, 0)?, class_count: usize::from(edge_count > 0) })
    }

    /// The strict order in which `order`, a permutation of the edges, lists them.
    pub(super) fn from_order(order: &[u32]) -> Result<Self> {
        let mut ranks = filled(order.len(), 0)?;
        for (position, &edge) in order.iter().enumerate() {
            ranks[edge as usize] = position as u32;
        }
        Ok(Self { ranks, class_count: order.len() })
    }

    /// A copy.
    pub(super) fn try_clone(&self) -> Result<Self> {
        Ok(Self { ranks: copied(&self.ranks)?, class_count: self.class_count })
    }

    /// Rank of each edge.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.ranks.len()
    }

    /// Number of classes, that is of distinct ranks.
    pub fn class_count(&self) -> usize {
        self.class_count
    }

    /// The edges sorted by rank, then by edge index. O(edges). Errors: no memory.
    pub fn order(&self) -> Result<Vec<u32>> {
        Ok(self.classes()?.0)
    }

    /// The edges sorted as by [`Self::order`], and where in that list each class starts: one entry
    /// more than there are classes. O(edges). Errors: no memory.
    pub fn classes(&self) -> Result<(Vec<u32>, Vec<u32>)> {
        if self.class_count < self.ranks.len() {
            return counting_sort(&self.ranks, self.class_count);
        }
        // A strict order: ranks are a permutation.
        let mut order: Vec<u32> = zeroed(self.ranks.len())?;
        for (edge, &rank) in self.ranks.iter().enumerate() {
            order[rank as usize] = edge as u32;
        }
        Ok((order, collected(0..=self.class_count as u32)?))
    }
}

/// Least number of keys that a thread gets: about a millisecond of work.
pub(super) const KEYS_PER_THREAD: usize = 1 << 18;

/// [`counting_sort`](crate::counting_sort::counting_sort) on as many threads as pay.
pub(super) fn counting_sort(keys: &[u32], key_count: usize) -> Result<(Vec<u32>, Vec<u32>)> {
    let gang = Gang::for_work(keys.len(), KEYS_PER_THREAD);
    crate::counting_sort::counting_sort(keys, key_count, &gang)
}
