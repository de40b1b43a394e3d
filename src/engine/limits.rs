//! Graphs for which there are kernels of their own on devices: the router expects other costs of all others.

/// Most variables of a conjunction that a warp takes at once: larger ones are in pieces, and only where all messages are sent at
/// once.
pub(super) const MOST_VARIABLES: usize = 32;

/// Whether so few of a graph's edges are of larger conjunctions that these kernels serve it.
pub(super) fn serves_large_factors(of_large: usize, edges: usize) -> bool {
    2 * of_large <= edges
}

/// Messages of a variable of many factors whose product is computed once for all messages that need it.
pub(super) const PIECE: usize = 256;
/// By levels, most words of what is to be read: 1 GiB.
pub(super) const MOST_LEVEL_WORDS: usize = 1 << 28;
