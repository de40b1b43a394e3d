//! Evidence between Python and the library.

use crate::arrays::entries;
use crate::errors::{invalid, raise};
use fastlbp::{Evidence, FactorGraph, VariableEvidence};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Evidence as Python gives it: indices of observed variables, their states, and likelihoods by index.
#[derive(FromPyObject)]
pub struct GivenEvidence<'py>(
    PyReadonlyArray1<'py, usize>,
    PyReadonlyArray1<'py, usize>,
    Vec<(usize, PyReadonlyArray1<'py, f64>)>,
);

impl GivenEvidence<'_> {
    /// The evidence, for a graph.
    pub fn of(&self, graph: &FactorGraph) -> PyResult<Evidence> {
        let (variables, states) = (entries(&self.0)?, entries(&self.1)?);
        if variables.len() != states.len() {
            let (variables, states) = (variables.len(), states.len());
            return Err(invalid(format!("{states} states for {variables} variables")));
        }
        let mut evidence = Evidence::new();
        for (&variable, &state) in variables.iter().zip(states) {
            evidence.observe(graph, variable, state).map_err(raise)?;
        }
        for (variable, weights) in &self.2 {
            evidence.set_likelihood(graph, *variable, entries(weights)?).map_err(raise)?;
        }
        Ok(evidence)
    }
}

/// Entries of a batch: lists of evidence, or a row of states for each, where -1 stands for a variable that is not
/// observed.
#[derive(FromPyObject)]
pub enum GivenBatch<'py> {
    Rows(PyReadonlyArray2<'py, i64>),
    Lists(Vec<GivenEvidence<'py>>),
}

impl GivenBatch<'_> {
    /// The evidence of all entries, for a graph.
    pub fn of(&self, graph: &FactorGraph) -> PyResult<Vec<Evidence>> {
        let rows = match self {
            GivenBatch::Lists(lists) => return lists.iter().map(|list| list.of(graph)).collect(),
            GivenBatch::Rows(rows) => rows,
        };
        let (count, columns) = (rows.shape()[0], rows.shape()[1]);
        if columns != graph.variable_count() {
            let variables = graph.variable_count();
            return Err(invalid(format!(
                "evidence of shape ({count}, {columns}): the graph has {variables} variables, a column for each is needed"
            )));
        }
        let states = rows.as_slice()?;
        let row = |entry: usize| {
            let mut evidence = Evidence::new();
            let states = states[entry * columns..(entry + 1) * columns].iter().enumerate();
            for (variable, &state) in states.filter(|&(_, &state)| state != -1) {
                let state = usize::try_from(state).map_err(|_| {
                    invalid(format!("state {state} of the variable at {variable}: -1 is for none"))
                })?;
                evidence.observe(graph, variable, state).map_err(raise)?;
            }
            Ok(evidence)
        };
        (0..count).map(row).collect()
    }
}

/// Observed variables, their states, and likelihoods.
pub type TakenEvidence<'py> = (
    Bound<'py, PyArray1<usize>>,
    Bound<'py, PyArray1<usize>>,
    Vec<(usize, Bound<'py, PyArray1<f64>>)>,
);

/// Evidence as [`GivenEvidence`] has it.
pub fn to_python<'py>(py: Python<'py>, evidence: &Evidence) -> TakenEvidence<'py> {
    let (mut variables, mut states, mut likelihoods) = (Vec::new(), Vec::new(), Vec::new());
    for (variable, known) in evidence.iter() {
        match known {
            VariableEvidence::Observed(state) => {
                variables.push(variable);
                states.push(*state as usize);
            }
            VariableEvidence::Likelihood(weights) => {
                likelihoods.push((variable, weights.clone().into_pyarray(py)));
            }
        }
    }
    (variables.into_pyarray(py), states.into_pyarray(py), likelihoods)
}
