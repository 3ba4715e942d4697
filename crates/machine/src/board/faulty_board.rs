//! Faults of a board: addresses that refuse accesses, and input that comes corrupted.
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::Range;

use flick_abi::dtu;
use flick_device::RequestFaults;
use flick_hart::PAGE;

use super::{Board, Target};

/// What is wrong with a board.
#[derive(Debug, Default)]
pub struct BoardFaults {
    /// First addresses and bytes.
    refused: RefCell<Vec<(u64, u64)>>,
    /// Bits of the next bytes of input, and how many bytes.
    input: Cell<(u8, u64)>,
    /// A receive endpoint of the unit that has no room, and the slots of it that would be free.
    full: Cell<Option<(u16, u32)>>,
}

fn range((address, size): (u64, u64)) -> Range<u64> {
    address..address.saturating_add(size)
}

/// The state of [`BoardFaults`].
pub type SavedFaults = (Vec<(u64, u64)>, (u8, u64), Option<(u16, u32)>);

impl BoardFaults {
    /// For snapshots.
    pub fn save(&self) -> SavedFaults {
        let refused = self.refused.borrow().clone();
        (refused, self.input.get(), self.full.get())
    }

    /// What [`save`](Self::save) gave.
    pub fn restore(&self, (refused, input, full): &SavedFaults) {
        self.refused.replace(refused.clone());
        self.input.set(*input);
        self.full.set(*full);
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

    /// A receive endpoint of its unit has no room from now on.
    pub(crate) fn fill(&self, endpoint: u16) {
        self.faults.full.set(Some((endpoint, 0)));
    }

    /// It has room again.
    pub(crate) fn empty(&self) {
        if let Some((endpoint, slots)) = self.faults.full.take() {
            // No message is in these slots.
            let register = dtu::endpoint_word(endpoint, 3);
            let before = self.unit_register(register, None);
            self.unit_register(register, Some(before & !u64::from(slots)));
        }
    }

    /// In front of a packet: slots that have become free are occupied, if there is to be no room.
    pub(super) fn keep_full(&self) {
        if let Some((endpoint, slots)) = self.faults.full.get() {
            let count = self.unit_register(dtu::endpoint_word(endpoint, 2), None) >> 8 & 0x3f;
            let all = (1_u64 << count.min(32)) - 1;
            let register = dtu::endpoint_word(endpoint, 3);
            let before = self.unit_register(register, None);
            self.unit_register(register, Some(before | all));
            let free = (all & !before) as u32;
            self.faults.full.set(Some((endpoint, slots | free)));
        }
    }

    /// What a register of its unit has; 0 without a unit. Then it is written.
    fn unit_register(&self, register: u64, value: Option<u64>) -> u64 {
        let unit = self.unit.map_or(Target::Packet, Target::Other);
        self.with(unit, |device, around| {
            let before = device.read(register, 8, around).unwrap_or(0);
            if let Some(value) = value {
                // A board without a unit refuses it.
                let _ = device.write(register, 8, value, around);
            }
            before
        })
    }
}
