//! From labels to the indices of variables.

use super::graph::Label;
use crate::error::{Error, Result};
use crate::factor::FactorKind;
use crate::memory::{collected, filled, room, zeroed};
use crate::threads::Gang;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Largest number of edges, variables or factors: indices are 32 bits wide.
pub(super) const INDEX_LIMIT: usize = u32::MAX as usize - 1;

/// Where labels occur, in any order and with repetitions.
pub(super) struct UsedLabels<'a> {
    pub(super) members: &'a [Label],
    /// One per factor; only those of factors that have a head are meant.
    pub(super) heads: &'a [Label],
    pub(super) kinds: &'a [FactorKind],
    pub(super) declared: &'a [(Label, u32)],
}

impl UsedLabels<'_> {
    /// The heads of all factors that have one.
    pub(super) fn headed(&self) -> impl Iterator<Item = Label> {
        let heads = self.heads.iter().zip(self.kinds).filter(|&(_, kind)| kind.has_head());
        heads.map(|(&head, _)| head)
    }

    fn all(&self) -> impl Iterator<Item = Label> {
        let declared = self.declared.iter().map(|&(label, _)| label);
        self.members.iter().copied().chain(self.headed()).chain(declared)
    }

    /// One of `count` parts of equal size.
    fn part(&self, part: usize, count: usize) -> Self {
        fn cut<T>(items: &[T], part: usize, count: usize) -> &[T] {
            let at = |part: usize| (items.len() as u64 * part as u64 / count as u64) as usize;
            &items[at(part)..at(part + 1)]
        }
        Self {
            members: cut(self.members, part, count),
            heads: cut(self.heads, part, count),
            kinds: cut(self.kinds, part, count),
            declared: cut(self.declared, part, count),
        }
    }

    /// At least the number of all labels.
    fn total(&self) -> usize {
        self.members.len() + self.heads.len() + self.declared.len()
    }
}

/// Maps labels to their ranks.
pub(super) struct LabelIndex {
    /// All labels, ascending.
    pub(super) labels: Vec<Label>,
    ranks: Ranks,
}

enum Ranks {
    /// The labels have no gaps: each is its own rank.
    Same,
    /// By label, for labels with few gaps.
    Direct(Vec<u32>),
    /// By binary search among the labels.
    Search,
}

impl LabelIndex {
    /// The index of the labels in use.
    pub(super) fn new(used: &UsedLabels<'_>, gang: &Gang) -> Result<Self> {
        let highest = highest(used, gang);
        let total = used.total();
        let index = if usize::try_from(highest).is_ok_and(|highest| highest / 2 <= total) {
            Self::of_dense(used, highest as usize, gang)?
        } else {
            let mut labels: Vec<Label> = room(total)?;
            labels.extend(used.all());
            labels.sort_unstable();
            labels.dedup();
            Self { labels, ranks: Ranks::Search }
        };
        if index.labels.len() > INDEX_LIMIT {
            return Err(Error::LimitExceeded(format!(
                "{} variables: at most {INDEX_LIMIT} can be indexed",
                index.labels.len()
            )));
        }
        Ok(index)
    }

    /// The index of labels that are few more than the highest.
    fn of_dense(used: &UsedLabels<'_>, highest: usize, gang: &Gang) -> Result<Self> {
        let is_used: Vec<AtomicU8> = zeroed(highest + 1)?;
        let threads = gang.threads();
        gang.run(&|thread| {
            // Parts are handed out by the number of the thread, of which there may be fewer than wanted.
            used.part(thread, threads).all().for_each(|label| {
                let is_used = &is_used[label as usize];
                // A cache line that is only read can be in the caches of all cores.
                if is_used.load(Ordering::Relaxed) == 0 {
                    is_used.store(1, Ordering::Relaxed);
                }
            });
        });
        let is_used = |label: usize| is_used[label].load(Ordering::Relaxed) == 1;
        let count = (0..=highest).filter(|&label| is_used(label)).count();
        if count == highest + 1 {
            return Ok(Self { labels: collected(0..count as Label)?, ranks: Ranks::Same });
        }
        let mut direct = filled(highest + 1, u32::MAX)?;
        let mut labels = room(count)?;
        for (label, rank) in direct.iter_mut().enumerate() {
            if is_used(label) {
                *rank = labels.len() as u32;
                labels.push(label as Label);
            }
        }
        Ok(Self { labels, ranks: Ranks::Direct(direct) })
    }

    /// The labels that are not among `heads`, ascending.
    pub(super) fn labels_without(&self, heads: impl Iterator<Item = Label>) -> Result<Vec<Label>> {
        let mut headed = filled(self.labels.len(), false)?;
        heads.for_each(|head| headed[self.of(head) as usize] = true);
        let labels = self.labels.iter().zip(headed);
        collected(labels.filter(|&(_, headed)| !headed).map(|(&label, _)| label))
    }

    /// Index of a label that [`Self::new`] was given.
    #[inline]
    pub(super) fn of(&self, label: Label) -> u32 {
        match &self.ranks {
            Ranks::Same => label as u32,
            Ranks::Direct(direct) => direct[label as usize],
            Ranks::Search => self.labels.partition_point(|&known| known < label) as u32,
        }
    }
}

/// The highest label; 0 if there is none.
fn highest(used: &UsedLabels<'_>, gang: &Gang) -> Label {
    let highest = AtomicU64::new(0);
    gang.run(&|thread| {
        let own = used.part(thread, gang.threads()).all().max();
        highest.fetch_max(own.unwrap_or_default(), Ordering::Relaxed);
    });
    highest.into_inner()
}
