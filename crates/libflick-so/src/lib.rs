//! `libflick.so`: the runtime (`flick-run`) for dynamic programs and shared libraries, and the libc
//! functions that it answers ahead of libc.

mod malloc;
mod signals;
