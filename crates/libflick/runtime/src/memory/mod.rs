//! NxP-local memory: one reserved region with the heap at its bottom and the NxP stacks at its top,
//! and every module's `FLICK_NXP_DATA` (`docs/decisions.md`, 14).
//!
//! Address space is reserved once, before `main`; memory is committed where the heap and the stacks
//! grow. Nothing of the region moves or is given back as address space, so that "is it NxP-local"
//! is two comparisons for the region and a short walk for the data ranges, without a lock.
pub(crate) mod commit;
pub(crate) mod nxp_data;
pub mod nxp_region;
pub(crate) mod nxp_stack;
pub mod own_heaps;

pub use nxp_data::{add_data_range, remove_data_range};
pub use nxp_region::{Limits, MemoryError};

/// Whether `addr` lies in NxP-local memory. Async-signal-safe.
pub fn is_local(addr: usize) -> bool {
    nxp_region::contains(addr) || nxp_data::contains(addr)
}
