//! What a CUDA device is described by, and which one is used.

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

/// The number of the device to use: the one asked for, else the lowest of [`DEVICE_VARIABLE`], else 0.
pub fn choose_device(asked: Option<u32>) -> Result<u32> {
    if let Some(index) = asked {
        return Ok(index);
    }
    Ok(devices_of_variable()?.and_then(|devices| devices.into_iter().min()).unwrap_or(0))
}

/// The numbers in [`DEVICE_VARIABLE`], at least one, if it is set.
pub(super) fn devices_of_variable() -> Result<Option<Vec<u32>>> {
    let Some(text) = std::env::var_os(DEVICE_VARIABLE) else { return Ok(None) };
    let numbers = text.to_str().and_then(|text| {
        text.split(',').map(|number| number.trim().parse().ok()).collect::<Option<Vec<u32>>>()
    });
    numbers.map(Some).ok_or_else(|| {
        Error::InvalidArgument(format!(
            "{DEVICE_VARIABLE} is '{}': the number of a CUDA device such as 0 is needed, or several such as 0,1",
            text.to_string_lossy()
        ))
    })
}
