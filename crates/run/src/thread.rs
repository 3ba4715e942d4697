//! Per-thread state, made at a thread's first crossing and returned when the thread ends.
use std::arch::asm;
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::OnceLock;

use crate::active::ActivationStack;
use crate::fatal;
use crate::lookup::TargetCache;
use crate::memory::stack::{self, Stack};

pub struct Thread {
    pub active: ActivationStack,
    /// This thread's stack in NxP-local memory.
    pub stack: Stack,
    /// The thread's own host stack, `[low, high)`.
    pub host_stack: (usize, usize),
    /// [`flick_engine::Hart::frm`] between activations: the floating-point environment is one per
    /// thread (architecture decision 6).
    pub frm: u32,
    pub targets: TargetCache,
}

impl Thread {
    /// The calling thread's state, made if this is its first crossing.
    #[inline]
    pub fn current() -> *mut Thread {
        let thread = Self::current_or_null();
        if thread.is_null() { create() } else { thread }
    }

    /// Async-signal-safe.
    #[inline]
    pub fn current_or_null() -> *mut Thread {
        // SAFETY: the slot is this thread's own.
        unsafe { *slot().cast::<*mut Thread>() }
    }
}

std::arch::global_asm!(
    // Initial-exec thread-local storage: found without a call. Rust has no stable way to ask for it.
    ".pushsection .tbss.flick_thread,\"awT\",@nobits",
    ".globl __flick_thread",
    ".hidden __flick_thread",
    ".type __flick_thread,@object",
    ".size __flick_thread, 8",
    ".p2align 3",
    "__flick_thread:",
    ".zero 8",
    ".popsection",
);

#[inline]
fn slot() -> *mut UnsafeCell<*mut Thread> {
    let address: *mut UnsafeCell<*mut Thread>;
    // SAFETY: computes the address of this thread's `__flick_thread`; fs:0 holds the thread pointer
    // (x86-64 ELF TLS ABI, variant II).
    unsafe {
        asm!(
            "mov {address}, qword ptr [rip + __flick_thread@GOTTPOFF]",
            "add {address}, qword ptr fs:[0]",
            address = out(reg) address,
            options(nostack, pure, readonly),
        );
    }
    address
}

#[cold]
fn create() -> *mut Thread {
    let size = stack::size_for_this_thread();
    let Some(stack) = stack::acquire(size) else {
        fatal::exit(
            "FLK0503",
            &format!("no room in NxP-local memory for a thread's stack of {size} bytes"),
            "run fewer threads at a time, lower their stack size, or raise RLIMIT_AS",
        )
    };
    let host_stack = own_host_stack();
    let thread = Box::into_raw(Box::new(Thread {
        active: ActivationStack::new((host_stack.1 - host_stack.0).max(size)),
        stack,
        host_stack,
        frm: 0,
        targets: TargetCache::new(),
    }));
    // SAFETY: the slot is this thread's own; the key's destructor runs once per thread that set it.
    unsafe {
        *slot().cast::<*mut Thread>() = thread;
        libc::pthread_setspecific(key(), thread.cast());
    }
    thread
}

fn key() -> libc::pthread_key_t {
    static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: `destroy` matches the pointers that `create` sets.
        if unsafe { libc::pthread_key_create(&mut key, Some(destroy)) } != 0 {
            fatal::exit(
                "FLK0402",
                "no thread-specific key is left (pthread_key_create)",
                "let the program use fewer keys",
            );
        }
        key
    })
}

/// Makes the key while the process is still young: programs may use up all keys later.
pub fn init() {
    key();
}

/// At the end of a thread. Later destructors of the same thread that cross make a new state.
unsafe extern "C" fn destroy(thread: *mut libc::c_void) {
    // SAFETY: `thread` came from `Box::into_raw` in `create`; no activation can be live any more.
    unsafe {
        *slot().cast::<*mut Thread>() = ptr::null_mut();
        let thread = Box::from_raw(thread.cast::<Thread>());
        stack::release(thread.stack);
    }
}

/// Bounds of the calling thread's stack; an empty range if they cannot be told.
fn own_host_stack() -> (usize, usize) {
    // SAFETY: attr is initialised by pthread_getattr_np and destroyed once.
    unsafe {
        let mut attr = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attr) != 0 {
            return (0, 0);
        }
        let mut low = ptr::null_mut();
        let mut size = 0;
        libc::pthread_attr_getstack(&attr, &mut low, &mut size);
        libc::pthread_attr_destroy(&mut attr);
        (low as usize, low as usize + size)
    }
}
