//! What variables send to several factors by levels, read as cuda/engine/binary_level_messages.cuh reads it.

use super::{Laid, Layout, Version, check_levels, level_work, new_in_version};
use crate::engine::cuda::binary::level_messages::first_place;
use crate::engine::cuda::binary::levels::LevelWork;
use crate::engine::cuda::binary::limits::WARP;
use crate::engine::cuda::interface::binary::{LevelUnit, WARP_LEAVES};
use crate::engine::cuda::interface::words::{HUB_NOTHING, hub_reading, level_message, unit_shape};
use crate::generate;
use crate::model::{FactorGraph, FactorGraphBuilder};
use crate::schedule::{Preorder, Schedule};
use crate::threads::Gang;
use std::collections::HashMap;
use std::rc::Rc;

/// A message from a variable that is computed for several factors: its edge, which of the messages to the variable it sees anew, and
/// the last level that sends one of those that its unit waits for.
pub(super) struct Message {
    pub edge: usize,
    /// The number of the edge among those of the variable.
    own: usize,
    news: Rc<News>,
    pub level: Option<usize>,
}

/// Which messages to a variable are new: in the piece of who reads them for messages to later slots and to earlier ones; and in other
/// pieces, if there are some.
struct News {
    in_piece: [Vec<bool>; 2],
    in_others: Vec<bool>,
}

impl Message {
    /// Whether it sees another message to the variable anew.
    pub(super) fn is_new(&self, at: usize) -> bool {
        match at / WARP_LEAVES == self.own / WARP_LEAVES {
            true => self.news.in_piece[usize::from(at > self.own)][at % WARP_LEAVES],
            false => self.news.in_others[at],
        }
    }
}

/// The words of a thread of a unit: what it sends, and what it reads.
#[derive(Clone, Copy)]
struct Thread {
    sends: [u32; 4],
    reads: [u32; 4],
}

impl Thread {
    /// Whether it has nothing to read.
    fn is_idle(self) -> bool {
        self.reads[1] & HUB_NOTHING == HUB_NOTHING
    }

    /// The places of its messages, with their numbers among the eight.
    fn sent(self) -> impl Iterator<Item = (u32, usize)> {
        let bits = level_message::SENT.get(self.sends[1]);
        (self.sends[0]..).zip((0..8).filter(move |i| bits >> i & 1 != 0))
    }

    /// Which of the eight are new for messages to later slots, and to earlier ones.
    fn news(self) -> [u32; 2] {
        [hub_reading::NEWS.get(self.reads[1]), level_message::NEWS.get(self.sends[1])]
    }
}

/// All of them by place.
pub(super) fn messages_of(
    laid: &Laid<'_>, level_of: &[usize], versions: &HashMap<u32, Version>, work: &LevelWork,
) -> HashMap<u32, Message> {
    let mut messages = HashMap::new();
    for (number, &LevelUnit { chunk, shape }) in work.units.iter().enumerate() {
        if !unit_shape::VARIABLES.is_in(shape) {
            continue;
        }
        let end =
            work.units.get(number + 1).map_or(work.words.len(), |next| 128 * next.chunk as usize);
        let words = &work.words[128 * chunk as usize..end];
        let (sends, rest) = words.split_at(128);
        let (reads, of_versions) = rest.split_at(128);
        let [wide, giants] =
            [unit_shape::WIDE_ROUNDS, unit_shape::GIANTS].map(|bits| bits.get(shape) as usize);
        assert_eq!((wide + giants, of_versions.len()), (1, 128 * giants));
        assert_eq!((unit_shape::RANGE.get(shape), unit_shape::ROUNDS.get(shape)), (0, 0));
        let threads = sends.as_chunks().0.iter().zip(reads.as_chunks().0);
        let mut rest: &[Thread] =
            &threads.map(|(&sends, &reads)| Thread { sends, reads }).collect::<Vec<_>>();
        let before = messages.len();
        while rest.first().is_some_and(|thread| thread.reads[3] != 0) {
            let width = 1 << hub_reading::LEVELS.get(rest[0].reads[1]);
            assert_eq!((WARP - rest.len()) % width, 0, "all begin at multiples of their widths");
            let (of_group, others) = rest.split_at(width);
            for (place, message) in of_threads(laid, level_of, versions, of_versions, of_group) {
                assert!(messages.insert(place, message).is_none(), "place {place} twice");
            }
            rest = others;
        }
        assert!(rest.iter().all(|thread| thread.is_idle() && thread.sent().next().is_none()));
        assert!(messages.len() > before, "a unit sends something");
    }
    let first = first_place(laid.layout.slots) as u32;
    let places = first..first + work.variable_messages as u32;
    assert!(messages.len() == places.len() && messages.keys().all(|place| places.contains(place)));
    messages
}

