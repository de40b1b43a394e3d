//! Messages, evidence and the graph as the CPU engine holds them.

use super::marks::Marks;
use crate::error::Result;
use crate::factor::Factor;
use crate::kernel::{
    EncodedMessage, HornCoefficients, Inference, OwnedTable, SMALL_DEGREE, TableValues, damp,
    stored_message, stored_values,
};
use crate::memory::{self, NoMemory, collected, filled, fit, room};
use crate::model::{FactorGraph, VariableEvidence};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Values that several threads read and write. Barriers order all accesses to one value; relaxed atomics make
/// that safe Rust, at no cost.
pub(super) struct Values(Vec<AtomicU64>);

impl Values {
    pub(super) const NONE: Self = Self(Vec::new());

    pub(super) fn new(length: usize, value: EncodedMessage) -> Result<Self> {
        Ok(Self(collected((0..length).map(|_| AtomicU64::new(value.0)))?))
    }

    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> EncodedMessage {
        EncodedMessage(self.0[index].load(Relaxed))
    }

    #[inline(always)]
    pub(super) fn set(&self, index: usize, value: EncodedMessage) {
        self.0[index].store(value.0, Relaxed);
    }

    /// Stores a value; returns whether it differs from the one that it replaces. (It is stored in any case: a branch would be
    /// hard to predict.)
    #[inline(always)]
    pub(super) fn replace(&self, index: usize, value: EncodedMessage) -> bool {
        self.view().replace(index, value)
    }

    /// See [`View::array`].
    #[inline(always)]
    pub(super) fn array<const N: usize>(&self, start: usize) -> [EncodedMessage; N] {
        self.view().array(start)
    }

    /// See [`View::padded`].
    #[inline(always)]
    pub(super) fn padded<const N: usize>(&self, start: usize, count: usize) -> [EncodedMessage; N] {
        self.view().padded(start, count)
    }

    /// The values by themselves, for loops: where the list is has not to be read again after each write.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_> {
        View(&self.0)
    }

    /// Prefetches the cache line of a value.
    #[inline(always)]
    pub(super) fn prefetch(&self, index: usize) {
        prefetch(&self.0, index);
    }

    #[inline(always)]
    pub(super) fn slice(
        &self, range: Range<usize>,
    ) -> impl ExactSizeIterator<Item = EncodedMessage> + '_ {
        self.0[range].iter().map(|value| EncodedMessage(value.load(Relaxed)))
    }

    /// Reads an entry as a `f64`; see [`Self::numbers`].
    #[inline(always)]
    pub(super) fn number(&self, index: usize) -> f64 {
        f64::from_bits(self.0[index].load(Relaxed))
    }

    #[inline(always)]
    pub(super) fn set_number(&self, index: usize, value: f64) {
        self.0[index].store(value.to_bits(), Relaxed);
    }

    /// Values that hold `f64` numbers instead of messages.
    pub(super) fn numbers(length: usize, value: f64) -> Result<Self> {
        Self::new(length, EncodedMessage(value.to_bits()))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Replaces all values by those of a list of the same length.
    pub(super) fn copy_from(&self, other: &Self) {
        self.copy_range_from(other, 0..self.0.len());
    }

    /// Replaces some values by those of a list of the same length.
    pub(super) fn copy_range_from(&self, other: &Self, range: Range<usize>) {
        for (value, other) in self.0[range.clone()].iter().zip(&other.0[range]) {
            value.store(other.load(Relaxed), Relaxed);
        }
    }
}

/// See [`Values::view`].
#[derive(Clone, Copy)]
pub(super) struct View<'a>(&'a [AtomicU64]);

impl<'a> View<'a> {
    #[inline(always)]
    pub(super) fn get(self, index: usize) -> EncodedMessage {
        EncodedMessage(self.0[index].load(Relaxed))
    }

    #[inline(always)]
    pub(super) fn set(self, index: usize, value: EncodedMessage) {
        self.0[index].store(value.0, Relaxed);
    }

