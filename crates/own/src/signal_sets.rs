//! Signal sets. Only the kernel's 64 signals are used.
use core::ffi::c_int;

use crate::calls::error;

unsafe extern "C" {
    pub fn sigemptyset(set: *mut u64) -> c_int;
}

const SIGNALS: c_int = 64;

fn bit(signal: c_int) -> Option<u64> {
    (1..=SIGNALS).contains(&signal).then(|| 1 << (signal - 1))
}

/// The size of the C library's set. All words are written, because programs may compare sets by
/// their bytes.
const WORDS: usize = size_of::<libc::sigset_t>() / size_of::<u64>();

unsafe extern "C" fn fill(set: *mut u64, with: u64) {
    for word in 0..WORDS {
        // SAFETY: the caller passes a valid set.
        unsafe { set.add(word).write(with) };
    }
}

unsafe extern "C" fn empty_set(set: *mut u64) -> c_int {
    // SAFETY: the caller keeps the contract of sigemptyset(3).
    unsafe { fill(set, 0) };
    0
}

unsafe extern "C" fn fill_set(set: *mut u64) -> c_int {
    // SAFETY: the caller keeps the contract of sigfillset(3).
    unsafe { fill(set, u64::MAX) };
    0
}

unsafe extern "C" fn add_to_set(set: *mut u64, signal: c_int) -> c_int {
    let Some(bit) = bit(signal) else {
        return error(libc::EINVAL) as c_int;
    };
    // SAFETY: the caller keeps the contract of sigaddset(3).
    unsafe { *set |= bit };
    0
}

unsafe extern "C" fn is_in_set(set: *const u64, signal: c_int) -> c_int {
    let Some(bit) = bit(signal) else {
        return error(libc::EINVAL) as c_int;
    };
    // SAFETY: the caller keeps the contract of sigismember(3).
    c_int::from(unsafe { *set } & bit != 0)
}

define! {
    "sigemptyset" = empty_set;
    "sigfillset" = fill_set;
    "sigaddset" = add_to_set;
    "sigismember" = is_in_set;
}
