//! A graph as arrays and back, for pickling: each kind of factor has some floats and some integers.

use crate::arrays::entries;
use crate::builder::kind_of;
use crate::errors::{invalid, raise};
use crate::graph::Graph;
use fastlbp::model::{Factor, FactorKind, NoisyLiteral, WILDCARD};
use fastlbp::{FactorGraph, FactorGraphBuilder};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::sync::Arc;

/// Lists of numbers, one after the other, with where each ends.
#[derive(Default)]
struct Lists<T> {
    entries: Vec<T>,
    ends: Vec<usize>,
}

impl<T: Copy> Lists<T> {
    fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.entries.extend(list);
        self.ends.push(self.entries.len());
    }
}

/// List `index` of some that end at `ends`. Errors: there is no such list.
fn list<'a, T>(entries: &'a [T], ends: &[usize], index: usize) -> PyResult<&'a [T]> {
    let start = if index == 0 { Some(0) } else { ends.get(index - 1).copied() };
    let range = start.zip(ends.get(index).copied());
    range.and_then(|(start, end)| entries.get(start..end)).ok_or_else(damaged)
}

fn damaged() -> PyErr {
    invalid("parts of a graph: they do not belong together")
}

/// The floats and the integers of a factor.
fn numbers_of(graph: &FactorGraph, factor: usize) -> (Vec<f64>, Vec<i64>) {
    let arity = graph.arity(factor);
    let of_horn = || {
        let number = graph.horn_parameter(factor).unwrap_or_default();
        let parameters = graph.horn_parameters()[number];
        (vec![parameters.p, parameters.q], vec![i64::from(parameters.head_in_body)])
    };
    match graph.factor(factor) {
        Factor::Table(values) => (values.to_vec(), Vec::new()),
        Factor::Prior(_) | Factor::And(_) | Factor::Or(_) => of_horn(),
        Factor::Signed(signed) => {
            let negated = (0..arity).map(|position| i64::from(signed.is_negated(position)));
            (signed.values.to_vec(), negated.collect())
        }
        Factor::Noisy(noisy) => {
            let literals = noisy.literals.iter().flatten().flatten();
            (noisy.values.iter().chain(literals).copied().collect(), Vec::new())
        }
        Factor::Terms(terms) => {
            let mut indicators = vec![i64::from(WILDCARD); terms.weights.len() * arity];
            for (term, row) in (0..terms.weights.len()).zip(indicators.chunks_mut(arity.max(1))) {
                for literal in terms.term(term) {
                    row[literal.position as usize] = literal.state.into();
                }
            }
            (terms.weights.to_vec(), indicators)
        }
    }
}

/// Adds the factor with these numbers to a builder. `scope` ascends.
fn add_factor(
    builder: &mut FactorGraphBuilder, kind: FactorKind, scope: &[u64], head: usize,
    (floats, integers): (&[f64], &[i64]),
) -> PyResult<()> {
    let head_label = *scope.get(head).unwrap_or(&0);
    let has_head = !matches!(kind, FactorKind::Table | FactorKind::Terms);
    if has_head && head >= scope.len() {
        return Err(damaged());
    }
    let is_body = |position: &usize| *position != head;
    let positions = (0..scope.len()).filter(is_body);
    let body: Vec<u64> = positions.clone().map(|position| scope[position]).collect();
    let added = match (kind, floats) {
        (FactorKind::Table, values) => builder.add_table(scope, values),
        (FactorKind::Prior, &[p, _]) => builder.add_prior(head_label, p),
        (FactorKind::And | FactorKind::Or, &[p, q]) => {
            let in_body = integers == [1];
            builder.add_horn(kind, head_label, if in_body { scope } else { &body }, p, q)
        }
        (FactorKind::Signed, &[a, b, c, d]) if integers.len() == scope.len() => {
            let negated: Vec<bool> = positions.map(|position| integers[position] == 1).collect();
            builder.add_signed(head_label, &body, &negated, [a, b, c, d])
        }
        (FactorKind::Noisy, &[a, b, c, d, ref literals @ ..])
            if literals.len() == 4 * scope.len() =>
        {
            let literal = |position: usize| -> NoisyLiteral {
                let at = |index: usize| literals[4 * position + index];
                [[at(0), at(1)], [at(2), at(3)]]
            };
            let literals: Vec<NoisyLiteral> = positions.map(literal).collect();
            builder.add_noisy(head_label, &body, &literals, [a, b, c, d])
        }
        (FactorKind::Terms, weights) => {
            let indicators = integers.iter().map(|&state| i32::try_from(state));
            let indicators: Vec<i32> =
                indicators.collect::<Result<_, _>>().map_err(|_| damaged())?;
            builder.add_terms(scope, weights, &indicators)
        }
        _ => return Err(damaged()),
    };
    added.map_err(raise)
}

