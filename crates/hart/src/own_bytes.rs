//! Loads and stores of a hart whose data cache has bytes of its own ([`crate::line_copies`]).
use std::cell::Cell;
use std::ops::Range;

use flick_engine::Trap;
use flick_timing::memory_system::BlockOperation;

use crate::bus::{Bus, PAGE};
use crate::line_copies::LineCopies;
use crate::memory_view::{Place, View, read, write};
use crate::page_tables::Access;
use crate::timed_mode::Timing;

/// The part of an access that is in one line: from which byte of its value on, and how many.
fn parts(copies: &LineCopies, physical: u64, size: u64) -> [(u64, u64); 2] {
    let first = (copies.line() - physical % copies.line()).min(size);
    [(0, first), (first, size - first)]
}

fn get(bytes: &[Cell<u8>]) -> u64 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |value, byte| value << 8 | u64::from(byte.get()))
}

fn set(bytes: &[Cell<u8>], value: u64) {
    let each = bytes.iter().zip(value.to_le_bytes());
    each.for_each(|(byte, new)| byte.set(new));
}

impl<B: Bus> View<'_, B> {
    /// Loads `size` bytes of a page of memory, as the hart sees them.
    ///
    /// # Safety
    /// `host` is the place of `physical` in the host's memory, and so many bytes are in its page.
    pub(crate) unsafe fn load_own(
        &self,
        timing: &Timing,
        host: *mut u8,
        physical: u64,
        size: u64,
    ) -> u64 {
        let Some(copies) = timing.copies() else {
            // SAFETY: by contract.
            return unsafe { read(host, size) };
        };
        let mut value = 0;
        for (from, count) in parts(copies, physical, size) {
            if count == 0 {
                continue;
            }
            let address = physical + from;
            let part = match self.copy(timing, copies, address) {
                Some(line) => {
                    let at = (address % copies.line()) as usize;
                    get(&line[at..at + count as usize])
                }
                // SAFETY: a byte of those.
                None => (0..count).rev().fold(0, |part, n| unsafe {
                    part << 8 | read(host.add((from + n) as usize), 1)
                }),
            };
            value |= part << (8 * from);
        }
        value
    }

    /// Stores them.
    ///
    /// # Safety
    /// As [`Self::load_own`].
    pub(crate) unsafe fn store_own(
        &self,
        timing: &Timing,
        host: *mut u8,
        physical: u64,
        size: u64,
        value: u64,
    ) {
        let Some(copies) = timing.copies() else {
            // SAFETY: by contract.
            unsafe { write(host, size, value) };
            return self.code.written(physical, size);
        };
        let (system, number) = timing.system();
        for (from, count) in parts(copies, physical, size) {
            if count == 0 {
                continue;
            }
            let (address, part) = (physical + from, value >> (8 * from));
            let copy = self.copy(timing, copies, address);
            if let Some(line) = copy {
                let at = (address % copies.line()) as usize;
                set(&line[at..at + count as usize], part);
            }
            if copy.is_none() || system.writes_through(number) {
                for n in 0..count {
                    // SAFETY: a byte of those.
                    unsafe { write(host.add((from + n) as usize), 1, part >> (8 * n)) };
                }
                self.code.written(address, count);
            }
        }
    }

    /// The copy of the line of an address, if the cache has the line. It is made here if there is none.
    fn copy<'c>(
        &self,
        timing: &Timing,
        copies: &'c LineCopies,
        address: u64,
    ) -> Option<&'c [Cell<u8>]> {
        let (system, number) = timing.system();
        system.is_dirty(number, address)?;
        let line = copies.line_of(address);
        copies.find(line).or_else(|| {
            let host = self.memory_of(line)?;
            let copy = copies.make(line);
            for (n, byte) in copy.iter().enumerate() {
                // SAFETY: a line does not leave its page, and nobody has a reference to its bytes.
                byte.set(unsafe { host.add(n).read() });
            }
            Some(copy)
        })
    }

    /// The place of a physical address in the host's memory.
    fn memory_of(&self, address: u64) -> Option<*mut u8> {
        let page = self.bus.memory(address / PAGE * PAGE)?;
        // SAFETY: within the page.
        Some(unsafe { page.add((address % PAGE) as usize) })
    }

    /// Memory gets the bytes of a line.
    fn write_line(&self, line: u64, bytes: &[Cell<u8>]) {
        let Some(host) = self.memory_of(line) else {
            return;
        };
        for (n, byte) in bytes.iter().enumerate() {
            // SAFETY: a line does not leave its page, and nobody has a reference to its bytes.
            unsafe { host.add(n).write(byte.get()) };
        }
        self.code.written(line, bytes.len() as u64);
    }

    /// Lines have left the cache: memory gets what was stored to them.
    pub(crate) fn settle_evicted(&self, timing: &Timing) {
        let Some(copies) = timing.copies() else {
            return;
        };
        let (system, number) = timing.system();
        for victim in system.take_evicted(number) {
            let bytes = copies.remove(victim.address);
            if let Some(bytes) = bytes.filter(|_| victim.is_dirty) {
                self.write_line(victim.address, bytes);
            }
        }
    }

    /// A cache-block operation on the lines of a block that may be accessed.
    pub(crate) fn operate_on_block(
        &self,
        block: Range<u64>,
        operation: BlockOperation,
    ) -> Result<(), Trap> {
        let Some(timing) = self.timing() else {
            return Ok(());
        };
        self.synchronise()?;
        let (system, number) = timing.system();
        let Place::Memory { physical, .. } = self
            .place(block.start, 1, Access::Load)
            .or_else(|_| self.place(block.start, 1, Access::Store))?
        else {
            return Ok(());
        };
        let line = 1 << timing.data_shift();
        for at in (physical..physical + (block.end - block.start)).step_by(line) {
            self.write_own(timing, at, operation);
            let stall = system.operate(number, at, operation, timing.now(&self.slice));
            self.slice.charge(stall);
        }
        Ok(())
    }

    /// An operation on the hart's whole data cache.
    pub(crate) fn operate_on_all(&self, operation: BlockOperation) -> Result<(), Trap> {
        let Some(timing) = self.timing() else {
            return Ok(());
        };
        self.synchronise()?;
        for line in timing.copies().map_or_else(Vec::new, LineCopies::lines) {
            self.write_own(timing, line, operation);
        }
        let (system, number) = timing.system();
        let now = timing.now(&self.slice);
        let stall = system.operate_on_all(number, operation, now);
        self.slice.charge(stall);
        Ok(())
    }

    /// An atomic passes the hart's cache by: memory gets the line that the cache has, and the cache
    /// loses it.
    pub(crate) fn pass_by(&self, timing: &Timing, physical: u64) {
        if timing.copies().is_some() {
            let (system, number) = timing.system();
            self.write_own(timing, physical, BlockOperation::Flush);
            let now = timing.now(&self.slice);
            system.operate(number, physical, BlockOperation::Flush, now);
        }
    }

    /// The part of an operation that moves bytes.
    fn write_own(&self, timing: &Timing, physical: u64, operation: BlockOperation) {
        let Some(copies) = timing.copies() else {
            return;
        };
        let (system, number) = timing.system();
        let line = copies.line_of(physical);
        let is_dirty = system.is_dirty(number, physical) == Some(true);
        if let Some(bytes) = copies.find(line)
            && is_dirty
            && operation != BlockOperation::Invalidate
        {
            self.write_line(line, bytes);
        }
        if operation != BlockOperation::Clean {
            copies.remove(line);
        }
    }

    /// The end of timed mode: memory gets all that was stored.
    pub(crate) fn settle_all(&self, timing: &Timing) {
        let Some(copies) = timing.copies() else {
            return;
        };
        for line in copies.lines() {
            self.pass_by(timing, line);
        }
    }
}
