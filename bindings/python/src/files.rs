//! Reading and writing files.

use crate::arrays::entries;
use crate::errors::{invalid, raise};
use crate::graph::Graph;
use fastlbp::format::{self, Dictionary, GraphFormat, Network};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The format that a suffix stands for, such as "fg".
fn format_of(suffix: &str) -> PyResult<GraphFormat> {
    GraphFormat::from_path(Path::new(&format!("graph.{suffix}")))
        .map_err(|_| invalid(format!("format '{suffix}': causal_fg, fg, uai or bif is needed")))
}

fn of_network(network: Network) -> Graph {
    Graph::of(Arc::new(network.graph), network.names)
}

/// Variables (by index) and their states, and what the graph does not know, with its lines.
type ReadEvidence<'py> =
    (Bound<'py, PyArray1<usize>>, Bound<'py, PyArray1<usize>>, Vec<(String, u64)>);

/// Variables (by index) with their likelihoods, and what the graph does not know, with its lines.
type ReadLikelihoods<'py> = (Vec<(usize, Bound<'py, PyArray1<f64>>)>, Vec<(String, u64)>);

#[pymethods]
impl Graph {
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| format::read_network(&path)).map(of_network).map_err(raise)
    }

    #[staticmethod]
    fn read_bytes(py: Python<'_>, text: &[u8], name: PathBuf, format: &str) -> PyResult<Self> {
        let format = format_of(format)?;
        let read = py.detach(|| format::read_network_from_bytes(text, &name, format));
        read.map(of_network).map_err(raise)
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| format::write_graph(&self.graph, &path)).map_err(raise)
    }

    fn write_bytes<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        let format = format_of(format)?;
        let text = py.detach(|| format::write_graph_to_bytes(&self.graph, format));
        Ok(PyBytes::new(py, &text.map_err(raise)?))
    }

    fn read_evidence<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<ReadEvidence<'py>> {
        let read = format::read_partial_evidence(&path, self.named()?).map_err(raise)?;
        let (variables, states): (Vec<usize>, Vec<usize>) = read.observed.into_iter().unzip();
        Ok((variables.into_pyarray(py), states.into_pyarray(py), read.unknown))
    }

    fn write_evidence(
        &self, path: PathBuf, variables: PyReadonlyArray1<'_, usize>,
        states: PyReadonlyArray1<'_, usize>,
    ) -> PyResult<()> {
        let (variables, states) = (entries(&variables)?, entries(&states)?);
        let pairs: Vec<(usize, usize)> =
            variables.iter().copied().zip(states.iter().copied()).collect();
        format::write_evidence(&pairs, &self.graph, &path).map_err(raise)
    }

    fn read_soft_evidence<'py>(
        &self, py: Python<'py>, path: PathBuf,
    ) -> PyResult<ReadLikelihoods<'py>> {
        let read = format::read_soft_evidence(&path, self.named()?).map_err(raise)?;
        let likelihoods = read.likelihoods.into_iter();
        let likelihoods = likelihoods
            .map(|likelihood| (likelihood.variable, likelihood.weights.into_pyarray(py)));
        Ok((likelihoods.collect(), read.unknown))
    }

    /// Names of variables (by index) from a dictionary.
    fn read_dictionary(&self, path: PathBuf) -> PyResult<Vec<(usize, String)>> {
        let dictionary = format::read_dictionary(&path, &self.graph).map_err(raise)?;
        let named = |variable| Some((variable, dictionary.name(variable)?.to_string()));
        Ok((0..self.graph.variable_count()).filter_map(named).collect())
    }

    /// Variables (by index) of a list, with their names and marks. `dictionary` is a file, too.
    #[allow(clippy::type_complexity)]
    #[pyo3(signature = (path, dictionary = None))]
    fn read_marked(
        &self, path: PathBuf, dictionary: Option<PathBuf>,
    ) -> PyResult<Vec<(usize, Option<String>, Option<bool>)>> {
        let dictionary = match (dictionary, &self.names) {
            (Some(path), _) => format::read_dictionary(&path, &self.graph),
            (None, Some(names)) => Dictionary::from_names(names),
            (None, None) => Ok(Dictionary::default()),
        };
        let read = format::read_marked(&path, &self.graph, &dictionary.map_err(raise)?);
        let marked = read.map_err(raise)?.into_iter();
        Ok(marked.map(|marked| (marked.variable, marked.name, marked.mark)).collect())
    }

    /// The rank of each edge.
    fn read_ranks<'py>(
        &self, py: Python<'py>, path: PathBuf,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        Ok(format::read_ranks(&path, &self.graph).map_err(raise)?.into_pyarray(py))
    }

    fn write_marginals(&self, path: PathBuf, marginals: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let marginals = entries(&marginals)?;
        if marginals.len() != self.graph.state_count() {
            let (given, wanted) = (marginals.len(), self.graph.state_count());
            return Err(invalid(format!("{given} marginals: the graph has {wanted} states")));
        }
        format::write_marginals(self.named()?, marginals, &path).map_err(raise)
    }
}
