//! Factors as tables, which their beliefs are made of: for the stop rule that looks at these.

use crate::error::{Error, Result};
use crate::kernel::{ExtendedFloat, TableValues};
use crate::memory::{Grow, filled};
use crate::model::FactorGraph;

/// The most entries that the belief of a factor may have.
const ENTRY_LIMIT: usize = 1 << 20;

/// Where the entries of each factor's belief start, all factors one after the other, and where the last one's end. O(edges). Errors:
/// a belief with too many entries; no memory.
pub(super) fn starts_of_beliefs(graph: &FactorGraph) -> Result<Vec<usize>> {
    let mut starts = filled(1, 0_usize)?;
    starts.try_room(graph.factor_count())?;
    let mut next = 0_usize;
    for factor in 0..graph.factor_count() {
        let size = graph.joint_states(factor).filter(|&size| size <= ENTRY_LIMIT);
        next = size.and_then(|size| next.checked_add(size)).ok_or_else(|| {
            Error::LimitExceeded(format!(
                "factor {factor}: over {} variables its belief has more than {ENTRY_LIMIT} \
                 entries, too many for a stop rule that looks at the beliefs of factors; the one \
                 that looks at variables does not need them",
                graph.arity(factor)
            ))
        })?;
        starts.push(next);
    }
    Ok(starts)
}

/// Room for the values of a factor.
#[derive(Default)]
pub(super) struct TableReader {
    cardinalities: Vec<usize>,
    states: Vec<usize>,
    values: Vec<ExtendedFloat>,
}

impl TableReader {
    /// The values of a factor at its joint states, the first variable fastest. O(entries * arity). Errors: no memory.
    pub(super) fn read<'a>(
        &'a mut self, graph: &'a FactorGraph, factor: usize,
    ) -> Result<TableValues<'a>> {
        let view = graph.factor(factor);
        if let Some(table) = view.as_table() {
            return Ok(TableValues::F64(table));
        }
        let Self { cardinalities, states, values } = self;
        cardinalities.clear();
        cardinalities.try_extend(graph.factor_cardinalities(factor))?;
        states.clear();
        states.try_resize(cardinalities.len(), 0)?;
        values.clear();
        values.try_room(cardinalities.iter().product())?;
        view.each_value(cardinalities, states, |value| values.push(value));
        Ok(TableValues::ExtendedFloat(values))
    }
}
