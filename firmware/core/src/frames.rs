//! Frames: pages of physical memory, each with a count of those who use it.

use flick_abi::card::PAGE;

/// The memory behind the kernel. The counts are at its start.
#[derive(Debug)]
pub struct Frames {
    base: u64,
    counts: &'static mut [u16],
    /// Below it there is no free frame.
    first_free: usize,
    free: usize,
}

/// Nobody uses it.
const FREE: u16 = 0;
/// It is none of the kernel's.
const RESERVED: u16 = u16::MAX;

impl Frames {
    /// No memory.
    pub const fn new() -> Self {
        Self {
            base: 0,
            counts: &mut [],
            first_free: 0,
            free: 0,
        }
    }

    /// Frames of memory from `base` on, which have a count each.
    pub fn with_counts(base: u64, counts: &'static mut [u16]) -> Self {
        counts.fill(FREE);
        Self {
            base,
            first_free: 0,
            free: counts.len(),
            counts,
        }
    }

    fn place(&self, address: u64) -> Option<usize> {
        let place = address.checked_sub(self.base)? / PAGE;
        let place = usize::try_from(place).ok()?;
        (place < self.counts.len()).then_some(place)
    }

    /// Nobody gets the frames of this range.
    pub fn reserve(&mut self, start: u64, end: u64) {
        let mut address = start / PAGE * PAGE;
        while address < end {
            if let Some(place) = self.place(address)
                && self.counts[place] == FREE
            {
                self.counts[place] = RESERVED;
                self.free -= 1;
            }
            address += PAGE;
        }
    }

    /// A frame with one user, whose content is what it was.
    pub fn allocate(&mut self) -> Option<u64> {
        let mut from = self.counts[self.first_free..].iter();
        let place = self.first_free + from.position(|&count| count == FREE)?;
        self.counts[place] = 1;
        self.first_free = place + 1;
        self.free -= 1;
        Some(self.base + place as u64 * PAGE)
    }

    /// Frames behind each other.
    pub fn allocate_many(&mut self, frames: usize) -> Option<u64> {
        let mut from = 0;
        loop {
            let run = self.counts[from..].iter();
            from += run.clone().position(|&count| count == FREE)?;
            let run = self.counts.get(from..from + frames)?;
            match run.iter().rposition(|&count| count != FREE) {
                Some(used) => from += used + 1,
                None => break,
            }
        }
        self.counts[from..from + frames].fill(1);
        self.free -= frames;
        Some(self.base + from as u64 * PAGE)
    }

    /// A table for ever, in a frame of its own that reads as zero.
    ///
    /// # Safety
    /// Zero is a value of `T`, and frames are memory as the caller reaches it.
    pub unsafe fn table<T>(&mut self) -> Option<&'static T> {
        const { assert!(size_of::<T>() <= PAGE as usize) };
        let frame = self.allocate()?;
        // SAFETY: the frame is the table's alone, and has room for it.
        unsafe {
            core::ptr::write_bytes(frame as *mut u8, 0, PAGE as usize);
            Some(&*(frame as *const T))
        }
    }

    /// How many use the frame of an address.
    pub fn users(&self, address: u64) -> u16 {
        self.place(address)
            .map_or(RESERVED, |place| self.counts[place])
    }

    /// One more uses a frame. False: too many do.
    #[must_use]
    pub fn share(&mut self, address: u64) -> bool {
        match self.place(address).map(|place| &mut self.counts[place]) {
            // Memory that is nobody's, such as the archive, has no users to count.
            None | Some(&mut RESERVED) => true,
            Some(count) if *count < RESERVED - 1 => {
                *count += 1;
                true
            }
            Some(_) => false,
        }
    }

    /// One less uses a frame.
    pub fn free(&mut self, address: u64) {
        let Some(place) = self.place(address) else {
            return;
        };
        let count = &mut self.counts[place];
        if *count == RESERVED || *count == FREE {
            return;
        }
        *count -= 1;
        if *count == FREE {
            self.free += 1;
            self.first_free = self.first_free.min(place);
        }
    }

    /// Frames that nobody uses.
    pub fn free_frames(&self) -> usize {
        self.free
    }

    /// All frames.
    pub fn all_frames(&self) -> usize {
        self.counts.len()
    }
}

impl Default for Frames {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(count: usize) -> Frames {
        Frames::with_counts(0x8000_0000, Box::leak(vec![7; count].into()))
    }

    #[test]
    fn frames_are_used_once() {
        let mut frames = frames(4);
        frames.reserve(0x8000_1fff, 0x8000_2001);
        assert_eq!(frames.free_frames(), 2);
        let first = frames.allocate().unwrap();
        let second = frames.allocate().unwrap();
        assert_eq!((first, second), (0x8000_0000, 0x8000_3000));
        assert_eq!(frames.allocate(), None);
        assert!(frames.share(first));
        frames.free(first);
        assert_eq!(frames.allocate(), None);
        frames.free(first);
        assert_eq!(frames.allocate(), Some(first));
        frames.free(0x8000_1000);
        frames.free(0x1000);
        assert_eq!(frames.free_frames(), 0);
        assert_eq!(frames.users(0x8000_1000), RESERVED);
    }

    #[test]
    fn many_are_behind_each_other() {
        let mut frames = frames(8);
        frames.reserve(0x8000_2000, 0x8000_3000);
        assert_eq!(frames.allocate_many(3), Some(0x8000_3000));
        assert_eq!(frames.allocate_many(3), None);
        assert_eq!(frames.allocate_many(2), Some(0x8000_0000));
        assert_eq!(frames.free_frames(), 2);
    }
}
