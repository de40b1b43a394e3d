//! What blocks do in passes in which all messages are sent at once, read as cuda/engine/binary_flood.cuh and
//! binary_home.cuh read it.

use super::super::flood::{FloodWork, rows};
use super::super::homes::{Home, Homes, OrderAlongVariables};
use super::super::housing::least_bytes;
use super::*;
use crate::engine::cuda::interface::binary::{
    FLOOD_HUB_KINDS, FLOOD_HUBS, FLOOD_LARGE_FACTORS, FLOOD_MULTIPLY, FLOOD_OTHER_FACTORS,
    FLOOD_SMALL_TABLES, FLOOD_UP_TO_EIGHT, FLOOD_UP_TO_FOUR, FLOOD_WIDE, HOME_HUBS, HomePart,
    HomeRange, HomeShape, NODE_NONE, SMALL_TABLE,
};
use crate::engine::cuda::interface::words::{factor_unit, hub_unit};
use crate::engine::limits::{has_own_warps, is_small_table};
use std::collections::{BTreeMap, HashSet};

/// Everything of blocks of so many warps, of which each has a part.
struct Parts<'a> {
    laid: &'a Laid<'a>,
    homes: &'a Homes,
    all: &'a FloodWork,
    warps: usize,
}

fn part<T>(all: &[T], HomePart { first, count }: HomePart) -> &[T] {
    &all[first as usize..(first + count) as usize]
}

impl Parts<'_> {
    /// The rows of a block's units by warp and kind, of so many kinds.
    fn starts<'a>(&self, starts: &'a [u32], block: usize, kinds: usize) -> &'a [u32] {
        let count = self.warps * kinds + 1;
        let own = &starts[block * count..(block + 1) * count];
        assert!(own[0] == 0 && own.is_sorted());
        own
    }

    fn edge(&self, slot: u32) -> Option<usize> {
        self.laid.edge_of_slot[slot as usize]
    }

    /// The edge of each place of a home: those of variables that are at home, as slots lie, then others.
    fn edges_of_places(&self, block: usize, shape: &HomeShape) -> Vec<Option<usize>> {
        let layout = self.laid.layout;
        let mut edges = Vec::new();
        let mut variables = 0;
        for (class, range) in shape.ranges.iter().enumerate() {
            assert_eq!((range.place as usize, range.index), (edges.len(), variables));
            variables += range.count;
            let mut slot = range.slot;
            for position in range.position..range.position + range.count {
                let v = layout.variable[position as usize] as usize;
                assert_eq!(self.homes.of_variable[v], Home::At(block as u16));
                let (first, width) = layout.slots_of(v);
                assert_eq!(first, slot);
                match class.checked_sub(HOME_HUBS) {
                    Some(few) => assert_eq!(width, 4 >> few),
                    None => assert_eq!(edges.len() % 8, 0),
                }
                edges.extend((first..first + width).map(|slot| self.edge(slot)));
                slot += width;
            }
        }
        assert_eq!((shape.inbox as usize, shape.variables), (edges.len(), variables));
        let joined = part(&self.all.words, shape.joined);
        edges.extend(joined.iter().map(|word| {
            assert_eq!(*word, Source::Prepared.word(input::SLOT.get(*word)));
            self.edge(input::SLOT.get(*word))
        }));
        assert_eq!(shape.places as usize, edges.len());
        edges
    }

    /// The places of hubs that are at home.
    fn check_hubs_at_home(&self, shape: &HomeShape) {
        let layout = self.laid.layout;
        let ranges = &shape.ranges[..HOME_HUBS];
        let place =
            |range: &HomeRange, hub: u32| range.place + layout.hub_slots[hub as usize] - range.slot;
        let hubs = ranges.iter().flat_map(|range| {
            (range.position..range.position + range.count).map(move |hub| place(range, hub))
        });
        let end = std::iter::once(shape.ranges[HOME_HUBS].place);
        assert!(part(&self.all.hubs, shape.hubs).iter().copied().eq(hubs.chain(end)));
    }

    /// The factors of a block, each by its edges, the head's first.
    fn factors(&self, block: usize, shape: &HomeShape) -> Vec<Vec<usize>> {
        let edges = self.edges_of_places(block, shape);
        let words = part(&self.all.factors, shape.words);
        let units = part(&self.all.factor_units, shape.units);
        let mut factors = Vec::new();
        let mut next = 0;
        for (at, unit) in units.iter().enumerate() {
            let (kind, is_late) =
                (factor_unit::KIND.get(*unit) as usize, at >= shape.early_units as usize);
            let row = factor_unit::ROW.get(*unit) as usize;
            assert_eq!(row, next);
            next += rows(kind);
            let unit = &words[row * WARP..next * WARP];
            for (coefficients, places) in factors_of(unit, kind) {
                assert!(match kind {
                    FLOOD_WIDE => places.len() > 8,
                    FLOOD_UP_TO_FOUR => (2..=4).contains(&places.len()),
                    FLOOD_UP_TO_EIGHT => (5..=8).contains(&places.len()),
                    _ => places.len() == kind + 2,
                });
                let own: Vec<usize> =
                    places.iter().map(|&place| edges[place as usize].unwrap()).collect();
                let factor = self.laid.graph.edge_factors()[own[0]] as usize;
                assert_eq!(coefficients, self.laid.layout.coefficients_of[factor]);
                let joins_late = places.iter().any(|&place| place >= shape.inbox + shape.early);
                assert_eq!(is_late, joins_late);
                factors.push(own);
            }
        }
        assert_eq!(words.len(), next * WARP);
        factors
    }

    fn check_constants(&self, block: usize, shape: &HomeShape) {
        let edges = self.edges_of_places(block, shape);
        let places = part(&self.all.constant_places, shape.constants);
        let messages = part(&self.all.constants, shape.constants);
        for (&place, &message) in places.iter().zip(messages) {
            let slot = self.laid.layout.slot_of_edge[edges[place as usize].unwrap()];
            assert!(self.laid.layout.constants.contains(&(slot, message)));
        }
        let single = |edge: &&Option<usize>| {
            edge.is_some_and(|e| {
                self.laid.graph.arity(self.laid.graph.edge_factors()[e] as usize) == 1
            })
        };
        assert_eq!(edges.iter().filter(single).count(), places.len());
    }
}

