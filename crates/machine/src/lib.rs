//! A simulated RV64 machine: harts, memory and devices under one virtual clock. The same machine,
//! programs and input give the same cycle of every event, on any host.
//!
//! | file | subject |
//! |---|---|
//! | `memory.rs` | [`Ram`]: plain memory |
//! | `board.rs` | [`Board`]: memory and devices, as harts and devices reach them |
//! | `machine.rs` | [`Machine`]: which hart runs when |
//! | `boot.rs` | [`boot()`]: firmware, kernel and device tree in memory |
//! | `program.rs` | ELF files and raw images in memory |
//! | `htif.rs` | how bare programs end and print (`tohost`) |
//! | `virt.rs` | the map of QEMU's machine `virt` |
#![warn(missing_docs)]

mod board;
mod boot;
mod htif;
mod machine;
mod memory;
mod program;
pub mod virt;

pub use board::Board;
pub use boot::{BadBoot, Booted, Files, boot};
pub use htif::Htif;
pub use machine::{Console, End, HartDescription, Machine};
pub use memory::{BadRam, Ram};
pub use program::{BadProgram, Program};
