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
mod stream;
mod workers;

pub use base::{BeliefPropagation, Contradictions};
#[cfg(feature = "c-interface")]
pub(crate) use batch::run_together;
pub use batch::{BatchResults, run_all, run_all_monitored};
pub use settings::{Measure, Settings};
#[cfg(feature = "c-interface")]
pub(crate) use spread::Ran;
