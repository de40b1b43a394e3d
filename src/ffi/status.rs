//! Status codes and the text of the last error; what a function of the header ends with.

use crate::error::Error;
use crate::memory::{collected, display};
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char};

/// Result of a call. Numbers are fixed: later versions only add some.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum fastlbp_status {
    /// Done.
    Ok = 0,
    /// A pointer that is needed is NULL.
    NullPointer = 1,
    /// A value is not one that the call accepts.
    InvalidArgument = 2,
    /// An index, label or state names nothing.
    OutOfRange = 3,
    /// The caller's buffer is too small; `*needed` says how long it must be.
    BufferTooSmall = 4,
    /// A string is not UTF-8.
    InvalidUtf8 = 5,
    /// A file does not follow its format; the text names file and line.
    Parse = 6,
    /// A file could not be opened, read or written.
    Io = 7,
    /// Deterministic messages disagree; the text names the variable.
    Contradiction = 8,
    /// There are no results yet.
    NoResult = 9,
    /// Another call is running on this handle.
    Busy = 10,
    /// An earlier call on this handle ended with PANIC; it can only be freed.
    Poisoned = 11,
    /// A defect of the library; please report the text. The handle is poisoned.
    Panic = 12,
    /// Memory could not be had.
    OutOfMemory = 13,
    /// Something is larger than the library's 32-bit indices or its limits allow.
    LimitExceeded = 14,
    /// The request is well-formed, but this build does not do it.
    Unsupported = 15,
    /// There is no usable device for the backend asked for.
    NoDevice = 16,
    /// A CUDA device failed, or computed wrongly; the text says at what.
    DeviceFailed = 17,
}

/// Why a call ends without its result.
#[derive(Debug)]
pub(super) struct Failure {
    pub status: fastlbp_status,
    pub message: String,
}

impl Failure {
    pub fn new(status: fastlbp_status, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(fastlbp_status::InvalidArgument, message)
    }

    /// The same failure, with where it happened.
    pub fn at(self, place: std::fmt::Arguments<'_>) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
    }

    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(fastlbp_status::Unsupported, message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Io { .. } => fastlbp_status::Io,
            Error::Parse { .. } => fastlbp_status::Parse,
            Error::InvalidArgument(_) => fastlbp_status::InvalidArgument,
            Error::OutOfRange(_) => fastlbp_status::OutOfRange,
            Error::LimitExceeded(_) => fastlbp_status::LimitExceeded,
            Error::OutOfMemory(_) => fastlbp_status::OutOfMemory,
            Error::Contradiction { .. } => fastlbp_status::Contradiction,
            Error::NoResult(_) => fastlbp_status::NoResult,
            Error::NoDevice(_) => fastlbp_status::NoDevice,
            Error::Device(_) => fastlbp_status::DeviceFailed,
            Error::Unsupported(_) => fastlbp_status::Unsupported,
        };
        Self::new(status, text_of(&error))
    }
}

/// The text of an error; nothing where there is no memory for it.
fn text_of(error: &Error) -> String {
    display(error).unwrap_or_default()
}

pub(super) type Outcome<T = ()> = Result<T, Failure>;

/// The outcome of a call that did what it should.
pub(super) const DONE: Outcome = Ok(());

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
    /// Whether there was no memory for the last text.
    static HAS_NO_TEXT: Cell<bool> = const { Cell::new(false) };
}

/// Remembers why a call on this thread failed.
pub(super) fn set_last_error(message: String) {
    let bytes = message.bytes().filter(|&byte| byte != 0);
    let text = collected(bytes.chain([0])).ok().filter(|_| !message.is_empty());
    let text = text.and_then(|bytes| CString::from_vec_with_nul(bytes).ok());
    HAS_NO_TEXT.set(text.is_none());
    if let Some(text) = text {
        // A thread that is ending may have lost its storage; its status still tells the kind of error.
        let _ = LAST_ERROR.try_with(|last| last.replace(text));
    }
}

/// The name of a status, such as "FASTLBP_STATUS_BUSY".
///
/// @param status Any number.
/// @return A static string, never NULL; "unknown status" for a number that names none.
#[unsafe(no_mangle)]
pub extern "C" fn fastlbp_status_string(status: i32) -> *const c_char {
    const NAMES: [&std::ffi::CStr; 18] = [
        c"FASTLBP_STATUS_OK",
        c"FASTLBP_STATUS_NULL_POINTER",
        c"FASTLBP_STATUS_INVALID_ARGUMENT",
        c"FASTLBP_STATUS_OUT_OF_RANGE",
        c"FASTLBP_STATUS_BUFFER_TOO_SMALL",
        c"FASTLBP_STATUS_INVALID_UTF8",
        c"FASTLBP_STATUS_PARSE",
        c"FASTLBP_STATUS_IO",
        c"FASTLBP_STATUS_CONTRADICTION",
        c"FASTLBP_STATUS_NO_RESULT",
        c"FASTLBP_STATUS_BUSY",
        c"FASTLBP_STATUS_POISONED",
        c"FASTLBP_STATUS_PANIC",
        c"FASTLBP_STATUS_OUT_OF_MEMORY",
        c"FASTLBP_STATUS_LIMIT_EXCEEDED",
        c"FASTLBP_STATUS_UNSUPPORTED",
        c"FASTLBP_STATUS_NO_DEVICE",
        c"FASTLBP_STATUS_DEVICE_FAILED",
    ];
    let name = usize::try_from(status).ok().and_then(|index| NAMES.get(index));
    name.unwrap_or(&c"unknown status").as_ptr()
}

/// What was wrong in the last call on this thread that failed: with which value, and what would be
/// right. Each thread has its own text. Calls that succeed do not change it.
///
/// @return UTF-8 text, never NULL; "" if no call on this thread has failed yet. It belongs to the
///         library and stays valid until the next fastlbp call on this thread; copy it to keep it.
#[unsafe(no_mangle)]
pub extern "C" fn fastlbp_last_error() -> *const c_char {
    if HAS_NO_TEXT.get() {
        return c"out of memory, also for a text that says more".as_ptr();
    }
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}
