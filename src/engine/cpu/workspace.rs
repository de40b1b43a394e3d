//! One thread's working memory.

use super::state::Contradictions;
use crate::factor::Scratch;
use crate::kernel::{EncodedMessage, Product, ProductScratch};
use crate::memory::NoMemory;

/// Buffers that grow to the largest node and are kept, and what a thread found in an iteration.
///
/// A thread that finds no memory for a buffer in the middle of an iteration notes it and goes on to the end of the iteration
/// with messages that mean nothing; the run ends there.
#[derive(Default)]
pub(super) struct Workspace {
    /// Messages into or out of a variable, or into a factor.
    pub(super) inputs: Vec<EncodedMessage>,
    /// Messages out of a factor.
    pub(super) outputs: Vec<EncodedMessage>,
    pub(super) radices: Vec<u32>,
    pub(super) products: ProductScratch,
    pub(super) states: Vec<Product>,
    /// Products of all messages of a variable but one, state by state.
    pub(super) rest: Vec<Product>,
    /// One message.
    pub(super) message: Vec<EncodedMessage>,
    /// A damped message, and the one that it replaces.
    pub(super) damped: Vec<EncodedMessage>,
    pub(super) old: Vec<EncodedMessage>,
    /// Probabilities of one variable or factor.
    pub(super) probabilities: Vec<f64>,
    /// Of the messages of factors.
    pub(super) scratch: Scratch,
    /// Contradictory places found since the engine last looked.
    pub(super) contradictions: Contradictions,
    /// Lowest variable whose message to a factor, read in the middle of an iteration, was contradictory.
    /// How often one is read depends on the plan, so these are not counted.
    pub(super) met: Option<usize>,
    /// Largest change, and number of nodes that moved, in the last measurement.
    pub(super) max_diff: f64,
    pub(super) moved: u64,
    pub(super) differences: Vec<f64>,
    /// Whether memory was missing since the engine last looked.
    pub(super) lacks_memory: bool,
}

impl Workspace {
    /// A contradictory message was read in the middle of an iteration.
    #[cold]
    pub(super) fn meet(met: &mut Option<usize>, variable: usize) {
        *met = Some(met.map_or(variable, |lowest| lowest.min(variable)));
    }

    /// The value, or, noted, none where there was no memory for it.
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
