//! What messages by levels wait for, and when it is there.

use super::layout::{Layout, changes};
use crate::engine::cuda::interface::binary::WARP_LEAVES;
use crate::engine::cuda::interface::words::level_want;
use crate::error::Result;
use crate::memory::{Grow, filled};
use crate::model::FactorGraph;
use crate::parallel::{computed, fill};
use crate::prefetch::prefetch;
use crate::schedule::{Levels, Preorder};
use crate::threads::Gang;
use std::ops::Range;

/// Messages within as many slots of the input's, rounded down, can be the last ones.
const LAST_SLOTS: u32 = 8;
/// So many levels before that of what is sent, messages can be last ones.
const LAST_LEVELS: u32 = 2;
/// So many levels fewer than there are, iterations follow each other. Iterations overlap by this on BINGO's graphs.
const OVERLAP: i64 = 2;

/// Edges of a factor for which something is prefetched; few factors have more.
const PREFETCHED: usize = 8;

/// In the place of a level: there is none.
const NEVER: u32 = u32::MAX;

/// Some edges of a factor that read the same messages.
#[derive(Clone, Copy)]
pub(super) struct Item {
    /// Its number among those that are found together.
    pub number: u32,
    pub factor: u32,
    /// Those of the factor's positions, the head's first, that are sent.
    pub sent: u32,
    pub rank: u32,
}

/// The message that comes last.
#[derive(Clone, Copy, Default)]
pub(super) struct Last {
    /// By which bits its slot differs from the edge's; 0: there is none.
    pub away: u32,
    /// Whether it is of the iteration before.
    pub is_old: bool,
}

/// Ranks of the messages of a graph.
pub(super) struct Ranks<'a> {
    pub graph: &'a FactorGraph,
    pub layout: &'a Layout,
    /// By edge, its level, or [`NEVER`] where its message is the same in each iteration, and its rank.
    pub levels_and_ranks: Vec<(u32, u32)>,
    /// The same variable by variable, as `FactorGraph::all_variable_edges`: what is looked up most, of all messages to a variable.
    by_variable: Vec<(u32, u32)>,
    /// By variable: whether ranks rise along its slots.
    rising: Vec<bool>,
    /// By variable: see [`Ranks::width_of`].
    widths: Vec<u32>,
    /// After how many levels the next iteration follows.
    period: i64,
}

impl<'a> Ranks<'a> {
    pub(super) fn new(
        graph: &'a FactorGraph, layout: &'a Layout, preorder: &Preorder, levels: &Levels,
        gang: &Gang,
    ) -> Result<Self> {
        let level_of = levels.level_of_edge();
        let levels_and_ranks = computed(graph.edge_count(), gang, |edge| {
            let level = if changes(graph, edge) { level_of[edge] } else { NEVER };
            (level, preorder.ranks()[edge])
        })?;
        let edges = graph.all_variable_edges();
        let by_variable = computed(edges.len(), gang, |at| levels_and_ranks[edges[at] as usize])?;
        let mut rising = filled(graph.variable_count(), false)?;
        fill(&mut rising, gang, |v| {
            by_variable[graph.variable_slots(v)].is_sorted_by_key(|&(_, rank)| rank)
        })?;
        let widths = computed(graph.variable_count(), gang, |v| match layout.slots_of(v).1 {
            2 => 1,
            slots => slots.next_power_of_two(),
        })?;
        let period = (levels.count() as i64 - OVERLAP).max(1);
        Ok(Self { graph, layout, levels_and_ranks, by_variable, rising, widths, period })
    }

    pub(super) fn of(&self, edge: u32) -> u32 {
        self.levels_and_ranks[edge as usize].1
    }

    /// The levels and ranks of the messages to a variable.
    fn of_variable(&self, variable: usize) -> &[(u32, u32)] {
        &self.by_variable[self.graph.variable_slots(variable)]
    }

