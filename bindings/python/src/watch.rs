//! What Python hears of a run while it is made, and how it ends one: callbacks, signals, traces.

use fastlbp::{Control, Progress};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// How often the interpreter is asked for signals, such as that of Ctrl-C: seldom enough to cost nothing, often enough
/// not to be waited for.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);

/// Follows one call.
pub struct Watch {
    callback: Option<Py<PyAny>>,
    trace: Option<Trace>,
    started: Instant,
    asked: Instant,
    failure: Option<PyErr>,
}

/// What was measured after each iteration.
#[derive(Default)]
pub struct Trace {
    iterations: Vec<u64>,
    largest_changes: Vec<f64>,
    unconverged: Vec<f64>,
    contradictions: Vec<i64>,
    seconds: Vec<f64>,
}

/// The columns of a trace.
pub type Columns<'py> = (
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
);

impl Watch {
    /// With a callback for each iteration, or each entry of a batch; with a trace or without.
    pub fn new(callback: Option<Py<PyAny>>, traces: bool) -> Self {
        let started = Instant::now();
        let trace = traces.then(Trace::default);
        Self { callback, trace, started, asked: started, failure: None }
    }

    /// After an iteration.
    pub fn iteration(&mut self, progress: &Progress) -> Control {
        if let Some(trace) = &mut self.trace {
            trace.iterations.push(progress.iterations);
            trace.largest_changes.push(progress.max_diff);
            trace.unconverged.push(progress.unconverged.unwrap_or(f64::NAN));
            trace.contradictions.push(progress.contradictions.map_or(-1, |count| count as i64));
            trace.seconds.push(self.started.elapsed().as_secs_f64());
        }
        self.ask(|py, callback| {
            callback.bind(py).call1((
                progress.iterations,
                progress.max_iterations,
                progress.max_diff,
                progress.active_fraction,
                progress.unconverged,
                progress.contradictions,
            ))
        })
    }

    /// After an entry of a batch.
    pub fn entry(&mut self, done: usize, all: usize) -> Control {
        self.ask(|py, callback| callback.bind(py).call1((done, all)))
    }

    /// Calls the callback, and looks for signals. An exception, or the answer `False`, ends the run.
    fn ask(
        &mut self,
        call: impl for<'py> FnOnce(Python<'py>, &Py<PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> Control {
        if self.failure.is_some() {
            return Control::Cancel;
        }
        let now = Instant::now();
        let is_due = now - self.asked >= BETWEEN_SIGNALS;
        if self.callback.is_none() && !is_due {
            return Control::Continue;
        }
        let answer = Python::attach(|py| {
            if is_due {
                py.check_signals()?;
            }
            let Some(callback) = &self.callback else { return Ok(Control::Continue) };
            // Anything but `False` means to go on, also `None`, what a function without `return` gives.
            let wants_end = call(py, callback)?.is(pyo3::types::PyBool::new(py, false));
            Ok(if wants_end { Control::Cancel } else { Control::Continue })
        });
        if is_due {
            self.asked = now;
        }
        answer.unwrap_or_else(|failure| {
            self.failure = Some(failure);
            Control::Cancel
        })
    }

    /// The trace, if there is one. Errors: the exception that has ended the run.
    pub fn end(self, py: Python<'_>) -> PyResult<Option<Columns<'_>>> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        Ok(self.trace.map(|trace| {
            (
                trace.iterations.into_pyarray(py),
                trace.largest_changes.into_pyarray(py),
                trace.unconverged.into_pyarray(py),
                trace.contradictions.into_pyarray(py),
                trace.seconds.into_pyarray(py),
            )
        }))
    }
}
