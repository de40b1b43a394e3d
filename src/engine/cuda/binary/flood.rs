//! What blocks do in passes in which all messages are sent at once: see cuda/engine/binary_flood.cuh and
//! binary_home.cuh.

use super::homes::{Home, Homes};
use super::large_factors::LargeFactors;
use super::layout::Layout;
use super::limits::{LARGE, OwnWarps, WARP};
use super::other_factors;
use super::shared_units::{Unit, pieces, small_hubs};
use crate::counting_sort::counting_sort;
use crate::engine::cuda::interface::binary::{
    FLOOD_HUB_KINDS, FLOOD_MULTIPLY, FLOOD_SEND, FLOOD_UP_TO_EIGHT, FLOOD_UP_TO_FOUR, FLOOD_WIDE,
    HOME_CLASSES, HOME_HUBS, HomePart, HomeRange, HomeShape, Source, TILE_ARITY,
};
use crate::engine::cuda::interface::words::factor_unit;
use crate::error::Result;
use crate::kernel::EncodedMessage;
use crate::memory::{AllZero, Grow, collected, filled, room, zeroed};
use crate::model::FactorGraph;
use crate::parallel::{SharedWords, all_parts, computed};
use crate::threads::Gang;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rows of a unit of factors.
pub(super) fn rows(kind: usize) -> usize {
    match kind {
        FLOOD_WIDE => 2,
        FLOOD_UP_TO_FOUR => 5,
        FLOOD_UP_TO_EIGHT => 9,
        kind => kind + 3,
    }
}

impl HomePart {
    fn new(first: usize, count: usize) -> Self {
        Self { first: first as u32, count: count as u32 }
    }
}

impl HomeShape {
    /// Bytes of what is in a block's shared memory, with or without words of factors and of hubs; where runs are damped, with
    /// room for inputs.
    pub(super) fn bytes(&self, with_words: bool, with_hub_words: bool, damped: bool) -> usize {
        let inputs = if damped { self.places.next_multiple_of(2) } else { 0 };
        let words = if with_words { self.words.count } else { 0 };
        let of_four = words
            + self.joined.count
            + self.constants.count
            + self.hubs.count
            + if with_hub_words { self.hub_words.count } else { 0 }
            + self.units.count;
        let places = self.places.next_multiple_of(2);
        let bytes = 8 * (places + inputs + self.constants.count) + 4 * of_four + self.variables;
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
    /// Number of pieces of large factors.
    pub factor_pieces: usize,
    /// The places of edges among the words.
    pub places: Vec<(u32, u32)>,
    pub homes: Vec<HomeShape>,
    /// Of units of factors rows of a word for each thread; the units: the first row (of the home's), and the kind.
    pub factors: Vec<u32>,
    pub factor_units: Vec<u32>,
    /// The place of each hub, and for each home the end.
    pub hubs: Vec<u32>,
    /// What factors with one variable send, and where to.
    pub constant_places: Vec<u32>,
    pub constants: Vec<EncodedMessage>,
}

impl FloodWork {
    /// For blocks of so many warps.
    pub(super) fn new(
        graph: &FactorGraph, layout: &Layout, homes: &Homes, warps: usize, gang: &Gang,
    ) -> Result<Self> {
        let mut all = Self::default();
        let large = LargeFactors::new(graph)?;
        all.factor_pieces = large.count();
        let teams = Teams::new(layout, homes, warps)?;
        let mut with_own_warps = large.units(graph, layout, gang)?;
        with_own_warps.try_extend(other_factors::units(
            graph,
            layout,
            homes.blocks * warps,
            gang,
        )?)?;
        let hub_words = all.add_shared_units(graph, layout, homes, &teams, with_own_warps, gang)?;
        // The factors of each home, and behind them those whose edge is at home with its variable.
        let count = homes.count();
        let own_warps = OwnWarps::new(graph);
        let home_of = |f| match graph.arity(f) {
            0 => count as u32,
            _ if own_warps.has(f) => count as u32,
            1 if home_of_single(graph, homes, f) != Home::Shared => count as u32,
            _ => homes.of_factor[f].into(),
        };
        let home_of_factor = computed(graph.factor_count(), gang, home_of)?;
        let (factors, starts) = counting_sort(&home_of_factor, count + 1, gang)?;
        let has_few = starts[count] as usize <= count * warps * WARP;
        let mut place_of_edge = zeroed(graph.edge_count())?;
        let maker = HomeMaker {
            graph,
            layout,
            homes,
            has_few,
            place_of_edge: SharedWords::new(&mut place_of_edge),
        };
        let made = all_parts(count, gang, |home| {
            let own = starts[home] as usize..starts[home + 1] as usize;
            maker.make(home, &factors[own])
        })?;
        let hub_words = hub_words.iter().flat_map(|words| std::iter::repeat_n(words, homes.turns));
        all.add_homes(made, hub_words, gang)?;
        all.add_constants(graph, layout, homes, &place_of_edge)?;
        Ok(all)
    }

