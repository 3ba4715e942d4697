//! Decoded instructions by physical page, shared by the harts of a machine. A store to a page with
//! decoded instructions drops those that it changes, so that `fence.i` has nothing to do.
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use flick_engine::fetch_halves;
use flick_riscv::{Insn, illegal};

use crate::blocks::BlockCache;
use crate::bus::PAGE;
use crate::reservations::Reservations;
use crate::timed_mode::Marker;
use flick_riscv::{Extension, Isa};

mod saved_code;

pub use saved_code::SavedCode;

/// A place for each half-word of a page.
const SLOTS: usize = (PAGE / 2) as usize;

/// Words of [`Insn`], or 0 where nothing is decoded.
pub type Slots = [Cell<u64>; SLOTS];

/// Slots of which nothing is decoded.
pub fn empty_slots() -> Box<Slots> {
    Box::new([const { Cell::new(0) }; SLOTS])
}

/// Harts decode alike if they are of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    pub isa: Isa,
    pub floats: Floats,
}

/// What becomes of floating-point instructions (FS of `mstatus`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Floats {
    /// They are illegal.
    Off,
    /// Those that change the state of floating point are decoded as illegal, so that the hart sees the
    /// first of them.
    Clean,
    Dirty,
}

/// A page that has or had decoded instructions.
struct Page {
    /// As harts of each class have decoded it. Slots stay where they are, because harts have their
    /// addresses.
    classes: Vec<(Class, Box<Slots>)>,
    /// Stores to it are watched: it has decoded instructions.
    is_code: bool,
    /// Stores until it is data again, whose instructions are decoded anew if they are executed once
    /// more.
    stores_left: u32,
    /// Stores until then, the next time: a page that comes back each time has both.
    patience: u32,
}

const FIRST_PATIENCE: u32 = 256;
const MOST_PATIENCE: u32 = 1 << 24;

impl Page {
    const NEW: Self = Self {
        classes: Vec::new(),
        is_code: false,
        stores_left: 0,
        patience: FIRST_PATIENCE,
    };
}

/// Addresses of pages come from the machine's software, which harms itself alone by those of one hash.
#[derive(Default)]
pub struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, value: u64) {
        // Fibonacci hashing, with the best bits where the table looks.
        let product = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

/// The decoded pages of a machine.
#[derive(Default)]
pub struct CodeCache {
    pages: RefCell<HashMap<u64, Page, BuildHasherDefault<PageHasher>>>,
    /// Times that a page became data again.
    retirements: Cell<u64>,
    /// The pages that became code, in this order: stores to them have to be watched.
    added: RefCell<Vec<u64>>,
    /// Translations of what is executed often, if harts use them.
    pub(crate) blocks: RefCell<Option<BlockCache>>,
    /// Reservations of the machine's harts, which stores break, too.
    pub(crate) reservations: Reservations,
    /// Times that blocks have gone.
    epoch: Cell<u64>,
}

impl CodeCache {
    /// A cache without a page.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many pages [`pages_from`](Self::pages_from) has.
    #[inline]
    pub(crate) fn page_count(&self) -> usize {
        self.added.borrow().len()
    }

    /// The pages with decoded instructions, but for the `first` ones.
    pub(crate) fn pages_from(&self, first: usize) -> Vec<u64> {
        self.added
            .borrow()
            .get(first..)
            .unwrap_or_default()
            .to_vec()
    }

    /// The slots of the page at a physical address, which live as long as the cache.
    pub fn slots(&self, page: u64, class: Class) -> *const Slots {
        let mut pages = self.pages.borrow_mut();
        let address = page;
        let page = pages.entry(address).or_insert(Page::NEW);
        if !page.is_code {
            page.is_code = true;
            page.stores_left = page.patience;
            page.patience = (page.patience * 2).min(MOST_PATIENCE);
            self.added.borrow_mut().push(address);
        }
        let classes = &mut page.classes;
        let known = classes.iter().position(|(known, _)| *known == class);
        let at = known.unwrap_or_else(|| {
            classes.push((class, empty_slots()));
            classes.len() - 1
        });
        &raw const *classes[at].1
    }

    /// How often a page became data again: slots that a hart knows from before may be of one, to which
    /// stores are not watched.
    pub(crate) fn retirements(&self) -> u64 {
        self.retirements.get()
    }

    /// Forgets all instructions: memory has been replaced without [`CodeCache::written`].
    pub fn forget(&self) {
        self.reservations.clear();
        for page in self.pages.borrow().values() {
            for (_, slots) in &page.classes {
                slots.iter().for_each(|slot| slot.set(0));
            }
        }
        if let Some(blocks) = &mut *self.blocks.borrow_mut() {
            blocks.clear();
        }
        self.begin_epoch();
    }

    /// Another number than before if blocks have gone.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.get()
    }

    /// Blocks have gone.
    pub(crate) fn begin_epoch(&self) {
        self.epoch.set(self.epoch.get() + 1);
    }

    /// Drops all translated blocks, with their memory. No hart runs, and each gets others by
    /// [`Processor::translate_after`](crate::Processor::translate_after) before it does.
    pub fn drop_blocks(&self) {
        self.blocks.replace(None);
        self.begin_epoch();
    }

    /// Would blocks go if these bytes of a page were written?
    pub(crate) fn has_blocks(&self, address: u64, size: u64) -> bool {
        let start = address / PAGE * PAGE;
        let pages = self.pages.borrow();
        let Some(page) = pages.get(&start).filter(|page| page.is_code) else {
            return false;
        };
        let range = match page.stores_left {
            1 => 0..SLOTS,
            _ => half_words(address, address + size, start),
        };
        let blocks = self.blocks.borrow();
        blocks
            .as_ref()
            .is_some_and(|blocks| blocks.covers(start, range))
    }

    /// Has the page decoded instructions?
    pub fn has(&self, page: u64) -> bool {
        self.pages
            .borrow()
            .get(&page)
            .is_some_and(|page| page.is_code)
    }

    /// Bytes in plain memory have changed, by whomever.
    pub fn written(&self, address: u64, size: u64) {
        self.reservations.written(address, size);
        // An instruction that begins in front of them may end in them.
        let first = address.saturating_sub(2) & !1;
        let end = address.saturating_add(size);
        let mut pages = self.pages.borrow_mut();
        for start in (first / PAGE * PAGE..end).step_by(PAGE as usize) {
            let Some(page) = pages.get_mut(&start).filter(|page| page.is_code) else {
                continue;
            };
            page.stores_left -= 1;
            page.is_code = page.stores_left != 0;
            let range = match page.is_code {
                true => half_words(address, end, start),
                false => 0..SLOTS,
            };
            if let Some(blocks) = &mut *self.blocks.borrow_mut()
                && blocks.covers(start, range.clone())
            {
                blocks.remove(start);
                self.begin_epoch();
            }
            for (_, slots) in &page.classes {
                slots[range.clone()].iter().for_each(|slot| slot.set(0));
            }
            if !page.is_code {
                self.retirements.set(self.retirements.get() + 1);
            }
        }
    }
}

