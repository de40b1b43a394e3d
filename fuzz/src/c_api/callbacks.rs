//! Callbacks: they cancel, ask, meet calls that are busy, and free the session that runs.

use super::table::named;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};

thread_local! {
    /// The session that the call under way works on, 0 for none that may be freed.
    static SESSION: Cell<u64> = const { Cell::new(0) };
    static FREED: Cell<bool> = const { Cell::new(false) };
    /// Whether a callback has made a call that failed, which leaves an error text.
    static FAILED: Cell<bool> = const { Cell::new(false) };
}

/// Before a call.
pub fn begin(session: Option<u64>) {
    SESSION.set(session.unwrap_or(0));
    FREED.set(false);
    FAILED.set(false);
}

/// What callbacks did meanwhile.
pub struct Done {
    /// They freed the session.
    pub freed: bool,
    /// A call of theirs failed, and has left its error text.
    pub failed: bool,
}

/// After it.
pub fn end() -> Done {
    SESSION.set(0);
    Done { freed: FREED.get(), failed: FAILED.get() }
}

pub extern "C" fn log(user: *mut c_void, level: u32, text: *const c_char) {
    assert!((1..=3).contains(&level));
    // SAFETY: a string that is valid during the call.
    let text = unsafe { CStr::from_ptr(text) };
    assert!(text.to_str().is_ok_and(|text| !text.is_empty() && !text.ends_with('\n')));
    if user as usize == 1 {
        // From inside itself: busy.
        let status = (named("fastlbp_set_log_callback").call)(&[0, 0]);
        assert_eq!(status, super::BUSY);
        FAILED.set(true);
    }
}

pub extern "C" fn progress(user: *mut c_void, done: u64, most: u64, diff: f64, active: f64) -> i32 {
    assert!(done <= most && diff >= 0.0 && (0.0..=1.0).contains(&active));
    let session = SESSION.get();
    match user as usize {
        0 => i32::from(done >= 2),
        1 => 1,
        2 if session != 0 && !FREED.get() => {
            let mut out = 0_u64;
            let status = (named("fastlbp_bp_report_u64").call)(&[session, 0, &raw mut out as u64]);
            assert_eq!(status, super::BUSY);
            FAILED.set(true);
            0
        }
        3 if session != 0 && !FREED.get() => {
            (named("fastlbp_bp_free").call)(&[session]);
            FREED.set(true);
            0
        }
        4 => i32::MIN,
        _ => 0,
    }
}
