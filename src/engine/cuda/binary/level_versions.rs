//! Products of pieces of high-degree variables by levels: see cuda/engine/binary_versions.cuh.

use super::level_ranks::Ranks;
use super::level_words::CHUNK;
use crate::engine::cuda::interface::binary::WARP_LEAVES;
use crate::engine::cuda::interface::words::{VERSION_NONE, version};
use crate::error::Result;
use crate::memory::{Grow, filled};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The versions of each piece of a high-degree variable that factors read.
pub(super) struct Versions<'a> {
    ranks: &'a Ranks<'a>,
    /// From the first slot of a piece on, the ranks of its messages, ascending.
    sorted: Vec<u32>,
    /// A bit for each slot: whether a version that lies there is read.
    read: Vec<AtomicU32>,
}

impl<'a> Versions<'a> {
    /// O(edges log edges) of high-degree variables.
    pub(super) fn new(ranks: &'a Ranks<'a>) -> Result<Self> {
        let slots = ranks.layout.high_degree_slots();
        let mut read = Vec::new();
        read.try_extend((0..slots.div_ceil(32)).map(|_| AtomicU32::new(0)))?;
        let mut sorted = filled(slots, 0)?;
        for_pieces(ranks, |edges, slots| {
            let of_piece = &mut sorted[slots.start as usize..][..edges.len()];
            for (rank, &edge) in of_piece.iter_mut().zip(edges) {
                *rank = ranks.of(edge);
            }
            of_piece.sort_unstable();
            Ok(())
        })?;
        Ok(Self { ranks, sorted, read })
    }

    /// By piece of all high-degree variables, the place of the version that has all of its messages anew.
    pub(super) fn places_of_all(&self) -> Result<Vec<u32>> {
        let mut places = Vec::new();
        for_pieces(self.ranks, |edges, slots| {
            places.try_push(slots.start + edges.len() as u32 - 1)
        })?;
        Ok(places)
    }

    /// Tells which versions are read along the edge `own` in messages of this rank: a word for each piece, in whole chunks. Notes
    /// that they are. O(pieces log WARP_LEAVES).
    pub(super) fn append_words(&self, own: usize, rank: u32, words: &mut Vec<u32>) -> Result<()> {
        let variable = self.ranks.graph.edge_variables()[own] as usize;
        let first = self.ranks.layout.slots_of(variable).0 as usize;
        let own_piece = self.ranks.own_place(own) / WARP_LEAVES;
        let sorted = &self.sorted[first..first + self.ranks.graph.degree(variable)];
        let pieces = sorted.len().div_ceil(WARP_LEAVES);
        for piece in 0..pieces.next_multiple_of(CHUNK) {
            let of_piece = sorted.chunks(WARP_LEAVES).nth(piece).filter(|_| piece != own_piece);
            let Some(ranks) = of_piece else {
                words.try_push(VERSION_NONE)?;
                continue;
            };
            let (anew, new) = match ranks.partition_point(|&of| of < rank) {
                0 => (ranks.len(), 0),
                anew => (anew, version::NEW.mask()),
            };
            let place = (first + piece * WARP_LEAVES + anew - 1) as u32;
            self.read[place as usize / 32].fetch_or(1 << (place % 32), Relaxed);
            words.try_push(place | new)?;
        }
        Ok(())
    }

    /// The versions that are read.
    pub(super) fn all_read(&self) -> Result<Vec<Version<'a>>> {
        let mut all = Vec::new();
        let is_read =
            |place: u32| self.read[place as usize / 32].load(Relaxed) >> (place % 32) & 1 == 1;
        for_pieces(self.ranks, |edges, slots| {
            let places = slots.start..slots.start + edges.len() as u32;
            for place in places.filter(|&place| is_read(place)) {
                let last = self.sorted[place as usize];
                all.try_push(Version { edges, first: slots.start, place, last })?;
            }
            Ok(())
        })?;
        Ok(all)
    }
}

/// A piece of a high-degree variable of which some messages are new.
pub(super) struct Version<'a> {
    pub edges: &'a [u32],
    /// The first slot of the piece, and where its product goes.
    pub first: u32,
    pub place: u32,
    /// The largest rank of its new messages.
    last: u32,
}

impl Version<'_> {
    pub(super) fn is_new(&self, ranks: &Ranks<'_>, edge: u32) -> bool {
        ranks.of(edge) <= self.last
    }

    /// The level that sends the last of its new messages, if one does.
    pub(super) fn level(&self, ranks: &Ranks<'_>) -> Option<usize> {
        let new =
            self.edges.iter().filter(|&&edge| self.is_new(ranks, edge) && ranks.changes(edge));
        new.map(|&edge| ranks.level_of(edge) as usize).max()
    }
}

/// Calls `of` for each piece of each high-degree variable in their order, with its edges and its slots.
fn for_pieces<'a>(
    ranks: &Ranks<'a>, mut of: impl FnMut(&'a [u32], Range<u32>) -> Result<()>,
) -> Result<()> {
    for &variable in &ranks.layout.variable[..ranks.layout.classes[1] as usize] {
        let (first, count) = ranks.layout.slots_of(variable as usize);
        let starts = (first..first + count).step_by(WARP_LEAVES);
        let edges = ranks.graph.variable_edges(variable as usize);
        for (start, edges) in starts.zip(edges.chunks(WARP_LEAVES)) {
            of(edges, start..(start + WARP_LEAVES as u32).min(first + count))?;
        }
    }
    Ok(())
}
