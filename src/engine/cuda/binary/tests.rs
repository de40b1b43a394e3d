//! Layouts and streams, read as cuda/engine/stream.cuh, binary_factors.cuh and binary_levels.cuh read them.

use super::items::{LevelStreams, LevelUnits, WIDE_LEVEL};
use super::layout::{COUNTED, Layout, SLOT_MASK, Source, WARP, flood_streams};
use super::streams::{CHUNK_WORDS, RING_BYTES, StreamWords};
use crate::generate;
use crate::model::{FactorGraph, FactorGraphBuilder};
use crate::schedule::{Preorder, Schedule, Storage, analyse};
use proptest::prelude::*;

const EMPTY: u32 = 0;
const TILE: u32 = 1;
const ITEM: u32 = 2;
const END_OF_PASS: u32 = 2;
const END_MASK: u32 = 15;
const COMPLETES: u32 = 1 << 4;
const WAITS: u32 = 1 << 5;
const COMPLETIONS_SHIFT: u32 = 6;
const SENT: u32 = 1 << 8;
const NEGATED: u32 = 1 << 9;
const NUMBER_SHIFT: u32 = 12;
const LISTED: u32 = 1 << 31;
const LEAF_NEW: u32 = 1 << 28;
const LEAF_SHIFT: u32 = 29;
const NOTHING: u32 = u32::MAX;

/// A factor as a stream has it: its inputs, the head's first.
struct Sending {
    coefficients: u32,
    inputs: Vec<Input>,
}

struct Input {
    word: u32,
    /// Which of the variable's messages are new ones.
    fresh: Fresh,
    flags: u32,
}

enum Fresh {
    Bits(u32),
    /// As `fresh` of binary_levels.cuh's load_hub.
    Hub(u32),
    /// What threads read, and which of them is at the slot that the factor sends to.
    Gathered(Vec<u32>, usize),
}

/// What one warp does next.
enum Event {
    Sends(Vec<Sending>),
    /// It waits until warps have completed narrow levels so many times.
    Waits(u32),
    Completes,
    /// How often it meets all blocks; 0 for the narrow ones.
    Meets(usize),
}

/// What a warp does in a pass.
fn events(all: &StreamWords, warp: usize, by_levels: bool) -> Vec<Event> {
    let [begin, end] = [all.starts[warp], all.starts[warp + 1]].map(|c| c as usize * CHUNK_WORDS);
    let mut stream = &all.words[begin..end];
    let mut events = Vec::new();
    loop {
        let head = stream[0];
        let length = 4 * (head >> 16) as usize;
        assert!(0 < length && length <= RING_BYTES as usize / 4 && length <= stream.len());
        let (unit, rest) = stream.split_at(length);
        stream = rest;
        let (arity, count) = ((head >> 2 & 63) as usize, (head >> 8 & 63) as usize);
        if unit[3] & WAITS != 0 {
            events.push(Event::Waits(unit[3] >> COMPLETIONS_SHIFT));
        }
        match head % 4 {
            EMPTY => {}
            TILE if by_levels => events.push(Event::Sends(level_tile(unit, arity, count))),
            TILE => events.push(Event::Sends(flood_tile(unit, arity))),
            ITEM if !by_levels => {
                assert_eq!(count, 1);
                let inputs = unit[4..4 + arity].iter().map(|&word| sent(word)).collect();
                events.push(Event::Sends(vec![Sending { coefficients: unit[1], inputs }]));
            }
            ITEM => events.push(Event::Sends(vec![level_item(unit, arity)])),
            _ => events.push(Event::Sends(gathered(unit, arity, count))),
        }
        if unit[3] & COMPLETES != 0 {
            events.push(Event::Completes);
        }
        if unit[3] & END_MASK != 0 {
            assert!(unit[3] >> 2 & 3 < 3 && unit[3] % 4 < 3);
            events.push(Event::Meets((unit[3] >> 2 & 3) as usize));
            if unit[3] % 4 == END_OF_PASS {
                assert!(stream.is_empty(), "an end of a pass in the middle");
                return events;
            }
        }
    }
}

fn sent(word: u32) -> Input {
    Input { word, fresh: Fresh::Bits(0), flags: SENT }
}

