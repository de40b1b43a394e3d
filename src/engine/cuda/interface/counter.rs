//! Numbers that many threads add to.

use crate::engine::cuda::driver::Element;
use cust::memory::DeviceCopy;

/// A number of 64 bits as the device's atomic functions have it: `unsigned long long`, which is another type than `uint64_t`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, DeviceCopy)]
pub(in crate::engine::cuda) struct Counter(pub u64);

// SAFETY: a number.
unsafe impl Element for Counter {}
