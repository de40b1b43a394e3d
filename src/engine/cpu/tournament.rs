//! A priority queue over all edges in which every priority can change at any time.

use crate::error::Result;
use crate::memory::{collected, filled};

/// Yields the edge with the highest priority; of several with that priority, the one whose priority was set
/// last.
pub(super) struct Tournament {
    /// The rank of each edge.
    ranks: Vec<u128>,
    clock: u64,
    /// A binary tree, the root at 1, the children of node n at 2 n and 2 n + 1: the better one of each pair of edges. Leaves are
    /// the edges, at the number of edges + edge.
    winners: Vec<u32>,
}

/// By priority, and of the same one by the time at which it was set. As a number, since comparing two takes no branch, which
/// would be hard to predict.
fn rank(priority: f64, stamp: u64) -> u128 {
    // The bits of numbers that are not negative ascend with them.
    u128::from(priority.to_bits()) << 64 | u128::from(stamp)
}

fn stamp(rank: u128) -> u64 {
    rank as u64
}

impl Tournament {
    /// All priorities are 0, set in the order of `edges`, which names each edge once.
    pub(super) fn new(edges: &[u32]) -> Result<Self> {
        let count = edges.len();
        let mut tournament = Self {
            ranks: filled(count, 0)?,
            clock: 0,
            winners: collected((0..2 * count).map(|node| node.saturating_sub(count) as u32))?,
        };
        tournament.reset(edges);
        Ok(tournament)
    }

    /// Makes all priorities 0, set in the order of `edges`, which names each edge once.
    pub(super) fn reset(&mut self, edges: &[u32]) {
        for (&edge, stamp) in edges.iter().zip(1..) {
            self.ranks[edge as usize] = rank(0.0, stamp);
        }
        self.play_all();
    }

    /// When each priority was set.
    pub(super) fn stamps(&self) -> Result<Vec<u64>> {
        collected(self.ranks.iter().map(|&rank| stamp(rank)))
    }

    /// Restores a priority and when it was set; [`Self::play_all`] has to follow. O(1).
    pub(super) fn put_back(&mut self, edge: usize, priority: f64, stamp: u64) {
        self.ranks[edge] = rank(priority, stamp);
    }

    /// Sets a priority, which is 0 or more. O(log edges).
    pub(super) fn set(&mut self, edge: usize, priority: f64) {
        self.clock = self.clock.saturating_add(1);
        self.ranks[edge] = rank(priority, self.clock);
        let mut node = (self.ranks.len() + edge) / 2;
        while node > 0 {
            let (before, now) = (self.winners[node], self.winner(node));
            self.winners[node] = now;
            // Above a node that another edge has won before and now, nothing changes.
            if before != edge as u32 && now != edge as u32 {
                break;
            }
            node /= 2;
        }
    }

    /// Finds the best of all edges, and sets the clock to the latest time. O(edges).
    pub(super) fn play_all(&mut self) {
        self.clock = self.ranks.iter().map(|&rank| stamp(rank)).max().unwrap_or(0);
        for node in (1..self.ranks.len()).rev() {
            self.winners[node] = self.winner(node);
        }
    }

    /// The edge with the highest priority, and that priority; `None` if there are no edges.
    pub(super) fn best(&self) -> Option<(usize, f64)> {
        // With one edge, its leaf is the root.
        let edge = *self.winners.get(1)? as usize;
        Some((edge, f64::from_bits((self.ranks[edge] >> 64) as u64)))
    }

    fn winner(&self, node: usize) -> u32 {
        let (a, b) = (self.winners[2 * node], self.winners[2 * node + 1]);
        if self.ranks[a as usize] > self.ranks[b as usize] { a } else { b }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_is_the_highest_then_the_latest(
            count in 1_usize..40,
            changes in prop::collection::vec((0_usize..40, 0_u8..4), 0..200),
        ) {
            // Set at first in descending order.
            let order: Vec<u32> = (0..count as u32).rev().collect();
            let mut tournament = Tournament::new(&order).unwrap();
            let mut listed: Vec<(u8, usize)> = order.iter().map(|&edge| (0, edge as usize)).collect();
            for (edge, priority) in changes {
                let edge = edge % count;
                tournament.set(edge, f64::from(priority));
                listed.retain(|&(_, other)| other != edge);
                listed.push((priority, edge));
                let best = listed.iter().copied().rev().max_by(|a, b| a.0.cmp(&b.0)).unwrap();
                let best = listed.iter().rev().find(|entry| entry.0 == best.0).unwrap();
                prop_assert_eq!(tournament.best(), Some((best.1, f64::from(best.0))));
            }
            // One that is put together from another's stamps and priorities is the same.
            let mut copy = Tournament::new(&order).unwrap();
            for (edge, stamp) in tournament.stamps().unwrap().into_iter().enumerate() {
                let priority = f64::from_bits((tournament.ranks[edge] >> 64) as u64);
                copy.put_back(edge, priority, stamp);
            }
            copy.play_all();
            prop_assert_eq!(copy.best(), tournament.best());
            prop_assert_eq!(copy.clock, tournament.clock);
        }
    }

    #[test]
    fn no_edges() {
        assert_eq!(Tournament::new(&[]).unwrap().best(), None);
        assert_eq!(Tournament::new(&[0]).unwrap().best(), Some((0, 0.0)));
    }
}
