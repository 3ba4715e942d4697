//! Memory at fixed addresses.

/// A fixed mapping, removed on drop.
pub struct Mapping {
    address: *mut u8,
    len: usize,
}

impl Mapping {
    pub fn new(address: u64, contents: &[u8]) -> Self {
        let len = contents.len().next_multiple_of(0x1000);
        // SAFETY: MAP_FIXED_NOREPLACE harms no other mapping; the copy fits.
        unsafe {
            let at = libc::mmap(
                address as *mut libc::c_void,
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            );
            assert_eq!(
                at as u64, address,
                "cannot map {len:#x} bytes at {address:#x}"
            );
            let at = at.cast::<u8>();
            at.copy_from_nonoverlapping(contents.as_ptr(), contents.len());
            Self { address: at, len }
        }
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped and initialised; nobody writes while the borrow lives.
        unsafe { core::slice::from_raw_parts(self.address, self.len) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: our own mapping.
        unsafe { libc::munmap(self.address.cast(), self.len) };
    }
}
