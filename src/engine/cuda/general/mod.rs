//! The general program: any kinds of factors and any cardinalities, sums and maxima, damping, active sets, all schedules
//! that have a preorder. See cuda/engine/general.cuh for what the device does.

mod beliefs;
mod buffers;
mod classes;
mod evidence;
mod factors;
mod items;
mod level_items;
mod pairs;
mod places;
mod plan;
mod prepared;
mod shape;
mod tiles;
mod warp_items;
mod work;

#[cfg(test)]
mod tests;

use super::driver::{Argument, DeviceBuffer, Kernel, Launch, Module, Queue};
use super::interface::general::DeviceGeneral;
use super::interface::run::{Loop, THREADS};
use super::program::{MessagesBySlot, Program, gang_for};
use crate::engine::{RunRequest, Start, StopRule};
use crate::error::{Error, Result};
use crate::kernel::{EncodedMessage, Inference};
use crate::memory::{filled, room};
use crate::model::{FactorGraph, VariableEvidence};
use crate::schedule::{KnownOrder, Schedule, Storage, analyse};
use crate::threads::Gang;
pub(super) use beliefs::BeliefMovement;
use beliefs::FactorBeliefBuffers;
use buffers::{GraphBuffers, Machine, MessageBuffers, download};
use evidence::EvidenceBuffers;
use factors::{Factors, Values};
use places::Places;
pub(super) use plan::GeneralPlan;
use plan::MachinePlan;
use shape::Shape;
use std::ops::Range;
use std::sync::Arc;
use warp_items::Sizes;
use work::Shares;

struct Kernels {
    prepare: Kernel,
    begin: Kernel,
    iterations: Kernel,
    results: Kernel,
    take: Kernel,
    begin_beliefs: Kernel,
    measure_beliefs: Kernel,
}

/// A graph and a schedule on a device; see the module.
pub(super) struct General {
    graph: Arc<FactorGraph>,
    schedule: Schedule,
    kernels: Kernels,
    shape: Shape,
    /// Blocks of a launch that fit on the device at a time.
    most_blocks: u32,
    values: Values,
    places: Places,
    /// Where the message to the factor along each edge is; empty if no factor can be in `Pairs`.
    edge_inputs: Vec<u32>,
    sizes: Sizes,
    /// Entries of an array of messages in either direction.
    entries: usize,
    /// Whether `general_prepare` is to run, as evidence has changed.
    is_stale: bool,
    fixed: GraphBuffers,
    evidence: EvidenceBuffers,
    messages: MessageBuffers,
    /// Made when beliefs of factors are first measured.
    factor_beliefs: Option<FactorBeliefBuffers>,
    results: DeviceBuffer<f64>,
    /// What is particular to sums, and to maxima if these need tables.
    sums: Machine,
    maxima: Option<Machine>,
    /// Of the current run, or, before it, of the run that the messages come from.
    inference: Inference,
    damping: f64,
    least_growth: f64,
    history_rows: u64,
    /// Whether `newest` has what the messages were before damping.
    newest_is_valid: bool,
    /// Iterations since the messages were uniform, when the next launch begins.
    iterations: u64,
}

impl General {
    /// What a plan for this schedule says, on the device, with uniform messages in buffer 0 and no evidence. Errors: a graph too
    /// large for the device's memory.
    pub(super) fn new(
        queue: Queue<'_>, module: &Arc<Module>, graph: Arc<FactorGraph>, schedule: &Schedule,
        plan: GeneralPlan,
    ) -> Result<Self> {
        let kernels = Kernels {
            prepare: module.kernel(c"general_prepare"),
            begin: module.kernel(c"general_begin"),
            iterations: module.kernel(c"general_passes"),
            results: module.kernel(c"general_results"),
            take: module.kernel(c"general_take"),
            begin_beliefs: module.kernel(c"general_begin_beliefs"),
            measure_beliefs: module.kernel(c"general_measure_beliefs"),
        };
        let per_multiprocessor = kernels.iterations.blocks_per_multiprocessor(THREADS, 0)?.max(1);
        let most_blocks = per_multiprocessor * queue.current.device().multiprocessors()?;
        let fixed = GraphBuffers::new(queue, &graph, &plan, &gang_for(&graph))?;
        let GeneralPlan { shape, values, places, warp_items, any_pairs, sums, .. } = plan;
        let sizes = warp_items.sizes();
        let blocks = sums.blocks(&graph, &shape, sizes, most_blocks);
        let entries = places.count.max(sizes.inputs.next_multiple_of(2));
        let general = Self {
            fixed,
            evidence: EvidenceBuffers::new(queue, graph.variable_count(), &values)?,
            messages: MessageBuffers::new(queue, &values, entries)?,
            factor_beliefs: None,
            results: DeviceBuffer::new(queue.current, graph.state_count())?,
            sums: Machine::new(queue, &graph, sums, &shape, blocks, sizes.inputs)?,
            maxima: None,
            kernels,
            shape,
            values,
            places,
            edge_inputs: if any_pairs { warp_items.edge_inputs } else { Vec::new() },
            most_blocks,
            sizes,
            entries,
            is_stale: true,
            inference: Inference::SumProduct,
            damping: 0.0,
            least_growth: 0.0,
            history_rows: 0,
            newest_is_valid: false,
            iterations: 0,
            schedule: schedule.clone(),
            graph,
        };
        let reset = DeviceGeneral { reset: 1, ..general.device(&general.sums) };
        general.start(queue, &reset, 0)?;
        // Both have ones between variables.
        general.messages.messages(1).copy_from(queue, general.messages.messages(0))?;
        queue.synchronize()?;
        Ok(general)
    }

