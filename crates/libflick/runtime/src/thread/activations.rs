//! The activations of a thread, oldest first, beside the host stack and not threaded through it:
//! `longjmp` and unwinding leave activations without a call of libflick, and the memory of their
//! frames is reused. What is known of an activation without reading its frame is here.
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering, compiler_fence};

use super::activation::{self, Activation};
use crate::os::fatal;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Entry {
    pub act: *mut Activation,
    /// NxP stack pointer when it was entered; it only moves down from there.
    pub entry_sp: u64,
}

/// A stack with room for as many activations as the host stack can hold frames of them. The newest
/// one is beside the table of the older ones: to enter the first of a thread is one store.
///
/// Signal handlers cross at any instruction of these functions; each leaves it as it found it.
/// [`crate::crossing::fast_path`] pushes and pops, too.
#[repr(C)]
pub struct ActivationStack {
    /// The newest activation that is not known to be dead, or null.
    pub newest: AtomicPtr<Activation>,
    /// Its [`Entry::entry_sp`]; without an activation, that of the first.
    pub newest_sp: AtomicU64,
    /// The newest of the older ones, or `base`.
    pub top: AtomicPtr<Entry>,
    /// Below all older ones: what `newest` and `newest_sp` are without an activation.
    pub base: *mut Entry,
    /// The last entry of the table.
    pub last: *mut Entry,
}

impl ActivationStack {
    /// Bytes of a table for a host stack of `host_stack` bytes. Signal stacks hold some more.
    pub const fn size_for(host_stack: usize) -> usize {
        (host_stack / activation::SIZE + 4096) * size_of::<Entry>()
    }

    /// In `size` bytes at `table`; the first activation starts at the NxP stack pointer `first_sp`.
    ///
    /// # Safety
    /// The memory is aligned, readable and writable as long as the value is used; there is room for
    /// two entries.
    pub unsafe fn new(table: *mut c_void, size: usize, first_sp: u64) -> Self {
        let base: *mut Entry = table.cast();
        // SAFETY: by contract.
        let last = unsafe {
            base.write(Entry {
                act: ptr::null_mut(),
                entry_sp: first_sp,
            });
            base.add(size / size_of::<Entry>() - 1)
        };
        Self {
            newest: AtomicPtr::new(ptr::null_mut()),
            newest_sp: AtomicU64::new(first_sp),
            top: AtomicPtr::new(base),
            base,
            last,
        }
    }

    /// The newest activation that is not known to be dead; without an activation, if there is none.
    #[inline]
    pub fn last(&self) -> Entry {
        Entry {
            act: self.top(),
            entry_sp: self.newest_sp.load(Ordering::Relaxed),
        }
    }

    /// The newest activation that is not known to be dead, or null.
    #[inline]
    pub fn top(&self) -> *mut Activation {
        self.newest.load(Ordering::Relaxed)
    }

    /// How many there are besides the newest.
    fn older(&self) -> usize {
        let top = self.top.load(Ordering::Relaxed);
        (top as usize - self.base as usize) / size_of::<Entry>()
    }

    /// The activation `depth` below the newest, or null.
    pub fn nth(&self, depth: usize) -> *mut Activation {
        let Some(below) = depth.checked_sub(1) else {
            return self.top();
        };
        if below >= self.older() {
            return ptr::null_mut();
        }
        // SAFETY: entries up to `top` are initialised.
        unsafe { self.top.load(Ordering::Relaxed).sub(below).read_volatile() }.act
    }

    /// How many activations there are that are not known to be dead.
    pub fn depth(&self) -> usize {
        if self.top().is_null() {
            0
        } else {
            1 + self.older()
        }
    }

    #[inline]
    pub fn push(&self, act: *mut Activation, entry_sp: u64) {
        let before = self.last();
        if !before.act.is_null() {
            let top = self.top.load(Ordering::Relaxed);
            if top == self.last {
                fatal::exit(
                    "FLK0502",
                    "calls between host and NxP are nested too deeply",
                    "look for endless recursion across the boundary",
                );
            }
            // SAFETY: `top` is below the last entry.
            unsafe {
                let slot = top.add(1);
                // A handler that crosses before the top is raised writes the same here.
                slot.write_volatile(before);
                compiler_fence(Ordering::SeqCst);
                self.top.store(slot, Ordering::Relaxed);
            }
        }
        // In this order: to a handler, no activation has begun deeper than where it is.
        compiler_fence(Ordering::SeqCst);
        self.newest.store(act, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.newest_sp.store(entry_sp, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    /// There is an activation.
    #[inline]
    pub fn pop(&self) {
        let top = self.top.load(Ordering::Relaxed);
        // SAFETY: entries up to `top` are initialised.
        let before = unsafe { top.read_volatile() };
        compiler_fence(Ordering::SeqCst);
        self.newest_sp.store(before.entry_sp, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.newest.store(before.act, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // A handler before this finds the activation twice, which changes nothing.
        if top != self.base {
            // SAFETY: `top` is above `base`.
            self.top.store(unsafe { top.sub(1) }, Ordering::Relaxed);
        }
        compiler_fence(Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 4;

    fn act(n: usize) -> *mut Activation {
        ptr::without_provenance_mut(n * 0x1000)
    }

    #[test]
    fn newest_and_older() {
        let mut table = [const { std::mem::MaybeUninit::<Entry>::uninit() }; ROOM];
        // SAFETY: the table outlives the stack.
        let stack =
            unsafe { ActivationStack::new(table.as_mut_ptr().cast(), size_of_val(&table), 900) };
        assert_eq!((stack.depth(), stack.last().entry_sp), (0, 900));
        assert!(stack.top().is_null() && stack.nth(0).is_null() && stack.nth(1).is_null());
        for n in 1..=ROOM {
            stack.push(act(n), 1000 - 100 * n as u64);
            assert_eq!((stack.depth(), stack.top()), (n, act(n)));
        }
        for depth in 0..ROOM {
            assert_eq!(stack.nth(depth), act(ROOM - depth));
        }
        assert!(stack.nth(ROOM).is_null());
        for n in (1..=ROOM).rev() {
            assert_eq!(stack.last().entry_sp, 1000 - 100 * n as u64);
            stack.pop();
            assert_eq!(stack.depth(), n - 1);
        }
        assert_eq!((stack.top(), stack.last().entry_sp), (ptr::null_mut(), 900));
    }
}
