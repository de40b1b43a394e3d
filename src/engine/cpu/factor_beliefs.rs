//! How far the beliefs of factors moved: what libDAI's stop rule measures beside those of variables.

use super::state::State;
use super::values::Values;
use super::workspace::Workspace;
use crate::engine::factor_tables::FactorTables;
use crate::error::Result;
use crate::kernel::{EncodedMessage, TableInputs, table_belief};
use crate::memory::{NoMemory, fit};
use std::sync::Arc;

/// The beliefs of all factors at the last measurement, and what the next ones are computed from.
pub(super) struct FactorBeliefs {
    beliefs: Values,
    /// The messages to factors then, by edge.
    inputs: Values,
    tables: Arc<FactorTables>,
}

/// No message.
const NONE: EncodedMessage = EncodedMessage(u64::MAX);

impl FactorBeliefs {
    /// Uniform beliefs. Errors: no memory.
    pub(super) fn new(state: &State, tables: Arc<FactorTables>) -> Result<Self> {
        let beliefs = Values::numbers(tables.entry_count(), 0.0)?;
        for factor in 0..state.graph.factor_count() {
            let entries = tables.entries(factor);
            let uniform = 1.0 / entries.len() as f64;
            entries.for_each(|index| beliefs.set_number(index, uniform));
        }
        Ok(Self { beliefs, inputs: Values::new(state.value_count, NONE)?, tables })
    }

    /// Replaces the belief of a factor by the one that follows from `State::by_edge`, and returns its largest
    /// change: none where the messages are those that it was last made of. A belief that is 0/0 is left alone, and has not changed. If it is one of those that are only recalled, for the next
    /// ones to be compared with, what it was before is not known: it is NaN then, and so is the change to the next one that is not
    /// 0/0.
    pub(super) fn replace(
        &self, state: &State, factor: usize, recalling: bool, workspace: &mut Workspace,
    ) -> Result<f64, NoMemory> {
        let entries = self.tables.entries(factor);
        let Workspace { inputs, radices, probabilities, scratch, .. } = workspace;
        inputs.clear();
        let edges = state.graph.factor_edges(factor);
        if !edges.is_empty() {
            let messages =
                state.edge_values(edges.start).start..state.edge_values(edges.end - 1).end;
            fit(inputs, messages.len())?;
            inputs.extend(state.by_edge.slice(messages.clone()));
            let mut differs = false;
            for (index, &message) in messages.zip(&*inputs) {
                differs |= self.inputs.replace(index, message);
            }
            // (What is 0/0 is noted where it is recalled.)
            if !differs && !recalling {
                return Ok(0.0);
            }
        }
        radices.clear();
        fit(radices, state.graph.arity(factor))?;
        let variables = state.graph.factor_variables(factor).iter();
        radices.extend(variables.map(|&v| state.graph.cardinalities()[v as usize]));
        probabilities.clear();
        fit(probabilities, entries.len())?;
        probabilities.resize(entries.len(), 0.0);
        let (values, exponents) = self.tables.of(&state.graph, factor);
        let table = TableInputs { values, exponents, radices, inputs };
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
