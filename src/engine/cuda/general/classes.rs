//! Numbers sorted into a few classes.

use crate::error::Result;
use crate::memory::filled;

/// The numbers below `count` that have a class, by classes, ascending in each, and where each class ends. O(count).
pub(super) fn by_class<const N: usize>(
    count: usize, class: impl Fn(usize) -> Option<usize>,
) -> Result<(Vec<u32>, [u32; N])> {
    let mut next = [0_u32; N];
    for class in (0..count).filter_map(&class) {
        next[class] += 1;
    }
    let mut start = 0;
    for next in &mut next {
        start += std::mem::replace(next, start);
    }
    let mut all = filled(start as usize, 0)?;
    for number in 0..count {
        if let Some(class) = class(number) {
            all[next[class] as usize] = number as u32;
            next[class] += 1;
        }
    }
    Ok((all, next))
}
