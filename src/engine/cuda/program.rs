//! What a graph and a schedule are on a device.

use super::driver::Queue;
use super::interface::ReadOnly;
use super::interface::run::Loop;
use crate::engine::{RunRequest, StopRule};
use crate::error::Result;
use crate::kernel::EncodedMessage;
use crate::model::{FactorGraph, VariableEvidence};
use crate::threads::Gang;

/// Edges that are worth a thread when a graph is prepared for a device.
const EDGES_OF_THREAD: usize = 1 << 15;

/// The threads that prepare a graph for a device.
pub(super) fn gang_for(graph: &FactorGraph) -> Gang {
    Gang::for_work(graph.edge_count(), EDGES_OF_THREAD)
}

/// Messages of binary variables, and the slot of each edge's message among them.
#[derive(Clone, Copy)]
pub(super) struct MessagesBySlot {
    pub messages: ReadOnly<EncodedMessage>,
    pub slots: ReadOnly<u32>,
}

/// Messages, evidence and kernels for one graph and one schedule on a device. All of it is allocated when
/// it is made, or in `begin` when a run first asks for something; later runs allocate nothing.
///
/// The messages are in one of some buffers (see `RunState::buffer`); an iteration writes the next one.
pub(super) trait Program: Send + Sync {
    /// Whether iterations run by levels rather than all at once.
    fn by_levels(&self) -> bool;

    /// Whether runs of this kind are possible: all but those whose rule looks at the beliefs of factors, which
    /// are measured apart (`all_beliefs.rs`).
    fn serves(&self, request: &RunRequest) -> bool {
        !matches!(request.rule, StopRule::AllBeliefs { .. })
    }

    /// Most iterations that one launch makes; `None` for any number.
    fn iterations_per_launch(&self) -> Option<u64> {
        None
    }

    /// Tells how many iterations were made since the messages were uniform, before a run that goes on from
    /// them: for schedules whose iterations differ.
    fn start_at(&mut self, _iterations: u64) {}

    /// Remembers what is known about a variable. It reaches the device in `begin`. Errors: no memory; nothing
    /// has changed then.
    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) -> Result<()>;

    /// Prepares a run whose messages are in `buffer`, uniform ones after a fresh start: evidence that has
    /// changed, and what measurements compare with. `constants_sent` says that what factors with one variable send is in `buffer`,
    /// and contradicts nothing any more. Nothing that a failure leaves behind is seen.
    fn begin(
        &mut self, queue: Queue<'_>, request: &RunRequest, buffer: u32, constants_sent: bool,
    ) -> Result<()>;

    /// Starts iterations, without waiting for them.
    fn launch(&mut self, queue: Queue<'_>, iterations: &Loop) -> Result<()>;

    /// Probabilities of all states of all variables for the messages in `buffer`; or, where the run's
    /// rule is BINGO's and it has not converged, the means of the last beliefs after `iterations` iterations.
    fn results(
        &mut self, queue: Queue<'_>, buffer: u32, mean_after: Option<u64>, out: &mut [f64],
    ) -> Result<()>;

    /// Where the messages in `buffer` are on the device, if the general program cannot measure beliefs of factors by them where
    /// they are.
    fn messages_by_slot(
        &mut self, _queue: Queue<'_>, _buffer: u32,
    ) -> Result<Option<MessagesBySlot>> {
        Ok(None)
    }

    /// All messages in `buffer`, by edge.
    fn messages(&mut self, queue: Queue<'_>, buffer: u32) -> Result<Vec<EncodedMessage>>;

    /// Replaces all messages in `buffer`; those to be sent once only go to both.
    fn set_messages(
        &mut self, queue: Queue<'_>, buffer: u32, messages: &[EncodedMessage],
    ) -> Result<()>;

    /// What the messages in `buffer` were before damping, if the last run damped them: beliefs are made
    /// of these (see [`RunRequest::damping`]).
    fn undamped(&mut self, _queue: Queue<'_>, _buffer: u32) -> Result<Option<Vec<EncodedMessage>>> {
        Ok(None)
    }

    /// Replaces these, after `set_messages`; without effect where damping is not served.
    fn set_undamped(
        &mut self, _queue: Queue<'_>, _buffer: u32, _messages: &[EncodedMessage],
    ) -> Result<()> {
        Ok(())
    }
}