    /// Where the values of each edge's message are.
    fn places_of_edges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = self.places.edges.iter().enumerate();
        starts.map(|(edge, &place)| place as usize..place as usize + self.values.width(edge))
    }

    /// Messages by edge, from those by place.
    fn by_edge(&self, by_place: &[u64]) -> Result<Vec<EncodedMessage>> {
        let mut messages = room(self.values.count)?;
        for places in self.places_of_edges() {
            messages.extend(by_place[places].iter().map(|&word| EncodedMessage(word)));
        }
        Ok(messages)
    }

    fn by_place(&self, messages: &[EncodedMessage]) -> Result<Vec<u64>> {
        let mut by_place = filled(self.places.count, EncodedMessage::ONE.0)?;
        let mut next = messages.iter();
        for places in self.places_of_edges() {
            for (value, &message) in by_place[places].iter_mut().zip(&mut next) {
                *value = message.0;
            }
        }
        Ok(by_place)
    }

    fn machine(&self, inference: Inference) -> &Machine {
        match (inference, &self.maxima) {
            (Inference::MaxProduct, Some(machine)) => machine,
            _ => &self.sums,
        }
    }

    fn machine_mut(&mut self, inference: Inference) -> &mut Machine {
        match (inference, &mut self.maxima) {
            (Inference::MaxProduct, Some(machine)) => machine,
            _ => &mut self.sums,
        }
    }

    /// Makes what maxima need, if they need more than sums.
    fn require_maxima(&mut self, queue: Queue<'_>) -> Result<()> {
        let graph = self.graph.clone();
        let needed = |f| graph.factor(f).needs_table(Inference::MaxProduct);
        if self.maxima.is_some() || !graph.other_factors().any(needed) {
            return Ok(());
        }
        let factors = Factors::new(&graph, Inference::MaxProduct)?;
        let order = (&self.schedule, &KnownOrder::default());
        let (shape, sizes) = (&self.shape, self.sizes);
        let plan =
            MachinePlan::new(&graph, factors, order, shape, &self.places, &self.edge_inputs)?;
        let blocks = plan.blocks(&graph, shape, sizes, self.most_blocks);
        self.maxima = Some(Machine::new(queue, &graph, plan, shape, blocks, sizes.inputs)?);
        Ok(())
    }

    /// What the kernels take.
    fn device(&self, machine: &Machine) -> DeviceGeneral {
        let mut device = DeviceGeneral {
            variables: self.graph.variable_count() as u32,
            factors: self.graph.factor_count() as u32,
            edges: self.graph.edge_count() as u32,
            values: self.entries as u32,
            belief_count: self.values.belief_count as u64,
            history_rows: self.history_rows,
            by_levels: u32::from(self.shape.by_levels),
            damping: self.damping,
            least_growth: self.least_growth,
            maxima: u32::from(self.inference == Inference::MaxProduct),
            ..DeviceGeneral::default()
        };
        self.fixed.fill(&mut device);
        self.evidence.fill(&mut device);
        self.messages.fill(&mut device, self.damping > 0.0);
        machine.fill(&mut device);
        device
    }

    /// Makes the beliefs of factors uniform, for a run with the present evidence. Errors: a belief with too many entries; no memory.
    pub(super) fn begin_beliefs(&mut self, queue: Queue<'_>) -> Result<()> {
        self.evidence.upload(queue, &self.values)?;
        self.messages.require_inputs(queue.current, self.entries)?;
        let made = match self.factor_beliefs.take() {
            Some(made) => made,
            None => FactorBeliefBuffers::new(queue, &self.graph)?,
        };
        let all = self.factor_beliefs.insert(made).addresses();
        let launch = Launch::new(self.machine(self.inference).blocks, THREADS);
        // SAFETY: the argument of the kernel; it writes to the beliefs that there are.
        unsafe { self.kernels.begin_beliefs.launch(queue, launch, [Argument::value(&all)]) }
    }

    /// Replaces the messages in buffer 0 by those of a program for binary variables, for the beliefs of factors alone.
    pub(super) fn take(&mut self, queue: Queue<'_>, from: MessagesBySlot) -> Result<()> {
        let machine = self.machine(self.inference);
        let device = self.device(machine);
        let MessagesBySlot { messages, slots } = &from;
        let arguments =
            [Argument::value(&device), Argument::value(messages), Argument::value(slots)];
        let launch = Launch::new(machine.blocks, THREADS);
        // SAFETY: the arguments of the kernel; there is a slot for each edge, with its message.
        unsafe { self.kernels.take.launch(queue, launch, arguments) }
    }

    /// Replaces the beliefs of factors by those of the messages in `buffer`, and gives by how much they have changed, unless it is
    /// only `recalling` those that the next ones are compared with. `begin_beliefs` comes before.
    pub(super) fn measure_beliefs(
        &self, queue: Queue<'_>, buffer: u32, tolerance: f64, recalling: bool,
    ) -> Result<BeliefMovement> {
        let Some(beliefs) = &self.factor_beliefs else {
            return Err(Error::Device("internal error: no beliefs of factors have begun".into()));
        };
        let no_iteration = beliefs.loop_of_no_iteration(queue, buffer)?;
        let machine = self.machine(self.inference);
        let device = self.device(machine);
        let launch = Launch { cooperative: true, ..Launch::new(machine.blocks, THREADS) };
        let arguments = [Argument::value(&device), Argument::value(&no_iteration)];
        // SAFETY: as in `launch`.
        unsafe { self.kernels.iterations.launch(queue, launch, arguments)? };
        let (all, recalling) = (beliefs.addresses(), u32::from(recalling));
        let arguments = [
            Argument::value(&device),
            Argument::value(&all),
            Argument::value(&tolerance),
            Argument::value(&recalling),
        ];
        let launch = Launch::new(self.most_blocks, THREADS);
        // SAFETY: the arguments of the kernel; it writes to what `all` says.
        unsafe { self.kernels.measure_beliefs.launch(queue, launch, arguments)? };
        beliefs.found(queue)
    }

    /// Runs `general_prepare`.
    fn prepare(&self, queue: Queue<'_>, device: &DeviceGeneral) -> Result<()> {
        let launch = Launch::new(self.machine(self.inference).blocks, THREADS);
        // SAFETY: the argument of the kernel; the buffers are this program's and of the sizes that the counts say.
        unsafe { self.kernels.prepare.launch(queue, launch, [Argument::value(device)]) }
    }

    /// Runs `general_begin`.
    fn start(&self, queue: Queue<'_>, device: &DeviceGeneral, buffer: u32) -> Result<()> {
        let launch = Launch::new(self.machine(self.inference).blocks, THREADS);
        let arguments = [Argument::value(device), Argument::value(&buffer)];
        // SAFETY: the arguments of the kernel; the buffers are this program's and of the sizes that the
        // counts say.
        unsafe { self.kernels.begin.launch(queue, launch, arguments) }
    }
}

