//! Loops of accesses to memory: chains of loads, several chains at a time, and streams.
use std::arch::asm;
use std::hint::black_box;

use crate::pages::LINE;

/// Loads of a chain in a round of [`chase`].
pub const CHASED: u64 = 16;

/// Follows a chain that `Pages::link` has made, 16 loads a round. Returns where it has come to.
///
/// # Safety
///
/// `at` is in such a chain, whose memory is there.
pub unsafe fn chase(mut at: *mut u8, rounds: u64) -> *mut u8 {
    // SAFETY: the caller's chain leads to addresses of itself alone.
    unsafe {
        asm!(
            "2:",
            ".rept 16",
            "mov {at}, [{at}]",
            ".endr",
            "dec {rounds}",
            "jnz 2b",
            at = inout(reg) at,
            rounds = inout(reg) rounds.max(1) => _,
            options(nostack, readonly),
        );
    }
    at
}

/// Follows as many chains at a time as there are places, each by so many loads.
///
/// # Safety
///
/// All places are in chains as for [`chase`].
pub unsafe fn chase_all(at: &mut [*mut u8], loads: u64) {
    macro_rules! of {
        ($($count:literal)*) => {
            match at.len() {
                // SAFETY: as the caller says.
                $($count => if let Some(at) = at.first_chunk_mut::<$count>() { unsafe { together(at, loads) } },)*
                count => unreachable!("{count} chains at a time are none of those that are measured"),
            }
        };
    }
    of!(1 2 4 6 8 10 12 14 16 20 24 28 32 40 48)
}

/// # Safety
///
/// As for [`chase_all`].
unsafe fn together<const COUNT: usize>(places: &mut [*mut u8; COUNT], loads: u64) {
    let mut at = *places;
    for _ in 0..loads {
        for one in &mut at {
            // SAFETY: as the caller says. It is volatile, so that every load is made.
            *one = unsafe { one.cast::<*mut u8>().read_volatile() };
        }
    }
    *places = black_box(at);
}

/// Reads all bytes but for the last that are no 128, by 16 at a time. No load waits for another one.
pub fn read(bytes: &[u8]) {
    let rounds = bytes.len() / 128;
    if rounds == 0 {
        return;
    }
    // SAFETY: the loads are inside of the slice.
    unsafe {
        asm!(
            "2:",
            "movdqu xmm0, [{at}]",
            "movdqu xmm1, [{at} + 16]",
            "movdqu xmm2, [{at} + 32]",
            "movdqu xmm3, [{at} + 48]",
            "movdqu xmm4, [{at} + 64]",
            "movdqu xmm5, [{at} + 80]",
            "movdqu xmm6, [{at} + 96]",
            "movdqu xmm7, [{at} + 112]",
            "add {at}, 128",
            "dec {rounds}",
            "jnz 2b",
            at = inout(reg) bytes.as_ptr() => _,
            rounds = inout(reg) rounds => _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            options(nostack, readonly),
        );
    }
}

/// Loads of a round of [`anywhere`].
pub const ANYWHERE: u64 = 8;

/// Loads lines of the memory in no order, none of which waits for another one. It goes on behind `at`: lines that
/// come again are in nearer caches.
pub fn anywhere(bytes: &[u8], at: &mut [u32; ANYWHERE as usize], rounds: u64) {
    let lines = (bytes.len() / LINE) as u64;
    for _ in 0..rounds {
        for one in &mut *at {
            *one = one.wrapping_mul(5).wrapping_add(0x3c6e_f35f);
            let line = ((u64::from(*one) * lines) >> 32) as usize;
            // SAFETY: the line is below the number of lines. It is volatile, so that every load is made.
            unsafe { bytes.as_ptr().add(line * LINE).read_volatile() };
        }
    }
}

/// The same of pages of so many bytes, with a line of each: not the same one, or they would all be in one set of a
/// cache.
pub fn anywhere_in_pages(
    bytes: &[u8],
    page: usize,
    at: &mut [u32; ANYWHERE as usize],
    rounds: u64,
) {
    let pages = (bytes.len() / page) as u64;
    for _ in 0..rounds {
        for one in &mut *at {
            *one = one.wrapping_mul(5).wrapping_add(0x3c6e_f35f);
            let number = ((u64::from(*one) * pages) >> 32) as usize;
            let place = number * page + line_of_page(number) * LINE % page;
            // SAFETY: the page is one of the memory, and the line is in the page. It is volatile, as above.
            unsafe { bytes.as_ptr().add(place).read_volatile() };
        }
    }
}

/// The line of a page that is used.
pub fn line_of_page(number: usize) -> usize {
    number * 37 % 64
}

/// A random miss, `COUNT` instructions, another one that does not depend on it, and as many again; so often.
/// Where all these instructions have room in the window of the processor, the misses overlap.
///
/// # Safety
///
/// Both places are in chains as for [`chase`].
unsafe fn misses_apart<const COUNT: usize>(places: &mut [*mut u8; 2], rounds: u64) {
    let [mut a, mut b] = *places;
    // SAFETY: the caller's chains lead to addresses of themselves alone.
    unsafe {
        asm!(
            "2:",
            "mov {a}, [{a}]",
            ".rept {count}",
            "nop",
            ".endr",
            "mov {b}, [{b}]",
            ".rept {count}",
            "nop",
            ".endr",
            "dec {rounds}",
            "jnz 2b",
            a = inout(reg) a,
            b = inout(reg) b,
            rounds = inout(reg) rounds.max(1) => _,
            count = const COUNT,
            options(nostack, readonly),
        );
    }
    *places = [a, b];
}

/// A loop with so many instructions between two misses.
pub struct Apart {
    /// Instructions from one miss to the next, that one included.
    pub count: usize,
    run: unsafe fn(&mut [*mut u8; 2], u64),
}

impl Apart {
    /// Runs it so often.
    ///
    /// # Safety
    ///
    /// Both places are in chains as for [`chase`].
    pub unsafe fn run(&self, places: &mut [*mut u8; 2], rounds: u64) {
        // SAFETY: as the caller says.
        unsafe { (self.run)(places, rounds) }
    }
}

macro_rules! apart {
    ($($count:literal)*) => {
        [$(Apart { count: $count + 1, run: misses_apart::<$count> }),*]
    };
}

/// From short ones to those that no window holds.
pub static APART: [Apart; 27] = apart!(
    15 31 47 63 79 95 111 127 143 159 175 191 207 223 239 255 287 319 351 383 415 447 479 511 575 639 767
);
