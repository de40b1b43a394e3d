//! What local structure a dense table has.
//!
//! A table's messages cost a few operations per entry; those of a conjunction, of a noisy OR or of a
//! few disjoint terms cost a few per variable or per term. Sessions find the structure of their tables
//! and run them as what they are; [`summarise`] says what was found, by the field's names. What a table
//! is depends on the table alone.

mod class;
mod compile;
mod conjunction;
mod noisy;
mod recognise;
mod terms;
#[cfg(test)]
mod tests;

pub(crate) use compile::compile;
pub use compile::{TableSummary, summarise};
