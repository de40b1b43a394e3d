//! The operations on files and directories, for any file system.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Kind {
    File,
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a device, a socket.
    Other,
}

/// What there is to know about a file.
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

/// What is done with a file that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Access {
    Read,
    /// Nothing is cut off: writing begins at the first byte.
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

    /// Cuts the file off, or fills it up.
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

    /// What a name stands for; links are not followed.
    fn status_of(&self, directory: &Self::Directory, name: &OsStr) -> io::Result<Status>;

    /// Where a symbolic link leads.
    fn read_link(&self, directory: &Self::Directory, name: &OsStr) -> io::Result<PathBuf>;

    /// Where the link stands for an open descriptor of this or another process, as `/dev/stdout`
    /// and `/dev/fd/5` finally do on Linux: that, to be written.
    fn open_descriptor(
        &self, directory: &Self::Directory, name: &OsStr,
    ) -> io::Result<Option<Self::File>>;

    /// Whether the process may write a file that is there; an error says why not.
    fn check_writable(&self, directory: &Self::Directory, name: &OsStr) -> io::Result<()>;

    /// Opens what is there and is no symbolic link.
    fn open(
        &self, directory: &Self::Directory, name: &OsStr, access: Access,
    ) -> io::Result<Self::File>;

    /// Makes a file without a name, to be read and written: it goes away with the process, however
    /// that ends.
    fn create_unnamed(
        &self, directory: &Self::Directory, readers: Readers,
    ) -> io::Result<Self::File>;

    /// Makes a file with a temporary name that nothing has yet, to be read and written.
    fn create_temporary(
        &self, directory: &Self::Directory, name: &OsStr, readers: Readers,
    ) -> io::Result<Self::File>;

    /// Gives `new` the owner, group, permissions and extended attributes of `old`, whose status is
    /// `status`; fails where that cannot be done. `new` was made for [`Readers::Owner`], and has
    /// at no time more readers than `old`.
    fn copy_attributes(
        &self, old: &Self::File, status: &Status, new: &Self::File,
    ) -> io::Result<()>;

    /// Gives a file without a name one that nothing has yet.
    fn link(&self, file: &Self::File, directory: &Self::Directory, name: &OsStr) -> io::Result<()>;

    /// As [`Self::link`], for a temporary name.
    fn link_temporary(
        &self, file: &Self::File, directory: &Self::Directory, name: &OsStr,
    ) -> io::Result<()>;

    /// Puts the file with the temporary name `from` in the place of the name `to`, in one step.
    fn rename_temporary(
        &self, directory: &Self::Directory, from: &OsStr, to: &OsStr,
    ) -> io::Result<()>;

    /// Removes a temporary name.
    fn remove_temporary(&self, directory: &Self::Directory, temporary: &OsStr) -> io::Result<()>;

    /// Where temporary files may be made that cannot be made beside their target.
    fn temporary_directory(&self) -> PathBuf;

    /// Lets a temporary name stay for good.
    fn keep_temporary(&self, directory: &Self::Directory, temporary: &OsStr);

    /// Waits until the names of a directory are on the disk. No error where the file system, or the
    /// directory's permissions, do not allow that.
    fn sync_directory(&self, directory: &Self::Directory) -> io::Result<()>;
}