/// The arrays of [`Graph::parts`].
#[derive(IntoPyObject)]
struct Parts<'py>(
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<usize>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<i64>>,
    (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<usize>>),
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<usize>>),
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<usize>>),
);

/// Lists, and where each ends.
type PartLists<'py, T> = (PyReadonlyArray1<'py, T>, PyReadonlyArray1<'py, usize>);

#[pymethods]
impl Graph {
    /// Labels, cardinalities, kinds, positions of heads (-1 for none); scopes, floats and integers of all factors.
    fn parts<'py>(&self, py: Python<'py>) -> Parts<'py> {
        let graph = &self.graph;
        let mut scopes = Lists::default();
        let mut floats = Lists::default();
        let mut integers = Lists::default();
        let (mut kinds, mut heads) = (Vec::new(), Vec::new());
        for factor in 0..graph.factor_count() {
            let variables = graph.factor_variables(factor).iter();
            scopes.push(variables.map(|&variable| graph.label(variable as usize)));
            let (own_floats, own_integers) = numbers_of(graph, factor);
            floats.push(own_floats);
            integers.push(own_integers);
            kinds.push(graph.kind(factor) as u8);
            heads.push(graph.head_position(factor).map_or(-1, |head| head as i64));
        }
        let cardinalities = graph.cardinalities().iter().map(|&cardinality| cardinality as usize);
        Parts(
            graph.labels().to_vec().into_pyarray(py),
            cardinalities.collect::<Vec<_>>().into_pyarray(py),
            kinds.into_pyarray(py),
            heads.into_pyarray(py),
            (scopes.entries.into_pyarray(py), scopes.ends.into_pyarray(py)),
            (floats.entries.into_pyarray(py), floats.ends.into_pyarray(py)),
            (integers.entries.into_pyarray(py), integers.ends.into_pyarray(py)),
        )
    }

    /// The graph of such arrays.
    #[staticmethod]
    fn from_parts(
        labels: PyReadonlyArray1<'_, u64>, cardinalities: PyReadonlyArray1<'_, usize>,
        kinds: PyReadonlyArray1<'_, u8>, heads: PyReadonlyArray1<'_, i64>,
        scopes: PartLists<'_, u64>, floats: PartLists<'_, f64>, integers: PartLists<'_, i64>,
    ) -> PyResult<Self> {
        let mut builder = FactorGraphBuilder::new();
        builder.add_variables(entries(&labels)?, entries(&cardinalities)?).map_err(raise)?;
        let (kinds, heads) = (entries(&kinds)?, entries(&heads)?);
        if kinds.len() != heads.len() {
            return Err(damaged());
        }
        for (factor, (&kind, &head)) in kinds.iter().zip(heads).enumerate() {
            let scope = list(entries(&scopes.0)?, entries(&scopes.1)?, factor)?;
            let floats = list(entries(&floats.0)?, entries(&floats.1)?, factor)?;
            let integers = list(entries(&integers.0)?, entries(&integers.1)?, factor)?;
            let head = usize::try_from(head).unwrap_or(usize::MAX);
            add_factor(&mut builder, kind_of(kind)?, scope, head, (floats, integers))?;
        }
        let graph = builder.build().map_err(raise)?;
        Ok(Graph::of(Arc::new(graph), None))
    }
}
