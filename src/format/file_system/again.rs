//! Retrying operations that a signal has interrupted.

use std::io::{self, ErrorKind, Read, Write};

/// Repeats an operation while it fails by `Interrupted`.
pub(in crate::format) fn retry<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match work() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// A file whose interrupted reads and writes are retried: the gzip codecs would take `Interrupted` for a failure.
pub(in crate::format) struct Patient<T>(pub T);

impl<T: Read> Read for Patient<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        retry(|| self.0.read(bytes))
    }
}

impl<T: Write> Write for Patient<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        retry(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        retry(|| self.0.flush())
    }
}
