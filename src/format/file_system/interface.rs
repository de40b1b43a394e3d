//! The operations on files and directories, for any file system.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The kind of file that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Kind {
    File,
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a device, a socket.
    Other,
}

/// The status of a file, as from `stat`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no owners"))]
pub(in crate::format) struct Status {
    pub kind: Kind,
    /// In bytes.
    pub length: u64,
    /// Number of names (hard links).
    pub links: u64,
    /// Owner, group and permissions; 0 where there are no such things.
    pub owner: u32,
    pub group: u32,
    pub mode: u32,
}

/// How an existing file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Access {
    Read,
    /// For writing from the first byte on, without truncation.
    Write,
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Readers {
    /// Its owner alone.
    Owner,
    /// Those who may read any new file: by the process's umask, or the directory's default list.
    Default,
}

/// An open file. Each operation may fail.
pub(in crate::format) trait OpenFile: Read + Write {
    /// Continues at the first byte.
    fn rewind(&mut self) -> io::Result<()>;

    /// Truncates the file, or extends it with zeros.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Waits until content and attributes are on the disk.
    fn sync(&self) -> io::Result<()>;
}

impl OpenFile for File {
    fn rewind(&mut self) -> io::Result<()> {
        Seek::rewind(self)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }
}

/// Operations on files. Names are those in a directory that is open, so that neither the length of
/// a path nor the renaming of a directory matters.
pub(in crate::format) trait FileSystem {
    /// An open file, closed when it is dropped.
    type File: OpenFile;
    /// An open directory.
    type Directory;

    /// Opens any file by its path, following links.
    fn open_path(&self, path: &Path) -> io::Result<Self::File>;

    /// The status of an open file.
    fn status(&self, file: &Self::File) -> io::Result<Status>;

    /// Opens a directory; a relative path starts at `base`, or else at the working directory.
    fn open_directory(
        &self, base: Option<&Self::Directory>, path: &Path,
    ) -> io::Result<Self::Directory>;

    /// The status of what a name refers to, without following links.
    fn status_of(&self, directory: &Self::Directory, name: &OsStr) -> io::Result<Status>;

    /// The target of a symbolic link.
    fn read_link(&self, directory: &Self::Directory, name: &OsStr) -> io::Result<PathBuf>;

    /// If the link refers to an open descriptor of this or another process, as `/dev/stdout` and `/dev/fd/5` do on
    /// Linux: a file for writing to it.
    fn open_descriptor(
        &self, directory: &Self::Directory, name: &OsStr,
    ) -> io::Result<Option<Self::File>>;

    /// Checks that the process may write an existing file.
    fn check_writable(&self, directory: &Self::Directory, name: &OsStr) -> io::Result<()>;

    /// Opens what is there and is no symbolic link.
    fn open(
        &self, directory: &Self::Directory, name: &OsStr, access: Access,
    ) -> io::Result<Self::File>;

    /// Makes a file without a name (`O_TMPFILE`) for reading and writing. It disappears when it is closed, however the
    /// process ends.
    fn create_unnamed(
        &self, directory: &Self::Directory, readers: Readers,
    ) -> io::Result<Self::File>;

    /// Makes a file with a new temporary name, for reading and writing.
    fn create_temporary(
        &self, directory: &Self::Directory, name: &OsStr, readers: Readers,
    ) -> io::Result<Self::File>;

    /// Gives `new` the owner, group, permissions and extended attributes of `old`, whose status is
    /// `status`; fails where that cannot be done. `new` was made for [`Readers::Owner`], and has
    /// at no time more readers than `old`.
    fn copy_attributes(
        &self, old: &Self::File, status: &Status, new: &Self::File,
    ) -> io::Result<()>;

    /// Gives a file without a name a new name.
    fn link(&self, file: &Self::File, directory: &Self::Directory, name: &OsStr) -> io::Result<()>;

    /// [`Self::link`] for a temporary name.
    fn link_temporary(
        &self, file: &Self::File, directory: &Self::Directory, name: &OsStr,
    ) -> io::Result<()>;

    /// Renames the temporary name `from` to `to`, atomically replacing what `to` was.
    fn rename_temporary(
        &self, directory: &Self::Directory, from: &OsStr, to: &OsStr,
    ) -> io::Result<()>;

    /// Removes a temporary name.
    fn remove_temporary(&self, directory: &Self::Directory, temporary: &OsStr) -> io::Result<()>;

    /// The directory for temporary files that cannot be made beside their target.
    fn temporary_directory(&self) -> PathBuf;

    /// Makes a temporary name permanent: [`super::abort_writes`] no longer removes it.
    fn keep_temporary(&self, directory: &Self::Directory, temporary: &OsStr);

    /// Waits until the names of a directory are on the disk. No error where the file system, or the
    /// directory's permissions, do not allow that.
    fn sync_directory(&self, directory: &Self::Directory) -> io::Result<()>;
}
