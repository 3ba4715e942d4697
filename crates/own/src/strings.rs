//! Environment, numbers and messages.
use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::ptr;

use crate::calls::system_call;
use crate::process_environment::environment;

unsafe extern "C" {
    pub fn getenv(name: *const c_char) -> *const c_char;
}

unsafe extern "C" fn value_of(name: *const c_char) -> *const c_char {
    // SAFETY: the caller keeps the contract of getenv(3). Entries of the environment are C strings,
    // which stay as long as no thread changes it.
    unsafe {
        let name = CStr::from_ptr(name).to_bytes();
        for entry in environment() {
            // Most entries differ in a byte at the front. Their lengths would take long.
            let is_same = |(at, &byte): (usize, &u8)| *entry.add(at) as u8 == byte;
            if name.iter().enumerate().all(is_same) && *entry.add(name.len()) as u8 == b'=' {
                return entry.add(name.len() + 1);
            }
        }
    }
    ptr::null()
}

/// strtol(3) in base 10, or in base 16 behind `0x` where the base is 16 or 0. mimalloc's settings
/// have numbers in these bases.
unsafe extern "C" fn number(text: *const c_char, end: *mut *const c_char, base: c_int) -> c_long {
    // SAFETY: the caller keeps the contract of strtol(3).
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    let (value, used) = parse(bytes, base);
    if !end.is_null() {
        // SAFETY: as above; `used` is at most the length.
        unsafe { *end = text.add(used) };
    }
    value
}

/// The number at the start of `bytes`, and its length in bytes. Both are 0 if there is no number.
fn parse(bytes: &[u8], base: c_int) -> (c_long, usize) {
    let space = bytes.iter().take_while(|byte| byte.is_ascii_whitespace());
    let mut at = space.count();
    let negative = bytes.get(at) == Some(&b'-');
    if matches!(bytes.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let mut radix = if base == 0 { 10 } else { base as u32 };
    if matches!(base, 0 | 16) && matches!(bytes.get(at..at + 2), Some(b"0x" | b"0X")) {
        (at, radix) = (at + 2, 16);
    }
    let digit = |at: usize| {
        bytes
            .get(at)
            .and_then(|&byte| char::from(byte).to_digit(radix))
    };
    if digit(at).is_none() {
        return (0, 0);
    }
    let mut value: c_long = 0;
    while let Some(digit) = digit(at) {
        let digit = if negative {
            -c_long::from(digit)
        } else {
            c_long::from(digit)
        };
        value = value
            .saturating_mul(c_long::from(radix))
            .saturating_add(digit);
        at += 1;
    }
    (value, at)
}

/// fputs(3). For any stream the message goes to standard error, unbuffered.
unsafe extern "C" fn message(text: *const c_char, _stream: *mut c_void) -> c_int {
    // SAFETY: the caller keeps the contract of fputs(3).
    let mut rest = unsafe { CStr::from_ptr(text) }.to_bytes();
    while !rest.is_empty() {
        let arguments = [2, rest.as_ptr() as usize, rest.len(), 0];
        // SAFETY: the bytes belong to the text.
        let written = unsafe { system_call(libc::SYS_write, arguments) };
        let Some(more) = usize::try_from(written).ok().and_then(|n| rest.get(n..)) else {
            return libc::EOF;
        };
        rest = more;
    }
    0
}

/// getcwd(3) with a buffer.
unsafe extern "C" fn directory(buffer: *mut c_char, size: usize) -> *mut c_char {
    // SAFETY: the caller keeps the contract of getcwd(3).
    let length = unsafe { system_call(libc::SYS_getcwd, [buffer as usize, size, 0, 0]) };
    if length < 0 {
        crate::error(-length as c_int);
        return ptr::null_mut();
    }
    buffer
}

/// realpath(3) that always fails. A result would have to come from the program's `malloc`. Its only
/// callers here, which find names for Rust's own backtraces, go on without.
unsafe extern "C" fn no_path(_path: *const c_char, _resolved: *mut c_char) -> *mut c_char {
    crate::error(libc::ENOSYS);
    ptr::null_mut()
}

define! {
    "getenv" = value_of;
    "strtol" = number;
    "fputs" = message;
    "getcwd" = directory;
    "realpath" = no_path;
}

// The streams that `fputs` is given.
core::arch::global_asm!(
    ".pushsection .bss.flick_own.streams,\"aw\",@nobits",
    ".globl stdout",
    ".globl stderr",
    ".hidden stdout",
    ".hidden stderr",
    ".type stdout,@object",
    ".type stderr,@object",
    ".p2align 3",
    "stdout:",
    ".zero 8",
    ".size stdout, 8",
    "stderr:",
    ".zero 8",
    ".size stderr, 8",
    ".popsection",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(parse(b"12ab", 10), (12, 2));
        assert_eq!(parse(b" -7", 10), (-7, 3));
        assert_eq!(parse(b"0x1F ", 0), (31, 4));
        assert_eq!(parse(b"1f", 16), (31, 2));
        assert_eq!(parse(b"-", 10), (0, 0));
        assert_eq!(parse(b"", 10), (0, 0));
        assert_eq!(parse(b"99999999999999999999", 10).0, c_long::MAX);
        assert_eq!(parse(b"-99999999999999999999", 10).0, c_long::MIN);
    }
}