impl Program for General {
    fn by_levels(&self) -> bool {
        self.shape.by_levels
    }

    fn iterations_per_launch(&self) -> Option<u64> {
        self.shape.iterations_differ.then_some(1)
    }

    fn start_at(&mut self, iterations: u64) {
        self.iterations = iterations;
    }

    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) -> Result<()> {
        self.evidence.set(&self.graph, &self.values, variable, evidence)?;
        self.is_stale = true;
        Ok(())
    }

    fn begin(
        &mut self, queue: Queue<'_>, request: &RunRequest, buffer: u32, constants_sent: bool,
    ) -> Result<()> {
        if !self.serves(request) {
            return Err(Error::Unsupported(
                "CUDA: a stop rule that looks at the beliefs of factors".into(),
            ));
        }
        if request.inference == Inference::MaxProduct {
            self.require_maxima(queue)?;
        }
        let damped = request.damping > 0.0;
        if damped {
            self.messages.require_newest(queue, self.entries)?;
        }
        if let StopRule::Bingo { history, .. } = request.rule {
            let rows = history.min(request.rule.most_iterations()).max(1);
            self.messages.require_inputs(queue.current, self.entries)?;
            self.messages.require_history(queue.current, rows, self.values.belief_count)?;
            self.history_rows = rows;
        }
        self.evidence.upload(queue, &self.values)?;
        let fresh = request.start == Start::Fresh;
        (self.inference, self.damping) = (request.inference, request.damping);
        self.least_growth = request.least_growth();
        let device = DeviceGeneral {
            reset: u32::from(fresh),
            restart_newest: u32::from(damped && (fresh || !self.newest_is_valid)),
            ..self.device(self.machine(self.inference))
        };
        self.start(queue, &device, buffer)?;
        if self.is_stale && self.sizes.warp_items > 0 {
            self.prepare(queue, &device)?;
        }
        self.is_stale = false;
        self.newest_is_valid = damped;
        if fresh {
            self.iterations = 0;
        } else {
            // (The other buffer lacks them.)
            self.messages.constant_iterations.upload(queue, 0, &[u32::from(constants_sent)])?;
        }
        Ok(())
    }

    fn launch(&mut self, queue: Queue<'_>, iterations: &Loop) -> Result<()> {
        if self.shape.iterations_differ {
            let machine = self.machine(self.inference);
            let shares = Shares::new(&self.graph, &machine.factor_bytes, None);
            let preorder = self.schedule.preorder(&self.graph, self.iterations)?;
            let levels = analyse(&self.graph, &preorder, Storage::SideBySide)?;
            let work = shares.by_levels(&preorder, &levels, false, &Gang::ALONE)?;
            self.machine_mut(self.inference).replace(queue, &work)?;
            self.iterations += 1;
        }
        let machine = self.machine(self.inference);
        let device = self.device(machine);
        let launch = Launch { cooperative: true, ..Launch::new(machine.blocks, THREADS) };
        let arguments = [Argument::value(&device), Argument::value(iterations)];
        // SAFETY: the arguments of the kernel; the buffers are this program's and of the sizes that the
        // counts say, those of the loop are the caller's; so many blocks run at the same time.
        unsafe { self.kernels.iterations.launch(queue, launch, arguments) }
    }

    fn results(
        &mut self, queue: Queue<'_>, buffer: u32, mean_after: Option<u64>, out: &mut [f64],
    ) -> Result<()> {
        let iterations = mean_after.unwrap_or(0);
        let rows = iterations.min(self.history_rows);
        let machine = self.machine(self.inference);
        let device = self.device(machine);
        let launch = Launch::new(machine.blocks, THREADS);
        let arguments = [
            Argument::value(&device),
            Argument::value(&buffer),
            Argument::value(&iterations),
            Argument::value(&rows),
            Argument::buffer(&self.results),
        ];
        // SAFETY: the arguments of the kernel; it writes a number per state.
        unsafe { self.kernels.results.launch(queue, launch, arguments)? };
        self.results.download(queue, 0, out)
    }

    fn messages(&mut self, queue: Queue<'_>, buffer: u32) -> Result<Vec<EncodedMessage>> {
        self.by_edge(&download(queue, self.messages.messages(buffer))?)
    }

    fn set_messages(
        &mut self, queue: Queue<'_>, buffer: u32, messages: &[EncodedMessage],
    ) -> Result<()> {
        self.messages.messages(buffer).upload(queue, 0, &self.by_place(messages)?)?;
        self.newest_is_valid = false;
        Ok(())
    }

    fn undamped(&mut self, queue: Queue<'_>, buffer: u32) -> Result<Option<Vec<EncodedMessage>>> {
        if !self.newest_is_valid {
            return Ok(None);
        }
        self.by_edge(&download(queue, self.messages.newest(buffer))?).map(Some)
    }

    fn set_undamped(
        &mut self, queue: Queue<'_>, buffer: u32, messages: &[EncodedMessage],
    ) -> Result<()> {
        self.messages.require_newest(queue, self.entries)?;
        self.messages.newest(buffer).upload(queue, 0, &self.by_place(messages)?)?;
        self.newest_is_valid = true;
        Ok(())
    }
}
