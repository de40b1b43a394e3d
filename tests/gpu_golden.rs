//! The reference values of `golden.rs` against the backend of `common/backend.rs`.

mod common;

#[path = "common/backend.rs"]
mod backend;
#[path = "common/golden.rs"]
mod golden;

use backend::tested;
use golden::{check_directory, check_real};

#[test]
fn tiny_graphs() {
    let Some(options) = tested() else { return };
    check_directory("tiny", 360, true, options);
}

#[test]
fn middle_sized_graphs() {
    let Some(options) = tested() else { return };
    check_directory("fixed", 40, false, options);
}

#[test]
fn graphs_that_need_care() {
    let Some(options) = tested() else { return };
    check_directory("robust", 6, true, options);
}

#[test]
fn trees_are_exact() {
    let Some(options) = tested() else { return };
    golden::trees_are_exact(options);
}

#[test]
fn contradictory_evidence_is_reported() {
    let Some(options) = tested() else { return };
    golden::contradictory_evidence_is_reported(options);
}

#[test]
fn explicit_orders() {
    let Some(options) = tested() else { return };
    golden::explicit_orders(options);
}

#[test]
fn bingo_runs() {
    let Some(options) = tested() else { return };
    golden::bingo_runs(options);
}

#[test]
fn real_smartfl_graphs() {
    let Some(options) = tested() else { return };
    check_real("smartfl", 12, options);
}

#[test]
fn real_bingo_graphs() {
    let Some(options) = tested() else { return };
    check_real("bingo", 14, options);
}
