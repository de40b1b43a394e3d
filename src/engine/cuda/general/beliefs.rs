//! The beliefs of factors, which libDAI's rule looks at as well: see cuda/engine/general_beliefs.cuh.

use crate::engine::cuda::driver::{DeviceBuffer, Queue};
use crate::engine::cuda::interface::general::{FactorBelief, FactorBeliefs, JointTable};
use crate::engine::cuda::interface::run::{
    IterationLog, Loop, ReductionCounters, Rule, RuleKind, RunState,
};
use crate::engine::cuda::interface::{Address, ReadOnly};
use crate::engine::factor_tables::FactorTables;
use crate::error::Result;
use crate::kernel::{Real, TableValues};
use crate::memory::{Grow, collected, filled, room};
use crate::model::FactorGraph;

/// Most entries of a belief that a thread takes, and a warp; larger ones are for a block.
const MOST_ENTRIES: [usize; 2] = [64, 4096];

/// The tables that the factors of a graph are, one after the other.
#[derive(Default)]
struct Tables {
    values: Vec<f64>,
    /// As long as `values`, if the values of some factor are no doubles, else empty.
    exponents: Vec<i64>,
    list: Vec<Table>,
}

#[derive(Clone, Copy, Default)]
struct Table {
    first: usize,
    entries: usize,
    exponents: (i64, i64),
    is_beyond_f64: bool,
}

impl Tables {
    fn new(graph: &FactorGraph, all: &FactorTables) -> Result<Self> {
        let mut tables = Self { list: filled(all.len(), Table::default())?, ..Self::default() };
        for factor in 0..graph.factor_count() {
            let number = all.number(factor);
            if tables.list[number].entries > 0 {
                continue;
            }
            let (values, (low, high)) = all.of(graph, factor);
            tables.list[number] = Table {
                first: tables.values.len(),
                entries: values.len(),
                // Of no meaning where all are zero.
                exponents: if low <= high { (low, high) } else { (0, 0) },
                is_beyond_f64: matches!(values, TableValues::ExtendedFloat(_)),
            };
            tables.add(values)?;
        }
        Ok(tables)
    }

    fn add(&mut self, values: TableValues<'_>) -> Result<()> {
        match values {
            TableValues::F64(values) => self.values.try_append(values)?,
            TableValues::ExtendedFloat(values) => {
                self.exponents.try_resize(self.values.len(), 0)?;
                self.exponents.try_room(values.len())?;
                self.values.try_room(values.len())?;
                for value in values {
                    let is_zero = value.is_zero();
                    self.values.push(if is_zero { 0.0 } else { value.significand() });
                    self.exponents.push(if is_zero { 0 } else { value.exponent() });
                }
            }
        }
        Ok(())
    }
}

/// How far beliefs have moved.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::cuda) struct BeliefMovement {
    /// Largest change of a probability.
    pub max_diff: f64,
    /// Number of beliefs that have changed by more than the tolerance.
    pub moved: u64,
    /// Whether one is to be compared with a belief that was 0/0 when beliefs were recalled: what that was before is not known.
    pub is_undefined: bool,
}

/// What the device has of them.
pub(super) struct FactorBeliefBuffers {
    _values: DeviceBuffer<f64>,
    _exponents: DeviceBuffer<i64>,
    tables: DeviceBuffer<JointTable>,
    list: DeviceBuffer<FactorBelief>,
    beliefs: DeviceBuffer<f64>,
    found: DeviceBuffer<ReductionCounters>,
    /// What the loop of an empty run needs: see [`Self::loop_of_no_iteration`].
    control: DeviceBuffer<RunState>,
    barrier: DeviceBuffer<u32>,
    /// Empty if all variables have two.
    states: DeviceBuffer<u32>,
    ends: [u32; 3],
}

impl FactorBeliefBuffers {
    /// Beliefs of no meaning yet. Errors: a belief with too many entries; no memory.
    pub fn new(queue: Queue<'_>, graph: &FactorGraph) -> Result<Self> {
        let all = FactorTables::new(graph)?;
        let tables = Tables::new(graph, &all)?;
        let mut of_spans = [Vec::new(), Vec::new(), Vec::new()];
        for factor in 0..graph.factor_count() {
            let entries = all.entries(factor);
            let table = all.number(factor) as u32;
            let belief = FactorBelief { factor: factor as u32, table, first: entries.start as u64 };
            let span = MOST_ENTRIES.iter().filter(|&&most| entries.len() > most).count();
            of_spans[span].try_push(belief)?;
        }
        let mut list = room(graph.factor_count())?;
        let mut ends = [0; 3];
        for (end, span) in ends.iter_mut().zip(&of_spans) {
            list.extend_from_slice(span);
            *end = list.len() as u32;
        }
        let states = match graph.all_binary() {
            true => Vec::new(),
            false => {
                let variables = graph.edge_variables().iter();
                collected(variables.map(|&v| graph.cardinalities()[v as usize]))?
            }
        };
        let values = DeviceBuffer::from_slice(queue, &tables.values)?;
        let exponents = DeviceBuffer::from_slice(queue, &tables.exponents)?;
        let mut records = room(tables.list.len())?;
        for &Table { first, entries, exponents: (low, high), is_beyond_f64 } in &tables.list {
            let at = 8 * first as u64;
            records.push(JointTable {
                values: (values.address() + at).into(),
                exponents: match is_beyond_f64 {
                    true => (exponents.address() + at).into(),
                    false => ReadOnly::NULL,
                },
                low,
                high,
                entries: entries as u32,
                padding: 0,
            });
        }
        Ok(Self {
            _values: values,
            _exponents: exponents,
            tables: DeviceBuffer::from_slice(queue, &records)?,
            list: DeviceBuffer::from_slice(queue, &list)?,
            beliefs: DeviceBuffer::new(queue.current, all.entry_count())?,
            found: DeviceBuffer::new(queue.current, 1)?,
            control: DeviceBuffer::new(queue.current, 1)?,
            barrier: DeviceBuffer::new(queue.current, 2)?,
            states: DeviceBuffer::from_slice(queue, &states)?,
            ends,
        })
    }

    pub fn addresses(&self) -> FactorBeliefs {
        FactorBeliefs {
            tables: (&self.tables).into(),
            list: (&self.list).into(),
            beliefs: (&self.beliefs).into(),
            found: (&self.found).into(),
            states: (&self.states).into(),
            ends: self.ends,
            padding: 0,
        }
    }

    /// Empties what is found, and gives the loop of a run of no iteration from the messages in `buffer`, by BINGO's rule: that
    /// measures messages to factors, and leaves all of them where beliefs are measured.
    pub fn loop_of_no_iteration(&self, queue: Queue<'_>, buffer: u32) -> Result<Loop> {
        self.found.zero(queue)?;
        self.barrier.zero(queue)?;
        self.control.upload(queue, 0, &[RunState::new(buffer)])?;
        let kind = RuleKind::Bingo as u32;
        Ok(Loop {
            rule: Rule { kind, ..Rule::default() },
            limit: 0,
            control: (&self.control).into(),
            log: Address::<IterationLog>::NULL,
            barrier: (&self.barrier).into(),
        })
    }

    /// What the last measurement has found.
    pub fn found(&self, queue: Queue<'_>) -> Result<BeliefMovement> {
        let mut found = [ReductionCounters::default()];
        self.found.download(queue, 0, &mut found)?;
        let [ReductionCounters { max_diff, moved, .. }] = found;
        let max_diff = f64::from_bits(max_diff.0);
        Ok(BeliefMovement { max_diff, moved: moved.0, is_undefined: max_diff.is_nan() })
    }
}
