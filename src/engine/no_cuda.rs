//! In the place of `cuda`, where that is not built: there are no devices.

use super::device::{DeviceInfo, DeviceMemory, DeviceTimes, DriverVersion, choose_device};
use super::interface::{Engine, Problem, Provider};
use super::options::Backend;
use crate::error::{Error, Result};

/// The backend `cuda`, which cannot be had.
pub(super) struct Cuda;

impl Provider for Cuda {
    fn backend(&self) -> Backend {
        Backend::Cuda
    }

    fn is_present(&self) -> bool {
        false
    }

    fn may_be_present(&self) -> bool {
        false
    }

    fn make(&self, problem: Problem<'_>) -> Result<Box<dyn Engine>> {
        choose_device(problem.options.device)?;
        Err(not_built())
    }
}

fn not_built() -> Error {
    Error::NoDevice(
        "this build of fastlbp has no CUDA: build it with --features cuda, on Linux, x86-64 or 64-bit Arm, and \
         where there is no CUDA toolkit with CUDA_LIBRARY_PATH=SOURCES/cuda/stub in the environment"
            .into(),
    )
}

pub(super) fn driver_version() -> Result<DriverVersion> {
    Err(not_built())
}

pub(super) fn device_count() -> Result<u32> {
    Err(not_built())
}

pub(super) fn device_info(_index: u32) -> Result<DeviceInfo> {
    Err(not_built())
}

pub(super) fn device_memory(_index: u32) -> Result<DeviceMemory> {
    Err(not_built())
}

pub(super) fn check_device(_index: u32) -> Result<DeviceTimes> {
    Err(not_built())
}

pub(super) fn start_device(_index: u32) -> Result<()> {
    Err(not_built())
}
