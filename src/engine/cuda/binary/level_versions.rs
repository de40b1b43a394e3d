//! Products of pieces of high-degree variables by levels: see cuda/engine/binary_versions.cuh.

use super::layout::Layout;
use super::level_ranks::Ranks;
use super::level_words::CHUNK;
use crate::engine::cuda::interface::binary::WARP_LEAVES;
use crate::engine::cuda::interface::words::{VERSION_NONE, version};
use crate::engine::limits::{PARTS, heights_of_pieces};
use crate::error::Result;
use crate::memory::{Grow, filled, room};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The versions of each piece of a high-degree variable that are read. Pieces of height 0 have [`WARP_LEAVES`] messages, and
/// those of each height more have [`PARTS`] pieces of the height below.
pub(super) struct Versions<'a> {
    ranks: &'a Ranks<'a>,
    heights: Vec<Height>,
}

/// The pieces of a height, from the first slot of each on.
struct Height {
    /// Messages of a piece.
    size: usize,
    /// The messages of each piece, those of the lowest ranks first.
    sorted: Vec<Sent>,
    /// A bit for each slot: whether a version that lies there is read.
    read: Vec<AtomicU32>,
}

/// A message of a piece in the order of ranks.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Sent {
    rank: u32,
    /// The last level that sends this message or one before; `None` if none of them changes.
    level: Option<u32>,
}

/// The products of all messages of pieces, which the first iteration of a run reads.
pub(super) struct FirstVersions {
    /// The place of each, those of each height behind those of the height below.
    pub places: Vec<u32>,
    /// Of each piece above the lowest ones its first part, as a number among `places`; and the end of all.
    pub parts: Vec<u32>,
    /// How many pieces there are up to each height.
    pub ends: Vec<u32>,
}

impl<'a> Versions<'a> {
    /// O(edges log edges) of high-degree variables.
    pub(super) fn new(ranks: &'a Ranks<'a>) -> Result<Self> {
        let slots = ranks.layout.high_degree_slots();
        let largest = high_degree_variables(ranks).map(|v| ranks.graph.degree(v)).max();
        let mut all = Self { ranks, heights: Vec::new() };
        let mut size = WARP_LEAVES;
        for _ in 0..largest.map_or(0, heights_of_pieces) {
            let mut read = Vec::new();
            read.try_extend((0..slots.div_ceil(32)).map(|_| AtomicU32::new(0)))?;
            let sorted = filled(slots, Sent::default())?;
            all.heights.try_push(Height { size, sorted, read })?;
            size *= PARTS;
        }
        for Height { size, sorted, .. } in &mut all.heights {
            for variable in high_degree_variables(ranks) {
                for (edges, slots) in pieces_of(ranks, variable, *size) {
                    sort(ranks, edges, &mut sorted[slots]);
                }
            }
        }
        Ok(all)
    }

    /// The number of places of versions: those of each height follow those of the height below.
    pub(super) fn places(&self) -> usize {
        self.heights.len() * self.ranks.layout.high_degree_slots()
    }

    /// The products that the first iteration of a run reads.
    pub(super) fn first(&self) -> Result<FirstVersions> {
        let mut first = FirstVersions { places: Vec::new(), parts: Vec::new(), ends: Vec::new() };
        // Pieces of a height are the parts of those of the next one, in the same order.
        let mut parts = 0;
        for (height, Height { size, .. }) in self.heights.iter().enumerate() {
            for variable in high_degree_variables(self.ranks) {
                for (edges, slots) in pieces_of(self.ranks, variable, *size) {
                    first.places.try_push(self.place(height, slots.end - 1))?;
                    if height > 0 {
                        first.parts.try_push(parts)?;
                        parts += edges.len().div_ceil(size / PARTS) as u32;
                    }
                }
            }
            first.ends.try_push(first.places.len() as u32)?;
        }
        first.parts.try_push(parts)?;
        Ok(first)
    }

    /// Tells which versions are read along the edge `own` in messages of this rank: of each height, those of the pieces that
    /// share the next larger one with the edge's own. Notes that they are read. A chunk of words, [`PARTS`] to a height.
    /// O(log^2 edges).
    pub(super) fn append_words(&self, own: usize, rank: u32, words: &mut Vec<u32>) -> Result<()> {
        let variable = self.ranks.graph.edge_variables()[own] as usize;
        let slots = slots_of(self.ranks, variable);
        let own = slots.start + self.ranks.own_place(own);
        let end = words.len() + CHUNK;
        for (height, Height { size, .. }) in self.heights.iter().enumerate() {
            let size_above = size * PARTS;
            let begin = slots.start + (own - slots.start) / size_above * size_above;
            self.append_parts(height, begin..slots.end, rank, Some((own - begin) / size), words)?;
            if size_above >= slots.len() {
                break;
            }
        }
        words.try_resize(end, VERSION_NONE)
    }

