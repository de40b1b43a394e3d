//! Where variables and their messages lie: see cuda/engine/binary.cuh.

use super::homes::{Home, Homes};
use super::limits::{FEW, LARGE};
use crate::counting_sort::counting_sort;
use crate::engine::Inputs;
use crate::engine::cuda::interface::binary::{HUB_CLASSES, Source};
use crate::engine::cuda::interface::words::input;
use crate::error::Result;
use crate::kernel::{
    DeviceHorn, EncodedMessage, HornCoefficients, HornScratch, Inference, horn_message,
};
use crate::memory::{Grow, collected, filled, room, zeroed};
use crate::model::FactorGraph;
use crate::parallel::{SharedWords, all_ranges, computed, for_ranges};
use crate::threads::Gang;
use std::ops::Range;

/// Slots, and some behind them that are read.
const MOST_SLOTS: usize = input::SLOT.largest() as usize + 1 - 64;

impl Source {
    /// The word for an input.
    pub(super) fn word(self, slot: u32) -> u32 {
        input::SLOT.put(slot) | input::SOURCE.put(self as u32)
    }

    /// The same input from another source.
    pub(super) fn in_word(self, word: u32) -> u32 {
        self.word(input::SLOT.get(word))
    }

    /// The word of an edge of a variable with soft evidence.
    pub(super) fn with_soft_evidence(word: u32) -> u32 {
        word | input::SOFT.mask()
    }

    /// Whether a word says that no message is needed.
    pub(super) fn is_none_in(word: u32) -> bool {
        input::SOURCE.get(word) == Source::None as u32
    }
}

/// Whether a factor's message is another one in each iteration: those of factors with one variable stay as they are.
pub(super) fn changes(graph: &FactorGraph, edge: usize) -> bool {
    graph.arity(graph.edge_factors()[edge] as usize) > 1
}

/// Slots of the variables with few factors, class by class; behind these come variables without any.
const FEW_SLOTS: [usize; 3] = [4, 2, 1];

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
    pub classes: [u32; HUB_CLASSES + 1],
    /// The first slot of each hub, and the end.
    pub hub_slots: Vec<u32>,
    /// Number of slots.
    pub slots: usize,
    pub slot_of_edge: Vec<u32>,
    /// Coefficients, heads first, and the number of those of each factor.
    pub coefficients: Vec<DeviceHorn>,
    pub coefficients_of: Vec<u32>,
    /// The factors of several variables that are no conjunctions of literals, ascending.
    pub other_factors: Vec<u32>,
    /// What factors with one variable send, and where to; and whether they send the same in runs of maxima.
    pub constants: Vec<(u32, EncodedMessage)>,
    pub maxima_have_constants: bool,
}

/// What a conjunction with one variable sends; `None` if that is 0/0.
fn constant_of_conjunction(
    c: &HornCoefficients, scratch: &mut HornScratch,
) -> Result<Option<EncodedMessage>> {
    let inputs = &mut [EncodedMessage::ONE];
    let message = horn_message(inputs, 0, 0, c, Inference::SumProduct, scratch)?;
    Ok((message != EncodedMessage::CONTRADICTION).then_some(message))
}

/// The same of another factor.
fn constant_of_other(
    graph: &FactorGraph, factor: usize, inference: Inference,
) -> Result<Option<EncodedMessage>> {
    let inputs = Inputs::new(graph, factor, filled(1, EncodedMessage::ONE)?)?;
    Ok(inputs.message(0, inference)?.and_then(|values| values.first().copied()))
}

/// The numbers of coefficients with a head: most occur with one head only.
struct CoefficientNumbers {
    /// By parameter, its least head and their number; of one that does not occur [`u32::MAX`].
    least_heads: Vec<u32>,
    numbers: Vec<u32>,
    /// The others, ascending by parameter and head, whose numbers follow.
    others: Vec<(u32, u32)>,
    first_other: u32,
}

impl CoefficientNumbers {
    /// O(factors log factors) at most.
    fn new(graph: &FactorGraph, parameters: usize, gang: &Gang) -> Result<Self> {
        let mut least_heads = filled(parameters, u32::MAX)?;
        let least = SharedWords::new(&mut least_heads);
        let all = graph.factor_count();
        for_ranges(all, gang, |range| {
            for (parameter, head) in range.filter_map(|f| conjunction_of_several(graph, f)) {
                least.lower(parameter as usize, head);
            }
        });
        let others = all_ranges(all, gang, |range| {
            let pairs = range.filter_map(|f| conjunction_of_several(graph, f));
            let mut others = Vec::new();
            for pair in pairs.filter(|&(parameter, head)| head != least_heads[parameter as usize]) {
                others.try_push(pair)?;
            }
            others.sort_unstable();
            others.dedup();
            Ok(others)
        })?;
        let mut others: Vec<(u32, u32)> = collected(others.into_iter().flatten())?;
        others.sort_unstable();
        others.dedup();
        let mut next = 0;
        let numbers = collected(least_heads.iter().map(|&head| {
            let number = next;
            next += u32::from(head != u32::MAX);
            number
        }))?;
        Ok(Self { least_heads, numbers, others, first_other: next })
    }

