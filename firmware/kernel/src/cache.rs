//! Caches that are not coherent. There a hart's loads see what its cache holds, until it drops the line.
//! An atomic operation acts on memory and drops its line (`docs/machine.md`), so that one of each line is
//! enough where harts have no operations on caches. Where caches write back, a hart cleans its cache before
//! it tells others of what it has stored.
use core::arch::asm;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use flick_abi::card::Error;
use flick_kernel_core::context::Context;

/// Bytes of a line, and of a block of Zicbom.
pub const LINE: u64 = 64;

/// How harts drop lines, as bits. None: the machine has coherence.
pub mod means {
    /// By an atomic operation on each.
    pub const ATOMICS: u8 = 1;
    /// By `cbo.flush` (Zicbom).
    pub const LINES: u8 = 2;
    /// All at once, by `th.dcache.ciall` (XTheadCmo).
    pub const WHOLE: u8 = 4;
    /// Caches keep stores until lines are written back, by `th.dcache.call` at the latest.
    pub const BACK: u8 = 8;
}

/// More lines are dearer than all with the misses that follow: on `mppa256`, those of the ten lines of a
/// context are not, and those of a page are.
const MOST_LINES: u64 = 16;

unsafe extern "C" {
    static cleans_start: u64;
    static cleans_end: u64;
}

static MEANS: AtomicU8 = AtomicU8::new(0);

/// Before other harts begin.
pub fn begin(means: u8) {
    MEANS.store(means, Ordering::Relaxed);
    if means & means::BACK != 0 {
        begin_cleans();
    }
}

/// What `cache_refresh` is on this machine, for `trap_entry.S`: 1 drops the cache; else the call's result.
pub fn refresh_call() -> u64 {
    match MEANS.load(Ordering::Relaxed) {
        0 => 0,
        means if means & means::WHOLE != 0 => 1,
        _ => Error::NoCall.to_register(),
    }
}

/// Others will be told of what the hart has stored: memory gets it. A `nop`, unless caches write back: a
/// question would cost each call some cycles.
#[inline(always)]
pub fn clean() {
    // SAFETY: no value changes, and [`begin`] changes the instruction alone.
    unsafe {
        asm!(
            ".option push",
            ".option norvc",
            "19: nop",
            ".option pop",
            ".pushsection .cleans, \"a\"",
            ".8byte 19b",
            ".popsection",
        );
    }
}

/// Each place of [`clean`] becomes `th.dcache.call`.
fn begin_cleans() {
    let mut place = &raw const cleans_start;
    while place != &raw const cleans_end {
        // SAFETY: `kernel.ld` has the addresses of the instructions there. No hart but this one executes.
        unsafe {
            let halves = *place as *mut u16;
            halves.write(0x000b);
            halves.add(1).write(0x0010);
            place = place.add(1);
        }
    }
    // SAFETY: the new instructions are executed from here on, by other harts from their first one on.
    unsafe { asm!(".4byte 0x0010000b", "fence.i") };
}

/// The hart's loads of this memory see what others have stored.
pub fn refresh(address: u64, size: u64) {
    let means = MEANS.load(Ordering::Relaxed);
    if means != 0 {
        drop_lines(means, address / LINE * LINE, address + size);
    }
}

/// The hart runs a thread that was on another one, perhaps: it sees its registers and what it has stored.
pub fn refresh_thread(context: *const Context) {
    let means = MEANS.load(Ordering::Relaxed);
    match means & means::WHOLE {
        0 => refresh_value(context),
        _ => drop_all(),
    }
}

/// The hart has a lock, and sees what others have stored.
#[cfg(feature = "symmetric")]
pub fn refresh_all() {
    if MEANS.load(Ordering::Relaxed) != 0 {
        drop_all();
    }
}

/// A word that another hart will change.
#[cfg(feature = "symmetric")]
pub fn load_shared(word: &core::sync::atomic::AtomicU64) -> u64 {
    match MEANS.load(Ordering::Relaxed) {
        0 => word.load(Ordering::Acquire),
        _ => word.fetch_or(0, Ordering::Acquire),
    }
}

#[inline(always)]
fn drop_all() {
    // SAFETY: memory gets all stores, so that no value changes.
    unsafe { asm!(".4byte 0x0030000b") };
}

#[inline(never)]
fn drop_lines(means: u8, mut line: u64, end: u64) {
    if means & means::WHOLE != 0 && end.saturating_sub(line) > MOST_LINES * LINE {
        return drop_all();
    }
    while line < end {
        match means & means::LINES {
            0 => pass_by(line),
            // SAFETY: as of all lines.
            _ => unsafe { asm!(".insn i 0x0f, 2, x0, {}, 2", in(reg) line) },
        }
        line += LINE;
    }
}

/// The same of a value.
#[inline(always)]
pub fn refresh_value<T>(value: *const T) {
    let at = value.addr() as u64;
    // A line, as each call has: nothing is as fast as an atomic operation.
    if size_of::<T>() == LINE as usize && align_of::<T>() == LINE as usize {
        if MEANS.load(Ordering::Relaxed) != 0 {
            pass_by(at);
        }
        return;
    }
    refresh(at, size_of::<T>() as u64);
}

#[inline(always)]
fn pass_by(line: u64) {
    // SAFETY: an aligned word of memory. The operation leaves its value.
    unsafe { AtomicU32::from_ptr(line as *mut u32) }.fetch_or(0, Ordering::AcqRel);
}
