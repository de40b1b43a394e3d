//! A session: one graph, one schedule, evidence that changes, and runs.

mod batch;
mod beliefs;
mod distribute;
mod impossible;
mod maximum;
mod messages;
mod partition;

use crate::engine::{
    Backend, Control, Engine, EngineOptions, Progress, RunReport, RunRequest, StopRule, make,
    value_count,
};
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, shared};
use crate::model::{Evidence, FactorGraph, Label, VariableEvidence, check_variable};
use crate::schedule::Schedule;
use crate::structure::compile;
use batch::Workers;
pub use batch::{BatchResults, run_all, run_all_monitored};
pub(crate) use batch::{run_together, thread_limit};
use impossible::Impossible;
use std::sync::Arc;

/// Belief propagation on one factor graph.
///
/// The graph is shared, not copied. Schedule analysis and buffers are made once, in
/// [`Self::new`]; evidence changes cost only their own size. Results are those of the last run,
/// whatever evidence was set since.
///
/// ```
/// use fastlbp::{BeliefPropagation, EngineOptions, FactorGraphBuilder, RunRequest, Schedule, StopRule};
/// let mut builder = FactorGraphBuilder::new();
/// builder.add_singleton(1, 0.3)?;
/// builder.add_and(2, &[1], 0.9, 0.1)?; // P(2 | 1) = 0.9, P(2 | not 1) = 0.1
/// let graph = std::sync::Arc::new(builder.build()?);
/// let mut bp = BeliefPropagation::new(graph, Schedule::Tree, EngineOptions::default())?;
/// bp.run(&RunRequest::new(StopRule::Passes(1)))?;
/// assert!((bp.probability(1)? - (0.3 * 0.9 + 0.7 * 0.1)).abs() < 1e-15);
/// bp.observe(1, 1)?; // the variable with index 1, label 2, is true
/// bp.run(&RunRequest::new(StopRule::Passes(1)))?;
/// assert!((bp.probability(0)? - 0.27 / 0.34).abs() < 1e-15);
/// # Ok::<(), fastlbp::Error>(())
/// ```
pub struct BeliefPropagation {
    graph: Arc<FactorGraph>,
    /// The graph that runs: its tables may be something cheaper.
    compiled: Arc<FactorGraph>,
    schedule: Schedule,
    evidence: Evidence,
    impossible: Impossible,
    engine: Box<dyn Engine>,
    options: EngineOptions,
    /// Engines of batches.
    workers: Workers,
    /// Where each variable's states start in `results`; `None` if all variables are binary.
    state_offsets: Option<Vec<usize>>,
    report: Option<RunReport>,
    /// What the engines of batches had to say.
    notes: Vec<String>,
}

impl BeliefPropagation {
    /// Prepares belief propagation on a graph: analyses the schedule and allocates all buffers.
    /// Messages are uniform and there is no evidence. [`Backend::Auto`] puts the analysis and the buffers
    /// off until a run needs them, see [`Self::prepare`].
    ///
    /// Errors: a schedule made for a graph with another number of edges; zero threads; a backend
    /// that is not present.
    pub fn new(
        graph: Arc<FactorGraph>,
        schedule: Schedule,
        options: EngineOptions,
    ) -> Result<Self> {
        check_message_values(&graph)?;
        let compiled = if options.compile_tables { compile(&graph)? } else { None };
        let compiled = compiled.map_or_else(|| Ok(graph.clone()), shared)?;
        let own = schedule_for(&graph, &compiled, &schedule)?;
        let engine = make(compiled.clone(), &own, options)?;
        let state_offsets = if graph.all_binary() {
            None
        } else {
            let mut next = 0;
            Some(collected(graph.cardinalities().iter().map(|&cardinality| {
                let start = next;
                next += cardinality as usize;
                start
            }))?)
        };
        let evidence = Evidence::new();
        Ok(Self {
            graph,
            compiled,
            schedule,
            evidence,
            impossible: Impossible::default(),
            engine,
            options,
            workers: Workers::default(),
            state_offsets,
            report: None,
            notes: Vec::new(),
        })
    }

