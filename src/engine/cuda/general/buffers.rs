//! The arrays of the general program on the device.

use super::device::{DeviceGeneral, DeviceScratch, THREADS};
use super::factors::{Factors, Values};
use super::work::{Items, Shares, THREAD_DEGREE, TaskLists};
use crate::engine::cuda::driver::{Current, DeviceBuffer, Element, Queue};
use crate::error::{Error, Result};
use crate::memory::{collected, filled, out_of_memory, room};
use crate::model::FactorGraph;

/// Bytes of memory that threads, and that blocks, may have together, unless one needs more.
const THREAD_TOTAL: u64 = 128 << 20;
const BLOCK_TOTAL: u64 = 256 << 20;

/// Tells the kernels where arrays are, each under its own name.
macro_rules! addresses {
    ($device:ident, $own:ident; $($name:ident),*) => {
        $($device.$name = *$own.$name.address();)*
    };
}

/// An array, or nothing.
fn optional<T: Element>(queue: Queue<'_>, content: Option<&[T]>) -> Result<DeviceBuffer<T>> {
    DeviceBuffer::from_slice(queue, content.unwrap_or_default())
}

/// The graph's arrays, but for factors.
pub(super) struct GraphBuffers {
    variable_offsets: DeviceBuffer<u32>,
    variable_edges: DeviceBuffer<u32>,
    variable_values: DeviceBuffer<u32>,
    variable_states: DeviceBuffer<u32>,
    edge_variables: DeviceBuffer<u32>,
    edge_slots: DeviceBuffer<u32>,
    slot_values: DeviceBuffer<u32>,
    edge_values: DeviceBuffer<u32>,
    factor_offsets: DeviceBuffer<u32>,
    high_degree_variables: DeviceBuffer<u32>,
    constants: DeviceBuffer<u32>,
    /// The slot of each edge.
    pub edge_slots_on_host: Vec<u32>,
}

impl GraphBuffers {
    pub fn new(queue: Queue<'_>, graph: &FactorGraph, values: &Values) -> Result<Self> {
        let offsets = |count: usize, start: &dyn Fn(usize) -> usize| -> Result<Vec<u32>> {
            collected((0..count).map(|i| start(i) as u32).chain([graph.edge_count() as u32]))
        };
        let variables = offsets(graph.variable_count(), &|v| graph.variable_slots(v).start)?;
        let factors = offsets(graph.factor_count(), &|f| graph.factor_edges(f).start)?;
        let mut slots = filled(graph.edge_count(), 0)?;
        for (slot, &edge) in graph.all_variable_edges().iter().enumerate() {
            slots[edge as usize] = slot as u32;
        }
        let numbers = |count: usize, wanted: &dyn Fn(usize) -> bool| -> Result<Vec<u32>> {
            collected((0..count).filter(|&i| wanted(i)).map(|i| i as u32))
        };
        let high_degree_variables =
            numbers(graph.variable_count(), &|v| graph.degree(v) > THREAD_DEGREE)?;
        let constants = numbers(graph.factor_count(), &|f| graph.arity(f) == 1)?;
        let upload = |content: &[u32]| DeviceBuffer::from_slice(queue, content);
        Ok(Self {
            variable_offsets: upload(&variables)?,
            variable_edges: upload(graph.all_variable_edges())?,
            variable_values: optional(queue, values.variables.as_deref())?,
            variable_states: optional(queue, values.states.as_deref())?,
            edge_variables: upload(graph.edge_variables())?,
            edge_slots: upload(&slots)?,
            slot_values: optional(queue, values.slots.as_deref())?,
            edge_values: optional(queue, values.edges.as_deref())?,
            factor_offsets: upload(&factors)?,
            high_degree_variables: upload(&high_degree_variables)?,
            constants: upload(&constants)?,
            edge_slots_on_host: slots,
        })
    }

    pub fn fill(&self, device: &mut DeviceGeneral) {
        addresses!(device, self; variable_offsets, variable_edges, variable_values, variable_states);
        addresses!(device, self; edge_variables, edge_slots, slot_values, edge_values, factor_offsets);
        addresses!(device, self; high_degree_variables, constants);
        device.high_degree_count = self.high_degree_variables.len() as u32;
        device.constant_count = self.constants.len() as u32;
    }
}

