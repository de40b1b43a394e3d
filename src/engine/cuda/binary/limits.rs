//! The sizes at which the kernels treat variables and factors in another way.

use crate::engine::cuda::interface::binary::WARP_LEAVES;
use crate::engine::limits::MOST_VARIABLES;

/// More factors than this make a variable a hub.
pub(super) const FEW: usize = 4;
/// More messages than one warp takes at a time.
pub(super) const LARGE: usize = WARP_LEAVES;
/// Threads of a warp.
pub(super) const WARP: usize = 32;

/// Whether a factor of so many variables is in pieces, each of which is seen to by a warp.
pub(super) fn is_large_factor(arity: usize) -> bool {
    arity > MOST_VARIABLES
}
