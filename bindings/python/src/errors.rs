//! Errors of the library as exceptions of Python: the classes of `fastlbp.errors`, by the names of their statuses.

use fastlbp::Error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// The exception of an error.
pub fn raise(error: Error) -> PyErr {
    let text = error.to_string();
    match &error {
        Error::Io { path, source } => Python::attach(|py| {
            let reason = source.to_string();
            let reason = reason.split(" (os error").next().unwrap_or_default().to_string();
            let path = path.display().to_string();
            exception(py, "IO", (source.raw_os_error(), reason, path, text))
        }),
        Error::Contradiction { label, variable, factor, iteration, count } => {
            Python::attach(|py| {
                let place = (*label, *variable, *factor, *iteration, *count);
                exception(py, "CONTRADICTION", (text, place))
            })
        }
        Error::Parse { .. } => of_status("PARSE", text),
        Error::InvalidArgument(_) => of_status("INVALID_ARGUMENT", text),
        Error::OutOfRange(_) => of_status("OUT_OF_RANGE", text),
        Error::LimitExceeded(_) => of_status("LIMIT_EXCEEDED", text),
        Error::OutOfMemory(_) => of_status("OUT_OF_MEMORY", text),
        Error::NoResult(_) => of_status("NO_RESULT", text),
        Error::NoDevice(_) => of_status("NO_DEVICE", text),
        Error::Device(_) => of_status("DEVICE_FAILED", text),
        Error::Unsupported(_) => of_status("UNSUPPORTED", text),
        _ => of_status("PANIC", text),
    }
}

/// The exception of a value that a call does not accept.
pub fn invalid(text: impl Into<String>) -> PyErr {
    of_status("INVALID_ARGUMENT", text.into())
}

fn of_status(status: &str, text: String) -> PyErr {
    Python::attach(|py| exception(py, status, (text,)))
}

/// Makes an exception of the class that `fastlbp.errors` has for a status.
fn exception<'py>(
    py: Python<'py>, status: &str, arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyErr {
    let made = py
        .import("fastlbp.errors")
        .and_then(|module| module.getattr("of_status"))
        .and_then(|classes| classes.get_item(status))
        .and_then(|class| class.call1(arguments));
    match made {
        Ok(made) => PyErr::from_value(made),
        Err(error) => error,
    }
}

/// Locks what a handle holds. Errors: another call is running on it, also one further up on this thread; waiting for it
/// with the interpreter held would stop that call, too.
pub fn lock<'a, T>(held: &'a Mutex<T>, what: &str) -> PyResult<MutexGuard<'a, T>> {
    held.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => {
            of_status("BUSY", format!("another call is running on this {what}"))
        }
        TryLockError::Poisoned(_) => PyRuntimeError::new_err(format!(
            "an earlier call on this {what} ended with an internal error: it cannot be used any more"
        )),
    })
}
