//! Removing temporary files before a process ends early.

use super::native;

/// Removes the temporary files of all writes of this process that are under way, and blocks these and all later writes
/// forever. Waits until no file is being overwritten in place.
///
/// For programs, to be called by an ordinary thread (not in a signal handler) right before the process
/// ends, as by a signal: files that are not complete then leave nothing behind. Those that are already
/// complete stay. Where the process ends without it, only a file system without unnamed files
/// (`O_TMPFILE`), or the instant in which an old file is replaced, may leave a file `.fastlbp-*.tmp`.
pub fn abort_writes() {
    native::remove_temporaries();
}
