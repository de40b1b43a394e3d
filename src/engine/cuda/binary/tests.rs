//! Layouts and units, read as cuda/engine/binary_levels.cuh reads them.

use super::homes::{Home, Homes};
use super::layout::Layout;
use super::level_bound::fewest_words;
use super::level_messages::Reads;
use super::level_ranks::Ranks;
use super::level_versions::FirstVersions;
use super::level_words::{ABSENT, LEVEL_COEFFICIENTS, READS_SOFT};
use super::levels::LevelWork;
use super::limits::WARP;
use crate::engine::cuda::interface::Bits;
use crate::engine::cuda::interface::binary::{LevelUnit, Source, WARP_LEAVES};
use crate::engine::cuda::interface::words::{
    HUB_NOTHING, VERSION_NONE, hub_reading, input, leaf, level_input, level_message, level_want,
    unit_shape, version,
};
use crate::generate;
use crate::model::{FactorGraph, FactorGraphBuilder};
use crate::schedule::{Preorder, Schedule, Storage, analyse};
use crate::testing::{cases, is_deep};
use crate::threads::Gang;
use flood::check_flood;
use messages::{Message, messages_of};
use order::check_order;
use proptest::prelude::*;
use std::collections::HashMap;
use trees::{others_of, trees_of};

mod flood;
mod messages;
mod order;
mod threads;
mod trees;

const NOTHING: u32 = u32::MAX;

/// A factor as a stream or a unit has it: its inputs, the head's first.
struct Sending {
    coefficients: u32,
    inputs: Vec<Input>,
}

struct Input {
    /// Without what it says of the last message.
    word: u32,
    /// By which bits the slot of the last message differs; 0: there is none. Whether it is of the iteration before.
    last: u32,
    last_is_old: bool,
    is_sent: bool,
    read: Reading,
}

/// What is read of a variable.
enum Reading {
    Nothing,
    /// What threads read, and which of them is at the slot that the factor sends to.
    Threads(Vec<u32>, usize),
    /// What threads read of a hub, or of one of its pieces; and the versions of all pieces, if it is in pieces.
    Hub(Vec<[u32; 4]>, Vec<u32>),
}

/// What the threads of a unit of factors have, by levels.
struct Threads {
    /// Coefficients and the input, if there is one.
    all: Vec<(u32, Option<Input>)>,
    /// The last chunk of a unit of a node.
    nodes: Vec<[u32; 4]>,
}

fn threads_of(work: &LevelWork, number: usize) -> Threads {
    let LevelUnit { chunk, shape } = work.units[number];
    let end = work.units.get(number + 1).map_or(work.words.len(), |next| 128 * next.chunk as usize);
    let words = &work.words[128 * chunk as usize..end];
    let of_node = if unit_shape::NODE.is_in(shape) { 128 } else { 0 };
    let (words, nodes) = words.split_at(words.len() - of_node);
    let rounds = unit_shape::ROUNDS.get(shape) as usize;
    let [wide, giants] =
        [unit_shape::WIDE_ROUNDS, unit_shape::GIANTS].map(|bits| bits.get(shape) as usize);
    assert!(rounds + wide + giants <= 32);
    // The chunks of each round of hubs, and of each hub in pieces.
    let mut at = 128 * (1 + rounds.saturating_sub(2).div_ceil(4));
    let mut of_hubs = Vec::new();
    let mut versions = Vec::new();
    for round in 0..wide + giants {
        assert!(round < wide || words[at + 3] as usize > WARP_LEAVES);
        of_hubs.push(words[at..at + 128].as_chunks::<4>().0.to_vec());
        at += 128;
        let behind = if round < wide { 0 } else { 128 };
        versions.push(words[at..at + behind].to_vec());
        at += behind;
    }
    assert_eq!(words.len(), at);
    let width_of = |thread: &[u32; 4]| hub_reading::LEVELS.get(thread[1]);
    let widest = of_hubs.iter().flatten().map(width_of).max();
    assert_eq!(unit_shape::HUB_LEVELS.get(shape), widest.unwrap_or(0));
    let leaf = |round: usize, lane: usize| match round {
        0 | 1 => words[4 * lane + 2 + round],
        _ => words[128 * (1 + (round - 2) / 4) + 4 * lane + (round - 2) % 4],
    };
    let input = |lane: usize| {
        let [word, second] = [words[4 * lane], words[4 * lane + 1]];
        let last = level_input::LAST.get(word);
        let word = word & !level_input::LAST.mask();
        let last_is_old = leaf::LAST_IS_OLD.is_in(words[4 * lane + 2]);
        assert!(last != 0 || !last_is_old);
        let is_sent = level_want::SENT.is_in(second);
        if Source::is_none_in(word) {
            return Input { word, last, last_is_old, is_sent, read: Reading::Nothing };
        }
        let [own, round] =
            [level_want::THREAD, level_want::ROUND].map(|bits| bits.get(second) as usize);
        if round >= rounds {
            let of_hub = &of_hubs[round - rounds];
            let threads = 1 << (hub_reading::LEVELS.get(of_hub[own][1]));
            let first = own / threads * threads;
            let read = of_hub[first..first + threads].to_vec();
            assert_eq!(
                own - first,
                read[0][2] as usize % WARP_LEAVES / 8,
                "the thread at its slot"
            );
            let read = Reading::Hub(read, versions[round - rounds].clone());
            return Input { word, last, last_is_old, is_sent, read };
        }
        let threads = 1_usize << (leaf::LEVELS.get(leaf(round, own)));
        assert!(threads <= 4);
        let begin = own / threads * threads;
        let read: Vec<u32> = (begin..begin + threads).map(|lane| leaf(round, lane)).collect();
        assert!(read.iter().all(|&leaf| 1 << (leaf::LEVELS.get(leaf)) == threads));
        Input { word, last, last_is_old, is_sent, read: Reading::Threads(read, own - begin) }
    };
    let coefficients = |lane: usize| level_want::COEFFICIENTS.get(words[4 * lane + 1]);
    let is_there = |lane: usize| words[4 * lane] != ABSENT;
    let all = (0..WARP).map(|lane| (coefficients(lane), is_there(lane).then(|| input(lane))));
    Threads { all: all.collect(), nodes: nodes.as_chunks::<4>().0.to_vec() }
}

