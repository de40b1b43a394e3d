//! Conjunctions that warps compute, and where the messages to factors are: see cuda/engine/general_warp_items.cuh.

use super::classes::by_class;
use super::factors::{Values, too_many_values};
use super::places::Places;
use crate::error::Result;
use crate::kernel::DeviceHorn;
use crate::memory::{Grow, filled, room};
use crate::model::FactorGraph;

/// Lanes of a warp item, and most variables of a factor in one.
pub(super) const ITEM_LANES: usize = 32;

/// How far, as a logarithm, the product of all messages of a factor may be from one for `f64` to do (see
/// `DeviceHorn`).
const RANGE: u32 = 430;

/// The last word of a `WarpLane` without an edge, beside factors of so many variables.
fn unused(arity: usize) -> u32 {
    let arity = arity as u32;
    (arity - 1) << 11 | (RANGE / arity - 1) << 16
}

/// That of the lane with this number among those of its factor; whether the factor has the negated literal.
fn used(arity: usize, index: usize, negated: bool) -> u32 {
    unused(arity) | (index as u32) << 6 | 1 << 5 | u32::from(negated) << 4
}

/// The warp items of a graph, and where the messages to all its factors are.
#[derive(Debug, Default)]
pub(super) struct WarpItems {
    /// Four words for each lane of each warp item: `WarpLane`.
    pub lanes: Vec<u32>,
    /// Where the message to the factor along each edge is, in an array of so many entries.
    pub edge_inputs: Vec<u32>,
    inputs: usize,
}

/// The number of warp items, and of entries of an array of messages to factors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub warp_items: usize,
    pub inputs: usize,
}

/// Whether a factor's messages are computed by lanes, where all are sent at once.
pub(super) fn is_in_warp_item(graph: &FactorGraph, factor: usize) -> bool {
    (2..=ITEM_LANES).contains(&graph.arity(factor)) && graph.conjunction_parameter(factor).is_some()
}

impl WarpItems {
    /// Those of a graph whose messages are all sent at once. `horn` are the coefficients of conjunctions. Errors: more
    /// places than 32 bits can count. O(edges).
    pub fn new(
        graph: &FactorGraph, horn: &[DeviceHorn], places: &Places, values: &Values,
    ) -> Result<Self> {
        let mut edge_inputs = filled(graph.edge_count(), 0_u32)?;
        let (factors, ends): (_, [u32; ITEM_LANES - 1]) =
            by_class(graph.factor_count(), |factor| {
                is_in_warp_item(graph, factor).then(|| graph.arity(factor) - 2)
            })?;
        let mut lanes = Vec::new();
        let mut first = 0;
        for (arity, end) in (2..).zip(ends) {
            for side_by_side in factors[first as usize..end as usize].chunks(ITEM_LANES / arity) {
                lanes.try_room(4 * ITEM_LANES)?;
                for &factor in side_by_side {
                    let factor = factor as usize;
                    let parameter = graph.conjunction_parameter(factor).unwrap_or_default();
                    let head = graph.head_position(factor).unwrap_or_default();
                    let edges = graph.factor_edges(factor);
                    let literals = (0..arity).filter(|&position| position != head);
                    for (index, position) in std::iter::once(head).chain(literals).enumerate() {
                        let edge = edges.start + position;
                        let negated = index > 0 && horn[parameter].negated >> position & 1 == 1;
                        let own = used(arity, index, negated);
                        edge_inputs[edge] =
                            u32::try_from(lanes.len() / 4).map_err(|_| too_many_values())?;
                        lanes.extend([places.edges[edge], edge as u32, parameter as u32, own]);
                    }
                }
                for _ in side_by_side.len() * arity..ITEM_LANES {
                    lanes.extend([0, 0, 0, unused(arity)]);
                }
            }
            first = end;
        }
        let mut next = lanes.len() / 4;
        for factor in (0..graph.factor_count()).filter(|&factor| !is_in_warp_item(graph, factor)) {
            for edge in graph.factor_edges(factor) {
                edge_inputs[edge] = u32::try_from(next).map_err(|_| too_many_values())?;
                next += values.width(edge);
            }
        }
        Ok(Self { lanes, edge_inputs, inputs: next })
    }

    /// None: each edge's message after that of the edge before. O(edges).
    pub fn none(graph: &FactorGraph, values: &Values) -> Result<Self> {
        let mut edge_inputs = room(graph.edge_count())?;
        let mut next = 0;
        for edge in 0..graph.edge_count() {
            edge_inputs.push(u32::try_from(next).map_err(|_| too_many_values())?);
            next += values.width(edge);
        }
        Ok(Self { lanes: Vec::new(), edge_inputs, inputs: next })
    }

    pub fn sizes(&self) -> Sizes {
        Sizes { warp_items: self.lanes.len() / 4 / ITEM_LANES, inputs: self.inputs }
    }
}

#[cfg(test)]
mod tests {
    use super::super::factors::Factors;
    use super::*;
    use crate::kernel::Inference;
    use crate::model::FactorGraphBuilder;

    #[test]
    fn a_factor_has_neighbouring_lanes_with_its_head_first() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(2, &[0, 1], 0.9, 0.2).unwrap();
        builder.add_and(1, &[0], 0.8, 0.1).unwrap();
        builder.add_prior(0, 0.3).unwrap();
        let graph = builder.build().unwrap();
        let factors = Factors::new(&graph, Inference::SumProduct).unwrap();
        let (places, values) = (Places::new(&graph).unwrap(), Values::new(&graph).unwrap());
        let warp_items = WarpItems::new(&graph, &factors.horn, &places, &values).unwrap();
        assert_eq!(warp_items.sizes().warp_items, 2);
        // The first: the factor of two variables, whose head is its last edge or its first one as the builder has it.
        // Of 2 and of 3 variables.
        let more = [1 << 11 | 214 << 16, 2 << 11 | 142 << 16];
        let lane = |position: usize| &warp_items.lanes[4 * position..4 * position + 4];
        for (factor, first) in [(1, 0), (0, ITEM_LANES)] {
            let (arity, edges) = (graph.arity(factor), graph.factor_edges(factor));
            let head = edges.start + graph.head_position(factor).unwrap();
            assert_eq!(lane(first)[..2], [places.edges[head], head as u32]);
            for index in 0..arity {
                let own = lane(first + index);
                assert_eq!(own[3], more[arity - 2] | (index as u32) << 6 | 1 << 5);
                assert_eq!(warp_items.edge_inputs[own[1] as usize] as usize, first + index);
            }
            assert_eq!(lane(first + arity)[3], more[arity - 2]);
        }
        assert_eq!(warp_items.sizes().inputs, 2 * ITEM_LANES + 1);
        assert_eq!(WarpItems::none(&graph, &values).unwrap().edge_inputs, [0, 1, 2, 3, 4, 5]);
    }
}
