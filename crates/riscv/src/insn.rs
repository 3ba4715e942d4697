//! Decoded instructions.

use crate::format::Registers;
use crate::op::Op;

/// A decoded instruction in 8 bytes; a low byte of 0 is [`Op::Undecoded`], whatever is above it.
///
/// Bits 0..8 op, 8..13 rd, 13..16 length in bytes, 16..21 rs1, 24..29 rs2, 32..64 immediate. In the
/// immediate: the CSR number; for rounded floating-point instructions rm in bits 0..3 and rs3 in
/// bits 8..13; for [`Op::Illegal`] the instruction's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insn(u64);

impl Insn {
    /// An instruction of `len` bytes; which fields mean something is a matter of `op`.
    pub fn new(op: Op, len: u32, rd: u32, rs1: u32, rs2: u32, imm: i32) -> Self {
        Self(
            op as u64
                | u64::from(rd & 31) << 8
                | u64::from(len & 6) << 13
                | u64::from(rs1 & 31) << 16
                | u64::from(rs2 & 31) << 24
                | u64::from(imm as u32) << 32,
        )
    }

    /// The instruction that [`Self::word`] made a word of.
    ///
    /// # Safety
    /// `word` comes from [`Self::word`], or its low byte is 0.
    #[inline(always)]
    pub unsafe fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// As a decode cache keeps it.
    #[inline(always)]
    pub fn word(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub fn op(self) -> Op {
        debug_assert!((self.0 as u8 as usize) < Op::COUNT);
        // SAFETY: the low byte was an `Op` when the value was made, or 0, which is one.
        unsafe { core::mem::transmute::<u8, Op>(self.0 as u8) }
    }

    /// Length in bytes, 2 or 4.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> u64 {
        self.0 >> 13 & 6
    }

    #[inline(always)]
    pub fn rd(self) -> usize {
        (self.0 >> 8) as usize & 31
    }

    #[inline(always)]
    pub fn rs1(self) -> usize {
        (self.0 >> 16) as usize & 31
    }

    #[inline(always)]
    pub fn rs2(self) -> usize {
        (self.0 >> 24) as usize & 31
    }

    /// Third operand of a fused multiply-add.
    #[inline(always)]
    pub fn rs3(self) -> usize {
        (self.0 >> 40) as usize & 31
    }

    /// Rounding mode field of a floating-point instruction.
    #[inline(always)]
    pub fn rm(self) -> u32 {
        (self.0 >> 32) as u32 & 7
    }

    /// Sign-extended.
    #[inline(always)]
    pub fn imm(self) -> u64 {
        (self.0 as i64 >> 32) as u64
    }

    /// The registers that it reads.
    pub fn reads(self) -> Registers {
        self.op().format().reads(self)
    }

    /// The register that it writes, or none.
    pub fn writes(self) -> Registers {
        self.op().format().writes(self)
    }
}
