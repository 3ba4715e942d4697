//! `libflick.a`: the runtime (`flick-run`) for static programs, and the libc functions that the linker
//! leads here (`--wrap`).

mod malloc;
mod signals;
