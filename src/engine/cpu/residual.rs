//! SEQMAX: residual belief propagation, as in libDAI. The message whose update would change it most is updated
//! next. `State::newest` holds every message as computed from the current inputs, `State::to_variable` as last
//! published.

use super::factor::{messages, wanted_messages};
use super::state::State;
use super::store::store;
use super::tournament::Tournament;
use super::trees::{Cursors, HighDegreeVariables, Trees};
use super::values::Values;
use super::variable::{message_to_factor, simple_odds};
use super::workspace::Workspace;
use crate::engine::snapshot::Queue;
use crate::error::Result;
use crate::kernel::{
    EncodedMessage, ExtendedFloat, Real, geometric_mean, weights_to_probabilities,
};
use crate::memory::{NoMemory, copied, filled, fit, room};
use std::ops::Range;

/// The priority queue of computed messages that are not published yet.
pub(super) struct Residual {
    pub(super) trees: Trees,
    pub(super) cursors: Cursors,
    queue: Tournament,
    /// Whether each edge's message has been published since all were uniform. libDAI's residuals take a message
    /// that has not for 1 in every state.
    sent: Vec<bool>,
    /// Per edge, the sum over the states of the damped message as libDAI stores it: libDAI does not normalise after
    /// damping, and its residuals depend on that. Before the first update, every state counts as 1.
    sums: Vec<f64>,
    /// Whether residuals are differences of logarithms of probabilities instead of probabilities.
    log_domain: bool,
    /// Whether messages or evidence were changed from outside, so that all messages have to be computed again.
    pub(super) stale: bool,
    /// Whether the queue was imported: factors or evidence may differ from those it was made with.
    unchecked: bool,
    inputs: Inputs,
    scratch: Scratch,
}

/// Messages from variables to factors. After an update, those of its variable change only, but all of a factor are read.
struct Inputs {
    /// In the layout of `State::by_edge`.
    values: Vec<EncodedMessage>,
    /// Whether each edge's message is what its variable sends now.
    is_current: Vec<bool>,
}

impl Inputs {
    fn new(state: &State) -> Result<Self> {
        Ok(Self {
            values: filled(state.value_count, EncodedMessage::ONE)?,
            is_current: filled(state.graph.edge_count(), false)?,
        })
    }

    fn forget_all(&mut self) {
        self.is_current.fill(false);
    }

    /// Puts the messages to a factor into `workspace.inputs`; at `unneeded`, a message that must not be read, ones stand.
    fn gather(
        &mut self, state: &State, high_degree_variables: &mut HighDegreeVariables<'_>,
        edges: Range<usize>, unneeded: Option<usize>, workspace: &mut Workspace,
    ) -> Result<(), NoMemory> {
        let Some(last) = edges.clone().next_back() else { return Ok(()) };
        let first = state.edge_values(edges.start).start;
        for edge in edges {
            if !self.is_current[edge] && unneeded != Some(edge) {
                self.update(state, high_degree_variables, edge, workspace)?;
            }
        }
        let values = &self.values[first..state.edge_values(last).end];
        workspace.inputs.clear();
        fit(&mut workspace.inputs, values.len())?;
        workspace.inputs.extend_from_slice(values);
        Ok(())
    }

    /// Computes the message of an edge. One that is contradictory is computed each time that it is read, since this is what
    /// notes it.
    fn update(
        &mut self, state: &State, high_degree_variables: &mut HighDegreeVariables<'_>, edge: usize,
        workspace: &mut Workspace,
    ) -> Result<(), NoMemory> {
        let values = state.edge_values(edge);
        if let Some(odds) = simple_odds(state.to_variable.view(), state.links[edge]) {
            self.values[values.start] = odds;
            self.is_current[edge] = true;
            return Ok(());
        }
        let before = workspace.set_contradictions_aside();
        let mut message = std::mem::take(&mut workspace.message);
        message.clear();
        let made = fit(&mut message, values.len()).and_then(|()| {
            message_to_factor(state, high_degree_variables, edge, workspace, &mut message)
        });
        let is_contradictory = workspace.has_found_more_than(before);
        if made.is_ok() {
            self.values[values].copy_from_slice(&message);
            self.is_current[edge] = !is_contradictory;
        }
        workspace.message = message;
        made
    }
}

