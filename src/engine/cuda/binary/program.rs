//! A binary graph and a schedule on a device: buffers, evidence, launches.

use super::housing::{Housing, Room};
use super::layout::Layout;
use super::level_versions::FirstVersions;
use super::level_words::READS_SOFT;
use super::limits::WARP;
use super::other_factors::OtherFactorBuffers;
use super::plan::{BinaryPlan, Work};
use crate::engine::cuda::driver::{
    Argument, DeviceBuffer, Element, Kernel, Launch, Module, PinnedBuffer, Queue,
};
use crate::engine::cuda::interface::arithmetic::Product;
use crate::engine::cuda::interface::binary::{
    AHEAD_AT_MOST, BODY_WORDS, Binary, IMAGE_ROOM, KNOWN_SOFT, LEVEL_STATES, LEVEL_THREADS,
    NODE_WORDS, SHARED_PIECES, Source, UNSENT, UnitWays, WARP_LEAVES,
};
use crate::engine::cuda::interface::run::{
    self, Loop, PASS_BUFFERS, ROUGH, ReductionCounters, RuleKind, SCANS, THREADS,
};
use crate::engine::cuda::interface::{Address, ReadOnly};
use crate::engine::cuda::long_factors::LongFactorBuffers;
use crate::engine::cuda::program::{MessagesBySlot, Program};
use crate::engine::limits::takes_other_factors;
use crate::engine::{RunRequest, Start, StopRule};
use crate::error::Result;
use crate::kernel::{EncodedMessage, Inference, mean_numerator, stored_message};
use crate::memory::{Grow, SortedMap, boxed, collected, filled, room};
use crate::model::{FactorGraph, VariableEvidence};
use std::any::Any;
use std::sync::Arc;

/// Messages of a hub the products of whose pieces a block can keep.
const SHARED_MESSAGES: usize = SHARED_PIECES * WARP_LEAVES;

/// Fewest blocks for what each thread does on its own.
const FILL_BLOCKS: u32 = 64;

struct Kernels {
    /// Sums without damping and soft evidence, and any runs: where each block has one home, and where it has several. Then any
    /// runs where factors have warps of their own.
    floods: [[Kernel; 2]; 2],
    own_warps_flood: Kernel,
    /// By levels sums without damping where no factors have warps of their own, and any runs.
    levels: [Kernel; 2],
    results: Kernel,
    means: Kernel,
    fill: Kernel,
    patch: Kernel,
    begin: Kernel,
    begin_products: Kernel,
}

/// See [`Program`].
pub(in crate::engine::cuda) struct BinaryProgram {
    graph: Arc<FactorGraph>,
    layout: Layout,
    binary: Binary,
    kernels: Kernels,
    /// How iterations run.
    launch: Launch,
    by_levels: bool,
    /// By levels, the number of pieces of high-degree variables up to each height.
    piece_ends: Vec<u32>,
    /// What blocks have in shared memory where all messages are sent at once: without damping and with it, if that fits.
    rooms: [Option<Room>; 2],
    /// Whether homes take turns, and their images then.
    take_turns: bool,
    images: Option<DeviceBuffer<u64>>,
    /// The orders of homes that take turns, and their times.
    home_orders: Option<[DeviceBuffer<u32>; 2]>,
    /// Of all states.
    messages: DeviceBuffer<u64>,
    /// What they were before damping, by levels of all states and else of the first two; empty until a run is damped. Whether it is so for the last
    /// run.
    undamped: DeviceBuffer<u64>,
    has_undamped: bool,
    /// The words of all inputs, then what is known about each variable.
    words: DeviceBuffer<u32>,
    /// The same words where nothing is known.
    base: Vec<u32>,
    known_start: usize,
    /// The places of each edge's input among the words, with [`READS_SOFT`]: `places[offsets[e]..offsets[e + 1]]`.
    places: Vec<u32>,
    offsets: Vec<u32>,
    /// What is known of variables.
    evidence: SortedMap<Known>,
    /// Number of variables with soft evidence, and where the device has it: see `Binary::soft`.
    soft_count: usize,
    soft: Option<DeviceBuffer<u64>>,
    /// Variables whose evidence the device does not have yet; some may be there several times.
    changed: Vec<u32>,
    patches: Option<PinnedBuffer<u32>>,
    beliefs: DeviceBuffer<f64>,
    history: Option<DeviceBuffer<f64>>,
    inputs: Option<[DeviceBuffer<f64>; 2]>,
    results: DeviceBuffer<f64>,
    /// Factors that are no conjunctions, for sums and for maxima; made when first needed.
    others: [Option<OtherFactorBuffers>; 2],
    /// Whether the kernels for binary variables serve runs of maxima.
    takes_maxima: bool,
    /// What stays as it is.
    _constant: Vec<Box<dyn Any + Send + Sync>>,
}

