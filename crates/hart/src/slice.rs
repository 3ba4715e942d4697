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
    /// Cycles behind those of `left` that a pause keeps back. There is no check in front of them.
    held: Cell<u64>,
    /// The cycles of the slice after which it pauses.
    pause: Cell<u64>,
}

impl Slice {
    pub fn begin(&self, cycles: u64, is_alone: bool) {
        // The first check is at once.
        self.left.set(0);
        self.reserve.set(cycles);
        self.cycles.set(cycles);
        self.ends.set(false);
        self.is_alone.set(is_alone);
        self.held.set(0);
        self.pause.set(u64::MAX);
    }

    /// The hart pauses when so many cycles of the slice have passed, and what is due then is done. A
    /// pause changes nothing: the hart goes on as if there were none.
    pub fn pause_at(&self, cycles: u64) {
        self.left.set(self.left.get() + self.held.take());
        self.pause.set(cycles);
        self.hold();
    }

    fn hold(&self) {
        let allowed = self.pause.get().saturating_sub(self.executed());
        let behind = self.left.get().saturating_sub(allowed);
        self.left.set(self.left.get() - behind);
        self.held.set(self.held.get() + behind);
    }

    /// While it pauses: the next check is in front of the next instruction.
    pub fn recheck(&self) {
        let left = self.left.take() + self.held.take();
        self.reserve.set(self.reserve.get() + left);
    }

    /// Is it due, because it pauses?
    pub fn is_paused(&self) -> bool {
        self.left.get() == 0 && self.held.get() != 0
    }

    /// Cycles that have passed since its start.
    pub fn executed(&self) -> u64 {
        self.cycles.get() - self.left.get() - self.reserve.get() - self.held.get()
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
            let behind = behind + self.held.take();
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
        self.hold();
        self.left.get() != 0 || self.is_paused()
    }

    /// All of it, for a snapshot: cycles that are left, in reserve and in all; whether it ends, and
    /// whether the hart is alone.
    pub fn save(&self) -> ([u64; 3], [bool; 2]) {
        let left = self.left.get() + self.held.get();
        (
            [left, self.reserve.get(), self.cycles.get()],
            [self.ends.get(), self.is_alone.get()],
        )
    }

    /// False: no slice is so.
    pub fn restore(&self, cycles: [u64; 3], flags: [bool; 2]) -> bool {
        let [left, reserve, all] = cycles;
        let most = left.checked_add(reserve).filter(|&sum| sum <= all);
        if most.is_none() || all > MOST_CYCLES {
            return false;
        }
        self.begin(all, flags[1]);
        self.left.set(left);
        self.reserve.set(reserve);
        self.ends.set(flags[0]);
        true
    }
}

/// More cycles has no slice.
const MOST_CYCLES: u64 = 1 << 32;

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
        // A pause is no check.
        slice.begin(5, false);
        slice.pause_at(0);
        assert!(slice.is_due() && !slice.is_paused() && slice.go_on());
        assert!(slice.is_due() && slice.is_paused());
        slice.pause_at(2);
        slice.pass();
        assert!(!slice.is_due());
        slice.pass();
        assert!(slice.is_due() && slice.is_paused());
        let saved = slice.save();
        slice.pause_at(3);
        slice.end();
        slice.pass();
        assert!(slice.is_due() && !slice.is_paused() && !slice.go_on());
        assert!(slice.restore(saved.0, saved.1) && !slice.is_due());
        assert_eq!(slice.executed(), 2);
        assert!(!slice.restore([3, 3, 5], saved.1));
        slice.begin(1, true);
        assert!(slice.go_on());
        slice.pass();
        assert!(slice.is_visible() && slice.is_due() && !slice.go_on());
    }
}
