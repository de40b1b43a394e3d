//! Allocations that return an error where there is no memory.

use crate::error::{Error, Result};
use std::alloc::{Layout, alloc, alloc_zeroed};
use std::collections::HashMap;
use std::fmt::{Arguments, Write};
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;

/// The error of an allocation of so many bytes.
#[cold]
fn no_memory_for(bytes: usize) -> Error {
    out_of_memory(format_args!("{bytes} bytes"))
}

/// The error of a failed allocation, with a text that says what was to be allocated. If there is no memory for
/// the text either, a constant text takes its place.
#[cold]
pub(crate) fn out_of_memory(what: Arguments<'_>) -> Error {
    /// A text of fixed capacity: a write beyond it fails instead of allocating.
    struct Reserved(String);
    impl Write for Reserved {
        fn write_str(&mut self, part: &str) -> std::fmt::Result {
            let fits = self.0.capacity() - self.0.len() >= part.len();
            if fits {
                self.0.push_str(part);
                Ok(())
            } else {
                Err(std::fmt::Error)
            }
        }
    }
    let mut text = String::new();
    if text.try_reserve(256).is_ok() {
        let mut text = Reserved(text);
        // A text that does not fit is cut off.
        let _ = text.write_fmt(what);
        return Error::OutOfMemory(text.0.into());
    }
    Error::OutOfMemory("not even the text of this error can be stored".into())
}

/// Error of hot functions: there is no memory for scratch space. It has no size, so that returning it is free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoMemory;

impl From<NoMemory> for Error {
    #[cold]
    fn from(_: NoMemory) -> Self {
        Error::OutOfMemory("the scratch space of a factor or variable".into())
    }
}

/// Grows the capacity of a reused list to at least `capacity` items.
#[inline]
pub(crate) fn fit<T>(list: &mut Vec<T>, capacity: usize) -> Result<(), NoMemory> {
    if list.capacity() >= capacity {
        return Ok(());
    }
    list.try_reserve(capacity - list.len()).map_err(|_| NoMemory)
}

fn bytes_of<T>(length: usize) -> usize {
    length.saturating_mul(size_of::<T>())
}

/// An empty list with room for so many items.
pub(crate) fn room<T>(length: usize) -> Result<Vec<T>> {
    let Ok(layout) = Layout::array::<T>(length) else {
        return Err(no_memory_for(bytes_of::<T>(length)));
    };
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    let items = allocated(layout)?.cast::<T>();
    // SAFETY: the global allocator has given room for `length` items in the layout of such a list, which has none of them.
    Ok(unsafe { Vec::from_raw_parts(items.as_ptr(), 0, length) })
}

/// Memory of the global allocator. (Apart from [`room`], which is compiled once per type.)
fn allocated(layout: Layout) -> Result<NonNull<u8>> {
    assert!(layout.size() > 0, "memory of no bytes");
    // SAFETY: the layout has a size.
    let memory =
        NonNull::new(unsafe { alloc(layout) }).ok_or_else(|| no_memory_for(layout.size()))?;
    if layout.size() >= LARGE {
        ask_for_large_pages(memory, layout.size());
    }
    Ok(memory)
}

/// Bytes of a list from which on large pages are asked for. (From 6 MiB on, seven graphs one after the other in one process took
/// 1.12 times as long as without: the system makes room for large pages each time.)
const LARGE: usize = 32 * LARGE_PAGE;
/// Of x86-64, and of aarch64 with pages of 4096 bytes.
const LARGE_PAGE: usize = 2 << 20;

