//! How many homes a graph has on a device, and what of them is in the shared memory of blocks.

use super::flood::FloodWork;
use super::homes::{Home, Homes, OrderAlongVariables};
use super::layout::Layout;
use super::limits::{FEW, OwnWarps, WARP};
use crate::engine::cuda::interface::binary::TILE_ARITY;
use crate::engine::limits::has_kernels_of_binary_variables;
use crate::error::Result;
use crate::memory::zeroed;
use crate::model::FactorGraph;
use crate::parallel::all_parts;
use crate::threads::Gang;

/// How often homes are tried with other sizes.
const MOST_TRIES: usize = 8;
/// Edges that are worth a block of threads where all messages are sent at once.
const EDGES_OF_BLOCK: usize = 128;

/// What a block has in shared memory: so many bytes, and whether the words of its factors are there as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub bytes: usize,
    pub with_words: bool,
}

/// Which homes a graph has, and what follows of them.
pub(super) struct Housing {
    pub homes: Homes,
    pub work: FloodWork,
}

impl Housing {
    /// The fewest homes that fit in so many bytes of shared memory of each of so many blocks of so many warps, in damped runs as
    /// well if `for_damping`. `None` if the graph is not one of the binary program, or none are found.
    pub(super) fn new(
        graph: &FactorGraph, [blocks, warps]: [usize; 2], shared: usize, for_damping: bool,
        gang: &Gang,
    ) -> Result<Option<(Layout, Self)>> {
        if !has_kernels_of_binary_variables(graph, false) {
            return Ok(None);
        }
        let (mut turns, mut tries) = (expected_turns(graph, blocks, shared, for_damping), 0);
        let mut order = OrderAlongVariables::default();
        let more =
            |turns: usize, wanted: usize| (turns * wanted).div_ceil(shared.max(1)).max(turns + 1);
        loop {
            let shape = [blocks, turns];
            let Some(homes) = Homes::new(graph, shape, EDGES_OF_BLOCK, &mut order, gang)? else {
                return Ok(None);
            };
            if homes.take_turns && turns < graph.factor_count() && shared > 0 {
                // What homes have takes longer to make than to count.
                let least = least_bytes(graph, &homes, for_damping, gang)?;
                if least > shared {
                    turns = more(turns, least);
                    continue;
                }
            }
            let Some(layout) = Layout::new(graph, Some(&homes), gang)? else { return Ok(None) };
            let work = FloodWork::new(graph, &layout, &homes, warps, gang)?;
            let housing = Self { homes, work };
            if housing.room(shared, for_damping).is_some() {
                return Ok(Some((layout, housing)));
            }
            tries += 1;
            let wanted = housing.largest(true, false, for_damping);
            if tries == MOST_TRIES || turns >= graph.factor_count() || shared == 0 {
                return Ok(None);
            }
            turns = more(turns, wanted);
        }
    }

    /// `None` if that is more than `shared` bytes. Homes that take turns have all in shared memory but words of hubs, which are
    /// of no one home.
    pub(super) fn room(&self, shared: usize, damped: bool) -> Option<Room> {
        let words: &[bool] = if self.homes.take_turns { &[true] } else { &[true, false] };
        let room = |&with_words: &bool| Room {
            bytes: self.largest(with_words, !self.homes.take_turns, damped),
            with_words,
        };
        words.iter().map(room).find(|room| room.bytes <= shared)
    }

    /// The bytes of the largest home; see [`HomeShape::bytes`].
    fn largest(&self, with_words: bool, with_hub_words: bool, damped: bool) -> usize {
        let of_homes = self.work.homes.iter();
        of_homes.map(|home| home.bytes(with_words, with_hub_words, damped)).max().unwrap_or(0)
    }
}

/// How many homes of each block will most likely do, or fewer. O(variables).
fn expected_turns(graph: &FactorGraph, blocks: usize, shared: usize, for_damping: bool) -> usize {
    let slots = (0..graph.variable_count()).map(|v| slots_of_degree(graph.degree(v)));
    let slots: usize = slots.sum();
    let messages = if for_damping { 16 * slots } else { 8 * slots };
    let room = (blocks * shared).max(1);
    match messages <= room {
        true => 1,
        false => {
            let words = 4 * (graph.edge_count() + graph.factor_count()) + graph.variable_count();
            (messages + words).div_ceil(room).max(2)
        }
    }
}

/// Slots of a variable at a home.
fn slots_of_degree(degree: usize) -> usize {
    match degree {
        0..=2 => degree,
        3..=FEW => 4,
        _ => degree.next_multiple_of(8),
    }
}

/// The bytes of the largest home with words, or a few less, as in [`HomeShape::bytes`]. O(edges).
pub(super) fn least_bytes(
    graph: &FactorGraph, homes: &Homes, for_damping: bool, gang: &Gang,
) -> Result<usize> {
    let of_place = if for_damping { 16 } else { 8 };
    let add = |bytes: &mut u32, more: usize| *bytes = bytes.saturating_add(more as u32);
    let (factors, variables) = (graph.factor_count(), graph.variable_count());
    let own_warps = OwnWarps::new(graph);
    let threads = gang.threads();
    // What each thread has found of all homes.
    let mut parts = all_parts(threads, gang, |thread| {
        let mut bytes: Vec<u32> = zeroed(homes.count())?;
        let own = |count: usize| count * thread / threads..count * (thread + 1) / threads;
        for f in own(factors).filter(|&f| !own_warps.has(f)) {
            let edges = &graph.edge_variables()[graph.factor_edges(f)];
            let shared = edges.iter().filter(|&&v| homes.of_variable[v as usize] == Home::Shared);
            // A place and a word of each edge that leaves the home; those of others are of variables.
            let joined = shared.count() * (of_place + 4);
            let words = match edges.len() {
                0 => 0,
                // A constant, and where it goes.
                1 => 3,
                arity @ 2..=TILE_ARITY => 1 + arity,
                _ => 2 * WARP,
            };
            add(&mut bytes[homes.of_factor[f] as usize], joined + 4 * words);
        }
        for v in own(variables) {
            if let Home::At(home) = homes.of_variable[v] {
                let hub = if graph.degree(v) > FEW { 4 } else { 0 };
                let own = of_place * slots_of_degree(graph.degree(v)) + hub + 1;
                add(&mut bytes[home as usize], own);
            }
        }
        Ok(bytes)
    })?;
    let Some((first, others)) = parts.split_first_mut() else { return Ok(0) };
    for (home, bytes) in first.iter_mut().enumerate() {
        others.iter().for_each(|part| add(bytes, part[home] as usize));
    }
    Ok(first.iter().copied().max().unwrap_or(0) as usize)
}