/// Messages and what is measured.
pub(super) struct MessageBuffers {
    messages: [DeviceBuffer<u64>; 2],
    /// Empty until a run is damped.
    newest: [DeviceBuffer<u64>; 2],
    by_edge: DeviceBuffer<u64>,
    beliefs: DeviceBuffer<f64>,
    /// Empty until a run by BINGO's rule.
    inputs: DeviceBuffer<f64>,
    history: DeviceBuffer<f64>,
    /// For how many iterations, two at most, the messages of factors with one variable have been stored. See
    /// `General` in general.cuh.
    pub constant_iterations: DeviceBuffer<u32>,
}

impl MessageBuffers {
    pub fn new(queue: Queue<'_>, values: &Values) -> Result<Self> {
        // What a product leaves out is read all the same, be it not yet written.
        let messages = || DeviceBuffer::zeroed(queue, values.count);
        let empty = || DeviceBuffer::new(queue.current, 0);
        Ok(Self {
            messages: [messages()?, messages()?],
            newest: [empty()?, empty()?],
            by_edge: messages()?,
            beliefs: DeviceBuffer::new(queue.current, values.belief_count)?,
            inputs: DeviceBuffer::new(queue.current, 0)?,
            history: DeviceBuffer::new(queue.current, 0)?,
            constant_iterations: DeviceBuffer::zeroed(queue, 1)?,
        })
    }

    pub fn require_newest(&mut self, current: &Current, count: usize) -> Result<()> {
        if self.newest[0].len() < count {
            self.newest = [DeviceBuffer::new(current, count)?, DeviceBuffer::new(current, count)?];
        }
        Ok(())
    }

    pub fn require_inputs(&mut self, current: &Current, count: usize) -> Result<()> {
        if self.inputs.len() < count {
            self.inputs = DeviceBuffer::new(current, count)?;
        }
        Ok(())
    }

    pub fn require_history(&mut self, current: &Current, rows: u64, count: usize) -> Result<()> {
        let length = usize::try_from(rows).ok().and_then(|rows| rows.checked_mul(count));
        let length = length.ok_or_else(|| {
            out_of_memory(format_args!("CUDA device: a history of {rows} times {count} beliefs"))
        })?;
        if self.history.len() < length {
            self.history = DeviceBuffer::new(current, length)?;
        }
        Ok(())
    }

    /// The messages after `buffer` iterations, by slot.
    pub fn messages(&self, buffer: u32) -> &DeviceBuffer<u64> {
        &self.messages[buffer as usize & 1]
    }

    /// The same before they were damped.
    pub fn newest(&self, buffer: u32) -> &DeviceBuffer<u64> {
        &self.newest[buffer as usize & 1]
    }

    pub fn fill(&self, device: &mut DeviceGeneral, damped: bool) {
        device.messages = [0, 1].map(|buffer| *self.messages[buffer].address());
        if damped {
            device.newest = [0, 1].map(|buffer| *self.newest[buffer].address());
        }
        addresses!(device, self; by_edge, beliefs, inputs, history, constant_iterations);
    }
}

/// All of a buffer.
pub(super) fn download(queue: Queue<'_>, values: &DeviceBuffer<u64>) -> Result<Vec<u64>> {
    let mut by_slot = filled(values.len(), 0)?;
    values.download(queue, 0, &mut by_slot)?;
    Ok(by_slot)
}

/// The factors of a graph, as one kind of inference needs them.
struct FactorBuffers {
    records: DeviceBuffer<u32>,
    horn: DeviceBuffer<u64>,
    words: DeviceBuffer<u64>,
    noisy: DeviceBuffer<u64>,
    _noisy_literals: DeviceBuffer<f64>,
    tables: DeviceBuffer<u64>,
    _table_values: DeviceBuffer<f64>,
    terms: DeviceBuffer<u64>,
    _term_weights: DeviceBuffer<f64>,
    _term_offsets: DeviceBuffer<u32>,
    _term_literals: DeviceBuffer<u32>,
    edge_radices: DeviceBuffer<u32>,
    outputs: DeviceBuffer<u64>,
}

/// Two numbers as one word, the first one first in memory.
fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) | u64::from(second) << 32
}

