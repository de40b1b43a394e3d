//! Messages, evidence and the graph as the CPU engine holds them.

use super::layout::Layout;
use super::marks::Marks;
use super::values::Values;
use crate::error::Result;
use crate::factor::Factor;
use crate::kernel::{
    EncodedMessage, HornCoefficients, Inference, OwnedTable, SMALL_DEGREE, TableValues, Threshold,
    damp, stored_message, stored_values,
};
use crate::memory::{self, NoMemory, collected, filled, fit, room};
use crate::model::{FactorGraph, VariableEvidence};
use crate::prefetch::prefetch_to_write;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// By so many edges, the place of what is made of an edge is prefetched before it is needed.
const AHEAD: usize = 16;

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
    /// Where each variable's slots are; `None` in the order of the graph, without gaps.
    layout: Option<Layout>,
    /// What was so before [`Self::arrange`], until [`Self::settle`].
    before: Option<Arrangement>,
    /// Messages from factors to variables, in variable-major order: the messages to one variable are contiguous.
    pub(super) to_variable: Values,
    /// Number of message values.
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
    /// How far a message has to move to be stored, if the current run drops smaller changes.
    pub(super) threshold: Option<Threshold>,
    /// Whether the current run has an active set, so that messages that are computed by nodes are counted.
    pub(super) counts_computed: bool,
    /// The messages to the variables last computed, by slot, where `to_variable` may hold others:
    /// damped ones, or ones that wait to be sent. Empty without such.
    pub(super) newest: Values,
    /// Variables that have received a new deterministic message since the engine last cleared the set.
    pub(super) newly_certain: Marks,
}

/// What [`State::arrange`] replaces.
struct Arrangement {
    layout: Option<Layout>,
    links: Vec<Link>,
    to_variable: Values,
    newest: Values,
}

/// A factor as a table.
pub(super) struct Expanded {
    pub(super) values: OwnedTable,
    pub(super) exponents: (i64, i64),
}

/// Where an edge's variable keeps its messages: all that a message from it needs, side by side.
#[derive(Clone, Copy)]
pub(super) struct Link {
    /// Position of the edge among its variable's edges, all variables concatenated, maybe with gaps.
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
            layout: None,
            before: None,
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
            threshold: None,
            counts_computed: false,
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
        let (edges, mut from) = (self.graph.all_variable_edges(), 0);
        for v in 0..self.graph.variable_count() {
            let slots = self.slots(v);
            let first = slots.start as u32;
            let high_degree = slots.len() > SMALL_DEGREE;
            let degree = if high_degree { 0 } else { slots.len() as u8 };
            let source = Source::of(self, v);
            for (slot, &edge) in slots.clone().zip(self.graph.variable_edges(v)) {
                let slot = slot as u32;
                if let Some(&edge) = edges.get(from + AHEAD) {
                    prefetch_to_write(&links, edge as usize);
                }
                from += 1;
                let place = match slots.len() {
                    // Behind the last message stands a neutral one.
                    1 => self.slots_end() as u32,
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

    /// Where the slots of each variable start.
    #[inline(always)]
    pub(super) fn first_slots(&self) -> &[u32] {
        match &self.layout {
            None => self.graph.variable_offsets(),
            Some(layout) => layout.first(),
        }
    }

    /// The slots of a variable.
    #[inline(always)]
    pub(super) fn slots(&self, variable: usize) -> Range<usize> {
        match &self.layout {
            None => self.graph.variable_slots(variable),
            Some(layout) => {
                let first = layout.first()[variable] as usize;
                first..first + self.graph.degree(variable)
            }
        }
    }

    /// Whether slots are not those of the graph.
    #[inline(always)]
    pub(super) fn has_layout(&self) -> bool {
        self.layout.is_some()
    }

    /// Number of values in `to_variable` up to the neutral one.
    fn slots_end(&self) -> usize {
        self.layout.as_ref().map_or(self.value_count, Layout::end)
    }

    /// Number of slots, with the gaps between them.
    pub(super) fn slot_count(&self) -> usize {
        self.layout.as_ref().map_or(self.graph.edge_count(), Layout::end)
    }

    /// Moves the messages to where a layout has them, of binary variables only, until [`Self::settle`] or
    /// [`Self::take_back`]. If this fails, nothing has changed.
    pub(super) fn arrange(&mut self, mut layout: Option<Layout>) -> Result<()> {
        if layout.is_none() && self.layout.is_none() {
            return Ok(());
        }
        let length = match &layout {
            None => self.value_count + PADDING,
            Some(layout) => layout.end() + PADDING + PADDING,
        };
        let to_variable = Values::new(length, EncodedMessage::ONE)?;
        if let Some(layout) = &mut layout {
            layout.move_by(to_variable.to_line());
        }
        let newest = if self.newest.len() == 0 {
            Values::NONE
        } else {
            Values::new(length, EncodedMessage::ONE)?
        };
        let layout = std::mem::replace(&mut self.layout, layout);
        let links = match self.link() {
            Ok(links) => links,
            Err(error) => {
                self.layout = layout;
                return Err(error);
            }
        };
        for (old, new) in self.links.iter().zip(&links) {
            let (old, new) = (old.slot as usize, new.slot as usize);
            to_variable.set(new, self.to_variable.get(old));
            if newest.len() > 0 {
                newest.set(new, self.newest.get(old));
            }
        }
        let before = Arrangement {
            layout,
            links: std::mem::replace(&mut self.links, links),
            to_variable: std::mem::replace(&mut self.to_variable, to_variable),
            newest: std::mem::replace(&mut self.newest, newest),
        };
        self.before.get_or_insert(before);
        Ok(())
    }

    /// Whether [`Self::arrange`] has moved messages since [`Self::settle`].
    pub(super) fn is_rearranged(&self) -> bool {
        self.before.is_some()
    }

    /// Keeps what [`Self::arrange`] has done.
    pub(super) fn settle(&mut self) {
        self.before = None;
    }

    /// Undoes what [`Self::arrange`] has done.
    pub(super) fn take_back(&mut self) {
        if let Some(Arrangement { layout, links, to_variable, newest }) = self.before.take() {
            self.layout = layout;
            self.links = links;
            self.to_variable = to_variable;
            self.newest = newest;
        }
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

    /// Whether the run drops a computed message of a binary variable, since it has not moved by more than the threshold.
    #[inline(always)]
    pub(super) fn drops(&self, index: usize, odds: EncodedMessage) -> bool {
        let old = || self.to_variable.get(index);
        self.threshold.is_some_and(|threshold| !threshold.is_exceeded_by_odds(old(), odds))
    }

    /// [`Self::drops`] for a message of any variable.
    #[inline(always)]
    pub(super) fn drops_message(&self, slot: usize, message: &[EncodedMessage]) -> bool {
        self.threshold.is_some_and(|threshold| {
            let values = self.slot_values(slot);
            match *message {
                [odds] => !threshold.is_exceeded_by_odds(self.to_variable.get(values.start), odds),
                _ => !threshold.is_exceeded(self.to_variable.slice(values), message),
            }
        })
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
