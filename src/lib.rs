//! fastlbp: belief propagation for probabilistic program analysis.
//!
//! Any update strategy is a preorder on the edges of a factor graph; a dependency analysis finds
//! what may run in parallel; results are the same bits however they are computed.

pub mod engine;
pub mod error;
pub mod ffi;
pub mod format;
pub mod generate;
pub mod inference;
mod kernel;
pub mod model;
pub mod schedule;

pub use engine::{
    Backend, Contradiction, Control, EngineOptions, Progress, RunReport, RunRequest, Start,
    StopReason, StopRule,
};
pub use error::{Error, Result};
pub use inference::BeliefPropagation;
pub use model::{Evidence, FactorGraph, FactorGraphBuilder, VariableEvidence};
pub use schedule::Schedule;
