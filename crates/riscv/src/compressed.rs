//! Compressed instructions. Each stands for a 32-bit instruction (ISA manual, chapter "C", and its
//! instruction listings for RV64C).

use crate::op::Op;

/// Expands a 16-bit instruction; `None` for reserved encodings.
pub fn expand(h: u32) -> Option<u32> {
    match h & 3 {
        0 => quadrant0(h),
        1 => quadrant1(h),
        _ => quadrant2(h),
    }
}

/// Bits `high..=low` of `h`.
fn field(h: u32, high: u32, low: u32) -> u32 {
    h >> low & ((1 << (high - low + 1)) - 1)
}

/// Full register number in bits 11:7.
fn rd(h: u32) -> u32 {
    field(h, 11, 7)
}

/// Full register number in bits 6:2.
fn rs2(h: u32) -> u32 {
    field(h, 6, 2)
}

/// x8 to x15 in bits 9:7.
fn rd_short(h: u32) -> u32 {
    8 + field(h, 9, 7)
}

/// x8 to x15 in bits 4:2.
fn rs2_short(h: u32) -> u32 {
    8 + field(h, 4, 2)
}

/// Six bits in 12 and 6:2, sign-extended.
fn imm6(h: u32) -> i32 {
    ((field(h, 12, 12) << 5 | field(h, 6, 2)) as i32) << 26 >> 26
}

fn shamt(h: u32) -> u32 {
    field(h, 12, 12) << 5 | field(h, 6, 2)
}

const SP: u32 = 2;

/// An instruction of the formats I and Shift6; of a shift `imm` is the amount.
fn i_type(op: Op, rd: u32, rs1: u32, imm: i32) -> u32 {
    op.encoding().1 | rd << 7 | rs1 << 15 | (imm as u32) << 20
}

fn s_type(op: Op, rs1: u32, rs2: u32, imm: u32) -> u32 {
    op.encoding().1 | (imm & 31) << 7 | rs1 << 15 | rs2 << 20 | (imm >> 5) << 25
}

fn r_type(op: Op, rd: u32, rs1: u32, rs2: u32) -> u32 {
    op.encoding().1 | rd << 7 | rs1 << 15 | rs2 << 20
}

fn quadrant0(h: u32) -> Option<u32> {
    let (base, data) = (rd_short(h), rs2_short(h));
    let word = field(h, 5, 5) << 6 | field(h, 12, 10) << 3 | field(h, 6, 6) << 2;
    let double = field(h, 6, 5) << 6 | field(h, 12, 10) << 3;
    Some(match field(h, 15, 13) {
        0 => {
            let imm = field(h, 10, 7) << 6
                | field(h, 12, 11) << 4
                | field(h, 5, 5) << 3
                | field(h, 6, 6) << 2;
            if imm == 0 {
                return None;
            }
            i_type(Op::Addi, data, SP, imm as i32)
        }
        1 => i_type(Op::Fld, data, base, double as i32),
        2 => i_type(Op::Lw, data, base, word as i32),
        3 => i_type(Op::Ld, data, base, double as i32),
        5 => s_type(Op::Fsd, base, data, double),
        6 => s_type(Op::Sw, base, data, word),
        7 => s_type(Op::Sd, base, data, double),
        _ => return None,
    })
}

