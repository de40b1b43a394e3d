//! The pages of `--report`. `page` is the file, `figures` draws, `sections` are what the pages of several commands have,
//! and each command has a file for its own.

pub mod figures;
pub mod infer;
pub mod locate;
pub mod page;
pub mod rank;
pub mod sections;
