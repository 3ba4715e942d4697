//! A freestanding RV64 program that executes many instructions, each with a record of its own, and
//! writes the records to its output: one for Linux, or one for the bare machine with its host's
//! interface.
//!
//! Each instruction has a stub: it calls a routine that loads all state from the record, executes
//! the instruction, and calls one that stores all state into the record. A handler steps over what
//! is illegal, and sets x29.

use crate::asm::{Code, addi, branch, fld, fsd, i, jal, jr, ld, r, sd};
use crate::elf::{Segment, executable, executable_with_symbols};

/// Where the program is, and what it runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub code: u64,
    pub data: u64,
    /// The words of the host-target interface of a bare program.
    host: Option<u64>,
}

/// A process of Linux.
pub const LINUX: Place = Place {
    code: 0x1000_0000,
    data: 0x3000_0000,
    host: None,
};

/// M mode of the one hart with vectors.
pub const BARE: Place = Place {
    code: 0x8000_0000,
    data: 0x8100_0000,
    host: Some(0x80f0_0000),
};

/// Offsets in a record: x10 to x17, f8 to f15, CSRs, whether it was illegal, vector registers.
pub const X: usize = 0;
pub const F: usize = 64;
pub const FCSR: usize = 128;
pub const VCSR: usize = 136;
/// AVL before, vl after.
pub const VL: usize = 144;
pub const VTYPE: usize = 152;
pub const VSTART: usize = 160;
pub const ILLEGAL: usize = 168;
pub const V: usize = 192;

/// The program for a number of records.
pub struct Layout {
    pub vlen: u32,
    pub place: Place,
}

impl Layout {
    /// Where the memory that loads and stores access begins in a record.
    pub fn scratch(&self) -> usize {
        V + self.vlen as usize * 4
    }

    pub fn scratch_size(&self) -> usize {
        self.vlen as usize * 2
    }

    /// Bytes of a record.
    pub fn record(&self) -> usize {
        self.scratch() + self.scratch_size()
    }

    /// Bytes before the first record: the action for the signal.
    pub const HEAD: usize = 64;
}

const ECALL: u32 = 0x73;
const WFI: u32 = 0x1050_0073;
const MRET: u32 = 0x3020_0073;
/// Offsets of the routines and of the first stub; the main program comes first.
const HANDLER: i32 = 512;
const LOAD: i32 = 640;
const SAVE: i32 = 960;
const STUBS: i32 = 1280;
/// Offsets from `tohost` of `fromhost` and of the words of a call.
const FROM_HOST: i32 = 8;
const CALL: i32 = 64;

fn csrr(rd: u32, csr: u32) -> u32 {
    0x2073 | rd << 7 | csr << 20
}

fn csrw(csr: u32, rs1: u32) -> u32 {
    0x1073 | rs1 << 15 | csr << 20
}

const CSRS: [(u32, usize); 3] = [(0x003, FCSR), (0x00f, VCSR), (0x008, VSTART)];