    /// Adds what homes have, that of each behind that of the one before, given where the words of hubs are of its block.
    fn add_homes<'a>(
        &mut self, made: Vec<HomeWork>, hub_words: impl Iterator<Item = &'a HomePart>, gang: &Gang,
    ) -> Result<()> {
        let sum = |of: fn(&HomeWork) -> usize| made.iter().map(of).sum::<usize>();
        let joined = sum(|home| home.joined.len());
        let mut words = longer(&self.words, joined)?;
        let mut places = longer(&self.places, joined)?;
        self.factors = zeroed(sum(|home| home.words.len()))?;
        self.factor_units = zeroed(sum(|home| home.units.len()))?;
        self.hubs = zeroed(sum(|home| home.hubs.len()))?;
        self.homes.try_room(made.len())?;
        let mut rest = (
            &mut words[self.words.len()..],
            &mut places[self.places.len()..],
            &mut self.factors[..],
            &mut self.factor_units[..],
            &mut self.hubs[..],
        );
        let mut parts = room(made.len())?;
        let mut starts = [self.words.len(), 0, 0, 0];
        for (home, &hub_words) in made.into_iter().zip(hub_words) {
            let lengths = [home.joined.len(), home.words.len(), home.units.len(), home.hubs.len()];
            let [joined, words, units, hubs] =
                std::array::from_fn(|i| HomePart::new(starts[i], lengths[i]));
            self.homes.push(HomeShape { hub_words, joined, words, units, hubs, ..home.shape });
            let part = (
                split(&mut rest.0, lengths[0]),
                split(&mut rest.1, lengths[0]),
                split(&mut rest.2, lengths[1]),
                split(&mut rest.3, lengths[2]),
                split(&mut rest.4, lengths[3]),
            );
            parts.push((home, starts[0] as u32, part));
            (0..4).for_each(|i| starts[i] += lengths[i]);
        }
        gang.each(&mut parts, |(home, first, (words, places, factors, units, hubs))| {
            let joined = home.joined.iter().zip(words.iter_mut().zip(places.iter_mut()));
            for (at, (&(slot, edge), (word, place))) in (*first..).zip(joined) {
                (*word, *place) = (Source::Prepared.word(slot), (at, edge));
            }
            factors.copy_from_slice(&home.words);
            units.copy_from_slice(&home.units);
            hubs.copy_from_slice(&home.hubs);
        });
        drop(parts);
        (self.words, self.places) = (words, places);
        Ok(())
    }

    /// What factors with one variable send.
    fn add_constants(
        &mut self, graph: &FactorGraph, layout: &Layout, homes: &Homes, place_of_edge: &[u32],
    ) -> Result<()> {
        let mut of_homes = filled(homes.count(), Vec::new())?;
        let single = (0..graph.factor_count()).filter(|&f| graph.arity(f) == 1);
        for (f, &(_, message)) in single.zip(&layout.constants) {
            let home = match home_of_single(graph, homes, f) {
                Home::At(home) => home,
                _ => homes.of_factor[f],
            };
            let place = place_of_edge[graph.factor_edges(f).start];
            of_homes[home as usize].try_push((place, message))?;
        }
        for (shape, constants) in self.homes.iter_mut().zip(of_homes) {
            shape.constants = HomePart::new(self.constants.len(), constants.len());
            self.constant_places.try_extend(constants.iter().map(|&(place, _)| place))?;
            self.constants.try_extend(constants.iter().map(|&(_, message)| message))?;
        }
        Ok(())
    }

