//! Faults of a board: addresses that refuse accesses, and input that comes corrupted.
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::Range;

use flick_device::RequestFaults;
use flick_hart::PAGE;

use super::Board;

/// What is wrong with a board.
#[derive(Debug, Default)]
pub struct BoardFaults {
    /// First addresses and bytes.
    refused: RefCell<Vec<(u64, u64)>>,
    /// Bits of the next bytes of input, and how many bytes.
    input: Cell<(u8, u64)>,
}

fn range((address, size): (u64, u64)) -> Range<u64> {
    address..address.saturating_add(size)
}

/// The state of [`BoardFaults`].
pub type SavedFaults = (Vec<(u64, u64)>, (u8, u64));

impl BoardFaults {
    /// For snapshots.
    pub fn save(&self) -> SavedFaults {
        (self.refused.borrow().clone(), self.input.get())
    }

    /// What [`save`](Self::save) gave.
    pub fn restore(&self, (refused, input): &SavedFaults) {
        self.refused.replace(refused.clone());
        self.input.set(*input);
    }

    /// Does an access of these bytes fault?
    pub fn refuses(&self, address: u64, size: u64) -> bool {
        let accessed = range((address, size));
        let all = self.refused.borrow();
        let mut ranges = all.iter().map(|&refused| range(refused));
        ranges.any(|range| range.start < accessed.end && accessed.start < range.end)
    }

    /// The same, of whole pages of memory.
    pub fn refuses_pages(&self, address: u64, size: u64) -> bool {
        let start = address / PAGE * PAGE;
        let end = address.saturating_add(size).checked_next_multiple_of(PAGE);
        self.refuses(start, end.unwrap_or(u64::MAX) - start)
    }

    /// What bytes from outside become.
    pub fn corrupted<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let (bits, count) = self.input.get();
        if count == 0 {
            return bytes.into();
        }
        let pairs = (0..).zip(bytes);
        let all = pairs.map(|(n, &byte)| if n < count { byte ^ bits } else { byte });
        all.collect()
    }

    /// A device has taken so many of them.
    pub fn taken(&self, bytes: usize) {
        let (bits, count) = self.input.get();
        self.input.set((bits, count.saturating_sub(bytes as u64)));
    }
}

impl Board {
    /// Accesses of these addresses fault.
    pub(crate) fn refuse(&self, address: u64, size: u64) {
        self.faults.refused.borrow_mut().push((address, size));
    }

    /// They do not fault any more.
    pub(crate) fn allow(&self, address: u64, size: u64) {
        let mut all = self.faults.refused.borrow_mut();
        if let Some(at) = all.iter().position(|&range| range == (address, size)) {
            all.remove(at);
        }
    }

    /// Bits of the next bytes of input change.
    pub(crate) fn corrupt_input(&self, bits: u8, bytes: u64) {
        self.faults.input.set((bits, bytes));
    }

    /// The faults of the requests to the disk of this number.
    pub(crate) fn with_request_faults<R>(
        &self,
        disk: usize,
        f: impl FnOnce(&mut RequestFaults) -> R,
    ) -> Option<R> {
        let mut disks = self.devices.iter().filter(|device| {
            let mut device = device.borrow_mut();
            device.request_faults().is_some()
        });
        let mut device = disks.nth(disk)?.borrow_mut();
        device.request_faults().map(f)
    }
}
