//! Reading, replacing, saving and restoring messages.

use super::base::BeliefPropagation;
use crate::engine::snapshot::Queue;
use crate::engine::{Snapshot, value_count};
use crate::error::{Error, Result};
use crate::hash::Hasher;
use crate::kernel::{
    EncodedMessage, Inference, stored_message, stored_values, weights_to_probabilities,
};
use crate::memory::{all_collected, collected, copied, filled, room};
use crate::model::{FactorGraph, check_weights};

/// First words of a saved state: its format, what it belongs to, and [`PARTS`]. Its last word is a checksum of all
/// others.
const STATE_FORMAT: u64 = 0x666c_6270_0000_0003;
const STATE_HEADER: usize = 6;
const STATE_END: usize = 1;

/// Bits of the last word of the header: which parts follow the messages, and what the queue of SEQMAX is for.
const NEWEST: u64 = 1;
const QUEUE: u64 = 2;
const QUEUE_OF_MAXIMA: u64 = 4;
const QUEUE_OF_LOGARITHMS: u64 = 8;
const PARTS: u64 = NEWEST | QUEUE | QUEUE_OF_MAXIMA | QUEUE_OF_LOGARITHMS;

impl BeliefPropagation {
    /// Length of [`Self::messages`]: the cardinalities of all edges' variables, added up.
    pub fn message_length(&self) -> usize {
        let graph = self.graph();
        graph.edge_variables().iter().map(|&v| graph.cardinality(v as usize)).sum()
    }

    /// All factor-to-variable messages, edge by edge: one probability per state of the edge's
    /// variable. For exact resumption see [`Self::save_state`]. Errors: no memory.
    pub fn messages(&self) -> Result<Vec<f64>> {
        let stored = self.runner.export()?.messages;
        let mut out = filled(self.message_length(), 0.0)?;
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
        Ok(out)
    }

    /// Replaces all factor-to-variable messages, in the layout of [`Self::messages`]: per edge
    /// finite weights >= 0, one of them positive; only their ratios matter. The number of iterations
    /// done counts from 0 again. The next warm run starts from them.
    pub fn set_messages(&mut self, messages: &[f64]) -> Result<()> {
        if messages.len() != self.message_length() {
            return Err(Error::InvalidArgument(format!(
                "{} message values: this graph has {}",
                messages.len(),
                self.message_length()
            )));
        }
        let mut stored = room(value_count(self.graph()))?;
        let mut from = 0;
        for (edge, &v) in self.graph().edge_variables().iter().enumerate() {
            let states = self.graph().cardinality(v as usize);
            let weights = &messages[from..from + states];
            from += states;
            check_weights(weights, || format!("message of edge {edge}"))?;
            stored.extend(stored_message(weights)?);
        }
        self.runner.import(&Snapshot::of_messages(stored, 0))
    }

    /// The exact state of the messages and the number of iterations done, to be given to
    /// [`Self::restore_state`] of a session on an equal graph: with the same schedule, evidence and request, a
    /// warm run then goes on with the same bits, damping and SEQMAX included. A sequence of words whose meaning
    /// belongs to this version of the library. Errors: no memory.
    pub fn save_state(&self) -> Result<Vec<u64>> {
        let Snapshot { messages, newest, queue, iterations, .. } = self.runner.export()?;
        // Without a queue, undamped messages that are the messages say nothing; whether there are any then
        // depends on the engine.
        let newest = newest.filter(|newest| queue.is_some() || *newest != messages);
        let flag = |is: bool, flag: u64| if is { flag } else { 0 };
        let mut parts = flag(newest.is_some(), NEWEST);
        let mut length = STATE_HEADER + messages.len() + STATE_END;
        length += newest.as_ref().map_or(0, Vec::len);
        if let Some(queue) = &queue {
            parts |= QUEUE | flag(queue.log_domain, QUEUE_OF_LOGARITHMS);
            parts |= flag(queue.inference == Inference::MaxProduct, QUEUE_OF_MAXIMA);
            length += 1 + 3 * queue.sent.len();
        }
        let (edges, variables) = (self.graph().edge_count(), self.graph().variable_count());
        let mut state = room(length)?;
        let scopes = scopes_hash(self.graph());
        state.extend([STATE_FORMAT, edges as u64, variables as u64, scopes, iterations, parts]);
        state.extend(messages.iter().map(|message| message.0));
        state.extend(newest.iter().flatten().map(|message| message.0));
        if let Some(queue) = queue {
            state.push(queue.damping.to_bits());
            state.extend(queue.sent.iter().map(|&sent| u64::from(sent)));
            state.extend(queue.sums.iter().map(|sum| sum.to_bits()));
            state.extend(queue.stamps);
        }
        state.push(checksum(&state));
        Ok(state)
    }

