//! Orders of elimination, and the cliques that they leave.

use crate::error::{Error, Result};
use crate::memory::{Grow, collected, filled, out_of_memory, room};
use crate::model::FactorGraph;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Position of a variable that is in no clique.
pub(super) const NOT_ELIMINATED: u32 = u32::MAX;

/// Tables up to this many entries in all need no second order to choose from.
const SMALL: usize = 1 << 12;

/// The cliques of an order of elimination.
///
/// Of the clique of a variable all others are eliminated later, and those are in the clique of the first of them, too: so
/// the cliques are the nodes of a forest.
pub(super) struct Cliques {
    /// The variables in the order of elimination.
    pub(super) order: Vec<u32>,
    /// The place of each variable in the order, or [`NOT_ELIMINATED`].
    pub(super) positions: Vec<u32>,
    /// The variables of all cliques, each beginning with its own and then by position.
    members: Vec<u32>,
    /// Where each clique begins in `members`, and the end.
    offsets: Vec<usize>,
    /// Entries of the tables of all cliques.
    pub(super) entries: usize,
}

/// How a greedy order measures what eliminating a variable costs; ties go to the smaller clique, then to the lower
/// variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    /// Joint states of the clique.
    Weight,
    /// Pairs of neighbours that the elimination joins.
    Fill,
}

impl Cliques {
    /// Those of the better one of two greedy orders of all variables that are not `fixed`.
    ///
    /// Errors: the tables have more than `limit` entries.
    pub(super) fn new(graph: &FactorGraph, fixed: &[bool], limit: usize) -> Result<Self> {
        let by_weight = Elimination::new(graph, fixed, limit, Measure::Weight)?.run();
        if by_weight.as_ref().is_ok_and(|cliques| cliques.entries <= SMALL) {
            return by_weight;
        }
        match (by_weight, Elimination::new(graph, fixed, limit, Measure::Fill)?.run()) {
            (Ok(first), Ok(second)) if second.entries >= first.entries => Ok(first),
            (first, Err(Error::LimitExceeded(_))) => first,
            (_, second) => second,
        }
    }

    /// Number of cliques.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The variables of a clique, its own first.
    pub(super) fn members(&self, clique: usize) -> &[u32] {
        &self.members[self.offsets[clique]..self.offsets[clique + 1]]
    }

    /// The clique that contains all variables of a clique but its own.
    pub(super) fn parent(&self, clique: usize) -> Option<usize> {
        self.members(clique).get(1).map(|&v| self.positions[v as usize] as usize)
    }

    /// The clique that contains all of some variables if any does: that of the first to be eliminated.
    pub(super) fn clique_of(&self, variables: impl Iterator<Item = u32>) -> Option<usize> {
        variables.map(|v| self.positions[v as usize] as usize).min()
    }
}

/// The work of making an order.
struct Elimination<'a> {
    graph: &'a FactorGraph,
    limit: usize,
    measure: Measure,
    /// Ascending neighbours of each variable; those that were eliminated are still there.
    neighbours: Vec<Vec<u32>>,
    /// Number of neighbours that were not eliminated.
    degrees: Vec<u32>,
    /// Candidates with what they cost when they were added.
    queue: BinaryHeap<Reverse<((u64, u64), u32)>>,
    cliques: Cliques,
}