impl FactorBuffers {
    fn new(queue: Queue<'_>, graph: &FactorGraph, factors: &Factors) -> Result<Self> {
        let numbers = |content: &[f64]| DeviceBuffer::from_slice(queue, content);
        let words = |content: &[u64]| DeviceBuffer::from_slice(queue, content);
        let counts = |content: &[u32]| DeviceBuffer::from_slice(queue, content);
        let mut horn: Vec<u64> = room(6 * factors.horn.len())?;
        for own in &factors.horn {
            let [[a, b], [c, d]] = own.values.map(|values| values.map(f64::to_bits));
            horn.extend([a, b, c, d, own.negated, pair(own.flags, own.words)]);
        }
        let noisy_literals = numbers(&factors.noisy_literals)?;
        let literals = *noisy_literals.address();
        let mut noisy: Vec<u64> = room(5 * factors.noisy.len())?;
        for (values, &start) in factors.noisy.iter().zip(&factors.noisy_starts) {
            let [[a, b], [c, d]] = values.map(|values| values.map(f64::to_bits));
            noisy.extend([a, b, c, d, literals + 8 * start as u64]);
        }
        let table_values = numbers(&factors.table_values)?;
        let values = *table_values.address();
        let mut tables: Vec<u64> = room(4 * factors.tables.len())?;
        for table in &factors.tables {
            let (low, high) = table.exponents;
            let start = values + 8 * table.start as u64;
            tables.extend([start, low as u64, high as u64, table.entries.into()]);
        }
        let term_weights = numbers(&factors.term_weights)?;
        let term_offsets = counts(&factors.term_offsets)?;
        let term_literals = counts(&factors.term_literals)?;
        let mut terms: Vec<u64> = room(5 * factors.terms.len())?;
        for own in &factors.terms {
            terms.extend([
                term_weights.address() + 8 * own.weights as u64,
                term_offsets.address() + 4 * own.offsets as u64,
                term_literals.address() + 4 * own.literals as u64,
                pair(own.terms, own.states),
                pair(own.signed.into(), 0),
            ]);
        }
        let radices: Vec<u32> = if factors.needs_radices {
            let radix = |&v: &u32| graph.cardinalities()[v as usize];
            collected(graph.edge_variables().iter().map(radix))?
        } else {
            Vec::new()
        };
        let outputs = if factors.needs_outputs { Values::new(graph)?.count } else { 0 };
        Ok(Self {
            records: counts(&factors.records)?,
            horn: words(&horn)?,
            words: words(&factors.words)?,
            noisy: words(&noisy)?,
            _noisy_literals: noisy_literals,
            tables: words(&tables)?,
            _table_values: table_values,
            terms: words(&terms)?,
            _term_weights: term_weights,
            _term_offsets: term_offsets,
            _term_literals: term_literals,
            edge_radices: counts(&radices)?,
            outputs: DeviceBuffer::new(queue.current, outputs)?,
        })
    }

    fn fill(&self, device: &mut DeviceGeneral) {
        addresses!(device, self; records, horn, words, noisy, tables, terms, edge_radices, outputs);
    }
}

/// Items of all levels.
struct ItemBuffers {
    words: DeviceBuffer<u32>,
    levels: DeviceBuffer<u32>,
}

impl ItemBuffers {
    fn new(current: &Current, words: usize, levels: usize) -> Result<Self> {
        let buffer = |length| DeviceBuffer::new(current, length);
        Ok(Self { words: buffer(words)?, levels: buffer(levels)? })
    }

    fn upload(&self, queue: Queue<'_>, items: &Items) -> Result<()> {
        self.words.upload(queue, 0, &items.words)?;
        self.levels.upload(queue, 0, &items.levels)
    }
}

/// The work of an iteration.
struct WorkBuffers {
    thread_items: ItemBuffers,
    block_items: ItemBuffers,
    targets: DeviceBuffer<u32>,
    ranks: DeviceBuffer<u32>,
    levels: u32,
    by_levels: bool,
}

