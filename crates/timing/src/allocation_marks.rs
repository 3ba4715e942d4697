//! Marks of the NxP-local memory that is NxP-local only because NxP code has allocated it. If this
//! code ran on the host, the memory would be the host's.
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// A bit for each 16 bytes of the heap. libflick sets and clears the bits.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    bits: *const AtomicU8,
    base: u64,
    size: u64,
}

impl Marks {
    /// log2 of the bytes that a bit stands for.
    pub const SHIFT: u32 = 4;

    /// # Safety
    /// `bits` has a bit for each 16 of the `size` bytes from `base` on, and lives as long as the
    /// result.
    pub unsafe fn new(bits: *const AtomicU8, base: u64, size: u64) -> Self {
        Self { bits, base, size }
    }

    /// Whether the byte at `address` is marked.
    #[inline]
    pub fn has(&self, address: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        if offset >= self.size {
            return false;
        }
        let bit = offset >> Self::SHIFT;
        // SAFETY: by the contract of `new`.
        let byte = unsafe { &*self.bits.add((bit / 8) as usize) };
        byte.load(Relaxed) >> (bit % 8) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_addresses() {
        let bits = [AtomicU8::new(0b10), AtomicU8::new(0), AtomicU8::new(0x80)];
        // SAFETY: three bytes are 24 bits.
        let marks = unsafe { Marks::new(bits.as_ptr(), 0x1000, 24 * 16) };
        let marked = |address: &u64| marks.has(*address);
        let of = |from: u64, to: u64| (from..to).collect::<Vec<_>>();
        let found: Vec<u64> = of(0xf00, 0x1300).into_iter().filter(marked).collect();
        assert_eq!(found, [of(0x1010, 0x1020), of(0x1170, 0x1180)].concat());
    }
}
