//! Compressed instructions, as the 32-bit instructions they stand for (ISA manual, chapter "C", and
//! its instruction listings for RV64C).

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

const LOAD: u32 = 0x03;
const LOAD_FP: u32 = 0x07;
const OP_IMM: u32 = 0x13;
const OP_IMM_32: u32 = 0x1b;
const STORE: u32 = 0x23;
const STORE_FP: u32 = 0x27;
const OP: u32 = 0x33;
const LUI: u32 = 0x37;
const OP_32: u32 = 0x3b;
const BRANCH: u32 = 0x63;
const JALR: u32 = 0x67;
const JAL: u32 = 0x6f;
const EBREAK: u32 = 0x0010_0073;
const SP: u32 = 2;

fn i_type(opcode: u32, funct3: u32, rd: u32, rs1: u32, imm: i32) -> u32 {
    opcode | rd << 7 | funct3 << 12 | rs1 << 15 | (imm as u32) << 20
}

fn s_type(opcode: u32, funct3: u32, rs1: u32, rs2: u32, imm: u32) -> u32 {
    opcode | (imm & 31) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | (imm >> 5) << 25
}

fn r_type(opcode: u32, funct3: u32, funct7: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    opcode | rd << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | funct7 << 25
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
            i_type(OP_IMM, 0, data, SP, imm as i32)
        }
        1 => i_type(LOAD_FP, 3, data, base, double as i32),
        2 => i_type(LOAD, 2, data, base, word as i32),
        3 => i_type(LOAD, 3, data, base, double as i32),
        5 => s_type(STORE_FP, 3, base, data, double),
        6 => s_type(STORE, 2, base, data, word),
        7 => s_type(STORE, 3, base, data, double),
        _ => return None,
    })
}

fn quadrant1(h: u32) -> Option<u32> {
    let rd = rd(h);
    Some(match field(h, 15, 13) {
        0 => i_type(OP_IMM, 0, rd, rd, imm6(h)),
        1 if rd != 0 => i_type(OP_IMM_32, 0, rd, rd, imm6(h)),
        2 => i_type(OP_IMM, 0, rd, 0, imm6(h)),
        3 if imm6(h) == 0 => return None,
        3 if rd == SP => {
            let imm = field(h, 12, 12) << 9
                | field(h, 4, 3) << 7
                | field(h, 5, 5) << 6
                | field(h, 2, 2) << 5
                | field(h, 6, 6) << 4;
            i_type(OP_IMM, 0, SP, SP, (imm as i32) << 22 >> 22)
        }
        3 => LUI | rd << 7 | (imm6(h) << 12) as u32,
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
            JAL | (imm & 0xff000)
                | (imm >> 11 & 1) << 20
                | (imm >> 1 & 0x3ff) << 21
                | (imm >> 20 & 1) << 31
        }
        funct3 @ (6 | 7) => {
            let imm = field(h, 12, 12) << 8
                | field(h, 6, 5) << 6
                | field(h, 2, 2) << 5
                | field(h, 11, 10) << 3
                | field(h, 4, 3) << 1;
            let imm = ((imm as i32) << 23 >> 23) as u32;
            BRANCH
                | (imm >> 11 & 1) << 7
                | (imm >> 1 & 15) << 8
                | (funct3 - 6) << 12
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
        0 => i_type(OP_IMM, 5, rd, rd, shamt(h) as i32),
        1 => i_type(OP_IMM, 5, rd, rd, (shamt(h) | 0x400) as i32),
        2 => i_type(OP_IMM, 7, rd, rd, imm6(h)),
        _ => match (field(h, 12, 12), field(h, 6, 5)) {
            (0, 0) => r_type(OP, 0, 0x20, rd, rd, rs2),
            (0, 1) => r_type(OP, 4, 0, rd, rd, rs2),
            (0, 2) => r_type(OP, 6, 0, rd, rd, rs2),
            (0, _) => r_type(OP, 7, 0, rd, rd, rs2),
            (_, 0) => r_type(OP_32, 0, 0x20, rd, rd, rs2),
            (_, 1) => r_type(OP_32, 0, 0, rd, rd, rs2),
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
        0 => i_type(OP_IMM, 1, rd, rd, shamt(h) as i32),
        1 => i_type(LOAD_FP, 3, rd, SP, double_load as i32),
        2 if rd != 0 => i_type(LOAD, 2, rd, SP, word_load as i32),
        3 if rd != 0 => i_type(LOAD, 3, rd, SP, double_load as i32),
        4 => match (field(h, 12, 12), rd, rs2) {
            (0, 0, 0) => return None,
            (0, _, 0) => i_type(JALR, 0, 0, rd, 0),
            (0, _, _) => r_type(OP, 0, 0, rd, 0, rs2),
            (_, 0, 0) => EBREAK,
            (_, _, 0) => i_type(JALR, 0, 1, rd, 0),
            (_, _, _) => r_type(OP, 0, 0, rd, rd, rs2),
        },
        5 => s_type(STORE_FP, 3, SP, rs2, double_store),
        6 => s_type(STORE, 2, SP, rs2, word_store),
        7 => s_type(STORE, 3, SP, rs2, double_store),
        _ => return None,
    })
}
