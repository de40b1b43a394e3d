//! fastlbp: belief propagation for probabilistic program analysis.
//!
//! Any update strategy is a preorder on the edges of a factor graph; a dependency analysis finds
//! what may run in parallel; results are the same bits however they are computed.

pub mod error;
pub mod format;
pub mod model;

pub use error::{Error, Result};
