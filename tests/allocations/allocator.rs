//! An allocator that fails at a chosen allocation, and reports the place if that aborts the process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// What fails.
#[derive(Clone, Copy, PartialEq)]
pub enum Failures {
    /// One allocation.
    One,
    /// That one and all later ones of the step.
    AllFromThere,
}

struct Failing;

/// Whether allocations are counted at this moment, by whatever thread.
static ARMED: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU64 = AtomicU64::new(0);
static FAIL_AT: AtomicU64 = AtomicU64::new(u64::MAX);
/// Smaller ones do not fail, and are not counted.
static SMALLEST: AtomicUsize = AtomicUsize::new(0);
static ALL_FROM_THERE: AtomicBool = AtomicBool::new(false);
static HAS_FAILED: AtomicBool = AtomicBool::new(false);
/// Bytes of the allocation that failed last.
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// In seconds.
const LONGEST_STEP: libc::c_uint = 120;
static PLACE: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// Whether an allocation of so many bytes fails.
fn fails(bytes: usize) -> bool {
    if !ARMED.load(SeqCst) || bytes < SMALLEST.load(SeqCst) {
        return false;
    }
    let (count, fail_at) = (COUNT.fetch_add(1, SeqCst), FAIL_AT.load(SeqCst));
    let fails = count == fail_at || (count > fail_at && ALL_FROM_THERE.load(SeqCst));
    if fails {
        HAS_FAILED.store(true, SeqCst);
        BYTES.store(bytes, SeqCst);
    }
    fails
}

// SAFETY: memory is that of the system's allocator, or none.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if fails(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && fails(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs calls, see [`call`], in which allocation number `at` fails.
pub fn armed_to_fail<R>(at: u64, failures: Failures, work: impl FnOnce() -> R) -> R {
    COUNT.store(0, SeqCst);
    HAS_FAILED.store(false, SeqCst);
    ALL_FROM_THERE.store(failures == Failures::AllFromThere, SeqCst);
    FAIL_AT.store(at, SeqCst);
    let result = work();
    FAIL_AT.store(u64::MAX, SeqCst);
    result
}

/// Only allocations of so many bytes or more are counted.
pub fn fail_from_bytes(bytes: usize) {
    SMALLEST.store(bytes, SeqCst);
}

/// Whether an allocation failed in the latest work.
pub fn has_failed() -> bool {
    HAS_FAILED.load(SeqCst)
}

/// A call of the library, in which allocations may fail; those of the test itself do not.
pub fn call<R>(work: impl FnOnce() -> R) -> R {
    if FAIL_AT.load(SeqCst) == u64::MAX {
        return work();
    }
    ARMED.store(true, SeqCst);
    let result = work();
    ARMED.store(false, SeqCst);
    result
}

/// Says where the test is, for when it aborts.
pub fn set_place(step: usize, at: u64) {
    PLACE[0].store(step as u64, SeqCst);
    PLACE[1].store(at, SeqCst);
    install_handler();
    // SAFETY: no arguments that could be wrong. The process ends if a step hangs.
    unsafe { libc::alarm(LONGEST_STEP) };
}

/// The calls up to the test's own.
impl fmt::Display for Abort {
    fn fmt(&self, text: &mut fmt::Formatter) -> fmt::Result {
        write!(text, "{} bytes", self.bytes)?;
        let own = self.calls.iter().skip_while(|(function, _)| !function.contains("alloc_error"));
        for (function, file) in own.take_while(|(_, file)| !file.contains("tests/allocations")) {
            write!(text, "\n  {function}\n    {file}")?;
        }
        Ok(())
    }
}

/// Where a process ended.
pub struct Abort {
    pub step: usize,
    pub at: u64,
    pub bytes: usize,
    /// The functions that were called, the innermost first, each with its file.
    pub calls: Vec<(String, String)>,
}

impl Abort {
    /// From what a process wrote to its standard error.
    pub fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find(|line| line.starts_with("aborted at "))?;
        let mut numbers = line.split(' ').skip(2).map(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let (step, at, bytes) = (next()? as usize, next()?, next()? as usize);
        let mut calls: Vec<(String, String)> = Vec::new();
        for line in text.lines().map(str::trim) {
            match (line.split_once(": "), line.strip_prefix("at "), calls.last_mut()) {
                (Some((number, function)), ..) if number.parse::<u32>().is_ok() => {
                    calls.push((function.to_string(), String::new()));
                }
                (_, Some(file), Some(call)) => call.1 = file.to_string(),
                _ => {}
            }
        }
        Some(Self { step, at, bytes, calls })
    }
}

fn install_handler() {
    extern "C" fn handler(_: libc::c_int) {
        ARMED.store(false, SeqCst);
        // The process ends by `abort`, called by this thread: the standard library can be used.
        let [step, at] = [0, 1].map(|index| PLACE[index].load(SeqCst));
        eprintln!("aborted at {step} {at} {}", BYTES.load(SeqCst));
        eprintln!("{}", std::backtrace::Backtrace::force_capture());
        // SAFETY: ends the process.
        unsafe { libc::_exit(99) };
    }
    let handler: extern "C" fn(libc::c_int) = handler;
    // SAFETY: the handler is a function of the right type.
    unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) };
}
