//! Any bytes as code that accesses nothing but the sandbox, and so may be executed.
//!
//! `s1` leads to data, sp to a stack; nothing else is an address. `t3` to `t6` belong to the
//! sequences that make addresses of other registers' contents and that jump by the table.
use flick_engine::vector::is_executed_alone;
use flick_riscv::{Class, Insn, Op, decode};

use crate::guest::Input;
use flick_riscv_testing::asm;

pub const SP: u32 = 2;
pub const BASE: u32 = 9;
pub const TABLE: u32 = 28;
pub const TARGET: u32 = 29;
pub const INDEX: u32 = 30;
pub const ADDRESS: u32 = 31;
/// Bits of a vector register.
pub const VLEN: u32 = 128;
pub const EBREAK: u32 = 0x0010_0073;
const RET: u32 = 0x0000_8067;

/// How far sp moves at a time.
const STEP: i64 = 128;
const MOST_INSNS: usize = 400;

/// Code as it stands in memory, and where a table of distances has to be.
pub struct Code {
    pub bytes: Vec<u8>,
    /// Offsets of instructions that load the table's address (`auipc` and `addi`).
    pub table_loads: Vec<usize>,
    /// Offsets of the jumps by the table.
    pub table_jumps: Vec<usize>,
    /// Offsets of instructions, ascending: the middle of one may be another that accesses anything.
    pub starts: Vec<usize>,
}

impl Code {
    fn insn(&mut self, bits: u32) {
        self.starts.push(self.bytes.len());
        self.follower(bits);
    }

    /// An instruction that no jump leads to.
    fn follower(&mut self, bits: u32) {
        self.bytes.extend((bits as u16).to_le_bytes());
        if bits & 3 == 3 {
            self.bytes.extend(((bits >> 16) as u16).to_le_bytes());
        }
    }

    /// Leads jumps to instructions, but for those that leave.
    fn mend_jumps(&mut self) {
        for &at in &self.starts {
            let word = [0, 1, 2, 3].map(|n| *self.bytes.get(at + n).unwrap_or(&0));
            let bits = u32::from_le_bytes(word);
            let insn = decode(bits);
            let offset = insn.imm() as i64;
            let inside = |to: i64| (0..self.bytes.len() as i64).contains(&to);
            let near = match at as i64 + offset {
                to if inside(to) => to,
                _ if offset & 6 == 0 => continue,
                _ => (at as i64 + offset % 64).clamp(0, self.bytes.len() as i64 - 1),
            };
            let before = self.starts.partition_point(|&start| start as i64 <= near) - 1;
            let mut offset = self.starts[before] as i32 - at as i32;
            // A compressed branch leads back by 256 bytes at most.
            if offset < -256 && near - at as i64 >= -256 {
                offset = self.starts[before + 1] as i32 - at as i32;
            }
            let short = bits >> 7 & 7;
            let mended = match (insn.op(), insn.len()) {
                (Op::Jal, 2) => asm::c_j(offset).into(),
                (Op::Beq, 2) => asm::c_branch(0xc001, short, offset).into(),
                (Op::Bne, 2) => asm::c_branch(0xe001, short, offset).into(),
                (Op::Jal, _) => asm::jal(0, offset),
                (Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu, _) => {
                    asm::branch(bits & 0x707f, insn.rs1() as u32, insn.rs2() as u32, offset)
                }
                _ => continue,
            };
            let len = insn.len() as usize;
            self.bytes[at..at + len].copy_from_slice(&mended.to_le_bytes()[..len]);
        }
    }
}

/// One function: `ebreak`, since its first instruction is entered as functions are and all others
/// as what they are; what became of the input; the end.
pub fn code(input: &mut Input, returns: bool, table: bool) -> Code {
    let mut code = Code {
        bytes: vec![],
        table_loads: vec![],
        table_jumps: vec![],
        starts: vec![],
    };
    code.insn(EBREAK);
    while !input.rest.is_empty() && code.starts.len() < MOST_INSNS {
        let low = u32::from(input.half());
        let bits = if low & 3 == 3 {
            low | u32::from(input.half()) << 16
        } else {
            low
        };
        add(&mut code, bits, table);
    }
    code.insn(if returns { RET } else { EBREAK });
    code.mend_jumps();
    code
}

fn field(bits: u32, at: u32, value: u32) -> u32 {
    bits & !(31 << at) | value << at
}

