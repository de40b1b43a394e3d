//! fastlbp: belief propagation for probabilistic program analysis.
//!
//! Any schedule is a preorder on the edges of a factor graph; a dependency analysis finds
//! what may run in parallel; results are the same bits however they are computed.
//!
//! # A short tour
//!
//! A [`FactorGraphBuilder`] or [`format::read_graph`] gives a [`FactorGraph`]: discrete variables,
//! named by labels and indexed by the rank of their label, and factors: priors, noisy conjunctions
//! (AND, the probabilistic Horn clauses), noisy disjunctions (OR), their signed and noisy relatives, sums
//! of weighted terms, and dense tables; [`structure`] finds such structure in tables.
//! A [`BeliefPropagation`] is a session on a graph with a [`Schedule`]. Evidence is set, changed and
//! cleared between runs at no cost but its own; a [`RunRequest`] says when a run ends, what it starts
//! from, and what happens where deterministic messages [contradict](Contradiction) each other.
//!
//! ```
//! use fastlbp::{
//!     BeliefPropagation, EngineOptions, FactorGraphBuilder, RunRequest, Schedule, StopRule,
//! };
//! use std::sync::Arc;
//!
//! // Two causes of an alarm: 0.9: x1 -> x10, 0.8: x2 -> x11, and x20 if either of them holds.
//! let mut builder = FactorGraphBuilder::new();
//! builder.add_prior(1, 0.25)?;
//! builder.add_prior(2, 0.5)?;
//! builder.add_and(10, &[1], 0.9, 0.0)?;
//! builder.add_and(11, &[2], 0.8, 0.0)?;
//! builder.add_or(20, &[10, 11], 1.0, 0.0)?;
//! let graph = Arc::new(builder.build()?);
//!
//! let schedule = Schedule::SequentialFixed;
//! let mut bp = BeliefPropagation::new(graph, schedule, EngineOptions::default())?;
//! let request = RunRequest::new(StopRule::Tolerance { tolerance: 1e-12, max_iterations: 100 });
//! assert!(bp.run(&request)?.converged);
//! let alarm = bp.graph().variable_of_label(20).unwrap();
//! assert!((bp.probability(alarm)? - (1.0 - 0.775 * 0.6)).abs() < 1e-15);
//!
//! // The alarm was inspected and is a true one; then the first cause turns out to be none.
//! bp.observe_label(20, 1)?;
//! bp.run(&request)?;
//! let (first, second) = (bp.probability(0)?, bp.probability(1)?);
//! assert!(first > 0.25 && second > 0.5);
//! bp.observe_label(1, 0)?;
//! bp.run(&request)?;
//! assert_eq!(bp.probability(1)?, 1.0);
//! # Ok::<(), fastlbp::Error>(())
//! ```
//!
//! Besides marginals there are the most probable joint state
//! ([`BeliefPropagation::find_maximum`], after a run with [`Inference::MaxProduct`]), the log-partition
//! ([`BeliefPropagation::log_partition`]) and joint beliefs of variables that share a factor
//! ([`BeliefPropagation::joint_belief`]). [`ExactInference`] has the same exactly, for graphs of small treewidth.
//!
//! [`ranking`] has what users of program analyses do with such runs: rank alarms answer by answer, and rank suspects.
//!
//! [`schedule`] says what a schedule means and how it becomes levels; [`mod@format`] lists the files that
//! can be read and written. The C interface, documented in `include/fastlbp.h`, is there with the feature `c-interface`.

mod counting_sort;
pub mod engine;
pub mod error;
pub mod exact;
// What only devices need is there without them, too.
#[cfg_attr(not(cuda), allow(dead_code, unused_imports))]
pub mod factor;
#[cfg(feature = "c-interface")]
pub mod ffi;
pub mod format;
pub mod generate;
mod hash;
#[cfg_attr(not(cuda), allow(dead_code, unused_imports))]
mod kernel;
mod memory;
pub mod model;
#[cfg_attr(not(cuda), allow(dead_code))]
mod parallel;
mod prefetch;
pub mod ranking;
pub mod schedule;
pub mod session;
pub mod structure;
#[cfg(test)]
mod testing;
mod threads;

pub use engine::{
    Backend, Contradiction, Control, DeviceSet, EngineOptions, Inference, Progress, RunReport,
    RunRequest, Start, StopReason, StopRule,
};
pub use error::{Error, Result};
pub use exact::ExactInference;
pub use model::{Evidence, FactorGraph, FactorGraphBuilder, VariableEvidence};
pub use schedule::Schedule;
pub use session::{
    BatchResults, BeliefPropagation, Contradictions, Measure, Settings, run_all, run_all_monitored,
};

/// The Rust example of README.md, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The Rust examples of the book, as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/guides/languages.md")]
struct Book;
