//! The driver's functions by their own names and types, found when they are first called.
//!
//! A driver may be newer than the bindings: a result that [`sys::CUresult`] does not have would be
//! undefined behaviour, so each shim turns such a code into `CUDA_ERROR_UNKNOWN`.

// The names are those of the driver.
#![allow(non_snake_case)]

use super::forwards;
use super::library::{self, Entry};
use super::sys::{self, *};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};

thread_local! {
    /// The code of the last call on this thread that failed, as the driver gave it.
    static CODE: Cell<u32> = const { Cell::new(0) };
}

/// The code of the last call on this thread that failed, also if the bindings do not know it.
pub(super) fn last_code() -> u32 {
    CODE.get()
}

/// The result for a code of any driver.
fn result(code: u32) -> CUresult {
    if code == 0 {
        return CUresult::CUDA_SUCCESS;
    }
    // A thread that is ending may have lost its storage; then only the description suffers.
    let _ = CODE.try_with(|last| last.set(code));
    match code {
        1..=8 | 34 | 100..=102 | 200..=202 | 205..=224 | 300..=304 | 400 | 401 | 500 | 600 | 700..=705
        // SAFETY: the enumeration has all these numbers; the tests compare them with its text.
        | 708..=720 | 800..=809 | 900..=911 | 999 => unsafe {
            std::mem::transmute::<u32, CUresult>(code)
        },
        _ => CUresult::CUDA_ERROR_UNKNOWN,
    }
}

/// The result of a function that is not there.
fn absent() -> CUresult {
    let code = match library::missing() {
        Some(_) => CUresult::CUDA_ERROR_NO_DEVICE,
        None => CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
    };
    result(code as u32)
}

macro_rules! shims {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$attribute])*
        /// # Safety
        /// As the driver's function of this name.
        pub(super) unsafe extern "C" fn $name($($argument: $type),*) -> CUresult {
            static ENTRY: Entry = Entry::new();
            const NAME: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(
                concat!(stringify!($name), "\0").as_bytes(),
            ) {
                Ok(name) => name,
                Err(_) => panic!("a name without NUL"),
            };
            let address = ENTRY.address(NAME);
            if address.is_null() {
                return absent();
            }
            type Function = unsafe extern "C" fn($($type),*) -> c_uint;
            // SAFETY: the driver's function has this type; its caller keeps to its rules.
            result(unsafe { std::mem::transmute::<*mut c_void, Function>(address)($($argument),*) })
        }
    )*};
}

macro_rules! bound_shims {
    ($(fn $name:ident($($argument:ident: $type:ty),*);)*) => {
        shims! { $(fn $name($($argument: $type),*);)* }
        // The types are those of the bindings.
        $(const _: unsafe extern "C" fn($($type),*) -> CUresult = sys::$name;)*
    };
}

/// Starts the driver, and finds the functions that [`forwards`] jumps to.
///
/// # Safety
/// As the driver's function of this name.
pub(super) unsafe extern "C" fn cuInit(flags: c_uint) -> CUresult {
    forwards::fill();
    // SAFETY: as the caller promises.
    unsafe { driver::cuInit(flags) }
}

mod driver {
    use super::*;
    bound_shims! {
        fn cuInit(flags: c_uint);
    }
}

bound_shims! {
    // The driver.
    fn cuDriverGetVersion(version: *mut c_int);
    fn cuGetErrorString(error: CUresult, text: *mut *const c_char);
    // Devices.
    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDeviceGetName(name: *mut c_char, length: c_int, device: CUdevice);
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice);
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
    // Contexts.
    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    fn cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    fn cuCtxGetCurrent(context: *mut CUcontext);
    fn cuCtxPushCurrent_v2(context: CUcontext);
    fn cuCtxPopCurrent_v2(context: *mut CUcontext);
    // Modules and kernels.
    fn cuModuleLoadDataEx(module: *mut CUmodule, image: *const c_void, count: c_uint, options: *mut CUjit_option, values: *mut *mut c_void);
    fn cuModuleUnload(module: CUmodule);
    fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, function: CUfunction, threads: c_int, shared: usize);
    // Memory.
    fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize);
    fn cuMemFree_v2(address: CUdeviceptr);
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
    fn cuMemFreeHost(pointer: *mut c_void);
    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
    fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream);
    fn cuMemsetD8Async(to: CUdeviceptr, value: c_uchar, bytes: usize, stream: CUstream);
    // Streams and events.
    fn cuStreamCreate(stream: *mut CUstream, flags: c_uint);
    fn cuStreamDestroy_v2(stream: CUstream);
    fn cuStreamSynchronize(stream: CUstream);
    fn cuStreamQuery(stream: CUstream);
    fn cuEventCreate(event: *mut CUevent, flags: c_uint);
    fn cuEventRecord(event: CUevent, stream: CUstream);
    fn cuEventSynchronize(event: CUevent);
    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent);
    fn cuEventDestroy_v2(event: CUevent);
    // Graphs.
    fn cuStreamBeginCapture_v2(stream: CUstream, mode: CUstreamCaptureMode);
    fn cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph);
    fn cuGraphInstantiateWithFlags(executable: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong);
    fn cuGraphLaunch(executable: CUgraphExec, stream: CUstream);
    fn cuGraphExecDestroy(executable: CUgraphExec);
    fn cuGraphDestroy(graph: CUgraph);
}

/// An attribute of a launch: its number and a union of 64 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct LaunchAttribute {
    pub id: c_uint,
    pub padding: c_uint,
    pub value: [u32; 16],
}

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`; the value is 1.
pub(super) const ATTRIBUTE_COOPERATIVE: c_uint = 2;
/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`; the value is x, y and z.
pub(super) const ATTRIBUTE_CLUSTER_DIMENSION: c_uint = 4;

/// `CUlaunchConfig`.
#[repr(C)]
pub(super) struct LaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared: c_uint,
    pub stream: CUstream,
    pub attributes: *const LaunchAttribute,
    pub attribute_count: c_uint,
}

const _: () = assert!(size_of::<LaunchAttribute>() == 72 && size_of::<LaunchConfig>() == 56);

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
pub(super) const FUNCTION_DYNAMIC_SHARED: c_int = 8;
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`.
pub(super) const FUNCTION_LARGE_CLUSTERS: c_int = 14;

// Newer than the bindings, or with values that are.
shims! {
    fn cuCtxGetId(context: CUcontext, id: *mut c_ulonglong);
    fn cuLaunchKernelEx(
        config: *const LaunchConfig, function: CUfunction, parameters: *mut *mut c_void,
        extra: *mut *mut c_void
    );
    fn cuOccupancyMaxActiveClusters(
        clusters: *mut c_int, function: CUfunction, config: *const LaunchConfig
    );
    fn cuFuncSetAttribute(function: CUfunction, attribute: c_int, value: c_int);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_one_of_the_enumeration() {
        let mut known = 0;
        for code in 0..2000 {
            let name = format!("{:?}", result(code));
            if result(code) as u32 == code {
                known += 1;
                assert!(name.starts_with("CUDA_"), "{code}: {name}");
            } else {
                assert_eq!(result(code), CUresult::CUDA_ERROR_UNKNOWN, "{code}");
                assert_eq!(last_code(), code);
            }
        }
        // The number of names in the enumeration of cust_raw 0.11.
        assert_eq!(known, 87);
        for newer in [36, 46, 225, 402, 721, 812, 912, 919, u32::MAX] {
            assert_eq!(result(newer), CUresult::CUDA_ERROR_UNKNOWN);
        }
    }
}