    /// Units that all blocks share, of hubs and the ones given of factors with warps of their own. Gives where the words of each block
    /// begin, and how many they are.
    fn add_shared_units(
        &mut self, graph: &FactorGraph, layout: &Layout, homes: &Homes, teams: &Teams,
        of_factors: Vec<Unit>, gang: &Gang,
    ) -> Result<Vec<HomePart>> {
        let warps = teams.warps;
        let mut of_warps: Vec<Vec<Unit>> = room(homes.blocks * warps)?;
        of_warps.resize_with(homes.blocks * warps, Vec::new);
        for kind in [FLOOD_MULTIPLY, FLOOD_SEND] {
            for (piece, unit) in pieces(graph, layout, kind, gang)?.into_iter().enumerate() {
                of_warps[teams.warp_of_piece(piece)].try_push(unit)?;
            }
        }
        for (piece, unit) in of_factors.into_iter().enumerate() {
            of_warps[teams.warp_of_piece_of_factor(piece)].try_push(unit)?;
        }
        let mut units: Vec<Unit> = Vec::new();
        for class in 1..layout.classes.len() - 1 {
            units.try_extend(small_hubs(graph, layout, homes, class, gang)?)?;
        }
        // Neighbouring units on different multiprocessors; to warps with pieces last, which take about as long.
        let by_turn = |turn: usize| turn % homes.blocks * warps + turn / homes.blocks;
        let spent = |turn| (of_warps[by_turn(turn)].len() / 2) as u32;
        let turns = deal(units.len(), (0..of_warps.len()).map(spent))?;
        for (unit, turn) in units.into_iter().zip(turns) {
            of_warps[by_turn(turn)].try_push(unit)?;
        }
        let of_blocks = of_warps.chunks(warps);
        let lengths = |units: &[Vec<Unit>]| {
            let all = units.iter().flatten();
            all.fold((0, 0), |(words, places), unit| {
                (words + unit.words.len(), places + unit.inputs.len())
            })
        };
        let lengths: Vec<(usize, usize)> = collected(of_blocks.clone().map(lengths))?;
        self.words = zeroed(lengths.iter().map(|(words, _)| words).sum())?;
        self.places = zeroed(lengths.iter().map(|(_, places)| places).sum())?;
        self.hub_starts = zeroed(homes.blocks * (warps * FLOOD_HUB_KINDS + 1))?;
        let starts = self.hub_starts.chunks_mut(warps * FLOOD_HUB_KINDS + 1);
        let (mut words, mut places) = (&mut self.words[..], &mut self.places[..]);
        let mut first = 0;
        let (mut parts, mut blocks) = (room(homes.blocks)?, room(homes.blocks)?);
        for ((units, starts), (length, inputs)) in of_blocks.zip(starts).zip(lengths) {
            let own = (split(&mut words, length), split(&mut places, inputs), starts);
            parts.push((units, first as u32, own));
            blocks.push(HomePart::new(first, length));
            first += length;
        }
        gang.each(&mut parts, |(units, first, (words, places, starts))| {
            set_block(units, *first, words, places, starts);
        });
        drop(parts);
        Ok(blocks)
    }
}

/// Sets what the warps of a block share with other blocks: their units one behind the other, given where these begin among all; the
/// places of edges; and the first row of each kind.
fn set_block(
    of_warps: &[Vec<Unit>], first: u32, words: &mut [u32], places: &mut [(u32, u32)],
    starts: &mut [u32],
) {
    let (mut next, mut places) = (0, places.iter_mut());
    let kinds =
        of_warps.iter().flat_map(|units| (0..FLOOD_HUB_KINDS).map(move |kind| (units, kind)));
    let mut starts = starts.iter_mut();
    for ((units, kind), start) in kinds.zip(starts.by_ref()) {
        *start = (next / WARP) as u32;
        for unit in units.iter().filter(|unit| unit.kind == kind) {
            words[next..next + unit.words.len()].copy_from_slice(&unit.words);
            for (&(at, edge), place) in unit.inputs.iter().zip(places.by_ref()) {
                *place = (first + next as u32 + at, edge);
            }
            next += unit.words.len();
        }
    }
    starts.for_each(|end| *end = (next / WARP) as u32);
}

/// The home of the variable of a factor with one.
fn home_of_single(graph: &FactorGraph, homes: &Homes, factor: usize) -> Home {
    let edge = graph.factor_edges(factor).start;
    homes.of_variable[graph.edge_variables()[edge] as usize]
}

/// A copy of a list with so many more items.
fn longer<T: AllZero + Copy>(list: &[T], more: usize) -> Result<Vec<T>> {
    let mut all = zeroed(list.len() + more)?;
    all[..list.len()].copy_from_slice(list);
    Ok(all)
}

