//! Page tables of a process: Sv39 or Sv48 (privileged manual, chapter "Supervisor-Level ISA"). Pages
//! have 4 KiB. An entry without V has the rights of a page whose memory is taken at its first access.
use flick_abi::card::{PAGE, rights};

use crate::frames::Frames;

/// Physical memory, as far as it is in [`Frames`] or the kernel's own.
pub trait Physical {
    /// An aligned word of 8 bytes.
    fn load(&self, address: u64) -> u64;
    /// See [`Self::load`].
    fn store(&mut self, address: u64, value: u64);
    /// Makes a page zero.
    fn clear(&mut self, page: u64);
    /// Copies a page.
    fn copy(&mut self, from: u64, to: u64);
}

/// How many levels of tables there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Three.
    Sv39,
    /// Four.
    Sv48,
}

impl Mode {
    fn levels(self) -> u32 {
        match self {
            Self::Sv39 => 3,
            Self::Sv48 => 4,
        }
    }

    /// The value of `satp` for tables and an address space.
    pub fn satp(self, root: u64, space: u64) -> u64 {
        let mode = match self {
            Self::Sv39 => 8,
            Self::Sv48 => 9,
        };
        (mode << 60) | (space << 44) | (root / PAGE)
    }
}

const VALID: u64 = 1;
const READ: u64 = 2;
const WRITE: u64 = 4;
const EXECUTE: u64 = 8;
const USER: u64 = 16;
const ACCESSED: u64 = 64;
const DIRTY: u64 = 128;
/// Software's. With V: the page has the right to store, and is copied at the first one. Without V: the
/// page is mapped, and memory is taken at the first access.
const LATER: u64 = 256;

/// Why a page was not mapped or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Memory is used up.
    NoMemory,
    /// The page is mapped already.
    Mapped,
    /// It is not.
    Unmapped,
    /// It has not this right.
    NoRight,
}

/// What a resolved access has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// Nothing: the hart had an old translation.
    Nothing,
    /// The page had no translation before.
    Added,
    /// It had another one, which harts may have.
    Changed,
}

/// The tables of a process.
#[derive(Clone, Copy, Debug)]
pub struct PageTables {
    root: u64,
    mode: Mode,
}

/// The rights of a page that no other process sees, and its frame.
pub type OwnPage = (u64, Option<u64>);

/// Software's, without V: the page is being unmapped, and its frame is still in use.
const GONE: u64 = 512;
/// Software's, with V: several processes have the page, and see each other's stores.
const SHARED: u64 = 512;
const RIGHTS: [(u64, u64); 3] = [
    (rights::READ, READ),
    (rights::WRITE, WRITE),
    (rights::EXECUTE, EXECUTE),
];

fn bits(of: u64) -> u64 {
    let mut bits = 0;
    for (right, bit) in RIGHTS {
        if of & right != 0 {
            bits |= bit;
        }
    }
    bits
}

/// Can pages have these rights? Stores without loads are reserved.
pub fn are_rights(of: u64) -> bool {
    of != 0 && of < 8 && (of & rights::WRITE == 0 || of & rights::READ != 0)
}

fn frame_of(entry: u64) -> u64 {
    (entry >> 10 & ((1 << 44) - 1)) * PAGE
}

fn entry_of(frame: u64, bits: u64) -> u64 {
    (frame / PAGE) << 10 | bits
}

impl PageTables {
    /// Tables that map nothing.
    pub fn new(
        mode: Mode,
        frames: &mut Frames,
        memory: &mut impl Physical,
    ) -> Result<Self, Trouble> {
        let root = frames.allocate().ok_or(Trouble::NoMemory)?;
        memory.clear(root);
        Ok(Self { root, mode })
    }

    /// The tables of a value of `satp`.
    pub fn of(satp: u64) -> Self {
        let mode = match satp >> 60 {
            8 => Mode::Sv39,
            _ => Mode::Sv48,
        };
        let root = (satp & ((1 << 44) - 1)) * PAGE;
        Self { root, mode }
    }

