//! The primary context of a device, current for as long as a call needs it.

use super::failure::check;
use super::sys::CUcontext;
use super::{Device, shims};
use crate::error::Result;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

/// A device's primary context, which everything in the process that uses the device shares, also
/// CUDA's runtime and other libraries.
#[derive(Debug)]
pub(crate) struct Context {
    raw: CUcontext,
    device: Device,
}

// SAFETY: a context may be made current on any thread, on several at a time.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Retains the primary context of a device that can run the kernels. The first one in a process
    /// takes a few hundred milliseconds.
    pub fn new(device: Device) -> Result<Arc<Self>> {
        device.check_capability()?;
        let mut raw = ptr::null_mut();
        // SAFETY: a place for the handle and a device of the driver.
        let result = unsafe { shims::cuDevicePrimaryCtxRetain(&mut raw, device.raw()) };
        check(result, || format!("a context on device {}", device.index()))?;
        Ok(Arc::new(Self { raw, device }))
    }

    /// Makes the context current on this thread, until the result goes.
    pub fn enter(self: &Arc<Self>) -> Result<Current> {
        // SAFETY: the context is retained.
        let result = unsafe { shims::cuCtxPushCurrent_v2(self.raw) };
        check(result, || format!("entering the context of device {}", self.device.index()))?;
        Ok(Current { context: self.clone(), this_thread: PhantomData })
    }

    /// Runs a destructor with the context current. There is nobody to tell if that fails.
    pub(super) fn discard(self: &Arc<Self>, destroy: impl FnOnce()) {
        if let Ok(_current) = self.enter() {
            destroy();
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: gives back what `new` retained; nothing made in the context is left, since all that
        // is holds the `Arc`.
        unsafe { shims::cuDevicePrimaryCtxRelease_v2(self.device.raw()) };
    }
}

/// The proof that a context is current on this thread.
#[derive(Debug)]
pub(crate) struct Current {
    context: Arc<Context>,
    /// Neither `Send` nor `Sync`.
    this_thread: PhantomData<*const ()>,
}

impl Current {
    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The device.
    pub fn device(&self) -> Device {
        self.context.device
    }

    /// Bytes of the device's memory: free, and in all.
    pub fn memory(&self) -> Result<(u64, u64)> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: two places to write to.
        let result = unsafe { shims::cuMemGetInfo_v2(&mut free, &mut total) };
        check(result, || "asking for free memory".into())?;
        Ok((free as u64, total as u64))
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        let mut popped = ptr::null_mut();
        // SAFETY: what was pushed on this thread goes, since guards are dropped in the reverse order
        // on the one thread that they stay on.
        unsafe { shims::cuCtxPopCurrent_v2(&mut popped) };
    }
}
