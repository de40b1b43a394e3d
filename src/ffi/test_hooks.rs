//! For tests only: entries that panic. Not in the header, and not in a library that is built
//! without the feature `test-hooks`.

use super::bp::fastlbp_bp;
use super::guard;
use super::session::Session;
use super::status::fastlbp_status;

/// Panics inside a call that changes the handle.
#[cfg_attr(feature = "test-hooks", unsafe(no_mangle))]
pub unsafe extern "C" fn fastlbp_test_panic(bp: *mut fastlbp_bp) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::write(bp, |_: &mut Session| panic!("a panic for tests")) }
}

/// Panics inside a call that reads the handle.
#[cfg_attr(feature = "test-hooks", unsafe(no_mangle))]
pub unsafe extern "C" fn fastlbp_test_panic_reading(bp: *const fastlbp_bp) -> fastlbp_status {
    // SAFETY: by the header, NULL or live.
    unsafe { guard::read(bp, |_: &Session| panic!("a panic for tests")) }
}
