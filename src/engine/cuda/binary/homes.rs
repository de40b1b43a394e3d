//! Which block of threads has which factors, so that most messages stay within one: each block has one home, or several,
//! which take turns.

use super::limits::{FEW, LARGE, OwnWarps};
use crate::engine::cuda::interface::binary::TILE_ARITY;
use crate::engine::limits::arities_with_own_warps;
use crate::error::Result;
use crate::memory::{Grow, filled, room, zeroed};
use crate::model::FactorGraph;
use crate::parallel::{SharedWords, all_ranges, computed, fill, sum};
use crate::prefetch::prefetch;
use crate::threads::Gang;

/// If more than one in so many edges joins blocks where factors stay in their order, another order is tried.
const FEW_JOINED: usize = 2;

/// The homes of factors of several variables, and the variables whose factors all are at the same one.
pub(super) struct Homes {
    /// The home of each factor; that of one with warps of its own has no meaning.
    pub of_factor: Vec<u16>,
    pub of_variable: Vec<Home>,
    pub blocks: usize,
    /// Homes of each block, which follow each other.
    pub turns: usize,
    /// Whether they take turns, from images: because there are several for each block, or because there are factors with warps of
    /// their own, for which there is no other kernel.
    pub take_turns: bool,
}

/// Most homes.
const MOST_HOMES: usize = 1 << 16;

/// Where a variable's messages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Home {
    /// In the device's memory, as several homes have its factors, or as it has very many, or one with warps of its own.
    Shared,
    /// At this one.
    At(u16),
    /// It has no factors.
    Nowhere,
}

/// About how long a block takes for a factor of its home, in edges.
fn cost(own_warps: OwnWarps<'_>, factor: usize) -> usize {
    match own_warps.graph.arity(factor) {
        0 | 1 => 0,
        _ if own_warps.has(factor) => 0,
        arity @ 2..=TILE_ARITY => 1 + arity,
        _ => 100,
    }
}

impl Homes {
    /// For at most so many blocks, each of which has to do as much as with so many edges at least, with so many homes each;
    /// `None` if these are too many. O(edges).
    pub(super) fn new(
        graph: &FactorGraph, [blocks, turns]: [usize; 2], edges_of_block: usize,
        order: &mut OrderAlongVariables, gang: &Gang,
    ) -> Result<Option<Self>> {
        let own_warps = OwnWarps::new(graph);
        let total = sum(graph.factor_count(), gang, |f| cost(own_warps, f));
        let of_all = total + arities_with_own_warps(graph).sum::<usize>();
        let blocks = blocks.min(of_all / edges_of_block).max(1);
        if blocks.saturating_mul(turns) > MOST_HOMES {
            return Ok(None);
        }
        let shape = [blocks, turns];
        let in_order = Self::in_order(own_warps, None, total, shape, gang)?;
        let joined = in_order.joined_edges(graph, gang);
        if joined * FEW_JOINED <= graph.edge_count() {
            return Ok(Some(in_order));
        }
        let order = order.of(graph, gang)?;
        let along_variables = Self::in_order(own_warps, Some(order), total, shape, gang)?;
        let better = along_variables.joined_edges(graph, gang) < joined;
        Ok(Some(if better { along_variables } else { in_order }))
    }

    /// How many homes there are.
    pub(super) fn count(&self) -> usize {
        self.blocks * self.turns
    }

