//! The CUDA devices, and which of them a session uses.

use super::arguments::{Buffer, Output};
use super::bp::fastlbp_bp;
use super::guard::{self, enter};
use super::properties;
use super::session::Session;
use super::status::fastlbp_status;
use crate::engine::device::{device_count, device_info, device_memory, driver_version};
use std::ffi::c_char;

/// For fastlbp_bp_set_device: the device of the environment variable FASTLBP_DEVICE, and 0 where that is
/// not set.
pub const FASTLBP_DEVICE_DEFAULT: u32 = u32::MAX;

/// Number of CUDA devices, at least 1. The driver is loaded and started by the first call that needs
/// it.
///
/// @param out Where the number is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_DEVICE if CUDA cannot be used, and the error text says
///         why: the library was built without it, there is no driver, it is too old or cannot be
///         started, there is no device.
///
/// May be called from any thread at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_device_count(out: *mut u32) -> fastlbp_status {
    enter(|| {
        // SAFETY: by the header, NULL or writable.
        let out = unsafe { Output::new("out", out) }?;
        out.set(device_count()?);
        Ok(())
    })
}

/// Name of a CUDA device, such as "NVIDIA H200".
///
/// @param index Number of the device, from 0, in the driver's order (which the environment variables
///        CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER change).
/// @param buffer Where the name is written, with a NUL at its end.
/// @param length Length of the buffer.
/// @param needed Where the length needed is written, or NULL.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_BUFFER_TOO_SMALL; FASTLBP_STATUS_OUT_OF_RANGE if there is
///         no device of this number; FASTLBP_STATUS_NO_DEVICE as in fastlbp_device_count.
///
/// May be called from any thread at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_device_name(
    index: u32,
    buffer: *mut c_char,
    length: usize,
    needed: *mut usize,
) -> fastlbp_status {
    enter(|| {
        // SAFETY: by the header, NULL or writable.
        let buffer = unsafe { Buffer::new(buffer, length, needed) }?;
        buffer.fill_text(&device_info(index)?.name)
    })
}

/// Memory of a CUDA device, in bytes, at this moment. The first call in a process takes some 100
/// milliseconds and some of that memory, since the driver tells only those that use the device.
///
/// @param index Number of the device, as in fastlbp_device_name.
/// @param total Where the size of its memory is written.
/// @param free Where the size of what no process uses is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_OUT_OF_RANGE if there is no device of this number;
///         FASTLBP_STATUS_NO_DEVICE as in fastlbp_device_count, and if the device is too old for the
///         library (compute capability below 7.0); FASTLBP_STATUS_DEVICE_FAILED if it does not work.
///
/// May be called from any thread at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_device_memory(
    index: u32,
    total: *mut u64,
    free: *mut u64,
) -> fastlbp_status {
    enter(|| {
        // SAFETY: by the header, NULL or writable.
        let (total, free) = unsafe { (Output::new("total", total)?, Output::new("free", free)?) };
        let memory = device_memory(index)?;
        total.set(memory.total);
        free.set(memory.free);
        Ok(())
    })
}

/// The version of CUDA that the driver supports, such as 13.0; the library needs 12.0 or later
/// (NVIDIA's driver 525).
///
/// @param major Where the major version is written.
/// @param minor Where the minor version is written.
/// @return FASTLBP_STATUS_OK; FASTLBP_STATUS_NO_DEVICE as in fastlbp_device_count.
///
/// May be called from any thread at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_device_driver_version(
    major: *mut u32,
    minor: *mut u32,
) -> fastlbp_status {
    enter(|| {
        // SAFETY: by the header, NULL or writable.
        let (major, minor) =
            unsafe { (Output::new("major", major)?, Output::new("minor", minor)?) };
        let version = driver_version()?;
        major.set(version.major);
        minor.set(version.minor);
        Ok(())
    })
}

/// Sets which CUDA device the backends FASTLBP_BACKEND_CUDA and FASTLBP_BACKEND_AUTO use; takes effect
/// with the next run. Results do not depend on it.
///
/// @param bp The session; changed.
/// @param index Number of the device, as in fastlbp_device_name, or FASTLBP_DEVICE_DEFAULT, the default.
/// @return FASTLBP_STATUS_OK, also where there is no such device: with FASTLBP_BACKEND_CUDA runs then
///         fail with FASTLBP_STATUS_OUT_OF_RANGE or FASTLBP_STATUS_NO_DEVICE and the reason, with
///         FASTLBP_BACKEND_AUTO they are made on the CPU.
///
/// O(1).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_bp_set_device(bp: *mut fastlbp_bp, index: u32) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe {
        guard::write(bp, |session: &mut Session| {
            properties::set_device(session, Some(index));
            Ok(())
        })
    }
}
