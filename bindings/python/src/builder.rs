//! `fastlbp.FactorGraphBuilder`, without its conveniences.

use crate::arrays::entries;
use crate::errors::{invalid, lock, raise};
use crate::graph::Graph;
use fastlbp::FactorGraphBuilder;
use fastlbp::model::{FactorKind, HornArrays, Lists, NoisyLiteral, SignedArrays, TermArrays};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};

type Floats<'py> = PyReadonlyArray1<'py, f64>;
type Labels<'py> = PyReadonlyArray1<'py, u64>;
type Offsets<'py> = PyReadonlyArray1<'py, usize>;

/// Collects variables and factors.
#[pyclass(frozen, module = "fastlbp._native")]
pub struct Builder(Mutex<FactorGraphBuilder>);

impl Builder {
    pub fn of(builder: FactorGraphBuilder) -> Self {
        Self(Mutex::new(builder))
    }

    fn change(
        &self, change: impl FnOnce(&mut FactorGraphBuilder) -> fastlbp::Result<()>,
    ) -> PyResult<()> {
        change(&mut *lock(&self.0, "builder")?).map_err(raise)
    }
}

/// Kinds of factors by their numbers; see `fastlbp.FactorKind`.
pub fn kind_of(number: u8) -> PyResult<FactorKind> {
    FactorKind::ALL
        .get(usize::from(number))
        .copied()
        .ok_or_else(|| invalid(format!("factor kind {number}: there is no such kind")))
}

/// Four values from an array. Errors: another number of them.
fn four(values: &Floats<'_>) -> PyResult<[f64; 4]> {
    let values = entries(values)?;
    values.try_into().map_err(|_| invalid(format!("{} values: 4 are needed", values.len())))
}

#[pymethods]
impl Builder {
    #[new]
    fn new() -> Self {
        Self::of(FactorGraphBuilder::new())
    }

    fn factor_count(&self) -> PyResult<usize> {
        Ok(lock(&self.0, "builder")?.factor_count())
    }

    fn add_variables(&self, labels: Labels<'_>, cardinalities: Offsets<'_>) -> PyResult<()> {
        let (labels, cardinalities) = (entries(&labels)?, entries(&cardinalities)?);
        self.change(|builder| builder.add_variables(labels, cardinalities))
    }

    fn add_horn(
        &self, kinds: PyReadonlyArray1<'_, u8>, heads: Labels<'_>, offsets: Offsets<'_>,
        bodies: Labels<'_>, p: Floats<'_>, q: Floats<'_>,
    ) -> PyResult<()> {
        let kinds = entries(&kinds)?.iter().map(|&kind| kind_of(kind));
        let arrays = HornArrays {
            kinds: &kinds.collect::<PyResult<Vec<_>>>()?,
            heads: entries(&heads)?,
            bodies: Lists { offsets: entries(&offsets)?, entries: entries(&bodies)? },
            p: entries(&p)?,
            q: entries(&q)?,
        };
        self.change(|builder| builder.add_horn_factors(arrays))
    }

    fn add_tables(
        &self, scope_offsets: Offsets<'_>, scopes: Labels<'_>, value_offsets: Offsets<'_>,
        values: Floats<'_>,
    ) -> PyResult<()> {
        let scopes = Lists { offsets: entries(&scope_offsets)?, entries: entries(&scopes)? };
        let values = Lists { offsets: entries(&value_offsets)?, entries: entries(&values)? };
        self.change(|builder| builder.add_tables(scopes, values))
    }

    fn add_signed(
        &self, heads: Labels<'_>, offsets: Offsets<'_>, bodies: Labels<'_>,
        negated: PyReadonlyArray1<'_, bool>, values: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<()> {
        if values.shape()[1] != 4 {
            return Err(invalid(format!("{} values per factor: 4 are needed", values.shape()[1])));
        }
        let (values, _) = values.as_slice()?.as_chunks::<4>();
        let arrays = SignedArrays {
            heads: entries(&heads)?,
            bodies: Lists { offsets: entries(&offsets)?, entries: entries(&bodies)? },
            negated: entries(&negated)?,
            values,
        };
        self.change(|builder| builder.add_signed_factors(arrays))
    }

    fn add_clause(
        &self, variables: Labels<'_>, negated: PyReadonlyArray1<'_, bool>, satisfied: f64,
        violated: f64,
    ) -> PyResult<()> {
        let (variables, negated) = (entries(&variables)?, entries(&negated)?);
        self.change(|builder| builder.add_clause(variables, negated, satisfied, violated))
    }

    /// An AND with signs, or, with `is_or`, an OR.
    fn add_signed_rule(
        &self, head: u64, body: Labels<'_>, negated: PyReadonlyArray1<'_, bool>, p: f64, q: f64,
        is_or: bool,
    ) -> PyResult<()> {
        let (body, negated) = (entries(&body)?, entries(&negated)?);
        self.change(|builder| match is_or {
            true => builder.add_signed_or(head, body, negated, p, q),
            false => builder.add_signed_and(head, body, negated, p, q),
        })
    }

    fn add_noisy(
        &self, head: u64, body: Labels<'_>, literals: PyReadonlyArray3<'_, f64>, values: Floats<'_>,
    ) -> PyResult<()> {
        if literals.shape()[1..] != [2, 2] {
            let shape = literals.shape();
            return Err(invalid(format!("literals of shape {shape:?}: (n, 2, 2) is needed")));
        }
        let (pairs, _) = literals.as_slice()?.as_chunks::<2>();
        let (literals, _): (&[NoisyLiteral], _) = pairs.as_chunks::<2>();
        let values = four(&values)?;
        let body = entries(&body)?;
        self.change(|builder| builder.add_noisy(head, body, literals, values))
    }

    /// A noisy-OR with a leak, or, with `is_and`, a noisy-AND with a probability.
    fn add_noisy_rule(
        &self, head: u64, body: Labels<'_>, links: Floats<'_>, base: f64, is_and: bool,
    ) -> PyResult<()> {
        let (body, links) = (entries(&body)?, entries(&links)?);
        if body.len() != links.len() {
            let (variables, links) = (body.len(), links.len());
            return Err(invalid(format!("{links} links for {variables} variables: one for each")));
        }
        self.change(|builder| match is_and {
            true => builder.add_noisy_and(head, body, links, base),
            false => builder.add_noisy_or(head, body, links, base),
        })
    }

    fn add_terms(
        &self, scope_offsets: Offsets<'_>, scopes: Labels<'_>, term_offsets: Offsets<'_>,
        weights: Floats<'_>, indicators: PyReadonlyArray1<'_, i32>,
    ) -> PyResult<()> {
        let arrays = TermArrays {
            scopes: Lists { offsets: entries(&scope_offsets)?, entries: entries(&scopes)? },
            weights: Lists { offsets: entries(&term_offsets)?, entries: entries(&weights)? },
            indicators: entries(&indicators)?,
        };
        self.change(|builder| builder.add_term_factors(arrays))
    }

    fn add_missing_priors(&self, p: f64) -> PyResult<()> {
        self.change(|builder| builder.add_missing_priors(p))
    }

    fn build(&self, py: Python<'_>) -> PyResult<Graph> {
        py.detach(|| {
            let builder = lock(&self.0, "builder")?;
            let graph = builder.build().map_err(raise)?;
            Ok(Graph::of(Arc::new(graph), None))
        })
    }
}
