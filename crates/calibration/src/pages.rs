//! Memory to measure, in small pages or, where Linux has some, in large ones.
use std::io;
use std::ptr::{self, NonNull};

/// Bytes of a line. No x86-64 processor has others.
pub const LINE: usize = 64;
/// Bytes of a small page.
pub const PAGE: usize = 4096;
const LARGE: usize = 2 << 20;

/// Memory that is all there.
pub struct Pages {
    start: NonNull<u8>,
    map: NonNull<libc::c_void>,
    mapped: usize,
    size: usize,
    /// Whether most of it is in large pages.
    pub is_large: bool,
}

impl Pages {
    /// `large`: in large pages if that is possible; else in small ones.
    pub fn new(size: usize, large: bool) -> io::Result<Self> {
        let mapped = size.next_multiple_of(LARGE) + LARGE;
        // SAFETY: a new mapping, of which nobody else knows.
        let map = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(ptr::null_mut(), mapped, rights, flags, -1, 0)
        };
        let map = match NonNull::new(map) {
            Some(map) if map.as_ptr() != libc::MAP_FAILED => map,
            _ => return Err(io::Error::last_os_error()),
        };
        let advice = if large {
            libc::MADV_HUGEPAGE
        } else {
            libc::MADV_NOHUGEPAGE
        };
        // SAFETY: advice about the new mapping changes no content. A kernel without large pages refuses it.
        unsafe { libc::madvise(map.as_ptr(), mapped, advice) };
        let inside = map.cast::<u8>().align_offset(LARGE);
        // SAFETY: the mapping is longer than `size` by a large page.
        let start = unsafe { map.cast::<u8>().add(inside) };
        // SAFETY: all of these bytes are in the mapping, and nobody else knows of them. Zeros would do, but
        // reading alone makes every page the same page of zeros.
        unsafe { ptr::write_bytes(start.as_ptr(), 1, size) };
        let is_large = large && large_bytes(map.as_ptr() as usize) * 2 > size;
        Ok(Self {
            start,
            map,
            mapped,
            size,
            is_large,
        })
    }

    /// The address of the byte at `offset`.
    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.size, "{offset} is behind the memory");
        // SAFETY: inside of the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Its bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Its content.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: these bytes are this value's own, and have been written.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.size) }
    }

    /// Stores at each offset the address of the next one, and at the last one that of the first.
    pub fn link(&mut self, offsets: impl Iterator<Item = usize>) {
        let mut first = None;
        let mut last = None;
        for offset in offsets {
            assert!(offset + 8 <= self.size && offset.is_multiple_of(8));
            let here = self.at(offset);
            if let Some(last) = last.replace(here) {
                // SAFETY: an aligned word in the memory.
                unsafe { last.cast::<*mut u8>().write(here) };
            }
            first.get_or_insert(here);
        }
        if let (Some(first), Some(last)) = (first, last) {
            // SAFETY: an aligned word in the memory.
            unsafe { last.cast::<*mut u8>().write(first) };
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and nobody has addresses in it any more.
        unsafe { libc::munmap(self.map.as_ptr(), self.mapped) };
    }
}

/// How much of the mapping with this address is in large pages.
fn large_bytes(address: usize) -> usize {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    let mut inside = false;
    for line in maps.lines() {
        let range = line
            .split(' ')
            .next()
            .and_then(|range| range.split_once('-'));
        let number = |text| usize::from_str_radix(text, 16).ok();
        if let Some((Some(from), Some(to))) = range.map(|(from, to)| (number(from), number(to))) {
            inside = (from..to).contains(&address);
        } else if let Some(size) = line.strip_prefix("AnonHugePages:").filter(|_| inside) {
            let size = size.trim().trim_end_matches(" kB").trim();
            return size.parse::<usize>().unwrap_or(0) << 10;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_comes_to_all_places_and_back() {
        let mut pages = Pages::new(1 << 16, false).unwrap();
        pages.link([0, 4096, 64, 640].into_iter());
        let mut at = pages.at(0);
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(at as usize - pages.at(0) as usize);
            // SAFETY: a word that `link` has written.
            at = unsafe { at.cast::<*mut u8>().read() };
        }
        assert_eq!((seen, at), (vec![0, 4096, 64, 640], pages.at(0)));
        assert!(!pages.is_large);
    }
}
