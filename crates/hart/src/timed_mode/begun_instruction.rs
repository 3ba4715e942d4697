//! An instruction that waits for its turn, or for a bank, and is executed once more: it must not pay twice for a part of it
//! that is behind it. Otherwise it might never come to its last access, because each time another hart
//! is the first of all by then. Caches keep lines, and TLBs translations. What no cache keeps is here.
use std::cell::{Cell, RefCell};

use flick_timing::memory_system::{END_OF_TIME, Kind, Time};
use serde::{Deserialize, Serialize};

/// An access: what it is for, and its physical address.
type Made = (Kind, u64);

/// What a hart knows of its instruction.
#[derive(Debug, Default)]
pub struct BegunInstruction {
    /// Instructions that have completed before it.
    number: Cell<u64>,
    /// What its execution has taken in front of accesses.
    charged: Cell<Time>,
    /// What is left of the same of earlier executions.
    paid: Cell<Time>,
    /// The vector element at which it goes on.
    element: Cell<u64>,
    /// Accesses of this execution that no cache keeps.
    made: RefCell<Vec<Made>>,
    /// What is left of the same of earlier executions.
    made_before: RefCell<Vec<Made>>,
    /// It waits for a bank.
    waits: Cell<bool>,
}

/// A [`BegunInstruction`], for snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedBegun {
    number: u64,
    charged: Time,
    paid: Time,
    element: u64,
    made: Vec<Made>,
    made_before: Vec<Made>,
    waits: bool,
}

impl BegunInstruction {
    /// So many instructions have completed.
    fn follow(&self, completed: u64) {
        if self.number.replace(completed) != completed {
            self.forget();
        }
    }

    /// Another instruction follows, without this one's end.
    pub fn forget(&self) {
        self.charged.set(0);
        self.paid.set(0);
        self.element.set(0);
        self.made.borrow_mut().clear();
        self.made_before.borrow_mut().clear();
        self.waits.set(false);
    }

    /// What is to be charged of a time in front of accesses.
    #[cold]
    #[inline(never)]
    pub fn charge(&self, completed: u64, time: Time) -> Time {
        self.follow(completed);
        self.charged.set(self.charged.get() + time);
        let paid = self.paid.get().min(time);
        self.paid.set(self.paid.get() - paid);
        time - paid
    }

    /// An access has been made that no cache keeps.
    pub fn make(&self, completed: u64, access: Made) {
        self.follow(completed);
        self.made.borrow_mut().push(access);
    }

    /// Was the access made in an earlier execution?
    pub fn was_made(&self, completed: u64, access: Made) -> bool {
        self.follow(completed);
        let mut before = self.made_before.borrow_mut();
        let Some(at) = before.iter().position(|&other| other == access) else {
            return false;
        };
        before.remove(at);
        self.made.borrow_mut().push(access);
        true
    }

    /// It is executed once more, from this vector element on.
    pub fn postpone(&self, completed: u64, element: u64) {
        self.follow(completed);
        self.paid.set(self.paid.get() + self.charged.take());
        let (mut made, mut before) = (self.made.borrow_mut(), self.made_before.borrow_mut());
        if self.element.replace(element) != element {
            // Accesses of elements before are not made again.
            made.clear();
            before.clear();
        }
        before.append(&mut made);
    }

    /// It waits for a bank.
    pub fn wait(&self, completed: u64) {
        self.follow(completed);
        self.waits.set(true);
    }

    /// Has it waited for a bank until now?
    #[cold]
    #[inline(never)]
    pub fn take_wait(&self, completed: u64) -> bool {
        self.follow(completed);
        self.waits.take()
    }

    pub fn save(&self) -> SavedBegun {
        SavedBegun {
            number: self.number.get(),
            charged: self.charged.get(),
            paid: self.paid.get(),
            element: self.element.get(),
            made: self.made.borrow().clone(),
            made_before: self.made_before.borrow().clone(),
            waits: self.waits.get(),
        }
    }

    /// False: no instruction is so.
    pub fn restore(&self, saved: &SavedBegun) -> bool {
        self.number.set(saved.number);
        self.charged.set(saved.charged);
        self.paid.set(saved.paid);
        self.element.set(saved.element);
        self.made.replace(saved.made.clone());
        self.made_before.replace(saved.made_before.clone());
        self.waits.set(saved.waits);
        let times = [saved.charged, saved.paid];
        times.iter().all(|&time| time < END_OF_TIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_pays_once() {
        let begun = BegunInstruction::default();
        let first = (Kind::Load, 0x40);
        assert_eq!(begun.charge(7, 3), 3);
        assert!(!begun.was_made(7, first));
        begun.make(7, first);
        begun.wait(7);
        for n in 0..3 {
            begun.postpone(7, 0);
            assert_eq!(begun.take_wait(7), n == 0);
            assert_eq!(begun.charge(7, 3), 0);
            assert!(begun.was_made(7, first));
            // Once for each time that it was made.
            assert!(!begun.was_made(7, first));
            assert!(!begun.was_made(7, (Kind::Store, 0x40)));
        }
        // A part of a longer charge.
        begun.postpone(7, 0);
        assert_eq!(begun.charge(7, 5), 2);
        let other = BegunInstruction::default();
        assert!(other.restore(&begun.save()));
        assert_eq!(other.save(), begun.save());
        // Elements before the one at which it goes on are behind it; their time is not charged again.
        assert!(begun.was_made(7, first));
        begun.postpone(7, 2);
        assert_eq!(begun.charge(7, 5), 0);
        assert!(!begun.was_made(7, first));
        // Another instruction.
        begun.make(7, first);
        begun.postpone(7, 2);
        assert_eq!(begun.charge(8, 3), 3);
        assert!(!begun.was_made(8, first));
        begun.make(8, first);
        begun.wait(8);
        begun.postpone(8, 0);
        begun.forget();
        assert!(!begun.take_wait(8) && !begun.was_made(8, first));
        begun.wait(8);
        assert!(!begun.take_wait(9));
    }
}
