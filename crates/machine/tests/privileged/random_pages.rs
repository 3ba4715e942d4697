//! Page tables: the program's own pages at the addresses that they have, and random entries beside them.
use flick_riscv_testing::values::Rng;

use crate::batch_driver::{DATA, LOG, RAM, TABLES, USER_BIT, WORK};

const PAGE: u64 = 4096;
const VALID: u64 = 1;
const READ: u64 = 2;
const WRITE: u64 = 4;
const EXECUTE: u64 = 8;
const USER: u64 = 16;
pub const ACCESSED_DIRTY: u64 = 0xc0;
/// Pages of random data; behind them is one of code.
pub const DATA_PAGES: u64 = 3;

// Tables, by their page: the roots of Sv57, Sv48 and Sv39, those of the program, and random ones.
const ROOT57: u64 = 0;
const ROOT48: u64 = 1;
const ROOT39: u64 = 2;
const MEGA: u64 = 3;
const CODE: u64 = 4;
const USER_CODE: u64 = 5;
const RANDOM_MEGA: u64 = 6;
const RANDOM_PAGES: u64 = 7;
const TABLE_COUNT: u64 = 9;

/// Where in a program the entries of its own pages are.
pub const OWN_PAGES: std::ops::Range<usize> = {
    let first = TABLES + (CODE * PAGE) as usize;
    first..first + 2 * PAGE as usize
};

/// Page tables, and virtual addresses about which they say something.
pub struct Pages {
    pub entries: Vec<u64>,
    /// Of pages of data.
    pub data: Vec<u64>,
    /// Of pages that are mapped to no memory.
    pub absent: Vec<u64>,
    /// Of the page of code.
    pub code: Vec<u64>,
    /// Physical addresses of random entries.
    pub places: Vec<u64>,
}

pub fn table(number: u64) -> u64 {
    WORK + TABLES as u64 + number * PAGE
}

/// `satp` of a mode.
pub fn satp(mode: u64, asid: u64) -> u64 {
    let root = match mode {
        9 => ROOT48,
        10 => ROOT57,
        _ => ROOT39,
    };
    mode << 60 | asid << 44 | (table(root) / PAGE)
}

fn pointer(to: u64) -> u64 {
    table(to) >> 2 | VALID
}

/// A random entry; `number` is the page's.
pub fn leaf(rng: &mut Rng, number: u64) -> u64 {
    let mut flags = rng.below(1024);
    if rng.chance(85) {
        flags |= VALID;
    }
    if rng.chance(60) {
        flags |= READ;
    }
    if rng.chance(30) {
        flags |= ACCESSED_DIRTY;
    }
    if rng.chance(4) {
        flags |= 1 << (54 + rng.below(10));
    }
    flags | number << 10
}

impl Pages {
    /// `chaos`: the program's own pages have random rights, too.
    pub fn random(rng: &mut Rng, chaos: bool) -> Self {
        let mut pages = Self {
            entries: vec![0; (TABLE_COUNT * PAGE / 8) as usize],
            data: vec![],
            absent: vec![],
            code: vec![],
            places: vec![],
        };
        pages.put(ROOT57, 0, pointer(ROOT48));
        pages.put(ROOT48, 0, pointer(ROOT39));
        pages.put(ROOT39, 2, pointer(MEGA));
        pages.put(MEGA, 0, pointer(CODE));
        pages.put(MEGA, 1, pointer(USER_CODE));
        // Devices, for supervisors or users.
        let rights = VALID | READ | WRITE | ACCESSED_DIRTY | if rng.chance(30) { USER } else { 0 };
        pages.put(ROOT39, 0, rights);
        let first = WORK / PAGE;
        for page in 0..(LOG as u64 / PAGE) {
            let is_code = page < DATA as u64 / PAGE;
            let mut rights = match is_code {
                true => VALID | READ | EXECUTE,
                false => VALID | READ | WRITE | if rng.chance(30) { USER } else { 0 },
            };
            rights |= if rng.chance(50) { ACCESSED_DIRTY } else { 0 };
            if chaos && rng.chance(15) {
                rights ^= 1 << rng.below(5);
            }
            let number = first + page;
            pages.put(CODE, number & 0x1ff, number << 10 | rights);
            if is_code {
                let number = number | (USER_BIT / PAGE);
                pages.put(USER_CODE, number & 0x1ff, number << 10 | rights | USER);
            }
        }
        for page in 0..DATA_PAGES {
            pages.data.push(WORK + DATA as u64 + page * PAGE);
        }
        pages.code.push(data_page(DATA_PAGES));
        pages.random_entries(rng);
        // What no entry is for, and what is not canonical.
        for _ in 0..6 {
            let known = rng.pick(&pages.data);
            let bit = rng.pick(&[30, 38, 39, 40, 47, 48, 56, 57, 63]);
            let code = rng.pick(&pages.code) ^ 1 << bit;
            // QEMU has the windows of PCIe there.
            let is_window = |address: u64| matches!(address >> 30, 1 | 16..32);
            if !is_window(known ^ 1 << bit) && !is_window(code) {
                pages.data.push(known ^ 1 << bit);
                pages.code.push(code);
            }
        }
        // No memory is there.
        pages.data.push(0xf000_0000);
        pages.code.push(0xf000_0000);
        pages
    }