/// The half-words of the page at `start` whose instructions may have bytes from `address` to `end`: one
/// that begins in front of them may end in them.
fn half_words(address: u64, end: u64, start: u64) -> std::ops::Range<usize> {
    let first = address.saturating_sub(2) & !1;
    let from = first.saturating_sub(start) / 2;
    let to = (end - start).min(PAGE).div_ceil(2);
    from as usize..to as usize
}

impl Class {
    /// The instruction at `pc`, as this class has it.
    pub fn decode<E>(self, pc: u64, mut read: impl FnMut(u64) -> Result<u16, E>) -> Result<Insn, E>
    where
        E: Into<flick_engine::Trap> + From<flick_engine::Trap>,
    {
        let mut bits = 0;
        let insn = fetch_halves(pc, |at| {
            let half = read(at).map_err(Into::into)?;
            bits |= u32::from(half) << if at == pc { 0 } else { 16 };
            Ok(half)
        })?;
        // The hart sees a marker as it sees an instruction that it does not have.
        let is_one = Marker::of(bits).is_none();
        Ok(
            match is_one && self.isa.has_insn(insn) && self.allows(insn) {
                true => insn,
                false => illegal(bits),
            },
        )
    }

    fn allows(self, insn: Insn) -> bool {
        match self.floats {
            Floats::Dirty => true,
            Floats::Off => !is_float(insn),
            Floats::Clean => !changes_floats(insn),
        }
    }
}

/// Is it an instruction of F or D?
fn is_float(insn: Insn) -> bool {
    matches!(Extension::of(insn.op()), Some(Extension::F | Extension::D))
}

/// Does it change registers or flags of floating point?
pub fn changes_floats(insn: Insn) -> bool {
    use flick_riscv::Op::{FclassD, FclassS, FmvXD, FmvXW, Fsd, Fsw};
    let reads_only = matches!(insn.op(), Fsw | Fsd | FmvXW | FmvXD | FclassS | FclassD);
    is_float(insn) && !reads_only
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_data_again_and_keep_their_slots() {
        let cache = CodeCache::new();
        let class = Class {
            isa: "rv64i".parse().unwrap(),
            floats: Floats::Off,
        };
        let slots = cache.slots(0x1000, class);
        // SAFETY: they live as long as the cache.
        let slot = |at: usize| unsafe { &(&*slots)[at] };
        assert_eq!(cache.pages_from(0), [0x1000]);
        slot(1).set(7);
        slot(3).set(7);
        // An instruction in front of the store may end in it.
        cache.written(0x1004, 2);
        assert_eq!((slot(1).get(), slot(3).get()), (0, 7));
        cache.written(0x0fff, 1);
        cache.written(0x2000, 4096);
        assert!(cache.has(0x1000) && !cache.has(0x2000));
        for _ in 1..FIRST_PATIENCE {
            cache.written(0x1ff0, 8);
        }
        assert_eq!((cache.has(0x1000), slot(3).get()), (false, 0));
        assert_eq!(cache.retirements(), 1);
        assert_eq!(cache.slots(0x1000, class), slots);
        assert_eq!(cache.pages_from(1), [0x1000]);
        for _ in 0..2 * FIRST_PATIENCE - 1 {
            cache.written(0x1ff0, 8);
        }
        assert!(cache.has(0x1000));
        slot(9).set(7);
        let epoch = cache.epoch();
        cache.forget();
        assert_eq!(slot(9).get(), 0);
        assert_ne!(cache.epoch(), epoch);
    }
}