fn quadrant1(h: u32) -> Option<u32> {
    let rd = rd(h);
    Some(match field(h, 15, 13) {
        0 => i_type(Op::Addi, rd, rd, imm6(h)),
        1 if rd != 0 => i_type(Op::Addiw, rd, rd, imm6(h)),
        2 => i_type(Op::Addi, rd, 0, imm6(h)),
        3 if imm6(h) == 0 => return None,
        3 if rd == SP => {
            let imm = field(h, 12, 12) << 9
                | field(h, 4, 3) << 7
                | field(h, 5, 5) << 6
                | field(h, 2, 2) << 5
                | field(h, 6, 6) << 4;
            i_type(Op::Addi, SP, SP, (imm as i32) << 22 >> 22)
        }
        3 => Op::Lui.encoding().1 | rd << 7 | (imm6(h) << 12) as u32,
        4 => return arithmetic(h),
        5 => {
            let imm = field(h, 12, 12) << 11
                | field(h, 8, 8) << 10
                | field(h, 10, 9) << 8
                | field(h, 6, 6) << 7
                | field(h, 7, 7) << 6
                | field(h, 2, 2) << 5
                | field(h, 11, 11) << 4
                | field(h, 5, 3) << 1;
            let imm = ((imm as i32) << 20 >> 20) as u32;
            Op::Jal.encoding().1
                | (imm & 0xff000)
                | (imm >> 11 & 1) << 20
                | (imm >> 1 & 0x3ff) << 21
                | (imm >> 20 & 1) << 31
        }
        funct3 @ (6 | 7) => {
            let op = if funct3 == 6 { Op::Beq } else { Op::Bne };
            let imm = field(h, 12, 12) << 8
                | field(h, 6, 5) << 6
                | field(h, 2, 2) << 5
                | field(h, 11, 10) << 3
                | field(h, 4, 3) << 1;
            let imm = ((imm as i32) << 23 >> 23) as u32;
            op.encoding().1
                | (imm >> 11 & 1) << 7
                | (imm >> 1 & 15) << 8
                | rd_short(h) << 15
                | (imm >> 5 & 0x3f) << 25
                | (imm >> 12 & 1) << 31
        }
        _ => return None,
    })
}

/// Quadrant 1, funct3 4: operations on x8 to x15.
fn arithmetic(h: u32) -> Option<u32> {
    let (rd, rs2) = (rd_short(h), rs2_short(h));
    Some(match field(h, 11, 10) {
        0 => i_type(Op::Srli, rd, rd, shamt(h) as i32),
        1 => i_type(Op::Srai, rd, rd, shamt(h) as i32),
        2 => i_type(Op::Andi, rd, rd, imm6(h)),
        _ => match (field(h, 12, 12), field(h, 6, 5)) {
            (0, 0) => r_type(Op::Sub, rd, rd, rs2),
            (0, 1) => r_type(Op::Xor, rd, rd, rs2),
            (0, 2) => r_type(Op::Or, rd, rd, rs2),
            (0, _) => r_type(Op::And, rd, rd, rs2),
            (_, 0) => r_type(Op::Subw, rd, rd, rs2),
            (_, 1) => r_type(Op::Addw, rd, rd, rs2),
            _ => return None,
        },
    })
}

fn quadrant2(h: u32) -> Option<u32> {
    let (rd, rs2) = (rd(h), rs2(h));
    let word_load = field(h, 3, 2) << 6 | field(h, 12, 12) << 5 | field(h, 6, 4) << 2;
    let double_load = field(h, 4, 2) << 6 | field(h, 12, 12) << 5 | field(h, 6, 5) << 3;
    let word_store = field(h, 8, 7) << 6 | field(h, 12, 9) << 2;
    let double_store = field(h, 9, 7) << 6 | field(h, 12, 10) << 3;
    Some(match field(h, 15, 13) {
        0 => i_type(Op::Slli, rd, rd, shamt(h) as i32),
        1 => i_type(Op::Fld, rd, SP, double_load as i32),
        2 if rd != 0 => i_type(Op::Lw, rd, SP, word_load as i32),
        3 if rd != 0 => i_type(Op::Ld, rd, SP, double_load as i32),
        4 => match (field(h, 12, 12), rd, rs2) {
            (0, 0, 0) => return None,
            (0, _, 0) => i_type(Op::Jalr, 0, rd, 0),
            (0, _, _) => r_type(Op::Add, rd, 0, rs2),
            (_, 0, 0) => Op::Ebreak.encoding().1,
            (_, _, 0) => i_type(Op::Jalr, 1, rd, 0),
            (_, _, _) => r_type(Op::Add, rd, rd, rs2),
        },
        5 => s_type(Op::Fsd, SP, rs2, double_store),
        6 => s_type(Op::Sw, SP, rs2, word_store),
        7 => s_type(Op::Sd, SP, rs2, double_store),
        _ => return None,
    })
}
