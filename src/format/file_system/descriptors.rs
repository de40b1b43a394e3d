//! Linux: the links in `/proc` to the open descriptors of processes.

use rustix::fs::{self, AtFlags, Mode, OFlags};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

/// A file for writing to the descriptor behind the link `name` of this directory; `None` if it is not such a link.
///
/// A descriptor of this process is duplicated, and so shares its position: what a shell or a parent has written is not
/// overwritten. A descriptor of another process is opened anew; a regular file is then appended to.
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
