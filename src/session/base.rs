//! A session: a graph, a schedule, evidence that changes, settings, runs and their marginals.

use super::devices;
use super::runner::Runner;
use super::settings::Settings;
use super::spread::{DeviceChoice, Ran};
use super::workers::Workers;
use crate::engine::{
    Backend, Control, DeviceSet, EngineOptions, Progress, RunReport, RunRequest, Snapshot, Start,
    value_count,
};
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, copied, shared};
use crate::model::{Evidence, FactorGraph, Label, VariableEvidence, check_variable};
use crate::schedule::{Schedule, Storage, analyse};
use once_cell::sync::OnceCell;
use std::sync::Arc;

/// Belief propagation on one factor graph.
///
/// The graph is shared, not copied. Schedule analysis and buffers are made once; evidence changes cost only
/// their own size. Results are those of the last run, whatever evidence was set since.
///
/// ```
/// use fastlbp::{BeliefPropagation, EngineOptions, FactorGraphBuilder, RunRequest, Schedule, StopRule};
/// let mut builder = FactorGraphBuilder::new();
/// builder.add_prior(1, 0.3)?;
/// builder.add_and(2, &[1], 0.9, 0.1)?; // P(2 | 1) = 0.9, P(2 | not 1) = 0.1
/// let graph = std::sync::Arc::new(builder.build()?);
/// let mut bp = BeliefPropagation::new(graph, Schedule::Tree, EngineOptions::default())?;
/// bp.run(&RunRequest::new(StopRule::Iterations(1)))?;
/// assert!((bp.probability(1)? - (0.3 * 0.9 + 0.7 * 0.1)).abs() < 1e-15);
/// bp.observe(1, 1)?; // the variable with index 1, label 2, is true
/// bp.run(&RunRequest::new(StopRule::Iterations(1)))?;
/// assert!((bp.probability(0)? - 0.27 / 0.34).abs() < 1e-15);
/// # Ok::<(), fastlbp::Error>(())
/// ```
pub struct BeliefPropagation {
    pub(super) runner: Runner,
    settings: Settings,
    /// Engines of batches.
    pub(super) workers: Workers,
    /// Number of edges of each level, once asked for.
    level_widths: OnceCell<Vec<u32>>,
    /// Where each variable's states start in `results`, once asked for.
    state_offsets: OnceCell<Vec<usize>>,
    /// Of the last run that ended without an error.
    report: Option<RunReport>,
    /// Its marginals, which callers may share.
    results: Option<Arc<Vec<f64>>>,
    /// Where results are written before it is known whether the run succeeds.
    next_results: Option<Arc<Vec<f64>>>,
    contradictions: Option<Contradictions>,
    /// What the engines of batches had to say.
    pub(super) notes: Vec<String>,
}

/// Where deterministic messages disagreed in the last run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradictions {
    /// Number of contradictory places: of the iteration with most of them under
    /// [`crate::Contradiction::Vote`], of the one that ended the run under [`crate::Contradiction::Error`].
    pub count: u64,
    /// The lowest contradictory variable, by index, of the first iteration that had one.
    pub first: Option<usize>,
}

impl BeliefPropagation {
    /// Belief propagation on a graph by a schedule. Messages are uniform and there is no evidence. The engine of
    /// a backend that is asked for is made at once: its analysis of the schedule, and all buffers;
    /// [`Backend::Auto`] puts that off until a run needs it, see [`Self::prepare`].
    ///
    /// Errors: a schedule made for a graph with another number of edges; zero threads; a backend
    /// that is not present.
    pub fn new(
        graph: Arc<FactorGraph>, schedule: Schedule, options: EngineOptions,
    ) -> Result<Self> {
        let session = Self::of(Runner::new(graph, schedule, options));
        session.prepare_fixed()?;
        Ok(session)
    }

    /// Belief propagation by SEQFIX with the options of [`EngineOptions::default`]. Nothing is made before it is
    /// needed, so that schedule, options and settings can be replaced first. O(1).
    pub fn with_defaults(graph: Arc<FactorGraph>) -> Self {
        Self::of(Runner::new(graph, Schedule::SequentialFixed, EngineOptions::default()))
    }

    fn of(runner: Runner) -> Self {
        Self {
            runner,
            settings: Settings::default(),
            workers: Workers::default(),
            level_widths: OnceCell::new(),
            state_offsets: OnceCell::new(),
            report: None,
            results: None,
            next_results: None,
            contradictions: None,
            notes: Vec::new(),
        }
    }

