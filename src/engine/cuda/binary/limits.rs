//! The sizes at which the kernels treat variables and factors in another way.

use crate::engine::cuda::interface::binary::{SMALL_TABLE, WARP_LEAVES};
use crate::engine::limits::{MOST_VARIABLES, arities_with_own_warps, has_own_warps};
use crate::model::FactorGraph;

/// More factors than this make a variable a hub.
pub(super) const FEW: usize = 4;
/// More messages than one warp takes at a time.
pub(super) const LARGE: usize = WARP_LEAVES;
/// Threads of a warp.
pub(super) const WARP: usize = 32;

/// Which factors have warps of their own, for who asks again and again: most graphs have none.
#[derive(Clone, Copy)]
pub(super) struct OwnWarps<'a> {
    pub(super) graph: &'a FactorGraph,
    pub(super) any: bool,
}

impl<'a> OwnWarps<'a> {
    /// O(factors), or O(1) where all are small conjunctions.
    pub(super) fn new(graph: &'a FactorGraph) -> Self {
        Self { graph, any: arities_with_own_warps(graph).next().is_some() }
    }

    pub(super) fn has(&self, factor: usize) -> bool {
        self.any && has_own_warps(self.graph, factor)
    }
}

/// How many of so many small tables each of so many warps takes, if it takes few others.
pub(super) fn tables_of_warp(tables: usize, warps: usize) -> usize {
    tables.div_ceil(warps.max(1)).clamp(1, WARP / SMALL_TABLE)
}

/// Whether a conjunction of so many variables is in pieces, each of which is seen to by a warp.
pub(super) fn is_large_factor(arity: usize) -> bool {
    arity > MOST_VARIABLES
}
