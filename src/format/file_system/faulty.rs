//! A file system for tests, in which a chosen operation fails or the process dies.

use super::interface::{Access, FileSystem, OpenFile, Readers, Status};
use super::native::Native;
use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What happens at one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It fails by this error, once.
    Error(i32),
    /// It fails by this error, and so does everything after it.
    Broken(i32),
    /// It reads or writes one byte only.
    Short,
    /// The process dies before it: nothing happens any more, no cleaning up either.
    Death,
    /// The process dies after it, or when half of the bytes are written.
    DeathAfter,
}

/// Operations that a file system does not support or allow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lacks {
    pub unnamed_files: bool,
    /// Links to files without a name.
    pub links: bool,
    /// The permission to give files away.
    pub attributes: bool,
    /// The permission to replace files.
    pub replacing: bool,
    /// The permission to make files, but in the directory for temporary ones.
    pub creating: bool,
}

/// The native file system with a fault at its operation number `at`, counted from 0.
pub struct Faulty {
    state: Rc<State>,
    lacks: Lacks,
    temporary: PathBuf,
}

struct State {
    fault: Fault,
    at: usize,
    dead: Cell<bool>,
    operations: RefCell<Vec<&'static str>>,
}

impl State {
    /// Counts an operation; an error says that it must not be done.
    fn begin(&self, operation: &'static str) -> io::Result<usize> {
        let number = self.operations.borrow().len();
        self.operations.borrow_mut().push(operation);
        let error = match self.fault {
            _ if self.dead.get() => libc::EIO,
            Fault::Error(error) if number == self.at => error,
            Fault::Broken(error) if number >= self.at => error,
            Fault::Death if number == self.at => {
                self.dead.set(true);
                libc::EIO
            }
            _ => return Ok(number),
        };
        Err(io::Error::from_raw_os_error(error))
    }

    /// Says that an operation was done; an error if the process died meanwhile.
    fn end(&self, number: usize) -> io::Result<()> {
        if self.fault == Fault::DeathAfter && number == self.at {
            self.dead.set(true);
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        Ok(())
    }

    fn run<T>(
        &self, operation: &'static str, work: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let number = self.begin(operation)?;
        let done = work()?;
        self.end(number)?;
        Ok(done)
    }

    /// How many of so many bytes are read or written.
    fn share(&self, number: usize, length: usize) -> usize {
        match self.fault {
            Fault::Short if number == self.at => length.min(1),
            Fault::DeathAfter if number == self.at => length / 2,
            _ => length,
        }
    }
}

impl Faulty {
    /// `temporary` is the directory for temporary files.
    pub fn new(fault: Fault, at: usize, lacks: Lacks, temporary: PathBuf) -> Self {
        let (dead, operations) = (Cell::new(false), RefCell::default());
        Self { state: Rc::new(State { fault, at, dead, operations }), lacks, temporary }
    }

    /// The operations so far.
    pub fn operations(&self) -> Vec<&'static str> {
        self.state.operations.borrow().clone()
    }

    /// Whether the process died.
    pub fn is_dead(&self) -> bool {
        self.state.dead.get()
    }

    fn open(&self, file: std::fs::File) -> File {
        File { file, state: self.state.clone() }
    }

    /// Fails where no file may be made.
    fn check(&self, directory: &Directory) -> io::Result<()> {
        match self.lacks.creating && !directory.is_temporary {
            true => Err(io::Error::from_raw_os_error(libc::EACCES)),
            false => Ok(()),
        }
    }
}

pub struct File {
    file: std::fs::File,
    state: Rc<State>,
}

impl Read for File {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let number = self.state.begin("read")?;
        let length = self.state.share(number, bytes.len());
        let read = self.file.read(&mut bytes[..length])?;
        self.state.end(number)?;
        Ok(read)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let number = self.state.begin("write")?;
        let length = self.state.share(number, bytes.len());
        self.file.write_all(&bytes[..length])?;
        self.state.end(number)?;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl OpenFile for File {
    fn rewind(&mut self) -> io::Result<()> {
        self.state.run("rewind", || OpenFile::rewind(&mut self.file))
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.state.run("set_length", || self.file.set_length(length))
    }

    /// Waits for nothing: the machine does not stop.
    fn sync(&self) -> io::Result<()> {
        self.state.run("sync", || Ok(()))
    }
}

pub struct Directory {
    native: <Native as FileSystem>::Directory,
    is_temporary: bool,
}

fn lacking(error: i32) -> io::Error {
    io::Error::from_raw_os_error(error)
}

impl FileSystem for Faulty {
    type File = File;
    type Directory = Directory;

