//! Bookkeeping of the dependency analysis for factors with very many variables.
//!
//! An order that scatters the edges of a factor of arity a would cost O(a) per edge if each looked
//! at all variables of the factor. For such a factor the analysis keeps what it reads and where it
//! is read in the factor itself, and lets its variables know it. There can be only few of them.

use super::steps::count_steps;
use super::top_two::TopTwo;
use crate::error::Result;
use crate::memory::{Grow, copied, filled, room};
use crate::model::FactorGraph;

const NARROW: u32 = u32::MAX;

/// The factors treated so.
pub(super) struct HighArityFactors {
    /// Index into the arrays below of each factor, or `NARROW`.
    index: Vec<u32>,
    /// Per high-arity factor: levels of the updates that its messages read, by variable.
    updates: Vec<TopTwo>,
    /// Per high-arity factor: levels of its own edges, by variable.
    own: Vec<TopTwo>,
    /// The high-arity factors of variable v are `members[offsets[v]..offsets[v + 1]]`.
    offsets: Vec<u32>,
    members: Vec<u32>,
}

impl HighArityFactors {
    /// The factors with `arity` variables or more the edges of which lie in `groups` or more runs
    /// of `order`. `None` if there are none.
    pub fn select(
        graph: &FactorGraph, order: &[u32], arity: usize, groups: u32,
    ) -> Result<Option<Self>> {
        let factors = 0..graph.factor_count();
        if !factors.clone().any(|factor| graph.arity(factor) >= arity) {
            return Ok(None);
        }
        let mut runs = filled(graph.factor_count(), 0_u32)?;
        let edge_factors = graph.edge_factors();
        for run in order.chunk_by(|&a, &b| edge_factors[a as usize] == edge_factors[b as usize]) {
            runs[edge_factors[run[0] as usize] as usize] += 1;
        }
        let mut index = filled(graph.factor_count(), NARROW)?;
        let mut count = 0;
        for factor in factors {
            if graph.arity(factor) >= arity && runs[factor] >= groups {
                index[factor] = count;
                count += 1;
            }
        }
        if count == 0 {
            return Ok(None);
        }
        let mut offsets = room(graph.variable_count() + 1)?;
        let mut members = Vec::new();
        offsets.push(0);
        for v in 0..graph.variable_count() {
            let factors = graph.variable_edges(v).iter().map(|&edge| edge_factors[edge as usize]);
            members.try_extend(factors.filter(|&factor| index[factor as usize] != NARROW))?;
            offsets.push(members.len() as u32);
        }
        let none = filled(count as usize, TopTwo::NONE)?;
        Ok(Some(Self { index, updates: copied(&none)?, own: none, offsets, members }))
    }

    pub fn contains(&self, factor: u32) -> bool {
        self.index[factor as usize] != NARROW
    }

    fn members(&self, variable: u32) -> &[u32] {
        let v = variable as usize;
        &self.members[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }

    /// For a high-arity factor: levels of the updates that its messages read, by variable.
    pub fn updates_read_by(&self, factor: u32) -> Option<TopTwo> {
        self.updates.get(self.index[factor as usize] as usize).copied()
    }

    /// The highest level at which a message of a high-arity factor other than `factor` reads the message
    /// of `factor` to `variable`; 0 if none did so far.
    pub fn highest_read(&self, variable: u32, factor: u32) -> u32 {
        let members = self.members(variable);
        count_steps(members.len());
        let readers = members.iter().filter(|&&reader| reader != factor);
        readers
            .map(|&reader| self.own[self.index[reader as usize] as usize].without(variable))
            .max()
            .unwrap_or(0)
    }

    /// Takes in the level of the edge (factor, variable) as an update.
    pub fn record_update(&mut self, variable: u32, factor: u32, level: u32) {
        let v = variable as usize;
        for &reader in &self.members[self.offsets[v] as usize..self.offsets[v + 1] as usize] {
            if reader != factor {
                self.updates[self.index[reader as usize] as usize].raise(variable, level);
            }
        }
    }

    /// Takes in the level of the edge (factor, variable) as a reader, if the factor is one of these.
    pub fn record_read(&mut self, factor: u32, variable: u32, level: u32) {
        if let Some(own) = self.own.get_mut(self.index[factor as usize] as usize) {
            own.raise(variable, level);
        }
    }
}
