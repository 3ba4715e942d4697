//! The lines of the host's own memory that are in the nearest cache, in all worlds, by their addresses
//! (`flick_abi::timed::LINES`). Instrumented code looks up each access there, and calls only if the line is missing:
//! the oldest line of a set goes, so that another access to one that is there changes nothing.
//!
//! The models know lines by their places ([`flick_timing::Layout::own_place`]). So an element also has its place, and
//! another table finds the elements of places.
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64};

use flick_abi::timed::LINE_COUNT;

use crate::os::thread_pointer;

/// log2 of the bytes of a line.
pub const LINE: u32 = 6;

/// Of threads without accounts, and of runs that tell each access: no line is known.
static NONE: [AtomicU64; LINE_COUNT] = [const { AtomicU64::new(0) }; LINE_COUNT];

/// As of the clock, nothing in Rust uses this name: see [`NearLines::of_thread`].
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".tdata.flick_timed")]
pub static __flick_timed_line_table: AtomicPtr<AtomicU64> =
    AtomicPtr::new(ptr::from_ref(&NONE).cast::<AtomicU64>().cast_mut());

/// What code of format 1.9 looks at: it calls for each access.
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".tbss.flick_timed")]
pub static __flick_timed_lines: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];

/// Elements by place.
const PLACES: usize = 4 * LINE_COUNT;

/// A thread's lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct NearLines {
    /// Addresses; 0: none. The code reads them.
    lines: [u64; LINE_COUNT],
    /// Numbers of their places.
    places: [u64; LINE_COUNT],
    /// By place, the element that has its line, if any has.
    of_places: [u16; PLACES],
}

fn element(line: u64) -> usize {
    (line >> LINE) as usize % LINE_COUNT
}

fn of_place(place: u64) -> usize {
    (place ^ place >> 12) as usize % PLACES
}

impl NearLines {
    /// No line is known.
    pub fn new() -> Box<Self> {
        Box::new(Self {
            lines: [0; LINE_COUNT],
            places: [0; LINE_COUNT],
            of_places: [0; PLACES],
        })
    }

    /// That of the calling thread, which lives until the process ends. `is_asked`: the code looks at it from now on.
    pub fn of_thread(is_asked: bool) -> &'static mut Self {
        let table = Box::into_raw(Self::new());
        if is_asked {
            let own = thread_pointer::of_thread!("__flick_timed_line_table") as *mut *mut Self;
            // SAFETY: this thread's variable. The lines are the first part.
            unsafe { own.write(table) };
        }
        // SAFETY: it was just made. The code of this thread reads it, while nothing here runs.
        unsafe { &mut *table }
    }

    /// Is the line of an address known?
    pub fn has(&self, address: u64) -> bool {
        let line = address >> LINE << LINE;
        self.lines[element(line)] == line
    }

    /// The line of an address is in the nearest cache, where it has the place of this number.
    pub fn add(&mut self, address: u64, place: u64) {
        let line = address >> LINE << LINE;
        // Who is found at the same element by place would not be found any more.
        let before = usize::from(self.of_places[of_place(place)]);
        if self.lines[before] != 0 && of_place(self.places[before]) == of_place(place) {
            self.lines[before] = 0;
        }
        let own = element(line);
        (self.lines[own], self.places[own]) = (line, place);
        self.of_places[of_place(place)] = own as u16;
    }

    /// The line at the place of this number has left the nearest cache.
    pub fn remove(&mut self, place: u64) {
        let found = usize::from(self.of_places[of_place(place)]);
        if self.places[found] == place {
            self.lines[found] = 0;
        }
    }

    /// No line is known any more.
    pub fn clear(&mut self) {
        self.lines.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_address_and_removed_by_place() {
        let mut table = NearLines::new();
        assert!(!table.has(0x1234));
        table.add(0x1234, 7);
        assert!(table.has(0x1200) && table.has(0x123f) && !table.has(0x1240));
        // Another line at the same element.
        table.add(0x1200 + (1 << 16), 8);
        assert!(!table.has(0x1234) && table.has(0x1_1234));
        table.remove(7);
        assert!(table.has(0x1_1234));
        table.remove(8);
        assert!(!table.has(0x1_1234));
        table.add(0x40, 9);
        table.clear();
        assert!(!table.has(0x40));
    }

    /// Whatever is done, no line is known that has been removed.
    #[test]
    fn what_is_known_was_not_removed() {
        let mut table = NearLines::new();
        let mut known = std::collections::HashMap::new();
        let mut seed = 1_u64;
        let mut kept = 0;
        for _ in 0..100_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Pages lie anywhere.
            let (line, page) = (seed >> 40 & 0x3f, seed >> 50 & 0x1ff);
            let place = (page * 37 % 512) << 6 | line;
            let address = page << 12 | line << LINE;
            if seed >> 33 & 3 != 0 {
                table.add(address, place);
                known.insert(address, place);
            } else {
                table.remove(place);
                known.retain(|_, of| *of != place);
            }
            if address != 0 && !known.contains_key(&address) {
                assert!(!table.has(address));
            }
            kept += usize::from(table.has(address));
        }
        assert!(kept > 70_000);
    }
}
