//! Decoded instructions by physical page, shared by the harts of a machine. A store to a page with
//! decoded instructions drops those that it changes, so that `fence.i` has nothing to do.
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use flick_engine::fetch_halves;
use flick_riscv::{Insn, illegal};

use crate::bus::PAGE;
use crate::isa::Isa;

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

/// A page as harts of a class have decoded it.
type Page = (Class, Box<Slots>);

/// The decoded pages of a machine.
#[derive(Default)]
pub struct CodeCache {
    /// By page and class. Boxes stay where they are.
    pages: RefCell<HashMap<u64, Vec<Page>>>,
    /// The number of pages: it changes when stores to another page have to be watched.
    number: Cell<u64>,
}

impl CodeCache {
    /// A cache without a page.
    pub fn new() -> Self {
        Self::default()
    }

    /// See `number`.
    pub fn number(&self) -> u64 {
        self.number.get()
    }

    /// The slots of the page at a physical address, which live as long as the cache.
    pub fn slots(&self, page: u64, class: Class) -> *const Slots {
        let mut pages = self.pages.borrow_mut();
        let classes = pages.entry(page).or_insert_with(|| {
            self.number.set(self.number.get() + 1);
            vec![]
        });
        let known = classes.iter().position(|(known, _)| *known == class);
        let at = known.unwrap_or_else(|| {
            classes.push((class, empty_slots()));
            classes.len() - 1
        });
        &raw const *classes[at].1
    }

    /// Has the page decoded instructions?
    pub fn has(&self, page: u64) -> bool {
        self.pages.borrow().contains_key(&page)
    }

    /// Bytes in plain memory have changed, by whomever.
    pub fn written(&self, address: u64, size: u64) {
        let pages = self.pages.borrow();
        let first = address.saturating_sub(2) & !1;
        for at in (first..address.saturating_add(size)).step_by(2) {
            let Some(classes) = pages.get(&(at / PAGE * PAGE)) else {
                continue;
            };
            for (_, slots) in classes {
                slots[(at % PAGE / 2) as usize].set(0);
            }
        }
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
