//! `memcpy`, `memset` and other operations on bytes. They use SSE2, which every x86-64 has.
use core::ffi::c_void;

unsafe extern "C" {
    pub fn memcpy(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void;
}

// Up to 64 bytes, all loads come before all stores, so that the places may overlap. Above 64, the
// last 64 bytes (backwards: the first) are loaded before the loop and stored after it.
function!("memcpy" "memmove", align 6, [
    "mov rax, rdi",
    "cmp rdx, 16",
    "jb 2f",
    "cmp rdx, 32",
    "ja 6f",
    "movups xmm0, [rsi]",
    "movups xmm1, [rsi + rdx - 16]",
    "movups [rdi], xmm0",
    "movups [rdi + rdx - 16], xmm1",
    "ret",
    "2:",
    "cmp edx, 8",
    "jb 3f",
    "mov rcx, [rsi]",
    "mov r8, [rsi + rdx - 8]",
    "mov [rdi], rcx",
    "mov [rdi + rdx - 8], r8",
    "ret",
    "3:",
    "cmp edx, 4",
    "jb 4f",
    "mov ecx, [rsi]",
    "mov r8d, [rsi + rdx - 4]",
    "mov [rdi], ecx",
    "mov [rdi + rdx - 4], r8d",
    "ret",
    "4:",
    "cmp edx, 1",
    "jb 5f",
    "movzx ecx, byte ptr [rsi]",
    "je 7f",
    "movzx r8d, word ptr [rsi + rdx - 2]",
    "mov [rdi + rdx - 2], r8w",
    "7:",
    "mov [rdi], cl",
    "5:",
    "ret",
    "6:",
    "cmp rdx, 64",
    "ja 8f",
    "movups xmm0, [rsi]",
    "movups xmm1, [rsi + 16]",
    "movups xmm2, [rsi + rdx - 32]",
    "movups xmm3, [rsi + rdx - 16]",
    "movups [rdi], xmm0",
    "movups [rdi + 16], xmm1",
    "movups [rdi + rdx - 32], xmm2",
    "movups [rdi + rdx - 16], xmm3",
    "ret",
    "8:",
    // Forwards, unless the destination begins within the source.
    "mov rcx, rdi",
    "sub rcx, rsi",
    "cmp rcx, rdx",
    "jb 10f",
    "movups xmm4, [rsi + rdx - 64]",
    "movups xmm5, [rsi + rdx - 48]",
    "movups xmm6, [rsi + rdx - 32]",
    "movups xmm7, [rsi + rdx - 16]",
    "lea r8, [rdi + rdx - 64]",
    ".p2align 4",
    "9:",
    "movups xmm0, [rsi]",
    "movups xmm1, [rsi + 16]",
    "movups xmm2, [rsi + 32]",
    "movups xmm3, [rsi + 48]",
    "movups [rdi], xmm0",
    "movups [rdi + 16], xmm1",
    "movups [rdi + 32], xmm2",
    "movups [rdi + 48], xmm3",
    "add rsi, 64",
    "add rdi, 64",
    "cmp rdi, r8",
    "jb 9b",
    "movups [r8], xmm4",
    "movups [r8 + 16], xmm5",
    "movups [r8 + 32], xmm6",
    "movups [r8 + 48], xmm7",
    "ret",
    "10:",
    "movups xmm4, [rsi]",
    "movups xmm5, [rsi + 16]",
    "movups xmm6, [rsi + 32]",
    "movups xmm7, [rsi + 48]",
    "add rsi, rdx",
    "lea r9, [rdi + rdx]",
    "lea r8, [rdi + 64]",
    ".p2align 4",
    "11:",
    "movups xmm0, [rsi - 16]",
    "movups xmm1, [rsi - 32]",
    "movups xmm2, [rsi - 48]",
    "movups xmm3, [rsi - 64]",
    "movups [r9 - 16], xmm0",
    "movups [r9 - 32], xmm1",
    "movups [r9 - 48], xmm2",
    "movups [r9 - 64], xmm3",
    "sub rsi, 64",
    "sub r9, 64",
    "cmp r9, r8",
    "ja 11b",
    "movups [rax], xmm4",
    "movups [rax + 16], xmm5",
    "movups [rax + 32], xmm6",
    "movups [rax + 48], xmm7",
    "ret",
]);

function!("memset", align 6, [
    "mov rax, rdi",
    "movzx esi, sil",
    "mov rcx, 0x0101010101010101",
    "imul rsi, rcx",
    "cmp rdx, 16",
    "jb 2f",
    "movq xmm0, rsi",
    "punpcklqdq xmm0, xmm0",
    "cmp rdx, 64",
    "ja 6f",
    "movups [rdi], xmm0",
    "movups [rdi + rdx - 16], xmm0",
    "cmp edx, 32",
    "jbe 5f",
    "movups [rdi + 16], xmm0",
    "movups [rdi + rdx - 32], xmm0",
    "ret",
    "2:",
    "cmp edx, 8",
    "jb 3f",
    "mov [rdi], rsi",
    "mov [rdi + rdx - 8], rsi",
    "ret",
    "3:",
    "cmp edx, 4",
    "jb 4f",
    "mov [rdi], esi",
    "mov [rdi + rdx - 4], esi",
    "ret",
    "4:",
    "cmp edx, 1",
    "jb 5f",
    "mov [rdi], sil",
    "je 5f",
    "mov [rdi + rdx - 2], si",
    "5:",
    "ret",
    "6:",
    "lea r8, [rdi + rdx - 64]",
    ".p2align 4",
    "7:",
    "movups [rdi], xmm0",
    "movups [rdi + 16], xmm0",
    "movups [rdi + 32], xmm0",
    "movups [rdi + 48], xmm0",
    "add rdi, 64",
    "cmp rdi, r8",
    "jb 7b",
    "movups [r8], xmm0",
    "movups [r8 + 16], xmm0",
    "movups [r8 + 32], xmm0",
    "movups [r8 + 48], xmm0",
    "ret",
]);

function!("memcmp" "bcmp", align 4, [
    "2:",
    "cmp rdx, 8",
    "jb 4f",
    "mov rax, [rdi]",
    "mov rcx, [rsi]",
    "cmp rax, rcx",
    "jne 3f",
    "add rdi, 8",
    "add rsi, 8",
    "sub rdx, 8",
    "jmp 2b",
    "3:",
    // The first byte in memory counts most.
    "bswap rax",
    "bswap rcx",
    "cmp rax, rcx",
    "sbb eax, eax",
    "or eax, 1",
    "ret",
    "4:",
    "test rdx, rdx",
    "je 5f",
    "movzx eax, byte ptr [rdi]",
    "movzx ecx, byte ptr [rsi]",
    "sub eax, ecx",
    "jne 6f",
    "inc rdi",
    "inc rsi",
    "dec rdx",
    "jmp 4b",
    "5:",
    "xor eax, eax",
    "6:",
    "ret",
]);

// It goes byte by byte, because libflick takes the length of names and paths only.
function!("strlen", align 4, [
    "mov rsi, -1",
    "jmp strnlen",
]);

function!("strnlen", align 4, [
    "xor eax, eax",
    "2:",
    "cmp rax, rsi",
    "je 3f",
    "cmp byte ptr [rdi + rax], 0",
    "je 3f",
    "inc rax",
    "jmp 2b",
    "3:",
    "ret",
]);

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::{c_char, c_int};

    unsafe extern "C" {
        fn memmove(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void;
        fn memset(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void;
        fn memcmp(a: *const c_void, b: *const c_void, size: usize) -> c_int;
        fn bcmp(a: *const c_void, b: *const c_void, size: usize) -> c_int;
        fn strlen(text: *const c_char) -> usize;
        fn strnlen(text: *const c_char, size: usize) -> usize;
    }

    const SIZES: [usize; 9] = [300, 511, 512, 513, 1000, 2048, 4095, 4096, 5000];

    fn sizes() -> impl Iterator<Item = usize> {
        (0..200).chain(SIZES)
    }

    /// All bytes differ from their neighbours.
    fn pattern() -> Vec<u8> {
        (0..12_000_usize).map(|i| (i * 7 + i / 256) as u8).collect()
    }

    #[test]
    fn copies() {
        let source = pattern();
        for size in sizes() {
            for (from, to) in [(0, 0), (1, 3), (7, 0), (16, 9)] {
                let mut copy = vec![0xaa; size + 64];
                // SAFETY: both are within their vectors.
                let result = unsafe {
                    let place = copy.as_mut_ptr().add(to);
                    memcpy(place.cast(), source.as_ptr().add(from).cast(), size) == place.cast()
                };
                assert!(
                    result && copy[to..to + size] == source[from..from + size],
                    "{size}"
                );
                let around = copy[..to].iter().chain(&copy[to + size..]);
                assert!(around.into_iter().all(|byte| *byte == 0xaa), "{size}");
            }
        }
    }

    #[test]
    fn moves_over_itself() {
        for size in sizes() {
            for distance in [0, 1, 15, 16, 17, 64, 65, 300, 5001] {
                for (from, to) in [(0, distance), (distance, 0)] {
                    let mut bytes = pattern();
                    let mut expected = bytes.clone();
                    expected[to..to + size].copy_from_slice(&bytes[from..from + size]);
                    let place = bytes.as_mut_ptr();
                    // SAFETY: both are within the vector.
                    unsafe { memmove(place.add(to).cast(), place.add(from).cast(), size) };
                    assert!(bytes == expected, "{size} bytes from {from} to {to}");
                }
            }
        }
    }

    #[test]
    fn fills() {
        for size in sizes() {
            let mut bytes = vec![1_u8; size + 40];
            // SAFETY: within the vector.
            unsafe { memset(bytes.as_mut_ptr().add(5).cast(), 0x1fe, size) };
            let filled = |i: usize| (5..5 + size).contains(&i);
            let right = |(i, byte): (usize, &u8)| *byte == if filled(i) { 0xfe } else { 1 };
            assert!(bytes.iter().enumerate().all(right), "{size}");
        }
    }

    #[test]
    fn compares() {
        let a = pattern();
        for size in 0..70 {
            for differs in 0..size + 2 {
                for by in [1_u8, 0x80] {
                    let mut b = a.clone();
                    b[differs] = b[differs].wrapping_add(by);
                    let expected = a[..size].cmp(&b[..size]) as c_int;
                    // SAFETY: both are long enough.
                    let (order, same) = unsafe {
                        let (a, b) = (a.as_ptr().cast(), b.as_ptr().cast());
                        (memcmp(a, b, size).signum(), bcmp(a, b, size) == 0)
                    };
                    assert_eq!((order, same), (expected, expected == 0), "{size} {differs}");
                }
            }
        }
    }

    #[test]
    fn lengths() {
        for text in [c"", c"a", c"some text"] {
            let length = text.count_bytes();
            // SAFETY: a C string; of the last one only as much is read as there is.
            unsafe {
                assert_eq!(strlen(text.as_ptr()), length);
                assert_eq!(strnlen(text.as_ptr(), 100), length);
                assert_eq!(strnlen(text.as_ptr(), 4), length.min(4));
            }
        }
    }
}
