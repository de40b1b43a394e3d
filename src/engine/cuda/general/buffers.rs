//! The arrays of the general program on the device.

use super::factors::{Factors, Values};
use super::items::Items;
use super::level_items::LevelItems;
use super::pairs::Pairs;
use super::plan::{GeneralPlan, MachinePlan};
use super::shape::Shape;
use super::work::{TaskLists, Variables};
use crate::engine::cuda::driver::{Current, DeviceBuffer, Element, Queue};
use crate::engine::cuda::interface::arithmetic::Product;
use crate::engine::cuda::interface::factors::Record;
use crate::engine::cuda::interface::general::{
    DeviceGeneral, Item, ItemInput, ItemList, LevelItem, LevelItemList, PairItem, PreparedState,
    STATE_CLASSES, Scratch, WarpLane,
};
use crate::engine::cuda::interface::run::THREADS;
use crate::engine::cuda::long_factors::LongFactorBuffers;
use crate::engine::cuda::parameters::ParameterBuffers;
use crate::error::{Error, Result};
use crate::kernel::DeviceHorn;
use crate::memory::{collected, filled, out_of_memory, zeroed};
use crate::model::FactorGraph;
use crate::parallel::{SharedWords, computed};
use crate::threads::Gang;

/// Bytes of memory that all groups of a span may have together, unless one needs more.
const TOTAL_OF_SPAN: [u64; 3] = [256 << 20, 512 << 20, 256 << 20];

/// Tells the kernels where arrays are, each under its own name.
macro_rules! addresses {
    ($device:ident, $own:ident; $($name:ident),*) => {
        $($device.$name = (&$own.$name).into();)*
    };
}

/// An array, or nothing.
fn optional<T: Element>(queue: Queue<'_>, content: Option<&[T]>) -> Result<DeviceBuffer<T>> {
    DeviceBuffer::from_slice(queue, content.unwrap_or_default())
}

/// The graph's arrays, but for factors.
pub(super) struct GraphBuffers {
    variable_offsets: DeviceBuffer<u32>,
    slot_inputs: DeviceBuffer<u32>,
    variable_values: DeviceBuffer<u32>,
    variable_states: DeviceBuffer<u32>,
    edge_variables: DeviceBuffer<u32>,
    edge_slots: DeviceBuffer<u32>,
    edge_inputs: DeviceBuffer<u32>,
    variable_places: DeviceBuffer<u32>,
    edge_places: DeviceBuffer<u32>,
    factor_offsets: DeviceBuffer<u32>,
    long_factors: LongFactorBuffers,
    warp_lanes: DeviceBuffer<WarpLane>,
    warp_items: u32,
    variables_by_span: DeviceBuffer<u32>,
    variables_of_span: [u32; 3],
    variables_of_states: [u32; STATE_CLASSES],
    senders: u32,
    readers: DeviceBuffer<u32>,
    some_send: bool,
    tile_variables: DeviceBuffer<u32>,
    tile_numbers: DeviceBuffer<u32>,
    /// Of the messages, and of those before damping.
    tile_products: DeviceBuffer<Product>,
    quads: u32,
    whole_tiles: u32,
    tile_rows: u32,
    tiles: u32,
}

