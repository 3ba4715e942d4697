//! The pages that a process has touched: the kernel gives it each at the first access. A page that was given back
//! and is touched again counts once.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// log2 of the bytes of a page.
const SHIFT: u32 = 12;
/// log2 of the length of the table: 16 GiB of pages, a fourth of it free.
const SLOTS: u32 = 22;

/// A table for all threads. It is allocated once, because signal handlers use it, too.
pub struct TouchedPages {
    /// A hash table with open addressing: page + 1, or 0.
    slots: Box<[AtomicU64]>,
    count: AtomicU64,
}

impl Default for TouchedPages {
    fn default() -> Self {
        // Zeros that the allocator has from the kernel take no memory until they are used.
        let zeros = Box::into_raw(vec![0_u64; 1 << SLOTS].into_boxed_slice());
        // SAFETY: an `AtomicU64` is in memory as a `u64`, and nobody else has this slice.
        let slots = unsafe { Box::from_raw(zeros as *mut [AtomicU64]) };
        Self {
            slots,
            count: AtomicU64::default(),
        }
    }
}

impl TouchedPages {
    /// Whether this is the first access to the page of `address`. Pages beyond the table are never new.
    pub fn is_first(&self, address: u64) -> bool {
        let page = (address >> SHIFT) + 1;
        let mut at = page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS);
        loop {
            let slot = &self.slots[at as usize];
            let found = match slot.load(Relaxed) {
                0 if self.count.load(Relaxed) >= 3 << (SLOTS - 2) => return false,
                0 => match slot.compare_exchange(0, page, Relaxed, Relaxed) {
                    Ok(_) => {
                        self.count.fetch_add(1, Relaxed);
                        return true;
                    }
                    Err(other) => other,
                },
                other => other,
            };
            if found == page {
                return false;
            }
            at = (at + 1) % (1 << SLOTS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_new_once() {
        let pages = TouchedPages::default();
        for page in 0..5000_u64 {
            let address = page.wrapping_mul(0x7_1234_5000) & ((1 << 47) - 1);
            assert!(pages.is_first(address), "{page}");
            assert!(!pages.is_first(address | 0xfff), "{page}");
        }
        assert!(!pages.is_first(0) && pages.is_first(1 << 47));
    }

    #[test]
    fn a_full_table_has_no_new_pages() {
        let pages = TouchedPages::default();
        let most = 3 << (SLOTS - 2);
        let new = (0..most + 10).filter(|page| pages.is_first(page << SHIFT));
        assert_eq!(new.count() as u64, most);
        assert!(!pages.is_first(5 << SHIFT) && !pages.is_first(1 << 46));
    }
}
