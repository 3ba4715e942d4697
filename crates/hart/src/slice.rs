//! How long a hart runs before the others do. A hart runs for a number of cycles at most, its slice. A
//! slice ends early before an instruction that others may see, unless it is the first of the slice: the
//! machine lets the hart with the least time run first, so that all harts agree on the order.
use std::cell::Cell;

/// The cycles of a hart's slice.
#[derive(Debug, Default)]
pub struct Slice {
    /// Cycles up to the next check for interrupts.
    left: Cell<u64>,
    /// Cycles of the slice behind that.
    reserve: Cell<u64>,
    cycles: Cell<u64>,
    ends: Cell<bool>,
    /// No other hart runs, so that each instruction may be seen at once.
    is_alone: Cell<bool>,
}

impl Slice {
    /// Where blocks find the cycles that are left.
    pub const LEFT: usize = std::mem::offset_of!(Slice, left);

    pub fn begin(&self, cycles: u64, is_alone: bool) {
        // The first check is at once.
        self.left.set(0);
        self.reserve.set(cycles);
        self.cycles.set(cycles);
        self.ends.set(false);
        self.is_alone.set(is_alone);
    }

    /// Cycles that have passed since its start.
    pub fn executed(&self) -> u64 {
        self.cycles.get() - self.left.get() - self.reserve.get()
    }

    /// May the next instruction do what other harts see?
    pub fn is_visible(&self) -> bool {
        self.is_alone.get() || self.executed() == 0
    }

    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.left.get() == 0
    }

    /// An instruction has completed, or raised an exception.
    #[inline(always)]
    pub fn pass(&self) {
        self.left.set(self.left.get() - 1);
    }

    /// Checks for interrupts behind the instruction that is being executed.
    pub fn check(&self) {
        if let Some(behind) = self.left.get().checked_sub(1) {
            self.reserve.set(self.reserve.get() + behind);
            self.left.set(1);
        }
    }

    /// Ends behind the instruction that is being executed.
    pub fn end(&self) {
        self.ends.set(true);
        self.check();
    }

    /// The check: goes on for the rest of the slice. False: there is none.
    pub fn go_on(&self) -> bool {
        if self.ends.get() {
            return false;
        }
        self.left.set(self.left.get() + self.reserve.take());
        self.left.get() != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_has_its_cycles_in_parts() {
        let slice = Slice::default();
        slice.begin(5, false);
        assert!(slice.is_due() && slice.is_visible());
        assert!(slice.go_on());
        slice.pass();
        assert!(!slice.is_due() && !slice.is_visible());
        // During the second instruction.
        slice.check();
        slice.pass();
        assert!(slice.is_due());
        assert_eq!(slice.executed(), 2);
        assert!(slice.go_on());
        slice.pass();
        slice.end();
        slice.pass();
        assert!(slice.is_due() && !slice.go_on());
        assert_eq!(slice.executed(), 4);
        slice.begin(1, true);
        assert!(slice.go_on());
        slice.pass();
        assert!(slice.is_visible() && slice.is_due() && !slice.go_on());
    }
}
