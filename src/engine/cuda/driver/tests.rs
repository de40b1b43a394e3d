//! The layer on a fake driver (`tests/cuda/fake_driver.c`), in a process of its own.

use super::*;
use crate::error::{Error, Result};
use std::ptr;
use std::sync::Arc;

/// Leaves a test of this file for a process with the fake driver in its library path, which goes on behind this line.
macro_rules! within_fake_driver {
    ($test:ident, $settings:literal) => {
        if !fake::is_within() {
            let test = concat!("engine::cuda::driver::tests::", stringify!($test));
            return fake::run_within(test, &[$settings], None);
        }
    };
}

fn enter() -> Current {
    Context::new(Device::get(0).unwrap()).unwrap().enter().unwrap()
}

fn kind<T>(result: Result<T>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(Error::OutOfMemory(_)) => "memory",
        Err(Error::OutOfRange(_)) => "range",
        Err(Error::NoDevice(_)) => "none",
        Err(Error::Device(_)) => "device",
        Err(_) => "other",
    }
}

#[test]
fn buffers_keep_what_is_written_and_check_lengths() {
    within_fake_driver!(buffers_keep_what_is_written_and_check_lengths, "");
    let current = enter();
    let stream = Stream::new(&current).unwrap();
    let buffer = DeviceBuffer::from_slice(stream.queue(&current), &[1_u32, 2, 3, 4, 5]).unwrap();
    buffer.upload(stream.queue(&current), 3, &[40, 50]).unwrap();
    let mut found = [0; 3];
    buffer.download(stream.queue(&current), 2, &mut found).unwrap();
    assert_eq!(found, [3, 40, 50]);
    assert_eq!(kind(buffer.upload(stream.queue(&current), 4, &[0, 0])), "range");
    assert_eq!(kind(buffer.upload(stream.queue(&current), usize::MAX, &[0])), "range");
    assert_eq!(kind(buffer.download(stream.queue(&current), 3, &mut found)), "range");
    let error = buffer.download(stream.queue(&current), 3, &mut found).unwrap_err().to_string();
    assert!(error.contains("3 entries from 3 on, but it has 5"), "{error}");
    let copy = DeviceBuffer::zeroed(stream.queue(&current), 5).unwrap();
    copy.copy_from(stream.queue(&current), &buffer).unwrap();
    let mut all = [9; 5];
    copy.download(stream.queue(&current), 0, &mut all).unwrap();
    assert_eq!(all, [1, 2, 3, 40, 50]);
    let longer = DeviceBuffer::zeroed(stream.queue(&current), 6).unwrap();
    assert_eq!(kind(longer.copy_from(stream.queue(&current), &buffer)), "range");
    copy.zero(stream.queue(&current)).unwrap();
    copy.download(stream.queue(&current), 0, &mut all).unwrap();
    assert_eq!(all, [0; 5]);

    let empty = DeviceBuffer::<f64>::from_slice(stream.queue(&current), &[]).unwrap();
    assert_eq!((empty.len(), *empty.address()), (0, 0));
    empty.zero(stream.queue(&current)).unwrap();
    empty.download(stream.queue(&current), 0, &mut []).unwrap();
    assert_eq!(kind(empty.upload(stream.queue(&current), 0, &[1.0])), "range");

    let mut pinned = PinnedBuffer::<f64>::zeroed(&current, 3).unwrap();
    assert_eq!(*pinned, [0.0; 3]);
    pinned[1] = 2.5;
    assert_eq!(*pinned.address(), pinned.as_ptr() as u64);
    assert!(PinnedBuffer::<f64>::zeroed(&current, 0).unwrap().is_empty());
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    within_fake_driver!(memory_that_is_not_there_is_an_error, "");
    let current = enter();
    // More than the device has, more than an address can be.
    for length in [1 << 33, usize::MAX / 8, usize::MAX] {
        assert_eq!(kind(DeviceBuffer::<f64>::new(&current, length)), "memory", "{length}");
    }
    for length in [usize::MAX / 8, usize::MAX] {
        assert_eq!(kind(PinnedBuffer::<f64>::zeroed(&current, length)), "memory", "{length}");
    }
    // The device is as before.
    assert_eq!(kind(DeviceBuffer::<f64>::new(&current, 4)), "ok");
    assert_eq!(current.memory().unwrap(), (6 << 30, 8 << 30));
}

