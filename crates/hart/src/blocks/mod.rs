//! Blocks: a translation of its own for code that is interrupted and counted exactly. The interpreter
//! finds what is executed often; the region of a page that belongs to it becomes x86-64 code.
//!
//! | file | subject |
//! |---|---|
//! | `hart_frame.rs` | what blocks reach, and which registers they use |
//! | `x86_code.rs` | an assembler |
//! | `block_stubs.rs` | entering and leaving blocks, calls of functions of the host |
//! | `region.rs` | which instructions are translated together |
//! | `emitter.rs`, `emit_integer.rs`, `emit_memory.rs`, `emit_float.rs` | from a region to code |
//! | `block_cache.rs` | [`BlockCache`]: all blocks of a machine, by physical page |
//! | `block_table.rs` | [`BlockTable`]: a hart's blocks, by virtual address |
//!
//! A block begins with a subtraction of its instructions from the cycles that are left of the slice. If
//! they do not suffice the interpreter executes the rest, so that slices and interrupts are where they
//! are without blocks. An instruction that blocks do not execute, or that traps, or that accesses a
//! device, is left to the interpreter, with the exact count.
mod block_cache;
mod block_stubs;
mod block_table;
mod emit_float;
mod emit_integer;
mod emit_memory;
mod emitter;
mod hart_frame;
mod region;
mod x86_code;

pub use block_cache::{BlockCache, ROOM};
pub use block_table::{BlockTable, CodeRegime};
pub use hart_frame::{BIAS, Frame, Loaded, Reason};
pub use region::ends_block;
