//! The directions of a graph's edges that follow from its factors' scopes.

use super::graph::FactorGraph;
use crate::counting_sort::counting_sort;
use crate::error::Result;
use crate::memory::{room, zeroed};
use crate::threads::Gang;

/// Fills in the edge-to-factor and variable-to-edge directions, on all threads.
pub(super) fn connect(graph: &mut FactorGraph, gang: &Gang) -> Result<()> {
    graph.edge_factor = zeroed(graph.edge_variable.len())?;
    name_factors(&graph.factor_offsets, &mut graph.edge_factor, gang)?;
    (graph.variable_edges, graph.variable_offsets) =
        counting_sort(&graph.edge_variable, graph.labels.len(), gang)?;
    Ok(())
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
