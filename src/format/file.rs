//! Loading whole files, plain or gzip, with a limit of their size.

use super::file_system::{FileSystem, Kind, Native, Patient, retry};
use crate::error::{Error, Result};
use crate::memory::{out_of_memory, probe};
use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;

/// The largest file that is read, in bytes.
const SIZE_LIMIT: u64 = 64 << 30;

/// The limit of the decompressed size of a file of `length` bytes. Graphs compress 5 to 10 times; more than 64 times
/// suggests a decompression bomb.
fn unpacked_limit(length: u64) -> u64 {
    length.saturating_mul(64).saturating_add(16 << 20).min(SIZE_LIMIT)
}

/// More bytes than a gzip codec allocates. It does so when it is made, and aborts the process if that fails, so callers
/// probe for this much first.
pub(super) const CODEC_BYTES: usize = 1 << 20;

/// Whether the name says that the content is compressed.
pub(super) fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

/// The extension of a path, without a final `.gz`.
pub(super) fn suffix(path: &Path) -> Option<&OsStr> {
    let plain = if is_gzip(path) { Path::new(path.file_stem()?) } else { path };
    plain.extension()
}

/// The content of a file, decompressed if its name ends in `.gz` or it begins as gzip data do, which no text does.
///
/// The file is read, not mapped: the copy costs a few per cent of the parsing, and another process that truncates the
/// file cannot cause a SIGBUS.
pub(super) fn load(path: &Path) -> Result<Vec<u8>> {
    load_from(&Native, path)
}

/// [`load`] from any file system.
pub(super) fn load_from<F: FileSystem>(files: &F, path: &Path) -> Result<Vec<u8>> {
    let file = retry(|| files.open_path(path)).map_err(|source| Error::io(path, source))?;
    let status = retry(|| files.status(&file)).map_err(|source| Error::io(path, source))?;
    if status.kind == Kind::Directory {
        return Err(Error::io(path, io::Error::from(io::ErrorKind::IsADirectory)));
    }
    let mut file = Patient(file);
    let mut start = [0; GZIP_MAGIC.len()];
    let mut count = 0;
    while count < start.len() {
        match file.read(&mut start[count..]).map_err(|source| Error::io(path, source))? {
            0 => break,
            read => count += read,
        }
    }
    let start = &start[..count];
    let source = start.chain(file);
    if is_gzip(path) || start == GZIP_MAGIC {
        return unpacked(path, source, status.length);
    }
    read_all(path, source, status.length, &|| SIZE_LIMIT)
}

/// The content of bytes in memory that stand for a file: themselves, or what they unpack to.
pub(super) fn content<'a>(path: &Path, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>> {
    if is_gzip(path) || bytes.starts_with(&GZIP_MAGIC) {
        return Ok(Cow::Owned(unpacked(path, bytes, bytes.len() as u64)?));
    }
    Ok(Cow::Borrowed(bytes))
}

/// Counts the bytes that are read.
struct Counted<'a, R> {
    source: R,
    read: &'a Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.read.set(self.read.get() + count as u64);
        Ok(count)
    }
}

/// What compressed bytes unpack to: `length` of them, as far as is known. (A pipe has a length of 0.)
fn unpacked(path: &Path, source: impl Read, length: u64) -> Result<Vec<u8>> {
    probe(CODEC_BYTES)?;
    // A guess: text of numbers compresses at least 3 times. A wrong one costs a reallocation.
    let expected = length.saturating_mul(4);
    let read = Cell::new(0);
    let decoder = flate2::read::MultiGzDecoder::new(Counted { source, read: &read });
    let length = || read.get().max(length);
    read_all(path, decoder, expected, &|| unpacked_limit(length())).map_err(|error| match error {
        Error::Io { path, source } => {
            let message = format!("the gzip data cannot be decompressed: {source}");
            Error::Io { path, source: io::Error::new(source.kind(), message) }
        }
        Error::LimitExceeded(text) => Error::LimitExceeded(format!(
            "{text} from a compressed file of {} bytes; unpack it first if that is right",
            length()
        )),
        other => other,
    })
}