    /// Of all entries of pages.
    pub fn set_accessed_and_dirty(&mut self) {
        let pages = self.entries.iter_mut();
        for entry in pages.filter(|entry| **entry & (READ | EXECUTE) != 0) {
            *entry |= ACCESSED_DIRTY;
        }
    }

    fn random_entries(&mut self, rng: &mut Rng) {
        // M mode finds no device there.
        let giga = if rng.chance(50) {
            3 + rng.below(8)
        } else {
            48 + rng.below(150)
        };
        self.put(ROOT39, giga, pointer(RANDOM_MEGA));
        let mega = rng.below(512);
        self.put(RANDOM_MEGA, mega, pointer(RANDOM_PAGES));
        let base = giga << 30 | mega << 21;
        for _ in 0..16 {
            let index = self.unused(rng, RANDOM_PAGES, 0..512);
            let page = rng.below(DATA_PAGES + 1);
            let number = match rng.chance(4) {
                true => 0xf0000,
                false => data_page(page) / PAGE,
            };
            let entry = leaf(rng, number);
            self.put(RANDOM_PAGES, index, entry);
            self.know(page, base | index << 12);
            if number == 0xf0000 {
                self.absent.push(base | index << 12);
            }
            self.places.push(table(RANDOM_PAGES) + 8 * index);
        }
        // A pointer that is none.
        let bit = rng.pick(&[4, 5, 6, 7, 54, 60, 61, 63]);
        let other = (mega + 1) % 512;
        self.put(RANDOM_MEGA, other, pointer(RANDOM_PAGES) | 1 << bit);
        self.data.push(
            rng.pick(&self.data[DATA_PAGES as usize..]) & 0x1f_ffff | giga << 30 | other << 21,
        );
        // Large pages, which are misaligned now and then.
        for (level, at, above) in [
            (1, RANDOM_MEGA, giga << 30),
            (2, ROOT39, 0),
            (3, ROOT48, 0),
            (4, ROOT57, 0),
        ] {
            for _ in 0..3 {
                let shift = 12 + 9 * level;
                let first = if level == 2 { 256 } else { 1 };
                let index = self.unused(rng, at, first..512);
                let page = rng.below(DATA_PAGES + 1);
                let physical = data_page(page);
                let mut start = physical >> shift << shift;
                if rng.chance(8) {
                    start |= PAGE << rng.below(9 * level);
                }
                let mut entry = leaf(rng, start / PAGE);
                // What is there is no page table.
                if entry & (READ | EXECUTE) == 0 {
                    entry |= READ;
                }
                self.put(at, index, entry);
                let bits = 12 + 9 * (level + 1).max(3);
                let place = above | index << shift | physical & ((1 << shift) - 1);
                self.know(page, canonical(place, bits));
                self.know(page, place);
                self.places.push(table(at) + 8 * index);
            }
        }
    }

    /// An entry of a table that is still 0. What an address is for does not change.
    fn unused(&self, rng: &mut Rng, table: u64, among: std::ops::Range<u64>) -> u64 {
        loop {
            let index = among.start + rng.below(among.end - among.start);
            if self.entries[(table * 512 + index) as usize] == 0 {
                return index;
            }
        }
    }

    fn know(&mut self, page: u64, address: u64) {
        match page {
            DATA_PAGES => self.code.push(address),
            _ => self.data.push(address),
        }
    }

    fn put(&mut self, table: u64, index: u64, entry: u64) {
        self.entries[(table * 512 + index) as usize] = entry;
    }
}

fn canonical(address: u64, bits: u64) -> u64 {
    let unused = 64 - bits;
    ((address << unused) as i64 >> unused) as u64
}

/// The physical address of a page of data.
pub fn data_page(page: u64) -> u64 {
    WORK + DATA as u64 + page * PAGE
}

const _: () = assert!(WORK > RAM && TABLES as u64 + TABLE_COUNT * PAGE <= LOG as u64);