/// Scratch memory with room for the largest factor and the largest cardinality.
struct Scratch {
    /// Edges of a factor.
    wanted: Vec<u32>,
    /// Stored values of one message.
    message: Vec<EncodedMessage>,
    /// Probabilities of the states by the new and by the old message.
    new: Vec<f64>,
    old: Vec<f64>,
}

impl Scratch {
    fn new(state: &State) -> Result<Self> {
        let graph = &state.graph;
        let arity = (0..graph.factor_count()).map(|factor| graph.arity(factor)).max().unwrap_or(0);
        let states = graph.cardinalities().iter().copied().max().unwrap_or(0) as usize;
        Ok(Self {
            wanted: room(arity)?,
            message: room(states)?,
            new: room(states)?,
            old: room(states)?,
        })
    }
}

impl Residual {
    pub(super) fn new(state: &State, log_domain: bool) -> Result<Self> {
        let trees = Trees::new(state)?;
        let cursors = Cursors::new(&trees)?;
        Ok(Self {
            trees,
            cursors,
            queue: Tournament::new(state.graph.all_variable_edges())?,
            sent: filled(state.graph.edge_count(), false)?,
            sums: filled(state.graph.edge_count(), 1.0)?,
            log_domain,
            stale: true,
            unchecked: false,
            inputs: Inputs::new(state)?,
            scratch: Scratch::new(state)?,
        })
    }

    /// Exports what another queue needs to continue in the same way; `None` if all messages will be computed again.
    pub(super) fn export(&self, state: &State) -> Result<Option<Queue>> {
        if self.stale {
            return Ok(None);
        }
        Ok(Some(Queue {
            inference: state.inference,
            damping: state.damping,
            log_domain: self.log_domain,
            sent: copied(&self.sent)?,
            sums: copied(&self.sums)?,
            stamps: self.queue.stamps()?,
        }))
    }

    /// Continues as the exported queue did; `state` has its messages and settings already. The next iteration finds
    /// what differs because of other factors or evidence.
    pub(super) fn import(&mut self, state: &State, queue: &Queue) {
        self.stale = self.log_domain != queue.log_domain;
        self.unchecked = true;
        self.inputs.forget_all();
        if self.stale {
            return;
        }
        self.sent.copy_from_slice(&queue.sent);
        self.sums.copy_from_slice(&queue.sums);
        for (edge, &stamp) in queue.stamps.iter().enumerate() {
            let residual = self.residual(state, edge);
            self.queue.put_back(edge, residual, stamp);
        }
        self.queue.play_all();
    }

    /// Runs one iteration: as many updates as there are edges. It ends early where no message would change, since
    /// the remaining updates would change nothing. `fresh` says that no message was updated since all were
    /// uniform.
    pub(super) fn run(&mut self, state: &State, fresh: bool, workspace: &mut Workspace) {
        let is_unchecked = std::mem::take(&mut self.unchecked);
        if std::mem::take(&mut self.stale) {
            self.compute_all(state, fresh, workspace);
        } else if is_unchecked {
            self.check_all(state, workspace);
        }
        for _ in 0..state.graph.edge_count() {
            match self.queue.best() {
                Some((edge, residual)) if residual > 0.0 => self.send(state, edge, workspace),
                _ => break,
            }
        }
    }

    /// Computes all messages, variable by variable.
    fn compute_all(&mut self, state: &State, fresh: bool, workspace: &mut Workspace) {
        let graph = &state.graph;
        self.inputs.forget_all();
        self.queue.reset(graph.all_variable_edges());
        self.sent.fill(!fresh);
        for (sum, &v) in self.sums.iter_mut().zip(graph.edge_variables()) {
            *sum = if fresh { graph.cardinality(v as usize) as f64 } else { 1.0 };
        }
        for factor in 0..graph.factor_count() {
            self.compute(state, factor, None, workspace);
        }
        for &edge in graph.all_variable_edges() {
            self.set_residual(state, edge as usize);
        }
    }

