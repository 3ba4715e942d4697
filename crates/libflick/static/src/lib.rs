//! `libflick.a`: the runtime (`flick-runtime`) for static programs, and the libc functions that the
//! linker leads here (`--wrap`).
//!
//! **From where.** The driver passes `--wrap` for each function of
//! `flick_abi::names::STATIC_WRAPS`, so that a program's calls, and libc's own, come here.
//!
//! | file | subject |
//! |---|---|
//! | `malloc.rs`, `signals.rs`, `pthread.rs` | these functions, by the runtime's macros |
//! | `named.rs` | functions of the C library, by the names that the C language keeps for it |
//!
//! **Where to.** The runtime decides (`flick_runtime::interpose`, `heap`); everything else goes on
//! to libc (`__real_NAME`). `scripts/static-library.sh` makes one object of all of it.

#[cfg(not(test))]
use std::ffi::{CStr, c_int, c_void};

mod malloc;
#[cfg(not(test))]
mod named;
mod pthread;
mod signals;

#[global_allocator]
static ALLOCATOR: flick_runtime::memory::own_heaps::Allocator =
    flick_runtime::memory::own_heaps::Allocator;

/// Rust's library and mimalloc get what they call from there.
#[cfg(not(test))]
#[used]
static OWN: fn() -> [*const (); 5] = flick_own::anchor;

#[cfg(not(test))]
extern "C" fn tell() {
    fn nobody() -> Option<&'static CStr> {
        None
    }
    flick_runtime::os::host_library::init(flick_runtime::os::host_library::HostLibrary {
        owner_of_free: nobody,
        vfork: named::__vfork as *const () as usize,
        getcontext: named::__getcontext as *const () as usize,
        loader: || None,
    });
}

/// Before all other constructors: these may call NxP functions.
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array.00001")]
static TELL: extern "C" fn() = tell;

/// lld refers to `__wrap_NAME` weakly where libc's NAME is weak, and such a reference brings
/// nothing of an archive in. This one does, as soon as the allocator is there.
#[cfg(not(test))]
#[used]
static WITH_ALL: (Sigaction, Join) = (signals::sigaction, pthread::pthread_join);

#[cfg(not(test))]
type Sigaction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
#[cfg(not(test))]
type Join = unsafe extern "C" fn(libc::pthread_t, *mut *mut c_void) -> c_int;
