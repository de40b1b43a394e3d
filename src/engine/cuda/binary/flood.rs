//! What blocks do in passes in which all messages are sent at once: see cuda/engine/binary_flood.cuh and
//! binary_home.cuh.

use super::homes::{Home, Homes};
use super::layout::{Layout, Source, changes};
use super::limits::{LARGE, TILE_ARITY, WARP};
use crate::error::Result;
use crate::kernel::EncodedMessage;
use crate::memory::{Grow, all_collected, collected, filled, room};
use crate::model::FactorGraph;
use cust::memory::DeviceCopy;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Kinds of units of hubs that all blocks share, in the order in which a warp does them.
pub(super) const MULTIPLY: usize = 0;
pub(super) const HUBS: usize = 1;
pub(super) const SEND: usize = 2;
pub(super) const HUB_KINDS: usize = 3;

/// From this bit on of a thread's second word stands which of its eight messages change from iteration to iteration.
pub(super) const CHANGING_SHIFT: u32 = 24;

/// Kinds of units of factors: tiles of the arities 2, 3, ..., then single ones with more variables.
pub(super) const WIDE: usize = TILE_ARITY - 1;
/// Tiles of factors with up to four variables, or eight: with few factors, fewer instructions for the cache are worth
/// more than variables that are not there cost.
pub(super) const UP_TO_FOUR: usize = WIDE + 1;
pub(super) const UP_TO_EIGHT: usize = WIDE + 2;

/// From this bit on of a unit's word stands its kind.
pub(super) const KIND_SHIFT: u32 = 28;

/// Rows of a unit of factors.
pub(super) fn rows(kind: usize) -> usize {
    match kind {
        WIDE => 2,
        UP_TO_FOUR => 5,
        UP_TO_EIGHT => 9,
        kind => kind + 3,
    }
}

/// Variables of a class that are at home at a block: where they begin, by position, among slots, at the block's
/// places for messages and among its variables, and how many they are.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, DeviceCopy)]
pub(super) struct HomeRange {
    pub position: u32,
    pub slot: u32,
    pub place: u32,
    pub index: u32,
    pub count: u32,
}

/// Classes of variables that are at home: hubs but the large ones, then those with 4 slots, 2 and 1.
pub(super) const HOME_CLASSES: usize = 9;

/// What a block has; `HomeShape` of cuda/engine/binary_home.cuh. Of each array where the block's part begins, and
/// its length.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, DeviceCopy)]
pub(super) struct HomeShape {
    pub ranges: [HomeRange; HOME_CLASSES],
    /// Places for messages; those from `inbox` on are of edges to variables of all blocks, so many of them to others
    /// than large hubs.
    pub places: u32,
    pub inbox: u32,
    pub early: u32,
    pub joined: [u32; 2],
    pub constants: [u32; 2],
    pub words: [u32; 2],
    pub hubs: [u32; 2],
    pub hub_words: [u32; 2],
    /// Units of factors, and how many of them are of such without large hubs.
    pub units: [u32; 2],
    pub early_units: u32,
    pub variables: u32,
}

impl HomeShape {
    /// Bytes of what is in a block's own memory, with or without words.
    pub(super) fn bytes(&self, with_words: bool) -> usize {
        let words = if with_words { self.words[1] } else { 0 };
        let of_four = words
            + self.joined[1]
            + self.constants[1]
            + self.hubs[1]
            + self.hub_words[1]
            + self.units[1];
        let bytes = 8 * (self.places + self.constants[1]) + 4 * of_four + self.variables;
        (bytes as usize).next_multiple_of(16)
    }
}

/// What all blocks do.
#[derive(Default)]
pub(super) struct FloodWork {
    /// Of units of hubs rows of two words for each thread; then the words of edges to variables of all blocks.
    pub words: Vec<u32>,
    /// For each block the first row of each warp's kinds of hubs, and the end.
    pub hub_starts: Vec<u32>,
    /// The places of edges among the words.
    pub places: Vec<(u32, u32)>,
    pub homes: Vec<HomeShape>,
    /// Of units of factors rows of a word for each thread; the units: the first row (of the block's), and the kind.
    pub factors: Vec<u32>,
    pub factor_units: Vec<u32>,
    /// The place of each hub, and for each block the end.
    pub hubs: Vec<u32>,
    /// What factors with one variable send, and where to.
    pub constant_places: Vec<u32>,
    pub constants: Vec<EncodedMessage>,
}

