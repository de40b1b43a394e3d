//! Dependency levels: the fewest groups of edges that can be updated at once.
//!
//! FastLBP's Algorithm 1 ("GPU-Accelerated Belief Propagation for Program Analysis") cuts the order
//! of a schedule into contiguous greedy batches, in O(edges^2). Levels need not be contiguous: an
//! edge is put as early as its own dependencies allow, which gives several times fewer groups, and
//! the fewest possible ones. This is the level scheduling (wavefronts) known from sparse triangular
//! solves.
//!
//! # The constraints
//!
//! For an edge e and every edge d whose message e reads:
//!
//! 1. d ranks before e: level(e) >= level(d) + 1, as e reads d's new value.
//! 2. d ranks with e or after it: level(d) >= level(e), as e reads d's old value, which must not
//!    be overwritten before. Equal levels are fine since all messages of a level are computed
//!    before any of them is stored. [`Storage::SideBySide`] has no such constraint.
//!
//! # The least solution in one sweep over the edges
//!
//! Both constraints bound the level of an edge from below by levels of edges that rank before it
//! or with it, so classes are settled in rank order. What an edge (f, v) needs to know of earlier
//! classes is kept per variable w: the highest level of updates of w, for readers (f, v) with w in
//! f, and the highest level of reads of w, for writers (f, w). Either time the edge's own factor
//! does not count, so the best two levels by distinct factors suffice. The maximum over all w in f
//! but v is, in the same way, had for all edges of f at once from the best two by distinct
//! variables, which costs O(arity) for all edges of a class that share a factor, and for a run of
//! classes with edges of only one factor, as these never read each other. Inside a class with
//! edges of several factors, constraint 2 still has to be propagated: see `settle`. Factors with so
//! many variables that O(arity) per group would hurt are treated by `high_arity`.

use super::factor_order;
use super::high_arity::HighArityFactors;
use super::preorder::{Preorder, counting_sort};
use super::settle::ClassSettler;
use super::top_two::TopTwo;
use crate::error::{Error, Result};
use crate::memory::{collected, filled};
use crate::model::FactorGraph;
use crate::prefetch::prefetch;
use std::ops::Range;

/// By so many edges, what is looked up of an edge and then of its factor's variables is prefetched before it is needed.
const AHEAD: usize = 16;

/// Variables of a factor for which something is prefetched; few factors have more.
const PREFETCHED_VARIABLES: usize = 8;

/// Where the messages of the previous iteration are while an iteration runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// New messages overwrite old ones: an old value must be read before it is overwritten.
    InPlace,
    /// Old and new messages lie side by side: old values can be read at any time, which needs
    /// fewer levels.
    SideBySide,
}

/// The edges of a graph in groups to be updated one after the other.
///
/// Updating a level means to compute all its messages and only then to store them; within a level
/// the order does not matter. Levels are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    level_of_edge: Vec<u32>,
    order: Vec<u32>,
    offsets: Vec<u32>,
    widths: Vec<u32>,
}

impl Levels {
    fn new(level_of_edge: Vec<u32>) -> Result<Self> {
        let count = level_of_edge.iter().max().map_or(0, |&highest| highest as usize + 1);
        let (order, offsets) = counting_sort(&level_of_edge, count)?;
        let widths = collected(offsets.windows(2).map(|pair| pair[1] - pair[0]))?;
        Ok(Self { level_of_edge, order, offsets, widths })
    }

    /// Number of levels; 0 only if there are no edges.
    pub fn count(&self) -> usize {
        self.widths.len()
    }

    /// Number of edges of each level, never 0.
    pub fn widths(&self) -> &[u32] {
        &self.widths
    }

    /// Level of each edge, from 0.
    pub fn level_of_edge(&self) -> &[u32] {
        &self.level_of_edge
    }

    /// The edges sorted by level, then by edge index.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Where each level starts in [`Self::order`]: one entry more than there are levels.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The edges of a level, ascending. Panics if there is no such level.
    pub fn edges(&self, level: usize) -> &[u32] {
        &self.order[self.offsets[level] as usize..self.offsets[level + 1] as usize]
    }
}

/// What later classes need to know of a variable. Levels count from 1 here.
#[derive(Clone, Copy, Debug)]
struct VariableState {
    /// Levels of the updates of its incoming messages, by factor.
    updates: TopTwo,
    /// Levels of the edges that read its incoming messages, by the factor of the reader.
    reads: TopTwo,
}

/// The fewest levels for a schedule: the least solution of the constraints that the storage
/// imposes (paper, Algorithm 1, finds contiguous batches for the same purpose).
///
/// O(edges) for orders that list a factor's edges together (SEQFIX), O(sum of squared arities) at
/// most for others, and O(edges^1.5) whatever the arities. An error if the preorder is not one on
/// the edges of this graph.
pub fn analyse(graph: &FactorGraph, preorder: &Preorder, storage: Storage) -> Result<Levels> {
    if preorder.edge_count() != graph.edge_count() {
        return Err(Error::InvalidArgument(format!(
            "the preorder ranks {} edges, the graph has {}: it must be made for this graph",
            preorder.edge_count(),
            graph.edge_count()
        )));
    }
    if factor_order::follows_factors(graph, preorder) {
        return Levels::new(factor_order::levels(graph, storage == Storage::InPlace)?);
    }
    let edge_root = graph.edge_count().isqrt();
    analyse_with(graph, preorder, storage, edge_root.max(512), 16)
}

