//! Decoded instructions.

/// What the interpreter dispatches on: one variant per instruction of RV64GC, Zba, Zbb, Zbs
/// and Zicond. Compressed instructions have been expanded, hints are `Nop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[rustfmt::skip]
pub enum Op {
    /// The cache slot is empty.
    Undecoded = 0,
    /// The slot behind the region's last one.
    End,
    Illegal, Nop,
    Lui, Auipc, Jal, Jalr,
    Beq, Bne, Blt, Bge, Bltu, Bgeu,
    Lb, Lh, Lw, Ld, Lbu, Lhu, Lwu, Sb, Sh, Sw, Sd,
    Addi, Slti, Sltiu, Xori, Ori, Andi, Slli, Srli, Srai,
    Add, Sub, Sll, Slt, Sltu, Xor, Srl, Sra, Or, And,
    Addiw, Slliw, Srliw, Sraiw, Addw, Subw, Sllw, Srlw, Sraw,
    Fence, FenceI, Pause, Ecall, Ebreak,
    Csrrw, Csrrs, Csrrc, Csrrwi, Csrrsi, Csrrci,
    Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu,
    Mulw, Divw, Divuw, Remw, Remuw,
    AddUw, Sh1add, Sh2add, Sh3add, Sh1addUw, Sh2addUw, Sh3addUw, SlliUw,
    Andn, Orn, Xnor, Clz, Clzw, Ctz, Ctzw, Cpop, Cpopw, Max, Maxu, Min, Minu, SextB, SextH, ZextH,
    Rol, Rolw, Ror, Rori, Roriw, Rorw, OrcB, Rev8,
    Bclr, Bclri, Bext, Bexti, Binv, Binvi, Bset, Bseti,
    CzeroEqz, CzeroNez,
    LrW, ScW, AmoswapW, AmoaddW, AmoxorW, AmoandW, AmoorW, AmominW, AmomaxW, AmominuW, AmomaxuW,
    LrD, ScD, AmoswapD, AmoaddD, AmoxorD, AmoandD, AmoorD, AmominD, AmomaxD, AmominuD, AmomaxuD,
    Flw, Fsw, Fld, Fsd,
    FmaddS, FmsubS, FnmsubS, FnmaddS, FaddS, FsubS, FmulS, FdivS, FsqrtS,
    FsgnjS, FsgnjnS, FsgnjxS, FminS, FmaxS, FeqS, FltS, FleS, FclassS,
    FcvtWS, FcvtWuS, FcvtLS, FcvtLuS, FcvtSW, FcvtSWu, FcvtSL, FcvtSLu, FmvXW, FmvWX,
    FmaddD, FmsubD, FnmsubD, FnmaddD, FaddD, FsubD, FmulD, FdivD, FsqrtD,
    FsgnjD, FsgnjnD, FsgnjxD, FminD, FmaxD, FeqD, FltD, FleD, FclassD,
    FcvtWD, FcvtWuD, FcvtLD, FcvtLuD, FcvtDW, FcvtDWu, FcvtDL, FcvtDLu, FmvXD, FmvDX,
    FcvtSD, FcvtDS,
}

/// The last variant; [`Insn::op`] relies on it.
const LAST: Op = Op::FcvtDS;

impl Op {
    /// Every one of them.
    pub fn all() -> impl Iterator<Item = Op> {
        // SAFETY: the variants have the numbers from 0 to that of the last.
        (0..=LAST as u8).map(|number| unsafe { core::mem::transmute::<u8, Op>(number) })
    }
}

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
        debug_assert!(self.0 as u8 <= LAST as u8);
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
}