    fn open_path(&self, path: &Path) -> io::Result<File> {
        self.state.run("open_path", || Ok(self.open(Native.open_path(path)?)))
    }

    fn status(&self, file: &File) -> io::Result<Status> {
        self.state.run("status", || Native.status(&file.file))
    }

    fn open_directory(&self, base: Option<&Directory>, path: &Path) -> io::Result<Directory> {
        self.state.run("open_directory", || {
            let native = Native.open_directory(base.map(|base| &base.native), path)?;
            Ok(Directory { native, is_temporary: path == self.temporary })
        })
    }

    fn status_of(&self, directory: &Directory, name: &OsStr) -> io::Result<Status> {
        self.state.run("status_of", || Native.status_of(&directory.native, name))
    }

    fn read_link(&self, directory: &Directory, name: &OsStr) -> io::Result<PathBuf> {
        self.state.run("read_link", || Native.read_link(&directory.native, name))
    }

    fn open_descriptor(&self, directory: &Directory, name: &OsStr) -> io::Result<Option<File>> {
        self.state.run("open_descriptor", || {
            Ok(Native.open_descriptor(&directory.native, name)?.map(|file| self.open(file)))
        })
    }

    fn check_writable(&self, directory: &Directory, name: &OsStr) -> io::Result<()> {
        self.state.run("check_writable", || Native.check_writable(&directory.native, name))
    }

    fn open(&self, directory: &Directory, name: &OsStr, access: Access) -> io::Result<File> {
        self.state.run("open", || Ok(self.open(Native.open(&directory.native, name, access)?)))
    }

    fn create_unnamed(&self, directory: &Directory, readers: Readers) -> io::Result<File> {
        self.state.run("create_unnamed", || {
            if self.lacks.unnamed_files {
                return Err(lacking(libc::EOPNOTSUPP));
            }
            self.check(directory)?;
            Ok(self.open(Native.create_unnamed(&directory.native, readers)?))
        })
    }

    fn create_temporary(
        &self, directory: &Directory, name: &OsStr, readers: Readers,
    ) -> io::Result<File> {
        self.state.run("create_temporary", || {
            self.check(directory)?;
            Ok(self.open(Native.create_temporary(&directory.native, name, readers)?))
        })
    }

    fn copy_attributes(&self, old: &File, status: &Status, new: &File) -> io::Result<()> {
        self.state.run("copy_attributes", || {
            if self.lacks.attributes {
                return Err(lacking(libc::EPERM));
            }
            Native.copy_attributes(&old.file, status, &new.file)
        })
    }

    fn link(&self, file: &File, directory: &Directory, name: &OsStr) -> io::Result<()> {
        self.state.run("link", || {
            if self.lacks.links {
                return Err(lacking(libc::EPERM));
            }
            Native.link(&file.file, &directory.native, name)
        })
    }

    fn link_temporary(&self, file: &File, directory: &Directory, name: &OsStr) -> io::Result<()> {
        self.state.run("link_temporary", || {
            if self.lacks.links {
                return Err(lacking(libc::EPERM));
            }
            Native.link_temporary(&file.file, &directory.native, name)
        })
    }

    fn rename_temporary(&self, directory: &Directory, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.state.run("rename_temporary", || {
            if self.lacks.replacing {
                return Err(lacking(libc::EBUSY));
            }
            Native.rename_temporary(&directory.native, from, to)
        })
    }

    fn temporary_directory(&self) -> PathBuf {
        self.temporary.clone()
    }

    fn remove_temporary(&self, directory: &Directory, temporary: &OsStr) -> io::Result<()> {
        self.state.run("remove_temporary", || Native.remove_temporary(&directory.native, temporary))
    }

    fn keep_temporary(&self, directory: &Directory, temporary: &OsStr) {
        Native.keep_temporary(&directory.native, temporary);
    }

    fn sync_directory(&self, _: &Directory) -> io::Result<()> {
        self.state.run("sync_directory", || Ok(()))
    }
}
