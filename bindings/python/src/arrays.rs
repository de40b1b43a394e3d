//! Arrays of NumPy over memory that the library owns: nothing is copied, and nobody can write to it.

use numpy::ndarray::ArrayView1;
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use std::sync::Arc;

/// An array over a list that lives as long as `owner`, which keeps it unchanged at its place.
///
/// # Safety
///
/// - `list` is part of what `owner` owns;
/// - it is neither moved, changed nor freed as long as `owner` lives.
pub unsafe fn borrowed<'py, T: Element>(
    list: &[T], owner: Bound<'py, PyAny>,
) -> Bound<'py, PyArray1<T>> {
    // SAFETY: the owner keeps the list, as the caller promises.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(list), owner) };
    array.readwrite().make_nonwriteable();
    array
}

/// Keeps marginals that an array shows.
#[pyclass(frozen, module = "fastlbp._native")]
pub struct Marginals(Arc<Vec<f64>>);

impl Marginals {
    /// An array over shared marginals, which the library never changes while they are shared.
    pub fn array(py: Python<'_>, shared: Arc<Vec<f64>>) -> PyResult<Bound<'_, PyArray1<f64>>> {
        let owner = Bound::new(py, Marginals(shared))?;
        let list: &[f64] = &owner.get().0;
        // SAFETY: the object holds a reference to the list until it is dropped, is never changed itself, and a list that is
        // shared is not written to.
        Ok(unsafe { borrowed(list, owner.clone().into_any()) })
    }
}

/// The entries of an array without a copy. Errors: they are not contiguous.
pub fn entries<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    Ok(array.as_slice()?)
}
