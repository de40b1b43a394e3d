//! What is known about variables, on the host and on the device.

use super::factors::Values;
use crate::engine::cuda::driver::{DeviceBuffer, Queue};
use crate::engine::cuda::interface::general::DeviceGeneral;
use crate::engine::cuda::interface::run::Known;
use crate::error::Result;
use crate::kernel::{EncodedMessage, stored_message};
use crate::memory::{filled, room};
use crate::model::{FactorGraph, VariableEvidence};

/// Changed variables up to which each is copied for itself.
const FEW: usize = 32;

/// Evidence as the kernels read it.
pub(super) struct EvidenceBuffers {
    known: Vec<u32>,
    /// A stored message per variable; read where `known` says so.
    weights: Vec<u64>,
    /// Some may be there several times; those beyond [`FEW`] are not listed.
    changed: Vec<usize>,
    /// Whether more have changed than are listed.
    many_changed: bool,
    device_known: DeviceBuffer<u32>,
    device_weights: DeviceBuffer<u64>,
}

impl EvidenceBuffers {
    pub fn new(queue: Queue<'_>, variables: usize, values: &Values) -> Result<Self> {
        let known = filled(variables, Known::Nothing as u32)?;
        let weights = filled(values.belief_count, EncodedMessage::ONE.0)?;
        Ok(Self {
            device_known: DeviceBuffer::from_slice(queue, &known)?,
            device_weights: DeviceBuffer::from_slice(queue, &weights)?,
            known,
            weights,
            changed: room(FEW)?,
            many_changed: false,
        })
    }

    pub fn set(
        &mut self, graph: &FactorGraph, values: &Values, variable: usize,
        evidence: Option<&VariableEvidence>,
    ) -> Result<()> {
        let radix = graph.cardinality(variable);
        let own = &mut self.weights[values.of_variable(variable)];
        let known = match evidence {
            None => Known::Nothing,
            Some(VariableEvidence::Observed(0)) if radix == 2 => Known::False,
            Some(VariableEvidence::Observed(_)) if radix == 2 => Known::True,
            Some(VariableEvidence::Observed(state)) => {
                for (x, weight) in own.iter_mut().enumerate() {
                    *weight = if x == *state as usize {
                        EncodedMessage::ONE.0
                    } else {
                        EncodedMessage::ZERO.0
                    };
                }
                Known::State
            }
            Some(VariableEvidence::Likelihood(likelihood)) => {
                for (weight, value) in own.iter_mut().zip(stored_message(likelihood)?) {
                    *weight = value.0;
                }
                Known::Weights
            }
        };
        self.known[variable] = known as u32;
        if self.changed.len() < FEW {
            self.changed.push(variable);
        } else {
            self.many_changed = true;
        }
        Ok(())
    }

    /// Copies what has changed.
    pub fn upload(&mut self, queue: Queue<'_>, values: &Values) -> Result<()> {
        if self.many_changed {
            self.device_known.upload(queue, 0, &self.known)?;
            self.device_weights.upload(queue, 0, &self.weights)?;
        } else {
            for &variable in &self.changed {
                let own = values.of_variable(variable);
                let known = &self.known[variable..=variable];
                self.device_known.upload(queue, variable, known)?;
                if [Known::State, Known::Weights].iter().any(|&kind| known[0] == kind as u32) {
                    let weights = &self.weights[own.clone()];
                    self.device_weights.upload(queue, own.start, weights)?;
                }
            }
        }
        self.changed.clear();
        self.many_changed = false;
        Ok(())
    }

    pub fn fill(&self, device: &mut DeviceGeneral) {
        device.known = (&self.device_known).into();
        device.weights = (&self.device_weights).into();
    }
}
