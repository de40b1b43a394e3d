//! AND and OR: noisy conjunctions and disjunctions, the probabilistic Horn clauses. Both, and the priors of
//! `prior.rs`, are conjunctions of literals: x = 1 for AND, x = 0 for OR.

use super::check::check_probabilities;
use super::conjunction::{all_zero, conjunction_messages};
use super::kind::{CausalBlock, Conjunction, DeviceForm, Kind, NewFactor, Store, Update};
use super::{FactorKind, Scope, Stores};
use crate::error::{Error, Result};
use crate::kernel::{
    EncodedMessage, ExtendedFloat, HornCoefficients, HornScratch, Inference, horn_total,
};
use crate::memory::{self, Grow, NoMemory, copied};
use std::collections::HashMap;

/// Parameters shared by all prior, AND and OR factors with the same values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HornParameters {
    /// Prior, And or Or.
    pub kind: FactorKind,
    /// The probability named p in [`FactorKind`], in [0, 1].
    pub p: f64,
    /// The probability named q in [`FactorKind`], in [0, 1]; 0 for a prior.
    pub q: f64,
    /// Whether the head occurs in the factor's own body as well.
    pub head_in_body: bool,
}

impl HornParameters {
    /// The factor as a choice by one condition, "every literal of the rest of the body holds":
    /// `[f(h=1 | holds), f(h=0 | holds), f(h=1 | fails), f(h=0 | fails)]`, where a literal is
    /// x = 1 for AND and x = 0 for OR, and the head itself is not counted among the body.
    ///
    /// With the head inside its own body, the condition can only hold for one value of the head;
    /// the other value takes its "fails" entry in both cases.
    pub fn conditional(&self) -> [f64; 4] {
        let (p, q) = (self.p, self.q);
        match (self.kind, self.head_in_body) {
            (FactorKind::Or, false) => [1.0 - p, p, 1.0 - q, q],
            (FactorKind::Or, true) => [1.0 - q, p, 1.0 - q, q],
            (_, false) => [p, 1.0 - p, q, 1.0 - q],
            (_, true) => [p, 1.0 - q, q, 1.0 - q],
        }
    }
}

impl HornCoefficients {
    pub(crate) fn of_horn(parameters: &HornParameters) -> Self {
        let negated = if parameters.kind == FactorKind::Or { u64::MAX } else { 0 };
        Self::new(parameters.conditional(), negated, None)
    }
}

/// The distinct parameters of all prior, AND and OR factors, found again by their bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Horns {
    pub(super) entries: Vec<HornParameters>,
    index: HashMap<(u8, bool, u64, u64), u32>,
    last: Option<u32>,
}

impl Horns {
    /// All parameters.
    pub(crate) fn entries(&self) -> &[HornParameters] {
        &self.entries
    }

    /// The number of these parameters.
    fn intern(&mut self, entry: HornParameters) -> Result<u32> {
        // Neighbouring factors mostly share their parameters.
        if let Some(last) = self.last
            && self.entries[last as usize] == entry
        {
            return Ok(last);
        }
        let key = (entry.kind as u8, entry.head_in_body, entry.p.to_bits(), entry.q.to_bits());
        let id = match self.index.get(&key) {
            Some(&id) => id,
            None => {
                let id = self.entries.len() as u32;
                self.entries.try_room(1)?;
                memory::insert(&mut self.index, key, id)?;
                self.entries.push(entry);
                id
            }
        };
        self.last = Some(id);
        Ok(id)
    }
}

impl Store for Horns {
    const HAS_HEAD: bool = true;
    const CONJUNCTION: Option<Conjunction> = Some(Conjunction::Horn);
    type Scratch = HornScratch;

    /// A copy: most factors keep the number of their draft.
    fn begin(drafts: &Self) -> Result<Self> {
        let mut horns = Self::default();
        for &entry in &drafts.entries {
            horns.intern(entry)?;
        }
        Ok(horns)
    }

