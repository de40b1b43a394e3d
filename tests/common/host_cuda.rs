//! Uses CUDA directly in the process of the test, as a program that calls the library may do.

use libc::{RTLD_NOW, c_char, c_int, c_uint, c_void, dlerror, dlopen, dlsym};
use std::ffi::{CStr, CString};
use std::ptr::null_mut;

/// The driver, used past the library: its primary context of a device is kept and can be entered.
pub struct HostCuda {
    driver: *mut c_void,
    device: c_int,
    context: *mut c_void,
}

/// Memory of the device.
pub struct Taken<'a> {
    cuda: &'a HostCuda,
    /// Addresses and bytes.
    pieces: Vec<(u64, usize)>,
}

impl HostCuda {
    /// Keeps the primary context of a device.
    pub fn new(device: u32) -> Self {
        // SAFETY: the driver's initialisers may run at any time; the name is a C string.
        let driver = unsafe { dlopen(c"libcuda.so.1".as_ptr(), RTLD_NOW) };
        if driver.is_null() {
            // SAFETY: dlopen has just failed, so that there is a message, a C string.
            let why = unsafe { CStr::from_ptr(dlerror() as *const c_char) };
            panic!("{why:?}");
        }
        let mut cuda = Self { driver, device: device as c_int, context: null_mut() };
        // SAFETY: the types are those of the driver's functions, and the context outlives the call.
        unsafe {
            let init: extern "C" fn(c_uint) -> c_int = cuda.function("cuInit");
            check("cuInit", init(0));
            let retain: extern "C" fn(*mut *mut c_void, c_int) -> c_int =
                cuda.function("cuDevicePrimaryCtxRetain");
            check("cuDevicePrimaryCtxRetain", retain(&raw mut cuda.context, cuda.device));
        }
        cuda
    }

    /// A function of the driver.
    ///
    /// # Safety
    ///
    /// `F` must be the type of a pointer to the function of that name.
    unsafe fn function<F: Copy>(&self, name: &str) -> F {
        let text = CString::new(name).unwrap();
        // SAFETY: the library was opened and is never closed; the name is a C string.
        let found = unsafe { dlsym(self.driver, text.as_ptr()) };
        assert!(!found.is_null(), "{name} is not there");
        assert_eq!(size_of::<F>(), size_of_val(&found));
        // SAFETY: by the contract of this function.
        unsafe { std::mem::transmute_copy(&found) }
    }

    /// Makes the primary context this thread's current one.
    pub fn enter(&self) {
        // SAFETY: the type is that of the function; the context is kept.
        unsafe {
            let push: extern "C" fn(*mut c_void) -> c_int = self.function("cuCtxPushCurrent_v2");
            check("cuCtxPushCurrent", push(self.context));
        }
    }

    /// Undoes [`Self::enter`].
    pub fn leave(&self) {
        let mut left = null_mut();
        // SAFETY: the type is that of the function; `left` outlives the call.
        unsafe {
            let pop: extern "C" fn(*mut *mut c_void) -> c_int = self.function("cuCtxPopCurrent_v2");
            check("cuCtxPopCurrent", pop(&raw mut left));
        }
        assert_eq!(left, self.context, "another context was current");
    }

    /// Whether the primary context is this thread's current one; `None` if none is.
    pub fn is_current(&self) -> Option<bool> {
        let mut current = null_mut();
        // SAFETY: the type is that of the function; `current` outlives the call.
        unsafe {
            let get: extern "C" fn(*mut *mut c_void) -> c_int = self.function("cuCtxGetCurrent");
            check("cuCtxGetCurrent", get(&raw mut current));
        }
        (!current.is_null()).then(|| current == self.context)
    }

    fn allocate(&self, bytes: usize) -> Option<u64> {
        let mut address = 0_u64;
        // SAFETY: the type is that of the function; `address` outlives the call.
        let code = unsafe {
            let allocate: extern "C" fn(*mut u64, usize) -> c_int = self.function("cuMemAlloc_v2");
            allocate(&raw mut address, bytes)
        };
        (code == 0).then_some(address)
    }

    /// Takes memory of the device. The context must be entered.
    pub fn take(&self, bytes: usize) -> Taken<'_> {
        let address = self.allocate(bytes).expect("device memory");
        Taken { cuda: self, pieces: vec![(address, bytes)] }
    }

    /// Takes all memory of the device that can be had in pieces of at least `smallest` bytes. The
    /// context must be entered.
    pub fn take_all(&self, smallest: usize) -> Taken<'_> {
        let mut taken = Taken { cuda: self, pieces: Vec::new() };
        let mut bytes = 1_usize << 40;
        while bytes >= smallest {
            match self.allocate(bytes) {
                Some(address) => taken.pieces.push((address, bytes)),
                None => bytes /= 2,
            }
        }
        taken
    }
}

impl Drop for HostCuda {
    fn drop(&mut self) {
        // SAFETY: the type is that of the function; what was kept in `new` is let go.
        unsafe {
            let release: extern "C" fn(c_int) -> c_int =
                self.function("cuDevicePrimaryCtxRelease_v2");
            release(self.device);
        }
    }
}

impl Taken<'_> {
    /// Writes a byte everywhere. The context must be entered.
    pub fn fill(&self, byte: u8) {
        for &(address, bytes) in &self.pieces {
            // SAFETY: the type is that of the function; the memory is this object's, and the default
            // stream orders this before what follows.
            unsafe {
                let set: extern "C" fn(u64, u8, usize, *mut c_void) -> c_int =
                    self.cuda.function("cuMemsetD8Async");
                check("cuMemsetD8Async", set(address, byte, bytes, null_mut()));
            }
        }
    }

    /// What is in it. The context must be entered.
    pub fn read(&self) -> Vec<u8> {
        let mut content = vec![0; self.bytes()];
        let mut at = 0;
        for &(address, bytes) in &self.pieces {
            // SAFETY: the types are those of the functions; both sides are `bytes` long, and the copy is
            // waited for before `content` is used.
            unsafe {
                let copy: extern "C" fn(*mut c_void, u64, usize, *mut c_void) -> c_int =
                    self.cuda.function("cuMemcpyDtoHAsync_v2");
                let to = content[at..at + bytes].as_mut_ptr().cast();
                check("cuMemcpyDtoHAsync", copy(to, address, bytes, null_mut()));
                let wait: extern "C" fn(*mut c_void) -> c_int =
                    self.cuda.function("cuStreamSynchronize");
                check("cuStreamSynchronize", wait(null_mut()));
            }
            at += bytes;
        }
        content
    }

    /// How much it is.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|(_, bytes)| bytes).sum()
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        for &(address, _) in &self.pieces {
            // SAFETY: the type is that of the function; the memory is this object's.
            unsafe {
                let free: extern "C" fn(u64) -> c_int = self.cuda.function("cuMemFree_v2");
                free(address);
            }
        }
    }
}

fn check(what: &str, code: c_int) {
    assert_eq!(code, 0, "{what}");
}