    /// A session of its own in the same state: graph (shared), schedule, options, settings, evidence, messages and
    /// results. Errors: no memory. O(edges + variables).
    pub fn try_clone(&self) -> Result<Self> {
        Ok(Self {
            settings: self.settings,
            report: self.report,
            results: self.results.clone(),
            contradictions: self.contradictions,
            ..Self::of(self.runner.try_clone()?)
        })
    }

    /// Makes what is otherwise put off until a run needs it: the analysis of the schedule, the buffers, and, with
    /// [`Backend::Auto`], the engine that is expected to be the fastest for such a run, on the CPU or a device.
    /// Other runs may then choose otherwise.
    ///
    /// Errors: those of the request, as in [`Self::run`]; no memory or no threads; a backend that is not present.
    pub fn prepare(&mut self, request: &RunRequest) -> Result<()> {
        request.check()?;
        self.runner.prepare(request)
    }

    /// Makes the engine of a backend that was asked for, if there is none yet. Errors: why there is none.
    pub(crate) fn prepare_fixed(&self) -> Result<()> {
        self.runner.prepare_fixed()
    }

    /// What runs by [`Self::run_by_settings`] are made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Changes what runs by [`Self::run_by_settings`] are made with; a run checks the values.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// What iterations run with.
    pub fn options(&self) -> EngineOptions {
        self.runner.options()
    }