fn flood_tile(unit: &[u32], arity: usize) -> Vec<Sending> {
    let of_lane = |lane: usize| {
        let words: Vec<u32> = (1..=arity).map(|row| unit[4 + WARP * row + lane]).collect();
        let coefficients = unit[4 + lane];
        if coefficients == NOTHING {
            assert!(words.iter().all(|&word| word == NOTHING));
            return None;
        }
        Some(Sending { coefficients, inputs: words.into_iter().map(sent).collect() })
    };
    (0..WARP).filter_map(of_lane).collect()
}

fn level_tile(unit: &[u32], arity: usize, count: usize) -> Vec<Sending> {
    let input = |lane: usize, at: usize| {
        let second = unit[4 + count * (2 * at + 2) + lane];
        let word = unit[4 + count * (2 * at + 1) + lane];
        Input { word, fresh: Fresh::Bits(second & 0xff), flags: second & SENT }
    };
    let of_lane = |lane| Sending {
        coefficients: unit[4 + lane],
        inputs: (0..arity).map(|at| input(lane, at)).collect(),
    };
    (0..count).map(of_lane).collect()
}

/// One factor, its head last; behind its inputs those that are hubs once more, the small ones first.
fn level_item(unit: &[u32], arity: usize) -> Sending {
    let [small, large] = [unit[2] & 0xff, unit[2] >> 8];
    let mut hubs = 0;
    let input = |at: usize| {
        let words = &unit[4 + 4 * at..8 + 4 * at];
        let mut fresh = Fresh::Bits(words[1]);
        if Source::is_hub_in(words[0]) {
            let number = words[3] >> NUMBER_SHIFT;
            let record = &unit[4 + 4 * (arity + number as usize)..][..4];
            assert_eq!((record[0], record[2]), (words[0] & SLOT_MASK, words[2]));
            assert_eq!(number < small, record[3] <= 64, "a hub of {} slots", record[3]);
            fresh = Fresh::Hub(record[1]);
            hubs += 1;
        }
        Input { word: words[0], fresh, flags: words[3] & (SENT | NEGATED) }
    };
    let mut inputs: Vec<Input> = (0..arity).map(input).collect();
    assert_eq!(hubs, small + large);
    inputs.rotate_right(1);
    Sending { coefficients: unit[1], inputs }
}

fn gathered(unit: &[u32], most: usize, levels: usize) -> Vec<Sending> {
    let width = 1 << levels;
    let [rounds, height] = [unit[1] as usize & 0xff, unit[1] as usize >> 8];
    assert!((1..=8).contains(&rounds) && height <= 6 && most <= width && width <= WARP);
    assert!(unit.len() >= 4 + (2 + rounds) * WARP);
    let leaves = &unit[4 + 2 * WARP..4 + (2 + rounds) * WARP];
    let mut sendings = Vec::new();
    for first in (0..WARP).step_by(width) {
        let used: Vec<[u32; 2]> = (first..first + width)
            .map(|lane| [unit[4 + lane], unit[4 + WARP + lane]])
            .filter(|words| words[0] != NOTHING)
            .collect();
        if used.is_empty() {
            continue;
        }
        assert!(used.len() >= 2 && used.len() <= most && unit[4 + first + width - 1] != NOTHING);
        let coefficients = used[0][1] >> NUMBER_SHIFT;
        assert!(used.iter().all(|words| words[1] >> NUMBER_SHIFT == coefficients));
        let input = |&[word, second]: &[u32; 2]| {
            let flags = second & (SENT | NEGATED);
            if Source::is_none_in(word) {
                return Input { word, fresh: Fresh::Bits(0), flags };
            }
            let own = (second & 0xff) as usize;
            let threads = 1_usize << (leaves[own] >> LEAF_SHIFT);
            assert!(leaves[own] & SLOT_MASK != SLOT_MASK && threads <= 1 << height);
            let begin = own / threads * threads;
            let read = leaves[begin..begin + threads].to_vec();
            assert!(read.iter().all(|&leaf| 1 << (leaf >> LEAF_SHIFT) == threads));
            Input { word, fresh: Fresh::Gathered(read, own - begin), flags }
        };
        let mut inputs: Vec<Input> = used.iter().map(input).collect();
        inputs.rotate_right(1);
        sendings.push(Sending { coefficients, inputs });
    }
    sendings
}

/// A graph with its layout, and the edge of each slot.
struct Laid<'a> {
    graph: &'a FactorGraph,
    layout: &'a Layout,
    edge_of_slot: Vec<Option<usize>>,
}

