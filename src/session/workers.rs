//! What a session keeps for its next batch.

use super::devices::DeviceWorker;
use super::runner::Runner;
use crate::engine::DeviceSet;
use crate::schedule::Schedule;

/// Engines that run the entries of batches; they stay for the next one.
#[derive(Default)]
pub(super) struct Workers {
    /// One thread each.
    pub(super) single: Vec<Runner>,
    /// One for each of several devices.
    pub(super) devices: Vec<DeviceWorker>,
    /// Devices that failed in a batch.
    pub(super) failed_devices: DeviceSet,
    /// All threads together.
    pub(super) team: Option<Runner>,
    /// The schedule in the form that all of them share.
    pub(super) schedule: Option<Schedule>,
}
