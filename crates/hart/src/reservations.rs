//! Reservations of load-reserved instructions. Harts run one at a time, so that a hart's reservation
//! is in danger while other harts run, or devices write: between its slices. Then it is registered
//! here. Stores to its page take the slow path of each hart, and break it.
//!
//! Source: the manual's chapter "Zalrsc": another hart's or device's store to the reservation set makes
//! the store-conditional fail.
use std::cell::{Cell, RefCell};

use crate::bus::PAGE;

/// Bytes of a reservation set.
const LINE: u64 = 64;
const NONE: u64 = u64::MAX;
/// Slices between a load-reserved and its store-conditional at most: a program that gives up between
/// them must not slow the others down for ever. A loop of the form that has to succeed has 16
/// instructions, and a slice has one at least.
const OLDEST: u32 = 32;

/// The reservations of harts that do not run.
#[derive(Default)]
pub struct Reservations {
    /// By hart: the number of a line, or [`NONE`].
    lines: RefCell<Vec<u64>>,
    /// How many there are.
    registered: Cell<usize>,
}

impl Reservations {
    /// The number of one more hart.
    pub fn add_hart(&self) -> usize {
        let mut lines = self.lines.borrow_mut();
        lines.push(NONE);
        lines.len() - 1
    }

    /// All are broken.
    pub fn clear(&self) {
        self.lines.borrow_mut().fill(NONE);
        self.registered.set(0);
    }

    fn register(&self, hart: usize, line: u64) {
        self.lines.borrow_mut()[hart] = line;
        self.registered.set(self.registered.get() + 1);
    }

    /// Is the reservation still there, which goes?
    fn withdraw(&self, hart: usize) -> bool {
        let line = std::mem::replace(&mut self.lines.borrow_mut()[hart], NONE);
        if line != NONE {
            self.registered.set(self.registered.get() - 1);
        }
        line != NONE
    }

    /// Is nothing reserved?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.registered.get() == 0
    }

    /// Is something in the page reserved?
    #[inline]
    pub fn has(&self, page: u64) -> bool {
        self.registered.get() != 0 && self.pages().any(|reserved| reserved == page)
    }

    /// The pages of all.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        let lines: Vec<u64> = match self.registered.get() {
            0 => vec![],
            _ => self.lines.borrow().clone(),
        };
        let all = lines.into_iter().filter(|&line| line != NONE);
        all.map(|line| line * LINE / PAGE * PAGE)
    }

    /// Bytes in memory have changed.
    #[inline]
    pub fn written(&self, address: u64, size: u64) {
        if self.registered.get() != 0 {
            self.break_lines(address, size);
        }
    }

    #[cold]
    fn break_lines(&self, address: u64, size: u64) {
        let last = address.saturating_add(size.saturating_sub(1));
        let changed = address / LINE..=last / LINE;
        for line in &mut *self.lines.borrow_mut() {
            if *line != NONE && changed.contains(line) {
                *line = NONE;
                self.registered.set(self.registered.get() - 1);
            }
        }
    }
}

/// A hart's own reservation, while it runs.
pub struct Reservation {
    hart: usize,
    line: Cell<u64>,
    /// Slices since the load-reserved.
    age: Cell<u32>,
    /// The hart's slice has begun: others do not run.
    runs: Cell<bool>,
}

impl Reservation {
    /// No reservation of one more hart.
    pub fn new(all: &Reservations) -> Self {
        Self {
            hart: all.add_hart(),
            line: Cell::new(NONE),
            age: Cell::new(0),
            runs: Cell::new(false),
        }
    }

    /// A load-reserved has read from this address.
    pub fn make(&self, physical: u64) {
        self.line.set(physical / LINE);
        self.age.set(0);
    }

    /// Does it have this address? It goes.
    pub fn take(&self, physical: u64) -> bool {
        self.line.replace(NONE) == physical / LINE
    }

    /// It goes.
    pub fn forget(&self) {
        self.line.set(NONE);
    }

    /// The hart runs.
    pub fn begin_slice(&self, all: &Reservations) {
        self.runs.set(true);
        if self.line.get() != NONE && !all.withdraw(self.hart) {
            self.line.set(NONE);
        }
    }

    /// Others run.
    pub fn end_slice(&self, all: &Reservations) {
        self.runs.set(false);
        let line = self.line.get();
        if line == NONE {
            return;
        }
        self.age.set(self.age.get() + 1);
        match self.age.get() > OLDEST {
            true => self.line.set(NONE),
            false => all.register(self.hart, line),
        }
    }

    /// The address of the line, if it is reserved, its age in slices, and whether the hart's slice has
    /// begun. For snapshots.
    pub fn saved(&self, all: &Reservations) -> (Option<(u64, u32)>, bool) {
        let line = match self.runs.get() {
            true => self.line.get(),
            false => all.lines.borrow()[self.hart],
        };
        let line = (line != NONE).then(|| (line * LINE, self.age.get()));
        (line, self.runs.get())
    }

    /// Makes it what [`saved`](Self::saved) gave.
    pub fn restore(&self, all: &Reservations, (saved, runs): (Option<(u64, u32)>, bool)) {
        all.withdraw(self.hart);
        let (line, age) = saved.map_or((NONE, 0), |(address, age)| (address / LINE, age));
        self.line.set(line);
        self.age.set(age);
        self.runs.set(runs);
        if line != NONE && !runs {
            all.register(self.hart, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_between_slices_break_them() {
        let all = Reservations::default();
        let (first, second) = (Reservation::new(&all), Reservation::new(&all));
        first.make(0x1048);
        second.make(0x1080);
        first.end_slice(&all);
        second.end_slice(&all);
        assert!(all.has(0x1000) && !all.has(0x2000));
        all.written(0x103f, 1);
        all.written(0x1080, 4);
        let saved = first.saved(&all);
        assert_eq!(saved, (Some((0x1040, 1)), false));
        assert_eq!(second.saved(&all), (None, false));
        second.begin_slice(&all);
        assert!(!second.take(0x1080));
        first.restore(&all, (None, false));
        first.begin_slice(&all);
        assert!(!first.take(0x1048));
        first.restore(&all, saved);
        first.begin_slice(&all);
        // Its own stores do not.
        all.written(0x1048, 8);
        assert!(!all.has(0x1000) && first.take(0x1070));
        // Only one store-conditional.
        assert!(!first.take(0x1070));
    }

    #[test]
    fn old_ones_go() {
        let all = Reservations::default();
        let hart = Reservation::new(&all);
        hart.make(0);
        for _ in 0..OLDEST {
            hart.end_slice(&all);
            assert!(all.has(0));
            hart.begin_slice(&all);
        }
        hart.end_slice(&all);
        assert!(!all.has(0));
        hart.begin_slice(&all);
        assert!(!hart.take(0));
    }
}
