//! The schedules by name.

use super::forward_backward::forward_backward;
use super::preorder::Preorder;
use super::random::{random_blocks, random_order};
use super::topological::topological;
use super::tree::tree;
use crate::error::{Error, Result};
use crate::memory::collected;
use crate::model::FactorGraph;
use std::sync::Arc;

/// A schedule: the order in which an iteration updates the messages, as the preorder of each iteration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Schedule {
    /// PARALL: one class of all edges (synchronous updates).
    Parallel,
    /// SEQFIX: one edge after the other, factors ascending, within a factor variables ascending.
    SequentialFixed,
    /// SEQRND: one edge after the other, in a fresh random order in each iteration; see
    /// [`super::random_order`].
    SequentialRandom {
        /// The seed: the same one gives the same orders, on every machine.
        seed: u64,
    },
    /// BLOCKS: every edge is put into one of some classes, each with the same probability; the
    /// classes are updated one after the other, the edges of one at once. The same classes every
    /// iteration.
    ///
    /// One block is PARALL; some give much of what strict orders have over it, in few levels.
    ///
    /// With draws and numbers below n as [`super::random_order`] defines them, the generator starts
    /// with s = draw(s = `seed`). The classes of the edges 0, 1, 2, ... are one number below
    /// `blocks` each, drawn in this order.
    Blocks {
        /// The number of classes, 1 or more; some may be empty. [`Schedule::preorder`] of 0 blocks
        /// is an error.
        blocks: u32,
        /// The seed: the same one gives the same classes, on every machine.
        seed: u64,
    },
    /// TOPO: one edge after the other, along the arcs from the bodies to the heads of the factors
    /// that have one, as AND and OR do.
    ///
    /// Variables are positioned in topological order of these arcs: strongly connected components
    /// one after the other, of those that may come next always the one with the lowest variable;
    /// within a component by label. Factors are taken by the position of their head, then by
    /// index. First come all messages to heads, in that order; then all others, factors in the
    /// reverse order and within a factor variables descending. The head of a prior is its
    /// variable. A table has no head and gives no arcs: the one of its variables with the highest
    /// position counts as its head.
    ///
    /// Exact in one iteration without evidence on polytrees: graphs without cycles in which every factor
    /// is the conditional distribution of its head, and every variable heads one at most. Without
    /// any arcs, as [`Schedule::Tree`].
    Topological,
    /// FWDBWD: along the same arcs as [`Schedule::Topological`], but all messages of a depth at
    /// once, so that there are fewer and wider levels.
    ///
    /// The depth of a variable is the length of the longest path of arcs between different strongly
    /// connected components that ends in its component: 0 where no arc from another component
    /// leads, and the same for all variables of a component. First come the messages to heads, by
    /// the depth of the head, least first; then all others, by the depth of their factor's head,
    /// greatest first. Those of equal depth are one class. The head of a prior is its
    /// variable; that of a table the one of its variables with the greatest depth, of several the
    /// one with the highest label.
    ///
    /// Exact in one iteration without evidence on polytrees, as [`Schedule::Topological`] is: a message
    /// to a head reads messages to heads that are less deep, and messages to bodies, which are
    /// uniform there. Without any arcs, as [`Schedule::Tree`].
    ForwardBackward,
    /// TREE: two sweeps over a breadth-first spanning forest of the graph of variables and factors.
    ///
    /// The root of each component is its lowest variable, neighbours are visited in index order.
    /// First come the messages to the variable nearer to the root, factors with the greatest
    /// depth first, then those to the variables farther away, factors with the least depth first;
    /// equal depths are one class. Exact in one iteration on every forest, with any evidence.
    Tree,
    /// SEQMAX: one edge after the other, always the one whose message would change most (residual
    /// belief propagation, as libDAI's). Of equal changes the one computed last goes first. An iteration is
    /// as many messages as there are edges. No preorder: the order follows from the messages.
    MaximumResidual {
        /// Whether changes are those of logarithms of probabilities (libDAI's `logdomain=1`) instead
        /// of probabilities.
        log_domain: bool,
    },
    /// CUSTOM: the user's own preorder, the same one in every iteration.
    Custom(Arc<Preorder>),
}

impl Schedule {
    /// The number of blocks of BLOCKS where none is given.
    pub const DEFAULT_BLOCKS: u32 = 8;

    /// All schedules that have a name, with these parameters where they have some. SEQMAX, the one that is no
    /// preorder, comes last.
    pub const fn named(seed: u64, blocks: u32) -> [Schedule; 8] {
        [
            Schedule::Parallel,
            Schedule::SequentialFixed,
            Schedule::SequentialRandom { seed },
            Schedule::Blocks { blocks, seed },
            Schedule::Topological,
            Schedule::ForwardBackward,
            Schedule::Tree,
            Schedule::MaximumResidual { log_domain: false },
        ]
    }

