//! Sorting by small keys, on several threads.

use crate::error::Result;
use crate::memory::{room, zeroed};
use crate::threads::Gang;

/// The indices of `keys`, all of which are below `key_count`, sorted by (key, index), and where each key starts in them
/// (`key_count + 1` entries). Fewer than 2^32 keys.
///
/// Each thread looks at all keys, and serves those of a range: reading in order costs little, and neither more memory is
/// needed nor atomic operations.
pub(crate) fn counting_sort(
    keys: &[u32], key_count: usize, gang: &Gang,
) -> Result<(Vec<u32>, Vec<u32>)> {
    let mut offsets: Vec<u32> = zeroed(key_count + 1)?;
    let mut order: Vec<u32> = zeroed(keys.len())?;
    // The start of a key is kept one entry further right while it moves, and so ends in its place.
    let starts = &mut offsets[1..];
    count(keys, starts, gang)?;
    let mut sum = 0;
    for start in starts.iter_mut() {
        (*start, sum) = (sum, sum + *start);
    }
    let threads = gang.threads();
    let mut parts = room(threads)?;
    let (mut rest, mut rest_order) = (&mut *starts, &mut *order);
    for part in 1..=threads {
        // Ranges of keys that occur as often together.
        let wanted = (u64::from(sum) * part as u64 / threads as u64) as u32;
        let length = if part == threads {
            rest.len()
        } else {
            rest.partition_point(|&start| start < wanted)
        };
        let first = key_count - rest.len();
        let own = rest.split_off_mut(..length).unwrap_or_default();
        let base = sum as usize - rest_order.len();
        let end = rest.first().map_or(sum, |&start| start) as usize;
        let own_order = rest_order.split_off_mut(..end - base).unwrap_or_default();
        parts.push((first, own, base as u32, own_order));
    }
    gang.each(&mut parts, |(first, starts, base, order)| {
        for (index, &key) in keys.iter().enumerate() {
            if let Some(start) = starts.get_mut((key as usize).wrapping_sub(*first)) {
                order[(*start - *base) as usize] = index as u32;
                *start += 1;
            }
        }
    });
    drop(parts);
    Ok((order, offsets))
}

/// Adds to `counts` how often each key occurs.
fn count(keys: &[u32], counts: &mut [u32], gang: &Gang) -> Result<()> {
    let threads = gang.threads();
    let mut parts = room(threads)?;
    let (key_count, mut rest) = (counts.len(), counts);
    for part in 0..threads {
        let first = key_count - rest.len();
        let own = rest.split_off_mut(..rest.len() / (threads - part)).unwrap_or_default();
        parts.push((first, own));
    }
    gang.each(&mut parts, |(first, counts)| {
        for &key in keys {
            if let Some(count) = counts.get_mut((key as usize).wrapping_sub(*first)) {
                *count += 1;
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_number_of_threads_sorts_by_key_and_index(
            keys in prop::collection::vec(0_u32..20, 0..100), threads in 1_usize..6,
        ) {
            let (order, offsets) = counting_sort(&keys, 20, &Gang::of(threads)).unwrap();
            let mut wanted: Vec<u32> = (0..keys.len() as u32).collect();
            wanted.sort_by_key(|&index| keys[index as usize]);
            prop_assert_eq!(order, wanted);
            for (key, &offset) in offsets.iter().enumerate() {
                let below = keys.iter().filter(|&&other| (other as usize) < key).count();
                prop_assert_eq!(offset as usize, below);
            }
            prop_assert_eq!(offsets.len(), 21);
        }
    }
}
