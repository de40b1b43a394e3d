//! A priority queue over all edges in which every priority can change at any time.

use crate::error::Result;
use crate::memory::{collected, filled};

/// Yields the edge with the highest priority; of several with that priority, the one whose priority was set
/// last.
pub(super) struct Tournament {
    /// The priority of each edge, and the time at which it was set: side by side, since comparing takes both.
    players: Vec<(f64, u64)>,
    clock: u64,
    /// A complete binary tree, the root at 1: the better one of each pair of players. Leaves are the
    /// edges, at `leaves` + edge.
    winners: Vec<u32>,
    leaves: usize,
}

const NOBODY: u32 = u32::MAX;

impl Tournament {
    /// All priorities are 0, set in the order of `edges`, which names each edge once.
    pub(super) fn new(edges: &[u32]) -> Result<Self> {
        let count = edges.len();
        let leaves = count.next_power_of_two();
        let mut tournament = Self {
            players: filled(count, (0.0, 0))?,
            clock: 0,
            winners: filled(2 * leaves, NOBODY)?,
            leaves,
        };
        for edge in 0..count {
            tournament.winners[leaves + edge] = edge as u32;
        }
        tournament.reset(edges);
        Ok(tournament)
    }

    /// Makes all priorities 0, set in the order of `edges`, which names each edge once.
    pub(super) fn reset(&mut self, edges: &[u32]) {
        self.clock = 0;
        for &edge in edges {
            self.clock += 1;
            self.players[edge as usize] = (0.0, self.clock);
        }
        for node in (1..self.leaves).rev() {
            self.play(node);
        }
    }

    /// When each priority was set.
    pub(super) fn stamps(&self) -> Result<Vec<u64>> {
        collected(self.players.iter().map(|player| player.1))
    }

    /// Restores the times at which the priorities were set; [`Self::put_back`] then restores the priorities.
    pub(super) fn set_stamps(&mut self, stamps: &[u64]) {
        for (player, &stamp) in self.players.iter_mut().zip(stamps) {
            player.1 = stamp;
        }
        self.clock = stamps.iter().copied().max().unwrap_or(0);
    }

    /// Sets a priority, which must not be NaN. O(log edges).
    pub(super) fn set(&mut self, edge: usize, priority: f64) {
        self.clock = self.clock.saturating_add(1);
        self.players[edge].1 = self.clock;
        self.put_back(edge, priority);
    }

    /// Sets a priority, which must not be NaN, and keeps its time. O(log edges).
    pub(super) fn put_back(&mut self, edge: usize, priority: f64) {
        self.players[edge].0 = priority;
        let mut node = (self.leaves + edge) / 2;
        while node > 0 {
            let before = self.winners[node];
            self.play(node);
            // Above a node that another edge has won before and now, nothing changes.
            if before != edge as u32 && self.winners[node] != edge as u32 {
                break;
            }
            node /= 2;
        }
    }

    /// The edge with the highest priority, and that priority; `None` if there are no edges.
    pub(super) fn best(&self) -> Option<(usize, f64)> {
        // With one edge, its leaf is the root.
        let edge = *self.winners.get(1)?;
        (edge != NOBODY).then(|| (edge as usize, self.players[edge as usize].0))
    }

    fn play(&mut self, node: usize) {
        let (a, b) = (self.winners[2 * node], self.winners[2 * node + 1]);
        self.winners[node] = if b == NOBODY || (a != NOBODY && self.beats(a, b)) { a } else { b };
    }

    fn beats(&self, a: u32, b: u32) -> bool {
        self.players[a as usize] > self.players[b as usize]
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
            copy.set_stamps(&tournament.stamps().unwrap());
            for edge in 0..count {
                copy.put_back(edge, tournament.players[edge].0);
            }
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
