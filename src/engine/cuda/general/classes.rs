//! Numbers sorted into a few classes.

use crate::error::Result;
use crate::memory::zeroed;
use crate::parallel::computed;
use crate::threads::Gang;

/// What has no class.
const NONE: u32 = u32::MAX;

/// The numbers below `count` that have a class, by classes, ascending in each, and where each class ends. O(count).
pub(super) fn by_class<const N: usize>(
    count: usize, gang: &Gang, class: impl Fn(usize) -> Option<usize> + Sync,
) -> Result<(Vec<u32>, [u32; N])> {
    let classes = computed(count, gang, |number| class(number).map_or(NONE, |class| class as u32))?;
    let mut next = [0_u32; N];
    for &class in classes.iter().filter(|&&class| class != NONE) {
        next[class as usize] += 1;
    }
    let mut start = 0;
    for next in &mut next {
        start += std::mem::replace(next, start);
    }
    let mut all = zeroed(start as usize)?;
    for (number, &class) in classes.iter().enumerate().filter(|(_, class)| **class != NONE) {
        let next = &mut next[class as usize];
        all[*next as usize] = number as u32;
        *next += 1;
    }
    Ok((all, next))
}
