//! The working memory of one thread.

use super::state::Contradictions;
use super::values::View;
use crate::factor::Scratch;
#[cfg(target_arch = "x86_64")]
use crate::kernel::eight::Blocks;
use crate::kernel::{EncodedMessage, Product, ProductScratch};
use crate::memory::NoMemory;

/// Products of the messages to a variable.
#[derive(Default)]
pub(super) struct Products {
    pub(super) scratch: ProductScratch,
    /// One product for each state.
    pub(super) states: Vec<Product>,
    /// Leave-one-out products, per state.
    pub(super) rest: Vec<Product>,
    /// Memory of [`crate::kernel::NearStates`].
    pub(super) near: Vec<f64>,
    #[cfg(target_arch = "x86_64")]
    pub(super) blocks: Blocks,
}

/// A message after damping, and the one that it replaces.
#[derive(Default)]
pub(super) struct Damping {
    pub(super) damped: Vec<EncodedMessage>,
    pub(super) old: Vec<EncodedMessage>,
}

/// Largest change of a node and which one it was, number of nodes that changed by more than the tolerance, and whether a
/// belief is 0/0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Movement {
    pub(super) max_diff: f64,
    pub(super) most: usize,
    pub(super) moved: u64,
    pub(super) undefined: bool,
}

impl Movement {
    pub(super) fn add(&mut self, other: Self) {
        if other.max_diff > self.max_diff {
            (self.max_diff, self.most) = (other.max_diff, other.most);
        }
        self.moved += other.moved;
        self.undefined |= other.undefined;
    }
}

/// The beliefs of binary variables at the last measurement, and how far those that are measured have moved since.
pub(super) struct Beliefs<'a> {
    /// The probability of state 1 of each variable, as a `f64`.
    pub(super) last: View<'a>,
    /// A variable has moved if its belief changed by more than this.
    pub(super) tolerance: f64,
    pub(super) movement: Movement,
}

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
    pub(super) products: Products,
    /// One message.
    pub(super) message: Vec<EncodedMessage>,
    pub(super) damping: Damping,
    /// Probabilities of one variable or factor.
    pub(super) probabilities: Vec<f64>,
    /// Memory of the factors' kernels.
    pub(super) scratch: Scratch,
    /// Contradictions found since the engine last collected them.
    pub(super) contradictions: Contradictions,
    /// The lowest variable of which a contradictory message to a factor was read in the middle of an iteration. These
    /// are not counted, since how often a message is read depends on the plan.
    pub(super) met: Option<usize>,
    /// Since the engine last collected it.
    pub(super) movement: Movement,
    /// Number of messages that iterations by nodes have computed since the engine last collected it.
    pub(super) computed: u64,
    pub(super) differences: Vec<f64>,
    /// Whether an allocation has failed since the engine last asked.
    pub(super) lacks_memory: bool,
}

/// See [`Workspace::set_contradictions_aside`].
pub(super) struct Found {
    count: u64,
    met: Option<usize>,
}

impl Workspace {
    /// Records a contradictory message that was read in the middle of an iteration.
    #[cold]
    pub(super) fn meet(met: &mut Option<usize>, variable: usize) {
        *met = Some(met.map_or(variable, |lowest| lowest.min(variable)));
    }

    /// Sets aside what was found of contradictions so far.
    #[inline(always)]
    pub(super) fn set_contradictions_aside(&mut self) -> Found {
        Found { count: self.contradictions.count, met: self.met.take() }
    }

    /// Adds what was set aside to what was found since, and returns whether that was anything.
    #[inline(always)]
    pub(super) fn has_found_more_than(&mut self, before: Found) -> bool {
        let found = self.contradictions.count != before.count || self.met.is_some();
        if let Some(variable) = before.met {
            Self::meet(&mut self.met, variable);
        }
        found
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
