//! Which nodes have an input that has changed since their messages were last computed.
//!
//! Synchronous iterations compute only these: the others would compute the same bits again. Threads mark nodes of one side
//! of the graph while they compute those of the other side; barriers order both.

use crate::error::Result;
use crate::memory::collected;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A flag per variable or per factor. (Bytes, not bits: marking is a store, not a read-modify-write.)
pub(super) struct Stale(Vec<AtomicBool>);

impl Stale {
    /// All nodes are stale.
    pub(super) fn new(nodes: usize) -> Result<Self> {
        Ok(Self(collected((0..nodes).map(|_| AtomicBool::new(true)))?))
    }

    pub(super) fn mark_all(&mut self) {
        self.0.iter_mut().for_each(|stale| *stale.get_mut() = true);
    }

    /// The flags by themselves, for loops: where the list is has not to be read again after each write.
    #[inline(always)]
    pub(super) fn view(&self) -> StaleView<'_> {
        StaleView(&self.0)
    }

    /// See [`StaleView::mark`].
    #[inline(always)]
    pub(super) fn mark(&self, node: usize) {
        self.view().mark(node);
    }

    /// See [`StaleView::is_marked`].
    #[inline(always)]
    pub(super) fn is_marked(&self, node: usize) -> bool {
        self.view().is_marked(node)
    }

    /// See [`StaleView::unmark`].
    #[inline(always)]
    pub(super) fn unmark(&self, node: usize) {
        self.view().unmark(node);
    }
}

/// See [`Stale::view`].
#[derive(Clone, Copy)]
pub(super) struct StaleView<'a>(&'a [AtomicBool]);

impl<'a> StaleView<'a> {
    /// An input of a node has changed.
    #[inline(always)]
    pub(super) fn mark(self, node: usize) {
        self.0[node].store(true, Relaxed);
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    /// The flag of a node.
    ///
    /// # Safety
    ///
    /// The number of the node is less than [`Self::len`].
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) unsafe fn at(self, node: usize) -> &'a AtomicBool {
        // SAFETY: as the caller says.
        unsafe { self.0.get_unchecked(node) }
    }

    /// [`Self::mark`] where an input `has_changed`; else nothing but `unwanted` changes. (There is no branch, which would be hard
    /// to predict.)
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn mark_if(self, has_changed: bool, node: usize, unwanted: &AtomicBool) {
        let flag = &self.0[node];
        let flag = if has_changed { flag } else { unwanted };
        flag.store(true, Relaxed);
    }

    #[inline(always)]
    pub(super) fn is_marked(self, node: usize) -> bool {
        self.0[node].load(Relaxed)
    }

    /// The messages of a node have been computed.
    #[inline(always)]
    pub(super) fn unmark(self, node: usize) {
        self.0[node].store(false, Relaxed);
    }
}
