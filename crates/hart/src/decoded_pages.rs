//! Decoded instructions by physical page, shared by the harts of a machine. A store to a page with
//! decoded instructions drops those that it changes, so that `fence.i` has nothing to do.
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use flick_engine::fetch_halves;
use flick_riscv::{Insn, illegal};

use crate::bus::PAGE;
use crate::extensions::Isa;

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

/// A page with decoded instructions.
#[derive(Default)]
struct Page {
    /// As harts of each class have decoded it.
    classes: Vec<(Class, Box<Slots>)>,
    /// Stores to it.
    stores: Cell<u32>,
}

/// A page that so many stores have gone to is data again: its instructions are decoded anew if they are
/// executed once more.
const MOST_STORES: u32 = 256;

/// Addresses of pages come from the machine's software, which harms itself alone by those of one hash.
#[derive(Default)]
struct PageHasher(u64);

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
    /// By page and class. Boxes stay where they are.
    pages: RefCell<HashMap<u64, Page, BuildHasherDefault<PageHasher>>>,
    /// Slots of pages that are data again, all empty: harts may still have their addresses.
    retired: RefCell<Vec<Box<Slots>>>,
    /// Times that slots were retired.
    retirements: Cell<u64>,
    /// In the order in which they were added: stores to these pages have to be watched.
    added: RefCell<Vec<u64>>,
}

impl CodeCache {
    /// A cache without a page.
    pub fn new() -> Self {
        Self::default()
    }

    /// The pages with decoded instructions, but for the `first` ones.
    pub(crate) fn pages_from(&self, first: usize) -> Vec<u64> {
        // Most calls find none.
        self.added
            .borrow()
            .get(first..)
            .unwrap_or_default()
            .to_vec()
    }

    /// The slots of the page at a physical address, which live as long as the cache.
    pub fn slots(&self, page: u64, class: Class) -> *const Slots {
        let mut pages = self.pages.borrow_mut();
        let page = pages.entry(page).or_insert_with(|| {
            self.added.borrow_mut().push(page);
            Page::default()
        });
        let classes = &mut page.classes;
        let known = classes.iter().position(|(known, _)| *known == class);
        let at = known.unwrap_or_else(|| {
            classes.push((class, empty_slots()));
            classes.len() - 1
        });
        &raw const *classes[at].1
    }

    /// How often slots were retired: those that a hart knows from before may be empty for ever.
    pub(crate) fn retirements(&self) -> u64 {
        self.retirements.get()
    }

    /// Has the page decoded instructions?
    pub fn has(&self, page: u64) -> bool {
        self.pages.borrow().contains_key(&page)
    }

    /// Bytes in plain memory have changed, by whomever.
    pub fn written(&self, address: u64, size: u64) {
        // An instruction that begins in front of them may end in them.
        let first = address.saturating_sub(2) & !1;
        let end = address.saturating_add(size);
        let mut data_again = vec![];
        for start in (first / PAGE * PAGE..end).step_by(PAGE as usize) {
            let pages = self.pages.borrow();
            let Some(page) = pages.get(&start) else {
                continue;
            };
            let from = first.saturating_sub(start) / 2;
            let to = (end - start).min(PAGE).div_ceil(2);
            for (_, slots) in &page.classes {
                let changed = slots.get(from as usize..to as usize);
                changed.into_iter().flatten().for_each(|slot| slot.set(0));
            }
            page.stores.set(page.stores.get() + 1);
            if page.stores.get() >= MOST_STORES {
                data_again.push(start);
            }
        }
        for page in data_again {
            self.retire(page);
        }
    }

    fn retire(&self, page: u64) {
        let Some(page) = self.pages.borrow_mut().remove(&page) else {
            return;
        };
        for (_, slots) in page.classes {
            slots.iter().for_each(|slot| slot.set(0));
            self.retired.borrow_mut().push(slots);
        }
        self.retirements.set(self.retirements.get() + 1);
    }
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
        Ok(match self.isa.has_insn(insn) && self.allows(insn) {
            true => insn,
            false => illegal(bits),
        })
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
    let name = insn.op().name();
    // `fence` is the only other name that begins with this letter.
    name.starts_with('f') && !name.starts_with("fence")
}

/// Does it change registers or flags of floating point?
pub fn changes_floats(insn: Insn) -> bool {
    use flick_riscv::Op::{FclassD, FclassS, FmvXD, FmvXW, Fsd, Fsw};
    let reads_only = matches!(insn.op(), Fsw | Fsd | FmvXW | FmvXD | FclassS | FclassD);
    is_float(insn) && !reads_only
}
