//! Loads, stores and atomics by a view of memory.
use flick_engine::{AmoOp, Memory, Trap};

use super::{Place, View, trap};
use crate::bus::Bus;
use crate::page_tables::{Access, Failure};

impl<B: Bus> View<'_, B> {
    #[cold]
    #[inline(never)]
    fn load_slowly(&self, address: u64, size: u64) -> Result<u64, Trap> {
        if let Some(timing) = &self.timing {
            return self.load_timed(timing, address, size);
        }
        if !address.is_multiple_of(size) {
            return match self.known_within(address, size, Access::Load) {
                // SAFETY: so many bytes of a page of memory.
                Some(host) => Ok(unsafe { read(host, size) }),
                None => self.load_bytes(address, size),
            };
        }
        match self.place(address, size, Access::Load)? {
            // SAFETY: so many bytes of a page of memory.
            Place::Memory { host, .. } => Ok(unsafe { read(host, size) }),
            Place::Device(physical) => self.load_device(address, physical, size),
        }
    }

    pub(crate) fn load_device(&self, address: u64, physical: u64, size: u64) -> Result<u64, Trap> {
        self.synchronise()?;
        let executed = self.slice.executed();
        let value = self.bus.load(physical, size as u32, executed);
        self.slice.end();
        value.map_err(|_| trap(Failure::Access, Access::Load, address))
    }

    pub(crate) fn load_bytes(&self, address: u64, size: u64) -> Result<u64, Trap> {
        let mut value = 0;
        for n in 0..size {
            let at = address.wrapping_add(n);
            match self.place(at, 1, Access::Load)? {
                Place::Memory { host, physical, .. } => {
                    let byte = match &self.timing {
                        // SAFETY: a byte of a page of memory.
                        Some(timing) => unsafe { self.load_own(timing, host, physical, 1) },
                        // SAFETY: as above.
                        None => unsafe { read(host, 1) },
                    };
                    value |= byte << (8 * n);
                }
                Place::Device(_) => return Err(trap(Failure::Access, Access::Load, at)),
            }
        }
        Ok(value)
    }

    #[cold]
    #[inline(never)]
    fn store_slowly(&self, address: u64, size: u64, value: u64) -> Result<(), Trap> {
        if let Some(timing) = &self.timing {
            return self.store_timed(timing, address, size, value);
        }
        if !address.is_multiple_of(size) {
            return match self.known_within(address, size, Access::Store) {
                Some(host) => {
                    // SAFETY: so many bytes of a page of memory.
                    unsafe { write(host, size, value) };
                    Ok(())
                }
                None => self.store_bytes(address, size, value),
            };
        }
        match self.place(address, size, Access::Store)? {
            Place::Memory { host, physical, .. } => {
                // SAFETY: so many bytes of a page of memory.
                unsafe { write(host, size, value) };
                self.code.written(physical, size);
                Ok(())
            }
            Place::Device(physical) => self.store_device(address, physical, size, value),
        }
    }

    pub(crate) fn store_device(
        &self,
        address: u64,
        physical: u64,
        size: u64,
        value: u64,
    ) -> Result<(), Trap> {
        self.synchronise()?;
        let executed = self.slice.executed();
        let stored = self.bus.store(physical, size as u32, value, executed);
        stored.map_err(|_| trap(Failure::Access, Access::Store, address))?;
        // The machine may have something for another hart now, or for this one.
        self.slice.end();
        Ok(())
    }

    pub(crate) fn store_bytes(&self, address: u64, size: u64, value: u64) -> Result<(), Trap> {
        let mut places = [(std::ptr::null_mut(), 0); 8];
        for (n, place) in (0..size).zip(&mut places) {
            let at = address.wrapping_add(n);
            match self.place(at, 1, Access::Store)? {
                Place::Memory { host, physical, .. } => *place = (host, physical),
                Place::Device(_) => return Err(trap(Failure::Access, Access::Store, at)),
            }
        }
        for (n, &(host, physical)) in (0..size).zip(&places) {
            let byte = value >> (8 * n);
            if let Some(timing) = &self.timing {
                // SAFETY: a byte of a page of memory.
                unsafe { self.store_own(timing, host, physical, 1, byte) };
                continue;
            }
            // SAFETY: as above.
            unsafe { write(host, 1, byte) };
            self.code.written(physical, 1);
        }
        Ok(())
    }

    /// A load from plain memory. `None`: it traps, or goes to a device, and has had no effect.
    pub fn load_plain(&self, address: u64, size: u64) -> Option<u64> {
        if !address.is_multiple_of(size) {
            return match self.known_within(address, size, Access::Load) {
                // SAFETY: so many bytes of a page of memory.
                Some(host) => Some(unsafe { read(host, size) }),
                None => self.load_bytes(address, size).ok(),
            };
        }
        match self.place(address, size, Access::Load) {
            // SAFETY: so many bytes of a page of memory.
            Ok(Place::Memory { host, .. }) => Some(unsafe { read(host, size) }),
            _ => None,
        }
    }

    /// A store to plain memory; false: it traps, goes to a device, is in two pages, or changes code that
    /// is translated, and has had no effect.
    pub fn store_plain(&self, address: u64, size: u64, value: u64) -> bool {
        if !address.is_multiple_of(size) {
            let known = self.known_within(address, size, Access::Store);
            if let Some(host) = known {
                // SAFETY: so many bytes of a page of memory.
                unsafe { write(host, size, value) };
            }
            return known.is_some();
        }
        match self.place(address, size, Access::Store) {
            Ok(Place::Memory { host, physical, .. }) if !self.code.has_blocks(physical, size) => {
                // SAFETY: so many bytes of a page of memory.
                unsafe { write(host, size, value) };
                self.code.written(physical, size);
                true
            }
            _ => false,
        }
    }

    /// A store to plain memory by the machine's outside, as the hart would make it. False: it has had no
    /// effect.
    pub fn store_program_byte(&self, address: u64, value: u8) -> bool {
        match self.place(address, 1, Access::Store) {
            Ok(Place::Memory { host, physical, .. }) => {
                // SAFETY: a byte of a page of memory.
                unsafe { write(host, 1, value.into()) };
                self.code.written(physical, 1);
                true
            }
            _ => false,
        }
    }

    /// An instruction that other harts see: it waits until this hart is the first of all.
    pub(crate) fn synchronise(&self) -> Result<(), Trap> {
        if self.slice.is_visible() {
            return Ok(());
        }
        self.postpone()
    }

    /// The instruction is executed once more, in another slice.
    pub(crate) fn postpone(&self) -> Result<(), Trap> {
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
        if let Some(timing) = &self.timing {
            self.charge_atomic(timing, address)?;
        }
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
            Place::Memory { host, physical, .. } => {
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

    /// Where an access of an aligned address goes.
    pub(crate) fn found(&self, address: u64, size: u64, access: Access) -> Result<Place, Trap> {
        let kept = self.kept(address, access);
        kept.map_or_else(|| self.place(address, size, access), Ok)
    }

    /// The hart will read at `address`, and has reserved what is there. Devices cannot be reserved
    /// ("Reservability PMA").
    fn reserve(&self, address: u64, size: u64) -> Result<(), Trap> {
        match self.found(address, size, Access::Load)? {
            Place::Memory { physical, .. } => {
                if let Some(timing) = self.timing.as_ref().filter(|t| t.copies().is_some()) {
                    self.synchronise()?;
                    self.pass_by(timing, physical);
                }
                self.reservation.make(physical);
                Ok(())
            }
            Place::Device(_) => Err(trap(Failure::Access, Access::Load, address)),
        }
    }

    /// Stores if the reservation of the address holds. Did it?
    fn store_conditional(&self, address: u64, size: u64, value: u64) -> Result<bool, Trap> {
        self.synchronise()?;
        if let Some(timing) = &self.timing {
            self.charge_atomic(timing, address)?;
        }
        match self.found(address, size, Access::Store)? {
            Place::Memory { host, physical, .. } => {
                let holds = self.reservation.take(physical);
                if holds {
                    // SAFETY: so many bytes of a page of memory.
                    unsafe { write(host, size, value) };
                    self.code.written(physical, size);
                }
                Ok(holds)
            }
            // Devices have no atomics.
            Place::Device(_) => Err(trap(Failure::Access, Access::Store, address)),
        }
    }

    pub fn take_postponed(&self) -> bool {
        self.postponed.take()
    }
}

/// # Safety
/// So many bytes may be read.
#[inline(always)]
pub(crate) unsafe fn read(host: *const u8, size: u64) -> u64 {
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
pub(crate) unsafe fn write(host: *mut u8, size: u64, value: u64) {
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

    fn load_reserved32(&self, address: u64) -> Result<u32, Trap> {
        self.reserve(address, 4)?;
        self.load32(address)
    }

    fn load_reserved64(&self, address: u64) -> Result<u64, Trap> {
        self.reserve(address, 8)?;
        self.load64(address)
    }

    fn store_conditional32(&self, address: u64, _: u32, new: u32) -> Result<bool, Trap> {
        self.store_conditional(address, 4, new.into())
    }

    fn store_conditional64(&self, address: u64, _: u64, new: u64) -> Result<bool, Trap> {
        self.store_conditional(address, 8, new)
    }

    #[inline(always)]
    fn fence(&self) {
        if let Some(timing) = &self.timing {
            timing.charge_fence(&self.slice);
        }
    }
}