    fn assemble(&mut self, drafts: &Self, number: usize, scope: &Scope<'_>) -> Result<u32> {
        scope.require_binary()?;
        if scope.head.is_some_and(|head| scope.members.contains(&head)) {
            return self.intern(HornParameters { head_in_body: true, ..drafts.entries[number] });
        }
        Ok(number as u32)
    }

    fn finish(&mut self) {
        (self.index, self.last) = (HashMap::new(), None);
    }

    fn restore(&mut self, graph: &Self, number: usize, _head: usize) -> Result<u32> {
        self.intern(HornParameters { head_in_body: false, ..graph.entries[number] })
    }

    fn has_head_in_body(&self, number: usize) -> bool {
        self.entries[number].head_in_body
    }

    fn try_clone(&self) -> Result<Self> {
        Ok(Self { entries: copied(&self.entries)?, ..Self::default() })
    }

    fn memory_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<HornParameters>()
    }
}

impl NewFactor for HornParameters {
    fn kind(&self) -> FactorKind {
        self.kind
    }

    fn check(&self, factor: usize, members: usize) -> Result<()> {
        let name = self.kind.name();
        if self.kind.conjunction() != Some(Conjunction::Horn) {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: kind '{name}': a prior, AND or OR is needed here"
            )));
        }
        let what = || format!("factor {factor} ({name})");
        if self.kind != FactorKind::Prior {
            return check_probabilities(what, &[("p", self.p), ("q", self.q)]);
        }
        if members != 0 {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: a prior with a body of {members}: its body must be empty"
            )));
        }
        check_probabilities(what, &[("p", self.p)])
    }

    fn push(&self, drafts: &mut Stores) -> Result<u32> {
        let q = if self.kind == FactorKind::Prior { 0.0 } else { self.q };
        drafts.horn.intern(Self { q, head_in_body: false, ..*self })
    }
}

/// An AND or OR factor as stored in a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Horn {
    /// And or Or.
    pub kind: FactorKind,
    /// Position of the head among the factor's variables (which ascend by label).
    pub head: usize,
    /// Whether the head occurs in the body as well.
    pub head_in_body: bool,
    /// See [`FactorKind`].
    pub p: f64,
    /// See [`FactorKind`].
    pub q: f64,
}

impl Horn {
    fn parameters(&self) -> HornParameters {
        let Self { kind, head_in_body, p, q, .. } = *self;
        HornParameters { kind, p, q, head_in_body }
    }

    fn coefficients(&self) -> HornCoefficients {
        HornCoefficients::of_horn(&self.parameters())
    }
}

impl<'a> Kind<'a> for Horn {
    type Store = Horns;

    fn view(store: &'a Horns, number: usize, head: usize) -> Self {
        let HornParameters { kind, p, q, head_in_body } = store.entries[number];
        Self { kind, head, head_in_body, p, q }
    }

    fn value(&self, states: &[usize], _cardinalities: impl Iterator<Item = usize>) -> f64 {
        let wanted = usize::from(self.kind == FactorKind::And);
        let mut literals = states.iter().enumerate();
        let holds = literals.all(|(position, &state)| position == self.head || state == wanted);
        let row = if holds { 0 } else { 2 };
        self.parameters().conditional()[row + usize::from(states[self.head] == 0)]
    }

    fn is_zero_everywhere(&self, arity: usize) -> bool {
        arity == 1 && all_zero(true, false, self.parameters().conditional())
    }

    fn needs_table(&self, _inference: Inference) -> bool {
        false
    }

    fn messages(&self, update: Update<'_>, scratch: &mut HornScratch) -> Result<(), NoMemory> {
        conjunction_messages(self.head, &self.coefficients(), update, scratch)
    }

    fn total(&self, _radices: &[u32], messages: &[EncodedMessage]) -> Result<ExtendedFloat> {
        Ok(horn_total(messages, self.head, &self.coefficients()))
    }

    fn device_form(&self) -> DeviceForm<'a> {
        DeviceForm::Conjunction
    }

    fn causal_block(&self) -> Option<CausalBlock> {
        let sign = if self.kind == FactorKind::And { "*" } else { "+" };
        Some(CausalBlock::Rule { sign, horn: *self })
    }
}
