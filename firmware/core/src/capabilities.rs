//! Capabilities: rights of processes to objects of the root kernel, in a tree by derivation (M3x, section 3.3).
//! If a capability is revoked, all that were derived from it go with it.

/// The place of a capability in the table.
pub type Place = u16;

const NOBODY: Place = Place::MAX;

/// Processes have numbers below this one.
pub const OWNERS: usize = 64;

/// A place in the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry<T> {
    /// `None`: the place is free.
    object: Option<T>,
    /// The process that has it.
    owner: u16,
    /// How often the place was used.
    uses: u16,
    parent: Place,
    /// The child that was derived last.
    child: Place,
    /// Its neighbours among its parent's children. Of a free place, `next` is the next free one.
    next: Place,
    previous: Place,
}

impl<T> Entry<T> {
    /// A free place.
    pub const FREE: Self = Self {
        object: None,
        owner: 0,
        uses: 0,
        parent: NOBODY,
        child: NOBODY,
        next: NOBODY,
        previous: NOBODY,
    };
}

/// A capability is revoked, and all that were derived from it.
#[derive(Clone, Copy, Debug)]
pub struct Revocation {
    top: Place,
    /// Where the next one is looked for: so each step of the way down is taken once.
    at: Place,
}

impl Revocation {
    /// None was taken yet.
    pub const fn of(top: Place) -> Self {
        Self { top, at: top }
    }
}

/// The capabilities of all processes.
#[derive(Debug)]
pub struct Capabilities<'a, T> {
    entries: &'a mut [Entry<T>],
    free: Place,
    used: usize,
    counts: [u16; OWNERS],
    /// By process: whose count its capabilities are in.
    accounts: [u8; OWNERS],
    /// The most that a process may have.
    quota: usize,
}

/// Each process has an account of its own.
const OWN: [u8; OWNERS] = {
    let (mut all, mut n) = ([0; OWNERS], 0);
    while n < OWNERS {
        all[n] = n as u8;
        n += 1;
    }
    all
};

impl<T> Default for Capabilities<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Capabilities<'_, T> {
    /// No place.
    pub const fn new() -> Self {
        Self {
            entries: &mut [],
            free: NOBODY,
            used: 0,
            counts: [0; OWNERS],
            accounts: OWN,
            quota: 0,
        }
    }
}

