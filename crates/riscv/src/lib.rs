//! The instructions of RV64GC with Zba, Zbb, Zbs and Zicond: their decoder, and the names of the
//! psABI for their registers. It executes nothing and knows nothing of Flick.
//!
//! Source: *The RISC-V Instruction Set Manual, Volume I* (20240411): RV64I, M, A, F, D, C, Zicsr,
//! Zifencei, Zicntr, Zba, Zbb, Zbs (chapter "B"), Zicond.

mod compressed;
mod decode;
mod op;
mod psabi;

pub use decode::{decode, illegal};
pub use op::{Insn, Op};
pub use psabi::{FLOAT_REGISTERS, REGISTERS};