    /// The `N` values from `start` on.
    #[inline(always)]
    pub(super) fn array<const N: usize>(self, start: usize) -> [EncodedMessage; N] {
        let stored = &self.0[start..start + N];
        let mut values = [EncodedMessage::ONE; N];
        for (value, stored) in values.iter_mut().zip(stored) {
            *value = EncodedMessage(stored.load(Relaxed));
        }
        values
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    /// A value.
    ///
    /// # Safety
    ///
    /// The index is less than [`Self::len`].
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) unsafe fn at(self, index: usize) -> &'a AtomicU64 {
        // SAFETY: as the caller says.
        unsafe { self.0.get_unchecked(index) }
    }

    /// Where `N` values from `start` on are.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn place<const N: usize>(self, start: usize) -> *const f64 {
        self.0[start..start + N].as_ptr().cast()
    }

    /// See [`Values::replace`].
    #[inline(always)]
    pub(super) fn replace(self, index: usize, value: EncodedMessage) -> bool {
        let stored = &self.0[index];
        let differs = stored.load(Relaxed) != value.0;
        stored.store(value.0, Relaxed);
        differs
    }

    /// As [`Self::replace`] where a value `is_wanted`; else nothing but `unwanted` changes. (There is no branch, which would be
    /// hard to predict.)
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn replace_if(
        self, is_wanted: bool, index: usize, value: EncodedMessage, unwanted: &AtomicU64,
    ) -> bool {
        let stored = &self.0[index];
        let stored = if is_wanted { stored } else { unwanted };
        let differs = stored.load(Relaxed) != value.0;
        stored.store(value.0, Relaxed);
        differs & is_wanted
    }

    /// The values at `start..start + count`, then ones; there are always `N` values from `start` on.
    #[inline(always)]
    pub(super) fn padded<const N: usize>(self, start: usize, count: usize) -> [EncodedMessage; N] {
        let stored = &self.0[start..start + N];
        let mut values = [EncodedMessage::ONE; N];
        for (index, value) in values.iter_mut().enumerate() {
            let word = stored[index].load(Relaxed);
            // A conditional move, not a branch: degrees are hard to predict.
            *value = EncodedMessage(if index < count { word } else { EncodedMessage::ONE.0 });
        }
        values
    }

    /// Prefetches the cache line of a value.
    #[inline(always)]
    pub(super) fn prefetch(self, index: usize) {
        prefetch(self.0, index);
    }
}

/// Prefetches the cache line of an item.
#[inline(always)]
pub(super) fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of a valid reference changes nothing that can be seen.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}

/// Padding after the last message, so that a few values can be read from any index on.
const PADDING: usize = 8;

/// The evidence of a variable, in the form that the message updates branch on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// Nothing.
    Nothing,
    /// A binary variable observed in state 0.
    False,
    /// A binary variable observed in state 1.
    True,
    /// Another variable observed in a state: [`State::weights`] is its one-hot message.
    State,
    /// Soft evidence: [`State::weights`] is one more message to the variable.
    Weights,
}

impl Known {
    /// Whether the variable is observed in a state.
    #[inline(always)]
    pub(super) fn is_observed(self) -> bool {
        matches!(self, Self::False | Self::True | Self::State)
    }
}

/// The data of the engine: the graph, the messages and the evidence; everything but the plan of an iteration.
pub(super) struct State {
    pub(super) graph: Arc<FactorGraph>,
    pub(super) links: Vec<Link>,
    /// Where each slot's and each edge's values start; `None` if all variables are binary, when
    /// every message is one value.
    starts: Option<Starts>,
    /// Messages from factors to variables, in variable-major order: the messages to one variable are contiguous.
    pub(super) to_variable: Values,
    /// Number of stored message values.
    pub(super) value_count: usize,
    /// One message per edge: variable-to-factor messages in a synchronous iteration and when changes are
    /// measured, pending factor-to-variable messages in others. Made when first needed.
    pub(super) by_edge: Values,
    pub(super) known: Vec<Known>,
    /// Evidence that is more than an observed binary variable: a stored message per variable.
    weights: HashMap<u32, Vec<EncodedMessage>>,
    coefficients: Vec<HornCoefficients>,
    /// Per factor, exponents of the smallest and the largest positive value, if it is a table; empty without tables.
    table_exponents: Vec<(i16, i16)>,
    /// Sums or maxima, in the current run.
    pub(super) inference: Inference,
    /// Factors of other kinds as tables, where sums, or maxima if there was such a run, need them.
    pub(super) expanded: HashMap<u32, Expanded>,
    /// Damping of the current run; 0 for none.
    pub(super) damping: f64,
    /// The messages to the variables last computed, by slot, where `to_variable` may hold others:
    /// damped ones, or ones that wait to be sent. Empty without such.
    pub(super) newest: Values,
    /// Variables that have received a new deterministic message since the engine last cleared the set.
    pub(super) newly_certain: Marks,
}