    /// A word for each of the first [`PARTS`] pieces of a height in these slots, which begin with one; but for the `own` one.
    fn append_parts(
        &self, height: usize, slots: Range<usize>, rank: u32, own: Option<usize>,
        words: &mut Vec<u32>,
    ) -> Result<()> {
        let Height { size, sorted, read } = &self.heights[height];
        let end = words.len() + PARTS;
        for (number, first) in slots.clone().step_by(*size).take(PARTS).enumerate() {
            if own == Some(number) {
                words.try_push(VERSION_NONE)?;
                continue;
            }
            let messages = &sorted[first..slots.end.min(first + size)];
            let (anew, new) = match messages.partition_point(|sent| sent.rank < rank) {
                0 => (messages.len(), 0),
                anew => (anew, version::NEW.mask()),
            };
            let slot = first + anew - 1;
            read[slot / 32].fetch_or(1 << (slot % 32), Relaxed);
            words.try_push(self.place(height, slot) | new)?;
        }
        words.try_resize(end, VERSION_NONE)
    }

    /// The versions that are read, those of parts before those of what they are parts of.
    pub(super) fn all_read(&self) -> Result<Vec<Version<'a>>> {
        let mut of_heights: Vec<Vec<Version<'a>>> = Vec::new();
        for (height, Height { size, sorted, read }) in self.heights.iter().enumerate().rev() {
            let is_read = |slot: usize| read[slot / 32].load(Relaxed) >> (slot % 32) & 1 == 1;
            let mut all = Vec::new();
            for variable in high_degree_variables(self.ranks) {
                for (edges, slots) in pieces_of(self.ranks, variable, *size) {
                    let first = slots.start as u32;
                    for slot in slots.clone().filter(|&slot| is_read(slot)) {
                        let (place, Sent { rank: last, level }) =
                            (self.place(height, slot), sorted[slot]);
                        let mut parts = Vec::new();
                        if height > 0 {
                            self.append_parts(
                                height - 1,
                                slots.clone(),
                                last + 1,
                                None,
                                &mut parts,
                            )?;
                        }
                        all.try_push(Version { edges, first, place, parts, last, level })?;
                    }
                }
            }
            of_heights.try_push(all)?;
        }
        let mut all = room(of_heights.iter().map(Vec::len).sum())?;
        all.extend(of_heights.into_iter().rev().flatten());
        Ok(all)
    }

    /// Where the version lies whose last message is at this slot, in the order of ranks.
    fn place(&self, height: usize, slot: usize) -> u32 {
        (height * self.ranks.layout.high_degree_slots() + slot) as u32
    }
}

/// A piece of a high-degree variable of which some messages are new.
pub(super) struct Version<'a> {
    pub edges: &'a [u32],
    /// The first slot of the piece, and where its product goes.
    pub first: u32,
    pub place: u32,
    /// The versions of its parts that make it, a word for each thread of a warp; none of a piece of height 0.
    pub parts: Vec<u32>,
    /// The largest rank of its new messages.
    last: u32,
    /// The level that sends the last of its new messages, if one does.
    pub level: Option<u32>,
}

impl Version<'_> {
    pub(super) fn is_new(&self, ranks: &Ranks<'_>, edge: u32) -> bool {
        ranks.of(edge) <= self.last
    }
}

/// Sorts the messages of a piece.
fn sort(ranks: &Ranks<'_>, edges: &[u32], messages: &mut [Sent]) {
    for (message, &edge) in messages.iter_mut().zip(edges) {
        *message = Sent { rank: ranks.of(edge), level: ranks.level_of(edge) };
    }
    messages.sort_unstable();
    let mut last = None;
    for message in messages {
        last = last.max(message.level);
        message.level = last;
    }
}

/// Those in pieces, in the order of their slots.
fn high_degree_variables(ranks: &Ranks<'_>) -> impl Iterator<Item = usize> {
    let Layout { variable, classes, .. } = ranks.layout;
    variable[..classes[1] as usize].iter().map(|&variable| variable as usize)
}

/// The slots of a variable's edges.
fn slots_of(ranks: &Ranks<'_>, variable: usize) -> Range<usize> {
    let first = ranks.layout.slots_of(variable).0 as usize;
    first..first + ranks.graph.degree(variable)
}

/// The pieces of a variable, of this size: their edges and slots.
fn pieces_of<'a>(
    ranks: &Ranks<'a>, variable: usize, size: usize,
) -> impl Iterator<Item = (&'a [u32], Range<usize>)> {
    let slots = slots_of(ranks, variable);
    let edges = ranks.graph.variable_edges(variable).chunks(size);
    edges.zip(slots.step_by(size)).map(|(edges, first)| (edges, first..first + edges.len()))
}
