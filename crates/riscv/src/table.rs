//! The table of instructions. Each instruction has a row. Its meaning stands elsewhere, and so do
//! the places that `docs/engine.md`, "Instructions", lists.
//!
//! A row of [`for_each_op!`] is
//!
//! ```text
//! Variant, "name", mask, match, Format, Class, Access;
//! ```
//!
//! - A word `w` is the instruction if `w & mask == match`. Where two rows match, the first is
//!   valid.
//! - [`Format`](crate::Format) has the place of the operands, and says which registers the
//!   instruction reads and writes.
//! - [`Class`](crate::Class) is the kind of work, on which the cost depends.
//! - [`Access`](crate::Access) is the memory that the instruction accesses: whether it may fault.
//!
//! [`Op`](crate::Op), its names, the decoder, liveness, the classes of the timing model and the
//! generators of random programs come from here. A new instruction is a row here, and an arm in the
//! interpreter, which does not compile without it. A 16-bit instruction stands for a row
//! (`compressed.rs`).

macro_rules! for_each_op {
    ($callback:ident) => {
        $callback! {
            // RV64I, Zifencei, Zicsr
            Lui,      "lui",       0x0000_007f, 0x0000_0037, U,          Int,    None;
            Auipc,    "auipc",     0x0000_007f, 0x0000_0017, U,          Int,    None;
            Jal,      "jal",       0x0000_007f, 0x0000_006f, J,          Jump,   None;
            Jalr,     "jalr",      0x0000_707f, 0x0000_0067, I,          Jump,   None;
            Beq,      "beq",       0x0000_707f, 0x0000_0063, B,          Branch, None;
            Bne,      "bne",       0x0000_707f, 0x0000_1063, B,          Branch, None;
            Blt,      "blt",       0x0000_707f, 0x0000_4063, B,          Branch, None;
            Bge,      "bge",       0x0000_707f, 0x0000_5063, B,          Branch, None;
            Bltu,     "bltu",      0x0000_707f, 0x0000_6063, B,          Branch, None;
            Bgeu,     "bgeu",      0x0000_707f, 0x0000_7063, B,          Branch, None;
            Lb,       "lb",        0x0000_707f, 0x0000_0003, I,          Load,   Load(1);
            Lh,       "lh",        0x0000_707f, 0x0000_1003, I,          Load,   Load(2);
            Lw,       "lw",        0x0000_707f, 0x0000_2003, I,          Load,   Load(4);
            Ld,       "ld",        0x0000_707f, 0x0000_3003, I,          Load,   Load(8);
            Lbu,      "lbu",       0x0000_707f, 0x0000_4003, I,          Load,   Load(1);
            Lhu,      "lhu",       0x0000_707f, 0x0000_5003, I,          Load,   Load(2);
            Lwu,      "lwu",       0x0000_707f, 0x0000_6003, I,          Load,   Load(4);
            Sb,       "sb",        0x0000_707f, 0x0000_0023, S,          Store,  Store(1);
            Sh,       "sh",        0x0000_707f, 0x0000_1023, S,          Store,  Store(2);
            Sw,       "sw",        0x0000_707f, 0x0000_2023, S,          Store,  Store(4);
            Sd,       "sd",        0x0000_707f, 0x0000_3023, S,          Store,  Store(8);
            Addi,     "addi",      0x0000_707f, 0x0000_0013, I,          Int,    None;
            Slti,     "slti",      0x0000_707f, 0x0000_2013, I,          Int,    None;
            Sltiu,    "sltiu",     0x0000_707f, 0x0000_3013, I,          Int,    None;
            Xori,     "xori",      0x0000_707f, 0x0000_4013, I,          Int,    None;
            Ori,      "ori",       0x0000_707f, 0x0000_6013, I,          Int,    None;
            Andi,     "andi",      0x0000_707f, 0x0000_7013, I,          Int,    None;
            Slli,     "slli",      0xfc00_707f, 0x0000_1013, Shift6,     Int,    None;
            Srli,     "srli",      0xfc00_707f, 0x0000_5013, Shift6,     Int,    None;
            Srai,     "srai",      0xfc00_707f, 0x4000_5013, Shift6,     Int,    None;
            Add,      "add",       0xfe00_707f, 0x0000_0033, R,          Int,    None;
            Sub,      "sub",       0xfe00_707f, 0x4000_0033, R,          Int,    None;
            Sll,      "sll",       0xfe00_707f, 0x0000_1033, R,          Int,    None;
            Slt,      "slt",       0xfe00_707f, 0x0000_2033, R,          Int,    None;
            Sltu,     "sltu",      0xfe00_707f, 0x0000_3033, R,          Int,    None;
            Xor,      "xor",       0xfe00_707f, 0x0000_4033, R,          Int,    None;
            Srl,      "srl",       0xfe00_707f, 0x0000_5033, R,          Int,    None;
            Sra,      "sra",       0xfe00_707f, 0x4000_5033, R,          Int,    None;
            Or,       "or",        0xfe00_707f, 0x0000_6033, R,          Int,    None;
            And,      "and",       0xfe00_707f, 0x0000_7033, R,          Int,    None;
            Addiw,    "addiw",     0x0000_707f, 0x0000_001b, I,          Int,    None;
            Slliw,    "slliw",     0xfe00_707f, 0x0000_101b, Shift5,     Int,    None;
            Srliw,    "srliw",     0xfe00_707f, 0x0000_501b, Shift5,     Int,    None;
            Sraiw,    "sraiw",     0xfe00_707f, 0x4000_501b, Shift5,     Int,    None;
            Addw,     "addw",      0xfe00_707f, 0x0000_003b, R,          Int,    None;
            Subw,     "subw",      0xfe00_707f, 0x4000_003b, R,          Int,    None;
            Sllw,     "sllw",      0xfe00_707f, 0x0000_103b, R,          Int,    None;
            Srlw,     "srlw",      0xfe00_707f, 0x0000_503b, R,          Int,    None;
            Sraw,     "sraw",      0xfe00_707f, 0x4000_503b, R,          Int,    None;
            Pause,    "pause",     0xffff_ffff, 0x0100_000f, Bare,       System, None;
            Fence,    "fence",     0x0000_707f, 0x0000_000f, Bare,       System, None;
            FenceI,   "fence.i",   0x0000_707f, 0x0000_100f, Bare,       System, None;
            Ecall,    "ecall",     0xffff_ffff, 0x0000_0073, Environment, System, None;
            Ebreak,   "ebreak",    0xffff_ffff, 0x0010_0073, Environment, System, None;
            Csrrw,    "csrrw",     0x0000_707f, 0x0000_1073, Csr,        System, None;
            Csrrs,    "csrrs",     0x0000_707f, 0x0000_2073, Csr,        System, None;
            Csrrc,    "csrrc",     0x0000_707f, 0x0000_3073, Csr,        System, None;
            Csrrwi,   "csrrwi",    0x0000_707f, 0x0000_5073, CsrI,       System, None;
            Csrrsi,   "csrrsi",    0x0000_707f, 0x0000_6073, CsrI,       System, None;
            Csrrci,   "csrrci",    0x0000_707f, 0x0000_7073, CsrI,       System, None;
            // M
            Mul,      "mul",       0xfe00_707f, 0x0200_0033, R,          Mul,    None;
            Mulh,     "mulh",      0xfe00_707f, 0x0200_1033, R,          Mul,    None;
            Mulhsu,   "mulhsu",    0xfe00_707f, 0x0200_2033, R,          Mul,    None;
            Mulhu,    "mulhu",     0xfe00_707f, 0x0200_3033, R,          Mul,    None;
            Div,      "div",       0xfe00_707f, 0x0200_4033, R,          Div,    None;
            Divu,     "divu",      0xfe00_707f, 0x0200_5033, R,          Div,    None;
            Rem,      "rem",       0xfe00_707f, 0x0200_6033, R,          Div,    None;
            Remu,     "remu",      0xfe00_707f, 0x0200_7033, R,          Div,    None;
            Mulw,     "mulw",      0xfe00_707f, 0x0200_003b, R,          Mul,    None;
            Divw,     "divw",      0xfe00_707f, 0x0200_403b, R,          Div,    None;
            Divuw,    "divuw",     0xfe00_707f, 0x0200_503b, R,          Div,    None;
            Remw,     "remw",      0xfe00_707f, 0x0200_603b, R,          Div,    None;
            Remuw,    "remuw",     0xfe00_707f, 0x0200_703b, R,          Div,    None;
            // Zba
            AddUw,    "add.uw",    0xfe00_707f, 0x0800_003b, R,          Address, None;
            Sh1add,   "sh1add",    0xfe00_707f, 0x2000_2033, R,          Address, None;
            Sh2add,   "sh2add",    0xfe00_707f, 0x2000_4033, R,          Address, None;
            Sh3add,   "sh3add",    0xfe00_707f, 0x2000_6033, R,          Address, None;
            Sh1addUw, "sh1add.uw", 0xfe00_707f, 0x2000_203b, R,          Address, None;
            Sh2addUw, "sh2add.uw", 0xfe00_707f, 0x2000_403b, R,          Address, None;
            Sh3addUw, "sh3add.uw", 0xfe00_707f, 0x2000_603b, R,          Address, None;
            SlliUw,   "slli.uw",   0xfc00_707f, 0x0800_101b, Shift6,     Address, None;
            // Zbb
            Andn,     "andn",      0xfe00_707f, 0x4000_7033, R,          Bit,    None;
            Orn,      "orn",       0xfe00_707f, 0x4000_6033, R,          Bit,    None;
            Xnor,     "xnor",      0xfe00_707f, 0x4000_4033, R,          Bit,    None;
            Clz,      "clz",       0xfff0_707f, 0x6000_1013, Unary,      Bit,    None;
            Clzw,     "clzw",      0xfff0_707f, 0x6000_101b, Unary,      Bit,    None;
            Ctz,      "ctz",       0xfff0_707f, 0x6010_1013, Unary,      Bit,    None;
            Ctzw,     "ctzw",      0xfff0_707f, 0x6010_101b, Unary,      Bit,    None;
            Cpop,     "cpop",      0xfff0_707f, 0x6020_1013, Unary,      Bit,    None;
            Cpopw,    "cpopw",     0xfff0_707f, 0x6020_101b, Unary,      Bit,    None;
            Max,      "max",       0xfe00_707f, 0x0a00_6033, R,          Bit,    None;
            Maxu,     "maxu",      0xfe00_707f, 0x0a00_7033, R,          Bit,    None;
            Min,      "min",       0xfe00_707f, 0x0a00_4033, R,          Bit,    None;
            Minu,     "minu",      0xfe00_707f, 0x0a00_5033, R,          Bit,    None;
            SextB,    "sext.b",    0xfff0_707f, 0x6040_1013, Unary,      Bit,    None;
            SextH,    "sext.h",    0xfff0_707f, 0x6050_1013, Unary,      Bit,    None;
            ZextH,    "zext.h",    0xfff0_707f, 0x0800_403b, Unary,      Bit,    None;
            Rol,      "rol",       0xfe00_707f, 0x6000_1033, R,          Bit,    None;
            Rolw,     "rolw",      0xfe00_707f, 0x6000_103b, R,          Bit,    None;
            Ror,      "ror",       0xfe00_707f, 0x6000_5033, R,          Bit,    None;
            Rori,     "rori",      0xfc00_707f, 0x6000_5013, Shift6,     Bit,    None;
            Roriw,    "roriw",     0xfe00_707f, 0x6000_501b, Shift5,     Bit,    None;
            Rorw,     "rorw",      0xfe00_707f, 0x6000_503b, R,          Bit,    None;
            OrcB,     "orc.b",     0xfff0_707f, 0x2870_5013, Unary,      Bit,    None;
            Rev8,     "rev8",      0xfff0_707f, 0x6b80_5013, Unary,      Bit,    None;
            // Zbs
            Bclr,     "bclr",      0xfe00_707f, 0x4800_1033, R,          Bit,    None;
            Bclri,    "bclri",     0xfc00_707f, 0x4800_1013, Shift6,     Bit,    None;
            Bext,     "bext",      0xfe00_707f, 0x4800_5033, R,          Bit,    None;
            Bexti,    "bexti",     0xfc00_707f, 0x4800_5013, Shift6,     Bit,    None;
            Binv,     "binv",      0xfe00_707f, 0x6800_1033, R,          Bit,    None;
            Binvi,    "binvi",     0xfc00_707f, 0x6800_1013, Shift6,     Bit,    None;
            Bset,     "bset",      0xfe00_707f, 0x2800_1033, R,          Bit,    None;
            Bseti,    "bseti",     0xfc00_707f, 0x2800_1013, Shift6,     Bit,    None;
            // Zicond
            CzeroEqz, "czero.eqz", 0xfe00_707f, 0x0e00_5033, R,          Bit,    None;
            CzeroNez, "czero.nez", 0xfe00_707f, 0x0e00_7033, R,          Bit,    None;
            // A
            LrW,      "lr.w",      0xf9f0_707f, 0x1000_202f, Unary,      Atomic, Load(4);
            ScW,      "sc.w",      0xf800_707f, 0x1800_202f, R,          Atomic, Store(4);
            AmoswapW, "amoswap.w", 0xf800_707f, 0x0800_202f, R,          Atomic, Update(4);
            AmoaddW,  "amoadd.w",  0xf800_707f, 0x0000_202f, R,          Atomic, Update(4);
            AmoxorW,  "amoxor.w",  0xf800_707f, 0x2000_202f, R,          Atomic, Update(4);
            AmoandW,  "amoand.w",  0xf800_707f, 0x6000_202f, R,          Atomic, Update(4);
            AmoorW,   "amoor.w",   0xf800_707f, 0x4000_202f, R,          Atomic, Update(4);
            AmominW,  "amomin.w",  0xf800_707f, 0x8000_202f, R,          Atomic, Update(4);
            AmomaxW,  "amomax.w",  0xf800_707f, 0xa000_202f, R,          Atomic, Update(4);
            AmominuW, "amominu.w", 0xf800_707f, 0xc000_202f, R,          Atomic, Update(4);
            AmomaxuW, "amomaxu.w", 0xf800_707f, 0xe000_202f, R,          Atomic, Update(4);
            LrD,      "lr.d",      0xf9f0_707f, 0x1000_302f, Unary,      Atomic, Load(8);
            ScD,      "sc.d",      0xf800_707f, 0x1800_302f, R,          Atomic, Store(8);
            AmoswapD, "amoswap.d", 0xf800_707f, 0x0800_302f, R,          Atomic, Update(8);
            AmoaddD,  "amoadd.d",  0xf800_707f, 0x0000_302f, R,          Atomic, Update(8);
            AmoxorD,  "amoxor.d",  0xf800_707f, 0x2000_302f, R,          Atomic, Update(8);
            AmoandD,  "amoand.d",  0xf800_707f, 0x6000_302f, R,          Atomic, Update(8);
            AmoorD,   "amoor.d",   0xf800_707f, 0x4000_302f, R,          Atomic, Update(8);
            AmominD,  "amomin.d",  0xf800_707f, 0x8000_302f, R,          Atomic, Update(8);
            AmomaxD,  "amomax.d",  0xf800_707f, 0xa000_302f, R,          Atomic, Update(8);
            AmominuD, "amominu.d", 0xf800_707f, 0xc000_302f, R,          Atomic, Update(8);
            AmomaxuD, "amomaxu.d", 0xf800_707f, 0xe000_302f, R,          Atomic, Update(8);
            // F and D: loads and stores
            Flw,      "flw",       0x0000_707f, 0x0000_2007, FI,         Load,   Load(4);
            Fsw,      "fsw",       0x0000_707f, 0x0000_2027, FS,         Store,  Store(4);
            Fld,      "fld",       0x0000_707f, 0x0000_3007, FI,         Load,   Load(8);
            Fsd,      "fsd",       0x0000_707f, 0x0000_3027, FS,         Store,  Store(8);
            // F
            FmaddS,   "fmadd.s",   0x0600_007f, 0x0000_0043, FfffRm,     FpMul,  None;
            FmsubS,   "fmsub.s",   0x0600_007f, 0x0000_0047, FfffRm,     FpMul,  None;
            FnmsubS,  "fnmsub.s",  0x0600_007f, 0x0000_004b, FfffRm,     FpMul,  None;
            FnmaddS,  "fnmadd.s",  0x0600_007f, 0x0000_004f, FfffRm,     FpMul,  None;
            FaddS,    "fadd.s",    0xfe00_007f, 0x0000_0053, FffRm,      Fp,     None;
            FsubS,    "fsub.s",    0xfe00_007f, 0x0800_0053, FffRm,      Fp,     None;
            FmulS,    "fmul.s",    0xfe00_007f, 0x1000_0053, FffRm,      FpMul,  None;
            FdivS,    "fdiv.s",    0xfe00_007f, 0x1800_0053, FffRm,      FpDiv,  None;
            FsqrtS,   "fsqrt.s",   0xfff0_007f, 0x5800_0053, FfRm,       FpDiv,  None;
            FsgnjS,   "fsgnj.s",   0xfe00_707f, 0x2000_0053, Fff,        Fp,     None;
            FsgnjnS,  "fsgnjn.s",  0xfe00_707f, 0x2000_1053, Fff,        Fp,     None;
            FsgnjxS,  "fsgnjx.s",  0xfe00_707f, 0x2000_2053, Fff,        Fp,     None;
            FminS,    "fmin.s",    0xfe00_707f, 0x2800_0053, Fff,        Fp,     None;
            FmaxS,    "fmax.s",    0xfe00_707f, 0x2800_1053, Fff,        Fp,     None;
            FeqS,     "feq.s",     0xfe00_707f, 0xa000_2053, Xff,        Fp,     None;
            FltS,     "flt.s",     0xfe00_707f, 0xa000_1053, Xff,        Fp,     None;
            FleS,     "fle.s",     0xfe00_707f, 0xa000_0053, Xff,        Fp,     None;
            FclassS,  "fclass.s",  0xfff0_707f, 0xe000_1053, Xf,         Fp,     None;
            FcvtWS,   "fcvt.w.s",  0xfff0_007f, 0xc000_0053, XfRm,       Fp,     None;
            FcvtWuS,  "fcvt.wu.s", 0xfff0_007f, 0xc010_0053, XfRm,       Fp,     None;
            FcvtLS,   "fcvt.l.s",  0xfff0_007f, 0xc020_0053, XfRm,       Fp,     None;
            FcvtLuS,  "fcvt.lu.s", 0xfff0_007f, 0xc030_0053, XfRm,       Fp,     None;
            FcvtSW,   "fcvt.s.w",  0xfff0_007f, 0xd000_0053, FxRm,       Fp,     None;
            FcvtSWu,  "fcvt.s.wu", 0xfff0_007f, 0xd010_0053, FxRm,       Fp,     None;
            FcvtSL,   "fcvt.s.l",  0xfff0_007f, 0xd020_0053, FxRm,       Fp,     None;
            FcvtSLu,  "fcvt.s.lu", 0xfff0_007f, 0xd030_0053, FxRm,       Fp,     None;
            FmvXW,    "fmv.x.w",   0xfff0_707f, 0xe000_0053, Xf,         Fp,     None;
            FmvWX,    "fmv.w.x",   0xfff0_707f, 0xf000_0053, Fx,         Fp,     None;
            // D
            FmaddD,   "fmadd.d",   0x0600_007f, 0x0200_0043, FfffRm,     FpMul,  None;
            FmsubD,   "fmsub.d",   0x0600_007f, 0x0200_0047, FfffRm,     FpMul,  None;
            FnmsubD,  "fnmsub.d",  0x0600_007f, 0x0200_004b, FfffRm,     FpMul,  None;
            FnmaddD,  "fnmadd.d",  0x0600_007f, 0x0200_004f, FfffRm,     FpMul,  None;
            FaddD,    "fadd.d",    0xfe00_007f, 0x0200_0053, FffRm,      Fp,     None;
            FsubD,    "fsub.d",    0xfe00_007f, 0x0a00_0053, FffRm,      Fp,     None;
            FmulD,    "fmul.d",    0xfe00_007f, 0x1200_0053, FffRm,      FpMul,  None;
            FdivD,    "fdiv.d",    0xfe00_007f, 0x1a00_0053, FffRm,      FpDiv,  None;
            FsqrtD,   "fsqrt.d",   0xfff0_007f, 0x5a00_0053, FfRm,       FpDiv,  None;
            FsgnjD,   "fsgnj.d",   0xfe00_707f, 0x2200_0053, Fff,        Fp,     None;
            FsgnjnD,  "fsgnjn.d",  0xfe00_707f, 0x2200_1053, Fff,        Fp,     None;
            FsgnjxD,  "fsgnjx.d",  0xfe00_707f, 0x2200_2053, Fff,        Fp,     None;
            FminD,    "fmin.d",    0xfe00_707f, 0x2a00_0053, Fff,        Fp,     None;
            FmaxD,    "fmax.d",    0xfe00_707f, 0x2a00_1053, Fff,        Fp,     None;
            FeqD,     "feq.d",     0xfe00_707f, 0xa200_2053, Xff,        Fp,     None;
            FltD,     "flt.d",     0xfe00_707f, 0xa200_1053, Xff,        Fp,     None;
            FleD,     "fle.d",     0xfe00_707f, 0xa200_0053, Xff,        Fp,     None;
            FclassD,  "fclass.d",  0xfff0_707f, 0xe200_1053, Xf,         Fp,     None;
            FcvtWD,   "fcvt.w.d",  0xfff0_007f, 0xc200_0053, XfRm,       Fp,     None;
            FcvtWuD,  "fcvt.wu.d", 0xfff0_007f, 0xc210_0053, XfRm,       Fp,     None;
            FcvtLD,   "fcvt.l.d",  0xfff0_007f, 0xc220_0053, XfRm,       Fp,     None;
            FcvtLuD,  "fcvt.lu.d", 0xfff0_007f, 0xc230_0053, XfRm,       Fp,     None;
            FcvtDW,   "fcvt.d.w",  0xfff0_007f, 0xd200_0053, FxRm,       Fp,     None;
            FcvtDWu,  "fcvt.d.wu", 0xfff0_007f, 0xd210_0053, FxRm,       Fp,     None;
            FcvtDL,   "fcvt.d.l",  0xfff0_007f, 0xd220_0053, FxRm,       Fp,     None;
            FcvtDLu,  "fcvt.d.lu", 0xfff0_007f, 0xd230_0053, FxRm,       Fp,     None;
            FmvXD,    "fmv.x.d",   0xfff0_707f, 0xe200_0053, Xf,         Fp,     None;
            FmvDX,    "fmv.d.x",   0xfff0_707f, 0xf200_0053, Fx,         Fp,     None;
            FcvtSD,   "fcvt.s.d",  0xfff0_007f, 0x4010_0053, FfRm,       Fp,     None;
            FcvtDS,   "fcvt.d.s",  0xfff0_007f, 0x4200_0053, FfRm,       Fp,     None;
            // Privileged ISA
            Sret,     "sret",      0xffff_ffff, 0x1020_0073, Bare,       Privileged, None;
            Mret,     "mret",      0xffff_ffff, 0x3020_0073, Bare,       Privileged, None;
            Wfi,      "wfi",       0xffff_ffff, 0x1050_0073, Bare,       Privileged, None;
            SfenceVma, "sfence.vma", 0xfe00_7fff, 0x1200_0073, R,        Privileged, None;
            // Svinval
            SinvalVma, "sinval.vma", 0xfe00_7fff, 0x1600_0073, R,        Privileged, None;
            SfenceWInval, "sfence.w.inval", 0xffff_ffff, 0x1800_0073, Bare, Privileged, None;
            SfenceInvalIr, "sfence.inval.ir", 0xffff_ffff, 0x1810_0073, Bare, Privileged, None;
            // Zicbom, Zicboz
            CboInval, "cbo.inval", 0xfff0_7fff, 0x0000_200f, Unary,      Privileged, None;
            CboClean, "cbo.clean", 0xfff0_7fff, 0x0010_200f, Unary,      Privileged, None;
            CboFlush, "cbo.flush", 0xfff0_7fff, 0x0020_200f, Unary,      Privileged, None;
            CboZero,  "cbo.zero",  0xfff0_7fff, 0x0040_200f, Unary,      Privileged, None;
            // XTheadCmo: the operations on whole caches
            ThDcacheCall,  "th.dcache.call",  0xffff_ffff, 0x0010_000b, Bare, Privileged, None;
            ThDcacheIall,  "th.dcache.iall",  0xffff_ffff, 0x0020_000b, Bare, Privileged, None;
            ThDcacheCiall, "th.dcache.ciall", 0xffff_ffff, 0x0030_000b, Bare, Privileged, None;
            ThIcacheIall,  "th.icache.iall",  0xffff_ffff, 0x0100_000b, Bare, Privileged, None;
            // Flick's custom units: custom-0 to custom-3, with the operands of RoCC (funct3: rd, rs1 and rs2 are used)
            FlickDot, "flick.dot", 0xfe00_707f, 0x0000_700b, R,          Privileged, None;
            FlickSad, "flick.sad", 0xfe00_707f, 0x0000_702b, R,          Privileged, None;
            FlickCrc, "flick.crc", 0xfe00_707f, 0x0000_705b, R,          Privileged, None;
            FlickGather, "flick.gather", 0xfe00_707f, 0x0000_707b, R,    Privileged, None;
            // V: the handlers decode the word. Behind Flw to Fsd, whose widths are not vectors'.
            VConfig,  "v-config",  0x0000_707f, 0x0000_7057, V,          Vector, None;
            VArith,   "v-arith",   0x0000_007f, 0x0000_0057, V,          Vector, None;
            VLoad,    "v-load",    0x0000_007f, 0x0000_0007, V,          Vector, Load(8);
            VStore,   "v-store",   0x0000_007f, 0x0000_0027, V,          Vector, Store(8);
        }
    };
}

pub(crate) use for_each_op;
