//! The variables that a network has declared.

use super::super::names::Names;
use super::super::text::show;

/// The variables of a network, indexed by label.
pub(super) struct Variables {
    pub(super) names: Names,
    pub(super) cardinalities: Vec<usize>,
    /// Line of each declaration.
    pub(super) lines: Vec<u64>,
}

/// A name for a message.
pub(super) fn quote(name: &str) -> String {
    show(name.as_bytes())
}
