//! Decoded instructions.

use crate::format::Registers;
use crate::op::Op;

/// A decoded instruction in 8 bytes; 16 low bits of 0 are [`Op::Undecoded`], whatever is above
/// them.
///
/// Bits 0..16 op, 16..21 rd, 21..26 rs1, 26..31 rs2, 31 whether it has 4 bytes, 32..64 immediate.
/// In the immediate: the CSR number; for rounded floating-point instructions rm in bits 0..3 and
/// rs3 in bits 8..13; for [`Op::Illegal`] and vector instructions the instruction's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insn(u64);

impl Insn {
    /// An empty slot of a decode cache.
    pub const UNDECODED: Self = Self(0);

    /// An instruction of `len` bytes; which fields mean something is a matter of `op`.
    pub fn new(op: Op, len: u32, rd: u32, rs1: u32, rs2: u32, imm: i32) -> Self {
        Self(
            op as u64
                | u64::from(rd & 31) << 16
                | u64::from(rs1 & 31) << 21
                | u64::from(rs2 & 31) << 26
                | u64::from(len == 4) << 31
                | u64::from(imm as u32) << 32,
        )
    }

    /// The instruction that [`Self::word`] made a word of.
    ///
    /// # Safety
    /// `word` comes from [`Self::word`], or its 16 low bits are 0.
    #[inline(always)]
    pub unsafe fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// As a decode cache keeps it.
    #[inline(always)]
    pub fn word(self) -> u64 {
        self.0
    }

    /// What the instruction does; which of the other fields have a meaning.
    #[inline(always)]
    pub fn op(self) -> Op {
        debug_assert!((self.0 as u16 as usize) < Op::COUNT);
        // SAFETY: the low bits were an `Op` when the value was made, or 0, which is one.
        unsafe { core::mem::transmute::<u16, Op>(self.0 as u16) }
    }

    /// Length in bytes, 2 or 4.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> u64 {
        (self.0 >> 30 & 2) + 2
    }

    /// Number of the destination.
    #[inline(always)]
    pub fn rd(self) -> usize {
        (self.0 >> 16) as usize & 31
    }

    /// Number of the first operand.
    #[inline(always)]
    pub fn rs1(self) -> usize {
        (self.0 >> 21) as usize & 31
    }

    /// Number of the second operand.
    #[inline(always)]
    pub fn rs2(self) -> usize {
        (self.0 >> 26) as usize & 31
    }

    /// Number of the third operand, of a fused multiply-add.
    #[inline(always)]
    pub fn rs3(self) -> usize {
        (self.0 >> 40) as usize & 31
    }

    /// Rounding mode field of a floating-point instruction.
    #[inline(always)]
    pub fn rm(self) -> u32 {
        (self.0 >> 32) as u32 & 7
    }

    /// The immediate operand, sign-extended.
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
