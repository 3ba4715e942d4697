//! The activations of a thread, oldest first, beside the host stack and not threaded through it:
//! `longjmp` and unwinding leave activations without telling us, and the memory of their frames is
//! reused. What is known of an activation without reading its frame is here.
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering, compiler_fence};

use crate::activation::{self, Activation};
use crate::fatal;
use crate::host_stack::Which;
use crate::thread::Thread;
use crate::translation;

const SP: usize = 2;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Entry {
    pub act: *mut Activation,
    /// NxP stack pointer when it was entered; it only moves down from there.
    pub entry_sp: u64,
}

/// A stack with room for as many activations as the host stack can hold frames of them. Signal
/// handlers cross at any instruction of these functions; each leaves it as it found it.
/// [`crate::straight`] pushes and pops, too.
pub struct ActivationStack {
    /// Below all activations; its `act` is null.
    pub base: *mut Entry,
    pub end: *mut Entry,
    /// The innermost entry that is not known to be dead, or `base`.
    pub top: AtomicPtr<Entry>,
}

impl ActivationStack {
    /// Bytes of a table for a host stack of `host_stack` bytes. Signal stacks hold some more.
    pub const fn size_for(host_stack: usize) -> usize {
        (host_stack / activation::SIZE + 4096) * size_of::<Entry>()
    }

    /// In `size` bytes at `table`.
    ///
    /// # Safety
    /// The memory is aligned, readable and writable as long as the value is used; there is room for two
    /// entries.
    pub unsafe fn new(table: *mut c_void, size: usize) -> Self {
        let base: *mut Entry = table.cast();
        // SAFETY: by contract.
        let end = unsafe {
            base.write(Entry {
                act: ptr::null_mut(),
                entry_sp: 0,
            });
            base.add(size / size_of::<Entry>())
        };
        Self {
            base,
            end,
            top: AtomicPtr::new(base),
        }
    }

    /// The innermost entry that is not known to be dead; without an activation, if there is none.
    #[inline]
    fn last(&self) -> Entry {
        // SAFETY: entries up to `top` are initialised.
        unsafe { self.top.load(Ordering::Relaxed).read_volatile() }
    }

    /// The innermost activation that is not known to be dead, or null.
    #[inline]
    pub fn top(&self) -> *mut Activation {
        self.last().act
    }

    /// The activation `depth` below the innermost, or null.
    pub fn nth(&self, depth: usize) -> *mut Activation {
        let top = self.top.load(Ordering::Relaxed);
        let known = (top as usize - self.base as usize) / size_of::<Entry>();
        if depth >= known {
            return ptr::null_mut();
        }
        // SAFETY: entries up to `top` are initialised.
        unsafe { top.sub(depth).read_volatile() }.act
    }

    /// How many activations there are that are not known to be dead.
    pub fn depth(&self) -> usize {
        (self.top.load(Ordering::Relaxed) as usize - self.base as usize) / size_of::<Entry>()
    }

    #[inline]
    pub fn push(&self, act: *mut Activation, entry_sp: u64) {
        // SAFETY: `top` is below `end`.
        let slot = unsafe { self.top.load(Ordering::Relaxed).add(1) };
        if slot == self.end {
            fatal::exit(
                "FLK0502",
                "calls between host and NxP are nested too deeply",
                "look for endless recursion across the boundary",
            );
        }
        loop {
            // SAFETY: in the table. A handler before the top is raised uses the same slot, so look
            // again after.
            unsafe { slot.write_volatile(Entry { act, entry_sp }) };
            compiler_fence(Ordering::SeqCst);
            self.top.store(slot, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            // SAFETY: as above.
            if unsafe { slot.read_volatile() }.act == act {
                return;
            }
        }
    }

    #[inline]
    pub fn pop(&self) {
        // SAFETY: there is an activation, so that `top` is above `base`.
        let below = unsafe { self.top.load(Ordering::Relaxed).sub(1) };
        self.top.store(below, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
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
            let last = (*thread).active.last();
            if last.act.is_null() {
                return (*thread).stack_top as u64;
            }
            if last.act <= act && is_left(&*thread, last.act, act as usize) {
                (*thread).active.pop();
                continue;
            }
            // It is alive, or was left in a way that `longjmp` below does not see, and a deeper frame
            // is made now. Then its frame may be anything, but below its entry nothing is alive, so
            // that any pointer there will do.
            let sp = (*last.act).hart.x[SP];
            if sp > last.entry_sp || sp <= (*thread).stack_low() as u64 {
                if let Some(sp) = after_overflow(&mut *thread, sp, last.entry_sp) {
                    return sp;
                }
                (*thread).active.pop();
                continue;
            }
            // Unwinders tell frames by their stack pointers: the frame that has called the host must
            // not look like the end of this activation.
            return (sp & !15) - 16;
        }
    }
}

/// Where the NxP stack starts for a handler of an overflow: below what runs on the spare stack already, or
/// there. `None`: `sp`, of the activation that was entered at `entry_sp`, tells of none.
#[cold]
fn after_overflow(thread: &mut Thread, sp: u64, entry_sp: u64) -> Option<u64> {
    if thread.spare_with(sp).is_some() && sp <= entry_sp {
        return Some((sp & !15) - 16);
    }
    if thread.has_overflown(sp) {
        return thread.spare_top();
    }
    None
}

/// `longjmp` is about to go on with stack pointer `target`: drops the activations it leaves.
/// Async-signal-safe.
pub fn left_by_jump(target: usize) {
    translation::left();
    let thread = Thread::current_or_null();
    if thread.is_null() {
        return;
    }
    // SAFETY: the thread's own state; frames are not read.
    unsafe {
        loop {
            let last = (*thread).active.top();
            if last.is_null() || !is_left(&*thread, last, target) {
                return;
            }
            (*thread).active.pop();
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
            if top.is_null() || (*thread).host_stack.which(top as usize) == Which::Other {
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

/// An unwinder passes `act`: drops it and the activations that it leaves.
pub fn left_by_unwinding(act: *mut Activation) {
    translation::left();
    let thread = Thread::current_or_null();
    if thread.is_null() {
        return;
    }
    // SAFETY: the thread's own state; frames are not read.
    unsafe {
        let known = |depth| (*thread).active.nth(depth);
        let mut all = (0..).map(known).take_while(|known| !known.is_null());
        if all.any(|known| known == act) {
            drop_above(thread, act);
            (*thread).active.pop();
        }
    }
}

/// Whether the activation at `top` is left when the stack pointer of the same thread is, or goes back
/// to, `now`.
#[cold]
fn is_left(thread: &Thread, top: *mut Activation, now: usize) -> bool {
    match (
        thread.host_stack.which(now),
        thread.host_stack.which(top as usize),
    ) {
        (Which::Own, Which::Own) | (Which::Signal, Which::Signal) => top as usize <= now,
        // A handler on the signal stack ends before the code it interrupted goes on.
        (Which::Own, Which::Signal) => true,
        // Suspended on a stack of its own, or below a handler or another stack.
        _ => false,
    }
}
