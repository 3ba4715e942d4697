//! Where jumps through registers lead: a table that translated code reads and the translator fills.
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Guest or host address, and the host address of what to call for it. A slot in use is not changed
/// but by [`Targets::invalidate`].
#[repr(C, align(16))]
pub struct Slot {
    target: AtomicU64,
    entry: AtomicU64,
}

const COUNT: usize = 1 << 15;
/// These bits of an address choose its slot: instructions are at even addresses.
pub const MASK: u32 = (COUNT as u32 - 1) << 1;
/// Times what [`MASK`] leaves of an address is the distance of its slot from the start of the
/// table.
pub const SCALE: u32 = size_of::<Slot>() as u32 / 2;
/// Slots that a target may be in, from its own on. Translated code looks at the first only.
const PROBES: usize = 8;

/// A table of host addresses by guest address, for calls through registers.
#[repr(C)]
pub struct Targets {
    slots: [Slot; COUNT],
    /// Something was remembered.
    used: AtomicBool,
}

const _: () = assert!(std::mem::offset_of!(Targets, used) == COUNT * 16);

fn places(target: u64) -> impl Iterator<Item = usize> {
    let first = (target as u32 & MASK) as usize / 2;
    (0..PROBES).map(move |n| (first + n) % COUNT)
}

impl Targets {
    /// All zero: call [`Targets::init`] before it is used.
    pub const fn zero() -> Self {
        Self {
            slots: [const {
                Slot {
                    target: AtomicU64::new(0),
                    entry: AtomicU64::new(0),
                }
            }; COUNT],
            used: AtomicBool::new(false),
        }
    }

    /// Call once, on zeroes: address 0 is no target, but its slot would look as if it were. It gets
    /// a target that is looked for elsewhere.
    pub fn init(&self) {
        const OF_ANOTHER_SLOT: u64 = 2;
        self.slots[0]
            .target
            .store(OF_ANOTHER_SLOT, Ordering::Relaxed);
    }

    /// An empty one on the heap.
    pub fn boxed() -> Box<Self> {
        let layout = std::alloc::Layout::new::<Self>();
        // SAFETY: zeroes are a valid table, and the layout is that of the type.
        let targets = unsafe {
            let place = std::alloc::alloc_zeroed(layout).cast::<Self>();
            if place.is_null() {
                std::alloc::handle_alloc_error(layout);
            }
            Box::from_raw(place)
        };
        targets.init();
        targets
    }

    /// What stands for a target in the middle of a function, which translated code must not find by
    /// itself: more registers are handed over there than at a call. No address.
    pub fn middle(target: u64) -> u64 {
        !target
    }

    /// What to call for a target, if that is known.
    pub fn get(&self, target: u64) -> Option<u64> {
        self.find(target)
            .or_else(|| self.find(Self::middle(target)))
    }

    fn find(&self, target: u64) -> Option<u64> {
        // What an empty slot has.
        if target == 0 {
            return None;
        }
        let known = |at: usize| self.slots[at].target.load(Ordering::Acquire) == target;
        let at = places(target).find(|&at| known(at))?;
        Some(self.slots[at].entry.load(Ordering::Relaxed))
    }

    /// Remembers it if there is room. By who has the translator alone.
    pub fn insert(&self, target: u64, entry: u64) {
        let free = |at: &usize| {
            let known = self.slots[*at].target.load(Ordering::Relaxed);
            known == 0 || known == target
        };
        if let Some(at) = places(target).find(free) {
            self.used.store(true, Ordering::Relaxed);
            self.slots[at].entry.store(entry, Ordering::Relaxed);
            self.slots[at].target.store(target, Ordering::Release);
        }
    }

    /// Invalidates the entries that lead to or from a place that `gone` names. By who has the
    /// translator alone.
    pub fn invalidate(&self, gone: impl Fn(u64) -> bool) {
        // Most processes register their modules before anything is remembered.
        if !self.used.load(Ordering::Relaxed) {
            return;
        }
        for slot in &self.slots[1..] {
            let target = slot.target.load(Ordering::Relaxed);
            let named = gone(target) || gone(Self::middle(target));
            if target != 0
                && target != u64::MAX
                && (named || gone(slot.entry.load(Ordering::Relaxed)))
            {
                slot.target.store(0, Ordering::Release);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_one_slot_and_the_end() {
        let targets = Targets::boxed();
        let size = 2 * COUNT as u64;
        let last = u64::from(MASK);
        for n in 0..PROBES as u64 {
            targets.insert(last + n * size, 100 + n);
        }
        for n in 0..PROBES as u64 - 1 {
            assert_eq!(targets.get(last + n * size), Some(100 + n));
        }
        // There is no more room: the first slot of the table stays out.
        assert_eq!(targets.get(last + 7 * size), None);
        assert_eq!(targets.get(0), None);
        targets.invalidate(|at| at == last || at == 101);
        assert_eq!(targets.get(last), None);
        assert_eq!(targets.get(last + size), None);
        assert_eq!(targets.get(last + 2 * size), Some(102));
        targets.insert(last, 7);
        assert_eq!(targets.get(last), Some(7));
    }

    #[test]
    fn middles_are_apart_and_forgotten_with_their_address() {
        let targets = Targets::boxed();
        targets.insert(Targets::middle(0x1234), 5);
        assert_eq!(targets.get(0x1234), Some(5));
        assert_eq!(targets.find(0x1234), None);
        targets.invalidate(|at| at == 0x1234);
        assert_eq!(targets.get(0x1234), None);
    }
}
