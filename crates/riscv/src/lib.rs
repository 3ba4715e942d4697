//! The instructions of RV64GC with Zba, Zbb, Zbs and Zicond, and of the privileged ISA: one table
//! with a row for each instruction, and the decoder, names and effects that come from it. This
//! crate executes nothing. Of Flick it has the way in which ISA strings are taken apart.
//!
//! In come the bits of an instruction. Out goes an [`Insn`] of 8 bytes, which the interpreter
//! dispatches on and the translator reads. The files, in the order of the data:
//!
//! | file | subject |
//! |---|---|
//! | `table.rs` | the rows |
//! | `op.rs` | [`Op`], what a row says of it: name, encoding, [`Class`], [`Access`] |
//! | `format.rs` | [`Format`]: where operands are, and the [`Registers`] that they are |
//! | `compressed.rs` | 16-bit instructions, as the 32-bit instructions for which they stand |
//! | `decode.rs` | [`decode()`]: from bits to an [`Insn`] |
//! | `insn.rs` | [`Insn`]: a decoded instruction |
//! | `extensions.rs` | [`Isa`]: the extensions of a hart, as an ISA string names them |
//! | `mmu.rs` | [`Mmu`]: the modes of address translation that a hart has |
//! | `psabi.rs` | names of the registers |
//! | `spelling.rs` | names of instructions, as their sources have them |
//!
//! ```
//! use flick_riscv::{Op, decode};
//! // addi a0, a1, 5
//! let insn = decode(0x0055_8513);
//! assert_eq!((insn.op(), insn.rd(), insn.rs1(), insn.imm()), (Op::Addi, 10, 11, 5));
//! assert_eq!((insn.reads(), insn.writes()), (1 << 11, 1 << 10));
//! ```
//!
//! Source: *The RISC-V Instruction Set Manual*, version 20240411. Volume I: RV64I, M, A, F, D, C,
//! Zicsr, Zifencei, Zicntr, Zba, Zbb, Zbs (chapter "B"), Zicond. Volume II: trap returns, `wfi`,
//! `sfence.vma`.
#![warn(missing_docs)]

mod compressed;
mod decode;
mod extensions;
mod format;
mod insn;
mod mmu;
mod op;
mod psabi;
mod spelling;
mod table;

pub use decode::{decode, illegal};
pub use extensions::{Extension, Isa, IsaError};
pub use format::{Format, Registers};
pub use insn::Insn;
pub use mmu::{FOREIGN_MODE, FOREIGN_OWNER, Mmu};
pub use op::{Access, Class, Op};
pub use psabi::{FLOAT_REGISTERS, REGISTERS, register};
pub use spelling::{extension_name, instruction_name};
