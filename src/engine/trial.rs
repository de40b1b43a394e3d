//! For tests: an engine, or the router, with what a session has besides.

use super::interface::{Engine, Run};
use super::request::{Control, Progress, RunReport, RunRequest};
use super::router::Router;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::kernel::EncodedMessage;
use crate::model::{Evidence, FactorGraph, VariableEvidence};
use crate::schedule::Schedule;
use std::ops::{Deref, DerefMut};

/// What engines and the router have in common.
pub(crate) enum Subject<'a> {
    Engine(&'a mut dyn Engine),
    Router(&'a mut Router),
}

pub(crate) trait AsSubject {
    fn subject(&mut self) -> Subject<'_>;
}

impl<E: Engine> AsSubject for E {
    fn subject(&mut self) -> Subject<'_> {
        Subject::Engine(self)
    }
}

impl AsSubject for Router {
    fn subject(&mut self) -> Subject<'_> {
        Subject::Router(self)
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

impl<E: AsSubject> Trial<E> {
    pub(crate) fn new(inner: E, graph: &FactorGraph) -> Self {
        let (evidence, states) = (Evidence::new(), graph.state_count());
        Self { inner, evidence, states, results: Vec::new() }
    }

    pub(crate) fn set_schedule(&mut self, schedule: &Schedule) -> Result<()> {
        match self.inner.subject() {
            Subject::Engine(engine) => engine.set_schedule(schedule, &self.evidence),
            Subject::Router(router) => router.set_schedule(schedule),
        }
    }

    pub(crate) fn set_evidence(
        &mut self, variable: usize, known: Option<&VariableEvidence>,
    ) -> Result<()> {
        self.evidence.set(variable, known)?;
        match self.inner.subject() {
            Subject::Engine(engine) => engine.set_evidence(variable, known),
            Subject::Router(router) => router.set_evidence(variable, known),
        }
    }

    pub(crate) fn run(
        &mut self, request: &RunRequest, monitor: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<RunReport> {
        let mut results = vec![f64::NAN; self.states];
        let run = Run { request, evidence: &self.evidence, results: &mut results, monitor };
        let report = match self.inner.subject() {
            Subject::Engine(engine) => engine.run(run),
            Subject::Router(router) => router.run(run),
        }?;
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
        &mut self, factor: usize, out: &mut Vec<EncodedMessage>,
    ) -> Result<()> {
        match self.inner.subject() {
            Subject::Engine(engine) => {
                engine.factor_inputs(factor, out).map(|served| assert!(served))
            }
            Subject::Router(router) => router.factor_inputs(factor, &self.evidence, out),
        }
    }

    /// The messages, and the number of iterations that they come from.
    pub(crate) fn messages(&mut self) -> (Vec<EncodedMessage>, u64) {
        let snapshot = match self.inner.subject() {
            Subject::Engine(engine) => engine.export(),
            Subject::Router(router) => router.export(),
        };
        let snapshot = snapshot.unwrap();
        (snapshot.messages, snapshot.iterations)
    }

    pub(crate) fn set_messages(&mut self, messages: &[EncodedMessage], iterations: u64) {
        let snapshot = Snapshot::of_messages(messages.to_vec(), iterations);
        match self.inner.subject() {
            Subject::Engine(engine) => engine.import(&snapshot),
            Subject::Router(router) => router.import(&snapshot),
        }
        .unwrap();
    }
}

impl Trial<Router> {
    pub(crate) fn prepare(&mut self, request: &RunRequest) -> Result<()> {
        self.inner.prepare(request, &self.evidence)
    }
}
