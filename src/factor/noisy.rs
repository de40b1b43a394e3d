//! Conjunctions of noisy literals: noisy-OR, noisy-AND and their relatives.

mod messages;

pub(crate) use messages::{NoisyCoefficients, noisy_message, noisy_messages, noisy_total};

use super::conjunction::all_zero;
use super::kind::{DeviceForm, Kind, NewFactor, Store, Update};
use super::signed::NewConjunction;
use super::{FactorKind, Scope, Stores, extend_offsets};
use crate::error::{Error, Result};
use crate::kernel::{Arithmetic, EncodedMessage, ExtendedFloat, HornScratch, Inference, Real};
use crate::memory::{Grow, NoMemory, collected, copied_lists, filled};

/// How a literal of a [`Noisy`] factor behaves: `[state][0]` is the probability that it holds,
/// `[state][1]` that it fails, given the state of its variable; both are kept since neither gives
/// the other without rounding.
pub type NoisyLiteral = [[f64; 2]; 2];

/// The literal of the head: it always holds.
const HEAD: NoisyLiteral = [[1.0, 0.0]; 2];

/// The parameters of all noisy conjunctions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NoisyStore {
    values: Vec<[f64; 4]>,
    /// Where each factor's literals start, and where the last one's end; empty without any.
    offsets: Vec<usize>,
    literals: Vec<NoisyLiteral>,
}

impl NoisyStore {
    fn literals(&self, number: usize) -> &[NoisyLiteral] {
        &self.literals[self.offsets[number]..self.offsets[number + 1]]
    }

    /// Adds a noisy conjunction: in a graph one literal per variable, in a builder one per member.
    pub(crate) fn push(&mut self, values: [f64; 4], literals: &[NoisyLiteral]) -> Result<u32> {
        self.values.try_room(1)?;
        extend_offsets(&mut self.offsets, 1)?;
        self.literals.try_append(literals)?;
        self.values.push(values);
        self.offsets.push(self.literals.len());
        Ok((self.values.len() - 1) as u32)
    }
}

impl Store for NoisyStore {
    const HAS_HEAD: bool = true;
    type Scratch = HornScratch;

    fn assemble(&mut self, drafts: &Self, number: usize, scope: &Scope<'_>) -> Result<u32> {
        scope.require_binary()?;
        scope.require_distinct()?;
        let mut literals = filled(scope.variables.len(), HEAD)?;
        for (&v, &literal) in scope.members.iter().zip(drafts.literals(number)) {
            literals[scope.position(v)] = literal;
        }
        self.push(drafts.values[number], &literals)
    }

    fn restore(&mut self, graph: &Self, number: usize, head: usize) -> Result<u32> {
        let literals = graph.literals(number).iter().enumerate();
        let members = literals.filter(|&(position, _)| position != head);
        let literals: Vec<NoisyLiteral> = collected(members.map(|(_, &literal)| literal))?;
        self.push(graph.values[number], &literals)
    }

    fn try_clone(&self) -> Result<Self> {
        Ok(copied_lists!(self: values, offsets, literals))
    }

    fn memory_bytes(&self) -> usize {
        32 * (self.values.capacity() + self.literals.capacity()) + 8 * self.offsets.capacity()
    }
}

impl NewFactor for NewConjunction<'_, NoisyLiteral> {
    fn kind(&self) -> FactorKind {
        FactorKind::Noisy
    }

    fn check(&self, factor: usize, members: usize) -> Result<()> {
        self.check_shape(factor, members)?;
        for (index, literal) in self.literals.iter().enumerate() {
            for (state, &[holds, fails]) in literal.iter().enumerate() {
                let fine = (0.0..=1.0).contains(&holds)
                    && (0.0..=1.0).contains(&fails)
                    && (holds + fails - 1.0).abs() <= 1e-12;
                if !fine {
                    return Err(Error::InvalidArgument(format!(
                        "factor {factor}: literal {index} holds with probability {holds:?} and fails \
                         with {fails:?} in state {state}: two probabilities that add up to 1 are \
                         needed"
                    )));
                }
            }
        }
        Ok(())
    }

    fn push(&self, drafts: &mut Stores) -> Result<u32> {
        drafts.noisy.push(self.values, self.literals)
    }
}

