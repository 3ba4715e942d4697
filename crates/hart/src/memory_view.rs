//! A hart's view of memory: virtual addresses, with a cache of translations (a software TLB). An entry
//! leads to the host's memory, so that most accesses compare a tag and add a distance.
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use flick_engine::{Cause, Trap};

use crate::bus::{Bus, PAGE};
use crate::decoded_pages::CodeCache;
use crate::page_tables::{Access, Failure, Physical, Regime, translate};
use crate::pmp::Pmp;
use crate::privileged_registers::Privilege;
use crate::reservations::Reservation;
use crate::slice::Slice;
use crate::store_chains::StoreChains;
use crate::timed_mode::Timing;

mod forgetting;
mod saved_view;
mod view_access;

pub use saved_view::SavedView;
pub(crate) use view_access::{read, write};

/// Entries of each context, for loads and for stores.
pub const ENTRIES: usize = 4096;
/// Pages whose protection is kept.
const PROTECTIONS: usize = 512;
/// The generation of an entry is in these bits of its tag, above those of an access that is not aligned.
const GENERATION: u64 = 0xff8;
const NEXT_GENERATION: u64 = 8;
/// The generation of what is no entry.
const NO_GENERATION: u64 = GENERATION;
/// Regimes whose entries are kept beside each other: of users, of supervisors without and with SUM, of
/// the machine.
const CONTEXTS: usize = 4;

/// Address spaces whose entries are kept.
const SPACES: usize = 16;
/// No value of `satp`: 15 is no mode.
const NO_SPACE: (u64, u64) = (u64::MAX, NO_GENERATION);
const NO_ADDRESSES: (u64, u64) = (u64::MAX, 0);

/// Translated code reads it, too.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Entry {
    /// The virtual page and the generation.
    tag: u64,
    /// The host's address less the virtual one.
    distance: u64,
}

const EMPTY: Entry = Entry {
    tag: NO_GENERATION,
    distance: 0,
};

/// Of each context the entries for loads, and behind them those for stores. The last context has no
/// entries, so that accesses take the slow path.
const ALL_ENTRIES: usize = 2 * ENTRIES * (CONTEXTS + 1);

struct Tlb {
    entries: Box<[Cell<Entry>]>,
    /// Of each entry: see [`crate::page_tables::Physical`].
    bits: Box<[Cell<u8>]>,
    /// Of each entry: the physical page.
    pages: Box<[Cell<u64>]>,
}

fn empty_tlb() -> Tlb {
    // They are too large for a stack.
    Tlb {
        entries: vec![Cell::new(EMPTY); ALL_ENTRIES].into(),
        bits: vec![Cell::new(0); ALL_ENTRIES].into(),
        pages: vec![Cell::new(0); ALL_ENTRIES].into(),
    }
}

/// Where an access goes.
pub(crate) enum Place {
    Memory {
        host: *mut u8,
        physical: u64,
        /// See [`Physical`].
        bits: u32,
    },
    Device(u64),
}

pub struct View<'m, B> {
    pub bus: &'m B,
    pub code: &'m CodeCache,
    pub slice: Rc<Slice>,
    /// [`Slice::left`], for blocks.
    pub left: *const Cell<u64>,
    /// In timed mode.
    timing: Option<Rc<Timing>>,
    pub pmp: RefCell<Pmp>,
    regime: Cell<Regime>,
    /// The first entry of the context.
    pub context: Cell<*const Cell<Entry>>,
    /// The same, or the context without entries in timed mode.
    quick: Cell<*const Cell<Entry>>,
    tlb: Tlb,
    /// Entries for stores, by physical page.
    chains: StoreChains,
    /// The last load-reserved.
    pub reservation: Reservation,
    /// Entries of other generations are none.
    pub generation: Cell<u64>,
    /// The newest of all.
    last_generation: Cell<u64>,
    /// Values of `satp` and their generations.
    spaces: [Cell<(u64, u64)>; SPACES],
    /// The first and the last address of large pages that have entries.
    large: Cell<(u64, u64)>,
    /// The page and privilege of each, and what is allowed: bits by [`Access`].
    protections: Box<[Cell<(u64, u8)>; PROTECTIONS]>,
    /// How many pages of [`CodeCache::pages_from`] the entries for stores know.
    code_pages: Cell<usize>,
    /// An access has to wait until the hart is the first of all. Its trap is none.
    postponed: Cell<bool>,
}

impl<'m, B: Bus> View<'m, B> {
    pub fn new(bus: &'m B, code: &'m CodeCache, regime: Regime) -> Self {
        let tlb = empty_tlb();
        let slice: Rc<Slice> = Rc::default();
        let view = Self {
            left: slice.left(),
            bus,
            code,
            slice,
            timing: None,
            pmp: RefCell::default(),
            regime: Cell::new(regime),
            context: Cell::new(tlb.entries.as_ptr()),
            quick: Cell::new(tlb.entries.as_ptr()),
            tlb,
            chains: StoreChains::new(ALL_ENTRIES),
            reservation: Reservation::new(&code.reservations),
            generation: Cell::new(0),
            last_generation: Cell::new(0),
            spaces: [const { Cell::new(NO_SPACE) }; SPACES],
            large: Cell::new(NO_ADDRESSES),
            protections: Box::new([const { Cell::new((1, 0)) }; PROTECTIONS]),
            code_pages: Cell::new(code.pages_from(0).len()),
            postponed: Cell::new(false),
        };
        view.set_regime(regime);
        view
    }

