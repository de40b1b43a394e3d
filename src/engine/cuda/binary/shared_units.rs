//! Units that all blocks share where all messages are sent at once: see cuda/engine/binary_flood.cuh.

use super::homes::{Home, Homes};
use super::layout::Layout;
use super::limits::{LARGE, WARP};
use crate::engine::cuda::interface::binary::{FLOOD_HUBS, Source};
use crate::engine::cuda::interface::words::hub_unit;
use crate::error::Result;
use crate::memory::{collected, room};
use crate::model::FactorGraph;
use crate::parallel::all_parts;
use crate::threads::Gang;

/// A unit of hubs or of large factors: rows of words, and the places of edges among them.
pub(super) struct Unit {
    pub kind: usize,
    pub words: Vec<u32>,
    pub inputs: Vec<(u32, u32)>,
}

impl Unit {
    fn new(kind: usize) -> Result<Self> {
        Self::of_rows(kind, 1)
    }

    /// One with so many rows of two words for each thread, which have nothing to do.
    pub(super) fn of_rows(kind: usize, rows: usize) -> Result<Self> {
        let words = (0..rows * 2 * WARP).map(|word| if word % 2 == 0 { u32::MAX } else { 0 });
        Ok(Self { kind, words: collected(words)?, inputs: room(rows * WARP)? })
    }

    /// All of a hub's messages from a piece on that some threads take, eight each.
    fn set_hub(
        &mut self, threads: std::ops::Range<usize>, graph: &FactorGraph, layout: &Layout,
        hub: usize, piece: usize,
    ) {
        let edges = graph.variable_edges(layout.variable[hub] as usize);
        let slots = (layout.hub_slots[hub]..).step_by(8);
        let eights = edges.chunks(8).zip(slots).skip(piece * LARGE / 8);
        for (thread, (edges, slot)) in threads.zip(eights) {
            self.words[2 * thread] = Source::Prepared.word(slot);
            self.inputs.push((2 * thread as u32, edges[0]));
            self.words[2 * thread + 1] |= hub_unit::EDGES.put((1 << edges.len()) - 1);
        }
    }
}

/// The pieces of large hubs.
pub(super) fn pieces(
    graph: &FactorGraph, layout: &Layout, kind: usize, gang: &Gang,
) -> Result<Vec<Unit>> {
    let (hubs, starts) = layout.pieces()?;
    all_parts(hubs.len(), gang, |own| {
        let hub = hubs[own];
        let [first, end] = [0, 1].map(|i| starts[hub as usize + i]);
        let mut unit = Unit::new(kind)?;
        unit.set_hub(0..WARP, graph, layout, hub as usize, own - first as usize);
        for (thread, number) in [own as u32, first, end].into_iter().enumerate() {
            unit.words[2 * thread + 1] |= number;
        }
        Ok(unit)
    })
}

/// The hubs of all blocks of a class but the first, that of large ones.
pub(super) fn small_hubs(
    graph: &FactorGraph, layout: &Layout, homes: &Homes, class: usize, gang: &Gang,
) -> Result<Vec<Unit>> {
    let levels = layout.classes.len() - 2 - class;
    // Shared variables come first.
    let first = layout.classes[class];
    let of_class = &layout.variable[first as usize..layout.classes[class + 1] as usize];
    let is_shared = |&v: &u32| homes.of_variable[v as usize] == Home::Shared;
    let end = first as usize + of_class.partition_point(is_shared);
    let of_unit = WARP >> levels;
    all_parts((end - first as usize).div_ceil(of_unit), gang, |number| {
        let mut unit = Unit::new(FLOOD_HUBS)?;
        let own = first as usize + number * of_unit;
        for (at, hub) in (own..end.min(own + of_unit)).enumerate() {
            unit.set_hub(at << levels..(at + 1) << levels, graph, layout, hub, 0);
        }
        (0..WARP).for_each(|thread| unit.words[2 * thread + 1] |= levels as u32);
        Ok(unit)
    })
}
