//! Finds the driver's library when it is first needed.

use once_cell::sync::Lazy;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What NVIDIA's driver installs; the toolkit's `libcuda.so` is only for linking.
const NAME: &CStr = c"libcuda.so.1";

/// The library of the driver, or why there is none. It stays open to the end of the process.
struct Library(*mut c_void);

// SAFETY: the handle is only given to `dlsym`, which any thread may call.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

static LIBRARY: Lazy<Result<Library, String>> = Lazy::new(|| {
    // SAFETY: a NUL-terminated name; the driver's initialisers may run on any thread.
    let handle = unsafe { libc::dlopen(NAME.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() { Err(dynamic_linker_error()) } else { Ok(Library(handle)) }
});

/// What the dynamic linker said last on this thread.
fn dynamic_linker_error() -> String {
    // SAFETY: the text belongs to this thread until its next call of a function of this family.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return format!("{} cannot be opened", NAME.to_string_lossy());
    }
    // SAFETY: not NULL, so a NUL-terminated string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Why the driver's library cannot be opened; `None` if it is open.
pub(super) fn missing() -> Option<&'static str> {
    LIBRARY.as_ref().err().map(String::as_str)
}

/// Whether there is a driver, which may still have no devices.
pub(crate) fn is_there() -> bool {
    missing().is_none()
}

/// Where the driver has a function; null if it has none of this name, or if there is no driver.
pub(super) fn address(name: &CStr) -> *mut c_void {
    match &*LIBRARY {
        // SAFETY: an open library and a NUL-terminated name.
        Ok(library) => unsafe { libc::dlsym(library.0, name.as_ptr()) },
        Err(_) => ptr::null_mut(),
    }
}

/// Where a function of the driver is, once it was looked up.
pub(super) struct Entry(AtomicPtr<c_void>);

impl Entry {
    pub const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Where the function is; null if there is no such function, which is then looked up every time.
    pub fn address(&self, name: &CStr) -> *mut c_void {
        let known = self.0.load(Ordering::Acquire);
        if !known.is_null() {
            return known;
        }
        let address = address(name);
        self.0.store(address, Ordering::Release);
        address
    }
}

/// How the driver names and describes a code, as "CUDA_ERROR_UNKNOWN (999): unknown error"; only
/// its number where the driver knows no more.
pub(super) fn describe(code: u32) -> String {
    static NAME_OF: Entry = Entry::new();
    static TEXT_OF: Entry = Entry::new();
    let ask = |entry: &Entry, function: &CStr| {
        let address = entry.address(function);
        if address.is_null() {
            return None;
        }
        type Ask = unsafe extern "C" fn(c_uint, *mut *const c_char) -> c_int;
        let mut text = ptr::null();
        // SAFETY: both functions are of this type (an enumeration is passed as an integer), and give
        // static strings or leave NULL.
        unsafe {
            let function = std::mem::transmute::<*mut c_void, Ask>(address);
            if function(code, &mut text) != 0 || text.is_null() {
                return None;
            }
            Some(CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    };
    match (ask(&NAME_OF, c"cuGetErrorName"), ask(&TEXT_OF, c"cuGetErrorString")) {
        (Some(name), Some(text)) => format!("{name} ({code}): {text}"),
        (Some(name), None) => format!("{name} ({code})"),
        _ => format!("CUDA error {code}"),
    }
}