/// What is known about a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    State(bool),
    /// A likelihood of each state, as odds.
    Soft(EncodedMessage),
}

impl Known {
    /// As `Binary::known` has it.
    fn word(self) -> u32 {
        match self {
            Self::State(false) => run::Known::False as u32,
            Self::State(true) => run::Known::True as u32,
            Self::Soft(_) => KNOWN_SOFT,
        }
    }
}

/// Copies arrays to the device.
struct Loader<'a> {
    queue: Queue<'a>,
    kept: Vec<Box<dyn Any + Send + Sync>>,
}

impl Loader<'_> {
    /// The address of a buffer that stays.
    fn keep<T: Element>(&mut self, buffer: DeviceBuffer<T>) -> Result<u64> {
        let address = *buffer.address();
        self.kept.try_room(1)?;
        self.kept.push(boxed(buffer)?);
        Ok(address)
    }

    /// The address of a copy that stays.
    fn load<T: Element, A: From<u64>>(&mut self, content: &[T]) -> Result<A> {
        let buffer = DeviceBuffer::from_slice(self.queue, content)?;
        Ok(self.keep(buffer)?.into())
    }

    /// The address of room for so many that stays.
    fn reserve<T: Element>(&mut self, count: usize) -> Result<u64> {
        let buffer = DeviceBuffer::<T>::new(self.queue.current, count)?;
        self.keep(buffer)
    }

    /// The address of so many words with these bits that stay.
    fn repeat(&mut self, fill: &Kernel, count: usize, bits: u64) -> Result<u64> {
        let buffer = DeviceBuffer::<u64>::new(self.queue.current, count)?;
        fill_buffer(self.queue, fill, FILL_BLOCKS, &buffer, bits)?;
        self.keep(buffer)
    }

    /// What homes have where all messages are sent at once, and how to launch their blocks.
    fn load_homes(&mut self, housing: &Housing, binary: &mut Binary) -> Result<Launch> {
        let Housing { homes, work, .. } = housing;
        binary.homes = self.load(&work.homes)?;
        binary.flood_starts = self.load(&work.hub_starts)?;
        binary.factor_units = self.load(&work.factor_units)?;
        binary.home_words = self.load(&work.factors)?;
        binary.home_hubs = self.load(&work.hubs)?;
        binary.home_constant_places = self.load(&work.constant_places)?;
        binary.home_turns = homes.turns as u32;
        let constants: Vec<u64> = collected(work.constants.iter().map(|message| message.0))?;
        binary.home_constants = self.load(&constants)?;
        let blocks = homes.blocks;
        Ok(Launch { cooperative: blocks > 1, ..Launch::new(blocks as u32, THREADS) })
    }
}