impl GraphBuffers {
    pub fn new(
        queue: Queue<'_>, graph: &FactorGraph, plan: &GeneralPlan, gang: &Gang,
    ) -> Result<Self> {
        let GeneralPlan { values, places, warp_items, tiles, .. } = plan;
        let offsets = |count: usize, start: &dyn Fn(usize) -> usize| -> Result<Vec<u32>> {
            collected((0..count).map(|i| start(i) as u32).chain([graph.edge_count() as u32]))
        };
        let variables = offsets(graph.variable_count(), &|v| graph.variable_slots(v).start)?;
        let factors = offsets(graph.factor_count(), &|f| graph.factor_edges(f).start)?;
        let edge_of_slot = graph.all_variable_edges();
        let mut slots = zeroed(graph.edge_count())?;
        let slot_of_edge = SharedWords::new(&mut slots);
        let slot_inputs = computed(graph.edge_count(), gang, |slot| {
            let edge = edge_of_slot[slot] as usize;
            slot_of_edge.set(edge, slot as u32);
            warp_items.edge_inputs[edge]
        })?;
        let Variables { by_span, of_span, of_states, senders, readers } = &plan.variables;
        let (of_span, of_states, senders) = (*of_span, *of_states, *senders);
        let are_cut = by_span.len() < graph.variable_count();
        let upload = |content: &[u32]| DeviceBuffer::from_slice(queue, content);
        Ok(Self {
            variable_offsets: upload(&variables)?,
            slot_inputs: upload(&slot_inputs)?,
            variable_values: optional(queue, values.variables.as_deref())?,
            variable_states: optional(queue, values.states.as_deref())?,
            edge_variables: upload(graph.edge_variables())?,
            edge_slots: upload(&slots)?,
            edge_inputs: upload(&warp_items.edge_inputs)?,
            variable_places: upload(&places.variables)?,
            edge_places: upload(&places.edges)?,
            factor_offsets: upload(&factors)?,
            long_factors: LongFactorBuffers::new(queue, graph)?,
            warp_lanes: DeviceBuffer::from_slice(queue, &warp_items.lanes)?,
            warp_items: warp_items.sizes().warp_items as u32,
            variables_by_span: upload(by_span)?,
            variables_of_span: of_span,
            variables_of_states: of_states,
            senders,
            readers: upload(readers)?,
            some_send: are_cut
                || senders + of_span[1] + of_span[2] + of_states.iter().sum::<u32>() > 0,
            tile_variables: upload(&tiles.variables)?,
            tile_products: DeviceBuffer::new(queue.current, 2 * tiles.others())?,
            tile_numbers: upload(&tiles.numbers)?,
            quads: tiles.quads as u32,
            whole_tiles: tiles.whole as u32,
            tile_rows: tiles.rows as u32,
            tiles: tiles.others() as u32,
        })
    }

