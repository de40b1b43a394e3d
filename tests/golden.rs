//! Reference values, computed in 128-bit arithmetic, against the library.
//!
//! Those of `tests/data/golden` are always checked; the larger ones are skipped, with a line that says so,
//! where `../shared` is absent.

mod common;

#[macro_use]
#[path = "common/golden.rs"]
mod golden;

golden_tests!(Some(fastlbp::EngineOptions::default()));