impl BinaryProgram {
    /// What a plan says, on the device, with uniform messages and no evidence.
    pub(in crate::engine::cuda) fn new(
        queue: Queue<'_>, module: &Arc<Module>, graph: Arc<FactorGraph>, plan: BinaryPlan,
    ) -> Result<Self> {
        let shared = match &plan.work {
            Work::AtOnce { shared, .. } => *shared,
            Work::Levels { .. } => 0,
        };
        let kernel = |name| module.kernel(name);
        let flood = |name| kernel(name).with_shared(shared);
        let kernels = Kernels {
            floods: [
                [flood(c"binary_flood"), flood(c"binary_turns_flood")],
                [flood(c"binary_any_flood"), flood(c"binary_any_turns_flood")],
            ],
            own_warps_flood: flood(c"binary_own_warps_flood"),
            levels: [kernel(c"binary_levels"), kernel(c"binary_any_levels")],
            results: kernel(c"binary_results"),
            means: kernel(c"binary_means"),
            fill: kernel(c"binary_fill"),
            patch: kernel(c"binary_patch"),
            begin: kernel(c"binary_begin"),
            begin_products: kernel(c"binary_begin_products"),
        };
        let BinaryPlan { layout, work, stride, words: mut base, places, offsets } = plan;
        let mut loader = Loader { queue, kept: Vec::new() };
        let variables = graph.variable_count();
        let ([fours, twos, ones, zeros], [four_slot, two_slot, one_slot]) =
            (layout.few, layout.few_slots);
        let mut binary = Binary {
            variables: variables as u32,
            fours,
            twos,
            ones,
            zeros,
            four_slot,
            two_slot,
            one_slot,
            classes: layout.classes,
            variable: loader.load(&layout.variable)?,
            hub_slots: loader.load(&layout.hub_slots)?,
            coefficients: loader.load(&layout.coefficients)?,
            constant_count: layout.constants.len() as u32,
            coefficient_count: layout.coefficients.len() as u32,
            factors: graph.factor_count() as u32,
            ..Binary::default()
        };
        let constants = layout.constants.iter();
        let slots: Vec<u32> = collected(constants.clone().map(|&(slot, _)| slot))?;
        binary.constant_slots = loader.load(&slots)?;
        let values: Vec<u64> = collected(constants.map(|&(_, value)| value.0))?;
        binary.constants = loader.load(&values)?;
        let (piece_hubs, hub_pieces) = layout.pieces()?;
        let largest = (0..variables).map(|v| graph.degree(v)).max().unwrap_or(0);
        let giant = largest > SHARED_MESSAGES;
        let more = if giant { 2 * (layout.slots / WARP_LEAVES + layout.hubs() + 1) } else { 0 };
        binary.pieces = loader.load(&filled(more, Product::default())?)?;
        binary.piece_hubs = loader.load(&piece_hubs)?;
        binary.hub_pieces = loader.load(&hub_pieces)?;
        let looked = filled(SCANS * 2 * piece_hubs.len(), 0_u64)?;
        binary.looked_pieces = loader.load(&looked)?;
        let (launch, states);
        let mut rooms = [None; 2];
        let mut piece_ends = Vec::new();
        let mut take_turns = false;
        let by_levels = matches!(work, Work::Levels { .. });
        match work {
            Work::Levels { work, blocks, warps, sent } => {
                launch = Launch { cooperative: blocks > 1, ..Launch::new(blocks, LEVEL_THREADS) };
                binary.level_units = loader.load(&work.units)?;
                binary.level_starts = loader.load(&work.starts)?;
                binary.level_warps = warps as u32;
                // A launch without iterations comes before the first run.
                binary.level_ways = loader.load(&filled(warps, UnitWays::default())?)?;
                // Two words of each product.
                let product_words = 2 * work.products;
                binary.product_stride = product_words as u64;
                binary.level_products = loader.reserve::<u64>(LEVEL_STATES * product_words)?.into();
                let FirstVersions { places, parts, ends } = work.first_versions;
                binary.piece_places = loader.load(&places)?;
                binary.piece_parts = loader.load(&parts)?;
                piece_ends = ends;
                let node_words = NODE_WORDS * work.nodes;
                binary.node_stride = node_words as u64;
                binary.level_nodes = loader.reserve::<u64>(LEVEL_STATES * node_words)?.into();
                binary.sent = loader.load(&sent)?;
                states = LEVEL_STATES;
            }
            Work::AtOnce { housing, shared, degrees } => {
                // The messages of hubs; and for iterations from either buffer two words of each piece.
                let slots = layout.few_slots[0] as usize;
                let words = slots + 4 * piece_hubs.len();
                binary.prepared = loader.repeat(&kernels.fill, words, UNSENT)?.into();
                let far = loader.reserve::<u64>(2 * slots)?;
                binary.far_prepared = far.into();
                binary.far_given = (far + 8 * slots as u64).into();
                binary.tallies_ahead =
                    loader.reserve::<ReductionCounters>(AHEAD_AT_MOST + 1)?.into();
                let factor_pieces = housing.work.factor_pieces;
                binary.factor_pieces = factor_pieces as u32;
                let words = 2 * BODY_WORDS * factor_pieces;
                binary.factor_bodies = loader.repeat(&kernels.fill, words, UNSENT)?.into();
                binary.hub_of_eight = loader.load(&layout.hub_of_eight()?)?;
                binary.degrees = loader.load(&degrees)?;
                launch = loader.load_homes(&housing, &mut binary)?;
                rooms = [false, true].map(|damped| housing.room(shared as usize, damped));
                take_turns = housing.homes.take_turns;
                // Another one has that from which a launch begins.
                states = PASS_BUFFERS + 1;
            }
        }
        let known_start = base.len();
        let words = with_room(queue, &mut base, variables)?;
        binary.flood_words = (&words).into();
        binary.level_words = (&words).into();
        binary.known = (words.address() + 4 * known_start as u64).into();
        let messages = DeviceBuffer::new(queue.current, states * stride)?;
        // Runs by levels need no copy of them.
        let beliefs = if by_levels { variables } else { 2 * variables };
        (binary.messages, binary.stride) = ((&messages).into(), stride as u64);
        let takes_maxima =
            layout.maxima_have_constants && takes_other_factors(&graph, Inference::MaxProduct);
        let mut program = Self {
            by_levels,
            piece_ends,
            rooms,
            take_turns,
            images: None,
            home_orders: None,
            undamped: DeviceBuffer::new(queue.current, 0)?,
            has_undamped: false,
            results: DeviceBuffer::new(queue.current, 2 * variables)?,
            graph,
            layout,
            binary,
            kernels,
            launch,
            messages,
            words,
            base,
            known_start,
            places,
            offsets,
            evidence: SortedMap::default(),
            soft_count: 0,
            soft: None,
            changed: Vec::new(),
            patches: None,
            beliefs: DeviceBuffer::new(queue.current, beliefs)?,
            history: None,
            inputs: None,
            others: [None, None],
            takes_maxima,
            _constant: loader.kept,
        };
        program.fill(queue, &program.messages, EncodedMessage::ONE.0)?;
        program.choose_room(queue, false)?;
        program.require_others(queue, Inference::SumProduct)?;
        queue.synchronize()?;
        Ok(program)
    }

