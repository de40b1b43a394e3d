//! One iteration on one thread: the batches in their order.
//!
//! The common case, binary conjunctions of 2 to 8 variables all of whose messages are updated, has a path of
//! its own (`run_task`), which keeps the messages of a factor in registers; so do these where some are updated (`run_part`).

use super::batches::{Batches, SOME, Task, by_factor};
use super::factor::{is_constant, messages};
use super::high_arity::HighArityFactors;
use super::state::{Link, Source, State};
use super::store::{note_deterministic, store};
use super::trees::HighDegreeVariables;
use super::values::View;
use super::variable::{high_degree_odds, odds_to_factor, simple_odds};
use super::workspace::Workspace;
use crate::kernel::{
    EncodedMessage, HornCoefficients, Inference, head_first_messages, head_first_position,
    small_horn_messages,
};
use crate::prefetch::prefetch;
use std::ops::Range;

/// Number of tasks by which the prefetch of messages precedes the computation.
pub(super) const PREFETCH_DISTANCE: usize = 8;
/// The same of where these messages are.
const LINK_DISTANCE: usize = 16;

/// `[value(0), value(1), ..]` of messages, without a loop up to four, which are nearly all factors: no value has to be where an
/// index finds it. A macro, since functions that are called so often are not inlined.
macro_rules! unrolled {
    ($count:ident, |$number:ident| $value:expr) => {{
        let mut values = [$crate::kernel::EncodedMessage::ONE; $count];
        if $count <= 4 {
            {
                let $number = 0;
                values[$number] = $value;
            }
            if $count > 1 {
                let $number = 1;
                values[$number] = $value;
            }
            if $count > 2 {
                let $number = 2;
                values[$number] = $value;
            }
            if $count > 3 {
                let $number = 3;
                values[$number] = $value;
            }
        } else {
            for ($number, value) in values.iter_mut().enumerate() {
                *value = $value;
            }
        }
        values
    }};
}

/// The state that one thread reads and writes while it runs batches.
pub(super) struct Serial<'a> {
    pub(super) state: &'a State,
    pub(super) high_degree_variables: HighDegreeVariables<'a>,
    pub(super) high_arity: &'a mut HighArityFactors,
    pub(super) constants_sent: bool,
    pub(super) workspace: &'a mut Workspace,
}

