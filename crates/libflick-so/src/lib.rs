//! `libflick.so`: the runtime (`flick-run`) for dynamic programs and shared libraries, and the libc
//! functions that it answers ahead of libc.

use flick_abi::Note;

mod malloc;
mod next;
mod signals;
mod threads;

/// For the driver, which must not link programs with a runtime that is older than they are.
#[used]
#[unsafe(link_section = ".note.flick")]
static NOTE: Note = Note::CURRENT;

#[global_allocator]
static ALLOCATOR: flick_run::translation::Allocator = flick_run::translation::Allocator;

extern "C" fn is_shared() {
    flick_run::single::SHARED.store(true, std::sync::atomic::Ordering::Relaxed);
}

#[used]
#[unsafe(link_section = ".init_array")]
static IS_SHARED: extern "C" fn() = is_shared;
