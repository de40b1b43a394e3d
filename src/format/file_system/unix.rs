//! The file system of a Unix system.

use super::interface::{Access, FileSystem, Kind, Readers, Status};
use super::temporaries::Temporaries;
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

/// The real file system.
pub(in crate::format) struct Native;

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

static TEMPORARIES: Temporaries<Directory> = Temporaries::new();

/// Removes all temporary files and blocks further writes; see [`super::abort_writes`].
pub(super) fn remove_temporaries() {
    TEMPORARIES.abort(|directory, name| {
        // An error leaves the file: there is no other way to remove it.
        let _ = fs::unlinkat(&*directory.descriptor, name, AtFlags::empty());
    });
}

/// While this guard lives, [`super::abort_writes`] waits in other threads.
pub(in crate::format) fn hold_writes() -> impl Sized {
    TEMPORARIES.hold()
}

impl Readers {
    fn mode(self) -> Mode {
        match self {
            Readers::Owner => Mode::RUSR | Mode::WUSR,
            Readers::Default => Mode::from_raw_mode(0o666),
        }
    }
}

#[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
fn status(stat: &fs::Stat) -> Status {
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

impl FileSystem for Native {
    type File = File;
    type Directory = Directory;

    fn open_path(&self, path: &Path) -> io::Result<File> {
        File::open(path)
    }

    fn status(&self, file: &File) -> io::Result<Status> {
        Ok(status(&fs::fstat(file)?))
    }

    fn open_directory(&self, base: Option<&Directory>, path: &Path) -> io::Result<Directory> {
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

    fn status_of(&self, directory: &Directory, name: &OsStr) -> io::Result<Status> {
        Ok(status(&fs::statat(&*directory.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    fn read_link(&self, directory: &Directory, name: &OsStr) -> io::Result<PathBuf> {
        let link = fs::readlinkat(&*directory.descriptor, name, Vec::new())?;
        Ok(OsString::from_vec(link.into_bytes()).into())
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn open_descriptor(&self, directory: &Directory, name: &OsStr) -> io::Result<Option<File>> {
        super::descriptors::open(&directory.descriptor, name)
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn open_descriptor(&self, _: &Directory, _: &OsStr) -> io::Result<Option<File>> {
        Ok(None)
    }

    fn check_writable(&self, directory: &Directory, name: &OsStr) -> io::Result<()> {
        let access = fs::Access::WRITE_OK;
        Ok(fs::accessat(&*directory.descriptor, name, access, AtFlags::EACCESS)?)
    }

    fn open(&self, directory: &Directory, name: &OsStr, access: Access) -> io::Result<File> {
        let access = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::WRONLY,
        };
        let flags = access | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NOCTTY;
        Ok(fs::openat(&*directory.descriptor, name, flags, Mode::empty())?.into())
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn create_unnamed(&self, directory: &Directory, readers: Readers) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        Ok(fs::openat(&*directory.descriptor, ".", flags, readers.mode())?.into())
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn create_unnamed(&self, _: &Directory, _: Readers) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn create_temporary(
        &self, directory: &Directory, name: &OsStr, readers: Readers,
    ) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        TEMPORARIES.add(directory, name, || {
            Ok(fs::openat(&*directory.descriptor, name, flags, readers.mode())?.into())
        })
    }

    fn copy_attributes(&self, old: &File, wanted: &Status, new: &File) -> io::Result<()> {
        let now = self.status(new)?;
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
        if self.status(new)?.mode != mode {
            fs::fchmod(new, Mode::from_raw_mode(mode as fs::RawMode))?;
        }
        Ok(())
    }

    fn link(&self, file: &File, directory: &Directory, name: &OsStr) -> io::Result<()> {
        link_unnamed(file, directory, name)
    }

    fn link_temporary(&self, file: &File, directory: &Directory, name: &OsStr) -> io::Result<()> {
        TEMPORARIES.add(directory, name, || link_unnamed(file, directory, name))
    }

    fn rename_temporary(&self, directory: &Directory, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let descriptor = &*directory.descriptor;
        let rename = || Ok(fs::renameat(descriptor, from, descriptor, to)?);
        TEMPORARIES.take(directory, from, rename)
    }

    fn remove_temporary(&self, directory: &Directory, temporary: &OsStr) -> io::Result<()> {
        let remove = || Ok(fs::unlinkat(&*directory.descriptor, temporary, AtFlags::empty())?);
        TEMPORARIES.take(directory, temporary, remove)
    }

    fn temporary_directory(&self) -> PathBuf {
        std::env::temp_dir()
    }

    fn keep_temporary(&self, directory: &Directory, temporary: &OsStr) {
        // Nothing is done that could fail.
        let _ = TEMPORARIES.take(directory, temporary, || Ok(()));
    }

    fn sync_directory(&self, directory: &Directory) -> io::Result<()> {
        if !directory.readable {
            return Ok(());
        }
        match fs::fsync(&*directory.descriptor) {
            Err(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS | Errno::BADF | Errno::ROFS) => Ok(()),
            synced => Ok(synced?),
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn link_unnamed(file: &File, directory: &Directory, name: &OsStr) -> io::Result<()> {
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
fn link_unnamed(_: &File, _: &Directory, _: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
