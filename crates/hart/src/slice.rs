//! How long a hart runs before the others do. A hart runs for a number of cycles at most, its slice. A
//! slice ends early before an instruction that others may see, unless it is the first of the slice: the
//! machine lets the hart with the least time run first, so that all harts agree on the order.
//!
//! The unit is a cycle in functional mode, and a picosecond in timed mode.
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
    /// Cycles for which the hart stays the first of all, so that the others may see each instruction.
    lead: Cell<u64>,
    /// Cycles beyond the end.
    over: Cell<u64>,
    /// Cycles behind those of `left` that a pause keeps back. There is no check in front of them.
    held: Cell<u64>,
    /// The cycles of the slice after which it pauses.
    pause: Cell<u64>,
}

impl Slice {
    /// Where blocks find the cycles that are left, which belong to this object.
    pub fn left(&self) -> *const Cell<u64> {
        &raw const self.left
    }

    pub fn begin(&self, cycles: u64, lead: u64) {
        // The first check is at once.
        self.left.set(0);
        self.reserve.set(cycles);
        self.cycles.set(cycles);
        self.ends.set(false);
        self.lead.set(lead);
        self.over.set(0);
        self.held.set(0);
        self.pause.set(u64::MAX);
    }

    /// The hart pauses when so many cycles of the slice have passed, and what is due then is done. A
    /// pause changes nothing: the hart goes on as if there were none. In functional mode alone.
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
        self.cycles.get() + self.over.get() - self.left.get() - self.reserve.get() - self.held.get()
    }

    /// May the next instruction do what other harts see?
    pub fn is_visible(&self) -> bool {
        self.executed() <= self.lead.get()
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

    /// Lets more cycles pass during an instruction, whose own one comes in [`pass`](Self::pass) before or
    /// after. An instruction is executed as a whole, so that it may end behind the slice.
    #[inline]
    pub fn charge(&self, cycles: u64) {
        let left = self.left.get();
        // What `pass` takes stays.
        let now = cycles.min(left.saturating_sub(1));
        self.left.set(left - now);
        let rest = cycles - now;
        if rest != 0 {
            let reserve = rest.min(self.reserve.get());
            self.reserve.set(self.reserve.get() - reserve);
            self.over.set(self.over.get() + (rest - reserve));
        }
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

    /// All of it, for a snapshot: cycles that are left, in reserve and in all, for which the hart is the
    /// first, and beyond the end; whether it ends.
    pub fn save(&self) -> ([u64; 5], bool) {
        let left = self.left.get() + self.held.get();
        let (reserve, all) = (self.reserve.get(), self.cycles.get());
        (
            [left, reserve, all, self.lead.get(), self.over.get()],
            self.ends.get(),
        )
    }

    /// False: no slice is so.
    pub fn restore(&self, cycles: [u64; 5], ends: bool) -> bool {
        let [left, reserve, all, lead, over] = cycles;
        let most = left.checked_add(reserve).filter(|&sum| sum <= all);
        if most.is_none() || all > MOST_CYCLES || over > MOST_CYCLES {
            return false;
        }
        self.begin(all, lead);
        self.left.set(left);
        self.reserve.set(reserve);
        self.over.set(over);
        self.ends.set(ends);
        true
    }
}

/// More cycles, or picoseconds in timed mode, has no slice.
pub const MOST_CYCLES: u64 = 1 << 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_has_its_cycles_in_parts() {
        let slice = Slice::default();
        slice.begin(5, 0);
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
        slice.begin(5, 0);
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
        assert!(!slice.restore([3, 3, 5, 0, 0], saved.1));
        slice.begin(1, u64::MAX);
        assert!(slice.go_on());
        slice.pass();
        assert!(slice.is_visible() && slice.is_due() && !slice.go_on());
    }

    #[test]
    fn an_instruction_may_take_more() {
        let slice = Slice::default();
        slice.begin(100, 30);
        assert!(slice.go_on());
        slice.charge(29);
        slice.pass();
        assert!(slice.is_visible() && slice.executed() == 30);
        // Behind a check.
        slice.check();
        slice.charge(9);
        slice.pass();
        assert!(!slice.is_visible() && slice.is_due() && slice.executed() == 40);
        assert!(slice.go_on());
        slice.charge(99);
        slice.pass();
        slice.charge(5);
        assert!(slice.is_due() && !slice.go_on());
        assert_eq!(slice.executed(), 145);
    }
}
