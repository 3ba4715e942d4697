//! The activations of a thread, oldest first, beside the host stack and not threaded through it:
//! `longjmp` and unwinding leave activations without a call of libflick, and the memory of their
//! frames is reused. What is known of an activation without reading its frame is here.
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering, compiler_fence};

use super::activation::{self, Activation};
use crate::os::fatal;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Entry {
    pub act: *mut Activation,
    /// NxP stack pointer when it was entered; it only moves down from there.
    pub entry_sp: u64,
}

/// A stack with room for as many activations as the host stack can hold frames of them. Signal
/// handlers cross at any instruction of these functions; each leaves it as it found it.
/// [`crate::crossing::fast_path`] pushes and pops, too.
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
    /// The memory is aligned, readable and writable as long as the value is used; there is room for
    /// two entries.
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
    pub fn last(&self) -> Entry {
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
