//! Requests to valgrind (its manual, "The Client Request mechanism"). Without valgrind they do
//! nothing.
use std::arch::asm;
use std::ops::Range;

const RUNNING_ON_VALGRIND: u64 = 0x1001;
const DISCARD_TRANSLATIONS: u64 = 0x1002;

/// Whether this process runs under valgrind.
pub fn running() -> bool {
    request(RUNNING_ON_VALGRIND, [0; 2]) != 0
}

/// Code at these addresses is gone, and other code may come: by default valgrind does not look
/// whether code in a file's memory has changed.
pub fn discard(code: &Range<u64>) {
    request(DISCARD_TRANSLATIONS, [code.start, code.end - code.start]);
}

/// The answer; 0 without valgrind.
fn request(number: u64, [a, b]: [u64; 2]) -> u64 {
    let words = [number, a, b, 0, 0, 0];
    let mut answer = 0;
    // SAFETY: the rotations come to two full turns, and the exchange changes nothing; valgrind
    // takes the sequence for a request, reads its words and sets rdx.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            inout("rdi") 0_u64 => _,
            inout("rdx") answer,
            in("rax") words.as_ptr(),
            options(nostack),
        );
    }
    answer
}

#[cfg(test)]
mod tests {
    #[test]
    fn without_valgrind_there_is_no_answer() {
        assert!(!super::running());
        super::discard(&(0x1000..0x2000));
    }
}
