//! Pages by number of their first touch, so that neither the loader nor the kernel, which choose addresses, show
//! in what caches and TLBs do.

/// log2 of the bytes of what is numbered.
const SHIFT: u32 = 12;
const SLOTS: usize = 1 << 18;
/// Of the small table of recent pages.
const RECENT: usize = 1 << 8;

/// Allocates once: it is used in signal handlers, too.
#[derive(Clone, Debug)]
pub struct Pages {
    /// Open addressing: page + 1 and its number.
    slots: Box<[(u64, u64)]>,
    recent: Box<[(u64, u64); RECENT]>,
    count: u64,
}

impl Default for Pages {
    fn default() -> Self {
        Self {
            slots: vec![(0, 0); SLOTS].into_boxed_slice(),
            recent: Box::new([(0, 0); RECENT]),
            count: 0,
        }
    }
}

impl Pages {
    /// `address` in a space in which pages lie in the order of their first touch.
    #[inline]
    pub fn place(&mut self, address: u64) -> u64 {
        let page = (address >> SHIFT) + 1;
        let recent = self.recent[page as usize % RECENT];
        let number = if recent.0 == page {
            recent.1
        } else {
            let number = self.look_up(page);
            self.recent[page as usize % RECENT] = (page, number);
            number
        };
        number << SHIFT | (address & ((1 << SHIFT) - 1))
    }

    fn look_up(&mut self, page: u64) -> u64 {
        let mut at = (page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % SLOTS;
        // One in four stays free, so that this ends soon.
        for _ in 0..SLOTS {
            let slot = self.slots[at];
            if slot.0 == page {
                return slot.1;
            }
            if slot.0 == 0 {
                let number = self.count;
                if self.count < SLOTS as u64 / 4 * 3 {
                    self.slots[at] = (page, number);
                }
                // Pages beyond the table get a new number each time: more misses, no order of addresses.
                self.count += 1;
                return number;
            }
            at = (at + 1) % SLOTS;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_first_touches() {
        let mut pages = Pages::default();
        assert_eq!(pages.place(0x7fff_1234_5678), 0x678);
        assert_eq!(pages.place(0x5555_0000_0010), 0x1010);
        assert_eq!(pages.place(0x7fff_1234_5000), 0);
        // Through the table, not the recent ones.
        for page in 0..5000_u64 {
            assert_eq!(pages.place(page << 12) >> 12, page + 2);
        }
        assert_eq!(pages.place(0x7fff_1234_5fff), 0xfff);
        assert_eq!(pages.place(17 << 12), 19 << 12);
    }
}
