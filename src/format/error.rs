//! Errors about a file, with a copy of its path; if there is no memory for the copy, `OutOfMemory` instead.

use crate::error::Error;
use crate::memory::{self, out_of_memory};
use std::io;
use std::path::Path;

impl Error {
    /// A parse error at a line of a file.
    pub(crate) fn parse(path: &Path, line: u64, message: impl Into<String>) -> Self {
        match memory::path(path) {
            Ok(path) => Error::Parse { path, line, message: message.into() },
            Err(no_memory) => no_memory,
        }
    }

    /// An input/output error on a file.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::OutOfMemory {
            return out_of_memory(format_args!("{}", path.display()));
        }
        match memory::path(path) {
            Ok(path) => Error::Io { path, source },
            Err(no_memory) => no_memory,
        }
    }
}
