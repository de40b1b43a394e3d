//! Fallible allocation. Every allocation whose size depends on input goes through this module, and returns
//! [`crate::Error::OutOfMemory`] if the allocator fails. The hosts of this library are JVMs and
//! servers, which must outlive a graph that is too large.
//!
//! Allocations of the standard library that cannot return an error are small and of fixed size: texts of errors,
//! the counters of an `Arc`, the start of a thread. `tests/allocations.rs` fails each allocation in turn and
//! has the list.

mod allocation;
mod sorted_map;

#[cfg(feature = "c-interface")]
pub(crate) use allocation::display;
pub(crate) use allocation::{
    AllZero, Grow, NoMemory, all_collected, boxed, collected, copied, copied_lists, entry_room,
    filled, fit, insert, map_room, out_of_memory, path, probe, room, shared, text, zeroed,
};
pub(crate) use sorted_map::SortedMap;
