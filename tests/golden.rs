//! Reference values in `../shared/golden`, computed in 128-bit arithmetic, against the library.
//!
//! Every test is skipped, with a line that says so, where that directory is absent.

mod common;

#[path = "common/golden.rs"]
mod golden;

use fastlbp::EngineOptions;
use golden::{check_directory, check_real};

#[test]
fn tiny_graphs() {
    check_directory("tiny", 360, true, EngineOptions::default());
}

#[test]
fn middle_sized_graphs() {
    check_directory("fixed", 40, false, EngineOptions::default());
}

#[test]
fn graphs_that_need_care() {
    check_directory("robust", 6, true, EngineOptions::default());
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
    check_real("smartfl", 12, EngineOptions::default());
}

#[test]
fn real_bingo_graphs() {
    check_real("bingo", 14, EngineOptions::default());
}