/// A factor as a table.
pub(super) struct Expanded {
    pub(super) values: OwnedTable,
    pub(super) exponents: (i64, i64),
}

/// Where an edge's variable keeps its messages: all that a message from it needs, side by side.
#[derive(Clone, Copy)]
pub(super) struct Link {
    /// Position of the edge among its variable's edges, all variables concatenated.
    pub(super) slot: u32,
    /// The slot of the variable's first edge; of its other edge, if it has one or two; the variable's
    /// number among the high-degree variables, if it is one.
    pub(super) place: u32,
    /// The variable's degree, if it is at most [`SMALL_DEGREE`].
    pub(super) degree: u8,
    /// Where the variable's message to the factor comes from.
    pub(super) source: Source,
    /// Whether the variable's products are stored.
    pub(super) high_degree: bool,
}

/// Where a variable's messages to its factors come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A binary variable's only other message; without one, a stored neutral message.
    Partner,
    /// At most four messages of a binary variable.
    Four,
    /// At most eight.
    Eight,
    /// Stored products.
    HighDegree,
    /// Evidence, or more than two states.
    Other,
}

impl Source {
    fn of(state: &State, variable: usize) -> Self {
        let degree = state.graph.degree(variable);
        if state.known[variable] != Known::Nothing || !state.graph.all_binary() {
            Source::Other
        } else if degree <= 2 {
            Source::Partner
        } else if degree <= 4 {
            Source::Four
        } else if degree <= SMALL_DEGREE {
            Source::Eight
        } else {
            Source::HighDegree
        }
    }
}

struct Starts {
    slots: Vec<u32>,
    edges: Vec<u32>,
}

impl State {
    pub(super) fn new(graph: Arc<FactorGraph>) -> Result<Self> {
        let values_of = |v: u32| stored_values(graph.cardinalities()[v as usize]) as u32;
        let running = |sizes: &mut dyn Iterator<Item = u32>| -> Result<Vec<u32>> {
            let mut starts = room(graph.edge_count() + 1)?;
            starts.push(0);
            let mut next = 0_u32;
            for size in sizes {
                next = next.saturating_add(size);
                starts.push(next);
            }
            Ok(starts)
        };
        let starts = if graph.all_binary() {
            None
        } else {
            let variables = graph.edge_variables();
            let slots = graph.all_variable_edges().iter();
            Some(Starts {
                slots: running(&mut slots.map(|&edge| values_of(variables[edge as usize])))?,
                edges: running(&mut variables.iter().map(|&v| values_of(v)))?,
            })
        };
        let length = starts
            .as_ref()
            .map_or(graph.edge_count(), |starts| starts.slots[graph.edge_count()] as usize);
        let table_exponents = table_exponents(&graph)?;
        let coefficients = graph.coefficients()?;
        let mut state = Self {
            links: Vec::new(),
            starts,
            to_variable: Values::new(length + PADDING, EncodedMessage::ONE)?,
            value_count: length,
            by_edge: Values::NONE,
            known: filled(graph.variable_count(), Known::Nothing)?,
            weights: HashMap::new(),
            coefficients,
            table_exponents,
            inference: Inference::SumProduct,
            expanded: HashMap::new(),
            damping: 0.0,
            newest: Values::NONE,
            newly_certain: Marks::new(graph.variable_count())?,
            graph,
        };
        state.links = state.link()?;
        Ok(state)
    }

    fn link(&self) -> Result<Vec<Link>> {
        let empty =
            Link { slot: 0, place: 0, degree: 0, source: Source::Other, high_degree: false };
        let mut links = filled(self.graph.edge_count(), empty)?;
        let mut high_degree_variables = 0;
        for v in 0..self.graph.variable_count() {
            let slots = self.graph.variable_slots(v);
            let first = slots.start as u32;
            let high_degree = slots.len() > SMALL_DEGREE;
            let degree = if high_degree { 0 } else { slots.len() as u8 };
            let source = Source::of(self, v);
            for (slot, &edge) in slots.clone().zip(self.graph.variable_edges(v)) {
                let slot = slot as u32;
                let place = match slots.len() {
                    // Behind the last message stands a neutral one.
                    1 => self.value_count as u32,
                    2 if slot == first => first + 1,
                    _ if high_degree => high_degree_variables,
                    _ => first,
                };
                links[edge as usize] = Link { slot, place, degree, source, high_degree };
            }
            high_degree_variables += u32::from(high_degree);
        }
        Ok(links)
    }

