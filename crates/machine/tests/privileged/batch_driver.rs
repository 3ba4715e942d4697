//! Firmware that executes programs one after the other. Each of them begins with the same registers, and
//! what it has done is stored where the program was.
use flick_riscv_testing::asm::{addi, branch, i, jal, ld, r, s, sd};

use crate::words::{
    BEQ, BLT, BLTU, BNE, ECALL, FENCE_I, MRET, SFENCE_VMA, SRET, WFI, Words, csr_insn, csrc, csrr,
    csrw, lui, slli,
};

pub const RAM: u64 = 0x8000_0000;
/// Bytes of memory, the same on both machines: what is behind it does not exist on either.
pub const RAM_SIZE: usize = 64 << 20;
/// The number of the program that is next, and how many there are.
const COUNTERS: u64 = RAM + 0xf000;
/// Where each program is executed by M and S mode.
pub const WORK: u64 = RAM + 0x10_0000;
/// Where its code is for U mode: this bit is set.
pub const USER_BIT: u64 = 0x20_0000;
const SLOTS: u64 = RAM + 0x40_0000;
const STRIDE: u64 = 0x1_8000;

/// Parts of a program.
pub const CODE_SIZE: usize = 0x4000;
pub const DATA: usize = 0x4000;
pub const TABLES: usize = 0x8000;
pub const LOG: usize = 0x1_4000;
pub const STATE: usize = 0x1_6000;
pub const PROGRAM: usize = 0x1_7000;
/// The handler of S mode is at the start of the code, and the program here.
pub const START: u64 = WORK + 0x400;

/// A record of the log: words by [`FIELDS`].
pub const RECORD: usize = 80;
/// After this many traps a program ends.
pub const TRAPS: usize = 96;
pub const FIELDS: [&str; RECORD / 8] = [
    "mcause", "mstatus", "vector", "mepc", "mtval", "mip", "scause", "sepc", "stval", "mie",
];

/// Registers with a task of their own. Those of M mode's handler are 28 to 31; the last is the log's end.
pub const SERVICE: u32 = 17;
pub const RESUME: u32 = 27;
const SUPERVISOR_TEMPORARIES: (u32, u32) = (21, 22);

/// What a program asks of M mode by `ecall` with a number in [`SERVICE`].
pub const RISE: u64 = 1;
pub const FINISH: u64 = 2;

/// Registers that are compared at the end of a program, with their names.
pub const CSRS: [(u32, &str); 42] = [
    (0x300, "mstatus"),
    (0x302, "medeleg"),
    (0x303, "mideleg"),
    (0x304, "mie"),
    (0x305, "mtvec"),
    (0x306, "mcounteren"),
    (0x340, "mscratch"),
    (0x344, "mip"),
    (0x100, "sstatus"),
    (0x104, "sie"),
    (0x105, "stvec"),
    (0x106, "scounteren"),
    (0x10a, "senvcfg"),
    (0x140, "sscratch"),
    (0x141, "sepc"),
    (0x142, "scause"),
    (0x144, "sip"),
    (0x14d, "stimecmp"),
    (0x180, "satp"),
    (0x3a0, "pmpcfg0"),
    (0x3a2, "pmpcfg2"),
    (0x3b0, "pmpaddr0"),
    (0x3b1, "pmpaddr1"),
    (0x3b2, "pmpaddr2"),
    (0x3b3, "pmpaddr3"),
    (0x3b4, "pmpaddr4"),
    (0x3b5, "pmpaddr5"),
    (0x3b6, "pmpaddr6"),
    (0x3b7, "pmpaddr7"),
    (0x3b8, "pmpaddr8"),
    (0x3b9, "pmpaddr9"),
    (0x3ba, "pmpaddr10"),
    (0x3bb, "pmpaddr11"),
    (0x3bc, "pmpaddr12"),
    (0x3bd, "pmpaddr13"),
    (0x3be, "pmpaddr14"),
    (0x3bf, "pmpaddr15"),
    (0xf14, "mhartid"),
    (0x342, "mcause"),
    (0x341, "mepc"),
    (0x106, "scounteren"),
    (0x301, "misa"),
];

