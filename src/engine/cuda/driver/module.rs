//! Kernels: loaded from PTX or as they are, asked about, launched.

use super::failure::{check, describe};
use super::handle::Handle;
use super::sys::{CUfunction, CUjit_option, CUmod_st, CUmodule, CUresult};
use super::{Current, DeviceBuffer, Element, PinnedBuffer, Queue, Stream, shims};
use crate::error::{Error, Result};
use once_cell::sync::OnceCell;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// Kernels that were compiled for a device. They stay loaded for as long as the primary context is kept.
#[derive(Debug)]
pub(crate) struct Module(Handle<CUmod_st>);

impl Module {
    /// The kernels of this name. `image` gives, where they are not loaded yet, what to load: PTX, which the
    /// driver compiles (it keeps what it compiled in a cache of the user's), or what was compiled for
    /// devices of this compute capability, a cubin. Errors: those of `image`; [`Error::NoDevice`] if the
    /// driver refuses the image.
    pub fn load(
        current: &Current, name: &'static str, image: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Arc<Self>> {
        let raw = current.module(name, || {
            let mut image = image()?;
            image.push(0);
            // SAFETY: PTX that NUL ends, or a whole cubin, whose size is in its header.
            unsafe { load_image(image.as_ptr().cast(), name) }
        })?;
        Ok(Arc::new(Self(Handle { raw, context: current.context().clone() })))
    }

    /// A kernel by its name.
    pub fn kernel(self: &Arc<Self>, name: &'static CStr) -> Kernel {
        Kernel { raw: OnceCell::new(), module: self.clone(), name, shared: 0 }
    }
}

/// # Safety
/// The image is NUL-terminated PTX or a cubin.
unsafe fn load_image(image: *const c_void, name: &str) -> Result<CUmodule> {
    let mut raw = ptr::null_mut();
    let mut log = [0_u8; 2048];
    let mut options =
        [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The driver takes a number in the place of a pointer.
    let mut values = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(log.len())];
    // SAFETY: an image, and two options whose values are a buffer and its length.
    let result = unsafe {
        shims::cuModuleLoadDataEx(
            &mut raw,
            image,
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    match result {
        CUresult::CUDA_ERROR_INVALID_IMAGE
        | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
        | CUresult::CUDA_ERROR_INVALID_PTX
        | CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND
        | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
        | CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED => {
            let log = String::from_utf8_lossy(&log);
            let log = log.trim_end_matches('\0').trim();
            Err(Error::NoDevice(format!(
                "the CUDA driver refuses the kernels '{name}': {}{}{log}",
                describe(result),
                if log.is_empty() { "" } else { ": " }
            )))
        }
        _ => {
            check(result, || format!("loading the kernels '{name}'"))?;
            Ok(raw)
        }
    }
}

/// How a kernel is spread over the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// Number of thread blocks.
    pub blocks: u32,
    /// Number of threads of a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub shared: u32,
    /// Number of blocks of a thread block cluster (compute capability 9.0); 1 for no clusters.
    pub cluster: u32,
    /// Whether all blocks must run at the same time, as a barrier over all of them needs; a launch of
    /// more than [`Kernel::blocks_per_multiprocessor`] times the multiprocessors is then an error.
    pub cooperative: bool,
}

impl Launch {
    /// Blocks of threads, no more.
    pub fn new(blocks: u32, threads: u32) -> Self {
        Self { blocks, threads, shared: 0, cluster: 1, cooperative: false }
    }

    /// The attributes that the driver needs for this, of which the first `.1` count.
    fn attributes(&self) -> ([shims::LaunchAttribute; 2], u32) {
        let attribute = |id, value: [u32; 3]| {
            let mut union = [0; 16];
            union[..3].copy_from_slice(&value);
            shims::LaunchAttribute { id, padding: 0, value: union }
        };
        let cooperative = attribute(shims::ATTRIBUTE_COOPERATIVE, [1, 0, 0]);
        let cluster = attribute(shims::ATTRIBUTE_CLUSTER_DIMENSION, [self.cluster, 1, 1]);
        match (self.cooperative, self.cluster > 1) {
            (false, false) => ([cooperative, cluster], 0),
            (true, false) => ([cooperative, cluster], 1),
            (false, true) => ([cluster, cooperative], 1),
            (true, true) => ([cooperative, cluster], 2),
        }
    }

    /// Calls a function with what the driver takes for this.
    fn with_config<R>(
        &self, stream: Option<&Stream>, call: impl FnOnce(&shims::LaunchConfig) -> R,
    ) -> R {
        let (attributes, attribute_count) = self.attributes();
        call(&shims::LaunchConfig {
            grid: [self.blocks, 1, 1],
            block: [self.threads, 1, 1],
            shared: self.shared,
            stream: stream.map_or(ptr::null_mut(), Stream::raw),
            attributes: attributes.as_ptr(),
            attribute_count,
        })
    }
}

/// A pointer to an argument of a kernel, which the launch reads.
pub(crate) struct Argument<'a>(*mut c_void, std::marker::PhantomData<&'a ()>);

