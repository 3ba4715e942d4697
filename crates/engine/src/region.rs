//! Guest code and its decode cache.

use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

use crate::decode::{decode, illegal};
use crate::op::{Insn, Op};

/// A range of guest code with a decode cache: 8 bytes per 2 bytes of code, filled as code is
/// reached. Threads share it; several may fill a slot, with the same value. The cache is zero pages
/// until then (for a region of more than about 32 KiB the allocator maps it).
///
/// The code must not change: `fence.i` does nothing.
pub struct CodeRegion {
    base: u64,
    /// Bytes, even.
    len: u64,
    /// Where the code is in this process; `base` when guest addresses are host addresses.
    bytes: *const u8,
    /// `len / 2 + 1` slots; the last holds [`Op::End`].
    slots: *mut AtomicU64,
}

// SAFETY: the code is read only, the slots are atomics, and any thread may free the cache.
unsafe impl Send for CodeRegion {}
// SAFETY: as above.
unsafe impl Sync for CodeRegion {}

impl CodeRegion {
    /// Code at guest addresses `base..base + len` that are host addresses too.
    ///
    /// # Safety
    /// The range is readable and unchanging as long as the region lives; `base` is even.
    pub unsafe fn new(base: u64, len: u64) -> Self {
        // SAFETY: by the caller.
        unsafe { Self::mapped(base, ptr::with_exposed_provenance(base as usize), len) }
    }

    /// Code at guest addresses `base..base + len`, whose bytes are at `bytes`.
    ///
    /// # Safety
    /// `bytes..bytes + len` is readable and unchanging as long as the region lives; `base` is even
    /// and `base + len` does not wrap around.
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
        unsafe { (*slots.add((len / 2) as usize)).store(end.word(), Ordering::Relaxed) };
        Self {
            base,
            len,
            bytes,
            slots,
        }
    }

    fn layout(len: u64) -> Layout {
        match Layout::array::<AtomicU64>((len / 2 + 1) as usize) {
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
        // SAFETY: `len` is even, so two bytes are readable at any even offset below it.
        let half = |at: u64| unsafe {
            u32::from(self.bytes.add(at as usize).cast::<u16>().read_unaligned())
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
        let bits = self.bits(pc);
        let truncated = bits & 3 == 3 && pc.wrapping_sub(self.base) + 2 >= self.len;
        let insn = if truncated {
            illegal(bits)
        } else {
            decode(bits)
        };
        // SAFETY: the index is below `len / 2` because `pc` is in the region.
        let slot = unsafe { &*self.slots.add((pc.wrapping_sub(self.base) / 2) as usize) };
        slot.store(insn.word(), Ordering::Relaxed);
    }
}

impl Drop for CodeRegion {
    fn drop(&mut self) {
        // SAFETY: allocated in `mapped` with this layout.
        unsafe { dealloc(self.slots.cast(), Self::layout(self.len)) };
    }
}
