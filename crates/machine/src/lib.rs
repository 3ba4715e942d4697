//! A simulated RV64 machine: harts, memory and devices under one virtual clock. The same machine,
//! programs and input give the same cycle of every event, on any host.
//!
//! | file | subject |
//! |---|---|
//! | `ram.rs` | [`Ram`]: plain memory |
//! | `board.rs` | [`Board`]: memory and devices, as harts and devices reach them |
//! | `hart_order.rs` | [`Machine`]: which hart runs when |
//! | `described_timing.rs` | [`timing_of()`]: the timing of a tile of a machine file |
//! | `machine_trace.rs` | [`Tracer`]: which state each hart is in, as a trace |
//! | `machine_timing.rs` | [`MachineTiming`]: what a machine needs for timed mode |
//! | `boot.rs` | [`boot()`]: firmware, kernel and device tree in memory |
//! | `program_file.rs` | ELF files and raw images in memory |
//! | `htif.rs` | how bare programs end and print (`tohost`) |
//! | `semihosting/` | [`Semihosting`]: what bare programs ask the outside |
//! | `injection/` | faults on purpose |
//! | `restart.rs` | the machine starts again |
//! | `described_system.rs` | [`System`]: a tile of a machine file as a board and a device tree |
#![warn(missing_docs)]

mod board;
mod boot;
mod described_system;
mod described_timing;
mod hart_order;
mod htif;
mod injection;
mod machine_timing;
mod machine_trace;
mod program_file;
mod ram;
mod restart;
mod semihosting;

pub use board::{Board, Timer};
pub use boot::{BadBoot, Booted, Files, boot};
pub use described_system::{BadSystem, BlockDisk, SERIAL, System};
pub use described_timing::{SLICE_CYCLES, timing_of};
pub use hart_order::{Console, End, HartDescription, Machine, TRANSLATE_AFTER};
pub use htif::Htif;
pub use injection::BadFault;
pub use machine_timing::{HartTiming, MachineTiming};
pub use machine_trace::Tracer;
pub use program_file::{BadProgram, Program};
pub use ram::{BadRam, Ram};
pub use semihosting::{Semihosting, SemihostingSetup};
