//! Handles of what the driver makes in a context.

use super::failure::check;
use super::sys::CUresult;
use super::{Context, Current};
use crate::error::Result;
use std::ptr;
use std::sync::Arc;

/// A stream, an event or a module, with the context that it lives in.
#[derive(Debug)]
pub(super) struct Handle<T> {
    pub(super) raw: *mut T,
    pub(super) context: Arc<Context>,
}

// SAFETY: the driver's functions on streams, events and modules may be called from any thread.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// What a function of the driver makes, which writes its handle to the place that it is given.
    pub(super) fn made(
        current: &Current, what: &str, make: impl FnOnce(&mut *mut T) -> CUresult,
    ) -> Result<Self> {
        let mut raw = ptr::null_mut();
        check(make(&mut raw), || what.into())?;
        Ok(Self { raw, context: current.context().clone() })
    }
}
