//! Entries of directories: names of files. Those of a directory are a list, in the order in which they were made.
use crate::contents::NOTHING;
use crate::shares::{NOBODY, Shares};
use crate::{Failure, NAME};

/// Entries of all directories.
pub const MOST_ENTRIES: usize = 2048;

/// A name of a file.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    name: [u8; NAME],
    length: u8,
    /// Of its name: others are told apart by that, most often.
    hash: u16,
    /// The file.
    pub node: u16,
    next: u16,
    /// The session that has made it.
    owner: u8,
}

impl Entry {
    /// Its name.
    pub fn name(&self) -> &[u8] {
        &self.name[..usize::from(self.length)]
    }
}

/// The entries of a directory.
#[derive(Clone, Copy, Debug)]
pub struct List {
    first: u16,
    last: u16,
}

impl List {
    /// None.
    pub const EMPTY: Self = Self {
        first: NOTHING,
        last: NOTHING,
    };

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.first == NOTHING
    }
}

/// The entries of all directories.
#[derive(Debug)]
pub struct Entries {
    all: [Entry; MOST_ENTRIES],
    free: u16,
    free_count: u32,
    /// The session that makes names now.
    pub client: u8,
    shares: Shares,
}

/// Is it a name that an entry can have?
pub fn check_name(name: &[u8]) -> Result<(), Failure> {
    match name {
        b"" | b"." | b".." => Err(Failure::Invalid),
        name if name.len() > NAME => Err(Failure::NameTooLong),
        name if name.contains(&b'/') || name.contains(&0) => Err(Failure::Invalid),
        _ => Ok(()),
    }
}

/// A number that names which differ seldom have together.
fn hash_of(name: &[u8]) -> u16 {
    let all = name.iter().fold(0_u32, |hash, &byte| {
        hash.wrapping_mul(31).wrapping_add(byte.into())
    });
    (all ^ all >> 16) as u16
}

impl Entries {
    /// None.
    pub const fn new() -> Self {
        const FREE: Entry = Entry {
            name: [0; NAME],
            length: 0,
            hash: 0,
            node: 0,
            next: NOTHING,
            owner: NOBODY,
        };
        Self {
            all: [FREE; MOST_ENTRIES],
            free: NOTHING,
            free_count: 0,
            client: NOBODY,
            shares: Shares::new(),
        }
    }

    /// So many, which are free.
    pub fn begin(&mut self, count: usize) {
        let count = count.min(MOST_ENTRIES);
        for (n, entry) in self.all[..count].iter_mut().enumerate() {
            entry.next = if n + 1 == count {
                NOTHING
            } else {
                n as u16 + 1
            };
        }
        self.free = if count == 0 { NOTHING } else { 0 };
        self.free_count = count as u32;
    }

    /// A session is over: its names are nobody's.
    pub fn end_session(&mut self, session: u8) {
        let owners = self.all.iter_mut().map(|entry| &mut entry.owner);
        self.shares.end(session, owners);
    }

    fn places(&self, list: &List) -> impl Iterator<Item = (u16, &Entry)> {
        let mut next = list.first;
        core::iter::from_fn(move || {
            let at = next;
            let entry = self.all.get(usize::from(at))?;
            next = entry.next;
            Some((at, entry))
        })
    }

    /// The entries of a directory.
    pub fn list(&self, list: &List) -> impl Iterator<Item = &Entry> {
        self.places(list).map(|(_, entry)| entry)
    }

    /// The file of a name.
    pub fn find(&self, list: &List, name: &[u8]) -> Option<u16> {
        let hash = hash_of(name);
        let is_it = |entry: &&Entry| entry.hash == hash && entry.name() == name;
        Some(self.list(list).find(is_it)?.node)
    }

    /// A file gets a name, which no other one has.
    pub fn add(&mut self, list: &mut List, name: &[u8], node: u16) -> Result<(), Failure> {
        let place = self.free;
        let entry = self.all.get_mut(usize::from(place));
        let entry = entry.ok_or(Failure::NoMemory)?;
        if self.shares.allowed(self.client, self.free_count) == 0 {
            return Err(Failure::NoMemory);
        }
        self.free = entry.next;
        self.free_count -= 1;
        self.shares.take(self.client, 1);
        (entry.node, entry.owner) = (node, self.client);
        self.append(list, place, name);
        Ok(())
    }

    fn append(&mut self, list: &mut List, place: u16, name: &[u8]) {
        let entry = &mut self.all[usize::from(place)];
        entry.name[..name.len()].copy_from_slice(name);
        (entry.length, entry.hash) = (name.len() as u8, hash_of(name));
        entry.next = NOTHING;
        match self.all.get_mut(usize::from(list.last)) {
            Some(last) => last.next = place,
            None => list.first = place,
        }
        list.last = place;
    }

    /// Takes a name out of its directory. The place of the entry is to be freed, or gets another name.
    fn take_out(&mut self, list: &mut List, name: &[u8]) -> Option<u16> {
        let mut before = NOTHING;
        let (place, next) = self.places(list).find_map(|(at, entry)| {
            let is_it = entry.name() == name;
            if !is_it {
                before = at;
            }
            is_it.then_some((at, entry.next))
        })?;
        match self.all.get_mut(usize::from(before)) {
            Some(before) => before.next = next,
            None => list.first = next,
        }
        if list.last == place {
            list.last = before;
        }
        Some(place)
    }

    /// A name is no more.
    pub fn remove(&mut self, list: &mut List, name: &[u8]) {
        if let Some(place) = self.take_out(list, name) {
            self.free_count += 1;
            let entry = &mut self.all[usize::from(place)];
            self.shares.give_back(entry.owner, 1);
            entry.next = core::mem::replace(&mut self.free, place);
        }
    }

    /// A file gets another name, perhaps in another directory. It takes no entry more.
    pub fn rename(&mut self, from: (&mut List, &[u8]), to: &[u8]) -> Option<u16> {
        let place = self.take_out(from.0, from.1)?;
        let entry = &mut self.all[usize::from(place)];
        entry.name[..to.len()].copy_from_slice(to);
        (entry.length, entry.hash) = (to.len() as u8, hash_of(to));
        Some(place)
    }

    /// An entry of [`Self::rename`] comes to its directory.
    pub fn put(&mut self, list: &mut List, place: u16) {
        let Entry { name, length, .. } = self.all[usize::from(place)];
        self.append(list, place, &name[..usize::from(length)]);
    }
}