impl<'a> Argument<'a> {
    /// A number, passed by value.
    pub fn value<T: Element>(value: &'a T) -> Self {
        Self(ptr::from_ref(value).cast_mut().cast(), std::marker::PhantomData)
    }

    /// The address of an array of the host.
    pub fn pinned<T: Element>(buffer: &'a PinnedBuffer<T>) -> Self {
        Self::value(buffer.address())
    }

    /// The address of a buffer.
    pub fn buffer<T: Element>(buffer: &'a DeviceBuffer<T>) -> Self {
        Self::value(buffer.address())
    }
}

/// A kernel of a module. The driver is asked for it when it is first needed, since that takes up to a millisecond: it copies the
/// kernel to the device then.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    raw: OnceCell<CUfunction>,
    module: Arc<Module>,
    name: &'static CStr,
    /// Bytes of dynamic shared memory per block that it may have, if that are more than 48 KiB.
    shared: u32,
}

// SAFETY: the driver's functions on kernels may be called from any thread.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Kernel {
    fn described(&self, what: &str) -> String {
        format!("kernel {}: {what}", self.name.to_string_lossy())
    }

    /// The same kernel with so many bytes of dynamic shared memory per block at most; without this, it is 48 KiB.
    pub fn with_shared(&self, bytes: u32) -> Self {
        Self { raw: OnceCell::new(), shared: bytes, ..self.clone() }
    }

    fn raw(&self) -> Result<CUfunction> {
        self.raw.get_or_try_init(|| self.find()).copied()
    }

    fn find(&self) -> Result<CUfunction> {
        let mut raw = ptr::null_mut();
        let (module, name) = (self.module.0.raw, self.name.as_ptr());
        // SAFETY: a loaded module and a NUL-terminated name.
        let result = unsafe { shims::cuModuleGetFunction(&mut raw, module, name) };
        check(result, || format!("finding the kernel {}", self.name.to_string_lossy()))?;
        if self.shared > 0 {
            let bytes = c_int::try_from(self.shared).unwrap_or(c_int::MAX);
            self.set(raw, shims::FUNCTION_DYNAMIC_SHARED, bytes, || {
                format!("allowing {bytes} bytes of shared memory")
            })?;
        }
        Ok(raw)
    }

    /// Allows clusters of more than 8 blocks, where the device has them.
    pub fn allow_large_clusters(&self) -> Result<()> {
        let what = || "allowing clusters of 16 blocks".into();
        self.set(self.raw()?, shims::FUNCTION_LARGE_CLUSTERS, 1, what)
    }

    fn set(
        &self, raw: CUfunction, attribute: c_int, value: c_int, what: impl Fn() -> String,
    ) -> Result<()> {
        // SAFETY: a kernel of a loaded module and numbers that the driver checks.
        let result = unsafe { shims::cuFuncSetAttribute(raw, attribute, value) };
        check(result, || self.described(&what()))
    }

    /// How many blocks of so many threads and bytes of dynamic shared memory fit on a multiprocessor at
    /// a time.
    pub fn blocks_per_multiprocessor(&self, threads: u32, shared: u32) -> Result<u32> {
        let mut blocks = 0;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let raw = self.raw()?;
        // SAFETY: a place to write to and a kernel of a loaded module.
        let result = unsafe {
            shims::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                raw,
                threads,
                shared as usize,
            )
        };
        check(result, || self.described("asking how many blocks fit"))?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// How many clusters of a launch fit on the device at a time.
    pub fn clusters(&self, launch: &Launch) -> Result<u32> {
        let mut clusters = 0;
        let raw = self.raw()?;
        let result = launch.with_config(None, |config| {
            // SAFETY: a place to write to, a kernel of a loaded module, and a complete configuration.
            unsafe { shims::cuOccupancyMaxActiveClusters(&mut clusters, raw, config) }
        });
        check(result, || self.described("asking how many clusters fit"))?;
        Ok(u32::try_from(clusters).unwrap_or(0))
    }

    /// Starts the kernel after all that was asked of the stream before.
    ///
    /// # Safety
    /// The arguments are those of the kernel, in number and types; what it does with buffers stays
    /// inside them, and they stay until it has ended.
    pub unsafe fn launch<const N: usize>(
        &self, queue: Queue<'_>, launch: Launch, arguments: [Argument<'_>; N],
    ) -> Result<()> {
        let raw = self.raw()?;
        let mut pointers = arguments.map(|argument| argument.0);
        let result = launch.with_config(Some(queue.stream), |config| {
            // SAFETY: a complete configuration; the arguments are as the caller promises, and are read
            // before the call returns.
            unsafe { shims::cuLaunchKernelEx(config, raw, pointers.as_mut_ptr(), ptr::null_mut()) }
        });
        check(result, || self.described(&format!("launching {launch:?}")))
    }
}
