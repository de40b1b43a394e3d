//! What a binary graph and a schedule are on a device, as far as it can be made before the driver has started.

use super::housing::Housing;
use super::layout::{Layout, changes};
use super::level_messages::first_place;
use super::levels::LevelWork;
use super::limits::WARP;
use crate::counting_sort::counting_sort;
use crate::engine::cuda::driver::Device;
use crate::engine::cuda::interface::binary::{FLOOD_SHARED, LEVEL_THREADS};
use crate::engine::cuda::interface::run::THREADS;
use crate::engine::cuda::program::gang_for;
use crate::error::Result;
use crate::memory::filled;
use crate::model::FactorGraph;
use crate::parallel::computed;
use crate::schedule::{KnownOrder, Schedule};
use crate::threads::Gang;

/// Graphs with at most so many edges run on one block by levels.
const ONE_BLOCK: usize = 1024;
/// In messages.
const STATE_ALIGNMENT: usize = 16;

/// All that a [`BinaryProgram`](super::BinaryProgram) is made of.
pub(in crate::engine::cuda) struct BinaryPlan {
    pub(super) layout: Layout,
    pub(super) work: Work,
    /// Entries of a state of the messages.
    pub(super) stride: usize,
    /// The words of all inputs, where nothing is known about variables.
    pub(super) words: Vec<u32>,
    /// The places of each edge's input among the words, as in `LevelWork`: `places[offsets[e]..offsets[e + 1]]`.
    pub(super) places: Vec<u32>,
    pub(super) offsets: Vec<u32>,
}

/// What an iteration is.
pub(super) enum Work {
    /// By levels, for so many blocks and so many warps in all.
    Levels {
        work: LevelWork,
        blocks: u32,
        warps: usize,
        /// A bit for each slot: whether its message is sent in every iteration.
        sent: Vec<u32>,
    },
    /// All messages at once, by blocks that have at most so many bytes of shared memory.
    AtOnce { housing: Housing, shared: u32, degrees: Vec<u32> },
}

impl BinaryPlan {
    /// `None` if the graph and the schedule are not of this kind. With `for_damping`, what damped runs need fits in shared
    /// memory, though others may then take longer.
    pub(in crate::engine::cuda) fn new(
        device: Device, graph: &FactorGraph, schedule: &Schedule, order: &KnownOrder,
        for_damping: bool,
    ) -> Result<Option<Self>> {
        let preorder = match schedule {
            Schedule::SequentialRandom { .. } | Schedule::MaximumResidual { .. } => {
                return Ok(None);
            }
            Schedule::Parallel => None,
            _ => Some(order.preorder(graph, schedule)?).filter(|order| order.class_count() > 1),
        };
        let warps = |threads: u32| threads as usize / WARP;
        let multiprocessors = device.multiprocessors()?;
        let gang = &gang_for(graph);
        let edges = graph.edge_count();
        let (layout, work, stride, words, places);
        if let Some(preorder) = preorder {
            let Some(made) = Layout::new(graph, None, gang)? else { return Ok(None) };
            let blocks = if edges <= ONE_BLOCK { 1 } else { multiprocessors };
            let shape = [blocks as usize, warps(LEVEL_THREADS)];
            let ordered = (preorder, order.levels(graph, schedule)?);
            let Some(mut levels) = LevelWork::new(graph, &made, ordered, shape, gang)? else {
                return Ok(None);
            };
            layout = made;
            words = std::mem::take(&mut levels.words);
            places = std::mem::take(&mut levels.places);
            stride = stride_with(&layout, levels.variable_messages);
            let sent = sent_slots(graph, &layout, stride)?;
            work = Work::Levels { work: levels, blocks, warps: shape[0] * shape[1], sent };
        } else {
            let shared = device.shared_memory()?.saturating_sub(FLOOD_SHARED);
            let shape = [multiprocessors as usize, warps(THREADS)];
            let found = Housing::new(graph, shape, shared as usize, for_damping, gang)?;
            let Some((made, mut housing)) = found else { return Ok(None) };
            layout = made;
            words = std::mem::take(&mut housing.work.words);
            places = std::mem::take(&mut housing.work.places);
            let degree = |at: usize| graph.degree(layout.variable[at] as usize) as u32;
            let degrees = computed(graph.variable_count(), gang, degree)?;
            stride = stride_with(&layout, 0);
            work = Work::AtOnce { housing, shared, degrees };
        }
        let (offsets, places) = by_edge(edges, &places, gang)?;
        Ok(Some(Self { layout, work, stride, words, places, offsets }))
    }
}

/// Entries of a state of the messages: behind all slots there are ones to read, and so many messages from variables; and all states
/// begin where a line of the cache does.
fn stride_with(layout: &Layout, variable_messages: usize) -> usize {
    (first_place(layout.slots) + variable_messages).next_multiple_of(STATE_ALIGNMENT)
}

/// Where each edge's places lie, and all places by edge.
fn by_edge(edges: usize, places: &[(u32, u32)], gang: &Gang) -> Result<(Vec<u32>, Vec<u32>)> {
    let keys = computed(places.len(), gang, |at| places[at].1)?;
    let (order, offsets) = counting_sort(&keys, edges, gang)?;
    let sorted = computed(places.len(), gang, |at| places[order[at] as usize].0)?;
    Ok((offsets, sorted))
}

/// A bit for each slot, and place behind the slots: whether its message is sent in every iteration.
fn sent_slots(graph: &FactorGraph, layout: &Layout, stride: usize) -> Result<Vec<u32>> {
    let mut bits = filled(stride.div_ceil(32), 0)?;
    let mut set = |at: usize| bits[at / 32] |= 1 << (at % 32);
    for (edge, &slot) in layout.slot_of_edge.iter().enumerate() {
        if changes(graph, edge) {
            set(slot as usize);
        }
    }
    (first_place(layout.slots)..stride).for_each(set);
    Ok(bits)
}
