//! The primary context of a device: kept once a session has used it, current for as long as a call needs
//! it.

use super::failure::check;
use super::sys::{CUcontext, CUmodule};
use super::{Device, shims};
use crate::error::Result;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

/// The primary contexts that sessions have used, by the numbers of their devices. Making one takes tenths
/// of a second, and so does loading kernels, so they stay, but for those that do not work any more. At the
/// end of the process nothing releases them: the driver may be gone by then.
static KEPT: Mutex<BTreeMap<u32, Arc<Primary>>> = Mutex::new(BTreeMap::new());

/// A retained primary context, and what is loaded in it.
#[derive(Debug)]
struct Primary {
    raw: CUcontext,
    /// Which of the contexts that were there: one that is made anew has the same handle.
    id: u64,
    device: Device,
    modules: Mutex<BTreeMap<&'static str, CUmodule>>,
}

// SAFETY: a context may be made current on any thread, on several at a time, and its modules may be used
// on any.
unsafe impl Send for Primary {}
// SAFETY: as above.
unsafe impl Sync for Primary {}

impl Primary {
    fn new(device: Device) -> Result<Self> {
        device.check_capability()?;
        let mut raw = ptr::null_mut();
        // SAFETY: a place for the handle and a device of the driver.
        let result = unsafe { shims::cuDevicePrimaryCtxRetain(&mut raw, device.raw()) };
        check(result, || format!("a context on device {}", device.index()))?;
        let mut primary = Self { raw, id: 0, device, modules: Mutex::default() };
        primary.id = primary.current_id()?;
        Ok(primary)
    }

    /// What distinguishes the context behind the handle from all that were there before.
    fn current_id(&self) -> Result<u64> {
        let mut id = 0;
        // SAFETY: a retained context and a place for the number.
        let result = unsafe { shims::cuCtxGetId(self.raw, &mut id) };
        check(result, || format!("telling contexts of device {} apart", self.device.index()))?;
        Ok(id)
    }

    /// Makes the context current on this thread; [`leave`] undoes it.
    fn enter(&self) -> Result<()> {
        // SAFETY: the context is retained.
        let result = unsafe { shims::cuCtxPushCurrent_v2(self.raw) };
        check(result, || format!("entering the context of device {}", self.device.index()))
    }

    /// Whether the context is of use: a kernel that has failed spoils it for all calls that follow, and
    /// the host may have reset the device.
    fn works(&self) -> bool {
        self.within(|| memory().is_ok()).unwrap_or(false)
    }

    /// Does something with the context current, if it is still there.
    fn within<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        self.enter().ok()?;
        let same = self.current_id().is_ok_and(|id| id == self.id);
        let result = same.then(work);
        leave();
        result
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        // Another user may keep the context. Where it has failed, this fails too, and does no harm.
        let modules = std::mem::take(self.modules.get_mut());
        self.within(|| {
            for module in modules.into_values() {
                // SAFETY: all kernels hold the context, so none is left.
                unsafe { shims::cuModuleUnload(module) };
            }
        });
        // SAFETY: gives back what `new` retained; nothing made in the context is left, since all that
        // is holds the `Arc`.
        unsafe { shims::cuDevicePrimaryCtxRelease_v2(self.device.raw()) };
    }
}

fn leave() {
    let mut popped = ptr::null_mut();
    // SAFETY: a place for the handle.
    unsafe { shims::cuCtxPopCurrent_v2(&mut popped) };
}

/// Bytes of memory of the device whose context is current: free, and in all.
fn memory() -> Result<(u64, u64)> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: two places to write to.
    let result = unsafe { shims::cuMemGetInfo_v2(&mut free, &mut total) };
    check(result, || "asking for free memory".into())?;
    Ok((free as u64, total as u64))
}

/// One use of a device's primary context, which everything in the process that uses the device shares, also
/// CUDA's runtime and other libraries.
#[derive(Debug)]
pub(crate) struct Context(Arc<Primary>);

impl Context {
    /// The primary context of a device that can run the kernels; it is kept from then on. The first one in
    /// a process takes a few hundred milliseconds.
    ///
    /// One that has failed is released when its last use ends, which makes room, and made anew by the next;
    /// until then all uses fail.
    pub fn new(device: Device) -> Result<Arc<Self>> {
        // Others wait here instead of making it as well.
        let mut kept = KEPT.lock();
        if let Some(primary) = kept.get(&device.index()) {
            if primary.works() {
                return Ok(Arc::new(Self(primary.clone())));
            }
            kept.remove(&device.index());
        }
        let primary = Arc::new(Primary::new(device)?);
        kept.insert(device.index(), primary.clone());
        Ok(Arc::new(Self(primary)))
    }

    /// Whether there is none to take yet, or it is being made: [`Self::new`] takes its time then.
    pub fn is_missing(device: Device) -> bool {
        KEPT.try_lock().is_none_or(|kept| !kept.contains_key(&device.index()))
    }

    /// As [`Self::new`], but a context that is not there yet is not kept: for looking at a device only.
    pub fn temporary(device: Device) -> Result<Arc<Self>> {
        let primary = KEPT.lock().get(&device.index()).filter(|primary| primary.works()).cloned();
        match primary {
            Some(primary) => Ok(Arc::new(Self(primary))),
            None => Ok(Arc::new(Self(Arc::new(Primary::new(device)?)))),
        }
    }

    /// Makes the context current on this thread, until the result goes.
    pub fn enter(self: &Arc<Self>) -> Result<Current> {
        self.0.enter()?;
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
        if self.0.works() {
            return;
        }
        let mut kept = KEPT.lock();
        let index = self.0.device.index();
        if kept.get(&index).is_some_and(|primary| Arc::ptr_eq(primary, &self.0)) {
            kept.remove(&index);
        }
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
        self.context.0.device
    }

    /// Bytes of the device's memory: free, and in all.
    pub fn memory(&self) -> Result<(u64, u64)> {
        memory()
    }

    /// The module of this name in the context, which `load` loads if it is not there yet; it stays for as
    /// long as the context does.
    pub(super) fn module(
        &self, name: &'static str, load: impl FnOnce() -> Result<CUmodule>,
    ) -> Result<CUmodule> {
        // Others that need the same wait here instead of loading it as well.
        let mut modules = self.context.0.modules.lock();
        if let Some(&module) = modules.get(name) {
            return Ok(module);
        }
        let module = load()?;
        modules.insert(name, module);
        Ok(module)
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        // What was pushed on this thread goes, since guards are dropped in the reverse order on the one
        // thread that they stay on.
        leave();
    }
}
