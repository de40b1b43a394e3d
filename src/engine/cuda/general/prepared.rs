//! Variables of high degree of which a level reads many messages: all that such a variable sends is computed once before the
//! factors of the level, not anew for each of these.

use super::items::{Items, of_many};
use crate::engine::cuda::interface::general::{HIGH_DEGREE, NOT_PREPARED};
use crate::error::Result;
use crate::memory::{Grow, filled};
use crate::model::FactorGraph;
use crate::schedule::Levels;

/// Fewest messages that edges of one rank must read of a variable in a level, and more than it has states. Each costs a block about as long as all of the
/// variable, and blocks compute them side by side; but a level with prepared variables has one more barrier.
const FEWEST_READS: usize = 16;

/// The variables that are prepared, and for which levels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Prepared {
    /// Of each variable its number among them, or [`NOT_PREPARED`]; empty if there are none.
    pub numbers: Vec<u32>,
    pub count: usize,
    /// By [`Span`](Span), of each level: the variable, and the rank of those that read it.
    pub items: [Items; 3],
}

/// For which edges variables are prepared in one level after the other.
pub(super) struct PreparedRanks<'a> {
    prepared: &'a Prepared,
    /// By number: one more than the level, and the rank.
    last: Vec<(u32, u32)>,
    level: u32,
}

/// Messages of a factor in one level that are of one rank: they read the same.
pub(super) struct Run {
    pub rank: u32,
    /// The edge whose input they do not need: that of the only message.
    unneeded: Option<usize>,
}

impl Run {
    /// Of edges of one factor and level, in ascending order of their ranks.
    pub fn all<'a>(targets: &'a [u32], ranks: &'a [u32]) -> impl Iterator<Item = Self> + 'a {
        let rank = |edge: u32| ranks[edge as usize];
        targets.chunk_by(move |&a, &b| rank(a) == rank(b)).map(move |run| Self {
            rank: rank(run[0]),
            unneeded: (run.len() == 1).then_some(run[0] as usize),
        })
    }

    /// Variables whose messages to the factor they read.
    pub fn read<'a>(
        &self, graph: &'a FactorGraph, factor: usize,
    ) -> impl Iterator<Item = usize> + use<'a> {
        let unneeded = self.unneeded;
        let needed = graph.factor_edges(factor).filter(move |&edge| Some(edge) != unneeded);
        needed.map(|edge| graph.edge_variables()[edge] as usize)
    }
}

impl Prepared {
    /// For the levels of a preorder, and the rank of each edge. O(edges + r log r) for r messages that are read of variables of
    /// high degree.
    pub fn new(graph: &FactorGraph, levels: &Levels, ranks: &[u32]) -> Result<Self> {
        let mut prepared =
            Self { numbers: filled(graph.variable_count(), NOT_PREPARED)?, ..Self::default() };
        prepared.items = [Items::new()?, Items::new()?, Items::new()?];
        let (mut targets, mut of_factor, mut reads) = (Vec::new(), Vec::new(), Vec::new());
        for level in 0..levels.count() {
            reads.clear();
            for_factors(graph, levels.edges(level), |factor, edges| {
                if !graph.factor_variables(factor).iter().any(|&v| is_high(graph, v as usize)) {
                    return Ok(());
                }
                targets.clear();
                targets.try_append(edges)?;
                targets.sort_unstable_by_key(|&edge| (ranks[edge as usize], edge));
                of_factor.clear();
                for run in Run::all(&targets, ranks) {
                    for v in run.read(graph, factor).filter(|&v| is_high(graph, v)) {
                        of_factor.try_push((v as u32, run.rank))?;
                    }
                }
                of_factor.sort_unstable();
                for of_variable in of_factor.chunk_by(|(a, _), (b, _)| a == b) {
                    // Of several ranks, a factor has room for one message from a variable only.
                    let rank = (of_variable.len() == 1).then_some(of_variable[0].1);
                    reads.try_push((of_variable[0].0, rank))?;
                }
                Ok(())
            })?;
            reads.sort_unstable();
            for of_variable in reads.chunk_by(|(a, _), (b, _)| a == b) {
                let of_ranks = of_variable.chunk_by(|a, b| a == b);
                let Some(most) = of_ranks.max_by_key(|reads| reads.len()) else { continue };
                // (Without a rank sorts first.)
                if let ((_, Some(_)), (variable, Some(rank))) = (of_variable[0], most[0])
                    && most.len() >= FEWEST_READS.max(graph.cardinality(variable as usize) + 1)
                {
                    prepared.add(graph, variable, rank)?;
                }
            }
            prepared.items.iter_mut().try_for_each(Items::end_level)?;
        }
        Ok(if prepared.count == 0 { Self::default() } else { prepared })
    }

    /// Has a variable prepared in the present level for edges of a rank.
    fn add(&mut self, graph: &FactorGraph, variable: u32, rank: u32) -> Result<()> {
        let number = &mut self.numbers[variable as usize];
        if *number == NOT_PREPARED {
            *number = self.count as u32;
            self.count += 1;
        }
        let (span, _) = of_many(graph, variable as usize);
        self.items[span as usize].push(variable, rank as usize, 0)
    }

    /// Whether a variable is prepared for any level.
    pub fn has(&self, variable: usize) -> bool {
        self.number(variable).is_some()
    }

    fn number(&self, variable: usize) -> Option<usize> {
        let number = self.numbers.get(variable).filter(|&&number| number != NOT_PREPARED);
        number.map(|&number| number as usize)
    }
}

impl<'a> PreparedRanks<'a> {
    /// Before the first level.
    pub fn new(prepared: &'a Prepared) -> Result<Self> {
        Ok(Self { prepared, last: filled(prepared.count, (0, 0))?, level: 0 })
    }

    /// Begins a level; they come in order.
    pub fn begin_level(&mut self, level: usize) {
        self.level = level as u32 + 1;
        for items in self.prepared.items.iter().filter(|_| self.prepared.count > 0) {
            let range = items.levels[level] as usize..items.levels[level + 1] as usize;
            for item in &items.list[range] {
                if let Some(number) = self.prepared.number(item.factor as usize) {
                    self.last[number] = (self.level, item.first);
                }
            }
        }
    }

    /// Whether a variable is prepared in this level for edges of a rank.
    pub fn has(&self, variable: usize, rank: u32) -> bool {
        let number = self.prepared.number(variable);
        number.is_some_and(|number| self.last[number] == (self.level, rank))
    }
}

/// Whether a block computes each message of a variable by itself, where it is not prepared.
pub(super) fn is_high(graph: &FactorGraph, variable: usize) -> bool {
    graph.degree(variable) > HIGH_DEGREE
}

/// Gives each factor of several variables with some of its edges.
pub(super) fn for_factors(
    graph: &FactorGraph, edges: &[u32], mut give: impl FnMut(usize, &[u32]) -> Result<()>,
) -> Result<()> {
    let factors = graph.edge_factors();
    for group in edges.chunk_by(|&a, &b| factors[a as usize] == factors[b as usize]) {
        let factor = factors[group[0] as usize] as usize;
        if graph.arity(factor) > 1 {
            give(factor, group)?;
        }
    }
    Ok(())
}
