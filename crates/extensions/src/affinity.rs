//! Affinity masks of threads, and the program's own calls about them: it sees its own masks alone.
use std::io;

use libc::{c_long, pid_t};

use crate::cpu_set::CpuSet;
use crate::thread_stops::{self, Call};

/// The mask of a thread.
pub fn get(thread: pid_t) -> io::Result<CpuSet> {
    let mut words = *CpuSet::EMPTY.words();
    let size = size_of_val(&words);
    // SAFETY: the words live across the call, and have this size.
    match unsafe {
        libc::syscall(
            libc::SYS_sched_getaffinity,
            thread,
            size,
            words.as_mut_ptr(),
        )
    } {
        0.. => Ok(CpuSet::from_words(words)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives a thread a mask.
pub fn set(thread: pid_t, set: &CpuSet) -> io::Result<()> {
    let words = set.words();
    // SAFETY: the words live across the call, and have this size.
    match unsafe {
        libc::syscall(
            libc::SYS_sched_setaffinity,
            thread,
            size_of_val(words),
            words.as_ptr(),
        )
    } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The thread that a call is about, if it sets a mask.
pub fn sets(caller: pid_t, call: &Call) -> Option<pid_t> {
    (call.number as c_long == libc::SYS_sched_setaffinity).then(|| target(caller, call))
}

/// The thread that a call is about, if it asks for a mask.
pub fn asks(caller: pid_t, call: &Call) -> Option<pid_t> {
    (call.number as c_long == libc::SYS_sched_getaffinity).then(|| target(caller, call))
}

/// The first argument; 0 is the caller.
fn target(caller: pid_t, call: &Call) -> pid_t {
    match call.arguments[0] as pid_t {
        0 => caller,
        thread => thread,
    }
}

/// Answers a call that asks for the mask of a thread which is held: `own` is what the program has
/// set. Errors are the kernel's, which makes the same call.
pub fn answer(caller: pid_t, call: &Call, target: pid_t, own: &CpuSet) -> io::Result<()> {
    let mut kernels = *CpuSet::EMPTY.words();
    // A larger buffer of the program would hold no more CPUs.
    let size = call.arguments[1].min(size_of_val(&kernels) as u64);
    // SAFETY: the words live across the call, and have at least this size.
    let length = unsafe {
        libc::syscall(
            libc::SYS_sched_getaffinity,
            target,
            size,
            kernels.as_mut_ptr(),
        )
    };
    if length < 0 {
        let error = io::Error::last_os_error();
        return thread_stops::replace_call(caller, -i64::from(error.raw_os_error().unwrap_or(0)));
    }
    let words = own
        .words()
        .get(..length as usize / 8)
        .unwrap_or(own.words());
    match thread_stops::write(caller, call.arguments[2], words) {
        Ok(()) => thread_stops::replace_call(caller, length),
        Err(_) => thread_stops::replace_call(caller, -i64::from(libc::EFAULT)),
    }
}

/// The filter that stops a thread at these calls, in a process that has it from now on, and in all
/// that it starts.
pub fn watch_calls() -> io::Result<()> {
    #[cfg(target_arch = "riscv64")]
    const ARCHITECTURE: u32 = 0xc000_00f3; // AUDIT_ARCH_RISCV64
    #[cfg(target_arch = "x86_64")]
    const ARCHITECTURE: u32 = 0xc000_003e; // AUDIT_ARCH_X86_64
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    // Offsets in `struct seccomp_data`.
    const NUMBER_AT: u32 = 0;
    const ARCHITECTURE_AT: u32 = 4;
    let step = |code: u16, k: u32, jt: u8, jf: u8| libc::sock_filter { code, jt, jf, k };
    let mut steps = [
        step(LOAD, ARCHITECTURE_AT, 0, 0),
        step(IS, ARCHITECTURE, 0, 3),
        step(LOAD, NUMBER_AT, 0, 0),
        step(IS, libc::SYS_sched_setaffinity as u32, 2, 0),
        step(IS, libc::SYS_sched_getaffinity as u32, 1, 0),
        step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
        step(RETURN, libc::SECCOMP_RET_TRACE, 0, 0),
    ];
    let filter = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: the filter and its steps live across the calls, and each jump stays in the steps.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const filter,
            ) == 0
    };
    if done {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
