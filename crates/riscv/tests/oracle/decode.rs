//! A decoder written by hand, an arm for each instruction, which the one that comes from the table
//! must equal (ISA manual, chapter "RV32/64G Instruction Set Listings"; chapters "B" for Zba,
//! Zbb and Zbs and "Zicond" for theirs).

use crate::compressed;
use flick_riscv::{Insn, Op, illegal};

/// Decodes the instruction in `bits`: the low 16 if their two low bits are not both set, else all 32.
///
/// Reserved encodings give [`Op::Illegal`], hints [`Op::Nop`].
pub fn decode(bits: u32) -> Insn {
    if bits & 3 != 3 {
        let half = bits & 0xffff;
        return match compressed::expand(half) {
            Some(word) => decode32(word, 2).unwrap_or_else(|| illegal(half)),
            None => illegal(half),
        };
    }
    decode32(bits, 4).unwrap_or_else(|| illegal(bits))
}

fn rd(w: u32) -> u32 {
    w >> 7 & 31
}
fn rs1(w: u32) -> u32 {
    w >> 15 & 31
}
fn rs2(w: u32) -> u32 {
    w >> 20 & 31
}
fn funct3(w: u32) -> u32 {
    w >> 12 & 7
}
fn funct7(w: u32) -> u32 {
    w >> 25
}

fn imm_i(w: u32) -> i32 {
    w as i32 >> 20
}
fn imm_s(w: u32) -> i32 {
    w as i32 >> 20 & !31 | (w >> 7 & 31) as i32
}
fn imm_b(w: u32) -> i32 {
    (w as i32 >> 31) << 12
        | ((w >> 7 & 1) << 11 | (w >> 25 & 0x3f) << 5 | (w >> 8 & 15) << 1) as i32
}
fn imm_u(w: u32) -> i32 {
    (w & 0xffff_f000) as i32
}
fn imm_j(w: u32) -> i32 {
    (w as i32 >> 31) << 20
        | (w & 0xff000) as i32
        | ((w >> 20 & 1) << 11 | (w >> 21 & 0x3ff) << 1) as i32
}