impl<'a> Laid<'a> {
    fn new(graph: &'a FactorGraph, layout: &'a Layout) -> Self {
        let mut edge_of_slot = vec![None; layout.slots];
        for (edge, &slot) in layout.slot_of_edge.iter().enumerate() {
            assert!(edge_of_slot[slot as usize].replace(edge).is_none(), "slot {slot} twice");
        }
        Self { graph, layout, edge_of_slot }
    }

    /// The edges of a factor in a stream, which is checked to be whole.
    fn edges(&self, sending: &Sending) -> Vec<usize> {
        let slot = |input: &Input| (input.word & SLOT_MASK) as usize;
        let edges: Vec<usize> =
            sending.inputs.iter().map(|input| self.edge_of_slot[slot(input)].unwrap()).collect();
        let factor = self.graph.edge_factors()[edges[0]] as usize;
        assert!(edges.iter().copied().eq(Layout::edges_head_first(self.graph, factor)));
        assert_eq!(sending.coefficients, self.layout.coefficients_of[factor]);
        edges
    }

    /// Chunks, places of inputs, and what is common to all streams.
    fn check_words(&self, all: &StreamWords, warps: usize) {
        assert_eq!(all.starts.len(), warps + 1);
        assert!(all.starts[0] == 0 && all.starts.is_sorted_by(|a, b| a < b));
        assert_eq!(all.starts[warps] as usize * CHUNK_WORDS, all.words.len());
        for &(place, edge) in &all.places {
            let word = all.words[place as usize];
            assert_eq!(word & SLOT_MASK, self.layout.slot_of_edge[edge as usize]);
        }
    }

    /// Counts what is sent: each message of a factor with several variables, and only once.
    fn check_counts(&self, sent: &[usize]) {
        for (edge, &times) in sent.iter().enumerate() {
            let factor = self.graph.edge_factors()[edge] as usize;
            let wanted = usize::from(self.graph.arity(factor) > 1);
            assert_eq!(times, wanted, "edge {edge} of a factor of {}", self.graph.arity(factor));
        }
    }

    fn source(&self, edge: usize, eight: bool) -> Source {
        let variable = self.graph.edge_variables()[edge] as usize;
        match self.graph.degree(variable) {
            1 => Source::None,
            2 => Source::Two,
            3 | 4 => Source::Four,
            5..=8 if eight => Source::Eight,
            _ if eight => Source::Hub,
            _ => Source::Prepared,
        }
    }
}

/// Slots of a variable are its own, as many as it has factors at least, and lie as kernels expect it.
fn check_layout(graph: &FactorGraph, layout: &Layout) {
    let count = graph.variable_count();
    assert_eq!((layout.variable.len(), layout.position.len()), (count, count));
    let mut owner = vec![None; layout.slots];
    for v in 0..count {
        assert_eq!(layout.variable[layout.position[v] as usize] as usize, v);
        let (first, width) = layout.slots_of(v);
        assert!(width as usize >= graph.degree(v));
        if width > 0 {
            let alignment = if width > 4 { 8 } else { width };
            assert!(first % alignment == 0 && width % alignment == 0, "{first}, {width}");
        }
        for slot in first..first + width {
            assert!(owner[slot as usize].replace(v).is_none(), "slot {slot} has two variables");
        }
        let slots = graph.variable_edges(v).iter().map(|&e| layout.slot_of_edge[e as usize]);
        assert!(slots.eq(first..first + graph.degree(v) as u32));
    }
    let constants = layout.constants.iter().map(|&(slot, _)| slot);
    let priors = (0..graph.factor_count()).filter(|&f| graph.arity(f) == 1);
    assert!(constants.eq(priors.map(|f| layout.slot_of_edge[graph.factor_edges(f).start])));
    // Each class of hubs has those whose threads take all of their messages.
    let limits = [usize::MAX, 256, 128, 64, 32, 16, 8];
    for (class, limit) in limits.into_iter().enumerate() {
        for position in layout.classes[class]..layout.classes[class + 1] {
            let degree = graph.degree(layout.variable[position as usize] as usize);
            let least = limits.get(class + 1).map_or(0, |&next| next + 1);
            assert!((least..=limit).contains(&degree), "class {class}: {degree}");
        }
    }
    assert_eq!(layout.classes[7] as usize, layout.hubs());
}

