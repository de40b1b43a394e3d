//! Helpers for the tests of several formats.

use crate::error::Result;
use crate::model::{FactorGraph, FactorGraphBuilder};

/// Labels 3 (3 states), 10 and 20 (binary).
pub(super) fn three_variables() -> FactorGraph {
    let mut builder = FactorGraphBuilder::new();
    builder.add_variables(&[10, 20, 3], &[2, 2, 3]).unwrap();
    builder.build().unwrap()
}

/// Checks that each text is rejected, with an error that starts with the name of the file and the given rest.
#[track_caller]
pub(super) fn assert_refused<T>(
    file: &str, read: impl Fn(&str) -> Result<T>, cases: &[(&str, &str)],
) {
    for (text, wanted) in cases {
        let Err(error) = read(text) else { panic!("{text:?} is read") };
        let found = error.to_string();
        assert!(found.starts_with(&format!("{file}:{wanted}")), "{text:?}: {found}");
    }
}
