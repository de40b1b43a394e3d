//! What the library has to say goes to one callback, never to stdout or stderr.

use super::guard::enter;
use super::status::{Failure, fastlbp_status};
use parking_lot::RwLock;
use std::cell::Cell;
use std::ffi::{CString, c_char, c_void};

/// A defect, or something that did not work.
pub const FASTLBP_LOG_ERROR: u32 = 1;
/// Something that makes results doubtful, such as contradictions that were voted on.
pub const FASTLBP_LOG_WARNING: u32 = 2;
/// What the library decided or did, such as the backend it chose.
pub const FASTLBP_LOG_INFO: u32 = 3;

/// Takes a message of the library.
///
/// @param user The pointer given to fastlbp_set_log_callback.
/// @param level One of FASTLBP_LOG_ERROR, FASTLBP_LOG_WARNING and FASTLBP_LOG_INFO; later versions
///        may add higher numbers for less important messages.
/// @param text NUL-terminated UTF-8 without a final newline, valid during the call only.
///
/// Called on the threads that call the library, also on several at the same time. It must return:
/// no exception and no longjmp may leave it.
pub type fastlbp_log_callback =
    Option<unsafe extern "C" fn(user: *mut c_void, level: u32, text: *const c_char)>;

/// A caller's pointer, which is only ever handed back.
#[derive(Clone, Copy)]
pub(super) struct UserPointer(pub *mut c_void);

// SAFETY: the library never reads or writes through the pointer; what the callback does with it on
// which thread is the caller's business, as the header says.
unsafe impl Send for UserPointer {}
// SAFETY: as above.
unsafe impl Sync for UserPointer {}

static CALLBACK: RwLock<(fastlbp_log_callback, UserPointer)> =
    RwLock::new((None, UserPointer(std::ptr::null_mut())));

thread_local! {
    /// Whether this thread is inside the log callback.
    static LOGGING: Cell<bool> = const { Cell::new(false) };
}

/// Whether there is a callback.
pub(super) fn is_heard() -> bool {
    CALLBACK.read_recursive().0.is_some()
}

/// Calls the callback with a message, if there is one.
pub(super) fn send(level: u32, message: impl FnOnce() -> String) {
    // Held during the call, so that a callback that was replaced is not called any more; recursive,
    // since the callback may call functions that log themselves.
    let guard = CALLBACK.read_recursive();
    let (Some(callback), user) = *guard else {
        return;
    };
    let text = CString::new(message()).unwrap_or_default();
    let outer = LOGGING.replace(true);
    // SAFETY: the callback and the pointer belong together and are valid until replaced, as the
    // header demands; the text outlives the call.
    unsafe { callback(user.0, level, text.as_ptr()) };
    LOGGING.set(outer);
}

/// Sets where the library's messages go; by default, and with NULL, nowhere. The library writes
/// nothing to stdout or stderr (the one exception is a call that ends with FASTLBP_STATUS_PANIC: the
/// language's runtime then describes the defect on stderr). It waits until calls of the previous callback on other
/// threads have ended: after its return, the previous callback is not called any more.
///
/// @param callback The function to call, or NULL.
/// @param user Handed to the callback as it is; may be NULL.
/// @return BUSY from inside the callback itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastlbp_set_log_callback(
    callback: fastlbp_log_callback, user: *mut c_void,
) -> fastlbp_status {
    enter(|| {
        if LOGGING.get() {
            return Err(Failure::new(
                fastlbp_status::Busy,
                "the log callback cannot replace itself while it runs",
            ));
        }
        *CALLBACK.write() = (callback, UserPointer(user));
        Ok(())
    })
}
