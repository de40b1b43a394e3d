//! What users are warned of after a run.

use fastlbp::{RunReport, StopReason};
use std::fmt::Display;

/// That deterministic messages disagreed and were voted on, and at which variable first, as `describe` names it.
pub fn of_contradictions<D: Display>(
    report: &RunReport, describe: impl FnOnce(usize) -> D,
) -> Option<String> {
    let variable = describe(report.first_contradiction?);
    Some(format!(
        "deterministic messages that disagree met at variable {variable} ({} such places in an iteration): the \
         state backed by more of them won",
        report.contradictions
    ))
}

/// That the time was up.
pub fn of_time(report: &RunReport) -> Option<String> {
    (report.reason == StopReason::Time)
        .then(|| format!("the time was up after {} iterations", report.iterations))
}
