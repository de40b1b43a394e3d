//! Sorting by small keys, on several threads.

use crate::error::Result;
use crate::memory::{room, zeroed};
use crate::parallel::SharedWords;
use crate::threads::Gang;

/// The indices of `keys`, all of which are below `key_count`, sorted by (key, index), and where each key starts in them
/// (`key_count + 1` entries). Fewer than 2^32 keys.
///
/// Where there are few keys, each thread counts and places its part of the list. Of many keys it would need too many counts: then
/// each thread looks at the whole list, and serves a range of the keys.
pub(crate) fn counting_sort(
    keys: &[u32], key_count: usize, gang: &Gang,
) -> Result<(Vec<u32>, Vec<u32>)> {
    match key_count.saturating_mul(gang.threads()) <= keys.len() {
        true => sorted_by_parts(keys, key_count, gang),
        false => sorted_by_keys(keys, key_count, gang),
    }
}

/// [`counting_sort`], with a count of each key for each thread.
fn sorted_by_parts(keys: &[u32], key_count: usize, gang: &Gang) -> Result<(Vec<u32>, Vec<u32>)> {
    let threads = gang.threads();
    let mut offsets: Vec<u32> = zeroed(key_count + 1)?;
    let mut order: Vec<u32> = zeroed(keys.len())?;
    let mut counts: Vec<u32> = zeroed(threads * key_count)?;
    let of_part = keys.len().div_ceil(threads).max(1);
    let mut parts = room(threads)?;
    // (The numbers come last, so that none is asked for behind the end of the list.)
    for ((keys, counts), first) in keys
        .chunks(of_part)
        .zip(counts.chunks_mut(key_count.max(1)))
        .zip((0_u32..).step_by(of_part))
    {
        parts.push((first, keys, counts));
    }
    gang.each(&mut parts, |(_, keys, counts)| {
        keys.iter().for_each(|&key| counts[key as usize] += 1);
    });
    // Where each part begins to place each key.
    let mut sum = 0;
    for (key, offset) in offsets.iter_mut().enumerate() {
        *offset = sum;
        for (_, _, counts) in &mut parts {
            if let Some(count) = counts.get_mut(key) {
                (*count, sum) = (sum, sum + *count);
            }
        }
    }
    let placed = SharedWords::new(&mut order);
    gang.each(&mut parts, |(first, keys, starts)| {
        for (index, &key) in (*first..).zip(*keys) {
            let start = &mut starts[key as usize];
            placed.set(*start as usize, index);
            *start += 1;
        }
    });
    drop(parts);
    Ok((order, offsets))
}

/// [`counting_sort`], with one count of each key: reading in order costs little, and neither more memory is needed nor atomic
/// operations.
fn sorted_by_keys(keys: &[u32], key_count: usize, gang: &Gang) -> Result<(Vec<u32>, Vec<u32>)> {
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
            let gang = Gang::of(threads);
            let (order, offsets) = counting_sort(&keys, 20, &gang).unwrap();
            let by_keys = sorted_by_keys(&keys, 20, &gang).unwrap();
            prop_assert_eq!((&order, &offsets), (&by_keys.0, &by_keys.1));
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
