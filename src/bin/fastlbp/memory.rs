//! The allocator of the program, which ends the program with an error message when memory runs out.
//!
//! The library returns an error for it, and so what is large is said with its size. What the program itself
//! and the libraries that it uses for options, JSON and progress allocate is small, and the standard library
//! has no error for it: where even that is missing, the program says so and exits as for other errors.

use std::alloc::{GlobalAlloc, Layout, System};
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator, with an error message when there is no memory.
struct Ending;

#[global_allocator]
static ALLOCATOR: Ending = Ending;

/// Where less than so many bytes are missing, the program ends at once: what would be done about the error
/// needs memory, too. (The standard library's own report can even wait for itself then.)
#[cfg(unix)]
const SMALL: usize = 1 << 16;

/// Whether a larger allocation has failed.
#[cfg(unix)]
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

#[cfg(not(unix))]
fn checked(memory: *mut u8, _: usize) -> *mut u8 {
    memory
}

#[cfg(unix)]
#[inline]
fn checked(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        missing(bytes);
    }
    memory
}

#[cfg(unix)]
#[cold]
fn missing(bytes: usize) {
    if bytes < SMALL {
        end();
    }
    HAS_FAILED.store(true, Ordering::Relaxed);
}

#[cfg(unix)]
fn end() -> ! {
    const TEXT: &[u8] = b"fastlbp: error: out of memory\n";
    // SAFETY: the text has this length; both calls need no memory, and handlers of signals may make them.
    unsafe {
        libc::write(libc::STDERR_FILENO, TEXT.as_ptr().cast(), TEXT.len());
        libc::_exit(1)
    }
}

// SAFETY: memory is that of the system's allocator, or none.
unsafe impl GlobalAlloc for Ending {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        checked(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What reading the command line needs of the stack in a build without optimisation, generously.
const STACK: usize = 1 << 20;

/// Takes the stack while nothing else is taken. Where there is no memory for it, the program does not start; later, the
/// system would end it with a signal and without a word.
#[inline(never)]
fn take_stack() {
    std::hint::black_box(&mut [0_u8; STACK]);
}

/// From now on, a missing allocation for which there is no other error ends the program with exit code 1.
pub fn report_missing() {
    take_stack();
    #[cfg(unix)]
    {
        let handler: extern "C" fn(libc::c_int) = on_abort;
        // SAFETY: the handler is a function of the right type, which does only what handlers may do.
        unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) };
    }
}

/// Whether the system has no more memory, not even as much as the allocator asks of it for small allocations.
#[cfg(unix)]
fn is_exhausted() -> bool {
    const BYTES: usize = 1 << 18;
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
    // SAFETY: a new mapping, which nothing uses; a system call, which handlers of signals may make.
    unsafe { libc::mmap(std::ptr::null_mut(), BYTES, protection, flags, -1, 0) == libc::MAP_FAILED }
}

/// The process is about to be aborted. (The C library does so where it has no memory for what ends with a thread.)
#[cfg(unix)]
extern "C" fn on_abort(signal: libc::c_int) {
    if HAS_FAILED.load(Ordering::Relaxed) || is_exhausted() {
        end();
    }
    // SAFETY: handlers may do this; `abort` raises the signal again.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}
