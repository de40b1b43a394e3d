//! The devices, and whether there are any.

use super::failure::{NEEDED_DRIVER, check, describe};
use super::{library, shims, sys};
use crate::engine::device::DriverVersion;
use crate::error::{Error, Result};
use cust::CudaFlags;
use cust::device::DeviceAttribute;
use cust::error::{CudaError, CudaResult};
use once_cell::sync::Lazy;

/// The oldest driver that loads the kernels, as CUDA counts: [`NEEDED_DRIVER`] in words.
const NEEDED_VERSION: DriverVersion = DriverVersion { major: 12, minor: 0 };
/// The oldest compute capability that the kernels are made for.
const NEEDED_CAPABILITY: (u32, u32) = (7, 0);

/// The result behind an error of `cust`. (Its `Display` panics where the driver knows no text.)
fn result_of(error: CudaError) -> sys::CUresult {
    // `cust` gives its own numbers, and "unknown" for some that the bindings have; the shims remember.
    match error {
        CudaError::OutOfMemory => sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY,
        CudaError::NoDevice => sys::CUresult::CUDA_ERROR_NO_DEVICE,
        _ => sys::CUresult::CUDA_ERROR_UNKNOWN,
    }
}

/// Turns a result of `cust` into one of this library; `what` says what was tried.
fn converted<T>(result: CudaResult<T>, what: &str) -> Result<T> {
    result.or_else(|error| {
        check(result_of(error), || what.into())?;
        // `check` has failed: no error is `CUDA_SUCCESS`.
        Err(Error::Device(format!("CUDA: {what}: {error:?}")))
    })
}

/// Starts the driver once; afterwards this is one load. The version it supports, or why it cannot be
/// used.
fn start() -> Result<DriverVersion> {
    static STARTED: Lazy<Result<DriverVersion, String>> = Lazy::new(|| {
        if let Some(why) = library::missing() {
            return Err(format!("there is no CUDA driver ({why}): {NEEDED_DRIVER} is needed"));
        }
        // What an old driver lacks matters more than whether it can start.
        let version = cust::CudaApiVersion::get().map_err(|error| {
            format!("the CUDA driver does not tell its version: {}", describe(result_of(error)))
        })?;
        let version = DriverVersion {
            major: u32::try_from(version.major()).unwrap_or(0),
            minor: u32::try_from(version.minor()).unwrap_or(0),
        };
        if version < NEEDED_VERSION {
            return Err(format!(
                "the CUDA driver is too old, it supports CUDA {version}: {NEEDED_DRIVER} is needed"
            ));
        }
        match cust::init(CudaFlags::empty()) {
            Ok(()) => Ok(version),
            Err(CudaError::NoDevice) => {
                Err("there is no CUDA device: the driver finds none (are they \
                 hidden by CUDA_VISIBLE_DEVICES, or from this container?)"
                    .into())
            }
            Err(error) => {
                Err(format!("the CUDA driver cannot be started: {}", describe(result_of(error))))
            }
        }
    });
    STARTED.clone().map_err(Error::NoDevice)
}

/// The CUDA version that the driver supports, which is at least the needed one. Errors:
/// [`Error::NoDevice`].
pub(crate) fn driver_version() -> Result<DriverVersion> {
    start()
}

/// A device of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device {
    index: u32,
    handle: cust::device::Device,
}

impl Device {
    /// Number of devices that the driver shows, at least 1. Errors: [`Error::NoDevice`].
    pub fn count() -> Result<u32> {
        start()?;
        match converted(cust::device::Device::num_devices(), "counting the devices")? {
            0 => Err(Error::NoDevice("there is no CUDA device: the driver shows none".into())),
            count => Ok(count),
        }
    }

    /// A device by its number, whatever it can do. Errors: [`Error::NoDevice`] if there is none at all, [`Error::OutOfRange`]
    /// if there is none of this number.
    pub fn get(index: u32) -> Result<Self> {
        let count = Self::count()?;
        if index >= count {
            let needed = if count == 1 { "0".into() } else { format!("0 to {}", count - 1) };
            return Err(Error::OutOfRange(format!(
                "CUDA device {index}: there is no such device, {needed} is needed"
            )));
        }
        let handle = converted(cust::device::Device::get_device(index), "opening a device")?;
        Ok(Self { index, handle })
    }

    /// Refuses a device that cannot run the kernels. Errors: [`Error::NoDevice`].
    pub fn check_capability(self) -> Result<()> {
        let (major, minor) = self.compute_capability()?;
        if (major, minor) < NEEDED_CAPABILITY {
            let (needed_major, needed_minor) = NEEDED_CAPABILITY;
            return Err(Error::NoDevice(format!(
                "CUDA device {} ({}) has compute capability {major}.{minor}: \
                 {needed_major}.{needed_minor} or higher is needed",
                self.index,
                self.name()?
            )));
        }
        Ok(())
    }

    /// Its number.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The device, as the driver knows it.
    pub(super) fn raw(self) -> sys::CUdevice {
        self.handle.as_raw()
    }

    /// Its name, such as "NVIDIA H200".
    pub fn name(self) -> Result<String> {
        let mut name = [0_u8; 256];
        // SAFETY: a buffer of the length given; the driver ends the name with NUL.
        let result = unsafe {
            shims::cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as i32, self.raw())
        };
        check(result, || format!("the name of device {}", self.index))?;
        let length = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        Ok(String::from_utf8_lossy(&name[..length]).into_owned())
    }

    /// Its memory in bytes.
    pub fn total_memory(self) -> Result<u64> {
        Ok(converted(self.handle.total_memory(), "the memory of a device")? as u64)
    }

    /// Its compute capability, such as (9, 0).
    pub fn compute_capability(self) -> Result<(u32, u32)> {
        Ok((
            self.attribute(DeviceAttribute::ComputeCapabilityMajor)?,
            self.attribute(DeviceAttribute::ComputeCapabilityMinor)?,
        ))
    }

    /// The number of its multiprocessors.
    pub fn multiprocessors(self) -> Result<u32> {
        self.attribute(DeviceAttribute::MultiprocessorCount)
    }

    /// Threads of a warp: 32, but one where tests run kernels on threads of the system.
    pub fn warp_size(self) -> Result<u32> {
        Ok(self.attribute(DeviceAttribute::WarpSize)?.max(1))
    }

    /// Bytes of shared memory that a block can have.
    pub fn shared_memory(self) -> Result<u32> {
        // So many of each multiprocessor are the driver's.
        const RESERVED: u32 = 1024;
        let all = self.attribute(DeviceAttribute::MaxSharedMemoryPerMultiprocessor)?;
        Ok(all.saturating_sub(RESERVED))
    }

    fn attribute(self, attribute: DeviceAttribute) -> Result<u32> {
        let value = converted(self.handle.get_attribute(attribute), "an attribute of a device")?;
        Ok(u32::try_from(value).unwrap_or(0))
    }
}
