//! Keeps `fork` out of the allocator: mimalloc has locks and waits of its own, and a child must not
//! inherit one that a thread of the parent was in the middle of.
//!
//! Threads that are inside are counted, in shards so that they do not wait for each other's cache
//! lines. `fork` first stops threads at the entry and waits until nobody is inside.
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::time::{Duration, Instant};

#[repr(align(64))]
struct Shard(AtomicI32);

const SHARDS: usize = 64;
static INSIDE: [Shard; SHARDS] = [const { Shard(AtomicI32::new(0)) }; SHARDS];
/// The thread that forks, or 0.
static FORKING: AtomicUsize = AtomicUsize::new(0);

/// How long a fork waits. A thread that left by `longjmp` out of a signal handler, or the forking
/// thread itself when the handler forks, stays counted; nothing can be done for it.
const PATIENCE: Duration = Duration::from_millis(100);

fn this_thread() -> usize {
    // SAFETY: no arguments.
    unsafe { libc::pthread_self() as usize }
}

fn shard_of(thread: usize) -> &'static AtomicI32 {
    // Thread descriptors are far apart at equal offsets; Fibonacci hashing spreads them.
    let hash = thread.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - SHARDS.ilog2());
    &INSIDE[hash].0
}

#[inline]
fn enter(thread: usize) -> &'static AtomicI32 {
    let shard = shard_of(thread);
    shard.fetch_add(1, SeqCst);
    if FORKING.load(SeqCst) != 0 {
        wait(shard, thread);
    }
    shard
}

/// Runs `f` inside the allocator.
#[inline]
pub(super) fn inside<R>(f: impl FnOnce() -> R) -> R {
    let shard = enter(this_thread());
    let result = f();
    shard.fetch_sub(1, SeqCst);
    result
}

/// Stays outside while another thread forks. The forking thread's own fork handlers may allocate.
#[cold]
fn wait(shard: &AtomicI32, thread: usize) {
    while ![0, thread].contains(&FORKING.load(SeqCst)) {
        shard.fetch_sub(1, SeqCst);
        while ![0, thread].contains(&FORKING.load(Relaxed)) {
            std::thread::yield_now();
        }
        shard.fetch_add(1, SeqCst);
    }
}

/// Before a fork: waits until nobody is inside, and lets nobody in.
pub(super) fn close() {
    // One fork at a time: the C library holds a lock of its own while it runs fork handlers only in
    // some versions.
    while FORKING
        .compare_exchange_weak(0, this_thread(), SeqCst, Relaxed)
        .is_err()
    {
        std::thread::yield_now();
    }
    let start = Instant::now();
    while INSIDE.iter().any(|shard| shard.0.load(SeqCst) > 0) && start.elapsed() < PATIENCE {
        std::thread::yield_now();
    }
}

/// After a fork. In the child no other thread is inside any more.
pub(super) fn reopen(child: bool) {
    if child {
        INSIDE.iter().for_each(|shard| shard.0.store(0, Relaxed));
    }
    FORKING.store(0, SeqCst);
}

/// A thread that has allocated is inside while mimalloc ends its part of it. That is done by the
/// destructor of a thread-specific key of mimalloc's, so the thread enters before any of these run
/// (C++ and Rust thread-local destructors come first) and leaves in their second round.
struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        // The main thread ends with the process. Its last handlers may still allocate.
        if let Some(key) = KEY.get().filter(|_| !crate::host_stack::is_first_thread()) {
            // SAFETY: our key; any value but NULL calls `leave`.
            if unsafe { libc::pthread_setspecific(*key, FIRST_ROUND) } == 0 {
                enter(this_thread());
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
        shard_of(this_thread()).fetch_sub(1, SeqCst);
    }
}

/// Missing if the process has no key left; `fork` may then meet a thread that ends.
static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();

thread_local! {
    static EXIT: Exit = const { Exit };
}

/// Prepares [`will_allocate`].
pub(super) fn init() {
    let mut key = 0;
    // SAFETY: `leave` matches the values set; libflick is never unloaded.
    let made = unsafe { libc::pthread_key_create(&mut key, Some(leave)) == 0 };
    if made {
        KEY.get_or_init(|| key);
    }
}

/// Sees to it that the calling thread, which is about to allocate, leaves the allocator in order.
#[inline]
pub(super) fn will_allocate() {
    // The first access registers the destructor. An error: the thread is past its destructors.
    let _ = EXIT.try_with(|_| ());
}
