//! Whether warps that do their units by levels, one after the other, come to an end.

use super::trees::Node;
use super::{Input, Laid, Reading, of_unit};
use crate::engine::cuda::binary::level_messages::first_place;
use crate::engine::cuda::binary::levels::LevelWork;
use crate::engine::cuda::binary::limits::WARP;
use crate::engine::cuda::interface::binary::{
    NODE_DOWN, NODE_LEAF_DOWN, NODE_LEAF_UP, NODE_NONE, NODE_OTHER_FACTOR, NODE_ROOT,
    NODE_SMALL_TABLES, NODE_UP,
};
use crate::engine::cuda::interface::words::{
    HUB_NOTHING, VERSION_NONE, hub_reading, input, leaf, level_message, unit_shape, version,
};
use std::collections::HashSet;

/// What units wait for in an iteration, and what they publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Item {
    Message { slot: u32 },
    Version { place: u32 },
    Up { node: u32 },
    Down { node: u32 },
}

#[derive(Default)]
struct Steps {
    needs: Vec<Item>,
    gives: Vec<Item>,
    /// Places of versions of the iteration before that are read.
    reads: Vec<u32>,
}

impl Steps {
    fn add_message(&mut self, laid: &Laid<'_>, slot: u32) {
        if slot as usize >= first_place(laid.layout.slots) {
            self.needs.push(Item::Message { slot });
            return;
        }
        let edge = laid.edge_of_slot[slot as usize].unwrap();
        // What factors with one variable send is there.
        if laid.graph.arity(laid.graph.edge_factors()[edge] as usize) > 1 {
            self.needs.push(Item::Message { slot });
        }
    }

    /// What a thread reads of eight messages.
    fn add_eight(&mut self, laid: &Laid<'_>, [slot, bits, ..]: [u32; 4]) {
        let last = hub_reading::LAST_BITS.get(bits);
        if bits & HUB_NOTHING != HUB_NOTHING {
            assert_eq!(last & (last.wrapping_sub(1)), 0);
            (0..8).filter(|i| bits >> i & 1 != 0).for_each(|i| self.add_message(laid, slot + i));
        }
    }

    fn add_versions(&mut self, words: impl Iterator<Item = u32>) {
        for word in words.filter(|&word| word != VERSION_NONE) {
            let place = version::PLACE.get(word);
            match version::NEW.is_in(word) {
                true => self.needs.push(Item::Version { place }),
                false => self.reads.push(place),
            }
        }
    }

    fn add_input(&mut self, laid: &Laid<'_>, input: &Input) {
        match &input.read {
            Reading::Nothing => {}
            Reading::Threads(leaves, _) => {
                for &word in leaves.iter().filter(|&&word| leaf::NEW.is_in(word)) {
                    self.add_message(laid, leaf::SLOT.get(word));
                }
            }
            Reading::Hub(threads, versions) => {
                threads.iter().for_each(|&thread| self.add_eight(laid, thread));
                self.add_versions(versions.iter().copied());
            }
        }
        if input.is_sent {
            self.gives.push(Item::Message { slot: input::SLOT.get(input.word) });
        }
    }

    fn add_node(&mut self, Node { kind, own: node, taken }: Node) {
        if [NODE_OTHER_FACTOR, NODE_SMALL_TABLES].contains(&kind) {
            return;
        }
        let below = |of: fn(u32) -> Item| taken.iter().map(move |&node| of(node));
        let (up, down) = (|node| Item::Up { node }, |node| Item::Down { node });
        if [NODE_UP, NODE_ROOT, NODE_DOWN].contains(&kind) {
            self.needs.extend(below(up));
        }
        if [NODE_ROOT, NODE_DOWN].contains(&kind) {
            self.gives.extend(below(down));
        }
        if [NODE_DOWN, NODE_LEAF_DOWN].contains(&kind) {
            self.needs.push(down(node));
        }
        if [NODE_UP, NODE_LEAF_UP].contains(&kind) {
            self.gives.push(up(node));
        }
        assert!(node != NODE_NONE || kind == NODE_ROOT);
    }

    fn of_unit(laid: &Laid<'_>, work: &LevelWork, number: usize) -> Self {
        let mut steps = Self::default();
        let unit = work.units[number];
        if unit_shape::MULTIPLIES.is_in(unit.shape) {
            let words = work.words[128 * unit.chunk as usize..][..128].as_chunks::<4>().0;
            if words[0][3] != 0 {
                steps.add_versions(words.iter().map(|thread| thread[0]));
            } else {
                words.iter().for_each(|&thread| steps.add_eight(laid, thread));
            }
            steps.gives.push(Item::Version { place: words[0][2] });
        } else if unit_shape::VARIABLES.is_in(unit.shape) {
            let words = &work.words[128 * unit.chunk as usize..];
            let (of_threads, of_hubs) = (words.as_chunks::<4>().0, words[128..].as_chunks::<4>().0);
            for (&[place, bits, ..], &[slot, news, of, count]) in
                of_threads.iter().zip(of_hubs).take(WARP)
            {
                steps.add_eight(laid, [slot, news, of, count]);
                let earlier = level_message::NEWS.get(bits) | news & !0xff;
                steps.add_eight(laid, [slot, earlier, of, count]);
                let places = place..place + level_message::SENT.get(bits).count_ones();
                steps.gives.extend(places.map(|slot| Item::Message { slot }));
            }
            if unit_shape::GIANTS.get(unit.shape) > 0 {
                steps.add_versions(words[256..384].iter().copied());
            }
        } else if let Some((node, threads)) = Node::of_unit(work, number) {
            let inputs = threads.all.iter().filter_map(|(_, input)| input.as_ref());
            inputs.for_each(|input| steps.add_input(laid, input));
            steps.add_node(node);
        } else {
            let sendings = of_unit(work, number);
            let inputs = sendings.iter().flat_map(|sending| &sending.inputs);
            inputs.for_each(|input| steps.add_input(laid, input));
        }
        steps
    }
}

/// Each warp can do all of its units, whichever of what they wait for comes from the same iteration; nothing is published twice, and
/// no version that nobody reads.
pub(super) fn check_order(laid: &Laid<'_>, work: &LevelWork) {
    let (mut there, mut read) = (HashSet::new(), HashSet::new());
    let steps =
        |range: &[u32]| (range[0]..range[1]).map(|unit| Steps::of_unit(laid, work, unit as usize));
    let mut warps: Vec<_> = work.starts.windows(2).map(|range| steps(range).peekable()).collect();
    loop {
        let (mut has_moved, mut waiting) = (false, 0);
        for warp in &mut warps {
            let is_ready = |steps: &Steps| steps.needs.iter().all(|item| there.contains(item));
            let Some(steps) = warp.next_if(is_ready) else {
                waiting += usize::from(warp.peek().is_some());
                continue;
            };
            read.extend(steps.reads.into_iter().map(|place| Item::Version { place }));
            read.extend(steps.needs);
            for item in steps.gives {
                assert!(there.insert(item), "{item:?} twice");
            }
            has_moved = true;
        }
        if !has_moved {
            assert_eq!(waiting, 0, "warps wait for each other");
            let is_version = |item: &&Item| matches!(item, Item::Version { .. });
            let unread = there.difference(&read).find(is_version);
            assert_eq!(unread, None, "nobody reads this");
            return;
        }
    }
}