#[test]
fn the_context_of_a_host_stays_current() {
    within_fake_driver!(the_context_of_a_host_stays_current, "devices=2");
    let current_now = || {
        let mut context = ptr::null_mut();
        // SAFETY: a place for the handle.
        let result = unsafe { shims::cuCtxGetCurrent(&mut context) };
        assert_eq!(result, sys::CUresult::CUDA_SUCCESS);
        context
    };
    let host = Context::new(Device::get(1).unwrap()).unwrap();
    let of_host = host.enter().unwrap();
    let before = current_now();
    assert!(!before.is_null());
    let context = Context::new(Device::get(0).unwrap()).unwrap();
    assert_eq!(current_now(), before);
    let (stream, buffer) = {
        let current = context.enter().unwrap();
        assert_ne!(current_now(), before);
        let stream = Stream::new(&current).unwrap();
        let buffer = DeviceBuffer::<u8>::zeroed(stream.queue(&current), 10).unwrap();
        assert_eq!(kind(buffer.download(stream.queue(&current), 1, &mut [0; 10])), "range");
        (stream, buffer)
    };
    assert_eq!(current_now(), before);
    // What is given up makes its context current for itself, here and on a thread that has none.
    drop(buffer);
    assert_eq!(current_now(), before);
    std::thread::spawn(move || drop(stream)).join().unwrap();
    drop(of_host);
    assert!(current_now().is_null());
    assert_eq!(Arc::strong_count(&context), 1);
}

/// Whether a context has a module, which is loaded otherwise.
fn has_module(current: &Current, name: &'static str) -> bool {
    let mut loaded = false;
    Module::load(current, name, || {
        loaded = true;
        Ok(b".target sm_70".to_vec())
    })
    .unwrap();
    !loaded
}

#[test]
fn contexts_are_kept_with_their_modules_unless_only_looked_at() {
    within_fake_driver!(contexts_are_kept_with_their_modules_unless_only_looked_at, "retains=3");
    let device = Device::get(0).unwrap();
    for _ in 0..2 {
        let current = Context::temporary(device).unwrap().enter().unwrap();
        assert!(!has_module(&current, "one"));
    }
    for again in [false, true] {
        let current = Context::new(device).unwrap().enter().unwrap();
        assert_eq!(has_module(&current, "one"), again);
        assert!(has_module(&Context::temporary(device).unwrap().enter().unwrap(), "one"));
    }
}

/// A host may reset a device that no session uses, and go on with it.
#[test]
fn a_context_that_was_reset_is_made_anew() {
    within_fake_driver!(a_context_that_was_reset_is_made_anew, "");
    let device = Device::get(0).unwrap();
    type Reset = unsafe extern "C" fn(sys::CUdevice) -> u32;
    // SAFETY: the type is that of the function.
    let reset = unsafe {
        std::mem::transmute::<*mut std::ffi::c_void, Reset>(library::address(
            c"cuDevicePrimaryCtxReset_v2",
        ))
    };
    for host_goes_on in [false, true] {
        assert!(!has_module(&enter(), "one"));
        assert!(has_module(&enter(), "one"));
        let mut host = ptr::null_mut();
        // SAFETY: a device of the driver, and a place for the handle.
        unsafe {
            assert_eq!(reset(device.raw()), 0);
            if host_goes_on {
                shims::cuDevicePrimaryCtxRetain(&mut host, device.raw());
            }
        }
        assert!(!has_module(&enter(), "one"));
        if host_goes_on {
            // SAFETY: what was retained above.
            unsafe { shims::cuDevicePrimaryCtxRelease_v2(device.raw()) };
        }
        assert!(has_module(&enter(), "one"));
        assert!(!has_module(&enter(), if host_goes_on { "two" } else { "three" }));
        // SAFETY: as above; the next round begins with an empty context.
        unsafe { assert_eq!(reset(device.raw()), 0) };
    }
}

#[test]
fn a_failed_recording_leaves_nothing_behind() {
    within_fake_driver!(a_failed_recording_leaves_nothing_behind, "");
    let current = enter();
    let stream = Stream::new(&current).unwrap();
    let failing = || Err(Error::Device("work".into()));
    assert_eq!(Graph::record(stream.queue(&current), failing).unwrap_err().to_string(), "work");
    assert_eq!(kind(Graph::record(stream.queue(&current), || Ok(()))), "ok");
}

#[test]
fn functions_that_only_cust_names_reach_the_driver() {
    within_fake_driver!(functions_that_only_cust_names_reach_the_driver, "");
    // SAFETY: no function of the driver is reached yet.
    let early = unsafe { sys::cuStreamGetFlags(ptr::null_mut(), ptr::null_mut()) };
    assert_eq!(early, sys::CUresult::CUDA_ERROR_NOT_INITIALIZED);
    let current = enter();
    let stream = Stream::new(&current).unwrap();
    let mut flags = 7;
    // SAFETY: a live stream and a place for its flags; the other takes no argument.
    unsafe {
        let result = sys::cuStreamGetFlags(stream.raw(), &mut flags);
        assert_eq!((result, flags), (sys::CUresult::CUDA_SUCCESS, 1));
        assert_eq!(sys::cuCtxSynchronize(), sys::CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
}

#[test]
fn a_device_number_out_of_range_names_those_that_are_right() {
    within_fake_driver!(a_device_number_out_of_range_names_those_that_are_right, "devices=3");
    assert_eq!(Device::count().unwrap(), 3);
    let error = Device::get(3).unwrap_err();
    assert!(matches!(error, Error::OutOfRange(_)));
    assert_eq!(error.to_string(), "CUDA device 3: there is no such device, 0 to 2 is needed");
}
