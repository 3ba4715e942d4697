//! libc's signal and jump functions, ahead of libc in symbol lookup.
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

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

flick_run::signal_shims! {
    prefix: "",
    sigaction: SIGACTION.function(),
    sigprocmask: SIGPROCMASK.function(),
    pthread_sigmask: PTHREAD_SIGMASK.function(),
    sigsuspend: SIGSUSPEND.function(),
    longjmp: LONGJMP.function(),
    __longjmp_chk: LONGJMP_CHK.function(),
}
