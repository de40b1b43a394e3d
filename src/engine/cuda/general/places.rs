//! Where messages to variables are stored: see `variable_places` of cuda/engine/general.cuh.

use super::classes::by_class;
use super::factors::too_many_values;
use crate::error::Result;
use crate::kernel::stored_values;
use crate::memory::zeroed;
use crate::model::FactorGraph;
use crate::parallel::{SharedWords, for_ranges};
use crate::threads::Gang;

/// Places of the messages to each variable, and of that along each edge, in an array of `count` entries.
#[derive(Debug, PartialEq)]
pub(super) struct Places {
    pub variables: Vec<u32>,
    pub edges: Vec<u32>,
    pub count: usize,
}

/// Entries to a multiple of which the messages of a binary variable of so many factors are aligned and filled up.
fn alignment(degree: usize) -> usize {
    match degree {
        0..=2 => degree.max(1),
        3 | 4 => 4,
        5..=8 => 8,
        _ => 4,
    }
}

impl Places {
    /// Errors: more places than 32 bits can count. O(edges).
    pub fn new(graph: &FactorGraph, gang: &Gang) -> Result<Self> {
        let width = |v: usize| stored_values(graph.cardinalities()[v]);
        let own_alignment = |v: usize| if width(v) == 1 { alignment(graph.degree(v)) } else { 0 };
        // What a variable takes: fewer values than all edges have, and so within 64 bits.
        let size =
            |v: usize| (graph.degree(v) * width(v)).next_multiple_of(own_alignment(v).max(1));
        // From the largest alignment to the smallest, variables need no gaps between them; messages of several values have
        // none.
        const ALIGNMENTS: [usize; 5] = [8, 4, 2, 1, 0];
        let (order, _) = by_class::<{ ALIGNMENTS.len() }>(graph.variable_count(), gang, |v| {
            ALIGNMENTS.iter().position(|&alignment| alignment == own_alignment(v))
        })?;
        let mut variables = zeroed(graph.variable_count())?;
        let mut next = 0_usize;
        for &v in &order {
            variables[v as usize] = u32::try_from(next).map_err(|_| too_many_values())?;
            next += size(v as usize);
        }
        let count = next.next_multiple_of(4);
        u32::try_from(count).map_err(|_| too_many_values())?;
        let mut edges = zeroed(graph.edge_count())?;
        let places = SharedWords::new(&mut edges);
        for_ranges(graph.variable_count(), gang, |range| {
            for v in range {
                for (index, &edge) in graph.variable_edges(v).iter().enumerate() {
                    places.set(edge as usize, variables[v] + (index * width(v)) as u32);
                }
            }
        });
        Ok(Self { variables, edges, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;

    #[test]
    fn messages_of_a_variable_are_aligned_to_their_number() {
        let mut builder = FactorGraphBuilder::new();
        for (variable, degree) in [(0, 1), (1, 3), (2, 2), (3, 9), (4, 5)] {
            for _ in 0..degree {
                builder.add_prior(variable, 0.3).unwrap();
            }
        }
        let graph = builder.build().unwrap();
        let places = Places::new(&graph, &Gang::of(2)).unwrap();
        assert_eq!(places.variables, [26, 8, 24, 12, 0]);
        assert_eq!(places.count, 28);
        for v in 0..5 {
            for (index, &edge) in graph.variable_edges(v).iter().enumerate() {
                assert_eq!(places.edges[edge as usize], places.variables[v] + index as u32);
            }
        }
    }
}
