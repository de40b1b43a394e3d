//! Memory that is asked for before it is read.

/// Prefetches the cache line of an item.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of a valid reference changes nothing that can be seen.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}

/// Prefetches the cache line of an item that will be written: as [`prefetch`] where only this core has it, else other cores lose
/// it now and not when it is written.
#[inline(always)]
pub(crate) fn prefetch_to_write<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(index) {
        // (`_MM_HINT_ET0` is this instruction only where the target is said to have it. Processors that do not know it do
        // nothing.)
        // SAFETY: a prefetch of a valid reference changes nothing that can be seen.
        unsafe {
            std::arch::asm!(
                "prefetchw [{}]",
                in(reg) std::ptr::from_ref(item),
                options(nostack, preserves_flags, readonly),
            );
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}