impl FloodWork {
    /// For blocks of so many warps.
    pub(super) fn new(
        graph: &FactorGraph, layout: &Layout, homes: &Homes, warps: usize,
    ) -> Result<Self> {
        let mut all = Self::default();
        let teams = Teams::new(layout, homes.blocks, warps)?;
        let hub_words = all.add_hubs(graph, layout, homes, &teams)?;
        let ranges = ranges(layout, homes)?;
        let mut joined = filled(homes.blocks, Vec::new())?;
        let mut factors = filled(homes.blocks, Vec::new())?;
        let with_several = (0..graph.factor_count()).filter(|&f| graph.arity(f) > 1);
        let has_few = with_several.clone().count() <= homes.blocks * warps * WARP;
        for f in with_several {
            let block = homes.of_factor[f] as usize;
            let mut is_late = false;
            for edge in graph.factor_edges(f) {
                let v = graph.edge_variables()[edge] as usize;
                if homes.of_variable[v] == Home::Shared {
                    let is_large = graph.degree(v) > LARGE;
                    is_late |= is_large;
                    joined[block].try_push((is_large, layout.slot_of_edge[edge], edge as u32))?;
                }
            }
            let kind = match graph.arity(f) {
                2..=4 if has_few => UP_TO_FOUR,
                5..=TILE_ARITY if has_few => UP_TO_EIGHT,
                arity => (arity - 2).min(WIDE),
            };
            factors[block].try_push((is_late, kind, f as u32))?;
        }
        let mut place_of_edge = filled(graph.edge_count(), 0)?;
        for (block, ranges) in ranges.into_iter().enumerate() {
            let mut shape = HomeShape { ranges, ..HomeShape::default() };
            shape.hub_words = hub_words[block];
            for range in &ranges {
                let positions = range.position as usize..(range.position + range.count) as usize;
                for &v in &layout.variable[positions] {
                    for &edge in graph.variable_edges(v as usize) {
                        let slot = layout.slot_of_edge[edge as usize];
                        place_of_edge[edge as usize] = range.place + (slot - range.slot);
                    }
                }
            }
            all.add_home(layout, &mut shape)?;
            joined[block].sort_unstable();
            shape.joined = [all.words.len() as u32, joined[block].len() as u32];
            shape.early = joined[block].partition_point(|&(is_large, ..)| !is_large) as u32;
            all.places.try_room(joined[block].len())?;
            all.words.try_room(joined[block].len())?;
            for (place, &(_, slot, edge)) in (shape.inbox..).zip(&joined[block]) {
                place_of_edge[edge as usize] = place;
                all.places.push((all.words.len() as u32, edge));
                all.words.push(Source::Prepared.word(slot));
            }
            shape.places = shape.inbox + shape.joined[1];
            factors[block].sort_unstable();
            all.add_factors(graph, layout, &factors[block], &place_of_edge, &mut shape)?;
            all.homes.try_push(shape)?;
        }
        all.add_constants(graph, layout, homes, &place_of_edge)?;
        Ok(all)
    }

    /// What factors with one variable send to such as are at home.
    fn add_constants(
        &mut self, graph: &FactorGraph, layout: &Layout, homes: &Homes, place_of_edge: &[u32],
    ) -> Result<()> {
        let mut of_blocks = filled(homes.blocks, Vec::new())?;
        let single = (0..graph.factor_count()).filter(|&f| graph.arity(f) == 1);
        for (f, &(_, message)) in single.zip(&layout.constants) {
            let edge = graph.factor_edges(f).start;
            let v = graph.edge_variables()[edge] as usize;
            if let Home::Block(block) = homes.of_variable[v] {
                of_blocks[block as usize].try_push((place_of_edge[edge], message))?;
            }
        }
        for (shape, constants) in self.homes.iter_mut().zip(of_blocks) {
            shape.constants = [self.constants.len() as u32, constants.len() as u32];
            self.constant_places.try_extend(constants.iter().map(|&(place, _)| place))?;
            self.constants.try_extend(constants.iter().map(|&(_, message)| message))?;
        }
        Ok(())
    }

