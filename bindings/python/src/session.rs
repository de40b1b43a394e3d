//! `fastlbp.BeliefPropagation`, without its conveniences.

use crate::arrays::{Marginals, entries};
use crate::errors::{invalid, lock, raise};
use crate::evidence::{GivenBatch, GivenEvidence, TakenEvidence, to_python};
use crate::graph::Graph;
use crate::request::{ReportFields, Request, fields, outcome};
use crate::watch::{Columns, Watch};
use fastlbp::schedule::Preorder;
use fastlbp::{Backend, BeliefPropagation, DeviceSet, EngineOptions, RunRequest, Schedule};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// A session on a graph.
#[pyclass(frozen, module = "fastlbp._native")]
pub struct Session(Mutex<BeliefPropagation>);

impl Session {
    /// Calls the session with other threads of Python running.
    fn call<T: Send>(
        &self, py: Python<'_>,
        call: impl Send + FnOnce(&mut BeliefPropagation) -> fastlbp::Result<T>,
    ) -> PyResult<T> {
        py.detach(|| call(&mut *lock(&self.0, "session")?).map_err(raise))
    }

    /// A session of its own in the same state.
    pub fn duplicate(&self) -> PyResult<BeliefPropagation> {
        lock(&self.0, "session")?.try_clone().map_err(raise)
    }

    /// Looks at the session.
    pub fn look<T>(
        &self, look: impl FnOnce(&BeliefPropagation) -> fastlbp::Result<T>,
    ) -> PyResult<T> {
        look(&*lock(&self.0, "session")?).map_err(raise)
    }
}

/// The schedule of a name, or of ranks, one for each edge.
fn schedule_of(
    graph: &Graph, name: &str, ranks: Option<PyReadonlyArray1<'_, u64>>, seed: u64, blocks: u32,
    log_domain: bool,
) -> PyResult<Schedule> {
    if let Some(ranks) = ranks {
        let preorder = Preorder::from_ranks(&graph.graph, entries(&ranks)?).map_err(raise)?;
        return Ok(Schedule::Custom(Arc::new(preorder)));
    }
    Ok(match Schedule::from_name(name, seed).map_err(raise)? {
        Schedule::Blocks { seed, .. } => Schedule::Blocks { blocks, seed },
        Schedule::MaximumResidual { .. } => Schedule::MaximumResidual { log_domain },
        other => other,
    })
}

fn backend_of(name: &str) -> PyResult<Backend> {
    let known = [Backend::Auto, Backend::Cpu, Backend::Cuda];
    let found = known.into_iter().find(|backend| backend.name() == name);
    found.ok_or_else(|| invalid(format!("backend '{name}': auto, cpu or cuda is needed")))
}

