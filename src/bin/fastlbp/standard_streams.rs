//! The standard input and output, which whoever starts the program may have closed.
//!
//! Rust opens `/dev/null` in the place of those before `main`, and what is written there is lost without
//! an error. So it is found out before that.

use crate::failure::{Failure, Outcome};
use crate::signals;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::io::{StdinLock, StdoutLock, Write, stdin, stdout};
use std::path::{Path, PathBuf};

/// The standard output; an error if it was closed when the program was started.
pub fn standard_output() -> Outcome<StdoutLock<'static>> {
    match at_start::was_closed(1) {
        Some(error) => Err(Failure::standard_output(&error)),
        None => Ok(stdout().lock()),
    }
}

/// The standard input; an error if it was closed when the program was started.
pub fn standard_input() -> Outcome<StdinLock<'static>> {
    match at_start::was_closed(0) {
        Some(error) => Err(Failure::standard_input(&error)),
        None => Ok(stdin().lock()),
    }
}

/// The value of an option that names a file to read: `-` is the standard input.
pub fn input_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| standard(path, STANDARD_INPUT))
}

/// The value of an option that names a file to write: `-` is the standard output.
pub fn output_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| standard(path, STANDARD_OUTPUT))
}

/// Whether the value of such an option is the standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}

/// Whether the value of such an option is the standard output.
pub fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == STANDARD_OUTPUT
}

const STANDARD_INPUT: &str = "/dev/stdin";
const STANDARD_OUTPUT: &str = "/dev/stdout";

/// A path, or the device in the place of `-`: so that a stream is read and written as any other file that is a pipe.
fn standard(path: PathBuf, device: &str) -> Result<PathBuf, &'static str> {
    match path.as_os_str() == "-" {
        true if cfg!(unix) => Ok(PathBuf::from(device)),
        true => Err("- stands for the standard input or output on Unix only: a file is needed"),
        false => Ok(path),
    }
}

/// Writes lines to the standard output, which a signal does not cut.
pub fn print(text: &str) -> Outcome {
    let mut output = standard_output()?;
    let _whole = signals::whole_line();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| Failure::standard_output(&error))
}

#[cfg(unix)]
mod at_start {
    use libc::{EBADF, F_GETFD, O_RDONLY, O_WRONLY};
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Which of the standard input and output were closed.
    static CLOSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

    /// The error of using a descriptor, 0 or 1, that was closed.
    pub fn was_closed(descriptor: usize) -> Option<io::Error> {
        let was_closed = CLOSED[descriptor].load(Ordering::Relaxed);
        was_closed.then(|| io::Error::from_raw_os_error(EBADF))
    }

    /// Called before anything of Rust runs.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        for (descriptor, access) in [(0, O_WRONLY), (1, O_RDONLY)] {
            // SAFETY: asking for the flags of any descriptor changes nothing.
            if unsafe { libc::fcntl(descriptor, F_GETFD) } != -1 {
                continue;
            }
            CLOSED[descriptor as usize].store(true, Ordering::Relaxed);
            // The wrong way round, so that who comes to it by another name, as /dev/stdout, gets an error.
            // The lowest free descriptor is this one: 0 is looked at first.
            // SAFETY: the path is a C string, and no one else opens or closes anything yet.
            unsafe { libc::open(c"/dev/null".as_ptr(), access) };
        }
    }
}

#[cfg(not(unix))]
mod at_start {
    /// Not known.
    pub fn was_closed(_: usize) -> Option<std::io::Error> {
        None
    }
}
