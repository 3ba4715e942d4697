//! libc's signal functions, ahead of libc in symbol lookup.
use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicPtr, Ordering};

use flick_run::interpose;

/// libc's definition of `name`, found once.
fn next<F: Copy>(cache: &AtomicPtr<libc::c_void>, name: &CStr) -> F {
    let mut found = cache.load(Ordering::Relaxed);
    if found.is_null() {
        // SAFETY: looks a symbol up.
        found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        cache.store(found, Ordering::Relaxed);
    }
    assert!(!found.is_null(), "libc has no {name:?}");
    // SAFETY: every caller names a libc function of the type it asks for.
    unsafe { std::mem::transmute_copy(&found) }
}

fn libc_sigaction() -> interpose::SigAction {
    static CACHE: AtomicPtr<libc::c_void> = AtomicPtr::new(std::ptr::null_mut());
    next(&CACHE, c"sigaction")
}

/// # Safety
/// As for libc's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: by contract.
    unsafe { interpose::sigaction(libc_sigaction(), signal, new, old) }
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
            unsafe { interpose::signal(libc_sigaction(), signal, handler, $flags) }
        }
    };
}

signal_function!(signal, libc::SA_RESTART);
signal_function!(bsd_signal, libc::SA_RESTART);
signal_function!(ssignal, libc::SA_RESTART);
signal_function!(sysv_signal, libc::SA_RESETHAND | libc::SA_NODEFER);
signal_function!(__sysv_signal, libc::SA_RESETHAND | libc::SA_NODEFER);

macro_rules! mask_function {
    ($name:ident, $c_name:literal) => {
        /// # Safety
        /// As for libc's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            how: c_int,
            set: *const libc::sigset_t,
            old: *mut libc::sigset_t,
        ) -> c_int {
            static CACHE: AtomicPtr<libc::c_void> = AtomicPtr::new(std::ptr::null_mut());
            // SAFETY: by contract.
            unsafe { interpose::sigmask(next(&CACHE, $c_name), how, set, old) }
        }
    };
}

mask_function!(sigprocmask, c"sigprocmask");
mask_function!(pthread_sigmask, c"pthread_sigmask");
