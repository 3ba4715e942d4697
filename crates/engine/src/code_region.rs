//! Guest code and its decode cache.

use core::ptr;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering, fence};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

use flick_riscv::{Insn, Op};
use flick_riscv::{decode, illegal};

/// A range of guest code with a decode cache. The cache has a slot of 8 bytes for each 2 bytes of
/// code, and is filled as execution arrives. Threads share it, and several may fill a slot with the
/// same value. Slots that were not filled are zero pages (for a region of more than about 32 KiB
/// the allocator maps them).
///
/// The code may change. A hart executes the new instructions after a `fence.i` of its own at the
/// latest (ISA manual, chapter "Zifencei"). The fence empties the slots for all harts.
pub struct CodeRegion {
    base: u64,
    /// Bytes, even.
    len: u64,
    /// Where the code is in this process; `base` when guest addresses are host addresses.
    bytes: *const u8,
    /// `len / 2 + 1` slots; the last holds [`Op::End`].
    ///
    /// An empty slot has [`Op::Undecoded`] in its 16 low bits, and above them the number of the
    /// `fence.i` that emptied it. A thread takes this word, reads the code, and fills the slot by
    /// exchange if the slot still holds the word. So a thread that read the code before another
    /// hart changed it does not fill a slot that this hart's `fence.i` has emptied meanwhile.
    slots: *mut AtomicU64,
    /// For each [`PAGE`] slots: was a thread about to fill any? The other pages need no emptying.
    used: Box<[AtomicU8]>,
    /// Calls of [`Self::invalidate`]. The counter is not in the region itself: the compiler would
    /// then not know that base and length are constant.
    invalidations: Box<AtomicU64>,
}

/// Slots in a memory page.
const PAGE: usize = 4096 / size_of::<AtomicU64>();

// SAFETY: code and slots are read and written as atomics, and any thread may free the cache.
unsafe impl Send for CodeRegion {}
// SAFETY: as above.
unsafe impl Sync for CodeRegion {}

impl CodeRegion {
    /// Code at guest addresses `base..base + len` that are host addresses too.
    ///
    /// # Safety
    /// The range is readable as long as the region lives, and changed by nothing but guest stores
    /// and atomic ones; `base` is even.
    pub unsafe fn new(base: u64, len: u64) -> Self {
        // SAFETY: by the caller.
        unsafe { Self::mapped(base, ptr::with_exposed_provenance(base as usize), len) }
    }

    /// Code at guest addresses `base..base + len`, whose bytes are at `bytes`.
    ///
    /// # Safety
    /// `bytes..bytes + len` is readable as long as the region lives, and changed by nothing but
    /// guest stores and atomic ones; `base` and `bytes` are even, and `base + len` does not wrap
    /// around.
    pub unsafe fn mapped(base: u64, bytes: *const u8, len: u64) -> Self {
        let len = len & !1;
        let layout = Self::layout(len);
        // SAFETY: the layout is not empty.
        let slots = unsafe { alloc_zeroed(layout) }.cast::<AtomicU64>();
        if slots.is_null() {
            handle_alloc_error(layout);
        }
        let end = Insn::new(Op::End, 2, 0, 0, 0, 0);
        // SAFETY: the last slot of the allocation; nobody else has it yet.
        unsafe { (*slots.add(slots_of(len))).store(end.word(), Ordering::Relaxed) };
        Self {
            base,
            len,
            bytes,
            slots,
            used: (0..slots_of(len).div_ceil(PAGE))
                .map(|_| AtomicU8::new(0))
                .collect(),
            invalidations: Box::new(AtomicU64::new(0)),
        }
    }

    fn layout(len: u64) -> Layout {
        match Layout::array::<AtomicU64>(slots_of(len) + 1) {
            Ok(layout) => layout,
            // A region of 2^60 bytes cannot exist in an address space of 2^57.
            Err(_) => handle_alloc_error(Layout::new::<AtomicU64>()),
        }
    }

    /// First guest address.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Has it no code?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Does an instruction at `pc` (bit 0 ignored) lie in the region?
    #[inline(always)]
    pub fn contains(&self, pc: u64) -> bool {
        (pc & !1).wrapping_sub(self.base) < self.len
    }

    /// A number `k` such that the slot of `pc` is at host address `k + 4 * pc`, wrapping.
    #[inline(always)]
    pub(crate) fn slot_bias(&self) -> u64 {
        (self.slots.expose_provenance() as u64).wrapping_sub(self.base.wrapping_mul(4))
    }

