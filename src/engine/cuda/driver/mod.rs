//! The CUDA driver: the only place that names its functions or the crate `cust`.
//!
//! `cust` declares the driver's functions and would link to `libcuda`. Here they are defined instead
//! ([`names`], [`forwards`]), as shims that open the driver's library when they are first called ([`shims`],
//! [`library`]): one build of the library loads everywhere, and finds the driver where there is one.
//!
//! On top is what an engine needs. All functions that use a context ask for a [`Current`], the proof
//! that it is current on this thread; when that goes, whatever was current before is so again, so
//! that a host's own use of CUDA on the same thread is not disturbed.

#[macro_use]
mod jumps;

mod context;
mod device;
mod failure;
#[cfg(test)]
pub(crate) mod fake;
mod forwards;
mod graph;
mod handle;
mod library;
mod memory;
mod module;
mod names;
mod shims;
mod stream;
#[cfg(test)]
mod tests;

use cust::sys;

pub(crate) use context::{Context, Current};
pub(crate) use device::{Device, driver_version};
pub(crate) use graph::Graph;
pub(crate) use library::is_there;
pub(crate) use memory::{DeviceBuffer, Element, PinnedBuffer};
pub(crate) use module::{Argument, Kernel, Launch, Module};
pub(crate) use stream::{Event, Queue, Stream};
