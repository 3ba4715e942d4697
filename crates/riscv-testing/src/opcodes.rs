//! The opcodes of random programs, and how their operands may be chosen: the rows of the table of
//! instructions that qemu 7.2 executes rightly, and the 16-bit ones.

use std::sync::LazyLock;

use flick_riscv::{Access, Class, Format, Op};

/// What the instruction's operands are. Numbers are base encodings with all operands zero.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// rd, rs1, rs2
    R,
    /// rd, rs1, 12-bit immediate
    I,
    /// rd, rs1, shift amount of so many bits
    Shift(u32),
    /// rd, rs1
    Unary,
    /// rd, 20-bit immediate
    U,
    /// Base register and offset, so many bytes; integer or floating-point data.
    Load(u64),
    Store(u64),
    FLoad(u64),
    FStore(u64),
    Branch,
    Jal,
    Jalr,
    Lr(u64),
    Sc(u64),
    Amo(u64),
    Csr,
    CsrI,
    /// Floating point: operands f or x, with a rounding mode or without.
    Fff {
        rm: bool,
    },
    Ff {
        rm: bool,
    },
    Ffff,
    Xff,
    Xf {
        rm: bool,
    },
    Fx {
        rm: bool,
    },
    Fence,
    /// No operands.
    Bare,
    Ecall,
    /// 16-bit: the base with random bits where `free` has ones. `used`: integer registers.
    C {
        free: u32,
        used: Used,
    },
    /// 16-bit load or store relative to a base register in bits 9:7, or to x2.
    CMem {
        free: u32,
        used: Used,
    },
    CJ,
    CBranch,
    CJr,
    CJalr,
    /// An encoding that must be refused; the list is in `body.rs`.
    Illegal,
    MisalignedAtomic,
    /// A random sequence with loops and branches.
    Sequence,
}

/// Integer register fields of a 16-bit instruction.
#[derive(Clone, Copy, Debug)]
pub enum Used {
    /// Bits 11:7; zero allowed?
    Rd {
        zero: bool,
    },
    /// Bits 11:7 and 6:2 (not zero).
    RdRs2 {
        zero: bool,
    },
    /// Bits 9:7.
    Short,
    /// Bits 9:7 and 4:2.
    Short2,
    /// x2 and bits 4:2.
    SpShort,
    /// x2, and bits 11:7 (not zero).
    SpRd,
    /// x2, and bits 6:2.
    SpRs2,
    /// x2 alone.
    Sp,
    /// Bits 11:7, neither 0 as a destination of a reserved form nor 2.
    Lui,
    None,
}

pub struct Opcode {
    pub name: &'static str,
    pub form: Form,
    pub base: u32,
}

const fn op(name: &'static str, form: Form, base: u32) -> Opcode {
    Opcode { name, form, base }
}

/// Instructions that qemu 7.2 lacks (Zicond), and ctzw, for which it counts past bit 31. The
/// engine's tests compare them with their definitions (`vectors.rs`), and the translator's compare
/// the engines.
pub const BEYOND_QEMU: [Op; 3] = [Op::CzeroEqz, Op::CzeroNez, Op::Ctzw];

/// All opcodes but [`BEYOND_QEMU`].
pub static OPCODES: LazyLock<Vec<Opcode>> = LazyLock::new(|| {
    let rows = Op::all().filter(|op| {
        let runs_there = !BEYOND_QEMU.contains(op);
        // Vector instructions have a generator of their own, in the engine's tests.
        let is_left_out = matches!(op.class(), Class::Privileged | Class::Vector);
        op.encoding() != (0, 0) && !is_left_out && runs_there
    });
    rows.map(|row| op(row.name(), form(row), row.encoding().1))
        .chain(OTHERS)
        .collect()
});

/// The operands of an instruction of the table.
fn form(op: Op) -> Form {
    match (op.format(), op.class(), op.access()) {
        (Format::Unary, _, Access::Load(size)) => Lr(size.into()),
        (Format::R, _, Access::Store(size)) => Sc(size.into()),
        (Format::R, _, Access::Update(size)) => Amo(size.into()),
        (Format::I, _, Access::Load(size)) => Load(size.into()),
        (Format::FI, _, Access::Load(size)) => FLoad(size.into()),
        (Format::S, _, Access::Store(size)) => Store(size.into()),
        (Format::FS, _, Access::Store(size)) => FStore(size.into()),
        (Format::Bare, ..) if op == Op::Fence => Fence,
        (Format::Bare, ..) => Bare,
        (Format::Environment, ..) if op == Op::Ecall => Ecall,
        (Format::Environment, ..) => Bare,
        (Format::U, ..) => U,
        (Format::J, ..) => Jal,
        (Format::B, ..) => Branch,
        (Format::I, Class::Jump, _) => Jalr,
        (Format::I, ..) => I,
        (Format::Shift6, ..) => Shift(6),
        (Format::Shift5, ..) => Shift(5),
        (Format::Unary, ..) => Unary,
        (Format::R, ..) => R,
        (Format::Csr, ..) => Csr,
        (Format::CsrI, ..) => CsrI,
        (Format::Ff, ..) => Ff { rm: false },
        (Format::FfRm, ..) => Ff { rm: true },
        (Format::Fff, ..) => Fff { rm: false },
        (Format::FffRm, ..) => Fff { rm: true },
        (Format::FfffRm, ..) => Ffff,
        (Format::Fx, ..) => Fx { rm: false },
        (Format::FxRm, ..) => Fx { rm: true },
        (Format::Xf, ..) => Xf { rm: false },
        (Format::XfRm, ..) => Xf { rm: true },
        (Format::Xff, ..) => Xff,
        (Format::V, ..) => unreachable!("{}: left out", op.name()),
        (format @ (Format::S | Format::FI | Format::FS), ..) => {
            unreachable!("{}: {format:?} that accesses no memory", op.name())
        }
    }
}

