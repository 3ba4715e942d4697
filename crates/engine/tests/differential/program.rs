//! A freestanding RV64 program that runs many cases and writes their records to stdout.
//!
//! A block of code per body: it loads fcsr and all registers from the record to which x31 points,
//! runs the body, and stores all registers and fcsr back. Every block is run with several records.
//! Trapping instructions are skipped by a signal handler, which logs their addresses.

use crate::body::{self, Body, Need};
use flick_riscv_testing::asm::{Code, addi, branch, fld, fsd, jal, jr, ld, r, s, sd};
use flick_riscv_testing::elf::{Segment, executable};
use flick_riscv_testing::opcodes::{Form, Opcode};
use flick_riscv_testing::values::{self, Rng};

pub const CODE: u64 = 0x1000_0000;
pub const DATA: u64 = 0x3000_0000;

/// Offsets in the data segment.
const STATE: u64 = 0;
const ACTION: u64 = 64;
const STACK: u64 = 128;
const SIGNAL_STACK: u64 = 512;
const SIGNAL_STACK_SIZE: u64 = 0x10000;
/// Number of traps and 16 bytes for each: address, signal.
pub const LOG: u64 = SIGNAL_STACK + SIGNAL_STACK_SIZE;

/// Offsets in a record: x, f, fcsr, return address, scratch memory.
pub const F: usize = 256;
pub const FCSR: usize = 512;
const RETURN: usize = 520;
pub const SCRATCH: usize = 528;
const SCRATCH_SIZE: usize = 576;
pub const RECORD: usize = SCRATCH + SCRATCH_SIZE;

pub const SIGILL: u64 = 4;
pub const SIGTRAP: u64 = 5;
pub const SIGBUS: u64 = 7;

pub struct Block {
    pub opcode: usize,
    /// Guest address of the body, and its code.
    pub body: u64,
    pub code: Vec<u16>,
}

pub struct Program {
    pub code: Vec<u8>,
    pub data: Vec<u8>,
    pub blocks: Vec<Block>,
    /// Block of each case, in the order of the records.
    pub cases: Vec<usize>,
    /// Offset of the first record in the data segment.
    pub records: usize,
    /// Where the output begins in the data segment; it ends with the segment.
    pub output: usize,
}

/// How often an opcode is tried: bodies, and records for each.
fn amount(form: Form) -> (usize, usize) {
    match form {
        Form::Ffff => (192, 24),
        Form::Fff { rm: true } | Form::Ff { rm: true } | Form::Xf { rm: true } => (192, 16),
        Form::Fx { rm: true } => (128, 16),
        Form::Sequence => (1000, 4),
        _ => (80, 16),
    }
}

/// A program for the opcodes with the given indices.
pub fn build(rng: &mut Rng, opcodes: &[Opcode], chosen: &[usize]) -> Program {
    let mut code = Code::default();
    let back = driver(&mut code);
    let mut blocks = Vec::new();
    let mut bodies: Vec<Body> = Vec::new();
    let mut cases = Vec::new();
    for &opcode in chosen {
        let (count, repeats) = amount(opcodes[opcode].form);
        for _ in 0..count {
            let body = body::make(rng, &opcodes[opcode]);
            cases.extend(core::iter::repeat_n(blocks.len(), repeats));
            blocks.push(Block {
                opcode,
                body: 0,
                code: body.code.0.clone(),
            });
            bodies.push(body);
        }
    }
    let mut entries = Vec::new();
    for (block, body) in blocks.iter_mut().zip(&bodies) {
        entries.push(CODE + code.len() as u64);
        prologue(&mut code, body.keep);
        block.body = CODE + code.len() as u64;
        code.0.extend(&body.code.0);
        epilogue(&mut code, body.keep);
        // The next block is aligned to 4 bytes.
        if code.len() % 4 != 0 {
            code.half(0);
        }
    }

    // Data: state, log (two traps a case at most, more in sequences), table, records.
    let log_size = 8 + 16 * 40 * cases.len();
    let table = (LOG as usize + log_size).next_multiple_of(16);
    let records = table + 16 * (cases.len() + 1);
    let mut data = vec![0; records + RECORD * cases.len()];
    for (i, &block) in cases.iter().enumerate() {
        let record = records + i * RECORD;
        put(&mut data, table + 16 * i, entries[block]);
        put(&mut data, table + 16 * i + 8, DATA + record as u64);
        let values = &mut data[record..record + RECORD];
        let form = opcodes[blocks[block].opcode].form;
        let single = opcodes[blocks[block].opcode].base & 0x0200_0000 == 0;
        fill(
            rng,
            values,
            form,
            single,
            &blocks[block],
            &bodies[block],
            DATA + record as u64,
        );
        put(values, RETURN, back);
    }
    finish(&mut code, table as u64, LOG, data.len() as u64);
    let code = code.0.iter().flat_map(|half| half.to_le_bytes()).collect();
    Program {
        code,
        data,
        blocks,
        cases,
        records,
        output: LOG as usize,
    }
}