impl Serial<'_> {
    pub(super) fn run(&mut self, batches: &Batches) {
        if !self.has_tasks() {
            for index in 0..batches.count() {
                self.run_batch(batches.batch(index));
            }
            return;
        }
        let tasks = batches.tasks();
        if self.high_arity.is_empty() {
            self.run_tasks::<false>(batches, tasks, 0..tasks.len(), tasks.len());
        } else {
            self.run_tasks::<true>(batches, tasks, 0..tasks.len(), tasks.len());
        }
    }

    /// Whether an iteration is that of the tasks: the messages that these leave out stay, and all others are as they are
    /// computed.
    #[inline(always)]
    pub(super) fn has_tasks(&self) -> bool {
        self.constants_sent && self.state.is_plain_run()
    }

    /// Runs some of the tasks, and prefetches for those that follow, also beyond these, but none from `reach` on. `HAS_HIGH_ARITY` says
    /// whether any high-arity factor keeps a tree, which has to learn of new messages.
    pub(super) fn run_tasks<const HAS_HIGH_ARITY: bool>(
        &mut self, batches: &Batches, tasks: &[Task], range: Range<usize>, reach: usize,
    ) {
        // (Plain runs do without a branch for each message.)
        match self.state.threshold {
            None => self.run_all::<HAS_HIGH_ARITY, false>(batches, tasks, range, reach),
            Some(_) => self.run_all::<HAS_HIGH_ARITY, true>(batches, tasks, range, reach),
        }
    }

    fn run_all<const HAS_HIGH_ARITY: bool, const DROPS: bool>(
        &mut self, batches: &Batches, tasks: &[Task], range: Range<usize>, reach: usize,
    ) {
        let state = self.state;
        let (links, messages) = (&state.links[..], state.to_variable.view());
        let ahead = tasks.get(range.start + PREFETCH_DISTANCE..reach).unwrap_or_default();
        let far_ahead = match batches.jumps() {
            true => tasks.get(range.start + LINK_DISTANCE..).unwrap_or_default(),
            false => &[],
        };
        for (index, task) in tasks[range].iter().enumerate() {
            if let Some(next) = far_ahead.get(index) {
                prefetch(links, next.first as usize);
            }
            if let Some(next) = ahead.get(index) {
                self.prefetch(next);
            }
            match task.arity {
                2 => self.run_task::<2, HAS_HIGH_ARITY, DROPS>(links, messages, task),
                3 => self.run_task::<3, HAS_HIGH_ARITY, DROPS>(links, messages, task),
                4 => self.run_task::<4, HAS_HIGH_ARITY, DROPS>(links, messages, task),
                5 => self.run_task::<5, HAS_HIGH_ARITY, DROPS>(links, messages, task),
                6 => self.run_task::<6, HAS_HIGH_ARITY, DROPS>(links, messages, task),
                7 => self.run_task::<7, HAS_HIGH_ARITY, DROPS>(links, messages, task),
                8 => self.run_task::<8, HAS_HIGH_ARITY, DROPS>(links, messages, task),
                _ => self.run_other::<HAS_HIGH_ARITY, DROPS>(batches, task),
            }
        }
    }

    /// A task that does not update all messages of a conjunction of 2 to 8 variables. (Not inlined: the loop over tasks is faster.)
    #[inline(never)]
    fn run_other<const HAS_HIGH_ARITY: bool, const DROPS: bool>(
        &mut self, batches: &Batches, task: &Task,
    ) {
        match task.arity.wrapping_sub(SOME) {
            2 => self.run_part::<2, HAS_HIGH_ARITY, DROPS>(task),
            3 => self.run_part::<3, HAS_HIGH_ARITY, DROPS>(task),
            4 => self.run_part::<4, HAS_HIGH_ARITY, DROPS>(task),
            5 => self.run_part::<5, HAS_HIGH_ARITY, DROPS>(task),
            6 => self.run_part::<6, HAS_HIGH_ARITY, DROPS>(task),
            7 => self.run_part::<7, HAS_HIGH_ARITY, DROPS>(task),
            8 => self.run_part::<8, HAS_HIGH_ARITY, DROPS>(task),
            _ => self.run_batch(batches.batch(task.first as usize)),
        }
    }

    /// Prefetches the messages of a task, which will be written; where lanes have a layout, so that other cores lose them now.
    #[inline(always)]
    pub(super) fn prefetch(&self, task: &Task) {
        let links = self.state.links.get(task.first as usize..);
        if let Some(links) = links.and_then(|links| links.first_chunk::<4>()) {
            for link in links {
                if self.state.has_layout() {
                    self.state.to_variable.prefetch_to_write(link.slot as usize);
                } else {
                    self.state.to_variable.prefetch(link.slot as usize);
                }
            }
        }
    }

    /// Updates all messages of a factor with `N` variables, of which `links` and `messages` are those of the state.
    #[inline(always)]
    fn run_task<const N: usize, const HAS_HIGH_ARITY: bool, const DROPS: bool>(
        &mut self, links: &[Link], messages: View<'_>, task: &Task,
    ) {
        let (first, head) = (task.first as usize, task.head as usize);
        let Some(links) = links[first..].first_chunk::<N>() else { return };
        let Some(links) = head_first(links, head) else { return };
        let inputs = unrolled!(N, |number| {
            let link = links[number];
            match simple_odds(messages, link) {
                Some(odds) => odds,
                None => self.other_odds(first + head_first_position(number, head), link),
            }
        });
        let c = self.state.coefficients(task.coefficients as usize);
        let outputs = head_first_messages(&inputs, head, c);
        unrolled!(N, |number| {
            let edge = first + head_first_position(number, head);
            self.publish_to_all::<HAS_HIGH_ARITY, DROPS>(
                messages,
                edge,
                links[number],
                outputs[number],
            );
            outputs[number]
        });
    }

    /// As [`Self::run_task`] for some messages of a factor.
    #[inline(always)]
    fn run_part<const N: usize, const HAS_HIGH_ARITY: bool, const DROPS: bool>(
        &mut self, task: &Task,
    ) {
        let (first, head, sent) = (task.first as usize, task.head as usize, task.sent);
        let messages = self.state.to_variable.view();
        let Some(links) = self.state.links[first..].first_chunk::<N>() else { return };
        let Some(links) = head_first(links, head) else { return };
        // See `run_small_factor`.
        let unread = if sent.is_power_of_two() { sent } else { 0 };
        let inputs = unrolled!(N, |number| {
            let link = links[number];
            if unread >> number & 1 == 1 {
                EncodedMessage::ONE
            } else {
                match simple_odds(messages, link) {
                    Some(odds) => odds,
                    None => self.other_odds(first + head_first_position(number, head), link),
                }
            }
        });
        let c = self.state.coefficients(task.coefficients as usize);
        let outputs = head_first_messages(&inputs, head, c);
        for number in 0..N {
            if sent >> number & 1 == 0 {
                continue;
            }
            let (edge, link) = (first + head_first_position(number, head), links[number]);
            self.publish_to_all::<HAS_HIGH_ARITY, DROPS>(messages, edge, link, outputs[number]);
        }
    }

    /// As [`Self::publish`], and lets the trees of the variable's factors know, if there are any.
    #[inline(always)]
    fn publish_to_all<const HAS_HIGH_ARITY: bool, const DROPS: bool>(
        &mut self, messages: View<'_>, edge: usize, link: Link, output: EncodedMessage,
    ) {
        self.publish::<DROPS>(messages, edge, link, output);
        if HAS_HIGH_ARITY {
            let state = self.state;
            let variable = state.graph.edge_variables()[edge] as usize;
            let factor = state.graph.edge_factors()[edge] as usize;
            self.high_arity.message_arrived(state, variable, factor);
        }
    }

    /// The odds of the message from a variable along an edge, where [`simple_odds`] has none.
    #[inline(never)]
    fn other_odds(&mut self, edge: usize, link: Link) -> EncodedMessage {
        if link.source == Source::HighDegree {
            high_degree_odds(self.state, &mut self.high_degree_variables, edge, self.workspace)
        } else {
            odds_to_factor(self.state, &mut self.high_degree_variables, edge, self.workspace)
        }
    }

    /// A message that may be deterministic, as it is stored; notes what has to be noted of it.
    #[cold]
    #[inline(never)]
    fn noted(&mut self, odds: EncodedMessage, edge: usize, link: Link) -> EncodedMessage {
        let odds = self.checked(odds, edge);
        note_deterministic(self.state, edge, link.slot as usize, odds);
        odds
    }

    /// Stores a computed message of a binary variable, for sums without damping, and lets the tree of the variable know. `DROPS` says
    /// that the run has a threshold.
    #[inline(always)]
    pub(super) fn publish<const DROPS: bool>(
        &mut self, messages: View<'_>, edge: usize, link: Link, output: EncodedMessage,
    ) {
        let state = self.state;
        let mut odds = output;
        if odds.may_be_deterministic() {
            odds = self.noted(odds, edge, link);
        }
        let mut has_moved = true;
        if let (true, Some(threshold)) = (DROPS, &state.threshold) {
            let old = messages.get(link.slot as usize);
            odds = threshold.stored(old, odds);
            has_moved = odds != old;
        }
        messages.set(link.slot as usize, odds);
        if link.high_degree && has_moved {
            self.high_degree_variables.changed(state, edge);
        }
    }

    /// The messages to a factor with `N` variables; at the position `unneeded`, if there is one, some value stands.
    #[inline(always)]
    pub(super) fn inputs<const N: usize>(
        &mut self, first: usize, links: &[Link; N], unneeded: usize,
    ) -> [EncodedMessage; N] {
        let state = self.state;
        let mut inputs = [EncodedMessage::ONE; N];
        for (position, input) in inputs.iter_mut().enumerate() {
            if position == unneeded {
                continue;
            }
            let (edge, link) = (first + position, links[position]);
            *input = match simple_odds(state.to_variable.view(), link) {
                Some(odds) => odds,
                None => self.other_odds(edge, link),
            };
        }
        inputs
    }

    pub(super) fn run_batch(&mut self, batch: &[u32]) {
        let factors = self.state.graph.edge_factors();
        if factors[batch[0] as usize] == factors[batch[batch.len() - 1] as usize] {
            self.run_factor(batch, |this, edge, message| this.arrive(edge, message));
            return;
        }
        let state = self.state;
        for group in by_factor(state, batch) {
            self.run_factor(group, |_, edge, message| state.hold(edge, message));
        }
        let mut message = std::mem::take(&mut self.workspace.message);
        for &edge in batch {
            let factor = factors[edge as usize] as usize;
            if self.constants_sent && is_constant(state, factor) {
                continue;
            }
            if state.take_held(edge as usize, &mut message).is_err() {
                self.workspace.lacks_memory = true;
                break;
            }
            self.arrive(edge as usize, &message);
        }
        self.workspace.message = message;
    }

    /// Computes the messages along some edges of one factor.
    #[inline]
    pub(super) fn run_factor(
        &mut self, edges: &[u32], mut emit: impl FnMut(&mut Self, usize, &[EncodedMessage]),
    ) {
        let state = self.state;
        let factor = state.graph.edge_factors()[edges[0] as usize] as usize;
        let arity = state.graph.arity(factor);
        if arity == 1 && self.constants_sent {
            return;
        }
        if state.graph.all_binary()
            && state.inference == Inference::SumProduct
            && let Some((head, c)) = state.conjunction(factor)
        {
            match arity {
                2 => return self.run_small_factor::<2>(edges, head, c, emit),
                3 => return self.run_small_factor::<3>(edges, head, c, emit),
                4 => return self.run_small_factor::<4>(edges, head, c, emit),
                5 => return self.run_small_factor::<5>(edges, head, c, emit),
                6 => return self.run_small_factor::<6>(edges, head, c, emit),
                7 => return self.run_small_factor::<7>(edges, head, c, emit),
                8 => return self.run_small_factor::<8>(edges, head, c, emit),
                _ => {}
            }
        }
        if state.inference == Inference::SumProduct
            && self.high_arity.serves(factor, edges.len(), arity)
        {
            // A factor's messages do not read each other, so they may be stored one by one.
            for &edge in edges {
                let edge = edge as usize;
                let message = self.high_arity.message(
                    state,
                    &mut self.high_degree_variables,
                    factor,
                    edge,
                    self.workspace,
                );
                let message = self.checked(message, edge);
                emit(self, edge, &[message]);
            }
            return;
        }
        if !messages(state, &mut self.high_degree_variables, factor, edges, self.workspace) {
            return;
        }
        let outputs = std::mem::take(&mut self.workspace.outputs);
        let mut at = 0;
        for &edge in edges {
            let length = state.edge_values(edge as usize).len();
            emit(self, edge as usize, &outputs[at..at + length]);
            at += length;
        }
        self.workspace.outputs = outputs;
    }

    /// As [`Self::run_factor`] for the common case: binary, `N` variables, nothing on the heap.
    #[inline(always)]
    fn run_small_factor<const N: usize>(
        &mut self, edges: &[u32], head: usize, c: &HornCoefficients,
        mut emit: impl FnMut(&mut Self, usize, &[EncodedMessage]),
    ) {
        let state = self.state;
        let factor = state.graph.edge_factors()[edges[0] as usize] as usize;
        let first = state.graph.factor_edges(factor).start;
        let mut inputs = [EncodedMessage::ONE; N];
        // A message does not read the input along its own edge. Where it is the only message, that input must not
        // be read at all: reading it could report a contradiction that no message sees.
        let unneeded = if edges.len() == 1 { edges[0] as usize } else { usize::MAX };
        for (position, input) in inputs.iter_mut().enumerate() {
            let edge = first + position;
            if edge != unneeded {
                *input = match simple_odds(state.to_variable.view(), state.links[edge]) {
                    Some(odds) => odds,
                    None => {
                        odds_to_factor(state, &mut self.high_degree_variables, edge, self.workspace)
                    }
                };
            }
        }
        let outputs = small_horn_messages(&inputs, head, c);
        if edges.len() == N {
            for (position, &output) in outputs.iter().enumerate() {
                let message = self.checked(output, first + position);
                emit(self, first + position, &[message]);
            }
        } else {
            for &edge in edges {
                let edge = edge as usize;
                let message = self.checked(outputs[edge - first], edge);
                emit(self, edge, &[message]);
            }
        }
    }

    /// A message of a factor; a uniform one, which is noted, where it is 0/0.
    #[inline(always)]
    pub(super) fn checked(&mut self, message: EncodedMessage, edge: usize) -> EncodedMessage {
        if message == EncodedMessage::CONTRADICTION {
            let variable = self.state.graph.edge_variables()[edge] as usize;
            self.workspace.contradictions.add(variable);
            EncodedMessage::ONE
        } else {
            message
        }
    }

    /// Stores a message, and tells the trees of its variable and of its neighbours that an input changed.
    #[inline(always)]
    fn arrive(&mut self, edge: usize, message: &[EncodedMessage]) {
        let state = self.state;
        let link = state.links[edge];
        if !store(state, edge, link, message, self.workspace) {
            return;
        }
        if link.high_degree {
            self.high_degree_variables.changed(state, edge);
        }
        if !self.high_arity.is_empty() {
            let variable = state.graph.edge_variables()[edge] as usize;
            self.high_arity.message_arrived(
                state,
                variable,
                state.graph.edge_factors()[edge] as usize,
            );
        }
    }
}

/// The links of a factor in the order of [`head_first_messages`].
#[inline(always)]
fn head_first<const N: usize>(links: &[Link; N], head: usize) -> Option<[Link; N]> {
    if head >= N {
        return None;
    }
    let mut ordered = [links[0]; N];
    let mut number = 0;
    while number < N {
        ordered[number] = links[head_first_position(number, head) % N];
        number += 1;
    }
    Some(ordered)
}
