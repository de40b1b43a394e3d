//! SEQMAX: the message that would change most is sent next (residual belief propagation, as in
//! libDAI). What is computed but not sent yet stands in `State::newest`.

use super::batches::store;
use super::factor::messages;
use super::state::{State, Values};
use super::tournament::Tournament;
use super::trees::{Cursors, Hubs, Trees};
use super::workspace::Workspace;
use crate::kernel::{Packed, Real, Wide, geometric_mean, weights_to_probabilities};

/// The queue of messages that wait to be sent.
pub(super) struct Residual {
    pub(super) trees: Trees,
    pub(super) cursors: Cursors,
    queue: Tournament,
    /// Whether each edge's message has been sent since all were uniform. One that has not counts as
    /// 1 for every state in libDAI's residuals.
    sent: Vec<bool>,
    /// Sum over the states of each edge's damped message as libDAI stores it, which does not normalise
    /// after damping: 1 for every state before the first send. Residuals see it.
    sums: Vec<f64>,
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
            sums: vec![1.0; state.graph.edge_count()],
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
        for (sum, &v) in self.sums.iter_mut().zip(graph.edge_variables()) {
            *sum = if fresh { graph.cardinality(v as usize) as f64 } else { 1.0 };
        }
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
        if state.damping > 0.0 {
            self.damp_sum(state, edge);
        }
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
        let values = state.slot_values(state.links[edge].slot as usize);
        let damped = state.damping > 0.0;
        let new = match self.own_table(state, edge) {
            Some(table) if damped || !self.sent[edge] => table,
            _ => self.probabilities(state, edge, &state.newest),
        };
        let mut old = self.probabilities(state, edge, &state.to_variable);
        if damped {
            old.iter_mut().for_each(|p| *p *= self.sums[edge]);
        } else if !self.sent[edge] {
            old.fill(1.0);
        }
        let residual = self.difference(&new, &old);
        // Differences beyond the range of probabilities must be sent all the same.
        let changed = values.clone().any(|i| state.newest.get(i) != state.to_variable.get(i));
        self.queue.set(edge, if changed { residual.max(f64::MIN_POSITIVE) } else { residual });
    }

    /// The table of a factor with one variable, the message of which libDAI does not normalise.
    fn own_table(&self, state: &State, edge: usize) -> Option<Vec<f64>> {
        let graph = &state.graph;
        let factor = graph.edge_factors()[edge] as usize;
        (graph.arity(factor) == 1).then(|| {
            let radix = graph.cardinality(graph.edge_variables()[edge] as usize);
            let view = graph.factor(factor);
            (0..radix).map(|x| view.value(&[x], std::iter::once(radix))).collect()
        })
    }

    /// Probabilities of the states of an edge's variable, from its message among `values`.
    fn probabilities(&self, state: &State, edge: usize, values: &Values) -> Vec<f64> {
        let variable = state.graph.edge_variables()[edge] as usize;
        let stored: Vec<Packed> =
            values.slice(state.slot_values(state.links[edge].slot as usize)).collect();
        if let ([odds], true) = (&stored[..], state.is_binary(variable)) {
            return odds.probabilities().to_vec();
        }
        let mut out = vec![0.0; stored.len()];
        weights_to_probabilities(&stored, &mut out);
        out
    }

    /// Brings an edge's sum up to date, before its message is sent.
    fn damp_sum(&mut self, state: &State, edge: usize) {
        let mean = |old: f64, new: f64| {
            if old == 0.0 || new == 0.0 {
                return 0.0;
            }
            let (old, new) = (Wide::from_f64(old), Wide::from_f64(new));
            geometric_mean(old, new, state.damping).to_f64()
        };
        let old = self.probabilities(state, edge, &state.to_variable);
        let new = self
            .own_table(state, edge)
            .unwrap_or_else(|| self.probabilities(state, edge, &state.newest));
        let sum: f64 = old.iter().zip(&new).map(|(&p, &q)| mean(p * self.sums[edge], q)).sum();
        self.sums[edge] = sum;
    }

    fn difference(&self, new: &[f64], old: &[f64]) -> f64 {
        let domain = |p: f64| if self.log_domain { p.ln() } else { p };
        let differences = new.iter().zip(old).map(|(&new, &old)| {
            // Two zeros do not differ, though their logarithms have no difference.
            if new == old { 0.0 } else { (domain(new) - domain(old)).abs() }
        });
        differences.fold(0.0, f64::max)
    }
}
