//! A session: one graph, one schedule, evidence that changes, settings, and runs.

mod base;
mod batch;
mod beliefs;
mod devices;
mod distribute;
mod impossible;
mod maximum;
mod messages;
mod partition;
mod runner;
mod settings;
mod spread;
mod workers;

pub use base::{BeliefPropagation, Contradictions};
pub use batch::{BatchResults, run_all, run_all_monitored};
#[cfg(feature = "c-interface")]
pub(crate) use batch::{run_together, thread_limit};
pub use settings::{Measure, Settings};
#[cfg(feature = "c-interface")]
pub(crate) use spread::Ran;
