//! The C interface: everything in `include/fastlbp.h`, and the only place with `extern "C"`.
//!
//! The header is generated from these files (`tests/header.rs`): each file that begins with a title is a
//! chapter of it, opened by the file's first comment. What every call does is in `guard` (one lock per handle, no
//! panic across the boundary) and `arguments` (checked pointers); `entry` makes one line of it. Files depend one
//! way: functions -> `session` and `arguments` -> `guard` -> `status`.

// The C names are the names.
#![allow(non_camel_case_types)]
// What a caller must keep to is said once for all functions, at the head of the header.
#![allow(clippy::missing_safety_doc)]
// The macros of `entry` are the unsafe block of a function.
#![allow(clippy::macro_metavars_in_unsafe)]

#[macro_use]
mod entry;

mod answers;
mod arguments;
mod batch;
mod bp;
mod choices;
mod contents;
mod device;
mod evidence;
mod factors;
mod graph;
mod guard;
mod log;
mod memory;
mod messages;
mod properties;
mod report;
mod results;
mod run;
mod schedule;
mod session;
mod settings;
mod status;
mod structured;
#[cfg(any(test, feature = "test-hooks"))]
mod test_hooks;
mod version;

#[cfg(test)]
mod tests;

pub use batch::*;
pub use bp::*;
pub use contents::*;
pub use device::*;
pub use evidence::*;
pub use factors::*;
pub use graph::*;
pub use log::*;
pub use messages::*;
pub use properties::*;
pub use report::*;
pub use results::*;
pub use run::*;
pub use schedule::*;
pub use settings::*;
pub use status::*;
pub use structured::*;
pub use version::*;
