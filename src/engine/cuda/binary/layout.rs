//! Where variables and their messages lie: see cuda/engine/binary.cuh.

use super::homes::{Home, Homes};
use super::limits::{FEW, LARGE, MOST_VARIABLES};
use crate::error::Result;
use crate::kernel::{DeviceHorn, EncodedMessage, HornScratch, Inference, horn_message};
use crate::memory::{self, Grow, collected, filled, room};
use crate::model::FactorGraph;
use std::collections::HashMap;

/// Where a message to a factor comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Source {
    /// The variable has no other factor.
    None = 0,
    /// Stored, by the hub.
    Prepared = 1,
    /// Observed in state 0.
    False = 2,
    /// Observed in state 1.
    True = 3,
    /// By levels: all that it has are read.
    Read = 4,
}

pub(super) const SLOT_BITS: u32 = 28;
pub(super) const SLOT_MASK: u32 = (1 << SLOT_BITS) - 1;
const SOURCE_SHIFT: u32 = 29;

impl Source {
    /// The word for an input.
    pub(super) fn word(self, slot: u32) -> u32 {
        slot | (self as u32) << SOURCE_SHIFT
    }

    /// The same input from another source.
    pub(super) fn in_word(self, word: u32) -> u32 {
        word & SLOT_MASK | (self as u32) << SOURCE_SHIFT
    }

    /// Whether a word says that no message is needed.
    pub(super) fn is_none_in(word: u32) -> bool {
        word >> SOURCE_SHIFT == Source::None as u32
    }
}

/// Whether a factor's message is another one in each iteration: those of factors with one variable stay as they are.
pub(super) fn changes(graph: &FactorGraph, edge: usize) -> bool {
    graph.arity(graph.edge_factors()[edge] as usize) > 1
}

/// The classes of hubs are those of large ones and of those that 32, 16, 8, 4, 2 and 1 threads take.
fn class_of(degree: usize) -> usize {
    [LARGE, 128, 64, 32, 16, 8].iter().filter(|&&limit| degree <= limit).count()
}

/// Variables and slots.
pub(super) struct Layout {
    /// The variable at each position.
    pub variable: Vec<u32>,
    /// The position of each variable.
    pub position: Vec<u32>,
    /// First positions of variables with few factors: 4 slots, 2, 1, none.
    pub few: [u32; 4],
    /// First slots of the first three of these.
    pub few_slots: [u32; 3],
    /// First positions of the classes of hubs, and the number of hubs.
    pub classes: [u32; 8],
    /// The first slot of each hub, and the end.
    pub hub_slots: Vec<u32>,
    /// Number of slots.
    pub slots: usize,
    pub slot_of_edge: Vec<u32>,
    /// Coefficients, heads first, and the number of those of each factor.
    pub coefficients: Vec<DeviceHorn>,
    pub coefficients_of: Vec<u32>,
    /// What factors with one variable send, and where to.
    pub constants: Vec<(u32, EncodedMessage)>,
}

impl Layout {
    /// `None` if the graph is not one of binary variables and conjunctions of at most
    /// [`MOST_VARIABLES`], or too large.
    ///
    /// Given the homes of variables, what is at home at a block lies together, in each class of hubs and of variables
    /// with few factors; first come those of all blocks, all of which are treated as hubs.
    pub(super) fn new(graph: &FactorGraph, homes: Option<&Homes>) -> Result<Option<Self>> {
        if !graph.all_binary() || graph.edge_count() >= 1 << (SLOT_BITS - 3) {
            return Ok(None);
        }
        let count = graph.variable_count();
        // Variables that only have priors are treated as hubs: no other factor looks at them.
        let is_lonely = |v: usize| {
            graph.degree(v) > 1
                && graph
                    .variable_edges(v)
                    .iter()
                    .all(|&e| graph.arity(graph.edge_factors()[e as usize] as usize) == 1)
        };
        let home = |v: usize| homes.map_or(Home::Nowhere, |homes| homes.of_variable[v]);
        let is_hub = |v: usize| graph.degree(v) > FEW || is_lonely(v) || home(v) == Home::Shared;
        let is_hub: Vec<bool> = collected((0..count).map(is_hub))?;
        let mut variable: Vec<u32> = room(count)?;
        variable.extend((0..count as u32).filter(|&v| is_hub[v as usize]));
        variable.sort_unstable_by_key(|&v| {
            let degree = graph.degree(v as usize);
            (class_of(degree), home(v as usize), std::cmp::Reverse(degree), v)
        });
        let hubs = variable.len();
        let mut order: Vec<u32> = collected((0..count as u32).filter(|&v| !is_hub[v as usize]))?;
        order.sort_unstable_by_key(|&v| (home(v as usize), v));
        let mut few = [0; 4];
        for (kind, degrees) in [3..=4, 2..=2, 1..=1, 0..=0].into_iter().enumerate() {
            few[kind] = variable.len() as u32;
            let own = |&v: &u32| degrees.contains(&graph.degree(v as usize));
            variable.extend(order.iter().copied().filter(own));
        }
        let mut position = filled(count, 0)?;
        for (at, &v) in variable.iter().enumerate() {
            position[v as usize] = at as u32;
        }
        let mut classes = [0; 8];
        for (class, end) in classes[1..].iter_mut().enumerate() {
            *end = variable[..hubs]
                .partition_point(|&v| class_of(graph.degree(v as usize)) <= class)
                as u32;
        }
        let mut starts = filled(count, 0_u32)?;
        let mut next = 0_u32;
        let mut hub_slots = room(hubs + 1)?;
        for &v in &variable[..hubs] {
            hub_slots.push(next);
            starts[v as usize] = next;
            next += (graph.degree(v as usize) as u32).next_multiple_of(8);
        }
        hub_slots.push(next);
        let mut few_slots = [0; 3];
        for (kind, width) in [4, 2, 1].into_iter().enumerate() {
            few_slots[kind] = next;
            for &v in &variable[few[kind] as usize..few[kind + 1] as usize] {
                starts[v as usize] = next;
                next += width;
            }
        }
        let mut slot_of_edge = filled(graph.edge_count(), 0)?;
        for (v, &start) in starts.iter().enumerate() {
            for (slot, &edge) in (start..).zip(graph.variable_edges(v)) {
                slot_of_edge[edge as usize] = slot;
            }
        }
        let mut layout = Self {
            variable,
            position,
            few,
            few_slots,
            classes,
            hub_slots,
            slots: next as usize,
            slot_of_edge,
            coefficients: Vec::new(),
            coefficients_of: filled(graph.factor_count(), 0)?,
            constants: Vec::new(),
        };
        Ok(if layout.add_factors(graph)? { Some(layout) } else { None })
    }

