//! The file system as reading and writing whole files needs it.
//!
//! `load` in `file.rs` and `save` go through the trait [`FileSystem`]. [`Native`] is the real one;
//! the tests have one in which any operation can fail, or the process can die there (`faulty.rs`).
//! An operation may fail by `ErrorKind::Interrupted` at any time: callers try again ([`retry`],
//! [`Patient`]).
//!
//! A file that is being written has no name, where the system can make such files, or a temporary
//! name, which [`abort_writes`] removes before a process ends by a signal.

mod abort;
mod again;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod attributes;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod descriptors;
#[cfg(all(test, unix))]
pub(super) mod faulty;
mod interface;
mod native;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "portable.rs")]
mod system;
mod temporaries;

pub use abort::abort_writes;
pub(super) use again::{Patient, retry};
pub(super) use interface::{Access, FileSystem, Kind, OpenFile, Readers, Status};
pub(super) use native::{Native, hold_writes};
pub(super) use temporaries::copy_of_name;
