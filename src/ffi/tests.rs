//! The guard, arguments, and properties, from the Rust side. `tests/c` tests the rest.

use super::guard::{self, enter};
use super::session::Session;
use super::status::{Failure, fastlbp_last_error, fastlbp_status, fastlbp_status_string};
use super::test_hooks::{fastlbp_test_panic, fastlbp_test_panic_reading};
use super::*;
use crate::FactorGraphBuilder;
use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};
use std::sync::Arc;

fn last_error() -> String {
    // SAFETY: a string of the library, which no call changes here.
    unsafe { CStr::from_ptr(fastlbp_last_error()) }.to_str().unwrap().to_owned()
}

/// A session on one variable, freed at the end.
struct Handle(*mut fastlbp_bp);

// SAFETY: handles may be used from any thread.
unsafe impl Sync for Handle {}

impl Handle {
    fn new() -> Self {
        let mut builder = FactorGraphBuilder::new();
        builder.add_prior(1, 0.25).unwrap();
        let graph = Arc::new(builder.build().unwrap());
        Self(guard::into_handle(Session::new(graph)).unwrap_or_else(|_| panic!("no memory")))
    }

    fn set(&self, key: &str, value: &str) -> fastlbp_status {
        let (key, value) = (CString::new(key).unwrap(), CString::new(value).unwrap());
        // SAFETY: a live handle and two strings.
        unsafe { fastlbp_bp_set_property(self.0, key.as_ptr(), value.as_ptr()) }
    }

    fn get(&self, key: &str) -> String {
        let key = CString::new(key).unwrap();
        let mut text = [0 as c_char; 64];
        // SAFETY: a live handle, a string and a buffer of that length; the result is a string.
        unsafe {
            let status =
                fastlbp_bp_get_property(self.0, key.as_ptr(), text.as_mut_ptr(), 64, null_mut());
            assert_eq!(status, fastlbp_status::Ok);
            CStr::from_ptr(text.as_ptr()).to_str().unwrap().to_owned()
        }
    }

    fn run(&self) -> fastlbp_status {
        // SAFETY: a live handle.
        unsafe { fastlbp_bp_run(self.0) }
    }

