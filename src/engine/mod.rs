//! Engines run iterations of belief propagation. All give the same bits.
//!
//! A session asks its `Router`, which chooses a backend of the registry for each run, makes its engine, and
//! moves the messages there as a `Snapshot`. Only `cuda` knows CUDA; without it `no_cuda` stands in its place.

#[macro_use]
mod measured;

mod belief;
mod cpu;
#[cfg_attr(not(cuda), path = "no_cuda.rs")]
mod cuda;
pub mod device;
mod factor_tables;
mod interface;
mod limits;
mod options;
mod registry;
mod request;
mod router;
pub(crate) mod snapshot;
#[cfg(test)]
mod trial;

pub use crate::kernel::Inference;
pub(crate) use belief::{Inputs, expand, state_weight};
pub(crate) use interface::Run;
pub use options::{Backend, DeviceSet, EngineOptions};
pub use request::{
    Contradiction, Control, Progress, RunReport, RunRequest, Start, StopReason, StopRule,
};
pub(crate) use router::{Router, is_of_device};
pub(crate) use snapshot::{Snapshot, value_count};