/// Asks the system for large pages under memory that was just allocated. Messages of a large graph are read all over, and
/// with pages of 4096 bytes nearly each of them waits for its address to be translated, too. It is a wish: where the
/// system has none, nothing changes.
#[cold]
fn ask_for_large_pages(memory: NonNull<u8>, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        let begin = memory.as_ptr();
        let skipped = begin.align_offset(LARGE_PAGE);
        let length = bytes.saturating_sub(skipped) / LARGE_PAGE * LARGE_PAGE;
        if length > 0 {
            // SAFETY: the range lies in that memory, which nobody else has; the call changes what pages it is in, and no
            // byte of it.
            unsafe { libc::madvise(begin.add(skipped).cast(), length, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, bytes);
}

/// A list of equal items.
pub(crate) fn filled<T: Clone>(length: usize, value: T) -> Result<Vec<T>> {
    let mut list = room(length)?;
    list.resize(length, value);
    Ok(list)
}

/// Types for which all bits 0 are a value.
///
/// # Safety
///
/// A value all of whose bytes are 0 is valid.
pub(crate) unsafe trait AllZero {}

// SAFETY: an integer may have any bits.
unsafe impl AllZero for u32 {}
// SAFETY: an integer.
unsafe impl AllZero for u16 {}
// SAFETY: an integer.
unsafe impl AllZero for u8 {}
// SAFETY: two integers, each of which may have any bits.
unsafe impl AllZero for (u32, u32) {}
// SAFETY: integers.
unsafe impl<const COUNT: usize> AllZero for [u32; COUNT] {}
// SAFETY: it has the representation of an integer.
unsafe impl AllZero for AtomicU8 {}

/// A list of items all of whose bits are 0. The system has such pages at hand: they are made where they are first
/// used, by the thread that uses them, and not all of them here.
pub(crate) fn zeroed<T: AllZero>(length: usize) -> Result<Vec<T>> {
    let no_memory = || no_memory_for(bytes_of::<T>(length));
    let layout = Layout::array::<T>(length).map_err(|_| no_memory())?;
    if layout.size() == 0 {
        return room(length);
    }
    // SAFETY: the layout has a size.
    let items = unsafe { alloc_zeroed(layout) }.cast::<T>();
    if items.is_null() {
        return Err(no_memory());
    }
    // SAFETY: the global allocator has given room for `length` items in the layout of such a list, and all of them
    // are valid by the contract of `AllZero`.
    Ok(unsafe { Vec::from_raw_parts(items, length, length) })
}

/// A struct of lists, each of which is copied: `copied_lists!(self: ranks, order)`.
macro_rules! copied_lists {
    ($from:ident: $($list:ident),+) => {
        Self { $($list: $crate::memory::copied(&$from.$list)?),+ }
    };
}
pub(crate) use copied_lists;

/// A copy of a list.
pub(crate) fn copied<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut list = room(items.len())?;
    list.extend_from_slice(items);
    Ok(list)
}

/// A copy of a text.
pub(crate) fn text(value: &str) -> Result<String> {
    let mut copy = String::new();
    copy.try_reserve_exact(value.len()).map_err(|_| no_memory_for(value.len()))?;
    copy.push_str(value);
    Ok(copy)
}

/// A value as a text.
#[cfg(feature = "c-interface")]
pub(crate) fn display(value: &dyn std::fmt::Display) -> Result<String> {
    struct Growing(String);
    impl Write for Growing {
        fn write_str(&mut self, part: &str) -> std::fmt::Result {
            self.0.try_reserve(part.len()).map_err(|_| std::fmt::Error)?;
            self.0.push_str(part);
            Ok(())
        }
    }
    let mut text = Growing(String::new());
    match write!(text, "{value}") {
        Ok(()) => Ok(text.0),
        Err(_) => Err(no_memory_for(text.0.len())),
    }
}

/// A copy of a path.
pub(crate) fn path(value: &Path) -> Result<PathBuf> {
    let mut copy = PathBuf::new();
    let length = value.as_os_str().len();
    copy.try_reserve_exact(length).map_err(|_| no_memory_for(length))?;
    copy.push(value);
    Ok(copy)
}

/// The items of an iterator as a list.
pub(crate) fn collected<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let items = items.into_iter();
    let mut list = room(items.size_hint().0)?;
    extend(&mut list, items)?;
    Ok(list)
}

/// The items of an iterator as a list, or its first error.
pub(crate) fn all_collected<T>(items: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let items = items.into_iter();
    let mut list = room(items.size_hint().0)?;
    for item in items {
        list.try_push(item?)?;
    }
    Ok(list)
}

/// A value on the heap.
pub(crate) fn boxed<T>(value: T) -> Result<Box<T>> {
    let mut list = room(1)?;
    list.push(value);
    let single: Box<[T]> = list.into_boxed_slice();
    // SAFETY: the slice has one item, so its memory is that of a `T`, with the same layout.
    Ok(unsafe { Box::from_raw(Box::into_raw(single).cast::<T>()) })
}

/// Returns an error if so many bytes cannot be allocated at this moment. It is called before code that allocates at
/// most as many bytes and cannot return an error.
pub(crate) fn probe(bytes: usize) -> Result<()> {
    room::<u8>(bytes).map(drop)
}

/// A value in an `Arc`, whose allocation cannot return an error: a probe for the same number of bytes comes
/// first.
pub(crate) fn shared<T>(value: T) -> Result<Arc<T>> {
    probe(size_of::<T>() + 2 * size_of::<usize>())?;
    Ok(Arc::new(value))
}

/// Growing a list with an error if there is no memory. The list is then unchanged, except by
/// [`Grow::try_extend`], which keeps the items that it has appended.
pub(crate) trait Grow<T> {
    /// Makes room for so many more items.
    fn try_room(&mut self, more: usize) -> Result<()>;

    /// Appends an item.
    fn try_push(&mut self, item: T) -> Result<()>;

    /// Appends the items of an iterator, up to the first for which there is no memory.
    fn try_extend(&mut self, items: impl IntoIterator<Item = T>) -> Result<()>;

    /// Appends copies of items.
    fn try_append(&mut self, items: &[T]) -> Result<()>
    where
        T: Copy;

    /// Makes the list so long, with equal new items.
    fn try_resize(&mut self, length: usize, value: T) -> Result<()>
    where
        T: Clone;
}

