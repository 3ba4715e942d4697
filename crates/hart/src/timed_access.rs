//! Accesses in timed mode: the hart's own TLB and cache first, and what they lack in the order of virtual
//! time. An access that has to wait has changed nothing but the age of entries, so that the instruction
//! can be executed once more.
use flick_engine::Trap;
use flick_timing::memory_system::{Kind, Lookup};

use crate::bus::{Bus, PAGE};
use crate::memory_view::{Place, View, read, write};
use crate::page_tables::{Access, Physical, Regime, translate};
use crate::privileged_registers::Privilege;
use crate::timed_mode::Timing;

fn kind_of(access: Access) -> Kind {
    match access {
        Access::Fetch => Kind::Fetch,
        Access::Load => Kind::Load,
        Access::Store => Kind::Store,
    }
}

impl<B: Bus> View<'_, B> {
    #[inline]
    pub(crate) fn load_timed(&self, timing: &Timing, address: u64, size: u64) -> Result<u64, Trap> {
        match self.timed_memory(timing, address, size, Access::Load)? {
            // SAFETY: so many bytes of a page of memory.
            Some(host) => Ok(unsafe { read(host, size) }),
            None => self.load_timed_slowly(timing, address, size),
        }
    }

    #[inline]
    pub(crate) fn store_timed(
        &self,
        timing: &Timing,
        address: u64,
        size: u64,
        value: u64,
    ) -> Result<(), Trap> {
        match self.timed_memory(timing, address, size, Access::Store)? {
            Some(host) => {
                // SAFETY: so many bytes of a page of memory.
                unsafe { write(host, size, value) };
                Ok(())
            }
            None => self.store_timed_slowly(timing, address, size, value),
        }
    }

    /// The host's address of an aligned access, whose translation is at hand and whose time passes here.
    /// `None`: nothing has happened.
    #[inline(always)]
    fn timed_memory(
        &self,
        timing: &Timing,
        address: u64,
        size: u64,
        access: Access,
    ) -> Result<Option<*mut u8>, Trap> {
        if !address.is_multiple_of(size) || timing.copies().is_some() {
            return Ok(None);
        }
        let Some(Place::Memory {
            host,
            physical,
            bits,
        }) = self.kept(address, access)
        else {
            return Ok(None);
        };
        self.charge(timing, address, physical, bits, access, None)?;
        Ok(Some(host))
    }

    #[cold]
    #[inline(never)]
    fn load_timed_slowly(&self, timing: &Timing, address: u64, size: u64) -> Result<u64, Trap> {
        match self.timed_place(timing, address, size, Access::Load)? {
            Some(Place::Memory { host, physical, .. }) => {
                // SAFETY: so many bytes of a page of memory.
                Ok(unsafe { self.load_own(timing, host, physical, size) })
            }
            Some(Place::Device(physical)) => {
                let value = self.load_device(address, physical, size)?;
                timing.charge_device(&self.slice);
                Ok(value)
            }
            None => self.load_bytes(address, size),
        }
    }

    #[cold]
    #[inline(never)]
    fn store_timed_slowly(
        &self,
        timing: &Timing,
        address: u64,
        size: u64,
        value: u64,
    ) -> Result<(), Trap> {
        match self.timed_place(timing, address, size, Access::Store)? {
            Some(Place::Memory { host, physical, .. }) => {
                // SAFETY: so many bytes of a page of memory.
                unsafe { self.store_own(timing, host, physical, size, value) };
                Ok(())
            }
            Some(Place::Device(physical)) => {
                self.store_device(address, physical, size, value)?;
                timing.charge_device(&self.slice);
                Ok(())
            }
            None => self.store_bytes(address, size, value),
        }
    }

    /// An atomic takes its line as a store does, or passes by a cache that is not coherent.
    pub(crate) fn charge_atomic(&self, timing: &Timing, address: u64) -> Result<(), Trap> {
        if timing.copies().is_some()
            && let Place::Memory { physical, .. } = self.found(address, 1, Access::Store)?
        {
            self.pass_by(timing, physical);
        }
        let place = self.timed_place(timing, address, 1, Access::Store)?;
        if let Some(Place::Memory { physical, .. }) = place {
            self.pass_by(timing, physical);
        }
        Ok(())
    }

    /// Where an access goes, whose time passes here unless a device takes it. `None`: it is not aligned
    /// and of several pages, or might be of a device.
    fn timed_place(
        &self,
        timing: &Timing,
        address: u64,
        size: u64,
        access: Access,
    ) -> Result<Option<Place>, Trap> {
        let last = address.wrapping_add(size - 1);
        let place = self.charged(timing, address, size, access)?;
        if (address ^ last) >> timing.data_shift() != 0 {
            self.charged(timing, last, 1, access)?;
        }
        let is_device = matches!(place, Place::Device(_));
        let is_whole = match is_device {
            true => address.is_multiple_of(size),
            false => address % PAGE + size <= PAGE,
        };
        Ok(is_whole.then_some(place))
    }

    /// The place of bytes, when the line of the first one and its translation are there.
    fn charged(
        &self,
        timing: &Timing,
        address: u64,
        size: u64,
        access: Access,
    ) -> Result<Place, Trap> {
        let place = match self.kept(address, access) {
            Some(place) => place,
            None => self.place(address, size.min(PAGE - address % PAGE), access)?,
        };
        if let Place::Memory { physical, bits, .. } = place {
            self.charge(timing, address, physical, bits, access, None)?;
        }
        Ok(place)
    }

    /// Lets the time pass of a fetch from a line, in timed mode.
    pub(crate) fn charge_fetch(
        &self,
        pc: u64,
        physical: u64,
        bits: u32,
        privilege: Privilege,
    ) -> Result<(), Trap> {
        let Some(timing) = self.timing() else {
            return Ok(());
        };
        self.charge(timing, pc, physical, bits, Access::Fetch, Some(privilege))?;
        timing.charge_fetch_hit(&self.slice);
        Ok(())
    }

    /// Lets the time pass of an access to memory, with the privilege of loads and stores unless there
    /// is another.
    #[inline(always)]
    fn charge(
        &self,
        timing: &Timing,
        address: u64,
        physical: u64,
        bits: u32,
        access: Access,
        privilege: Option<Privilege>,
    ) -> Result<(), Trap> {
        let kind = kind_of(access);
        let (system, number) = timing.system();
        if bits < 64 {
            // The number of the address space.
            let space = self.regime().satp >> 44 & 0xffff;
            if !system.is_translated(number, kind, address, bits, space) {
                let own = self.regime();
                let regime = Regime {
                    privilege: privilege.unwrap_or(own.privilege),
                    ..own
                };
                self.charge_translation(timing, (address, bits, space), access, &regime)?;
            }
        }
        match system.lookup(number, kind, physical) {
            Lookup::Hit => {}
            Lookup::Contended => self.synchronise()?,
            Lookup::Miss => self.charge_miss(timing, physical, kind)?,
        }
        if kind == Kind::Store {
            system.modify(number, physical);
        }
        Ok(())
    }

    /// The TLB has not the translation of an address in a page of so many bits and an address space.
    #[cold]
    #[inline(never)]
    fn charge_translation(
        &self,
        timing: &Timing,
        page: (u64, u32, u64),
        access: Access,
        regime: &Regime,
    ) -> Result<(), Trap> {
        self.synchronise()?;
        let (system, number) = timing.system();
        let walked = self.walked(regime, page.0, access);
        let now = timing.now(&self.slice);
        if system.arbitrates() {
            let wait = system.ask_bank_for_walk(number, kind_of(access), &walked, now);
            self.wait_for_bank(timing, wait)?;
        }
        let stall = system.translate(number, kind_of(access), page, &walked, now);
        self.slice.charge(stall);
        self.settle_evicted(timing);
        Ok(())
    }

    #[inline(never)]
    fn charge_miss(&self, timing: &Timing, physical: u64, kind: Kind) -> Result<(), Trap> {
        self.synchronise()?;
        let (system, number) = timing.system();
        if timing.asks(kind) && !self.is_next_at_bank(timing, physical, kind)? {
            return Ok(());
        }
        let now = timing.now(&self.slice);
        self.slice
            .charge(system.access(number, kind, physical, now));
        self.settle_evicted(timing);
        Ok(())
    }

    /// The hart asks for a bank that chooses among harts, and waits until it is chosen. False: the
    /// instruction has made the access before. Apart, so that it costs nothing where no bank chooses.
    #[cold]
    #[inline(never)]
    fn is_next_at_bank(&self, timing: &Timing, physical: u64, kind: Kind) -> Result<bool, Trap> {
        let Some(wait) = timing.ask_bank(&self.slice, kind, physical) else {
            return Ok(false);
        };
        self.wait_for_bank(timing, wait)?;
        Ok(true)
    }

    /// The hart waits for a bank that serves another one: the instruction is executed once more when the
    /// hart is the first of all then.
    fn wait_for_bank(&self, timing: &Timing, wait: u64) -> Result<(), Trap> {
        if wait == 0 {
            return Ok(());
        }
        timing.wait();
        self.slice.charge(wait);
        self.postpone()
    }

    /// The addresses of the page-table entries that a translation reads.
    fn walked(&self, regime: &Regime, address: u64, access: Access) -> Vec<u64> {
        let all = std::cell::RefCell::new(vec![]);
        let sees = |place, access| {
            if access == Access::Load {
                all.borrow_mut().push(place);
            }
            true
        };
        // It has been made before, so that it changes nothing.
        let _: Result<Physical, _> = translate(self.bus, &sees, regime, address, access);
        all.into_inner()
    }
}
