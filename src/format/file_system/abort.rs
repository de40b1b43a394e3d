//! How a process that ends early leaves no temporary file.

use super::native;

/// Removes the temporary files of all writes that this process is at, for good: whoever writes a file
/// at this moment, or later, waits forever. Waits itself while a file is overwritten in place.
///
/// For programs, to be called by an ordinary thread (not in a signal handler) right before the process
/// ends, as by a signal: files that are not complete then leave nothing behind. Those that are already
/// complete stay. Where the process ends without it, only a file system without unnamed files
/// (`O_TMPFILE`), or the instant in which an old file is replaced, may leave a file `.fastlbp-*.tmp`.
pub fn abort_writes() {
    native::remove_temporaries();
}
