//! CUDA: the driver, loaded at run time, and what is known about a device.

mod all_beliefs;
mod binary;
mod control;
mod driver;
mod engine;
mod general;
mod interface;
mod kernels;
mod long_factors;
mod lzma2;
mod parameters;
mod parts;
mod probe;
mod program;
mod programs;
mod run;
mod start;
#[cfg(test)]
mod tests;

use super::device::{DeviceInfo, DeviceMemory, DeviceTimes, DriverVersion};
use super::interface::{Engine, Problem, Provider};
use super::options::Backend;
use super::request::RunRequest;
use crate::error::Result;
use crate::memory::boxed;
use crate::model::FactorGraph;
use crate::schedule::Schedule;
use driver::{Context, Device};
use engine::CudaEngine;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the driver has been started by an engine of this process.
static STARTED: AtomicBool = AtomicBool::new(false);

/// The backend `cuda`.
pub(super) struct Cuda;

impl Provider for Cuda {
    fn backend(&self) -> Backend {
        Backend::Cuda
    }

    fn is_present(&self) -> bool {
        Device::count().is_ok()
    }

    fn may_be_present(&self) -> bool {
        driver::is_there()
    }

    fn is_started(&self) -> bool {
        STARTED.load(Ordering::Relaxed)
    }

    fn reason_against_graph(&self, graph: &FactorGraph) -> Option<&'static str> {
        programs::reason_against_graph(graph)
    }

    fn reason_against(&self, schedule: &Schedule, _: &RunRequest) -> Option<&'static str> {
        programs::reason_against_schedule(schedule)
    }

    fn make(&self, problem: Problem<'_>) -> Result<Box<dyn Engine>> {
        let engine = boxed(CudaEngine::new(problem)?)?;
        STARTED.store(true, Ordering::Relaxed);
        Ok(engine)
    }
}

pub(super) fn driver_version() -> Result<DriverVersion> {
    driver::driver_version()
}

pub(super) fn device_count() -> Result<u32> {
    Device::count()
}

pub(super) fn device_info(index: u32) -> Result<DeviceInfo> {
    let device = Device::get(index)?;
    Ok(DeviceInfo {
        index,
        name: device.name()?,
        total_memory: device.total_memory()?,
        compute_capability: device.compute_capability()?,
        multiprocessors: device.multiprocessors()?,
    })
}

pub(super) fn device_memory(index: u32) -> Result<DeviceMemory> {
    let context = Context::temporary(Device::get(index)?)?;
    let (free, total) = context.enter()?.memory()?;
    Ok(DeviceMemory { total, free })
}

pub(super) fn check_device(index: u32) -> Result<DeviceTimes> {
    let context = Context::temporary(Device::get(index)?)?;
    probe::check(&context.enter()?)
}

pub(super) fn start_device(index: u32) -> Result<()> {
    Context::new(Device::get(index)?)?;
    STARTED.store(true, Ordering::Relaxed);
    Ok(())
}
