//! libflick: gates, crossing, threads, signals and memory of a program with NxP code.
//!
//! The way of a call (paper section IV.B; `docs/runtime.md`, "A crossing"): a gate loads its record
//! and jumps to [`crossing`], whose frame on the host stack is an activation; [`step`] runs the NxP
//! code through a [`backend`] until it leaves the image and says what the crossing must do next;
//! [`marshal`] moves arguments and results between the two calling conventions. [`modules`] knows
//! every image and gate, [`signals`] the faults, [`report`] what is printed when one ends the program.

mod activation;
mod active;
mod backend;
mod backtrace;
mod cleanup_push;
pub mod config;
mod crossing;
mod debugger;
pub mod device_check;
pub mod fatal;
pub mod host_library;
mod host_stack;
pub mod interpose;
mod jump_buffer;
mod lookup;
mod marshal;
pub mod memory;
pub mod modules;
mod raise;
mod registers;
mod report;
mod returns_twice;
mod shims;
pub mod signals;
pub mod single;
pub mod stats;
mod step;
mod straight;
mod sync;
mod thread;
pub mod timed;
pub mod translation;
mod unwinding;
