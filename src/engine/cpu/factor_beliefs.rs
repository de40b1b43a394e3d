//! How far the beliefs of factors moved: what libDAI's stop rule measures beside those of variables.

use super::state::State;
use super::values::Values;
use super::workspace::Workspace;
use crate::error::{Error, Result};
use crate::kernel::{ExtendedFloat, TableInputs, TableValues, table_belief};
use crate::memory::{self, Grow, NoMemory, filled, fit, room};
use std::collections::HashMap;

/// The most entries that the belief of a factor may have.
const ENTRY_LIMIT: usize = 1 << 20;

/// The beliefs of all factors at the last measurement, and what the next ones are computed from.
pub(super) struct FactorBeliefs {
    /// Where each factor's entries start in both lists, and where the last one's end.
    starts: Vec<usize>,
    beliefs: Values,
    /// The values of each factor at its joint states: evaluated once, not in each measurement.
    values: Vec<f64>,
    /// Exponents of the smallest and the largest positive value of each factor.
    exponents: Vec<(i64, i64)>,
    /// The values of factors that have some beyond the range of `f64`.
    extended: HashMap<u32, Vec<ExtendedFloat>>,
}

impl FactorBeliefs {
    /// Uniform beliefs. Errors: a belief with too many entries; no memory.
    pub(super) fn new(state: &State) -> Result<Self> {
        let starts = starts(state)?;
        let entries = starts.last().copied().unwrap_or(0);
        let mut all = Self {
            starts,
            beliefs: Values::numbers(entries, 0.0)?,
            values: room(entries)?,
            exponents: room(state.graph.factor_count())?,
            extended: HashMap::new(),
        };
        let (mut cardinalities, mut states, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for factor in 0..state.graph.factor_count() {
            let entries = all.starts[factor]..all.starts[factor + 1];
            for index in entries.clone() {
                all.beliefs.set_number(index, 1.0 / entries.len() as f64);
            }
            let view = state.graph.factor(factor);
            if let Some(table) = view.as_table() {
                all.values.extend_from_slice(table);
                all.exponents.push(TableValues::F64(table).exponents());
                continue;
            }
            cardinalities.clear();
            cardinalities.try_extend(state.graph.factor_cardinalities(factor))?;
            states.clear();
            states.try_resize(cardinalities.len(), 0)?;
            own.clear();
            own.try_room(entries.len())?;
            view.each_value(&cardinalities, &mut states, |value| own.push(value));
            all.values.extend(own.iter().map(|value| value.to_f64()));
            let (low, high) = TableValues::ExtendedFloat(&own).exponents();
            all.exponents.push((low, high));
            if low <= high && (low < -1022 || high > 1023) {
                memory::insert(&mut all.extended, factor as u32, std::mem::take(&mut own))?;
            }
        }
        Ok(all)
    }

    /// Replaces the belief of a factor by the one that follows from `State::by_edge`, and returns its largest
    /// change; a belief that is 0/0 is left alone, and has none.
    pub(super) fn replace(
        &self, state: &State, factor: usize, workspace: &mut Workspace,
    ) -> Result<Option<f64>, NoMemory> {
        let entries = self.starts[factor]..self.starts[factor + 1];
        let Workspace { inputs, radices, probabilities, scratch, .. } = workspace;
        inputs.clear();
        let edges = state.graph.factor_edges(factor);
        if !edges.is_empty() {
            let messages =
                state.edge_values(edges.start).start..state.edge_values(edges.end - 1).end;
            fit(inputs, messages.len())?;
            inputs.extend(state.by_edge.slice(messages));
        }
        radices.clear();
        fit(radices, state.graph.arity(factor))?;
        let variables = state.graph.factor_variables(factor).iter();
        radices.extend(variables.map(|&v| state.graph.cardinalities()[v as usize]));
        probabilities.clear();
        fit(probabilities, entries.len())?;
        probabilities.resize(entries.len(), 0.0);
        let values = match self.extended.get(&(factor as u32)) {
            Some(values) => TableValues::ExtendedFloat(values),
            None => TableValues::F64(&self.values[entries.clone()]),
        };
        let table = TableInputs { values, exponents: self.exponents[factor], radices, inputs };
        if !table_belief(table, probabilities, &mut scratch.tables)? {
            return Ok(None);
        }
        let mut change = 0.0_f64;
        for (index, &value) in entries.zip(probabilities.iter()) {
            change = change.max((value - self.beliefs.number(index)).abs());
            self.beliefs.set_number(index, value);
        }
        Ok(Some(change))
    }
}

/// Where the entries of each factor's belief start, all factors one after the other, and where the last one's end.
fn starts(state: &State) -> Result<Vec<usize>> {
    let graph = &state.graph;
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
