//! The active set by marks, on one thread: a message is computed again only if one that it reads has moved since.
//!
//! A computed message is stored only if it differs from the stored one by more than the threshold. So the
//! inputs of a message that is skipped have not changed since it was last computed, and computing it again
//! would give the same bits. Only what was 0/0, or read what was, is computed again without cause, so that each iteration counts it.

use super::batches::{Batches, Task, Tasks, by_factor};
use super::factor::is_constant;
use super::high_arity::HighArityFactors;
use super::pending::Pending;
use super::serial::Serial;
use super::state::{Link, State};
use super::store::{note_deterministic, store_moved};
use super::trees::{Cursors, HighDegreeVariables, Trees};
use super::tuning::Tuning;
use super::workspace::Workspace;
use crate::error::Result;
use crate::kernel::{EncodedMessage, Threshold, small_horn_messages};
use crate::memory::room;
use crate::schedule::{Schedule, random_order};

/// Which messages are to be computed, and what that takes.
pub(super) struct Marked {
    threshold: Threshold,
    order: Order,
    trees: Trees,
    cursors: Cursors,
    pending: Pending,
    /// Work list: the edges of a class whose messages are computed. It has room for all edges.
    selected: Vec<u32>,
    /// Whether factors with one variable send in the next iteration: in the first one, in which every message is computed, and
    /// if one of their messages is 0/0.
    sends_constants: bool,
}

enum Order {
    Classes(Batches),
    Random { seed: u64, order: Vec<u32> },
}

impl Marked {
    /// All messages are to be computed. Errors: no memory.
    pub(super) fn new(
        state: &State, schedule: &Schedule, threshold: Threshold, tuning: &Tuning,
    ) -> Result<Self> {
        let edges = state.graph.edge_count();
        let order = match *schedule {
            Schedule::SequentialRandom { seed } => Order::Random { seed, order: room(edges)? },
            _ => {
                let preorder = schedule.preorder(&state.graph, 0)?;
                let mut classes = Batches::of_classes(state, &preorder)?;
                classes.prepare_serial(state, Tasks::OfFactors)?;
                Order::Classes(classes)
            }
        };
        let trees = Trees::new(state)?;
        let cursors = Cursors::new(&trees)?;
        Ok(Self {
            threshold,
            order,
            trees,
            cursors,
            pending: Pending::new(state, tuning.marking_degree)?,
            selected: room(edges)?,
            sends_constants: true,
        })
    }

    /// Has every message computed once, after somebody else has changed them.
    pub(super) fn begin(&mut self, state: &State) {
        self.trees.rebuild_all(state);
        self.cursors.reset();
        self.pending.mark_all();
        self.sends_constants = true;
    }

    /// Runs one iteration, and returns the number of messages that were not computed. `iteration` is its number since the messages
    /// were uniform; `constants_sent` says whether those of factors with one variable are stored, as they are computed.
    pub(super) fn run(
        &mut self, state: &State, iteration: u64, constants_sent: bool, workspace: &mut Workspace,
    ) -> Result<u64> {
        let Self { threshold, order, trees, cursors, pending, selected, sends_constants } = self;
        let high_degree_variables = HighDegreeVariables { trees, cursors: Some(cursors) };
        // Trees of high-arity factors would have to learn of every message.
        let high_arity = &mut HighArityFactors::default();
        let serial = Serial { state, high_degree_variables, high_arity, constants_sent, workspace };
        let send_constants = std::mem::replace(sends_constants, false);
        let mut pass = Pass { serial, threshold, pending, selected, sends_constants, spared: 0 };
        match order {
            Order::Classes(classes) if send_constants || !state.is_plain_run() => {
                for index in 0..classes.count() {
                    pass.run_class(classes.batch(index));
                }
            }
            Order::Classes(classes) => pass.run_tasks(classes),
            Order::Random { seed, order } => {
                random_order(state.graph.edge_count(), *seed, iteration, order)?;
                for edge in &*order {
                    pass.run_class(std::slice::from_ref(edge));
                }
            }
        }
        Ok(pass.spared)
    }
}

/// An iteration.
struct Pass<'a> {
    serial: Serial<'a>,
    threshold: &'a Threshold,
    pending: &'a mut Pending,
    selected: &'a mut Vec<u32>,
    sends_constants: &'a mut bool,
    /// Number of messages that were not computed.
    spared: u64,
}

