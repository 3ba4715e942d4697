//! Operands: where they are in an instruction word, and which registers they are.

use crate::insn::Insn;

/// The shape of an instruction's operands. In the names of floating-point formats `F` and `X` are
/// the register files of rd, rs1, rs2 and rs3; `Rm` marks a rounding mode in the place of funct3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// No operands. Fields that the mask leaves open are ignored.
    Bare,
    /// `ecall` and `ebreak`: no operands; the immediate is what tells them apart.
    Environment,
    /// rd, upper 20 bits of a 32-bit number.
    U,
    /// rd, distance.
    J,
    /// rs1, rs2, distance.
    B,
    /// rd, rs1, 12-bit immediate.
    I,
    /// rd, rs1, shift amount below 64.
    Shift6,
    /// rd, rs1, shift amount below 32.
    Shift5,
    /// rd, rs1.
    Unary,
    /// rd, rs1, rs2.
    R,
    /// rs1, rs2, 12-bit immediate.
    S,
    /// rd, rs1, number of a control and status register.
    Csr,
    /// rd, 5-bit immediate in the place of rs1, number of a control and status register.
    CsrI,
    /// As `I`, into a floating-point register.
    FI,
    /// As `S`, from a floating-point register.
    FS,
    /// rd, rs1.
    Ff,
    /// rd, rs1, rounding mode.
    FfRm,
    /// rd, rs1, rs2.
    Fff,
    /// rd, rs1, rs2, rounding mode.
    FffRm,
    /// rd, rs1, rs2, rs3, rounding mode.
    FfffRm,
    /// rd, rs1.
    Fx,
    /// rd, rs1, rounding mode.
    FxRm,
    /// rd, rs1.
    Xf,
    /// rd, rs1, rounding mode.
    XfRm,
    /// rd, rs1, rs2.
    Xff,
    /// Vector instructions: the immediate is the whole word.
    V,
}

/// A set of registers: x1 to x31 in bits 1 to 31, f0 to f31 in bits 32 to 63. x0 is in no set: it
/// is a constant.
pub type Registers = u64;

fn x(register: usize) -> Registers {
    1 << register & !1
}

fn f(register: usize) -> Registers {
    1 << (register + 32)
}

impl Format {
    /// Has the instruction a rounding mode?
    pub const fn is_rounded(self) -> bool {
        matches!(
            self,
            Self::FfRm | Self::FffRm | Self::FfffRm | Self::FxRm | Self::XfRm
        )
    }

    /// The registers that `insn`, which has this format, reads.
    pub fn reads(self, insn: Insn) -> Registers {
        let (rs1, rs2) = (insn.rs1(), insn.rs2());
        match self {
            Self::Bare | Self::Environment | Self::U | Self::J | Self::CsrI => 0,
            Self::I | Self::Shift6 | Self::Shift5 | Self::Unary | Self::Csr | Self::FI => x(rs1),
            Self::B | Self::R | Self::S => x(rs1) | x(rs2),
            Self::FS => x(rs1) | f(rs2),
            Self::Fx | Self::FxRm => x(rs1),
            Self::Ff | Self::FfRm | Self::Xf | Self::XfRm => f(rs1),
            Self::Fff | Self::FffRm | Self::Xff => f(rs1) | f(rs2),
            Self::FfffRm => f(rs1) | f(rs2) | f(insn.rs3()),
            Self::V => vector_reads(insn),
        }
    }

    /// The register that `insn`, which has this format, writes.
    pub fn writes(self, insn: Insn) -> Registers {
        let rd = insn.rd();
        match self {
            Self::Bare | Self::Environment | Self::B | Self::S | Self::FS => 0,
            Self::U | Self::J | Self::I | Self::Shift6 | Self::Shift5 | Self::Unary | Self::R => {
                x(rd)
            }
            Self::Csr | Self::CsrI | Self::Xf | Self::XfRm | Self::Xff => x(rd),
            Self::FI | Self::Ff | Self::FfRm | Self::Fff | Self::FffRm | Self::FfffRm => f(rd),
            Self::Fx | Self::FxRm => f(rd),
            Self::V => vector_writes(insn),
        }
    }
}

/// Opcode and funct3 of a vector instruction, and funct6.
fn vector_kind(insn: Insn) -> (u32, u32, u32) {
    let word = insn.imm() as u32;
    (word & 0x7f, word >> 12 & 7, word >> 26)
}

/// Registers of x and f that a vector instruction reads (ISA manual, chapter "V", sections "Vector
/// Instruction Formats").
fn vector_reads(insn: Insn) -> Registers {
    let (rs1, rs2) = (insn.rs1(), insn.rs2());
    match vector_kind(insn) {
        // OPIVX, OPMVX; OPFVF; the others of OP-V have vectors and immediates.
        (0x57, 4 | 6, _) => x(rs1),
        (0x57, 5, _) => f(rs1),
        // vsetivli, vsetvl, vsetvli.
        (0x57, 7, funct6) => match funct6 >> 4 {
            3 => 0,
            2 => x(rs1) | x(rs2),
            _ => x(rs1),
        },
        (0x57, ..) => 0,
        // Strided loads and stores, and others.
        (_, _, funct6) if funct6 & 3 == 2 => x(rs1) | x(rs2),
        _ => x(rs1),
    }
}

/// As [`vector_reads`].
fn vector_writes(insn: Insn) -> Registers {
    let rd = insn.rd();
    match vector_kind(insn) {
        (0x57, 7, _) | (0x57, 2, 0x10) => x(rd),
        (0x57, 1, 0x10) => f(rd),
        _ => 0,
    }
}
