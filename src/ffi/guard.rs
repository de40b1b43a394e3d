//! What every entry does: the handle is checked and locked, a panic becomes a status.

use super::status::{Failure, Outcome, fastlbp_status, set_last_error};
use crate::memory::{collected, room, shared};
use parking_lot::RwLock;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The content of an opaque object.
///
/// Handles are `Arc`s: a call keeps its object alive until it ends, so that a callback may free the
/// very handle that its run works on.
pub(super) struct Guarded<T> {
    state: RwLock<T>,
    poisoned: AtomicBool,
}

/// An opaque type of the header.
pub(super) trait Object: Sized + Send + Sync {
    /// What it guards.
    type State;
    /// Its name in the header.
    const NAME: &'static str;

    fn wrap(guarded: Guarded<Self::State>) -> Self;
    fn guarded(&self) -> &Guarded<Self::State>;
}

/// A new handle, owned by the caller.
pub(super) fn into_handle<O: Object>(state: O::State) -> Outcome<*mut O> {
    let guarded = Guarded { state: RwLock::new(state), poisoned: AtomicBool::new(false) };
    Ok(Arc::into_raw(shared(O::wrap(guarded))?).cast_mut())
}

/// Runs the body of an entry: its failure or panic becomes a status and the thread's error text.
pub(super) fn enter(body: impl FnOnce() -> Outcome) -> fastlbp_status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => fastlbp_status::Ok,
        Ok(Err(failure)) => told(failure),
        Err(payload) => told(panic_failure(&*payload)),
    }
}

/// Leaves the error text of a failure on the thread. (Apart from [`enter`], which is compiled once per entry.)
#[cold]
fn told(failure: Failure) -> fastlbp_status {
    let Failure { status, message } = failure;
    set_last_error(message);
    status
}

#[cold]
fn panic_failure(payload: &(dyn std::any::Any + Send)) -> Failure {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text");
    Failure::new(fastlbp_status::Panic, format!("defect in fastlbp, please report it: {text}"))
}

/// Keeps a handle's object alive for the duration of a call.
///
/// # Safety
/// `handle` is NULL or comes from [`into_handle`] and is not freed yet.
unsafe fn hold<O: Object>(handle: *const O) -> Outcome<Arc<O>> {
    if handle.is_null() {
        let message =
            format!("the {} handle is NULL: one from a `_new` function is needed", O::NAME);
        return Err(Failure::new(fastlbp_status::NullPointer, message));
    }
    // SAFETY: the handle is the pointer of a live `Arc`, of which one more reference is taken.
    Ok(unsafe {
        Arc::increment_strong_count(handle);
        Arc::from_raw(handle)
    })
}

fn check_poison<O: Object>(object: &O) -> Outcome {
    if object.guarded().poisoned.load(Ordering::Acquire) {
        let name = O::NAME;
        return Err(Failure::new(
            fastlbp_status::Poisoned,
            format!("the {name} handle is poisoned by an earlier panic: it can only be freed"),
        ));
    }
    Ok(())
}

fn busy<O: Object>() -> Failure {
    let message = format!("the {} handle is busy: another call is running on it", O::NAME);
    Failure::new(fastlbp_status::Busy, message)
}

/// Runs a body and poisons the object if it panics.
fn run_poisoning<O: Object>(object: &O, body: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        object.guarded().poisoned.store(true, Ordering::Release);
        Err(panic_failure(&*payload))
    })
}

/// An entry that reads a handle; any number of these run at the same time.
///
/// # Safety
/// `handle` is NULL or live.
pub(super) unsafe fn read<O: Object>(
    handle: *const O, body: impl FnOnce(&O::State) -> Outcome,
) -> fastlbp_status {
    enter(|| {
        // SAFETY: as this function's caller promises.
        let object = unsafe { hold(handle) }?;
        let state = object.guarded().state.try_read().ok_or_else(busy::<O>)?;
        check_poison(&*object)?;
        run_poisoning(&*object, || body(&state))
    })
}

/// An entry that changes a handle; no other call may run on it at the same time.
///
/// # Safety
/// `handle` is NULL or live.
pub(super) unsafe fn write<O: Object>(
    handle: *mut O, body: impl FnOnce(&mut O::State) -> Outcome,
) -> fastlbp_status {
    enter(|| {
        // SAFETY: as this function's caller promises.
        let object = unsafe { hold(handle) }?;
        let mut state = object.guarded().state.try_write().ok_or_else(busy::<O>)?;
        check_poison(&*object)?;
        run_poisoning(&*object, || body(&mut state))
    })
}

/// One of several objects that a call changes.
pub(super) struct Locked<'a, O: Object> {
    object: &'a O,
    state: &'a mut O::State,
}

impl<O: Object> Locked<'_, O> {
    /// What the object holds.
    pub fn state(&self) -> &O::State {
        self.state
    }

    /// Runs a body that changes the object, and poisons the object if it panics. Any thread will do.
    pub fn change(&mut self, body: impl FnOnce(&mut O::State) -> Outcome) -> Outcome {
        run_poisoning(self.object, || body(self.state))
    }
}

/// Within [`enter`]: locks all of some handles, or fails.
///
/// # Safety
/// Each handle is NULL or live.
pub(super) unsafe fn lock_all<O: Object>(
    handles: &[*mut O], name: &str, body: impl FnOnce(Vec<Locked<'_, O>>) -> Outcome,
) -> Outcome {
    let at = |index: usize| move |failure: Failure| failure.at(format_args!("{name}[{index}]"));
    let mut objects = room(handles.len())?;
    for (index, &handle) in handles.iter().enumerate() {
        // SAFETY: as this function's caller promises.
        objects.push(unsafe { hold(handle) }.map_err(at(index))?);
    }
    let mut states = room(objects.len())?;
    for (index, object) in objects.iter().enumerate() {
        check_poison(&**object).map_err(at(index))?;
        // One that is given twice is locked the second time.
        let state = object.guarded().state.try_write().ok_or_else(busy::<O>);
        states.push(state.map_err(at(index))?);
    }
    let locked = objects.iter().zip(&mut states);
    body(collected(
        locked.map(|(object, state)| Locked { object: &**object, state: &mut **state }),
    )?)
}

/// Gives a handle back; its object goes when the last call that uses it ends.
///
/// # Safety
/// `handle` is NULL or live, and is not used by calls that begin later.
pub(super) unsafe fn free<O: Object>(handle: *mut O) {
    if handle.is_null() {
        return;
    }
    enter(|| {
        // SAFETY: the handle holds one reference, which this call takes over.
        drop(unsafe { Arc::from_raw(handle.cast_const()) });
        Ok(())
    });
}
