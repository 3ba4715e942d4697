//! The NxP heap: `malloc` and its relatives for NxP code, in NxP-local memory.
use std::sync::OnceLock;

use crate::memory::nxp_region::{self, Limits, MemoryError};

mod around_fork;
pub mod blocks;
mod exhausted;
pub mod exports;
mod fork_gate;
pub(crate) mod marks;
mod mimalloc;
mod overaligned;
pub mod policy;
#[cfg(test)]
mod tests;
pub mod tile_heaps;
pub(crate) mod usage;

static STATE: OnceLock<Result<(), MemoryError>> = OnceLock::new();

/// Reserves the region and opens the heap in it, once per process; later calls return the first
/// one's result. Until it succeeds, NxP code's `malloc` and [`exports::flick_alloc`] are served by
/// the process's own `malloc`.
pub fn init() -> Result<(), MemoryError> {
    init_with(Limits::DEFAULT)
}

/// What has to be done in the process's first thread before there is another.
#[inline]
pub fn before_threads() {
    mimalloc::configure();
}

/// [`init`] with other limits, for tests of small regions.
pub fn init_with(limits: Limits) -> Result<(), MemoryError> {
    STATE
        .get_or_init(|| {
            nxp_region::reserve(limits)?;
            around_fork::install();
            // Else the region is for the stacks alone.
            if *policy::decide() == policy::Policy::Nxp {
                blocks::open();
            }
            Ok(())
        })
        .clone()
}
