//! Lists of lists, as factors in bulk have them.

use crate::error::{Error, Result};

/// Some lists, one after the other: list i is what lies from `offsets[i]` up to, but not including, `offsets[i + 1]` of
/// `entries`.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a, T> {
    /// One more than there are lists, not descending, from 0 to `entries.len()`.
    pub offsets: &'a [usize],
    /// The entries of all lists.
    pub entries: &'a [T],
}

impl<'a, T> Lists<'a, T> {
    /// Number of lists.
    pub(crate) fn count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// One of them. Panics if there is no such list, or if the offsets are not as they should be.
    pub(crate) fn list(&self, index: usize) -> &'a [T] {
        &self.entries[self.offsets[index]..self.offsets[index + 1]]
    }

    /// Checks the offsets, which errors call by a name.
    pub(crate) fn check(&self, name: &str) -> Result<()> {
        check_offsets(name, self.offsets, self.entries.len())
    }
}

/// Checks that offsets ascend from 0 to `end`.
pub(crate) fn check_offsets(name: &str, offsets: &[usize], end: usize) -> Result<()> {
    if offsets.first() != Some(&0) {
        return Err(Error::InvalidArgument(format!(
            "{name}[0] is {:?}: it must be 0",
            offsets.first().copied().unwrap_or_default()
        )));
    }
    if let Some(i) = (1..offsets.len()).find(|&i| offsets[i] < offsets[i - 1]) {
        return Err(Error::InvalidArgument(format!(
            "{name}[{i}] is {} after {}: offsets must not descend",
            offsets[i],
            offsets[i - 1]
        )));
    }
    if offsets[offsets.len() - 1] != end {
        return Err(Error::InvalidArgument(format!(
            "{name} ends with {}: it must end with {end}, the length of the array it cuts",
            offsets[offsets.len() - 1]
        )));
    }
    Ok(())
}
