//! Which blocks of the NxP's heap NxP code has allocated itself (`malloc`), rather than anybody
//! with `flick_alloc`: were nothing placed, they would lie in the host's memory, and the host's
//! accesses to them would be like any other.
//!
//! A bit for each 16 bytes of the region, set from the allocation to the release. Async-signal-safe
//! but for what it is called by.
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering::*};

use flick_timing::Marks;

use crate::memory::nxp_region;

/// Bytes of the region for a byte of the bits; what one bit stands for is what blocks are aligned
/// to.
const OF_A_BYTE: usize = 1 << Marks::SHIFT << 3;

static ENABLED: AtomicBool = AtomicBool::new(false);

/// From now on blocks are marked: the process is timed.
pub fn enable() {
    ENABLED.store(true, Relaxed);
}

/// Whether blocks are marked.
#[inline]
pub fn enabled() -> bool {
    ENABLED.load(Relaxed)
}

/// Null before the first of these blocks.
static BITS: AtomicPtr<AtomicU8> = AtomicPtr::new(ptr::null_mut());
/// Bytes of such blocks that there are, and the most that there have been.
static LIVE: AtomicU64 = AtomicU64::new(0);
static MOST: AtomicU64 = AtomicU64::new(0);

/// The most bytes that such blocks have had at a time.
pub fn most() -> u64 {
    MOST.load(Relaxed)
}

/// For models; `None` while there has been no such block.
pub fn marks() -> Option<Marks> {
    let bits = BITS.load(Acquire);
    let (base, heap, _) = nxp_region::parts();
    // SAFETY: the mapping has a bit for each 16 bytes of the region, and stays.
    (!bits.is_null()).then(|| unsafe { Marks::new(bits, base as u64, heap as u64) })
}

fn make() -> *mut AtomicU8 {
    let size = nxp_region::size() / OF_A_BYTE;
    // SAFETY: a new mapping of zeroes, of which only what is written takes memory.
    let bits = unsafe {
        libc::mmap(
            ptr::null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if bits == libc::MAP_FAILED {
        // The account is missing then.
        return ptr::null_mut();
    }
    match BITS.compare_exchange(ptr::null_mut(), bits.cast(), AcqRel, Acquire) {
        Ok(_) => bits.cast(),
        Err(earlier) => {
            // SAFETY: the mapping made above, which nobody knows.
            unsafe { libc::munmap(bits, size) };
            earlier
        }
    }
}

/// Sets or clears the bits of a block.
fn write(bits: *const AtomicU8, block: usize, size: usize, set: bool) {
    let first = (block - nxp_region::parts().0) >> Marks::SHIFT;
    let end = first + size.div_ceil(1 << Marks::SHIFT);
    // SAFETY: bytes of the mapping: the block is in the region.
    unsafe { write_bits(bits, first, end, set) };
}

/// Sets or clears those from `first` to `end`, and leaves their neighbours, which others may be
/// changing.
///
/// # Safety
/// There are so many, and they live.
unsafe fn write_bits(bits: *const AtomicU8, first: usize, end: usize, set: bool) {
    for at in first / 8..end.div_ceil(8) {
        let (from, to) = (first.max(at * 8) % 8, end.min(at * 8 + 8) - at * 8);
        let mask = (0xff_u8 << from) & (0xff_u8 >> (8 - to));
        // SAFETY: by contract.
        let byte = unsafe { &*bits.add(at) };
        match set {
            true => byte.fetch_or(mask, Relaxed),
            false => byte.fetch_and(!mask, Relaxed),
        };
    }
}

/// NxP code has allocated `block`, of the NxP's heap, with `size` usable bytes.
pub fn allocated(block: *const libc::c_void, size: usize) {
    let mut bits = BITS.load(Acquire);
    if bits.is_null() {
        bits = make();
    }
    if bits.is_null() {
        return;
    }
    write(bits, block as usize, size, true);
    let live = LIVE.fetch_add(size as u64, Relaxed) + size as u64;
    MOST.fetch_max(live, Relaxed);
}

/// Whether `block`, of the NxP's heap, is such a block.
pub fn is_allocated(block: *const libc::c_void) -> bool {
    enabled() && marks().is_some_and(|marks| marks.has(block as u64))
}

/// `block`, for which [`is_allocated`] holds, is released now.
pub fn released(block: *const libc::c_void, size: usize) {
    write(BITS.load(Acquire), block as usize, size, false);
    LIVE.fetch_sub(size as u64, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_keep_their_bits() {
        let bits = [const { AtomicU8::new(0) }; 4];
        let now = || bits.each_ref().map(|byte| byte.load(Relaxed));
        let write = |first, end, set| {
            // SAFETY: 32 bits.
            unsafe { write_bits(bits.as_ptr(), first, end, set) };
        };
        write(3, 5, true);
        assert_eq!(now(), [0b1_1000, 0, 0, 0]);
        write(5, 25, true);
        assert_eq!(now(), [0b1111_1000, 0xff, 0xff, 1]);
        write(7, 8, false);
        write(16, 24, false);
        assert_eq!(now(), [0b0111_1000, 0xff, 0, 1]);
    }
}
