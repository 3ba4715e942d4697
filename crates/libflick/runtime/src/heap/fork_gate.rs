//! Keeps `fork` out of the allocator: mimalloc has locks and waits of its own, and a child must not
//! inherit one that a thread of the parent was in the middle of.
//!
//! `fork` first stops threads at the entry and waits until nobody is inside.
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use flick_sync::Entrance;

use crate::os::{host_stack, thread_pointer};
use crate::thread::Current;

static ENTRANCE: Entrance<64> = Entrance::new();

/// How long a fork waits. A thread that left by `longjmp` out of a signal handler, or the forking
/// thread itself when the handler forks, stays counted; nothing can be done for it.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

unsafe extern "C" {
    /// The C library's (`sys/single_threaded.h`): not 0 as long as the process has one thread only.
    static __libc_single_threaded: u8;
}

#[inline]
fn is_single_threaded() -> bool {
    // SAFETY: the C library's variable; it changes while this thread makes another.
    unsafe { (&raw const __libc_single_threaded).read_volatile() != 0 }
}

/// Runs `f` inside the allocator.
#[inline]
pub(crate) fn inside<R>(f: impl FnOnce() -> R) -> R {
    let thread = thread_pointer::pointer();
    if is_single_threaded() {
        ENTRANCE.enter_alone(thread);
    } else {
        ENTRANCE.enter(thread);
    }
    let result = f();
    if is_single_threaded() {
        ENTRANCE.leave_alone(thread);
    } else {
        ENTRANCE.leave(thread);
    }
    result
}

/// Before a fork: waits until nobody is inside, and lets nobody in. The forking thread's own fork
/// handlers may allocate.
pub(crate) fn close() {
    // One fork at a time: the C library holds a lock of its own while it runs fork handlers only in
    // some versions.
    let mut start = None;
    ENTRANCE.close(thread_pointer::pointer(), || {
        start.get_or_insert_with(Instant::now).elapsed() >= LONGEST_WAIT
    });
}

/// After a fork. In the child no other thread is inside any more.
pub(crate) fn reopen(child: bool) {
    ENTRANCE.reopen(child);
}

/// A thread that has allocated is inside while mimalloc ends its part of it. That is done by the
/// destructor of a thread-specific key of mimalloc's, so the thread enters before any of these run
/// (C++ and Rust thread-local destructors come first) and leaves in their second round.
struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        // The main thread ends with the process. Its last handlers may still allocate.
        if let Some(key) = KEY.get().filter(|_| !host_stack::is_first_thread()) {
            // SAFETY: our key; any value but NULL calls `leave`.
            if unsafe { libc::pthread_setspecific(*key, FIRST_ROUND) } == 0 {
                ENTRANCE.enter(thread_pointer::pointer());
            }
        }
    }
}

const FIRST_ROUND: *const c_void = ptr::without_provenance(1);
const SECOND_ROUND: *const c_void = ptr::without_provenance(2);

unsafe extern "C" fn leave(round: *mut c_void) {
    let again = round.cast_const() == FIRST_ROUND
        && KEY.get().is_some_and(|key| {
            // SAFETY: our key.
            unsafe { libc::pthread_setspecific(*key, SECOND_ROUND) == 0 }
        });
    if !again {
        ENTRANCE.leave(thread_pointer::pointer());
    }
}

/// Missing if the process has no key left; `fork` may then meet a thread that ends.
static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();

thread_local! {
    static EXIT: Exit = const { Exit };
}

/// Prepares [`will_allocate`].
pub(crate) fn init() {
    let mut key = 0;
    // SAFETY: `leave` matches the values set; libflick is never unloaded.
    let made = unsafe { libc::pthread_key_create(&mut key, Some(leave)) == 0 };
    if made {
        KEY.get_or_init(|| key);
    }
}

/// Sees to it that the calling thread, which is about to allocate, leaves the allocator in order.
#[inline]
pub(crate) fn will_allocate() {
    let thread = Current::get();
    if thread.is_some_and(|thread| thread.will_leave_heap()) {
        return;
    }
    // The first access registers the destructor. An error: the thread is past its destructors.
    if EXIT.try_with(|_| ()).is_ok()
        && let Some(thread) = thread
    {
        thread.leaves_heap();
    }
}
