//! What has been found out about a schedule.

use super::levels::{Levels, Storage, analyse};
use super::named::Schedule;
use super::preorder::Preorder;
use crate::error::Result;
use crate::model::FactorGraph;
use once_cell::sync::OnceCell;

/// The preorder of a schedule's first iteration, and its levels where messages lie side by side: each is found when it is first
/// asked for, and then the same for all. It belongs to one graph and one schedule, which callers name.
#[derive(Default)]
pub(crate) struct KnownOrder {
    preorder: OnceCell<Preorder>,
    levels: OnceCell<Levels>,
}

impl KnownOrder {
    /// Errors: those of [`Schedule::preorder`].
    pub(crate) fn preorder(&self, graph: &FactorGraph, schedule: &Schedule) -> Result<&Preorder> {
        self.preorder.get_or_try_init(|| schedule.preorder(graph, 0))
    }

    /// Errors: those of [`Self::preorder`] and of [`analyse`].
    pub(crate) fn levels(&self, graph: &FactorGraph, schedule: &Schedule) -> Result<&Levels> {
        self.levels.get_or_try_init(|| {
            analyse(graph, self.preorder(graph, schedule)?, Storage::SideBySide)
        })
    }

    #[cfg(test)]
    pub(crate) fn has_levels(&self) -> bool {
        self.levels.get().is_some()
    }
}