    /// Is a page mapped whose memory is taken at its first access, which is still to come?
    pub fn awaits_memory(&self, address: u64, memory: &mut impl Physical) -> bool {
        let mapped = self.mapped(address, memory);
        mapped.is_ok_and(|(_, entry)| entry & VALID == 0)
    }

    /// `satp` for these tables.
    pub fn satp(&self, space: u64) -> u64 {
        self.mode.satp(self.root, space)
    }

    /// The address of a page's entry; with `frames`, tables that are missing are made.
    fn entry(
        &self,
        address: u64,
        frames: Option<&mut Frames>,
        memory: &mut impl Physical,
    ) -> Result<u64, Trouble> {
        let mut frames = frames;
        let mut table = self.root;
        for level in (0..self.mode.levels()).rev() {
            let index = address >> (12 + 9 * level) & 511;
            let at = table + index * 8;
            if level == 0 {
                return Ok(at);
            }
            let entry = memory.load(at);
            table = if entry & VALID != 0 {
                frame_of(entry)
            } else {
                let frames = frames.as_deref_mut().ok_or(Trouble::Unmapped)?;
                let made = frames.allocate().ok_or(Trouble::NoMemory)?;
                memory.clear(made);
                memory.store(at, entry_of(made, VALID));
                made
            };
        }
        Err(Trouble::Unmapped)
    }

    /// The entry of a page that is mapped.
    fn mapped(&self, address: u64, memory: &mut impl Physical) -> Result<(u64, u64), Trouble> {
        let at = self.entry(address, None, memory)?;
        match memory.load(at) {
            0 => Err(Trouble::Unmapped),
            entry => Ok((at, entry)),
        }
    }

    /// The physical address that accesses with a right reach. `None`: they do not without the kernel.
    pub fn reach(&self, address: u64, right: u64, memory: &mut impl Physical) -> Option<u64> {
        let (_, entry) = self.mapped(address, memory).ok()?;
        let wanted = VALID | bits(right);
        let is_good = entry & wanted == wanted && address < flick_abi::card::USER_END;
        is_good.then(|| frame_of(entry) + address % PAGE)
    }

    /// How many pages from an address on, of so many, are behind each other in memory, and the physical
    /// address of the first byte. `None`: the first one cannot be accessed without the kernel.
    #[inline]
    pub fn reach_many(
        &self,
        address: u64,
        right: u64,
        pages: u64,
        memory: &mut impl Physical,
    ) -> Option<(u64, u64)> {
        let first = self.reach(address, right, memory)?;
        // Entries of a table are behind each other.
        let at = self.entry(address, None, memory).ok()?;
        let wanted = VALID | bits(right);
        let most = pages.min(512 - at % PAGE / 8);
        let is_next = |&n: &u64| {
            let entry = memory.load(at + 8 * n);
            entry & wanted == wanted && frame_of(entry) == first / PAGE * PAGE + n * PAGE
        };
        Some((first, 1 + (1..most).take_while(is_next).count() as u64))
    }

    /// Is a page mapped?
    pub fn is_mapped(&self, address: u64, memory: &mut impl Physical) -> bool {
        self.mapped(address, memory).is_ok()
    }

    /// Maps a page that reads as zero.
    #[inline(never)]
    pub fn map(
        &self,
        address: u64,
        of: u64,
        frames: &mut Frames,
        memory: &mut impl Physical,
    ) -> Result<(), Trouble> {
        let at = self.entry(address, Some(frames), memory)?;
        if memory.load(at) != 0 {
            return Err(Trouble::Mapped);
        }
        memory.store(at, bits(of) | USER | LATER);
        Ok(())
    }

    /// Maps a frame that has one user more already, or that is nobody's.
    pub fn map_frame(
        &self,
        address: u64,
        frame: u64,
        of: u64,
        frames: &mut Frames,
        memory: &mut impl Physical,
    ) -> Result<(), Trouble> {
        let at = self.entry(address, Some(frames), memory)?;
        if memory.load(at) != 0 {
            return Err(Trouble::Mapped);
        }
        let is_own = frames.users(frame) == 1;
        memory.store(at, entry_of(frame, valid_bits(of, is_own)));
        Ok(())
    }