/// Offsets within [`STATE`].
pub const STATE_CSRS: usize = 256;
pub const STATE_LOG_END: usize = 1024;

/// `menvcfg`: ADUE and STCE. QEMU before 8.0 has no ADUE and always sets accessed and dirty bits.
pub const ENVIRONMENT: u64 = 1 << 61 | 1 << 63;

const MSTATUS: u32 = 0x300;
const MEPC: u32 = 0x341;

/// The memory with the driver and the programs.
pub fn memory(programs: &[Vec<u8>]) -> Vec<u8> {
    let mut memory = vec![0; slot(programs.len())];
    let code = driver().bytes();
    assert!(code.len() < 0xf000);
    memory[..code.len()].copy_from_slice(&code);
    let count = (COUNTERS - RAM) as usize + 8;
    memory[count..count + 8].copy_from_slice(&(programs.len() as u64).to_le_bytes());
    for (n, program) in programs.iter().enumerate() {
        memory[slot(n)..][..PROGRAM].copy_from_slice(program);
    }
    memory
}

/// Where a program is in memory.
pub fn slot(number: usize) -> usize {
    (SLOTS - RAM + number as u64 * STRIDE) as usize
}

fn driver() -> Words {
    let mut code = Words::at(RAM);
    // QEMU has a second hart, which does nothing.
    code.add([csrr(5, 0xf14), branch(BEQ, 5, 0, 12), WFI, jal(0, -4)]);
    let over = code.ahead(1);
    while code.here() < RAM + 0x40 {
        code.add([0]);
    }
    let vectors = code.here();
    let common = machine_handler(&mut code);
    let finish = common;
    code.reach(over, |distance| jal(0, distance));
    let next = code.here();
    code.la(5, COUNTERS);
    code.add([ld(6, 5, 0), ld(7, 5, 8)]);
    let done = code.ahead(1);
    slot_address(&mut code);
    // Registers as at the reset.
    let zeroed = [
        0x300, 0x304, 0x344, 0x180, 0x302, 0x303, 0x306, 0x106, 0x140, 0x141, 0x142, 0x143, 0x340,
        0x341, 0x342, 0x343, 0x10a, 0x105, 0x3a0, 0x3a2,
    ];
    code.add(zeroed.map(|csr| csrw(csr, 0)));
    code.add((0x3b0..0x3c0).map(|csr| csrw(csr, 0)));
    code.li(5, ENVIRONMENT);
    code.add([csrw(0x30a, 5), addi(5, 0, -1), csrw(0x14d, 5)]);
    clint(&mut code, 5);
    code.la(5, vectors);
    code.add([csrw(0x305, 5)]);
    code.add([addi(10, 8, 0)]);
    code.la(11, WORK);
    code.li(12, PROGRAM as u64);
    copy(&mut code);
    code.add([addi(10, 8, 0)]);
    code.la(11, WORK + USER_BIT);
    code.li(12, CODE_SIZE as u64);
    copy(&mut code);
    code.add([FENCE_I, SFENCE_VMA]);
    // Floating-point registers, and FS off again.
    code.add([lui(5, 2), csrw(MSTATUS, 5), csrw(3, 0)]);
    code.add((0..32).map(|n| 0xf200_0053 | n << 7));
    code.add([csrw(MSTATUS, 0)]);
    code.la(31, WORK + STATE as u64);
    code.add((1..28).map(|n| ld(n, 31, 8 * n as i32)));
    code.la(31, WORK + LOG as u64);
    code.la(30, START);
    code.add([0x67 | 30 << 15]);

    // The end of a program.
    let end = code.here();
    code.words[(finish - RAM) as usize / 4] = jal(0, (end - finish) as i32);
    code.la(30, WORK + STATE as u64);
    code.add((1..28).map(|n| sd(n, 30, 8 * n as i32)));
    code.add([sd(31, 30, STATE_LOG_END as i32)]);
    for (n, (csr, _)) in CSRS.iter().enumerate() {
        code.add([csrr(28, *csr), sd(28, 30, (STATE_CSRS + 8 * n) as i32)]);
    }
    // What is protected in parts is no hindrance; what is locked may still be, and has room for its traps.
    code.add([csrw(0x3a0, 0), csrw(0x3a2, 0), SFENCE_VMA]);
    code.la(31, WORK + LOG as u64);
    code.la(5, COUNTERS);
    code.add([ld(6, 5, 0)]);
    slot_address(&mut code);
    code.la(10, WORK + DATA as u64);
    code.li(12, DATA as u64);
    code.add([r(0x33, 11, 8, 12)]);
    code.li(12, (PROGRAM - DATA) as u64);
    copy(&mut code);
    code.la(5, COUNTERS);
    code.add([ld(6, 5, 0), addi(6, 6, 1), sd(6, 5, 0)]);
    code.jump(next);
    code.reach(done, |distance| branch(BEQ, 6, 7, distance));
    code.li(5, 0x5555);
    code.li(6, 0x10_0000);
    code.add([s(0x2023, 6, 5, 0), jal(0, 0)]);
    code
}

