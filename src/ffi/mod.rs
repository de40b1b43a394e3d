//! The C interface: everything in `include/fastlbp.h`, and the only place with `extern "C"`.
//!
//! The documentation of the functions is written for the header, which is generated from these
//! files; `guard` holds what every entry does: NULL checks, one lock per handle, no panic across
//! the boundary.

// The C names are the names.
#![allow(non_camel_case_types)]
// What a caller must keep to is said once for all functions, at the head of the header.
#![allow(clippy::missing_safety_doc)]

mod arguments;
mod batch;
mod bp;
mod contents;
mod decoding;
mod device;
mod evidence;
mod factor_contents;
mod graph;
mod guard;
mod log;
mod memory;
mod messages;
mod properties;
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
pub use decoding::*;
pub use device::*;
pub use evidence::*;
pub use factor_contents::*;
pub use graph::*;
pub use log::*;
pub use messages::*;
pub use results::*;
pub use run::*;
pub use schedule::*;
pub use settings::*;
pub use status::*;
pub use structured::*;
pub use version::*;
