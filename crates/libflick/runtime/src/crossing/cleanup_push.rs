//! `pthread_cleanup_push` in NxP code in C, where it is a `setjmp`.
//!
//! When a thread ends, the C library unwinds up to the first frame whose callee's frame is not
//! below the stack pointer in the innermost handler's `jmp_buf`, and jumps there (its
//! `nptl/unwind.c`). NxP frames are on another stack than the host frames between them, so no one
//! number is above all frames that must be unwound first and below all others. It changes instead:
//! for host frames it is just above what the crossing has called ([`RAISED`]), for the NxP frames
//! behind it the NxP's own.
use std::ffi::c_void;

use flick_abi::layout::JumpTarget;

use crate::memory;
use crate::os::{jump_buffer, thread_pointer};
use crate::thread::activation::Activation;

/// What the stack pointer in a `jmp_buf` of NxP code is above its activation. Above every frame
/// that the crossing calls, and so little that the red zone keeps a signal's frame out of the
/// activation while `longjmp` goes there.
pub const RAISED: usize = 16;

/// The C library's record of the exception is in its description of the thread, which has about
/// half this size (its nptl/descr.h).
const THREAD_DESCRIPTION: usize = 4096;
/// The word of an exception that holds the argument of the function that decides where forced
/// unwinding ends: here, the innermost handler (libgcc's `unwind.h`: `private_2`).
const STOP_ARGUMENT: usize = 3;

/// Forced unwinding goes from the crossing of `act` to its NxP frames.
///
/// # Safety
/// As for [`innermost`]; `act` is alive.
pub unsafe fn to_nxp(exception: *mut c_void, act: *const Activation) {
    // SAFETY: by contract. The record is in a frame of `act`, for this is the stack pointer that
    // `__flick_setjmp` gave to the buffer.
    unsafe {
        let Some(buffer) = innermost(exception) else {
            return;
        };
        if jump_buffer::stack_pointer(buffer) == act as usize + RAISED {
            let target = jump_buffer::rbx(buffer) as *const JumpTarget;
            jump_buffer::set_stack_pointer(buffer, (*target).sp as usize);
        }
    }
}

/// Forced unwinding leaves the NxP frames of `act` for the code of a landing pad, which will go on
/// with it by way of the crossing.
///
/// # Safety
/// As for [`to_nxp`].
pub unsafe fn to_host(exception: *mut c_void, act: *const Activation) {
    // SAFETY: by contract.
    unsafe {
        let Some(buffer) = innermost(exception) else {
            return;
        };
        // A handler of the host's frames is on a host stack.
        if memory::is_local(jump_buffer::stack_pointer(buffer)) {
            jump_buffer::set_stack_pointer(buffer, act as usize + RAISED);
        }
    }
}

/// The innermost handler's `jmp_buf`, if the C library unwinds the thread. Programs force
/// unwinding, too.
///
/// # Safety
/// `exception` is what an unwinder gives a personality routine in forced unwinding.
unsafe fn innermost(exception: *mut c_void) -> Option<*mut c_void> {
    let own = (exception as usize).wrapping_sub(thread_pointer::pointer()) < THREAD_DESCRIPTION;
    // SAFETY: the words are those of every exception.
    own.then(|| unsafe { exception.cast::<*mut c_void>().add(STOP_ARGUMENT).read() })
}
