//! Work items of levels, and how many threads share one.

use crate::engine::cuda::interface::factors::Span;
use crate::engine::cuda::interface::general::{Item, VALUES_AT_ONCE};
use crate::engine::cuda::parameters::{PRODUCT, tree_nodes};
use crate::error::Result;
use crate::kernel::stored_values;
use crate::memory::{Grow, filled};
use crate::model::FactorGraph;

/// Bytes of memory that a thread may have for a factor, and a warp for a factor or a variable.
pub(super) const THREAD_BYTES: u64 = 512;
const WARP_BYTES: u64 = 16 << 10;

impl Span {
    /// That of work which takes so many bytes of memory, if it is too much for a thread.
    pub fn of_bytes(bytes: u64) -> Self {
        if bytes <= WARP_BYTES { Self::Warp } else { Self::Block }
    }
}

/// Items of all levels, and where each level starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Items {
    pub list: Vec<Item>,
    pub levels: Vec<u32>,
}

impl Items {
    pub fn new() -> Result<Self> {
        Ok(Self { list: Vec::new(), levels: filled(1, 0)? })
    }

    pub fn push(&mut self, factor: u32, first: usize, end: usize) -> Result<()> {
        self.list.try_push(Item { factor, first: first as u32, end: end as u32 })
    }

    pub fn end_level(&mut self) -> Result<()> {
        self.levels.try_push(self.list.len() as u32)
    }

    /// Number of items of the widest level.
    pub fn width(&self) -> usize {
        widest(&self.levels)
    }
}

/// Number of items of the widest level, given where each level starts, and where the last one ends.
pub(super) fn widest(levels: &[u32]) -> usize {
    levels.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0) as usize
}

/// Bytes of memory for the products over so many edges.
pub(super) fn product_memory(degree: usize) -> u64 {
    let blocks = degree.div_ceil(8) as u64;
    PRODUCT * (blocks + tree_nodes(blocks))
}

/// Who computes all messages of a variable of many, and the bytes of memory that it takes. See VariableMemory in
/// general_variables.cuh.
pub(super) fn of_many(graph: &FactorGraph, v: usize) -> (Span, u64) {
    of_messages(graph.degree(v), stored_values(graph.cardinalities()[v]) as u64)
}

/// The same for so many messages, and stored values of each.
pub(super) fn of_messages(degree: usize, width: u64) -> (Span, u64) {
    let values = (8 * width).max(VALUES_AT_ONCE);
    let bytes = width * (PRODUCT + product_memory(degree)) + (PRODUCT + 16) * values;
    (Span::of_bytes(bytes), bytes)
}
