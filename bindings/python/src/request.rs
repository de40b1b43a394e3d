//! What a run is asked to do, from keywords.

use crate::errors::{invalid, raise};
use fastlbp::{Contradiction, Inference, RunReport, RunRequest, Start, StopReason, StopRule};
use pyo3::prelude::*;
use std::time::Duration;

/// A run to be made.
#[pyclass(frozen, module = "fastlbp._native")]
pub struct Request(pub RunRequest);

/// One of two settings by its name.
fn choice<T: Copy>(setting: &str, given: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(name, _)| *name == given).map(|&(_, value)| value);
    found.ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|&(name, _)| name).collect();
        invalid(format!("{setting} '{given}': {} is needed", names.join(" or ")))
    })
}

/// Sums or maxima by name.
pub fn inference(name: &str) -> PyResult<Inference> {
    let known = [("sum-product", Inference::SumProduct), ("max-product", Inference::MaxProduct)];
    choice("inference", name, &known)
}

#[pymethods]
impl Request {
    /// `rule` is "iterations", "tolerance", "all-beliefs" or "bingo", and uses those of the numbers after it that it has.
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        rule: &str, tolerance: f64, min_iterations: u64, max_iterations: u64, history: u64,
        start: &str, max_time: Option<f64>, contradiction: &str, inference_name: &str,
        damping: f64, active_threshold: Option<f64>, observe: bool,
    ) -> PyResult<Self> {
        let rules = [
            ("iterations", StopRule::Iterations(max_iterations)),
            ("tolerance", StopRule::Tolerance { tolerance, max_iterations }),
            ("all-beliefs", StopRule::AllBeliefs { tolerance, max_iterations }),
            ("bingo", StopRule::Bingo { tolerance, min_iterations, max_iterations, history }),
        ];
        let seconds = |seconds: f64| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| invalid(format!("max_time {seconds}: a number of seconds >= 0")))
        };
        let policies = [("error", Contradiction::Error), ("vote", Contradiction::Vote)];
        Ok(Self(RunRequest {
            rule: choice("rule", rule, &rules)?,
            start: choice("start", start, &[("fresh", Start::Fresh), ("warm", Start::Warm)])?,
            max_time: max_time.map(seconds).transpose()?,
            contradiction: choice("contradiction", contradiction, &policies)?,
            inference: inference(inference_name)?,
            damping,
            active_threshold,
            observe,
            // Where there is no callback, as the session sees.
            rough_progress: false,
        }))
    }
}

/// A report as the arguments of `fastlbp.RunReport`.
pub type ReportFields = (u64, u64, &'static str, bool, f64, f64, u64, Option<usize>, u64);

/// The fields of a report.
pub fn fields(report: &RunReport) -> ReportFields {
    let reason = match report.reason {
        StopReason::Converged => "converged",
        StopReason::Iterations => "iterations",
        StopReason::Share => "share",
        StopReason::Time => "time",
        StopReason::Cancelled => "cancelled",
    };
    (
        report.iterations,
        report.total_iterations,
        reason,
        report.converged,
        report.max_diff,
        report.active_fraction,
        report.contradictions,
        report.first_contradiction,
        report.spared_messages,
    )
}

/// The fields of a report, or the exception of an entry that has none.
pub fn outcome<'py>(
    py: Python<'py>, report: fastlbp::Result<RunReport>,
) -> PyResult<Bound<'py, PyAny>> {
    match report {
        Ok(report) => Ok(fields(&report).into_pyobject(py)?.into_any()),
        Err(error) => Ok(raise(error).into_value(py).into_bound(py).into_any()),
    }
}