    /// Sets all entries of a buffer, of 64 bits each, to one with these bits.
    fn fill<T: Element>(
        &self, queue: Queue<'_>, buffer: &DeviceBuffer<T>, bits: u64,
    ) -> Result<()> {
        fill_buffer(queue, &self.kernels.fill, self.simple_launch().blocks, buffer, bits)
    }

    /// Decides what blocks have in shared memory in a run, damped or with an active set if messages depend on old ones, for which
    /// there is room.
    fn choose_room(&mut self, queue: Queue<'_>, depends_on_old: bool) -> Result<()> {
        let Some(room) = self.rooms[usize::from(depends_on_old)] else { return Ok(()) };
        self.launch.shared = room.bytes as u32;
        self.binary.home_words_inside = u32::from(room.with_words);
        self.binary.home_images = Address::NULL;
        if self.take_turns {
            self.binary.home_bytes = (IMAGE_ROOM + room.bytes) as u64;
            let homes = self.launch.blocks as usize * self.binary.home_turns as usize;
            let words = homes * (IMAGE_ROOM + room.bytes) / 8;
            let images = match self.images.take().filter(|images| images.len() >= words) {
                Some(images) => images,
                None => DeviceBuffer::new(queue.current, words)?,
            };
            self.binary.home_images = (&images).into();
            self.images = Some(images);
            if self.home_orders.is_none() {
                let orders = DeviceBuffer::new(queue.current, 2 * homes)?;
                let times = DeviceBuffer::zeroed(queue, 2 * homes)?;
                self.binary.home_orders = (&orders).into();
                self.binary.home_times = (&times).into();
                self.home_orders = Some([orders, times]);
            }
        }
        Ok(())
    }

