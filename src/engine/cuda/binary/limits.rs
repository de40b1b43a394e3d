//! The sizes at which the kernels treat variables and factors in another way.

/// More factors than this make a variable a hub.
pub(super) const FEW: usize = 4;
/// More messages than one warp takes at a time.
pub(super) const LARGE: usize = 256;
/// Most variables of a factor that a single thread takes.
pub(super) const TILE_ARITY: usize = 8;
/// Threads of a warp.
pub(super) const WARP: usize = 32;
