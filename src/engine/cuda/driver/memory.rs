//! Memory of the device, and memory of the host that the device reaches directly.

use super::failure::check;
use super::sys::CUdeviceptr;
use super::{Context, Current, Queue, shims};
use crate::error::{Error, Result};
use crate::memory::out_of_memory;
use cust::memory::DeviceCopy;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::Arc;

/// What buffers hold.
///
/// # Safety
/// All bits that there can be are values of the type, and it has no padding.
pub(crate) unsafe trait Element: DeviceCopy + Send + Sync + 'static {}

macro_rules! elements {
    ($($type:ty),*) => {$(
        // SAFETY: a number in f64 range.
        unsafe impl Element for $type {}
    )*};
}
elements! { u8, u16, u32, u64, i32, i64, f32, f64 }

/// The size of an array in bytes.
fn size<T>(length: usize, what: &str) -> Result<usize> {
    length.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize).ok_or_else(
        || out_of_memory(format_args!("{what}: {length} entries of {} bytes", size_of::<T>())),
    )
}

/// An array on the device. The length 0 takes no memory.
#[derive(Debug)]
pub(crate) struct DeviceBuffer<T: Element> {
    address: CUdeviceptr,
    length: usize,
    context: Arc<Context>,
    entries: PhantomData<T>,
}

impl<T: Element> DeviceBuffer<T> {
    /// An array of unknown content. Errors: [`Error::OutOfMemory`].
    pub fn new(current: &Current, length: usize) -> Result<Self> {
        let bytes = size::<T>(length, "CUDA device")?;
        let mut address = 0;
        if bytes > 0 {
            // SAFETY: a place for the address.
            let result = unsafe { shims::cuMemAlloc_v2(&mut address, bytes) };
            check(result, || format!("{bytes} bytes for {length} entries could not be had"))?;
        }
        Ok(Self { address, length, context: current.context().clone(), entries: PhantomData })
    }

    /// An array with the content of a slice.
    pub fn from_slice(queue: Queue<'_>, content: &[T]) -> Result<Self> {
        let buffer = Self::new(queue.current, content.len())?;
        buffer.upload(queue, 0, content)?;
        Ok(buffer)
    }

    /// An array of zeros (their bits are zeros).
    pub fn zeroed(queue: Queue<'_>, length: usize) -> Result<Self> {
        let buffer = Self::new(queue.current, length)?;
        buffer.zero(queue)?;
        Ok(buffer)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Where the array is on the device; 0 if it is empty.
    pub fn address(&self) -> &CUdeviceptr {
        &self.address
    }

    /// The address of some entries.
    fn part(&self, start: usize, length: usize) -> Result<CUdeviceptr> {
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(Error::OutOfRange(format!(
                "CUDA buffer: {length} entries from {start} on, but it has {}",
                self.length
            )));
        }
        Ok(self.address + (start * size_of::<T>()) as u64)
    }

    /// Sets all bits to zero, after all that was asked of the stream before.
    pub fn zero(&self, queue: Queue<'_>) -> Result<()> {
        let bytes = self.length * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: all of this buffer; freeing it waits for the device.
        let result = unsafe { shims::cuMemsetD8Async(self.address, 0, bytes, queue.stream.raw()) };
        check(result, || format!("setting {bytes} bytes to zero"))
    }

    /// Copies to the entries from `start` on, after all that was asked of the stream before, and waits
    /// for it.
    pub fn upload(&self, queue: Queue<'_>, start: usize, from: &[T]) -> Result<()> {
        // SAFETY: the copy has ended before the slice can change.
        unsafe { self.start_upload(queue, start, from)? };
        queue.synchronize()
    }

