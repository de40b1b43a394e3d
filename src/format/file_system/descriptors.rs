//! Linux: links in `/proc` that stand for the open descriptors of a process.

use rustix::fs::{self, AtFlags, Mode, OFlags};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

/// The descriptor that a link in this directory stands for, if it is such a link; to be written.
///
/// One of this process shares the position in the file with all that have the descriptor, so that what
/// a shell or a parent wrote there is not written over. One of another process is opened anew: if that
/// is a file, it is appended to.
pub(super) fn open(directory: &OwnedFd, name: &OsStr) -> io::Result<Option<File>> {
    let Some(number) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else {
        return Ok(None);
    };
    if number < 0 || fs::fstatfs(directory)?.f_type != fs::PROC_SUPER_MAGIC {
        return Ok(None);
    }
    let here = fs::fstat(directory)?;
    let is_own = ["/proc/self/fd", "/proc/thread-self/fd"].iter().any(|own| {
        fs::statat(fs::CWD, *own, AtFlags::empty())
            .is_ok_and(|own| (own.st_dev, own.st_ino) == (here.st_dev, here.st_ino))
    });
    if is_own {
        // SAFETY: the number is not -1, and the descriptor was open a moment ago, when its link was
        // found. If another thread closes it meanwhile, duplicating it fails, and if it opens
        // something else then, that is written: as with any descriptor known by its number.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        return Ok(Some(descriptor.try_clone_to_owned()?.into()));
    }
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC | OFlags::NOCTTY;
    Ok(Some(fs::openat(directory, name, flags, Mode::empty())?.into()))
}