/// The number of coefficients and the places of each factor of a unit.
fn factors_of(unit: &[u32], kind: usize) -> Vec<(u32, Vec<u32>)> {
    let rows: Vec<&[u32]> = unit.chunks(WARP).collect();
    if kind == FLOOD_WIDE {
        let places: Vec<u32> =
            rows[0].iter().copied().take_while(|&place| place != NOTHING).collect();
        assert!(rows[0][places.len()..].iter().all(|&place| place == NOTHING));
        assert!(rows[1][..places.len()].iter().all(|&number| number == rows[1][0]));
        return vec![(rows[1][0], places)];
    }
    let factor = |thread: usize| {
        let mut places: Vec<u32> = rows[1..].iter().map(|row| row[thread]).collect();
        assert!(rows[0][thread] != NOTHING || places.iter().all(|&place| place == NOTHING));
        if kind == FLOOD_UP_TO_FOUR || kind == FLOOD_UP_TO_EIGHT {
            places
                .truncate(places.iter().position(|&place| place == NOTHING).unwrap_or(rows.len()));
        }
        (rows[0][thread], places)
    };
    (0..WARP).map(factor).filter(|&(number, _)| number != NOTHING).collect()
}

/// What units of hubs of all blocks read.
#[derive(Default)]
struct Hubs {
    /// The first slots of eights whose messages are sent, and of those in pieces that are multiplied.
    sent: Vec<u32>,
    multiplied: Vec<u32>,
}