    /// Makes `by_edge` if it is not there yet.
    pub(super) fn require_by_edge(&mut self) -> Result<()> {
        if self.by_edge.len() == 0 {
            self.by_edge = Values::new(self.value_count, EncodedMessage::ONE)?;
        }
        Ok(())
    }

    /// Where a slot's values lie in `to_variable`.
    #[inline(always)]
    pub(super) fn slot_values(&self, slot: usize) -> Range<usize> {
        match &self.starts {
            None => slot..slot + 1,
            Some(starts) => starts.slots[slot] as usize..starts.slots[slot + 1] as usize,
        }
    }

    /// Where an edge's values lie in `by_edge`.
    #[inline(always)]
    pub(super) fn edge_values(&self, edge: usize) -> Range<usize> {
        match &self.starts {
            None => edge..edge + 1,
            Some(starts) => starts.edges[edge] as usize..starts.edges[edge + 1] as usize,
        }
    }

    /// Position of the head and coefficients of a factor that is a conjunction of literals.
    #[inline(always)]
    pub(super) fn conjunction(&self, factor: usize) -> Option<(usize, &HornCoefficients)> {
        let parameter = self.graph.conjunction_parameter(factor)?;
        Some((self.graph.head_position(factor)?, &self.coefficients[parameter]))
    }

    /// The coefficients with a number, as [`FactorGraph::conjunction_parameter`] gives it.
    #[inline(always)]
    pub(super) fn coefficients(&self, number: usize) -> &HornCoefficients {
        &self.coefficients[number]
    }

    /// All coefficients, by number.
    #[inline(always)]
    pub(super) fn all_coefficients(&self) -> &[HornCoefficients] {
        &self.coefficients
    }

    /// Whether messages are sums and are stored without damping, as the fast paths assume.
    #[inline(always)]
    pub(super) fn is_plain_run(&self) -> bool {
        self.inference == Inference::SumProduct && self.newest.len() == 0
    }

    /// Where the beliefs of variables come from.
    #[inline(always)]
    pub(super) fn newest(&self) -> &Values {
        if self.newest.len() == 0 { &self.to_variable } else { &self.newest }
    }

    /// Makes `newest` a copy of the messages, or, where it is not wanted, empty. One that is there
    /// stays as it is.
    pub(super) fn keep_newest(&mut self, wanted: bool) -> Result<()> {
        if !wanted {
            self.newest = Values::NONE;
        } else if self.newest.len() == 0 {
            self.newest = Values::new(self.to_variable.len(), EncodedMessage::ONE)?;
            self.restart_newest();
        }
        Ok(())
    }

    /// Copies the messages to `newest`, after they were replaced.
    pub(super) fn restart_newest(&self) {
        self.newest.copy_from(&self.to_variable);
    }

    /// Stores a message as it was computed in `newest`, if there is one.
    #[inline(always)]
    pub(super) fn keep_computed(&self, slot: usize, message: &[EncodedMessage]) {
        if self.newest.len() > 0 {
            for (index, &value) in self.slot_values(slot).zip(message) {
                self.newest.set(index, value);
            }
        }
    }

    /// Damps a computed message. If the damped message is 0/0, it becomes uniform, and the return value is `true`.
    /// `old` is scratch memory with room for a message.
    #[cold]
    #[inline(never)]
    pub(super) fn damp(
        &self, slot: usize, message: &mut [EncodedMessage], old: &mut Vec<EncodedMessage>,
    ) -> bool {
        old.clear();
        old.extend(self.to_variable.slice(self.slot_values(slot)));
        let consistent = damp(old, message, self.damping);
        if !consistent {
            message.fill(EncodedMessage::ONE);
        }
        !consistent
    }

    /// Stores a message in `by_edge`, until all messages of its batch are computed.
    #[inline(always)]
    pub(super) fn hold(&self, edge: usize, message: &[EncodedMessage]) {
        for (index, &value) in self.edge_values(edge).zip(message) {
            self.by_edge.set(index, value);
        }
    }

