//! Whether a device is worth while, with no more looked up than the answer needs.

use super::Machine;
use super::cost::{Costs, Shape, Work};
use crate::model::FactorGraph;
use crate::schedule::Schedule;

/// What is known of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Device {
    Unknown,
    Present,
    /// There is none, or it failed.
    Gone,
}

/// The question whether the device is faster, and what is looked up to answer it.
pub(super) struct Chance<'a> {
    pub(super) costs: &'a Costs,
    pub(super) work: &'a Work,
    pub(super) graph: &'a FactorGraph,
    pub(super) schedule: &'a Schedule,
    pub(super) machine: &'a dyn Machine,
    pub(super) device: &'a mut Device,
    pub(super) shape: &'a mut Shape,
}

impl Chance<'_> {
    /// Whether the device, by its seconds for a shape, is done before `cpu` seconds. What costs time is
    /// only looked up where it can change the answer: that there is a device, and the levels of the
    /// schedule, which may take a small share of the time on the CPU.
    pub(super) fn wins(&mut self, cpu: f64, on_device: impl Fn(Shape) -> f64) -> bool {
        if cpu <= on_device(*self.shape) {
            return false;
        }
        if *self.device == Device::Unknown {
            let present = self.machine.has_device();
            *self.device = if present { Device::Present } else { Device::Gone };
        }
        if *self.device == Device::Gone {
            return false;
        }
        if *self.shape == Shape::Unknown {
            if cpu * self.costs.analysis_share < self.costs.analysis * self.work.edges {
                return false;
            }
            match Shape::found(self.graph, self.schedule) {
                Ok(shape) => *self.shape = shape,
                Err(_) => return false, // the CPU engine says what is wrong
            }
        }
        cpu > on_device(*self.shape)
    }
}
