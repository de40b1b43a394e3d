//! SEQMAX: the message that would change most is sent next (residual belief propagation, as in
//! libDAI). What is computed but not sent yet stands in `State::newest`.

use super::batches::store;
use super::factor::messages;
use super::state::State;
use super::tournament::Tournament;
use super::trees::{Cursors, Hubs, Trees};
use super::workspace::Workspace;
use crate::kernel::{Packed, weights_to_probabilities};

/// The queue of messages that wait to be sent.
pub(super) struct Residual {
    pub(super) trees: Trees,
    pub(super) cursors: Cursors,
    queue: Tournament,
    /// Whether each edge's message has been sent since all were uniform. One that has not counts as
    /// 1 for every state in libDAI's residuals.
    sent: Vec<bool>,
    /// Whether residuals are differences of logarithms of probabilities instead of probabilities.
    log_domain: bool,
    /// Whether messages or evidence were changed from outside, so that all must be computed again.
    pub(super) stale: bool,
}

impl Residual {
    pub(super) fn new(state: &State, log_domain: bool) -> Self {
        let trees = Trees::new(state);
        let cursors = Cursors::new(state, &trees);
        Self {
            trees,
            cursors,
            queue: Tournament::new(state.graph.all_variable_edges()),
            sent: vec![false; state.graph.edge_count()],
            log_domain,
            stale: true,
        }
    }

    /// One pass: as many sends as there are edges. Where no message would change, the rest are left
    /// out, which would change nothing either. `fresh` says that no message was sent since all were
    /// uniform.
    pub(super) fn run(&mut self, state: &State, fresh: bool, workspace: &mut Workspace) {
        if std::mem::take(&mut self.stale) {
            self.compute_all(state, fresh, workspace);
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
        self.queue = Tournament::new(graph.all_variable_edges());
        self.sent.fill(!fresh);
        for factor in 0..graph.factor_count() {
            let wanted: Vec<u32> = graph.factor_edges(factor).map(|edge| edge as u32).collect();
            if !wanted.is_empty() {
                self.compute(state, factor, &wanted, workspace);
            }
        }
        for &edge in graph.all_variable_edges() {
            self.set_residual(state, edge as usize);
        }
    }

    /// Computes some messages of a factor, which nothing reads before they are sent.
    fn compute(&mut self, state: &State, factor: usize, wanted: &[u32], workspace: &mut Workspace) {
        let mut hubs = Hubs { trees: &self.trees, cursors: Some(&mut self.cursors) };
        messages(state, &mut hubs, factor, wanted, workspace);
        let mut at = 0;
        for &edge in wanted {
            let slot = state.links[edge as usize].slot as usize;
            let length = state.slot_values(slot).len();
            state.keep_computed(slot, &workspace.outputs[at..at + length]);
            at += length;
        }
    }

    /// Sends a message, and computes those that read it: factor by factor, within a factor by
    /// ascending variable.
    fn send(&mut self, state: &State, edge: usize, workspace: &mut Workspace) {
        let graph = &state.graph;
        let link = state.links[edge];
        let message: Vec<Packed> =
            state.newest.slice(state.slot_values(link.slot as usize)).collect();
        store(state, edge, link, &message, workspace);
        if link.hub {
            let mut hubs = Hubs { trees: &self.trees, cursors: Some(&mut self.cursors) };
            hubs.changed(state, edge);
        }
        self.sent[edge] = true;
        self.set_residual(state, edge);
        let variable = graph.edge_variables()[edge] as usize;
        let mut wanted: Vec<u32> = Vec::new();
        for &own in graph.variable_edges(variable).iter().filter(|&&own| own as usize != edge) {
            let factor = graph.edge_factors()[own as usize] as usize;
            wanted.clear();
            wanted.extend(graph.factor_edges(factor).map(|e| e as u32).filter(|&e| e != own));
            if wanted.is_empty() {
                continue;
            }
            self.compute(state, factor, &wanted, workspace);
            for &other in &wanted {
                self.set_residual(state, other as usize);
            }
        }
    }

    /// Puts a message into the queue by how much sending it would change: the largest difference of
    /// a state's probability, or of its logarithm.
    ///
    /// As in libDAI, a message that was never sent is compared with 1 for every state, and so is
    /// the table itself of a factor with one variable, normalised or not.
    fn set_residual(&mut self, state: &State, edge: usize) {
        let graph = &state.graph;
        let values = state.slot_values(state.links[edge].slot as usize);
        let radix = graph.cardinality(graph.edge_variables()[edge] as usize);
        let factor = graph.edge_factors()[edge] as usize;
        let new = probabilities(state.newest.slice(values.clone()), radix);
        let sent = self.sent[edge];
        let residual = if sent {
            let old = probabilities(state.to_variable.slice(values.clone()), radix);
            self.difference(new, old.into_iter())
        } else if graph.arity(factor) == 1 {
            let view = graph.factor(factor);
            let table = (0..radix).map(|x| view.value(&[x], std::iter::once(radix))).collect();
            self.difference(table, std::iter::repeat(1.0))
        } else {
            self.difference(new, std::iter::repeat(1.0))
        };
        // Differences beyond the range of probabilities must be sent all the same.
        let changed = values.clone().any(|i| state.newest.get(i) != state.to_variable.get(i));
        let least = if changed && (sent || residual == 0.0) { f64::MIN_POSITIVE } else { 0.0 };
        self.queue.set(edge, residual.max(least));
    }

    fn difference(&self, new: Vec<f64>, old: impl Iterator<Item = f64>) -> f64 {
        let domain = |p: f64| if self.log_domain { p.ln() } else { p };
        let differences = new.into_iter().zip(old).map(|(new, old)| {
            // Two zeros do not differ, though their logarithms have no difference.
            if new == old { 0.0 } else { (domain(new) - domain(old)).abs() }
        });
        differences.fold(0.0, f64::max)
    }
}

/// Probabilities of the states from a stored message.
fn probabilities(stored: impl Iterator<Item = Packed>, radix: usize) -> Vec<f64> {
    let stored: Vec<Packed> = stored.collect();
    if let [odds] = stored[..] {
        return odds.probabilities().to_vec();
    }
    let mut out = vec![0.0; radix];
    weights_to_probabilities(&stored, &mut out);
    out
}
