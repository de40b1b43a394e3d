//! Memory that may not be there: every allocation whose size depends on input is made through this module, and
//! comes back as [`crate::Error::OutOfMemory`] where the allocator fails. The hosts of this library are JVMs and
//! servers, which must outlive a graph that is too large.
//!
//! What the standard library allocates without a way to fail stays small and of fixed size: texts of errors,
//! the counters of an `Arc`, the start of a thread. `tests/allocations.rs` fails each allocation in turn and
//! has the list.

mod allocation;
mod sorted_map;

pub(crate) use allocation::{
    Grow, NoMemory, all_collected, boxed, collected, copied, display, entry_room, filled, fit,
    insert, out_of_memory, path, probe, room, shared, text,
};
pub(crate) use sorted_map::SortedMap;