/// So many items from the front of what is left.
fn split<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    rest.split_off_mut(..count).unwrap_or_default()
}

/// What one home has, as in [`FloodWork`]; of its shape not where its parts are among those of all.
struct HomeWork {
    shape: HomeShape,
    /// Slots and edges.
    joined: Vec<(u32, u32)>,
    hubs: Vec<u32>,
    units: Vec<u32>,
    words: Vec<u32>,
}

/// Whether something comes late, a number of 31 bits and one of 32, to sort by these as one word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SortKey(u64);

impl SortKey {
    fn new(is_late: bool, middle: u32, last: u32) -> Self {
        Self(u64::from(is_late) << 63 | u64::from(middle) << 32 | u64::from(last))
    }

    fn is_late(self) -> bool {
        self.0 >> 63 != 0
    }

    fn middle(self) -> u32 {
        (self.0 >> 32) as u32 & (u32::MAX >> 1)
    }

    fn last(self) -> u32 {
        self.0 as u32
    }
}

/// Makes what homes have, each on its own: an edge belongs to the home that has its factor, or, with a factor of one
/// variable that is at home, to that which has the variable.
struct HomeMaker<'a> {
    graph: &'a FactorGraph,
    layout: &'a Layout,
    homes: &'a Homes,
    /// Whether there are so few factors that those of several arities share tiles.
    has_few: bool,
    place_of_edge: SharedWords<'a>,
}

impl HomeMaker<'_> {
    /// That of a home with these factors.
    fn make(&self, home: usize, factors: &[u32]) -> Result<HomeWork> {
        let &Self { graph, layout, homes, .. } = self;
        let ranges = ranges(layout, homes, home as u16);
        for range in &ranges {
            let positions = range.position as usize..(range.position + range.count) as usize;
            for &v in &layout.variable[positions] {
                for &edge in graph.variable_edges(v as usize) {
                    let slot = layout.slot_of_edge[edge as usize];
                    self.place_of_edge.set(edge as usize, range.place + (slot - range.slot));
                }
            }
        }
        let last = ranges[HOME_CLASSES - 1];
        let mut shape = HomeShape {
            ranges,
            inbox: last.place + last.count,
            variables: last.index + last.count,
            ..HomeShape::default()
        };
        let mut joined: Vec<SortKey> = Vec::new();
        let mut by_kind: Vec<SortKey> = room(factors.len())?;
        for &f in factors {
            let mut is_late = false;
            for edge in graph.factor_edges(f as usize) {
                let v = graph.edge_variables()[edge] as usize;
                if homes.of_variable[v] == Home::Shared {
                    let is_large = graph.degree(v) > LARGE;
                    is_late |= is_large;
                    joined.try_push(SortKey::new(
                        is_large,
                        layout.slot_of_edge[edge],
                        edge as u32,
                    ))?;
                }
            }
            if graph.arity(f as usize) > 1 {
                by_kind.push(SortKey::new(is_late, self.kind(f as usize) as u32, f));
            }
        }
        joined.sort_unstable();
        by_kind.sort_unstable();
        for (place, joined) in (shape.inbox..).zip(&joined) {
            self.place_of_edge.set(joined.last() as usize, place);
        }
        shape.places = shape.inbox + joined.len() as u32;
        shape.early = joined.partition_point(|joined| !joined.is_late()) as u32;
        let mut home = HomeWork {
            hubs: self.hubs(&shape)?,
            joined: collected(joined.iter().map(|joined| (joined.middle(), joined.last())))?,
            units: Vec::new(),
            words: Vec::new(),
            shape,
        };
        self.add_factors(&by_kind, &mut home)?;
        Ok(home)
    }

    /// The kind of a factor's unit.
    fn kind(&self, factor: usize) -> usize {
        match self.graph.arity(factor) {
            2..=4 if self.has_few => FLOOD_UP_TO_FOUR,
            5..=TILE_ARITY if self.has_few => FLOOD_UP_TO_EIGHT,
            arity => (arity - 2).min(FLOOD_WIDE),
        }
    }

    /// The places of the hubs of a home, and where those of the other variables begin.
    fn hubs(&self, shape: &HomeShape) -> Result<Vec<u32>> {
        let (of_hubs, others) = shape.ranges.split_at(HOME_HUBS);
        let places = of_hubs.iter().flat_map(|range| {
            let hubs = range.position as usize..(range.position + range.count) as usize;
            self.layout.hub_slots[hubs].iter().map(|slot| range.place + slot - range.slot)
        });
        collected(places.chain([others[0].place]))
    }

    /// Units of a home's factors, which are sorted, early ones first, and then by kinds. Of these and of late ones, units
    /// that take longest come first.
    fn add_factors(&self, factors: &[SortKey], home: &mut HomeWork) -> Result<()> {
        let early = factors.partition_point(|factor| !factor.is_late());
        for stage in [&factors[..early], &factors[early..]] {
            home.shape.early_units = home.units.len() as u32;
            for same in stage.chunk_by(|a, b| a.middle() == b.middle()).rev() {
                let kind = same[0].middle() as usize;
                for unit in same.chunks(if kind == FLOOD_WIDE { 1 } else { WARP }) {
                    let row = (home.words.len() / WARP) as u32;
                    home.units
                        .try_push(factor_unit::ROW.put(row) | factor_unit::KIND.put(kind as u32))?;
                    self.add_unit(kind, unit, &mut home.words)?;
                }
            }
        }
        Ok(())
    }

    fn add_unit(&self, kind: usize, unit: &[SortKey], words: &mut Vec<u32>) -> Result<()> {
        let first = words.len();
        words.try_resize(first + rows(kind) * WARP, u32::MAX)?;
        let words = &mut words[first..];
        for (thread, f) in unit.iter().map(|factor| factor.last() as usize).enumerate() {
            let coefficients = self.layout.coefficients_of[f];
            for (row, edge) in Layout::edges_head_first(self.graph, f).enumerate() {
                let place = self.place_of_edge.get(edge);
                if kind == FLOOD_WIDE {
                    words[row] = place;
                    words[WARP + row] = coefficients;
                } else {
                    words[WARP * (row + 1) + thread] = place;
                    words[thread] = coefficients;
                }
            }
        }
        Ok(())
    }
}

