//! How far the beliefs of factors moved: what libDAI's stop rule measures beside those of variables.

use super::state::State;
use super::values::Values;
use super::workspace::Workspace;
use crate::engine::factor_tables::{TableReader, starts_of_beliefs};
use crate::error::Result;
use crate::kernel::{ExtendedFloat, TableInputs, TableValues, table_belief};
use crate::memory::{self, NoMemory, copied, fit, room};
use std::collections::HashMap;

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
        let starts = starts_of_beliefs(&state.graph)?;
        let entries = starts.last().copied().unwrap_or(0);
        let mut all = Self {
            starts,
            beliefs: Values::numbers(entries, 0.0)?,
            values: room(entries)?,
            exponents: room(state.graph.factor_count())?,
            extended: HashMap::new(),
        };
        let mut reader = TableReader::default();
        for factor in 0..state.graph.factor_count() {
            let entries = all.starts[factor]..all.starts[factor + 1];
            for index in entries.clone() {
                all.beliefs.set_number(index, 1.0 / entries.len() as f64);
            }
            let table = reader.read(&state.graph, factor)?;
            all.exponents.push(table.exponents());
            match table {
                TableValues::F64(values) => all.values.extend_from_slice(values),
                TableValues::ExtendedFloat(values) => {
                    all.values.extend(values.iter().map(|value| value.to_f64()));
                    if table.is_beyond_f64() {
                        memory::insert(&mut all.extended, factor as u32, copied(values)?)?;
                    }
                }
            }
        }
        Ok(all)
    }

    /// Replaces the belief of a factor by the one that follows from `State::by_edge`, and returns its largest
    /// change; a belief that is 0/0 is left alone, and has not changed. If it is one of those that are only recalled, for the next
    /// ones to be compared with, what it was before is not known: it is NaN then, and so is the change to the next one that is not
    /// 0/0.
    pub(super) fn replace(
        &self, state: &State, factor: usize, recalling: bool, workspace: &mut Workspace,
    ) -> Result<f64, NoMemory> {
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
            if recalling {
                self.beliefs.set_number(entries.start, f64::NAN);
            }
            return Ok(0.0);
        }
        let is_known = !self.beliefs.number(entries.start).is_nan();
        let mut change = 0.0_f64;
        for (index, &value) in entries.zip(probabilities.iter()) {
            change = change.max((value - self.beliefs.number(index)).abs());
            self.beliefs.set_number(index, value);
        }
        Ok(if is_known { change } else { f64::NAN })
    }
}
