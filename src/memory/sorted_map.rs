//! A map in ascending order of its keys whose insertions can fail.

use super::allocation::{Grow, room};
use crate::error::Result;

/// Entries by ascending key, in chunks: what the ordered maps of the standard library are, but that an insertion
/// for which there is no memory is an error. O(log entries) to find, O(CHUNK + entries / CHUNK) to insert or remove.
#[derive(Clone, Debug)]
pub(crate) struct SortedMap<V> {
    /// None is empty.
    chunks: Vec<Vec<(u32, V)>>,
    length: usize,
}

/// Entries at which a chunk is split: a few pages of memory.
const CHUNK: usize = 512;

impl<V> Default for SortedMap<V> {
    fn default() -> Self {
        Self { chunks: Vec::new(), length: 0 }
    }
}

impl<V: PartialEq> PartialEq for SortedMap<V> {
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length && self.iter().eq(other.iter())
    }
}

impl<V> SortedMap<V> {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The chunk that has a key, or would have it, and its place there; `Err` with where it would be.
    fn find(&self, key: u32) -> (usize, std::result::Result<usize, usize>) {
        // Keys often come in ascending order.
        if let Some(chunk) = self.chunks.last()
            && let Some(last) = chunk.last()
            && last.0 < key
        {
            return (self.chunks.len() - 1, Err(chunk.len()));
        }
        let after = self.chunks.partition_point(|chunk| chunk[0].0 <= key);
        let at = after.saturating_sub(1);
        match self.chunks.get(at) {
            None => (0, Err(0)),
            Some(chunk) => (at, chunk.binary_search_by_key(&key, |entry| entry.0)),
        }
    }

    pub(crate) fn get(&self, key: u32) -> Option<&V> {
        let (chunk, place) = self.find(key);
        place.ok().map(|place| &self.chunks[chunk][place].1)
    }

    /// Sets the value of a key. On an error, nothing has changed.
    pub(crate) fn insert(&mut self, key: u32, value: V) -> Result<()> {
        let (mut at, place) = self.find(key);
        let mut place = match place {
            Ok(place) => {
                self.chunks[at][place].1 = value;
                return Ok(());
            }
            Err(place) => place,
        };
        if self.chunks.is_empty() {
            self.chunks.try_room(1)?;
            let mut first = room(4)?;
            first.push((key, value));
            self.chunks.push(first);
            self.length = 1;
            return Ok(());
        }
        if self.chunks[at].len() >= CHUNK {
            self.chunks.try_room(1)?;
            // Keys that come in ascending order leave full chunks behind.
            let last = place == CHUNK && at + 1 == self.chunks.len();
            let kept = if last { CHUNK } else { CHUNK / 2 };
            let mut upper = room(CHUNK)?;
            upper.extend(self.chunks[at].drain(kept..));
            if last {
                upper.push((key, value));
                self.chunks.push(upper);
                self.length += 1;
                return Ok(());
            }
            self.chunks.insert(at + 1, upper);
            if place > kept {
                at += 1;
                place -= kept;
            }
        }
        self.chunks[at].try_room(1)?;
        self.chunks[at].insert(place, (key, value));
        self.length += 1;
        Ok(())
    }

    pub(crate) fn remove(&mut self, key: u32) -> Option<V> {
        let (chunk, place) = self.find(key);
        let place = place.ok()?;
        let (_, value) = self.chunks[chunk].remove(place);
        if self.chunks[chunk].is_empty() {
            self.chunks.remove(chunk);
        }
        self.length -= 1;
        Some(value)
    }

    /// All entries, by ascending key.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &V)> {
        self.chunks.iter().flatten().map(|(key, value)| (*key, value))
    }

    /// A copy, with each value made by a function.
    pub(crate) fn try_clone(&self, copy: impl Fn(&V) -> Result<V>) -> Result<Self> {
        let mut chunks = room(self.chunks.len())?;
        for chunk in &self.chunks {
            let mut entries = room(chunk.len())?;
            for (key, value) in chunk {
                entries.push((*key, copy(value)?));
            }
            chunks.push(entries);
        }
        Ok(Self { chunks, length: self.length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_the_map_of_the_standard_library(
            steps in prop::collection::vec((0_u32..3000, 0_u8..4), 0..4000),
            ascending in any::<bool>(),
        ) {
            let (mut map, mut wanted) = (SortedMap::default(), BTreeMap::new());
            for (index, (key, kind)) in steps.into_iter().enumerate() {
                let key = if ascending { index as u32 } else { key };
                if kind == 0 {
                    prop_assert_eq!(map.remove(key), wanted.remove(&key));
                } else {
                    map.insert(key, index).unwrap();
                    wanted.insert(key, index);
                }
                prop_assert_eq!(map.len(), wanted.len());
                prop_assert_eq!(map.get(key), wanted.get(&key));
            }
            prop_assert!(map.iter().eq(wanted.iter().map(|(&key, value)| (key, value))));
            prop_assert_eq!(map.is_empty(), wanted.is_empty());
            let copy = map.try_clone(|&value| Ok(value)).unwrap();
            prop_assert!(copy == map);
        }
    }
}
