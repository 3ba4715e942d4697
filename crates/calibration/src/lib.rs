//! Measures the host that it runs on, for predictions: `flick platform calibrate`.
//! `docs/guide-calibrate.md` says how it is used, and what each figure means.
//!
//! The data flows in this order:
//! 1. `measuring.rs` measures each part, several times: streams of one instruction
//!    (`instruction_streams.rs`), and chains and streams of accesses (`memory_accesses.rs`) to memory of its
//!    own (`pages.rs`), wrong predictions (`branches.rs`), the kernel's pages (`page_faults.rs`) and calls of the
//!    C library (`library_calls.rs`). `statistics.rs` has the medians and quartiles.
//! 2. `latency_levels.rs` finds sizes and numbers in the curves, without any knowledge of the machine.
//! 3. `host_section.rs` writes the part of a platform file, with what Linux says of the machine
//!    (`host_facts.rs`), and says why the figures may be wrong.
//!
//! Times are those that the thread has had a processor (`CLOCK_THREAD_CPUTIME_ID`), so other programs disturb
//! caches and memory alone. It needs no root, no large pages and no performance counters.
#![cfg(target_arch = "x86_64")]
#![warn(missing_docs)]
mod branches;
pub mod host_facts;
pub mod host_section;
mod instruction_streams;
pub mod latency_levels;
mod library_calls;
mod measuring;
mod memory_accesses;
mod page_faults;
mod pages;
mod statistics;

pub use library_calls::LibraryCall;
pub use measuring::{ClassTimes, Curve, Effort, Measured, measure};
pub use statistics::Spread;
