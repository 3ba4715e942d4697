//! A debugger's view of a machine: it stops anywhere, looks at everything, and goes back. The client is
//! GDB, by its remote protocol.
//!
//! Debugging changes nothing that happens in the machine. A stop is a pause within a hart's slice
//! ([`flick_machine::Turn::Paused`]). To go back, a snapshot from before is put in place, and the machine
//! runs again up to the wanted instruction, with the same input from outside.
//!
//! | file | subject |
//! |---|---|
//! | `stop_points.rs` | [`StopPoints`]: breakpoints and watchpoints |
//! | `watched_slice.rs` | slices that pause at them |
//! | `shown_console.rs` | the console of a machine that runs again: each byte is shown once |
//! | `run_timeline.rs` | [`Timeline`]: forward to the next stop, and the snapshots on the way |
//! | `backward.rs` | back to the last stop |
//! | `hart_registers.rs` | all registers by GDB's numbers, and the target description |
//! | `gdb_target.rs` | what GDB's packets do |
//! | `monitor_commands.rs` | GDB's `monitor` |
//! | `gdb_session.rs` | [`serve`]: connections |
#![warn(missing_docs)]

mod backward;
mod gdb_session;
mod gdb_target;
mod hart_registers;
mod monitor_commands;
mod run_timeline;
mod shown_console;
mod stop_points;
mod watched_slice;

pub use gdb_session::{Address, BadServer, serve};
pub use run_timeline::{Stop, Timeline};
pub use stop_points::{StopPoints, WatchKind};