    /// How loads and stores are translated from now on.
    pub fn set_regime(&self, regime: Regime) {
        let old = self.regime.replace(regime);
        let context = match (regime.privilege, regime.sum) {
            (Privilege::User, _) => 0,
            (Privilege::Supervisor, false) => 1,
            (Privilege::Supervisor, true) => 2,
            (Privilege::Machine, _) => 3,
        };
        self.context
            .set(&raw const self.tlb.entries[context * 2 * ENTRIES]);
        self.set_quick();
        if (old.mxr, old.updates) != (regime.mxr, regime.updates) {
            self.flush();
        } else if old.satp != regime.satp {
            self.change_space(regime.satp);
        }
    }

    fn set_quick(&self) {
        let context = match self.timing {
            Some(_) => &raw const self.tlb.entries[CONTEXTS * 2 * ENTRIES],
            None => self.context.get(),
        };
        self.quick.set(context);
    }

    /// Begins or ends timed mode.
    pub fn set_timing(&mut self, timing: Option<Rc<Timing>>) {
        if let Some(old) = &self.timing {
            self.settle_all(old);
        }
        self.timing = timing;
        self.set_quick();
    }

    /// The timing of timed mode.
    pub fn timing(&self) -> Option<&Rc<Timing>> {
        self.timing.as_ref()
    }

    /// Stores to pages that have become code since have to be seen.
    pub fn watch_code(&self) {
        let known = self.code_pages.get();
        let new = self.code.pages_from(known);
        if new.is_empty() {
            return;
        }
        self.code_pages.set(known + new.len());
        if new.len() > 16 {
            return self.stores().for_each(|entry| entry.set(EMPTY));
        }
        let hosts: Vec<u64> = new
            .iter()
            .filter_map(|&page| self.bus.memory(page))
            .map(|host| host.expose_provenance() as u64)
            .collect();
        for entry in self.stores() {
            let Entry { tag, distance } = entry.get();
            let host = (tag & !(PAGE - 1)).wrapping_add(distance);
            if hosts.contains(&host) {
                entry.set(EMPTY);
            }
        }
    }

    /// The hart runs: other harts' reservations have to see its stores.
    pub fn begin_slice(&self) {
        self.watch_code();
        let all = &self.code.reservations;
        self.reservation.begin_slice(all);
        for page in all.pages() {
            let number = page / PAGE;
            self.chains.drain(number, |at| {
                let goes = self.tlb.pages[at].get() == number;
                if goes {
                    self.tlb.entries[at].set(EMPTY);
                }
                goes
            });
        }
    }

    /// Other harts run.
    pub fn end_slice(&self) {
        self.reservation.end_slice(&self.code.reservations);
    }

    /// Is an access of `size` bytes at a physical address allowed? Keeps the answer for pages of which
    /// all bytes have the same.
    fn allows(&self, address: u64, size: u64, access: Access, privilege: Privilege) -> bool {
        let page = address / PAGE * PAGE;
        let key = page | (privilege as u64) << 1;
        let place = &self.protections[(address / PAGE) as usize % PROTECTIONS];
        let (known, allowed) = place.get();
        if known == key {
            return allowed & 1 << access as u8 != 0;
        }
        let pmp = self.pmp.borrow();
        if !pmp.is_uniform(page, PAGE) {
            return pmp.allows(address, size, access, privilege);
        }
        let all = [Access::Fetch, Access::Load, Access::Store];
        let allowed = all.into_iter().fold(0, |bits, access| {
            bits | u8::from(pmp.allows(page, PAGE, access, privilege)) << access as u8
        });
        place.set((key, allowed));
        allowed & 1 << access as u8 != 0
    }

    /// Are the rights the same for all bytes of a page of memory?
    pub fn is_uniform(&self, page: u64) -> bool {
        let (known, _) = self.protections[(page / PAGE) as usize % PROTECTIONS].get();
        known & !(PAGE - 1) == page && known & 1 == 0 || self.pmp.borrow().is_uniform(page, PAGE)
    }

    /// The physical address of instructions at `address`, in plain memory.
    pub fn fetch(&self, address: u64, privilege: Privilege) -> Result<(Physical, *mut u8), Trap> {
        let regime = Regime {
            privilege,
            ..self.regime.get()
        };
        let allows = self.rights();
        let physical = translate(self.bus, &allows, &regime, address, Access::Fetch)
            .map_err(|failure| trap(failure, Access::Fetch, address))?;
        let is_allowed = self.allows(physical.address, 2, Access::Fetch, privilege);
        let memory = self.bus.memory(physical.address / PAGE * PAGE);
        let memory = memory.filter(|_| is_allowed);
        Ok((physical, memory.ok_or(Trap::fetch_access(address))?))
    }

