//! libc's signal and jump functions, ahead of libc in symbol lookup.
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use flick_run::interpose;

/// libc's definition of a function.
struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            found: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    fn find(&self) -> *mut c_void {
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            // Behind libflick; where another compiler's program uses a Flick library, libc is in front.
            // SAFETY: looks a symbol up.
            found = unsafe {
                let next = libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr());
                if next.is_null() {
                    libc::dlsym(libc::RTLD_DEFAULT, self.name.as_ptr())
                } else {
                    next
                }
            };
            assert!(!found.is_null(), "libc has no {:?}", self.name);
            self.found.store(found, Ordering::Relaxed);
        }
        found
    }

    /// As a function of type `F`.
    ///
    /// # Safety
    /// `F` is the type of the libc function.
    unsafe fn function<F: Copy>(&self) -> F {
        let found = self.find();
        // SAFETY: by contract; function pointers are pointers here.
        unsafe { std::mem::transmute_copy(&found) }
    }
}

static SIGACTION: Next = Next::new(c"sigaction");
static SIGPROCMASK: Next = Next::new(c"sigprocmask");
static PTHREAD_SIGMASK: Next = Next::new(c"pthread_sigmask");
static SIGSUSPEND: Next = Next::new(c"sigsuspend");
static LONGJMP: Next = Next::new(c"longjmp");
static LONGJMP_CHK: Next = Next::new(c"__longjmp_chk");

/// Looks everything up at start: later it may be in a signal handler, where `dlsym` is not allowed.
extern "C" fn find_all() {
    for next in [
        &SIGACTION,
        &SIGPROCMASK,
        &PTHREAD_SIGMASK,
        &SIGSUSPEND,
        &LONGJMP,
        &LONGJMP_CHK,
    ] {
        next.find();
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static FIND_ALL: extern "C" fn() = find_all;

/// # Safety
/// As for libc's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: by contract.
    unsafe { interpose::sigaction(SIGACTION.function(), signal, new, old) }
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
            unsafe { interpose::signal(SIGACTION.function(), signal, handler, $flags) }
        }
    };
}

signal_function!(signal, libc::SA_RESTART);
signal_function!(bsd_signal, libc::SA_RESTART);
signal_function!(ssignal, libc::SA_RESTART);
signal_function!(sysv_signal, libc::SA_RESETHAND | libc::SA_NODEFER);
signal_function!(__sysv_signal, libc::SA_RESETHAND | libc::SA_NODEFER);

macro_rules! mask_function {
    ($name:ident, $next:ident) => {
        /// # Safety
        /// As for libc's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            how: c_int,
            set: *const libc::sigset_t,
            old: *mut libc::sigset_t,
        ) -> c_int {
            // SAFETY: by contract.
            unsafe { interpose::sigmask($next.function(), how, set, old) }
        }
    };
}

mask_function!(sigprocmask, SIGPROCMASK);
mask_function!(pthread_sigmask, PTHREAD_SIGMASK);

/// # Safety
/// As for libc's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigsuspend(mask: *const libc::sigset_t) -> c_int {
    // SAFETY: by contract.
    unsafe {
        let translated = interpose::waiting_mask(mask);
        let next: unsafe extern "C" fn(*const libc::sigset_t) -> c_int = SIGSUSPEND.function();
        next(translated.as_ref().map_or(mask, std::ptr::from_ref))
    }
}

macro_rules! jump_function {
    ($name:ident, $next:ident) => {
        /// # Safety
        /// As for libc's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(buffer: *const c_void, value: c_int) -> ! {
            // SAFETY: by contract.
            unsafe {
                interpose::longjmp(buffer);
                let next: unsafe extern "C" fn(*const c_void, c_int) -> ! = $next.function();
                next(buffer, value)
            }
        }
    };
}

jump_function!(longjmp, LONGJMP);
jump_function!(_longjmp, LONGJMP);
jump_function!(siglongjmp, LONGJMP);
jump_function!(__longjmp_chk, LONGJMP_CHK);
