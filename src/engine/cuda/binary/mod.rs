//! Graphs of binary variables, most of whose factors are conjunctions of literals, as most graphs of program analysis are, in a
//! layout of its own.
//! See cuda/engine/binary.cuh.

mod flood;
mod homes;
mod housing;
mod large_factors;
mod layout;
mod level_bodies;
mod level_bound;
mod level_message_units;
mod level_messages;
mod level_ranks;
mod level_units;
mod level_versions;
mod level_words;
mod levels;
mod limits;
mod other_factors;
mod plan;
mod program;
mod shared_units;
#[cfg(test)]
mod tests;

pub(super) use plan::BinaryPlan;
pub(super) use program::BinaryProgram;
