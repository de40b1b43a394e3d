//! Memory whose size the caller decides.

use super::status::Outcome;
use crate::memory::out_of_memory;

/// An empty vector with room for `length` entries.
pub(super) fn vector<T>(what: &str, length: usize) -> Outcome<Vec<T>> {
    let mut vector = Vec::new();
    vector
        .try_reserve_exact(length)
        .map_err(|_| out_of_memory(format_args!("{length} entries for {what}")))?;
    Ok(vector)
}

/// A vector of copies.
pub(super) fn filled<T: Clone>(what: &str, length: usize, value: T) -> Outcome<Vec<T>> {
    let mut vector = vector(what, length)?;
    vector.resize(length, value);
    Ok(vector)
}

/// A vector of converted entries.
pub(super) fn converted<T: Copy, U>(
    what: &str, entries: &[T], mut convert: impl FnMut(usize, T) -> Outcome<U>,
) -> Outcome<Vec<U>> {
    let mut vector = vector(what, entries.len())?;
    for (index, &entry) in entries.iter().enumerate() {
        vector.push(convert(index, entry)?);
    }
    Ok(vector)
}
