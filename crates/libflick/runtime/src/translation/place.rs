//! Where translated code stands: pages of libflick's own, in the program's file or the library's.
//!
//! The unwind information of that file covers them, so every unwinder finds it, and nothing is
//! registered. (libgcc's registration takes `pthread_mutex_lock`, a name that the program may
//! define.) One description serves for all code, since each place of it finds the frame of
//! [`enter`](flick_translator) beside the hart. NxP frames are not described here: where the host is
//! called they are ([`crate::crossing`]), and from a handler of a signal they cannot be walked.
use std::arch::global_asm;
use std::ops::Range;

use flick_translator::{CFA_FROM_RBP, HOST_SAVED_FROM_RBP, pages_for};

/// Address space for code: translations of some 5 MB of RV64 code. It counts for a limit of address
/// space from the start of the process.
const CODE: usize = 16 << 20;
const SIZE: usize = pages_for(CODE);

unsafe extern "C" {
    static libflick_code_cache: [u8; SIZE];
}

// The section has no contents, so that no file grows. It is writable, so that it stands behind the
// unwind information: lld's table of it (`.eh_frame_hdr`) has code in front of itself in the wrong
// order.
global_asm!(
    ".pushsection .flick_code_cache, \"aw\", @nobits",
    ".balign 4096",
    ".globl libflick_code_cache",
    ".hidden libflick_code_cache",
    ".type libflick_code_cache, @object",
    "libflick_code_cache:",
    ".cfi_startproc",
    ".cfi_escape 0x0f, 3, 0x76, {cfa0}, {cfa1}",
    ".cfi_offset rip, -8",
    ".cfi_escape 0x10, 3, 3, 0x76, {rbx0}, {rbx1}",
    ".cfi_escape 0x10, 12, 3, 0x76, {r12_0}, {r12_1}",
    ".cfi_escape 0x10, 13, 3, 0x76, {r13_0}, {r13_1}",
    ".cfi_escape 0x10, 14, 3, 0x76, {r14_0}, {r14_1}",
    ".cfi_escape 0x10, 15, 3, 0x76, {r15_0}, {r15_1}",
    ".zero {size}",
    ".cfi_endproc",
    ".size libflick_code_cache, {size}",
    ".popsection",
    size = const SIZE,
    cfa0 = const CFA_FROM_RBP[0],
    cfa1 = const CFA_FROM_RBP[1],
    rbx0 = const HOST_SAVED_FROM_RBP[0][0],
    rbx1 = const HOST_SAVED_FROM_RBP[0][1],
    r12_0 = const HOST_SAVED_FROM_RBP[1][0],
    r12_1 = const HOST_SAVED_FROM_RBP[1][1],
    r13_0 = const HOST_SAVED_FROM_RBP[2][0],
    r13_1 = const HOST_SAVED_FROM_RBP[2][1],
    r14_0 = const HOST_SAVED_FROM_RBP[3][0],
    r14_1 = const HOST_SAVED_FROM_RBP[3][1],
    r15_0 = const HOST_SAVED_FROM_RBP[4][0],
    r15_1 = const HOST_SAVED_FROM_RBP[4][1],
);

/// The pages. They are the translator's alone.
pub fn pages() -> Range<usize> {
    let start = &raw const libflick_code_cache as usize;
    start..start + SIZE
}

/// Without a translator the pages count for no limit of memory. They can be read, because
/// LeakSanitizer and collectors read all of a library's writable segments.
pub fn give_back() {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    // SAFETY: nobody uses these pages. If it fails, they stay as they are.
    unsafe { libc::mmap(pages().start as *mut _, SIZE, libc::PROT_READ, flags, -1, 0) };
}
