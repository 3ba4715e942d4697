//! The timing model: platform files, models of cores, caches, TLBs and memories, and the engine's
//! observer that charges NxP code by them. `docs/timing.md` says which effects are modelled, and
//! how.
//!
//! | file | step |
//! |---|---|
//! | `platform/` | reads a platform file, from Flick or from the user, into a [`Platform`] |
//! | `document_settings.rs` | `KEY=VALUE`: changes a file before it is read |
//! | `memory_system/` | caches, TLBs, banks and coherence of a tile of the simulated machine |
//! | `network/` | the time of packets on the links between tiles of the simulated machine |
//! | `machine/` | reads a machine file into a [`machine::Machine`] |
//! | `model/` | caches, TLB and memories of a core, built from the platform; an access has a cost |
//! | `allocation_marks.rs` | libflick's marks: heap that NxP code has allocated |
//! | `call_stack.rs` | the calls that NxP code is in, for the profile of functions |
//! | `vector_classes.rs` | vector instructions as scalar instructions of the platform |
//! | `worlds.rs` | the models of a thread, of both worlds |
//! | `timed_observer.rs` | adds up the costs of the instructions and accesses that the engine reports |
//!
//! libflick's `timed/` reads the sum ([`Spent`]) after each residency on the NxP. It charges host
//! code, library calls and crossings by the same platform, and writes the record.
//!
//! A run is accounted in two worlds at once. In *migrating*, NxP code runs on the NxP. In
//! *staying*, all code runs on the host. A third world, *before*, is staying with the memory that
//! NxP code has allocated in the host's own memory; it is kept as a difference from staying. The
//! unit is the femtosecond.
#![warn(missing_docs)]
mod allocation_marks;
pub mod branch_predictor;
mod call_stack;
pub mod core_costs;
mod document_settings;
pub mod faults;
pub mod machine;
pub mod memory_system;
pub mod model;
pub mod network;
pub mod platform;
mod timed_observer;
mod vector_classes;
mod worlds;

pub use allocation_marks::Marks;
pub use call_stack::{Calls, NoSampler, Sampler};
pub use platform::Platform;
pub use timed_observer::{Costs, Layout, Spent, Timed};
pub use worlds::{Progress, Waits, Worlds};

/// Femtoseconds in a nanosecond.
pub const FS_PER_NS: u64 = 1_000_000;
