//! Factors with local structure (paper section 3): sums of weighted terms over variables of any cardinalities.

mod messages;

pub(crate) use messages::{TermInputs, TermScratch, term_messages, term_total};

use super::kind::{DeviceForm, Kind, NewFactor, Store, Update};
use super::values::next_joint_state;
use super::{FactorKind, Scope, Stores, extend_offsets};
use crate::error::{Error, Result};
use crate::kernel::{Arithmetic, EncodedMessage, ExtendedFloat, Inference, Real};
use crate::memory::{Grow, NoMemory, collected, copied_lists, filled, room};

/// Terms up to which every pair is looked at to see whether they exclude each other.
const PAIRWISE_LIMIT: usize = 256;
/// Joint states up to which the values of a factor with negative weights are all computed.
const ENUMERATION_LIMIT: usize = 1 << 16;
/// A value this far below zero, relative to the weights, is taken for a negative one, not for the
/// rounding of a zero.
const ROUNDING: f64 = 1e-12;

/// In the indicators of [`FactorGraphBuilder::add_terms`](crate::FactorGraphBuilder::add_terms): any state.
pub const WILDCARD: i32 = -1;

/// The parameters of all factors of terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TermStore {
    /// Where each factor's terms start, and where the last one's end; empty without any.
    starts: Vec<usize>,
    exclusive: Vec<bool>,
    weights: Vec<f64>,
    /// Where each term's conditions start, and where the last one's end; empty without any.
    offsets: Vec<usize>,
    literals: Vec<TermLiteral>,
}

impl TermStore {
    fn terms(&self, number: usize) -> Terms<'_> {
        let terms = self.starts[number]..self.starts[number + 1];
        let offsets = &self.offsets[terms.start..=terms.end];
        Terms {
            weights: &self.weights[terms],
            offsets,
            literals: &self.literals[offsets[0]..offsets[offsets.len() - 1]],
            exclusive: self.exclusive[number],
        }
    }

    /// Adds a factor. `exclusive` says that its terms are known to exclude each other.
    pub(crate) fn push<'a>(
        &mut self, weights: &[f64], terms: impl Iterator<Item = &'a [TermLiteral]> + Clone,
        exclusive: bool,
    ) -> Result<u32> {
        extend_offsets(&mut self.starts, 1)?;
        extend_offsets(&mut self.offsets, weights.len())?;
        self.exclusive.try_room(1)?;
        self.literals.try_room(terms.clone().map(<[_]>::len).sum())?;
        self.weights.try_append(weights)?;
        self.starts.push(self.weights.len());
        for term in terms {
            self.literals.extend_from_slice(term);
            self.offsets.push(self.literals.len());
        }
        self.exclusive.push(exclusive);
        let number = self.exclusive.len() - 1;
        if !exclusive {
            self.exclusive[number] = are_exclusive(&self.terms(number));
        }
        Ok(number as u32)
    }
}

/// Whether every two terms want different states of some variable; `false` where there are too many
/// to look. O(terms^2 * conditions).
fn are_exclusive(terms: &Terms<'_>) -> bool {
    let count = terms.weights.len();
    count <= PAIRWISE_LIMIT
        && (0..count).all(|a| (0..a).all(|b| exclude_each_other(terms.term(a), terms.term(b))))
}

/// Whether two terms, each by ascending position, want different states of some variable.
fn exclude_each_other(a: &[TermLiteral], b: &[TermLiteral]) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.position.cmp(&y.position) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal if x.state != y.state => return true,
            std::cmp::Ordering::Equal => {
                i += 1;
                j += 1;
            }
        }
    }
    false
}

impl Store for TermStore {
    const HAS_HEAD: bool = false;
    type Scratch = TermScratch;