/// To x8, of the program whose number is in x6.
fn slot_address(code: &mut Words) {
    code.li(8, STRIDE);
    code.add([r(0x0200_0033, 8, 8, 6)]);
    code.la(9, SLOTS);
    code.add([r(0x33, 8, 8, 9)]);
}

/// No machine interrupt is pending. The register is used.
fn clint(code: &mut Words, register: u32) {
    let (value, address) = (register, register + 1);
    code.li(address, 0x200_0000);
    code.add([s(0x2023, address, 0, 0), addi(value, 0, -1)]);
    code.li(address, 0x200_4000);
    code.add([sd(value, address, 0)]);
}

/// From x10 to x11, as many bytes as x12 says.
fn copy(code: &mut Words) {
    code.add([r(0x33, 12, 12, 10)]);
    let again = code.here();
    for at in [0, 8, 16, 24] {
        code.add([ld(13, 10, at), sd(13, 11, at)]);
    }
    code.add([addi(10, 10, 32), addi(11, 11, 32)]);
    let distance = again.wrapping_sub(code.here()) as i32;
    code.add([branch(BNE, 10, 12, distance)]);
}

/// The traps after which a program ends: `FLICK_TRAPS`, so that what is printed is of that time.
fn traps() -> usize {
    let text = std::env::var("FLICK_TRAPS");
    text.map_or(TRAPS, |n| n.parse::<usize>().unwrap().min(TRAPS))
}