impl Hubs {
    fn add(&mut self, unit: &[u32], kind: usize, laid: &Laid<'_>) {
        let layout = laid.layout;
        let word = |thread: usize| Some(unit[2 * thread]).filter(|&word| word != NOTHING);
        let number = |thread: usize| hub_unit::NUMBER.get(unit[2 * thread + 1]);
        let slots: Vec<Option<u32>> = (0..WARP)
            .map(|thread| {
                let word = word(thread)?;
                assert_eq!(word, Source::Prepared.word(input::SLOT.get(word)));
                Some(input::SLOT.get(word))
            })
            .collect();
        for (thread, slot) in slots.iter().enumerate() {
            let is_edge = |slot: u32| laid.edge_of_slot[slot as usize].is_some();
            for i in 0..8 {
                let is_marked = hub_unit::EDGES.get(unit[2 * thread + 1]) >> i & 1 == 1;
                assert_eq!(is_marked, slot.is_some_and(|slot| is_edge(slot + i)));
            }
        }
        let all = if kind == FLOOD_MULTIPLY { &mut self.multiplied } else { &mut self.sent };
        all.extend(slots.iter().flatten());
        let hub_at = |slot| layout.hub_slots.partition_point(|&first| first <= slot) - 1;
        if kind == FLOOD_HUBS {
            let width = 1 << number(0);
            assert!((0..WARP).all(|thread| 1 << number(thread) == width));
            for group in slots.chunks(width) {
                let Some(first) = group[0] else {
                    assert!(group.iter().all(Option::is_none));
                    continue;
                };
                let hub = hub_at(first);
                let own = layout.hub_slots[hub]..layout.hub_slots[hub + 1];
                assert!(width == 1 || own.len() > 4 * width);
                assert!(group.iter().flatten().copied().eq(own.step_by(8)));
            }
        } else {
            let (hubs, starts) = layout.pieces().unwrap();
            let [own, first, end] = [0, 1, 2].map(number);
            let hub = hubs[own as usize] as usize;
            assert_eq!([first, end], starts[hub..hub + 2]);
            let start = layout.hub_slots[hub] + 256 * (own - first);
            let slots_end = layout.hub_slots[hub + 1].min(start + 256);
            assert!(slots.into_iter().flatten().eq((start..slots_end).step_by(8)));
        }
    }

    /// All hubs of all blocks send, once, and pieces of large ones are multiplied. Returns the number of inputs.
    fn check(mut self, layout: &Layout, homes: &Homes) -> usize {
        let is_shared =
            |hub: &usize| homes.of_variable[layout.variable[*hub] as usize] == Home::Shared;
        let eights = |hub: usize| (layout.hub_slots[hub]..layout.hub_slots[hub + 1]).step_by(8);
        let shared = (0..layout.hubs()).filter(is_shared).flat_map(eights);
        self.sent.sort_unstable();
        assert!(self.sent.iter().copied().eq(shared));
        self.multiplied.sort_unstable();
        let end = layout.hub_slots[layout.classes[1] as usize];
        assert!(self.multiplied.iter().copied().eq((0..end).step_by(8)));
        self.sent.len() + self.multiplied.len()
    }
}

/// The pieces of large factors by their numbers: of each the words of its unit.
#[derive(Default)]
struct PiecesOfFactors(BTreeMap<u32, Vec<u32>>);

impl PiecesOfFactors {
    /// Adds the units of a warp.
    fn add(&mut self, mut units: &[u32]) {
        while !units.is_empty() {
            let rounds = units[2 * 4 + 1] as usize;
            assert!((1..=WARP).contains(&rounds));
            let (unit, others) = units.split_at(2 * WARP * (1 + rounds));
            assert!(self.0.insert(unit[1], unit.to_vec()).is_none(), "a piece twice");
            units = others;
        }
    }