    /// All parameters that occur with their heads, by number.
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let least = (0..).zip(&self.least_heads).map(|(parameter, &head)| (parameter, head));
        least.filter(|&(_, head)| head != u32::MAX).chain(self.others.iter().copied())
    }

    fn number(&self, parameter: u32, head: u32) -> u32 {
        if self.least_heads[parameter as usize] == head {
            return self.numbers[parameter as usize];
        }
        let before = self.others.partition_point(|&other| other < (parameter, head));
        self.first_other + before as u32
    }
}

/// The parameter and the head of a factor of several variables, if it is a conjunction of literals.
fn conjunction_of_several(graph: &FactorGraph, factor: usize) -> Option<(u32, u32)> {
    let parameter = graph.conjunction_parameter(factor).filter(|_| graph.arity(factor) != 1)?;
    Some((parameter as u32, graph.head_position(factor)? as u32))
}

/// What some factors are, in their order.
#[derive(Default)]
struct OtherFactors {
    /// Those of several variables that are no conjunctions of literals.
    of_several: Vec<u32>,
    /// What those with one variable send, and where to.
    constants: Vec<(u32, EncodedMessage)>,
    maxima_differ: bool,
    /// Whether one with one variable sends 0/0.
    contradict: bool,
}

impl Layout {
    /// `None` if the graph is not one of binary variables, or too large.
    ///
    /// Given the homes of variables, what is at the same home lies together, in each class of hubs and of variables
    /// with few factors; first come those of all blocks, all of which are treated as hubs.
    pub(super) fn new(
        graph: &FactorGraph, homes: Option<&Homes>, gang: &Gang,
    ) -> Result<Option<Self>> {
        if !graph.all_binary() || graph.edge_count() >= MOST_SLOTS {
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
        // First the classes of hubs, then those of few factors; in each the homes.
        let count_of_homes = homes.map_or(0, Homes::count);
        let keys_of_class = count_of_homes + 2;
        let class = |v: usize, home: Home| {
            let degree = graph.degree(v);
            if degree > FEW || home == Home::Shared || is_lonely(v) {
                class_of(degree)
            } else {
                // The fewest slots that are enough.
                HUB_CLASSES + FEW_SLOTS.partition_point(|&slots| degree == 0 || slots / 2 >= degree)
            }
        };
        let keys = computed(count, gang, |v| {
            let home = homes.map_or(Home::Nowhere, |homes| homes.of_variable[v]);
            let number = match home {
                Home::Shared => 0,
                Home::At(home) => 1 + home as usize,
                Home::Nowhere => 1 + count_of_homes,
            };
            (class(v, home) * keys_of_class + number) as u32
        })?;
        let classes_of_all = HUB_CLASSES + FEW_SLOTS.len() + 1;
        let (mut variable, starts) = counting_sort(&keys, classes_of_all * keys_of_class, gang)?;
        let start_of = |class: usize| starts[class * keys_of_class];
        let hubs = start_of(HUB_CLASSES) as usize;
        let mut same = room(HUB_CLASSES * keys_of_class)?;
        let mut rest = &mut variable[..hubs];
        for ends in starts[..=HUB_CLASSES * keys_of_class].windows(2) {
            same.extend(rest.split_off_mut(..(ends[1] - ends[0]) as usize));
        }
        // The largest first.
        gang.each(&mut same, |hubs| {
            hubs.sort_unstable_by_key(|&v| (std::cmp::Reverse(graph.degree(v as usize)), v));
        });
        let mut classes = [0; HUB_CLASSES + 1];
        for (class, start) in classes.iter_mut().enumerate() {
            *start = start_of(class);
        }
        let mut few = [0; 4];
        for (kind, start) in few.iter_mut().enumerate() {
            *start = start_of(HUB_CLASSES + kind);
        }
        let mut position = zeroed(count)?;
        let positions = SharedWords::new(&mut position);
        for_ranges(count, gang, |range| {
            for at in range {
                positions.set(variable[at] as usize, at as u32);
            }
        });
        let slots_of_hub = |&v: &u32| graph.degree(v as usize).next_multiple_of(8);
        let of_hubs: usize = variable[..hubs].iter().map(slots_of_hub).sum();
        let of_few = FEW_SLOTS.into_iter().zip(few.windows(2));
        let of_few: usize = of_few.map(|(width, ends)| width * (ends[1] - ends[0]) as usize).sum();
        if of_hubs + of_few >= MOST_SLOTS {
            return Ok(None);
        }
        let mut next = 0_u32;
        let mut hub_slots = room(hubs + 1)?;
        for &v in &variable[..hubs] {
            hub_slots.push(next);
            next += (graph.degree(v as usize) as u32).next_multiple_of(8);
        }
        hub_slots.push(next);
        let mut few_slots = [0; 3];
        for (kind, width) in FEW_SLOTS.into_iter().enumerate() {
            few_slots[kind] = next;
            next += width as u32 * (few[kind + 1] - few[kind]);
        }
        let mut layout = Self {
            variable,
            position,
            few,
            few_slots,
            classes,
            hub_slots,
            slots: next as usize,
            slot_of_edge: zeroed(graph.edge_count())?,
            coefficients: Vec::new(),
            coefficients_of: Vec::new(),
            other_factors: Vec::new(),
            constants: Vec::new(),
            maxima_have_constants: true,
        };
        let mut slot_of_edge = std::mem::take(&mut layout.slot_of_edge);
        let slots = SharedWords::new(&mut slot_of_edge);
        for_ranges(count, gang, |range| {
            for v in range {
                for (slot, &edge) in (layout.slots_of(v).0..).zip(graph.variable_edges(v)) {
                    slots.set(edge as usize, slot);
                }
            }
        });
        layout.slot_of_edge = slot_of_edge;
        Ok(if layout.add_factors(graph, gang)? { Some(layout) } else { None })
    }

    /// `false` where the graph is not of this kind.
    fn add_factors(&mut self, graph: &FactorGraph, gang: &Gang) -> Result<bool> {
        let all = graph.coefficients()?;
        let numbers = CoefficientNumbers::new(graph, all.len(), gang)?;
        let head_first = |(parameter, head): (u32, u32)| {
            all[parameter as usize].to_device_head_first(head as usize)
        };
        self.coefficients = collected(numbers.pairs().map(head_first))?;
        self.coefficients_of = computed(graph.factor_count(), gang, |f| {
            let pair = conjunction_of_several(graph, f);
            pair.map_or(0, |(parameter, head)| numbers.number(parameter, head))
        })?;
        for part in
            all_ranges(graph.factor_count(), gang, |range| self.others_of(graph, &all, range))?
        {
            if part.contradict {
                return Ok(false);
            }
            self.maxima_have_constants &= !part.maxima_differ;
            self.constants.try_extend(part.constants)?;
            self.other_factors.try_extend(part.of_several)?;
        }
        if self.coefficients.is_empty() && !self.other_factors.is_empty() {
            // Other factors have none, but each thread reads some.
            self.coefficients.try_push(DeviceHorn::default())?;
        }
        Ok(true)
    }

    /// Those of some factors that are no conjunctions of several variables.
    fn others_of(
        &self, graph: &FactorGraph, all: &[HornCoefficients], factors: Range<usize>,
    ) -> Result<OtherFactors> {
        let mut others = OtherFactors::default();
        let scratch = &mut HornScratch::default();
        for f in factors {
            let conjunction = graph.conjunction_parameter(f);
            if graph.arity(f) != 1 {
                if graph.arity(f) > 1 && conjunction.is_none() {
                    others.of_several.try_push(f as u32)?;
                }
                continue;
            }
            let message = match conjunction {
                Some(parameter) => constant_of_conjunction(&all[parameter], scratch)?,
                None => {
                    let message = constant_of_other(graph, f, Inference::SumProduct)?;
                    // Tables add up nothing.
                    others.maxima_differ |= graph.factor(f).as_table().is_none()
                        && message != constant_of_other(graph, f, Inference::MaxProduct)?;
                    message
                }
            };
            match message {
                Some(message) => {
                    let slot = self.slot_of_edge[graph.factor_edges(f).start];
                    others.constants.try_push((slot, message))?;
                }
                None => others.contradict = true,
            }
        }
        Ok(others)
    }

    /// The number of a factor among those that are no conjunctions of literals, if it is one.
    pub(super) fn other_factor(&self, factor: u32) -> Option<u32> {
        self.other_factors.binary_search(&factor).ok().map(|number| number as u32)
    }

    /// Number of hubs.
    pub(super) fn hubs(&self) -> usize {
        self.hub_slots.len() - 1
    }

    /// The position of the hub to which each eight slots of hubs belong.
    pub fn hub_of_eight(&self) -> Result<Vec<u32>> {
        let hubs = (0..).zip(self.hub_slots.windows(2));
        collected(hubs.flat_map(|(hub, ends)| (ends[0]..ends[1]).step_by(8).map(move |_| hub)))
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

    /// The slots of large hubs, which come first.
    pub(super) fn high_degree_slots(&self) -> usize {
        self.hub_slots[self.classes[1] as usize] as usize
    }

    /// Where soft evidence of the variable at a position is: see `Binary::soft`.
    pub(super) fn soft_places(&self, position: u32) -> Range<u32> {
        if let Some(ends) = self.hub_slots.get(position as usize..=position as usize + 1) {
            return ends[0] / 8..ends[1] / 8;
        }
        let place = self.few_slots[0] / 8 + (position - self.few[0]);
        place..place + 1
    }

    /// Number of such places.
    pub(super) fn soft_length(&self) -> usize {
        self.few_slots[0] as usize / 8 + (self.variable.len() - self.few[0] as usize)
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
