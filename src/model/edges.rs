//! The edges of a graph, in compact form: by factor and by variable.

use crate::counting_sort::counting_sort;
use crate::error::Result;
use crate::memory::{copied_lists, room, zeroed};
use crate::threads::Gang;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Edges {
    /// Per factor, and behind the last: its first edge.
    pub(super) factor_offsets: Vec<u32>,
    pub(super) edge_variable: Vec<u32>,
    pub(super) edge_factor: Vec<u32>,
    /// Per variable, and behind the last: where its edges start in `variable_edges`.
    pub(super) variable_offsets: Vec<u32>,
    pub(super) variable_edges: Vec<u32>,
}

impl Edges {
    /// The edges of scopes, by factor alone: the variables of factor f are those of `edge_variable` from
    /// `factor_offsets[f]` up to, but not including, `factor_offsets[f + 1]`.
    pub(super) fn of_scopes(factor_offsets: Vec<u32>, edge_variable: Vec<u32>) -> Self {
        Self { factor_offsets, edge_variable, ..Self::default() }
    }

    /// Fills in the factor of each edge and the edges of each of so many variables, on all threads.
    pub(super) fn connect(&mut self, variables: usize, gang: &Gang) -> Result<()> {
        self.edge_factor = zeroed(self.edge_variable.len())?;
        name_factors(&self.factor_offsets, &mut self.edge_factor, gang)?;
        (self.variable_edges, self.variable_offsets) =
            counting_sort(&self.edge_variable, variables, gang)?;
        Ok(())
    }

    pub(super) fn try_clone(&self) -> Result<Self> {
        Ok(
            copied_lists!(self: factor_offsets, edge_variable, edge_factor, variable_offsets, variable_edges),
        )
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let Self { factor_offsets, edge_variable, edge_factor, variable_offsets, variable_edges } =
            self;
        let all = [factor_offsets, edge_variable, edge_factor, variable_offsets, variable_edges];
        all.into_iter().map(|list| 4 * list.capacity()).sum()
    }
}

/// Fills in the factor of each edge.
fn name_factors(offsets: &[u32], edge_factor: &mut [u32], gang: &Gang) -> Result<()> {
    let (factors, edges) = (offsets.len() - 1, edge_factor.len());
    let threads = gang.threads();
    let mut parts = room(threads)?;
    let mut rest = edge_factor;
    let mut first = 0;
    for part in 1..=threads {
        let wanted = (edges as u64 * part as u64 / threads as u64) as u32;
        let end = if part == threads {
            factors
        } else {
            first + offsets[first..factors].partition_point(|&offset| offset < wanted)
        };
        let own = rest.split_off_mut(..(offsets[end] - offsets[first]) as usize);
        parts.push((first..end, own.unwrap_or_default()));
        first = end;
    }
    gang.each(&mut parts, |(factors, edges)| {
        let base = offsets[factors.start];
        for factor in factors.clone() {
            let own = offsets[factor] - base..offsets[factor + 1] - base;
            edges[own.start as usize..own.end as usize].fill(factor as u32);
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_number_of_threads_names_the_factors(
            arities in prop::collection::vec(0_u32..6, 0..30), threads in 1_usize..6,
        ) {
            let mut offsets = vec![0];
            let mut wanted = Vec::new();
            for (factor, &arity) in arities.iter().enumerate() {
                wanted.extend((0..arity).map(|_| factor as u32));
                offsets.push(wanted.len() as u32);
            }
            let mut found = vec![0; wanted.len()];
            name_factors(&offsets, &mut found, &Gang::of(threads)).unwrap();
            prop_assert_eq!(found, wanted);
        }
    }
}
