//! What a backend is to the rest of the library: a provider that makes engines, and the engines.

use super::options::{Backend, EngineOptions};
use super::request::{Control, Progress, RunReport, RunRequest};
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::kernel::EncodedMessage;
use crate::model::{Evidence, FactorGraph, VariableEvidence};
use crate::schedule::{KnownOrder, Schedule};
use std::sync::Arc;

/// One run, as an engine gets it.
pub(crate) struct Run<'a> {
    pub(crate) request: &'a RunRequest,
    /// All that has been set.
    pub(crate) evidence: &'a Evidence,
    /// For the probabilities of all states of all variables, by the rule of the run: beliefs, or means of beliefs.
    /// Of no meaning after an error.
    pub(crate) results: &'a mut [f64],
    /// Hears of each iteration, and can end the run after it.
    pub(crate) monitor: &'a mut (dyn FnMut(&Progress) -> Control + 'a),
}

impl Run<'_> {
    /// The same run, or one that differs in its request.
    pub(crate) fn with<'a>(&'a mut self, request: &'a RunRequest) -> Run<'a> {
        Run { request, evidence: self.evidence, results: self.results, monitor: self.monitor }
    }
}

/// What engines are made for.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub(crate) graph: &'a Arc<FactorGraph>,
    pub(crate) schedule: &'a Schedule,
    /// Of this graph and schedule.
    pub(crate) order: &'a KnownOrder,
    pub(crate) options: EngineOptions,
    /// All that has been set so far.
    pub(crate) evidence: &'a Evidence,
}

/// A backend as the registry lists it.
pub(crate) trait Provider: Send + Sync {
    /// Its name in [`EngineOptions`]: never [`Backend::Auto`].
    fn backend(&self) -> Backend;

    /// Whether engines can be made on this machine. Takes as long as loading a driver, the first time.
    fn is_present(&self) -> bool {
        true
    }

    /// Whether they perhaps can: whether there is a driver to ask, which takes a few milliseconds the first time.
    fn may_be_present(&self) -> bool {
        true
    }

    /// Whether what the first engine of a process waits for, such as the start of a driver, is done.
    fn is_started(&self) -> bool {
        true
    }

    /// What a graph has that engines of this backend do not serve; `None` if they serve all of it. O(factors +
    /// variables): it is asked once.
    fn reason_against_graph(&self, _graph: &FactorGraph) -> Option<&'static str> {
        None
    }

    /// The same of a schedule or a request. O(1).
    fn reason_against(&self, _: &Schedule, _: &RunRequest) -> Option<&'static str> {
        None
    }

    /// Makes an engine: messages are uniform, and the evidence is yet to be set. Errors: a schedule for another
    /// graph; no memory; why the backend cannot be had.
    fn make(&self, problem: Problem<'_>) -> Result<Box<dyn Engine>>;
}

/// Holds the messages of one graph and runs iterations over them.
///
/// An engine is bound to a graph. The schedule and the evidence are replaced between runs; the evidence belongs
/// to the caller and reaches the engine as changes. Between runs the factor-to-variable messages are all of an
/// engine's state: a [`Snapshot`] of them moves to another engine, which goes on with the same bits.
pub(crate) trait Engine: Send + Sync {
    /// Number of CPU threads in use.
    fn threads(&self) -> usize {
        1
    }

    /// Replaces the schedule; messages stay. `evidence` is all that has been set, for what has to be made anew.
    /// Errors: a schedule for another graph; no memory; nothing has changed then.
    fn set_schedule(&mut self, schedule: &Schedule, evidence: &Evidence) -> Result<()>;

    /// Sets or, with `None`, clears what is known about a variable. The arguments are valid. Errors: no
    /// memory; nothing has changed then. Clearing never fails.
    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) -> Result<()>;

    /// What a request has that this engine does not serve; `None` if it serves all of it. May look at every
    /// factor, once. Errors: no memory.
    fn reason_against(&mut self, _request: &RunRequest) -> Result<Option<&'static str>> {
        Ok(None)
    }

    /// Runs iterations until the request's rule ends them, and writes the results.
    ///
    /// After an error other than a contradiction the messages are unchanged, or, where memory was missing in the
    /// middle of the run, uniform.
    fn run(&mut self, run: Run<'_>) -> Result<RunReport>;

    /// Appends the current messages from a factor's variables to it, one after the other. `false` where the
    /// engine cannot: another one has to import its messages first.
    fn factor_inputs(&mut self, _factor: usize, _out: &mut Vec<EncodedMessage>) -> Result<bool> {
        Ok(false)
    }

    /// All that another engine needs to go on from here. Errors: no memory.
    fn export(&mut self) -> Result<Snapshot>;

    /// Goes on from there; the lengths are right. The evidence that it belongs to has been set before. Errors:
    /// no memory; nothing has changed then.
    fn import(&mut self, snapshot: &Snapshot) -> Result<()>;
}
