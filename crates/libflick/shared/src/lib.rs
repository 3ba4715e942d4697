//! `libflick.so`: the runtime (`flick-run`) for dynamic programs and shared libraries, and the libc
//! functions that it answers ahead of libc.

use flick_abi::Note;

mod found;
mod malloc;
mod next;
mod objects;
mod signals;
mod threads;

/// For the driver, which must not link programs with a runtime that is older than they are.
#[used]
#[unsafe(link_section = ".note.flick")]
static NOTE: Note = Note::CURRENT;

#[global_allocator]
static ALLOCATOR: flick_run::translation::Allocator = flick_run::translation::Allocator;

/// Rust's library and mimalloc get what they call from there.
#[used]
static OWN: fn() -> [*const (); 5] = flick_own::anchor;

extern "C" fn is_shared() {
    flick_run::single::SHARED.store(true, std::sync::atomic::Ordering::Relaxed);
    flick_run::host_library::init(flick_run::host_library::HostLibrary {
        owner_of_free: found::owner_of_free,
        vfork: found::in_libc("vfork"),
        getcontext: found::in_libc("getcontext"),
    });
}

#[used]
#[unsafe(link_section = ".init_array")]
static IS_SHARED: extern "C" fn() = is_shared;