    /// As [`Self::upload`], without waiting.
    ///
    /// # Safety
    /// The slice stays and does not change until the stream has done this.
    pub unsafe fn start_upload(&self, queue: Queue<'_>, start: usize, from: &[T]) -> Result<()> {
        let to = self.part(start, from.len())?;
        if from.is_empty() {
            return Ok(());
        }
        let bytes = size_of_val(from);
        // SAFETY: inside of this buffer and of the slice, which stays as the caller promises.
        let result = unsafe {
            shims::cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), bytes, queue.stream.raw())
        };
        check(result, || format!("copying {bytes} bytes to the device"))
    }

    /// Copies the entries from `start` on, after all that was asked of the stream before, and waits for
    /// it.
    pub fn download(&self, queue: Queue<'_>, start: usize, to: &mut [T]) -> Result<()> {
        // SAFETY: the copy has ended before the slice can be used.
        unsafe { self.start_download(queue, start, to)? };
        queue.synchronize()
    }

    /// As [`Self::download`], without waiting.
    ///
    /// # Safety
    /// The slice stays and is not used until the stream has done this.
    pub unsafe fn start_download(
        &self, queue: Queue<'_>, start: usize, to: &mut [T],
    ) -> Result<()> {
        let from = self.part(start, to.len())?;
        if to.is_empty() {
            return Ok(());
        }
        let bytes = size_of_val(to);
        // SAFETY: inside of this buffer and of the slice, which stays as the caller promises and can
        // hold any bits.
        let result = unsafe {
            shims::cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), from, bytes, queue.stream.raw())
        };
        check(result, || format!("copying {bytes} bytes from the device"))
    }

    /// Fills the buffer with what another one, at least as long, begins with, after all that was asked of the stream before.
    pub fn copy_from(&self, queue: Queue<'_>, other: &Self) -> Result<()> {
        let from = other.part(0, self.length)?;
        let bytes = self.length * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: inside of both buffers; freeing them waits for the device.
        let result =
            unsafe { shims::cuMemcpyDtoDAsync_v2(self.address, from, bytes, queue.stream.raw()) };
        check(result, || format!("copying {bytes} bytes on the device"))
    }
}

impl<T: Element> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: the address is what was allocated; the driver waits for work that uses it.
            self.context.discard(|| unsafe {
                shims::cuMemFree_v2(self.address);
            });
        }
    }
}

/// `CU_MEMHOSTALLOC_PORTABLE` and `CU_MEMHOSTALLOC_DEVICEMAP`.
const PORTABLE_AND_MAPPED: u32 = 1 | 2;

/// An array of the host that never moves, so that copies need no detour, and that kernels reach at the
/// same address.
#[derive(Debug)]
pub(crate) struct PinnedBuffer<T: Element> {
    entries: *mut T,
    /// The same as a number.
    address: CUdeviceptr,
    length: usize,
    context: Arc<Context>,
}

// SAFETY: owned memory that any thread may use.
unsafe impl<T: Element> Send for PinnedBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for PinnedBuffer<T> {}

impl<T: Element> PinnedBuffer<T> {
    /// An array of zeros (their bits are zeros). Errors: [`Error::OutOfMemory`].
    pub fn zeroed(current: &Current, length: usize) -> Result<Self> {
        let bytes = size::<T>(length, "pinned memory")?;
        let mut pointer: *mut c_void = ptr::null_mut();
        let mut entries = ptr::NonNull::<T>::dangling().as_ptr();
        if bytes > 0 {
            // SAFETY: a place for the address.
            let result = unsafe { shims::cuMemHostAlloc(&mut pointer, bytes, PORTABLE_AND_MAPPED) };
            check(result, || format!("{bytes} bytes of pinned memory could not be had"))?;
            entries = pointer.cast();
            // SAFETY: as many bytes as were allocated.
            unsafe { ptr::write_bytes(pointer.cast::<u8>(), 0, bytes) };
        }
        let address = entries.expose_provenance() as u64;
        Ok(Self { entries, address, length, context: current.context().clone() })
    }

    /// Where a kernel finds the array: with the unified addresses of 64-bit systems, where it is. What
    /// kernels write there, the host may read once the stream has done it.
    pub fn address(&self) -> &CUdeviceptr {
        &self.address
    }
}

impl<T: Element> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: as many entries as were allocated, of a type that all bits are values of.
        unsafe { std::slice::from_raw_parts(self.entries, self.length) }
    }
}

impl<T: Element> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and borrowed from the owner.
        unsafe { std::slice::from_raw_parts_mut(self.entries, self.length) }
    }
}

impl<T: Element> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: the address is what was allocated.
            self.context.discard(|| unsafe {
                shims::cuMemFreeHost(self.entries.cast());
            });
        }
    }
}
