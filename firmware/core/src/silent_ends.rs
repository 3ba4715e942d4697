//! The harts whose threads have ended without a call, as the kernel hart knows them.
use crate::lines::Pending;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SilentEnds {
    /// Taken, and not dealt with yet, as bits.
    harts: u64,
    /// Harts call when their threads end, since others wait for harts.
    at_once: bool,
}

impl SilentEnds {
    /// None.
    pub const fn new() -> Self {
        Self {
            harts: 0,
            at_once: false,
        }
    }

    /// Do harts call when their threads end?
    pub fn are_told(&self) -> bool {
        self.at_once
    }

    /// Are there any that were taken?
    pub fn has_some(&self) -> bool {
        self.harts != 0
    }

    /// Takes those that there are. Other harts call when their threads end, or do not.
    pub fn take(&mut self, pending: &Pending, at_once: bool) {
        self.harts |= pending.take_ended(at_once);
        self.at_once = at_once;
    }

    /// A hart whose thread has ended. If the hart was asked to save the thread, it calls instead.
    pub fn take_first(&mut self) -> Option<u8> {
        let harts = self.harts;
        self.harts = harts & harts.wrapping_sub(1);
        (harts != 0).then(|| harts.trailing_zeros() as u8)
    }

    /// A hart calls since its thread has ended: it is none of these any more.
    pub fn forget(&mut self, pending: &Pending, hart: u8) {
        pending.has_told(hart);
        self.harts &= !(1 << hart);
    }
}
