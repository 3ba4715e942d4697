//! Encoders, independent of the engine's decoder.

pub fn r(base: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    base | rd << 7 | rs1 << 15 | rs2 << 20
}

pub fn i(base: u32, rd: u32, rs1: u32, imm: i32) -> u32 {
    base | rd << 7 | rs1 << 15 | (imm as u32) << 20
}

pub fn s(base: u32, rs1: u32, rs2: u32, imm: i32) -> u32 {
    let imm = imm as u32;
    base | (imm & 31) << 7 | rs1 << 15 | rs2 << 20 | (imm >> 5 & 127) << 25
}

pub fn branch(base: u32, rs1: u32, rs2: u32, offset: i32) -> u32 {
    let o = offset as u32;
    base | rs1 << 15
        | rs2 << 20
        | (o >> 12 & 1) << 31
        | (o >> 5 & 63) << 25
        | (o >> 1 & 15) << 8
        | (o >> 11 & 1) << 7
}

pub fn jal(rd: u32, offset: i32) -> u32 {
    let o = offset as u32;
    0x6f | rd << 7
        | (o >> 20 & 1) << 31
        | (o >> 1 & 0x3ff) << 21
        | (o >> 11 & 1) << 20
        | (o >> 12 & 0xff) << 12
}

/// c.j: offset\[11|4|9:8|10|6|7|3:1|5\] in bits 12 to 2.
pub fn c_j(offset: i32) -> u16 {
    let o = offset as u32;
    let bit = |from: u32, to: u32| (o >> from & 1) << to;
    (0xa001
        | bit(11, 12)
        | bit(4, 11)
        | bit(9, 10)
        | bit(8, 9)
        | bit(10, 8)
        | bit(6, 7)
        | bit(7, 6)
        | bit(3, 5)
        | bit(2, 4)
        | bit(1, 3)
        | bit(5, 2)) as u16
}

/// c.beqz (`base` 0xc001) and c.bnez (0xe001): offset\[8|4:3\] and \[7:6|2:1|5\].
pub fn c_branch(base: u32, short: u32, offset: i32) -> u16 {
    let o = offset as u32;
    let bit = |from: u32, to: u32| (o >> from & 1) << to;
    (base
        | short << 7
        | bit(8, 12)
        | bit(4, 11)
        | bit(3, 10)
        | bit(7, 6)
        | bit(6, 5)
        | bit(2, 4)
        | bit(1, 3)
        | bit(5, 2)) as u16
}

pub fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x13, rd, rs1, imm)
}

pub fn ld(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x3003, rd, rs1, imm)
}

pub fn sd(rs2: u32, rs1: u32, imm: i32) -> u32 {
    s(0x3023, rs1, rs2, imm)
}

pub fn fld(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x3007, rd, rs1, imm)
}

pub fn fsd(rs2: u32, rs1: u32, imm: i32) -> u32 {
    s(0x3027, rs1, rs2, imm)
}

pub fn jr(rs1: u32) -> u32 {
    i(0x67, 0, rs1, 0)
}

/// lui and addiw: a constant below 2^31.
pub fn li(rd: u32, value: u64) -> [u32; 2] {
    let value = value as i32;
    let low = value << 20 >> 20;
    [
        0x37 | rd << 7 | (value.wrapping_sub(low)) as u32,
        i(0x1b, rd, rd, low),
    ]
}

/// Code as 16-bit parcels.
#[derive(Clone, Default)]
pub struct Code(pub Vec<u16>);

impl Code {
    pub fn word(&mut self, word: u32) {
        self.0.push(word as u16);
        self.0.push((word >> 16) as u16);
    }

    pub fn half(&mut self, half: u16) {
        self.0.push(half);
    }

    /// A 32-bit or, if its low bits say so, 16-bit instruction.
    pub fn insn(&mut self, bits: u32) {
        if bits & 3 == 3 {
            self.word(bits)
        } else {
            self.half(bits as u16)
        }
    }

    pub fn li(&mut self, rd: u32, value: u64) {
        for word in li(rd, value) {
            self.word(word);
        }
    }

    /// Bytes.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> i32 {
        self.0.len() as i32 * 2
    }
}
