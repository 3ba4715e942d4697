//! A simulated RV64 machine: harts, memory and devices under one virtual clock. The same machine,
//! programs and input give the same cycle of every event, on any host.
//!
//! | file | subject |
//! |---|---|
//! | `ram.rs` | [`Ram`]: plain memory |
//! | `board.rs` | [`Board`]: memory and devices, as harts and devices reach them |
//! | `hart_order.rs` | [`Machine`]: which hart runs when |
//! | `boot.rs` | [`boot()`]: firmware, kernel and device tree in memory |
//! | `program_file.rs` | ELF files and raw images in memory |
//! | `htif.rs` | how bare programs end and print (`tohost`) |
//! | `virt.rs` | the map of QEMU's machine `virt` |
#![warn(missing_docs)]

mod board;
mod boot;
mod hart_order;
mod htif;
mod program_file;
mod ram;
pub mod virt;

pub use board::Board;
pub use boot::{BadBoot, Booted, Files, boot};
pub use hart_order::{Console, End, HartDescription, Machine, TRANSLATE_AFTER};
pub use htif::Htif;
pub use program_file::{BadProgram, Program};
pub use ram::{BadRam, Ram};
