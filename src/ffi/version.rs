//! # The library
//!
//! For everyone: what is loaded, what statuses mean, and where messages go. All of it may be called from any thread at
//! any time.

use once_cell::sync::Lazy;
use std::ffi::{CString, c_char};

/// Major version of the library that this header belongs to.
pub const FASTLBP_VERSION_MAJOR: u32 = 0;
/// Minor version of the library that this header belongs to.
pub const FASTLBP_VERSION_MINOR: u32 = 1;
/// Patch version of the library that this header belongs to.
pub const FASTLBP_VERSION_PATCH: u32 = 0;

static VERSION: Lazy<CString> = Lazy::new(|| owned(env!("CARGO_PKG_VERSION").into()));
static BUILD_INFO: Lazy<CString> = Lazy::new(|| owned(build_info()));

fn owned(text: String) -> CString {
    CString::new(text).unwrap_or_default()
}

fn build_info() -> String {
    let mut features = Vec::new();
    if cfg!(feature = "cli") {
        features.push("cli");
    }
    if cfg!(cuda) {
        features.push("cuda");
    }
    if cfg!(feature = "test-hooks") {
        features.push("test-hooks");
    }
    format!(
        "fastlbp {}; {}-{}; {}; backends: {}; features: {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        if cfg!(debug_assertions) { "debug" } else { "release" },
        if cfg!(cuda) { "cpu, cuda" } else { "cpu" },
        if features.is_empty() { "none".into() } else { features.join(", ") }
    )
}

/// Version of the library that is loaded, such as "0.1.0"; compare it with FASTLBP_VERSION_MAJOR,
/// FASTLBP_VERSION_MINOR and FASTLBP_VERSION_PATCH of the header.
///
/// @return A static string, never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn fastlbp_version() -> *const c_char {
    VERSION.as_ptr()
}

/// How the loaded library was built: version, machine, debug or release, backends, features; for
/// logs and bug reports.
///
/// @return A static string, never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn fastlbp_build_info() -> *const c_char {
    BUILD_INFO.as_ptr()
}
