//! what moves from one engine to another, and what a saved state holds.

use crate::error::Result;
use crate::kernel::{EncodedMessage, Inference, stored_values};
use crate::memory::{copied, filled};
use crate::model::FactorGraph;

/// All that a warm run goes on from, but for schedule and evidence: an engine that has imported it goes on with
/// the same bits as the one that exported it. By edge, in stored values.
#[derive(Debug, PartialEq)]
pub(crate) struct Snapshot {
    /// The messages to the variables.
    pub(crate) messages: Vec<EncodedMessage>,
    /// What the messages were before damping, if the last run damped them; with SEQMAX, what they will be when
    /// they are sent. Beliefs are made of these.
    pub(crate) newest: Option<Vec<EncodedMessage>>,
    /// The queue of SEQMAX, if that ran last.
    pub(crate) queue: Option<Queue>,
    /// Iterations since the messages were uniform.
    pub(crate) iterations: u64,
    /// The inference by which what factors with one variable send is among the messages, if it is: it never changes then.
    pub(crate) constants: Option<Inference>,
}

/// The order in which SEQMAX takes messages, by edge.
#[derive(Debug, PartialEq)]
pub(crate) struct Queue {
    /// What the residuals belong to: a run that asks for something else computes them anew.
    pub(crate) inference: Inference,
    pub(crate) damping: f64,
    pub(crate) log_domain: bool,
    /// Whether the message has been sent since all were uniform.
    pub(crate) sent: Vec<bool>,
    /// Sum over the states of the damped message as libDAI stores it.
    pub(crate) sums: Vec<f64>,
    /// When the residual was computed: of equal residuals the latest goes first.
    pub(crate) stamps: Vec<u64>,
}

impl Snapshot {
    /// Uniform messages, before the first iteration, of so many stored values.
    pub(crate) fn uniform(values: usize) -> Result<Self> {
        Ok(Self::of_messages(filled(values, EncodedMessage::ONE)?, 0))
    }

    /// Messages alone, with the number of iterations that they come from.
    pub(crate) fn of_messages(messages: Vec<EncodedMessage>, iterations: u64) -> Self {
        Self { messages, newest: None, queue: None, iterations, constants: None }
    }

    /// A copy.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let newest = self.newest.as_deref().map(copied).transpose()?;
        let queue = self.queue.as_ref().map(Queue::try_clone).transpose()?;
        Ok(Self { messages: copied(&self.messages)?, newest, queue, ..*self })
    }
}

impl Queue {
    fn try_clone(&self) -> Result<Self> {
        Ok(Self {
            sent: copied(&self.sent)?,
            sums: copied(&self.sums)?,
            stamps: copied(&self.stamps)?,
            ..*self
        })
    }
}

/// Number of stored values of all messages of a graph.
pub(crate) fn value_count(graph: &FactorGraph) -> usize {
    let values = |&v: &u32| stored_values(graph.cardinalities()[v as usize]);
    graph.edge_variables().iter().map(values).sum()
}