    /// Prepares a run with a damping or an active set: what messages were before damping begins as these are in a fresh run, and
    /// after runs without.
    fn prepare_damping(&mut self, queue: Queue<'_>, request: &RunRequest) -> Result<()> {
        let depends_on_old = request.depends_on_old_messages();
        self.binary.damping = request.damping;
        self.binary.least_growth = request.least_growth();
        self.binary.mean_numerator = mean_numerator(request.damping);
        self.binary.undamped = Address::NULL;
        if !self.by_levels {
            self.choose_room(queue, depends_on_old)?;
        }
        if depends_on_old {
            self.require_undamped(queue)?;
            if request.start == Start::Fresh {
                self.fill(queue, &self.undamped, EncodedMessage::ONE.0)?;
            } else if !self.has_undamped || request.damping == 0.0 {
                self.undamped.copy_from(queue, &self.messages)?;
            }
            self.binary.undamped = (&self.undamped).into();
        }
        self.has_undamped = request.damping > 0.0;
        Ok(())
    }

    fn require_undamped(&mut self, queue: Queue<'_>) -> Result<()> {
        if self.undamped.len() == 0 {
            let states = if self.by_levels { LEVEL_STATES } else { PASS_BUFFERS };
            let length = states * self.binary.stride as usize;
            self.undamped = DeviceBuffer::new(queue.current, length)?;
            // By levels nothing is stored in the gaps between slots of edges.
            self.fill(queue, &self.undamped, EncodedMessage::ONE.0)?;
        }
        Ok(())
    }

    /// Makes what factors have that are no conjunctions, if there are any. Errors: see [`OtherFactorBuffers::new`].
    fn require_others(&mut self, queue: Queue<'_>, inference: Inference) -> Result<()> {
        if self.layout.other_factors.is_empty() {
            return Ok(());
        }
        let own = &mut self.others[usize::from(inference == Inference::MaxProduct)];
        if own.is_none() {
            let threads = if self.by_levels { LEVEL_THREADS } else { THREADS };
            let warps = self.launch.blocks as usize * threads as usize / WARP;
            let (graph, layout) = (&self.graph, &self.layout);
            *own = Some(OtherFactorBuffers::new(queue, graph, layout, inference, warps)?);
        }
        self.binary.others = own.as_ref().map_or_else(Default::default, |own| own.addresses());
        Ok(())
    }

    /// Whether there are factors that have warps of their own.
    fn has_own_warps(&self) -> bool {
        let has_large = self.binary.node_stride > 0 || self.binary.factor_pieces > 0;
        has_large || !self.layout.other_factors.is_empty()
    }

    /// Where the messages of a state begin.
    fn start_of(&self, buffer: u32) -> usize {
        buffer as usize * self.binary.stride as usize
    }

    /// The messages of a state, by edge, and such by slot.
    fn by_edge(
        &self, queue: Queue<'_>, states: &DeviceBuffer<u64>, buffer: u32,
    ) -> Result<Vec<EncodedMessage>> {
        let mut by_slot = filled(self.layout.slots, 0)?;
        states.download(queue, self.start_of(buffer), &mut by_slot)?;
        let slots = self.layout.slot_of_edge.iter();
        collected(slots.map(|&slot| EncodedMessage(by_slot[slot as usize])))
    }

    fn by_slot(&self, messages: &[EncodedMessage]) -> Result<Vec<u64>> {
        let mut by_slot = filled(self.layout.slots, EncodedMessage::ONE.0)?;
        for (&slot, message) in self.layout.slot_of_edge.iter().zip(messages) {
            by_slot[slot as usize] = message.0;
        }
        Ok(by_slot)
    }

    fn simple_launch(&self) -> Launch {
        Launch::new(self.launch.blocks.max(FILL_BLOCKS), THREADS)
    }