    fn assemble(&mut self, drafts: &Self, number: usize, scope: &Scope<'_>) -> Result<u32> {
        scope.require_distinct()?;
        let draft = drafts.terms(number);
        let factor = scope.factor;
        let mut term = Vec::new();
        let mut literals = room(draft.literals.len())?;
        let mut ends = room(draft.weights.len() + 1)?;
        ends.push(0);
        for index in 0..draft.weights.len() {
            term.clear();
            for literal in draft.term(index) {
                let v = scope.members[literal.position as usize];
                let cardinality = scope.cardinalities[v as usize];
                if literal.state >= cardinality {
                    return Err(Error::OutOfRange(format!(
                        "factor {factor}: term {index} wants variable {} in state {}: it has \
                         {cardinality} states, numbered from 0",
                        scope.labels[v as usize], literal.state
                    )));
                }
                term.try_push(TermLiteral {
                    position: scope.position(v) as u32,
                    state: literal.state,
                })?;
            }
            term.sort_unstable_by_key(|literal| literal.position);
            literals.extend_from_slice(&term);
            ends.push(literals.len());
        }
        let terms = ends.windows(2).map(|pair| &literals[pair[0]..pair[1]]);
        let number = self.push(draft.weights, terms, draft.exclusive)?;
        let cardinalities: Vec<usize> = collected(scope.radices())?;
        check_sum(factor, &self.terms(number as usize), &cardinalities)?;
        Ok(number)
    }

    fn restore(&mut self, graph: &Self, number: usize, _head: usize) -> Result<u32> {
        let terms = graph.terms(number);
        let each = (0..terms.weights.len()).map(|term| terms.term(term));
        self.push(terms.weights, each, terms.exclusive)
    }

    fn try_clone(&self) -> Result<Self> {
        Ok(copied_lists!(self: starts, exclusive, weights, offsets, literals))
    }

    fn memory_bytes(&self) -> usize {
        8 * (self.starts.capacity()
            + self.weights.capacity()
            + self.offsets.capacity()
            + self.literals.capacity())
            + self.exclusive.capacity()
    }
}

/// Rejects terms whose sum is negative somewhere, or zero everywhere, as far as that can be decided
/// cheaply: where no weight is negative, where the terms exclude each other, and where there are at
/// most 2^16 joint states.
fn check_sum(factor: usize, terms: &Terms<'_>, cardinalities: &[usize]) -> Result<()> {
    let zero = || {
        Err(Error::InvalidArgument(format!(
            "factor {factor}: the sum of its {} terms is zero everywhere: it must be positive for \
             some joint state",
            terms.weights.len()
        )))
    };
    if terms.weights.iter().all(|&weight| weight == 0.0) {
        return zero();
    }
    let Some(term) = terms.weights.iter().position(|&weight| weight < 0.0) else { return Ok(()) };
    if terms.exclusive {
        return Err(Error::InvalidArgument(format!(
            "factor {factor}: the weight {} of term {term} is negative and no other term makes up \
             for it: a factor must not be negative",
            terms.weights[term]
        )));
    }
    let size = cardinalities.iter().try_fold(1_usize, |size, &r| size.checked_mul(r));
    if size.is_none_or(|size| size > ENUMERATION_LIMIT) {
        return Ok(());
    }
    let scale: f64 = terms.weights.iter().map(|weight| weight.abs()).sum();
    let mut states = filled(cardinalities.len(), 0)?;
    let mut positive = false;
    loop {
        let value = terms.value(&states, cardinalities.iter().copied());
        if value < -ROUNDING * scale {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: its terms add up to {value:?} at the joint state {states:?}: a \
                 factor must not be negative"
            )));
        }
        positive |= value > ROUNDING * scale;
        if !next_joint_state(&mut states, cardinalities) {
            break;
        }
    }
    if positive { Ok(()) } else { zero() }
}

/// A factor of terms to be added: per term a weight and a state, or [`WILDCARD`], per variable.
pub(crate) struct NewTerms<'a> {
    pub(crate) weights: &'a [f64],
    pub(crate) indicators: &'a [i32],
}