/// What a unit of an iteration by levels sends.
fn of_unit(work: &LevelWork, number: usize) -> Vec<Sending> {
    let levels = unit_shape::LEVELS.get(work.units[number].shape);
    assert!([1, 2, 3, 5].contains(&levels));
    let mut threads = threads_of(work, number).all;
    let mut sendings = Vec::new();
    for of_factor in threads.chunks_mut(1 << levels) {
        let head_is_last = of_factor.last().is_some_and(|(_, input)| input.is_some());
        let mut inputs = Vec::new();
        for (of_input, input) in of_factor.iter_mut() {
            if let Some(input) = input.take() {
                inputs.push((*of_input, input));
            }
        }
        let Some(&(coefficients, _)) = inputs.first() else { continue };
        assert!(inputs.len() >= 2 && head_is_last);
        assert!(inputs.iter().all(|&(of_input, _)| of_input == coefficients));
        let mut inputs: Vec<Input> = inputs.into_iter().map(|(_, input)| input).collect();
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

    /// The edges of a factor in a unit, which is checked to be whole.
    fn edges(&self, sending: &Sending) -> Vec<usize> {
        let slot = |input: &Input| input::SLOT.get(input.word) as usize;
        let edges: Vec<usize> =
            sending.inputs.iter().map(|input| self.edge_of_slot[slot(input)].unwrap()).collect();
        let factor = self.graph.edge_factors()[edges[0]] as usize;
        assert!(edges.iter().copied().eq(Layout::edges_head_first(self.graph, factor)));
        assert_eq!(sending.coefficients, self.layout.coefficients_of[factor]);
        edges
    }

    /// The places of inputs.
    fn check_places(&self, words: &[u32], slot: Bits, places: &[(u32, u32)]) {
        for &(place, edge) in places {
            let word = words[(place & !READS_SOFT) as usize];
            assert_eq!(slot.get(word), self.layout.slot_of_edge[edge as usize]);
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

    /// Where what is sent along an edge comes from by levels.
    fn source(&self, edge: usize) -> Source {
        let variable = self.graph.edge_variables()[edge] as usize;
        if self.graph.degree(variable) == 1 { Source::None } else { Source::Read }
    }
}

/// Slots of a variable are its own, as many as it has factors at least, and lie as kernels expect it.
fn check_layout(graph: &FactorGraph, layout: &Layout, homes: Option<&Homes>) {
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
    let Some(homes) = homes else { return };
    // What is at home at a block lies together, and what is shared is a hub.
    let few = layout.few.iter().copied().chain([count as u32]).collect::<Vec<u32>>();
    for ends in layout.classes.windows(2).chain(few.windows(2)) {
        let variables = &layout.variable[ends[0] as usize..ends[1] as usize];
        assert!(variables.iter().map(|&v| homes.of_variable[v as usize]).is_sorted());
    }
    let few = &layout.variable[layout.hubs()..];
    assert!(few.iter().all(|&v| homes.of_variable[v as usize] != Home::Shared));
}

/// What warps do in the levels of a preorder; `None` if the graph is too large.
fn level_work(
    graph: &FactorGraph, layout: &Layout, preorder: &Preorder, shape: [usize; 2], gang: &Gang,
) -> Option<LevelWork> {
    let levels = analyse(graph, preorder, Storage::SideBySide).unwrap();
    LevelWork::new(graph, layout, (preorder, &levels), shape, gang).unwrap()
}

/// The levels of a preorder on so many blocks of so many warps.
fn check_levels(graph: &FactorGraph, layout: &Layout, preorder: &Preorder, shape: [usize; 2]) {
    let laid = Laid::new(graph, layout);
    let work = level_work(graph, layout, preorder, shape, &Gang::of(2)).unwrap();
    laid.check_places(&work.words, level_input::SLOT, &work.places);
    assert_eq!(work.starts.len(), shape[0] * shape[1] + 1);
    assert!(work.starts[0] == 0 && work.starts.is_sorted());
    assert_eq!(work.starts.last(), Some(&(work.units.len() as u32)));
    let levels = analyse(graph, preorder, Storage::SideBySide).unwrap();
    let warps = shape[0] * shape[1] - 1;
    let ranks = Ranks::new(graph, layout, preorder, &levels, &Gang::of(2)).unwrap();
    let reads = Reads::new(&ranks, [levels.count(), warps], &Gang::of(2)).unwrap();
    assert!(fewest_words(&reads, &Gang::of(2)).unwrap() <= work.words.len());
    let mut level_of = vec![0; graph.edge_count()];
    for level in 0..levels.count() {
        for &edge in levels.edges(level) {
            level_of[edge as usize] = level;
        }
    }
    let versions = versions_of(&laid, preorder, &level_of, &work);
    let messages = messages_of(&laid, &level_of, &versions, &work);
    let computed = Computed { versions, messages };
    let mut times = vec![0; graph.edge_count()];
    check_order(&laid, &work);
    for (root, sending) in trees_of(&work).into_iter().chain(others_of(&laid, &work)) {
        let edges = laid.edges(&sending);
        check_reads(&laid, preorder, &level_of, &computed, &sending, &edges);
        let sent = edges.iter().zip(&sending.inputs).filter(|(_, input)| input.is_sent);
        let levels: Vec<usize> = sent.clone().map(|(&edge, _)| level_of[edge]).collect();
        assert!(!levels.is_empty(), "the factor of unit {root} sends something");
        assert!(levels.iter().all(|&level| level == levels[0]), "unit {root}: one level at a time");
        sent.for_each(|(&edge, _)| times[edge] += 1);
    }
    for units in work.starts.windows(2) {
        // Else a warp could wait for what it sends itself later on. Versions come behind the factors of their levels.
        let mut before = (None, 0);
        // Of the factors' unit before: its level, and the most factors of a variable that it sends to.
        let mut others = (None, 0);
        for unit in units[0]..units[1] {
            let LevelUnit { chunk, shape } = work.units[unit as usize];
            if unit_shape::MULTIPLIES.is_in(shape) {
                let of_unit = (computed.versions[&work.words[128 * chunk as usize + 2]].level, 1);
                assert!(before <= of_unit, "unit {unit}");
                before = of_unit;
                continue;
            }
            if unit_shape::VARIABLES.is_in(shape) {
                let words = work.words[128 * chunk as usize..][..128].as_chunks::<4>().0;
                let sent =
                    words.iter().find(|words| level_message::SENT.get(words[1]) != 0).unwrap();
                let of_unit = (computed.messages[&sent[0]].level, 2);
                assert!(before <= of_unit, "unit {unit}");
                before = of_unit;
                continue;
            }
            if unit_shape::NODE.is_in(shape) {
                continue;
            }
            let (mut level, mut most) = (None, 0);
            for sending in of_unit(&work, unit as usize) {
                let edges = laid.edges(&sending);
                // Those of very many messages take long: some of them do.
                let degree = |&edge: &usize| graph.degree(graph.edge_variables()[edge] as usize);
                if edges.iter().all(|edge| degree(edge) < 8192) || edges[0] % 100 < 2 {
                    check_reads(&laid, preorder, &level_of, &computed, &sending, &edges);
                }
                for (&edge, _) in edges.iter().zip(&sending.inputs).filter(|(_, i)| i.is_sent) {
                    times[edge] += 1;
                    let own = level_of[edge];
                    assert_eq!(*level.get_or_insert(own), own, "edge {edge}: one level at a time");
                    most = most.max(degree(&edge));
                }
            }
            assert!(level.is_some(), "a unit sends something");
            let of_unit = (level, 0);
            assert!(before <= of_unit, "unit {unit}");
            before = of_unit;
            assert!(others.0 != level || others.1 >= most, "unit {unit}: the most factors first");
            others = (level, most);
        }
    }
    laid.check_counts(&times);
}

/// A version of a piece: its first slot, which of its messages are new and whether all are, and the last level that sends one of
/// these.
struct Version {
    first: u32,
    is_new: Vec<bool>,
    has_all: bool,
    level: Option<usize>,
}

/// What is computed for several factors, by place.
struct Computed {
    versions: HashMap<u32, Version>,
    messages: HashMap<u32, Message>,
}

/// Whether a message of a variable in pieces is new in the version that is read of its piece, given the words of versions.
fn new_in_version(
    versions: &HashMap<u32, Version>, words: &[u32], first: u32, own: usize, place: usize,
) -> bool {
    // At the largest height at which it is not in the same piece.
    let sizes = (0..4).map(|height| (height, WARP_LEAVES << (5 * height)));
    let (height, size) = sizes.rev().find(|(_, size)| place / size != own / size).unwrap();
    let word = words[32 * height + place / size % 32];
    let version = &versions[&(version::PLACE.get(word))];
    assert_eq!(version.first, first + (place / size * size) as u32);
    if version::NEW.is_in(word) {
        return version.is_new[place % size];
    }
    // None is new: it is the one of the iteration before that has all.
    assert!(version.has_all);
    false
}

/// All versions by place. Those of a piece are told apart by the number of their new messages, which have the lowest ranks.
fn versions_of(
    laid: &Laid<'_>, preorder: &Preorder, level_of: &[usize], work: &LevelWork,
) -> HashMap<u32, Version> {
    let mut units: Vec<&[[u32; 4]]> = Vec::new();
    for &LevelUnit { chunk, shape } in &work.units {
        if unit_shape::MULTIPLIES.is_in(shape) {
            units.push(work.words[128 * chunk as usize..][..128].as_chunks::<4>().0);
        }
    }
    // Those of each height lie behind those of the height below.
    units.sort_unstable_by_key(|words| words[0][2]);
    let slots = laid.layout.high_degree_slots();
    let mut versions: HashMap<u32, Version> = HashMap::new();
    for words in units {
        let place = words[0][2];
        let height = place as usize / slots;
        let (mut first, mut is_new) = (words[0][0], Vec::new());
        for (lane, &[slot, news, of, of_parts]) in (0..).zip(words) {
            assert_eq!((of, of_parts), (place, u32::from(height > 0)));
            if height > 0 {
                // The product of all is in the shape of the tree if only the last part has fewer messages.
                let size = WARP_LEAVES << (5 * (height - 1));
                assert!(slot == VERSION_NONE || is_new.len() == lane as usize * size);
                if slot != VERSION_NONE {
                    let (part_first, part) = part_of(&versions, slot);
                    first = if lane == 0 { part_first } else { first };
                    assert_eq!(part_first as usize, first as usize + is_new.len());
                    is_new.extend(part);
                }
                continue;
            }
            assert_eq!(hub_reading::LEVELS.get(news), 5);
            if news & HUB_NOTHING == 0 {
                assert_eq!(slot, first + 8 * lane);
                is_new.extend((0..8).map(|i| news >> i & 1 != 0));
            }
        }
        let edges = (first as usize..).zip(&is_new);
        let edges: Vec<(usize, bool)> =
            edges.filter_map(|(slot, &new)| Some((laid.edge_of_slot[slot]?, new))).collect();
        let of_new = edges.iter().filter(|&&(_, new)| new);
        let new: Vec<usize> = of_new.map(|&(edge, _)| edge).collect();
        let last = new.iter().map(|&edge| preorder.ranks()[edge]).max();
        for &(edge, new) in &edges {
            assert_eq!(new, Some(preorder.ranks()[edge]) <= last, "edge {edge}");
        }
        assert_eq!(new.len(), place as usize % slots - first as usize + 1);
        let changes = |edge: usize| laid.graph.arity(laid.graph.edge_factors()[edge] as usize) > 1;
        let changing = new.iter().filter(|&&edge| changes(edge));
        let level = changing.map(|&edge| level_of[edge]).max();
        let has_all = edges.iter().all(|&(_, new)| new);
        let same = versions.insert(place, Version { first, is_new, has_all, level });
        assert!(same.is_none(), "place {place} twice");
    }
    check_first_versions(laid, work, &versions);
    versions
}

/// The first slot of a piece, and which of its messages are new in the version that a word names.
fn part_of(versions: &HashMap<u32, Version>, word: u32) -> (u32, Vec<bool>) {
    let version = &versions[&version::PLACE.get(word)];
    if version::NEW.is_in(word) {
        return (version.first, version.is_new.clone());
    }
    (version.first, vec![false; version.is_new.len()])
}

/// A run begins with all products of which an iteration reads those of the one before.
fn check_first_versions(laid: &Laid<'_>, work: &LevelWork, versions: &HashMap<u32, Version>) {
    let FirstVersions { places, parts, ends } = &work.first_versions;
    let lowest = ends.first().map_or(0, |&end| end as usize);
    let size = |piece: usize| {
        WARP_LEAVES << (5 * ends.iter().filter(|&&end| end as usize <= piece).count())
    };
    assert_eq!(parts.len(), places.len() - lowest + 1);
    assert_eq!(places.len(), ends.last().map_or(0, |&end| end as usize));
    for (piece, range) in (lowest..).zip(parts.windows(2)) {
        let (first, end) = (range[0] as usize, range[1] as usize);
        assert!((1..=32).contains(&(end - first)));
        assert_eq!(size(piece), 32 * size(first));
        // The last message of a piece is that of its last part.
        let slots = laid.layout.high_degree_slots() as u32;
        assert_eq!(places[piece], places[end - 1] + slots);
    }
    for (place, _) in versions.iter().filter(|(_, version)| version.has_all) {
        assert!(places.contains(place), "place {place}");
    }
}

/// Each message that is sent reads of other factors those messages anew that come before it, and waits for no
/// others; these are sent at earlier levels.
fn check_reads(
    laid: &Laid<'_>, preorder: &Preorder, level_of: &[usize], computed: &Computed,
    sending: &Sending, edges: &[usize],
) {
    let graph = laid.graph;
    let Computed { versions, messages } = computed;
    let period = (level_of.iter().max().map_or(0, |&last| last as i64 + 1) - 2).max(1);
    let rank = |e: usize| preorder.ranks()[e];
    let is_sent = |at: usize| sending.inputs[at].is_sent;
    for at in 0..edges.len() {
        let Input { word, last, last_is_old, ref read, .. } = sending.inputs[at];
        if !(0..edges.len()).any(|other| other != at && is_sent(other)) {
            assert!(Source::is_none_in(word) && last == 0, "not needed");
            continue;
        }
        assert_eq!(word, laid.source(edges[at]).word(input::SLOT.get(word)));
        let variable = graph.edge_variables()[edges[at]] as usize;
        let (first, count) = laid.layout.slots_of(variable);
        let own = laid.layout.slot_of_edge[edges[at]];
        let is_own_piece =
            |place: usize| place / WARP_LEAVES == (own - first) as usize / WARP_LEAVES;
        let is_computed = matches!(read, Reading::Threads(read, _) if messages.contains_key(&leaf::SLOT.get(read[0])));
        // Whether a message is read anew, and whether as the last one.
        let news = |place: usize| -> (bool, bool) {
            let slot = first + place as u32;
            match *read {
                Reading::Nothing => panic!("edge {} has other messages", edges[at]),
                Reading::Threads(ref read, _)
                    if messages.contains_key(&leaf::SLOT.get(read[0])) =>
                {
                    let message = &messages[&leaf::SLOT.get(read[0])];
                    assert_eq!((read.len(), message.edge), (1, edges[at]));
                    assert!(leaf::NEW.is_in(read[0]) && last == 0);
                    (message.is_new(place), false)
                }
                Reading::Threads(ref read, own_thread) => {
                    let thread = if read.len() == 1 { 0 } else { place };
                    assert_eq!(leaf::SLOT.get(read[thread]), slot);
                    // Of one thread, it is the other message that it reads.
                    let expected = if read.len() == 1 { 0 } else { own - first };
                    assert_eq!(own_thread as u32, expected);
                    (leaf::NEW.is_in(read[thread]), leaf::LAST.is_in(read[thread]))
                }
                Reading::Hub(_, ref list) if !list.is_empty() && !is_own_piece(place) => {
                    (new_in_version(versions, list, first, (own - first) as usize, place), false)
                }
                Reading::Hub(ref threads, _) => {
                    let place = place % WARP_LEAVES;
                    let bits = threads[place / 8][1];
                    let last = hub_reading::LAST_BITS.get(bits) >> (place % 8) & 1 != 0;
                    assert!(!last || hub_reading::LAST.get(bits) == slot ^ own);
                    (bits >> (place % 8) & 1 != 0, last)
                }
            }
        };
        let is_new = |place: usize| news(place).0;
        match read {
            Reading::Nothing => {}
            Reading::Threads(read, _) if is_computed => {
                let message = &messages[&leaf::SLOT.get(read[0])];
                for (other, &edge) in edges.iter().enumerate().filter(|&(other, _)| other != at) {
                    assert!(
                        !is_sent(other) || message.level < Some(level_of[edge]),
                        "it comes before"
                    );
                }
            }
            Reading::Threads(read, own_thread) => {
                let waits = read[*own_thread] & (leaf::NEW.mask() | leaf::LAST.mask()) != 0;
                assert!(read.len() == 1 || !waits, "waits for its own");
            }
            Reading::Hub(threads, list) => {
                assert_eq!(news((own - first) as usize), (false, false), "waits for its own");
                let own_place = (own - first) as usize;
                let own_piece = own_place / WARP_LEAVES;
                for (at, &word) in list.iter().enumerate() {
                    let size = WARP_LEAVES << (5 * (at / 32));
                    let piece = own_place / size / 32 * 32 + at % 32;
                    let is_other = piece != own_place / size && piece * size < count as usize;
                    assert_eq!(is_other, word != VERSION_NONE);
                }
                for (at, &[slot, news, of, slots]) in (own_piece as u32 * 32..).zip(threads) {
                    assert_eq!((of, slots), (own - first, count));
                    let is_idle = 8 * at >= count;
                    let begin = if is_idle { first } else { first + 8 * at };
                    assert_eq!((slot, news & HUB_NOTHING == HUB_NOTHING), (begin, is_idle));
                }
            }
        }
        let mut latest = None;
        for (place, &read) in graph.variable_edges(variable).iter().enumerate() {
            let read = read as usize;
            if read == edges[at] {
                continue; // no message depends on itself
            }
            let is_last = news(place).1;
            assert_eq!(is_last, last != 0 && laid.layout.slot_of_edge[read] ^ own == last);
            assert!(!is_last || is_new(place) != last_is_old);
            let level = level_of[read] as i64;
            let when = if is_new(place) { level } else { level - period };
            let prior = graph.arity(graph.edge_factors()[read] as usize) == 1;
            if !prior && is_own_piece(place) {
                latest = latest.max(Some((when, is_last)));
            }
            for (other, &edge) in edges.iter().enumerate() {
                if other != at && is_sent(other) {
                    assert_eq!(is_new(place), rank(read) < rank(edge), "edge {edge} reads {read}");
                    assert!(!is_new(place) || prior || level_of[read] < level_of[edge]);
                }
            }
        }
        let latest = latest.is_some_and(|(_, is_last)| is_last);
        assert!(latest || last == 0, "the last one comes last");
    }
}

/// A head, a body, and signs.
type Sketch = (u64, Vec<u64>, u64);

/// Of factors of so many variables at most, some of which are no conjunctions if there are to be `others`.
fn build(count: u64, factors: &[Sketch], hub: usize, arity: usize, others: bool) -> FactorGraph {
    let mut builder = FactorGraphBuilder::new();
    builder.add_variables(&(0..count).collect::<Vec<_>>(), &vec![2; count as usize]).unwrap();
    let again = factors.iter().cycle().take(hub).map(|(_, body, signs)| (0, body, signs));
    for (head, body, signs) in factors.iter().map(|(h, b, s)| (*h, b, s)).chain(again) {
        let head = head % count;
        let mut body: Vec<u64> = body.iter().map(|v| v % count).filter(|&v| v != head).collect();
        body.sort_unstable();
        body.dedup();
        body.truncate(arity - 1);
        let kind = if others { signs % 5 } else { signs % 3 };
        match kind {
            _ if body.is_empty() => builder.add_prior(head, 0.3).unwrap(),
            3 => {
                // No conjunction, as no literal of it is certain.
                body.truncate(31);
                builder.add_noisy_or(head, &body, &vec![0.5; body.len()], 0.1).unwrap()
            }
            4 => {
                body.truncate(5);
                let scope: Vec<u64> = std::iter::once(head).chain(body).collect();
                let values = (0..1_u32 << scope.len()).map(|at| f64::from(1 + at * at % 11));
                builder.add_table(&scope, &values.collect::<Vec<_>>()).unwrap()
            }
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

/// A graph for both kinds of iterations, one with large factors as well, and one with factors that are no conjunctions.
fn graphs() -> impl Strategy<Value = [FactorGraph; 3]> {
    let body = prop_oneof![
        8 => prop::collection::vec(any::<u64>(), 0..6),
        1 => prop::collection::vec(any::<u64>(), 6..60),
    ];
    let factors = prop::collection::vec((any::<u64>(), body, any::<u64>()), 1..80);
    let hub = prop_oneof![3 => Just(0_usize), 2 => 3..40_usize, 1 => 40..600_usize];
    (1_u64..90, factors, hub).prop_map(|(count, factors, hub)| {
        let kinds = [(32, false), (64, false), (64, true)];
        kinds.map(|(arity, others)| build(count, &factors, hub, arity, others))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(45, 500)) })]

    #[test]
    fn units_of_random_graphs_send_everything_once(
        [graph, with_large, with_others] in graphs(),
        seed in any::<u64>(),
        classes in 2_u64..20,
        edges_of_block in prop_oneof![Just(1_usize), 2..100_usize],
        turns in 1..5_usize,
        shape in prop_oneof![
            Just([1, 16]), Just([3, 2]), Just([4, 4]), Just([16, 24]),
        ],
    ) {
        check_flood(&graph, shape, turns, edges_of_block);
        check_flood(&with_others, shape, turns, edges_of_block);
        for graph in [&graph, &with_large, &with_others] {
            let layout = Layout::new(graph, None, &Gang::of(2)).unwrap().unwrap();
            check_layout(graph, &layout, None);
            let rank = |e: u64| (e ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            let ranks: Vec<u64> = (0..graph.edge_count() as u64).map(|e| rank(e) % classes).collect();
            let custom = Preorder::from_ranks(graph, &ranks).unwrap();
            check_levels(graph, &layout, &custom, shape);
            for schedule in [Schedule::SequentialFixed, Schedule::ForwardBackward, Schedule::Topological] {
                let preorder = schedule.preorder(graph, 0).unwrap();
                check_levels(graph, &layout, &preorder, shape);
            }
        }
    }
}

/// A graph with so many factors of this size.
fn with_large_factors(variables: usize, count: usize, size: usize) -> FactorGraph {
    let plan = generate::Plan {
        shape: generate::Shape::Smartfl,
        variables,
        seed: 1,
        high_arity: Some(generate::Extremes { count, size }),
        high_degree: None,
    };
    plan.generate().unwrap().graph
}

/// Factors of more than 32 variables, of one piece and of several, each of one round of literals or of several.
#[test]
fn large_factors_come_in_pieces() {
    for (variables, count, size) in [(300, 3, 33), (3000, 4, 300), (12_000, 1, 5000)] {
        let graph = with_large_factors(variables, count, size);
        for (shape, turns) in [([1, 16], 1), ([4, 4], 3), ([132, 16], 1)] {
            check_flood(&graph, shape, turns, 128);
        }
    }
}

/// The same by levels, as trees of one height and of two.
#[test]
fn large_factors_are_trees_by_levels() {
    for (variables, count, size) in [(300, 3, 33), (1500, 2, 300), (2000, 1, 1100)] {
        let graph = with_large_factors(variables, count, size);
        let layout = Layout::new(&graph, None, &Gang::of(2)).unwrap().unwrap();
        for schedule in [Schedule::SequentialFixed, Schedule::ForwardBackward] {
            let preorder = schedule.preorder(&graph, 0).unwrap();
            check_levels(&graph, &layout, &preorder, [6, 8]);
        }
    }
}

/// By levels, pieces of two heights, of a variable with more factors than 32 pieces have messages; and two variables with fewer.
#[test]
fn pieces_of_pieces_by_levels() {
    let mut builder = FactorGraphBuilder::new();
    builder.add_variables(&(0..40).collect::<Vec<_>>(), &[2; 40]).unwrap();
    let count = if is_deep() { 20_000 } else { 8_700 };
    for factor in 0..count {
        let (large, other) = (u64::from(factor % 30 == 0), 3 + factor * 7 % 37);
        match factor % 41 {
            0 => builder.add_prior(large, 0.4).unwrap(),
            1 => builder.add_or(1, &[0, other], 0.8, 0.1).unwrap(),
            _ => builder.add_and(other, &[large], 0.9, 0.2).unwrap(),
        }
        if factor < 300 {
            builder.add_and(other, &[2, 0], 0.9, 0.2).unwrap();
        }
    }
    let graph = builder.build().unwrap();
    assert!(graph.degree(0) > 32 * WARP_LEAVES);
    let layout = Layout::new(&graph, None, &Gang::of(2)).unwrap().unwrap();
    let rank = |e: u64| (e.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 3;
    let ranks: Vec<u64> = (0..graph.edge_count() as u64).map(rank).collect();
    check_levels(&graph, &layout, &Preorder::from_ranks(&graph, &ranks).unwrap(), [4, 8]);
    let sequential = Schedule::SequentialFixed.preorder(&graph, 0).unwrap();
    check_levels(&graph, &layout, &sequential, [4, 8]);
}

/// Levels with many factors, several of which share a warp.
#[test]
fn wide_levels_fill_warps() {
    let graph = generate::smartfl(if is_deep() { 20_000 } else { 5_000 }, 1).unwrap().graph;
    for edges_of_block in [1, 512] {
        for turns in [1, 3] {
            check_flood(&graph, [132, 16], turns, edges_of_block);
        }
    }
    let layout = Layout::new(&graph, None, &Gang::of(2)).unwrap().unwrap();
    check_layout(&graph, &layout, None);
    // Every fifth rank has most edges.
    let rank = |e: u64| match e.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 {
        word if word % 50 == 0 => word / 50 % 20,
        word => word / 50 % 4 * 5,
    };
    let ranks: Vec<u64> = (0..graph.edge_count() as u64).map(rank).collect();
    let preorder = Preorder::from_ranks(&graph, &ranks).unwrap();
    let work = level_work(&graph, &layout, &preorder, [8, 16], &Gang::of(2)).unwrap();
    assert!(work.units.len() * 4 < work.places.len(), "several factors to a unit");
    for levels in [1, 2, 3] {
        let has = |unit: &LevelUnit| unit_shape::LEVELS.get(unit.shape) == levels;
        assert!(work.units.iter().any(has), "units of 2^{levels} threads to a factor");
    }
    for shape in [[8, 16], [33, 4]] {
        check_levels(&graph, &layout, &preorder, shape);
    }
}

/// Graphs of other kinds have no layout.
#[test]
fn words_of_levels_have_room_for_the_number_of_any_coefficients() {
    let graph = build(2, &[(1, vec![0], 0)], 0, 32, false);
    let preorder = Schedule::SequentialFixed.preorder(&graph, 0).unwrap();
    let mut layout = Layout::new(&graph, None, &Gang::of(1)).unwrap().unwrap();
    let first = layout.coefficients[0];
    for (count, fits) in [(LEVEL_COEFFICIENTS, true), (LEVEL_COEFFICIENTS + 1, false)] {
        layout.coefficients.resize(count, first);
        let work = level_work(&graph, &layout, &preorder, [1, 8], &Gang::of(1));
        assert_eq!(work.is_some(), fits, "{count}");
    }
}

#[test]
fn graphs_of_other_variables_have_no_layout() {
    let build = |add: &dyn Fn(&mut FactorGraphBuilder)| {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(0, &[1, 2], 0.9, 0.1).unwrap();
        add(&mut builder);
        Layout::new(&builder.build().unwrap(), None, &Gang::ALONE)
    };
    let body: Vec<u64> = (1..32).collect();
    assert!(build(&|_| {}).unwrap().is_some());
    assert!(build(&|builder| builder.add_and(0, &body, 0.9, 0.1).unwrap()).unwrap().is_some());
    let large: Vec<u64> = (1..33).collect();
    assert!(build(&|builder| builder.add_and(0, &large, 0.9, 0.1).unwrap()).unwrap().is_some());
    let noisy = build(&|builder| builder.add_noisy_or(0, &[1], &[0.5], 0.1).unwrap());
    assert_eq!(noisy.unwrap().unwrap().other_factors, [1]);
    assert!(build(&|builder| builder.add_variable(9, 3).unwrap()).unwrap().is_none());
}
