//! The prior of one binary variable: a head without a body. Its parameters are those of AND and OR, without q.

use super::FactorKind;
use super::conjunction::{all_zero, conjunction_messages};
use super::horn::{HornParameters, Horns};
use super::kind::{CausalBlock, DeviceForm, Kind, Update};
use crate::error::Result;
use crate::kernel::{
    EncodedMessage, ExtendedFloat, HornCoefficients, HornScratch, Inference, horn_total,
};
use crate::memory::NoMemory;

/// A prior: f(1) = p, f(0) = 1 - p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Probability of state 1.
    pub p: f64,
}

impl Prior {
    fn parameters(&self) -> HornParameters {
        HornParameters { kind: FactorKind::Prior, p: self.p, q: 0.0, head_in_body: false }
    }

    fn coefficients(&self) -> HornCoefficients {
        HornCoefficients::of_horn(&self.parameters())
    }
}

impl<'a> Kind<'a> for Prior {
    type Store = Horns;

    fn view(store: &'a Horns, number: usize, _head: usize) -> Self {
        Self { p: store.entries[number].p }
    }

    fn value(&self, states: &[usize], _cardinalities: impl Iterator<Item = usize>) -> f64 {
        if states[0] == 1 { self.p } else { 1.0 - self.p }
    }

    fn is_zero_everywhere(&self, _arity: usize) -> bool {
        all_zero(true, false, self.parameters().conditional())
    }

    fn needs_table(&self, _inference: Inference) -> bool {
        false
    }

    fn messages(&self, update: Update<'_>, scratch: &mut HornScratch) -> Result<(), NoMemory> {
        conjunction_messages(0, &self.coefficients(), update, scratch)
    }

    fn total(&self, _radices: &[u32], messages: &[EncodedMessage]) -> Result<ExtendedFloat> {
        Ok(horn_total(messages, 0, &self.coefficients()))
    }

    fn device_form(&self) -> DeviceForm<'a> {
        DeviceForm::Conjunction
    }

    fn causal_block(&self) -> Option<CausalBlock> {
        Some(CausalBlock::Prior { p: self.p })
    }
}
