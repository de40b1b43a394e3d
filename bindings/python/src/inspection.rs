//! `fastlbp.Inspection` and `fastlbp.locate`, without their conveniences: the library's `ranking`.

use crate::arrays::Marginals;
use crate::errors::{invalid, lock, raise};
use crate::request::{ReportFields, Request, fields};
use crate::session::Session;
use crate::watch::Watch;
use fastlbp::RunReport;
use fastlbp::ranking::{
    Alarm, Answer, Derivation, Journal, Precision, Quality, Rules, Suspects, explain,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Mutex;

/// Alarms, the answers so far, and the order of those that are left.
#[pyclass(frozen, module = "fastlbp._native")]
pub struct Inspection(Mutex<fastlbp::ranking::Inspection>);

/// A derivation as the arguments of `fastlbp.Derivation`.
type DerivationFields = (Option<usize>, Option<f64>, Option<f64>, Vec<(usize, f64)>);

impl Inspection {
    /// Calls the inspection with other threads of Python running, and with something that follows its run.
    fn watched<T: Send>(
        &self, py: Python<'_>, callback: Option<Py<PyAny>>,
        call: impl Send + FnOnce(&mut fastlbp::ranking::Inspection, &mut Watch) -> PyResult<T>,
    ) -> PyResult<T> {
        let mut watch = Watch::new(callback, false);
        let result = py.detach(|| call(&mut *lock(&self.0, "inspection")?, &mut watch));
        watch.end(py)?;
        result
    }
}

#[pymethods]
impl Inspection {
    /// An inspection of alarms, by index and name, in the state of a session. `exact_ties` compares all digits.
    #[new]
    fn new(
        session: &Session, alarms: Vec<(usize, Option<String>)>, request: &Request,
        exact_ties: bool,
    ) -> PyResult<Self> {
        let alarms = alarms.into_iter().map(|(variable, name)| Alarm { variable, name });
        let precision = if exact_ties { Precision::Exact } else { Precision::SixDigits };
        let rules = Rules { request: request.0, precision };
        let made = fastlbp::ranking::Inspection::new(session.duplicate()?, alarms.collect(), rules);
        Ok(Self(Mutex::new(made.map_err(raise)?)))
    }

    /// Ranks the alarms for the first time; goes on from a journal.
    fn begin(
        &self, py: Python<'_>, journal: Option<PathBuf>, callback: Option<Py<PyAny>>,
    ) -> PyResult<ReportFields> {
        let report: RunReport = self.watched(py, callback, |inspection, watch| {
            let opened = match journal {
                Some(path) => Some(Journal::open(&path, &inspection.subject()).map_err(raise)?),
                None => None,
            };
            inspection.begin(opened, &mut |progress| watch.iteration(progress)).map_err(raise)
        })?;
        Ok(fields(&report))
    }

    fn answer(
        &self, py: Python<'_>, alarm: usize, is_true: bool, callback: Option<Py<PyAny>>,
    ) -> PyResult<ReportFields> {
        let report: RunReport = self.watched(py, callback, |inspection, watch| {
            let monitor = &mut |progress: &_| watch.iteration(progress);
            inspection.answer(alarm, is_true, monitor).map_err(raise)
        })?;
        Ok(fields(&report))
    }

    /// Takes the last answer back: the alarm, the answer, and the report; `None` without an answer.
    fn undo(
        &self, py: Python<'_>, callback: Option<Py<PyAny>>,
    ) -> PyResult<Option<(usize, bool, ReportFields)>> {
        let undone = self.watched(py, callback, |inspection, watch| {
            inspection.undo(&mut |progress| watch.iteration(progress)).map_err(raise)
        })?;
        Ok(undone.map(|(Answer { alarm, is_true }, report)| (alarm, is_true, fields(&report))))
    }

    /// Place and probability of each alarm that is left, the most probable first.
    fn order(&self) -> PyResult<Vec<(usize, f64)>> {
        let inspection = lock(&self.0, "inspection")?;
        let order = inspection.order().iter();
        Ok(order.map(|ranked| (ranked.alarm, ranked.probability)).collect())
    }

    /// Place of each alarm that was inspected, and the answer.
    fn answers(&self) -> PyResult<Vec<(usize, bool)>> {
        let inspection = lock(&self.0, "inspection")?;
        let answers = inspection.answers().iter();
        Ok(answers.map(|answer| (answer.alarm, answer.is_true)).collect())
    }

    fn marginals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let shared = lock(&self.0, "inspection")?.session().shared_marginals();
        Marginals::array(py, shared.map_err(raise)?)
    }

    fn explain(&self, variable: usize) -> PyResult<Vec<DerivationFields>> {
        let inspection = lock(&self.0, "inspection")?;
        let found = explain(inspection.session(), variable).map_err(raise)?;
        let fields = |derivation: Derivation| {
            let Derivation { variable, probability, strength, premises } = derivation;
            (variable, probability, strength, premises)
        };
        Ok(found.into_iter().map(fields).collect())
    }

    fn take_notes(&self) -> PyResult<Vec<String>> {
        Ok(lock(&self.0, "inspection")?.take_notes())
    }
}

/// Place, probability, best and worst rank of each candidate, and the ranks of the first that is at fault.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn suspects(
    session: &Session, candidates: Vec<usize>, fault_state: usize, at_fault: Vec<bool>,
) -> PyResult<(Vec<(usize, f64, usize, usize)>, Option<(f64, usize)>)> {
    if !at_fault.is_empty() && at_fault.len() != candidates.len() {
        let (marks, candidates) = (at_fault.len(), candidates.len());
        return Err(invalid(format!("{marks} marks for {candidates} candidates: one for each")));
    }
    let suspects = session.look(|session| Suspects::new(session, &candidates, fault_state))?;
    let first = suspects.first(|candidate| at_fault.get(candidate).copied().unwrap_or(false));
    let ranked = suspects.all().iter();
    let ranked = ranked.map(|one| (one.candidate, one.probability, one.best, one.worst));
    Ok((ranked.collect(), first.map(|first| (first.average, first.worst))))
}

/// What a sequence of answers was worth: inversions, and numbers of answers until all and 90 % of the true alarms.
#[pyfunction]
pub fn quality(answers: Vec<bool>, all_true: usize) -> (usize, u64, Option<usize>, Option<usize>) {
    let quality = Quality::new(answers, all_true);
    (quality.found, quality.inversions, quality.ranks.all, quality.ranks.ninety_percent)
}
