//! The update strategies by name.

use super::preorder::Preorder;
use super::random::random_order;
use super::topological::topological;
use super::tree::tree;
use crate::error::{Error, Result};
use crate::model::FactorGraph;
use std::sync::Arc;

/// An update strategy: gives the preorder of each pass.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Schedule {
    /// PARALL: one class of all edges (flooding, synchronous updates).
    Parallel,
    /// SEQFIX: one edge after the other, factors ascending, within a factor variables ascending.
    SequentialFixed,
    /// SEQRND: one edge after the other, in a fresh random order every pass; see
    /// [`super::random_order`].
    SequentialRandom {
        /// The seed: the same one gives the same orders, on every machine.
        seed: u64,
    },
    /// TOPO: one edge after the other, along the arcs from the bodies to the heads of the AND and
    /// OR factors.
    ///
    /// Variables are positioned in topological order of these arcs: strongly connected components
    /// one after the other, of those that may come next always the one with the lowest variable;
    /// within a component by label. Factors are taken by the position of their head, then by
    /// index. First come all messages to heads, in that order; then all others, factors in the
    /// reverse order and within a factor variables descending. The head of a singleton is its
    /// variable. A table has no head and gives no arcs: the one of its variables with the highest
    /// position counts as its head.
    ///
    /// Exact in one pass without evidence on polytrees. Without any AND or OR factor, as
    /// [`Schedule::Tree`].
    Topological,
    /// TREE: two sweeps over a breadth-first spanning forest of the graph of variables and factors.
    ///
    /// The root of each component is its lowest variable, neighbours are visited in index order.
    /// First come the messages to the variable nearer to the root, factors with the greatest
    /// depth first, then those to the variables farther away, factors with the least depth first;
    /// equal depths are one class. Exact in one pass on every forest, with any evidence.
    Tree,
    /// CUSTOM: the user's own preorder, the same one every pass.
    Custom(Arc<Preorder>),
}

impl Schedule {
    /// The name of the strategy as libDAI's users know it.
    pub fn name(&self) -> &'static str {
        match self {
            Schedule::Parallel => "PARALL",
            Schedule::SequentialFixed => "SEQFIX",
            Schedule::SequentialRandom { .. } => "SEQRND",
            Schedule::Topological => "TOPO",
            Schedule::Tree => "TREE",
            Schedule::Custom(_) => "CUSTOM",
        }
    }

    /// The strategy of a name (upper or lower case). `seed` is that of SEQRND; the others ignore
    /// it. CUSTOM has no name here since it needs a preorder.
    pub fn from_name(name: &str, seed: u64) -> Result<Self> {
        let known = [
            Schedule::Parallel,
            Schedule::SequentialFixed,
            Schedule::SequentialRandom { seed },
            Schedule::Topological,
            Schedule::Tree,
        ];
        let found = known.into_iter().find(|schedule| schedule.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            Error::InvalidArgument(format!(
                "schedule '{name}': PARALL, SEQFIX, SEQRND, TOPO or TREE is needed"
            ))
        })
    }

    /// Whether every pass has the same preorder.
    pub fn is_static(&self) -> bool {
        !matches!(self, Schedule::SequentialRandom { .. })
    }

    /// The preorder of a pass. Only SEQRND depends on the pass, and only on its number.
    ///
    /// An error if a custom preorder is not one on the edges of this graph.
    pub fn preorder(&self, graph: &FactorGraph, pass: u64) -> Result<Preorder> {
        let edges = graph.edge_count();
        Ok(match self {
            Schedule::Parallel => Preorder::flat(edges),
            Schedule::SequentialFixed => Preorder::from_dense((0..edges as u32).collect(), edges),
            Schedule::SequentialRandom { seed } => {
                let mut order = Vec::new();
                random_order(edges, *seed, pass, &mut order);
                Preorder::from_order(&order)
            }
            Schedule::Topological => topological(graph),
            Schedule::Tree => tree(graph),
            Schedule::Custom(preorder) => {
                if preorder.edge_count() != edges {
                    return Err(Error::InvalidArgument(format!(
                        "the custom preorder ranks {} edges, the graph has {edges}: \
                         it must be made for this graph",
                        preorder.edge_count()
                    )));
                }
                Preorder::clone(preorder)
            }
        })
    }
}