    /// No access reaches a page any more, though its frame is still in use.
    pub fn protect_none(&self, address: u64, memory: &mut impl Physical) -> Result<(), Trouble> {
        let (at, entry) = self.mapped(address, memory)?;
        if entry & VALID != 0 {
            memory.store(at, entry & !(VALID | READ | WRITE | EXECUTE | LATER) | GONE);
        }
        Ok(())
    }

    /// Unmaps a page.
    pub fn unmap(
        &self,
        address: u64,
        frames: &mut Frames,
        memory: &mut impl Physical,
    ) -> Result<(), Trouble> {
        let (at, entry) = self.mapped(address, memory)?;
        memory.store(at, 0);
        if entry & (VALID | GONE) != 0 {
            frames.free(frame_of(entry));
        }
        Ok(())
    }

    /// Gives a page other rights.
    pub fn protect(
        &self,
        address: u64,
        of: u64,
        frames: &Frames,
        memory: &mut impl Physical,
    ) -> Result<(), Trouble> {
        let (at, entry) = self.mapped(address, memory)?;
        let new = match entry & VALID {
            0 => bits(of) | USER | LATER,
            _ => {
                let frame = frame_of(entry);
                // A right to store that comes later leads to a copy.
                let stays = entry & SHARED != 0 && (entry & WRITE != 0 || of & rights::WRITE == 0);
                let is_own = frames.users(frame) == 1 || stays;
                entry_of(
                    frame,
                    valid_bits(of, is_own) | if stays { SHARED } else { 0 },
                )
            }
        };
        memory.store(at, new);
        Ok(())
    }

    /// Makes an access possible, if the page allows it: `wanted` is one right. Returns the physical
    /// address, too.
    pub fn resolve(
        &self,
        address: u64,
        wanted: u64,
        frames: &mut Frames,
        memory: &mut impl Physical,
    ) -> Result<(u64, Resolved), Trouble> {
        let (at, entry) = self.mapped(address, memory)?;
        if rights_of(entry) & wanted == 0 {
            return Err(Trouble::NoRight);
        }
        let within = address % PAGE;
        if entry & VALID == 0 {
            let frame = frames.allocate().ok_or(Trouble::NoMemory)?;
            memory.clear(frame);
            memory.store(at, entry_of(frame, valid_bits(rights_of(entry), true)));
            return Ok((frame + within, Resolved::Added));
        }
        let old = frame_of(entry);
        if wanted != rights::WRITE || entry & WRITE != 0 {
            return Ok((old + within, Resolved::Nothing));
        }
        let frame = match frames.users(old) {
            // The others have made their copies.
            1 => old,
            _ => {
                let frame = frames.allocate().ok_or(Trouble::NoMemory)?;
                memory.copy(old, frame);
                frames.free(old);
                frame
            }
        };
        memory.store(at, entry_of(frame, valid_bits(rights_of(entry), true)));
        Ok((frame + within, Resolved::Changed))
    }

    /// Maps a page of these tables in other ones, too, with the same content: whoever stores to it gets a
    /// copy. `of`: the rights there; `None`: the same ones. With [`rights::SHARED`], nobody gets a copy from
    /// then on; a store to the page was resolved before.
    pub fn share(
        &self,
        address: u64,
        with: (&Self, u64, Option<u64>),
        frames: &mut Frames,
        memory: &mut impl Physical,
    ) -> Result<(), Trouble> {
        let (at, entry) = self.mapped(address, memory)?;
        let (other, target, of) = with;
        let has = rights_of(entry);
        let of = of.unwrap_or(has);
        if of & !(has | rights::SHARED) != 0 {
            return Err(Trouble::NoRight);
        }
        let there = other.entry(target, Some(frames), memory)?;
        if memory.load(there) != 0 {
            return Err(Trouble::Mapped);
        }
        if entry & VALID == 0 {
            memory.store(there, bits(of) | USER | LATER);
            return Ok(());
        }
        let frame = frame_of(entry);
        if !frames.share(frame) {
            return Err(Trouble::NoMemory);
        }
        let is_shared = entry & SHARED != 0 || of & rights::SHARED != 0;
        let kind = if is_shared { SHARED } else { 0 };
        memory.store(at, entry_of(frame, valid_bits(has, is_shared) | kind));
        memory.store(there, entry_of(frame, valid_bits(of, is_shared) | kind));
        Ok(())
    }

