//! The decoder, by the table of instructions.

use crate::compressed;
use crate::format::Format;
use crate::insn::Insn;
use crate::op::Op;

/// Decodes the instruction in `bits`: the low 16 if their two low bits are not both set, else all
/// 32.
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

/// An instruction that cannot be executed.
pub fn illegal(bits: u32) -> Insn {
    let len = if bits & 3 == 3 { 4 } else { 2 };
    Insn::new(Op::Illegal, len, 0, 0, 0, bits as i32)
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
    let op = find(w)?;
    if op.class().computes() && rd(w) == 0 || op == Op::Fence && !orders_store_before_load(w) {
        // Also frees the interpreter from protecting x0 in all computations.
        return Some(Insn::new(Op::Nop, len, 0, 0, 0, 0));
    }
    let (rd, rs1, rs2) = (rd(w), rs1(w), rs2(w));
    Some(match op.format() {
        Format::Bare => Insn::new(op, len, 0, 0, 0, 0),
        Format::Environment => Insn::new(op, len, 0, 0, 0, imm_i(w)),
        Format::U => Insn::new(op, len, rd, rs1, 0, imm_u(w)),
        Format::J => Insn::new(op, len, rd, rs1, 0, imm_j(w)),
        Format::B => Insn::new(op, len, 0, rs1, rs2, imm_b(w)),
        Format::I | Format::FI => Insn::new(op, len, rd, rs1, 0, imm_i(w)),
        Format::Shift6 => Insn::new(op, len, rd, rs1, 0, (w >> 20 & 63) as i32),
        Format::Shift5 => Insn::new(op, len, rd, rs1, 0, (w >> 20 & 31) as i32),
        Format::Unary => Insn::new(op, len, rd, rs1, 0, 0),
        Format::R => Insn::new(op, len, rd, rs1, rs2, 0),
        Format::S | Format::FS => Insn::new(op, len, 0, rs1, rs2, imm_s(w)),
        Format::Csr | Format::CsrI => Insn::new(op, len, rd, rs1, 0, (w >> 20) as i32),
        Format::Ff | Format::Fff | Format::Fx | Format::Xf | Format::Xff => {
            Insn::new(op, len, rd, rs1, rs2, 0)
        }
        Format::FfRm | Format::FffRm | Format::FxRm | Format::XfRm => {
            Insn::new(op, len, rd, rs1, rs2, rounding(w)? as i32)
        }
        Format::V => Insn::new(op, len, rd, rs1, rs2, w as i32),
        Format::FfffRm => {
            let imm = rounding(w)? | (w >> 27) << 8;
            Insn::new(op, len, rd, rs1, rs2, imm as i32)
        }
    })
}

/// Does a FENCE order stores (or output, 1 and 4) before loads (or input, 2 and 8)? x86-64 keeps
/// every other order by itself. Reserved forms are to be executed as ordinary ones.
fn orders_store_before_load(w: u32) -> bool {
    let (mode, pred, succ) = (w >> 28, w >> 24 & 15, w >> 20 & 15);
    let tso = mode == 8 && pred == 3 && succ == 3;
    pred & 5 != 0 && succ & 10 != 0 && !tso
}

/// The rounding mode in the place of funct3, if it is not a reserved one.
fn rounding(w: u32) -> Option<u32> {
    let rm = funct3(w);
    (rm != 5 && rm != 6).then_some(rm)
}

/// The bits of an instruction word that choose a bucket of [`INDEX`]: opcode and funct3.
const KEY: u32 = 0x707c;
const BUCKETS: usize = 256;

const fn bucket(w: u32) -> usize {
    (w >> 2 & 31 | w >> 7 & 0xe0) as usize
}

/// The word with no other bits than those that choose this bucket.
const fn key(bucket: usize) -> u32 {
    (bucket as u32 & 31) << 2 | (bucket as u32 & 0xe0) << 7
}

/// The rows that words of each bucket may match, in the order of the table.
struct Index {
    /// Where the rows of a bucket begin and end in `rows`.
    starts: [u16; BUCKETS + 1],
    rows: [Row; ROWS],
}

#[derive(Clone, Copy)]
struct Row {
    mask: u32,
    bits: u32,
    op: Op,
}

/// A row stands in each bucket that its mask leaves open.
const ROWS: usize = {
    let (mut rows, mut n) = (0, 0);
    while n < Op::COUNT {
        let (mask, _) = Op::ALL[n].encoding();
        if mask != 0 {
            rows += 1 << (KEY & !mask).count_ones();
        }
        n += 1;
    }
    rows
};

