//! Reading, replacing, saving and restoring messages.

use super::BeliefPropagation;
use crate::error::{Error, Result};
use crate::kernel::{Packed, stored_message, stored_values, weights_to_probabilities};
use crate::model::check_weights;

/// First words of a saved state: its format, and what it belongs to.
const STATE_FORMAT: u64 = 0x666c_6270_0000_0001;
const STATE_HEADER: usize = 4;

impl BeliefPropagation {
    /// Length of [`Self::messages`]: the cardinalities of all edges' variables, added up.
    pub fn message_length(&self) -> usize {
        let graph = self.graph();
        graph.edge_variables().iter().map(|&v| graph.cardinality(v as usize)).sum()
    }

    /// All factor-to-variable messages, edge by edge: one probability per state of the edge's
    /// variable. For exact resumption see [`Self::save_state`].
    pub fn messages(&self) -> Vec<f64> {
        let (stored, _) = self.engine.messages();
        let mut out = vec![0.0; self.message_length()];
        let (mut from, mut to) = (0, 0);
        for &v in self.graph().edge_variables() {
            let radix = self.graph().cardinalities()[v as usize];
            let (values, states) = (stored_values(radix), radix as usize);
            if radix == 2 {
                out[to..to + 2].copy_from_slice(&stored[from].probabilities());
            } else {
                weights_to_probabilities(&stored[from..from + values], &mut out[to..to + states]);
            }
            from += values;
            to += states;
        }
        out
    }

    /// Replaces all factor-to-variable messages, in the layout of [`Self::messages`]: per edge
    /// finite weights >= 0, one of them positive; only their ratios matter. The number of passes
    /// done counts from 0 again. The next warm run starts from them.
    pub fn set_messages(&mut self, messages: &[f64]) -> Result<()> {
        if messages.len() != self.message_length() {
            return Err(Error::InvalidArgument(format!(
                "{} message values: this graph has {}",
                messages.len(),
                self.message_length()
            )));
        }
        let mut stored = Vec::with_capacity(messages.len() / 2);
        let mut from = 0;
        for (edge, &v) in self.graph().edge_variables().iter().enumerate() {
            let states = self.graph().cardinality(v as usize);
            let weights = &messages[from..from + states];
            from += states;
            check_weights(weights, || format!("message of edge {edge}"))?;
            stored.extend(stored_message(weights));
        }
        self.engine.set_messages(&stored, 0);
        Ok(())
    }

    /// The exact state of the messages and the number of passes done, to be given to
    /// [`Self::restore_state`] of a session on an equal graph: a warm run then goes on with the same
    /// bits. A sequence of words whose meaning belongs to this version of the library.
    pub fn save_state(&self) -> Vec<u64> {
        let (messages, passes) = self.engine.messages();
        let mut state = vec![
            STATE_FORMAT,
            self.graph().edge_count() as u64,
            self.graph().variable_count() as u64,
            passes,
        ];
        state.extend(messages.iter().map(|message| message.0));
        state
    }

    /// Goes back to a saved state. Evidence, schedule and results are not part of it.
    pub fn restore_state(&mut self, state: &[u64]) -> Result<()> {
        let graph = self.graph();
        let wrong = |what: String| Error::InvalidArgument(format!("saved state: {what}"));
        let Some((&[format, edges, variables, passes], messages)) =
            state.split_first_chunk::<STATE_HEADER>()
        else {
            return Err(wrong(format!(
                "{} words: at least {STATE_HEADER} are needed",
                state.len()
            )));
        };
        if format != STATE_FORMAT {
            return Err(wrong(format!(
                "format {format:#x}: this version of the library reads {STATE_FORMAT:#x}"
            )));
        }
        if edges != graph.edge_count() as u64 || variables != graph.variable_count() as u64 {
            return Err(wrong(format!(
                "of a graph with {variables} variables and {edges} edges: this one has {} and {}",
                graph.variable_count(),
                graph.edge_count()
            )));
        }
        let length: usize = graph
            .edge_variables()
            .iter()
            .map(|&v| stored_values(graph.cardinalities()[v as usize]))
            .sum();
        if messages.len() != length {
            return Err(wrong(format!("{} values: this graph needs {length}", messages.len())));
        }
        let messages: Vec<Packed> = messages.iter().map(|&word| Packed(word)).collect();
        let mut at = 0;
        for (edge, &v) in graph.edge_variables().iter().enumerate() {
            let radix = graph.cardinalities()[v as usize];
            let stored = &messages[at..at + stored_values(radix)];
            at += stored.len();
            let valid = stored.iter().all(|value| value.is_valid())
                && (radix == 2
                    || stored.iter().any(|&value| value != Packed::ZERO)
                        && stored.iter().all(|&value| value != Packed::INFINITY));
            if !valid {
                return Err(wrong(format!("edge {edge} has no valid message")));
            }
        }
        self.engine.set_messages(&messages, passes);
        Ok(())
    }
}
