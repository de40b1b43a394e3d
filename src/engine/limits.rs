//! Graphs for which there are kernels of their own on devices: the router expects other costs of all others.

/// Most variables of a conjunction.
pub(super) const MOST_VARIABLES: usize = 32;
/// By levels, most factors of a variable.
pub(super) const MOST_LEVEL_DEGREE: usize = 8192;
/// By levels, most words of what is to be read: 1 GiB. A variable with d factors needs about d^2 / 2 of them.
pub(super) const MOST_LEVEL_WORDS: usize = 1 << 28;
