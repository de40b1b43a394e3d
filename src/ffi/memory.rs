//! Memory whose size the caller decides.

use super::status::{Failure, Outcome, fastlbp_status};

fn out_of_memory(what: &str, bytes: usize) -> Failure {
    let message = format!("out of memory: {bytes} bytes for {what} could not be had");
    Failure::new(fastlbp_status::OutOfMemory, message)
}

/// An empty vector with room for `length` entries.
pub(super) fn vector<T>(what: &str, length: usize) -> Outcome<Vec<T>> {
    let mut vector = Vec::new();
    vector
        .try_reserve_exact(length)
        .map_err(|_| out_of_memory(what, length.saturating_mul(size_of::<T>())))?;
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
    what: &str,
    entries: &[T],
    mut convert: impl FnMut(usize, T) -> Outcome<U>,
) -> Outcome<Vec<U>> {
    let mut vector = vector(what, entries.len())?;
    for (index, &entry) in entries.iter().enumerate() {
        vector.push(convert(index, entry)?);
    }
    Ok(vector)
}

/// Asks whether about so many bytes can be had, without keeping them. What the library allocates
/// after a yes can still fail where memory is short to the last megabytes; what it must not do is to
/// bring the process down over a size that a caller made up.
pub(super) fn check(what: &str, bytes: Option<usize>) -> Outcome {
    let bytes = bytes.unwrap_or(usize::MAX);
    vector::<u8>(what, bytes).map(drop)
}
