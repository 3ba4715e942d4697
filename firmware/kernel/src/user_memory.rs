//! The memory of the thread that a user hart runs, as its own addresses reach it: with MPRV, loads and
//! stores of M mode are translated as those of U mode. A page that cannot be accessed ends the copy; then
//! the kernel hart deals with it.
use core::arch::asm;

/// Words that are copied at once.
pub const WORDS: usize = 8;
/// MPRV and MPP of `mstatus`. A trap of M mode sets MPP.
const BITS: u64 = 1 << 17 | 3 << 11;
const MPRV: u64 = 1 << 17;

/// Loads words. `None`: a page cannot be accessed.
#[inline(always)]
pub fn load(address: u64) -> Option<[u64; WORDS]> {
    let mut words = [0; WORDS];
    let good: u64;
    // SAFETY: loads of U mode change nothing. A trap goes to label 8, where `mtvec` and `mstatus` become what
    // they were; the thread's own `mepc` is in its context.
    unsafe {
        asm!(
            "lla {good}, 8f",
            "csrrw {good}, mtvec, {good}",
            "csrs mstatus, {mprv}",
            "ld {w0}, 0({at})",
            "ld {w1}, 8({at})",
            "ld {w2}, 16({at})",
            "ld {w3}, 24({at})",
            "ld {w4}, 32({at})",
            "ld {w5}, 40({at})",
            "ld {w6}, 48({at})",
            "ld {w7}, 56({at})",
            "li {at}, 1",
            "j 9f",
            ".balign 4",
            "8: li {at}, 0",
            "9: csrc mstatus, {bits}",
            "csrw mtvec, {good}",
            at = inout(reg) address => good,
            good = out(reg) _,
            mprv = in(reg) MPRV,
            bits = in(reg) BITS,
            w0 = out(reg) words[0],
            w1 = out(reg) words[1],
            w2 = out(reg) words[2],
            w3 = out(reg) words[3],
            w4 = out(reg) words[4],
            w5 = out(reg) words[5],
            w6 = out(reg) words[6],
            w7 = out(reg) words[7],
            options(nostack),
        );
    }
    (good != 0).then_some(words)
}

/// Stores words. False: a page cannot be accessed; some may have been stored.
#[inline(always)]
#[must_use]
pub fn store(address: u64, words: [u64; WORDS]) -> bool {
    let good: u64;
    // SAFETY: stores of U mode reach memory of the program alone. A trap is dealt with as in `load`.
    unsafe {
        asm!(
            "lla {good}, 8f",
            "csrrw {good}, mtvec, {good}",
            "csrs mstatus, {mprv}",
            "sd {w0}, 0({at})",
            "sd {w1}, 8({at})",
            "sd {w2}, 16({at})",
            "sd {w3}, 24({at})",
            "sd {w4}, 32({at})",
            "sd {w5}, 40({at})",
            "sd {w6}, 48({at})",
            "sd {w7}, 56({at})",
            "li {at}, 1",
            "j 9f",
            ".balign 4",
            "8: li {at}, 0",
            "9: csrc mstatus, {bits}",
            "csrw mtvec, {good}",
            at = inout(reg) address => good,
            good = out(reg) _,
            mprv = in(reg) MPRV,
            bits = in(reg) BITS,
            w0 = in(reg) words[0],
            w1 = in(reg) words[1],
            w2 = in(reg) words[2],
            w3 = in(reg) words[3],
            w4 = in(reg) words[4],
            w5 = in(reg) words[5],
            w6 = in(reg) words[6],
            w7 = in(reg) words[7],
            options(nostack),
        );
    }
    good != 0
}

/// Whether an aligned word can be stored to. Its value stays.
#[inline(always)]
pub fn is_writable(address: u64) -> bool {
    let good: u64;
    // SAFETY: as of `load`; an atomic operation stores what is there.
    unsafe {
        asm!(
            "lla {good}, 8f",
            "csrrw {good}, mtvec, {good}",
            "csrs mstatus, {mprv}",
            "amoor.d zero, zero, ({at})",
            "li {at}, 1",
            "j 9f",
            ".balign 4",
            "8: li {at}, 0",
            "9: csrc mstatus, {bits}",
            "csrw mtvec, {good}",
            at = inout(reg) address => good,
            good = out(reg) _,
            mprv = in(reg) MPRV,
            bits = in(reg) BITS,
            options(nostack),
        );
    }
    good != 0
}