fn check_flood(graph: &FactorGraph, layout: &Layout, blocks: usize, warps: usize) {
    let laid = Laid::new(graph, layout);
    let all = flood_streams(graph, layout, blocks, warps);
    laid.check_words(&all, blocks * warps);
    let mut times = vec![0; graph.edge_count()];
    let mut counted = vec![0; graph.variable_count()];
    for warp in 0..blocks * warps {
        for event in events(&all, warp, false) {
            let sendings = match event {
                Event::Sends(sendings) => sendings,
                Event::Meets(times) => {
                    assert_eq!(times, 1);
                    continue;
                }
                _ => panic!("passes without levels do not wait for some"),
            };
            for sending in &sendings {
                for (edge, input) in laid.edges(sending).into_iter().zip(&sending.inputs) {
                    times[edge] += 1;
                    let counts = input.word & COUNTED != 0;
                    counted[graph.edge_variables()[edge] as usize] += usize::from(counts);
                    let source = laid.source(edge, false);
                    assert_eq!(input.word & !COUNTED, source.word(input.word & SLOT_MASK));
                }
            }
        }
    }
    laid.check_counts(&times);
    assert_eq!(all.places.len(), times.iter().sum::<usize>());
    for (v, &times) in counted.iter().enumerate() {
        let (few, factors) = (graph.degree(v) <= 4, graph.variable_edges(v).iter());
        let sends = |&e: &u32| graph.arity(graph.edge_factors()[e as usize] as usize) > 1;
        assert_eq!(times, usize::from(few && factors.copied().any(|e| sends(&e))), "variable {v}");
    }
}

/// The levels of a preorder on so many blocks, of which the first `narrow` ones run the narrow ones.
fn check_levels(
    graph: &FactorGraph,
    layout: &Layout,
    preorder: &Preorder,
    [blocks, warps, narrow]: [usize; 3],
) {
    let laid = Laid::new(graph, layout);
    let Some(units) = LevelUnits::new(graph, layout, preorder, narrow.max(1) * warps).unwrap()
    else {
        return assert!((0..graph.variable_count()).any(|v| graph.degree(v) > 256 * WARP));
    };
    let LevelStreams { streams: all, fresh } = units.streams(blocks, warps, narrow);
    laid.check_words(&all, blocks * warps);
    let levels = analyse(graph, preorder, Storage::SideBySide).unwrap();
    let mut level_of = vec![0; graph.edge_count()];
    for level in 0..levels.count() {
        for &edge in levels.edges(level) {
            level_of[edge as usize] = level;
        }
    }
    let per_warp: Vec<Vec<Event>> =
        (0..blocks * warps).map(|warp| events(&all, warp, true)).collect();
    // How often all blocks have met when a level of a warp begins, and what it waits for; and how often warps
    // complete each level.
    let mut met = vec![None; levels.count()];
    let mut awaited = vec![None; levels.count()];
    let mut completed = vec![0_u32; levels.count()];
    let mut times = vec![0; graph.edge_count()];
    let mut in_all = None;
    for (warp, events) in per_warp.iter().enumerate() {
        let (mut meetings, mut sections, mut waits, mut level) = (0, 0, None, None);
        for event in events {
            let sendings = match event {
                Event::Sends(sendings) => sendings,
                Event::Meets(times) => {
                    let runs_narrow = narrow == 0 || warp / warps < narrow;
                    assert!(*times < 2 || !runs_narrow, "those with narrow levels meet once");
                    assert!(*times > 0 || narrow == blocks, "all meet at the end of a pass");
                    meetings += times;
                    sections += 1;
                    (waits, level) = (None, None);
                    continue;
                }
                Event::Waits(count) => {
                    assert!(waits.is_none(), "waits twice for a level");
                    (waits, level) = (Some(*count), None);
                    continue;
                }
                Event::Completes => {
                    let own: usize =
                        level.expect("a level is completed in which something is sent");
                    completed[own] += 1;
                    assert!(waits.take().is_some(), "a level is completed twice");
                    level = None;
                    continue;
                }
            };
            for sending in sendings {
                let edges = laid.edges(sending);
                check_reads(&laid, preorder, sending, &edges, &fresh);
                for (&edge, input) in edges.iter().zip(&sending.inputs) {
                    if input.flags & SENT == 0 {
                        continue;
                    }
                    times[edge] += 1;
                    let own = level_of[edge];
                    // A wide level is a section of its own.
                    assert_eq!(*level.get_or_insert(own), own, "edge {edge}: one level at a time");
                    assert_eq!(
                        *met[own].get_or_insert(meetings),
                        meetings,
                        "edge {edge}, level {own}"
                    );
                    assert_eq!(
                        *awaited[own].get_or_insert(waits),
                        waits,
                        "edge {edge}, level {own}"
                    );
                }
            }
        }
        assert!(sections > 0);
        assert_eq!(*in_all.get_or_insert(meetings), meetings, "meetings of warp {warp}");
    }
    // A level begins when all those before it have ended.
    let used = |level: &usize| met[*level].is_some();
    let order: Vec<usize> = (0..levels.count()).filter(used).collect();
    for pair in order.windows(2) {
        let [before, level] = [pair[0], pair[1]];
        let same_section = met[before] == met[level];
        assert!(met[before] <= met[level]);
        assert!(!same_section || awaited[level].flatten().is_some(), "levels {pair:?}");
        assert!(!same_section || awaited[before].flatten().is_some(), "levels {pair:?}");
    }
    let mut before = 0;
    for (level, &count) in completed.iter().enumerate() {
        if let Some(waits) = awaited[level].flatten() {
            assert_eq!(waits, before, "level {level}");
        }
        before += count;
    }
    assert_eq!(before, all.completions);
    laid.check_counts(&times);
}

