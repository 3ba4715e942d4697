//! Programs on Linux hosts of RISC-V whose CPUs differ in their extensions: `flick run --extensions`.
//!
//! A process watches the program by `ptrace`. A thread that takes an illegal-instruction fault moves to
//! a CPU that has the instruction, and goes on there. docs/migration.md has the rules for users.
//!
//! | file | subject |
//! |---|---|
//! | `cpu_set.rs` | sets of CPUs |
//! | `cpus.rs` | the CPUs, their extensions and kinds |
//! | `sources.rs` | what Linux and the device tree say of them |
//! | `description.rs` | the user's file that says more |
//! | `needs.rs` | what an instruction needs |
//! | `move_policy.rs` | where a thread goes, and for how long |
//! | `thread_stops.rs` | the calls of `ptrace`, and what a stop of a thread means |
//! | `affinity.rs` | the program's own calls about affinity |
//! | `watcher.rs` | the process that watches: its loop |
//! | `launch.rs` | how the program and its watcher begin |
//! | `moved_lines.rs` | the instructions that threads moved for |
//!
//! All but the names of CPUs' sources is the same on other hosts, so tests of the watcher run there.
#![warn(missing_docs)]

mod affinity;
pub mod cpu_set;
pub mod cpus;
pub mod description;
pub mod launch;
pub mod move_policy;
mod moved_lines;
pub mod needs;
pub mod sources;
mod thread_stops;
mod watcher;

pub use launch::{Options, run};