/// `len` is that of the instruction in memory, of which `w` may be the expansion.
fn decode32(w: u32, len: u32) -> Option<Insn> {
    let r = |op| Some(Insn::new(op, len, rd(w), rs1(w), rs2(w), 0));
    let i = |op, imm| Some(Insn::new(op, len, rd(w), rs1(w), 0, imm));
    // Integer computations with no destination are hints; this also frees the interpreter from
    // protecting x0 in all of them.
    let computes = |insn: Option<Insn>| {
        insn.map(|insn| {
            if rd(w) == 0 {
                Insn::new(Op::Nop, len, 0, 0, 0, 0)
            } else {
                insn
            }
        })
    };
    match w & 0x7f {
        0x37 => computes(i(Op::Lui, imm_u(w))),
        0x17 => computes(i(Op::Auipc, imm_u(w))),
        0x6f => i(Op::Jal, imm_j(w)),
        0x67 if funct3(w) == 0 => i(Op::Jalr, imm_i(w)),
        0x63 => {
            let op = match funct3(w) {
                0 => Op::Beq,
                1 => Op::Bne,
                4 => Op::Blt,
                5 => Op::Bge,
                6 => Op::Bltu,
                7 => Op::Bgeu,
                _ => return None,
            };
            Some(Insn::new(op, len, 0, rs1(w), rs2(w), imm_b(w)))
        }
        0x03 => {
            let ops = [Op::Lb, Op::Lh, Op::Lw, Op::Ld, Op::Lbu, Op::Lhu, Op::Lwu];
            i(*ops.get(funct3(w) as usize)?, imm_i(w))
        }
        0x23 => {
            let op = *[Op::Sb, Op::Sh, Op::Sw, Op::Sd].get(funct3(w) as usize)?;
            Some(Insn::new(op, len, 0, rs1(w), rs2(w), imm_s(w)))
        }
        0x13 => {
            let shamt = (w >> 20 & 63) as i32;
            computes(match (funct3(w), w >> 26) {
                (0, _) => i(Op::Addi, imm_i(w)),
                (2, _) => i(Op::Slti, imm_i(w)),
                (3, _) => i(Op::Sltiu, imm_i(w)),
                (4, _) => i(Op::Xori, imm_i(w)),
                (6, _) => i(Op::Ori, imm_i(w)),
                (7, _) => i(Op::Andi, imm_i(w)),
                (1, 0) => i(Op::Slli, shamt),
                (5, 0) => i(Op::Srli, shamt),
                (5, 0x10) => i(Op::Srai, shamt),
                (1, 0x0a) => i(Op::Bseti, shamt),
                (1, 0x12) => i(Op::Bclri, shamt),
                (1, 0x1a) => i(Op::Binvi, shamt),
                (5, 0x12) => i(Op::Bexti, shamt),
                (5, 0x18) => i(Op::Rori, shamt),
                (funct3, _) => unary(funct3, w >> 20).and_then(|op| i(op, 0)),
            })
        }
        0x1b => {
            let shamt = (w >> 20 & 31) as i32;
            computes(match (funct3(w), funct7(w)) {
                (0, _) => i(Op::Addiw, imm_i(w)),
                (1, 0) => i(Op::Slliw, shamt),
                (5, 0) => i(Op::Srliw, shamt),
                (5, 0x20) => i(Op::Sraiw, shamt),
                (5, 0x30) => i(Op::Roriw, shamt),
                // Six bits of shift amount.
                (1, 4 | 5) => i(Op::SlliUw, (w >> 20 & 63) as i32),
                (1, _) => match w >> 20 {
                    0x600 => i(Op::Clzw, 0),
                    0x601 => i(Op::Ctzw, 0),
                    0x602 => i(Op::Cpopw, 0),
                    _ => None,
                },
                _ => None,
            })
        }
        0x33 => computes(match (funct7(w), funct3(w)) {
            (0, 0) => r(Op::Add),
            (0x20, 0) => r(Op::Sub),
            (0, 1) => r(Op::Sll),
            (0, 2) => r(Op::Slt),
            (0, 3) => r(Op::Sltu),
            (0, 4) => r(Op::Xor),
            (0, 5) => r(Op::Srl),
            (0x20, 5) => r(Op::Sra),
            (0, 6) => r(Op::Or),
            (0, 7) => r(Op::And),
            (1, 0) => r(Op::Mul),
            (1, 1) => r(Op::Mulh),
            (1, 2) => r(Op::Mulhsu),
            (1, 3) => r(Op::Mulhu),
            (1, 4) => r(Op::Div),
            (1, 5) => r(Op::Divu),
            (1, 6) => r(Op::Rem),
            (1, 7) => r(Op::Remu),
            (0x10, 2) => r(Op::Sh1add),
            (0x10, 4) => r(Op::Sh2add),
            (0x10, 6) => r(Op::Sh3add),
            (0x20, 4) => r(Op::Xnor),
            (0x20, 6) => r(Op::Orn),
            (0x20, 7) => r(Op::Andn),
            (5, 4) => r(Op::Min),
            (5, 5) => r(Op::Minu),
            (5, 6) => r(Op::Max),
            (5, 7) => r(Op::Maxu),
            (0x30, 1) => r(Op::Rol),
            (0x30, 5) => r(Op::Ror),
            (0x14, 1) => r(Op::Bset),
            (0x24, 1) => r(Op::Bclr),
            (0x24, 5) => r(Op::Bext),
            (0x34, 1) => r(Op::Binv),
            (7, 5) => r(Op::CzeroEqz),
            (7, 7) => r(Op::CzeroNez),
            _ => None,
        }),
        0x3b => computes(match (funct7(w), funct3(w)) {
            (0, 0) => r(Op::Addw),
            (0x20, 0) => r(Op::Subw),
            (0, 1) => r(Op::Sllw),
            (0, 5) => r(Op::Srlw),
            (0x20, 5) => r(Op::Sraw),
            (1, 0) => r(Op::Mulw),
            (1, 4) => r(Op::Divw),
            (1, 5) => r(Op::Divuw),
            (1, 6) => r(Op::Remw),
            (1, 7) => r(Op::Remuw),
            (4, 0) => r(Op::AddUw),
            (4, 4) if rs2(w) == 0 => r(Op::ZextH),
            (0x10, 2) => r(Op::Sh1addUw),
            (0x10, 4) => r(Op::Sh2addUw),
            (0x10, 6) => r(Op::Sh3addUw),
            (0x30, 1) => r(Op::Rolw),
            (0x30, 5) => r(Op::Rorw),
            _ => None,
        }),
        0x0f => misc_mem(w).map(|op| Insn::new(op, len, 0, 0, 0, 0)),
        0x73 => system(w, len),
        0x2f => atomic(w).and_then(r),
        0x07 => match funct3(w) {
            2 => i(Op::Flw, imm_i(w)),
            3 => i(Op::Fld, imm_i(w)),
            _ => None,
        },
        0x27 => {
            let op = match funct3(w) {
                2 => Op::Fsw,
                3 => Op::Fsd,
                _ => return None,
            };
            Some(Insn::new(op, len, 0, rs1(w), rs2(w), imm_s(w)))
        }
        0x43 => fused(w, Op::FmaddS, Op::FmaddD),
        0x47 => fused(w, Op::FmsubS, Op::FmsubD),
        0x4b => fused(w, Op::FnmsubS, Op::FnmsubD),
        0x4f => fused(w, Op::FnmaddS, Op::FnmaddD),
        0x53 => float(w),
        _ => None,
    }
}