    /// Goes back to a saved state. Evidence, schedule and results are not part of it. On another graph of the same
    /// variables and scopes, or with other evidence, a warm run goes on from these messages; a queue of SEQMAX is
    /// worked out anew if evidence is set after this. Errors: a state of another version or of other scopes, or one that
    /// is damaged.
    pub fn restore_state(&mut self, state: &[u64]) -> Result<()> {
        let graph = self.graph();
        let too_short = || {
            let least = STATE_HEADER + STATE_END;
            wrong_state(format!("{} words: at least {least} are needed", state.len()))
        };
        let Some((&sum, saved)) = state.split_last() else { return Err(too_short()) };
        let Some((&[format, edges, variables, scopes, iterations, parts], words)) =
            saved.split_first_chunk::<STATE_HEADER>()
        else {
            return Err(too_short());
        };
        if format != STATE_FORMAT {
            return Err(wrong_state(format!(
                "format {format:#x}: this version of the library reads {STATE_FORMAT:#x}"
            )));
        }
        if edges != graph.edge_count() as u64 || variables != graph.variable_count() as u64 {
            return Err(wrong_state(format!(
                "of a graph with {variables} variables and {edges} edges: this one has {} and {}",
                graph.variable_count(),
                graph.edge_count()
            )));
        }
        if scopes != scopes_hash(graph) {
            return Err(wrong_state(
                "of a graph of as many variables and edges, but with other labels, cardinalities or scopes".into(),
            ));
        }
        if parts & !PARTS != 0 {
            return Err(wrong_state(format!(
                "unknown parts {parts:#x}: at most {PARTS:#x} are known"
            )));
        }
        let (values, edges) = (value_count(graph), graph.edge_count());
        let has = |part: u64| parts & part != 0;
        let wanted =
            values * (1 + usize::from(has(NEWEST))) + if has(QUEUE) { 1 + 3 * edges } else { 0 };
        if words.len() != wanted {
            return Err(wrong_state(format!("{} values: this graph needs {wanted}", words.len())));
        }
        if sum != checksum(saved) {
            return Err(wrong_state("its checksum is wrong: it was changed or damaged".into()));
        }
        let (messages, words) = words.split_at(values);
        let (newest, words) = words.split_at(if has(NEWEST) { values } else { 0 });
        let queue = match words.split_first() {
            Some((&damping, words)) => Some(Queue {
                inference: match has(QUEUE_OF_MAXIMA) {
                    true => Inference::MaxProduct,
                    false => Inference::SumProduct,
                },
                damping: self.checked_number(damping, |damping| damping < 1.0)?,
                log_domain: has(QUEUE_OF_LOGARITHMS),
                sent: collected(words[..edges].iter().map(|&sent| sent != 0))?,
                sums: all_collected(
                    words[edges..2 * edges]
                        .iter()
                        .map(|&sum| self.checked_number(sum, f64::is_finite)),
                )?,
                stamps: copied(&words[2 * edges..])?,
            }),
            None => None,
        };
        let snapshot = Snapshot {
            messages: self.checked_messages(messages)?,
            newest: if has(NEWEST) { Some(self.checked_messages(newest)?) } else { None },
            queue,
            iterations,
            // Factors with one variable send once more: the graph may have other ones than where it was saved.
            constants: None,
        };
        self.runner.import(&snapshot)
    }

    /// Words as stored messages of all edges. Errors: one that is none.
    fn checked_messages(&self, words: &[u64]) -> Result<Vec<EncodedMessage>> {
        let graph = self.graph();
        let messages: Vec<EncodedMessage> =
            collected(words.iter().map(|&word| EncodedMessage(word)))?;
        let mut at = 0;
        for (edge, &v) in graph.edge_variables().iter().enumerate() {
            let radix = graph.cardinalities()[v as usize];
            let stored = &messages[at..at + stored_values(radix)];
            at += stored.len();
            let valid = stored.iter().all(|value| value.is_valid())
                && (radix == 2
                    || stored.iter().any(|&value| value != EncodedMessage::ZERO)
                        && stored.iter().all(|&value| value != EncodedMessage::INFINITY));
            if !valid {
                return Err(wrong_state(format!("edge {edge} has no valid message")));
            }
        }
        Ok(messages)
    }

    /// A word as a number that is not negative. Errors: another one, or one that is not `fine`.
    fn checked_number(&self, word: u64, fine: impl Fn(f64) -> bool) -> Result<f64> {
        let number = f64::from_bits(word);
        if number >= 0.0 && fine(number) {
            Ok(number)
        } else {
            Err(wrong_state(format!("{number} in the queue of SEQMAX")))
        }
    }
}

/// A number for what the messages of a graph are about: its variables, and those of each factor. Parameters are left out,
/// since messages may go on with other ones.
fn scopes_hash(graph: &FactorGraph) -> u64 {
    let mut hasher = Hasher::new();
    graph.labels().iter().for_each(|&label| hasher.word(label));
    graph.cardinalities().iter().for_each(|&cardinality| hasher.word(cardinality.into()));
    (0..graph.factor_count()).for_each(|factor| hasher.word(graph.arity(factor) as u64));
    graph.edge_variables().iter().for_each(|&variable| hasher.word(variable.into()));
    hasher.finish()
}

/// A number for the words of a state.
fn checksum(words: &[u64]) -> u64 {
    let mut hasher = Hasher::new();
    words.iter().for_each(|&word| hasher.word(word));
    hasher.finish()
}

fn wrong_state(what: String) -> Error {
    Error::InvalidArgument(format!("saved state: {what}"))
}
