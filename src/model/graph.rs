//! The immutable factor graph: compact adjacency in both directions with 32-bit indices.

use super::edges::Edges;
use crate::error::Result;
#[cfg(test)]
use crate::factor::next_joint_state;
use crate::factor::{Conjunction, Factor, FactorKind, HornParameters, SignedParameters, Stores};
use crate::kernel::HornCoefficients;
use std::ops::Range;

/// The user's identifier of a variable. Labels may have gaps; variables are indexed by the rank of
/// their label.
pub type Label = u64;

/// A discrete factor graph.
///
/// Variables are indexed `0..variable_count()` by ascending label, factors in the order in which
/// they were added, edges `0..edge_count()` factor by factor and within a factor by ascending
/// variable. Built by [`super::FactorGraphBuilder`]; immutable and cheap to share in an `Arc`.
#[derive(Clone, Debug, PartialEq)]
pub struct FactorGraph {
    pub(super) labels: Vec<Label>,
    pub(super) cardinalities: Vec<u32>,
    pub(super) edges: Edges,
    pub(super) kinds: Vec<FactorKind>,
    pub(super) heads: Vec<u32>,
    /// Per factor: its number in the store of its kind; equal horn and signed parameters share one.
    pub(super) parameters: Vec<u32>,
    pub(super) stores: Stores,
    pub(super) all_binary: bool,
    /// Whether all factors are conjunctions of literals, and the most variables of one: asked for again and again.
    pub(super) all_conjunctions: bool,
    pub(super) largest_arity: u32,
}

/// Whether factors of these kinds all are conjunctions of literals.
pub(super) fn all_conjunctions(kinds: &[FactorKind]) -> bool {
    kinds.iter().all(|kind| kind.conjunction().is_some())
}

impl FactorGraph {
    /// Number of variables.
    pub fn variable_count(&self) -> usize {
        self.labels.len()
    }

    /// Number of factors.
    pub fn factor_count(&self) -> usize {
        self.kinds.len()
    }

    /// Number of edges, that is of (factor, variable) pairs.
    pub fn edge_count(&self) -> usize {
        self.edges.edge_variable.len()
    }

    /// Labels of all variables, ascending.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Label of a variable. Panics if there is no such variable.
    pub fn label(&self, variable: usize) -> Label {
        self.labels[variable]
    }

    /// Index of the variable with this label. O(log gaps) where the labels have few gaps, O(1) if they have none, and
    /// never more than O(log variables).
    pub fn variable_of_label(&self, label: Label) -> Option<usize> {
        let (&first, &last) = (self.labels.first()?, self.labels.last()?);
        if label < first || label > last {
            return None;
        }
        // Labels ascend, each once: so many of the graph's can be below this one, and so many above it.
        let most_below = usize::try_from(label - first).unwrap_or(usize::MAX);
        let most_above = usize::try_from(last - label).unwrap_or(usize::MAX);
        let highest = self.labels.len() - 1;
        let from = highest.saturating_sub(most_above);
        let found = self.labels[from..=highest.min(most_below)].binary_search(&label);
        found.ok().map(|place| from + place)
    }

    /// Number of states of a variable. Panics if there is no such variable.
    pub fn cardinality(&self, variable: usize) -> usize {
        self.cardinalities[variable] as usize
    }

    /// Numbers of states of all variables.
    pub fn cardinalities(&self) -> &[u32] {
        &self.cardinalities
    }

    /// Whether every variable has exactly two states.
    pub fn all_binary(&self) -> bool {
        self.all_binary
    }

    /// Sum of all cardinalities: the length of the array of all marginals.
    pub fn state_count(&self) -> usize {
        self.cardinalities.iter().map(|&r| r as usize).sum()
    }

    /// Edges of a factor. Panics if there is no such factor.
    pub fn factor_edges(&self, factor: usize) -> Range<usize> {
        self.edges.factor_offsets[factor] as usize..self.edges.factor_offsets[factor + 1] as usize
    }

    /// Variables of a factor, ascending. Panics if there is no such factor.
    pub fn factor_variables(&self, factor: usize) -> &[u32] {
        &self.edges.edge_variable[self.factor_edges(factor)]
    }

    /// Edges of a variable, ascending. Panics if there is no such variable.
    pub fn variable_edges(&self, variable: usize) -> &[u32] {
        &self.edges.variable_edges[self.variable_slots(variable)]
    }

    /// Where a variable's edges lie in the concatenation of all `variable_edges`.
    pub fn variable_slots(&self, variable: usize) -> Range<usize> {
        self.edges.variable_offsets[variable] as usize
            ..self.edges.variable_offsets[variable + 1] as usize
    }

    /// Where the edges of each factor start, and those of the last one end.
    pub(crate) fn factor_offsets(&self) -> &[u32] {
        &self.edges.factor_offsets
    }

    /// Where the edges of each variable start in the concatenation of all `variable_edges`, and those of the last one end.
    pub(crate) fn variable_offsets(&self) -> &[u32] {
        &self.edges.variable_offsets
    }

    /// The edges of all variables, one variable after the other.
    pub fn all_variable_edges(&self) -> &[u32] {
        &self.edges.variable_edges
    }

    /// Degree of a variable. Panics if there is no such variable.
    pub fn degree(&self, variable: usize) -> usize {
        self.variable_slots(variable).len()
    }