    /// Page tables are accessed with the supervisor's rights.
    fn rights(&self) -> impl Fn(u64, Access) -> bool {
        |place, access| self.allows(place, 8, access, Privilege::Supervisor)
    }

    pub(crate) fn place(&self, address: u64, size: u64, access: Access) -> Result<Place, Trap> {
        let regime = self.regime.get();
        let allows = self.rights();
        let Physical {
            address: physical,
            bits,
        } = translate(self.bus, &allows, &regime, address, access)
            .map_err(|failure| trap(failure, access, address))?;
        if !self.allows(physical, size, access, regime.privilege) {
            return Err(trap(Failure::Access, access, address));
        }
        let page = physical / PAGE * PAGE;
        let Some(memory) = self.bus.memory(page) else {
            return Ok(Place::Device(physical));
        };
        // SAFETY: within the page.
        let host = unsafe { memory.add((physical % PAGE) as usize) };
        let is_watched =
            access == Access::Store && (self.code.has(page) || self.code.reservations.has(page));
        if self.is_uniform(page) && !is_watched {
            let start = address / PAGE * PAGE;
            let distance = (memory.expose_provenance() as u64).wrapping_sub(start);
            let tag = start | self.generation.get();
            if bits > 12 && bits < 64 {
                let (first, last) = self.large.get();
                let below = (1 << bits) - 1;
                let large = (first.min(address & !below), last.max(address | below));
                self.large.set(large);
            }
            let entry = self.entry(access, address, &self.context);
            entry.set(Entry { tag, distance });
            let at = self.index(entry);
            self.tlb.bits[at].set(bits as u8);
            self.tlb.pages[at].set(physical / PAGE);
            if access == Access::Store {
                self.chains.put(at, physical / PAGE);
            }
        }
        Ok(Place::Memory {
            host,
            physical,
            bits,
        })
    }

    /// What the entry of an address says, if there is one: for timed mode.
    pub(crate) fn kept(&self, address: u64, access: Access) -> Option<Place> {
        let place = self.entry(access, address, &self.context);
        let (entry, at) = (place.get(), self.index(place));
        let page = address & !(PAGE - 1) | self.generation.get();
        (entry.tag == page).then(|| {
            let host = address.wrapping_add(entry.distance) as usize;
            let host = std::ptr::with_exposed_provenance_mut(host);
            Place::Memory {
                host,
                physical: self.tlb.pages[at].get() * PAGE + address % PAGE,
                bits: self.tlb.bits[at].get().into(),
            }
        })
    }

    pub(crate) fn regime(&self) -> Regime {
        self.regime.get()
    }

    fn index(&self, entry: &Cell<Entry>) -> usize {
        // SAFETY: the entry is one of these.
        unsafe { (&raw const *entry).offset_from_unsigned(self.tlb.entries.as_ptr()) }
    }

    #[inline(always)]
    fn entry(
        &self,
        access: Access,
        address: u64,
        context: &Cell<*const Cell<Entry>>,
    ) -> &Cell<Entry> {
        let first = match access {
            Access::Store => ENTRIES,
            _ => 0,
        };
        let at = first + (address / PAGE) as usize % ENTRIES;
        // SAFETY: the context has so many entries, which live as long as the view.
        unsafe { &*context.get().add(at) }
    }

    /// The host's address of an aligned access of `size` bytes, if it is known.
    #[inline(always)]
    fn known(&self, address: u64, size: u64, access: Access) -> Option<*mut u8> {
        let entry = self.entry(access, address, &self.quick).get();
        let page = address & !(PAGE - 1) | self.generation.get();
        let is_it = entry.tag == page | address & (size - 1);
        is_it.then(|| {
            std::ptr::with_exposed_provenance_mut(address.wrapping_add(entry.distance) as usize)
        })
    }

    /// The same of an access of any alignment within a page.
    fn known_within(&self, address: u64, size: u64, access: Access) -> Option<*mut u8> {
        let is_within = address % PAGE + size <= PAGE;
        self.known(address, 1, access).filter(|_| is_within)
    }

    /// Is a store allowed at `address`, which is in plain memory? For cache-block operations.
    pub fn check(&self, address: u64, access: Access) -> Result<(), Trap> {
        self.place(address, 1, access).map(|_| ())
    }
}

pub(crate) fn trap(failure: Failure, access: Access, addr: u64) -> Trap {
    let cause = match (failure, access) {
        (Failure::Page, Access::Fetch) => Cause::FetchPage,
        (Failure::Page, Access::Load) => Cause::LoadPage,
        (Failure::Page, Access::Store) => Cause::StorePage,
        (Failure::Access, Access::Fetch) => Cause::FetchAccess,
        (Failure::Access, Access::Load) => Cause::LoadAccess,
        (Failure::Access, Access::Store) => Cause::StoreAccess,
    };
    Trap { cause, addr }
}