impl NewFactor for NewTerms<'_> {
    fn kind(&self) -> FactorKind {
        FactorKind::Terms
    }

    fn check(&self, factor: usize, members: usize) -> Result<()> {
        let Self { weights, indicators } = *self;
        if weights.is_empty() {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: it has no terms: one is needed"
            )));
        }
        if weights.len().checked_mul(members) != Some(indicators.len()) {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: {} indicators: {} terms over {members} variables need one per term and \
                 variable",
                indicators.len(),
                weights.len()
            )));
        }
        if let Some(term) = weights.iter().position(|weight| !weight.is_finite()) {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: the weight {} of term {term}: a finite value is needed",
                weights[term]
            )));
        }
        if let Some(index) = indicators.iter().position(|&state| state < WILDCARD) {
            return Err(Error::InvalidArgument(format!(
                "factor {factor}: term {} has the indicator {} for variable {} of its scope: a state, or \
                 -1 for any, is needed",
                index / members,
                indicators[index],
                index % members
            )));
        }
        Ok(())
    }

    fn push(&self, drafts: &mut Stores) -> Result<u32> {
        let Self { weights, indicators } = *self;
        let members = indicators.len() / weights.len().max(1);
        let mut literals = Vec::new();
        let mut ends = room(weights.len() + 1)?;
        ends.push(0);
        for term in 0..weights.len() {
            let row = &indicators[term * members..(term + 1) * members];
            let wanted = row.iter().enumerate().filter(|&(_, &state)| state != WILDCARD);
            literals.try_extend(wanted.map(|(position, &state)| TermLiteral {
                position: position as u32,
                state: state as u32,
            }))?;
            ends.push(literals.len());
        }
        let terms = ends.windows(2).map(|pair| &literals[pair[0]..pair[1]]);
        drafts.terms.push(weights, terms, false)
    }
}

/// One condition of a term: the variable at a position of the factor is in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TermLiteral {
    /// Position among the factor's variables (which ascend by label).
    pub position: u32,
    /// The state.
    pub state: u32,
}

/// A factor with local structure (paper section 3): f(x) = the sum of the weights of all terms whose
/// conditions hold. Variables that a term does not name may be in any state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms<'a> {
    /// One weight per term: finite; see
    /// [`FactorGraphBuilder::add_terms`](crate::FactorGraphBuilder::add_terms) for negative ones.
    pub weights: &'a [f64],
    /// Where each term's conditions start in `literals`, and where the last one's end.
    pub offsets: &'a [usize],
    /// The conditions of all terms, within a term by ascending position.
    pub literals: &'a [TermLiteral],
    /// Whether no joint state satisfies two terms, as far as is known.
    pub exclusive: bool,
}

impl<'a> Terms<'a> {
    /// The conditions of a term.
    pub fn term(&self, index: usize) -> &'a [TermLiteral] {
        let first = self.offsets[0];
        &self.literals[self.offsets[index] - first..self.offsets[index + 1] - first]
    }

    /// The weights of the terms that hold at a joint state.
    fn weights_at(&self, states: &[usize]) -> impl Iterator<Item = f64> {
        let holds =
            |literal: &TermLiteral| states[literal.position as usize] == literal.state as usize;
        (0..self.weights.len())
            .filter(move |&term| self.term(term).iter().all(holds))
            .map(|term| self.weights[term])
    }
}

impl<'a> Kind<'a> for Terms<'a> {
    type Store = TermStore;

    fn view(store: &'a TermStore, number: usize, _head: usize) -> Self {
        store.terms(number)
    }

    fn value(&self, states: &[usize], _cardinalities: impl Iterator<Item = usize>) -> f64 {
        self.weights_at(states).sum()
    }

    fn extended_value(
        &self, states: &[usize], _cardinalities: impl Iterator<Item = usize>,
    ) -> ExtendedFloat {
        let mut sums = [ExtendedFloat::ZERO; 2];
        for weight in self.weights_at(states) {
            let sum = &mut sums[usize::from(weight < 0.0)];
            *sum = sum.add(ExtendedFloat::from_f64(weight.abs()));
        }
        sums[0].minus(sums[1])
    }

    /// The maximum of a sum follows from the terms only where at most one of them holds.
    fn needs_table(&self, inference: Inference) -> bool {
        inference == Inference::MaxProduct && !self.exclusive
    }

    fn messages(&self, update: Update<'_>, scratch: &mut TermScratch) -> Result<(), NoMemory> {
        let Update { radices, incoming, inference, target, out } = update;
        let factor = TermInputs { terms: *self, radices, inputs: incoming };
        term_messages(factor, inference, target, out, scratch)
    }

    fn total(&self, radices: &[u32], messages: &[EncodedMessage]) -> Result<ExtendedFloat> {
        term_total(TermInputs { terms: *self, radices, inputs: messages })
    }

    fn device_form(&self) -> DeviceForm<'a> {
        DeviceForm::Terms(*self)
    }
}
