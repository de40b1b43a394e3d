//! Conjunctions that warps compute, and where the messages to factors are: see cuda/engine/general_warp_items.cuh.

use super::classes::by_class;
use super::factors::{Values, too_many_values};
use super::places::Places;
use crate::engine::cuda::interface::general::{ITEM_LANES, WarpLane, lane};
use crate::error::Result;
use crate::kernel::DeviceHorn;
use crate::memory::{Grow, collected, room, zeroed};
use crate::model::FactorGraph;
use crate::parallel::SharedWords;
use crate::threads::Gang;

/// How far, as a logarithm, the product of all messages of a factor may be from one for `f64` to do (see
/// `DeviceHorn`).
pub(super) const RANGE: u32 = 430;

/// The last word of a `WarpLane` without an edge, beside factors of so many variables.
fn unused(arity: usize) -> u32 {
    let arity = arity as u32;
    lane::LITERALS.put(arity - 1) | lane::RANGE.put(RANGE / arity - 1)
}

/// That of the lane with this number among those of its factor; whether the factor has the negated literal.
fn used(arity: usize, index: usize, negated: bool) -> u32 {
    unused(arity)
        | lane::INDEX.put(index as u32)
        | lane::USED.flag(true)
        | lane::NEGATED.flag(negated)
}

/// The warp items of a graph, and where the messages to all its factors are.
#[derive(Debug, Default)]
pub(super) struct WarpItems {
    pub lanes: Vec<WarpLane>,
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
    (2..=ITEM_LANES).contains(&graph.arity(factor)) && graph.is_conjunction(factor)
}

impl WarpItems {
    /// Those of a graph whose messages are all sent at once. `horn` are the coefficients of conjunctions. Errors: more
    /// places than 32 bits can count. O(edges).
    pub fn new(
        graph: &FactorGraph, horn: &[DeviceHorn], places: &Places, values: &Values, gang: &Gang,
    ) -> Result<Self> {
        let (factors, ends): (_, [u32; ITEM_LANES - 1]) =
            by_class(graph.factor_count(), gang, |factor| {
                is_in_warp_item(graph, factor).then(|| graph.arity(factor) - 2)
            })?;
        // Of each item its factors, with their arity.
        let mut items: Vec<(usize, &[u32])> = Vec::new();
        let mut first = 0;
        for (arity, end) in (2..).zip(ends) {
            let own = &factors[first as usize..end as usize];
            items.try_extend(own.chunks(ITEM_LANES / arity).map(|factors| (arity, factors)))?;
            first = end;
        }
        let too_many = |_| too_many_values();
        u32::try_from(items.len() * ITEM_LANES).map_err(too_many)?;
        let mut lanes = zeroed(ITEM_LANES * items.len())?;
        let mut edge_inputs = zeroed(graph.edge_count())?;
        let inputs = SharedWords::new(&mut edge_inputs);
        let mut parts = collected(lanes.chunks_mut(ITEM_LANES).zip(items).enumerate())?;
        gang.each(&mut parts, |(item, (lanes, (arity, factors)))| {
            let arity = *arity;
            lanes.fill(WarpLane { more: unused(arity), ..WarpLane::default() });
            for (&factor, (first, lanes)) in
                factors.iter().zip((0..).step_by(arity).zip(lanes.chunks_mut(arity)))
            {
                let factor = factor as usize;
                let parameter = graph.conjunction_parameter(factor).unwrap_or_default();
                let head = graph.head_position(factor).unwrap_or_default();
                let edges = graph.factor_edges(factor);
                let literals = (0..arity).filter(|&position| position != head);
                for (index, position) in std::iter::once(head).chain(literals).enumerate() {
                    let edge = edges.start + position;
                    let negated = index > 0 && horn[parameter].negated >> position & 1 == 1;
                    let more = used(arity, index, negated);
                    inputs.set(edge, (*item * ITEM_LANES + first + index) as u32);
                    lanes[index] = WarpLane {
                        place: places.edges[edge],
                        edge: edge as u32,
                        parameter: parameter as u32,
                        more,
                    };
                }
            }
        });
        drop(parts);
        let mut next = lanes.len();
        for factor in (0..graph.factor_count()).filter(|&factor| !is_in_warp_item(graph, factor)) {
            for edge in graph.factor_edges(factor) {
                edge_inputs[edge] = u32::try_from(next).map_err(too_many)?;
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
        Sizes { warp_items: self.lanes.len() / ITEM_LANES, inputs: self.inputs }
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
        let (places, values) =
            (Places::new(&graph, &Gang::of(2)).unwrap(), Values::new(&graph).unwrap());
        let warp_items =
            WarpItems::new(&graph, &factors.horn, &places, &values, &Gang::of(2)).unwrap();
        assert_eq!(warp_items.sizes().warp_items, 2);
        // The first: the factor of two variables, whose head is its last edge or its first one as the builder has it.
        // Of 2 and of 3 variables.
        let more = [(1, 214), (2, 142)]
            .map(|(literals, range)| lane::LITERALS.put(literals) | lane::RANGE.put(range));
        let lane = |position: usize| warp_items.lanes[position];
        for (factor, first) in [(1, 0), (0, ITEM_LANES)] {
            let (arity, edges) = (graph.arity(factor), graph.factor_edges(factor));
            let head = edges.start + graph.head_position(factor).unwrap();
            assert_eq!((lane(first).place, lane(first).edge), (places.edges[head], head as u32));
            for index in 0..arity {
                let own = lane(first + index);
                assert_eq!(
                    own.more,
                    more[arity - 2] | lane::INDEX.put(index as u32) | lane::USED.mask()
                );
                assert_eq!(warp_items.edge_inputs[own.edge as usize] as usize, first + index);
            }
            assert_eq!(lane(first + arity).more, more[arity - 2]);
        }
        assert_eq!(warp_items.sizes().inputs, 2 * ITEM_LANES + 1);
        assert_eq!(WarpItems::none(&graph, &values).unwrap().edge_inputs, [0, 1, 2, 3, 4, 5]);
    }
}
