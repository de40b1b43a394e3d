//! For tests: an engine, or the router, with what a session has besides.

use super::interface::{Engine, Monitor};
use super::request::{Control, RunReport, RunRequest};
use super::router::Router;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::kernel::EncodedMessage;
use crate::model::{Evidence, FactorGraph, VariableEvidence};
use crate::schedule::Schedule;
use std::ops::{Deref, DerefMut};

/// What engines and the router have in common.
pub(crate) trait Runs {
    fn set_schedule(&mut self, schedule: &Schedule, evidence: &Evidence) -> Result<()>;
    fn set_evidence(&mut self, variable: usize, known: Option<&VariableEvidence>) -> Result<()>;
    fn run(
        &mut self,
        request: &RunRequest,
        evidence: &Evidence,
        results: &mut [f64],
        monitor: &mut Monitor<'_>,
    ) -> Result<RunReport>;
    fn factor_inputs(
        &mut self,
        factor: usize,
        evidence: &Evidence,
        out: &mut Vec<EncodedMessage>,
    ) -> Result<()>;
    fn export(&mut self) -> Result<Snapshot>;
    fn import(&mut self, snapshot: &Snapshot) -> Result<()>;
}

impl<E: Engine> Runs for E {
    fn set_schedule(&mut self, schedule: &Schedule, evidence: &Evidence) -> Result<()> {
        Engine::set_schedule(self, schedule, evidence)
    }

    fn set_evidence(&mut self, variable: usize, known: Option<&VariableEvidence>) -> Result<()> {
        Engine::set_evidence(self, variable, known)
    }

    fn run(
        &mut self,
        request: &RunRequest,
        evidence: &Evidence,
        results: &mut [f64],
        monitor: &mut Monitor<'_>,
    ) -> Result<RunReport> {
        Engine::run(self, request, evidence, results, monitor)
    }

    fn factor_inputs(
        &mut self,
        factor: usize,
        _evidence: &Evidence,
        out: &mut Vec<EncodedMessage>,
    ) -> Result<()> {
        Engine::factor_inputs(self, factor, out).map(|served| assert!(served))
    }

    fn export(&mut self) -> Result<Snapshot> {
        Engine::export(self)
    }

    fn import(&mut self, snapshot: &Snapshot) -> Result<()> {
        Engine::import(self, snapshot)
    }
}

impl Runs for Router {
    fn set_schedule(&mut self, schedule: &Schedule, _evidence: &Evidence) -> Result<()> {
        self.set_schedule(schedule)
    }

    fn set_evidence(&mut self, variable: usize, known: Option<&VariableEvidence>) -> Result<()> {
        self.set_evidence(variable, known)
    }

    fn run(
        &mut self,
        request: &RunRequest,
        evidence: &Evidence,
        results: &mut [f64],
        monitor: &mut Monitor<'_>,
    ) -> Result<RunReport> {
        self.run(request, evidence, results, monitor)
    }

    fn factor_inputs(
        &mut self,
        factor: usize,
        evidence: &Evidence,
        out: &mut Vec<EncodedMessage>,
    ) -> Result<()> {
        Router::factor_inputs(self, factor, evidence, out)
    }

    fn export(&mut self) -> Result<Snapshot> {
        Router::export(self)
    }

    fn import(&mut self, snapshot: &Snapshot) -> Result<()> {
        Router::import(self, snapshot)
    }
}

/// An engine or router under some evidence, with the results of its last run.
pub(crate) struct Trial<E> {
    inner: E,
    evidence: Evidence,
    states: usize,
    results: Vec<f64>,
}

impl<E> Deref for Trial<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.inner
    }
}

impl<E> DerefMut for Trial<E> {
    fn deref_mut(&mut self) -> &mut E {
        &mut self.inner
    }
}

impl<E: Runs> Trial<E> {
    pub(crate) fn new(inner: E, graph: &FactorGraph) -> Self {
        let (evidence, states) = (Evidence::new(), graph.state_count());
        Self { inner, evidence, states, results: Vec::new() }
    }

    pub(crate) fn set_schedule(&mut self, schedule: &Schedule) -> Result<()> {
        self.inner.set_schedule(schedule, &self.evidence)
    }

    pub(crate) fn set_evidence(
        &mut self,
        variable: usize,
        known: Option<&VariableEvidence>,
    ) -> Result<()> {
        self.evidence.set(variable, known)?;
        self.inner.set_evidence(variable, known)
    }

    pub(crate) fn run(
        &mut self,
        request: &RunRequest,
        monitor: &mut Monitor<'_>,
    ) -> Result<RunReport> {
        let mut results = vec![f64::NAN; self.states];
        let report = self.inner.run(request, &self.evidence, &mut results, monitor)?;
        self.results = results;
        Ok(report)
    }

    /// As [`Self::run`], with nobody who listens.
    pub(crate) fn go(&mut self, request: &RunRequest) -> Result<RunReport> {
        self.run(request, &mut |_| Control::Continue)
    }

    /// Of the last run without an error.
    pub(crate) fn results(&self) -> &[f64] {
        &self.results
    }

    pub(crate) fn factor_inputs(
        &mut self,
        factor: usize,
        out: &mut Vec<EncodedMessage>,
    ) -> Result<()> {
        self.inner.factor_inputs(factor, &self.evidence, out)
    }

    /// The messages, and the number of iterations that they come from.
    pub(crate) fn messages(&mut self) -> (Vec<EncodedMessage>, u64) {
        let snapshot = self.inner.export().unwrap();
        (snapshot.messages, snapshot.iterations)
    }

    pub(crate) fn set_messages(&mut self, messages: &[EncodedMessage], iterations: u64) {
        self.inner.import(&Snapshot::of_messages(messages.to_vec(), iterations)).unwrap();
    }
}

impl Trial<Router> {
    pub(crate) fn prepare(&mut self, request: &RunRequest) -> Result<()> {
        self.inner.prepare(request, &self.evidence)
    }
}
