//! Factors of so many variables that several warps add up how far their inputs have moved: see cuda/engine/sums.cuh.

use super::driver::{DeviceBuffer, Queue};
use super::interface::factors::{LongFactors, PART_OF_LIST};
use crate::error::Result;
use crate::memory::Grow;
use crate::model::FactorGraph;

/// The parts of the long factors of a graph.
#[derive(Default)]
struct Parts {
    /// Of each long factor the number of its first part, and the end.
    firsts: Vec<u32>,
    /// Of each part its first edge and how many it has.
    edges: Vec<u32>,
}

impl Parts {
    fn new(graph: &FactorGraph) -> Result<Self> {
        let mut parts = Self::default();
        for factor in 0..graph.factor_count() {
            let edges = graph.factor_edges(factor);
            if edges.len() <= PART_OF_LIST {
                continue;
            }
            parts.firsts.try_push(parts.count())?;
            for first in edges.clone().step_by(PART_OF_LIST) {
                let count = PART_OF_LIST.min(edges.end - first);
                parts.edges.try_append(&[first as u32, count as u32])?;
            }
        }
        parts.firsts.try_push(parts.count())?;
        Ok(parts)
    }

    fn count(&self) -> u32 {
        self.edges.len() as u32 / 2
    }
}

/// What the device has of them.
pub(super) struct LongFactorBuffers {
    firsts: DeviceBuffer<u32>,
    edges: DeviceBuffer<u32>,
    sums: DeviceBuffer<f64>,
}

impl LongFactorBuffers {
    pub(super) fn new(queue: Queue<'_>, graph: &FactorGraph) -> Result<Self> {
        let parts = Parts::new(graph)?;
        Ok(Self {
            firsts: DeviceBuffer::from_slice(queue, &parts.firsts)?,
            edges: DeviceBuffer::from_slice(queue, &parts.edges)?,
            sums: DeviceBuffer::new(queue.current, parts.count() as usize)?,
        })
    }

    pub(super) fn addresses(&self) -> LongFactors {
        LongFactors {
            first_parts: (&self.firsts).into(),
            part_edges: (&self.edges).into(),
            sums: (&self.sums).into(),
            count: self.firsts.len() as u32 - 1,
            parts: self.sums.len() as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;

    #[test]
    fn parts_have_all_edges_of_long_factors() {
        let mut builder = FactorGraphBuilder::new();
        for size in [3, 2048, 2049, 5, 5000] {
            builder.add_and(0, &(1..size).collect::<Vec<u64>>(), 0.9, 0.1).unwrap();
        }
        let graph = builder.build().unwrap();
        let parts = Parts::new(&graph).unwrap();
        assert_eq!(parts.firsts, [0, 2, 5]);
        let [third, fifth] = [2, 4].map(|factor| graph.factor_edges(factor).start as u32);
        let expected = [
            [third, 2048],
            [third + 2048, 1],
            [fifth, 2048],
            [fifth + 2048, 2048],
            [fifth + 4096, 904],
        ];
        assert_eq!(parts.edges.as_chunks::<2>().0, expected);
    }
}