    /// Brings the evidence that has changed to the device.
    fn send_evidence(&mut self, queue: Queue<'_>) -> Result<()> {
        self.changed.sort_unstable();
        self.changed.dedup();
        let mut words = Vec::new();
        let mut soft = Vec::new();
        for &v in &self.changed {
            let known = self.evidence.get(v).copied();
            let v = v as usize;
            let position = self.layout.position[v];
            words.try_push((self.known_start as u32 + position, known.map_or(0, Known::word)))?;
            for &edge in self.graph.variable_edges(v) {
                let range = self.offsets[edge as usize]..self.offsets[edge as usize + 1];
                for &input in &self.places[range.start as usize..range.end as usize] {
                    let (place, reads_soft) = (input & !READS_SOFT, input & READS_SOFT != 0);
                    let word = self.base[place as usize];
                    if Source::is_none_in(word) && self.by_levels && self.graph.degree(v) > 1 {
                        // An input that is not needed.
                        continue;
                    }
                    words.try_push((
                        place,
                        match known {
                            Some(Known::State(false)) => Source::False.in_word(word),
                            Some(Known::State(true)) => Source::True.in_word(word),
                            Some(Known::Soft(_)) if !reads_soft => Source::with_soft_evidence(word),
                            _ => word,
                        },
                    ))?;
                }
            }
            if let Some(Known::Soft(EncodedMessage(bits))) = known {
                for place in self.layout.soft_places(position) {
                    soft.try_push((2 * place, bits as u32))?;
                    soft.try_push((2 * place + 1, (bits >> 32) as u32))?;
                }
            }
        }
        if !soft.is_empty() && self.soft.is_none() {
            let room = self.layout.soft_length();
            self.soft = Some(DeviceBuffer::new(queue.current, room)?);
        }
        let patches = &mut self.patches;
        send_patches(queue, &self.kernels.patch, *self.words.address(), &words, patches)?;
        if let Some(buffer) = &self.soft {
            send_patches(queue, &self.kernels.patch, *buffer.address(), &soft, patches)?;
        }
        self.binary.soft = match &self.soft {
            Some(buffer) if self.soft_count > 0 => buffer.into(),
            _ => ReadOnly::NULL,
        };
        self.changed.clear();
        Ok(())
    }

    /// Copies the slot of each edge, if the device does not have them.
    fn require_edge_slots(&mut self, queue: Queue<'_>) -> Result<()> {
        if self.binary.edge_slots == ReadOnly::NULL {
            let mut loader = Loader { queue, kept: Vec::new() };
            self.binary.edge_slots = loader.load(&self.layout.slot_of_edge)?;
            self._constant.try_extend(loader.kept)?;
        }
        Ok(())
    }

    /// Allocates what BINGO's rule measures with, if it is not there, and sets what rules measure with to
    /// what a fresh run compares with.
    fn prepare_measurement(&mut self, queue: Queue<'_>, request: &RunRequest) -> Result<()> {
        let variables = self.graph.variable_count();
        self.fill(queue, &self.beliefs, 0.5_f64.to_bits())?;
        self.binary.beliefs = (&self.beliefs).into();
        let StopRule::Bingo { history, max_iterations, .. } = request.rule else { return Ok(()) };
        let rows = history.min(max_iterations.saturating_add(1)).max(1);
        let length = usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(variables);
        self.binary.history_length = rows as u32;
        if self.history.as_ref().is_none_or(|history| history.len() < length) {
            self.history = None;
            self.history = Some(DeviceBuffer::new(queue.current, length)?);
        }
        self.binary.history = self.history.as_ref().map_or(Address::NULL, |history| history.into());
        self.require_edge_slots(queue)?;
        let inputs = match self.inputs.take() {
            Some(inputs) => inputs,
            None => {
                let mut loader = Loader { queue, kept: Vec::new() };
                let factors = 0..self.graph.factor_count();
                let start = |f| self.graph.factor_edges(f).start as u32;
                let mut offsets: Vec<u32> = room(factors.len() + 1)?;
                offsets.extend(factors.map(start));
                offsets.push(self.graph.edge_count() as u32);
                self.binary.factor_offsets = loader.load(&offsets)?;
                let long_factors = LongFactorBuffers::new(queue, &self.graph)?;
                self.binary.long_factors = long_factors.addresses();
                loader.kept.try_push(boxed(long_factors)?)?;
                self._constant.try_extend(loader.kept)?;
                let new = || DeviceBuffer::new(queue.current, self.layout.slots);
                [new()?, new()?]
            }
        };
        for buffer in &inputs {
            buffer.zero(queue)?;
        }
        self.binary.inputs = (&inputs[0]).into();
        self.binary.changes = (&inputs[1]).into();
        self.inputs = Some(inputs);
        Ok(())
    }
}

