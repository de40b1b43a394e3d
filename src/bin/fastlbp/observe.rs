//! What each iteration of a command's runs did: shown on a terminal while it runs, and kept for `--trace` and
//! `--report`.

use crate::activity::Activity;
use crate::conflicts::Conflicts;
use crate::failure::{Failure, Outcome};
use crate::signals;
use crate::standard_streams::{is_standard_output, output_path};
use fastlbp::{Control, Progress};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The files that tell of iterations.
#[derive(clap::Args)]
pub struct ObserveArguments {
    /// Write what each iteration did to a file, as CSV or JSON by its suffix .csv or .json, also with .gz: the largest
    /// change, the share of variables that have not converged, the number of contradictory places, and the seconds since
    /// the run began. Measuring takes time; results have the same bits
    #[arg(long, value_name = "FILE", value_parser = output_path())]
    trace: Option<PathBuf>,

    /// Write a page with figures to a file .html, for any browser and without a network: how runs converged,
    /// probabilities, the order of answers, the widths of levels, and where the time went. Iterations are measured as
    /// for --trace
    #[arg(long, value_name = "FILE", value_parser = output_path())]
    report: Option<PathBuf>,
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    Csv,
    Json,
}

impl ObserveArguments {
    /// Adds the files to what is written. Errors: a suffix that says nothing; a file that is also another one.
    pub fn check(&self, conflicts: &mut Conflicts) -> Outcome {
        self.trace()?;
        if let Some(path) = &self.report
            && !is_standard_output(path)
            && path.extension().is_none_or(|extension| extension != "html")
        {
            return Err(Failure::input(format!(
                "--report {}: a name that ends in .html is needed",
                path.display()
            )));
        }
        conflicts.output("--trace", self.trace.as_deref())?;
        conflicts.output("--report", self.report.as_deref())
    }

    /// Whether iterations are to be measured.
    pub fn is_wanted(&self) -> bool {
        self.trace.is_some() || self.report.is_some()
    }

    /// The file of the trace and its format.
    pub fn trace(&self) -> Outcome<Option<(&Path, TraceFormat)>> {
        let Some(path) = &self.trace else { return Ok(None) };
        if is_standard_output(path) {
            return Ok(Some((path, TraceFormat::Csv)));
        }
        let name = path.to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.') {
            Some((_, "csv")) => Ok(Some((path, TraceFormat::Csv))),
            Some((_, "json")) => Ok(Some((path, TraceFormat::Json))),
            _ => Err(Failure::input(format!(
                "--trace {}: a name that ends in .csv or .json, or these with .gz, is needed",
                path.display()
            ))),
        }
    }

    /// The file of the page.
    pub fn report(&self) -> Option<&Path> {
        self.report.as_deref()
    }
}

/// An iteration.
#[derive(Clone, Copy, Debug)]
pub struct Iteration {
    /// Counted from 1 in each run.
    pub number: u64,
    pub largest_change: f64,
    /// A share of 1.
    pub unconverged: Option<f64>,
    pub contradictions: Option<u64>,
    /// Since the run began.
    pub seconds: f64,
}

/// The iterations of a run.
pub struct ObservedRun {
    /// Which one of several; empty for a single run.
    pub name: String,
    pub iterations: Vec<Iteration>,
}

/// Keeps the iterations of all runs, if they are wanted.
pub struct Observer {
    is_wanted: bool,
    runs: Vec<ObservedRun>,
}

impl Observer {
    pub fn new(arguments: &ObserveArguments) -> Self {
        Self { is_wanted: arguments.is_wanted(), runs: Vec::new() }
    }

    /// Begins a run of at most so many iterations; `name` is for those who read of several.
    pub fn watch(&mut self, name: &str, most_iterations: u64) -> Watch<'_> {
        if self.is_wanted {
            self.runs.push(ObservedRun { name: name.to_string(), iterations: Vec::new() });
        }
        let activity = Activity::iterations(most_iterations);
        Watch { activity, observer: self, started: Instant::now() }
    }

    /// The runs so far.
    pub fn runs(&self) -> &[ObservedRun] {
        &self.runs
    }
}

/// A run that is watched.
pub struct Watch<'a> {
    activity: Activity,
    observer: &'a mut Observer,
    started: Instant,
}

impl Watch<'_> {
    /// Takes note of an iteration; says whether a signal ends the run.
    pub fn note(&mut self, progress: &Progress) -> Control {
        self.activity.advance(progress);
        if let Some(run) = self.observer.runs.last_mut() {
            let seconds = self.started.elapsed().as_secs_f64();
            if progress.iterations == 1 && !run.iterations.is_empty() {
                // A call that makes several runs, as the answers of a journal are given again.
                let name = run.name.clone();
                self.observer.runs.push(ObservedRun { name, iterations: Vec::new() });
            }
            if let Some(run) = self.observer.runs.last_mut() {
                run.iterations.push(Iteration {
                    number: progress.iterations,
                    largest_change: progress.max_diff,
                    unconverged: progress.unconverged,
                    contradictions: progress.contradictions,
                    seconds,
                });
            }
        }
        signals::control()
    }
}
