//! One thread's working memory.

use super::state::Contradictions;
use crate::kernel::{HornScratch, Packed, Product, ProductScratch, TableScratch, TermScratch};

/// Buffers that grow to the largest node and are kept, and what a thread found in a pass.
#[derive(Default)]
pub(super) struct Workspace {
    /// Messages into or out of a variable, or into a factor.
    pub(super) inputs: Vec<Packed>,
    /// Messages out of a factor.
    pub(super) outputs: Vec<Packed>,
    pub(super) radices: Vec<u32>,
    pub(super) products: ProductScratch,
    pub(super) states: Vec<Product>,
    pub(super) horn: HornScratch,
    pub(super) table: TableScratch,
    pub(super) terms: TermScratch,
    /// Contradictory places found since the engine last looked.
    pub(super) contradictions: Contradictions,
    /// Lowest variable whose message to a factor, read in the middle of a pass, was contradictory.
    /// How often one is read depends on the plan, so these are not counted.
    pub(super) met: Option<usize>,
    /// Variables to which a new certain message came.
    pub(super) newly_certain: Vec<u32>,
    /// Largest change, and number of nodes that moved, in the last measurement.
    pub(super) max_diff: f64,
    pub(super) moved: u64,
    pub(super) differences: Vec<f64>,
}

impl Workspace {
    /// A contradictory message was read in the middle of a pass.
    #[cold]
    pub(super) fn meet(met: &mut Option<usize>, variable: usize) {
        *met = Some(met.map_or(variable, |lowest| lowest.min(variable)));
    }
}
