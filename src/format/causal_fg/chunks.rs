//! Reading a text in chunks, on several threads.
//!
//! In rounds: each round cuts some chunks from the begin of the text that is left, where blocks seem to begin; the
//! threads read them, each chunk into a batch; and the batches are appended to the builder in the order of the text.
//!
//! Only the first chunk of a round is known to begin with a block. Another one counts if the chunk before it has ended
//! exactly where it begins, and without an error: reading one block after the other would have come there, too. From the
//! first chunk that does not count on, the text belongs to the next round, where that chunk is the first one. So all
//! errors come from first chunks, of which the line and the number of blocks before are known: the errors are those of
//! reading on one thread.

use super::reader::Reader;
use crate::error::{Error, Result};
use crate::format::network::ParsedNetwork;
use crate::format::text::{Cursor, is_blank};
use crate::memory::room;
use crate::model::{FactorGraphBuilder, HornBatch};
use crate::threads::Gang;
use std::ops::Range;
use std::path::Path;

/// Probability of the priors that the format leaves out.
pub(super) const IMPLICIT_PRIOR: f64 = 0.5;

/// Bytes of a chunk: it and its batch, 1.2 times as large, fit in an L2 cache.
const CHUNK_BYTES: usize = 1 << 18;

/// Chunks of a round per thread, so that one that takes longer is made up for.
const CHUNKS_PER_THREAD: usize = 2;

/// Bytes of the shortest block, with line ends.
const SHORTEST_BLOCK: usize = b"\n0\nI\n0\n".len();

pub(in crate::format) fn parse(bytes: &[u8], path: &Path) -> Result<ParsedNetwork> {
    let gang = Gang::for_work(bytes.len(), 2 * CHUNK_BYTES);
    let several = gang.threads() > 1;
    let chunks = if several { CHUNKS_PER_THREAD * gang.threads() } else { 1 };
    parse_in_chunks(bytes, path, CHUNK_BYTES, chunks, &gang)
}

/// [`parse`] with at most `chunks` chunks of `chunk_bytes` bytes per round.
pub(super) fn parse_in_chunks(
    bytes: &[u8], path: &Path, chunk_bytes: usize, chunks: usize, gang: &Gang,
) -> Result<ParsedNetwork> {
    let mut cursor = Cursor::new(path, bytes);
    let count = block_count(&mut cursor)?;
    let mut builder = FactorGraphBuilder::new();
    let size = chunk_bytes.min(bytes.len());
    let mut batches = room(chunks)?;
    for _ in 0..chunks {
        // A label takes a digit and a blank.
        batches.push(HornBatch::with_room(size / SHORTEST_BLOCK + 1, size / 2 + 1)?);
    }
    let mut done = 0;
    while done < count {
        let read = read_round(&mut cursor, &mut batches, done..count, chunk_bytes, gang)?;
        builder.add_batches(&mut batches[..read.chunks], gang)?;
        done += read.blocks;
    }
    Ok(ParsedNetwork::with_missing_priors(builder, IMPLICIT_PRIOR))
}

/// The number of blocks, in the first line that is not a comment.
fn block_count(cursor: &mut Cursor<'_>) -> Result<u64> {
    cursor.skip_comment_lines();
    if cursor.at_end() {
        return Err(cursor.error("the file ends where the number of blocks is needed"));
    }
    cursor.at_line_end();
    let count = cursor.integer("the number of blocks")?;
    cursor.end_line("the number of blocks")?;
    Ok(count)
}

/// A part of the text that is read into a batch.
struct Chunk<'a, 'b> {
    start: usize,
    /// Blocks that begin here or later belong to the next chunks.
    end: usize,
    /// Where reading is, or has ended.
    cursor: Cursor<'a>,
    batch: &'b mut HornBatch,
    error: Option<Error>,
}

/// What counts of a round.
struct Read {
    chunks: usize,
    blocks: u64,
}

/// Reads the blocks of a round, one at least. `blocks` are the numbers of those that are left. Moves the cursor past those
/// that count.
fn read_round<'a>(
    cursor: &mut Cursor<'a>, batches: &mut [HornBatch], blocks: Range<u64>, chunk_bytes: usize,
    gang: &Gang,
) -> Result<Read> {
    let text = cursor.text();
    let mut chunks: Vec<Chunk<'a, '_>> = room(batches.len())?;
    let mut start = cursor.position();
    for batch in batches {
        if !chunks.is_empty() && start == text.len() {
            break;
        }
        let end = block_start(text, start.saturating_add(chunk_bytes));
        let is_first = chunks.is_empty();
        let cursor = if is_first { cursor.clone() } else { cursor.elsewhere(start) };
        chunks.push(Chunk { start, end, cursor, batch, error: None });
        start = end;
    }
    let first = cursor.position();
    gang.each(&mut chunks, |chunk| {
        chunk.batch.clear();
        let mut reader = Reader::new(chunk.cursor.clone(), chunk.batch);
        chunk.error = reader.blocks(chunk.start == first, chunk.end, &blocks).err();
        chunk.cursor = reader.cursor;
    });
    let mut read = Read { chunks: 0, blocks: 0 };
    let left = blocks.end - blocks.start;
    let mut chunks = chunks.into_iter();
    for chunk in chunks.by_ref() {
        let own = chunk.batch.len() as u64;
        if read.chunks == 0 {
            if let Some(error) = chunk.error {
                return Err(error);
            }
            *cursor = chunk.cursor;
        } else if chunk.start == cursor.position()
            && chunk.error.is_none()
            && own <= left - read.blocks
        {
            cursor.follow(&chunk.cursor);
        } else {
            chunk.batch.forget_parameters();
            break;
        }
        read.chunks += 1;
        read.blocks += own;
    }
    // The next round reads them again.
    chunks.for_each(|chunk| chunk.batch.forget_parameters());
    Ok(read)
}

/// Where a block seems to begin, at `from` or after it: at the last one of some empty lines in a row, since the one before
/// it can be an empty body. The end of the text if there is no such line.
fn block_start(text: &[u8], from: usize) -> usize {
    let line_end = |at: usize| {
        let length = text[at..].iter().position(|&byte| byte == b'\n');
        length.map(|length| at + length + 1)
    };
    let Some(mut line) = from.checked_sub(1).filter(|&at| at < text.len()).and_then(line_end)
    else {
        return text.len();
    };
    let mut last_empty = None;
    while let Some(end) = line_end(line) {
        if text[line..end - 1].iter().all(|&byte| is_blank(byte)) {
            last_empty = Some(line);
        } else if let Some(start) = last_empty {
            return start;
        }
        line = end;
    }
    last_empty.unwrap_or(text.len())
}
