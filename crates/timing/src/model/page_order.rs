//! Numbers of pages in the order of their first touch. The loader and the kernel choose addresses.
//! By these numbers, the behaviour of caches and TLBs does not depend on that choice.

/// log2 of the bytes of a numbered page.
const SHIFT: u32 = 12;
/// log2 of the slots of a table.
const SMALL: u32 = 18;
/// The same where the host's own data is looked at: 12 GiB of it.
const LARGE: u32 = 22;
/// Size of the small table of recent pages.
const RECENT: usize = 1 << 8;

/// The table is allocated once, because signal handlers use it, too.
#[derive(Clone, Debug)]
pub struct Pages {
    /// A hash table with open addressing: page + 1 and its number.
    slots: Box<[(u64, u64)]>,
    recent: Box<[(u64, u64); RECENT]>,
    count: u64,
    /// log2 of the length of `slots`.
    shift: u32,
}

impl Default for Pages {
    fn default() -> Self {
        Self::with_slots(SMALL)
    }
}

impl Pages {
    /// Numbers for a program whose own data is looked at, too.
    pub fn of_host() -> Self {
        Self::with_slots(LARGE)
    }

    fn with_slots(shift: u32) -> Self {
        Self {
            slots: vec![(0, 0); 1 << shift].into_boxed_slice(),
            recent: Box::new([(0, 0); RECENT]),
            count: 0,
            shift,
        }
    }

    /// The place of `address` in a space in which pages are in the order of their first touch.
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
        let slots = self.slots.len();
        let mut at = (page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % slots;
        // A quarter of the entries stays free, so that this loop ends soon.
        for _ in 0..slots {
            let slot = self.slots[at];
            if slot.0 == page {
                return slot.1;
            }
            if slot.0 == 0 {
                let number = self.count;
                if self.count < (3 << self.shift) / 4 {
                    self.slots[at] = (page, number);
                }
                // Pages beyond the table get a new number each time. This makes more misses, but
                // costs still do not depend on the order of addresses.
                self.count += 1;
                return number;
            }
            at = (at + 1) % slots;
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
        // These go through the table, and not through the recent pages.
        for page in 0..5000_u64 {
            assert_eq!(pages.place(page << 12) >> 12, page + 2);
        }
        assert_eq!(pages.place(0x7fff_1234_5fff), 0xfff);
        assert_eq!(pages.place(17 << 12), 19 << 12);
    }
}