    /// Gives factors to homes one after the other, in their own order or another one, so that each takes about as long, given how
    /// long all take.
    fn in_order(
        own_warps: OwnWarps<'_>, order: Option<&[u32]>, total: usize, [blocks, turns]: [usize; 2],
        gang: &Gang,
    ) -> Result<Self> {
        let graph = own_warps.graph;
        let homes = blocks * turns;
        let factor = |at: usize| order.map_or(at, |order| order[at] as usize);
        // What ranges of factors cost, and then what those before them do.
        let mut parts = all_ranges(graph.factor_count(), gang, |range| {
            let cost = range.clone().map(|at| cost(own_warps, factor(at))).sum::<usize>();
            Ok((range, cost))
        })?;
        let mut before = 0;
        for (_, spent) in &mut parts {
            before += std::mem::replace(spent, before);
        }
        let mut in_turn = zeroed(graph.factor_count())?;
        let home_in_turn = SharedWords::new(&mut in_turn);
        gang.each(&mut parts, |(range, spent)| {
            for f in range.map(factor) {
                home_in_turn.set(f, (*spent * homes / total.max(1)).min(homes - 1) as u32);
                *spent += cost(own_warps, f);
            }
        });
        let has_home = |f: usize| graph.arity(f) > 1 && !own_warps.has(f);
        // Those of one variable go where the others of that variable are: they cost nothing, and often come one after the
        // other, so that all would go to one home.
        let of_factor = computed(graph.factor_count(), gang, |f| {
            if graph.arity(f) != 1 {
                return in_turn[f] as u16;
            }
            let v = graph.edge_variables()[graph.factor_edges(f).start] as usize;
            let edges = graph.variable_edges(v).iter();
            let mut factors = edges.map(|&e| graph.edge_factors()[e as usize] as usize);
            let other = factors.find(|&f| has_home(f));
            other.map_or((f % homes) as u16, |other| in_turn[other] as u16)
        })?;
        let home = |v: usize| {
            let edges = graph.variable_edges(v).iter();
            let factors = edges.map(|&e| graph.edge_factors()[e as usize] as usize);
            // Those of one variable go where the others are.
            let first = factors.clone().find(|&f| graph.arity(f) > 1).or(factors.clone().next());
            let Some(first) = first.map(|f| of_factor[f]) else { return Home::Nowhere };
            let same = |f| graph.arity(f) == 1 || (has_home(f) && of_factor[f] == first);
            match graph.degree(v) <= LARGE && factors.clone().all(same) {
                true => Home::At(first),
                false => Home::Shared,
            }
        };
        let mut of_variable = filled(graph.variable_count(), Home::Shared)?;
        fill(&mut of_variable, gang, home)?;
        let take_turns = turns > 1 || own_warps.any;
        Ok(Self { of_factor, of_variable, blocks, turns, take_turns })
    }

    /// How many edges there are whose messages leave homes.
    fn joined_edges(&self, graph: &FactorGraph, gang: &Gang) -> usize {
        let is_shared = |v: usize| self.of_variable[v] == Home::Shared;
        let joined = |v: usize| if is_shared(v) { graph.degree(v) } else { 0 };
        sum(graph.variable_count(), gang, joined)
    }
}

/// The order of [`along_variables`], made when it is first asked for: it takes longer than all else where homes are tried.
#[derive(Default)]
pub(super) struct OrderAlongVariables(Option<Vec<u32>>);

impl OrderAlongVariables {
    pub(super) fn of(&mut self, graph: &FactorGraph, gang: &Gang) -> Result<&[u32]> {
        let order = match self.0.take() {
            Some(order) => order,
            None => along_variables(graph, gang)?,
        };
        Ok(self.0.insert(order))
    }
}

/// All factors, each followed by such that share a variable with it, as far as possible.
fn along_variables(graph: &FactorGraph, gang: &Gang) -> Result<Vec<u32>> {
    // The search jumps about, and each jump waits for memory: so what it needs of a factor is put together before, by all threads.
    let near = computed(graph.factor_count(), gang, |f| near(graph, f))?;
    let mut seen = filled(graph.factor_count(), false)?;
    let mut order = room(graph.factor_count())?;
    let mut waiting = Vec::new();
    for start in 0..graph.factor_count() as u32 {
        waiting.try_push(start)?;
        while let Some(f) = waiting.pop() {
            if std::mem::replace(&mut seen[f as usize], true) {
                continue;
            }
            order.push(f);
            let mut wait = |other: u32| -> Result<()> {
                if !seen[other as usize] {
                    prefetch(&near, other as usize);
                    waiting.try_push(other)?;
                }
                Ok(())
            };
            match near[f as usize].get(1..=near[f as usize][0] as usize) {
                Some(all) => all.iter().try_for_each(|&other| wait(other))?,
                None => neighbours(graph, f as usize).try_for_each(&mut wait)?,
            }
        }
    }
    Ok(order)
}

/// The factors that share a variable of few factors with a factor; several times if they share several.
fn neighbours(graph: &FactorGraph, factor: usize) -> impl Iterator<Item = u32> {
    let variables = graph.factor_variables(factor).iter().map(|&v| v as usize);
    let edges = variables
        .filter(|&v| graph.degree(v) <= FEW)
        .flat_map(|v| graph.variable_edges(v).iter().map(|&edge| edge as usize));
    edges.map(|edge| graph.edge_factors()[edge]).filter(move |&other| other as usize != factor)
}

/// Most neighbours that are put together: with their number they take half of a line of the cache.
pub(super) const MOST_NEAR: usize = 7;

/// The number of [`neighbours`] of a factor, more than [`MOST_NEAR`] standing for any number more, and so many of them.
fn near(graph: &FactorGraph, factor: usize) -> [u32; MOST_NEAR + 1] {
    let mut near = [0; MOST_NEAR + 1];
    for (number, other) in (1..).zip(neighbours(graph, factor).take(MOST_NEAR + 1)) {
        near[0] = number;
        if let Some(place) = near.get_mut(number as usize) {
            *place = other;
        }
    }
    near
}
