//! The part of the program that only qemu runs: it installs a signal handler, makes the calls, and
//! writes the results. For the engines `host.rs` does the same.

use crate::program::{
    DATA_AREA, DRIVER, ENTRIES, ENTRY, ENTRY_ADDRESS, ENTRY_FCSR, ENTRY_SIZE, F, FCSR, FUEL,
    FUEL_GIVEN, LEAVE, LEFT, LOG, MOST_FAULTS, OUT_F, OUT_FCSR, OUT_X, PROTECTED, PROTECTED_DATA,
    PROTECTED_SIZE, READABLE, RECORD, RECORDS, SIGNAL_STACK, SIGNAL_STACK_SIZE, STATE,
};
use flick_riscv_testing::asm::{Code, addi, branch, fld, fsd, i, jal, jr, ld, r, sd};

/// Variables in `STATE`: record, end of the records, faults until one is left, struct for system
/// calls.
const END: u64 = 8;
const LEAVE_IN: u64 = 16;
const STRUCT: u64 = 64;

/// Where the called function returns to.
pub const RETURN: u64 = DRIVER + 0x400;
/// Where the handler goes when it leaves a call.
const LEFT_AT: u64 = DRIVER + 0x600;
const NEXT: u64 = DRIVER + 0x100;
const ADVANCE: u64 = DRIVER + 0x700;
const DONE: u64 = DRIVER + 0x800;
const HANDLER: u64 = DRIVER + 0xa00;

const ECALL: u32 = 0x73;
const MPROTECT: i32 = 226;
const SIGSEGV: i32 = 11;

fn system(code: &mut Code, number: i32) {
    code.word(addi(17, 0, number));
    code.word(ECALL);
}

fn pad(code: &mut Code, address: u64) {
    assert!(
        code.len() as u64 + DRIVER <= address,
        "the driver's part is too long"
    );
    code.0.resize((address - DRIVER) as usize / 2, 0);
}

fn go(code: &mut Code, address: u64) {
    let to = (address - DRIVER) as i32 - code.len();
    code.word(jal(0, to));
}

fn protect(code: &mut Code, start: u64, size: u64, access: i32) {
    code.li(10, start);
    code.li(11, size);
    code.word(addi(12, 0, access));
    system(code, MPROTECT);
}