    /// As [`Self::hold`]; returns whether the message differs from the one that it replaces.
    #[inline(always)]
    pub(super) fn replace_held(&self, edge: usize, message: &[EncodedMessage]) -> bool {
        let values = self.edge_values(edge).zip(message);
        values.fold(false, |differs, (index, &value)| self.by_edge.replace(index, value) | differs)
    }

    /// Reads a message that [`Self::hold`] has stored.
    #[inline(always)]
    pub(super) fn take_held(
        &self, edge: usize, message: &mut Vec<EncodedMessage>,
    ) -> Result<(), NoMemory> {
        let values = self.edge_values(edge);
        message.clear();
        fit(message, values.len())?;
        message.extend(self.by_edge.slice(values));
        Ok(())
    }

    #[inline(always)]
    pub(super) fn is_binary(&self, variable: usize) -> bool {
        self.starts.is_none() || self.graph.cardinalities()[variable] == 2
    }

    /// The table that a factor is, or runs as in the current run, with the smallest and largest exponent of
    /// its positive entries.
    pub(super) fn table<'a>(
        &'a self, factor: usize, view: &Factor<'a>,
    ) -> Option<(TableValues<'a>, (i64, i64))> {
        if let Some(values) = view.as_table() {
            let (low, high) = self.table_exponents.get(factor).copied().unwrap_or((0, 0));
            return Some((TableValues::F64(values), (low.into(), high.into())));
        }
        let needed =
            view.needs_table(self.inference).then(|| self.expanded.get(&(factor as u32)))?;
        needed.map(|expanded| (expanded.values.as_values(), expanded.exponents))
    }

    /// Errors: no memory; nothing has changed then.
    pub(super) fn set_evidence(
        &mut self, variable: usize, evidence: Option<&VariableEvidence>,
    ) -> Result<()> {
        let radix = self.graph.cardinalities()[variable];
        let (known, weights) = match evidence {
            None => (Known::Nothing, None),
            Some(VariableEvidence::Observed(0)) if radix == 2 => (Known::False, None),
            Some(VariableEvidence::Observed(_)) if radix == 2 => (Known::True, None),
            Some(VariableEvidence::Observed(state)) => {
                let one_hot =
                    |x| if x == *state { EncodedMessage::ONE } else { EncodedMessage::ZERO };
                (Known::State, Some(collected((0..radix).map(one_hot))?))
            }
            Some(VariableEvidence::Likelihood(likelihood)) => {
                (Known::Weights, Some(stored_message(likelihood)?))
            }
        };
        match weights {
            Some(weights) => {
                memory::insert(&mut self.weights, variable as u32, weights)?;
            }
            None => {
                self.weights.remove(&(variable as u32));
            }
        }
        self.known[variable] = known;
        let source = Source::of(self, variable);
        for &edge in self.graph.variable_edges(variable) {
            self.links[edge as usize].source = source;
        }
        Ok(())
    }

    /// The stored message of evidence kept as [`Known::Weights`].
    pub(super) fn weights(&self, variable: usize) -> &[EncodedMessage] {
        self.weights.get(&(variable as u32)).map_or(&[], |weights| weights)
    }
}

/// See [`State::table_exponents`].
fn table_exponents(graph: &FactorGraph) -> Result<Vec<(i16, i16)>> {
    let mut all = Vec::new();
    for factor in graph.other_factors() {
        if let Some(values) = graph.factor(factor).as_table() {
            if all.is_empty() {
                all = filled(graph.factor_count(), (0, 0))?;
            }
            // Those of a table of zeros are beyond the range, too.
            let (low, high) = TableValues::F64(values).exponents();
            let stored = |exponent: i64| exponent.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
            all[factor] = (stored(low), stored(high));
        }
    }
    Ok(all)
}

/// The contradictions that one worker has found, or all in one iteration: their number and the lowest variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contradictions {
    pub(super) count: u64,
    pub(super) lowest: Option<usize>,
}

impl Contradictions {
    #[cold]
    pub(super) fn add(&mut self, variable: usize) {
        self.count += 1;
        self.lowest = Some(self.lowest.map_or(variable, |lowest| lowest.min(variable)));
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.lowest = match (self.lowest, other.lowest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}
