//! From labels to the indices of variables.

use super::graph::Label;
use crate::error::{Error, Result};
use crate::memory::{collected, filled, room};

/// Largest number of edges, variables or factors: indices are 32 bits wide.
pub(super) const INDEX_LIMIT: usize = u32::MAX as usize - 1;

/// Maps labels to their ranks: by a direct table where labels are dense, else by binary search.
pub(super) struct LabelIndex {
    pub(super) labels: Vec<Label>,
    direct: Option<Vec<u32>>,
}

impl LabelIndex {
    /// The index of the labels that `used` lists, in any order and with repetitions, at most `total` of them.
    pub(super) fn new<I>(used: impl Fn() -> I, total: usize) -> Result<Self>
    where
        I: Iterator<Item = Label>,
    {
        let highest = used().max().unwrap_or(0);
        let dense = usize::try_from(highest).is_ok_and(|highest| highest / 2 <= total);
        let (labels, direct) = if dense {
            let mut direct = filled(highest as usize + 1, u32::MAX)?;
            used().for_each(|label| direct[label as usize] = 0);
            let count = direct.iter().filter(|&&slot| slot == 0).count();
            let mut labels = room(count)?;
            for (label, slot) in direct.iter_mut().enumerate() {
                if *slot == 0 {
                    *slot = labels.len() as u32;
                    labels.push(label as Label);
                }
            }
            (labels, Some(direct))
        } else {
            let mut labels: Vec<Label> = room(total)?;
            labels.extend(used());
            labels.sort_unstable();
            labels.dedup();
            (labels, None)
        };
        if labels.len() > INDEX_LIMIT {
            return Err(Error::LimitExceeded(format!(
                "{} variables: at most {INDEX_LIMIT} can be indexed",
                labels.len()
            )));
        }
        Ok(Self { labels, direct })
    }

    /// The labels that are not among `heads`, ascending.
    pub(super) fn labels_without(&self, heads: impl Iterator<Item = Label>) -> Result<Vec<Label>> {
        let mut headed = filled(self.labels.len(), false)?;
        heads.for_each(|head| headed[self.of(head) as usize] = true);
        let labels = self.labels.iter().zip(headed);
        collected(labels.filter(|&(_, headed)| !headed).map(|(&label, _)| label))
    }

    /// Index of a label that [`Self::new`] was given.
    pub(super) fn of(&self, label: Label) -> u32 {
        match &self.direct {
            Some(direct) => direct[label as usize],
            None => self.labels.partition_point(|&known| known < label) as u32,
        }
    }
}