    /// Counts what they send. Returns the number of inputs.
    fn check(&self, laid: &Laid<'_>, all: &FloodWork, times: &mut [usize]) -> usize {
        let graph = laid.graph;
        assert!(self.0.keys().copied().eq(0..all.factor_pieces as u32));
        let signs = graph.coefficients().unwrap();
        let edge = |word: u32| {
            assert_eq!(word, Source::Prepared.word(input::SLOT.get(word)));
            laid.edge_of_slot[input::SLOT.get(word) as usize].unwrap()
        };
        let mut inputs = 0;
        let mut next = 0;
        let mut factors = HashSet::new();
        while let Some(unit) = self.0.get(&next) {
            let [first, end, coefficients] = [3, 5, 7].map(|at| unit[at]);
            assert_eq!(first, next);
            let factor = graph.edge_factors()[edge(unit[0])] as usize;
            assert!(factors.insert(factor));
            assert_eq!(coefficients, laid.layout.coefficients_of[factor]);
            let parameter = graph.conjunction_parameter(factor).unwrap();
            let mut own = vec![edge(unit[0])];
            for piece in first..end {
                let of_piece = &self.0[&piece];
                assert_eq!(
                    [0, 3, 5, 7].map(|at| of_piece[at]),
                    [unit[0], first, end, coefficients]
                );
                assert!(piece + 1 == end || of_piece.len() == unit.len());
                let literals = of_piece[2 * WARP..].chunks(2).take_while(|word| word[0] != NOTHING);
                for word in literals {
                    let edge = edge(word[0]);
                    let position = edge - graph.factor_edges(factor).start;
                    assert_eq!(word[1] == 1, signs[parameter].is_negated(position));
                    own.push(edge);
                }
                inputs += 1;
            }
            assert!((unit[2 * 4 + 1]).is_power_of_two() || end - first == 1);
            assert!(own.iter().copied().eq(Layout::edges_head_first(graph, factor)));
            inputs += own.len() - 1;
            own.into_iter().for_each(|edge| times[edge] += 1);
            next = end;
        }
        let large = (0..graph.factor_count()).filter(|&f| graph.arity(f) > 32);
        assert_eq!(factors.len(), large.count());
        inputs
    }
}

/// Factors that are no conjunctions: what units of small tables and of others send.
#[derive(Default)]
struct OtherFactors(HashSet<usize>);

impl OtherFactors {
    /// Adds a unit of factors of so many threads each, and counts what it sends. Returns the number of inputs.
    fn add(&mut self, laid: &Laid<'_>, unit: &[u32], threads: usize, times: &mut [usize]) -> usize {
        let mut inputs = 0;
        for (at, of_factor) in unit.chunks(2 * threads).enumerate() {
            let number = of_factor[1];
            assert!(of_factor.chunks(2).all(|words| words[1] == number));
            let words: Vec<u32> = of_factor.chunks(2).map(|words| words[0]).collect();
            let count = words.iter().take_while(|&&word| word != NOTHING).count();
            assert!(words[count..].iter().all(|&word| word == NOTHING));
            if number == NODE_NONE {
                assert!(count == 0 && at > 0, "an empty place");
                continue;
            }
            let factor = laid.layout.other_factors[number as usize] as usize;
            assert_eq!(threads == SMALL_TABLE, is_small_table(laid.graph, factor));
            let slots = words[..count].iter().map(|&word| {
                assert_eq!(word, Source::Prepared.word(input::SLOT.get(word)));
                input::SLOT.get(word) as usize
            });
            let edges: Vec<usize> = slots.map(|slot| laid.edge_of_slot[slot].unwrap()).collect();
            assert!(edges.iter().copied().eq(laid.graph.factor_edges(factor)));
            assert!(self.0.insert(factor), "factor {factor} twice");
            edges.into_iter().for_each(|edge| times[edge] += 1);
            inputs += count;
        }
        inputs
    }
}

