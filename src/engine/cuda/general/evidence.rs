//! What is known about variables, on the host and on the device.

use super::device::DeviceGeneral;
use super::factors::Values;
use crate::engine::cuda::driver::{Current, DeviceBuffer, Stream};
use crate::error::Result;
use crate::kernel::{Packed, stored_message};
use crate::memory::{filled, room};
use crate::model::{FactorGraph, VariableEvidence};

/// KNOWN_NOTHING and so on of general.cuh.
const NOTHING: u32 = 0;
const FALSE: u32 = 1;
const TRUE: u32 = 2;
const STATE: u32 = 3;
const WEIGHTS: u32 = 4;

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
    pub fn new(
        current: &Current,
        stream: &Stream,
        graph: &FactorGraph,
        values: &Values,
    ) -> Result<Self> {
        let known = filled(graph.variable_count(), NOTHING)?;
        let weights = filled(values.belief_count, Packed::ONE.0)?;
        Ok(Self {
            device_known: DeviceBuffer::from_slice(current, stream, &known)?,
            device_weights: DeviceBuffer::from_slice(current, stream, &weights)?,
            known,
            weights,
            changed: room(FEW)?,
            many_changed: false,
        })
    }

    pub fn set(
        &mut self,
        graph: &FactorGraph,
        values: &Values,
        variable: usize,
        evidence: Option<&VariableEvidence>,
    ) -> Result<()> {
        let radix = graph.cardinality(variable);
        let own = &mut self.weights[values.of_variable(variable)];
        self.known[variable] = match evidence {
            None => NOTHING,
            Some(VariableEvidence::Observed(0)) if radix == 2 => FALSE,
            Some(VariableEvidence::Observed(_)) if radix == 2 => TRUE,
            Some(VariableEvidence::Observed(state)) => {
                for (x, weight) in own.iter_mut().enumerate() {
                    *weight = if x == *state as usize { Packed::ONE.0 } else { Packed::ZERO.0 };
                }
                STATE
            }
            Some(VariableEvidence::Likelihood(likelihood)) => {
                for (weight, value) in own.iter_mut().zip(stored_message(likelihood)?) {
                    *weight = value.0;
                }
                WEIGHTS
            }
        };
        if self.changed.len() < FEW {
            self.changed.push(variable);
        } else {
            self.many_changed = true;
        }
        Ok(())
    }

    /// Copies what has changed.
    pub fn upload(&mut self, current: &Current, stream: &Stream, values: &Values) -> Result<()> {
        if self.many_changed {
            self.device_known.upload(current, stream, 0, &self.known)?;
            self.device_weights.upload(current, stream, 0, &self.weights)?;
        } else {
            for &variable in &self.changed {
                let own = values.of_variable(variable);
                let known = &self.known[variable..=variable];
                self.device_known.upload(current, stream, variable, known)?;
                if known[0] == STATE || known[0] == WEIGHTS {
                    let weights = &self.weights[own.clone()];
                    self.device_weights.upload(current, stream, own.start, weights)?;
                }
            }
        }
        self.changed.clear();
        self.many_changed = false;
        Ok(())
    }

    pub fn fill(&self, device: &mut DeviceGeneral) {
        device.known = *self.device_known.address();
        device.weights = *self.device_weights.address();
    }
}