#[pymethods]
impl Session {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>, graph: &Graph, schedule: &str, ranks: Option<PyReadonlyArray1<'_, u64>>,
        seed: u64, blocks: u32, log_domain: bool, backend: &str, threads: Option<usize>,
        device: Vec<u32>, compile_tables: bool,
    ) -> PyResult<Self> {
        let schedule = schedule_of(graph, schedule, ranks, seed, blocks, log_domain)?;
        let several = if device.len() > 1 { device.as_slice() } else { &[] };
        let devices = DeviceSet::of(several).map_err(raise)?;
        let device = devices.iter().next().or(device.first().copied());
        let backend = backend_of(backend)?;
        let options = EngineOptions { backend, threads, device, devices, compile_tables };
        let graph = graph.graph.clone();
        let session = py.detach(|| BeliefPropagation::new(graph, schedule, options));
        Ok(Self(Mutex::new(session.map_err(raise)?)))
    }

    fn copy(&self) -> PyResult<Self> {
        Ok(Self(Mutex::new(self.duplicate()?)))
    }

    fn prepare(&self, py: Python<'_>, request: &Request) -> PyResult<()> {
        self.call(py, |session| session.prepare(&request.0))
    }

    #[allow(clippy::too_many_arguments)]
    fn set_schedule(
        &self, graph: &Graph, schedule: &str, ranks: Option<PyReadonlyArray1<'_, u64>>, seed: u64,
        blocks: u32, log_domain: bool,
    ) -> PyResult<()> {
        let schedule = schedule_of(graph, schedule, ranks, seed, blocks, log_domain)?;
        lock(&self.0, "session")?.set_schedule(schedule).map_err(raise)
    }

    fn schedule(&self) -> PyResult<&'static str> {
        self.look(|session| Ok(session.schedule().name()))
    }

    fn backend(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.call(py, |session| Ok(session.backend().name()))
    }

    fn threads(&self, py: Python<'_>) -> PyResult<usize> {
        self.call(py, |session| Ok(session.threads()))
    }

    fn level_widths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let widths = self.call(py, |session| Ok(session.level_widths()?.to_vec()))?;
        Ok(widths.into_pyarray(py))
    }

    // --- Evidence

    /// Adds to what is known: several variables, or none where one cannot be.
    fn observe(&self, given: GivenEvidence<'_>) -> PyResult<()> {
        let mut session = lock(&self.0, "session")?;
        let added = given.of(session.graph())?;
        let mut all = session.evidence().try_clone().map_err(raise)?;
        let graph = session.graph().clone();
        for (variable, known) in added.iter() {
            match known {
                fastlbp::VariableEvidence::Observed(state) => {
                    all.observe(&graph, variable, *state as usize)
                }
                fastlbp::VariableEvidence::Likelihood(weights) => {
                    all.set_likelihood(&graph, variable, weights)
                }
            }
            .map_err(raise)?;
        }
        session.set_evidence(&all).map_err(raise)
    }

    fn set_evidence(&self, given: GivenEvidence<'_>) -> PyResult<()> {
        let mut session = lock(&self.0, "session")?;
        let evidence = given.of(session.graph())?;
        session.set_evidence(&evidence).map_err(raise)
    }

    fn clear_evidence(&self, variable: usize) -> PyResult<()> {
        lock(&self.0, "session")?.clear_evidence(variable).map_err(raise)
    }

    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<TakenEvidence<'py>> {
        self.look(|session| Ok(to_python(py, session.evidence())))
    }

    // --- Runs

    /// Runs, with a callback after each iteration. Gives the report and, where the request observes, the trace.
    fn run<'py>(
        &self, py: Python<'py>, request: &Request, callback: Option<Py<PyAny>>,
    ) -> PyResult<(ReportFields, Option<Columns<'py>>)> {
        let request = RunRequest { rough_progress: callback.is_none(), ..request.0 };
        let mut watch = Watch::new(callback, request.observe);
        let report = self.call(py, |session| {
            session.run_monitored(&request, &mut |progress| watch.iteration(progress))
        });
        // An exception of the callback comes first: it is why the run has ended.
        let trace = watch.end(py)?;
        Ok((fields(&report?), trace))
    }

    /// Runs each entry of a batch. Gives all marginals one after the other, and the reports or exceptions.
    #[allow(clippy::type_complexity)]
    fn run_batch<'py>(
        &self, py: Python<'py>, entries: GivenBatch<'py>, request: &Request,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Vec<Bound<'py, PyAny>>)> {
        let entries = self
            .look(|session| Ok(session.graph().clone()))
            .and_then(|graph| entries.of(&graph))?;
        let mut watch = Watch::new(callback, false);
        let cancelled = AtomicBool::new(false);
        let results = self.call(py, |session| {
            session.run_batch_cancellable(&entries, &request.0, &cancelled, &mut |done, all| {
                watch.entry(done, all)
            })
        });
        watch.end(py)?;
        let results = results?;
        let reports = results.reports.into_iter().map(|report| outcome(py, report));
        Ok((results.marginals.into_pyarray(py), reports.collect::<PyResult<_>>()?))
    }

    fn reset(&self) -> PyResult<()> {
        lock(&self.0, "session")?.reset().map_err(raise)
    }

    fn take_notes(&self) -> PyResult<Vec<String>> {
        Ok(lock(&self.0, "session")?.take_notes())
    }

    // --- Results

    fn report(&self) -> PyResult<Option<ReportFields>> {
        self.look(|session| Ok(session.report().map(fields)))
    }

    fn marginals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Marginals::array(py, self.look(|session| session.shared_marginals())?)
    }

    fn factor_belief<'py>(
        &self, py: Python<'py>, factor: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.call(py, |session| session.factor_belief(factor))?.into_pyarray(py))
    }

    fn joint_belief<'py>(
        &self, py: Python<'py>, variables: Vec<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.call(py, |session| session.joint_belief(&variables))?.into_pyarray(py))
    }

    fn log_partition(&self, py: Python<'_>) -> PyResult<f64> {
        self.call(py, |session| session.log_partition())
    }

    fn find_maximum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<usize>>> {
        Ok(self.call(py, |session| session.find_maximum())?.into_pyarray(py))
    }

    fn log_score(&self, py: Python<'_>, states: PyReadonlyArray1<'_, usize>) -> PyResult<f64> {
        let states = entries(&states)?.to_vec();
        self.call(py, |session| session.log_score(&states))
    }

    // --- Messages

    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.call(py, |session| session.messages())?.into_pyarray(py))
    }

    fn set_messages(&self, messages: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let messages = entries(&messages)?;
        lock(&self.0, "session")?.set_messages(messages).map_err(raise)
    }

    fn save_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        Ok(self.call(py, |session| session.save_state())?.into_pyarray(py))
    }

    fn restore_state(&self, state: PyReadonlyArray1<'_, u64>) -> PyResult<()> {
        let state = entries(&state)?;
        lock(&self.0, "session")?.restore_state(state).map_err(raise)
    }
}
