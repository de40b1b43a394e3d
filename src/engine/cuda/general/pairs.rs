//! Dense tables of two variables where all messages are sent at once: see cuda/engine/general_pairs.cuh.

use super::classes::by_class;
use super::factors::Factors;
use super::places::Places;
use super::warp_items::is_in_warp_item;
use crate::engine::cuda::interface::general::{
    LARGE_PAIR, MIDDLE_PAIR, PairItem, SMALL_PAIR, pair_radices,
};
use crate::engine::cuda::parameters::Table;
use crate::error::Result;
use crate::memory::room;
use crate::model::FactorGraph;
use crate::threads::Gang;

/// Most states of a variable of each class.
const MOST_STATES: [usize; 3] = [SMALL_PAIR, MIDDLE_PAIR, LARGE_PAIR];
/// Exponents of table entries for which doubles do wherever messages are (is_near_value).
const NEAR_EXPONENTS: i64 = 150;

/// Lanes that a table of each class has.
const LANES: [usize; 3] = [2 * SMALL_PAIR, 2 * MIDDLE_PAIR, 2 * MIDDLE_PAIR];

/// Whether a factor may be such a table, for sums or for maxima.
pub(super) fn may_be_pair(graph: &FactorGraph, factor: usize) -> bool {
    graph.arity(factor) == 2 && !is_in_warp_item(graph, factor)
}

/// Whether the entries of a table are near enough to one for doubles to do wherever messages are.
pub(super) fn is_near(table: &Table) -> bool {
    let (low, high) = table.exponents;
    low >= -NEAR_EXPONENTS && high <= NEAR_EXPONENTS
}

/// The states of the two variables of a table, as a word.
pub(super) fn radices_of(graph: &FactorGraph, factor: usize) -> u32 {
    let both = graph.factor_cardinalities(factor).zip([pair_radices::FIRST, pair_radices::SECOND]);
    both.fold(0, |word, (radix, bits)| word | bits.put(radix as u32))
}

/// The class of a factor that is such a table.
pub(super) fn class_of(graph: &FactorGraph, factors: &Factors, factor: usize) -> Option<usize> {
    if graph.arity(factor) != 2 || factors.table(factor).is_none() {
        return None;
    }
    let states = graph.factor_cardinalities(factor).max()?;
    MOST_STATES.iter().position(|&most| states <= most)
}

/// The tables of a graph, by classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pairs {
    /// Ascending in each class, so many of each.
    factors: Vec<u32>,
    pub of_class: [u32; 3],
    /// Where the message from the first variable of each is, and those to both.
    places: Vec<[u32; 3]>,
}

impl Pairs {
    /// Those of a graph whose messages are all sent at once; the message to the factor along each edge is at
    /// `edge_inputs`, if some factor may be such a table. O(factors).
    pub fn new(
        graph: &FactorGraph, factors: &Factors, places: &Places, edge_inputs: &[u32], gang: &Gang,
    ) -> Result<Self> {
        if edge_inputs.is_empty() {
            return Ok(Self::default());
        }
        let (all, [small, middle, large]) =
            by_class(graph.factor_count(), gang, |factor| class_of(graph, factors, factor))?;
        let mut own = room(all.len())?;
        for &factor in &all {
            let first = graph.factor_edges(factor as usize).start;
            own.push([edge_inputs[first], places.edges[first], places.edges[first + 1]]);
        }
        Ok(Self { factors: all, of_class: [small, middle - small, large - middle], places: own })
    }

    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// Lanes that all of them have together.
    pub fn lanes(&self) -> usize {
        self.of_class.iter().zip(LANES).map(|(&count, lanes)| count as usize * lanes).sum()
    }

    /// A `PairItem` for each, given the address of the values of all tables.
    pub fn items(
        &self, graph: &FactorGraph, factors: &Factors, values: u64,
    ) -> Result<Vec<PairItem>> {
        let mut items = room(self.factors.len())?;
        for (&factor, &[input, first, second]) in self.factors.iter().zip(&self.places) {
            let Some(table) = factors.table(factor as usize) else { continue };
            let address = values + 8 * table.start as u64;
            items.push(PairItem {
                values: address.into(),
                input,
                factor,
                places: [first, second],
                radices: radices_of(graph, factor as usize),
                is_near: is_near(table).into(),
            });
        }
        Ok(items)
    }
}
