//! `libflick.a`: the runtime (`flick-run`) for static programs, and the libc functions that the linker
//! leads here (`--wrap`).

#[cfg(not(test))]
use std::ffi::{c_int, c_void};

mod malloc;
mod signals;
mod threads;

#[global_allocator]
static ALLOCATOR: flick_run::translation::Allocator = flick_run::translation::Allocator;

/// lld refers to `__wrap_NAME` weakly where libc's NAME is weak, and such a reference brings nothing of an archive in. This
/// one does, as soon as the allocator is there.
#[cfg(not(test))]
#[used]
static WITH_ALL: (Sigaction, Join) = (signals::sigaction, threads::pthread_join);

#[cfg(not(test))]
type Sigaction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
#[cfg(not(test))]
type Join = unsafe extern "C" fn(libc::pthread_t, *mut *mut c_void) -> c_int;
