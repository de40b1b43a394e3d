//! A backend and the reference, the CPU engine on one thread: the same calls to both must give the same bits.
//!
//! The backend is CUDA, or what `FASTLBP_TEST_BACKEND` names: with `cpu` it is the CPU engine on two
//! threads, so that the tests themselves can be tried where there is no device.

use crate::common::report_skipped;
use fastlbp::engine::device::device_count;
use fastlbp::{
    Backend, BeliefPropagation, Control, EngineOptions, Error, FactorGraph, Progress, RunReport,
    RunRequest, Schedule, StopRule,
};
use std::fmt::Debug;
use std::sync::Arc;

/// What is wrong, in words.
pub type Checked<T = ()> = Result<T, String>;

/// The CPU engine on one thread.
pub fn reference() -> EngineOptions {
    EngineOptions { backend: Backend::Cpu, threads: Some(1), ..Default::default() }
}

/// The backend to be tested; `None`, reported as skipped, where there is no device for it.
pub fn tested() -> Option<EngineOptions> {
    match std::env::var("FASTLBP_TEST_BACKEND").as_deref() {
        Ok("cpu") => return Some(EngineOptions { threads: Some(2), ..reference() }),
        Ok("cuda") | Err(_) => {}
        Ok(other) => panic!("FASTLBP_TEST_BACKEND is '{other}': 'cpu' or 'cuda' is needed"),
    }
    match device_count() {
        Ok(_) => Some(EngineOptions { backend: Backend::Cuda, ..reference() }),
        Err(Error::NoDevice(reason)) => {
            report_skipped(&reason);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A number from an environment variable.
#[allow(dead_code, reason = "not all test files use it")]
pub fn setting(name: &str, otherwise: usize) -> usize {
    let Ok(text) = std::env::var(name) else { return otherwise };
    text.parse().unwrap_or_else(|_| panic!("{name} is '{text}': a number is needed"))
}

/// Says where two things that must be equal, `f64` values by their bits, are not.
pub fn same<T: Debug>(reference: &T, tested: &T, what: &str) -> Checked {
    let [reference, tested] = [reference, tested].map(|value| format!("{value:?}"));
    if reference == tested {
        return Ok(());
    }
    Err(format!("{what}: {tested} instead of {reference}"))
}

/// The same of lists of words: names the first one that differs.
pub fn same_words(reference: &[u64], tested: &[u64], what: &str) -> Checked {
    same(&reference.len(), &tested.len(), &format!("{what}: length"))?;
    let differing = reference.iter().zip(tested).enumerate().filter(|(_, (a, b))| a != b);
    let mut differing = differing.peekable();
    let Some(&(index, (reference, tested))) = differing.peek() else { return Ok(()) };
    Err(format!(
        "{what} {index}: {tested:#x} ({:e}) instead of {reference:#x} ({:e}), {} of them differ",
        f64::from_bits(*tested),
        f64::from_bits(*reference),
        differing.count()
    ))
}

/// The same of lists of numbers.
pub fn same_bits(reference: &[f64], tested: &[f64], what: &str) -> Checked {
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    same_words(&bits(reference), &bits(tested), what)
}

/// The same of what may fail: errors by their kind, their contents and their text.
pub fn same_results<T: Debug>(
    reference: &fastlbp::Result<T>, tested: &fastlbp::Result<T>, what: &str,
) -> Checked {
    same(reference, tested, what)?;
    let text = |result: &fastlbp::Result<T>| result.as_ref().err().map(ToString::to_string);
    same(&text(reference), &text(tested), what)
}

/// Devices spare no messages.
pub fn without_spared(report: RunReport) -> RunReport {
    RunReport { spared_messages: 0, ..report }
}

/// Two sessions that are asked the same.
pub struct Pair {
    pub reference: BeliefPropagation,
    pub tested: BeliefPropagation,
}

#[allow(dead_code, reason = "not all test files use all of it")]
impl Pair {
    /// Sessions of a graph; `options` are those of the backend that is tested.
    pub fn new(
        graph: &Arc<FactorGraph>, schedule: &Schedule, options: EngineOptions,
    ) -> Checked<Self> {
        let open = |options| {
            BeliefPropagation::new(graph.clone(), schedule.clone(), options)
                .map_err(|error| format!("{} on {options:?}: {error}", schedule.name()))
        };
        let compile_tables = options.compile_tables;
        let pair = Self {
            reference: open(EngineOptions { compile_tables, ..reference() })?,
            tested: open(options)?,
        };
        // What runs elsewhere says so.
        if !matches!(schedule, Schedule::MaximumResidual { .. }) {
            same(&options.backend, &pair.tested.backend(), "backend")?;
        }
        Ok(pair)
    }

    /// Does the same to both.
    pub fn both<T>(&mut self, mut act: impl FnMut(&mut BeliefPropagation) -> T) -> [T; 2] {
        [act(&mut self.reference), act(&mut self.tested)]
    }

    /// Runs both and compares everything that can be seen afterwards.
    pub fn run(&mut self, request: &RunRequest) -> Checked<fastlbp::Result<RunReport>> {
        // Of rough progress, any change above the tolerance may stand for the largest one; where the rule looks at the beliefs of
        // factors, that of variables.
        let may_be_another = |change: f64| match request.rule {
            StopRule::Tolerance { tolerance, .. } => request.rough_progress && change > tolerance,
            StopRule::AllBeliefs { tolerance, .. } => !request.observe && change > tolerance,
            _ => false,
        };
        let [(expected, expected_progress), (got, progress)] = self.both(|session| {
            let mut progress: Vec<Progress> = Vec::new();
            let result = session.run_monitored(request, &mut |after| {
                // What a device measures only when asked to.
                let unconverged = after.unconverged.filter(|_| request.observe);
                let mut told = Progress { unconverged, ..*after };
                if may_be_another(told.max_diff) {
                    (told.max_diff, told.active_fraction) = (f64::INFINITY, 1.0);
                }
                progress.push(told);
                Control::Continue
            });
            (result.map(without_spared), progress)
        });
        same_results(&expected, &got, "report")?;
        same(&expected_progress, &progress, "progress")?;
        self.compare()?;
        Ok(got)
    }

    /// Compares messages, results and reports of both.
    pub fn compare(&self) -> Checked {
        let (reference, tested) = (&self.reference, &self.tested);
        let state = |session: &BeliefPropagation| session.save_state().unwrap();
        same_words(&state(reference), &state(tested), "word of the saved state")?;
        let report = |session: &BeliefPropagation| session.report().copied().map(without_spared);
        same(&report(reference), &report(tested), "last report")?;
        match (reference.marginals(), tested.marginals()) {
            (Ok(expected), Ok(got)) => same_bits(expected, got, "marginal"),
            (expected, got) => same_results(&expected, &got, "marginals"),
        }
    }
}
