//! The signal and jump functions of libc that a program's calls reach here first: dynamic programs
//! by symbol lookup (`libflick.so` exports them), static ones by `--wrap`. [`dispositions`]
//! decides; everything that is not ours goes on to libc.
mod ordered;
pub(crate) mod shims;

use std::ffi::{c_int, c_void};
use std::ptr;

use crate::accounts::timed::order::signal_waits::suspend;
use crate::crossing::cleanup_push::RAISED;
use crate::crossing::leaving;
use crate::os::errno::set_errno;
use crate::os::jump_buffer;
use crate::signals::dispositions;

pub type SigAction =
    unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
pub type SigSuspend = unsafe extern "C" fn(*const libc::sigset_t) -> c_int;
pub type SigMask = unsafe extern "C" fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int;

/// `sigaction(2)`.
///
/// # Safety
/// As for `sigaction`; `libc` is libc's own.
pub unsafe fn sigaction(
    libc: SigAction,
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: by contract.
    unsafe {
        if dispositions::owns(signal) {
            return dispositions::user_action(signal, new, old);
        }
        let mut translated = new.as_ref().copied();
        if let Some(new) = &mut translated {
            dispositions::mask_to_kernel(&mut new.sa_mask);
        }
        let result = libc(
            signal,
            translated.as_ref().map_or(ptr::null(), ptr::from_ref),
            old,
        );
        if let (0, Some(old)) = (result, old.as_mut()) {
            dispositions::mask_to_program(&mut old.sa_mask);
        }
        result
    }
}

/// `signal(3)` with the given `sigaction` flags: `SA_RESTART` (BSD), `SA_RESETHAND | SA_NODEFER`
/// (System V).
///
/// # Safety
/// As for `signal`.
pub unsafe fn signal(
    libc: SigAction,
    signal: c_int,
    handler: libc::sighandler_t,
    flags: c_int,
) -> libc::sighandler_t {
    // SAFETY: both records are complete.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        let mut old: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = flags;
        libc::sigemptyset(&mut new.sa_mask);
        if flags & libc::SA_NODEFER == 0 {
            libc::sigaddset(&mut new.sa_mask, signal);
        }
        if sigaction(libc, signal, &new, &mut old) < 0 {
            return libc::SIG_ERR;
        }
        old.sa_sigaction
    }
}

/// `sigprocmask(2)`, `pthread_sigmask(3)`.
///
/// # Safety
/// As for the function.
pub unsafe fn sigmask(
    libc: SigMask,
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    // SAFETY: by contract.
    unsafe {
        let mut translated = set.as_ref().copied();
        if let Some(set) = &mut translated {
            dispositions::mask_to_kernel(set);
        }
        let result = libc(
            how,
            translated.as_ref().map_or(ptr::null(), ptr::from_ref),
            old,
        );
        if let (0, Some(old)) = (result, old.as_mut()) {
            dispositions::mask_to_program(old);
        }
        result
    }
}

/// `sigsuspend(2)`.
///
/// # Safety
/// As for the function.
pub unsafe fn sigsuspend(libc: SigSuspend, mask: *const libc::sigset_t) -> c_int {
    // SAFETY: by contract.
    let translated = unsafe { waiting_mask(mask) };
    // SAFETY: a signal set starts with the kernel's 64 signals.
    let word = |mask: &libc::sigset_t| unsafe { ptr::from_ref(mask).cast::<u64>().read() };
    if translated.as_ref().is_some_and(|mask| suspend(word(mask))) {
        set_errno(libc::EINTR);
        return -1;
    }
    // SAFETY: by contract.
    unsafe { libc(translated.as_ref().map_or(mask, ptr::from_ref)) }
}

/// A signal set for a function that waits with it.
///
/// # Safety
/// `set` is null or a signal set.
unsafe fn waiting_mask(set: *const libc::sigset_t) -> Option<libc::sigset_t> {
    // SAFETY: by contract.
    let mut translated = unsafe { set.as_ref().copied() }?;
    dispositions::mask_to_kernel(&mut translated);
    Some(translated)
}

/// Before `longjmp(buffer, …)`: drops the activations that it leaves.
///
/// # Safety
/// `buffer` was filled by `setjmp` of the GNU C library for x86-64.
pub unsafe fn longjmp(buffer: *const c_void) {
    // SAFETY: by contract.
    let target = unsafe { jump_buffer::stack_pointer(buffer) };
    // One of NxP code does not leave its own activation; one of the host's has none so near.
    leaving::left_by_jump(target - RAISED - 1);
}
