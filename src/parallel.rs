//! Loops over arrays on the threads of a gang.

use crate::error::Result;
use crate::memory::{AllZero, collected, room, zeroed};
use crate::threads::Gang;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Items that a thread takes at a time.
const PIECE: usize = 1 << 12;

/// Calls `job` for ranges that make up `0..count`, each once.
pub(crate) fn for_ranges(count: usize, gang: &Gang, job: impl Fn(Range<usize>) + Sync) {
    let next = AtomicUsize::new(0);
    gang.run(&|_| {
        loop {
            let first = next.fetch_add(PIECE, Ordering::Relaxed);
            if first >= count {
                break;
            }
            job(first..count.min(first + PIECE));
        }
    });
}

/// Sets each item to `value(index)`.
pub(crate) fn fill<T: Send>(
    items: &mut [T], gang: &Gang, value: impl Fn(usize) -> T + Sync,
) -> Result<()> {
    let mut parts = collected(items.chunks_mut(PIECE).enumerate())?;
    gang.each(&mut parts, |(number, part)| {
        for (index, item) in (*number * PIECE..).zip(part.iter_mut()) {
            *item = value(index);
        }
    });
    Ok(())
}

/// The list of `value(index)` for so many indices.
pub(crate) fn computed<T: AllZero + Send>(
    count: usize, gang: &Gang, value: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>> {
    let mut items = zeroed(count)?;
    fill(&mut items, gang, value)?;
    Ok(items)
}

/// The list of `part(number)` for so many numbers, each of which takes long enough to be a thread's next piece of work.
/// Errors: the first of a part.
pub(crate) fn all_parts<T: Send>(
    count: usize, gang: &Gang, part: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    all_of(0..count, gang, |number| part(*number))
}

/// As [`all_parts`], each of an item.
pub(crate) fn all_of<P: Send, T: Send>(
    items: impl Iterator<Item = P>, gang: &Gang, part: impl Fn(&mut P) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut parts = collected(items.map(|item| (item, None)))?;
    gang.each(&mut parts, |(item, result)| *result = Some(part(item)));
    let mut all = room(parts.len())?;
    for (_, result) in parts {
        if let Some(result) = result {
            all.push(result?);
        }
    }
    Ok(all)
}

/// As [`all_parts`] for ranges that make up `0..count`, in their order.
pub(crate) fn all_ranges<T: Send>(
    count: usize, gang: &Gang, part: impl Fn(Range<usize>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    all_parts(count.div_ceil(PIECE), gang, |number| {
        part(number * PIECE..count.min((number + 1) * PIECE))
    })
}

/// The sum of `value(index)` for so many indices.
pub(crate) fn sum(count: usize, gang: &Gang, value: impl Fn(usize) -> usize + Sync) -> usize {
    let total = AtomicUsize::new(0);
    for_ranges(count, gang, |range| {
        total.fetch_add(range.map(&value).sum(), Ordering::Relaxed);
    });
    total.into_inner()
}

/// Words that several threads set, each word by one of them at most, or make smaller.
pub(crate) struct SharedWords<'a>(&'a [AtomicU32]);

impl<'a> SharedWords<'a> {
    pub(crate) fn new(words: &'a mut [u32]) -> Self {
        const { assert!(align_of::<AtomicU32>() == align_of::<u32>()) };
        let (first, count) = (words.as_mut_ptr().cast::<AtomicU32>(), words.len());
        // SAFETY: the words are borrowed from their owner for as long as this is used, and an atomic word has the size and,
        // as asserted, the alignment of a word.
        Self(unsafe { std::slice::from_raw_parts(first, count) })
    }

    pub(crate) fn set(&self, index: usize, word: u32) {
        self.0[index].store(word, Ordering::Relaxed);
    }

    /// Sets a word to another one if that is smaller.
    pub(crate) fn lower(&self, index: usize, word: u32) {
        if self.get(index) > word {
            self.0[index].fetch_min(word, Ordering::Relaxed);
        }
    }

    /// A word that this thread has set, or nobody.
    pub(crate) fn get(&self, index: usize) -> u32 {
        self.0[index].load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn every_item_is_set_once() {
        for (count, threads) in [(0, 1), (5, 3), (PIECE, 2), (3 * PIECE + 7, 4)] {
            let gang = Gang::of(threads);
            let squares = computed(count, &gang, |index| (index * index) as u32).unwrap();
            assert!(squares.iter().enumerate().all(|(i, &square)| square == (i * i) as u32));
            let mut words = vec![0; count];
            let shared = SharedWords::new(&mut words);
            for_ranges(count, &gang, |range| {
                for index in range {
                    shared.set(count - 1 - index, shared.get(count - 1 - index) + index as u32);
                }
            });
            assert!(words.iter().rev().enumerate().all(|(index, &word)| word == index as u32));
            let ranges = all_ranges(count, &gang, Ok).unwrap();
            assert!(ranges.into_iter().flatten().eq(0..count));
            assert_eq!(sum(count, &gang, |index| index), (0..count).sum());
        }
    }

    #[test]
    fn the_least_of_all_words_stays() {
        let mut words = vec![u32::MAX; 3];
        let shared = SharedWords::new(&mut words);
        for_ranges(4 * PIECE, &Gang::of(3), |range| {
            range.for_each(|index| shared.lower(index % 2, (index ^ 0x555) as u32));
        });
        assert_eq!(words, [1, 0, u32::MAX]);
    }

    #[test]
    fn parts_stay_in_order_and_the_first_error_is_returned() {
        let gang = Gang::of(3);
        assert_eq!(all_parts(10, &gang, |number| Ok(2 * number)).unwrap()[9], 18);
        let failing = |number| match number {
            4 | 7 => Err(Error::OutOfRange(format!("part {number}"))),
            _ => Ok(()),
        };
        let error = all_parts(10, &gang, failing).unwrap_err();
        assert!(error.to_string().contains("part 4"), "{error}");
    }
}