    /// The level that sends the message of an edge, if it is another one in each iteration.
    pub(super) fn level_of(&self, edge: u32) -> Option<u32> {
        Some(self.levels_and_ranks[edge as usize].0).filter(|&level| level != NEVER)
    }

    /// Whether two edges of a factor with these ranks read the same messages.
    pub(super) fn read_the_same(&self, factor: usize, a: u32, b: u32) -> bool {
        let (low, high) = (a.min(b), a.max(b));
        if low == high {
            return true;
        }
        let mut variables = self.graph.factor_variables(factor).iter();
        variables.all(|&v| self.others_of(v as usize, factor, low..high).next().is_none())
    }

    /// The ranks within a range of what the variables of a factor are sent by other factors, ascending.
    pub(super) fn others_between(&self, factor: usize, ranks: Range<u32>) -> Result<Vec<u32>> {
        let mut all = Vec::new();
        for &v in self.graph.factor_variables(factor) {
            all.try_extend(self.others_of(v as usize, factor, ranks.clone()))?;
        }
        all.sort_unstable();
        Ok(all)
    }

    /// The same of one of the variables, in any order.
    fn others_of(
        &self, variable: usize, factor: usize, ranks: Range<u32>,
    ) -> impl Iterator<Item = u32> {
        let own = self.graph.factor_edges(factor);
        let (edges, all) = (self.graph.variable_edges(variable), self.of_variable(variable));
        let within = if self.rising[variable] {
            let first = all.partition_point(|&(_, rank)| rank < ranks.start);
            first..first + all[first..].partition_point(|&(_, rank)| rank < ranks.end)
        } else {
            0..all.len()
        };
        let of_edges = edges[within.clone()].iter().zip(&all[within]);
        let others = of_edges.filter(move |&(&edge, (_, rank))| {
            ranks.contains(rank) && !own.contains(&(edge as usize))
        });
        others.map(|(_, &(_, rank))| rank)
    }

    /// Whether a slot is read anew along the edge `own` in messages of this rank. `None` of slots without an edge:
    /// they hold ones, which nobody needs to read. The factor's own message is not waited for.
    pub(super) fn is_new(&self, own: usize, slot: u32, rank: u32) -> Option<bool> {
        let variable = self.graph.edge_variables()[own] as usize;
        let at = slot - self.layout.slots_of(variable).0;
        let &(_, of_slot) = self.of_variable(variable).get(at as usize)?;
        Some(of_slot < rank && slot != self.layout.slot_of_edge[own])
    }

    /// Which of the messages that are read along the edge `own` in messages of this rank and level comes last, if it
    /// is late and near, and when the others are there. Of variables in pieces, among those of its own piece.
    pub(super) fn last(&self, own: usize, rank: u32, level: u32) -> (Last, i64) {
        let variable = self.graph.edge_variables()[own] as usize;
        let first = self.layout.slots_of(variable).0;
        let own = (self.layout.slot_of_edge[own] - first) as usize;
        let begin = own / WARP_LEAVES * WARP_LEAVES;
        let all = self.of_variable(variable);
        let of_piece = &all[begin..all.len().min(begin + WARP_LEAVES)];
        let is_old = |place: usize| all[place].1 >= rank;
        // When a message is there, in levels of this iteration, and its place behind that: the latest one, and the one before it.
        let (mut latest, mut before) = (i64::MIN, i64::MIN);
        for (place, &(sent, _)) in (begin..).zip(of_piece) {
            if sent == NEVER || place == own {
                continue;
            }
            let age = if is_old(place) { self.period } else { 0 };
            let timed = (i64::from(sent) - age) << 32 | place as i64;
            before = before.max(timed.min(latest));
            latest = latest.max(timed);
        }
        let when = |timed: i64| if timed == i64::MIN { timed } else { timed >> 32 };
        if latest != i64::MIN {
            let last = latest as u32;
            let away = (first + last) ^ (first + own as u32);
            if when(latest) + i64::from(LAST_LEVELS) >= i64::from(level) && away < LAST_SLOTS {
                return (Last { away, is_old: is_old(last as usize) }, when(before));
            }
        }
        (Last::default(), when(latest))
    }

