//! The names that cust's objects refer to and this library never calls: each jumps to the driver's function
//! of its name, once [`fill`] has found these. See `names` for the others.

use super::library;
use std::ffi::{CStr, c_uint, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Lets each name jump to the driver's function, whatever its type. This library calls none of them.
macro_rules! name_forwards {
    ($($name:ident),* $(,)?) => {
        #[allow(non_upper_case_globals, reason = "the names are those of the driver")]
        mod forwards {
            use super::*;
            $(pub static $name: AtomicPtr<c_void> = AtomicPtr::new(not_initialized as *mut c_void);)*
        }

        // x16 is the register that Arm's procedure call standard leaves to such jumps.
        jumps!(
            forwards,
            [$($name),*],
            x86_64: ["jmp qword ptr [rip + ", "]"],
            aarch64: ["adrp x16, ", "\nldr x16, [x16, :lo12:", "]\nbr x16"]
        );

        /// Every forwarded name and where it goes.
        fn forwarded() -> impl Iterator<Item = (&'static [u8], &'static AtomicPtr<c_void>)> {
            [$((concat!(stringify!($name), "\0").as_bytes(), &forwards::$name)),*].into_iter()
        }
    };
}

/// What a forwarded function gives before [`fill`]: `CUDA_ERROR_NOT_INITIALIZED`, as the driver's
/// own before `cuInit`.
extern "C" fn not_initialized() -> c_uint {
    3
}

/// What a function gives that the driver has not: `CUDA_ERROR_NOT_SUPPORTED`.
extern "C" fn not_supported() -> c_uint {
    801
}

/// Looks up all forwarded functions; part of `cuInit`.
pub(super) fn fill() {
    for (name, target) in forwarded() {
        let address = CStr::from_bytes_with_nul(name).map(library::address);
        let address = address.ok().filter(|address| !address.is_null());
        target.store(address.unwrap_or(not_supported as *mut c_void), Ordering::Release);
    }
}

name_forwards! {
    cuArray3DCreate_v2, cuArray3DGetDescriptor_v2, cuArrayDestroy, cuCtxCreate_v2, cuCtxDestroy_v2,
    cuCtxGetApiVersion, cuCtxGetCacheConfig, cuCtxGetDevice, cuCtxGetFlags, cuCtxGetLimit,
    cuCtxGetSharedMemConfig, cuCtxGetStreamPriorityRange, cuCtxSetCacheConfig, cuCtxSetCurrent,
    cuCtxSetLimit, cuCtxSetSharedMemConfig, cuCtxSynchronize, cuDestroyExternalMemory,
    cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxSetFlags_v2, cuEventQuery,
    cuExternalMemoryGetMappedBuffer, cuFuncGetAttribute, cuFuncSetCacheConfig,
    cuFuncSetSharedMemConfig, cuGraphAddKernelNode, cuGraphCreate, cuGraphDebugDotPrint,
    cuGraphGetEdges, cuGraphGetNodes, cuGraphKernelNodeGetParams, cuGraphNodeGetType,
    cuImportExternalMemory, cuLaunchHostFunc, cuLaunchKernel, cuLinkAddData_v2, cuLinkComplete,
    cuLinkCreate_v2, cuLinkDestroy, cuMemAdvise, cuMemAllocAsync, cuMemAllocHost_v2,
    cuMemAllocManaged, cuMemFreeAsync, cuMemPrefetchAsync, cuMemcpy2D_v2, cuMemcpyAtoH_v2,
    cuMemcpyDtoD_v2, cuMemcpyDtoH_v2, cuMemcpyHtoA_v2, cuMemcpyHtoD_v2, cuMemsetD16Async,
    cuMemsetD16_v2, cuMemsetD32Async, cuMemsetD32_v2, cuMemsetD8_v2, cuModuleGetGlobal_v2,
    cuModuleLoad, cuModuleLoadData, cuOccupancyAvailableDynamicSMemPerBlock,
    cuOccupancyMaxPotentialBlockSize, cuStreamCreateWithPriority, cuStreamGetFlags,
    cuStreamGetPriority, cuStreamWaitEvent, cuSurfObjectCreate, cuSurfObjectDestroy,
    cuSurfObjectGetResourceDesc, cuTexObjectCreate, cuTexObjectDestroy, cuTexObjectGetResourceDesc,
}
