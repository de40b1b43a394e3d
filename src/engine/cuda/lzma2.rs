//! LZMA2 streams in parts, which threads expand side by side.
//!
//! A stream is a list of chunks. One that resets the dictionary needs nothing of those before it, so a part begins there; and
//! chunks say how long they are, before and after.

use crate::error::Result;
use crate::memory::{Grow, zeroed};
use crate::parallel::all_of;
use crate::threads::{Gang, physical_cores};
use lzma_rust2::Lzma2Reader;
use std::io::{self, Read};

/// What ends a stream.
const END: u8 = 0;

/// Chunks from one that resets the dictionary to the next of this kind.
#[derive(Debug, PartialEq)]
struct Part<'a> {
    chunks: &'a [u8],
    /// Bytes that they expand to.
    length: usize,
}

/// A chunk at the beginning of a stream.
struct Chunk {
    resets_dictionary: bool,
    /// Bytes of it in the stream, and those that they expand to.
    compressed: usize,
    expanded: usize,
}

impl Chunk {
    /// `None` if the stream ends within it, or has something else there.
    fn first(stream: &[u8]) -> Option<Self> {
        // Lengths are stored as one less.
        let length = |at| {
            Some(usize::from(u16::from_be_bytes([*stream.get(at)?, *stream.get(at + 1)?])) + 1)
        };
        let chunk = match *stream.first()? {
            control @ (0x01 | 0x02) => {
                let expanded = length(1)?;
                Self { resets_dictionary: control == 0x01, compressed: 3 + expanded, expanded }
            }
            control @ 0x80.. => {
                let expanded = (usize::from(control & 0x1f) << 16) + length(1)?;
                // New properties take one byte more.
                let header = if control >= 0xc0 { 6 } else { 5 };
                Self {
                    resets_dictionary: control >= 0xe0,
                    compressed: header + length(3)?,
                    expanded,
                }
            }
            _ => return None,
        };
        (stream.len() >= chunk.compressed).then_some(chunk)
    }
}

/// The parts of a stream. Errors: the stream is none, or something follows its end; no memory.
fn parts(stream: &[u8]) -> Result<Option<Vec<Part<'_>>>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut rest = stream;
    while rest != [END] {
        let Some(chunk) = Chunk::first(rest) else { return Ok(None) };
        let begin = stream.len() - rest.len();
        rest = &rest[chunk.compressed..];
        if chunk.resets_dictionary {
            parts.try_room(1)?;
            parts.push(Part { chunks: &stream[begin..begin], length: 0 });
        }
        let Some(part) = parts.last_mut() else { return Ok(None) };
        let first = begin - part.chunks.len();
        part.chunks = &stream[first..stream.len() - rest.len()];
        part.length += chunk.expanded;
    }
    Ok(Some(parts))
}

/// What a stream expands to. Errors, the inner ones: the stream is none; the outer ones: no memory.
pub(super) fn expanded(stream: &[u8]) -> Result<io::Result<Vec<u8>>> {
    let Some(parts) = parts(stream)? else { return Ok(Err(io::ErrorKind::InvalidData.into())) };
    let mut content = zeroed(parts.iter().map(|part| part.length).sum())?;
    let gang = Gang::of(parts.len().min(physical_cores()));
    let mut rest = &mut content[..];
    let places = parts.iter().map(|part| {
        let (place, others) = std::mem::take(&mut rest).split_at_mut(part.length);
        rest = others;
        (part, place)
    });
    let done = all_of(places, &gang, |(part, place)| {
        // No part refers to what is further away than its own beginning.
        let dictionary = u32::try_from(part.length).unwrap_or(u32::MAX);
        Ok(Lzma2Reader::new(part.chunks.chain(&[END][..]), dictionary, None).read_exact(place))
    })?;
    Ok(done.into_iter().collect::<io::Result<()>>().map(|()| content))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks as they are: `abc`, `de` that goes on with it, and, in a part of its own, `fgh`.
    const STREAM: &[u8] = b"\x01\0\x02abc\x02\0\x01de\x01\0\x02fgh\0";

    #[test]
    fn parts_begin_where_the_dictionary_is_reset() {
        let wanted = [
            Part { chunks: b"\x01\0\x02abc\x02\0\x01de", length: 5 },
            Part { chunks: b"\x01\0\x02fgh", length: 3 },
        ];
        assert_eq!(parts(STREAM).unwrap().unwrap(), wanted);
        assert_eq!(expanded(STREAM).unwrap().unwrap(), b"abcdefgh");
        assert_eq!(expanded(b"\0").unwrap().unwrap(), b"");
    }

    /// The kernels of a device are of several parts, and so expand side by side.
    #[test]
    fn kernels_are_in_parts() {
        let stream = include_bytes!("../../../cuda/ptx/binary.sm_90.cubin.lzma2");
        let parts = parts(stream).unwrap().unwrap();
        assert!(parts.len() >= 3, "{}", parts.len());
        let longest = parts.iter().map(|part| part.length).max().unwrap();
        assert!(longest <= 1 << 21, "{longest}");
    }

    #[test]
    fn what_is_no_stream_is_an_error() {
        for length in 0..STREAM.len() {
            assert!(expanded(&STREAM[..length]).unwrap().is_err(), "{length}");
        }
        for wrong in [
            &b"\x02\0\x02abc\0"[..],
            b"\x03\0\x02abc\0",
            b"\x01\0\x02abc\0\0",
            b"\xe0\0\x02\0\x05\x5d\0abcde\0",
        ] {
            assert!(expanded(wrong).unwrap().is_err(), "{wrong:?}");
        }
    }
}
