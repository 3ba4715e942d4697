//! `libflick.a`: the runtime (`flick-run`) for static programs, and the libc functions that the linker
//! leads here (`--wrap`).

mod malloc;
mod signals;

#[global_allocator]
static ALLOCATOR: flick_run::translation::Allocator = flick_run::translation::Allocator;
