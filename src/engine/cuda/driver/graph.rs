//! CUDA graphs: work that is asked of a stream once and repeated at little cost.

use super::failure::check;
use super::sys::{CUgraphExec, CUstreamCaptureMode};
use super::{Context, Queue, shims};
use crate::error::Result;
use std::ptr;
use std::sync::Arc;

/// Recorded work, ready to run.
#[derive(Debug)]
pub(crate) struct Graph {
    raw: CUgraphExec,
    context: Arc<Context>,
}

// SAFETY: any thread may use it, one at a time; `launch` takes it by `&mut`.
unsafe impl Send for Graph {}

impl Graph {
    /// Records what a function asks of a stream; none of it is done yet. The function must not wait for
    /// the stream.
    pub fn record(queue: Queue<'_>, work: impl FnOnce() -> Result<()>) -> Result<Self> {
        // Only what this thread does may break the recording.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: a live stream.
        let result = unsafe { shims::cuStreamBeginCapture_v2(queue.stream.raw(), mode) };
        check(result, || "recording a graph".into())?;
        let worked = work();
        let mut graph = ptr::null_mut();
        // SAFETY: a place for the handle and the stream that is recorded.
        let result = unsafe { shims::cuStreamEndCapture(queue.stream.raw(), &mut graph) };
        let ended = check(result, || "ending the recording of a graph".into());
        let mut raw = ptr::null_mut();
        let made = worked.and(ended).and_then(|()| {
            // SAFETY: a place for the handle and a recorded graph.
            let result = unsafe { shims::cuGraphInstantiateWithFlags(&mut raw, graph, 0) };
            check(result, || "preparing a graph".into())
        });
        if !graph.is_null() {
            // SAFETY: the recorded graph; what was made of it stands alone.
            unsafe { shims::cuGraphDestroy(graph) };
        }
        made.map(|()| Self { raw, context: queue.current.context().clone() })
    }

    /// Starts the work after all that was asked of the stream before.
    ///
    /// # Safety
    /// What was recorded may be done now: its buffers are still there and stay until it has ended.
    pub unsafe fn launch(&mut self, queue: Queue<'_>) -> Result<()> {
        // SAFETY: a live graph and a live stream; the rest is the caller's promise.
        let result = unsafe { shims::cuGraphLaunch(self.raw, queue.stream.raw()) };
        check(result, || "launching a graph".into())
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: a live graph; a run of it still comes to its end.
        self.context.discard(|| unsafe {
            shims::cuGraphExecDestroy(self.raw);
        });
    }
}
