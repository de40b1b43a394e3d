//! The working memory of one thread.

use super::state::Contradictions;
use crate::factor::Scratch;
use crate::kernel::{EncodedMessage, Product, ProductScratch};
use crate::memory::NoMemory;

/// Buffers, which grow to what the largest node needs and are kept, and what the thread found in an iteration.
///
/// A thread that cannot allocate in the middle of an iteration sets `lacks_memory` and finishes the iteration with
/// meaningless messages, since other threads wait for it at barriers; then the run ends with an error.
#[derive(Default)]
pub(super) struct Workspace {
    /// Messages into or out of a variable, or into a factor.
    pub(super) inputs: Vec<EncodedMessage>,
    /// Messages out of a factor.
    pub(super) outputs: Vec<EncodedMessage>,
    pub(super) radices: Vec<u32>,
    pub(super) products: ProductScratch,
    pub(super) states: Vec<Product>,
    /// Leave-one-out products of the messages to a variable, per state.
    pub(super) rest: Vec<Product>,
    /// One message.
    pub(super) message: Vec<EncodedMessage>,
    /// A message after damping.
    pub(super) damped: Vec<EncodedMessage>,
    /// The message that it replaces.
    pub(super) old: Vec<EncodedMessage>,
    /// Probabilities of one variable or factor.
    pub(super) probabilities: Vec<f64>,
    /// Memory of the factors' kernels.
    pub(super) scratch: Scratch,
    /// Contradictions found since the engine last collected them.
    pub(super) contradictions: Contradictions,
    /// The lowest variable of which a contradictory message to a factor was read in the middle of an iteration. These
    /// are not counted, since how often a message is read depends on the plan.
    pub(super) met: Option<usize>,
    /// Largest change in the last measurement.
    pub(super) max_diff: f64,
    /// Number of nodes that changed by more than the tolerance in the last measurement.
    pub(super) moved: u64,
    pub(super) differences: Vec<f64>,
    /// Whether an allocation has failed since the engine last asked.
    pub(super) lacks_memory: bool,
}

impl Workspace {
    /// Records a contradictory message that was read in the middle of an iteration.
    #[cold]
    pub(super) fn meet(met: &mut Option<usize>, variable: usize) {
        *met = Some(met.map_or(variable, |lowest| lowest.min(variable)));
    }

    /// The value of a result; `None`, with `lacks_memory` set, if there was no memory for it.
    #[inline]
    pub(super) fn note<T>(lacks_memory: &mut bool, result: Result<T, NoMemory>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(NoMemory) => {
                *lacks_memory = true;
                None
            }
        }
    }
}
