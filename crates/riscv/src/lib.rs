//! The instructions of RV64GC with Zba, Zbb, Zbs and Zicond: a table with a row for each
//! (`table.rs`), what comes from it (names, decoder, registers read and written, classes), and the
//! names of the psABI for the registers. It executes nothing and knows nothing of Flick.
//!
//! Source: *The RISC-V Instruction Set Manual, Volume I* (20240411): RV64I, M, A, F, D, C, Zicsr,
//! Zifencei, Zicntr, Zba, Zbb, Zbs (chapter "B"), Zicond.

mod compressed;
mod decode;
mod format;
mod insn;
mod op;
mod psabi;
mod table;

pub use decode::{decode, illegal};
pub use format::{Format, Registers};
pub use insn::Insn;
pub use op::{Access, Class, Op};
pub use psabi::{FLOAT_REGISTERS, REGISTERS};
