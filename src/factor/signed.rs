//! Conjunctions of signed literals: Horn clauses with negation, CNF clauses with weights.

use super::check::check_weights_by;
use super::conjunction::{all_zero, conjunction_messages};
use super::kind::{Conjunction, DeviceForm, Kind, NewFactor, Store, Update};
use super::{FactorKind, Scope, Stores};
use crate::error::{Error, Result};
use crate::kernel::{
    EncodedMessage, ExtendedFloat, HornCoefficients, HornScratch, Inference, bit, horn_total,
};
use crate::memory::{self, Grow, NoMemory, copied, room};
use std::collections::HashMap;

/// Parameters shared by all signed conjunctions with the same ones; see [`Signed`].
#[derive(Clone, Debug, PartialEq)]
pub struct SignedParameters {
    /// See [`Signed::values`].
    pub values: [f64; 4],
    /// See [`Signed::negated`]; without trailing zero words.
    pub negated: Vec<u64>,
}

impl HornCoefficients {
    pub(crate) fn of_signed(parameters: &SignedParameters) -> Result<Self> {
        coefficients(parameters.values, &parameters.negated)
    }
}

fn coefficients(values: [f64; 4], negated: &[u64]) -> Result<HornCoefficients> {
    let listed = negated.len() > 1 || negated.first().is_some_and(|word| word >> 63 == 1);
    let all = if listed { Some(copied(negated)?.into_boxed_slice()) } else { None };
    Ok(HornCoefficients::new(values, negated.first().copied().unwrap_or_default(), all))
}

/// The parameters of all signed conjunctions: in a graph the distinct ones, found again by their bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SignedStore {
    entries: Vec<SignedParameters>,
    index: HashMap<([u64; 4], Vec<u64>), u32>,
}

impl SignedStore {
    /// All parameters.
    pub(crate) fn entries(&self) -> &[SignedParameters] {
        &self.entries
    }

    /// Makes ready for [`Self::intern`] after [`Store::finish`].
    pub(crate) fn reopen(&mut self) -> Result<()> {
        for (index, p) in self.entries.iter().enumerate() {
            let key = (p.values.map(f64::to_bits), copied(&p.negated)?);
            memory::insert(&mut self.index, key, index as u32)?;
        }
        Ok(())
    }

    /// The number of these parameters in a graph, to which new ones are added.
    pub(crate) fn intern(&mut self, values: [f64; 4], mut negated: Vec<u64>) -> Result<u32> {
        negated.truncate(negated.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1));
        let key = (values.map(f64::to_bits), negated);
        if let Some(&number) = self.index.get(&key) {
            return Ok(number);
        }
        let number = self.entries.len() as u32;
        self.entries.try_push(SignedParameters { values, negated: copied(&key.1)? })?;
        memory::insert(&mut self.index, key, number)?;
        Ok(number)
    }

    /// Adds a draft, with bit i for literal i of the body.
    fn push(&mut self, values: [f64; 4], negated: Vec<u64>) -> Result<u32> {
        self.entries.try_push(SignedParameters { values, negated })?;
        Ok((self.entries.len() - 1) as u32)
    }
}

/// The words of some bits.
pub(crate) fn words(bits: impl Iterator<Item = usize>) -> Result<Vec<u64>> {
    let mut words = Vec::new();
    for bit in bits {
        set_bit(&mut words, bit)?;
    }
    Ok(words)
}

/// Sets a bit of a list of words, which grows as needed.
fn set_bit(bits: &mut Vec<u64>, index: usize) -> Result<()> {
    if bits.len() <= index / 64 {
        bits.try_resize(index / 64 + 1, 0)?;
    }
    bits[index / 64] |= 1 << (index % 64);
    Ok(())
}

impl Store for SignedStore {
    const HAS_HEAD: bool = true;
    const CONJUNCTION: Option<Conjunction> = Some(Conjunction::Signed);
    type Scratch = HornScratch;

    fn assemble(&mut self, drafts: &Self, number: usize, scope: &Scope<'_>) -> Result<u32> {
        scope.require_binary()?;
        let draft = &drafts.entries[number];
        let mut values = draft.values;
        let mut words = [Vec::new(), Vec::new()];
        for (index, &v) in scope.members.iter().enumerate() {
            let negated = bit(&draft.negated, index);
            if Some(v) == scope.head {
                // One state of the head fails its own literal.
                let state = usize::from(!negated);
                values[state] = values[2 + state];
            } else {
                set_bit(&mut words[usize::from(negated)], scope.position(v))?;
            }
        }
        let [affirmed, negated] = words;
        if affirmed.iter().zip(&negated).any(|(a, b)| a & b != 0) {
            // A variable with both signs: the body never holds.
            values = [values[2], values[3], values[2], values[3]];
        }
        self.intern(values, negated)
    }