use Form::*;
const IMM6: u32 = 0x107c;

/// What has no row of its own: another form of `fence`, 16-bit instructions, what must be refused,
/// and sequences.
const OTHERS: [Opcode; 41] = [
    op("fence.tso", Bare, 0x8330_000f),
    op(
        "c.addi4spn",
        C {
            free: 0x1ffc,
            used: Used::SpShort,
        },
        0x0000,
    ),
    op(
        "c.fld",
        CMem {
            free: 0x1ffc,
            used: Used::Short,
        },
        0x2000,
    ),
    op(
        "c.lw",
        CMem {
            free: 0x1ffc,
            used: Used::Short2,
        },
        0x4000,
    ),
    op(
        "c.ld",
        CMem {
            free: 0x1ffc,
            used: Used::Short2,
        },
        0x6000,
    ),
    op(
        "c.fsd",
        CMem {
            free: 0x1ffc,
            used: Used::Short,
        },
        0xa000,
    ),
    op(
        "c.sw",
        CMem {
            free: 0x1ffc,
            used: Used::Short2,
        },
        0xc000,
    ),
    op(
        "c.sd",
        CMem {
            free: 0x1ffc,
            used: Used::Short2,
        },
        0xe000,
    ),
    op(
        "c.nop",
        C {
            free: IMM6,
            used: Used::None,
        },
        0x0001,
    ),
    op(
        "c.addi",
        C {
            free: 0x1ffc,
            used: Used::Rd { zero: false },
        },
        0x0001,
    ),
    op(
        "c.addiw",
        C {
            free: 0x1ffc,
            used: Used::Rd { zero: false },
        },
        0x2001,
    ),
    op(
        "c.li",
        C {
            free: 0x1ffc,
            used: Used::Rd { zero: true },
        },
        0x4001,
    ),
    op(
        "c.addi16sp",
        C {
            free: IMM6,
            used: Used::Sp,
        },
        0x6101,
    ),
    op(
        "c.lui",
        C {
            free: 0x1ffc,
            used: Used::Lui,
        },
        0x6001,
    ),
    op(
        "c.srli",
        C {
            free: 0x13fc,
            used: Used::Short,
        },
        0x8001,
    ),
    op(
        "c.srai",
        C {
            free: 0x13fc,
            used: Used::Short,
        },
        0x8401,
    ),
    op(
        "c.andi",
        C {
            free: 0x13fc,
            used: Used::Short,
        },
        0x8801,
    ),
    op(
        "c.sub",
        C {
            free: 0x039c,
            used: Used::Short2,
        },
        0x8c01,
    ),
    op(
        "c.xor",
        C {
            free: 0x039c,
            used: Used::Short2,
        },
        0x8c21,
    ),
    op(
        "c.or",
        C {
            free: 0x039c,
            used: Used::Short2,
        },
        0x8c41,
    ),
    op(
        "c.and",
        C {
            free: 0x039c,
            used: Used::Short2,
        },
        0x8c61,
    ),
    op(
        "c.subw",
        C {
            free: 0x039c,
            used: Used::Short2,
        },
        0x9c01,
    ),
    op(
        "c.addw",
        C {
            free: 0x039c,
            used: Used::Short2,
        },
        0x9c21,
    ),
    op("c.j", CJ, 0xa001),
    op("c.beqz", CBranch, 0xc001),
    op("c.bnez", CBranch, 0xe001),
    op(
        "c.slli",
        C {
            free: 0x1ffc,
            used: Used::Rd { zero: true },
        },
        0x0002,
    ),
    op(
        "c.fldsp",
        CMem {
            free: 0x1ffc,
            used: Used::Sp,
        },
        0x2002,
    ),
    op(
        "c.lwsp",
        CMem {
            free: 0x1ffc,
            used: Used::SpRd,
        },
        0x4002,
    ),
    op(
        "c.ldsp",
        CMem {
            free: 0x1ffc,
            used: Used::SpRd,
        },
        0x6002,
    ),
    op("c.jr", CJr, 0x8002),
    op(
        "c.mv",
        C {
            free: 0x0ffc,
            used: Used::RdRs2 { zero: true },
        },
        0x8002,
    ),
    op("c.ebreak", Bare, 0x9002),
    op("c.jalr", CJalr, 0x9002),
    op(
        "c.add",
        C {
            free: 0x0ffc,
            used: Used::RdRs2 { zero: true },
        },
        0x9002,
    ),
    op(
        "c.fsdsp",
        CMem {
            free: 0x1ffc,
            used: Used::Sp,
        },
        0xa002,
    ),
    op(
        "c.swsp",
        CMem {
            free: 0x1ffc,
            used: Used::SpRs2,
        },
        0xc002,
    ),
    op(
        "c.sdsp",
        CMem {
            free: 0x1ffc,
            used: Used::SpRs2,
        },
        0xe002,
    ),
    op("(illegal)", Illegal, 0),
    op("(misaligned atomic)", MisalignedAtomic, 0),
    op("(sequence)", Sequence, 0),
];
