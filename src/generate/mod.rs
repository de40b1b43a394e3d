//! Factor graphs for tests and experiments: shaped like those of program analyses, pairwise models, and graphs with
//! what engines find hard.
//!
//! All choices are made by a generator, by arithmetic on integers, and by operations on `f64` that are rounded correctly on
//! every machine, so that a shape, a size and a seed give the same graph on every machine. Another version of the library
//! may give another one.

mod bingo;
mod choices;
mod extremes;
mod generated;
mod layers;
mod models;
mod plan;
mod smartfl;
#[cfg(test)]
mod tests;

pub use bingo::bingo;
pub use extremes::Extremes;
pub use generated::{Generated, MAX_VARIABLES, MIN_VARIABLES};
pub use layers::layers;
pub use models::{MAX_STATES, ising, potts, rbm};
pub use plan::{Plan, Shape};
pub use smartfl::smartfl;
