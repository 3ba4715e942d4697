//! The activations of a thread. What is known of them without reading their frames is in two words of
//! the thread, for the newest, and on its NxP stack, for the older ones: `longjmp` and unwinding
//! leave activations without a call of libflick, and the memory of their frames is reused. The NxP
//! stack is not used above where the newest activation was entered.
use std::arch::asm;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::activation::Activation;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Entry {
    pub act: *mut Activation,
    /// NxP stack pointer when it was entered; it only moves down from there.
    pub entry_sp: u64,
}

/// The newest activation is here, and where an activation was entered is the entry of the next older
/// one: the NxP stack has a gap of that size there (`crossing/leaving.rs`).
///
/// Signal handlers cross between any two instructions of these functions, and each leaves everything
/// as it found it. So one store changes both words, and an entry on the stack is written before that:
/// a handler that crosses meanwhile writes the same there. [`crate::crossing::fast_path`] pushes and
/// pops, too.
#[repr(C, align(16))]
pub struct ActivationStack {
    /// The newest activation that is not known to be dead, or null.
    pub newest: AtomicPtr<Activation>,
    /// Its [`Entry::entry_sp`]; without an activation, that of the first.
    pub newest_sp: AtomicU64,
    /// Where the first activation is entered, which has no older one.
    first_sp: u64,
}

/// Bytes that an activation needs above where it is entered.
pub const GAP: u64 = size_of::<Entry>() as u64;

impl ActivationStack {
    /// The first activation starts at the NxP stack pointer `first_sp`.
    pub fn new(first_sp: u64) -> Self {
        Self {
            newest: AtomicPtr::new(ptr::null_mut()),
            newest_sp: AtomicU64::new(first_sp),
            first_sp,
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

    /// All activations that are not known to be dead, the newest first. Those behind an entry that
    /// `is_there` denies are lost: NxP code has written over it.
    pub fn all(&self, is_there: impl Fn(u64) -> bool) -> impl Iterator<Item = *mut Activation> {
        let first = Some(self.last()).filter(|last| !last.act.is_null());
        let entries = std::iter::successors(first, move |newer| {
            let at = newer.entry_sp;
            if at == self.first_sp || !is_there(at) {
                return None;
            }
            // SAFETY: an entry, or any bits in memory that is there.
            Some(unsafe { (at as *const Entry).read_volatile() })
        });
        entries.map(|entry| entry.act)
    }

    /// `act` is entered at `entry_sp`.
    ///
    /// # Safety
    /// There are [`GAP`] bytes at `entry_sp`, a multiple of 16, that nobody uses, or `entry_sp` is that
    /// of the first activation and this is the first.
    #[inline]
    pub unsafe fn push(&self, act: *mut Activation, entry_sp: u64) {
        let before = self.last();
        if !before.act.is_null() {
            // SAFETY: by contract.
            unsafe { (entry_sp as *mut Entry).write_volatile(before) };
        }
        self.set_last(Entry { act, entry_sp });
    }

    /// There is an activation. If `is_there` denies the entry of the next older one, it and all older
    /// ones are lost: NxP code has written over an entry. That needs a handler whose activation was
    /// left unseen, and that let the code which it interrupted go on.
    #[inline]
    pub fn pop(&self, is_there: impl Fn(u64) -> bool) {
        let none = Entry {
            act: ptr::null_mut(),
            entry_sp: self.first_sp,
        };
        let entry_sp = self.newest_sp.load(Ordering::Relaxed);
        if entry_sp == self.first_sp {
            return self.set_last(none);
        }
        // SAFETY: `push` has written there.
        let before = unsafe { (entry_sp as *const Entry).read_volatile() };
        let known = before.entry_sp == self.first_sp || is_there(before.entry_sp);
        self.set_last(if known { before } else { none });
    }

    /// With one store.
    #[inline]
    fn set_last(&self, last: Entry) {
        // SAFETY: the first 16 bytes are both words, and aligned. Without `nomem` the compiler moves
        // no access of memory over it.
        unsafe {
            asm!(
                "movq {low}, {act}",
                "movq {high}, {sp}",
                "punpcklqdq {low}, {high}",
                "movaps [{place}], {low}",
                low = out(xmm_reg) _,
                high = out(xmm_reg) _,
                act = in(reg) last.act,
                sp = in(reg) last.entry_sp,
                place = in(reg) ptr::from_ref(self),
                options(nostack, preserves_flags),
            );
        }
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
        const NONE: Entry = Entry {
            act: ptr::null_mut(),
            entry_sp: 0,
        };
        let mut stack = [NONE; ROOM + 1];
        let at = |n: usize| stack.as_mut_ptr().wrapping_add(ROOM - n) as u64;
        let sp: Vec<u64> = (0..=ROOM).map(at).collect();
        let active = ActivationStack::new(sp[0]);
        let all = || active.all(|_| true).collect::<Vec<_>>();
        let none = Entry {
            entry_sp: sp[0],
            ..NONE
        };
        assert_eq!(active.last(), none);
        assert!(all().is_empty());
        for (n, &entry_sp) in sp.iter().enumerate().take(ROOM) {
            // SAFETY: an element for each but the first.
            unsafe { active.push(act(n + 1), entry_sp) };
            assert_eq!(active.top(), act(n + 1));
            assert_eq!(all(), (1..=n + 1).rev().map(act).collect::<Vec<_>>());
        }
        assert_eq!(active.all(|at| at != sp[2]).count(), 2);
        for n in (0..ROOM).rev() {
            assert_eq!(active.last().entry_sp, sp[n]);
            active.pop(|at| sp.contains(&at));
            assert_eq!(all(), (1..=n).rev().map(act).collect::<Vec<_>>());
        }
        assert_eq!(active.last(), none);
        // SAFETY: as above.
        unsafe {
            active.push(act(1), sp[0]);
            active.push(act(2), sp[1]);
            active.push(act(3), sp[2]);
        }
        active.pop(|_| false);
        assert_eq!(active.last(), none);
    }
}
