//! Time: platform files, the models of cores, caches, TLBs and memories, and the engine's observer that
//! charges NxP code by them. `docs/timing.md` says what is modelled and how.
//!
//! A run is accounted in two worlds at once: *migrating*, in which NxP code runs on the NxP, and *staying*, in
//! which everything runs on the host; and, as what staying would not take, in *before*: there the host's memory
//! has what NxP code has allocated, too. Unit: the femtosecond.
mod calls;
mod marks;
pub mod model;
mod observer;
pub mod platform;

pub use calls::{Calls, NoSampler, Sampler};
pub use marks::Marks;
pub use observer::{Costs, Layout, Spent, Timed, Worlds};
pub use platform::Platform;

/// Femtoseconds in a nanosecond.
pub const FS_PER_NS: u64 = 1_000_000;