    /// `false` where the graph is not of this kind.
    fn add_factors(&mut self, graph: &FactorGraph) -> Result<bool> {
        let all = graph.coefficients()?;
        let mut numbers = HashMap::new();
        let scratch = &mut HornScratch::default();
        for f in 0..graph.factor_count() {
            let arity = graph.arity(f);
            let (Some(parameter), Some(head)) =
                (graph.conjunction_parameter(f), graph.head_position(f))
            else {
                return Ok(false);
            };
            if arity > MOST_VARIABLES {
                return Ok(false);
            }
            let c = &all[parameter];
            if arity == 1 {
                let inputs = &mut [EncodedMessage::ONE];
                let message = horn_message(inputs, 0, 0, c, Inference::SumProduct, scratch)?;
                if message == EncodedMessage::CONTRADICTION {
                    return Ok(false);
                }
                self.constants
                    .try_push((self.slot_of_edge[graph.factor_edges(f).start], message))?;
                continue;
            }
            self.coefficients_of[f] = match numbers.get(&(parameter, head)) {
                Some(&number) => number,
                None => {
                    let next = self.coefficients.len() as u32;
                    memory::insert(&mut numbers, (parameter, head), next)?;
                    self.coefficients.try_push(c.to_device_head_first(head))?;
                    next
                }
            };
        }
        Ok(true)
    }

    /// Number of hubs.
    pub(super) fn hubs(&self) -> usize {
        self.hub_slots.len() - 1
    }

    /// The hub of each piece of 256 slots of the large hubs, and the first piece of each, and the end.
    pub(super) fn pieces(&self) -> Result<(Vec<u32>, Vec<u32>)> {
        let mut hubs = Vec::new();
        let mut starts = room(self.classes[1] as usize + 1)?;
        starts.push(0);
        for hub in 0..self.classes[1] {
            let slots = self.hub_slots[hub as usize + 1] - self.hub_slots[hub as usize];
            hubs.try_resize(hubs.len() + slots.div_ceil(LARGE as u32) as usize, hub)?;
            starts.push(hubs.len() as u32);
        }
        Ok((hubs, starts))
    }

    /// A variable's first slot and number of slots.
    pub(super) fn slots_of(&self, variable: usize) -> (u32, u32) {
        let position = self.position[variable];
        if let Some(ends) = self.hub_slots.get(position as usize..=position as usize + 1) {
            return (ends[0], ends[1] - ends[0]);
        }
        let kind = self.few[1..].partition_point(|&first| first <= position);
        let width = [4, 2, 1, 0][kind];
        let first = self.few_slots.get(kind).copied().unwrap_or_default();
        (first + width * (position - self.few[kind]), width)
    }

    /// A factor's edges, that of the head first.
    pub(super) fn edges_head_first(
        graph: &FactorGraph, factor: usize,
    ) -> impl Iterator<Item = usize> {
        let edges = graph.factor_edges(factor);
        let head = edges.start + graph.head_position(factor).unwrap_or_default();
        std::iter::once(head).chain(edges.filter(move |&edge| edge != head))
    }
}