/// A factor decided by a conjunction of literals that hold independently of each other, each with a
/// probability that depends on its variable: with P(x) = prod_i P(literal i holds | x_i),
/// f(h, x) = P(x) * f(h | holds) + (1 - P(x)) * f(h | fails). Noisy-OR and noisy-AND are of this form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noisy<'a> {
    /// Position of the head among the factor's variables (which ascend by label).
    pub head: usize,
    /// `[f(h=1 | holds), f(h=0 | holds), f(h=1 | fails), f(h=0 | fails)]`: finite, not negative.
    pub values: [f64; 4],
    /// One per variable; the head's always holds.
    pub literals: &'a [NoisyLiteral],
}

impl<'a> Kind<'a> for Noisy<'a> {
    type Store = NoisyStore;

    fn view(store: &'a NoisyStore, number: usize, head: usize) -> Self {
        Self { head, values: store.values[number], literals: store.literals(number) }
    }

    fn value(&self, states: &[usize], _cardinalities: impl Iterator<Item = usize>) -> f64 {
        // As [holds, fails], so that nothing is subtracted.
        let mut body = [1.0, 0.0];
        for (literal, &state) in self.literals.iter().zip(states) {
            let [holds, fails] = literal[state];
            body = [body[0] * holds, body[1] * (holds + fails) + body[0] * fails];
        }
        let row = usize::from(states[self.head] == 0);
        body[0] * self.values[row] + body[1] * self.values[2 + row]
    }

    fn extended_value(
        &self, states: &[usize], _cardinalities: impl Iterator<Item = usize>,
    ) -> ExtendedFloat {
        let extended = ExtendedFloat::from_f64;
        // As [holds, fails], so that nothing is subtracted.
        let mut body = [ExtendedFloat::ONE, ExtendedFloat::ZERO];
        for (literal, &state) in self.literals.iter().zip(states) {
            let [holds, fails] = literal[state].map(extended);
            let failed = body[1].multiply(holds.add(fails)).add(body[0].multiply(fails));
            body = [body[0].multiply(holds), failed];
        }
        let row = usize::from(states[self.head] == 0);
        let [if_holds, if_fails] = [self.values[row], self.values[2 + row]].map(extended);
        body[0].multiply(if_holds).add(body[1].multiply(if_fails))
    }

    fn underflows(&self, states: &[usize], value: f64) -> bool {
        let mut outcomes = self.literals.iter().zip(states).map(|(literal, &state)| literal[state]);
        let can_hold = outcomes.clone().all(|[holds, _]| holds > 0.0);
        let can_fail = outcomes.any(|[_, fails]| fails > 0.0);
        let row = usize::from(states[self.head] == 0);
        let is_positive =
            can_hold && self.values[row] > 0.0 || can_fail && self.values[2 + row] > 0.0;
        is_positive && value < f64::MIN_POSITIVE
    }

    fn is_zero_everywhere(&self, _arity: usize) -> bool {
        let can = |outcome: usize| {
            move |literal: &NoisyLiteral| literal.iter().any(|state| state[outcome] > 0.0)
        };
        let literals = self.literals.iter();
        all_zero(literals.clone().all(can(0)), literals.clone().any(can(1)), self.values)
    }

    /// Maxima over what decides the literals do not follow from the structure.
    fn needs_table(&self, inference: Inference) -> bool {
        inference == Inference::MaxProduct
    }

    fn messages(&self, update: Update<'_>, scratch: &mut HornScratch) -> Result<(), NoMemory> {
        let c = NoisyCoefficients::new(self);
        let Update { incoming, out, .. } = update;
        match update.target {
            None => noisy_messages(incoming, self.head, &c, out, scratch),
            Some(target) => {
                out[0] = noisy_message(incoming, self.head, target, &c, scratch)?;
                Ok(())
            }
        }
    }

    fn total(&self, _radices: &[u32], messages: &[EncodedMessage]) -> Result<ExtendedFloat> {
        Ok(noisy_total(messages, self.head, &NoisyCoefficients::new(self)))
    }

    fn device_form(&self) -> DeviceForm<'a> {
        DeviceForm::Noisy(*self)
    }
}
