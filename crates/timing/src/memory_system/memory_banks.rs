//! Banks of a memory or of a shared cache: each serves one access at a time, in the order of virtual
//! time.
use std::cell::Cell;

use super::Time;
use super::saved_system::{are_times, set_all};

/// How accesses are spread over banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankShape {
    /// Banks, a power of two.
    pub banks: usize,
    /// log2 of the bytes from one bank to the next.
    pub interleave: u32,
    /// How long an access keeps its bank busy.
    pub occupancy: Time,
}

/// The state of banks.
#[derive(Debug)]
pub struct Banks {
    free_at: Box<[Cell<Time>]>,
    shape: BankShape,
}

impl Banks {
    /// Banks that are free.
    pub fn new(shape: BankShape) -> Self {
        Self {
            free_at: (0..shape.banks).map(|_| Cell::new(0)).collect(),
            shape,
        }
    }

    /// When each is free, for snapshots.
    pub fn save(&self) -> Vec<Time> {
        self.free_at.iter().map(Cell::get).collect()
    }

    /// False: no banks of this shape are so.
    pub fn restore(&self, free_at: &[Time]) -> bool {
        let fits = free_at.len() == self.free_at.len() && are_times(free_at);
        if fits {
            set_all(&self.free_at, free_at);
        }
        fits
    }

    /// An access at `now` keeps its bank busy, for `bytes` longer than each. Returns how long it waits
    /// for the bank before.
    pub fn access(&self, address: u64, bytes: Time, now: Time) -> Time {
        let bank = (address >> self.shape.interleave) as usize & (self.shape.banks - 1);
        let free = self.free_at[bank].get().max(now);
        self.free_at[bank].set(free + self.shape.occupancy + bytes);
        free - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_bank_delays() {
        let banks = Banks::new(BankShape {
            banks: 2,
            interleave: 6,
            occupancy: 10,
        });
        assert_eq!(banks.access(0, 0, 100), 0);
        assert_eq!(banks.access(64, 0, 100), 0);
        assert_eq!(banks.access(128, 0, 104), 6);
        // Two accesses are in front of it.
        assert_eq!(banks.access(0, 0, 105), 15);
        assert_eq!(banks.access(0, 0, 200), 0);
    }
}