pub fn code() -> Vec<u8> {
    let mut code = Code::default();
    let c = &mut code;
    c.li(10, STATE + STRUCT);
    c.li(5, SIGNAL_STACK);
    c.word(sd(5, 10, 0));
    c.word(sd(0, 10, 8));
    c.li(5, SIGNAL_STACK_SIZE);
    c.word(sd(5, 10, 16));
    c.word(addi(11, 0, 0));
    system(c, 132);
    c.li(11, STATE + STRUCT);
    c.li(5, HANDLER);
    c.word(sd(5, 11, 0));
    // SA_SIGINFO | SA_ONSTACK | SA_NODEFER: the handler may not return.
    c.li(5, 0x4800_0004);
    c.word(sd(5, 11, 8));
    c.word(sd(0, 11, 16));
    c.word(addi(10, 0, SIGSEGV));
    c.word(addi(12, 0, 0));
    c.word(addi(13, 0, 8));
    system(c, 134);
    go(c, NEXT);

    pad(c, NEXT);
    c.li(5, STATE);
    c.word(ld(6, 5, 0));
    c.word(ld(7, 5, END as i32));
    // bne over the jump
    c.word(branch(0x1063, 6, 7, 8));
    go(c, DONE);
    protect(c, PROTECTED, PROTECTED_SIZE, 0);
    protect(c, READABLE.start, READABLE.end - READABLE.start, 1);
    c.li(5, STATE);
    c.word(ld(6, 5, 0));
    c.word(ld(7, 6, LEAVE as i32));
    c.word(sd(7, 5, LEAVE_IN as i32));
    c.word(ld(7, 6, FUEL_GIVEN as i32));
    c.li(5, FUEL);
    c.word(sd(7, 5, 0));
    c.word(addi(5, 6, 0));
    for n in 0..32 {
        c.word(fld(n, 5, (F + 8 * u64::from(n)) as i32));
    }
    c.word(ld(7, 5, FCSR as i32));
    c.word(i(0x1073, 0, 7, 3));
    for n in (1..32).filter(|&n| n != 5) {
        c.word(ld(n, 5, 8 * n as i32));
    }
    // ra is the address below.
    c.word(ld(5, 5, ENTRY as i32));
    c.word(jr(5));

    pad(c, RETURN);
    c.li(5, STATE);
    c.word(ld(5, 5, 0));
    for n in 0..32 {
        c.word(sd(n, 5, (OUT_X + 8 * u64::from(n)) as i32));
        c.word(fsd(n, 5, (OUT_F + 8 * u64::from(n)) as i32));
    }
    c.word(i(0x2073, 6, 0, 3));
    c.word(sd(6, 5, OUT_FCSR as i32));
    go(c, ADVANCE);

    pad(c, LEFT_AT);
    c.li(5, STATE);
    c.word(ld(5, 5, 0));
    c.word(i(0x2073, 6, 0, 3));
    c.word(sd(6, 5, OUT_FCSR as i32));
    c.word(addi(6, 0, 1));
    c.word(sd(6, 5, LEFT as i32));
    go(c, ADVANCE);

    pad(c, ADVANCE);
    c.li(5, STATE);
    c.word(ld(6, 5, 0));
    c.li(7, RECORD);
    c.word(r(0x33, 6, 6, 7));
    c.word(sd(6, 5, 0));
    go(c, NEXT);

    pad(c, DONE);
    protect(c, PROTECTED, PROTECTED_SIZE, 3);
    // The records, data, and the log as far as it goes.
    c.li(11, RECORDS);
    c.li(5, STATE);
    c.word(ld(9, 5, END as i32));
    write(c);
    for range in [DATA_AREA, PROTECTED_DATA] {
        c.li(11, range.start);
        c.li(9, range.end);
        write(c);
    }
    c.li(11, LOG);
    c.word(ld(9, 11, 0));
    c.li(5, ENTRY_SIZE);
    c.word(r(0x0200_0033, 9, 9, 5));
    c.li(11, ENTRIES);
    c.word(r(0x33, 9, 9, 11));
    write(c);
    c.word(addi(10, 0, 0));
    system(c, 93);

    pad(c, HANDLER);
    handler(c);
    let end = crate::program::CODE;
    pad(c, end);
    code.0.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// Writes from a1 to s1 to standard output.
fn write(c: &mut Code) {
    let start = c.len();
    c.word(addi(10, 0, 1));
    c.word(r(0x4000_0033, 12, 9, 11));
    system(c, 64);
    c.word(r(0x33, 11, 11, 10));
    let to = start - c.len();
    c.word(branch(0x6063, 11, 9, to));
}

/// (signal, siginfo, ucontext): writes an entry of the log, then opens the page or leaves.
fn handler(c: &mut Code) {
    /// Of pc, x1 to x31, f0 to f31 and fcsr in a Linux ucontext.
    const STATE_AT: i32 = 176;
    const FCSR_AT: i32 = STATE_AT + 512;
    c.li(5, LOG);
    c.word(ld(6, 5, 0));
    c.li(7, MOST_FAULTS);
    c.word(branch(0x6063, 6, 7, 16));
    c.word(addi(10, 0, 9));
    system(c, 93);
    c.word(addi(7, 6, 1));
    c.word(sd(7, 5, 0));
    c.li(7, ENTRY_SIZE);
    c.word(r(0x0200_0033, 6, 6, 7));
    c.li(7, ENTRIES);
    c.word(r(0x33, 6, 6, 7));
    // t2 counts bytes; t3 and t4 walk.
    c.word(addi(28, 12, STATE_AT));
    c.word(addi(29, 6, 0));
    c.word(addi(7, 0, 64));
    let copy = c.len();
    c.word(ld(30, 28, 0));
    c.word(sd(30, 29, 0));
    c.word(addi(28, 28, 8));
    c.word(addi(29, 29, 8));
    c.word(addi(7, 7, -1));
    let to = copy - c.len();
    c.word(branch(0x1063, 7, 0, to));
    c.word(i(0x6003, 30, 12, FCSR_AT)); // lwu
    c.word(sd(30, 6, ENTRY_FCSR as i32));
    c.word(ld(30, 11, 16)); // si_addr
    c.word(sd(30, 6, ENTRY_ADDRESS as i32));
    // Is this the fault at which to leave?
    c.li(5, STATE);
    c.word(ld(7, 5, LEAVE_IN as i32));
    c.word(addi(7, 7, -1));
    c.word(sd(7, 5, LEAVE_IN as i32));
    c.word(branch(0x1063, 7, 0, 16));
    c.li(5, LEFT_AT);
    c.word(jr(5));
    c.word(i(0x5013, 10, 30, 12));
    c.word(i(0x1013, 10, 10, 12));
    c.li(11, 4096);
    c.word(addi(12, 0, 3));
    system(c, MPROTECT);
    c.word(jr(1));
}