/// The first bytes of gzip data.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The error for bytes that are not text, with a byte 0 at `position`.
#[cold]
fn not_text(path: &Path, bytes: &[u8], position: usize) -> Error {
    let lines = bytes[..position].iter().filter(|&&byte| byte == b'\n').count();
    Error::parse(path, lines as u64 + 1, "a byte 0: text is needed")
}

/// Reads to the end. Memory grows with the bytes that arrive; `expected` is a hint, and `limit` may grow meanwhile.
///
/// A byte 0 is an error as soon as it is read. Text has none, but endless devices, sparse files and decompression bombs
/// mostly consist of them.
fn read_all(
    path: &Path, mut source: impl Read, expected: u64, limit: &dyn Fn() -> u64,
) -> Result<Vec<u8>> {
    const STEP: usize = 1 << 20;
    let mut bytes = Vec::new();
    let out_of_memory =
        |length: usize| out_of_memory(format_args!("{}: more than {length} bytes", path.display()));
    // One byte more than expected, so that reading reaches the end of the file without growing the buffer.
    let first = usize::try_from(expected.min(limit())).unwrap_or(0).saturating_add(1);
    bytes.try_reserve_exact(first).map_err(|_| out_of_memory(0))?;
    loop {
        if bytes.len() == bytes.capacity() {
            bytes.try_reserve(bytes.len().max(1 << 16)).map_err(|_| out_of_memory(bytes.len()))?;
        }
        let start = bytes.len();
        let room = (bytes.capacity() - start).min(STEP) as u64;
        let read = source
            .by_ref()
            .take(room)
            .read_to_end(&mut bytes)
            .map_err(|source| Error::io(path, source))?;
        // Without an early end, the loop is compiled to vector instructions.
        if bytes[start..].iter().fold(false, |found, &byte| found | (byte == 0)) {
            let length = bytes[start..].iter().take_while(|&&byte| byte != 0).count();
            return Err(not_text(path, &bytes, start + length));
        }
        let limit = limit();
        if bytes.len() as u64 > limit {
            return Err(Error::LimitExceeded(format!(
                "{}: more than {limit} bytes of text: at most {limit} are read",
                path.display()
            )));
        }
        if (read as u64) < room {
            return Ok(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn reading_stops_at_the_limit() {
        let path = Path::new("bomb.fg.gz");
        let read = |length: u64, expected, limit| {
            read_all(path, io::repeat(b'0').take(length), expected, &|| limit)
        };
        assert_eq!(read(100_000, 10, 100_000).unwrap().len(), 100_000);
        assert_eq!(read(0, 0, 10).unwrap().len(), 0);
        let text = read(u64::MAX, 10, 1 << 20).unwrap_err().to_string();
        assert!(text.contains("bomb.fg.gz: more than 1048576 bytes"), "{text}");
    }

    #[test]
    fn reading_stops_at_the_first_byte_0() {
        let read =
            |text: &[u8]| read_all(Path::new("f"), text.chain(io::repeat(0)), 10, &|| SIZE_LIMIT);
        assert_eq!(read(b"").unwrap_err().to_string(), "f:1: a byte 0: text is needed");
        assert!(read(b"1\n\n2\n3").unwrap_err().to_string().starts_with("f:4: a byte 0"));
        let long = b"12345678\n".repeat(1 << 18);
        assert!(read(&long).unwrap_err().to_string().starts_with("f:262145: a byte 0"));
    }

    #[test]
    fn what_a_compressed_file_unpacks_to_is_limited() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bomb.fg.gz");
        let file = std::fs::File::create(&path).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        for _ in 0..100 {
            encoder.write_all(&[b'#'; 1 << 20]).unwrap();
        }
        encoder.finish().unwrap();
        let text = load(&path).unwrap_err().to_string();
        assert!(text.contains("bomb.fg.gz: more than "), "{text}");
        assert!(text.ends_with("; unpack it first if that is right"), "{text}");
    }

    #[test]
    fn memory_follows_what_arrives_not_what_is_promised() {
        let path = Path::new("small");
        let bytes = read_all(path, io::repeat(b'0').take(300_000), 0, &|| SIZE_LIMIT).unwrap();
        assert!(bytes.capacity() <= 4 * bytes.len());
    }
}
