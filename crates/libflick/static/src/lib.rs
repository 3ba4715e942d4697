//! `libflick.a`: the runtime (`flick-run`) for static programs, and the libc functions that the linker
//! leads here (`--wrap`).

#[cfg(not(test))]
use std::ffi::{CStr, c_int, c_void};

mod malloc;
#[cfg(not(test))]
mod named;
mod signals;
mod threads;

#[global_allocator]
static ALLOCATOR: flick_run::translation::Allocator = flick_run::translation::Allocator;

/// Rust's library and mimalloc get what they call from there.
#[cfg(not(test))]
#[used]
static OWN: fn() -> [*const (); 5] = flick_own::anchor;

#[cfg(not(test))]
extern "C" fn tell() {
    fn nobody() -> Option<&'static CStr> {
        None
    }
    flick_run::host_library::init(flick_run::host_library::HostLibrary {
        owner_of_free: nobody,
        vfork: named::__vfork as *const () as usize,
        getcontext: named::__getcontext as *const () as usize,
    });
}

/// Before all other constructors: these may call NxP functions.
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array.00001")]
static TELL: extern "C" fn() = tell;

/// lld refers to `__wrap_NAME` weakly where libc's NAME is weak, and such a reference brings nothing of an archive in. This
/// one does, as soon as the allocator is there.
#[cfg(not(test))]
#[used]
static WITH_ALL: (Sigaction, Join) = (signals::sigaction, threads::pthread_join);

#[cfg(not(test))]
type Sigaction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
#[cfg(not(test))]
type Join = unsafe extern "C" fn(libc::pthread_t, *mut *mut c_void) -> c_int;
