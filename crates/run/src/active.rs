//! The activations of a thread, oldest first, beside the host stack and not threaded through it:
//! `longjmp` and unwinding leave activations without telling us, and the memory of their frames is
//! reused. What is known of an activation without reading its frame is here.
use std::ptr;
use std::sync::atomic::{Ordering, compiler_fence};

use crate::activation::{self, Activation};
use crate::fatal;
use crate::thread::Thread;

const SP: usize = 2;

#[derive(Clone, Copy)]
struct Entry {
    act: *mut Activation,
    /// NxP stack pointer when it was entered; it only moves down from there.
    entry_sp: u64,
}

/// A stack with room for as many activations as the host stack can hold frames of them.
pub struct ActivationStack {
    entries: *mut Entry,
    capacity: usize,
    depth: usize,
}

impl ActivationStack {
    /// For a host stack of `host_stack` bytes; address space is taken, memory only as it is used.
    pub fn new(host_stack: usize) -> Self {
        // Signal stacks hold some more.
        let capacity = host_stack / activation::SIZE + 4096;
        let bytes = capacity * size_of::<Entry>();
        // SAFETY: a fresh private mapping.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            fatal::exit(
                "FLK0402",
                "no address space for a thread's table of crossings",
                "raise RLIMIT_AS (ulimit -v), or run fewer threads",
            );
        }
        Self {
            entries: memory.cast(),
            capacity,
            depth: 0,
        }
    }

    /// The innermost activation that is not known to be dead, or null. Async-signal-safe.
    #[inline]
    pub fn top(&self) -> *mut Activation {
        if self.depth == 0 {
            return ptr::null_mut();
        }
        // SAFETY: entries below `depth` are initialised.
        unsafe { (*self.entries.add(self.depth - 1)).act }
    }

    #[inline]
    pub fn push(&mut self, act: *mut Activation, entry_sp: u64) {
        if self.depth == self.capacity {
            fatal::exit(
                "FLK0502",
                "calls between host and NxP are nested too deeply",
                "look for endless recursion across the boundary",
            );
        }
        // SAFETY: `depth` is below the capacity.
        unsafe { self.entries.add(self.depth).write(Entry { act, entry_sp }) };
        // A signal handler that crosses finds either the old top or a complete new one.
        compiler_fence(Ordering::Release);
        self.depth += 1;
    }

    #[inline]
    pub fn pop(&mut self) {
        self.depth -= 1;
    }
}

impl Drop for ActivationStack {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `new`.
        unsafe { libc::munmap(self.entries.cast(), self.capacity * size_of::<Entry>()) };
    }
}

/// Where the NxP stack of a new activation at `act` starts; 16-byte aligned. Drops dead activations
/// that stand in the way.
///
/// # Safety
/// `thread` is the calling thread's; `act` is the newest frame on the current host stack.
#[inline]
pub unsafe fn stack_pointer_for(thread: *mut Thread, act: *mut Activation) -> u64 {
    // SAFETY: by contract.
    unsafe {
        loop {
            let top = (*thread).active.top();
            if top.is_null() {
                return (*thread).stack.hi as u64;
            }
            if top <= act && is_left(&*thread, top, act) {
                (*thread).active.pop();
                continue;
            }
            // `top` is alive, or was left and a deeper frame is made now. Then its frame may be
            // anything, but below its entry nothing is alive, so that any pointer there will do.
            let entry = *(*thread).active.entries.add((*thread).active.depth - 1);
            let sp = (*top).hart.x[SP];
            if sp > entry.entry_sp || sp <= (*thread).stack.lo as u64 {
                (*thread).active.pop();
                continue;
            }
            return sp & !15;
        }
    }
}

/// A host call has returned to `act`, which is not the newest activation: drops the newer ones, which
/// were left, or ends the program if they may be suspended on a stack of their own.
///
/// # Safety
/// `thread` is the calling thread's, `act` is alive.
#[cold]
pub unsafe fn drop_above(thread: *mut Thread, act: *mut Activation) {
    // SAFETY: by contract; frames are not read.
    unsafe {
        while (*thread).active.top() != act {
            let top = (*thread).active.top();
            if top.is_null() || host_stack_of(&*thread, top) == HostStack::Other {
                fatal::exit(
                    "FLK0504",
                    "the program switched stacks (swapcontext or alike) while NxP functions were \
                     active, and came back in another order",
                    "keep functions that switch stacks, and their callers, on the host",
                );
            }
            (*thread).active.pop();
        }
    }
}

/// Whether `top`, at or below the address of the new frame `act`, was left by `longjmp` or unwinding.
#[cold]
fn is_left(thread: &Thread, top: *mut Activation, act: *mut Activation) -> bool {
    match (host_stack_of(thread, act), host_stack_of(thread, top)) {
        (HostStack::Own, HostStack::Own) | (HostStack::Signal, HostStack::Signal) => true,
        // A handler on the signal stack ends before the code it interrupted goes on.
        (HostStack::Own, HostStack::Signal) => true,
        // Suspended on a stack of its own, or below a handler or another stack.
        _ => false,
    }
}

/// Which host stack a frame is on, as far as it can be told.
#[derive(PartialEq, Eq)]
enum HostStack {
    Own,
    Signal,
    Other,
}

fn host_stack_of(thread: &Thread, frame: *mut Activation) -> HostStack {
    let address = frame as usize;
    let (low, high) = thread.host_stack;
    if (low..high).contains(&address) {
        return HostStack::Own;
    }
    // SAFETY: asks only.
    let signal = unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(ptr::null(), &mut stack);
        stack
    };
    let start = signal.ss_sp as usize;
    if signal.ss_flags & libc::SS_DISABLE == 0 && (start..start + signal.ss_size).contains(&address)
    {
        HostStack::Signal
    } else {
        HostStack::Other
    }
}
