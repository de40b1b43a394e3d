//! How the iterations of a graph and a schedule run.

/// How iterations run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub by_levels: bool,
    /// Whether each iteration has a preorder of its own.
    pub iterations_differ: bool,
    /// Threads of a warp.
    pub warp: u32,
}
