//! The native part of the Python package `fastlbp`: objects that hold the library's, and arrays in both directions.
//!
//! What users see is written in Python (`python/fastlbp`): names, defaults, conversions of arguments. This crate takes
//! arrays of one type, contiguous, and checks what soundness needs. A call that takes long lets other threads run.

mod arrays;
mod builder;
mod devices;
mod errors;
mod evidence;
mod exact;
mod files;
mod graph;
mod graph_parts;
mod inspection;
mod request;
mod session;
mod watch;

use pyo3::prelude::*;

/// The native part of fastlbp.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::builder::Builder;
    #[pymodule_export]
    use super::devices::{devices, start_device};
    #[pymodule_export]
    use super::exact::Exact;
    #[pymodule_export]
    use super::graph::Graph;
    #[pymodule_export]
    use super::inspection::{Inspection, quality, suspects};
    #[pymodule_export]
    use super::request::Request;
    #[pymodule_export]
    use super::session::Session;
}
