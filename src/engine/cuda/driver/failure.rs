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
        _ => Err(error(result, &what())),
    }
}

/// The error of a result. (Apart from [`check`], which is compiled once per caller.)
#[cold]
fn error(result: CUresult, what: &str) -> Error {
    match result {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => out_of_memory(format_args!("CUDA device: {what}")),
        CUresult::CUDA_ERROR_NO_DEVICE => {
            Error::NoDevice(format!("CUDA: {what}: {}", describe(result)))
        }
        CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND => Error::NoDevice(format!(
            "CUDA: {what}: the driver does not have this function: {NEEDED_DRIVER} is needed"
        )),
        _ => Error::Device(format!("CUDA: {what}: {}", describe(result))),
    }
}