    /// Makes what [`Backend::Auto`] puts off until a run needs it: the engine that is expected to be the
    /// fastest for such a run, on the CPU or a device, so that the run itself begins at once. Other runs
    /// may then choose otherwise. Other backends have all of it from the beginning.
    ///
    /// Errors: those of the request, as in [`Self::run`]; no memory or no threads.
    pub fn prepare(&mut self, request: &RunRequest) -> Result<()> {
        check_request(request)?;
        self.engine.prepare(request)
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<FactorGraph> {
        &self.graph
    }

    /// The schedule.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Replaces the schedule. Messages and evidence stay, so that a warm run goes on from them; this
    /// is also how every pass can be given an order of its own. Same cost as in [`Self::new`];
    /// with [`Backend::Auto`] that of an engine that has been made already.
    pub fn set_schedule(&mut self, schedule: Schedule) -> Result<()> {
        self.engine.set_schedule(&schedule_for(&self.graph, &self.compiled, &schedule)?)?;
        self.schedule = schedule;
        self.workers = Workers::default();
        Ok(())
    }

    /// Where the last run was made, or the first one will most likely be: never [`Backend::Auto`].
    pub fn backend(&self) -> Backend {
        self.engine.backend()
    }

    /// Number of CPU threads that passes run on.
    pub fn threads(&self) -> usize {
        self.engine.threads()
    }

    /// Whether its runs need more than one thread: all threads, or a device.
    pub(crate) fn runs_alone(&self) -> bool {
        self.threads() > 1 || self.backend() == Backend::Cuda
    }

    /// Observes a variable (by index) in a state. O(log observed variables).
    pub fn observe(&mut self, variable: usize, state: usize) -> Result<()> {
        let mut known = Evidence::new();
        known.observe(&self.graph, variable, state)?;
        self.know(variable, known.get(variable))
    }

    /// Observes the variable with a label in a state.
    pub fn observe_label(&mut self, label: Label, state: usize) -> Result<()> {
        self.observe(self.variable_of_label(label)?, state)
    }

    /// Sets soft evidence: a likelihood per state of a variable (by index).
    pub fn set_likelihood(&mut self, variable: usize, likelihood: &[f64]) -> Result<()> {
        let mut known = Evidence::new();
        known.set_likelihood(&self.graph, variable, likelihood)?;
        self.know(variable, known.get(variable))
    }

    /// Forgets the evidence of one variable (by index); harmless if there is none.
    pub fn clear_evidence(&mut self, variable: usize) -> Result<()> {
        check_variable(&self.graph, variable)?;
        self.know(variable, None)
    }

    /// Sets or clears what is known about a variable; the arguments are valid. Where memory is missing, it is what
    /// it was before, or, if even that cannot be kept, nothing.
    fn know(&mut self, variable: usize, known: Option<&VariableEvidence>) -> Result<()> {
        let before = match self.evidence.get(variable) {
            Some(before) => Some(before.try_clone()?),
            None => None,
        };
        self.try_know(variable, known).inspect_err(|_| {
            if self.try_know(variable, before.as_ref()).is_err() {
                // This needs no memory.
                let _ = self.try_know(variable, None);
            }
        })
    }

    fn try_know(&mut self, variable: usize, known: Option<&VariableEvidence>) -> Result<()> {
        self.evidence.set(variable, known)?;
        self.impossible.change(&self.graph, variable, known)?;
        self.engine.set_evidence(variable, known)
    }

    /// Forgets all evidence. Errors: no memory.
    pub fn clear_all_evidence(&mut self) -> Result<()> {
        self.set_evidence(&Evidence::new())
    }

    /// Replaces all evidence. The evidence must have been made for this graph. Errors: no memory; some of the
    /// evidence is then as it was, and some as wanted.
    pub fn set_evidence(&mut self, evidence: &Evidence) -> Result<()> {
        check_evidence(&self.graph, evidence)?;
        let gone = |&variable: &usize| evidence.get(variable).is_none();
        let known = self.evidence.iter().map(|(variable, _)| variable);
        for variable in collected(known.filter(gone))? {
            self.know(variable, None)?;
        }
        for (variable, entry) in evidence.iter() {
            if self.evidence.get(variable) != Some(entry) {
                self.know(variable, Some(entry))?;
            }
        }
        Ok(())
    }

    /// The current evidence.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Runs passes until the request's rule ends them.
    ///
    /// Errors: [`Error::Contradiction`] under [`crate::Contradiction::Error`] (the messages are then
    /// those after the contradictory pass, or, where it is the evidence that a factor excludes, unchanged; the
    /// results are those of the last run without an error);
    /// [`Error::InvalidArgument`] for a tolerance or threshold that is negative or NaN, a damping
    /// outside [0, 1), an empty history, or a minimum of passes above the maximum;
    /// [`Error::Unsupported`] for max-product over a factor that has no exclusive terms and too many
    /// joint states, and for an active set with damping; [`Error::OutOfMemory`] (where that was in the middle of
    /// the run, messages are uniform then).
    pub fn run(&mut self, request: &RunRequest) -> Result<RunReport> {
        self.run_monitored(request, &mut |_| Control::Continue)
    }

    /// As [`Self::run`], with a callback after each pass, on the calling thread, that can end the
    /// run early.
    pub fn run_monitored(
        &mut self,
        request: &RunRequest,
        monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport> {
        check_request(request)?;
        self.impossible.judge(&self.graph, request.contradiction)?;
        let mut report = self.engine.run(request, monitor)?;
        self.impossible.add_to(&self.graph, &mut report);
        self.report = Some(report);
        Ok(report)
    }

    /// What there is to know about where passes ran, and is no error, such as why [`Backend::Auto`] does
    /// without a device that is there. Each note is told once: those since the last call.
    pub fn take_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        // What is not told for want of memory is no loss.
        let _ = notes.try_extend(self.engine.take_notes());
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
        if self.report.is_none() {
            return Err(Error::NoResult(
                "no results yet: marginals are there after the first run".into(),
            ));
        }
        Ok(self.engine.results())
    }

    /// Marginal of one variable (by index) from the last run: one probability per state.
    pub fn marginal(&self, variable: usize) -> Result<&[f64]> {
        check_variable(&self.graph, variable)?;
        let start = self.state_offsets.as_ref().map_or(2 * variable, |offsets| offsets[variable]);
        Ok(&self.marginals()?[start..start + self.graph.cardinality(variable)])
    }

    /// Probability of state 1 of one variable (by index) from the last run.
    pub fn probability(&self, variable: usize) -> Result<f64> {
        self.marginal(variable)?
            .get(1)
            .copied()
            .ok_or_else(|| no_state_1(self.graph.label(variable)))
    }

    fn variable_of_label(&self, label: Label) -> Result<usize> {
        self.graph.variable_of_label(label).ok_or_else(|| {
            Error::OutOfRange(format!("label {label}: the graph has no such variable"))
        })
    }
}

/// The schedule for the graph that runs: orders that follow the heads of factors follow those of the
/// graph that was given.
fn schedule_for(
    graph: &Arc<FactorGraph>,
    compiled: &Arc<FactorGraph>,
    schedule: &Schedule,
) -> Result<Schedule> {
    let by_heads = matches!(schedule, Schedule::Topological | Schedule::ForwardBackward);
    if by_heads && !Arc::ptr_eq(graph, compiled) {
        return Ok(Schedule::Custom(shared(schedule.preorder(graph, 0)?)?));
    }
    Ok(schedule.clone())
}

/// Checks that evidence fits a graph.
fn check_evidence(graph: &FactorGraph, evidence: &Evidence) -> Result<()> {
    for (variable, entry) in evidence.iter() {
        let mut checked = Evidence::new();
        match entry {
            VariableEvidence::Observed(state) => {
                checked.observe(graph, variable, *state as usize)?;
            }
            VariableEvidence::Likelihood(likelihood) => {
                checked.set_likelihood(graph, variable, likelihood)?;
            }
        }
    }
    Ok(())
}

/// The error of a variable with one state whose second one is asked for.
pub(crate) fn no_state_1(label: Label) -> Error {
    Error::OutOfRange(format!("variable {label}: it has the state 0 only, no state 1"))
}

/// Message values have 32-bit indices.
fn check_message_values(graph: &FactorGraph) -> Result<()> {
    if graph.all_binary() {
        return Ok(()); // one per edge
    }
    let count = value_count(graph);
    if count > u32::MAX as usize {
        return Err(Error::LimitExceeded(format!(
            "{count} message values: at most {} can be indexed",
            u32::MAX
        )));
    }
    Ok(())
}

fn check_request(request: &RunRequest) -> Result<()> {
    let check_tolerance = |tolerance: f64| {
        if tolerance >= 0.0 {
            Ok(())
        } else {
            Err(Error::InvalidArgument(format!("tolerance {tolerance}: a value >= 0 is needed")))
        }
    };
    if !(0.0..1.0).contains(&request.damping) {
        return Err(Error::InvalidArgument(format!(
            "damping {}: a value in [0, 1) is needed",
            request.damping
        )));
    }
    if let Some(threshold) = request.active_threshold {
        if threshold.is_nan() || threshold < 0.0 {
            return Err(Error::InvalidArgument(format!(
                "threshold {threshold} of the active set: a value >= 0 is needed"
            )));
        }
        if request.damping > 0.0 {
            return Err(Error::Unsupported(format!(
                "an active set with damping {}: only one of the two is possible",
                request.damping
            )));
        }
    }
    match request.rule {
        StopRule::Passes(_) => Ok(()),
        StopRule::Tolerance { tolerance, .. } | StopRule::AllBeliefs { tolerance, .. } => {
            check_tolerance(tolerance)
        }
        StopRule::Bingo { tolerance, min_passes, max_passes, history } => {
            check_tolerance(tolerance)?;
            if min_passes > max_passes {
                return Err(Error::InvalidArgument(format!(
                    "at least {min_passes} passes but at most {max_passes}: \
                     the minimum must not exceed the maximum"
                )));
            }
            if history == 0 {
                return Err(Error::InvalidArgument(
                    "history 0: at least one belief must be kept".into(),
                ));
            }
            Ok(())
        }
    }
}
