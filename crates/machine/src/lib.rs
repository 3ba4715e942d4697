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
//! | `outside.rs` | [`Outside`]: input from outside, kept and given again |
//! | `hart_order/turns.rs` | runs that pause, for a debugger |
//! | `*/saved_*.rs`, `snapshot/` | the machine's state, in memory and in files |
//! | `recording/` | files of recorded input |
//! | `virt.rs` | the map of QEMU's machine `virt` |
#![warn(missing_docs)]

mod board;
mod boot;
mod hart_order;
mod htif;
mod outside;
mod program_file;
mod ram;
pub mod recording;
pub mod snapshot;
pub mod virt;

pub use board::Board;
pub use boot::{BadBoot, Booted, Files, boot};
pub use hart_order::{
    BadSnapshot, Console, End, HartDescription, Machine, SavedMachine, Turn, Unwatched, Watch,
};
pub use htif::Htif;
pub use outside::{Input, Outside};
pub use program_file::{BadProgram, Program};
pub use ram::{BadRam, Ram};
