//! libc's signal and jump functions in a static program: the linker leads their callers here (`--wrap`).
use std::ffi::{c_int, c_void};

use flick_run::interpose;

unsafe extern "C" {
    fn __real_sigaction(
        signal: c_int,
        new: *const libc::sigaction,
        old: *mut libc::sigaction,
    ) -> c_int;
    fn __real_sigprocmask(
        how: c_int,
        set: *const libc::sigset_t,
        old: *mut libc::sigset_t,
    ) -> c_int;
    fn __real_pthread_sigmask(
        how: c_int,
        set: *const libc::sigset_t,
        old: *mut libc::sigset_t,
    ) -> c_int;
    fn __real_sigsuspend(mask: *const libc::sigset_t) -> c_int;
    fn __real_longjmp(buffer: *const c_void, value: c_int) -> !;
    fn __real___longjmp_chk(buffer: *const c_void, value: c_int) -> !;
}

/// # Safety
/// As for libc's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: by contract.
    unsafe { interpose::sigaction(__real_sigaction, signal, new, old) }
}

macro_rules! signal_function {
    ($name:ident, $flags:expr) => {
        /// # Safety
        /// As for libc's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            signal: c_int,
            handler: libc::sighandler_t,
        ) -> libc::sighandler_t {
            // SAFETY: by contract.
            unsafe { interpose::signal(__real_sigaction, signal, handler, $flags) }
        }
    };
}

signal_function!(__wrap_signal, libc::SA_RESTART);
signal_function!(__wrap_bsd_signal, libc::SA_RESTART);
signal_function!(__wrap_ssignal, libc::SA_RESTART);
signal_function!(__wrap_sysv_signal, libc::SA_RESETHAND | libc::SA_NODEFER);
signal_function!(__wrap___sysv_signal, libc::SA_RESETHAND | libc::SA_NODEFER);

/// # Safety
/// As for libc's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_sigprocmask(
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    // SAFETY: by contract.
    unsafe { interpose::sigmask(__real_sigprocmask, how, set, old) }
}

/// # Safety
/// As for libc's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_pthread_sigmask(
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    // SAFETY: by contract.
    unsafe { interpose::sigmask(__real_pthread_sigmask, how, set, old) }
}

/// # Safety
/// As for libc's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_sigsuspend(mask: *const libc::sigset_t) -> c_int {
    // SAFETY: by contract.
    unsafe {
        let translated = interpose::waiting_mask(mask);
        __real_sigsuspend(translated.as_ref().map_or(mask, std::ptr::from_ref))
    }
}

macro_rules! jump_function {
    ($name:ident, $real:ident) => {
        /// # Safety
        /// As for libc's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(buffer: *const c_void, value: c_int) -> ! {
            // SAFETY: by contract.
            unsafe {
                interpose::longjmp(buffer);
                $real(buffer, value)
            }
        }
    };
}

jump_function!(__wrap_longjmp, __real_longjmp);
jump_function!(__wrap__longjmp, __real_longjmp);
jump_function!(__wrap_siglongjmp, __real_longjmp);
jump_function!(__wrap___longjmp_chk, __real___longjmp_chk);