/// The ranges of variables of each class that are at this home.
fn ranges(layout: &Layout, homes: &Homes, number: u16) -> [HomeRange; HOME_CLASSES] {
    let home = Home::At(number);
    let mut all = [HomeRange::default(); HOME_CLASSES];
    let (mut place, mut index) = (0, 0);
    let classes = layout.classes[1..].windows(2).chain(layout.few.windows(2));
    for (range, ends) in all.iter_mut().zip(classes) {
        // In a class, homes ascend.
        let of_class = &layout.variable[ends[0] as usize..ends[1] as usize];
        let first = of_class.partition_point(|&v| homes.of_variable[v as usize] < home);
        let of_later = &of_class[first..];
        let own = of_later.partition_point(|&v| homes.of_variable[v as usize] == home);
        (range.place, range.index) = (place, index);
        if let [v, ..] = of_later[..own] {
            range.position = ends[0] + first as u32;
            range.slot = layout.slots_of(v as usize).0;
            range.count = own as u32;
            let (slot, width) = layout.slots_of(of_later[own - 1] as usize);
            place += slot + width - range.slot;
            index += range.count;
        }
    }
    all
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

/// Of so many warps of a block that has one home, one has large hubs at most: the others see to variables at home meanwhile.
const TEAM_SHARE: usize = 4;

/// Which warps have large hubs: the last ones of blocks.
struct Teams {
    blocks: usize,
    warps: usize,
    pieces: usize,
    /// Most warps of a block.
    of_block: usize,
}

impl Teams {
    fn new(layout: &Layout, homes: &Homes, warps: usize) -> Result<Self> {
        let (pieces, blocks) = (layout.pieces()?.0.len(), homes.blocks);
        let most = if homes.take_turns { warps } else { warps.div_ceil(TEAM_SHARE) };
        let of_block = pieces.div_ceil(blocks).min(most);
        Ok(Self { blocks, warps, pieces, of_block })
    }

    /// Neighbouring ones on different multiprocessors.
    fn warp_of_piece(&self, piece: usize) -> usize {
        let (block, turn) = (piece % self.blocks, piece / self.blocks);
        (block + 1) * self.warps - 1 - turn % self.of_block
    }

    /// The same of a factor's piece: each warp has some, those without large hubs first.
    fn warp_of_piece_of_factor(&self, piece: usize) -> usize {
        let turn = self.pieces + piece;
        (turn % self.blocks + 1) * self.warps - 1 - turn / self.blocks % self.warps
    }
}
