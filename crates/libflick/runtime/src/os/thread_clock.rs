//! Clocks by system calls of libflick's own: a program's functions of these names may show virtual time.
use super::system_call::system_call;

/// Nanoseconds of a clock; `None`: there is none of this number. Async-signal-safe.
pub fn read(id: i32) -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let place = std::ptr::from_mut(&mut time) as usize;
    // SAFETY: a clock's number, and a place for a time.
    let result = unsafe { system_call(libc::SYS_clock_gettime, [id as usize, place, 0, 0]) };
    (result == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The kernel's number of the calling thread.
pub fn own_tid() -> i32 {
    // SAFETY: a system call without arguments.
    unsafe { system_call(libc::SYS_gettid, [0; 4]) as i32 }
}

/// The clock of a thread's processor time (Linux: the number, inverted, 4 for a thread, 2 for the
/// scheduler's count).
pub fn of_thread(tid: i32) -> i32 {
    (!tid << 3) | 6
}
