//! What the program wants of SIGSEGV, SIGBUS and SIGILL.
//!
//! The runtime's handler (`crossing/signal_handler.rs`) stays installed. The handlers that the
//! program installs through `sigaction` and its relatives are kept here, and get every signal that
//! is not the runtime's, with the kernel's own `siginfo` and context. The kernel gets the program's
//! flags and mask, so that stack, mask and restart are as the program asked.
use std::arch::naked_asm;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::config::{self, Trigger};
use crate::os::signal_mask::{self, change_mask};

/// The signals whose dispositions we keep.
const OURS: [c_int; 3] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL];

/// What the program has asked for.
struct UserAction {
    handler: AtomicUsize,
    flags: AtomicUsize,
    mask: AtomicUsize,
}

static USER: [UserAction; OURS.len()] = [const {
    UserAction {
        handler: AtomicUsize::new(libc::SIG_DFL),
        flags: AtomicUsize::new(0),
        mask: AtomicUsize::new(0),
    }
}; OURS.len()];

/// `struct sigaction` of the kernel (x86-64).
#[repr(C)]
#[derive(Clone, Copy)]
struct KernelAction {
    handler: usize,
    flags: usize,
    restorer: usize,
    mask: usize,
}

const SA_RESTORER: usize = 0x0400_0000;
/// Bytes of the kernel's signal set.
const MASK_SIZE: usize = 8;

fn index(signal: c_int) -> Option<usize> {
    OURS.iter().position(|&ours| ours == signal)
}

const fn bit(signal: c_int) -> usize {
    1 << (signal - 1)
}

/// With the trigger `fault` SIGSEGV is never blocked, because every crossing needs it. Whether the
/// program has blocked it is kept where the kernel saves and restores it with everything else: in
/// the mask, as this signal (the last real-time one).
const STAND_IN: usize = bit(64);

/// The program's signal mask as the kernel gets it.
fn to_kernel(mask: usize) -> usize {
    if config::get().trigger == Trigger::Fault && mask & bit(libc::SIGSEGV) != 0 {
        mask & !bit(libc::SIGSEGV) | STAND_IN
    } else {
        mask
    }
}

/// The kernel's mask as the program gets it.
fn to_program(mask: usize) -> usize {
    if config::get().trigger == Trigger::Fault && mask & STAND_IN != 0 {
        mask & !STAND_IN | bit(libc::SIGSEGV)
    } else {
        mask
    }
}

/// [`to_kernel`] on a signal set of the program. Does nothing before the first module.
pub fn mask_to_kernel(set: &mut libc::sigset_t) {
    translate(set, to_kernel);
}

/// [`to_program`] on a signal set from the kernel. Does nothing before the first module.
pub fn mask_to_program(set: &mut libc::sigset_t) {
    translate(set, to_program);
}

fn translate(set: &mut libc::sigset_t, f: impl Fn(usize) -> usize) {
    if INSTALLED.load(Ordering::Acquire) != 0 {
        // SAFETY: a signal set starts with the kernel's 64 signals.
        let word = unsafe { &mut *(&raw mut *set).cast::<usize>() };
        *word = f(*word);
    }
}

/// The function that the kernel calls.
static HANDLER: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);

/// A signal handler with all that the kernel gives.
pub type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Installs `handler` for our signals. What was there before is the program's.
pub fn init(handler: Handler) {
    HANDLER.store(handler as *const () as usize, Ordering::Relaxed);
    for (at, &signal) in OURS.iter().enumerate() {
        let before = kernel_action(signal, None);
        if let Some(before) = before {
            USER[at].handler.store(before.handler, Ordering::Relaxed);
            USER[at].flags.store(before.flags, Ordering::Relaxed);
            USER[at].mask.store(before.mask, Ordering::Relaxed);
        }
        install(at);
    }
}

/// Whether `sigaction` for `signal` is answered by [`user_action`] and not by libc: ours, once the
/// first module is there.
pub fn owns(signal: c_int) -> bool {
    index(signal).is_some() && INSTALLED.load(Ordering::Acquire) != 0
}

static INSTALLED: AtomicUsize = AtomicUsize::new(0);

/// `sigaction(2)` of the program for a signal that we own.
///
/// # Safety
/// As for `sigaction`.
pub unsafe fn user_action(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    let Some(at) = index(signal) else { return -1 };
    let user = &USER[at];
    // SAFETY: by contract; a signal set starts with the kernel's 64 signals.
    unsafe {
        let before = (
            user.handler.load(Ordering::Relaxed),
            user.flags.load(Ordering::Relaxed),
            user.mask.load(Ordering::Relaxed),
        );
        if !new.is_null() {
            let new = &*new;
            user.flags
                .store(new.sa_flags as u32 as usize, Ordering::Relaxed);
            user.mask.store(
                (&raw const new.sa_mask).cast::<usize>().read(),
                Ordering::Relaxed,
            );
            user.handler.store(new.sa_sigaction, Ordering::Release);
            install(at);
        }
        if !old.is_null() {
            let old = &mut *old;
            old.sa_sigaction = before.0;
            old.sa_flags = (before.1 & !SA_RESTORER) as c_int;
            old.sa_restorer = None;
            libc::sigemptyset(&mut old.sa_mask);
            (&raw mut old.sa_mask).cast::<usize>().write(before.2);
        }
    }
    0
}