/// Each message that is sent reads of other factors those messages anew that come before it.
fn check_reads(
    laid: &Laid<'_>,
    preorder: &Preorder,
    sending: &Sending,
    edges: &[usize],
    fresh: &[u8],
) {
    let graph = laid.graph;
    let rank = |e: usize| preorder.ranks()[e];
    let is_sent = |at: usize| sending.inputs[at].flags & SENT != 0;
    for at in 0..edges.len() {
        if !(0..edges.len()).any(|other| other != at && is_sent(other)) {
            continue; // not needed
        }
        let Input { word, fresh: ref which, .. } = sending.inputs[at];
        assert_eq!(word, laid.source(edges[at], true).word(word & SLOT_MASK));
        let variable = graph.edge_variables()[edges[at]] as usize;
        let (first, _) = laid.layout.slots_of(variable);
        let own = laid.layout.slot_of_edge[edges[at]];
        let is_new = |place: usize| match *which {
            Fresh::Bits(bits) => bits >> place & 1 != 0,
            Fresh::Hub(list) if list & LISTED != 0 => {
                fresh[(list & !LISTED) as usize + place / 8] >> (place % 8) & 1 != 0
            }
            Fresh::Hub(count) => place < count as usize,
            Fresh::Gathered(ref read, own_thread) => {
                let slot = first + place as u32;
                let thread = if read.len() == 1 { 0 } else { place };
                assert_eq!(read[thread] & SLOT_MASK, slot);
                // Of one thread, it is the other message that it reads.
                assert_eq!(own_thread, if read.len() == 1 { 0 } else { (own - first) as usize });
                read[thread] & LEAF_NEW != 0
            }
        };
        for (place, &read) in graph.variable_edges(variable).iter().enumerate() {
            let read = read as usize;
            if read == edges[at] {
                continue; // no message depends on itself
            }
            for (other, &edge) in edges.iter().enumerate() {
                if other != at && is_sent(other) {
                    assert_eq!(is_new(place), rank(read) < rank(edge), "edge {edge} reads {read}");
                }
            }
        }
    }
}

/// A head, a body, and signs.
type Sketch = (u64, Vec<u64>, u64);

