//! Reference values, computed in 128-bit arithmetic, against the library.
//!
//! Those of `tests/data/golden` are always checked; the larger ones are skipped, with a line that says so,
//! where `../shared` is absent.

mod common;

#[path = "common/golden.rs"]
mod golden;

use fastlbp::EngineOptions;
use golden::{Set, check_directory, check_real};

#[test]
fn tiny_graphs() {
    check_directory(Set::InTree, "tiny", 360, true, EngineOptions::default());
}

#[test]
fn middle_sized_graphs() {
    check_directory(Set::InTree, "fixed", 32, false, EngineOptions::default());
}

#[test]
fn larger_graphs() {
    check_directory(Set::Larger, "fixed", 8, false, EngineOptions::default());
}

#[test]
fn graphs_that_need_care() {
    check_directory(Set::InTree, "robust", 6, true, EngineOptions::default());
}

#[test]
fn trees_are_exact() {
    golden::trees_are_exact(EngineOptions::default());
}

#[test]
fn contradictory_evidence_is_reported() {
    golden::contradictory_evidence_is_reported(EngineOptions::default());
}

#[test]
fn explicit_orders() {
    golden::explicit_orders(EngineOptions::default());
}

#[test]
fn bingo_runs() {
    golden::bingo_runs(EngineOptions::default());
}

#[test]
fn real_smartfl_graphs() {
    check_real(Set::InTree, "smartfl", 6, EngineOptions::default());
}

#[test]
fn real_bingo_graphs() {
    check_real(Set::InTree, "bingo", 6, EngineOptions::default());
}

#[test]
fn large_smartfl_graphs() {
    check_real(Set::Larger, "smartfl", 6, EngineOptions::default());
}

#[test]
fn large_bingo_graphs() {
    check_real(Set::Larger, "bingo", 8, EngineOptions::default());
}