    /// The most factors that a variable has to which these items send.
    pub(super) fn most_factors(&self, items: &[Item]) -> usize {
        let degree = |edge: usize| self.graph.degree(self.graph.edge_variables()[edge] as usize);
        let degrees = items.iter().flat_map(|item| {
            let edges = Layout::edges_head_first(self.graph, item.factor as usize).enumerate();
            edges.filter(|&(at, _)| item.sent >> at & 1 != 0).map(|(_, edge)| degree(edge))
        });
        degrees.max().unwrap_or(0)
    }

    /// Prefetches where a factor has its edges, and what is known of it.
    pub(super) fn prefetch_factor(&self, factor: usize) {
        let first = self.graph.factor_edges(factor).start;
        prefetch(self.graph.edge_variables(), first);
        prefetch(&self.layout.slot_of_edge, first);
        prefetch(&self.layout.coefficients_of, factor);
    }

    /// Prefetches what is known of the variables of a factor, which [`Self::prefetch_factor`] has found.
    pub(super) fn prefetch_variables(&self, factor: usize) {
        for &v in self.graph.factor_variables(factor).iter().take(PREFETCHED) {
            prefetch(self.graph.variable_offsets(), v as usize);
            prefetch(&self.layout.position, v as usize);
            prefetch(&self.widths, v as usize);
        }
    }

    /// Prefetches the levels and ranks of what is sent to the variables of a factor, which [`Self::prefetch_variables`] has found.
    pub(super) fn prefetch_messages(&self, factor: usize) {
        for edge in self.graph.factor_edges(factor).take(PREFETCHED) {
            let v = self.graph.edge_variables()[edge] as usize;
            prefetch(&self.by_variable, self.graph.variable_slots(v).start);
        }
    }

    /// The number of threads that read what a variable sends: one for each slot, but one of two.
    pub(super) fn width_of(&self, variable: usize) -> usize {
        self.widths[variable] as usize
    }

    /// Whether ranks rise along the slots of a variable.
    pub(super) fn is_rising(&self, variable: usize) -> bool {
        self.rising[variable]
    }

    /// What an item reads, by the positions of its factor, the head's first.
    pub(super) fn reads(&self, item: &Item) -> impl Iterator<Item = (usize, usize)> {
        let edges = Layout::edges_head_first(self.graph, item.factor as usize).enumerate();
        edges.filter(move |&(at, edge)| self.is_read_by(item, at, edge))
    }

    /// Whether an item reads what the variable at a position sends: the only edge that is sent does not need its own input.
    pub(super) fn is_read_by(&self, item: &Item, at: usize, edge: usize) -> bool {
        item.sent != 1 << at && self.is_read(edge)
    }

    /// Whether the variable of this edge has other factors.
    pub(super) fn is_read(&self, edge: usize) -> bool {
        self.graph.degree(self.graph.edge_variables()[edge] as usize) > 1
    }

    /// What a thread reads that has nothing to read: the one behind all slots.
    pub(super) fn nothing(&self) -> u32 {
        self.layout.slots as u32
    }

    /// Where the slot of an edge is among those of its variable.
    pub(super) fn own_place(&self, edge: usize) -> usize {
        let first = self.layout.slots_of(self.graph.edge_variables()[edge] as usize).0;
        (self.layout.slot_of_edge[edge] - first) as usize
    }

    /// The flags of an input at a position, heads first.
    pub(super) fn flags(&self, item: &Item, at: usize) -> u32 {
        let number = self.layout.coefficients_of[item.factor as usize];
        let negated = self.layout.coefficients[number as usize].negated >> at & 1 == 1;
        let sent = item.sent >> at & 1 == 1;
        level_want::SENT.flag(sent)
            | level_want::NEGATED.flag(negated && at > 0)
            | level_want::COEFFICIENTS.put(number)
    }
}
