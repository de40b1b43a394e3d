//! `fastlbp.ExactInference`, without its conveniences.

use crate::arrays::borrowed;
use crate::errors::raise;
use crate::evidence::GivenEvidence;
use crate::graph::Graph;
use crate::request::inference;
use fastlbp::ExactInference;
use fastlbp::exact::DEFAULT_TABLE_LIMIT;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

/// Exact results.
#[pyclass(frozen, module = "fastlbp._native")]
pub struct Exact(ExactInference);

#[pymethods]
impl Exact {
    #[new]
    fn new(
        py: Python<'_>, graph: &Graph, evidence: GivenEvidence<'_>, inference_name: &str,
        table_limit: Option<usize>,
    ) -> PyResult<Self> {
        let evidence = evidence.of(&graph.graph)?;
        let inference = inference(inference_name)?;
        let limit = table_limit.unwrap_or(DEFAULT_TABLE_LIMIT);
        let graph = graph.graph.clone();
        let made = py.detach(|| ExactInference::new(graph, &evidence, inference, limit));
        Ok(Self(made.map_err(raise)?))
    }

    fn width(&self) -> usize {
        self.0.width()
    }

    fn table_entries(&self) -> usize {
        self.0.table_entries()
    }

    fn marginals<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        // SAFETY: the object owns the results, which nobody can change, until it is dropped.
        unsafe { borrowed(this.get().0.marginals(), this.clone().into_any()) }
    }

    fn log_partition(&self) -> f64 {
        self.0.log_partition()
    }

    fn belief<'py>(
        &self, py: Python<'py>, variables: Vec<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.0.belief(&variables).map_err(raise)?.into_pyarray(py))
    }

    fn find_maximum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<usize>>> {
        Ok(self.0.find_maximum().map_err(raise)?.into_pyarray(py))
    }
}
