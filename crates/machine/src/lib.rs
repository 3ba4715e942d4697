//! A simulated RV64 machine: harts, memory and devices under one virtual clock. The same machine,
//! programs and input give the same cycle of every event, on any host.
//!
//! | file | subject |
//! |---|---|
//! | `ram.rs` | [`Ram`]: plain memory |
//! | `board.rs` | [`Board`]: memory and devices, as harts and devices reach them |
//! | `board/joined_boards.rs` | [`Boards`]: those of all tiles, which share a clock |
//! | `network.rs` | packets that are under way between tiles |
//! | `hart_order.rs` | [`Machine`]: which hart runs when |
//! | `described_timing.rs` | [`timing_of()`]: the timing of a tile of a machine file |
//! | `machine_trace.rs` | [`Tracer`]: which state each hart is in, as a trace |
//! | `kernel_view/` | what is seen of the card's kernel: calls, and which thread runs where |
//! | `machine_timing.rs` | [`MachineTiming`]: what a machine needs for timed mode |
//! | `boot.rs` | [`boot()`]: firmware, kernel and device tree in memory |
//! | `program_file.rs` | ELF files and raw images in memory |
//! | `function_names.rs` | [`FunctionNames`]: the functions of firmware, by their addresses |
//! | `htif.rs` | how bare programs end and print (`tohost`) |
//! | `outside.rs` | [`Outside`]: input from outside, kept and given again |
//! | `hart_order/restart.rs` | a machine that starts again at its reset |
//! | `hart_order/lent_harts.rs` | harts whose code a host program executes |
//! | `hart_order/kernel_turns.rs` | runs whose machine looks at the card's kernel |
//! | `hart_order/turns.rs` | runs that pause, for a debugger |
//! | `*/saved_*.rs`, `snapshot/` | the machine's state, in memory and in files |
//! | `recording/` | files of recorded input |
//! | `semihosting/` | [`Semihosting`]: what bare programs ask the outside |
//! | `injection/` | faults on purpose |
//! | `described_system.rs` | [`System`]: a tile of harts of a machine file, as a board and a device tree |
//! | `described_tiles.rs` | [`boards_of()`]: the boards of all tiles, with harts and without |
//! | `loaded_logic.rs` | logic of accelerators from shared objects |
#![warn(missing_docs)]

mod board;
mod boot;
mod described_system;
mod described_tiles;
mod described_timing;
mod function_names;
mod hart_order;
mod htif;
mod injection;
mod kernel_view;
mod loaded_logic;
mod machine_timing;
mod machine_trace;
mod network;
mod outside;
mod program_file;
mod ram;
pub mod recording;
mod semihosting;
pub mod snapshot;

pub use board::{Board, Boards, Timer};
pub use boot::{BadBoot, Booted, BootedTiles, Files, boot, boot_tiles};
pub use described_system::{BadSystem, BlockDisk, SERIAL, System};
pub use described_tiles::{boards_of, host_board};
pub use described_timing::{SLICE_CYCLES, timing_of, timing_of_tiles};
pub use function_names::FunctionNames;
pub use hart_order::{
    BadSnapshot, Console, End, HartDescription, Lent, Machine, SavedMachine, TRANSLATE_AFTER,
    TimedPart, TimedRun, Turn, Unwatched, Watch,
};
pub use htif::Htif;
pub use injection::BadFault;
pub use kernel_view::{
    AllMoves, CALL_PARTS, CallCounts, CallPart, CallSums, Entry, KernelPoint, Moves, PointKind,
    PointLog, SPENT, STALL_PARTS, Seen, Spent, StallSums, Times, points_of,
};
pub use loaded_logic::BadLogic;
pub use machine_timing::{HartTiming, MachineTiming};
pub use machine_trace::Tracer;
pub use outside::{Input, Outside};
pub use program_file::{BadProgram, Program};
pub use ram::{BadRam, Ram};
pub use semihosting::{Semihosting, SemihostingSetup, UnopenedFile};