    /// Units of hubs that all blocks share. Gives where the words of each block begin, and how many they are.
    fn add_hubs(
        &mut self, graph: &FactorGraph, layout: &Layout, homes: &Homes, teams: &Teams,
    ) -> Result<Vec<[u32; 2]>> {
        let warps = teams.warps;
        let mut of_warps: Vec<Vec<Unit>> = room(homes.blocks * warps)?;
        of_warps.resize_with(homes.blocks * warps, Vec::new);
        for kind in [MULTIPLY, SEND] {
            for (piece, unit) in pieces(graph, layout, kind)?.into_iter().enumerate() {
                of_warps[teams.warp_of_piece(piece)].try_push(unit)?;
            }
        }
        let mut units: Vec<Unit> = Vec::new();
        for class in 1..layout.classes.len() - 1 {
            units.try_extend(small_hubs(graph, layout, homes, class)?)?;
        }
        // Neighbouring units on different multiprocessors; to warps with pieces last, which take about as long.
        let by_turn = |turn: usize| turn % homes.blocks * warps + turn / homes.blocks;
        let spent = |turn| (of_warps[by_turn(turn)].len() / 2) as u32;
        let turns = deal(units.len(), (0..of_warps.len()).map(spent))?;
        for (unit, turn) in units.into_iter().zip(turns) {
            of_warps[by_turn(turn)].try_push(unit)?;
        }
        let mut of_block = |of_warps: &[Vec<Unit>]| -> Result<[u32; 2]> {
            let first = self.words.len();
            let row = |words: &[u32]| ((words.len() - first) / WARP) as u32;
            for units in of_warps {
                for kind in 0..HUB_KINDS {
                    self.hub_starts.try_push(row(&self.words))?;
                    for unit in units.iter().filter(|unit| unit.kind == kind) {
                        let start = self.words.len() as u32;
                        self.words.try_append(&unit.words)?;
                        let place = |&(at, edge): &(u32, u32)| (start + at, edge);
                        self.places.try_extend(unit.inputs.iter().map(place))?;
                    }
                }
            }
            self.hub_starts.try_push(row(&self.words))?;
            Ok([first as u32, (self.words.len() - first) as u32])
        };
        let mut blocks = room(homes.blocks)?;
        for of_warps in of_warps.chunks(warps) {
            blocks.push(of_block(of_warps)?);
        }
        Ok(blocks)
    }

    /// The hubs and the number of variables of a home.
    fn add_home(&mut self, layout: &Layout, shape: &mut HomeShape) -> Result<()> {
        let first = self.hubs.len() as u32;
        let of_hubs = HOME_CLASSES - 3;
        for range in &shape.ranges[..of_hubs] {
            for hub in range.position..range.position + range.count {
                let slot = layout.hub_slots[hub as usize] - range.slot;
                self.hubs.try_push(range.place + slot)?;
            }
        }
        self.hubs.try_push(shape.ranges[of_hubs].place)?;
        shape.hubs = [first, self.hubs.len() as u32 - first];
        let last = shape.ranges[HOME_CLASSES - 1];
        shape.inbox = last.place + last.count;
        shape.variables = last.index + last.count;
        Ok(())
    }

    /// Units of a block's factors, which are sorted, early ones first, and then by kinds. Of these and of late ones, units
    /// that take longest come first.
    fn add_factors(
        &mut self, graph: &FactorGraph, layout: &Layout, factors: &[(bool, usize, u32)],
        place_of_edge: &[u32], shape: &mut HomeShape,
    ) -> Result<()> {
        let [first, first_unit] = [self.factors.len(), self.factor_units.len()];
        let early = factors.partition_point(|&(is_late, ..)| !is_late);
        for stage in [&factors[..early], &factors[early..]] {
            for same in stage.chunk_by(|a, b| a.1 == b.1).rev() {
                let kind = same[0].1;
                for unit in same.chunks(if kind == WIDE { 1 } else { WARP }) {
                    let row = ((self.factors.len() - first) / WARP) as u32;
                    self.factor_units.try_push(row | (kind as u32) << KIND_SHIFT)?;
                    self.add_unit(graph, layout, kind, unit, place_of_edge)?;
                }
            }
            let units = (self.factor_units.len() - first_unit) as u32;
            shape.early_units = shape.units[1];
            shape.units = [first_unit as u32, units];
        }
        shape.words = [first as u32, (self.factors.len() - first) as u32];
        Ok(())
    }

    fn add_unit(
        &mut self, graph: &FactorGraph, layout: &Layout, kind: usize, unit: &[(bool, usize, u32)],
        place_of_edge: &[u32],
    ) -> Result<()> {
        let first = self.factors.len();
        self.factors.try_resize(first + rows(kind) * WARP, u32::MAX)?;
        let words = &mut self.factors[first..];
        for (thread, f) in unit.iter().map(|&(_, _, f)| f as usize).enumerate() {
            for (row, edge) in Layout::edges_head_first(graph, f).enumerate() {
                let place = place_of_edge[edge];
                if kind == WIDE {
                    words[row] = place;
                    words[WARP + row] = layout.coefficients_of[f];
                } else {
                    words[WARP * (row + 1) + thread] = place;
                    words[thread] = layout.coefficients_of[f];
                }
            }
        }
        Ok(())
    }
}