/// What the threads of a variable send, or of one of its pieces, given the words of versions of other ones.
fn of_threads(
    laid: &Laid<'_>, level_of: &[usize], versions: &HashMap<u32, Version>, of_versions: &[u32],
    threads: &[Thread],
) -> Vec<(u32, Message)> {
    let [_, _, begin, count] = threads[0].reads;
    let position = threads[0].sends[2];
    let variable = laid.layout.variable[position as usize] as usize;
    let edges = laid.graph.variable_edges(variable);
    let (first, slots) = laid.layout.slots_of(variable);
    assert_eq!((slots, !of_versions.is_empty()), (count, slots as usize > WARP_LEAVES));
    let mut in_piece: [Vec<bool>; 2] = Default::default();
    for (leaf, thread) in (begin..).step_by(8).zip(threads) {
        assert_eq!((thread.sends[2], &thread.reads[2..]), (position, &[begin, count][..]));
        assert_eq!(thread.is_idle(), leaf >= count);
        assert_eq!(thread.reads[0], first + if thread.is_idle() { 0 } else { leaf });
        for (all, bits) in in_piece.iter_mut().zip(thread.news()) {
            all.extend((0..8).map(|i| bits >> i & 1 != 0));
        }
    }
    let begin = begin as usize;
    let is_in_piece = |at: usize| at / WARP_LEAVES == begin / WARP_LEAVES;
    let is_new = |at| !is_in_piece(at) && new_in_version(versions, of_versions, first, begin, at);
    let in_others: Vec<bool> = (0..edges.len()).map(is_new).collect();
    let waits = |&at: &usize| match is_in_piece(at) {
        true => in_piece.iter().any(|news| news[at % WARP_LEAVES]),
        false => in_others[at],
    };
    let changes = |&edge: &usize| laid.graph.arity(laid.graph.edge_factors()[edge] as usize) > 1;
    let awaited = (0..edges.len()).filter(waits).map(|at| edges[at] as usize);
    let level = awaited.filter(changes).map(|edge| level_of[edge]).max();
    let news = Rc::new(News { in_piece, in_others });
    let mut messages = Vec::new();
    for (leaf, thread) in (begin..).step_by(8).zip(threads) {
        messages.extend(thread.sent().map(|(place, i)| {
            let own = leaf + i;
            (place, Message { edge: edges[own] as usize, own, news: news.clone(), level })
        }));
    }
    messages
}

/// A variable with so many children, each of which has a child that depends on it and, by every so many, on the variable, too.
pub(super) fn star(children: u64, every: u64) -> FactorGraph {
    let mut builder = FactorGraphBuilder::new();
    for child in 0..children {
        let (first, second) = (1 + 2 * child, 2 + 2 * child);
        builder.add_and(first, &[0], 0.9, 0.1).unwrap();
        match child % every {
            0 => builder.add_or(second, &[0, first], 0.8, 0.2).unwrap(),
            _ => builder.add_and(second, &[first], 0.7, 0.1).unwrap(),
        }
    }
    builder.build().unwrap()
}

/// How many messages are computed for several factors, and how many of the units send some that see other messages than others do.
fn counts(graph: &FactorGraph, preorder: &Preorder, shape: [usize; 2]) -> [usize; 2] {
    let layout = Layout::new(graph, None, &Gang::of(2)).unwrap().unwrap();
    check_levels(graph, &layout, preorder, shape);
    let work = level_work(graph, &layout, preorder, shape, &Gang::of(2)).unwrap();
    let of_variables = work.units.iter().filter(|unit| unit_shape::VARIABLES.is_in(unit.shape));
    let differ = of_variables.filter(|unit| {
        let words = &work.words[128 * unit.chunk as usize..][..256];
        let (sends, reads) = words.split_at(128);
        let mut threads = sends.as_chunks().0.iter().zip(reads.as_chunks().0);
        threads.any(|(&sends, &reads)| {
            let [later, earlier] = Thread { sends, reads }.news();
            later != earlier
        })
    });
    [work.variable_messages, differ.count()]
}

#[test]
fn messages_to_several_factors_are_computed_once() {
    let seqfix = |graph: &FactorGraph| Schedule::SequentialFixed.preorder(graph, 0).unwrap();
    let blocks =
        |graph: &FactorGraph| Schedule::Blocks { blocks: 2, seed: 1 }.preorder(graph, 0).unwrap();
    // One in pieces, whatever the number of warps.
    let graph = star(900, 50);
    let [sent, differ] = counts(&graph, &seqfix(&graph), [132, 8]);
    assert!(sent >= 880 && differ >= 4, "{sent} messages, {differ} units");
    let [sent, differ] = counts(&graph, &blocks(&graph), [132, 8]);
    assert!(sent >= 880 && differ == 0, "{sent} messages, {differ} units");
    // Others where warps have much to read.
    let graph = star(200, 50);
    assert_eq!(counts(&graph, &seqfix(&graph), [132, 8]), [0, 0]);
    assert_eq!(counts(&graph, &blocks(&graph), [132, 8]), [0, 0]);
    let [sent, differ] = counts(&graph, &seqfix(&graph), [1, 4]);
    assert!(sent >= 190 && differ >= 1, "{sent} messages, {differ} units");
    let [sent, differ] = counts(&graph, &blocks(&graph), [1, 4]);
    assert!(sent >= 190 && differ == 0, "{sent} messages, {differ} units");
    let graph = generate::bingo(3000, 1).unwrap().graph;
    let [sent, _] = counts(&graph, &blocks(&graph), [1, 4]);
    assert!(sent >= 1000, "{sent} messages");
}
