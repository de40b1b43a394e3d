//! What `fastlbp infer --stats` writes.

use crate::failure::{Failure, Outcome};
use fastlbp::format::save_text;
use fastlbp::{FactorGraph, RunReport, StopReason};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
pub struct Stats {
    pub graph: String,
    pub schedule: &'static str,
    pub backend: &'static str,
    /// Of one run; entries of a batch may run at once, on one thread each.
    pub threads: usize,
    pub variables: usize,
    pub factors: usize,
    pub edges: usize,
    /// Levels with old messages overwritten in place; those of the first iteration for SEQRND, 0 for
    /// SEQMAX, which has no preorder.
    pub levels: usize,
    #[serde(flatten)]
    pub runs: Runs,
    /// `null` where the operating system does not tell.
    pub peak_rss_bytes: Option<u64>,
    pub seconds: Seconds,
}

/// One run, or those of a batch.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Runs {
    One(RunStats),
    Batch { entries: Vec<EntryStats> },
}

#[derive(Serialize)]
pub struct EntryStats {
    pub name: String,
    /// Why there are no results, else `null`.
    pub failure: Option<String>,
    /// Left out where there are no results.
    #[serde(flatten)]
    pub run: Option<RunStats>,
}

#[derive(Serialize)]
pub struct RunStats {
    iterations: u64,
    stop_reason: &'static str,
    converged: bool,
    /// `null` where nothing was measured.
    max_diff: Option<f64>,
    active_fraction: f64,
    contradictions: u64,
    /// Label of the first contradictory variable.
    first_contradiction: Option<u64>,
    /// Messages that an active set did not compute; 0 on devices.
    spared_messages: u64,
    /// `null` if not asked for.
    log_partition: Option<f64>,
    /// Of the decoded joint state; `null` without one, and where it is excluded.
    log_score: Option<f64>,
}

impl RunStats {
    /// Of a run, with the logarithms of the partition function and of the decoded joint state, where they are known.
    pub fn new(
        graph: &FactorGraph, report: &RunReport, log_partition: Option<f64>, log_score: Option<f64>,
    ) -> Self {
        Self {
            iterations: report.iterations,
            stop_reason: reason_name(report.reason),
            converged: report.converged,
            max_diff: report.max_diff.is_finite().then_some(report.max_diff),
            active_fraction: report.active_fraction,
            contradictions: report.contradictions,
            first_contradiction: report.first_contradiction.map(|v| graph.label(v)),
            spared_messages: report.spared_messages,
            log_partition: log_partition.filter(|value| value.is_finite()),
            log_score: log_score.filter(|value| value.is_finite()),
        }
    }
}

/// Wall-clock times.
#[derive(Serialize)]
pub struct Seconds {
    /// Graph, evidence and ranks.
    pub read: f64,
    /// The preorder of the schedule and its dependency levels, for these statistics.
    pub analyse: f64,
    /// All that is done once per graph and schedule.
    pub prepare: f64,
    pub run: f64,
    pub write: f64,
}

pub fn reason_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Converged => "converged",
        StopReason::Iterations => "iterations",
        StopReason::Share => "share",
        StopReason::Time => "time",
        StopReason::Cancelled => "cancelled",
    }
}

impl Stats {
    /// Writes the file.
    pub fn write(&self, path: &Path) -> Outcome {
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|error| Failure::other(format!("statistics: {error}")))?;
        text.push('\n');
        save_text(path, |sink| sink.write_all(text.as_bytes())).map_err(Failure::output)
    }
}

/// Most memory that this process ever had resident, as Linux tells it. (`getrusage` would also count
/// what the parent held when it started this program.)
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1024)
}
