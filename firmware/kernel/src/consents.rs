//! Consents of receivers in other tiles, and in this one, to writes of this tile's programs: a table that
//! the kernel hart adds to, and user harts take from.
use core::sync::atomic::{AtomicU64, Ordering};

use flick_abi::card::PAGE;
use flick_kernel_core::frames::Frames;

use crate::cache;

/// Consents that were not used.
const CONSENTS: usize = 64;
const EACH_LINE: usize = cache::LINE as usize / 8;
/// A write may use it. Below are the receiver's tile (55:48) and port (47:32), and the number of the
/// process that may write, or 0.
const VALID: u64 = 1 << 63;
/// The number of a process, in a key.
const PROCESS: u64 = 0xffff_ffff;
/// A write uses it.
const USED: u64 = 1 << 62;
/// It was taken back meanwhile.
const TAKEN_BACK: u64 = 1 << 61;

const fn key(tile: u64, port: u64) -> u64 {
    VALID | tile << 48 | port << 32
}

/// What a consent allows.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// Physical address of the list of pieces, in the receiver's tile. A piece is whole pages: the address
    /// of the first one, and how many follow in bits 11:0.
    pub list: u64,
    /// Bytes that come before the buffer in its first page.
    pub offset: u64,
    /// Bytes of the buffer.
    pub size: u64,
}

impl Allowed {
    /// A consent to writes of a buffer.
    pub const fn new(list: u64, offset: u64, size: u64) -> Self {
        Self { list, offset, size }
    }
}

#[repr(C, align(64))]
#[derive(Debug)]
struct Table {
    keys: [AtomicU64; CONSENTS],
    allowed: [[AtomicU64; 4]; CONSENTS],
}

const _: () = assert!(size_of::<Table>() <= PAGE as usize);

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Consents(Option<&'static Table>);

/// How a use of a consent ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As it should.
    Good,
    /// It was taken back meanwhile: the receiver waits to hear of the end.
    TakenBack,
}

impl Consents {
    /// None.
    pub const fn none() -> Self {
        Self(None)
    }

    /// A table without consents.
    pub fn create(frames: &mut Frames) -> Self {
        // SAFETY: 0 is a value of each entry.
        Self(unsafe { frames.table() })
    }

    fn find_key(&self, is_meant: impl Fn(u64) -> bool) -> Option<(usize, u64)> {
        for (n, keys) in self.0?.keys.chunks(EACH_LINE).enumerate() {
            cache::refresh(keys.as_ptr().addr() as u64, cache::LINE);
            for (k, word) in keys.iter().enumerate() {
                let word = word.load(Ordering::Relaxed);
                if is_meant(word) {
                    return Some((EACH_LINE * n + k, word));
                }
            }
        }
        None
    }

    /// The place and the key of a consent to a write of a process to a portal.
    pub fn find(&self, tile: u64, port: u64, process: u64) -> Option<(usize, u64)> {
        let meant = key(tile, port);
        let is_meant = |word: u64| {
            word & !PROCESS == meant && matches!(word & PROCESS, of if of == 0 || of == process)
        };
        self.find_key(is_meant)
    }

    /// What the consent of a place allows, as long as it is not ended.
    pub fn allowed(&self, place: usize) -> Option<Allowed> {
        let words = &self.0?.allowed[place];
        cache::refresh(words.as_ptr().addr() as u64, 32);
        let [list, offset, size, _] = words.each_ref().map(|word| word.load(Ordering::Relaxed));
        Some(Allowed::new(list, offset, size))
    }

    /// Adds one. False: there is no room.
    #[must_use]
    pub fn add(&self, tile: u64, port: u64, process: u64, allowed: Allowed) -> bool {
        let (Some(table), Some((place, _))) = (self.0, self.find_key(|word| word == 0)) else {
            return false;
        };
        let Allowed { list, offset, size } = allowed;
        for (word, value) in table.allowed[place].iter().zip([list, offset, size]) {
            word.store(value, Ordering::Relaxed);
        }
        cache::clean();
        table.keys[place].swap(key(tile, port) | process & PROCESS, Ordering::AcqRel);
        true
    }

    fn change(&self, place: usize, from: u64, to: u64) -> bool {
        let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
        let word = self.0.map(|table| &table.keys[place]);
        word.is_some_and(|word| word.compare_exchange(from, to, order, failed).is_ok())
    }

    /// A write begins to use a consent, and learns what it allows: before, another consent could come in
    /// its place. `None`: another write has it.
    pub fn begin(&self, place: usize, key: u64) -> Option<Allowed> {
        match self.change(place, key, key ^ VALID ^ USED) {
            true => self.allowed(place),
            false => None,
        }
    }

    /// The write has ended, and with it the consent.
    pub fn end(&self, place: usize) {
        if let Some(table) = self.0 {
            table.keys[place].swap(0, Ordering::AcqRel);
        }
    }

    /// The write will be tried again.
    pub fn again(&self, place: usize, key: u64) -> Ended {
        if self.change(place, key ^ VALID ^ USED, key) {
            return Ended::Good;
        }
        self.end(place);
        Ended::TakenBack
    }

    /// The receiver takes a consent back. False: a write uses it, or has used it.
    #[must_use]
    pub fn take_back(&self, tile: u64, port: u64) -> bool {
        let meant = key(tile, port) ^ VALID;
        let is_meant = |word: u64| word & !(VALID | USED | PROCESS) == meant && word != 0;
        while let Some((place, word)) = self.find_key(is_meant) {
            if word & VALID != 0 {
                if self.change(place, word, 0) {
                    return true;
                }
            } else if self.change(place, word, word | TAKEN_BACK) {
                return false;
            }
        }
        false
    }
}
