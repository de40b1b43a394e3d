//! Writing text to a file, to memory, or to a writer of the caller's.

use super::names::Quoted;
use super::number::{Digits, decimal, shortest};
use crate::error::{Error, Result};
use crate::memory;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// The size of the buffer in bytes.
const CAPACITY: usize = 1 << 16;

/// A buffered writer of text. Errors of the sink are returned at the end of a line.
pub(super) struct Output<'a> {
    path: &'a Path,
    pub(super) sink: &'a mut dyn Write,
    /// Text that is not yet written to the sink. It never grows beyond its capacity.
    buffer: Vec<u8>,
    flushed: u64,
    failure: Option<io::Error>,
}

impl<'a> Output<'a> {
    /// `path` is what errors call the sink.
    pub(super) fn new(path: &'a Path, sink: &'a mut dyn Write) -> Result<Self> {
        Ok(Self { path, sink, buffer: memory::room(CAPACITY)?, flushed: 0, failure: None })
    }

    /// Number of bytes written so far.
    pub(super) fn length(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        if self.buffer.capacity() - self.buffer.len() >= bytes.len() {
            self.buffer.extend_from_slice(bytes);
        } else {
            self.bytes_beyond(bytes);
        }
    }

    /// Bytes for which the buffer has no room.
    #[cold]
    fn bytes_beyond(&mut self, bytes: &[u8]) {
        self.send();
        if bytes.len() <= self.buffer.capacity() {
            self.buffer.extend_from_slice(bytes);
        } else {
            self.send_bytes(bytes);
        }
    }

    /// A name, in quotes if need be.
    pub(super) fn quoted(&mut self, name: Quoted<'_>) {
        name.parts().into_iter().for_each(|part| self.text(part));
    }

    #[inline]
    pub(super) fn integer(&mut self, value: u64) {
        self.bytes(decimal(value, &mut [0; 20]));
    }

    #[inline]
    pub(super) fn float(&mut self, value: f64) {
        self.text(shortest(value, &mut Digits::new()));
    }

    /// Integers on one line, each followed by a space but the last.
    pub(super) fn integer_line(&mut self, values: impl Iterator<Item = u64>) -> Result<()> {
        for (position, value) in values.enumerate() {
            if position > 0 {
                self.text(" ");
            }
            self.integer(value);
        }
        self.end_line()
    }

    pub(super) fn end_line(&mut self) -> Result<()> {
        self.text("\n");
        self.check()
    }

    /// Writes the buffer to the sink.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.send();
        self.check()
    }

    fn check(&mut self) -> Result<()> {
        match self.failure.take() {
            None => Ok(()),
            Some(failure) => Err(Error::io(self.path, failure)),
        }
    }

    fn send(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.send_bytes(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
    }

    fn send_bytes(&mut self, bytes: &[u8]) {
        self.flushed += bytes.len() as u64;
        if self.failure.is_none() {
            self.failure = self.sink.write_all(bytes).err();
        }
    }
}

/// A text in memory; a failure to grow is an error.
pub(super) struct MemorySink(pub Vec<u8>);

impl Write for MemorySink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_reserve(bytes.len()).map_err(|_| ErrorKind::OutOfMemory)?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes to a sink of the caller's.
pub(super) fn send_to(
    sink: &mut dyn Write, write: impl FnOnce(&mut Output<'_>) -> Result<()>,
) -> io::Result<()> {
    let write_all = || {
        let mut output = Output::new(Path::new("output"), sink)?;
        write(&mut output)?;
        output.flush()
    };
    write_all().map_err(|error| match error {
        Error::Io { source, .. } => source,
        Error::OutOfMemory(_) => ErrorKind::OutOfMemory.into(),
        other => io::Error::new(ErrorKind::InvalidInput, other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_arrive_in_order() {
        let mut sink = MemorySink(Vec::new());
        let mut output = Output::new(Path::new("o"), &mut sink).unwrap();
        let mut wanted = String::new();
        for length in [0, 1, CAPACITY - 2, 1, 1, 3 * CAPACITY, CAPACITY, 7] {
            let text = "x".repeat(length);
            output.text(&text);
            output.integer(length as u64);
            output.end_line().unwrap();
            wanted += &format!("{text}{length}\n");
            assert_eq!(output.length(), wanted.len() as u64);
        }
        output.flush().unwrap();
        assert!(sink.0 == wanted.as_bytes());
    }

    #[test]
    fn a_failure_is_told_once_and_nothing_is_written_after_it() {
        struct Broken(usize);
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                self.0 += 1;
                Err(ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut sink = Broken(0);
        let mut output = Output::new(Path::new("o"), &mut sink).unwrap();
        let long = "x".repeat(CAPACITY + 1);
        output.text(&long);
        output.text(&long);
        assert!(output.end_line().unwrap_err().to_string().starts_with("o: "));
        assert_eq!(sink.0, 1);
        let error = send_to(&mut sink, |output| {
            output.text("x");
            Ok(())
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::StorageFull);
        let error = send_to(&mut sink, |_| Err(Error::OutOfRange("x".into()))).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidInput, "x".to_string()));
    }
}
