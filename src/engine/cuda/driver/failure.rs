//! What the driver's codes mean for a user.

use super::sys::CUresult;
use super::{library, shims};
use crate::error::{Error, Result};
use crate::memory::out_of_memory;

/// The oldest driver that has all functions and loads the kernels.
pub(super) const NEEDED_DRIVER: &str = "NVIDIA's driver 525 or later (CUDA 12.0)";

/// The last failed result on this thread, described by the driver.
pub(super) fn describe(result: CUresult) -> String {
    let code = result as u32;
    // The code itself, where the bindings only have "unknown".
    let known = result != CUresult::CUDA_ERROR_UNKNOWN;
    library::describe(if known { code } else { shims::last_code() })
}

/// Turns a result into an error; `what` says what was tried.
pub(super) fn check(result: CUresult, what: impl FnOnce() -> String) -> Result<()> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
            Err(out_of_memory(format_args!("CUDA device: {}", what())))
        }
        CUresult::CUDA_ERROR_NO_DEVICE => {
            Err(Error::NoDevice(format!("CUDA: {}: {}", what(), describe(result))))
        }
        CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND => Err(Error::NoDevice(format!(
            "CUDA: {}: the driver does not have this function: {} is needed",
            what(),
            NEEDED_DRIVER
        ))),
        _ => Err(Error::Device(format!("CUDA: {}: {}", what(), describe(result)))),
    }
}
