//! Messages that are updated one at a time in an order that jumps about, as that of SEQRND does.
//!
//! What a message reads is found in three steps, each of which needs what the one before has read: what is known of its edge,
//! the links of its factor's edges, and the messages to their variables. None of these is in the cache in such an order, but
//! the order is known, so that each step is prefetched a few messages ahead of the next one.

use super::batches::Task;
use super::serial::Serial;
use super::state::State;
use super::trees::Trees;
use crate::error::Result;
use crate::kernel::small_horn_messages;
use crate::memory::collected;
use crate::model::FactorGraph;
use crate::prefetch::prefetch;
use std::ops::Range;

/// By how many messages each step of the prefetch precedes the computation: that of the edge, of the links and of the
/// messages. Where a step takes a hundred nanoseconds from memory, a few messages of some tens each are enough.
const EDGE_DISTANCE: usize = 24;
const LINK_DISTANCE: usize = 16;
const MESSAGE_DISTANCE: usize = 8;

/// Edges of a factor whose messages are prefetched; few factors have more.
const MOST_LINKS: usize = 4;

/// What updating each message alone needs.
pub(super) struct Singles {
    /// Per edge.
    edges: Vec<Single>,
}

/// The message along an edge, in 12 bytes.
struct Single {
    /// The first edge of its factor.
    first: u32,
    /// Index of the factor's coefficients.
    coefficients: u32,
    /// Number of variables of a binary conjunction, 2 to 8; 1 for a factor with one variable; 0 for any other.
    arity: u8,
    /// Position of the factor's head.
    head: u8,
    /// Position of the edge among those of the factor.
    position: u8,
}

impl Single {
    /// For how many of the factor's variables something is prefetched, from the first one on.
    #[inline(always)]
    fn prefetched(&self) -> usize {
        // (Where the arity is not known, all.)
        MOST_LINKS.min(self.arity.wrapping_sub(1) as usize + 1)
    }
}

impl Singles {
    pub(super) fn new(state: &State) -> Result<Self> {
        let graph = &state.graph;
        let edges = collected((0..graph.edge_count()).map(|edge| {
            let factor = graph.edge_factors()[edge] as usize;
            match Task::of_conjunction(state, factor) {
                Some(Task { first, coefficients, arity, head, .. }) => Single {
                    first,
                    coefficients,
                    arity,
                    head,
                    position: (edge as u32 - first) as u8,
                },
                None => {
                    let first = graph.factor_edges(factor).start as u32;
                    let arity = u8::from(graph.arity(factor) == 1);
                    Single { first, coefficients: 0, arity, head: 0, position: 0 }
                }
            }
        }))?;
        Ok(Self { edges })
    }

    /// The variables of the factor of an edge.
    #[inline(always)]
    pub(super) fn variables<'a>(&self, graph: &'a FactorGraph, edge: u32) -> &'a [u32] {
        let Single { first, arity, .. } = self.edges[edge as usize];
        match arity {
            0 => graph.factor_variables(graph.edge_factors()[edge as usize] as usize),
            _ => &graph.edge_variables()[first as usize..][..arity as usize],
        }
    }

    /// Prefetches what is known of `variables` for the edges that follow the one at `place` of an order.
    #[inline(always)]
    pub(super) fn look_ahead_for_variables<T>(
        &self, graph: &FactorGraph, variables: &[T], order: &[u32], place: usize,
    ) {
        let edge_variables = graph.edge_variables();
        if let Some(&edge) = order.get(place + EDGE_DISTANCE) {
            prefetch(&self.edges, edge as usize);
            prefetch(edge_variables, edge as usize);
        }
        if let Some(&edge) = order.get(place + MESSAGE_DISTANCE) {
            let single = &self.edges[edge as usize];
            let factor = edge_variables[single.first as usize..].iter();
            factor.take(single.prefetched()).for_each(|&v| prefetch(variables, v as usize));
        }
    }

    /// Prefetches what does not change for the computations that follow the one at `place` of an order.
    #[inline(always)]
    fn look_ahead(&self, state: &State, order: &[u32], place: usize) {
        if let Some(&edge) = order.get(place + EDGE_DISTANCE) {
            prefetch(&self.edges, edge as usize);
        }
        if let Some(&edge) = order.get(place + LINK_DISTANCE) {
            let Single { first, coefficients, arity, .. } = self.edges[edge as usize];
            prefetch(&state.links, first as usize);
            // (To find evidence.)
            prefetch(state.graph.edge_variables(), first as usize);
            if arity >= 2 {
                // They may lie across two cache lines.
                prefetch(&state.links, first as usize + arity as usize - 1);
                prefetch(state.all_coefficients(), coefficients as usize);
            }
        }
    }

    /// Prefetches the messages for the computation of one along an edge; where other threads may have replaced some (`ARE_SHARED`),
    /// products of high-degree variables, too.
    #[inline(always)]
    fn look_ahead_for_messages<const ARE_SHARED: bool>(
        &self, state: &State, trees: &Trees, edge: u32,
    ) {
        let single = &self.edges[edge as usize];
        let links = state.links[single.first as usize..].iter().take(single.prefetched());
        for (position, &link) in links.enumerate() {
            let is_own = ARE_SHARED && position == single.position as usize;
            if is_own {
                state.to_variable.prefetch_to_write(link.slot as usize);
            } else {
                state.to_variable.prefetch(link.slot as usize);
            }
            if link.high_degree {
                if ARE_SHARED {
                    trees.prefetch_path(link, is_own);
                } else {
                    trees.prefetch_root(link);
                }
            }
        }
    }
}