pub fn put(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

pub fn get(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(value)
}

/// Random contents of a record.
fn fill(
    rng: &mut Rng,
    record: &mut [u8],
    form: Form,
    single: bool,
    block: &Block,
    body: &Body,
    address: u64,
) {
    for n in 1..32 {
        put(record, 8 * n, values::integer(rng));
    }
    // Conversions to single read doubles, and so on: sometimes the other kind.
    let single = if rng.chance(10) { !single } else { single };
    let kind = rng.below(100);
    let nan_box = 0xffff_ffff_0000_0000;
    for n in 0..32 {
        let single = match form {
            Form::Sequence | Form::Ff { .. } => rng.chance(50),
            _ => single,
        };
        let value = match (kind, single) {
            (0..30, true) => u64::from(values::tying_single(rng)) | nan_box,
            (0..30, false) => values::tying_double(rng),
            (30..40, true) => u64::from(values::special_single(rng)) | nan_box,
            (30..40, false) => values::special_double(rng),
            (_, true) => values::boxed(rng),
            (_, false) => values::double(rng),
        };
        put(record, F + 8 * n, value);
    }
    // A reserved rounding mode now and then.
    let frm = if rng.chance(4) {
        5 + rng.below(3)
    } else {
        rng.below(5)
    };
    let flags = if rng.chance(50) { 0 } else { rng.below(32) };
    put(record, FCSR, frm << 5 | flags);
    for byte in &mut record[SCRATCH..] {
        *byte = rng.next() as u8;
    }
    for at in (SCRATCH..RECORD).step_by(64) {
        put(record, at, values::integer(rng));
    }
    // Equal contents everywhere: a store-conditional must look at the address too.
    if matches!(form, Form::Sc(_)) && rng.chance(50) {
        let same = rng.next() & 0xffff_ffff;
        for at in (SCRATCH..RECORD).step_by(8) {
            put(record, at, same << 32 | same);
        }
    }
    for &(register, need) in &body.needs {
        let value = match need {
            Need::Value(value) => value,
            Need::Scratch { minus, align, span } => {
                let scratch = address + SCRATCH as u64;
                let room = SCRATCH_SIZE as u64 - span;
                // Record and scratch are multiples of 16 from the start of the segment.
                let at = scratch + rng.below(room + 1);
                (at & !(align - 1))
                    .max(scratch.next_multiple_of(align))
                    .wrapping_sub(minus as u64)
            }
            Need::Label { offset, minus, odd } => {
                let target = block.body + offset as u64;
                target.wrapping_sub(minus as u64) + if odd { rng.below(2) } else { 0 }
            }
            Need::Like(other) if rng.chance(50) => get(record, 8 * other as usize),
            Need::Like(_) => continue,
        };
        put(record, 8 * register as usize, value);
    }
}

/// x31 points to the record; `keep` takes it over.
fn prologue(code: &mut Code, keep: u32) {
    code.word(addi(keep, 31, 0));
    let temporary = if keep == 5 { 6 } else { 5 };
    code.word(ld(temporary, keep, FCSR as i32));
    code.word(0x0030_1073 | temporary << 15);
    for n in 0..32 {
        code.word(fld(n, keep, F as i32 + 8 * n as i32));
    }
    for n in (1..32).filter(|&n| n != keep) {
        code.word(ld(n, keep, 8 * n as i32));
    }
}

fn epilogue(code: &mut Code, keep: u32) {
    // x0 first, so that its value is seen: the slot held zero.
    for n in (0..32).filter(|&n| n != keep) {
        code.word(sd(n, keep, 8 * n as i32));
    }
    for n in 0..32 {
        code.word(fsd(n, keep, F as i32 + 8 * n as i32));
    }
    let temporary = if keep == 5 { 6 } else { 5 };
    code.word(0x0030_2073 | temporary << 7);
    code.word(sd(temporary, keep, FCSR as i32));
    code.word(ld(temporary, keep, RETURN as i32));
    code.word(jr(temporary));
}

const ECALL: u32 = 0x73;
/// Offset of the signal handler.
const HANDLER: i32 = 512;
/// Bytes of the driver, which comes first; filled by `finish` once the sizes are known.
const DRIVER: i32 = 768;

/// Reserves the driver's place; returns where blocks come back to.
fn driver(code: &mut Code) -> u64 {
    code.0.resize(DRIVER as usize / 2, 0);
    CODE + 8
}

/// Writes the driver: install the handler, run all cases, write the output, exit.
fn finish(code: &mut Code, table: u64, output: u64, end: u64) {
    let mut d = Code::default();
    // 0: to the start; 8: where blocks come back to.
    d.word(jal(0, 256));
    d.word(0x13);
    d.li(5, DATA + STATE);
    d.word(ld(8, 5, 0));
    d.word(addi(8, 8, 16));
    let next = d.len();
    d.word(ld(6, 8, 0));
    let to_done = d.len();
    d.word(0);
    d.word(ld(31, 8, 8));
    d.li(5, DATA + STATE);
    d.word(sd(8, 5, 0));
    d.word(jr(6));
    let done = d.len();
    d.li(11, DATA + output);
    d.li(9, DATA + end);
    let write = d.len();
    d.word(addi(10, 0, 1));
    d.word(r(0x4000_0033, 12, 9, 11));
    d.word(addi(17, 0, 64));
    d.word(ECALL);
    d.word(r(0x33, 11, 11, 10));
    d.word(branch(0x6063, 11, 9, write - d.len()));
    d.word(addi(10, 0, 0));
    d.word(addi(17, 0, 93));
    d.word(ECALL);
    let to = branch(0x0063, 6, 0, done - to_done);
    d.0[to_done as usize / 2] = to as u16;
    d.0[to_done as usize / 2 + 1] = (to >> 16) as u16;

    d.0.resize(128, 0);
    // 256: sigaltstack, then rt_sigaction for the three signals.
    d.li(10, DATA + STACK);
    d.li(5, DATA + SIGNAL_STACK);
    d.word(sd(5, 10, 0));
    d.word(sd(0, 10, 8));
    d.li(5, SIGNAL_STACK_SIZE);
    d.word(sd(5, 10, 16));
    d.word(addi(11, 0, 0));
    d.word(addi(17, 0, 132));
    d.word(ECALL);
    d.li(11, DATA + ACTION);
    d.li(5, CODE + HANDLER as u64);
    d.word(sd(5, 11, 0));
    // SA_SIGINFO | SA_ONSTACK
    d.li(5, 0x0800_0004);
    d.word(sd(5, 11, 8));
    d.word(sd(0, 11, 16));
    for signal in [SIGILL, SIGTRAP, SIGBUS] {
        d.word(addi(10, 0, signal as i32));
        d.word(addi(12, 0, 0));
        d.word(addi(13, 0, 8));
        d.word(addi(17, 0, 134));
        d.word(ECALL);
    }
    d.li(8, DATA + table);
    d.word(jal(0, next - d.len()));

    assert!(d.len() <= HANDLER);
    d.0.resize(HANDLER as usize / 2, 0);
    // The handler (signal, siginfo, ucontext): logs the pc, which is at 176 in a Linux
    // ucontext, and moves it over the instruction.
    d.word(ld(5, 12, 176));
    d.li(6, DATA + LOG);
    d.word(ld(7, 6, 0));
    d.word(0x0043_9e13); // slli x28, x7, 4
    d.word(r(0x33, 28, 28, 6));
    d.word(sd(5, 28, 8));
    d.word(sd(10, 28, 16));
    d.word(addi(7, 7, 1));
    d.word(sd(7, 6, 0));
    d.word(0x0002_de83); // lhu x29, 0(x5)
    d.word(0x003e_fe93); // andi x29, x29, 3
    d.word(addi(30, 0, 3));
    d.word(addi(28, 0, 2));
    d.word(branch(0x1063, 29, 30, 8));
    d.word(addi(28, 0, 4));
    d.word(r(0x33, 5, 5, 28));
    d.word(s(0x3023, 12, 5, 176));
    d.word(jr(1));
    assert!(d.len() <= DRIVER);
    code.0[..d.0.len()].copy_from_slice(&d.0);
}

/// The program as a static ELF executable.
pub fn elf(program: &Program) -> Vec<u8> {
    executable(&[
        Segment {
            address: CODE,
            flags: 5,
            bytes: &program.code,
            size: program.code.len() as u64,
        },
        Segment {
            address: DATA,
            flags: 6,
            bytes: &program.data,
            size: program.data.len() as u64,
        },
    ])
}