static INDEX: Index = {
    let none = Row {
        mask: 0,
        bits: 0,
        op: Op::Illegal,
    };
    let mut index = Index {
        starts: [0; BUCKETS + 1],
        rows: [none; ROWS],
    };
    let (mut bucket, mut row) = (0, 0);
    while bucket < BUCKETS {
        let mut n = 0;
        while n < Op::COUNT {
            let op = Op::ALL[n];
            let (mask, bits) = op.encoding();
            if mask != 0 && (bits ^ key(bucket)) & mask & KEY == 0 {
                index.rows[row] = Row { mask, bits, op };
                row += 1;
            }
            n += 1;
        }
        bucket += 1;
        index.starts[bucket] = row as u16;
    }
    assert!(row == ROWS);
    index
};

/// The first row that matches.
fn find(w: u32) -> Option<Op> {
    let bucket = bucket(w);
    let rows = usize::from(INDEX.starts[bucket])..usize::from(INDEX.starts[bucket + 1]);
    let row = INDEX.rows[rows]
        .iter()
        .find(|row| w & row.mask == row.bits)?;
    Some(row.op)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn immediates_use_every_bit() {
        // jal x0: bits 31 | 30:21 | 20 | 19:12 are offset bits 20 | 10:1 | 11 | 19:12.
        assert_eq!(decode(0x8000_006f).imm() as i64, -(1 << 20));
        assert_eq!(decode(0x7fe0_006f).imm(), 0x7fe);
        assert_eq!(decode(0x0010_006f).imm(), 0x800);
        assert_eq!(decode(0x000f_f06f).imm(), 0xff000);
        // beq x0, x0: bits 31 | 30:25 | 11:8 | 7 are offset bits 12 | 10:5 | 4:1 | 11.
        assert_eq!(decode(0x8000_0063).imm() as i64, -4096);
        assert_eq!(decode(0x7e00_0063).imm(), 0x7e0);
        assert_eq!(decode(0x0000_0f63).imm(), 0x1e);
        assert_eq!(decode(0x0000_00e3).imm(), 0x800);
        // sd and ld with the lowest offset.
        assert_eq!(decode(0x8000_3023).imm() as i64, -2048);
        assert_eq!(decode(0x8000_3003).imm() as i64, -2048);
        assert_eq!(decode(0xffff_f0b7).imm() as i64, -4096);
    }

    #[test]
    fn reserved_is_illegal_and_hints_are_not() {
        for bits in [
            0, // c.unimp
            0xffff_ffff,
            0x0000_7003, // load, funct3 7
            0x0000_4023, // store, funct3 4
            0x0000_2063, // branch, funct3 2
            0x0000_1067, // jalr, funct3 1
            0x4000_1093, // slli with funct6 0x10
            0x0200_109b, // slliw with shamt 32
            0x1010_a0af, // lr.w with rs2 = 1
            0x0000_50d3, // fadd.s, rm 5
            0x0000_60d3, // fadd.s, rm 6
            0x0400_70d3, // half precision
            0x5810_70d3, // fsqrt.s with rs2 = 1
            0x4000_70d3, // fcvt.s.s
            0x7020_0073, // mnret
            0x0020_0073, // uret
            0x2001,      // c.addiw x0
            0x8002,      // c.jr x0
            0x4002,      // c.lwsp x0
            0x6101,      // c.addi16sp 0
            0x6081,      // c.lui x1, 0
            0x9c41,      // reserved arithmetic
            0x8000,      // quadrant 0, funct3 4
        ] {
            assert_eq!(decode(bits).op(), Op::Illegal, "{bits:#x}");
        }
        for bits in [
            0x0000_0037, // lui x0
            0x0000_0013,
            0x0000_0033,
            0x0000_003b, // computations into x0
            0x8330_000f, // fence.tso
            0x0001,      // c.nop
            0x4001,      // c.li x0
            0x6005,      // c.lui x0, 1
            0x1002,      // c.slli x0, 32
            0x8006,      // c.mv x0, x1
            0x9006,      // c.add x0, x1
        ] {
            assert_eq!(decode(bits).op(), Op::Nop, "{bits:#x}");
        }
        assert_eq!(decode(0x0330_000f).op(), Op::Fence);
        assert_eq!(decode(0x0100_000f).op(), Op::Pause);
        // With every reserved field set.
        for bits in [0x0000_100f, 0xffff_9f8f] {
            assert_eq!(decode(bits).op(), Op::FenceI, "{bits:#x}");
        }
    }
}
