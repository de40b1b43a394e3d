//! Pointers from C: checked before they are used, written to only when the call succeeds.

use super::memory;
use super::status::{Failure, Outcome, fastlbp_status};
use std::ffi::{CStr, c_char};
use std::path::Path;

fn null(name: &str) -> Failure {
    Failure::new(fastlbp_status::NullPointer, format!("{name} is NULL: a valid pointer is needed"))
}

fn check_pointer<T>(name: &str, pointer: *const T) -> Outcome {
    if pointer.is_null() {
        return Err(null(name));
    }
    if !pointer.is_aligned() {
        return Err(Failure::invalid(format!(
            "{name} is {pointer:p}: a pointer aligned to {} bytes is needed",
            align_of::<T>()
        )));
    }
    Ok(())
}

fn check_length<T>(name: &str, length: usize) -> Outcome {
    if length.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > isize::MAX as usize) {
        return Err(Failure::new(
            fastlbp_status::LimitExceeded,
            format!("{name} has {length} entries: that is more than the address space can hold"),
        ));
    }
    Ok(())
}

/// An array to read. NULL is an empty array.
///
/// # Safety
/// `pointer` is NULL or points to `length` entries that nobody changes during `'a`.
pub(super) unsafe fn array<'a, T>(
    name: &str, pointer: *const T, length: usize,
) -> Outcome<&'a [T]> {
    if length == 0 {
        return Ok(&[]);
    }
    check_pointer(name, pointer)?;
    check_length::<T>(name, length)?;
    // SAFETY: not NULL, aligned, of a possible size, and as the caller promises.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// A string to read.
///
/// # Safety
/// `pointer` is NULL or points to a NUL-terminated string that nobody changes during `'a`.
pub(super) unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Outcome<&'a str> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: not NULL, and as the caller promises.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|error| {
        Failure::new(
            fastlbp_status::InvalidUtf8,
            format!("{name} is not UTF-8: byte {} is the first wrong one", error.valid_up_to()),
        )
    })
}

/// The name of a file.
///
/// # Safety
/// As for [`text`].
pub(super) unsafe fn path<'a>(name: &str, pointer: *const c_char) -> Outcome<&'a Path> {
    // SAFETY: as the caller promises.
    let path = unsafe { text(name, pointer) }?;
    if path.is_empty() {
        return Err(Failure::invalid(format!("{name} is empty: the name of a file is needed")));
    }
    Ok(Path::new(path))
}

/// One value to write when the call succeeds.
pub(super) struct Output<T>(*mut T);

impl<T> Output<T> {
    /// # Safety
    /// `pointer` is NULL or may be written to until the value is set.
    pub unsafe fn new(name: &str, pointer: *mut T) -> Outcome<Self> {
        check_pointer(name, pointer)?;
        Ok(Self(pointer))
    }

    pub fn set(self, value: T) {
        // SAFETY: checked and promised in `new`; what was there needs no drop, as it is the
        // caller's.
        unsafe { self.0.write(value) }
    }
}

/// A value to write when the call succeeds, unless the caller passed NULL.
pub(super) struct OptionalOutput<T>(Option<Output<T>>);

impl<T> OptionalOutput<T> {
    /// # Safety
    /// As for [`Output::new`].
    pub unsafe fn new(name: &str, pointer: *mut T) -> Outcome<Self> {
        if pointer.is_null() {
            return Ok(Self(None));
        }
        // SAFETY: as the caller promises.
        Ok(Self(Some(unsafe { Output::new(name, pointer) }?)))
    }

    pub fn set(self, value: T) {
        if let Some(output) = self.0 {
            output.set(value);
        }
    }
}

/// An array of the caller's to fill, with a place for the length that it must have.
pub(super) struct Buffer<T> {
    pointer: *mut T,
    length: usize,
    needed: OptionalOutput<usize>,
}

impl<T: Copy> Buffer<T> {
    /// # Safety
    /// `pointer` is NULL or may be written to, `length` entries of it, and `needed` is NULL or may
    /// be written to, until the buffer is filled.
    pub unsafe fn new(pointer: *mut T, length: usize, needed: *mut usize) -> Outcome<Self> {
        // SAFETY: as the caller promises.
        unsafe { Self::named("buffer", pointer, length, needed) }
    }

    /// A buffer with a name of its own.
    ///
    /// # Safety
    /// As for [`Self::new`].
    pub unsafe fn named(
        name: &str, pointer: *mut T, length: usize, needed: *mut usize,
    ) -> Outcome<Self> {
        // SAFETY: as the caller promises.
        let needed = unsafe { OptionalOutput::new("needed", needed) }?;
        // SAFETY: as the caller promises.
        Ok(Self { needed, ..unsafe { Self::array(name, pointer, length) }? })
    }

    /// A buffer of a length that the caller knows to be right.
    ///
    /// # Safety
    /// As for [`Self::new`].
    pub unsafe fn array(name: &str, pointer: *mut T, length: usize) -> Outcome<Self> {
        if length > 0 {
            check_pointer(name, pointer)?;
            check_length::<T>(name, length)?;
        }
        Ok(Self { pointer, length, needed: OptionalOutput(None) })
    }

    /// Tells the needed length; fails if the buffer is shorter.
    fn claim(self, wanted: usize) -> Outcome<*mut T> {
        let Self { pointer, .. } = self.check(wanted)?;
        Ok(pointer)
    }

    /// As [`Self::fill`] with so many values would fail, before the work of making them.
    pub fn check(self, wanted: usize) -> Outcome<Self> {
        let Self { pointer, length, needed } = self;
        needed.set(wanted);
        if length < wanted {
            return Err(Failure::new(
                fastlbp_status::BufferTooSmall,
                format!("the buffer has {length} entries: {wanted} are needed"),
            ));
        }
        Ok(Self { pointer, length, needed: OptionalOutput(None) })
    }

    pub fn fill(self, values: &[T]) -> Outcome {
        let pointer = self.claim(values.len())?;
        if !values.is_empty() {
            // SAFETY: the buffer is at least as long; `values` is the library's own memory, so the
            // two do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), pointer, values.len()) }
        }
        Ok(())
    }

    /// Fills the buffer with what `value` gives for each entry, or with nothing if it fails for one.
    pub fn fill_each<E: Copy>(
        self, what: &str, entries: &[E], mut value: impl FnMut(E) -> Outcome<T>,
    ) -> Outcome {
        match entries {
            // Without memory of its own: callers ask for one at a time, too.
            &[entry] => self.fill(&[value(entry)?]),
            _ => self.fill(&memory::converted(what, entries, |_, entry| value(entry))?),
        }
    }

    /// Fills the buffer with what `value` gives for 0, 1, ... `length - 1`.
    pub fn fill_with(self, length: usize, mut value: impl FnMut(usize) -> T) -> Outcome {
        let pointer = self.claim(length)?;
        for index in 0..length {
            // SAFETY: the buffer has at least `length` entries.
            unsafe { pointer.add(index).write(value(index)) }
        }
        Ok(())
    }
}

impl Buffer<c_char> {
    /// Fills the buffer with a string and its final NUL.
    pub fn fill_text(self, text: &str) -> Outcome {
        let bytes = text.as_bytes();
        self.fill_with(bytes.len() + 1, |index| bytes.get(index).copied().unwrap_or(0) as c_char)
    }
}