impl Pass<'_> {
    /// Runs all classes where factors with one variable do not send: they have no task, and their messages stay.
    fn run_tasks(&mut self, classes: &Batches) {
        let tasks = classes.tasks();
        self.spared += (classes.count() - tasks.len()) as u64;
        for task in tasks {
            match task.arity {
                2 => self.run_task::<2>(task),
                3 => self.run_task::<3>(task),
                4 => self.run_task::<4>(task),
                5 => self.run_task::<5>(task),
                6 => self.run_task::<6>(task),
                7 => self.run_task::<7>(task),
                8 => self.run_task::<8>(task),
                _ => self.run_class(classes.batch(task.first as usize)),
            }
        }
    }

    /// Runs the class of a binary conjunction of `N` variables all of whose edges are in it.
    #[inline(always)]
    fn run_task<const N: usize>(&mut self, task: &Task) {
        let state = self.serial.state;
        let first = task.first as usize;
        let marks = self.pending.take_few::<N>(state, first);
        let count = marks.count();
        self.spared += (N - count) as u64;
        if count > 0
            && let Some(links) = state.links[first..].first_chunk::<N>()
        {
            let before = self.serial.workspace.set_contradictions_aside();
            // See `Serial::run_small_factor`.
            let unneeded = if count == 1 { marks.first() } else { N };
            let inputs = self.serial.inputs(first, links, unneeded);
            let c = state.coefficients(task.coefficients as usize);
            let outputs = small_horn_messages(&inputs, task.head as usize, c);
            for (position, &output) in outputs.iter().enumerate() {
                if marks.has(position) {
                    self.publish_odds(first + position, links[position], output);
                }
            }
            if self.serial.workspace.has_found_more_than(before) {
                let sent = (0..N).filter(|&position| marks.has(position));
                sent.for_each(|position| self.pending.keep(first + position));
            }
        }
        self.pending.next_class();
    }

    /// Stores a computed message of a binary variable if it has moved.
    #[inline(always)]
    fn publish_odds(&mut self, edge: usize, link: Link, output: EncodedMessage) {
        let state = self.serial.state;
        let slot = link.slot as usize;
        let mut odds = output;
        if odds.may_be_deterministic() {
            odds = self.serial.checked(odds, edge);
        }
        if self.threshold.is_exceeded_by_odds(state.to_variable.get(slot), odds) {
            if odds.may_be_deterministic() {
                note_deterministic(state, edge, slot, odds);
            }
            state.to_variable.set(slot, odds);
            if link.high_degree {
                self.serial.high_degree_variables.changed(state, edge);
            }
            self.pending.changed(state, edge, link);
        }
    }

    /// Runs a class: computes all its active messages before it stores any.
    fn run_class(&mut self, class: &[u32]) {
        let Self { serial, threshold, pending, selected, sends_constants, spared } = self;
        let state = serial.state;
        let factors = state.graph.edge_factors();
        selected.clear();
        if factors[class[0] as usize] == factors[class[class.len() - 1] as usize] {
            // A factor's messages do not read each other, so each may be stored at once.
            pending.take(state, class, selected);
            if !selected.is_empty() {
                let before = serial.workspace.set_contradictions_aside();
                serial.run_factor(selected, |serial, edge, message| {
                    publish(serial, threshold, pending, edge, message);
                });
                if serial.workspace.has_found_more_than(before) {
                    keep(state, threshold, pending, selected, sends_constants);
                }
            }
        } else {
            for group in by_factor(state, class) {
                let first = selected.len();
                pending.take(state, group, selected);
                let selected = &selected[first..];
                if !selected.is_empty() {
                    let before = serial.workspace.set_contradictions_aside();
                    serial.run_factor(selected, |_, edge, message| state.hold(edge, message));
                    if serial.workspace.has_found_more_than(before) {
                        keep(state, threshold, pending, selected, sends_constants);
                    }
                }
            }
            let mut message = std::mem::take(&mut serial.workspace.message);
            for &edge in selected.iter() {
                if serial.constants_sent && is_constant(state, factors[edge as usize] as usize) {
                    continue;
                }
                if state.take_held(edge as usize, &mut message).is_err() {
                    serial.workspace.lacks_memory = true;
                    break;
                }
                publish(serial, threshold, pending, edge as usize, &message);
            }
            serial.workspace.message = message;
        }
        *spared += (class.len() - selected.len()) as u64;
        pending.next_class();
    }
}

/// Has these messages of a factor computed again, so that what is 0/0 is counted in each iteration. Where nothing is dropped, factors with
/// one variable are counted once, as without an active set.
#[cold]
fn keep(
    state: &State, threshold: &Threshold, pending: &mut Pending, edges: &[u32],
    sends_constants: &mut bool,
) {
    let is_constant = is_constant(state, state.graph.edge_factors()[edges[0] as usize] as usize);
    if !is_constant || threshold.factor().is_some() {
        edges.iter().for_each(|&edge| pending.keep(edge as usize));
        *sends_constants |= is_constant;
    }
}

/// Stores a computed message if it has moved.
#[inline(always)]
fn publish(
    serial: &mut Serial<'_>, threshold: &Threshold, pending: &mut Pending, edge: usize,
    message: &[EncodedMessage],
) {
    let state = serial.state;
    let link = state.links[edge];
    let values = state.slot_values(link.slot as usize);
    let moved = match *message {
        [new] => threshold.is_exceeded_by_odds(state.to_variable.get(values.start), new),
        _ => threshold.is_exceeded(state.to_variable.slice(values), message),
    };
    if !moved {
        return;
    }
    store_moved(state, edge, link, message, serial.workspace);
    if link.high_degree {
        serial.high_degree_variables.changed(state, edge);
    }
    pending.changed(state, edge, link);
}