impl<'a, T: Copy> Capabilities<'a, T> {
    /// Capabilities at these places, of which a process may have so many. At most 65,535 places are used.
    pub fn with_entries(entries: &'a mut [Entry<T>], quota: usize) -> Self {
        let count = entries.len().min(usize::from(NOBODY));
        let entries = &mut entries[..count];
        for (n, entry) in entries.iter_mut().enumerate() {
            let next = if n + 1 == count {
                NOBODY
            } else {
                n as Place + 1
            };
            *entry = Entry {
                next,
                ..Entry::FREE
            };
        }
        Self {
            free: if count == 0 { NOBODY } else { 0 },
            entries,
            used: 0,
            counts: [0; OWNERS],
            accounts: OWN,
            quota,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.used
    }

    /// The capabilities of a process count as those of another one from now on. It has none.
    pub fn set_account(&mut self, owner: u16, account: u16) {
        if let Some(of) = self.accounts.get_mut(usize::from(owner)) {
            *of = account as u8;
        }
    }

    /// In whose count the capabilities of a process are.
    pub fn account(&self, owner: u16) -> u16 {
        let account = self.accounts.get(usize::from(owner));
        account.map_or(owner, |account| u16::from(*account))
    }

    /// The same with all that the process has. False: that account would have too many.
    pub fn move_account(&mut self, owner: u16, account: u16) -> bool {
        let is_its = |entry: &&Entry<T>| entry.object.is_some() && entry.owner == owner;
        let own = self.entries.iter().filter(is_its).count() as u16;
        let to = self.counts.get(usize::from(account)).copied();
        if to.is_none_or(|to| usize::from(to + own) > self.quota) {
            return false;
        }
        if let Some(count) = self.count_of(owner) {
            *count -= own;
        }
        self.set_account(owner, account);
        if let Some(count) = self.count_of(owner) {
            *count += own;
        }
        true
    }

    fn count_of(&mut self, owner: u16) -> Option<&mut u16> {
        let account = *self.accounts.get(usize::from(owner))?;
        self.counts.get_mut(usize::from(account))
    }

    fn entry(&self, place: Place) -> Option<&Entry<T>> {
        self.entries.get(usize::from(place))
    }

    fn change(&mut self, place: Place, f: impl FnOnce(&mut Entry<T>)) {
        if let Some(entry) = self.entries.get_mut(usize::from(place)) {
            f(entry);
        }
    }

    /// A capability for a process, derived from another one. `None`: the table is full, or the process has as
    /// many as it may.
    pub fn add(&mut self, owner: u16, object: T, parent: Option<Place>) -> Option<Place> {
        let place = self.free;
        let free = self.entry(place)?.next;
        let quota = self.quota;
        let count = self.count_of(owner)?;
        if usize::from(*count) >= quota {
            return None;
        }
        *count += 1;
        let parent = parent.unwrap_or(NOBODY);
        let sibling = self.entry(parent).map_or(NOBODY, |entry| entry.child);
        self.free = free;
        self.used += 1;
        self.change(place, |entry| {
            *entry = Entry {
                object: Some(object),
                owner,
                // Numbers are positive in 32 bits.
                uses: entry.uses.wrapping_add(1) & 0x7fff,
                parent,
                child: NOBODY,
                next: sibling,
                previous: NOBODY,
            };
        });
        self.change(sibling, |entry| entry.previous = place);
        self.change(parent, |entry| entry.child = place);
        Some(place)
    }

    /// The number by which the owner names it: an old number is of no capability.
    pub fn number(&self, place: Place) -> u64 {
        let uses = self.entry(place).map_or(0, |entry| entry.uses);
        u64::from(place) | u64::from(uses) << 16
    }

    /// A process's capability of this number, and its object.
    pub fn find(&self, owner: u16, number: u64) -> Option<(Place, T)> {
        let place = number as Place;
        let entry = self.entry(place)?;
        let is_it = entry.owner == owner && self.number(place) == number;
        Some((place, entry.object.filter(|_| is_it)?))
    }

    /// The object at a place, whoever has it.
    pub fn object(&self, place: Place) -> Option<T> {
        self.entry(place)?.object
    }

    /// Its object changes.
    pub fn set(&mut self, place: Place, object: T) {
        self.change(place, |entry| {
            if entry.object.is_some() {
                entry.object = Some(object);
            }
        });
    }

    /// Takes a capability that has no children out of the table: the place itself, or one below. The parent's place,
    /// and the object. `None`: the place is free.
    fn take_below(&mut self, from: Place) -> Option<(Place, T)> {
        let mut place = from;
        while let Some(child) = self.entry(place).map(|entry| entry.child)
            && child != NOBODY
        {
            place = child;
        }
        let entry = *self.entry(place)?;
        let object = entry.object?;
        self.change(entry.parent, |parent| {
            if parent.child == place {
                parent.child = entry.next;
            }
        });
        self.change(entry.previous, |previous| previous.next = entry.next);
        self.change(entry.next, |next| next.previous = entry.previous);
        let free = core::mem::replace(&mut self.free, place);
        self.change(place, |entry| {
            entry.object = None;
            (entry.parent, entry.child) = (NOBODY, NOBODY);
            (entry.previous, entry.next) = (NOBODY, free);
        });
        self.used -= 1;
        if let Some(count) = self.count_of(entry.owner) {
            *count -= 1;
        }
        Some((entry.parent, object))
    }

    /// Takes the next capability out of those that a revocation takes; the first one is the last that goes. It is
    /// called until it returns `None`, and whoever does so takes care of each object. Nothing may be added
    /// meanwhile, and others may be revoked.
    pub fn revoke_next(&mut self, revocation: &mut Revocation) -> Option<T> {
        let is_there = |place| {
            self.entry(place)
                .is_some_and(|entry| entry.object.is_some())
        };
        if !is_there(revocation.top) {
            return None;
        }
        let from = match is_there(revocation.at) {
            true => revocation.at,
            // It was revoked by itself meanwhile.
            false => revocation.top,
        };
        let (parent, object) = self.take_below(from)?;
        revocation.at = parent;
        Some(object)
    }

    /// A capability of a process, at the place `from` or behind it: when the process has ended they are revoked.
    pub fn any_of(&self, owner: u16, from: Place) -> Option<Place> {
        let is_its = |entry: &Entry<T>| entry.object.is_some() && entry.owner == owner;
        let first = usize::from(from);
        let place = self.entries.get(first..)?.iter().position(is_its)?;
        Some((first + place) as Place)
    }

    /// The first object that fits.
    pub fn find_object(&self, fits: impl Fn(&T) -> bool) -> Option<T> {
        let mut objects = self.entries.iter().filter_map(|entry| entry.object);
        objects.find(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A capability of the model, which has children by search.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Known {
        number: u64,
        owner: u16,
        object: u32,
        parent: Option<u64>,
    }

    fn below(all: &[Known], number: u64) -> Vec<Known> {
        let mut found: Vec<Known> = all.iter().copied().filter(|k| k.number == number).collect();
        let mut from = 0;
        while from < found.len() {
            let parent = Some(found[from].number);
            found.extend(all.iter().copied().filter(|known| known.parent == parent));
            from += 1;
        }
        found
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 16) as usize % limit.max(1)
        }
    }

    fn revoke(table: &mut Capabilities<'_, u32>, place: Place) -> Vec<u32> {
        let mut revocation = Revocation::of(place);
        core::iter::from_fn(|| table.revoke_next(&mut revocation)).collect()
    }

    #[test]
    fn random_derivations_and_revocations_are_those_of_a_search() {
        for seed in 1..40_u64 {
            let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let mut entries = vec![Entry::FREE; 1 + random.below(60)];
            let (places, quota) = (entries.len(), 1 + random.below(40));
            let mut table = Capabilities::with_entries(&mut entries, quota);
            let mut all: Vec<Known> = vec![];
            for object in 0..2000_u32 {
                let owner = random.below(4) as u16;
                let known = (!all.is_empty()).then(|| all[random.below(all.len())]);
                match (random.below(8), known) {
                    (0, Some(known)) => {
                        let place = table.find(known.owner, known.number).unwrap().0;
                        let gone = below(&all, known.number);
                        let mut revoked = revoke(&mut table, place);
                        assert_eq!(revoked.last(), Some(&known.object), "it goes last");
                        revoked.sort_unstable();
                        let mut expected: Vec<u32> = gone.iter().map(|k| k.object).collect();
                        expected.sort_unstable();
                        assert_eq!(revoked, expected);
                        all.retain(|known| !gone.contains(known));
                        for known in gone {
                            assert_eq!(table.find(known.owner, known.number), None);
                        }
                    }
                    (_, parent) => {
                        let parent = parent.filter(|_| random.below(5) != 0);
                        let at = parent.and_then(|k| table.find(k.owner, k.number));
                        let added = table.add(owner, object, at.map(|(place, _)| place));
                        let count = all.iter().filter(|known| known.owner == owner).count();
                        let has_room = all.len() < places && count < quota;
                        assert_eq!(added.is_some(), has_room);
                        if let Some(place) = added {
                            all.push(Known {
                                number: table.number(place),
                                owner,
                                object,
                                parent: parent.map(|known| known.number),
                            });
                        }
                    }
                }
                assert_eq!(table.count(), all.len());
                for known in &all {
                    let found = table.find(known.owner, known.number).map(|(_, o)| o);
                    assert_eq!(found, Some(known.object));
                    assert_eq!(table.find(known.owner ^ 1, known.number), None);
                }
            }
            for owner in 0..4 {
                while let Some(place) = table.any_of(owner, 0) {
                    assert!(!revoke(&mut table, place).is_empty());
                }
            }
            assert_eq!(table.count(), 0);
        }
    }

    #[test]
    fn ten_thousand_derivations_in_a_row_are_revoked_without_a_stack() {
        let mut entries = vec![Entry::FREE; 10_001];
        let mut table = Capabilities::with_entries(&mut entries, usize::MAX);
        let top = table.add(1, 0, None).unwrap();
        let mut last = top;
        for n in 1..=10_000_u32 {
            last = table.add((n % 7) as u16, n, Some(last)).unwrap();
        }
        assert_eq!(table.add(1, 0, Some(last)), None, "it is full");
        let revoked = revoke(&mut table, top);
        let expected: Vec<u32> = (0..=10_000).rev().collect();
        assert_eq!(revoked, expected);
    }

    #[test]
    fn a_revocation_goes_on_when_others_were_revoked_meanwhile() {
        let mut entries = vec![Entry::FREE; 9];
        let mut table = Capabilities::with_entries(&mut entries, 9);
        let top = table.add(1, 0, None).unwrap();
        let middle = table.add(1, 1, Some(top)).unwrap();
        let leaves = [2, 3, 4].map(|n| table.add(1, n, Some(middle)).unwrap());
        let mut revocation = Revocation::of(top);
        assert_eq!(table.revoke_next(&mut revocation), Some(4));
        assert_eq!(revoke(&mut table, leaves[0]), [2]);
        assert_eq!(revoke(&mut table, leaves[1]), [3]);
        assert_eq!(table.revoke_next(&mut revocation), Some(1));
        assert_eq!(table.revoke_next(&mut revocation), Some(0));
        assert_eq!(table.revoke_next(&mut revocation), None);
        assert_eq!(table.count(), 0);
        // All of a branch, in which it was.
        let top = table.add(1, 0, None).unwrap();
        let [left, right] = [1, 2].map(|n| table.add(1, n, Some(top)).unwrap());
        for n in [3, 4] {
            table.add(1, n, Some(right)).unwrap();
        }
        let mut revocation = Revocation::of(top);
        assert_eq!(table.revoke_next(&mut revocation), Some(4));
        assert_eq!(revoke(&mut table, right), [3, 2]);
        assert_eq!(table.revoke_next(&mut revocation), Some(1));
        assert_eq!(table.revoke_next(&mut revocation), Some(0));
        assert_eq!(table.revoke_next(&mut revocation), None);
        assert_eq!(
            (table.count(), table.find(1, table.number(left))),
            (0, None)
        );
    }

    #[test]
    fn processes_with_one_account_share_a_quota() {
        let mut entries = vec![Entry::FREE; 9];
        let mut table = Capabilities::with_entries(&mut entries, 3);
        table.set_account(5, 63);
        table.set_account(6, 63);
        let first = table.add(5, 0, None).unwrap();
        table.add(6, 1, None).unwrap();
        table.add(6, 2, None).unwrap();
        assert_eq!((table.add(5, 3, None), table.add(6, 3, None)), (None, None));
        assert!(table.add(7, 4, None).is_some());
        assert_eq!(revoke(&mut table, first), [0]);
        assert!(table.add(6, 5, None).is_some());
    }

    #[test]
    fn a_process_moves_to_another_account_with_all_that_it_has() {
        let mut entries = vec![Entry::FREE; 9];
        let mut table = Capabilities::with_entries(&mut entries, 3);
        table.set_account(5, 63);
        let first = table.add(5, 0, None).unwrap();
        table.add(5, 1, None).unwrap();
        table.add(62, 2, None).unwrap();
        table.add(62, 3, None).unwrap();
        // It would have four.
        assert!(!table.move_account(5, 62));
        assert!(table.add(63, 4, None).is_some());
        assert!(table.add(63, 5, None).is_none());
        assert!(table.move_account(5, 61));
        assert!(table.add(63, 6, None).is_some());
        assert!(table.add(61, 7, None).is_some());
        assert!(table.add(5, 8, None).is_none());
        assert_eq!(revoke(&mut table, first), [0]);
        assert!(table.add(61, 9, None).is_some());
        assert!(table.add(61, 10, None).is_none());
    }

    #[test]
    fn hostile_numbers_are_of_nothing() {
        let mut entries = vec![Entry::FREE; 3];
        let mut table = Capabilities::with_entries(&mut entries, 3);
        let place = table.add(1, 7, None).unwrap();
        let number = table.number(place);
        for wrong in [
            number + 1,
            number + (1 << 16),
            number | 1 << 40,
            u64::MAX,
            0xffff,
        ] {
            assert_eq!(table.find(1, wrong), None);
        }
        assert_eq!(table.find(1, number), Some((place, 7)));
        assert_eq!(revoke(&mut table, Place::MAX), []);
        assert_eq!(Capabilities::<u32>::new().add(0, 0, None), None);
    }
}