/// M mode's: a record of the log, and behind what has trapped. Returns where a jump to the end has to be.
fn machine_handler(code: &mut Words) -> u64 {
    let vectors = code.here();
    for n in 0..16 {
        code.add([jal(28, 64 - 4 * n)]);
    }
    assert_eq!(code.here(), vectors + 64);
    // Loads and stores are the machine's.
    code.add([lui(30, 0x20), csr_insn(3, 30, MSTATUS, 30)]);
    code.add([sd(28, 31, 16)]);
    // Below M mode MPRV is clear ("Memory Privilege in mstatus Register"); QEMU 7.2 leaves it.
    code.add([i(0x5013, 29, 30, 11), i(0x7013, 29, 29, 3), addi(28, 0, 3)]);
    code.add([branch(BEQ, 28, 29, 16), lui(28, 0x20)]);
    code.add([r(0x6033, 30, 30, 28), r(0x4033, 30, 30, 28)]);
    code.add([csrr(29, 0x342), sd(29, 31, 0), sd(30, 31, 8)]);
    for (n, csr) in [MEPC, 0x343, 0x344, 0x142, 0x141, 0x143, 0x304]
        .into_iter()
        .enumerate()
    {
        code.add([csrr(28, csr), sd(28, 31, 24 + 8 * n as i32)]);
    }
    code.add([addi(31, 31, RECORD as i32)]);
    code.la(28, WORK + (LOG + traps() * RECORD) as u64);
    code.add([branch(BLTU, 31, 28, 8)]);
    let finish = code.here();
    code.add([0]);
    let interrupt = code.ahead(1);
    // Calls.
    code.add([addi(28, 0, 8)]);
    let other = code.ahead(1);
    code.add([addi(28, 0, 12)]);
    let fetch = code.ahead(1);
    let high = code.ahead(1);
    code.add([csrr(28, MEPC)]);
    // The handler of S mode tells of its trap; a call of a user may be one of M mode.
    code.la(29, supervisor_call());
    let own = code.ahead(1);
    code.add([addi(28, 0, RISE as i32)]);
    let plain = code.ahead(1);
    let rise = code.here();
    code.add([addi(28, 0, 3), slli(28, 28, 11), r(0x6033, 30, 30, 28)]);
    let skip = code.here();
    code.reach(high, |distance| branch(BLTU, 28, 29, distance));
    code.add([csrr(28, MEPC), addi(28, 28, 4), csrw(MEPC, 28)]);
    let leave = code.here();
    // Tables of pages may have been changed in front of a fence that has trapped.
    code.add([SFENCE_VMA, csrw(MSTATUS, 30), MRET]);

    let jump_to = |code: &mut Words, target| code.jump(target);
    code.reach(own, |distance| branch(BEQ, 28, 29, distance));
    // TSR would hinder the handler's return.
    code.add([addi(28, 0, 1), slli(28, 28, 22)]);
    code.add([csrc(MSTATUS, 28), csrr(30, MSTATUS)]);
    code.add([csrr(28, 0x142), addi(28, 28, -8)]);
    let elsewhere = code.ahead(1);
    code.add([addi(28, 0, FINISH as i32)]);
    code.add([branch(BNE, SERVICE, 28, 8)]);
    jump_to(code, finish);
    code.add([addi(28, 0, RISE as i32)]);
    let no_service = code.ahead(1);
    code.add([csrr(28, 0x141), csrw(MEPC, 28)]);
    jump_to(code, rise);
    code.reach(elsewhere, |distance| branch(BNE, 28, 0, distance));
    code.reach(no_service, |distance| branch(BNE, SERVICE, 28, distance));
    jump_to(code, skip);

    code.reach(plain, |distance| branch(BNE, SERVICE, 28, distance));
    code.add([addi(28, 0, FINISH as i32), branch(BNE, SERVICE, 28, 8)]);
    jump_to(code, finish);
    jump_to(code, skip);

    // Below 8.
    code.reach(other, |distance| branch(BLTU, 29, 28, distance));
    code.add([addi(28, 0, 2)]);
    let low_fetch = code.ahead(1);
    jump_to(code, skip);
    code.reach(fetch, |distance| branch(BEQ, 29, 28, distance));
    code.reach(low_fetch, |distance| branch(BLTU, 29, 28, distance));
    code.add([csrw(MEPC, RESUME)]);
    jump_to(code, leave);

    // An interrupt: its source goes, and it is not enabled any more.
    code.reach(interrupt, |distance| branch(BLT, 29, 0, distance));
    code.add([
        addi(28, 0, 1),
        r(0x1033, 28, 28, 29),
        csrc(0x304, 28),
        csrc(0x344, 28),
    ]);
    clint(code, 28);
    jump_to(code, leave);
    finish
}

/// Where S mode's handler calls M mode.
fn supervisor_call() -> u64 {
    WORK + 64
}

/// S mode's handler, at the start of a program.
pub fn supervisor_handler() -> Words {
    let (a, b) = SUPERVISOR_TEMPORARIES;
    let mut code = Words::at(WORK);
    for n in 0..16 {
        code.add([jal(b, 64 - 4 * n)]);
    }
    assert_eq!(code.here(), supervisor_call());
    code.add([ECALL, csrr(a, 0x142)]);
    let interrupt = code.ahead(1);
    code.add([addi(b, 0, 2)]);
    let low = code.ahead(1);
    code.add([addi(b, 0, 12)]);
    let fetch = code.ahead(1);
    code.add([csrr(b, 0x141), addi(b, b, 4), csrw(0x141, b), SRET]);
    code.reach(low, |distance| branch(BLTU, a, b, distance));
    code.reach(fetch, |distance| branch(BEQ, a, b, distance));
    code.add([csrw(0x141, RESUME), SRET]);
    code.reach(interrupt, |distance| branch(BLT, a, 0, distance));
    code.add([
        addi(b, 0, 1),
        r(0x1033, b, b, a),
        csrc(0x144, b),
        csrc(0x104, b),
        SRET,
    ]);
    code
}
