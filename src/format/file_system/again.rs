//! Operations that a signal may interrupt, done again.

use std::io::{self, ErrorKind, Read, Write};

/// Does something again as long as signals interrupt it.
pub(in crate::format) fn retry<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match work() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Reads and writes again where signals interrupt that: the codecs of gzip would take it for a failure.
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