impl Serial<'_> {
    /// Updates the messages at some places of an order one after the other. Other threads may have replaced messages and products
    /// before, if they share them.
    pub(super) fn run_sequence<const ARE_SHARED: bool>(
        &mut self, order: &[u32], places: Range<usize>, singles: &Singles,
    ) {
        if self.state.is_plain_run() && self.high_arity.is_empty() {
            return match self.state.threshold {
                None => self.run_singles::<ARE_SHARED, false>(order, places, singles),
                Some(_) => self.run_singles::<ARE_SHARED, true>(order, places, singles),
            };
        }
        for &edge in &order[places] {
            self.run_batch(&[edge]);
        }
    }

    /// [`Self::run_sequence`] for sums without damping, and without trees of high-arity factors.
    fn run_singles<const ARE_SHARED: bool, const DROPS: bool>(
        &mut self, order: &[u32], places: Range<usize>, singles: &Singles,
    ) {
        let (state, trees) = (self.state, self.high_degree_variables.trees);
        let look_ahead = |edge: u32| {
            singles.look_ahead_for_messages::<ARE_SHARED>(state, trees, edge);
        };
        // (What comes behind these places is still to be written.)
        let messages = &order[..places.end];
        if ARE_SHARED {
            messages[places.start..]
                .iter()
                .take(MESSAGE_DISTANCE)
                .for_each(|&edge| look_ahead(edge));
        }
        for place in places {
            let edge = order[place];
            singles.look_ahead(state, order, place);
            if let Some(&edge) = messages.get(place + MESSAGE_DISTANCE) {
                look_ahead(edge);
            }
            let single = &singles.edges[edge as usize];
            match single.arity {
                1 if self.constants_sent => {}
                2 => self.run_single::<2, DROPS>(single),
                3 => self.run_single::<3, DROPS>(single),
                4 => self.run_single::<4, DROPS>(single),
                5 => self.run_single::<5, DROPS>(single),
                6 => self.run_single::<6, DROPS>(single),
                7 => self.run_single::<7, DROPS>(single),
                8 => self.run_single::<8, DROPS>(single),
                _ => self.run_batch(&[edge]),
            }
        }
    }

    /// Updates one message of a binary conjunction of `N` variables.
    #[inline(always)]
    fn run_single<const N: usize, const DROPS: bool>(&mut self, single: &Single) {
        let state = self.state;
        let (first, position) = (single.first as usize, single.position as usize);
        let Some(links) = state.links[first..].first_chunk::<N>() else { return };
        // See `run_small_factor`.
        let inputs = self.inputs(first, links, position);
        let c = state.coefficients(single.coefficients as usize);
        let outputs = small_horn_messages(&inputs, single.head as usize, c);
        if let (Some(&output), Some(&link)) = (outputs.get(position), links.get(position)) {
            self.publish::<DROPS>(state.to_variable.view(), first + position, link, output);
        }
    }
}
