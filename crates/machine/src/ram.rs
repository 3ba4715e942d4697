//! Plain memory.
use std::ops::Range;
use std::ptr::NonNull;

use flick_hart::PAGE;

/// Memory that reads as zero at first, at physical addresses from `base` on.
pub struct Ram {
    base: u64,
    size: u64,
    bytes: NonNull<u8>,
}

/// Why there is no such memory.
#[derive(Debug, thiserror::Error)]
pub enum BadRam {
    /// Its bounds are not multiples of a page, or it has no bytes.
    #[error("memory of {size:#x} bytes at {base:#x} is not of whole pages")]
    Pages {
        /// The first address.
        base: u64,
        /// Bytes.
        size: u64,
    },
    /// The host has none.
    #[error("the host has no {size:#x} bytes for the machine's memory: {error}")]
    Host {
        /// Bytes.
        size: u64,
        /// What the host says.
        error: std::io::Error,
    },
}

impl Ram {
    /// Memory of `size` bytes.
    pub fn new(base: u64, size: u64) -> Result<Self, BadRam> {
        let is_whole = base.is_multiple_of(PAGE) && size.is_multiple_of(PAGE) && size != 0;
        if !is_whole || base.checked_add(size).is_none_or(|end| end > 1 << 56) {
            return Err(BadRam::Pages { base, size });
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let place = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size as usize,
                protection,
                flags,
                -1,
                0,
            )
        };
        let bytes = NonNull::new(place.cast()).filter(|_| place != libc::MAP_FAILED);
        let error = std::io::Error::last_os_error;
        let bytes = bytes.ok_or_else(|| BadRam::Host {
            size,
            error: error(),
        })?;
        Ok(Self { base, size, bytes })
    }

    /// Its addresses.
    pub fn range(&self) -> Range<u64> {
        self.base..self.base + self.size
    }

    /// The host's address of so many bytes at a physical address, if they are all here.
    pub fn at(&self, address: u64, size: u64) -> Option<*mut u8> {
        let offset = address.checked_sub(self.base)?;
        let end = offset.checked_add(size)?;
        // SAFETY: within the mapping.
        (end <= self.size).then(|| unsafe { self.bytes.as_ptr().add(offset as usize) })
    }
}

impl Drop for Ram {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, to which nobody has a reference.
        unsafe { libc::munmap(self.bytes.as_ptr().cast(), self.size as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_bounds() {
        let ram = Ram::new(0x8000_0000, 0x2000).unwrap();
        assert_eq!(ram.range(), 0x8000_0000..0x8000_2000);
        assert!(ram.at(0x8000_1ff8, 8).is_some());
        for (address, size) in [(0x8000_1ff9, 8), (0x7fff_ffff, 1), (u64::MAX, 2)] {
            assert_eq!(ram.at(address, size), None);
        }
        for (base, size) in [
            (1, PAGE),
            (0, 1),
            (0, 0),
            (1 << 56, PAGE),
            (u64::MAX - 4095, PAGE),
        ] {
            assert!(Ram::new(base, size).is_err());
        }
    }
}
