//! Messages that are updated one at a time in an order that jumps about, as that of SEQRND does.
//!
//! What a message reads is found in three steps, each of which needs what the one before has read: what is known of its edge,
//! the links of its factor's edges, and the messages to their variables. None of these is in the cache in such an order, but
//! the order is known, so that each step is prefetched a few messages ahead of the next one.

use super::batches::Task;
use super::serial::Serial;
use super::state::State;
use crate::error::Result;
use crate::kernel::small_horn_messages;
use crate::memory::collected;
use crate::prefetch::prefetch;

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

    /// Prefetches for the computations that follow the one at `place` of an order.
    #[inline(always)]
    fn look_ahead(&self, state: &State, order: &[u32], place: usize) {
        if let Some(&edge) = order.get(place + EDGE_DISTANCE) {
            prefetch(&self.edges, edge as usize);
        }
        if let Some(&edge) = order.get(place + LINK_DISTANCE) {
            let Single { first, coefficients, arity, .. } = self.edges[edge as usize];
            prefetch(&state.links, first as usize);
            if arity >= 2 {
                // They may lie across two cache lines.
                prefetch(&state.links, first as usize + arity as usize - 1);
                prefetch(state.all_coefficients(), coefficients as usize);
            }
        }
        if let Some(&edge) = order.get(place + MESSAGE_DISTANCE) {
            let Single { first, .. } = self.edges[edge as usize];
            for link in state.links[first as usize..].iter().take(MOST_LINKS) {
                state.to_variable.prefetch(link.slot as usize);
            }
        }
    }
}

impl Serial<'_> {
    /// Updates messages one after the other.
    pub(super) fn run_sequence(&mut self, order: &[u32], singles: &Singles) {
        if self.state.is_plain_run() && self.high_arity.is_empty() {
            return self.run_singles(order, singles);
        }
        for &edge in order {
            self.run_batch(&[edge]);
        }
    }

    /// [`Self::run_sequence`] for sums without damping, and without trees of high-arity factors.
    fn run_singles(&mut self, order: &[u32], singles: &Singles) {
        for (place, &edge) in order.iter().enumerate() {
            singles.look_ahead(self.state, order, place);
            let single = &singles.edges[edge as usize];
            match single.arity {
                1 if self.constants_sent => {}
                2 => self.run_single::<2>(single),
                3 => self.run_single::<3>(single),
                4 => self.run_single::<4>(single),
                5 => self.run_single::<5>(single),
                6 => self.run_single::<6>(single),
                7 => self.run_single::<7>(single),
                8 => self.run_single::<8>(single),
                _ => self.run_batch(&[edge]),
            }
        }
    }

    /// Updates one message of a binary conjunction of `N` variables.
    #[inline(always)]
    fn run_single<const N: usize>(&mut self, single: &Single) {
        let state = self.state;
        let (first, position) = (single.first as usize, single.position as usize);
        let Some(links) = state.links[first..].first_chunk::<N>() else { return };
        // See `run_small_factor`.
        let inputs = self.inputs(first, links, position);
        let c = state.coefficients(single.coefficients as usize);
        let outputs = small_horn_messages(&inputs, single.head as usize, c);
        if let (Some(&output), Some(&link)) = (outputs.get(position), links.get(position)) {
            self.publish(state.to_variable.view(), first + position, link, output);
        }
    }
}
