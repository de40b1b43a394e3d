//! Graphs of binary variables and conjunctions of literals, with sums and without damping: what most
//! graphs of program analysis are, in a layout of its own. See cuda/engine/binary.cuh, whose structs `device`
//! and `flood` mirror.

mod device;
mod flood;
mod homes;
mod layout;
mod levels;
mod limits;
mod program;
#[cfg(test)]
mod tests;

pub(super) use program::BinaryProgram;
