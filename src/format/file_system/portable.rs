//! The file system of systems other than Unix, as far as `std` supports it.

use super::interface::{Access, FileSystem, Kind, Readers, Status};
use super::temporaries::Temporaries;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The real file system.
pub(in crate::format) struct Native;

static TEMPORARIES: Temporaries<PathBuf> = Temporaries::new();

/// Removes all temporary files and blocks further writes; see [`super::abort_writes`].
pub(super) fn remove_temporaries() {
    TEMPORARIES.abort(|directory, name| {
        // An error leaves the file: there is no other way to remove it.
        let _ = fs::remove_file(directory.join(name));
    });
}

/// While this guard lives, [`super::abort_writes`] waits in other threads.
pub(in crate::format) fn hold_writes() -> impl Sized {
    TEMPORARIES.hold()
}

fn status(metadata: &fs::Metadata) -> Status {
    let kind = match metadata.file_type() {
        kind if kind.is_file() => Kind::File,
        kind if kind.is_dir() => Kind::Directory,
        kind if kind.is_symlink() => Kind::Link,
        _ => Kind::Other,
    };
    Status { kind, length: metadata.len(), links: 1, owner: 0, group: 0, mode: 0 }
}

impl FileSystem for Native {
    type File = File;
    type Directory = PathBuf;

    fn open_path(&self, path: &Path) -> io::Result<File> {
        File::open(path)
    }

    fn status(&self, file: &File) -> io::Result<Status> {
        Ok(status(&file.metadata()?))
    }

    fn open_directory(&self, base: Option<&PathBuf>, path: &Path) -> io::Result<PathBuf> {
        Ok(base.map_or_else(|| path.to_path_buf(), |base| base.join(path)))
    }

    fn status_of(&self, directory: &PathBuf, name: &OsStr) -> io::Result<Status> {
        Ok(status(&fs::symlink_metadata(directory.join(name))?))
    }

    fn read_link(&self, directory: &PathBuf, name: &OsStr) -> io::Result<PathBuf> {
        fs::read_link(directory.join(name))
    }

    fn open_descriptor(&self, _: &PathBuf, _: &OsStr) -> io::Result<Option<File>> {
        Ok(None)
    }

    fn check_writable(&self, directory: &PathBuf, name: &OsStr) -> io::Result<()> {
        match fs::metadata(directory.join(name))?.permissions().readonly() {
            true => Err(ErrorKind::PermissionDenied.into()),
            false => Ok(()),
        }
    }

    fn open(&self, directory: &PathBuf, name: &OsStr, access: Access) -> io::Result<File> {
        let write = access == Access::Write;
        OpenOptions::new().read(!write).write(write).open(directory.join(name))
    }

    fn create_unnamed(&self, _: &PathBuf, _: Readers) -> io::Result<File> {
        Err(ErrorKind::Unsupported.into())
    }

    fn create_temporary(&self, directory: &PathBuf, name: &OsStr, _: Readers) -> io::Result<File> {
        TEMPORARIES.add(directory, name, || {
            let path = directory.join(name);
            OpenOptions::new().read(true).write(true).create_new(true).open(path)
        })
    }

    fn copy_attributes(&self, old: &File, _: &Status, new: &File) -> io::Result<()> {
        new.set_permissions(old.metadata()?.permissions())
    }

    fn link(&self, _: &File, _: &PathBuf, _: &OsStr) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    fn link_temporary(&self, _: &File, _: &PathBuf, _: &OsStr) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    fn rename_temporary(&self, directory: &PathBuf, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let rename = || fs::rename(directory.join(from), directory.join(to));
        TEMPORARIES.take(directory, from, rename)
    }

    fn remove_temporary(&self, directory: &PathBuf, temporary: &OsStr) -> io::Result<()> {
        TEMPORARIES.take(directory, temporary, || fs::remove_file(directory.join(temporary)))
    }

    fn temporary_directory(&self) -> PathBuf {
        std::env::temp_dir()
    }

    fn keep_temporary(&self, directory: &PathBuf, temporary: &OsStr) {
        // Nothing is done that could fail.
        let _ = TEMPORARIES.take(directory, temporary, || Ok(()));
    }

    fn sync_directory(&self, _: &PathBuf) -> io::Result<()> {
        Ok(())
    }
}
