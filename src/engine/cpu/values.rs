//! Lists of message values, or of numbers, that several threads read and write.

use crate::error::Result;
use crate::kernel::EncodedMessage;
use crate::memory::collected;
use crate::prefetch::{prefetch, prefetch_to_write};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Number of values in a cache line.
pub(super) const LINE: usize = 8;

/// Values that several threads read and write. Barriers order all accesses to one value; relaxed atomics make
/// that safe Rust, at no cost.
pub(super) struct Values(Vec<AtomicU64>);

impl Values {
    pub(super) const NONE: Self = Self(Vec::new());

    pub(super) fn new(length: usize, value: EncodedMessage) -> Result<Self> {
        Ok(Self(collected((0..length).map(|_| AtomicU64::new(value.0)))?))
    }

    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> EncodedMessage {
        EncodedMessage(self.0[index].load(Relaxed))
    }

    #[inline(always)]
    pub(super) fn set(&self, index: usize, value: EncodedMessage) {
        self.0[index].store(value.0, Relaxed);
    }

    /// Stores a value; returns whether it differs from the one that it replaces. (It is stored in any case: a branch would be
    /// hard to predict.)
    #[inline(always)]
    pub(super) fn replace(&self, index: usize, value: EncodedMessage) -> bool {
        self.view().replace(index, value)
    }

    /// See [`View::array`].
    #[inline(always)]
    pub(super) fn array<const N: usize>(&self, start: usize) -> [EncodedMessage; N] {
        self.view().array(start)
    }

    /// See [`View::padded`].
    #[inline(always)]
    pub(super) fn padded<const N: usize>(&self, start: usize, count: usize) -> [EncodedMessage; N] {
        self.view().padded(start, count)
    }

    /// The values by themselves, for loops: where the list is has not to be read again after each write.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_> {
        View(&self.0)
    }

    /// Prefetches the cache line of a value.
    #[inline(always)]
    pub(super) fn prefetch(&self, index: usize) {
        prefetch(&self.0, index);
    }

    /// See [`prefetch_to_write`].
    #[inline(always)]
    pub(super) fn prefetch_to_write(&self, index: usize) {
        prefetch_to_write(&self.0, index);
    }

    #[inline(always)]
    pub(super) fn slice(
        &self, range: Range<usize>,
    ) -> impl ExactSizeIterator<Item = EncodedMessage> + '_ {
        self.0[range].iter().map(|value| EncodedMessage(value.load(Relaxed)))
    }

    /// Reads an entry as a `f64`; see [`Self::numbers`].
    #[inline(always)]
    pub(super) fn number(&self, index: usize) -> f64 {
        f64::from_bits(self.0[index].load(Relaxed))
    }

    #[inline(always)]
    pub(super) fn set_number(&self, index: usize, value: f64) {
        self.0[index].store(value.to_bits(), Relaxed);
    }

    /// Values that hold `f64` numbers instead of messages.
    pub(super) fn numbers(length: usize, value: f64) -> Result<Self> {
        Self::new(length, EncodedMessage(value.to_bits()))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Where the first value is.
    pub(super) fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }

    /// Number of values before the first cache line begins.
    pub(super) fn to_line(&self) -> usize {
        let bytes = self.address() % (LINE * size_of::<u64>());
        (LINE - bytes / size_of::<u64>()) % LINE
    }

    /// Replaces all values by those of a list of the same length.
    pub(super) fn copy_from(&self, other: &Self) {
        self.copy_range_from(other, 0..self.0.len());
    }

    /// Replaces some values by those of a list of the same length.
    pub(super) fn copy_range_from(&self, other: &Self, range: Range<usize>) {
        for (value, other) in self.0[range.clone()].iter().zip(&other.0[range]) {
            value.store(other.load(Relaxed), Relaxed);
        }
    }
}

/// See [`Values::view`].
#[derive(Clone, Copy)]
pub(super) struct View<'a>(&'a [AtomicU64]);

impl<'a> View<'a> {
    #[inline(always)]
    pub(super) fn get(self, index: usize) -> EncodedMessage {
        EncodedMessage(self.0[index].load(Relaxed))
    }

    #[inline(always)]
    pub(super) fn set(self, index: usize, value: EncodedMessage) {
        self.0[index].store(value.0, Relaxed);
    }

    /// The `N` values from `start` on.
    #[inline(always)]
    pub(super) fn array<const N: usize>(self, start: usize) -> [EncodedMessage; N] {
        let stored = &self.0[start..start + N];
        let mut values = [EncodedMessage::ONE; N];
        for (value, stored) in values.iter_mut().zip(stored) {
            *value = EncodedMessage(stored.load(Relaxed));
        }
        values
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    /// A value.
    ///
    /// # Safety
    ///
    /// The index is less than [`Self::len`].
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) unsafe fn at(self, index: usize) -> &'a AtomicU64 {
        // SAFETY: as the caller says.
        unsafe { self.0.get_unchecked(index) }
    }

    /// Where `N` values from `start` on are.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn place<const N: usize>(self, start: usize) -> *const f64 {
        self.0[start..start + N].as_ptr().cast()
    }

    /// See [`Values::replace`].
    #[inline(always)]
    pub(super) fn replace(self, index: usize, value: EncodedMessage) -> bool {
        let stored = &self.0[index];
        let differs = stored.load(Relaxed) != value.0;
        stored.store(value.0, Relaxed);
        differs
    }

    /// As [`Self::replace`] where a value `is_wanted`; else nothing but `unwanted` changes. (There is no branch, which would be
    /// hard to predict.)
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn replace_if(
        self, is_wanted: bool, index: usize, value: EncodedMessage, unwanted: &AtomicU64,
    ) -> bool {
        let stored = &self.0[index];
        let stored = if is_wanted { stored } else { unwanted };
        let differs = stored.load(Relaxed) != value.0;
        stored.store(value.0, Relaxed);
        differs & is_wanted
    }

    /// The values at `start..start + count`, then ones; there are always `N` values from `start` on.
    #[inline(always)]
    pub(super) fn padded<const N: usize>(self, start: usize, count: usize) -> [EncodedMessage; N] {
        let stored = &self.0[start..start + N];
        let mut values = [EncodedMessage::ONE; N];
        for (index, value) in values.iter_mut().enumerate() {
            let word = stored[index].load(Relaxed);
            // A conditional move, not a branch: degrees are hard to predict.
            *value = EncodedMessage(if index < count { word } else { EncodedMessage::ONE.0 });
        }
        values
    }

    /// Prefetches the cache line of a value.
    #[inline(always)]
    pub(super) fn prefetch(self, index: usize) {
        prefetch(self.0, index);
    }
}