/// Instructions of opcode OP-IMM with one operand, which bits 31:20 tell apart.
fn unary(funct3: u32, funct12: u32) -> Option<Op> {
    match (funct3, funct12) {
        (1, 0x600) => Some(Op::Clz),
        (1, 0x601) => Some(Op::Ctz),
        (1, 0x602) => Some(Op::Cpop),
        (1, 0x604) => Some(Op::SextB),
        (1, 0x605) => Some(Op::SextH),
        (5, 0x287) => Some(Op::OrcB),
        (5, 0x6b8) => Some(Op::Rev8),
        _ => None,
    }
}

/// FENCE and FENCE.I. Reserved forms are to be executed as ordinary ones.
fn misc_mem(w: u32) -> Option<Op> {
    const PAUSE: u32 = 0x0100_000f;
    match funct3(w) {
        0 if w == PAUSE => Some(Op::Pause),
        0 => {
            let (mode, pred, succ) = (w >> 28, w >> 24 & 15, w >> 20 & 15);
            let tso = mode == 8 && pred == 3 && succ == 3;
            // x86-64 keeps every order but that of a store (or output, 1 and 4) before a load (or
            // input, 2 and 8).
            let store_load = pred & 5 != 0 && succ & 10 != 0;
            Some(if store_load && !tso {
                Op::Fence
            } else {
                Op::Nop
            })
        }
        1 => Some(Op::FenceI),
        _ => None,
    }
}

fn system(w: u32, len: u32) -> Option<Insn> {
    let csr = |op| Some(Insn::new(op, len, rd(w), rs1(w), 0, (w >> 20) as i32));
    match funct3(w) {
        0 if w == 0x0000_0073 => csr(Op::Ecall),
        0 if w == 0x0010_0073 => csr(Op::Ebreak),
        1 => csr(Op::Csrrw),
        2 => csr(Op::Csrrs),
        3 => csr(Op::Csrrc),
        5 => csr(Op::Csrrwi),
        6 => csr(Op::Csrrsi),
        7 => csr(Op::Csrrci),
        _ => None,
    }
}

