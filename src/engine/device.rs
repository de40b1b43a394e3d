//! The CUDA devices of the machine: which there are, what they have, whether they can be used.

#[cfg(cuda)]
use super::cuda;
use crate::error::{Error, Result};
use std::fmt;

/// The environment variable that names the device to use where nothing else does.
pub const DEVICE_VARIABLE: &str = "FASTLBP_DEVICE";

/// A version of CUDA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DriverVersion {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// A CUDA device, as the driver describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Its number, counted from 0 in the order of the driver (which `CUDA_VISIBLE_DEVICES` and
    /// `CUDA_DEVICE_ORDER` change).
    pub index: u32,
    /// Its name, such as "NVIDIA H200".
    pub name: String,
    /// Its memory in bytes.
    pub total_memory: u64,
    /// Its compute capability, such as (9, 0).
    pub compute_capability: (u32, u32),
    /// Number of its multiprocessors.
    pub multiprocessors: u32,
}

/// The memory of a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    /// All of it.
    pub total: u64,
    /// What no process uses.
    pub free: u64,
}

/// What the check of a device found, in seconds. (That it computes correctly is not in here: where it
/// does not, there is an error instead.)
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceTimes {
    /// A small kernel within a CUDA graph.
    pub kernel: f64,
    /// A barrier over one block per multiprocessor.
    pub barrier: f64,
    /// A barrier over a cluster of 16 blocks, or 8 where 16 do not fit; `None` on devices without clusters.
    pub cluster_barrier: Option<f64>,
}

/// The CUDA version that the driver supports. Errors: [`Error::NoDevice`] if CUDA cannot be used, with
/// the reason: this build is without it, there is no driver, it is too old, it cannot be started, there
/// is no device.
pub fn driver_version() -> Result<DriverVersion> {
    #[cfg(cuda)]
    return cuda::driver_version();
    #[cfg(not(cuda))]
    Err(not_built())
}

/// Number of CUDA devices, at least 1. Errors: [`Error::NoDevice`] as [`driver_version`].
pub fn device_count() -> Result<u32> {
    #[cfg(cuda)]
    return cuda::device_count();
    #[cfg(not(cuda))]
    Err(not_built())
}

/// Describes a device. Errors: [`Error::NoDevice`] as [`driver_version`]; [`Error::OutOfRange`] if there
/// is no device of this number.
pub fn device_info(index: u32) -> Result<DeviceInfo> {
    #[cfg(cuda)]
    return cuda::device_info(index);
    #[cfg(not(cuda))]
    Err(not_built_for(index))
}

/// The memory of a device at this moment. The first call in a process takes some 100 ms and some
/// memory of the device, since only a process that uses the device is told. Errors: as [`device_info`];
/// [`Error::NoDevice`] if it is too old for the kernels; [`Error::OutOfMemory`] if not even that
/// memory is left; [`Error::Device`] if it does not work.
pub fn device_memory(index: u32) -> Result<DeviceMemory> {
    #[cfg(cuda)]
    return cuda::device_memory(index);
    #[cfg(not(cuda))]
    Err(not_built_for(index))
}

/// Tries on a device what the engine needs: IEEE arithmetic without contraction, launches of all kinds,
/// barriers, graphs, copies. Takes less than a second. Errors: as [`device_memory`];
/// [`Error::NoDevice`] if the driver refuses the kernels; [`Error::Device`] if the device computes
/// anything else than the processor.
pub fn check_device(index: u32) -> Result<DeviceTimes> {
    #[cfg(cuda)]
    return cuda::check_device(index);
    #[cfg(not(cuda))]
    Err(not_built_for(index))
}

/// The number of the device to use: the one asked for, else that of [`DEVICE_VARIABLE`], else 0.
pub fn choose_device(asked: Option<u32>) -> Result<u32> {
    if let Some(index) = asked {
        return Ok(index);
    }
    let Some(text) = std::env::var_os(DEVICE_VARIABLE) else {
        return Ok(0);
    };
    let index = text.to_str().and_then(|text| text.trim().parse().ok());
    index.ok_or_else(|| {
        Error::InvalidArgument(format!(
            "{DEVICE_VARIABLE} is '{}': the number of a CUDA device such as 0 is needed",
            text.to_string_lossy()
        ))
    })
}

/// An error of the backend 'cuda', with what else there is where there is no device.
pub(crate) fn of_backend_cuda(error: Error) -> Error {
    match error {
        Error::NoDevice(reason) => {
            Error::NoDevice(format!("backend 'cuda': {reason}; use 'cpu' or 'auto'"))
        }
        other => other,
    }
}

/// Why the backend 'cuda' cannot be had in a build without CUDA.
#[cfg(not(cuda))]
pub(crate) fn cuda_unavailable(asked: Option<u32>) -> Error {
    choose_device(asked).err().unwrap_or_else(|| of_backend_cuda(not_built()))
}

/// Why there are no devices in a build without CUDA.
#[cfg(not(cuda))]
fn not_built() -> Error {
    Error::NoDevice(
        "this build of fastlbp has no CUDA: it needs the feature 'cuda' on Linux, x86-64 or 64-bit Arm"
            .into(),
    )
}

/// The same of one device.
#[cfg(not(cuda))]
fn not_built_for(_index: u32) -> Error {
    not_built()
}
