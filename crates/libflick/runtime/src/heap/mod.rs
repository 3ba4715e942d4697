//! NxP-local memory: one reserved region with the heap at its bottom and the NxP stacks at its top,
//! and every module's `FLICK_NXP_DATA` (`docs/decisions.md`, 14).
//!
//! Address space is reserved once, before `main`; memory is committed where the heap and the stacks
//! grow. Nothing of the region moves or is given back as address space, so that "is it NxP-local" is
//! two comparisons for the region and a short walk for the data ranges, without a lock.
use std::sync::OnceLock;

mod commit;
mod exhausted;
pub mod exports;
mod gate;
pub mod heap;
mod lock;
mod mimalloc;
mod overaligned;
pub mod policy;
mod ranges;
pub mod region;
pub mod stack;
#[cfg(test)]
mod tests;

pub(crate) use lock::Lock;
pub use ranges::{add_data_range, remove_data_range};
pub use region::{Limits, MemoryError};

static STATE: OnceLock<Result<(), MemoryError>> = OnceLock::new();

/// Reserves the region and makes the heap in it, once per process; later calls return the first
/// one's result. Until it succeeds, NxP code's `malloc` and [`exports::flick_alloc`] are served by
/// the process's own `malloc`.
pub fn init() -> Result<(), MemoryError> {
    init_with(Limits::DEFAULT)
}

/// [`init`] with other limits, for tests of small regions.
pub fn init_with(limits: Limits) -> Result<(), MemoryError> {
    STATE
        .get_or_init(|| {
            region::reserve(limits)?;
            lock::install_fork_handlers();
            match policy::decide() {
                policy::Policy::Nxp => mimalloc::start().inspect(|()| heap::open()),
                // The region is for the stacks alone then.
                policy::Policy::Host(_) => Ok(()),
            }
        })
        .clone()
}

/// Whether `addr` lies in NxP-local memory. Async-signal-safe.
pub fn is_local(addr: usize) -> bool {
    region::contains(addr) || ranges::contains(addr)
}