fn build(count: u64, factors: &[Sketch], hub: usize) -> FactorGraph {
    let mut builder = FactorGraphBuilder::new();
    builder.add_variables(&(0..count).collect::<Vec<_>>(), &vec![2; count as usize]).unwrap();
    let again = factors.iter().cycle().take(hub).map(|(_, body, signs)| (0, body, signs));
    for (head, body, signs) in factors.iter().map(|(h, b, s)| (*h, b, s)).chain(again) {
        let head = head % count;
        let mut body: Vec<u64> = body.iter().map(|v| v % count).filter(|&v| v != head).collect();
        body.sort_unstable();
        body.dedup();
        body.truncate(31);
        match signs % 3 {
            _ if body.is_empty() => builder.add_singleton(head, 0.3).unwrap(),
            0 => builder.add_and(head, &body, 0.9, 0.2).unwrap(),
            1 => builder.add_or(head, &body, 0.8, 0.1).unwrap(),
            _ => {
                let negated: Vec<bool> = (0..=body.len()).map(|i| signs >> i & 1 != 0).collect();
                let scope: Vec<u64> = std::iter::once(head).chain(body).collect();
                builder.add_clause(&scope, &negated, 1.5, 0.5).unwrap();
            }
        }
    }
    builder.build().unwrap()
}

fn graph() -> impl Strategy<Value = FactorGraph> {
    let body = prop_oneof![
        8 => prop::collection::vec(any::<u64>(), 0..6),
        1 => prop::collection::vec(any::<u64>(), 6..40),
    ];
    let factors = prop::collection::vec((any::<u64>(), body, any::<u64>()), 1..80);
    let hub = prop_oneof![3 => Just(0_usize), 2 => 3..40_usize, 1 => 40..600_usize];
    (1_u64..60, factors, hub).prop_map(|(count, factors, hub)| build(count, &factors, hub))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn streams_of_random_graphs_send_everything_once(
        graph in graph(),
        seed in any::<u64>(),
        classes in 2_u64..20,
        shape in prop_oneof![
            Just([1, 16, 1]), Just([3, 2, 0]), Just([4, 4, 2]), Just([2, 2, 2]), Just([16, 24, 8]),
        ],
    ) {
        let layout = Layout::new(&graph).unwrap();
        check_layout(&graph, &layout);
        check_flood(&graph, &layout, shape[0], shape[1]);
        let rank = |e: u64| (e ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let ranks: Vec<u64> = (0..graph.edge_count() as u64).map(|e| rank(e) % classes).collect();
        let custom = Preorder::from_ranks(&graph, &ranks).unwrap();
        check_levels(&graph, &layout, &custom, shape);
        for schedule in [Schedule::SequentialFixed, Schedule::ForwardBackward, Schedule::Topological] {
            let preorder = schedule.preorder(&graph, 0).unwrap();
            check_levels(&graph, &layout, &preorder, shape);
        }
    }
}

/// Levels that the whole device runs, between others that its first blocks run alone.
#[test]
fn wide_levels_are_for_all_blocks() {
    let graph = generate::smartfl(60_000, 1).unwrap().graph;
    let layout = Layout::new(&graph).unwrap();
    check_layout(&graph, &layout);
    check_flood(&graph, &layout, 132, 16);
    // Every fifth rank has most edges.
    let rank = |e: u64| match e.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 {
        word if word % 50 == 0 => word / 50 % 20,
        word => word / 50 % 4 * 5,
    };
    let ranks: Vec<u64> = (0..graph.edge_count() as u64).map(rank).collect();
    let preorder = Preorder::from_ranks(&graph, &ranks).unwrap();
    let units = LevelUnits::new(&graph, &layout, &preorder, 256).unwrap().unwrap();
    assert!(units.any_wide(), "no level of {WIDE_LEVEL} units");
    for shape in [[8, 16, 8], [32, 16, 8], [33, 4, 0]] {
        check_levels(&graph, &layout, &preorder, shape);
    }
}

/// Graphs of other kinds have no layout.
#[test]
fn other_graphs_have_no_layout() {
    let build = |add: &dyn Fn(&mut FactorGraphBuilder)| {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(0, &[1, 2], 0.9, 0.1).unwrap();
        add(&mut builder);
        Layout::new(&builder.build().unwrap())
    };
    let body: Vec<u64> = (1..32).collect();
    assert!(build(&|_| {}).is_some());
    assert!(build(&|builder| builder.add_and(0, &body, 0.9, 0.1).unwrap()).is_some());
    let too_wide: Vec<u64> = (1..33).collect();
    assert!(build(&|builder| builder.add_and(0, &too_wide, 0.9, 0.1).unwrap()).is_none());
    assert!(build(&|builder| builder.add_noisy_or(0, &[1], &[0.5], 0.1).unwrap()).is_none());
    assert!(build(&|builder| builder.add_variable(9, 3).unwrap()).is_none());
}