fn atomic(w: u32) -> Option<Op> {
    let (word, double) = match w >> 27 {
        0x02 if rs2(w) == 0 => (Op::LrW, Op::LrD),
        0x03 => (Op::ScW, Op::ScD),
        0x01 => (Op::AmoswapW, Op::AmoswapD),
        0x00 => (Op::AmoaddW, Op::AmoaddD),
        0x04 => (Op::AmoxorW, Op::AmoxorD),
        0x0c => (Op::AmoandW, Op::AmoandD),
        0x08 => (Op::AmoorW, Op::AmoorD),
        0x10 => (Op::AmominW, Op::AmominD),
        0x14 => (Op::AmomaxW, Op::AmomaxD),
        0x18 => (Op::AmominuW, Op::AmominuD),
        0x1c => (Op::AmomaxuW, Op::AmomaxuD),
        _ => return None,
    };
    match funct3(w) {
        2 => Some(word),
        3 => Some(double),
        _ => None,
    }
}

/// The rounding mode in the place of funct3, if it is not a reserved one.
fn rounding(w: u32) -> Option<u32> {
    let rm = funct3(w);
    (rm != 5 && rm != 6).then_some(rm)
}

fn fused(w: u32, single: Op, double: Op) -> Option<Insn> {
    let op = match w >> 25 & 3 {
        0 => single,
        1 => double,
        _ => return None,
    };
    let imm = rounding(w)? | (w >> 27) << 8;
    Some(Insn::new(op, 4, rd(w), rs1(w), rs2(w), imm as i32))
}

/// Opcode OP-FP.
fn float(w: u32) -> Option<Insn> {
    use Op::*;
    let double = match w >> 25 & 3 {
        0 => false,
        1 => true,
        _ => return None,
    };
    let pick = |single, dbl| Some(if double { dbl } else { single });
    let by_rs2 = |ops: [Op; 4]| ops.get(rs2(w) as usize).copied();
    let op = match (w >> 27, funct3(w), rs2(w)) {
        (0x04, 0, _) => pick(FsgnjS, FsgnjD),
        (0x04, 1, _) => pick(FsgnjnS, FsgnjnD),
        (0x04, 2, _) => pick(FsgnjxS, FsgnjxD),
        (0x05, 0, _) => pick(FminS, FminD),
        (0x05, 1, _) => pick(FmaxS, FmaxD),
        (0x14, 0, _) => pick(FleS, FleD),
        (0x14, 1, _) => pick(FltS, FltD),
        (0x14, 2, _) => pick(FeqS, FeqD),
        (0x1c, 0, 0) => pick(FmvXW, FmvXD),
        (0x1c, 1, 0) => pick(FclassS, FclassD),
        (0x1e, 0, 0) => pick(FmvWX, FmvDX),
        _ => None,
    };
    if let Some(op) = op {
        return Some(Insn::new(op, 4, rd(w), rs1(w), rs2(w), 0));
    }
    let op = match (w >> 27, rs2(w)) {
        (0x00, _) => pick(FaddS, FaddD),
        (0x01, _) => pick(FsubS, FsubD),
        (0x02, _) => pick(FmulS, FmulD),
        (0x03, _) => pick(FdivS, FdivD),
        (0x0b, 0) => pick(FsqrtS, FsqrtD),
        (0x08, 1) if !double => Some(FcvtSD),
        (0x08, 0) if double => Some(FcvtDS),
        (0x18, _) if !double => by_rs2([FcvtWS, FcvtWuS, FcvtLS, FcvtLuS]),
        (0x18, _) => by_rs2([FcvtWD, FcvtWuD, FcvtLD, FcvtLuD]),
        (0x1a, _) if !double => by_rs2([FcvtSW, FcvtSWu, FcvtSL, FcvtSLu]),
        (0x1a, _) => by_rs2([FcvtDW, FcvtDWu, FcvtDL, FcvtDLu]),
        _ => None,
    }?;
    Some(Insn::new(op, 4, rd(w), rs1(w), rs2(w), rounding(w)? as i32))
}
