//! `libflick.so`: the runtime (`flick-runtime`) for dynamic programs and shared libraries, and the
//! libc functions that it answers ahead of libc.
//!
//! **From where.** The dynamic loader binds a program's calls of these functions here, because
//! libflick comes before libc in the search for symbols.
//!
//! | file | subject |
//! |---|---|
//! | `malloc.rs`, `signals.rs`, `pthread.rs` | the exported functions, by the runtime's macros |
//! | `next_definition.rs` | the definition of such a function that comes after libflick's |
//! | `objects.rs` | the loader's list of objects, and their tables of symbols |
//! | `found.rs` | functions of the C library, found in its own table of symbols |
//! | `unwinder.rs` | the functions of the unwinder, bound at their first call |
//!
//! **Where to.** The runtime decides (`flick_runtime::interpose`, `heap`); everything else goes on
//! to libc.

use flick_abi::Note;

mod found;
mod malloc;
mod next_definition;
mod objects;
mod pthread;
mod signals;
mod unwinder;

/// For the driver, which must not link programs with a runtime that is older than they are.
#[used]
#[unsafe(link_section = ".note.flick")]
static NOTE: Note = Note::CURRENT;

#[global_allocator]
static ALLOCATOR: flick_runtime::memory::own_heaps::Allocator =
    flick_runtime::memory::own_heaps::Allocator;

/// Rust's library and mimalloc get what they call from there.
#[used]
static OWN: fn() -> [*const (); 5] = flick_own::anchor;

extern "C" fn is_shared() {
    flick_runtime::os::one_runtime::SHARED.store(true, std::sync::atomic::Ordering::Relaxed);
    flick_runtime::os::host_library::init(flick_runtime::os::host_library::HostLibrary {
        owner_of_free: found::owner_of_free,
        vfork: found::in_libc("vfork"),
        getcontext: found::in_libc("getcontext"),
        loader: found::loader,
    });
}

#[used]
#[unsafe(link_section = ".init_array")]
static IS_SHARED: extern "C" fn() = is_shared;