impl<'a> Elimination<'a> {
    fn new(graph: &'a FactorGraph, fixed: &[bool], limit: usize, measure: Measure) -> Result<Self> {
        let mut neighbours = room::<Vec<u32>>(graph.variable_count())?;
        neighbours.resize_with(graph.variable_count(), Vec::new);
        for factor in 0..graph.factor_count() {
            let scope = graph.factor_variables(factor).iter().copied();
            let scope = collected(scope.filter(|&v| !fixed[v as usize]))?;
            // A table that is too large would make too many pairs, too.
            let size = product(graph, &scope);
            if size > limit as u64 {
                return Err(too_large(size, scope.len(), limit));
            }
            for &v in &scope {
                let others = scope.iter().copied().filter(|&w| w != v);
                neighbours[v as usize].try_extend(others)?;
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let degrees = collected(neighbours.iter().map(|list| list.len() as u32))?;
        let count = fixed.iter().filter(|&&fixed| !fixed).count();
        let mut offsets = room(count + 1)?;
        offsets.push(0);
        let cliques = Cliques {
            order: room(count)?,
            positions: filled(fixed.len(), NOT_ELIMINATED)?,
            members: Vec::new(),
            offsets,
            entries: 0,
        };
        let queue = BinaryHeap::new();
        let mut elimination = Self { graph, limit, measure, neighbours, degrees, queue, cliques };
        for v in (0..fixed.len()).filter(|&v| !fixed[v]) {
            elimination.add_candidate(v as u32)?;
        }
        Ok(elimination)
    }

    fn run(mut self) -> Result<Cliques> {
        while let Some(Reverse((cost, v))) = self.queue.pop() {
            if self.is_eliminated(v) {
                continue;
            }
            // What it cost may have changed since it was added.
            if self.cost(v) > cost {
                self.add_candidate(v)?;
                continue;
            }
            self.eliminate(v)?;
        }
        // Those with more neighbours than a table may have variables.
        let left = (0..self.neighbours.len() as u32)
            .filter(|&v| self.degrees[v as usize] > self.most_neighbours())
            .find(|&v| !self.is_eliminated(v));
        if let Some(v) = left {
            let members = self.degrees[v as usize] as usize + 1;
            return Err(too_large(u64::MAX, members, self.limit));
        }
        // Members by position, which is known for all of them now.
        let Cliques { positions, members, offsets, .. } = &mut self.cliques;
        for range in offsets.windows(2) {
            members[range[0]..range[1]].sort_unstable_by_key(|&v| positions[v as usize]);
        }
        Ok(self.cliques)
    }

    fn is_eliminated(&self, v: u32) -> bool {
        self.cliques.positions[v as usize] != NOT_ELIMINATED
    }

    /// Most neighbours of a variable whose table can be small enough, as all variables have two states or more.
    fn most_neighbours(&self) -> u32 {
        usize::BITS - self.limit.leading_zeros()
    }

    /// Adds a variable to the queue, unless its table is too large as yet.
    fn add_candidate(&mut self, v: u32) -> Result<()> {
        if self.degrees[v as usize] > self.most_neighbours() {
            return Ok(());
        }
        let (positions, list) = (&self.cliques.positions, &mut self.neighbours[v as usize]);
        list.retain(|&w| positions[w as usize] == NOT_ELIMINATED);
        let candidate = Reverse((self.cost(v), v));
        let made = self.queue.try_reserve(1);
        made.map_err(|_| out_of_memory(format_args!("the queue of an order of elimination")))?;
        self.queue.push(candidate);
        Ok(())
    }

    /// The neighbours of a variable that were not eliminated.
    fn open_neighbours(&self, v: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        self.neighbours[v as usize].iter().copied().filter(|&w| !self.is_eliminated(w))
    }

    fn cost(&self, v: u32) -> (u64, u64) {
        let states = |v: u32| self.graph.cardinality(v as usize) as u64;
        let weight = self.open_neighbours(v).map(states).fold(states(v), u64::saturating_mul);
        if self.measure == Measure::Weight {
            return (weight, 0);
        }
        let mut fill = 0;
        let mut others = self.open_neighbours(v);
        while let Some(first) = others.next() {
            fill += others.clone().filter(|&second| !self.are_joined(first, second)).count() as u64;
        }
        (fill, weight)
    }

    fn are_joined(&self, first: u32, second: u32) -> bool {
        let (a, b) = (&self.neighbours[first as usize], &self.neighbours[second as usize]);
        if a.len() <= b.len() { a.binary_search(&second) } else { b.binary_search(&first) }.is_ok()
    }

    fn eliminate(&mut self, v: u32) -> Result<()> {
        let others = collected(self.open_neighbours(v))?;
        let states = self.graph.cardinality(v as usize) as u64;
        let size = product(self.graph, &others).saturating_mul(states);
        let entries = size.saturating_add(self.cliques.entries as u64);
        if entries > self.limit as u64 {
            return Err(too_large(entries, others.len() + 1, self.limit));
        }
        self.cliques.entries = entries as usize;
        self.cliques.positions[v as usize] = self.cliques.order.len() as u32;
        self.cliques.order.try_push(v)?;
        self.cliques.members.try_push(v)?;
        self.cliques.members.try_append(&others)?;
        self.cliques.offsets.try_push(self.cliques.members.len())?;
        for (place, &first) in others.iter().enumerate() {
            self.degrees[first as usize] -= 1;
            for &second in &others[place + 1..] {
                if !self.are_joined(first, second) {
                    self.join(first, second)?;
                    self.join(second, first)?;
                }
            }
        }
        self.neighbours[v as usize] = Vec::new();
        others.into_iter().try_for_each(|w| self.add_candidate(w))
    }

    /// Makes a variable a neighbour of another one.
    fn join(&mut self, variable: u32, neighbour: u32) -> Result<()> {
        let list = &mut self.neighbours[variable as usize];
        list.try_room(1)?;
        let place = list.partition_point(|&w| w < neighbour);
        list.insert(place, neighbour);
        self.degrees[variable as usize] += 1;
        Ok(())
    }
}

/// Number of joint states of some variables, `u64::MAX` where it is larger.
fn product(graph: &FactorGraph, variables: &[u32]) -> u64 {
    let states = variables.iter().map(|&v| graph.cardinality(v as usize) as u64);
    states.fold(1, u64::saturating_mul)
}

/// The error of tables with more entries than there may be, of which the last one is over so many variables.
fn too_large(entries: u64, variables: usize, limit: usize) -> Error {
    let entries = match entries {
        u64::MAX => "2^64".to_string(),
        entries => entries.to_string(),
    };
    Error::LimitExceeded(format!(
        "exact inference needs tables of {entries} entries or more, one of them over {variables} variables, and may have \
         {limit} entries: the treewidth of the graph is too large. Observe more variables, allow more entries, or use \
         belief propagation"
    ))
}
