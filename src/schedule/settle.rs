//! Levels inside a class of several edges.
//!
//! All edges of a class read each other's old values, so if e reads d, level(d) >= level(e): the
//! level of d is the highest bound of any edge of the class from which d can be reached by steps
//! from an edge to one that it reads. A search from the edges in descending order of their bounds
//! settles each edge the first time that it gets there.
//!
//! A step leads from (f, v) to any other variable w of f, and from there to any edge (g, w) with g
//! other than f. Searching a factor once leaves at most one of its variables unreached, the one
//! that the search came from, and likewise for a variable, so that neither is ever searched a third
//! time: the class costs no more than the arities of its factors and the sorting of its edges,
//! however many edges read each other.

use super::steps::count_steps;
use crate::error::Result;
use crate::memory::{Grow, filled};
use crate::model::FactorGraph;

const NONE: u32 = u32::MAX;
const UNSEARCHED: u32 = u32::MAX - 1;

pub(super) struct ClassSettler<'a> {
    graph: &'a FactorGraph,
    /// Per variable, the first edge of the class into it that is not yet reached, or `NONE`.
    unreached: Vec<u32>,
    /// Per edge, the next such edge into the same variable, or `NONE`.
    next: Vec<u32>,
    /// Per factor: `UNSEARCHED`, or its only variable that is not searched yet, or `NONE`.
    remaining: Vec<u32>,
    seeds: Vec<(u32, u32)>,
    queue: Vec<u32>,
}

impl<'a> ClassSettler<'a> {
    pub fn new(graph: &'a FactorGraph) -> Result<Self> {
        Ok(Self {
            graph,
            unreached: filled(graph.variable_count(), NONE)?,
            next: filled(graph.edge_count(), NONE)?,
            remaining: filled(graph.factor_count(), UNSEARCHED)?,
            seeds: Vec::new(),
            queue: Vec::new(),
        })
    }

    /// Raises the levels of the edges of a class, given what earlier classes demand, to the least
    /// ones that do not let an edge be overwritten before another edge of the class has read it.
    pub fn settle(&mut self, class: &[u32], levels: &mut [u32]) -> Result<()> {
        let lowest = class.iter().map(|&edge| levels[edge as usize]).min().unwrap_or(0);
        // The lowest edges raise nothing.
        let raising = class.iter().filter(|&&edge| levels[edge as usize] > lowest);
        self.seeds.clear();
        self.seeds.try_extend(raising.map(|&edge| (levels[edge as usize], edge)))?;
        if self.seeds.is_empty() {
            return Ok(());
        }
        // Each edge is queued at most once for each seed that raises it, and is out before the next.
        self.queue.try_room(class.len() + 1)?;
        self.seeds.sort_unstable_by(|a, b| b.cmp(a));
        for &edge in class {
            let v = self.graph.edge_variables()[edge as usize] as usize;
            self.next[edge as usize] = self.unreached[v];
            self.unreached[v] = edge;
        }
        for seed in 0..self.seeds.len() {
            let (level, edge) = self.seeds[seed];
            if levels[edge as usize] > level {
                continue;
            }
            self.queue.push(edge);
            while let Some(edge) = self.queue.pop() {
                self.search(edge, level, class, levels);
            }
        }
        for &edge in class {
            self.unreached[self.graph.edge_variables()[edge as usize] as usize] = NONE;
            self.remaining[self.graph.edge_factors()[edge as usize] as usize] = UNSEARCHED;
        }
        Ok(())
    }

    /// Raises all edges of the class that `edge` reads to `level` and queues those that were lower.
    fn search(&mut self, edge: u32, level: u32, class: &[u32], levels: &mut [u32]) {
        let graph = self.graph;
        let factor = graph.edge_factors()[edge as usize];
        let variable = graph.edge_variables()[edge as usize];
        match self.remaining[factor as usize] {
            UNSEARCHED => {
                self.remaining[factor as usize] = variable;
                let variables = graph.factor_variables(factor as usize);
                if variables.len() <= 2 * class.len() {
                    count_steps(variables.len());
                    for &v in variables.iter().filter(|&&v| v != variable) {
                        self.reach(v, factor, level, levels);
                    }
                } else {
                    // Few edges and a high-arity factor: only the variables of the class matter.
                    count_steps(class.len());
                    for &other in class {
                        let v = graph.edge_variables()[other as usize];
                        if v != variable && variables.binary_search(&v).is_ok() {
                            self.reach(v, factor, level, levels);
                        }
                    }
                }
            }
            last if last != NONE && last != variable => {
                self.remaining[factor as usize] = NONE;
                self.reach(last, factor, level, levels);
            }
            _ => {}
        }
    }

    /// Raises the edges of the class into `variable` that a message of `factor` reads.
    fn reach(&mut self, variable: u32, factor: u32, level: u32, levels: &mut [u32]) {
        let mut edge = self.unreached[variable as usize];
        let mut kept = NONE;
        while edge != NONE {
            count_steps(1);
            let next = self.next[edge as usize];
            if self.graph.edge_factors()[edge as usize] == factor {
                kept = edge;
                self.next[edge as usize] = NONE;
            } else if levels[edge as usize] < level {
                levels[edge as usize] = level;
                self.queue.push(edge);
            }
            edge = next;
        }
        self.unreached[variable as usize] = kept;
    }
}
