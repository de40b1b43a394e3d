//! Factors that are no conjunctions of literals, to each of which a warp sees, or to some small tables: see
//! cuda/engine/binary_own_warps.cuh.

use super::layout::Layout;
use super::limits::{WARP, tables_of_warp};
use super::shared_units::Unit;
use crate::engine::cuda::driver::{DeviceBuffer, Queue};
use crate::engine::cuda::interface::binary::{
    FLOOD_OTHER_FACTORS, FLOOD_SMALL_TABLES, NODE_NONE, SMALL_TABLE, Source,
};
use crate::engine::cuda::interface::factors::{OtherFactors, Record};
use crate::engine::cuda::parameters::{Added, ParameterBuffers, Parameters};
use crate::engine::limits::is_small_table;
use crate::error::Result;
use crate::kernel::Inference;
use crate::memory::{collected, filled, room};
use crate::model::FactorGraph;
use crate::parallel::all_parts;
use crate::threads::Gang;

/// Where all messages are sent at once, what so many warps do: a unit of each, or of some that are small tables.
pub(super) fn units(
    graph: &FactorGraph, layout: &Layout, warps: usize, gang: &Gang,
) -> Result<Vec<Unit>> {
    let all = layout.other_factors.iter().zip(0..);
    let is_small = |&(&f, _): &(&u32, u32)| is_small_table(graph, f as usize);
    let tables: Vec<(&u32, u32)> = collected(all.clone().filter(is_small))?;
    let others: Vec<(&u32, u32)> = collected(all.filter(|factor| !is_small(factor)))?;
    let of_unit = tables_of_warp(tables.len(), warps);
    let of_tables = tables.len().div_ceil(of_unit);
    all_parts(of_tables + others.len(), gang, |number| match number.checked_sub(of_tables) {
        None => {
            let own = number * of_unit..tables.len().min((number + 1) * of_unit);
            unit(graph, layout, FLOOD_SMALL_TABLES, &tables[own], SMALL_TABLE)
        }
        Some(other) => unit(graph, layout, FLOOD_OTHER_FACTORS, &others[other..=other], WARP),
    })
}

/// A unit of factors with their numbers, each by so many threads.
fn unit(
    graph: &FactorGraph, layout: &Layout, kind: usize, factors: &[(&u32, u32)], threads: usize,
) -> Result<Unit> {
    let mut unit = Unit::of_rows(kind, 1)?;
    for thread in 0..WARP {
        let number = factors.get(thread / threads).map_or(NODE_NONE, |&(_, number)| number);
        unit.words[2 * thread + 1] = number;
    }
    for (at, &(&f, _)) in factors.iter().enumerate() {
        for (thread, edge) in (at * threads..).zip(graph.factor_edges(f as usize)) {
            unit.words[2 * thread] = Source::Prepared.word(layout.slot_of_edge[edge]);
            unit.inputs.push((2 * thread as u32, edge as u32));
        }
    }
    Ok(unit)
}

/// What the device has of them, for sums or for maxima.
pub(super) struct OtherFactorBuffers {
    records: DeviceBuffer<Record>,
    parameters: ParameterBuffers,
    radices: DeviceBuffer<u32>,
    memory: DeviceBuffer<u8>,
    /// Of each warp.
    bytes: u64,
}

impl OtherFactorBuffers {
    /// For launches of so many warps. Errors: maxima need a table whose values are too far apart.
    pub(super) fn new(
        queue: Queue<'_>, graph: &FactorGraph, layout: &Layout, inference: Inference, warps: usize,
    ) -> Result<Self> {
        let mut parameters = Parameters::default();
        let mut records = room(layout.other_factors.len())?;
        let mut most = 0;
        for &factor in &layout.other_factors {
            let Added { record, scratch } = parameters.add(graph, factor as usize, inference)?;
            records.push(record);
            most = most.max(scratch);
        }
        // Inputs and outputs stand before that.
        let bytes = (2 * size_of::<u64>() * WARP) as u64 + most.next_multiple_of(16);
        Ok(Self {
            records: DeviceBuffer::from_slice(queue, &records)?,
            parameters: ParameterBuffers::new(queue, &parameters)?,
            radices: DeviceBuffer::from_slice(queue, &filled(WARP, 2)?)?,
            memory: DeviceBuffer::new(queue.current, bytes as usize * warps)?,
            bytes,
        })
    }

    pub(super) fn addresses(&self) -> OtherFactors {
        OtherFactors {
            records: (&self.records).into(),
            parameters: self.parameters.addresses(),
            radices: (&self.radices).into(),
            memory: (&self.memory).into(),
            bytes: self.bytes,
        }
    }
}
