//! The clock of instrumented code: a thread-local variable.
use std::sync::atomic::AtomicI64;

use crate::os::thread_pointer;

/// The clock that instrumented code adds to (`flick_abi::timed::CLOCK`). The host's part begins so
/// far below 0 that nothing is asked for before the thread has a state.
///
/// Its section makes it thread-local, of the initial-exec model; Rust has no stable way to say
/// that. So this name stands for the variable's place in the threads' blocks and nothing in Rust
/// uses it: see [`clock`].
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".tdata.flick_timed")]
pub static __flick_timed_clock: Clock = Clock([AtomicI64::new(START), AtomicI64::new(0)]);

/// Of a [`flick_abi::timed::Price`].
#[repr(C, align(16))]
pub struct Clock([AtomicI64; 2]);

/// The host's part at the beginning of a thread.
pub const START: i64 = i64::MIN / 2;

/// Address of the calling thread's clock: its host's part, and the NxP's behind it.
#[inline]
pub fn clock() -> *mut i64 {
    thread_pointer::of_thread!("__flick_timed_clock") as *mut i64
}
