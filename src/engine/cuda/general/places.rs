//! Where messages to variables are stored: see `variable_places` of cuda/engine/general.cuh.

use super::factors::too_many_values;
use crate::error::Result;
use crate::kernel::stored_values;
use crate::memory::filled;
use crate::model::FactorGraph;

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
    pub fn new(graph: &FactorGraph) -> Result<Self> {
        let (mut variables, mut edges) =
            (filled(graph.variable_count(), 0_u32)?, filled(graph.edge_count(), 0_u32)?);
        let mut next = 0_usize;
        // From the largest alignment to the smallest, variables need no gaps between them; messages of several values have
        // none.
        for own in [8, 4, 2, 1, 0] {
            for (v, first) in variables.iter_mut().enumerate() {
                let (degree, width) = (graph.degree(v), stored_values(graph.cardinalities()[v]));
                let alignment = if width == 1 { alignment(degree) } else { 0 };
                if alignment != own {
                    continue;
                }
                *first = u32::try_from(next).map_err(|_| too_many_values())?;
                for (index, &edge) in graph.variable_edges(v).iter().enumerate() {
                    let place = next + index * width;
                    edges[edge as usize] = u32::try_from(place).map_err(|_| too_many_values())?;
                }
                next += (degree * width).next_multiple_of(alignment.max(1));
            }
        }
        Ok(Self { variables, edges, count: next.next_multiple_of(4) })
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
        let places = Places::new(&graph).unwrap();
        assert_eq!(places.variables, [26, 8, 24, 12, 0]);
        assert_eq!(places.count, 28);
        for v in 0..5 {
            for (index, &edge) in graph.variable_edges(v).iter().enumerate() {
                assert_eq!(places.edges[edge as usize], places.variables[v] + index as u32);
            }
        }
    }
}
