//! The names that cust's objects refer to, defined here so that nothing links to libcuda.
//!
//! All are hidden: a shared library does not export them. The static library must define each of
//! them, called or not. Who links it and `-lcuda` into one program gets the driver either way. These are
//! the names that this library calls; `forwards` has the others.

use super::shims;

/// Gives each name to the shim of that name.
macro_rules! name_shims {
    ($($name:ident),* $(,)?) => {
        #[cfg(target_arch = "x86_64")]
        std::arch::global_asm!(
            ".text",
            $(concat!(
                ".globl ", stringify!($name), "\n.hidden ", stringify!($name), "\n.type ",
                stringify!($name), ", @function\n", stringify!($name), ": jmp {", stringify!($name),
                "}",
            ),)*
            $($name = sym shims::$name,)*
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::global_asm!(
            ".text",
            $(concat!(
                ".globl ", stringify!($name), "\n.hidden ", stringify!($name), "\n.type ",
                stringify!($name), ", %function\n", stringify!($name), ": b {", stringify!($name),
                "}",
            ),)*
            $($name = sym shims::$name,)*
        );
    };
}

name_shims! {
    cuInit, cuDriverGetVersion, cuGetErrorString, cuDeviceGet, cuDeviceGetCount, cuDeviceGetName,
    cuDeviceGetAttribute, cuDeviceTotalMem_v2, cuDevicePrimaryCtxRetain,
    cuDevicePrimaryCtxRelease_v2, cuCtxGetCurrent, cuCtxPushCurrent_v2, cuCtxPopCurrent_v2,
    cuModuleLoadDataEx, cuModuleUnload, cuModuleGetFunction,
    cuOccupancyMaxActiveBlocksPerMultiprocessor, cuMemAlloc_v2, cuMemFree_v2, cuMemGetInfo_v2,
    cuMemFreeHost, cuMemcpyHtoDAsync_v2, cuMemcpyDtoHAsync_v2, cuMemcpyDtoDAsync_v2,
    cuMemsetD8Async, cuStreamDestroy_v2, cuStreamSynchronize, cuEventCreate, cuEventRecord,
    cuEventSynchronize, cuEventElapsedTime, cuEventDestroy_v2, cuGraphDestroy,
}
