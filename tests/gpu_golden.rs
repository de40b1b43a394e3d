//! The reference values of `golden.rs` against the backend of `common/backend.rs`.

mod common;

#[path = "common/backend.rs"]
mod backend;
#[macro_use]
#[path = "common/golden.rs"]
mod golden;

golden_tests!(backend::tested());
