//! The real file system: the operations of the system, and the registry of temporary names.

use super::interface::{Access, FileSystem, Readers, Status};
use super::system::{self, Directory};
use super::temporaries::Temporaries;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The real file system.
pub(in crate::format) struct Native;

static TEMPORARIES: Temporaries<Directory> = Temporaries::new();

/// Removes all temporary files and blocks further writes; see [`super::abort_writes`].
pub(super) fn remove_temporaries() {
    TEMPORARIES.abort(|directory, name| {
        // An error leaves the file: there is no other way to remove it.
        let _ = system::remove(directory, name);
    });
}

/// While this guard lives, [`super::abort_writes`] waits in other threads.
pub(in crate::format) fn hold_writes() -> impl Sized {
    TEMPORARIES.hold()
}

impl FileSystem for Native {
    type File = File;
    type Directory = Directory;

    fn open_path(&self, path: &Path) -> io::Result<File> {
        File::open(path)
    }

    fn status(&self, file: &File) -> io::Result<Status> {
        system::status(file)
    }

    fn open_directory(&self, base: Option<&Directory>, path: &Path) -> io::Result<Directory> {
        system::open_directory(base, path)
    }

    fn status_of(&self, directory: &Directory, name: &OsStr) -> io::Result<Status> {
        system::status_of(directory, name)
    }

    fn read_link(&self, directory: &Directory, name: &OsStr) -> io::Result<PathBuf> {
        system::read_link(directory, name)
    }

    fn open_descriptor(&self, directory: &Directory, name: &OsStr) -> io::Result<Option<File>> {
        system::open_descriptor(directory, name)
    }

    fn check_writable(&self, directory: &Directory, name: &OsStr) -> io::Result<()> {
        system::check_writable(directory, name)
    }

    fn open(&self, directory: &Directory, name: &OsStr, access: Access) -> io::Result<File> {
        system::open(directory, name, access)
    }

    fn create_unnamed(&self, directory: &Directory, readers: Readers) -> io::Result<File> {
        system::create_unnamed(directory, readers)
    }

    fn create_temporary(
        &self, directory: &Directory, name: &OsStr, readers: Readers,
    ) -> io::Result<File> {
        TEMPORARIES.add(directory, name, || system::create(directory, name, readers))
    }

    fn copy_attributes(&self, old: &File, status: &Status, new: &File) -> io::Result<()> {
        system::copy_attributes(old, status, new)
    }

    fn link(&self, file: &File, directory: &Directory, name: &OsStr) -> io::Result<()> {
        system::link(file, directory, name)
    }

    fn link_temporary(&self, file: &File, directory: &Directory, name: &OsStr) -> io::Result<()> {
        TEMPORARIES.add(directory, name, || system::link(file, directory, name))
    }

    fn rename_temporary(&self, directory: &Directory, from: &OsStr, to: &OsStr) -> io::Result<()> {
        TEMPORARIES.take(directory, from, || system::rename(directory, from, to))
    }

    fn remove_temporary(&self, directory: &Directory, temporary: &OsStr) -> io::Result<()> {
        TEMPORARIES.take(directory, temporary, || system::remove(directory, temporary))
    }

    fn temporary_directory(&self) -> PathBuf {
        std::env::temp_dir()
    }

    fn keep_temporary(&self, directory: &Directory, temporary: &OsStr) {
        // Nothing is done that could fail.
        let _ = TEMPORARIES.take(directory, temporary, || Ok(()));
    }

    fn sync_directory(&self, directory: &Directory) -> io::Result<()> {
        system::sync_directory(directory)
    }
}
