//! Streams: work of the device that happens in order. Events: points in them.

use super::failure::check;
use super::handle::Handle;
use super::sys::{CUevent, CUevent_st, CUresult, CUstream, CUstream_st};
use super::{Current, shims};
use crate::error::Result;

/// `CU_STREAM_NON_BLOCKING`: does not wait for the default stream, which the host may use.
const NON_BLOCKING: u32 = 1;

/// Work that the device does in order.
#[derive(Debug)]
pub(crate) struct Stream(Handle<CUstream_st>);

impl Stream {
    /// A stream of its own.
    pub fn new(current: &Current) -> Result<Self> {
        // SAFETY: a place for the handle.
        let make = |raw: &mut CUstream| unsafe { shims::cuStreamCreate(raw, NON_BLOCKING) };
        Ok(Self(Handle::made(current, "making a stream", make)?))
    }

    pub(super) fn raw(&self) -> CUstream {
        self.0.raw
    }

    /// Where work is asked for.
    pub fn queue<'a>(&'a self, current: &'a Current) -> Queue<'a> {
        Queue { current, stream: self }
    }

    /// Waits until the device has done all that was asked of the stream. Errors: also those of that
    /// work, after which the context is of no use any more.
    pub fn synchronize(&self, _current: &Current) -> Result<()> {
        // SAFETY: a live stream.
        check(unsafe { shims::cuStreamSynchronize(self.0.raw) }, || "waiting for the device".into())
    }

    /// Whether the device has done all that was asked of the stream.
    pub fn is_idle(&self, _current: &Current) -> Result<bool> {
        // SAFETY: a live stream.
        match unsafe { shims::cuStreamQuery(self.0.raw) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => check(result, || "asking the device".into()).map(|()| true),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: a live stream, whose work still comes to its end.
        self.0.context.discard(|| unsafe {
            shims::cuStreamDestroy_v2(self.0.raw);
        });
    }
}

/// Where work is asked for: a stream, with the proof that its context is current on this thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue<'a> {
    pub current: &'a Current,
    pub stream: &'a Stream,
}

impl Queue<'_> {
    /// See [`Stream::synchronize`].
    pub fn synchronize(self) -> Result<()> {
        self.stream.synchronize(self.current)
    }
}

/// A point in the work of a stream, with its time.
#[derive(Debug)]
pub(crate) struct Event(Handle<CUevent_st>);

impl Event {
    /// An event that has not happened yet.
    pub fn new(current: &Current) -> Result<Self> {
        // SAFETY: a place for the handle; 0 is an event with a time, for which threads wait awake.
        let make = |raw: &mut CUevent| unsafe { shims::cuEventCreate(raw, 0) };
        Ok(Self(Handle::made(current, "making an event", make)?))
    }

    /// Puts the event after all that was asked of the stream before.
    pub fn record(&self, queue: Queue<'_>) -> Result<()> {
        // SAFETY: a live event and a live stream.
        let result = unsafe { shims::cuEventRecord(self.0.raw, queue.stream.raw()) };
        check(result, || "recording an event".into())
    }

    /// Waits until it has happened.
    pub fn synchronize(&self, _current: &Current) -> Result<()> {
        // SAFETY: a live event.
        check(unsafe { shims::cuEventSynchronize(self.0.raw) }, || "waiting for an event".into())
    }

    /// Seconds from another event to this one; both have happened.
    pub fn seconds_since(&self, _current: &Current, start: &Event) -> Result<f64> {
        let mut milliseconds = 0.0;
        // SAFETY: a place for the time and two live events.
        let result =
            unsafe { shims::cuEventElapsedTime(&mut milliseconds, start.0.raw, self.0.raw) };
        check(result, || "the time between two events".into())?;
        Ok(f64::from(milliseconds) / 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: a live event.
        self.0.context.discard(|| unsafe {
            shims::cuEventDestroy_v2(self.0.raw);
        });
    }
}