    /// Computes all messages, and puts those that differ from `State::newest` into the queue: none if the queue was
    /// made with this graph and evidence.
    fn check_all(&mut self, state: &State, workspace: &mut Workspace) {
        for factor in 0..state.graph.factor_count() {
            let edges = state.graph.factor_edges(factor);
            self.scratch.wanted.clear();
            self.scratch.wanted.extend(edges.clone().map(|edge| edge as u32));
            let mut high_degree_variables =
                HighDegreeVariables { trees: &self.trees, cursors: Some(&self.cursors) };
            if edges.is_empty()
                || !messages(
                    state,
                    &mut high_degree_variables,
                    factor,
                    &self.scratch.wanted,
                    workspace,
                )
            {
                continue;
            }
            let mut at = 0;
            for edge in edges {
                let slot = state.links[edge].slot as usize;
                let values = state.slot_values(slot);
                let message = &workspace.outputs[at..at + values.len()];
                at += values.len();
                if values.zip(message).any(|(i, &value)| state.newest.get(i) != value) {
                    state.keep_computed(slot, message);
                    self.set_residual(state, edge);
                }
            }
        }
    }

    /// Computes the messages of a factor except one, into the workspace; their edges are then in `scratch.wanted`.
    fn compute(
        &mut self, state: &State, factor: usize, without: Option<u32>, workspace: &mut Workspace,
    ) {
        let wanted = &mut self.scratch.wanted;
        wanted.clear();
        let edges = state.graph.factor_edges(factor).map(|edge| edge as u32);
        wanted.extend(edges.filter(|&edge| Some(edge) != without));
        if wanted.is_empty() {
            return;
        }
        let only = if let [edge] = wanted[..] { Some(edge as usize) } else { None };
        let mut high_degree_variables =
            HighDegreeVariables { trees: &self.trees, cursors: Some(&self.cursors) };
        let edges = state.graph.factor_edges(factor);
        let made = self
            .inputs
            .gather(state, &mut high_degree_variables, edges, only, workspace)
            .and_then(|()| wanted_messages(state, factor, wanted, workspace));
        if made.is_err() {
            workspace.lacks_memory = true;
            return;
        }
        let mut at = 0;
        for &edge in &*wanted {
            let slot = state.links[edge as usize].slot as usize;
            let length = state.slot_values(slot).len();
            state.keep_computed(slot, &workspace.outputs[at..at + length]);
            at += length;
        }
    }

    /// Publishes a message, and computes the messages that read it: factor by factor, within a factor by ascending
    /// variable.
    fn send(&mut self, state: &State, edge: usize, workspace: &mut Workspace) {
        let graph = &state.graph;
        let link = state.links[edge];
        if state.damping > 0.0 {
            self.damp_sum(state, edge);
        }
        let message = &mut self.scratch.message;
        message.clear();
        message.extend(state.newest.slice(state.slot_values(link.slot as usize)));
        store(state, edge, link, message, workspace);
        if link.high_degree {
            let mut high_degree_variables =
                HighDegreeVariables { trees: &self.trees, cursors: Some(&self.cursors) };
            high_degree_variables.changed(state, edge);
        }
        self.sent[edge] = true;
        self.set_residual(state, edge);
        let variable = graph.edge_variables()[edge] as usize;
        for &own in graph.variable_edges(variable).iter().filter(|&&own| own as usize != edge) {
            self.inputs.is_current[own as usize] = false;
            let factor = graph.edge_factors()[own as usize] as usize;
            self.compute(state, factor, Some(own), workspace);
            for index in 0..self.scratch.wanted.len() {
                self.set_residual(state, self.scratch.wanted[index] as usize);
            }
        }
    }

    /// Puts a message into the queue, with its residual as the priority.
    fn set_residual(&mut self, state: &State, edge: usize) {
        let residual = self.residual(state, edge);
        self.queue.set(edge, residual);
    }