    /// The names that [`Self::from_name`] takes, in the order of [`Self::named`].
    pub fn names() -> [&'static str; 8] {
        Self::named(0, 1).map(|schedule| schedule.name())
    }

    /// The name of the schedule; libDAI's name where libDAI has it.
    pub fn name(&self) -> &'static str {
        match self {
            Schedule::Parallel => "PARALL",
            Schedule::SequentialFixed => "SEQFIX",
            Schedule::SequentialRandom { .. } => "SEQRND",
            Schedule::Blocks { .. } => "BLOCKS",
            Schedule::Topological => "TOPO",
            Schedule::ForwardBackward => "FWDBWD",
            Schedule::Tree => "TREE",
            Schedule::MaximumResidual { .. } => "SEQMAX",
            Schedule::Custom(_) => "CUSTOM",
        }
    }

    /// The schedule of a name (upper or lower case). `seed` is that of SEQRND and BLOCKS; the others
    /// ignore it. BLOCKS gets [`Self::DEFAULT_BLOCKS`]. CUSTOM has no name here since it needs a
    /// preorder.
    pub fn from_name(name: &str, seed: u64) -> Result<Self> {
        let known = Self::named(seed, Self::DEFAULT_BLOCKS);
        let found = known.into_iter().find(|schedule| schedule.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let [others @ .., last] = Self::names();
            let others = others.join(", ");
            Error::InvalidArgument(format!("schedule '{name}': {others} or {last} is needed"))
        })
    }

    /// Whether every iteration has the same preorder.
    pub fn is_static(&self) -> bool {
        !matches!(self, Schedule::SequentialRandom { .. } | Schedule::MaximumResidual { .. })
    }

    /// Whether its preorder depends on which of a factor's variables is the head: a graph whose tables were
    /// replaced by other kinds then has another one.
    pub(crate) fn follows_heads(&self) -> bool {
        match self {
            Schedule::Topological | Schedule::ForwardBackward => true,
            Schedule::Parallel
            | Schedule::SequentialFixed
            | Schedule::SequentialRandom { .. }
            | Schedule::Blocks { .. }
            | Schedule::Tree
            | Schedule::MaximumResidual { .. }
            | Schedule::Custom(_) => false,
        }
    }

    /// Whether a run on a graph can have it. Errors: a custom preorder that is not one on the edges of
    /// this graph; BLOCKS with 0 blocks.
    pub(crate) fn check(&self, graph: &FactorGraph) -> Result<()> {
        match self {
            Schedule::Blocks { blocks: 0, .. } => {
                Err(Error::InvalidArgument("BLOCKS with 0 blocks: 1 or more are needed".into()))
            }
            Schedule::Custom(preorder) if preorder.edge_count() != graph.edge_count() => {
                Err(Error::InvalidArgument(format!(
                    "the custom preorder ranks {} edges, the graph has {}: \
                     it must be made for this graph",
                    preorder.edge_count(),
                    graph.edge_count()
                )))
            }
            _ => Ok(()),
        }
    }

    /// The preorder of an iteration. Only that of SEQRND depends on the number of the iteration, and on nothing else
    /// of it.
    ///
    /// Errors: a custom preorder that is not one on the edges of this graph; BLOCKS with 0 blocks;
    /// SEQMAX, which has none.
    pub fn preorder(&self, graph: &FactorGraph, iteration: u64) -> Result<Preorder> {
        self.check(graph)?;
        let edges = graph.edge_count();
        match self {
            Schedule::Parallel => Preorder::flat(edges),
            Schedule::SequentialFixed => {
                Ok(Preorder::from_dense(collected(0..edges as u32)?, edges))
            }
            Schedule::SequentialRandom { seed } => {
                let mut order = Vec::new();
                random_order(edges, *seed, iteration, &mut order)?;
                Preorder::from_order(&order)
            }
            Schedule::Blocks { blocks, seed } => {
                Preorder::compress(&random_blocks(edges, *blocks, *seed)?)
            }
            Schedule::Topological => topological(graph),
            Schedule::ForwardBackward => forward_backward(graph),
            Schedule::Tree => tree(graph),
            Schedule::MaximumResidual { .. } => Err(Error::Unsupported(
                "the schedule SEQMAX has no preorder: which message comes next depends on the \
                 messages"
                    .into(),
            )),
            Schedule::Custom(preorder) => preorder.try_clone(),
        }
    }
}
