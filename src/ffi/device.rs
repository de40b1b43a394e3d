//! # Devices
//!
//! For those who choose among CUDA devices, or ask why there is none; fastlbp_bp_set_backend and fastlbp_bp_set_device
//! do the choosing. The driver is loaded and started by the first call that needs it; where CUDA cannot be used, all of
//! these are NO_DEVICE, and the error text says why: the library was built without it, there is no driver, it is too old
//! or cannot be started, there is no device.

use super::arguments::{Buffer, Output};
use super::guard::enter;
use super::settings::FASTLBP_DEVICE_DEFAULT;
use super::status::fastlbp_status;
use crate::engine::device::{
    choose_device, device_count, device_info, device_memory, driver_version, start_device,
};
use std::ffi::c_char;

/// Number of CUDA devices, at least 1.
///
/// @return NO_DEVICE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_device_count(out: *mut u32) -> fastlbp_status {
    call!(put!(out, device_count()?))
}

/// Name of a CUDA device, such as "NVIDIA H200".
///
/// @param index Number of the device, from 0, in the driver's order (which the environment variables
///        CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER change).
/// @param buffer Where the characters are written, with the final NUL.
/// @return OUT_OF_RANGE if there is no device of this number; NO_DEVICE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_device_name(
    index: u32, buffer: *mut c_char, length: usize, needed: *mut usize,
) -> fastlbp_status {
    call!({
        let buffer = Buffer::new(buffer, length, needed)?;
        buffer.fill_text(&device_info(index)?.name)
    })
}

/// Memory of a CUDA device, in bytes, at this moment. The first call in a process takes some 100 milliseconds and some
/// of that memory, since the driver tells only those that use the device.
///
/// @param index Number of the device, as in fastlbp_device_name.
/// @param total Where the size of its memory is written.
/// @param free Where the size of what no process uses is written.
/// @return OUT_OF_RANGE if there is no device of this number; NO_DEVICE, also if the device is too old for the library
///         (compute capability below 7.0); DEVICE_FAILED if it does not work.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_device_memory(
    index: u32, total: *mut u64, free: *mut u64,
) -> fastlbp_status {
    call!({
        let (total, free) = (Output::new("total", total)?, Output::new("free", free)?);
        device_memory(index).map(|memory| {
            total.set(memory.total);
            free.set(memory.free);
        })
    })
}

/// The version of CUDA that the driver supports, such as 13.0; the library needs 12.0 or later (NVIDIA's driver 525).
///
/// @param major Where the major version is written.
/// @param minor Where the minor version is written.
/// @return NO_DEVICE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_device_driver_version(
    major: *mut u32, minor: *mut u32,
) -> fastlbp_status {
    call!({
        let (major, minor) = (Output::new("major", major)?, Output::new("minor", minor)?);
        driver_version().map(|version| {
            major.set(version.major);
            minor.set(version.minor);
        })
    })
}

/// Starts the driver on a CUDA device, and keeps its context, for which the first session on it would wait 0.2 seconds. A thread
/// of the host can do that while another one makes the graph; a session that needs the device meanwhile waits for it. With
/// FASTLBP_BACKEND_AUTO, runs after it count the start as done. The process must not end meanwhile.
///
/// Where nothing else in the process uses CUDA, the environment variable CUDA_DEVICE_MAX_CONNECTIONS=1, set before the process
/// begins, halves the time that the context takes.
///
/// @param index Number of the device, as in fastlbp_device_name, or FASTLBP_DEVICE_DEFAULT.
/// @return OUT_OF_RANGE if there is no device of this number; INVALID_ARGUMENT for what FASTLBP_DEVICE holds; NO_DEVICE, also if the
///         device is too old for the library (compute capability below 7.0); DEVICE_FAILED if it does not work.
#[unsafe(no_mangle)]
pub extern "C" fn fastlbp_device_start(index: u32) -> fastlbp_status {
    enter(|| {
        let index = (index != FASTLBP_DEVICE_DEFAULT).then_some(index);
        Ok(start_device(choose_device(index)?)?)
    })
}
