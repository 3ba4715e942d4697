//! Code as words at an address.
use flick_riscv_testing::asm::{addi, i, jal};

pub const FENCE_I: u32 = 0x0000_100f;
pub const MRET: u32 = 0x3020_0073;
pub const SRET: u32 = 0x1020_0073;
pub const WFI: u32 = 0x1050_0073;
pub const ECALL: u32 = 0x0000_0073;
pub const SFENCE_VMA: u32 = 0x1200_0073;
pub const BEQ: u32 = 0x0063;
pub const BNE: u32 = 0x1063;
pub const BLT: u32 = 0x4063;
pub const BLTU: u32 = 0x6063;
const SLLI: u32 = 0x1013;
const ADDIW: u32 = 0x001b;

pub fn csrr(rd: u32, csr: u32) -> u32 {
    0x2073 | rd << 7 | csr << 20
}

pub fn csrw(csr: u32, rs1: u32) -> u32 {
    csr_insn(1, 0, csr, rs1)
}

pub fn csrs(csr: u32, rs1: u32) -> u32 {
    csr_insn(2, 0, csr, rs1)
}

pub fn csrc(csr: u32, rs1: u32) -> u32 {
    csr_insn(3, 0, csr, rs1)
}

/// `kind` is 1 to 3 with a register, and 5 to 7 with a number.
pub fn csr_insn(kind: u32, rd: u32, csr: u32, rs1: u32) -> u32 {
    0x73 | kind << 12 | rd << 7 | rs1 << 15 | csr << 20
}

pub fn slli(rd: u32, rs1: u32, by: i32) -> u32 {
    i(SLLI, rd, rs1, by)
}

pub fn lui(rd: u32, upper: u32) -> u32 {
    0x37 | rd << 7 | upper << 12
}

/// A place that a jump leads to once it is known.
#[must_use]
pub struct Ahead(usize);

pub struct Words {
    pub base: u64,
    pub words: Vec<u32>,
}

impl Words {
    pub fn at(base: u64) -> Self {
        let words = vec![];
        Self { base, words }
    }

    pub fn add(&mut self, words: impl IntoIterator<Item = u32>) {
        self.words.extend(words);
    }

    pub fn here(&self) -> u64 {
        self.base + 4 * self.words.len() as u64
    }

    pub fn ahead(&mut self, count: usize) -> Ahead {
        let at = self.words.len();
        self.words.extend(vec![0; count]);
        Ahead(at)
    }

    /// The instruction leads here.
    pub fn reach(&mut self, from: Ahead, make: impl Fn(i32) -> u32) {
        self.words[from.0] = make(4 * (self.words.len() - from.0) as i32);
    }

    /// The two words make the address of here.
    pub fn reach_address(&mut self, from: Ahead, rd: u32) {
        let distance = 4 * (self.words.len() - from.0) as i32;
        self.words[from.0..from.0 + 2].copy_from_slice(&address(rd, distance));
    }

    /// An address near this code, relative to it.
    pub fn la(&mut self, rd: u32, target: u64) {
        let distance = target.wrapping_sub(self.here()) as i32;
        self.add(address(rd, distance));
    }

    pub fn li(&mut self, rd: u32, value: u64) {
        let signed = value as i64;
        let low = (signed << 52 >> 52) as i32;
        if signed == i64::from(low) {
            return self.add([addi(rd, 0, low)]);
        }
        let rest = signed.wrapping_sub(i64::from(low));
        if signed == i64::from(signed as i32) {
            return self.add([
                lui(rd, (rest >> 12) as u32 & 0xf_ffff),
                i(ADDIW, rd, rd, low),
            ]);
        }
        let upper = rest >> 12;
        let zeros = upper.trailing_zeros();
        self.li(rd, (upper >> zeros) as u64);
        self.add([slli(rd, rd, 12 + zeros as i32)]);
        if low != 0 {
            self.add([addi(rd, rd, low)]);
        }
    }

    /// A jump to an address.
    pub fn jump(&mut self, target: u64) {
        self.add([jal(0, target.wrapping_sub(self.here()) as i32)]);
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }
}

fn address(rd: u32, distance: i32) -> [u32; 2] {
    let low = distance << 20 >> 20;
    let upper = (distance.wrapping_sub(low) as u32) >> 12;
    [0x17 | rd << 7 | upper << 12, addi(rd, rd, low)]
}
