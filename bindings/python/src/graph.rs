//! `fastlbp.FactorGraph`, without its conveniences.

use crate::arrays::borrowed;
use crate::errors::raise;
use fastlbp::format::{NamedGraph, Names};
use fastlbp::{Error, FactorGraph, FactorGraphBuilder};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use std::sync::Arc;

/// A factor graph, with the names that its file has for variables and states.
#[pyclass(frozen, module = "fastlbp._native")]
pub struct Graph {
    pub graph: Arc<FactorGraph>,
    pub names: Option<Arc<Names>>,
}

impl Graph {
    pub fn of(graph: Arc<FactorGraph>, names: Option<Names>) -> Self {
        Self { graph, names: names.map(Arc::new) }
    }

    /// The graph as the functions that read and write files take it.
    pub fn named(&self) -> PyResult<NamedGraph<'_>> {
        NamedGraph::new(&self.graph, self.names.as_deref()).map_err(raise)
    }
}

/// Defines methods that show a list of the graph as an array.
macro_rules! lists {
    ($($name:ident: $type:ty;)+) => {
        #[pymethods]
        impl Graph {
            $(
                #[getter]
                fn $name<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<$type>> {
                    // SAFETY: the object owns the graph, which nobody can change, until it is dropped.
                    unsafe { borrowed(this.get().graph.$name(), this.clone().into_any()) }
                }
            )+
        }
    };
}

lists! {
    labels: u64;
    cardinalities: u32;
    edge_variables: u32;
    edge_factors: u32;
}

#[pymethods]
impl Graph {
    #[getter]
    fn variable_count(&self) -> usize {
        self.graph.variable_count()
    }

    #[getter]
    fn factor_count(&self) -> usize {
        self.graph.factor_count()
    }

    #[getter]
    fn edge_count(&self) -> usize {
        self.graph.edge_count()
    }

    #[getter]
    fn state_count(&self) -> usize {
        self.graph.state_count()
    }

    #[getter]
    fn all_binary(&self) -> bool {
        self.graph.all_binary()
    }

    #[getter]
    fn memory_bytes(&self) -> usize {
        self.graph.memory_bytes()
    }

    /// Where the states of each variable begin in arrays of all states, and where the last ones end.
    fn state_offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<usize>> {
        let mut offsets = Vec::with_capacity(self.graph.variable_count() + 1);
        let mut end = 0;
        offsets.push(end);
        for &cardinality in self.graph.cardinalities() {
            end += cardinality as usize;
            offsets.push(end);
        }
        offsets.into_pyarray(py)
    }

    /// Where the edges of each factor begin, and where those of the last one end.
    fn factor_offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<usize>> {
        let factors = 0..self.graph.factor_count();
        let ends = factors.map(|factor| self.graph.factor_edges(factor).end);
        std::iter::once(0).chain(ends).collect::<Vec<usize>>().into_pyarray(py)
    }

    /// The kinds of all factors, by number.
    fn kinds<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        let factors = 0..self.graph.factor_count();
        let kinds = factors.map(|factor| self.graph.kind(factor) as u8);
        kinds.collect::<Vec<u8>>().into_pyarray(py)
    }

    /// Index of the variable with a label.
    fn find(&self, label: u64) -> Option<usize> {
        self.graph.variable_of_label(label)
    }

    /// Variables of a factor (by index) and the position of its head.
    fn scope(&self, factor: usize) -> PyResult<(Vec<u32>, Option<usize>)> {
        if factor >= self.graph.factor_count() {
            let count = self.graph.factor_count();
            return Err(raise(Error::OutOfRange(format!(
                "factor index {factor}: the graph has {count} factors"
            ))));
        }
        let head = self.graph.head_position(factor);
        Ok((self.graph.factor_variables(factor).to_vec(), head))
    }

    /// Names of variables and of their states, if the graph is of a file that has them.
    #[allow(clippy::type_complexity)]
    fn names(&self) -> Option<(Vec<String>, Vec<Vec<String>>)> {
        let names = self.names.as_ref()?;
        let variables = 0..names.variable_count();
        let states = |variable| names.states(variable).map(String::from).collect();
        let own = |variable| names.variable(variable).to_string();
        Some((variables.clone().map(own).collect(), variables.map(states).collect()))
    }

    /// Whether variables and factors are the same.
    fn has_equal_parts(&self, other: &Graph) -> bool {
        self.graph == other.graph
    }

    /// A builder that begins with this graph.
    fn builder(&self) -> PyResult<crate::builder::Builder> {
        let builder = FactorGraphBuilder::from_graph(&self.graph).map_err(raise)?;
        Ok(crate::builder::Builder::of(builder))
    }
}
