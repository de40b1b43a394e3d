//! The operations on files of a Unix system.

use super::interface::{Access, Kind, Readers, Status};
use crate::memory::shared;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open directory.
#[derive(Clone)]
pub(in crate::format) struct Directory {
    descriptor: Arc<OwnedFd>,
    /// Whether it was opened for reading, which syncing needs.
    readable: bool,
}

impl PartialEq for Directory {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.descriptor, &other.descriptor)
    }
}

impl Readers {
    fn mode(self) -> Mode {
        match self {
            Readers::Owner => Mode::RUSR | Mode::WUSR,
            Readers::Default => Mode::from_raw_mode(0o666),
        }
    }
}

pub(super) fn status(file: &File) -> io::Result<Status> {
    Ok(status_from(&fs::fstat(file)?))
}

#[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
fn status_from(stat: &fs::Stat) -> Status {
    Status {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        },
        length: stat.st_size as u64,
        links: stat.st_nlink as u64,
        owner: stat.st_uid,
        group: stat.st_gid,
        mode: stat.st_mode as u32 & 0o7777,
    }
}

pub(super) fn open_directory(base: Option<&Directory>, path: &Path) -> io::Result<Directory> {
    let base = base.map_or(fs::CWD, |base| base.descriptor.as_fd());
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |flags| fs::openat(base, path, flags, Mode::empty());
    let (descriptor, readable) = match open(flags | OFlags::RDONLY) {
        // Names can be used, though not listed.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        Err(Errno::ACCESS) => (open(flags | OFlags::PATH)?, false),
        opened => (opened?, true),
    };
    let descriptor = shared(descriptor).map_err(|_| io::ErrorKind::OutOfMemory)?;
    Ok(Directory { descriptor, readable })
}

pub(super) fn status_of(directory: &Directory, name: &OsStr) -> io::Result<Status> {
    Ok(status_from(&fs::statat(&*directory.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

pub(super) fn read_link(directory: &Directory, name: &OsStr) -> io::Result<PathBuf> {
    let link = fs::readlinkat(&*directory.descriptor, name, Vec::new())?;
    Ok(OsString::from_vec(link.into_bytes()).into())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn open_descriptor(directory: &Directory, name: &OsStr) -> io::Result<Option<File>> {
    super::descriptors::open(&directory.descriptor, name)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn open_descriptor(_: &Directory, _: &OsStr) -> io::Result<Option<File>> {
    Ok(None)
}

pub(super) fn check_writable(directory: &Directory, name: &OsStr) -> io::Result<()> {
    let access = fs::Access::WRITE_OK;
    Ok(fs::accessat(&*directory.descriptor, name, access, AtFlags::EACCESS)?)
}

pub(super) fn open(directory: &Directory, name: &OsStr, access: Access) -> io::Result<File> {
    let access = match access {
        Access::Read => OFlags::RDONLY,
        Access::Write => OFlags::WRONLY,
    };
    let flags = access | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NOCTTY;
    Ok(fs::openat(&*directory.descriptor, name, flags, Mode::empty())?.into())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn create_unnamed(directory: &Directory, readers: Readers) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    Ok(fs::openat(&*directory.descriptor, ".", flags, readers.mode())?.into())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn create_unnamed(_: &Directory, _: Readers) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn create(directory: &Directory, name: &OsStr, readers: Readers) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(fs::openat(&*directory.descriptor, name, flags, readers.mode())?.into())
}

pub(super) fn copy_attributes(old: &File, wanted: &Status, new: &File) -> io::Result<()> {
    let now = status(new)?;
    if (now.owner, now.group) != (wanted.owner, wanted.group) {
        // Who may not change the owner may still change the group.
        let owner = (now.owner != wanted.owner).then(|| fs::Uid::from_raw(wanted.owner));
        let group = (now.group != wanted.group).then(|| fs::Gid::from_raw(wanted.group));
        fs::fchown(new, owner, group)?;
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    super::attributes::copy(old, new)?;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = old;
    // Set-id bits are lost, as by any write. Some file systems have the same mode for every file,
    // and do not let it be set.
    let mode = wanted.mode & 0o777;
    if status(new)?.mode != mode {
        fs::fchmod(new, Mode::from_raw_mode(mode as fs::RawMode))?;
    }
    Ok(())
}

pub(super) fn rename(directory: &Directory, from: &OsStr, to: &OsStr) -> io::Result<()> {
    let descriptor = &*directory.descriptor;
    Ok(fs::renameat(descriptor, from, descriptor, to)?)
}

pub(super) fn remove(directory: &Directory, name: &OsStr) -> io::Result<()> {
    Ok(fs::unlinkat(&*directory.descriptor, name, AtFlags::empty())?)
}

pub(super) fn sync_directory(directory: &Directory) -> io::Result<()> {
    if !directory.readable {
        return Ok(());
    }
    match fs::fsync(&*directory.descriptor) {
        Err(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS | Errno::BADF | Errno::ROFS) => Ok(()),
        synced => Ok(synced?),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn link(file: &File, directory: &Directory, name: &OsStr) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    match fs::linkat(fs::CWD, own, &*directory.descriptor, name, AtFlags::SYMLINK_FOLLOW) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::PERM) => {
            // Without /proc; this needs a privilege before Linux 6.10.
            Ok(fs::linkat(file, "", &*directory.descriptor, name, AtFlags::EMPTY_PATH)?)
        }
        linked => Ok(linked?),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn link(_: &File, _: &Directory, _: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
