//! Banks of a memory: each serves one access at a time, in the order of virtual time, or by another
//! policy (`bank_requests.rs`).
use std::cell::Cell;

use serde::{Deserialize, Serialize};

use super::Time;
use super::saved_system::{are_times, set_all};
use crate::machine::Arbitration;

/// How accesses are spread over banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankShape {
    /// Banks, a power of two.
    pub banks: usize,
    /// log2 of the bytes from one bank to the next.
    pub interleave: u32,
    /// How long an access keeps its bank busy.
    pub occupancy: Time,
    /// Which of the accesses that wait for a bank is the next.
    pub arbitration: Arbitration,
}

/// The state of banks.
#[derive(Debug)]
pub struct Banks {
    free_at: Box<[Cell<Time>]>,
    /// By bank: the hart behind the one that was chosen last.
    next: Box<[Cell<u64>]>,
    shape: BankShape,
}

/// When each bank is free, and the hart behind the one that it has chosen last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedBanks {
    free_at: Vec<Time>,
    next: Vec<u64>,
}

impl Banks {
    /// Banks that are free.
    pub fn new(shape: BankShape) -> Self {
        Self {
            free_at: (0..shape.banks).map(|_| Cell::new(0)).collect(),
            next: (0..shape.banks).map(|_| Cell::new(0)).collect(),
            shape,
        }
    }

    /// For snapshots.
    pub fn save(&self) -> SavedBanks {
        let all = |values: &[Cell<u64>]| values.iter().map(Cell::get).collect();
        SavedBanks {
            free_at: all(&self.free_at),
            next: all(&self.next),
        }
    }

    /// False: no banks of this shape, which so many harts use, are so.
    pub fn restore(&self, saved: &SavedBanks, harts: usize) -> bool {
        let banks = self.free_at.len();
        let fits = saved.free_at.len() == banks
            && saved.next.len() == banks
            && are_times(&saved.free_at)
            && saved.next.iter().all(|&next| next < harts.max(1) as u64);
        if fits {
            set_all(&self.free_at, &saved.free_at);
            set_all(&self.next, &saved.next);
        }
        fits
    }

    /// The number of an address's bank.
    pub fn bank_of(&self, address: u64) -> usize {
        (address >> self.shape.interleave) as usize & (self.shape.banks - 1)
    }

    /// An access at `now` keeps its bank busy, for `bytes` longer than each. Returns how long it waits
    /// for the bank before.
    pub fn access(&self, address: u64, bytes: Time, now: Time) -> Time {
        let bank = self.bank_of(address);
        let free = self.free_at[bank].get().max(now);
        self.free_at[bank].set(free + self.shape.occupancy + bytes);
        free - now
    }

    /// Does a bank choose among the harts that wait for it? Otherwise it serves each in its order.
    pub fn choose(&self) -> bool {
        self.shape.arbitration != Arbitration::Fifo
    }

    /// When the bank is free.
    pub fn free_at(&self, bank: usize) -> Time {
        self.free_at[bank].get()
    }

    /// Which of the harts that wait for a bank it serves next. They are given in ascending order.
    pub fn choice(&self, bank: usize, mut waiting: impl Iterator<Item = usize>) -> Option<usize> {
        let first = waiting.next()?;
        let next = self.next[bank].get() as usize;
        let behind = match self.shape.arbitration {
            Arbitration::RoundRobin if first < next => waiting.find(|&hart| hart >= next),
            _ => None,
        };
        Some(behind.unwrap_or(first))
    }

    /// The bank serves one of so many harts from `start` on, for `bytes` longer than each.
    pub fn serve(&self, bank: usize, hart: usize, harts: usize, bytes: Time, start: Time) {
        self.free_at[bank].set(start + self.shape.occupancy + bytes);
        self.next[bank].set(((hart + 1) % harts) as u64);
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
            arbitration: Arbitration::Fifo,
        });
        assert_eq!(banks.access(0, 0, 100), 0);
        assert_eq!(banks.access(64, 0, 100), 0);
        assert_eq!(banks.access(128, 0, 104), 6);
        // Two accesses are in front of it.
        assert_eq!(banks.access(0, 0, 105), 15);
        assert_eq!(banks.access(0, 0, 200), 0);
    }

    #[test]
    fn a_policy_chooses() {
        let chosen = |arbitration| {
            let banks = Banks::new(BankShape {
                banks: 1,
                interleave: 6,
                occupancy: 10,
                arbitration,
            });
            let mut all = vec![];
            for waiting in [&[1, 3][..], &[1, 3], &[0, 1], &[0, 1], &[2], &[]] {
                let hart = banks.choice(0, waiting.iter().copied());
                if let Some(hart) = hart {
                    banks.serve(0, hart, 4, 0, 0);
                }
                all.push(hart);
            }
            all
        };
        let harts = |all: [usize; 5]| [all.map(Some).as_slice(), &[None]].concat();
        assert_eq!(chosen(Arbitration::RoundRobin), harts([1, 3, 0, 1, 2]));
        assert_eq!(chosen(Arbitration::Priority), harts([1, 1, 0, 0, 2]));
    }
}
