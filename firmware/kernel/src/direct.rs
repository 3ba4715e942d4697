//! Physical memory as the kernel reaches it: it runs without translation.
use flick_abi::card::PAGE;
use flick_kernel_core::page_tables::Physical;

/// Memory of frames and page tables.
pub struct Direct;

impl Physical for Direct {
    fn load(&self, address: u64) -> u64 {
        // SAFETY: a word of a page table, which only the kernel hart changes.
        unsafe { (address as *const u64).read_volatile() }
    }

    fn store(&mut self, address: u64, value: u64) {
        // SAFETY: as in `load`.
        unsafe { (address as *mut u64).write_volatile(value) };
    }

    fn clear(&mut self, page: u64) {
        // SAFETY: a frame that was just allocated.
        unsafe { core::ptr::write_bytes(page as *mut u8, 0, PAGE as usize) };
    }

    fn copy(&mut self, from: u64, to: u64) {
        let size = PAGE as usize;
        // SAFETY: two frames, of which the second was just allocated.
        unsafe { core::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, size) };
    }
}