    /// Calls a function for each page that is mapped, with its address, and with its rights and its frame, if it has one
    /// yet. `None`: another process sees what is stored there, or it is being unmapped.
    ///
    /// # Errors
    /// Those of the function, which end it.
    pub fn each_page<E>(
        &self,
        memory: &impl Physical,
        f: &mut impl FnMut(u64, Option<OwnPage>) -> Result<(), E>,
    ) -> Result<(), E> {
        Self::pages_of((self.root, 0), self.mode.levels() - 1, memory, f)
    }

    fn pages_of<E>(
        (table, base): (u64, u64),
        level: u32,
        memory: &impl Physical,
        f: &mut impl FnMut(u64, Option<OwnPage>) -> Result<(), E>,
    ) -> Result<(), E> {
        for index in 0..512 {
            let entry = memory.load(table + index * 8);
            let address = base + (index << (12 + 9 * level));
            match (level, entry & VALID, entry) {
                (_, _, 0) => {}
                (0, 0, _) if entry & GONE == 0 => f(address, Some((rights_of(entry), None)))?,
                (0, VALID, _) if entry & SHARED == 0 => {
                    f(address, Some((rights_of(entry), Some(frame_of(entry)))))?;
                }
                (0, _, _) => f(address, None)?,
                (_, VALID, _) => Self::pages_of((frame_of(entry), address), level - 1, memory, f)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The first page from an address on that is mapped.
    pub fn next_mapped(&self, from: u64, memory: &impl Physical) -> Option<u64> {
        let mut address = from / PAGE * PAGE;
        'pages: while address < flick_abi::card::USER_END {
            let mut table = self.root;
            for level in (0..self.mode.levels()).rev() {
                let shift = 12 + 9 * level;
                let entry = memory.load(table + (address >> shift & 511) * 8);
                if level == 0 && entry != 0 {
                    return Some(address);
                }
                if level == 0 || entry & VALID == 0 {
                    address = ((address >> shift) + 1) << shift;
                    continue 'pages;
                }
                table = frame_of(entry);
            }
        }
        None
    }

    /// Frees all pages and tables.
    pub fn free(self, frames: &mut Frames, memory: &mut impl Physical) {
        Self::free_table(self.root, self.mode.levels() - 1, frames, memory);
    }

    fn free_table(table: u64, level: u32, frames: &mut Frames, memory: &mut impl Physical) {
        for index in 0..512 {
            let entry = memory.load(table + index * 8);
            if entry & VALID == 0 {
                continue;
            }
            match level {
                0 => frames.free(frame_of(entry)),
                _ => Self::free_table(frame_of(entry), level - 1, frames, memory),
            }
        }
        frames.free(table);
    }
}

/// The rights of a page that is mapped.
fn rights_of(entry: u64) -> u64 {
    let mut of = 0;
    for (right, bit) in RIGHTS {
        if entry & bit != 0 {
            of |= right;
        }
    }
    match entry & (VALID | LATER) {
        both if both == VALID | LATER => of | rights::WRITE,
        _ => of,
    }
}

/// The bits of a page in memory, whose frame nobody else has if it `is_own`.
fn valid_bits(of: u64, is_own: bool) -> u64 {
    let bits = bits(of) | USER | VALID | ACCESSED;
    match (of & rights::WRITE != 0, is_own) {
        (false, _) => bits,
        (true, true) => bits | DIRTY,
        (true, false) => bits & !WRITE | LATER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x8000_0000;

    struct Memory(Vec<u8>);

    impl Memory {
        fn at(&self, address: u64) -> usize {
            (address - BASE) as usize
        }
    }

    impl Physical for Memory {
        fn load(&self, address: u64) -> u64 {
            let at = self.at(address);
            u64::from_le_bytes(self.0[at..at + 8].try_into().unwrap())
        }

        fn store(&mut self, address: u64, value: u64) {
            let at = self.at(address);
            self.0[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }

        fn clear(&mut self, page: u64) {
            let at = self.at(page);
            self.0[at..at + PAGE as usize].fill(0);
        }

        fn copy(&mut self, from: u64, to: u64) {
            let (from, to) = (self.at(from), self.at(to));
            self.0.copy_within(from..from + PAGE as usize, to);
        }
    }

    fn memory(pages: usize) -> (Frames, Memory) {
        let counts = Box::leak(vec![0; pages].into());
        (
            Frames::with_counts(BASE, counts),
            Memory(vec![0xee; pages << 12]),
        )
    }

    fn all_pages(tables: &PageTables, memory: &Memory) -> Vec<(u64, Option<OwnPage>)> {
        let mut all = vec![];
        let each = tables.each_page(memory, &mut |address, page| {
            all.push((address, page));
            Ok::<(), ()>(())
        });
        assert_eq!(each, Ok(()));
        all
    }

    #[test]
    fn pages_come_at_their_first_access() {
        for mode in [Mode::Sv39, Mode::Sv48] {
            let (mut frames, mut memory) = memory(16);
            let tables = PageTables::new(mode, &mut frames, &mut memory).unwrap();
            let write = rights::READ | rights::WRITE;
            tables
                .map(0x1_0000, write, &mut frames, &mut memory)
                .unwrap();
            let again = tables.map(0x1_0000, 1, &mut frames, &mut memory);
            assert_eq!(again, Err(Trouble::Mapped));
            assert_eq!(
                all_pages(&tables, &memory),
                [(0x1_0000, Some((write, None)))]
            );
            let before = frames.free_frames();
            assert!(PageTables::of(tables.satp(3)).awaits_memory(0x1_0000, &mut memory));
            assert!(!tables.awaits_memory(0x1_1000, &mut memory));
            let (at, resolved) = tables
                .resolve(0x1_0008, rights::READ, &mut frames, &mut memory)
                .unwrap();
            assert_eq!(
                (at % PAGE, resolved, memory.load(at)),
                (8, Resolved::Added, 0)
            );
            assert_eq!(frames.free_frames(), before - 1);
            assert!(!tables.awaits_memory(0x1_0000, &mut memory));
            let fetch = tables.resolve(0x1_0000, rights::EXECUTE, &mut frames, &mut memory);
            assert_eq!(fetch, Err(Trouble::NoRight));
            tables
                .protect(0x1_0000, rights::READ, &frames, &mut memory)
                .unwrap();
            let store = tables.resolve(0x1_0000, rights::WRITE, &mut frames, &mut memory);
            assert_eq!(store, Err(Trouble::NoRight));
            assert_eq!(tables.next_mapped(0, &memory), Some(0x1_0000));
            let own = Some((rights::READ, Some(at / PAGE * PAGE)));
            assert_eq!(all_pages(&tables, &memory), [(0x1_0000, own)]);
            tables.unmap(0x1_0000, &mut frames, &mut memory).unwrap();
            assert_eq!(tables.next_mapped(0, &memory), None);
            let gone = tables.unmap(0x1_0000, &mut frames, &mut memory);
            assert_eq!(gone, Err(Trouble::Unmapped));
            tables.free(&mut frames, &mut memory);
            assert_eq!(frames.free_frames(), 16);
        }
    }

    #[test]
    fn who_stores_gets_a_copy() {
        let (mut frames, mut memory) = memory(32);
        let one = PageTables::new(Mode::Sv39, &mut frames, &mut memory).unwrap();
        let two = PageTables::new(Mode::Sv39, &mut frames, &mut memory).unwrap();
        let both = rights::READ | rights::WRITE;
        one.map(0x5000, both, &mut frames, &mut memory).unwrap();
        let (old, _) = one
            .resolve(0x5000, rights::WRITE, &mut frames, &mut memory)
            .unwrap();
        memory.store(old, 7);
        one.share(0x5000, (&two, 0x9000, None), &mut frames, &mut memory)
            .unwrap();
        let more = one.share(0x5000, (&two, 0xa000, Some(7)), &mut frames, &mut memory);
        assert_eq!(more, Err(Trouble::NoRight));
        assert_eq!(frames.users(old), 2);
        let (new, resolved) = two
            .resolve(0x9000, rights::WRITE, &mut frames, &mut memory)
            .unwrap();
        assert_eq!((memory.load(new), resolved), (7, Resolved::Changed));
        assert_ne!(new, old);
        memory.store(new, 8);
        let (same, _) = one
            .resolve(0x5000, rights::WRITE, &mut frames, &mut memory)
            .unwrap();
        assert_eq!((same, memory.load(same)), (old, 7));
        // A right that comes later leads to a copy, too.
        one.share(
            0x5000,
            (&two, 0xb000, Some(rights::READ)),
            &mut frames,
            &mut memory,
        )
        .unwrap();
        two.protect(0xb000, both, &frames, &mut memory).unwrap();
        let (copy, _) = two
            .resolve(0xb000, rights::WRITE, &mut frames, &mut memory)
            .unwrap();
        assert_ne!(copy, old);
        two.free(&mut frames, &mut memory);
        one.free(&mut frames, &mut memory);
        assert_eq!(frames.free_frames(), 32);
    }

    #[test]
    fn who_stores_to_a_shared_page_keeps_it() {
        let (mut frames, mut memory) = memory(32);
        let new = |frames: &mut Frames, memory: &mut Memory| {
            PageTables::new(Mode::Sv39, frames, memory).unwrap()
        };
        let [one, two, three] = [(); 3].map(|()| new(&mut frames, &mut memory));
        let (read, write) = (rights::READ, rights::READ | rights::WRITE);
        one.map(0x5000, write, &mut frames, &mut memory).unwrap();
        let store = |tables: &PageTables, at, frames: &mut Frames, memory: &mut Memory| {
            tables.resolve(at, rights::WRITE, frames, memory)
        };
        let (frame, _) = store(&one, 0x5000, &mut frames, &mut memory).unwrap();
        for (at, of) in [(0x9000, write), (0xa000, read)] {
            let with = (&two, at, Some(of | rights::SHARED));
            one.share(0x5000, with, &mut frames, &mut memory).unwrap();
        }
        // A copy of the process has the same page.
        two.share(0x9000, (&three, 0x9000, None), &mut frames, &mut memory)
            .unwrap();
        assert_eq!(all_pages(&two, &memory), [(0x9000, None), (0xa000, None)]);
        for (tables, at) in [(&one, 0x5000), (&two, 0x9000), (&three, 0x9000)] {
            let stored = store(tables, at, &mut frames, &mut memory);
            assert_eq!(stored, Ok((frame, Resolved::Nothing)));
        }
        // Nobody gains the right to store to it.
        let refused = store(&two, 0xa000, &mut frames, &mut memory);
        assert_eq!(refused, Err(Trouble::NoRight));
        two.protect(0xa000, write, &frames, &mut memory).unwrap();
        let (copy, _) = store(&two, 0xa000, &mut frames, &mut memory).unwrap();
        assert_ne!(copy, frame);
        for tables in [one, two, three] {
            tables.free(&mut frames, &mut memory);
        }
        assert_eq!(frames.free_frames(), 32);
    }

    #[test]
    fn memory_that_is_used_up_is_told() {
        let (mut frames, mut memory) = memory(3);
        let tables = PageTables::new(Mode::Sv39, &mut frames, &mut memory).unwrap();
        tables
            .map(0, rights::READ, &mut frames, &mut memory)
            .unwrap();
        let none = tables.resolve(0, rights::READ, &mut frames, &mut memory);
        assert_eq!(none, Err(Trouble::NoMemory));
        let none = tables.map(1 << 30, rights::READ, &mut frames, &mut memory);
        assert_eq!(none, Err(Trouble::NoMemory));
    }
}
