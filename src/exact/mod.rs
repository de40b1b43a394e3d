//! Exact inference: marginals, partition function and most probable joint state by a junction tree.
//!
//! For asking how far belief propagation is off, on graphs of small treewidth. Variables are eliminated one by one in
//! a greedy order (`elimination`); each leaves a clique, itself and those that it shared a factor with by then, and a
//! table over it (`inference.rs`). Sums (or maxima) go from the cliques to those that were made later, and back. All numbers
//! have exponents without bounds, so that nothing under- or overflows. Observed variables are in no clique.

mod elimination;
mod inference;
mod walk;

pub use inference::{DEFAULT_TABLE_LIMIT, ExactInference};