    /// The residual of a message: the largest difference, over the states, between the probabilities (or their
    /// logarithms) by the computed and by the published message.
    ///
    /// As in libDAI, a message that was never published counts as 1 in every state, and the table of a factor
    /// with one variable is compared as it is, normalised or not.
    fn residual(&mut self, state: &State, edge: usize) -> f64 {
        let values = state.slot_values(state.links[edge].slot as usize);
        let damped = state.damping > 0.0;
        let is_same = |i| state.newest.get(i) == state.to_variable.get(i);
        if self.sent[edge] && !damped && values.clone().all(is_same) {
            return 0.0;
        }
        if values.len() == 1 && self.sent[edge] && !damped {
            let (new, old) = (state.newest.get(values.start), state.to_variable.get(values.start));
            let difference =
                difference(&new.probabilities(), &old.probabilities(), self.log_domain);
            return difference.max(f64::MIN_POSITIVE);
        }
        let Self { scratch: Scratch { message, new, old, .. }, sent, sums, .. } = self;
        let is_own_table = (damped || !sent[edge]) && own_table(state, edge, new);
        if !is_own_table {
            probabilities(state, edge, &state.newest, message, new);
        }
        if damped || sent[edge] {
            probabilities(state, edge, &state.to_variable, message, old);
        }
        if damped {
            old.iter_mut().for_each(|p| *p *= sums[edge]);
        } else if !sent[edge] {
            old.clear();
            old.resize(new.len(), 1.0);
        }
        let residual = difference(new, old, self.log_domain);
        // A difference that underflows as a probability still has to be published.
        let changed = values.clone().any(|i| state.newest.get(i) != state.to_variable.get(i));
        if changed { residual.max(f64::MIN_POSITIVE) } else { residual }
    }

    /// Updates the sum of an edge, before its message is published.
    fn damp_sum(&mut self, state: &State, edge: usize) {
        let mean = |old: f64, new: f64| {
            if old == 0.0 || new == 0.0 {
                return 0.0;
            }
            let (old, new) = (ExtendedFloat::from_f64(old), ExtendedFloat::from_f64(new));
            geometric_mean(old, new, state.damping).to_f64()
        };
        let Scratch { message, new, old, .. } = &mut self.scratch;
        probabilities(state, edge, &state.to_variable, message, old);
        if !own_table(state, edge, new) {
            probabilities(state, edge, &state.newest, message, new);
        }
        let sum = self.sums[edge];
        self.sums[edge] = old.iter().zip(new).map(|(&p, &mut q)| mean(p * sum, q)).sum();
    }
}

/// The table of a factor with one variable, the message of which libDAI does not normalise; `false` for
/// others.
fn own_table(state: &State, edge: usize, out: &mut Vec<f64>) -> bool {
    let graph = &state.graph;
    let factor = graph.edge_factors()[edge] as usize;
    if graph.arity(factor) != 1 {
        return false;
    }
    let radix = graph.cardinality(graph.edge_variables()[edge] as usize);
    let view = graph.factor(factor);
    out.clear();
    out.extend((0..radix).map(|x| view.value(&[x], std::iter::once(radix))));
    true
}

/// Probabilities of the states of an edge's variable, from its message among `values`.
fn probabilities(
    state: &State, edge: usize, values: &Values, message: &mut Vec<EncodedMessage>,
    out: &mut Vec<f64>,
) {
    message.clear();
    message.extend(values.slice(state.slot_values(state.links[edge].slot as usize)));
    out.clear();
    let variable = state.graph.edge_variables()[edge] as usize;
    if let ([odds], true) = (&message[..], state.is_binary(variable)) {
        out.extend(odds.probabilities());
    } else {
        out.resize(message.len(), 0.0);
        weights_to_probabilities(message, out);
    }
}

fn difference(new: &[f64], old: &[f64], log_domain: bool) -> f64 {
    let domain = |p: f64| if log_domain { p.ln() } else { p };
    let differences = new.iter().zip(old).map(|(&new, &old)| {
        // Two zeros are equal, though the difference of their logarithms is NaN.
        if new == old { 0.0 } else { (domain(new) - domain(old)).abs() }
    });
    differences.fold(0.0, f64::max)
}
