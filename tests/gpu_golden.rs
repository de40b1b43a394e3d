//! The reference values of `golden.rs` against the backend of `common/backend.rs`.

mod common;

#[path = "common/backend.rs"]
mod backend;
#[path = "common/golden.rs"]
mod golden;

use backend::tested;
use golden::{Set, check_directory, check_real};

#[test]
fn tiny_graphs() {
    let Some(options) = tested() else { return };
    check_directory(Set::InTree, "tiny", 360, true, options);
}

#[test]
fn middle_sized_graphs() {
    let Some(options) = tested() else { return };
    check_directory(Set::InTree, "fixed", 32, false, options);
}

#[test]
fn larger_graphs() {
    let Some(options) = tested() else { return };
    check_directory(Set::Larger, "fixed", 8, false, options);
}

#[test]
fn graphs_that_need_care() {
    let Some(options) = tested() else { return };
    check_directory(Set::InTree, "robust", 6, true, options);
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
    check_real(Set::InTree, "smartfl", 6, options);
}

#[test]
fn real_bingo_graphs() {
    let Some(options) = tested() else { return };
    check_real(Set::InTree, "bingo", 6, options);
}

#[test]
fn large_smartfl_graphs() {
    let Some(options) = tested() else { return };
    check_real(Set::Larger, "smartfl", 6, options);
}

#[test]
fn large_bingo_graphs() {
    let Some(options) = tested() else { return };
    check_real(Set::Larger, "bingo", 8, options);
}
