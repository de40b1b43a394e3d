//! The directions of a graph's edges that follow from its factors' scopes.

use super::graph::FactorGraph;
use crate::error::Result;
use crate::memory::{room, zeroed};
use crate::threads::Gang;

/// Fills in the edge-to-factor and variable-to-edge directions, on all threads.
pub(super) fn connect(graph: &mut FactorGraph, gang: &Gang) -> Result<()> {
    graph.edge_factor = zeroed(graph.edge_variable.len())?;
    name_factors(&graph.factor_offsets, &mut graph.edge_factor, gang)?;
    (graph.variable_offsets, graph.variable_edges) =
        transposed(&graph.edge_variable, graph.labels.len(), gang)?;
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

/// The edges of each of `count` variables, ascending, from the variable of each edge: where those of each variable start,
/// and the edges of all of them. Each thread looks at all edges, and serves the variables of a range: reading in order
/// costs little, and neither more memory is needed nor atomic operations.
fn transposed(edge_variable: &[u32], count: usize, gang: &Gang) -> Result<(Vec<u32>, Vec<u32>)> {
    let threads = gang.threads();
    let mut offsets: Vec<u32> = zeroed(count + 1)?;
    let mut edges: Vec<u32> = zeroed(edge_variable.len())?;
    // The start of a variable is kept one entry further right while it moves, and so ends in its place.
    let starts = &mut offsets[1..];
    let mut parts = room(threads)?;
    let mut rest = &mut *starts;
    for part in 0..threads {
        let own = rest.split_off_mut(..rest.len() / (threads - part)).unwrap_or_default();
        parts.push((count - rest.len() - own.len(), own));
    }
    gang.each(&mut parts, |(first, counts)| {
        for &v in edge_variable {
            if let Some(count) = counts.get_mut((v as usize).wrapping_sub(*first)) {
                *count += 1;
            }
        }
    });
    drop(parts);
    let mut sum = 0;
    for start in starts.iter_mut() {
        (*start, sum) = (sum, sum + *start);
    }
    let mut parts = room(threads)?;
    let (mut rest, mut rest_edges) = (&mut *starts, &mut *edges);
    for part in 1..=threads {
        // Ranges of as many edges.
        let wanted = (u64::from(sum) * part as u64 / threads as u64) as u32;
        let length = if part == threads {
            rest.len()
        } else {
            rest.partition_point(|&start| start < wanted)
        };
        let first = count - rest.len();
        let own = rest.split_off_mut(..length).unwrap_or_default();
        let base = sum as usize - rest_edges.len();
        let end = rest.first().map_or(sum, |&start| start) as usize;
        let own_edges = rest_edges.split_off_mut(..end - base).unwrap_or_default();
        parts.push((first, own, base as u32, own_edges));
    }
    gang.each(&mut parts, |(first, starts, base, edges)| {
        for (edge, &v) in edge_variable.iter().enumerate() {
            if let Some(start) = starts.get_mut((v as usize).wrapping_sub(*first)) {
                edges[(*start - *base) as usize] = edge as u32;
                *start += 1;
            }
        }
    });
    drop(parts);
    Ok((offsets, edges))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_number_of_threads_gives_the_edges_of_each_variable(
            scopes in prop::collection::vec(prop::collection::btree_set(0_u32..20, 0..6), 0..30),
            threads in 1_usize..6,
        ) {
            let gang = Gang::of(threads);
            let edge_variable: Vec<u32> = scopes.iter().flatten().copied().collect();
            let (offsets, edges) = transposed(&edge_variable, 20, &gang).unwrap();
            prop_assert_eq!(offsets.len(), 21);
            for v in 0..20 {
                let own = &edges[offsets[v] as usize..offsets[v + 1] as usize];
                let wanted = (0..edge_variable.len()).filter(|&e| edge_variable[e] == v as u32);
                prop_assert!(own.iter().map(|&e| e as usize).eq(wanted));
            }
            let mut factor_offsets = vec![0];
            let mut wanted = Vec::new();
            for (factor, scope) in scopes.iter().enumerate() {
                wanted.extend(scope.iter().map(|_| factor as u32));
                factor_offsets.push(wanted.len() as u32);
            }
            let mut found = vec![0; wanted.len()];
            name_factors(&factor_offsets, &mut found, &gang).unwrap();
            prop_assert_eq!(found, wanted);
        }
    }
}
