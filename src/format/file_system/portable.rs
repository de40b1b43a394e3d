//! The operations on files of systems other than Unix, as far as `std` supports it.

use super::interface::{Access, Kind, Readers, Status};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The path of a directory.
pub(in crate::format) type Directory = PathBuf;

pub(super) fn status(file: &File) -> io::Result<Status> {
    Ok(status_from(&file.metadata()?))
}

fn status_from(metadata: &fs::Metadata) -> Status {
    let kind = match metadata.file_type() {
        kind if kind.is_file() => Kind::File,
        kind if kind.is_dir() => Kind::Directory,
        kind if kind.is_symlink() => Kind::Link,
        _ => Kind::Other,
    };
    Status { kind, length: metadata.len(), links: 1, owner: 0, group: 0, mode: 0 }
}

pub(super) fn open_directory(base: Option<&Directory>, path: &Path) -> io::Result<Directory> {
    Ok(base.map_or_else(|| path.to_path_buf(), |base| base.join(path)))
}

pub(super) fn status_of(directory: &Directory, name: &OsStr) -> io::Result<Status> {
    Ok(status_from(&fs::symlink_metadata(directory.join(name))?))
}

pub(super) fn read_link(directory: &Directory, name: &OsStr) -> io::Result<PathBuf> {
    fs::read_link(directory.join(name))
}

pub(super) fn open_descriptor(_: &Directory, _: &OsStr) -> io::Result<Option<File>> {
    Ok(None)
}

pub(super) fn check_writable(directory: &Directory, name: &OsStr) -> io::Result<()> {
    match fs::metadata(directory.join(name))?.permissions().readonly() {
        true => Err(ErrorKind::PermissionDenied.into()),
        false => Ok(()),
    }
}

pub(super) fn open(directory: &Directory, name: &OsStr, access: Access) -> io::Result<File> {
    let write = access == Access::Write;
    OpenOptions::new().read(!write).write(write).open(directory.join(name))
}

pub(super) fn create_unnamed(_: &Directory, _: Readers) -> io::Result<File> {
    Err(ErrorKind::Unsupported.into())
}

pub(super) fn create(directory: &Directory, name: &OsStr, _: Readers) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(directory.join(name))
}

pub(super) fn copy_attributes(old: &File, _: &Status, new: &File) -> io::Result<()> {
    new.set_permissions(old.metadata()?.permissions())
}

pub(super) fn link(_: &File, _: &Directory, _: &OsStr) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

pub(super) fn rename(directory: &Directory, from: &OsStr, to: &OsStr) -> io::Result<()> {
    fs::rename(directory.join(from), directory.join(to))
}

pub(super) fn remove(directory: &Directory, name: &OsStr) -> io::Result<()> {
    fs::remove_file(directory.join(name))
}

pub(super) fn sync_directory(_: &Directory) -> io::Result<()> {
    Ok(())
}
