//! A hart's view of memory: virtual addresses, with a cache of translations (a software TLB). An entry
//! leads to the host's memory, so that most accesses compare a tag and add a distance.
use std::cell::{Cell, RefCell};

use flick_engine::{AmoOp, Cause, Memory, Trap};

use crate::bus::{Bus, PAGE};
use crate::code::CodeCache;
use crate::pmp::Pmp;
use crate::registers::Privilege;
use crate::slice::Slice;
use crate::translation::{Access, Failure, Regime, translate};

/// Entries of each context, for loads and for stores.
const ENTRIES: usize = 256;
/// Regimes whose entries are kept beside each other: of users, of supervisors without and with SUM, of
/// the machine.
const CONTEXTS: usize = 4;

#[derive(Clone, Copy)]
struct Entry {
    /// The virtual page; no page is odd.
    tag: u64,
    /// The host's address less the virtual one.
    distance: u64,
}

const EMPTY: Entry = Entry {
    tag: 1,
    distance: 0,
};

type Tlb = [Cell<Entry>; ENTRIES * CONTEXTS];

fn empty_tlb() -> Box<Tlb> {
    Box::new([const { Cell::new(EMPTY) }; ENTRIES * CONTEXTS])
}

/// Where an access goes.
enum Place {
    Memory { host: *mut u8, physical: u64 },
    Device(u64),
}

pub struct View<'m, B> {
    pub bus: &'m B,
    pub code: &'m CodeCache,
    pub slice: Slice,
    pub pmp: RefCell<Pmp>,
    regime: Cell<Regime>,
    /// The first entry of the context.
    context: Cell<usize>,
    loads: Box<Tlb>,
    stores: Box<Tlb>,
    /// [`CodeCache::number`] when the entries for stores were made.
    code_number: Cell<u64>,
    /// An access has to wait until the hart is the first of all. Its trap is none.
    postponed: Cell<bool>,
}