/// Gives the kernel our handler with the program's flags and mask.
fn install(at: usize) {
    let user = &USER[at];
    let handler = user.handler.load(Ordering::Relaxed);
    let wanted = user.flags.load(Ordering::Relaxed);
    let mut flags = libc::SA_SIGINFO as usize | SA_RESTORER;
    let mut mask = 0;
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        flags |= libc::SA_ONSTACK as usize;
    } else {
        // SA_RESETHAND is done by `reset_once`.
        flags |= wanted & !(libc::SA_RESETHAND as u32 as usize);
        mask = user.mask.load(Ordering::Relaxed);
    }
    if config::get().trigger == Trigger::Fault {
        // A handler may call NxP functions: the fault must get through while it runs.
        if flags & libc::SA_NODEFER as usize == 0 {
            mask |= bit(OURS[at]);
        }
        flags |= libc::SA_NODEFER as usize;
        mask = to_kernel(mask);
    }
    kernel_action(
        OURS[at],
        Some(KernelAction {
            handler: HANDLER.load(Ordering::Relaxed),
            flags,
            restorer: restorer_address(),
            mask,
        }),
    );
    // With the trigger `fault` a fork's handlers may cross while every signal is blocked.
    signal_mask::set_all(to_kernel(u64::MAX as usize) as u64);
    INSTALLED.store(1, Ordering::Release);
}

/// rt_sigaction(2); returns the action before. Async-signal-safe.
fn kernel_action(signal: c_int, new: Option<KernelAction>) -> Option<KernelAction> {
    let mut old = KernelAction {
        handler: 0,
        flags: 0,
        restorer: 0,
        mask: 0,
    };
    let new = new.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: both records have the kernel's layout.
    let result =
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, new, &raw mut old, MASK_SIZE) };
    (result == 0).then_some(old)
}

/// Behind its first byte, this returns from a signal handler. Without unwind information and with
/// just these instructions: unwinders know a signal frame by them. They look first for a function
/// in front of the return address, and must find none there: hence that byte.
#[unsafe(naked)]
unsafe extern "C" fn restorer() {
    naked_asm!("nop", "mov rax, {number}", "syscall", number = const libc::SYS_rt_sigreturn)
}

fn restorer_address() -> usize {
    const NOP: usize = 1;
    restorer as *const () as usize + NOP
}

/// The handler that the program has for a signal of ours, or `SIG_DFL` or `SIG_IGN`.
/// Async-signal-safe.
pub fn handler_of(signal: c_int) -> Option<usize> {
    index(signal).map(|at| USER[at].handler.load(Ordering::Acquire))
}

/// Before the program's handler runs: one with SA_RESETHAND runs once. Async-signal-safe.
pub fn reset_once(signal: c_int) {
    let Some(at) = index(signal) else { return };
    let user = &USER[at];
    if user.flags.load(Ordering::Relaxed) & libc::SA_RESETHAND as u32 as usize != 0 {
        user.handler.store(libc::SIG_DFL, Ordering::Release);
        install(at);
    }
}

/// Whether the kernel's `mask` has the signal that stands in for a blocked SIGSEGV.
pub fn is_stood_in(mask: usize) -> bool {
    config::get().trigger == Trigger::Fault && mask & STAND_IN != 0
}

/// Lets `signal` have its default action from here on.
pub fn set_default(signal: c_int) {
    kernel_action(
        signal,
        Some(KernelAction {
            handler: libc::SIG_DFL,
            flags: 0,
            restorer: 0,
            mask: 0,
        }),
    );
}

/// Whether a fault's `signal` would end the process now: nobody handles it, or it is blocked.
pub fn ends_process(signal: c_int) -> bool {
    let mask = change_mask(libc::SIG_BLOCK, 0) as usize;
    let blocked = to_program(mask) & bit(signal) != 0;
    let handler = match index(signal) {
        Some(at) => USER[at].handler.load(Ordering::Acquire),
        None => kernel_action(signal, None).map_or(libc::SIG_DFL, |action| action.handler),
    };
    blocked || handler == libc::SIG_IGN || handler == libc::SIG_DFL
}

/// # Safety
/// `info` is a complete record.
pub unsafe fn send_to_self(signal: c_int, info: *mut libc::siginfo_t) {
    // SAFETY: a thread may send itself any record (rt_tgsigqueueinfo(2)).
    unsafe {
        let process = libc::getpid();
        let thread = libc::syscall(libc::SYS_gettid);
        libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info);
    }
}
