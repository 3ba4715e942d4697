//! What valgrind has to be told: by default it does not look whether code in a file's memory has changed.
use std::arch::asm;
use std::ops::Range;

/// `VALGRIND_DISCARD_TRANSLATIONS` (valgrind's manual, "The Client Request mechanism").
const DISCARD_TRANSLATIONS: u64 = 0x1002;

/// Code at these addresses is gone, and other code may come. Does nothing without valgrind.
pub fn discard(code: &Range<u64>) {
    let request = [
        DISCARD_TRANSLATIONS,
        code.start,
        code.end - code.start,
        0,
        0,
        0,
    ];
    // SAFETY: the rotations come to two full turns, and the exchange changes nothing; valgrind takes the
    // sequence for a request, reads its words and sets rdx.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            inout("rdx") 0u64 => _,
            in("rax") request.as_ptr(),
            options(nostack),
        );
    }
}
