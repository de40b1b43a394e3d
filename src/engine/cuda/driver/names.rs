//! The names that cust's objects refer to, defined here so that nothing links to libcuda.
//!
//! All are hidden: a shared library does not export them. The static library must define each of
//! them, called or not. Who links it and `-lcuda` into one program gets the driver either way. These are
//! the names that this library calls; `forwards` has the others.

use super::shims;

jumps!(
    shims,
    [
        cuInit, cuDriverGetVersion, cuGetErrorString, cuDeviceGet, cuDeviceGetCount, cuDeviceGetName,
        cuDeviceGetAttribute, cuDeviceTotalMem_v2, cuDevicePrimaryCtxRetain,
        cuDevicePrimaryCtxRelease_v2, cuCtxGetCurrent, cuCtxPushCurrent_v2, cuCtxPopCurrent_v2,
        cuModuleLoadDataEx, cuModuleUnload, cuModuleGetFunction,
        cuOccupancyMaxActiveBlocksPerMultiprocessor, cuMemAlloc_v2, cuMemFree_v2, cuMemGetInfo_v2,
        cuMemFreeHost, cuMemcpyHtoDAsync_v2, cuMemcpyDtoHAsync_v2, cuMemcpyDtoDAsync_v2,
        cuMemsetD8Async, cuStreamDestroy_v2, cuStreamSynchronize, cuEventCreate, cuEventRecord,
        cuEventSynchronize, cuEventElapsedTime, cuEventDestroy_v2, cuGraphDestroy
    ],
    x86_64: ["jmp ", ""],
    aarch64: ["b ", ""]
);