impl<T> Grow<T> for Vec<T> {
    #[inline]
    fn try_room(&mut self, more: usize) -> Result<()> {
        if self.capacity() - self.len() >= more {
            return Ok(());
        }
        self.try_reserve(more)
            .map_err(|_| no_memory_for(bytes_of::<T>(self.len().saturating_add(more))))
    }

    #[inline]
    fn try_push(&mut self, item: T) -> Result<()> {
        if self.len() == self.capacity() {
            self.try_room(1)?;
        }
        self.push(item);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, items: impl IntoIterator<Item = T>) -> Result<()> {
        let items = items.into_iter();
        self.try_room(items.size_hint().0)?;
        extend(self, items)
    }

    #[inline]
    fn try_append(&mut self, items: &[T]) -> Result<()>
    where
        T: Copy,
    {
        self.try_room(items.len())?;
        self.extend_from_slice(items);
        Ok(())
    }

    #[inline]
    fn try_resize(&mut self, length: usize, value: T) -> Result<()>
    where
        T: Clone,
    {
        self.try_room(length.saturating_sub(self.len()))?;
        self.resize(length, value);
        Ok(())
    }
}

/// Appends items to a list that has room for as many as they say that they are at least.
#[inline]
fn extend<T>(list: &mut Vec<T>, items: impl Iterator<Item = T>) -> Result<()> {
    let (least, most) = items.size_hint();
    if most == Some(least) {
        list.extend(items);
        return Ok(());
    }
    for item in items {
        list.try_push(item)?;
    }
    Ok(())
}

/// Makes room for one more entry in a map.
#[inline]
pub(crate) fn entry_room<K: Eq + Hash, V>(map: &mut HashMap<K, V>) -> Result<()> {
    if map.len() < map.capacity() { Ok(()) } else { map_room(map, 1) }
}

/// Makes room for so many more entries in a map.
pub(crate) fn map_room<K: Eq + Hash, V>(map: &mut HashMap<K, V>, entries: usize) -> Result<()> {
    map.try_reserve(entries).map_err(|_| no_memory_for(bytes_of::<(K, V)>(map.len() + entries)))
}

/// Puts an entry into a map; returns the value that it replaced.
pub(crate) fn insert<K: Eq + Hash, V>(
    map: &mut HashMap<K, V>, key: K, value: V,
) -> Result<Option<V>> {
    entry_room(map)?;
    Ok(map.insert(key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_their_items() {
        assert_eq!(filled(3, 7).unwrap(), [7, 7, 7]);
        assert_eq!(zeroed::<u32>(3).unwrap(), [0, 0, 0]);
        assert!(zeroed::<u32>(0).unwrap().is_empty());
        assert_eq!(copied(&[1, 2]).unwrap(), [1, 2]);
        assert_eq!(collected((0..10).filter(|x| x % 3 == 0)).unwrap(), [0, 3, 6, 9]);
        assert_eq!(collected([(); 5]).unwrap().len(), 5);
        assert_eq!(all_collected([Ok(1), Ok(2)]).unwrap(), [1, 2]);
        assert!(all_collected([Ok(1), Err(Error::OutOfMemory("".into()))]).is_err());
        assert_eq!(text("ab").unwrap(), "ab");
        assert_eq!(path(Path::new("a/b")).unwrap(), Path::new("a/b"));
        assert_eq!(*boxed("value").unwrap(), "value");
        assert_eq!(*shared("value").unwrap(), "value");
        let mut list = vec![1];
        list.try_extend(std::iter::successors(Some(2), |x| (*x < 100).then_some(x + 1))).unwrap();
        assert!(list.iter().copied().eq(1..=100));
        list.try_resize(2, 0).unwrap();
        list.try_append(&[9]).unwrap();
        assert_eq!(list, [1, 2, 9]);
        let mut map = HashMap::new();
        assert_eq!(insert(&mut map, 1, 'a').unwrap(), None);
        assert_eq!(insert(&mut map, 1, 'b').unwrap(), Some('a'));
    }

    #[test]
    fn what_no_allocator_has_is_an_error_that_says_how_much() {
        let error = room::<u64>(usize::MAX / 16).unwrap_err();
        assert_eq!(error.to_string(), format!("out of memory: {} bytes", usize::MAX / 16 * 8));
        let mut list = vec![1_u64];
        assert!(list.try_room(usize::MAX).is_err());
        assert!(list.try_resize(usize::MAX, 0).is_err());
        assert_eq!(list, [1]);
        assert!(filled(isize::MAX as usize, 0_u8).is_err());
        assert!(zeroed::<u32>(usize::MAX).is_err());
        assert!(zeroed::<u32>(isize::MAX as usize / 4).is_err());
        let long = out_of_memory(format_args!("{:300}", 1));
        assert!(matches!(long, Error::OutOfMemory(_)));
    }
}
