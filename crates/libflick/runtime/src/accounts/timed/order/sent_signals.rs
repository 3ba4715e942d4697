//! Signals of timers and of threads, as the kernel sees them.
use std::ffi::c_int;
use std::ptr;

use crate::os::system_call::system_call;
use crate::os::thread_status::ThreadStatus;

/// A timer's signal, or one that a thread sends.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub number: c_int,
    /// Fields of `siginfo_t`.
    pub code: c_int,
    /// Where threads send it, the process.
    pub timer: c_int,
    pub value: usize,
    /// The kernel's number of the thread that gets it; otherwise one that does not block it.
    pub thread: Option<c_int>,
}

/// What `rt_sigaction` keeps (Linux, x86-64).
#[repr(C)]
#[derive(Default)]
struct Action {
    handler: usize,
    flags: usize,
    restorer: usize,
    mask: u64,
}

/// The kernel's `SIGRTMIN`.
const FIRST_OF_REAL_TIME: c_int = 32;
/// Bytes of a signal set, for the kernel.
const SET: usize = 8;

fn action(number: c_int) -> Action {
    let mut action = Action::default();
    let place = ptr::from_mut(&mut action) as usize;
    // SAFETY: a place for the action.
    unsafe { system_call(libc::SYS_rt_sigaction, [number as usize, 0, place, SET]) };
    action
}

/// Whether nothing happens when the signal comes.
pub fn is_ignored(number: c_int) -> bool {
    match action(number).handler {
        libc::SIG_IGN => true,
        libc::SIG_DFL => matches!(
            number,
            libc::SIGCHLD | libc::SIGCONT | libc::SIGURG | libc::SIGWINCH
        ),
        _ => false,
    }
}

/// Whether a handler of the program runs when the signal comes.
pub fn is_handled(number: c_int) -> bool {
    (1..=64).contains(&number) && action(number).handler > libc::SIG_IGN
}

/// Whether the signal is pending as often as it is sent.
pub fn is_queued(number: c_int) -> bool {
    number >= FIRST_OF_REAL_TIME
}

/// Whether a call that waits does not go on behind the signal's handler.
pub fn interrupts(number: c_int) -> bool {
    let action = action(number);
    action.handler > libc::SIG_IGN && action.flags & libc::SA_RESTART as usize == 0
}

/// Whether a thread blocks a signal.
pub fn is_blocked(tid: c_int, number: c_int) -> bool {
    let set = ThreadStatus::read(tid)
        .and_then(|status| u64::from_str_radix(status.value("SigBlk")?, 16).ok());
    set.is_some_and(|set| set >> (number - 1) & 1 != 0)
}

/// Whether one of these signals would do something.
pub fn has_handler(set: u64) -> bool {
    (1..=64).any(|number| set >> (number - 1) & 1 != 0 && !is_ignored(number))
}

/// The calling thread's pending signals.
pub fn pending() -> u64 {
    let mut set = 0_u64;
    let place = ptr::from_mut(&mut set) as usize;
    // SAFETY: a place for the set.
    unsafe { system_call(libc::SYS_rt_sigpending, [place, SET, 0, 0]) };
    set
}

/// The beginning of a `siginfo_t` of a timer. Where threads send it, `overrun` is the user.
#[repr(C)]
struct Info {
    number: c_int,
    errno: c_int,
    code: c_int,
    _pad: c_int,
    timer: c_int,
    overrun: c_int,
    value: usize,
    _rest: [u64; 12],
}

const _: () = assert!(size_of::<Info>() == size_of::<libc::siginfo_t>());

fn info(signal: &Signal, overrun: c_int) -> Info {
    Info {
        number: signal.number,
        errno: 0,
        code: signal.code,
        _pad: 0,
        timer: signal.timer,
        overrun,
        value: signal.value,
        _rest: [0; 12],
    }
}

/// The process, as a signal says who has sent it.
pub fn sender() -> c_int {
    process() as c_int
}

/// The user, as a signal says it.
pub fn user() -> c_int {
    // SAFETY: a system call without arguments.
    unsafe { system_call(libc::SYS_getuid, []) as c_int }
}

fn process() -> usize {
    std::process::id() as usize
}

/// Sends the signal to the calling thread, whose handler runs now if it does not block it.
pub fn raise(signal: &Signal, overrun: c_int) {
    let info = info(signal, overrun);
    let number = signal.number as usize;
    // SAFETY: a system call without arguments; then one with the calling thread's number and a whole
    // record.
    unsafe {
        let thread = system_call(libc::SYS_gettid, [0; 4]) as usize;
        let place = ptr::from_ref(&info) as usize;
        system_call(
            libc::SYS_rt_tgsigqueueinfo,
            [process(), thread, number, place],
        );
    }
}

/// Sends a signal to a thread of the process: whether it could.
pub fn send_to_thread(tid: c_int, number: c_int) -> bool {
    // SAFETY: a system call with numbers.
    unsafe {
        system_call(
            libc::SYS_tgkill,
            [process(), tid as usize, number as usize, 0],
        ) == 0
    }
}

/// Sends the signal to the process, all of whose threads block it.
pub fn send_to_process(signal: &Signal) {
    let number = signal.number as usize;
    let info = info(signal, 0);
    let place = ptr::from_ref(&info) as usize;
    // SAFETY: the process, and a whole record.
    let sent = unsafe { system_call(libc::SYS_rt_sigqueueinfo, [process(), number, place, 0]) };
    if sent < 0 {
        // Only the first thread may say that the kernel has sent it.
        // SAFETY: the process's number.
        unsafe { system_call(libc::SYS_kill, [process(), number, 0, 0]) };
    }
}

/// The kernel's timer of a file expires, so that it can be read.
pub fn let_file_expire(file: c_int) {
    let soon = libc::itimerspec {
        it_interval: libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        },
        it_value: libc::timespec {
            tv_sec: 0,
            tv_nsec: 1,
        },
    };
    let mut look = libc::pollfd {
        fd: file,
        events: libc::POLLIN,
        revents: 0,
    };
    let soon = ptr::from_ref(&soon) as usize;
    let files = ptr::from_mut(&mut look) as usize;
    // SAFETY: a setting, and one file to look at. A file that is no timer any more is left alone.
    unsafe {
        system_call(libc::SYS_timerfd_settime, [file as usize, 0, soon, 0]);
        system_call(libc::SYS_poll, [files, 1, 1000, 0]);
    }
}
