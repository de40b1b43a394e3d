//! The CUDA devices of the machine: which there are, what they have, whether they can be used.

mod description;

use super::cuda;
use super::options::{DeviceSet, EngineOptions};
use crate::error::Result;
use crate::memory::collected;
pub use description::{
    DEVICE_VARIABLE, DeviceInfo, DeviceMemory, DeviceTimes, DriverVersion, choose_device,
};

/// The CUDA version that the driver supports. Errors: [`crate::Error::NoDevice`] if CUDA cannot be used, with
/// the reason: this build is without it, there is no driver, it is too old, it cannot be started, there
/// is no device.
pub fn driver_version() -> Result<DriverVersion> {
    cuda::driver_version()
}

/// Number of CUDA devices, at least 1. Errors: [`crate::Error::NoDevice`] as [`driver_version`].
pub fn device_count() -> Result<u32> {
    cuda::device_count()
}

/// The devices that many runs with such options are spread over: at least one. Errors: as [`device_count`];
/// [`DEVICE_VARIABLE`] has no numbers of devices.
pub fn batch_devices(options: &EngineOptions) -> Result<Vec<u32>> {
    if !options.devices.is_empty() {
        return collected(options.devices.iter());
    }
    if let Some(device) = options.device {
        return collected([device]);
    }
    if let Some(listed) = description::devices_of_variable()? {
        return collected(DeviceSet::of(&listed)?.iter());
    }
    collected(0..device_count()?.min(DeviceSet::LARGEST + 1))
}

/// Describes a device. Errors: [`crate::Error::NoDevice`] as [`driver_version`]; [`crate::Error::OutOfRange`] if there
/// is no device of this number.
pub fn device_info(index: u32) -> Result<DeviceInfo> {
    cuda::device_info(index)
}

/// The memory of a device at this moment. The first call in a process takes some 100 ms and some
/// memory of the device, since only a process that uses the device is told. Errors: as [`device_info`];
/// [`crate::Error::NoDevice`] if it is too old for the kernels; [`crate::Error::OutOfMemory`] if not even that
/// memory is left; [`crate::Error::Device`] if it does not work.
pub fn device_memory(index: u32) -> Result<DeviceMemory> {
    cuda::device_memory(index)
}

/// Tries on a device what the engine needs: IEEE arithmetic without contraction, launches of all kinds,
/// barriers, graphs, copies. Takes less than a second. Errors: as [`device_memory`];
/// [`crate::Error::NoDevice`] if the driver refuses the kernels; [`crate::Error::Device`] if the device computes
/// anything else than the processor.
pub fn check_device(index: u32) -> Result<DeviceTimes> {
    cuda::check_device(index)
}

/// Starts the driver on a device, which takes the first session on it tenths of a second: a thread can do that while another one
/// reads the graph. A session that is made meanwhile waits for it. Errors: as [`device_info`]; [`crate::Error::NoDevice`] if the
/// device is too old for the kernels; [`crate::Error::Device`] if it does not work.
pub fn start_device(index: u32) -> Result<()> {
    cuda::start_device(index)
}
