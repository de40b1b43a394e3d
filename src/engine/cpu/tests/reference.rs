//! The definition of belief propagation, one edge at a time.

use crate::engine::Inputs;
use crate::kernel::tree::tests::by_definition;
use crate::kernel::{
    EncodedMessage, Inference, Monoid, Product, damp, resolve_states, stored_message, stored_values,
};
use crate::model::{Evidence, FactorGraph, VariableEvidence};
use crate::schedule::Preorder;

pub(super) type Message = Vec<EncodedMessage>;

/// The definition of an iteration, in `docs/src/reference/contract.md`.
pub(super) struct Reference<'a> {
    pub(super) graph: &'a FactorGraph,
    pub(super) evidence: &'a Evidence,
    pub(super) mode: Mode,
    pub(super) messages: Vec<Message>,
}

/// What a run does with messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    pub(super) inference: Inference,
    pub(super) damping: f64,
}

impl<'a> Reference<'a> {
    pub(super) fn new(graph: &'a FactorGraph, evidence: &'a Evidence, mode: Mode) -> Self {
        let uniform =
            |&v: &u32| vec![EncodedMessage::ONE; stored_values(graph.cardinalities()[v as usize])];
        let messages = graph.edge_variables().iter().map(uniform).collect();
        Self { graph, evidence, mode, messages }
    }

    /// The message of the edge's variable to its factor, where `read` gives messages.
    fn to_factor(&self, edge: usize, read: &dyn Fn(usize) -> Message) -> Message {
        let v = self.graph.edge_variables()[edge] as usize;
        let radix = self.graph.cardinality(v);
        let one_hot = |state: u32| -> Message {
            let weights: Vec<f64> = (0..radix).map(|x| f64::from(x == state as usize)).collect();
            stored_message(&weights).unwrap()
        };
        let soft = match self.evidence.get(v) {
            Some(VariableEvidence::Observed(state)) => return one_hot(*state),
            Some(VariableEvidence::Likelihood(weights)) => Some(stored_message(weights).unwrap()),
            None => None,
        };
        let edges = self.graph.variable_edges(v);
        let leaf = edges.iter().position(|&e| e as usize == edge).unwrap();
        let incoming: Vec<Message> = edges
            .iter()
            .map(|&e| if e as usize == edge { one_hot(0) } else { read(e as usize) })
            .collect();
        let products: Vec<Product> = (0..stored_values(radix as u32))
            .map(|x| {
                let leaves: Vec<Product> = incoming.iter().map(|m| Product::of(m[x])).collect();
                let product = by_definition(&leaves, leaf);
                soft.as_ref().map_or(product, |soft| product.combine(Product::of(soft[x])))
            })
            .collect();
        if radix == 2 {
            return vec![products[0].odds()];
        }
        let mut out = vec![EncodedMessage::ONE; radix];
        resolve_states(&products, &mut out);
        out
    }

    pub(super) fn message(&self, edge: usize, read: &dyn Fn(usize) -> Message) -> Message {
        let f = self.graph.edge_factors()[edge] as usize;
        let edges = self.graph.factor_edges(f);
        let target = edge - edges.start;
        let radices: Vec<u32> = self
            .graph
            .factor_variables(f)
            .iter()
            .map(|&v| self.graph.cardinalities()[v as usize])
            .collect();
        let mut inputs: Vec<EncodedMessage> = Vec::new();
        for e in edges {
            inputs.extend(self.to_factor(e, read));
        }
        let inputs = Inputs::new(self.graph, f, inputs).unwrap();
        let message = inputs.message(target, self.mode.inference).unwrap();
        message.unwrap_or_else(|| vec![EncodedMessage::ONE; stored_values(radices[target])])
    }

    pub(super) fn iteration(&mut self, preorder: &Preorder) {
        let old = self.messages.clone();
        let mut new = old.clone();
        let ranks = preorder.ranks();
        for edge in preorder.order().unwrap() {
            let edge = edge as usize;
            let read = |d: usize| {
                if ranks[d] < ranks[edge] { new[d].clone() } else { old[d].clone() }
            };
            let message = self.message(edge, &read);
            new[edge] = self.damped(&old[edge], message);
        }
        self.messages = new;
    }

    /// What is stored for a message that was computed.
    pub(super) fn damped(&self, old: &Message, mut new: Message) -> Message {
        if self.mode.damping > 0.0 && !damp(old, &mut new, self.mode.damping) {
            new.fill(EncodedMessage::ONE);
        }
        new
    }

    pub(super) fn flat(&self) -> Vec<EncodedMessage> {
        self.messages.concat()
    }
}

impl Mode {
    pub(super) const SUMS: Self = Self { inference: Inference::SumProduct, damping: 0.0 };
}
