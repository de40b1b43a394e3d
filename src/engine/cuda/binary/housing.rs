//! How many homes a graph has on a device, and what of them is in the shared memory of blocks.

use super::flood::FloodWork;
use super::homes::Homes;
use super::layout::Layout;
use super::limits::is_large_factor;
use crate::engine::limits::serves_large_factors;
use crate::error::Result;
use crate::model::FactorGraph;
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
        let arities = (0..graph.factor_count()).map(|f| graph.arity(f));
        let of_large = arities.filter(|&arity| is_large_factor(arity)).sum();
        if !serves_large_factors(of_large, graph.edge_count()) {
            return Ok(None);
        }
        let (mut turns, mut tries) = (expected_turns(graph, blocks, shared, for_damping), 0);
        loop {
            let shape = [blocks, turns];
            let Some(homes) = Homes::new(graph, shape, EDGES_OF_BLOCK, gang)? else {
                return Ok(None);
            };
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
            turns = (turns * wanted).div_ceil(shared).max(turns + 1);
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
    let slots = |degree: usize| match degree {
        0..=2 => degree,
        3..=4 => 4,
        _ => degree.next_multiple_of(8),
    };
    let slots: usize = (0..graph.variable_count()).map(|v| slots(graph.degree(v))).sum();
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
