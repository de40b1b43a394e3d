//! The scopes of all factors as sorted lists of variables, made on all threads.

use super::graph::Label;
use super::labels::LabelIndex;
use crate::error::Result;
use crate::factor::{Conjunction, FactorKind};
use crate::memory::{copied, room, zeroed};
use crate::threads::Gang;
use std::ops::Range;

/// The factors of a builder: see [`super::FactorGraphBuilder`].
pub(super) struct DraftFactors<'a> {
    pub(super) kinds: &'a [FactorKind],
    pub(super) heads: &'a [Label],
    pub(super) member_ends: &'a [usize],
    pub(super) members: &'a [Label],
    pub(super) parameters: &'a [u32],
}

/// Stands for the number of parameters that still have to be brought into the order of the graph.
pub(super) const NOT_ASSEMBLED: u32 = u32::MAX;

/// The scopes of all factors, as a graph has them.
pub(super) struct Scopes {
    pub(super) factor_offsets: Vec<u32>,
    pub(super) edge_variable: Vec<u32>,
    /// Position of the head, 0 for kinds without one.
    pub(super) heads: Vec<u32>,
    /// The draft's number where it is that of the graph, too; else `NOT_ASSEMBLED`.
    pub(super) parameters: Vec<u32>,
}

/// Consecutive factors.
struct Part<'a> {
    factors: Range<usize>,
    /// Room for all members and a head for each factor.
    variables: &'a mut [u32],
    /// Where each factor ends in `variables`.
    ends: &'a mut [u32],
    heads: &'a mut [u32],
    parameters: &'a mut [u32],
}

impl<'a> DraftFactors<'a> {
    /// Members of a factor, in the caller's order.
    pub(super) fn members(&self, factor: usize) -> &'a [Label] {
        let start = if factor == 0 { 0 } else { self.member_ends[factor - 1] };
        &self.members[start..self.member_ends[factor]]
    }

    /// Edges that the factors before this one have at most: each has one more than members.
    fn bound_before(&self, factor: usize) -> usize {
        factor + if factor == 0 { 0 } else { self.member_ends[factor - 1] }
    }

    /// The scopes in a graph the labels of which are indexed so. Parameters of prior, AND and OR factors stay as they
    /// are if all variables are binary and the head is not in the body.
    pub(super) fn scopes(
        &self, index: &LabelIndex, all_binary: bool, gang: &Gang,
    ) -> Result<Scopes> {
        let count = self.kinds.len();
        let bound = self.bound_before(count);
        let mut scopes = Scopes {
            factor_offsets: zeroed(count + 1)?,
            edge_variable: zeroed(bound)?,
            heads: zeroed(count)?,
            parameters: zeroed(count)?,
        };
        let mut parts = self.parts(&mut scopes, gang)?;
        gang.each(&mut parts, |part| self.fill(part, index, all_binary));
        let mut cuts = room(parts.len())?;
        cuts.extend(parts.iter().map(|part| part.factors.clone()));
        drop(parts);
        // Parts with fewer edges than there was room for leave gaps.
        let mut edges = 0;
        for factors in cuts {
            let start = self.bound_before(factors.start);
            let offsets = &mut scopes.factor_offsets[factors.start + 1..factors.end + 1];
            let length = offsets.last().map_or(0, |&end| end as usize);
            if start != edges {
                scopes.edge_variable.copy_within(start..start + length, edges);
            }
            if edges != 0 {
                offsets.iter_mut().for_each(|end| *end += edges as u32);
            }
            edges += length;
        }
        if edges < bound {
            scopes.edge_variable.truncate(edges);
            scopes.edge_variable = copied(&scopes.edge_variable)?;
        }
        Ok(scopes)
    }

    /// Several parts for each thread, of as many edges.
    fn parts<'s>(&self, scopes: &'s mut Scopes, gang: &Gang) -> Result<Vec<Part<'s>>> {
        const PARTS_PER_THREAD: usize = 4;
        let count = self.kinds.len();
        let part_count = if gang.threads() == 1 { 1 } else { PARTS_PER_THREAD * gang.threads() };
        let mut parts = room(part_count)?;
        let mut variables = scopes.edge_variable.as_mut_slice();
        let mut ends = &mut scopes.factor_offsets[1..];
        let mut heads = scopes.heads.as_mut_slice();
        let mut parameters = scopes.parameters.as_mut_slice();
        let mut first = 0;
        for part in 1..=part_count {
            let wanted = (self.members.len() as u64 * part as u64 / part_count as u64) as usize;
            let end = if part == part_count {
                count
            } else {
                first + self.member_ends[first..].partition_point(|&end| end <= wanted)
            };
            let edges = self.bound_before(end) - self.bound_before(first);
            parts.push(Part {
                factors: first..end,
                variables: variables.split_off_mut(..edges).unwrap_or_default(),
                ends: ends.split_off_mut(..end - first).unwrap_or_default(),
                heads: heads.split_off_mut(..end - first).unwrap_or_default(),
                parameters: parameters.split_off_mut(..end - first).unwrap_or_default(),
            });
            first = end;
        }
        Ok(parts)
    }

    fn fill(&self, part: &mut Part<'_>, index: &LabelIndex, all_binary: bool) {
        let mut end = 0;
        for (i, factor) in part.factors.clone().enumerate() {
            let (kind, members) = (self.kinds[factor], self.members(factor));
            let head = kind.has_head().then(|| index.of(self.heads[factor]));
            let scope = &mut part.variables[end..];
            let Scope { arity, head, head_in_members } = sorted(members, head, index, scope);
            end += arity;
            part.ends[i] = end as u32;
            part.heads[i] = head as u32;
            let keeps_parameters =
                kind.conjunction() == Some(Conjunction::Horn) && all_binary && !head_in_members;
            part.parameters[i] =
                if keeps_parameters { self.parameters[factor] } else { NOT_ASSEMBLED };
        }
    }
}

/// The variables of a factor: how many there are, and which of them is the head.
struct Scope {
    arity: usize,
    head: usize,
    head_in_members: bool,
}

/// Writes the variables of a factor, ascending and each once, to the begin of `out`.
#[inline]
fn sorted(members: &[Label], head: Option<u32>, index: &LabelIndex, out: &mut [u32]) -> Scope {
    let mut arity = members.len();
    let mut is_ascending = true;
    let mut least = 0;
    for (slot, &label) in out.iter_mut().zip(members) {
        let variable = index.of(label);
        *slot = variable;
        is_ascending &= variable >= least;
        least = variable + 1;
    }
    if !is_ascending {
        let own = &mut out[..arity];
        own.sort_unstable();
        arity = 0;
        for i in 0..own.len() {
            if arity == 0 || own[i] != own[arity - 1] {
                own[arity] = own[i];
                arity += 1;
            }
        }
    }
    let Some(head) = head else { return Scope { arity, head: 0, head_in_members: false } };
    let position = if is_ascending && head >= least {
        arity
    } else {
        out[..arity].partition_point(|&variable| variable < head)
    };
    let head_in_members = position < arity && out[position] == head;
    if !head_in_members {
        out.copy_within(position..arity, position + 1);
        out[position] = head;
        arity += 1;
    }
    Scope { arity, head: position, head_in_members }
}