    pub fn fill(&self, device: &mut DeviceGeneral) {
        addresses!(device, self; variable_offsets, slot_inputs, variable_values, variable_states);
        addresses!(device, self; edge_variables, edge_slots, edge_inputs, factor_offsets);
        addresses!(device, self; warp_lanes, variables_by_span, readers);
        device.long_factors = self.long_factors.addresses();
        device.warp_items = self.warp_items;
        device.variables_of_span = self.variables_of_span;
        device.variables_of_states = self.variables_of_states;
        device.senders = self.senders;
        device.some_send = self.some_send.into();
        addresses!(device, self; variable_places, edge_places, tile_variables, tile_numbers, tile_products);
        device.quads = self.quads;
        device.whole_tiles = self.whole_tiles;
        device.tile_rows = self.tile_rows;
        device.tiles = self.tiles;
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
    /// `DeviceGeneral` in general.cuh.
    pub constant_iterations: DeviceBuffer<u32>,
}

impl MessageBuffers {
    /// For messages in so many places. What is in them is of no meaning yet.
    pub fn new(queue: Queue<'_>, values: &Values, places: usize) -> Result<Self> {
        // What a product leaves out is read all the same, be it not yet written.
        let messages = || DeviceBuffer::zeroed(queue, places);
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

    pub fn require_newest(&mut self, queue: Queue<'_>, count: usize) -> Result<()> {
        if self.newest[0].len() < count {
            // Also what is between variables is copied.
            self.newest =
                [DeviceBuffer::zeroed(queue, count)?, DeviceBuffer::zeroed(queue, count)?];
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

    /// The messages after `buffer` iterations, by place.
    pub fn messages(&self, buffer: u32) -> &DeviceBuffer<u64> {
        &self.messages[buffer as usize & 1]
    }

    /// The same before they were damped.
    pub fn newest(&self, buffer: u32) -> &DeviceBuffer<u64> {
        &self.newest[buffer as usize & 1]
    }

    pub fn fill(&self, device: &mut DeviceGeneral, damped: bool) {
        device.messages = [0, 1].map(|buffer| (&self.messages[buffer]).into());
        if damped {
            device.newest = [0, 1].map(|buffer| (&self.newest[buffer]).into());
        }
        addresses!(device, self; by_edge, beliefs, inputs, history, constant_iterations);
    }
}

/// All of a buffer.
pub(super) fn download(queue: Queue<'_>, values: &DeviceBuffer<u64>) -> Result<Vec<u64>> {
    let mut all = filled(values.len(), 0)?;
    values.download(queue, 0, &mut all)?;
    Ok(all)
}

/// The factors of a graph, as one kind of inference needs them.
struct FactorBuffers {
    records: DeviceBuffer<Record>,
    horn: DeviceBuffer<DeviceHorn>,
    words: DeviceBuffer<u64>,
    parameters: ParameterBuffers,
    edge_radices: DeviceBuffer<u32>,
    outputs: DeviceBuffer<u64>,
    pairs: DeviceBuffer<PairItem>,
    pairs_of_class: [u32; 3],
}

impl FactorBuffers {
    fn new(
        queue: Queue<'_>, graph: &FactorGraph, factors: &Factors, pairs: &Pairs, inputs: usize,
    ) -> Result<Self> {
        let parameters = ParameterBuffers::new(queue, &factors.parameters)?;
        let values = parameters.table_values();
        let radices: Vec<u32> = if factors.needs_radices {
            let radix = |&v: &u32| graph.cardinalities()[v as usize];
            collected(graph.edge_variables().iter().map(radix))?
        } else {
            Vec::new()
        };
        let outputs = if factors.needs_outputs { inputs } else { 0 };
        Ok(Self {
            pairs: DeviceBuffer::from_slice(queue, &pairs.items(graph, factors, values)?)?,
            pairs_of_class: pairs.of_class,
            records: DeviceBuffer::from_slice(queue, &factors.records)?,
            horn: DeviceBuffer::from_slice(queue, &factors.horn)?,
            words: DeviceBuffer::from_slice(queue, &factors.words)?,
            parameters,
            edge_radices: DeviceBuffer::from_slice(queue, &radices)?,
            outputs: DeviceBuffer::new(queue.current, outputs)?,
        })
    }

    fn fill(&self, device: &mut DeviceGeneral) {
        device.parameters = self.parameters.addresses();
        addresses!(device, self; records, horn, words, edge_radices, outputs, pairs);
        device.pairs_of_class = self.pairs_of_class;
        device.table_values = self.parameters.table_values().into();
    }
}

/// Items of all levels.
struct ItemBuffers {
    list: DeviceBuffer<Item>,
    levels: DeviceBuffer<u32>,
}

impl ItemBuffers {
    fn new(current: &Current, items: usize, levels: usize) -> Result<Self> {
        Ok(Self {
            list: DeviceBuffer::new(current, items)?,
            levels: DeviceBuffer::new(current, levels)?,
        })
    }

    fn upload(&self, queue: Queue<'_>, items: &Items) -> Result<()> {
        self.list.upload(queue, 0, &items.list)?;
        self.levels.upload(queue, 0, &items.levels)
    }
}

/// Level items of all levels.
struct LevelItemBuffers {
    items: DeviceBuffer<LevelItem>,
    inputs: DeviceBuffer<ItemInput>,
    conjunctions: DeviceBuffer<u32>,
    levels: DeviceBuffer<u32>,
}

/// Puts content into a buffer, a larger one where it does not fit.
fn replace<T: Element>(
    queue: Queue<'_>, buffer: &mut DeviceBuffer<T>, content: &[T],
) -> Result<()> {
    if content.len() > buffer.len() {
        // What differs from iteration to iteration does not differ much.
        let room =
            if buffer.len() == 0 { content.len() } else { content.len() + content.len() / 4 };
        *buffer = DeviceBuffer::new(queue.current, room)?;
    }
    buffer.upload(queue, 0, content)
}

impl LevelItemBuffers {
    fn new(current: &Current) -> Result<Self> {
        Ok(Self {
            items: DeviceBuffer::new(current, 0)?,
            inputs: DeviceBuffer::new(current, 0)?,
            conjunctions: DeviceBuffer::new(current, 0)?,
            levels: DeviceBuffer::new(current, 0)?,
        })
    }

    fn upload(&mut self, queue: Queue<'_>, work: &LevelItems) -> Result<()> {
        replace(queue, &mut self.items, &work.list)?;
        replace(queue, &mut self.inputs, &work.inputs)?;
        replace(queue, &mut self.conjunctions, &work.conjunctions)?;
        replace(queue, &mut self.levels, &work.levels)
    }

    fn list(&self) -> LevelItemList {
        LevelItemList { items: (&self.items).into(), levels: (&self.levels).into() }
    }
}

/// The work of an iteration.
struct WorkBuffers {
    constants_by_span: DeviceBuffer<u32>,
    constants_of_span: [u32; 3],
    items: [ItemBuffers; 3],
    targets: DeviceBuffer<u32>,
    ranks: DeviceBuffer<u32>,
    levels: u32,
    by_levels: bool,
    /// Empty if no variables are prepared.
    prepared: DeviceBuffer<u32>,
    prepared_states: DeviceBuffer<PreparedState>,
    prepared_items: [ItemBuffers; 3],
    level_items: LevelItemBuffers,
    some_items: bool,
}

impl WorkBuffers {
    /// Room for this work, or for any by levels if iterations differ.
    fn new(
        queue: Queue<'_>, edges: usize, plan: &MachinePlan, iterations_differ: bool,
    ) -> Result<Self> {
        let current = queue.current;
        let MachinePlan { work, constants: (constants, constants_of_span), .. } = plan;
        let items = |items: &Items| {
            if iterations_differ {
                ItemBuffers::new(current, edges, edges + 1)
            } else {
                ItemBuffers::new(current, items.list.len(), items.levels.len())
            }
        };
        let prepared = &work.prepared;
        let prepared_items = |span: usize| -> Result<ItemBuffers> {
            let items = &prepared.items[span];
            let buffers = ItemBuffers::new(current, items.list.len(), items.levels.len())?;
            buffers.upload(queue, items)?;
            Ok(buffers)
        };
        let by_levels = iterations_differ || !work.ranks.is_empty();
        let length = if by_levels { edges } else { 0 };
        Ok(Self {
            constants_by_span: DeviceBuffer::from_slice(queue, constants)?,
            constants_of_span: *constants_of_span,
            items: [items(&work.items[0])?, items(&work.items[1])?, items(&work.items[2])?],
            // Never empty, since its address says that there are targets.
            targets: DeviceBuffer::new(current, if by_levels { edges.max(1) } else { 0 })?,
            ranks: DeviceBuffer::new(current, length)?,
            levels: 0,
            by_levels,
            prepared: DeviceBuffer::from_slice(queue, &prepared.numbers)?,
            prepared_states: DeviceBuffer::from_slice(
                queue,
                &filled(prepared.count, PreparedState { level: u32::MAX, rank: u32::MAX })?,
            )?,
            prepared_items: [prepared_items(0)?, prepared_items(1)?, prepared_items(2)?],
            level_items: LevelItemBuffers::new(current)?,
            some_items: false,
        })
    }

    fn upload(&mut self, queue: Queue<'_>, work: &TaskLists) -> Result<()> {
        for (buffers, items) in self.items.iter().zip(&work.items) {
            buffers.upload(queue, items)?;
        }
        self.targets.upload(queue, 0, &work.targets)?;
        self.ranks.upload(queue, 0, &work.ranks)?;
        self.level_items.upload(queue, &work.level_items)?;
        self.some_items = work.items.iter().any(|items| !items.list.is_empty());
        let is_empty = !self.some_items && work.level_items.list.is_empty();
        self.levels = if is_empty { 0 } else { work.items[0].levels.len() as u32 - 1 };
        Ok(())
    }

    fn fill(&self, device: &mut DeviceGeneral) {
        device.constants_by_span = (&self.constants_by_span).into();
        device.constants_of_span = self.constants_of_span;
        let prepared_items = device.prepared_items.iter_mut().zip(&self.prepared_items);
        for (list, buffers) in device.items.iter_mut().zip(&self.items).chain(prepared_items) {
            let items = (&buffers.list).into();
            *list = ItemList { items, levels: (&buffers.levels).into() };
        }
        addresses!(device, self; prepared, prepared_states);
        if self.by_levels {
            device.targets = (&self.targets).into();
            device.ranks = (&self.ranks).into();
        }
        device.levels = self.levels;
        device.level_items = self.level_items.list();
        device.item_inputs = (&self.level_items.inputs).into();
        device.conjunction_inputs = (&self.level_items.conjunctions).into();
        device.some_items = self.some_items.into();
    }
}

/// Memory for so many groups of `count`, of so many bytes each.
fn scratch(
    current: &Current, bytes: u64, total: u64, count: u32,
) -> Result<(DeviceBuffer<u8>, Scratch)> {
    let fitting = total.checked_div(bytes).unwrap_or(u64::MAX).clamp(1, count.into());
    let length = usize::try_from(fitting * bytes).unwrap_or(usize::MAX);
    let memory = DeviceBuffer::new(current, length).map_err(|error| match error {
        Error::OutOfMemory(text) => out_of_memory(format_args!(
            "{text}: the messages of the largest factor or variable take {bytes} bytes"
        )),
        error => error,
    })?;
    let scratch = Scratch { memory: (&memory).into(), bytes, count: fitting as u32, padding: 0 };
    Ok((memory, scratch))
}

/// What the kernels need beside graph and messages, for sums or for maxima.
pub(super) struct Machine {
    buffers: FactorBuffers,
    work: WorkBuffers,
    _memory: [DeviceBuffer<u8>; 3],
    scratch: [Scratch; 3],
    /// See [`Factors::scratch`].
    pub factor_bytes: Vec<u64>,
    /// Blocks of a launch.
    pub blocks: u32,
}

impl Machine {
    /// For the iterations of a plan, by so many blocks; of any iteration by levels, if they differ.
    pub fn new(
        queue: Queue<'_>, graph: &FactorGraph, plan: MachinePlan, shape: &Shape, blocks: u32,
        inputs: usize,
    ) -> Result<Self> {
        let MachinePlan { factors, work, bytes, .. } = &plan;
        let buffers = FactorBuffers::new(queue, graph, factors, &work.pairs, inputs)?;
        let groups = [blocks * THREADS, blocks * THREADS / shape.warp, blocks];
        let of_span = |i: usize| scratch(queue.current, bytes[i], TOTAL_OF_SPAN[i], groups[i]);
        let [threads, warps, blocks_of_threads] = [of_span(0)?, of_span(1)?, of_span(2)?];
        let edges = graph.edge_count();
        let mut machine = Self {
            buffers,
            work: WorkBuffers::new(queue, edges, &plan, shape.iterations_differ)?,
            scratch: [threads.1, warps.1, blocks_of_threads.1],
            _memory: [threads.0, warps.0, blocks_of_threads.0],
            factor_bytes: plan.factors.scratch,
            blocks,
        };
        machine.replace(queue, &plan.work)?;
        Ok(machine)
    }

    /// Replaces the work.
    pub fn replace(&mut self, queue: Queue<'_>, work: &TaskLists) -> Result<()> {
        self.work.upload(queue, work)
    }

    pub fn fill(&self, device: &mut DeviceGeneral) {
        self.buffers.fill(device);
        self.work.fill(device);
        device.scratch = self.scratch;
    }
}
