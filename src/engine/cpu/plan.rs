//! Turns a schedule into the plan of an iteration: synchronous, in batches, or by largest residual.

use super::assignment::Assignment;
use super::batches::{Batches, Tasks};
use super::high_arity::HighArityFactors;
use super::lane_layout::lane_layout;
use super::lanes::Lanes;
use super::mixed::MixedBatches;
use super::parallel::ParallelBatches;
use super::random::RandomOrders;
use super::residual::Residual;
use super::state::State;
use super::team::Team;
use super::trees::{Cursors, Trees};
use super::tuning::Tuning;
use crate::error::Result;
use crate::memory::boxed;
use crate::schedule::{KnownOrder, Schedule, Storage, analyse};

/// What one iteration does.
pub(super) enum Plan {
    /// Synchronous: every message reads those of the previous iteration.
    Synchronous,
    /// Batches of edges, with product trees for messages that are updated few at a time.
    Batches(Box<BatchPlan>),
    /// SEQMAX: the message that would change most is updated next.
    Residual(Box<Residual>),
}

impl Order {
    /// The classes or levels, where they may have edges of many factors.
    pub(super) fn batches(&self) -> Option<&Batches> {
        match self {
            Self::Serial(batches) => Some(batches),
            Self::Parallel(parallel) => Some(parallel.batches()),
            Self::Lanes(_) | Self::Random(_) => None,
        }
    }
}

/// See [`Plan::Batches`].
pub(super) struct BatchPlan {
    pub(super) order: Order,
    pub(super) trees: Trees,
    pub(super) cursors: Cursors,
    pub(super) high_arity: HighArityFactors,
    /// How plain runs update classes or levels with edges of many factors, once messages of factors with one variable are there.
    pub(super) mixed: Option<MixedBatches>,
    /// Whether `mixed` has run an iteration since anybody else changed messages.
    pub(super) follows_messages: bool,
}

impl BatchPlan {
    fn new(order: Order, trees: Trees, cursors: Cursors, high_arity: HighArityFactors) -> Self {
        Self { order, trees, cursors, high_arity, mixed: None, follows_messages: false }
    }
}

pub(super) enum Order {
    /// Classes of the preorder, on one thread.
    Serial(Batches),
    /// Classes of the preorder, each of one factor, on several threads.
    Lanes(Lanes),
    /// Levels of the dependency analysis, on all threads.
    Parallel(ParallelBatches),
    /// A fresh permutation in each iteration.
    Random(RandomOrders),
}

impl Plan {
    pub(super) fn new(
        state: &mut State, schedule: &Schedule, order: &KnownOrder, team: &Team, tuning: &Tuning,
    ) -> Result<Self> {
        if let Schedule::MaximumResidual { log_domain } = *schedule {
            return Ok(Plan::Residual(boxed(Residual::new(state, log_domain)?)?));
        }
        if let Schedule::SequentialRandom { seed } = *schedule {
            let trees = Trees::new(state)?;
            let cursors = Cursors::default();
            let high_arity = HighArityFactors::new(state, |_| true)?;
            let order = Order::Random(RandomOrders::new(state, seed, team.threads(), tuning)?);
            return Ok(Plan::Batches(boxed(BatchPlan::new(order, trees, cursors, high_arity))?));
        }
        if let Schedule::Parallel = schedule {
            state.require_by_edge()?;
            return Ok(Plan::Synchronous);
        }
        let preorder = order.preorder(&state.graph, schedule)?;
        if preorder.class_count() <= 1 {
            state.require_by_edge()?;
            return Ok(Plan::Synchronous);
        }
        let mut classes = Batches::of_classes(state, preorder)?;
        let few = classes.sends_few(state)?;
        let high_arity = HighArityFactors::new(state, |f| few[f])?;
        let mut trees = Trees::new(state)?;
        let threads = team.threads();
        let may_be_shared = threads > 1 && high_arity.is_empty();
        let mut mixes_factors = classes.mixes_factors(state);
        if mixes_factors {
            // A batch of several factors keeps its new messages in `by_edge` until all of them are computed.
            state.require_by_edge()?;
        }
        if mixes_factors && may_be_shared {
            let levels = analyse(&state.graph, preorder, Storage::InPlace)?;
            let batches = Batches::of_levels(&levels)?;
            let in_two_steps = MixedBatches::serves(state, &batches, tuning);
            if !batches.sends_few(state)?.contains(&true)
                && batches.pays(state, threads, in_two_steps, tuning)
            {
                let parallel = ParallelBatches::new(state, &trees, batches, tuning)?;
                let batches = parallel.batches();
                let mixed = in_two_steps
                    .then(|| MixedBatches::new(state, &trees, batches, threads, tuning))
                    .transpose()?;
                let order = Order::Parallel(parallel);
                let plan = BatchPlan::new(order, trees, Cursors::default(), high_arity);
                return Ok(Plan::Batches(boxed(BatchPlan { mixed, ..plan })?));
            }
        }
        if mixes_factors && !MixedBatches::are_wide(state, &classes, tuning) {
            classes = classes.by_factors(state)?;
            mixes_factors = classes.mixes_factors(state);
        }
        if !mixes_factors
            && may_be_shared
            && let Some(assignment) = Assignment::new(state, &classes, threads, tuning)?
        {
            classes.prepare_serial(state, Tasks::OfParts)?;
            if state.graph.all_binary()
                && let Some(layout) = lane_layout(state, &classes, &assignment, tuning)?
            {
                state.arrange(Some(layout))?;
                trees.find_roots(state)?;
            }
            let order = Order::Lanes(Lanes::new(state, classes, &assignment, tuning)?);
            let cursors = Cursors::new(&trees)?;
            return Ok(Plan::Batches(boxed(BatchPlan::new(order, trees, cursors, high_arity))?));
        }
        classes.prepare_serial(state, Tasks::OfParts)?;
        let cursors = Cursors::new(&trees)?;
        let mixed = match mixes_factors && MixedBatches::serves(state, &classes, tuning) {
            true => Some(MixedBatches::new(state, &trees, &classes, 1, tuning)?),
            false => None,
        };
        let plan = BatchPlan::new(Order::Serial(classes), trees, cursors, high_arity);
        Ok(Plan::Batches(boxed(BatchPlan { mixed, ..plan })?))
    }
}