    /// Number of variables of a factor. Panics if there is no such factor.
    pub fn arity(&self, factor: usize) -> usize {
        self.factor_edges(factor).len()
    }

    /// Variable at the end of each edge.
    pub fn edge_variables(&self) -> &[u32] {
        &self.edges.edge_variable
    }

    /// Factor at the start of each edge.
    pub fn edge_factors(&self) -> &[u32] {
        &self.edges.edge_factor
    }

    /// The edge that joins a factor and a variable. O(log arity).
    pub fn edge(&self, factor: usize, variable: usize) -> Option<usize> {
        if factor >= self.factor_count() {
            return None;
        }
        let variable = u32::try_from(variable).ok()?;
        let position = self.factor_variables(factor).binary_search(&variable).ok()?;
        Some(self.edges.factor_offsets[factor] as usize + position)
    }

    /// Kind of a factor. Panics if there is no such factor.
    pub fn kind(&self, factor: usize) -> FactorKind {
        self.kinds[factor]
    }

    /// Position of the head among the variables of a factor: `None` for a table and for terms, 0 for
    /// a prior.
    pub fn head_position(&self, factor: usize) -> Option<usize> {
        self.kinds[factor].has_head().then(|| self.heads[factor] as usize)
    }

    /// Index into [`Self::horn_parameters`] of a prior, AND or OR factor.
    pub fn horn_parameter(&self, factor: usize) -> Option<usize> {
        let is_horn = self.kinds[factor].conjunction() == Some(Conjunction::Horn);
        is_horn.then(|| self.parameters[factor] as usize)
    }

    /// Number of the parameters of a factor that is a conjunction of literals (prior, AND, OR,
    /// signed): those of [`Self::horn_parameters`] come first, then [`Self::signed_parameters`].
    #[inline(always)]
    pub(crate) fn conjunction_parameter(&self, factor: usize) -> Option<usize> {
        let number = self.parameters[factor] as usize;
        match self.kinds[factor].conjunction() {
            Some(Conjunction::Horn) => Some(number),
            Some(Conjunction::Signed) => Some(self.stores.horn.entries().len() + number),
            None => None,
        }
    }

    /// Whether a factor is a conjunction of literals.
    #[inline(always)]
    pub(crate) fn is_conjunction(&self, factor: usize) -> bool {
        self.kinds[factor].conjunction().is_some()
    }

    /// Most variables of a factor; 0 without factors.
    pub(crate) fn largest_arity(&self) -> usize {
        self.largest_arity as usize
    }

    /// The factors that are no conjunctions of literals, ascending. A pass over the kinds alone, or nothing.
    pub(crate) fn other_factors(&self) -> impl Iterator<Item = usize> + '_ {
        let searched = if self.all_conjunctions { 0 } else { self.kinds.len() };
        let kinds = self.kinds[..searched].iter().enumerate();
        kinds.filter(|(_, kind)| kind.conjunction().is_none()).map(|(factor, _)| factor)
    }

    /// The coefficients of all conjunctions of literals, by [`Self::conjunction_parameter`].
    pub(crate) fn coefficients(&self) -> Result<Vec<HornCoefficients>> {
        self.stores.coefficients()
    }

    /// The distinct parameters of all signed conjunctions.
    pub fn signed_parameters(&self) -> &[SignedParameters] {
        self.stores.signed.entries()
    }

    /// The distinct parameters of all prior, AND and OR factors.
    pub fn horn_parameters(&self) -> &[HornParameters] {
        self.stores.horn.entries()
    }

    /// A view of a factor. Panics if there is no such factor.
    pub fn factor(&self, factor: usize) -> Factor<'_> {
        self.stores.factor(self.kinds[factor], self.parameters[factor], self.heads[factor])
    }

    /// Cardinalities of a factor's variables, in their order. Panics if there is no such factor.
    pub fn factor_cardinalities(&self, factor: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.factor_variables(factor).iter().map(|&v| self.cardinalities[v as usize] as usize)
    }

    /// Number of joint states of a factor's variables, if it can be counted.
    pub fn joint_states(&self, factor: usize) -> Option<usize> {
        self.factor_cardinalities(factor).try_fold(1_usize, usize::checked_mul)
    }

    /// A factor as a table, the first variable fastest; `None` where that has more than `limit`
    /// entries. Values that rounding takes below zero are zero. O(entries * arity).
    #[cfg(test)]
    pub(crate) fn factor_table(&self, factor: usize, limit: usize) -> Option<Vec<f64>> {
        let size = self.joint_states(factor).filter(|&size| size <= limit)?;
        let view = self.factor(factor);
        if let Some(values) = view.as_table() {
            return Some(values.to_vec());
        }
        let cardinalities: Vec<usize> = self.factor_cardinalities(factor).collect();
        let mut states = vec![0; cardinalities.len()];
        let mut values = Vec::with_capacity(size);
        for _ in 0..size {
            values.push(view.value(&states, cardinalities.iter().copied()).max(0.0));
            next_joint_state(&mut states, &cardinalities);
        }
        Some(values)
    }

    /// Bytes held by the graph's arrays.
    pub fn memory_bytes(&self) -> usize {
        self.labels.capacity() * 8
            + 4 * (self.cardinalities.capacity()
                + self.heads.capacity()
                + self.parameters.capacity())
            + self.edges.memory_bytes()
            + self.kinds.capacity()
            + self.stores.memory_bytes()
    }
}