impl<'m, B: Bus> View<'m, B> {
    pub fn new(bus: &'m B, code: &'m CodeCache, regime: Regime) -> Self {
        let view = Self {
            bus,
            code,
            slice: Slice::default(),
            pmp: RefCell::default(),
            regime: Cell::new(regime),
            context: Cell::new(0),
            loads: empty_tlb(),
            stores: empty_tlb(),
            code_number: Cell::new(code.number()),
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
        self.context.set(context * ENTRIES);
        if (old.satp, old.mxr, old.updates) != (regime.satp, regime.mxr, regime.updates) {
            self.flush();
        }
    }

    /// Forgets all translations.
    pub fn flush(&self) {
        for entry in self.loads.iter().chain(&*self.stores) {
            entry.set(EMPTY);
        }
    }

    /// Stores to pages that have become code since have to be seen.
    pub fn watch_code(&self) {
        let number = self.code.number();
        if self.code_number.replace(number) != number {
            self.stores.iter().for_each(|entry| entry.set(EMPTY));
        }
    }

    pub fn take_postponed(&self) -> bool {
        self.postponed.take()
    }

    /// The physical address of instructions at `address`, in plain memory.
    pub fn fetch(&self, address: u64, privilege: Privilege) -> Result<(u64, *mut u8), Trap> {
        let regime = Regime {
            privilege,
            ..self.regime.get()
        };
        let pmp = self.pmp.borrow();
        let physical = translate(self.bus, &pmp, &regime, address, Access::Fetch)
            .map_err(|failure| trap(failure, Access::Fetch, address))?;
        let is_allowed = pmp.allows(physical, 2, Access::Fetch, privilege);
        let memory = self.bus.memory(physical / PAGE * PAGE);
        let memory = memory.filter(|_| is_allowed);
        Ok((physical, memory.ok_or(Trap::fetch_access(address))?))
    }

    fn place(&self, address: u64, size: u64, access: Access) -> Result<Place, Trap> {
        let regime = self.regime.get();
        let pmp = self.pmp.borrow();
        let physical = translate(self.bus, &pmp, &regime, address, access)
            .map_err(|failure| trap(failure, access, address))?;
        if !pmp.allows(physical, size, access, regime.privilege) {
            return Err(trap(Failure::Access, access, address));
        }
        let page = physical / PAGE * PAGE;
        let Some(memory) = self.bus.memory(page) else {
            return Ok(Place::Device(physical));
        };
        // SAFETY: within the page.
        let host = unsafe { memory.add((physical % PAGE) as usize) };
        let is_watched = access == Access::Store && self.code.has(page);
        if pmp.is_uniform(page, PAGE) && !is_watched {
            let tag = address / PAGE * PAGE;
            let distance = (memory.expose_provenance() as u64).wrapping_sub(tag);
            self.entry(access, address).set(Entry { tag, distance });
        }
        Ok(Place::Memory { host, physical })
    }

    #[inline(always)]
    fn entry(&self, access: Access, address: u64) -> &Cell<Entry> {
        let tlb = match access {
            Access::Store => &*self.stores,
            _ => &*self.loads,
        };
        let at = self.context.get() + (address / PAGE) as usize % ENTRIES;
        // SAFETY: the context is the first entry of one of the contexts.
        unsafe { tlb.get_unchecked(at) }
    }

    /// The host's address of an aligned access of `size` bytes, if it is known.
    #[inline(always)]
    fn known(&self, address: u64, size: u64, access: Access) -> Option<*mut u8> {
        let entry = self.entry(access, address).get();
        let is_it = entry.tag == address & !(PAGE - 1) | address & (size - 1);
        is_it.then(|| {
            std::ptr::with_exposed_provenance_mut(address.wrapping_add(entry.distance) as usize)
        })
    }

    #[cold]
    #[inline(never)]
    fn load_slowly(&self, address: u64, size: u64) -> Result<u64, Trap> {
        if !address.is_multiple_of(size) {
            return self.load_bytes(address, size);
        }
        match self.place(address, size, Access::Load)? {
            // SAFETY: so many bytes of a page of memory.
            Place::Memory { host, .. } => Ok(unsafe { read(host, size) }),
            Place::Device(physical) => {
                self.synchronise()?;
                let executed = self.slice.executed();
                let value = self.bus.load(physical, size as u32, executed);
                self.slice.end();
                value.map_err(|_| trap(Failure::Access, Access::Load, address))
            }
        }
    }

    fn load_bytes(&self, address: u64, size: u64) -> Result<u64, Trap> {
        let mut value = 0;
        for n in 0..size {
            let at = address.wrapping_add(n);
            match self.place(at, 1, Access::Load)? {
                // SAFETY: a byte of a page of memory.
                Place::Memory { host, .. } => value |= unsafe { read(host, 1) } << (8 * n),
                Place::Device(_) => return Err(trap(Failure::Access, Access::Load, at)),
            }
        }
        Ok(value)
    }

    #[cold]
    #[inline(never)]
    fn store_slowly(&self, address: u64, size: u64, value: u64) -> Result<(), Trap> {
        if !address.is_multiple_of(size) {
            return self.store_bytes(address, size, value);
        }
        match self.place(address, size, Access::Store)? {
            Place::Memory { host, physical } => {
                // SAFETY: so many bytes of a page of memory.
                unsafe { write(host, size, value) };
                self.code.written(physical, size);
                Ok(())
            }
            Place::Device(physical) => {
                self.synchronise()?;
                let executed = self.slice.executed();
                let stored = self.bus.store(physical, size as u32, value, executed);
                stored.map_err(|_| trap(Failure::Access, Access::Store, address))?;
                // The machine may have something for another hart now, or for this one.
                self.slice.end();
                Ok(())
            }
        }
    }

    fn store_bytes(&self, address: u64, size: u64, value: u64) -> Result<(), Trap> {
        let mut places = [(std::ptr::null_mut(), 0); 8];
        for (n, place) in (0..size).zip(&mut places) {
            let at = address.wrapping_add(n);
            match self.place(at, 1, Access::Store)? {
                Place::Memory { host, physical } => *place = (host, physical),
                Place::Device(_) => return Err(trap(Failure::Access, Access::Store, at)),
            }
        }
        for (n, &(host, physical)) in (0..size).zip(&places) {
            // SAFETY: a byte of a page of memory.
            unsafe { write(host, 1, value >> (8 * n)) };
            self.code.written(physical, 1);
        }
        Ok(())
    }

    /// An instruction that other harts see: it waits until this hart is the first of all.
    fn synchronise(&self) -> Result<(), Trap> {
        if self.slice.is_visible() {
            return Ok(());
        }
        self.postponed.set(true);
        Err(Trap::fetch_access(0))
    }

    /// Changes the word of `size` bytes at an aligned address by `change` of the old one, which it
    /// returns. `None` leaves it.
    fn update(
        &self,
        address: u64,
        size: u64,
        change: impl FnOnce(u64) -> Option<u64>,
    ) -> Result<u64, Trap> {
        self.synchronise()?;
        if let Some(host) = self.known(address, size, Access::Store) {
            // SAFETY: so many bytes of a page of memory.
            unsafe {
                let old = read(host, size);
                if let Some(new) = change(old) {
                    write(host, size, new);
                }
                return Ok(old);
            }
        }
        match self.place(address, size, Access::Store)? {
            Place::Memory { host, physical } => {
                // SAFETY: so many bytes of a page of memory.
                unsafe {
                    let old = read(host, size);
                    if let Some(new) = change(old) {
                        write(host, size, new);
                        self.code.written(physical, size);
                    }
                    Ok(old)
                }
            }
            // Devices have no atomics.
            Place::Device(_) => Err(trap(Failure::Access, Access::Store, address)),
        }
    }

    /// Is a store allowed at `address`, which is in plain memory? For cache-block operations.
    pub fn check(&self, address: u64, access: Access) -> Result<(), Trap> {
        self.place(address, 1, access).map(|_| ())
    }
}

/// # Safety
/// So many bytes may be read.
#[inline(always)]
unsafe fn read(host: *const u8, size: u64) -> u64 {
    // SAFETY: by contract.
    unsafe {
        match size {
            1 => host.read().into(),
            2 => host.cast::<u16>().read_unaligned().into(),
            4 => host.cast::<u32>().read_unaligned().into(),
            _ => host.cast::<u64>().read_unaligned(),
        }
    }
}

/// # Safety
/// So many bytes may be written.
#[inline(always)]
unsafe fn write(host: *mut u8, size: u64, value: u64) {
    // SAFETY: by contract.
    unsafe {
        match size {
            1 => host.write(value as u8),
            2 => host.cast::<u16>().write_unaligned(value as u16),
            4 => host.cast::<u32>().write_unaligned(value as u32),
            _ => host.cast::<u64>().write_unaligned(value),
        }
    }
}

fn trap(failure: Failure, access: Access, addr: u64) -> Trap {
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

macro_rules! load {
    ($name:ident, $type:ty, $size:literal) => {
        #[inline(always)]
        fn $name(&self, address: u64) -> Result<$type, Trap> {
            match self.known(address, $size, Access::Load) {
                // SAFETY: so many bytes of a page of memory.
                Some(host) => Ok(unsafe { read(host, $size) } as $type),
                None => self.load_slowly(address, $size).map(|value| value as $type),
            }
        }
    };
}

macro_rules! store {
    ($name:ident, $type:ty, $size:literal) => {
        #[inline(always)]
        fn $name(&self, address: u64, value: $type) -> Result<(), Trap> {
            match self.known(address, $size, Access::Store) {
                Some(host) => {
                    // SAFETY: so many bytes of a page of memory.
                    unsafe { write(host, $size, value.into()) };
                    Ok(())
                }
                None => self.store_slowly(address, $size, value.into()),
            }
        }
    };
}

impl<B: Bus> Memory for View<'_, B> {
    type Fault = Trap;

    load!(load8, u8, 1);
    load!(load16, u16, 2);
    load!(load32, u32, 4);
    load!(load64, u64, 8);
    store!(store8, u8, 1);
    store!(store16, u16, 2);
    store!(store32, u32, 4);
    store!(store64, u64, 8);

    fn amo32(&self, address: u64, op: AmoOp, operand: u32) -> Result<u32, Trap> {
        let change = |old: u64| Some(op.apply32(old as u32, operand).into());
        self.update(address, 4, change).map(|old| old as u32)
    }

    fn amo64(&self, address: u64, op: AmoOp, operand: u64) -> Result<u64, Trap> {
        self.update(address, 8, |old| Some(op.apply64(old, operand)))
    }

    fn compare_exchange32(&self, address: u64, old: u32, new: u32) -> Result<bool, Trap> {
        let change = |found: u64| (found as u32 == old).then_some(new.into());
        self.update(address, 4, change)
            .map(|found| found as u32 == old)
    }

    fn compare_exchange64(&self, address: u64, old: u64, new: u64) -> Result<bool, Trap> {
        let change = |found| (found == old).then_some(new);
        self.update(address, 8, change).map(|found| found == old)
    }

    #[inline(always)]
    fn fence(&self) {}
}