    fn finish(&mut self) {
        self.index = HashMap::new();
    }

    fn restore(&mut self, graph: &Self, number: usize, head: usize) -> Result<u32> {
        let SignedParameters { values, negated } = &graph.entries[number];
        let positions = (0..64 * negated.len()).filter(|&position| bit(negated, position));
        let members = positions.map(|position| position - usize::from(position > head));
        self.push(*values, words(members)?)
    }

    fn try_clone(&self) -> Result<Self> {
        let mut entries = room(self.entries.len())?;
        for SignedParameters { values, negated } in &self.entries {
            entries.push(SignedParameters { values: *values, negated: copied(negated)? });
        }
        Ok(Self { entries, index: HashMap::new() })
    }

    fn memory_bytes(&self) -> usize {
        let bytes = |p: &SignedParameters| size_of_val(p) + 8 * p.negated.capacity();
        self.entries.iter().map(bytes).sum()
    }
}

/// A signed or noisy conjunction to be added, with one literal per variable of the body: of a signed one, whether it is
/// negated.
pub(crate) struct NewConjunction<'a, L> {
    pub(crate) literals: &'a [L],
    pub(crate) values: [f64; 4],
}

impl<L> NewConjunction<'_, L> {
    /// Checks the values, and that there are as many literals as variables in the body.
    pub(super) fn check_shape(&self, factor: usize, body: usize) -> Result<()> {
        let literals = self.literals.len();
        if body != literals {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: a body of {body} variables with {literals} literals: one per variable \
                 is needed"
            )));
        }
        check_weights_by(&self.values, || format!("factor {factor}"), "value")
    }
}

impl NewFactor for NewConjunction<'_, bool> {
    fn kind(&self) -> FactorKind {
        FactorKind::Signed
    }

    fn check(&self, factor: usize, members: usize) -> Result<()> {
        self.check_shape(factor, members)
    }

    fn push(&self, drafts: &mut Stores) -> Result<u32> {
        let negated = self.literals.iter().enumerate().filter(|&(_, &negated)| negated);
        drafts.signed.push(self.values, words(negated.map(|(index, _)| index))?)
    }
}

/// A factor decided by a conjunction of signed literals:
/// f = `values[0]` (head 1) or `values[1]` (head 0) if all literals hold, `values[2]` or `values[3]`
/// if one of them fails. The body is all variables but the head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signed<'a> {
    /// Position of the head among the factor's variables (which ascend by label).
    pub head: usize,
    /// `[f(h=1 | holds), f(h=0 | holds), f(h=1 | fails), f(h=0 | fails)]`: finite, not negative.
    pub values: [f64; 4],
    /// Bit i % 64 of word i / 64: the literal of the variable at position i is x = 0 instead of
    /// x = 1. The head's bit is 0. Words behind the last set bit may be missing.
    pub negated: &'a [u64],
}

impl Signed<'_> {
    /// Whether the literal of the variable at a position is x = 0.
    pub fn is_negated(&self, position: usize) -> bool {
        bit(self.negated, position)
    }
}

impl<'a> Kind<'a> for Signed<'a> {
    type Store = SignedStore;

    fn view(store: &'a SignedStore, number: usize, head: usize) -> Self {
        let SignedParameters { values, negated } = &store.entries[number];
        Self { head, values: *values, negated }
    }

    fn value(&self, states: &[usize], _cardinalities: impl Iterator<Item = usize>) -> f64 {
        let holds = states.iter().enumerate().all(|(position, &state)| {
            position == self.head || (state == 1) != self.is_negated(position)
        });
        let row = if holds { 0 } else { 2 };
        self.values[row + usize::from(states[self.head] == 0)]
    }

    fn is_zero_everywhere(&self, arity: usize) -> bool {
        all_zero(true, arity > 1, self.values)
    }

    fn needs_table(&self, _inference: Inference) -> bool {
        false
    }

    fn messages(&self, update: Update<'_>, scratch: &mut HornScratch) -> Result<(), NoMemory> {
        let c = coefficients(self.values, self.negated).map_err(|_| NoMemory)?;
        conjunction_messages(self.head, &c, update, scratch)
    }

    fn total(&self, _radices: &[u32], messages: &[EncodedMessage]) -> Result<ExtendedFloat> {
        let c = coefficients(self.values, self.negated)?;
        Ok(horn_total(messages, self.head, &c))
    }

    fn device_form(&self) -> DeviceForm<'a> {
        DeviceForm::Conjunction
    }
}
