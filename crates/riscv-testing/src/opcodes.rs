//! Every opcode of RV64GC, Zba, Zbb and Zbs and how its operands may be chosen.

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

use Form::*;
const RM: bool = true;
const NO: bool = false;
const IMM6: u32 = 0x107c;

/// All opcodes, in the order of the manual's listings. `vectors.rs` has those of Zicond, which qemu 7.2
/// lacks, and ctzw, for which it counts past bit 31.
pub const OPCODES: &[Opcode] = &[
    op("lui", U, 0x37),
    op("auipc", U, 0x17),
    op("jal", Jal, 0x6f),
    op("jalr", Jalr, 0x67),
    op("beq", Branch, 0x0063),
    op("bne", Branch, 0x1063),
    op("blt", Branch, 0x4063),
    op("bge", Branch, 0x5063),
    op("bltu", Branch, 0x6063),
    op("bgeu", Branch, 0x7063),
    op("lb", Load(1), 0x0003),
    op("lh", Load(2), 0x1003),
    op("lw", Load(4), 0x2003),
    op("ld", Load(8), 0x3003),
    op("lbu", Load(1), 0x4003),
    op("lhu", Load(2), 0x5003),
    op("lwu", Load(4), 0x6003),
    op("sb", Store(1), 0x0023),
    op("sh", Store(2), 0x1023),
    op("sw", Store(4), 0x2023),
    op("sd", Store(8), 0x3023),
    op("addi", I, 0x0013),
    op("slti", I, 0x2013),
    op("sltiu", I, 0x3013),
    op("xori", I, 0x4013),
    op("ori", I, 0x6013),
    op("andi", I, 0x7013),
    op("slli", Shift(6), 0x1013),
    op("srli", Shift(6), 0x5013),
    op("srai", Shift(6), 0x4000_5013),
    op("add", R, 0x0033),
    op("sub", R, 0x4000_0033),
    op("sll", R, 0x1033),
    op("slt", R, 0x2033),
    op("sltu", R, 0x3033),
    op("xor", R, 0x4033),
    op("srl", R, 0x5033),
    op("sra", R, 0x4000_5033),
    op("or", R, 0x6033),
    op("and", R, 0x7033),
    op("fence", Fence, 0x000f),
    op("fence.tso", Bare, 0x8330_000f),
    op("pause", Bare, 0x0100_000f),
    op("ecall", Ecall, 0x73),
    op("ebreak", Bare, 0x0010_0073),
    op("addiw", I, 0x001b),
    op("slliw", Shift(5), 0x101b),
    op("srliw", Shift(5), 0x501b),
    op("sraiw", Shift(5), 0x4000_501b),
    op("addw", R, 0x003b),
    op("subw", R, 0x4000_003b),
    op("sllw", R, 0x103b),
    op("srlw", R, 0x503b),
    op("sraw", R, 0x4000_503b),
    op("fence.i", Bare, 0x100f),
    op("csrrw", Csr, 0x1073),
    op("csrrs", Csr, 0x2073),
    op("csrrc", Csr, 0x3073),
    op("csrrwi", CsrI, 0x5073),
    op("csrrsi", CsrI, 0x6073),
    op("csrrci", CsrI, 0x7073),
    op("mul", R, 0x0200_0033),
    op("mulh", R, 0x0200_1033),
    op("mulhsu", R, 0x0200_2033),
    op("mulhu", R, 0x0200_3033),
    op("div", R, 0x0200_4033),
    op("divu", R, 0x0200_5033),
    op("rem", R, 0x0200_6033),
    op("remu", R, 0x0200_7033),
    op("mulw", R, 0x0200_003b),
    op("divw", R, 0x0200_403b),
    op("divuw", R, 0x0200_503b),
    op("remw", R, 0x0200_603b),
    op("remuw", R, 0x0200_703b),
    op("add.uw", R, 0x0800_003b),
    op("sh1add", R, 0x2000_2033),
    op("sh1add.uw", R, 0x2000_203b),
    op("sh2add", R, 0x2000_4033),
    op("sh2add.uw", R, 0x2000_403b),
    op("sh3add", R, 0x2000_6033),
    op("sh3add.uw", R, 0x2000_603b),
    op("slli.uw", Shift(6), 0x0800_101b),
    op("andn", R, 0x4000_7033),
    op("orn", R, 0x4000_6033),
    op("xnor", R, 0x4000_4033),
    op("clz", Unary, 0x6000_1013),
    op("clzw", Unary, 0x6000_101b),
    op("ctz", Unary, 0x6010_1013),
    op("cpop", Unary, 0x6020_1013),
    op("cpopw", Unary, 0x6020_101b),
    op("max", R, 0x0a00_6033),
    op("maxu", R, 0x0a00_7033),
    op("min", R, 0x0a00_4033),
    op("minu", R, 0x0a00_5033),
    op("sext.b", Unary, 0x6040_1013),
    op("sext.h", Unary, 0x6050_1013),
    op("zext.h", Unary, 0x0800_403b),
    op("rol", R, 0x6000_1033),
    op("rolw", R, 0x6000_103b),
    op("ror", R, 0x6000_5033),
    op("rori", Shift(6), 0x6000_5013),
    op("roriw", Shift(5), 0x6000_501b),
    op("rorw", R, 0x6000_503b),
    op("orc.b", Unary, 0x2870_5013),
    op("rev8", Unary, 0x6b80_5013),
    op("bclr", R, 0x4800_1033),
    op("bclri", Shift(6), 0x4800_1013),
    op("bext", R, 0x4800_5033),
    op("bexti", Shift(6), 0x4800_5013),
    op("binv", R, 0x6800_1033),
    op("binvi", Shift(6), 0x6800_1013),
    op("bset", R, 0x2800_1033),
    op("bseti", Shift(6), 0x2800_1013),
    op("lr.w", Lr(4), 0x1000_202f),
    op("sc.w", Sc(4), 0x1800_202f),
    op("amoswap.w", Amo(4), 0x0800_202f),
    op("amoadd.w", Amo(4), 0x0000_202f),
    op("amoxor.w", Amo(4), 0x2000_202f),
    op("amoand.w", Amo(4), 0x6000_202f),
    op("amoor.w", Amo(4), 0x4000_202f),
    op("amomin.w", Amo(4), 0x8000_202f),
    op("amomax.w", Amo(4), 0xa000_202f),
    op("amominu.w", Amo(4), 0xc000_202f),
    op("amomaxu.w", Amo(4), 0xe000_202f),
    op("lr.d", Lr(8), 0x1000_302f),
    op("sc.d", Sc(8), 0x1800_302f),
    op("amoswap.d", Amo(8), 0x0800_302f),
    op("amoadd.d", Amo(8), 0x0000_302f),
    op("amoxor.d", Amo(8), 0x2000_302f),
    op("amoand.d", Amo(8), 0x6000_302f),
    op("amoor.d", Amo(8), 0x4000_302f),
    op("amomin.d", Amo(8), 0x8000_302f),
    op("amomax.d", Amo(8), 0xa000_302f),
    op("amominu.d", Amo(8), 0xc000_302f),
    op("amomaxu.d", Amo(8), 0xe000_302f),
    op("flw", FLoad(4), 0x2007),
    op("fsw", FStore(4), 0x2027),
    op("fmadd.s", Ffff, 0x0000_0043),
    op("fmsub.s", Ffff, 0x0000_0047),
    op("fnmsub.s", Ffff, 0x0000_004b),
    op("fnmadd.s", Ffff, 0x0000_004f),
    op("fadd.s", Fff { rm: RM }, 0x0000_0053),
    op("fsub.s", Fff { rm: RM }, 0x0800_0053),
    op("fmul.s", Fff { rm: RM }, 0x1000_0053),
    op("fdiv.s", Fff { rm: RM }, 0x1800_0053),
    op("fsqrt.s", Ff { rm: RM }, 0x5800_0053),
    op("fsgnj.s", Fff { rm: NO }, 0x2000_0053),
    op("fsgnjn.s", Fff { rm: NO }, 0x2000_1053),
    op("fsgnjx.s", Fff { rm: NO }, 0x2000_2053),
    op("fmin.s", Fff { rm: NO }, 0x2800_0053),
    op("fmax.s", Fff { rm: NO }, 0x2800_1053),
    op("fcvt.w.s", Xf { rm: RM }, 0xc000_0053),
    op("fcvt.wu.s", Xf { rm: RM }, 0xc010_0053),
    op("fmv.x.w", Xf { rm: NO }, 0xe000_0053),
    op("feq.s", Xff, 0xa000_2053),
    op("flt.s", Xff, 0xa000_1053),
    op("fle.s", Xff, 0xa000_0053),
    op("fclass.s", Xf { rm: NO }, 0xe000_1053),
    op("fcvt.s.w", Fx { rm: RM }, 0xd000_0053),
    op("fcvt.s.wu", Fx { rm: RM }, 0xd010_0053),
    op("fmv.w.x", Fx { rm: NO }, 0xf000_0053),
    op("fcvt.l.s", Xf { rm: RM }, 0xc020_0053),
    op("fcvt.lu.s", Xf { rm: RM }, 0xc030_0053),
    op("fcvt.s.l", Fx { rm: RM }, 0xd020_0053),
    op("fcvt.s.lu", Fx { rm: RM }, 0xd030_0053),
    op("fld", FLoad(8), 0x3007),
    op("fsd", FStore(8), 0x3027),
    op("fmadd.d", Ffff, 0x0200_0043),
    op("fmsub.d", Ffff, 0x0200_0047),
    op("fnmsub.d", Ffff, 0x0200_004b),
    op("fnmadd.d", Ffff, 0x0200_004f),
    op("fadd.d", Fff { rm: RM }, 0x0200_0053),
    op("fsub.d", Fff { rm: RM }, 0x0a00_0053),
    op("fmul.d", Fff { rm: RM }, 0x1200_0053),
    op("fdiv.d", Fff { rm: RM }, 0x1a00_0053),
    op("fsqrt.d", Ff { rm: RM }, 0x5a00_0053),
    op("fsgnj.d", Fff { rm: NO }, 0x2200_0053),
    op("fsgnjn.d", Fff { rm: NO }, 0x2200_1053),
    op("fsgnjx.d", Fff { rm: NO }, 0x2200_2053),
    op("fmin.d", Fff { rm: NO }, 0x2a00_0053),
    op("fmax.d", Fff { rm: NO }, 0x2a00_1053),
    op("fcvt.s.d", Ff { rm: RM }, 0x4010_0053),
    op("fcvt.d.s", Ff { rm: RM }, 0x4200_0053),
    op("feq.d", Xff, 0xa200_2053),
    op("flt.d", Xff, 0xa200_1053),
    op("fle.d", Xff, 0xa200_0053),
    op("fclass.d", Xf { rm: NO }, 0xe200_1053),
    op("fcvt.w.d", Xf { rm: RM }, 0xc200_0053),
    op("fcvt.wu.d", Xf { rm: RM }, 0xc210_0053),
    op("fcvt.d.w", Fx { rm: RM }, 0xd200_0053),
    op("fcvt.d.wu", Fx { rm: RM }, 0xd210_0053),
    op("fcvt.l.d", Xf { rm: RM }, 0xc220_0053),
    op("fcvt.lu.d", Xf { rm: RM }, 0xc230_0053),
    op("fmv.x.d", Xf { rm: NO }, 0xe200_0053),
    op("fcvt.d.l", Fx { rm: RM }, 0xd220_0053),
    op("fcvt.d.lu", Fx { rm: RM }, 0xd230_0053),
    op("fmv.d.x", Fx { rm: NO }, 0xf200_0053),
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