    /// Bits of the instruction at `pc`: 16 or 32 of them.
    ///
    /// An instruction whose second half lies outside has the low half only; it is illegal.
    #[cold]
    pub(crate) fn bits(&self, pc: u64) -> u32 {
        let offset = pc.wrapping_sub(self.base);
        debug_assert!(offset < self.len);
        let half = |at: u64| {
            // SAFETY: `len` is even, so two bytes are readable at any even offset below it. Guest
            // stores may change them meanwhile; halves of an instruction are fetched one by one.
            let parcel = unsafe { &*self.bytes.add(at as usize).cast::<AtomicU16>() };
            u32::from(parcel.load(Ordering::Relaxed))
        };
        let low = half(offset);
        if low & 3 == 3 && offset + 2 < self.len {
            low | half(offset + 2) << 16
        } else {
            low
        }
    }

    /// Fills the slot of `pc`, which lies in the region.
    #[cold]
    #[inline(never)]
    pub(crate) fn fill(&self, pc: u64) {
        let empty = self.empty(pc);
        // If another thread has filled or emptied the slot meanwhile, the caller comes again.
        if empty as u16 == Op::Undecoded as u16 {
            self.exchange(pc, empty, self.insn(pc));
        }
    }

    /// What is in the slot of `pc`, about to be filled.
    fn empty(&self, pc: u64) -> u64 {
        // An `invalidate` at the same time sees the mark, or this thread reads the code after the
        // fence there. That also holds for a mark that another thread has made, because x86-64 has
        // one order of stores.
        let used = &self.used[self.index(pc) / PAGE];
        if used.load(Ordering::Acquire) == 0 {
            used.store(1, Ordering::SeqCst);
            fence(Ordering::SeqCst);
        }
        self.slot(self.index(pc)).load(Ordering::Acquire)
    }

    /// The instruction at `pc`, which lies in the region; one that reaches out of it is illegal.
    pub fn insn(&self, pc: u64) -> Insn {
        let bits = self.bits(pc);
        let truncated = bits & 3 == 3 && pc.wrapping_sub(self.base) + 2 >= self.len;
        if truncated {
            illegal(bits)
        } else {
            decode(bits)
        }
    }

    /// Fills the slot of `pc` if it holds `empty`. Did it?
    fn exchange(&self, pc: u64, empty: u64, insn: Insn) -> bool {
        let slot = self.slot(self.index(pc));
        let done = slot.compare_exchange(empty, insn.word(), Ordering::Relaxed, Ordering::Relaxed);
        done.is_ok()
    }

    fn index(&self, pc: u64) -> usize {
        slots_of(pc.wrapping_sub(self.base))
    }

    fn slot(&self, index: usize) -> &AtomicU64 {
        assert!(index < slots_of(self.len));
        // SAFETY: one of the slots.
        unsafe { &*self.slots.add(index) }
    }

    /// Empties the cache. From now on the calling thread fetches what it has stored before, and
    /// what threads have stored with which it has synchronised. The time is in proportion to the
    /// code that was ever executed. The function never waits, because a signal handler may come
    /// here from [`Self::fill`].
    #[cold]
    #[inline(never)]
    pub(crate) fn invalidate(&self) {
        let number = self.invalidations.fetch_add(1, Ordering::Relaxed) + 1;
        // What the guest has stored comes before; see `fill`.
        fence(Ordering::SeqCst);
        let empty = Op::Undecoded as u64 | number << 16;
        for (page, used) in self.used.iter().enumerate() {
            if used.load(Ordering::SeqCst) == 0 {
                continue;
            }
            for index in page * PAGE..slots_of(self.len).min((page + 1) * PAGE) {
                self.slot(index).store(empty, Ordering::Release);
            }
        }
    }
}

/// Slots of so many bytes of code.
fn slots_of(len: u64) -> usize {
    (len / 2) as usize
}

impl Drop for CodeRegion {
    fn drop(&mut self) {
        // SAFETY: allocated in `mapped` with this layout.
        unsafe { dealloc(self.slots.cast(), Self::layout(self.len)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// addi a0, x0, value
    fn li_a0(value: u64) -> u64 {
        0x513 | value << 20
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept_after_it() {
        let code = AtomicU64::new(li_a0(1));
        let pc = code.as_ptr().expose_provenance() as u64;
        // SAFETY: the code outlives the region; only atomic stores change it.
        let region = unsafe { CodeRegion::new(pc, 8) };
        // One thread is between reading and filling while another changes the code; twice, since
        // the second time the slot is not as it was made.
        for value in 1..3 {
            let empty = region.empty(pc);
            let old = region.insn(pc);
            code.store(li_a0(value + 1), Ordering::Relaxed);
            region.invalidate();
            assert!(!region.exchange(pc, empty, old));
            assert_eq!(region.empty(pc) as u16, Op::Undecoded as u16);
        }
        region.fill(pc);
        assert_eq!(region.empty(pc), region.insn(pc).word());
        assert_eq!(region.insn(pc).imm(), 3);
        // Filling what another thread has filled changes nothing.
        region.fill(pc);
        assert_eq!(region.empty(pc), region.insn(pc).word());
    }
}