/// [`analyse`], treating as high-arity the factors from `min_arity` variables and `min_groups` groups on.
pub(super) fn analyse_with(
    graph: &FactorGraph, preorder: &Preorder, storage: Storage, min_arity: usize, min_groups: u32,
) -> Result<Levels> {
    let (order, offsets) = preorder.classes()?;
    let high_arity = HighArityFactors::select(graph, &order, min_arity, min_groups)?;
    let state = VariableState { updates: TopTwo::NONE, reads: TopTwo::NONE };
    let mut analysis = Analysis {
        graph,
        in_place: storage == Storage::InPlace,
        levels: filled(graph.edge_count(), 0)?,
        variables: filled(graph.variable_count(), state)?,
        high_arity,
    };
    let mut settler = None;
    let factors = graph.edge_factors();
    // Sorted by edge index, a class lists the edges of a factor together.
    let class_edges = |class: usize| offsets[class] as usize..offsets[class + 1] as usize;
    let only_factor = |class: usize| {
        let edges = class_edges(class);
        let (first, last) = (order[edges.start], order[edges.end - 1]);
        let factor = factors[first as usize];
        (factors[last as usize] == factor).then_some(factor)
    };
    let mut class = 0;
    while class < preorder.class_count() {
        let Range { start, mut end } = class_edges(class);
        let factor = only_factor(class);
        class += 1;
        if factor.is_some() {
            // Following classes of the same factor neither read this one nor are read by it.
            while class < preorder.class_count() && only_factor(class) == factor {
                end = class_edges(class).end;
                class += 1;
            }
            analysis.prefetch(&order, start..end);
            analysis.bound(&order[start..end]);
            analysis.record(&order[start..end]);
            continue;
        }
        let edges = &order[start..end];
        // The places of the edges of each factor.
        let groups = || {
            let mut end = start;
            let groups = edges.chunk_by(|&a, &b| factors[a as usize] == factors[b as usize]);
            groups.map(move |group| {
                end += group.len();
                end - group.len()..end
            })
        };
        for group in groups() {
            analysis.prefetch(&order, group.clone());
            analysis.bound(&order[group]);
        }
        if analysis.in_place {
            let settler = match &mut settler {
                Some(settler) => settler,
                None => settler.insert(ClassSettler::new(graph)?),
            };
            settler.settle(edges, &mut analysis.levels)?;
        }
        for group in groups() {
            analysis.prefetch(&order, group.clone());
            analysis.record(&order[group]);
        }
    }
    // Every edge has got a level from 1 on.
    let mut levels = analysis.levels;
    levels.iter_mut().for_each(|level| *level -= 1);
    Levels::new(levels)
}

struct Analysis<'a> {
    graph: &'a FactorGraph,
    in_place: bool,
    levels: Vec<u32>,
    variables: Vec<VariableState>,
    high_arity: Option<HighArityFactors>,
}

impl Analysis<'_> {
    /// Prefetches what [`Self::bound`] and [`Self::record`] look up for the edges that follow those at some places of the order.
    fn prefetch(&self, order: &[u32], places: Range<usize>) {
        let factors = self.graph.edge_factors();
        for place in places {
            if let Some(&edge) = order.get(place + 2 * AHEAD) {
                prefetch(factors, edge as usize);
                prefetch(self.graph.edge_variables(), edge as usize);
                prefetch(&self.levels, edge as usize);
            }
            if let Some(&edge) = order.get(place + AHEAD) {
                let variables = self.graph.factor_variables(factors[edge as usize] as usize);
                for &v in variables.iter().take(PREFETCHED_VARIABLES) {
                    prefetch(&self.variables, v as usize);
                }
            }
        }
    }

    /// Sets the levels of edges of one factor to what the earlier classes demand.
    fn bound(&mut self, group: &[u32]) {
        let Some(&first) = group.first() else { return };
        let edge_variables = self.graph.edge_variables();
        let factor = self.graph.edge_factors()[first as usize];
        let high_arity = self.high_arity.as_ref();
        // What the factor reads of each variable, the two highest levels by variable.
        let read = high_arity
            .and_then(|high_arity| high_arity.updates_read_by(factor))
            .unwrap_or_else(|| {
                let mut read = TopTwo::NONE;
                for &v in self.graph.factor_variables(factor as usize) {
                    read.raise(v, self.variables[v as usize].updates.without(factor));
                }
                read
            });
        for &edge in group {
            let v = edge_variables[edge as usize];
            let mut level = 1 + read.without(v);
            if self.in_place {
                level = level.max(self.variables[v as usize].reads.without(factor));
                if let Some(high_arity) = high_arity {
                    level = level.max(high_arity.highest_read(v, factor));
                }
            }
            self.levels[edge as usize] = level;
        }
    }

    /// Makes the final levels of edges of one factor known to later classes.
    fn record(&mut self, group: &[u32]) {
        let Some(&first) = group.first() else { return };
        let edge_variables = self.graph.edge_variables();
        let factor = self.graph.edge_factors()[first as usize];
        let mut own = TopTwo::NONE;
        for &edge in group {
            let v = edge_variables[edge as usize];
            let level = self.levels[edge as usize];
            own.raise(v, level);
            self.variables[v as usize].updates.raise(factor, level);
            if let Some(high_arity) = &mut self.high_arity {
                high_arity.record_update(v, factor, level);
                high_arity.record_read(factor, v, level);
            }
        }
        if !self.in_place
            || self.high_arity.as_ref().is_some_and(|high_arity| high_arity.contains(factor))
        {
            return;
        }
        for &v in self.graph.factor_variables(factor as usize) {
            self.variables[v as usize].reads.raise(factor, own.without(v));
        }
    }
}
