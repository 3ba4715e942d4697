//! Threads of timed processes: each begins at its creator's time, and who joins it goes on at its
//! end, in each world. Their creation and end come by here wherever they are asked for
//! ([`crate::thread_shims`]).
use std::arch::naked_asm;
use std::ffi::{c_int, c_void};

use super::order::{self, Child};
use super::setting::enabled;
use super::sums::Times;
use super::{ended, state, trace};

pub type Start = extern "C" fn(*mut c_void) -> *mut c_void;

/// What a new thread is to run, and its times.
struct New {
    start: Start,
    argument: *mut c_void,
    times: Times,
    /// In the order of threads, if there is one.
    child: Option<Child>,
}

/// pthread_create(3).
pub type Create = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    Start,
    *mut c_void,
) -> c_int;

/// Stands in front of pthread_create(3).
///
/// # Safety
/// As for that; `libc` is libc's own, and `place` the return address.
pub unsafe fn create(
    libc: Create,
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: Start,
    argument: *mut c_void,
    place: usize,
) -> c_int {
    // SAFETY: by contract; `begin` has the type of a thread's function, and frees what it gets.
    unsafe {
        if !enabled() {
            return libc(thread, attributes, start, argument);
        }
        let child = order::announce(order::Call::new("pthread_create", place));
        let Some(state) = state::current() else {
            return libc(thread, attributes, start, argument);
        };
        let new = Box::into_raw(Box::new(New {
            start,
            argument,
            times: state.times(),
            child,
        }));
        let begin: unsafe extern "C" fn(*mut c_void) -> *mut c_void = begin;
        let begin =
            std::mem::transmute::<unsafe extern "C" fn(*mut c_void) -> *mut c_void, Start>(begin);
        let result = libc(thread, attributes, begin, new.cast());
        match (result, child) {
            (0, Some(child)) => child.known_as(thread.read()),
            (0, None) => {}
            (_, child) => {
                drop(Box::from_raw(new));
                if let Some(child) = child {
                    child.drop_out();
                }
            }
        }
        result
    }
}

/// Prepares the accounts and becomes the thread's function: no frame of ours is left, which an
/// unwinder (`pthread_exit`, cancellation) would have to pass.
#[unsafe(naked)]
unsafe extern "C" fn begin(_new: *mut c_void) -> *mut c_void {
    naked_asm!(
        ".cfi_startproc",
        "sub rsp, 8",
        ".cfi_def_cfa_offset 16",
        "call {prepare}",
        "add rsp, 8",
        ".cfi_def_cfa_offset 8",
        "mov rdi, rdx",
        "jmp rax",
        ".cfi_endproc",
        prepare = sym prepare,
    )
}

/// In rax and rdx.
#[repr(C)]
struct Call {
    start: Start,
    argument: *mut c_void,
}

unsafe extern "C" fn prepare(new: *mut New) -> Call {
    // SAFETY: what the creator has made for this thread.
    let new = unsafe { Box::from_raw(new) };
    if let Some(child) = new.child {
        child.arrive(new.start as usize);
    }
    if let Some(mut state) = state::current() {
        state.begin_at(new.times);
        trace::begins(&mut state);
    }
    Call {
        start: new.start,
        argument: new.argument,
    }
}

/// pthread_join(3) is about to be called.
pub extern "C" fn joins(thread: libc::pthread_t, place: usize) {
    if enabled() {
        order::join(order::Call::new("pthread_join", place), thread);
    }
}

/// pthread_join(3) has returned `result`.
pub extern "C" fn joined(thread: libc::pthread_t, result: c_int) -> c_int {
    order::joined();
    if result != 0 || !enabled() {
        return result;
    }
    if let (Some(mut state), Some(end)) = (state::current(), ended::take(thread)) {
        let now = state.times();
        state.sums.joining += end.migrating.saturating_sub(now.migrating);
        state.sums.staying_joining += end.staying.saturating_sub(now.staying);
        state.sums.before_joining += end.before.saturating_sub(now.before);
    }
    result
}

unsafe extern "C" {
    fn pthread_create();
    fn pthread_join();
}

/// What code compiled for format 1.3 calls for pthread_create(3).
///
/// # Safety
/// As that.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_timed_thread_create() {
    naked_asm!("jmp {create}", create = sym pthread_create)
}

/// What code compiled for format 1.3 calls for pthread_join(3).
///
/// # Safety
/// As that.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_timed_thread_join() {
    naked_asm!("jmp {join}", join = sym pthread_join)
}
