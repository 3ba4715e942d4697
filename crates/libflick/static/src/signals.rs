//! libc's signal and jump functions in a static program: the linker leads their callers here
//! (`--wrap`).
use std::ffi::{c_int, c_void};

unsafe extern "C" {
    fn __real_sigaction(
        signal: c_int,
        new: *const libc::sigaction,
        old: *mut libc::sigaction,
    ) -> c_int;
    fn __sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
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

flick_runtime::signal_shims! {
    prefix: "__wrap_",
    sigaction: __real_sigaction,
    sigaction_of_signal: __sigaction,
    sigprocmask: __real_sigprocmask,
    pthread_sigmask: __real_pthread_sigmask,
    sigsuspend: __real_sigsuspend,
    longjmp: __real_longjmp,
    __longjmp_chk: __real___longjmp_chk,
}