/// The code that executes `words`.
pub fn code(layout: &Layout, words: &[u32]) -> Vec<u8> {
    let place = layout.place;
    let data_end = place.data + (Layout::HEAD + layout.record() * words.len()) as u64;
    let mut c = Code::default();
    let done = match place.host {
        None => linux_start_and_end(&mut c, place, data_end),
        Some(host) => bare_start_and_end(&mut c, place, data_end, host),
    };

    pad(&mut c, LOAD);
    c.word(addi(7, 31, V as i32));
    c.li(8, u64::from(layout.vlen));
    for n in 0..4 {
        // vl8re64.v
        c.word(0xe280_7007 | 7 << 15 | n << 10);
        c.word(r(0x33, 7, 7, 8));
    }
    c.word(ld(5, 31, VL as i32));
    c.word(ld(6, 31, VTYPE as i32));
    // vsetvl x0, x5, x6
    c.word(0x8000_7057 | 6 << 20 | 5 << 15);
    for (csr, at) in CSRS {
        c.word(ld(5, 31, at as i32));
        c.word(csrw(csr, 5));
    }
    for n in 0..8 {
        c.word(fld(8 + n, 31, (F + 8 * n as usize) as i32));
        c.word(ld(10 + n, 31, (X + 8 * n as usize) as i32));
    }
    c.word(addi(29, 0, 0));
    c.word(jr(30));

    pad(&mut c, SAVE);
    c.word(sd(29, 31, ILLEGAL as i32));
    for (csr, at) in CSRS.into_iter().chain([(0xc20, VL), (0xc21, VTYPE)]) {
        c.word(csrr(5, csr));
        c.word(sd(5, 31, at as i32));
    }
    c.word(csrw(0x008, 0));
    for n in 0..8 {
        c.word(fsd(8 + n, 31, (F + 8 * n as usize) as i32));
        c.word(sd(10 + n, 31, (X + 8 * n as usize) as i32));
    }
    c.word(addi(7, 31, V as i32));
    c.li(8, u64::from(layout.vlen));
    for n in 0..4 {
        // vs8r.v
        c.word(0xe280_0027 | 7 << 15 | n << 10);
        c.word(r(0x33, 7, 7, 8));
    }
    c.word(jr(30));

    pad(&mut c, STUBS);
    for (n, &word) in words.iter().enumerate() {
        let record = place.data + (Layout::HEAD + layout.record() * n) as u64;
        address(&mut c, 31, record);
        c.word(jal(30, LOAD - c.len()));
        c.word(word);
        c.word(jal(30, SAVE - c.len()));
    }
    // Too far for a jump: x5 = code + done.
    address(&mut c, 5, place.code + done as u64);
    c.word(i(0x67, 0, 5, 0));
    c.0.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// Returns where the stubs have to lead at their end.
fn linux_start_and_end(c: &mut Code, place: Place, data_end: u64) -> i32 {
    c.li(11, place.data);
    c.li(5, place.code + HANDLER as u64);
    c.word(sd(5, 11, 0));
    // SA_SIGINFO; no mask.
    c.word(addi(5, 0, 4));
    c.word(sd(5, 11, 8));
    c.word(sd(0, 11, 16));
    for (register, value) in [(10, 4), (12, 0), (13, 8), (17, 134)] {
        c.word(addi(register, 0, value));
    }
    c.word(ECALL);
    c.word(jal(0, STUBS - c.len()));
    let done = c.len();
    c.li(11, place.data);
    c.li(9, data_end);
    let write = c.len();
    c.word(addi(10, 0, 1));
    c.word(r(0x4000_0033, 12, 9, 11));
    c.word(addi(17, 0, 64));
    c.word(ECALL);
    c.word(r(0x33, 11, 11, 10));
    c.word(branch(0x6063, 11, 9, write - c.len()));
    c.word(addi(10, 0, 0));
    c.word(addi(17, 0, 93));
    c.word(ECALL);

    // pc and x29 are in the ucontext.
    pad(c, HANDLER);
    c.word(ld(5, 12, 176));
    c.word(addi(5, 5, 4));
    c.word(sd(5, 12, 176));
    c.word(addi(5, 0, 1));
    c.word(sd(5, 12, 176 + 8 * 29));
    c.word(jr(1));
    done
}

/// Returns where the stubs have to lead at their end.
fn bare_start_and_end(c: &mut Code, place: Place, data_end: u64, host: u64) -> i32 {
    // misa.V: harts without vectors wait for ever.
    c.word(csrr(5, 0x301));
    c.word(i(0x1013, 5, 5, 63 - 21));
    c.word(branch(0x4063, 5, 0, 12));
    c.word(WFI);
    c.word(jal(0, -4));
    address(c, 5, place.code + HANDLER as u64);
    c.word(csrw(0x305, 5));
    // mstatus.FS and VS.
    c.li(5, 0x6600);
    c.word(csrw(0x300, 5));
    // Registers that no record has may still be operands.
    for n in 0..32 {
        c.word(addi(n, 0, 0));
        // fmv.d.x
        c.word(0xf200_0053 | n << 7);
    }
    c.word(jal(0, STUBS - c.len()));

    // The host's call: 64 is to write.
    let done = c.len();
    address(c, 11, place.data);
    address(c, 9, data_end);
    address(c, 8, host);
    let write = c.len();
    for (register, value) in [(5, 64), (6, 1)] {
        c.word(addi(register, 0, value));
        c.word(sd(register, 8, CALL + 8 * (register as i32 - 5)));
    }
    c.word(sd(11, 8, CALL + 16));
    c.word(r(0x4000_0033, 12, 9, 11));
    c.word(sd(12, 8, CALL + 24));
    c.word(addi(5, 8, CALL));
    c.word(sd(5, 8, 0));
    c.word(ld(5, 8, FROM_HOST));
    c.word(branch(0x0063, 5, 0, -4));
    c.word(sd(0, 8, FROM_HOST));
    c.word(ld(10, 8, CALL));
    c.word(r(0x33, 11, 11, 10));
    c.word(branch(0x6063, 11, 9, write - c.len()));
    c.word(addi(5, 0, 1));
    let exit = c.len();
    c.word(sd(5, 8, 0));
    c.word(jal(0, 0));

    pad(c, HANDLER);
    c.word(csrr(5, 0x342));
    c.word(addi(6, 0, 2));
    c.word(branch(0x1063, 5, 6, 24));
    c.word(csrr(5, 0x341));
    c.word(addi(5, 5, 4));
    c.word(csrw(0x341, 5));
    c.word(addi(29, 0, 1));
    c.word(MRET);
    // Another cause is the exit status.
    address(c, 8, host);
    c.word(i(0x1013, 5, 5, 1));
    c.word(addi(5, 5, 1));
    c.word(jal(0, exit - c.len()));
    done
}

/// An address below 2^32.
fn address(c: &mut Code, rd: u32, value: u64) {
    c.li(rd, value);
    if value >> 31 != 0 {
        c.word(i(0x1013, rd, rd, 32));
        c.word(i(0x5013, rd, rd, 32));
    }
}

fn pad(code: &mut Code, to: i32) {
    assert!(code.len() <= to, "{} > {to}", code.len());
    code.0.resize(to as usize / 2, 0);
}

/// The program as a static ELF executable.
pub fn elf(layout: &Layout, code: &[u8], data: &[u8]) -> Vec<u8> {
    let place = layout.place;
    assert!(place.code + (code.len() as u64) < place.host.unwrap_or(place.data));
    let segment = |address, flags, bytes, size: usize| Segment {
        address,
        flags,
        bytes,
        size: size as u64,
    };
    let code = segment(place.code, 5, code, code.len());
    let data = segment(place.data, 6, data, data.len());
    match place.host {
        None => executable(&[code, data]),
        Some(host) => executable_with_symbols(
            &[code, segment(host, 6, &[], 4096), data],
            &[("tohost", host), ("fromhost", host + FROM_HOST as u64)],
        ),
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