    fn probability(&self) -> Result<f64, fastlbp_status> {
        let mut value = 0.0;
        // SAFETY: a live handle and a place for the result.
        match unsafe { fastlbp_bp_probabilities_of(self.0, &0, 1, &mut value) } {
            fastlbp_status::Ok => Ok(value),
            status => Err(status),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: a live handle, used by nobody any more.
        unsafe { fastlbp_bp_free(self.0) }
    }
}

#[test]
fn version_constants_are_those_of_the_package() {
    let constants =
        format!("{FASTLBP_VERSION_MAJOR}.{FASTLBP_VERSION_MINOR}.{FASTLBP_VERSION_PATCH}");
    assert_eq!(constants, env!("CARGO_PKG_VERSION"));
    // SAFETY: a static string.
    assert_eq!(unsafe { CStr::from_ptr(fastlbp_version()) }.to_str().unwrap(), constants);
}

#[test]
fn every_status_has_its_name() {
    for (status, name) in [
        (fastlbp_status::Ok, "FASTLBP_STATUS_OK"),
        (fastlbp_status::BufferTooSmall, "FASTLBP_STATUS_BUFFER_TOO_SMALL"),
        (fastlbp_status::Contradiction, "FASTLBP_STATUS_CONTRADICTION"),
        (fastlbp_status::Poisoned, "FASTLBP_STATUS_POISONED"),
        (fastlbp_status::NoDevice, "FASTLBP_STATUS_NO_DEVICE"),
    ] {
        // SAFETY: a static string.
        let text = unsafe { CStr::from_ptr(fastlbp_status_string(status as i32)) };
        assert_eq!(text.to_str().unwrap(), name);
    }
}

#[test]
fn a_panic_poisons_the_handle() {
    for reading in [false, true] {
        let handle = Handle::new();
        assert_eq!(handle.run(), fastlbp_status::Ok);
        // SAFETY: a live handle.
        let status = unsafe {
            if reading {
                fastlbp_test_panic_reading(handle.0)
            } else {
                fastlbp_test_panic(handle.0)
            }
        };
        assert_eq!(status, fastlbp_status::Panic);
        assert!(last_error().contains("a panic for tests"));
        assert_eq!(handle.run(), fastlbp_status::Poisoned);
        assert_eq!(handle.probability(), Err(fastlbp_status::Poisoned));
        assert!(last_error().contains("only be freed"));
    }
}

#[test]
fn a_panic_without_a_handle_is_a_status() {
    assert_eq!(enter(|| std::panic::panic_any(7)), fastlbp_status::Panic);
    assert!(last_error().contains("no text"));
    assert_eq!(enter(|| panic!("number {}", 8)), fastlbp_status::Panic);
    assert!(last_error().contains("number 8"));
}

#[test]
fn a_call_that_changes_excludes_all_others() {
    let handle = Handle::new();
    assert_eq!(handle.run(), fastlbp_status::Ok);
    // SAFETY: a live handle.
    let status = unsafe {
        guard::write(handle.0, |_: &mut Session| {
            assert_eq!(handle.run(), fastlbp_status::Busy);
            std::thread::scope(|scope| {
                let shared = &handle;
                let other = scope.spawn(move || (shared.run(), shared.probability()));
                let (run, probability) = other.join().unwrap();
                assert_eq!(run, fastlbp_status::Busy);
                assert_eq!(probability, Err(fastlbp_status::Busy));
            });
            Ok(())
        })
    };
    assert_eq!(status, fastlbp_status::Ok);
    assert_eq!(handle.run(), fastlbp_status::Ok);
}

#[test]
fn calls_that_read_run_together() {
    let handle = Handle::new();
    assert_eq!(handle.run(), fastlbp_status::Ok);
    // SAFETY: a live handle.
    let status = unsafe {
        guard::read(handle.0, |_: &Session| {
            assert_eq!(handle.probability(), Ok(0.25));
            assert_eq!(handle.run(), fastlbp_status::Busy);
            Ok(())
        })
    };
    assert_eq!(status, fastlbp_status::Ok);
}

#[test]
fn the_log_callback_may_use_the_handle_that_is_being_prepared() {
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
    /// The session of this test: other tests run on other threads and log, too.
    static SESSION: AtomicPtr<fastlbp_bp> = AtomicPtr::new(null_mut());
    static ANSWER: AtomicU64 = AtomicU64::new(0);
    thread_local!(static MINE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    /// # Safety
    /// A live handle.
    unsafe fn threads_of(bp: *const fastlbp_bp, out: &mut u64) -> fastlbp_status {
        // SAFETY: as the caller promises, and a place for the result.
        unsafe { fastlbp_bp_report_u64(bp, FASTLBP_REPORT_THREADS, out) }
    }
    unsafe extern "C" fn callback(_: *mut c_void, _: u32, _: *const c_char) {
        if MINE.get() {
            let mut threads = 0;
            // SAFETY: a live handle and a place for the result.
            let status = unsafe { threads_of(SESSION.load(Ordering::Acquire), &mut threads) };
            if status == fastlbp_status::Ok {
                ANSWER.store(threads, Ordering::Release);
            }
        }
    }
    let handle = Handle::new();
    SESSION.store(handle.0, Ordering::Release);
    MINE.set(true);
    let mut threads = 0;
    // SAFETY: a live handle and a place for the result; the callback outlives the program.
    unsafe {
        fastlbp_set_log_callback(Some(callback), null_mut());
        assert_eq!(threads_of(handle.0, &mut threads), fastlbp_status::Ok);
        fastlbp_set_log_callback(None, null_mut());
    }
    assert!(threads > 0);
    assert_eq!(ANSWER.load(Ordering::Acquire), threads);
}

#[test]
fn a_handle_freed_during_a_call_lives_until_its_end() {
    let mut handle = Handle::new();
    assert_eq!(handle.run(), fastlbp_status::Ok);
    // SAFETY: a live handle, which no call uses once it is freed.
    let status = unsafe {
        guard::read(handle.0, |session: &Session| {
            fastlbp_bp_free(handle.0);
            assert_eq!(session.bp.marginals()?.len(), 2);
            Ok(())
        })
    };
    assert_eq!(status, fastlbp_status::Ok);
    handle.0 = null_mut();
}

#[test]
fn error_texts_are_per_thread_and_stay() {
    enter(|| Err(Failure::invalid("the\0 text")));
    assert_eq!(last_error(), "the text");
    enter(|| Ok(()));
    assert_eq!(last_error(), "the text");
    assert_eq!(std::thread::spawn(last_error).join().unwrap(), "");
}

#[test]
fn strings_are_checked() {
    let handle = Handle::new();
    // SAFETY: a live handle, and strings or NULL.
    unsafe {
        let status = fastlbp_bp_set_property(handle.0, null(), c"1".as_ptr());
        assert_eq!(status, fastlbp_status::NullPointer);
        let status = fastlbp_bp_set_property(handle.0, c"a\xff".as_ptr(), c"1".as_ptr());
        assert_eq!(status, fastlbp_status::InvalidUtf8);
    }
    assert!(last_error().contains("byte 1"));
}

#[test]
fn properties_read_back() {
    let handle = Handle::new();
    for (key, default, value) in [
        ("tol", "1e-9", "0.001"),
        ("maxiter", "10000", "18446744073709551615"),
        ("maxtime", "inf", "0.5"),
        ("updates", "SEQFIX", "PARALL"),
        ("damping", "0.0", "0.75"),
        ("inference", "SUMPROD", "MAXPROD"),
        ("logdomain", "0", "1"),
        ("verbose", "0", "3"),
        ("threads", "0", "1"),
        ("seed", "0", "42"),
        ("blocks", "8", "4294967295"),
        ("backend", "auto", "cpu"),
        ("contradiction", "error", "vote"),
        ("start", "fresh", "warm"),
        ("measure", "variables", "all"),
        ("active", "off", "0.5"),
        ("active", "0.5", "off"),
        ("progress", "exact", "rough"),
        ("progress", "rough", "exact"),
    ] {
        assert_eq!(handle.get(key), default, "{key}");
        assert_eq!(handle.set(key, value), fastlbp_status::Ok, "{key}");
        assert_eq!(handle.get(key), value, "{key}");
    }
    assert_eq!(handle.run(), fastlbp_status::Ok);
    assert_eq!(handle.probability(), Ok(0.25));
}

#[test]
fn wrong_properties_change_nothing() {
    let handle = Handle::new();
    for (key, value, status) in [
        ("tol", "-1", fastlbp_status::InvalidArgument),
        ("updates", "", fastlbp_status::InvalidArgument),
        ("blocks", "0", fastlbp_status::InvalidArgument),
        ("blocks", "4294967296", fastlbp_status::InvalidArgument),
        ("blocks", "-1", fastlbp_status::InvalidArgument),
        ("damping", "1", fastlbp_status::InvalidArgument),
        ("inference", "MAX", fastlbp_status::InvalidArgument),
        ("measure", "", fastlbp_status::InvalidArgument),
        ("active", "", fastlbp_status::InvalidArgument),
        ("progress", "none", fastlbp_status::InvalidArgument),
        ("backend", "tpu", fastlbp_status::InvalidArgument),
        ("Tol", "1", fastlbp_status::InvalidArgument),
    ] {
        assert_eq!(handle.set(key, value), status, "{key} = {value}");
    }
    assert!(last_error().contains("contradiction"), "{}", last_error());
    assert_eq!(handle.get("tol"), "1e-9");
    assert_eq!(handle.get("updates"), "SEQFIX");
    assert_eq!(handle.get("damping"), "0.0");
    assert_eq!(handle.get("inference"), "SUMPROD");
    assert_eq!(handle.get("measure"), "variables");
    assert_eq!(handle.get("active"), "off");
    assert_eq!(handle.get("blocks"), "8");
}

#[test]
fn the_seed_belongs_to_the_random_schedule() {
    let handle = Handle::new();
    assert_eq!(handle.set("updates", "SEQRND"), fastlbp_status::Ok);
    assert_eq!(handle.set("seed", "5"), fastlbp_status::Ok);
    // SAFETY: a live handle.
    unsafe {
        guard::read(handle.0, |session: &Session| {
            let schedule = session.bp.schedule();
            assert!(matches!(schedule, crate::Schedule::SequentialRandom { seed: 5 }));
            Ok(())
        });
        assert_eq!(fastlbp_bp_set_schedule(handle.0, c"SEQRND".as_ptr(), 6), fastlbp_status::Ok);
    }
    assert_eq!(handle.get("seed"), "6");
}

/// Whatever is set last, the schedule has the settings' number of blocks and seed.
#[test]
fn blocks_and_their_seed_belong_to_the_schedule() {
    let handle = Handle::new();
    let expect = |blocks: u32, seed: u64| {
        // SAFETY: a live handle.
        let status = unsafe {
            guard::read(handle.0, |session: &Session| {
                let schedule = format!("{:?}", session.bp.schedule());
                assert_eq!(schedule, format!("{:?}", crate::Schedule::Blocks { blocks, seed }));
                Ok(())
            })
        };
        assert_eq!(status, fastlbp_status::Ok);
        assert_eq!(handle.get("blocks"), blocks.to_string());
        assert_eq!(handle.get("seed"), seed.to_string());
    };
    assert_eq!(handle.set("updates", "blocks"), fastlbp_status::Ok);
    expect(8, 0);
    assert_eq!(handle.set("blocks", "3"), fastlbp_status::Ok);
    assert_eq!(handle.set("seed", "5"), fastlbp_status::Ok);
    expect(3, 5);
    assert_eq!(handle.set("blocks", "0"), fastlbp_status::InvalidArgument);
    expect(3, 5);
    assert_eq!(handle.set("updates", "TREE"), fastlbp_status::Ok);
    assert_eq!(handle.set("blocks", "4"), fastlbp_status::Ok);
    assert_eq!(handle.get("updates"), "TREE");
    assert_eq!(handle.set("updates", "BLOCKS"), fastlbp_status::Ok);
    expect(4, 5);
    // SAFETY: a live handle and a string.
    unsafe {
        let status = fastlbp_bp_set_schedule(handle.0, c"BLOCKS".as_ptr(), 6);
        assert_eq!(status, fastlbp_status::Ok);
        expect(4, 6);
        assert_eq!(fastlbp_bp_set_schedule_blocks(handle.0, 2, 7), fastlbp_status::Ok);
        expect(2, 7);
        let status = fastlbp_bp_set_schedule_blocks(handle.0, 0, 9);
        assert_eq!(status, fastlbp_status::InvalidArgument);
        assert!(last_error().contains("0 blocks"), "{}", last_error());
    }
    expect(2, 7);
    assert_eq!(handle.run(), fastlbp_status::Ok);
}