impl WorkBuffers {
    /// Room for this work, or for any by levels if iterations differ.
    fn new(
        current: &Current, graph: &FactorGraph, work: &TaskLists, iterations_differ: bool,
    ) -> Result<Self> {
        let edges = graph.edge_count();
        let items = |items: &Items| {
            if iterations_differ {
                ItemBuffers::new(current, 3 * edges, edges + 1)
            } else {
                ItemBuffers::new(current, items.words.len(), items.levels.len())
            }
        };
        let by_levels = iterations_differ || !work.ranks.is_empty();
        let length = if by_levels { edges } else { 0 };
        Ok(Self {
            thread_items: items(&work.thread_items)?,
            block_items: items(&work.block_items)?,
            // Never empty, since its address says that there are targets.
            targets: DeviceBuffer::new(current, if by_levels { edges.max(1) } else { 0 })?,
            ranks: DeviceBuffer::new(current, length)?,
            levels: 0,
            by_levels,
        })
    }

    fn upload(&mut self, queue: Queue<'_>, work: &TaskLists) -> Result<()> {
        self.thread_items.upload(queue, &work.thread_items)?;
        self.block_items.upload(queue, &work.block_items)?;
        self.targets.upload(queue, 0, &work.targets)?;
        self.ranks.upload(queue, 0, &work.ranks)?;
        self.levels = work.thread_items.levels.len() as u32 - 1;
        Ok(())
    }

    fn fill(&self, device: &mut DeviceGeneral) {
        device.thread_items = *self.thread_items.words.address();
        device.thread_levels = *self.thread_items.levels.address();
        device.block_items = *self.block_items.words.address();
        device.block_levels = *self.block_items.levels.address();
        if self.by_levels {
            device.targets = *self.targets.address();
            device.ranks = *self.ranks.address();
        }
        device.levels = self.levels;
    }
}

/// Memory for so many threads or blocks of `count`, of so many bytes each.
fn scratch(
    current: &Current, bytes: u64, total: u64, count: u32,
) -> Result<(DeviceBuffer<u8>, DeviceScratch)> {
    let fitting = total.checked_div(bytes).unwrap_or(u64::MAX).clamp(1, count.into());
    let length = usize::try_from(fitting * bytes).unwrap_or(usize::MAX);
    let memory = DeviceBuffer::new(current, length).map_err(|error| match error {
        Error::OutOfMemory(text) => out_of_memory(format_args!(
            "{text}: the messages of the largest factor or high_degree take {bytes} bytes"
        )),
        error => error,
    })?;
    let scratch =
        DeviceScratch { memory: *memory.address(), bytes, count: fitting as u32, padding: 0 };
    Ok((memory, scratch))
}

/// What the kernels need beside graph and messages, for sums or for maxima.
pub(super) struct Machine {
    buffers: FactorBuffers,
    work: WorkBuffers,
    _memory: [DeviceBuffer<u8>; 2],
    thread_scratch: DeviceScratch,
    block_scratch: DeviceScratch,
    /// See [`Factors::scratch`].
    pub factor_bytes: Vec<u64>,
    /// Blocks of a launch.
    pub blocks: u32,
}

impl Machine {
    /// For factors and the work of an iteration; of any iteration by levels, if they differ.
    pub fn new(
        queue: Queue<'_>, graph: &FactorGraph, factors: Factors, work: &TaskLists,
        iterations_differ: bool, blocks: u32,
    ) -> Result<Self> {
        let buffers = FactorBuffers::new(queue, graph, &factors)?;
        let by_levels = iterations_differ || !work.ranks.is_empty();
        let bytes = Shares::new(graph, &factors.scratch).scratch(by_levels);
        let threads = blocks * THREADS;
        let (thread_memory, thread_scratch) =
            scratch(queue.current, bytes.0, THREAD_TOTAL, threads)?;
        let (block_memory, block_scratch) = scratch(queue.current, bytes.1, BLOCK_TOTAL, blocks)?;
        let mut machine = Self {
            buffers,
            work: WorkBuffers::new(queue.current, graph, work, iterations_differ)?,
            _memory: [thread_memory, block_memory],
            thread_scratch,
            block_scratch,
            factor_bytes: factors.scratch,
            blocks,
        };
        machine.replace(queue, work)?;
        Ok(machine)
    }

    /// Replaces the work.
    pub fn replace(&mut self, queue: Queue<'_>, work: &TaskLists) -> Result<()> {
        self.work.upload(queue, work)
    }

    pub fn fill(&self, device: &mut DeviceGeneral) {
        self.buffers.fill(device);
        self.work.fill(device);
        device.thread_scratch = self.thread_scratch;
        device.block_scratch = self.block_scratch;
    }
}