/// Everything is sent once, by units of its kind, at its home.
pub(super) fn check_flood(
    graph: &FactorGraph, [blocks, warps]: [usize; 2], turns: usize, edges_of_block: usize,
) {
    let order = &mut OrderAlongVariables::default();
    let shape = [blocks, turns];
    let homes = Homes::new(graph, shape, edges_of_block, order, &Gang::of(2)).unwrap().unwrap();
    assert_eq!(homes.turns, turns);
    check_homes(graph, &homes, blocks);
    let layout = Layout::new(graph, Some(&homes), &Gang::of(2)).unwrap().unwrap();
    check_layout(graph, &layout, Some(&homes));
    let laid = Laid::new(graph, &layout);
    let all = FloodWork::new(graph, &layout, &homes, warps, &Gang::of(2)).unwrap();
    let parts = Parts { laid: &laid, homes: &homes, all: &all, warps };
    laid.check_places(&all.words, input::SLOT, &all.places);
    assert_eq!(all.homes.len(), homes.blocks * turns);
    for damped in [false, true] {
        let largest = all.homes.iter().map(|home| home.bytes(true, false, damped)).max();
        assert!(least_bytes(graph, &homes, damped, &Gang::of(3)).unwrap() <= largest.unwrap());
    }
    let mut times = vec![0; graph.edge_count()];
    let mut hubs = Hubs::default();
    let mut of_factors = PiecesOfFactors::default();
    let (mut others, mut of_others) = (OtherFactors::default(), 0);
    let mut joined = 0;
    for (home, shape) in all.homes.iter().enumerate() {
        for edges in parts.factors(home, shape) {
            let factor = graph.edge_factors()[edges[0]] as usize;
            assert!(edges.iter().copied().eq(Layout::edges_head_first(graph, factor)));
            assert_eq!(homes.of_factor[factor] as usize, home);
            edges.into_iter().for_each(|edge| times[edge] += 1);
        }
        parts.check_hubs_at_home(shape);
        parts.check_constants(home, shape);
        joined += shape.joined.count as usize;
        let early = part(&all.words, HomePart { count: shape.early, ..shape.joined });
        let end_of_large = layout.hub_slots[layout.classes[1] as usize];
        assert!(early.iter().all(|&word| input::SLOT.get(word) >= end_of_large));
        let late = part(&all.words, shape.joined)[shape.early as usize..].iter();
        assert!(late.clone().all(|&word| input::SLOT.get(word) < end_of_large));
        // Words of hubs are of the block.
        let block = home / turns;
        assert_eq!(shape.hub_words, all.homes[block * turns].hub_words);
        if home % turns != 0 {
            continue;
        }
        let words = part(&all.words, shape.hub_words);
        let starts = parts.starts(&all.hub_starts, block, FLOOD_HUB_KINDS);
        assert_eq!(*starts.last().unwrap() as usize * WARP, words.len());
        for (at, ends) in starts.windows(2).enumerate() {
            let own = &words[ends[0] as usize * WARP..ends[1] as usize * WARP];
            assert_eq!(own.len() % (2 * WARP), 0);
            let kind = at % FLOOD_HUB_KINDS;
            if kind == FLOOD_LARGE_FACTORS {
                of_factors.add(own);
                continue;
            }
            for unit in own.chunks(2 * WARP) {
                match kind {
                    FLOOD_SMALL_TABLES => {
                        of_others += others.add(&laid, unit, SMALL_TABLE, &mut times);
                    }
                    FLOOD_OTHER_FACTORS => of_others += others.add(&laid, unit, WARP, &mut times),
                    _ => hubs.add(unit, kind, &laid),
                }
            }
        }
    }
    let inputs = of_factors.check(&laid, &all, &mut times);
    laid.check_counts(&times);
    assert_eq!(all.places.len(), joined + hubs.check(&layout, &homes) + inputs + of_others);
}

/// Variables are at home where all their factors are.
fn check_homes(graph: &FactorGraph, homes: &Homes, blocks: usize) {
    assert!((1..=blocks).contains(&homes.blocks));
    for v in 0..graph.variable_count() {
        let factors = graph.variable_edges(v).iter().map(|&e| graph.edge_factors()[e as usize]);
        let (mut of_factors, mut of_singles) = (Vec::new(), Vec::new());
        let has_own_warps = factors.clone().any(|f| has_own_warps(graph, f as usize));
        for f in factors.map(|f| f as usize) {
            let list = if graph.arity(f) > 1 { &mut of_factors } else { &mut of_singles };
            list.push(homes.of_factor[f]);
        }
        of_factors.sort_unstable();
        of_factors.dedup();
        let home = match (&of_factors[..], &of_singles[..]) {
            ([], []) => Home::Nowhere,
            _ if has_own_warps => Home::Shared,
            (&[block], _) | (&[], &[block, ..]) if graph.degree(v) <= 256 => Home::At(block),
            _ => Home::Shared,
        };
        assert_eq!(homes.of_variable[v], home, "variable {v}");
    }
}