/// For each block the ranges of variables of each class that are at home there.
fn ranges(layout: &Layout, homes: &Homes) -> Result<Vec<[HomeRange; HOME_CLASSES]>> {
    let mut all = filled(homes.blocks, [HomeRange::default(); HOME_CLASSES])?;
    let hubs = layout.classes[1..].windows(2);
    let few = layout.few.windows(2);
    for (class, ends) in hubs.chain(few).enumerate() {
        for position in ends[0]..ends[1] {
            let v = layout.variable[position as usize] as usize;
            let Home::Block(block) = homes.of_variable[v] else { continue };
            let range = &mut all[block as usize][class];
            let (slot, width) = layout.slots_of(v);
            if range.count == 0 {
                (range.position, range.slot) = (position, slot);
            }
            range.count += 1;
            // For now, the slots.
            range.place = slot + width - range.slot;
        }
    }
    for ranges in &mut all {
        let (mut place, mut index) = (0, 0);
        for range in ranges {
            let slots = std::mem::replace(&mut range.place, place);
            range.index = index;
            place += slots;
            index += range.count;
        }
    }
    Ok(all)
}

/// Gives each of some units to one that has least to do so far, of such in turn, given what they have already.
fn deal(units: usize, spent: impl Iterator<Item = u32>) -> Result<Vec<usize>> {
    let least = spent.enumerate().map(|(turn, spent)| Reverse((spent, turn)));
    let mut least: BinaryHeap<Reverse<(u32, usize)>> = collected(least)?.into();
    let deal_one = |_| {
        let Some(mut first) = least.peek_mut() else { return 0 };
        first.0.0 += 1;
        first.0.1
    };
    collected((0..units).map(deal_one))
}

/// Of so many warps of a block, one has large hubs at most.
const TEAM_SHARE: usize = 4;

/// Which warps have large hubs: the last ones of blocks.
struct Teams {
    blocks: usize,
    warps: usize,
    /// Most warps of a block.
    of_block: usize,
}

impl Teams {
    fn new(layout: &Layout, blocks: usize, warps: usize) -> Result<Self> {
        let pieces = layout.pieces()?.0.len();
        let of_block = pieces.div_ceil(blocks).min(warps.div_ceil(TEAM_SHARE));
        Ok(Self { blocks, warps, of_block })
    }

    /// Neighbouring ones on different multiprocessors.
    fn warp_of_piece(&self, piece: usize) -> usize {
        let (block, turn) = (piece % self.blocks, piece / self.blocks);
        (block + 1) * self.warps - 1 - turn % self.of_block
    }
}

/// A unit of hubs: rows of words, and the places of edges among them.
struct Unit {
    kind: usize,
    words: Vec<u32>,
    inputs: Vec<(u32, u32)>,
}

impl Unit {
    fn new(kind: usize) -> Result<Self> {
        let words = collected((0..2 * WARP).map(|word| if word % 2 == 0 { u32::MAX } else { 0 }))?;
        Ok(Self { kind, words, inputs: room(WARP)? })
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
            for (i, &edge) in edges.iter().enumerate() {
                let changes = u32::from(changes(graph, edge as usize));
                self.words[2 * thread + 1] |= changes << (CHANGING_SHIFT + i as u32);
            }
        }
    }
}

/// The pieces of large hubs.
fn pieces(graph: &FactorGraph, layout: &Layout, kind: usize) -> Result<Vec<Unit>> {
    let (hubs, starts) = layout.pieces()?;
    let unit = |(own, &hub): (usize, &u32)| {
        let [first, end] = [0, 1].map(|i| starts[hub as usize + i]);
        let mut unit = Unit::new(kind)?;
        unit.set_hub(0..WARP, graph, layout, hub as usize, own - first as usize);
        for (thread, number) in [own as u32, first, end].into_iter().enumerate() {
            unit.words[2 * thread + 1] |= number;
        }
        Ok(unit)
    };
    all_collected(hubs.iter().enumerate().map(unit))
}

/// The hubs of all blocks of a class but the first, that of large ones.
fn small_hubs(
    graph: &FactorGraph, layout: &Layout, homes: &Homes, class: usize,
) -> Result<Vec<Unit>> {
    let levels = layout.classes.len() - 2 - class;
    let is_shared =
        |&hub: &u32| homes.of_variable[layout.variable[hub as usize] as usize] == Home::Shared;
    let hubs = layout.classes[class]..layout.classes[class + 1];
    let hubs: Vec<u32> = collected(hubs.filter(is_shared))?;
    let unit = |own: &[u32]| {
        let mut unit = Unit::new(HUBS)?;
        for (at, &hub) in own.iter().enumerate() {
            unit.set_hub(at << levels..(at + 1) << levels, graph, layout, hub as usize, 0);
        }
        (0..WARP).for_each(|thread| unit.words[2 * thread + 1] |= levels as u32);
        Ok(unit)
    };
    all_collected(hubs.chunks(WARP >> levels).map(unit))
}
