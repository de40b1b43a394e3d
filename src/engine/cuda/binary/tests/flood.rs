//! Units of passes in which all messages are sent at once, read as cuda/engine/binary_flood.cuh reads them.

use super::super::flood::{FloodWork, HUBS, KINDS, MULTIPLY, SEND, TILES, WIDE, rows};
use super::*;

/// A unit's words for a thread of those that have two.
fn pair(unit: &[u32], thread: usize) -> (Option<u32>, u32) {
    (Some(unit[2 * thread]).filter(|&word| word != NOTHING), unit[2 * thread + 1])
}

/// The factors of a unit.
fn sendings(unit: &[u32], kind: usize) -> Vec<Sending> {
    if kind == WIDE {
        let words = (0..WARP).map_while(|thread| pair(unit, thread).0).collect::<Vec<_>>();
        assert!((words.len()..WARP).all(|thread| pair(unit, thread).0.is_none()));
        let coefficients = unit[1];
        assert!((0..words.len()).all(|thread| unit[2 * thread + 1] == coefficients));
        assert!(words.len() > 8);
        return vec![Sending { coefficients, inputs: words.into_iter().map(sent).collect() }];
    }
    let factor = |thread: usize| {
        let words: Vec<u32> = unit.chunks(WARP).skip(1).map(|row| row[thread]).collect();
        if unit[thread] == NOTHING {
            assert!(words.iter().all(|&word| word == NOTHING));
            return None;
        }
        let inputs = words.into_iter().map(sent).collect();
        Some(Sending { coefficients: unit[thread], inputs })
    };
    (0..WARP).filter_map(factor).collect()
}

fn sent(word: u32) -> Input {
    Input { word, last: 0, last_is_old: false, is_sent: true, read: Reading::Nothing }
}

/// What units of hubs read.
#[derive(Default)]
struct Hubs {
    /// The first slots of eights whose messages are sent, and of those in pieces that are multiplied.
    sent: Vec<u32>,
    multiplied: Vec<u32>,
}

impl Hubs {
    fn add(&mut self, unit: &[u32], kind: usize, layout: &Layout) {
        let slots: Vec<Option<u32>> = (0..WARP)
            .map(|thread| {
                let word = pair(unit, thread).0?;
                assert_eq!(word, Source::Prepared.word(word & SLOT_MASK));
                Some(word & SLOT_MASK)
            })
            .collect();
        let all = if kind == MULTIPLY { &mut self.multiplied } else { &mut self.sent };
        all.extend(slots.iter().flatten());
        let hub_at = |slot| layout.hub_slots.partition_point(|&first| first <= slot) - 1;
        if kind == HUBS {
            let width = 1 << pair(unit, 0).1;
            assert!((0..WARP).all(|thread| 1 << pair(unit, thread).1 == width));
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
            let (hubs, starts) = layout.pieces();
            let [own, first, end] = [0, 1, 2].map(|thread| pair(unit, thread).1);
            let hub = hubs[own as usize] as usize;
            assert_eq!([first, end], starts[hub..hub + 2]);
            let start = layout.hub_slots[hub] + 256 * (own - first);
            let slots_end = layout.hub_slots[hub + 1].min(start + 256);
            assert!(slots.into_iter().flatten().eq((start..slots_end).step_by(8)));
        }
    }

    /// All hubs send, once, and pieces of large ones are multiplied. Returns the number of inputs.
    fn check(mut self, layout: &Layout) -> usize {
        self.sent.sort_unstable();
        assert!(self.sent.iter().copied().eq((0..layout.few_slots[0]).step_by(8)));
        self.multiplied.sort_unstable();
        let end = layout.hub_slots[layout.classes[1] as usize];
        assert!(self.multiplied.iter().copied().eq((0..end).step_by(8)));
        self.sent.len() + self.multiplied.len()
    }
}

/// Everything is sent once, by units of its kind.
pub(super) fn check_flood(graph: &FactorGraph, layout: &Layout, shape: [usize; 2]) {
    let laid = Laid::new(graph, layout);
    let all = FloodWork::new(graph, layout, shape);
    assert_eq!(all.starts.len(), shape[0] * shape[1] * KINDS + 1);
    assert!(all.starts[0] == 0 && all.starts.is_sorted());
    assert_eq!(*all.starts.last().unwrap() as usize * WARP, all.words.len());
    laid.check_places(&all.words, SLOT_MASK, &all.places);
    let mut times = vec![0; graph.edge_count()];
    let mut counted = vec![0; graph.variable_count()];
    let mut hubs = Hubs::default();
    for (at, ends) in all.starts.windows(2).enumerate() {
        let kind = at % KINDS;
        let words = &all.words[ends[0] as usize * WARP..ends[1] as usize * WARP];
        assert_eq!(words.len() % (rows(kind) * WARP), 0);
        for unit in words.chunks(rows(kind) * WARP) {
            if [MULTIPLY, HUBS, SEND].contains(&kind) {
                hubs.add(unit, kind, layout);
                continue;
            }
            for sending in sendings(unit, kind) {
                assert!(kind == WIDE || sending.inputs.len() == kind - TILES + 2);
                for (edge, input) in laid.edges(&sending).into_iter().zip(&sending.inputs) {
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
    assert_eq!(all.places.len(), times.iter().sum::<usize>() + hubs.check(layout));
    for (v, &times) in counted.iter().enumerate() {
        let (few, factors) = (graph.degree(v) <= 4, graph.variable_edges(v).iter());
        let sends = |&e: &u32| graph.arity(graph.edge_factors()[e as usize] as usize) > 1;
        assert_eq!(times, usize::from(few && factors.copied().any(|e| sends(&e))), "variable {v}");
    }
}