/// Sets all entries of a buffer, of 64 bits each, to one with these bits, by so many blocks.
fn fill_buffer<T: Element>(
    queue: Queue<'_>, kernel: &Kernel, blocks: u32, buffer: &DeviceBuffer<T>, bits: u64,
) -> Result<()> {
    const { assert!(size_of::<T>() == 8) };
    let count = buffer.len() as u64;
    let arguments = [Argument::buffer(buffer), Argument::value(&bits), Argument::value(&count)];
    // SAFETY: the kernel's arguments; it writes `count` values of this size.
    unsafe { kernel.launch(queue, Launch::new(blocks, THREADS), arguments) }
}

/// Sets words on the device from an address on: their places and values.
fn send_patches(
    queue: Queue<'_>, kernel: &Kernel, address: u64, words: &[(u32, u32)],
    patches: &mut Option<PinnedBuffer<u32>>,
) -> Result<()> {
    let count = words.len();
    if count == 0 {
        return Ok(());
    }
    if patches.as_ref().is_none_or(|patches| patches.len() < 2 * count) {
        let room = (2 * count).next_power_of_two();
        *patches = Some(PinnedBuffer::zeroed(queue.current, room)?);
    }
    let Some(patches) = patches else { return Ok(()) };
    for (i, &(place, value)) in words.iter().enumerate() {
        (patches[i], patches[count + i]) = (place, value);
    }
    let values_at = patches.address() + 4 * count as u64;
    let count = count as u32;
    let arguments = [
        Argument::value(&address),
        Argument::pinned(patches),
        Argument::value(&values_at),
        Argument::value(&count),
    ];
    let launch = Launch::new(count.div_ceil(THREADS).min(256), THREADS);
    // SAFETY: the kernel's arguments; the places are among the words; the stream has done this before the buffer changes.
    unsafe { kernel.launch(queue, launch, arguments)? };
    queue.synchronize()
}

/// The words on the device, with room for what is known about each variable, of which nothing is.
fn with_room(queue: Queue<'_>, base: &mut Vec<u32>, variables: usize) -> Result<DeviceBuffer<u32>> {
    let length = base.len();
    base.try_resize(length + variables, 0)?;
    let words = DeviceBuffer::from_slice(queue, base);
    base.truncate(length);
    words
}

impl Program for BinaryProgram {
    fn by_levels(&self) -> bool {
        self.by_levels
    }

    fn serves(&self, request: &RunRequest) -> bool {
        let depends_on_old = request.depends_on_old_messages();
        let is_excluded = matches!(request.rule, StopRule::AllBeliefs { .. });
        let has_room = self.by_levels || self.rooms[usize::from(depends_on_old)].is_some();
        let takes_others = self.takes_maxima || request.inference == Inference::SumProduct;
        !is_excluded && has_room && takes_others
    }

    fn set_evidence(&mut self, variable: usize, evidence: Option<&VariableEvidence>) -> Result<()> {
        let variable = variable as u32;
        self.changed.try_room(1)?;
        let before = self.evidence.get(variable).copied();
        let known = match evidence {
            None => None,
            Some(&VariableEvidence::Observed(state)) => Some(Known::State(state == 1)),
            Some(VariableEvidence::Likelihood(likelihood)) => {
                stored_message(likelihood)?.first().copied().map(Known::Soft)
            }
        };
        match known {
            None => drop(self.evidence.remove(variable)),
            Some(known) => self.evidence.insert(variable, known)?,
        }
        let is_soft = |known: Option<Known>| usize::from(matches!(known, Some(Known::Soft(_))));
        self.soft_count = self.soft_count + is_soft(known) - is_soft(before);
        if self.changed.last() != Some(&variable) {
            self.changed.push(variable);
        }
        Ok(())
    }

