//! Batches of prior, AND and OR factors: a thread collects one, and many are appended to a builder at once.

use super::builder::FactorGraphBuilder;
use super::graph::Label;
use crate::error::Result;
use crate::factor::{FactorKind, HornParameters, NewFactor, Stores};
use crate::memory::{Grow, room};
use crate::threads::Gang;
use std::mem::MaybeUninit;

/// Most distinct parameters that a batch keeps when it is emptied.
const KEPT_PARAMETERS: usize = 1 << 12;

/// Some prior, AND and OR factors in a row.
#[derive(Default)]
pub(crate) struct HornBatch {
    kinds: Vec<FactorKind>,
    heads: Vec<Label>,
    /// Where each factor's body ends in `members`.
    ends: Vec<usize>,
    /// The bodies; after the last end, the begin of the next one.
    members: Vec<Label>,
    /// Number of each factor's parameters in `store`.
    parameters: Vec<u32>,
    /// Distinct parameters of this batch, and of earlier ones that had its place, by their first use.
    store: Stores,
    /// The builder's numbers of those that it has got.
    numbers: Vec<u32>,
}

impl HornBatch {
    /// An empty batch with room for so many factors with so many members together; it grows where they are more.
    pub(crate) fn with_room(factors: usize, members: usize) -> Result<Self> {
        Ok(Self {
            kinds: room(factors)?,
            heads: room(factors)?,
            ends: room(factors)?,
            members: room(members)?,
            parameters: room(factors)?,
            ..Self::default()
        })
    }

    /// Number of factors.
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The number of parameters, for [`Self::push`]. It is valid until [`Self::clear`].
    pub(crate) fn number(&mut self, kind: FactorKind, p: f64, q: f64) -> Result<u32> {
        let parameters = HornParameters { kind, p, q, head_in_body: false };
        parameters.check(self.len(), 0)?;
        parameters.push(&mut self.store)
    }

    /// Appends a label to the body of the next factor, which [`Self::push`] completes.
    #[inline]
    pub(crate) fn push_member(&mut self, label: Label) -> Result<()> {
        self.members.try_push(label)
    }

    /// Appends a factor, the body of which is what has been pushed since the last one.
    #[inline]
    pub(crate) fn push(&mut self, kind: FactorKind, head: Label, number: u32) -> Result<()> {
        self.heads.try_push(head)?;
        self.ends.try_push(self.members.len())?;
        self.parameters.try_push(number)?;
        self.kinds.try_push(kind)
    }

    /// Empties the batch, but keeps the numbers of parameters, if they are few.
    pub(crate) fn clear(&mut self) {
        self.kinds.clear();
        self.heads.clear();
        self.ends.clear();
        self.members.clear();
        self.parameters.clear();
        if self.store.horn.entries().len() > KEPT_PARAMETERS {
            self.forget_parameters();
        }
    }

    /// Drops all parameters. Those of factors that are not appended must not stay, since the builder would get them out
    /// of the order of the factors.
    pub(crate) fn forget_parameters(&mut self) {
        self.store = Stores::default();
        self.numbers.clear();
    }
}

/// The part of the builder's lists that a batch fills.
struct Section<'a> {
    batch: &'a HornBatch,
    /// Members before those of the batch.
    base: usize,
    kinds: &'a mut [MaybeUninit<FactorKind>],
    heads: &'a mut [MaybeUninit<Label>],
    ends: &'a mut [MaybeUninit<usize>],
    members: &'a mut [MaybeUninit<Label>],
    parameters: &'a mut [MaybeUninit<u32>],
}

impl Section<'_> {
    /// Initializes all items.
    fn fill(&mut self) {
        let Self { batch, base, .. } = *self;
        write(self.kinds, batch.kinds.iter().copied());
        write(self.heads, batch.heads.iter().copied());
        write(self.ends, batch.ends.iter().map(|end| base + end));
        write(self.members, batch.members.iter().copied());
        write(self.parameters, batch.parameters.iter().map(|&own| batch.numbers[own as usize]));
    }
}

/// Initializes all items of a list from as many values.
fn write<T>(list: &mut [MaybeUninit<T>], values: impl ExactSizeIterator<Item = T>) {
    assert_eq!(list.len(), values.len());
    for (slot, value) in list.iter_mut().zip(values) {
        slot.write(value);
    }
}

impl FactorGraphBuilder {
    /// Adds the factors of some batches, one batch after the other, with the threads of a gang. Errors: no memory; nothing
    /// has been added then.
    pub(crate) fn add_batches(&mut self, batches: &mut [HornBatch], gang: &Gang) -> Result<()> {
        let factors: usize = batches.iter().map(HornBatch::len).sum();
        let members: usize = batches.iter().map(|batch| batch.members.len()).sum();
        self.make_room(factors, members)?;
        for batch in batches.iter_mut() {
            let new = &batch.store.horn.entries()[batch.numbers.len()..];
            batch.numbers.try_room(new.len())?;
            for parameters in new {
                batch.numbers.push(parameters.push(&mut self.drafts)?);
            }
        }
        let mut sections = room(batches.len())?;
        let mut base = self.members.len();
        let mut kinds = &mut self.kinds.spare_capacity_mut()[..factors];
        let mut heads = &mut self.heads.spare_capacity_mut()[..factors];
        let mut ends = &mut self.member_ends.spare_capacity_mut()[..factors];
        let mut own_members = &mut self.members.spare_capacity_mut()[..members];
        let mut parameters = &mut self.parameters.spare_capacity_mut()[..factors];
        for batch in &*batches {
            let (count, length) = (batch.len(), batch.members.len());
            sections.push(Section {
                batch,
                base,
                kinds: kinds.split_off_mut(..count).unwrap_or_default(),
                heads: heads.split_off_mut(..count).unwrap_or_default(),
                ends: ends.split_off_mut(..count).unwrap_or_default(),
                members: own_members.split_off_mut(..length).unwrap_or_default(),
                parameters: parameters.split_off_mut(..count).unwrap_or_default(),
            });
            base += length;
        }
        gang.each(&mut sections, Section::fill);
        drop(sections);
        let factors = self.kinds.len() + factors;
        // SAFETY: the sections make up the items up to these lengths, for which there is room, and `fill` has
        // initialized all items of each section.
        unsafe {
            self.kinds.set_len(factors);
            self.heads.set_len(factors);
            self.member_ends.set_len(factors);
            self.members.set_len(base);
            self.parameters.set_len(factors);
        }
        Ok(())
    }
}
