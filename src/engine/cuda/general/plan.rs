//! What a graph and a schedule are in the general program, as far as it can be made before the driver has started.

use super::factors::{Factors, Values};
use super::level_items::LevelFactors;
use super::pairs::{Pairs, class_of, may_be_pair};
use super::places::Places;
use super::shape::Shape;
use super::tiles::Tiles;
use super::warp_items::{Sizes, WarpItems};
use super::work::{Shares, TaskLists, Variables};
use crate::engine::cuda::driver::Device;
use crate::engine::cuda::interface::arithmetic::LEAVES_OF_LANE;
use crate::engine::cuda::interface::general::ITEM_LANES;
use crate::engine::cuda::interface::run::THREADS;
use crate::engine::cuda::program::gang_for;
use crate::error::{Error, Result};
use crate::kernel::Inference;
use crate::model::FactorGraph;
use crate::schedule::{KnownOrder, Schedule};

/// Variables that a thread looks at in each iteration by levels, where waiting for each other takes most time.
const VARIABLES_PER_THREAD: usize = 8;

/// All that [`General`](super::General) is made of.
pub(in crate::engine::cuda) struct GeneralPlan {
    pub(super) shape: Shape,
    pub(super) values: Values,
    pub(super) places: Places,
    pub(super) warp_items: WarpItems,
    /// Whether a factor may be among [`Pairs`].
    pub(super) any_pairs: bool,
    pub(super) variables: Variables,
    pub(super) tiles: Tiles,
    pub(super) sums: MachinePlan,
}

impl GeneralPlan {
    /// Errors: SEQMAX, which has no preorder; a schedule for another graph; a graph too large for 32-bit places.
    pub(in crate::engine::cuda) fn new(
        device: Device, graph: &FactorGraph, schedule: &Schedule, order: &KnownOrder,
    ) -> Result<Self> {
        // Fails before anything is allocated.
        let preorder = order.preorder(graph, schedule)?;
        if preorder.edge_count() != graph.edge_count() {
            return Err(Error::InvalidArgument(format!(
                "a schedule for {} edges: the graph has {}",
                preorder.edge_count(),
                graph.edge_count()
            )));
        }
        let iterations_differ = matches!(schedule, Schedule::SequentialRandom { .. });
        let by_levels = iterations_differ || preorder.class_count() > 1;
        let shape = Shape { by_levels, iterations_differ, warp: device.warp_size()? };
        let gang = &gang_for(graph);
        let values = Values::new(graph)?;
        let places = Places::new(graph, gang)?;
        let sums = Factors::new(graph, Inference::SumProduct)?;
        let warp_items = match by_levels {
            true => WarpItems::none(graph, &values)?,
            false => WarpItems::new(graph, &sums.horn, &places, &values, gang)?,
        };
        let any_pairs =
            !by_levels && (0..graph.factor_count()).any(|factor| may_be_pair(graph, factor));
        let inputs = if any_pairs { &warp_items.edge_inputs[..] } else { &[] };
        Ok(Self {
            sums: MachinePlan::new(graph, sums, (schedule, order), &shape, &places, inputs)?,
            variables: Shares::variables(graph, by_levels, gang)?,
            tiles: Tiles::new(graph, (LEAVES_OF_LANE * shape.warp) as usize, gang)?,
            shape,
            values,
            places,
            warp_items,
            any_pairs,
        })
    }
}

/// What a [`Machine`](super::buffers::Machine) is made of: factors, as one kind of inference has them, and the iterations of a preorder.
pub(super) struct MachinePlan {
    pub factors: Factors,
    pub work: TaskLists,
    /// Factors with one variable, and how many of them each span has.
    pub constants: (Vec<u32>, [u32; 3]),
    /// Bytes of memory of a group of each span.
    pub bytes: [u64; 3],
}

impl MachinePlan {
    /// `inputs` are those of [`WarpItems`] by edge, or none where no factor can be among [`Pairs`].
    pub fn new(
        graph: &FactorGraph, factors: Factors, (schedule, order): (&Schedule, &KnownOrder),
        shape: &Shape, places: &Places, inputs: &[u32],
    ) -> Result<Self> {
        let gang = &gang_for(graph);
        let pairs = Pairs::new(graph, &factors, places, inputs, gang)?;
        // Where each iteration has levels of its own, level items would take longer to make than they save.
        let level_factors = match shape.by_levels && !shape.iterations_differ {
            true => Some(LevelFactors::new(graph, &factors, places)?),
            false => None,
        };
        let shares = Shares::new(graph, &factors.scratch, level_factors.as_ref());
        let is_pair = |f| !pairs.is_empty() && class_of(graph, &factors, f).is_some();
        let work = match shape.by_levels {
            true => {
                let preorder = order.preorder(graph, schedule)?;
                let levels = order.levels(graph, schedule)?;
                shares.by_levels(preorder, levels, !shape.iterations_differ, gang)?
            }
            false => shares.synchronous(is_pair)?,
        };
        let bytes = shares.scratch(shape.by_levels.then_some(&work.prepared), is_pair);
        let constants = shares.constants()?;
        let work = TaskLists { pairs, ..work };
        Ok(Self { factors, work, constants, bytes })
    }

    /// Blocks of a launch, of which so many fit on the device at a time.
    pub fn blocks(
        &self, graph: &FactorGraph, shape: &Shape, sizes: Sizes, most_blocks: u32,
    ) -> u32 {
        let Self { work, .. } = self;
        let lanes = sizes.warp_items * ITEM_LANES + work.pairs.lanes();
        let variables = Shares::threads_of_variables(graph);
        let variables = if shape.by_levels { variables / VARIABLES_PER_THREAD } else { variables };
        let width = |span: usize| work.items[span].width().max(work.prepared.items[span].width());
        let [threads, warps, blocks] = [0, 1, 2].map(width);
        let warps = warps.max(work.level_items.width());
        let threads =
            (threads + lanes).max(variables).max(warps.saturating_mul(shape.warp as usize));
        let blocks = threads.div_ceil(THREADS as usize).max(blocks);
        u32::try_from(blocks).unwrap_or(u32::MAX).clamp(1, most_blocks)
    }
}