    fn begin(
        &mut self, queue: Queue<'_>, request: &RunRequest, buffer: u32, _: bool,
    ) -> Result<()> {
        self.prepare_measurement(queue, request)?;
        self.send_evidence(queue)?;
        self.prepare_damping(queue, request)?;
        self.require_others(queue, request.inference)?;
        self.binary.maxima = u32::from(request.inference == Inference::MaxProduct);
        let fresh = request.start == Start::Fresh;
        if self.by_levels {
            let (binary, fresh) = (Argument::value(&self.binary), u32::from(fresh));
            let arguments = [binary, Argument::value(&buffer), Argument::value(&fresh)];
            // SAFETY: the kernel's arguments; it writes to all states of the messages.
            unsafe { self.kernels.begin.launch(queue, self.simple_launch(), arguments)? };
            let mut first = 0;
            for end in &self.piece_ends {
                let (binary, buffer) = (Argument::value(&self.binary), Argument::value(&buffer));
                let arguments = [binary, buffer, Argument::value(&first), Argument::value(end)];
                // SAFETY: the kernel's arguments; it writes to products of the pieces that there are, and reads those of their
                // parts, which the launch before has made.
                unsafe {
                    self.kernels.begin_products.launch(queue, self.simple_launch(), arguments)?;
                }
                first = *end;
            }
        } else if fresh {
            self.fill(queue, &self.messages, EncodedMessage::ONE.0)?;
        }
        Ok(())
    }

    fn launch(&mut self, queue: Queue<'_>, iterations: &Loop) -> Result<()> {
        let binary = Argument::value(&self.binary);
        // SAFETY: the kernels' arguments; what they write is in this program's buffers and where the
        // loop says.
        unsafe {
            // That those who send measure a sample of the beliefs is an option as well, as are factors with warps of their own.
            let is_rough = !self.by_levels
                && iterations.rule.kind == RuleKind::Tolerance as u32
                && iterations.rule.flags & ROUGH != 0;
            let has_options = self.binary.maxima != 0
                || !self.binary.undamped.is_null()
                || self.soft_count > 0
                || self.has_own_warps()
                || is_rough;
            let floods = &self.kernels.floods[usize::from(has_options)];
            let kernel = match self.by_levels {
                true => &self.kernels.levels[usize::from(has_options)],
                false if self.has_own_warps() => &self.kernels.own_warps_flood,
                false => &floods[usize::from(!self.binary.home_images.is_null())],
            };
            kernel.launch(queue, self.launch, [binary, Argument::value(iterations)])
        }
    }

    fn results(
        &mut self, queue: Queue<'_>, buffer: u32, mean_after: Option<u64>, out: &mut [f64],
    ) -> Result<()> {
        let launch = self.simple_launch();
        let (binary, results) = (Argument::value(&self.binary), Argument::buffer(&self.results));
        // SAFETY: the kernels' arguments; they write two numbers for each variable.
        unsafe {
            match &mean_after {
                Some(iterations) => {
                    let arguments = [binary, Argument::value(iterations), results];
                    self.kernels.means.launch(queue, launch, arguments)?;
                }
                None => {
                    let arguments = [binary, Argument::value(&buffer), results];
                    self.kernels.results.launch(queue, launch, arguments)?;
                }
            }
        }
        self.results.download(queue, 0, out)
    }

    fn messages_by_slot(
        &mut self, queue: Queue<'_>, buffer: u32,
    ) -> Result<Option<MessagesBySlot>> {
        self.require_edge_slots(queue)?;
        let messages = self.messages.address() + 8 * self.start_of(buffer) as u64;
        Ok(Some(MessagesBySlot { messages: messages.into(), slots: self.binary.edge_slots }))
    }

    fn messages(&mut self, queue: Queue<'_>, buffer: u32) -> Result<Vec<EncodedMessage>> {
        self.by_edge(queue, &self.messages, buffer)
    }

    fn set_messages(
        &mut self, queue: Queue<'_>, buffer: u32, messages: &[EncodedMessage],
    ) -> Result<()> {
        self.has_undamped = false;
        let by_slot = self.by_slot(messages)?;
        self.messages.upload(queue, self.start_of(buffer), &by_slot)
    }

    fn undamped(&mut self, queue: Queue<'_>, buffer: u32) -> Result<Option<Vec<EncodedMessage>>> {
        if !self.has_undamped {
            return Ok(None);
        }
        self.by_edge(queue, &self.undamped, buffer).map(Some)
    }

    fn set_undamped(
        &mut self, queue: Queue<'_>, buffer: u32, messages: &[EncodedMessage],
    ) -> Result<()> {
        self.require_undamped(queue)?;
        let by_slot = self.by_slot(messages)?;
        self.undamped.upload(queue, self.start_of(buffer), &by_slot)?;
        self.has_undamped = true;
        Ok(())
    }
}