fn add(code: &mut Code, bits: u32, table: bool) {
    let insn = decode(bits);
    match insn.op() {
        Op::Illegal if bits >> 2 & 3 == 0 => code.insn(bits),
        Op::VLoad | Op::VStore => access_elements(code, bits, insn),
        op if op.class() == Class::Privileged => code.insn(bits),
        // Reads of vl, vtype and vlenb.
        Op::Csrrs if is_executed_alone(insn) => compute(code, bits, insn),
        Op::Illegal if table => by_table(code, bits >> 4 & 31),
        Op::Illegal => {}
        Op::Jal if insn.len() == 4 => code.insn(field(bits, 7, 0)),
        Op::Jalr if insn.len() == 2 => code.insn(bits & !0x1000),
        Op::Jalr if insn.rd() == 5 => code.insn(bits),
        Op::Jalr => code.insn(field(bits, 7, 0)),
        // Time passes.
        Op::Csrrw | Op::Csrrs | Op::Csrrc | Op::Csrrwi | Op::Csrrsi | Op::Csrrci
            if insn.imm() & 0xfff >= 0xc00 => {}
        op if op.may_fault() => access(code, bits, insn),
        _ => compute(code, bits, insn),
    }
}

/// The integer register that it writes.
fn destination(insn: Insn) -> Option<u32> {
    (insn.writes() as u32 != 0).then_some(insn.rd() as u32)
}

fn is_ours(register: u32) -> bool {
    [SP, BASE, TABLE, TARGET, INDEX, ADDRESS].contains(&register)
}

fn compute(code: &mut Code, bits: u32, insn: Insn) {
    let moves_sp = insn.op() == Op::Addi
        && (insn.rd(), insn.rs1()) == (2, 2)
        && (insn.imm() as i64).abs() <= STEP;
    match destination(insn) {
        Some(register) if is_ours(register) && !moves_sp => {
            // 16-bit instructions have their registers in other places.
            if insn.len() == 4 {
                code.insn(field(bits, 7, 10 + (register & 3)));
            }
        }
        _ => code.insn(bits),
    }
}

fn access(code: &mut Code, bits: u32, insn: Insn) {
    let bits = match destination(insn) {
        Some(register) if is_ours(register) => {
            if insn.len() == 2 {
                return;
            }
            field(bits, 7, 10 + (register & 3))
        }
        _ => bits,
    };
    let base = insn.rs1() as u32;
    if base == SP || base == BASE {
        return code.insn(bits);
    }
    if insn.len() == 2 {
        // The register in bits 9 to 7 is x8 and so many more.
        return code.insn(bits & !0x380 | (BASE - 8) << 7);
    }
    // Atomics that are not aligned are refused: some are.
    let aligned = insn.op().class() == Class::Atomic && base & 7 != 7;
    place(code, base, aligned);
    code.insn(field(bits, 15, ADDRESS));
}

/// A vector load or store.
fn access_elements(code: &mut Code, bits: u32, insn: Insn) {
    const INDEXED: u32 = 1 << 26;
    const STRIDED: u32 = 2 << 26;
    /// Between elements, of which there are [`VLEN`] at most.
    const MOST: u32 = 0x3f;
    // Indices of 8 bits.
    let bits = if bits & INDEXED != 0 {
        bits & !0x7000
    } else {
        bits
    };
    let base = insn.rs1() as u32;
    let bits = if base == SP || base == BASE {
        bits
    } else {
        place(code, base, false);
        field(bits, 15, ADDRESS)
    };
    if bits & (INDEXED | STRIDED) != STRIDED {
        return code.insn(bits);
    }
    code.insn(0x7013 | INDEX << 7 | (bits >> 20 & 31) << 15 | MOST << 20); // andi
    // Other places have other indices.
    code.follower(field(bits, 20, INDEX));
}

/// Makes an address of a register's contents.
fn place(code: &mut Code, base: u32, aligned: bool) {
    let by_eight = base & 1 == 1;
    let mask = match (by_eight, aligned) {
        (true, _) => 0xff,
        (_, true) => 0x7f8,
        (_, false) => 0x7ff,
    };
    // andi; sh3add or add
    code.insn(0x7013 | INDEX << 7 | base << 15 | mask << 20);
    let sum = if by_eight { 0x2000_6033 } else { 0x33 };
    code.insn(sum | ADDRESS << 7 | INDEX << 15 | BASE << 20);
}

/// A jump to one of eight places by a register's contents.
fn by_table(code: &mut Code, register: u32) {
    code.insn(0x7013 | INDEX << 7 | register << 15 | 7 << 20); // andi
    code.table_loads.push(code.bytes.len());
    code.insn(0x17 | TABLE << 7); // auipc
    code.insn(0x13 | TABLE << 7 | TABLE << 15); // addi
    code.insn(0x2000_4033 | TARGET << 7 | INDEX << 15 | TABLE << 20); // sh2add
    code.insn(0x2003 | TARGET << 7 | TARGET << 15); // lw
    code.insn(0x33 | TARGET << 7 | TARGET << 15 | TABLE << 20); // add
    code.table_jumps.push(code.bytes.len());
    code.insn(0x67 | TARGET << 15); // jr
}
