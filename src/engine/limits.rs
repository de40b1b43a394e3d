//! Graphs for which there are kernels of their own on devices: the router expects other costs of all others.

/// Most variables of a conjunction.
pub(super) const MOST_VARIABLES: usize = 32;
/// Messages of a variable of many factors whose product is computed once for all messages that need it.
pub(super) const PIECE: usize = 256;
/// By levels, most words of what is to be read: 1 GiB.
pub(super) const MOST_LEVEL_WORDS: usize = 1 << 28;
