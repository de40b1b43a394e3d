//! The new content of a file, before it has its final name.

use super::super::file_system::{FileSystem, OpenFile, Patient, Readers, retry};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of temporary names that are tried. One is taken only if a process was killed, or by an attacker.
const MOST_NAMES: usize = 10_000;

/// A file that is being written, without a name or with a temporary one, which is removed on drop.
pub(super) struct Content<'a, F: FileSystem> {
    pub files: &'a F,
    pub directory: &'a F::Directory,
    pub file: F::File,
    /// The temporary name.
    pub name: Option<OsString>,
}

impl<F: FileSystem> Drop for Content<'_, F> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // An error leaves the file: there is no other way to remove it.
            let _ = retry(|| self.files.remove_temporary(self.directory, name));
        }
    }
}

impl<'a, F: FileSystem> Content<'a, F> {
    /// An empty file.
    pub(super) fn create(
        files: &'a F, directory: &'a F::Directory, readers: Readers,
    ) -> io::Result<Self> {
        // Whatever speaks against a file without a name need not speak against one with a name.
        match retry(|| files.create_unnamed(directory, readers)) {
            Ok(file) => Ok(Self { files, directory, file, name: None }),
            Err(_) => Self::create_named(files, directory, readers),
        }
    }

    fn create_named(
        files: &'a F, directory: &'a F::Directory, readers: Readers,
    ) -> io::Result<Self> {
        let make = |name: &_| files.create_temporary(directory, name, readers);
        let (file, name) = with_new_name(make)?;
        Ok(Self { files, directory, file, name: Some(name) })
    }

    /// Gives it a temporary name if it has none.
    pub(super) fn link(&mut self) -> io::Result<()> {
        if self.name.is_none() {
            let link = |name: &_| self.files.link_temporary(&self.file, self.directory, name);
            self.name = Some(with_new_name(link)?.1);
        }
        Ok(())
    }

    /// The same content in another file, which has a temporary name from the beginning.
    pub(super) fn copy(&mut self, readers: Readers) -> io::Result<Self> {
        let mut copy = Self::create_named(self.files, self.directory, readers)?;
        copy_all(&mut self.file, &mut copy.file)?;
        Ok(copy)
    }

    /// Lets the file stay under its temporary name, if it has one, and gives that.
    pub(super) fn keep(mut self) -> Option<OsString> {
        let name = self.name.take()?;
        self.files.keep_temporary(self.directory, &name);
        Some(name)
    }
}

/// Calls `work` with new temporary names until it does not fail by `AlreadyExists`. The names do not contain that of
/// the target, which may have the maximal length already.
fn with_new_name<T>(mut work: impl FnMut(&OsStr) -> io::Result<T>) -> io::Result<(T, OsString)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    for _ in 0..MOST_NAMES {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = OsString::from(format!(".fastlbp-{}-{number}.tmp", std::process::id()));
        match retry(|| work(&name)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return Ok((made?, name)),
        }
    }
    let text = format!("{MOST_NAMES} temporary names .fastlbp-*.tmp are taken: remove these files");
    Err(io::Error::new(ErrorKind::AlreadyExists, text))
}

/// Copies a file from its first byte on to the current position of another one.
pub(super) fn copy_all<F: OpenFile>(from: &mut F, to: &mut F) -> io::Result<()> {
    retry(|| from.rewind())?;
    const STEP: usize = 1 << 16;
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(STEP).map_err(|_| ErrorKind::OutOfMemory)?;
    buffer.resize(STEP, 0);
    let (mut from, mut to) = (Patient(from), Patient(to));
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            length => to.write_all(&buffer[..length])?,
        }
    }
}