    /// Replaces what iterations run with, from the next run on; messages, evidence and results stay. What is wrong with
    /// the options is an error of that run, or of [`Self::prepare`].
    pub fn set_options(&mut self, options: EngineOptions) {
        if options != self.options() {
            self.runner.set_options(options);
            self.workers = Workers::default();
        }
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<FactorGraph> {
        self.runner.graph()
    }

    /// The schedule.
    pub fn schedule(&self) -> &Schedule {
        self.runner.schedule()
    }

    /// Number of edges of each level of the (first) iteration, by the analysis into levels with one buffer of
    /// messages. Errors: SEQMAX, which has no levels; no memory. The first call takes about 50 ns per edge.
    pub fn level_widths(&self) -> Result<&[u32]> {
        let widths = self.level_widths.get_or_try_init(|| -> Result<_> {
            let preorder = self.schedule().preorder(self.graph(), 0)?;
            copied(analyse(self.graph(), &preorder, Storage::InPlace)?.widths())
        })?;
        Ok(widths)
    }

    /// Replaces the schedule. Messages and evidence stay, so that a warm run goes on from them; this
    /// is also how every iteration can be given an order of its own. The schedule is analysed when a run needs
    /// it, or by [`Self::prepare`]. Errors: a schedule made for a graph with another number of edges.
    pub fn set_schedule(&mut self, schedule: Schedule) -> Result<()> {
        self.runner.set_schedule(schedule)?;
        self.workers = Workers::default();
        self.level_widths = OnceCell::new();
        Ok(())
    }

    /// Where the last run by this schedule was made, or the next one will most likely be: never
    /// [`Backend::Auto`]. [`Backend::Cpu`] for options that no run can have.
    pub fn backend(&self) -> Backend {
        self.runner.router().map_or(Backend::Cpu, |router| router.backend())
    }

    /// Whether [`Backend::Auto`] expects a device to make so many such runs, one after the other, sooner than the CPU, with all that
    /// is to be made before: then it is worth while to [start a device](crate::engine::device::start_device) on another
    /// thread while the first run is made on the CPU. For a backend that was asked for, whether that is a device. The
    /// driver is not asked whether there is a device. `false` for a request or options that no run can have.
    pub fn is_worth_a_device(&self, request: &RunRequest, runs: usize) -> bool {
        request.check().is_ok()
            && self.runner.router().is_ok_and(|router| router.is_worth_a_device(request, runs))
    }

    /// Number of CPU threads that iterations run on.
    pub fn threads(&self) -> usize {
        self.runner.router().map_or(1, |router| router.threads())
    }

    /// Whether its runs need more than one thread: all threads, or a device.
    pub(crate) fn runs_alone(&self) -> bool {
        self.threads() > 1 || self.backend() != Backend::Cpu
    }

    /// The devices that it may run on among many sessions, and the one that it has run on there; `None` where there is no
    /// choice, or it runs on the CPU.
    pub(crate) fn choice_of_devices(&self) -> Result<Option<DeviceChoice>> {
        if self.backend() == Backend::Cpu {
            return Ok(None);
        }
        let devices = devices::several(&self.options(), DeviceSet::NONE)?;
        let (placed, edges) = (self.runner.placed(), self.graph().edge_count());
        Ok((!devices.is_empty()).then_some(DeviceChoice { devices, placed, edges }))
    }

    /// The next run is to be made on a device, among many sessions.
    pub(crate) fn begin_on(&mut self, device: u32) {
        self.runner.place(device);
    }

    /// What came of a run after [`Self::begin_on`]. Where the device failed, and the run is one with fresh messages, the
    /// session is as it was, to be run on another one.
    pub(crate) fn end_on<R>(&mut self, start: Start, result: R, has_failed: bool) -> Ran<R> {
        if has_failed && start == Start::Fresh {
            self.runner.displace();
            return Ran::GivenUp;
        }
        // (The router has made the run on the CPU, then.)
        let is_lost = self.runner.router().is_ok_and(|router| router.has_given_up());
        if has_failed || is_lost { Ran::Last(result) } else { Ran::Done(result) }
    }

    /// Observes a variable (by index) in a state. O(log observed variables).
    pub fn observe(&mut self, variable: usize, state: usize) -> Result<()> {
        let known = VariableEvidence::observed(self.graph(), variable, state)?;
        self.runner.know(variable, Some(&known))
    }

    /// Observes the variable with a label in a state.
    pub fn observe_label(&mut self, label: Label, state: usize) -> Result<()> {
        self.observe(self.variable_of_label(label)?, state)
    }

    /// Sets soft evidence: a likelihood per state of a variable (by index).
    pub fn set_likelihood(&mut self, variable: usize, likelihood: &[f64]) -> Result<()> {
        let mut known = Evidence::new();
        known.set_likelihood(self.graph(), variable, likelihood)?;
        self.runner.know(variable, known.get(variable))
    }

    /// Forgets the evidence of one variable (by index); harmless if there is none.
    pub fn clear_evidence(&mut self, variable: usize) -> Result<()> {
        check_variable(self.graph(), variable)?;
        self.runner.know(variable, None)
    }

    /// Forgets all evidence. Errors: no memory.
    pub fn clear_all_evidence(&mut self) -> Result<()> {
        self.set_evidence(&Evidence::new())
    }

    /// Replaces all evidence. The evidence must have been made for this graph. Errors: no memory; some of the
    /// evidence is then as it was, and some as wanted.
    pub fn set_evidence(&mut self, evidence: &Evidence) -> Result<()> {
        check_evidence(self.graph(), evidence)?;
        self.runner.set_evidence(evidence)
    }

    /// The current evidence.
    pub fn evidence(&self) -> &Evidence {
        self.runner.evidence()
    }

    /// Runs iterations until the request's rule ends them.
    ///
    /// Errors: [`Error::Contradiction`] under [`crate::Contradiction::Error`] (the messages are then
    /// those after the contradictory iteration, or, where it is the evidence that a factor excludes, unchanged; the
    /// results are those of the last run without an error);
    /// [`Error::InvalidArgument`] for a tolerance or threshold that is negative or NaN, a damping
    /// outside [0, 1), an empty history, or a minimum of iterations above the maximum;
    /// [`Error::Unsupported`] for max-product over a factor that has no exclusive terms and too many
    /// joint states, and for an active set with damping; [`Error::OutOfMemory`] (where that was in the middle of
    /// the run, messages are uniform then).
    pub fn run(&mut self, request: &RunRequest) -> Result<RunReport> {
        let request = RunRequest { rough_progress: true, ..*request };
        self.run_monitored(&request, &mut |_| Control::Continue)
    }

    /// As [`Self::run`], with a callback after each iteration, on the calling thread, that can end the
    /// run early.
    pub fn run_monitored(
        &mut self, request: &RunRequest, monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport> {
        request.check()?;
        let states = self.graph().state_count();
        let next_results = unshared(&mut self.next_results)?;
        next_results.try_resize(states, 0.0)?;
        let result = self.runner.run(request, next_results, monitor);
        match &result {
            Ok(report) => {
                std::mem::swap(&mut self.results, &mut self.next_results);
                self.report = Some(*report);
                let RunReport { contradictions: count, first_contradiction: first, .. } = *report;
                self.contradictions = Some(Contradictions { count, first });
            }
            &Err(Error::Contradiction { variable, count, .. }) => {
                self.contradictions = Some(Contradictions { count, first: Some(variable) });
            }
            Err(_) => {}
        }
        result
    }

    /// Runs by the settings until no belief has changed by more than their tolerance, or their greatest number of
    /// iterations is reached. Errors: as [`Self::run`].
    pub fn run_by_settings(&mut self) -> Result<RunReport> {
        self.run(&self.settings.request())
    }

    /// Makes all messages uniform and the number of iterations 0. Evidence, schedule, settings and results stay.
    /// Errors: no memory.
    pub fn reset(&mut self) -> Result<()> {
        if self.runner.has_router() {
            self.runner.import(&Snapshot::uniform(value_count(self.graph()))?)?;
        }
        Ok(())
    }

    /// Where deterministic messages disagreed in the last run, also where that ended it; `None` before it.
    pub fn contradictions(&self) -> Option<Contradictions> {
        self.contradictions
    }

    /// What there is to know about where iterations ran, and is no error, such as why [`Backend::Auto`] does
    /// without a device that is there. Each note is told once: those since the last call.
    pub fn take_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        // What is not told for want of memory is no loss.
        if let Ok(router) = self.runner.router_mut() {
            let _ = notes.try_extend(router.take_notes());
        }
        notes
    }

    /// The report of the last run that ended without an error.
    pub fn report(&self) -> Option<&RunReport> {
        self.report.as_ref()
    }

    /// Marginals of all variables from the last run: the probabilities of the states of variable 0,
    /// then those of variable 1, and so on. Each is exact to rounding on its own, so that a
    /// probability next to 1 can be had from its complement.
    pub fn marginals(&self) -> Result<&[f64]> {
        Ok(self.last_results()?)
    }

    /// The marginals of the last run, as by [`Self::marginals`], to be kept: later runs leave them as they are. O(1).
    pub fn shared_marginals(&self) -> Result<Arc<Vec<f64>>> {
        Ok(self.last_results()?.clone())
    }

    fn last_results(&self) -> Result<&Arc<Vec<f64>>> {
        self.results.as_ref().filter(|_| self.report.is_some()).ok_or_else(|| {
            Error::NoResult("no results yet: marginals are there after the first run".into())
        })
    }

    /// Marginal of one variable (by index) from the last run: one probability per state.
    pub fn marginal(&self, variable: usize) -> Result<&[f64]> {
        check_variable(self.graph(), variable)?;
        let start = self.state_offset(variable)?;
        Ok(&self.marginals()?[start..start + self.graph().cardinality(variable)])
    }

    /// Where the states of a variable start in the results.
    fn state_offset(&self, variable: usize) -> Result<usize> {
        if self.graph().all_binary() {
            return Ok(2 * variable);
        }
        let offsets = self.state_offsets.get_or_try_init(|| {
            let mut next = 0;
            collected(self.graph().cardinalities().iter().map(|&cardinality| {
                let start = next;
                next += cardinality as usize;
                start
            }))
        })?;
        Ok(offsets[variable])
    }

    /// Probability of state 1 of one variable (by index) from the last run.
    pub fn probability(&self, variable: usize) -> Result<f64> {
        self.marginal(variable)?
            .get(1)
            .copied()
            .ok_or_else(|| no_state_1(self.graph().label(variable)))
    }

    fn variable_of_label(&self, label: Label) -> Result<usize> {
        self.graph().variable_of_label(label).ok_or_else(|| {
            Error::OutOfRange(format!("label {label}: the graph has no such variable"))
        })
    }
}

/// The list in a place, for writing: another one where callers share it, or where there is none yet. Errors: no memory.
fn unshared(place: &mut Option<Arc<Vec<f64>>>) -> Result<&mut Vec<f64>> {
    if place.as_mut().and_then(Arc::get_mut).is_none() {
        *place = Some(shared(Vec::new())?);
    }
    place.as_mut().and_then(Arc::get_mut).ok_or_else(|| {
        Error::NoResult("internal error: a new list of results is shared already".into())
    })
}

/// Checks that evidence fits a graph.
pub(super) fn check_evidence(graph: &FactorGraph, evidence: &Evidence) -> Result<()> {
    for (variable, entry) in evidence.iter() {
        match entry {
            VariableEvidence::Observed(state) => {
                VariableEvidence::observed(graph, variable, *state as usize)?;
            }
            VariableEvidence::Likelihood(likelihood) => {
                let mut checked = Evidence::new();
                checked.set_likelihood(graph, variable, likelihood)?;
            }
        }
    }
    Ok(())
}

/// The error of a variable with one state whose second one is asked for.
fn no_state_1(label: Label) -> Error {
    Error::OutOfRange(format!("variable {label}: it has the state 0 only, no state 1"))
}
